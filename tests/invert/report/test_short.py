"""One sheet on one screen: at most so many lines at any width, nothing without what qualifies it, nothing that the record has not."""

from dataclasses import replace

import pytest

from invert.report.short import MOST_PRICES, short_parts, short_report
from tests.tools.inferred import current

MOST_LINES = 45


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_sheet_fits_a_screen(width: int):
    run = current()
    longest = {one.name: len(short_report(one, run, width).splitlines()) for one in run}
    assert max(longest.values()) <= MOST_LINES, {name: lines for name, lines in longest.items() if lines > MOST_LINES}
    assert all(len(line) <= width for one in run for line in short_report(one, run, width).splitlines() if "://" not in line)


def test_prices_beyond_a_few_are_counted():
    run = current()
    one = run["openai/gpt-6-sol"]
    more = (replace(one.sheet.writes[0], ttl_seconds=60), *one.sheet.writes)
    table = next(part for part in short_parts(replace(one, sheet=replace(one.sheet, writes=more)), run) if "cache read" in part)
    assert len(table.splitlines()) == MOST_PRICES + 2 and "2 more, as in --full" in table


def test_an_amount_that_was_put_in_is_said():
    run = current()
    changed = replace(run, changes={"output": "20"})
    assert "what if: output = 20, in place of the published amount" in short_report(run["openai/gpt-6-sol"], changed)
