"""The answer of OpenRouter, by hand in its shape."""

from typing import Any

import pytest

from derive.tables.lines import Problem
from invert.databases import openrouter
from invert.databases.records import Database, Offer, items_of, price_rows
from tests.tools.databases import DAY, OPENROUTER

SOURCE = Database(name="openrouter")
IN, OUT = ("input", None), ("output", None)


def read() -> list[Any]:
    return list(items_of(openrouter.FORMAT, OPENROUTER, SOURCE))


def test_prices_per_token_are_text_and_an_override_inherits_what_it_does_not_name():
    found = read()[0]
    assert found.bands[0] == {IN: 3.0, OUT: 15.0, ("cache_read", None): 0.3, ("cache_write", None): 3.75, ("cache_write", 3600): 6.0}
    assert found.bands[200_000] == {IN: 6.0, OUT: 22.5} and found.max_context == 1_000_000
    rows = price_rows(found, SOURCE, DAY)
    assert {(row.component, row.ttl_seconds): row.amount for row in rows if row.threshold_tokens} == {
        IN: 6.0, OUT: 22.5, ("cache_read", None): 0.3, ("cache_write", 300): 3.75, ("cache_write", 3600): 6.0
    }  # fmt: skip


def test_hours_make_a_peak():
    peak, off = read()[1:3]
    assert (peak.service_tier, peak.utc_hours, peak.bands[0][IN]) == ("peak", "01:00-04:00", 2.0)
    assert (off.service_tier, off.utc_hours, off.bands[0][IN]) == ("off_peak", "", 1.0)


def test_a_router_and_what_is_free_make_no_sheet():
    router, free = read()[3:]
    assert router.became.startswith("a router")
    assert isinstance(free, Offer) and price_rows(free, SOURCE, DAY) == "free"


PRICE = {"prompt": "0.000001", "completion": "0.000002"}
ODD = [  # entry, the field that is named
    ({"id": "m"}, "pricing"),
    ({"pricing": PRICE}, "id"),
    ({"id": "m", "pricing": PRICE | {"prompt": "cheap"}}, "prompt"),
    ({"id": "m", "pricing": PRICE | {"prompt_above_200k": "0.000002"}}, "prompt_above_200k"),
    ({"id": "m", "pricing": PRICE | {"overrides": "none"}}, "overrides"),
    ({"id": "m", "pricing": PRICE | {"overrides": [{"min_prompt_tokens": 5, "utc_start": "01:00", "utc_end": "02:00"}]}}, "overrides"),
    ({"id": "m", "pricing": PRICE | {"overrides": [{"utc_start": "noon", "utc_end": "02:00"}]}}, "overrides"),
    ({"id": "m", "pricing": PRICE | {"overrides": [{"utc_start": "01:00", "utc_end": "02:00", "utc_days": [1]}]}}, "overrides"),
]


@pytest.mark.parametrize(("entry", "column"), ODD)
def test_a_field_that_is_another_one_is_a_problem_and_stops_nothing_else(entry: dict[str, Any], column: str):
    left, odd, good = items_of(openrouter.FORMAT, {"data": [entry, {"id": "good", "pricing": PRICE}]}, SOURCE)
    assert left.became and isinstance(odd, Problem) and odd.column == column and isinstance(good, Offer)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"min_prompt_tokens": 200_000, "prompt": "0.000003"}, "hours and prompt lengths"),
        ({"utc_start": "05:00", "utc_end": "06:00", "prompt": "0.000003"}, "has more than two prices a day"),
    ],
)
def test_what_is_asked_beside_hours_is_refused_for_what_it_is(other: dict[str, Any], why: str):
    overrides = [{"utc_start": "01:00", "utc_end": "02:00", "prompt": "0.000002"}, other]
    _, odd = items_of(openrouter.FORMAT, {"data": [{"id": "m", "pricing": PRICE | {"overrides": overrides}}]}, SOURCE)
    assert isinstance(odd, Problem) and why in odd.message
