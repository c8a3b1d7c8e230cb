"""The page of the market: a row a sheet that leads to its page, with the cells of the table at a glance."""

import json
from dataclasses import replace

from backsolve.site.market import _COLUMNS, market_page
from backsolve.site.sheets import sheet_address
from backsolve.site.writing import write_page
from derive.tables.lines import Problem
from invert.report.columns import column_of
from invert.result import InferenceTable
from tests.tools.html import parts_of


def test_every_sheet_has_a_row_that_leads_to_its_page(some_sheets: InferenceTable):
    page = market_page(some_sheets)
    parts = parts_of(write_page(page).html)
    assert parts.faults == [] and len(page.context["rows"]) == len(some_sheets)
    for one in some_sheets:
        cells = [column_of(name).text(one) for name in _COLUMNS]
        assert (sheet_address(one), cells) in [(address, [text for text, _ in row]) for address, row in page.context["rows"]]
        assert f"../{sheet_address(one)}" in parts.links


def test_what_could_not_be_read_goes_with_the_page(some_sheets: InferenceTable):
    bad = (Problem(origin="prices.csv", row=7, column="notes", message="holds the control character \\x07"),)
    assert market_page(replace(some_sheets, problems=bad)).problems == bad


def test_the_dearest_is_first(some_sheets: InferenceTable):
    rows = market_page(some_sheets).context["rows"]
    prices = [float(cells[_COLUMNS.index("price")][1]) for _, cells in rows]
    assert prices == sorted(prices, reverse=True) and len({*prices}) > 1


def test_the_table_is_a_file_beside_the_page_and_its_points_lead_to_sheets(some_sheets: InferenceTable):
    page = market_page(some_sheets)
    rows = json.loads(page.files["prices.json"])
    assert page.files["prices.csv"].count("\n") == 1 + len(some_sheets) == 1 + len(rows)
    assert {row["page"] for row in rows} == {sheet_address(one) for one in some_sheets}
    drawing = write_page(page).html
    assert all(f'<a href="../{sheet_address(one)}"' in drawing for one in some_sheets if one.by_price["active_params"].kind == "interval")
