"""The price file of litellm, by hand in its shape."""

from typing import Any

import pytest

from derive.errors import WrongData
from derive.tables.lines import Problem
from invert.databases import litellm, records
from invert.databases.pull import listing_of
from invert.databases.records import Database, Item, Offer, items_of
from tests.tools.databases import LITELLM, installed

SOURCE = Database(name="litellm", version="9.9")
IN, OUT, READ = ("input", None), ("output", None), ("cache_read", None)
ENTRY = {"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}


def items(content: Any) -> list[Item]:
    return list(items_of(litellm.FORMAT, content, SOURCE))


def read(content: Any = LITELLM) -> dict[tuple[str, str], Offer]:
    return {(one.model, one.service_tier): one for one in items(content) if isinstance(one, Offer)}


def test_prices_are_per_million():
    assert read()["grok-test-2", "standard"].bands == {0: {IN: 0.8, OUT: 4.0}, 200_000: {IN: 1.6, OUT: 8.0}}


def test_lifetimes_are_in_the_names_of_fields():
    found = read()["claude-test-1", "standard"]
    assert {ttl: amount for (name, ttl), amount in found.bands[0].items() if name == "cache_write"} == {None: 3.75, 3600: 6.0, 43200: 9.0}
    assert (found.max_context, found.source_url) == (200_000, "https://anthropic.example/prices")


def test_what_stands_at_the_top_is_the_peak_where_an_off_peak_price_stands_below():
    peak, off = read()["deepseek-test-2", "peak"], read()["deepseek-test-2", "off_peak"]
    assert (peak.utc_hours, peak.weekdays) == ("01:00-04:00;06:00-10:00", "1-5") and (off.utc_hours, off.weekdays) == ("", "")
    assert (peak.bands[0][IN], peak.bands[0][READ], off.bands[0][IN], off.bands[0][READ]) == (0.3, 0.006, 0.15, 0.003)
    assert ("deepseek-test-2", "standard") not in read()


def test_days_in_china_are_those_of_utc_up_to_their_midnight():
    windows = {"windows": [{"hours_utc": ["00:00-01:00", "04:00-00:00"]}], "weekday_timezone": "Asia/Shanghai"}
    assert litellm.peak_hours(windows) == (records.minutes_between(60, 240), "")
    late = {"windows": [{"hours_utc": ["00:00-15:00", "17:00-00:00"], "weekdays": [1]}], "weekday_timezone": "Asia/Shanghai"}
    assert problem(ENTRY | {"off_peak_pricing": late}).column in ("weekday_timezone", "off_peak_pricing")


def test_service_tiers_are_in_the_names_of_fields_and_a_discount_on_one_item_is_none():
    tiers = {tier: offer.bands[0][IN] for (name, tier), offer in read().items() if name == "gpt-test-2"}
    assert tiers == {"standard": 1.0, "batch": 0.5, "priority": 2.0}
    assert read()["claude-test-1", "fast"].bands[0][IN] == 6.0, "twice, as its own entry says"


def test_ranges_of_the_prompt_are_bands():
    assert read()["qwen-test", "standard"].bands == {0: {IN: 0.4, OUT: 1.2}, 256_000: {IN: 1.2, OUT: 3.6}}


def problem(entry: Any) -> Problem:
    found = items({"p/m": entry, "p/good": ENTRY})
    assert [one.model for one in found if isinstance(one, Offer) and one.model == "good"] == ["good"]
    (one,) = (one for one in found if isinstance(one, Problem))
    return one


ODD = [  # fields, the one that is named, what is said
    ({"input_cost_per_token": "2e-06 USD"}, "input_cost_per_token", "is '2e-06 USD', not a number"),
    ({"mode": 3}, "mode", "is int and not str"),
    ({"tiered_pricing": [{"input_cost_per_token": 1e-6}]}, "tiered_pricing", "has a range that does not begin"),
    (
        {"tiered_pricing": [{"range": [0, 32e3], "input_cost_per_token": 1e-6}, {"range": [64e3, 128e3], "input_cost_per_token": 2e-6}]},
        "tiered_pricing",
        "has a range that ends at 32000 and another that begins at 64000",
    ),
    ({"off_peak_pricing": "night"}, "off_peak_pricing", "is str"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "at night"}]}}, "hours_utc", "is 'at night' and not hours"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "22:00-04:00"}]}}, "hours_utc", "past midnight"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00", "holidays": True}]}}, "holidays", "off-peak"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00", "weekdays": [9]}]}}, "weekdays", "is [9]"),
    ({"off_peak_pricing": {"input_cost_per_token": 1e-7}}, "off_peak_pricing", "or no hours"),
    ({"price_steps": [{"range": [0, 9], "input_cost_per_token": 1e-6}]}, "price_steps", "looks like a price but is unknown"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00", "input_cost_per_token": 1e-7}]}}, "windows", "looks like a price"),
    ({"input_cost_per_token_above_300k_tokenz": 1e-6}, "input_cost_per_token_above_300k_tokenz", "looks like a price"),
    ({"input_cost_per_token_above_1hr": 1e-6}, "input_cost_per_token_above_1hr", "names a lifetime of an item without one"),
]


@pytest.mark.parametrize(("fields", "column", "fault"), ODD, ids=[column + fault for _, column, fault in ODD])
def test_a_field_that_is_another_one_is_a_problem_and_stops_nothing_else(fields: dict[str, Any], column: str, fault: str):
    found = problem(ENTRY | fields)
    assert found.origin == "litellm 9.9" and found.column == column and fault in found.message


def test_the_file_is_found_beside_the_package_that_is_not_imported(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "litellm")
    database, items = listing_of("litellm")
    assert str(database) == "litellm 9.9" and len(list(items)) > 2
    (tmp_path / "litellm" / litellm._FILE).unlink()
    with pytest.raises(WrongData, match=r"^litellm 9\.9: has no file model_prices"):
        listing_of("litellm")


def test_a_kind_of_entries_by_another_name_is_said_where_it_asks_for_tokens_in_and_out():
    asked = {"litellm_provider": "acme", "mode": "conversation", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}
    content = {"a": asked, "b": {"litellm_provider": "acme", "mode": "music_generation", "output_cost_per_second": 0.1}}
    left, said, other = items_of(litellm.FORMAT, content, Database(name="litellm"))
    assert isinstance(left, Offer) and isinstance(other, Offer) and other.became == "not text to text: music generation"
    assert isinstance(said, Problem) and "field mode is 'conversation', an unknown kind of entry" in said.message
