"""The price file of litellm, by hand in its shape."""

from typing import Any

import pytest

from derive.errors import WrongData
from derive.tables.problems import Problem
from invert.databases import litellm
from invert.databases.records import Database, Item, NotTaken, Offer
from tests.tools.databases import LITELLM, installed

SOURCE = Database(name="litellm", version="9.9")
IN, OUT, READ = ("input", None), ("output", None), ("cache_read", None)
ENTRY = {"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}


def items(content: Any) -> list[Item]:
    return list(litellm.offers(content, SOURCE))


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


def test_hours_may_stand_beside_the_prices_and_other_costs_are_no_hours():
    alone = {"hours_utc": "00:00-16:00", "output_cost_per_reasoning_token": 1e-6, "input_cost_per_token": 1e-7}
    assert litellm.peak_hours(alone) == ("16:00-24:00", "")
    assert litellm.peak_hours(alone | {"windows": [{"hours_utc": "20:00-00:00"}]}) == ("16:00-20:00", "")


def test_days_in_china_are_those_of_utc_up_to_their_midnight():
    windows = {"windows": [{"hours_utc": ["00:00-01:00", "04:00-00:00"]}], "weekday_timezone": "Asia/Shanghai"}
    assert litellm.peak_hours(windows) == ("01:00-04:00", "")
    late = {"windows": [{"hours_utc": ["00:00-15:00", "17:00-00:00"], "weekdays": [1]}], "weekday_timezone": "Asia/Shanghai"}
    assert problem(ENTRY | {"off_peak_pricing": late}).column in ("weekday_timezone", "off_peak_pricing")


def test_service_tiers_are_in_the_names_of_fields_and_a_discount_on_one_item_is_none():
    tiers = {tier: offer.bands[0][IN] for (name, tier), offer in read().items() if name == "gpt-test-2"}
    assert tiers == {"standard": 1.0, "batch": 0.5, "priority": 2.0}
    assert read()["claude-test-1", "fast"].bands[0][IN] == 6.0, "twice, as its own entry says"


def test_ranges_of_the_prompt_are_bands():
    assert read()["qwen-test", "standard"].bands == {0: {IN: 0.4, OUT: 1.2}, 256_000: {IN: 1.2, OUT: 3.6}}


def test_what_answers_with_pictures_is_left_out_by_kind_and_the_sample_is_no_model():
    left = [one for one in items(LITELLM) if isinstance(one, NotTaken)]
    assert left == [NotTaken(provider="openai", model="picture-test", because="no text for text: image generation")]


def test_ranges_may_begin_with_the_next_token_and_end_nowhere():
    ranges = [[0, 32e3], [32_001, 64e3], [64e3, None]]
    tiers = [{"range": span, "input_cost_per_token": (place + 1) * 1e-6} for place, span in enumerate(ranges)]
    assert list(read({"p/m": ENTRY | {"tiered_pricing": tiers}})["m", "standard"].bands) == [0, 32_001, 64_000]


def problem(entry: Any) -> Problem:
    found = items({"p/m": entry, "p/good": ENTRY})
    assert [one.model for one in found if isinstance(one, Offer) and one.model == "good"] == ["good"]
    (one,) = (one for one in found if isinstance(one, Problem))
    return one


ODD = [  # fields, the one that is named, what is said
    ({"input_cost_per_token": "2e-06 USD"}, "input_cost_per_token", "is '2e-06 USD', not a number"),
    ({"input_cost_per_token": {"usd": 1}}, "input_cost_per_token", "is dict, not a number"),
    ({"mode": 3}, "mode", "is int and not str"),
    ({"litellm_provider": ["p"]}, "litellm_provider", "is list and not str"),
    ({"tiered_pricing": [{"input_cost_per_token": 1e-6}]}, "tiered_pricing", "has a range that does not begin"),
    ({"tiered_pricing": {"0": 1}}, "tiered_pricing", "is dict and not list"),
    (
        {"tiered_pricing": [{"range": [0, 32e3], "input_cost_per_token": 1e-6}, {"range": [64e3, 128e3], "input_cost_per_token": 2e-6}]},
        "tiered_pricing",
        "has a range that ends at 32000 and another that begins at 64000",
    ),
    ({"off_peak_pricing": "night"}, "off_peak_pricing", "is str"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "at night"}]}}, "hours_utc", "is 'at night' and not hours"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "22:00-04:00"}]}}, "hours_utc", "past midnight"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00", "holidays": True}]}}, "holidays", "says when an off-peak price holds"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00", "weekdays": [9]}]}}, "weekdays", "is [9]"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00", "weekdays": "Mon"}]}}, "weekdays", "is 'Mon'"),
    ({"off_peak_pricing": {"windows": ["00:00-04:00"]}}, "windows", "is str and not dict"),
    ({"off_peak_pricing": {"input_cost_per_token": 1e-7}}, "off_peak_pricing", "or none at all"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00"}], "months": [1]}}, "months", "says when an off-peak price holds"),
    ({"price_steps": [{"range": [0, 9], "input_cost_per_token": 1e-6}]}, "price_steps", "looks like a price and is not known"),
    ({"off_peak_pricing": {"windows": [{"hours_utc": "00:00-04:00", "input_cost_per_token": 1e-7}]}}, "windows", "looks like a price"),
    ({"input_cost_per_token_above_1hr": 1e-6}, "input_cost_per_token_above_1hr", "names a lifetime of an item without one"),
]


@pytest.mark.parametrize(("fields", "column", "fault"), ODD, ids=[column + fault for _, column, fault in ODD])
def test_a_field_that_is_another_one_is_a_problem_and_stops_nothing_else(fields: dict[str, Any], column: str, fault: str):
    found = problem(ENTRY | fields)
    assert found.origin == "litellm 9.9" and found.column == column and fault in found.message


def test_the_file_is_found_beside_the_package_that_is_not_imported(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "litellm")
    place, database = litellm.installed()
    assert place == tmp_path / "litellm" / litellm._FILE and str(database) == "litellm 9.9"
    place.unlink()
    with pytest.raises(WrongData, match=r"^litellm 9\.9: has no file model_prices"):
        litellm.installed()


@pytest.mark.parametrize("named", [{}, {"litellm_provider": None}])
def test_an_entry_that_names_no_provider_is_said_to_lack_it(named: dict[str, None]):
    left, said = litellm.offers(
        {"m": {"mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6} | named}, Database(name="litellm")
    )
    assert isinstance(left, NotTaken) and left.provider == "" and isinstance(said, Problem)
    assert said.message == "field litellm_provider is not there, of 'm'"


def test_a_kind_of_entries_by_another_name_is_said_where_it_asks_for_tokens_in_and_out():
    asked = {"litellm_provider": "acme", "mode": "conversation", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}
    content = {"a": asked, "b": {"litellm_provider": "acme", "mode": "music_generation", "output_cost_per_second": 0.1}}
    left, said, other = litellm.offers(content, Database(name="litellm"))
    assert isinstance(left, NotTaken) and isinstance(other, NotTaken) and other.because == "no text for text: music generation"
    assert isinstance(said, Problem) and "field mode is 'conversation': no kind of entry that is known here" in said.message


def test_the_longest_answer_is_not_taken_for_the_context():
    (alone,) = items({"p/m": ENTRY | {"max_tokens": 8192}})[:1]
    (both,) = items({"p/m": ENTRY | {"max_tokens": 8192, "max_input_tokens": 200_000}})
    assert isinstance(alone, Offer) and isinstance(both, Offer) and (alone.max_context, both.max_context) == (None, 200_000)
