"""Which way a formula goes, as it is written and as draws see it."""

from derive.catalogue import equations
from derive.solving import directions
from tests.tools.together import in_one_test


@in_one_test("row", [row for row in equations() if row.sense == "="], ids=lambda row: row.id)
def test_what_is_read_off_is_what_draws_see(row, monkeypatch):
    """Of every quantity of every equation, and of its right side."""
    read_off = {cause: directions._as_written((row,), cause) for cause in (*row.symbols, row.id)}
    monkeypatch.setattr(directions, "_as_written", lambda rows, cause: None)
    drawn = {cause: directions._moves.__wrapped__((row,), cause) for cause, trend in read_off.items() if trend}
    assert drawn == {cause: frozenset((read_off[cause],)) for cause in drawn}


def test_two_thirds_of_all_trends_are_read_off():
    """So that few are drawn for, which takes a hundred times as long."""
    found = [directions._as_written((row,), cause) for row in equations() if row.sense == "=" for cause in row.symbols]
    assert sum(map(bool, found)) > 0.6 * len(found)
