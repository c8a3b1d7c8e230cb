"""All pages of prices together: a sheet of every provider has one, and no two share an address."""

import pytest

from backsolve.site import prices
from backsolve.site.prices import price_pages
from backsolve.site.sheets import pages_of_other_names
from invert.result import InferenceTable


@pytest.mark.slow
def test_market_sheets_and_scoreboard_are_of_one_run(some_sheets: InferenceTable, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prices, "infer", lambda: some_sheets)
    addresses = [page.address for page in price_pages()]
    assert addresses[0] == "market/index.html" and addresses[-2:] == ["scoreboard/index.html", "scoreboard/misses/index.html"]
    other_names = len([*pages_of_other_names(some_sheets)])
    assert len({*addresses}) == len(addresses) == len(some_sheets) + other_names + 3
