"""Build the pages of prices. The market has size against price, and a table of all sheets that is also a CSV and a JSON file."""

import json
from collections.abc import Iterator

from backsolve.figures.sheets import size_price
from backsolve.site.parts import sections_of
from backsolve.site.scoreboard import scoreboard_pages
from backsolve.site.sheets import pages_of_other_names, pages_of_sheets, sheet_address
from backsolve.site.writing import Page
from invert.inference import infer
from invert.report.columns import SHORT_KEYS, Column, column_of, flat, sort_sheets
from invert.report.contract import run_as_csv
from invert.report.overview import overview, overview_parts
from invert.result import Inference, Run

_COLUMNS = ("model", "provider", *SHORT_KEYS[1:])
"""Columns of the table. The first one links to the page of its sheet."""


def price_pages() -> Iterator[Page]:
    """Yield the market, the sheets with their other names, and the scoreboard."""
    table = infer()
    yield market_page(table)
    yield from pages_of_sheets(table)
    yield from pages_of_other_names(table)
    yield from scoreboard_pages()


def market_page(table: Run) -> Page:
    """Return the page of all sheets of a run, with the files of its table."""
    columns = [column_of(name) for name in _COLUMNS]
    parts = overview_parts(overview(table))
    context = {
        "sizes": size_price([*table]),
        "addresses": {one.sheet.model: sheet_address(one) for one in table},
        "columns": [column.heading for column in columns],
        "rows": [(sheet_address(one), [_cell(column, one) for column in columns]) for one in sort_sheets(table.inferences, "price")],
        "first": parts[0],
        "sections": sections_of(parts),
        "words": " ".join(one.name for one in table),
    }
    # The rows of the CSV, without the values that are not known.
    records = [{"page": sheet_address(one)} | {key: value for key, value in flat(one).items() if value is not None} for one in table]
    as_json = json.dumps(records, separators=(",", ":"), default=str)
    files = {"prices.csv": f"{run_as_csv(table)}\n", "prices.json": f"{as_json}\n"}
    return Page("market/index.html", "market.html", context, table.problems, files)


def _cell(column: Column, one: Inference) -> tuple[str, str]:
    """Return the text of a cell and its sort key: a number [SI], a text, or "" for an unknown value."""
    value, text = column.ordered_by(one), column.text(one)
    return text, f"{value:.6g}" if isinstance(value, float | int) else str(value or "")
