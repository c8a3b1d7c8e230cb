"""The page of the whole market: size against price with the panel, and every sheet in a table that leads to its page."""

from backsolve.site.parts import figure_of, sections_of
from backsolve.site.sheets import sheet_address
from backsolve.site.writing import Entry, Page
from invert.data import Data
from invert.estimators.market.line import size_line
from invert.overview import overview
from invert.report.columns import SHORT_KEYS, column_of, in_order
from invert.report.figures import size_price
from invert.report.overview import overview_parts
from invert.result import Run

_MARKET = "market/index.html"
_COLUMNS = ("model", "provider", *SHORT_KEYS[1:])
"""Of the table; the first of them leads to the page of its sheet."""
_SUMMARY = "Every current price sheet with what it implies, and how big open models of a price are."


def market_page(table: Run, data: Data) -> Page:
    """The page of all sheets of a run."""
    columns = [column_of(name) for name in _COLUMNS]
    rows = [(sheet_address(one), [column.text(one) for column in columns]) for one in in_order(table.inferences, "price")]
    parts = overview_parts(overview(table))
    context = {
        "figure_of_sizes": figure_of(size_price(size_line(data, table.assumptions), [*table])),
        "columns": [column.heading for column in columns],
        "rows": rows,
        "first": parts[0],
        "sections": sections_of(parts),
    }
    entry = Entry(title="Prices", kind="price sheets", address=_MARKET, summary=_SUMMARY, words=" ".join(one.name for one in table))
    return Page(
        address=_MARKET,
        template="market.html",
        title="Prices",
        summary=_SUMMARY,
        context=context,
        entries=(entry,),
        problems=table.problems,
    )
