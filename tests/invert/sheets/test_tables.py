"""What is known of a priced model on a day: nothing of its weights once it serves others."""

from dataclasses import replace
from datetime import date, timedelta

from derive.tables.shipped import rows_of
from invert.sheets.tables import ModelRow

MOVED = date(2026, 6, 1)
KNOWN = next(row for row in rows_of(ModelRow) if row.architecture and row.active_params and row.total_params)


def test_from_the_day_on_which_other_weights_are_served_nothing_is_known_of_them():
    row = replace(KNOWN, weights_until=MOVED)
    assert row.known_on(MOVED - timedelta(days=1)) is row
    after = row.known_on(MOVED)
    gone = {"architecture": "", "architecture_grade": "", "active_params": None, "active_params_grade": "", "total_params": None}
    assert {name: getattr(after, name) for name in gone} == gone
    assert replace(after, **{name: getattr(row, name) for name in gone}) == row


def test_weights_that_nobody_says_were_exchanged_are_those_of_every_day():
    assert replace(KNOWN, weights_until=None).known_on(date.max) == replace(KNOWN, weights_until=None)
