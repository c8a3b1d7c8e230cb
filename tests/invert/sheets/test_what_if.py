"""Prices changed by hand: amounts, changes by so much, and bands that are added."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import BacksolveError, UnknownName, WrongValue
from invert.sheets.sheet import placed, with_amounts
from tests.tools.sheets import full
from tests.tools.together import in_one_test


@in_one_test(
    ("spec", "place"),
    [
        ("output", ("output", 0, None)),
        ("input@200k", ("input", 200000, None)),
        ("input@0", ("input", 0, None)),
        ("cache_read", ("cache_read", 0, None)),
        ("cache_write:5min", ("cache_write", 0, 300)),
        ("cache_write:1h", ("cache_write", 0, 3600)),
        ("cache_write@200k:300s", ("cache_write", 200000, 300)),
        ("cache_write@200k", ("cache_write", 200000, 300)),
    ],
)
def test_one_price_changes_and_no_other(spec: str, place: tuple[str, int, int | None]):
    before, after = full().prices, with_amounts(full(), {spec: "7.5"}).prices
    changed = after.pop(place)
    before.pop(place)
    assert after == before
    assert (changed.amount, changed.currency, changed.verification, changed.origin) == (7.5, "USD", "user", "set by hand")
    assert changed.usd_per_token == pytest.approx(7.5 / (3.6e9 if place[0] == "cache_storage" else 1e6))


def test_a_price_in_another_currency_is_converted_at_the_rate_of_its_sheet():
    yuan = replace(full(), rows=tuple(replace(row, currency="CNY", amount=7 * row.amount) for row in full().rows))
    changed = with_amounts(yuan, {"output": "21"}).prices["output", 0, None]
    assert (changed.amount, changed.currency) == (21, "CNY") and changed.usd_per_token == pytest.approx(3e-6)
    # Far from published prices is counted in dollars.
    assert with_amounts(yuan, {"output": "35000"}).prices["output", 0, None].usd_per_token == pytest.approx(5e-3)


@in_one_test(
    ("spec", "amount", "kind", "message"),
    [
        ("outptu", "1", UnknownName, "unknown component 'outptu'; did you mean 'output'?"),
        ("cache_write@100k", "1", WrongValue, "the sheet has no price at 'cache_write@100k'; it has input, output, cache_read"),
        ("input@500", "1", WrongValue, "a band may begin at 1k to 10M tokens, such as input@200k, and not at @500"),
        ("input@400k", "+10%", WrongValue, "input@400k: '+10%' changes a price that the sheet does not have. Give an amount"),
        ("output", "10%", WrongValue, "output: '10%' is neither an amount such as 12.5 nor a change such as +10%, -10% or x1.5"),
        ("output", "*2", WrongValue, "output: '*2' is neither an amount nor a change. For this multiple of the price write x2"),
        ("output", "-120%", WrongValue, "'-120%' makes the price negative. Write at most -100%"),
        ("output", "-100%", WrongValue, "Only cache items may be free"),
        ("cache_write:60", "1", WrongValue, "it has input"),
        ("cache_write", "1", WrongValue, "the sheet has several prices at 'cache_write'"),
        ("output", "8EUR", WrongValue, "'8EUR' has a unit or a sign. Here a price is in USD/MTok: write 8 for 8 USD/MTok"),
        ("output", "-1", WrongValue, "output: '-1' is negative"),
        ("output", "0", WrongValue, "Only cache items may be free"),
    ],
)
def test_a_wrong_change_names_what_the_sheet_has(spec: str, amount: str, kind: type[BacksolveError], message: str):
    with pytest.raises(kind) as caught:
        with_amounts(full(), {spec: amount})
    assert message in str(caught.value) and "\n" not in str(caught.value)


SHEET = full()


@given(st.text(max_size=30), st.text(max_size=10))
def test_any_change_is_made_or_refused(spec: str, amount: str):
    try:
        with_amounts(SHEET, {spec: amount})
    except BacksolveError as error:
        assert "\n" not in str(error)


@in_one_test(
    ("spec", "amount", "becomes"),
    [
        ("input", "+10%", 2.2),
        ("input", "x1.5", 3.0),
        ("input", "\u00d71.5", 3.0),
        ("output@200k", "+10 %", 19.8),
        ("cache_write:5min", "+12.5%", 2.8125),
        ("cache_read", "-100%", 0.0),
    ],
)
def test_a_price_changes_by_so_much(spec: str, amount: str, becomes: float):
    changed = with_amounts(full(), {spec: amount})
    after = changed.prices[placed(spec, changed.prices)]
    assert after.amount == pytest.approx(becomes, rel=1e-12) and after.verification == "user"


def test_a_threshold_that_is_not_there_adds_a_band_which_else_asks_what_the_one_below_it_does():
    sheet = with_amounts(full(), {"input@400k": "10", "cache_read@400k": "1"})
    assert [band.threshold_tokens for band in sheet.bands] == [0, 200_000, 400_000]
    assert [(band.input.amount, band.output.amount) for band in sheet.bands] == [(2, 10), (4, 18), (10, 18)]
    assert sheet.bands[2].cache_read.amount == 1 and sheet.bands[1].cache_read is None
    assert sheet.bands[:2] == full().bands and sheet.writes == full().writes and sheet.storage == full().storage


def test_one_price_given_under_two_names_is_refused():
    with pytest.raises(WrongValue, match=r"'input@200k' and 'input@200000' are the same price of the sheet\. Give it once"):
        with_amounts(full(), {"input@200k": "5", "input@200000": "6"})
