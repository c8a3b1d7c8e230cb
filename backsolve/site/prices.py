"""The pages of prices: every current sheet, the market, and the scoreboard, all from one reading of the tables."""

from collections.abc import Iterator

from backsolve.site.market import market_page
from backsolve.site.scoreboard import scoreboard_pages
from backsolve.site.sheets import pages_of_other_names, pages_of_sheets
from backsolve.site.writing import Page
from invert.data import read_data
from invert.inference import infer


def price_pages(html_base: str = "") -> Iterator[Page]:
    """Yield all pages of prices. `html_base` is the address of the published site, for citations."""
    table, data = infer(), read_data()
    yield market_page(table)
    yield from pages_of_sheets(table, html_base)
    yield from pages_of_other_names(table)
    yield from scoreboard_pages(data)
