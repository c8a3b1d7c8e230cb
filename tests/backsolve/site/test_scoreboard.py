"""The scoreboard as pages: the rows of the command, and as misses all ranges and no other that the truth lies outside of."""

import pytest

from backsolve.site.scoreboard import SECTIONS_SHOWN, scoreboard_pages
from backsolve.site.writing import Page, write_page
from derive.units import show
from invert.data import read_data
from invert.estimators.size import judged_sizes
from invert.validation.scoreboard import section_rows
from invert.validation.scoreboard_text import SHOWN
from tests.tools.html import parts_of


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return list(scoreboard_pages())


def test_they_are_well_formed_and_lead_to_each_other(pages: list[Page]):
    board, misses = (parts_of(write_page(page).html) for page in pages)
    assert board.faults == misses.faults == [] and "misses/index.html" in board.links and "../index.html" in misses.links


def test_sections_have_the_rows_of_the_command(pages: list[Page]):
    found = {anchor: (columns, rows) for anchor, _, columns, rows in pages[0].context["sections"]}
    assert tuple(found) == SECTIONS_SHOWN
    cells = {str(row[column]) for columns, rows in found.values() for row in rows for column in columns}
    assert "-0.0" not in cells and not any(cell.endswith(".0") and len(cell) > len("-16.0") for cell in cells)
    rows, text = section_rows("skill", read_data()), parts_of(write_page(pages[0]).html).text
    assert found["skill"] == (SHOWN["skill"], rows) and all(str(row["estimate"]) in text for row in rows) and "None" not in text


def test_misses_are_those_that_did_not_hold(pages: list[Page]):
    _, _, _, sizes, count = pages[1].context["sections"][0]
    missed = [one for one in judged_sizes(read_data()) if not one.right]
    assert sorted(one.model for one in sizes) == sorted(one.model for one in missed) and missed
    assert sizes[0] == max(missed, key=lambda one: max(one.median / one.truth, one.truth / one.median))
    text = parts_of(write_page(pages[1]).html).text
    assert f"{len(missed)} of {count}" in text and show("active_params", sizes[0].truth, digits=2) in text
