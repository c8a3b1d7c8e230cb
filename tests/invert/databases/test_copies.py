"""Sheets that say again what another one says."""

import pytest

from invert.databases.pull import repeated
from invert.databases.records import Database, Offer, price_rows
from invert.sheets.rows import PriceRow, SheetKey
from tests.tools.databases import DAY

ASKED = {("input", None): 3.0, ("output", None): 15.0, ("cache_read", None): 0.3}
MAKER = ("anthropic", "claude-test", "", "standard")


def sheets(*asked: tuple[SheetKey, dict]) -> dict[SheetKey, list[PriceRow]]:
    found = {}
    for (provider, model, region, tier), rates in asked:
        offer = Offer(provider=provider, model=model, region=region, service_tier=tier, bands=rates if 0 in rates else {0: rates})
        found[provider, model, region, tier] = price_rows(offer, Database(name="base"), DAY)
    return found


def left_out(*asked: tuple[SheetKey, dict]) -> list[SheetKey]:
    found = sheets(*asked)
    return repeated(found, found)


LONG = {0: ASKED, 200_000: {("input", None): 6.0, ("output", None): 22.5}}
CASES = [  # another sheet, what it asks, whether it says what the maker says
    (("openrouter", "anthropic/claude-test", "", "standard"), ASKED, True),
    (("aws", "us.anthropic.claude-test-20260101-v1:0", "", "standard"), ASKED, True),
    (("azure", "claude-test", "", "standard"), {key: ASKED[key] for key in (("input", None), ("output", None))}, True),
    (("azure", "claude-test", "", "standard"), ASKED | {("input", None): 3.3}, False),
    (("azure", "claude-test", "", "standard"), ASKED | {("cache_write", 3600): 6.0}, False),
    (("azure", "claude-test", "", "standard"), LONG, False),
    (("azure", "claude-test", "", "batch"), ASKED, False),
    (("openrouter", "anthropic/claude-test-mini", "", "standard"), ASKED, False),
    (("anthropic", "claude-test-20260101", "", "standard"), ASKED, True),
    (("anthropic", "claude-test-latest", "", "standard"), ASKED, True),
    (("anthropic", "claude-test-latest", "eu", "standard"), ASKED, False),
    (("openai", "claude-test", "", "standard"), ASKED, False),
]


@pytest.mark.parametrize(("key", "rates", "again"), CASES)
def test_what_a_reseller_or_a_second_name_says_again_is_left_out(key: SheetKey, rates: dict, again: bool):
    assert left_out((MAKER, ASKED), (key, rates)) == ([key] if again else [])


def test_a_host_of_an_open_model_copies_nobody_and_a_router_copies_its_host():
    hosts = [(name, "open/llama-test", "", "standard") for name in ("novita", "together", "huggingface_novita", "huggingface_together")]
    assert left_out(*((one, ASKED) for one in hosts)) == hosts[2:]
