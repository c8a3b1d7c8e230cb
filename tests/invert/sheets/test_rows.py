"""A row of a price file: what it prices, when it holds, where it stands; and the rate of exchange of a day."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.tables.shipped import rows_of
from invert.sheets.rows import FxRate, ModelRow, PriceRow, units_per_usd

ROW = PriceRow(
    provider="acme", model="m", region="global", service_tier="standard", component="input", threshold_tokens=0, threshold_inclusive=False,
    ttl_seconds=None, utc_hours="", weekdays="", amount=2.0, currency="USD", per="mtok", effective_date=date(2026, 5, 1), date_kind="start",
    valid_to=date(2026, 8, 1), retrieved_date=date(2026, 11, 20), source_url="", verification="official", notes="", origin="prices.csv:7",
)  # fmt: skip
A_DAY = timedelta(days=1)


@given(
    st.dates(), st.one_of(st.none(), st.dates()), st.one_of(st.none(), st.dates()), st.sampled_from(["start", "first_seen", "verified", ""])
)
def test_a_price_holds_from_its_first_day_up_to_its_end(day: date, begins: date | None, ends: date | None, kind: str):
    row = replace(ROW, effective_date=begins, valid_to=ends, date_kind=kind)
    begun = begins is None or kind == "verified" or begins <= day
    assert row.valid_on(day) == (begun and (ends is None or day < ends))
    assert row.valid_on(day) == (row.start <= day and (day < row.end or ends is None))


def test_the_first_day_is_in_and_the_last_is_not():
    assert [ROW.valid_on(day) for day in (ROW.start - A_DAY, ROW.start, ROW.end - A_DAY, ROW.end)] == [False, True, True, False]
    assert replace(ROW, valid_to=None).valid_on(date.max) and replace(ROW, effective_date=None).valid_on(date.min)
    assert replace(ROW, date_kind="verified").valid_on(date.min), "a day of verification is no beginning"


SAME = {"amount": 3.0, "currency": "CNY", "effective_date": None, "notes": "x", "origin": "own.csv:2", "threshold_inclusive": True}
OTHER = {
    **{"provider": "b", "model": "n", "region": "eu", "service_tier": "batch", "component": "output"},
    **{"threshold_tokens": 200_000, "ttl_seconds": 300, "utc_hours": "01:00-04:00", "weekdays": "sat"},
}


def test_the_key_is_what_a_row_prices_and_nothing_that_is_said_of_it():
    assert all(replace(ROW, **{name: value}).key == ROW.key for name, value in SAME.items())
    assert all(replace(ROW, **{name: value}).key != ROW.key for name, value in OTHER.items()) and len(ROW.key) == len(OTHER)
    assert ROW.key[:4] == ROW.sheet_key == ("acme", "m", "global", "standard")


@pytest.mark.parametrize(
    ("origin", "place"), [("prices.csv:7", ("prices.csv", 7)), ("C:\\own.csv:12", ("C:\\own.csv", 12)), ("own", ("own", None))]
)
def test_a_problem_of_a_row_names_the_file_and_the_row(origin: str, place: tuple[str, int | None]):
    found = replace(ROW, origin=origin).problem("currency", "is odd")
    assert (found.origin, found.row, found.column, found.message) == (*place, "currency", "is odd")


RATES = {
    "CNY": tuple(FxRate(currency="CNY", date=date(2026, month, 1), units_per_usd=rate) for month, rate in ((1, 7.0), (6, 7.2), (9, 6.9)))
}


def test_a_rate_is_the_newest_known_on_the_day_and_before_all_of_them_the_oldest():
    days = {date(2025, 1, 1): 7.0, date(2026, 1, 1): 7.0, date(2026, 5, 31): 7.0, date(2026, 6, 1): 7.2, date(2026, 12, 31): 6.9}
    assert {day: units_per_usd(RATES, "CNY", day) for day in days} == days
    assert units_per_usd({}, "USD", date(2026, 1, 1)) == 1.0
    with pytest.raises(KeyError):
        units_per_usd(RATES, "EUR", date(2026, 1, 1))


MOVED = date(2026, 6, 1)
KNOWN = next(row for row in rows_of(ModelRow) if row.architecture and row.active_params and row.total_params)


def test_from_the_day_on_which_other_weights_are_served_nothing_is_known_of_them():
    row = KNOWN.changed(weights_until=MOVED)
    assert row.known_on(MOVED - timedelta(days=1)) is row
    after = row.known_on(MOVED)
    gone = {"architecture": "", "architecture_grade": "", "active_params": None, "active_params_grade": "", "total_params": None}
    assert {name: getattr(after, name) for name in gone} == gone
    assert after.changed(**{name: getattr(row, name) for name in gone}) == row


def test_weights_that_nobody_says_were_exchanged_are_those_of_every_day():
    assert KNOWN.changed(weights_until=None).known_on(date.max) == KNOWN.changed(weights_until=None)
