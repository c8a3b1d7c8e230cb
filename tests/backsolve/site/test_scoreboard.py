"""The scoreboard as pages: the rows of the command, and as misses all ranges and no other that the truth lies outside of."""

import pytest

from backsolve.site.scoreboard import SECTIONS_SHOWN, scoreboard_pages
from backsolve.site.writing import Page, written_page
from derive.units import show
from invert.data import read_data
from invert.estimators.market.line import judged_sizes
from invert.validation.scoreboard import section_rows
from invert.validation.scoreboard_text import SHOWN
from tests.tools.html import parts_of


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return list(scoreboard_pages(read_data()))


def test_they_are_well_formed_and_lead_to_each_other(pages: list[Page]):
    board, misses = (parts_of(written_page(page)) for page in pages)
    assert board.faults == misses.faults == [] and "misses/index.html" in board.links and "../index.html" in misses.links


def test_sections_have_the_rows_of_the_command(pages: list[Page]):
    found = {section.anchor: section.blocks[0] for section in pages[0].context["sections"]}
    assert tuple(found) == SECTIONS_SHOWN
    cells = {cell for one in found.values() for row in one.rows for cell in row}
    assert "-0.0" not in cells and not any(cell.endswith(".0") and len(cell) > len("-16.0") for cell in cells)
    rows = section_rows("skill", read_data())
    assert [row[0] for row in found["skill"].rows] == [row["estimate"] for row in rows] and found["skill"].columns == SHOWN["skill"]


def test_misses_are_those_that_did_not_hold(pages: list[Page]):
    sizes = pages[1].context["sections"][0].blocks[0].rows
    missed = [one for one in judged_sizes(read_data()) if not one.held]
    assert sorted(row[0] for row in sizes) == sorted(one.model for one in missed) and missed
    worst = max(missed, key=lambda one: max(one.median / one.truth, one.truth / one.median))
    assert sizes[0][:3] == (worst.model, worst.by, show("active_params", worst.truth, digits=2))
    assert pages[1].context["counts"][0][1:] == (len(missed), len(judged_sizes(read_data())))
