"""The snapshot of genai-prices, by hand in its shape."""

import sys
from collections.abc import Iterable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from derive.errors import WrongData
from derive.tables.lines import Problem
from invert.databases import genai
from invert.databases.pull import listing_of
from invert.databases.records import Database, Item, Offer, items_of
from tests.tools.databases import CLAUDE, GENAI, installed, model, mtok, provider, tiered, variant, when

SOURCE = Database(name="genai-prices", version="9.9")
IN, OUT = ("input", None), ("output", None)


def read(providers: Iterable[Any] = GENAI) -> dict[tuple[str, str, str, date | None], Offer]:
    return {(one.model, one.service_tier, one.region, one.effective_date): one for one in items(providers) if isinstance(one, Offer)}


def items(providers: Iterable[Any]) -> list[Item]:
    return list(items_of(genai.FORMAT, providers, SOURCE))


def test_a_tier_begins_above_its_start():
    assert read()["grok-test", "standard", "", None].bands == {0: {IN: 3.0, OUT: 15.0}, 199_999: {IN: 6.0, OUT: 30.0}}


def test_lifetimes_and_context():
    found = read()["claude-test-1", "standard", "", None]
    assert found.bands[0]["cache_write", None] == 3.75 and found.bands[0]["cache_write", 3600] == 6.0
    assert (found.max_context, found.source_url) == (200_000, "https://anthropic.example/prices")


def test_prices_over_time_follow_one_another():
    before, now = read()["gpt-test", "standard", "", None], read()["gpt-test", "standard", "", date(2026, 9, 1)]
    assert (before.valid_to, before.date_kind) == (date(2026, 9, 1), "") and (now.valid_to, now.date_kind) == (None, "start")
    assert (before.bands[0][IN], now.bands[0][IN]) == (2.0, 1.0)


def test_the_dearer_price_of_a_day_is_the_peak():
    found = read()
    peak, off = (found["deepseek-test", tier, "", date(2026, 8, 17)] for tier in ("peak", "off_peak"))
    assert (peak.utc_hours, peak.bands[0][IN]) == ("01:00-04:00;06:00-10:00", 0.2) and (off.utc_hours, off.bands[0][IN]) == ("", 0.1)
    assert found["deepseek-test", "standard", "", None].valid_to == date(2026, 8, 17)


def test_hours_of_the_lower_price_leave_the_others_to_the_peak():
    prices = [when(mtok(input="2", output="4")), when(mtok(input="1", output="2"), hours=(16, 0))]
    found = read([provider("p", model("m", prices))])
    assert found["m", "peak", "", None].utc_hours == "00:00-16:00" and found["m", "off_peak", "", None].bands[0][IN] == 1.0


def test_hours_past_midnight_are_two_windows():
    found = read([provider("p", model("m", NIGHT))])
    assert found["m", "peak", "", None].utc_hours == "00:00-04:00;22:00-24:00"


def test_service_tiers_and_routes():
    tiers = {(name, tier, region) for name, tier, region, _ in read()}
    assert {("gpt-test", "priority", ""), ("gpt-test", "fast", ""), ("mistral-test", "standard", "eu")} <= tiers
    assert ("gpt-test", "default", "") not in tiers


NIGHT = [when(mtok(input="1", output="2")), when(mtok(input="2", output="4"), hours=(22, 4))]
THREE = [*NIGHT[:1], when(mtok(input="2", output="4"), hours=(1, 2)), when(mtok(input="3", output="4"), hours=(3, 4))]
NEW = [SimpleNamespace(constraint=SimpleNamespace(moon="full"), prices=mtok(input="1", output="2"))]
ODD = [  # model, the field that is named, what is said of it
    (SimpleNamespace(id="m", rates=CLAUDE), "prices", "is not there"),
    (model("m", mtok(input=[1], output="2")), "input_mtok", "is list, not a number"),
    (model("m", mtok(input="-1", output="2")), "input_mtok", "is '-1', not a price"),
    (model("m", mtok(input=tiered("1", (-5, "2")), output="2")), "input_mtok", "has a tier that starts at -5"),
    (model("m", NEW), "constraint", "has moon and neither a day nor hours"),
    (model("m", THREE), "constraint", "has more than two prices a day"),
    (model("m", mtok(input="1", output="2"), [SimpleNamespace(constraint=None)]), "when", "is not there"),
    (model("m", mtok(input="1", output="2", night_1k="3")), "night_1k_mtok", "looks like a price but is unknown"),
]


@pytest.mark.parametrize(("entry", "column", "fault"), ODD, ids=[fault for _, _, fault in ODD])
def test_a_field_that_is_another_one_is_a_problem_and_stops_nothing_else(entry: Any, column: str, fault: str):
    found = items([provider("p", entry, model("good", mtok(input="1", output="2")))])
    (problem,) = (one for one in found if isinstance(one, Problem))
    assert problem.origin == "genai-prices 9.9" and problem.column == column and fault in problem.message
    assert [one.model for one in found if isinstance(one, Offer) and one.model == "good"] == ["good"]


CONDITIONS = [{"tier": "flex"}, {"service_tier": "turbo"}, {"processing": "batch", "speed": "fast"}]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_a_variant_under_a_condition_that_is_not_known_is_named_and_its_model_stands(condition: dict[str, str]):
    known = [variant(mtok(input="1", output="1"), processing="batch"), variant(mtok(input="3", output="3"), search_type="web")]
    entry = model("m", mtok(input="2", output="2"), [*known, variant(mtok(input="9", output="9"), **condition)])
    found = items([provider("p", entry)])
    assert [one.service_tier for one in found if isinstance(one, Offer)] == ["standard", "batch"]
    (problem,) = (one for one in found if isinstance(one, Problem))
    assert problem.column == "when" and "field when has a condition that is not known: " in problem.message


def test_the_installed_package_by_its_version(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "genai_prices")
    database, items = listing_of("genai-prices")
    assert str(database) == "genai-prices 9.9" and len(list(items)) > 2
    (tmp_path / "genai_prices" / "data_snapshot.py").write_text("")
    monkeypatch.delitem(sys.modules, "genai_prices.data_snapshot")
    with pytest.raises(
        WrongData, match=r"^genai-prices 9\.9: its snapshot cannot be read \(AttributeError: .*get_snapshot.*; 0\.2 is known here$"
    ):
        listing_of("genai-prices")
