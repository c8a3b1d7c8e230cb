"""What all tests share: their own tables, the same random draws in every run, time enough on a busy machine, and a sheet of the past.

Tests read `tests/tables`, a copy of the tables of pricing_data, so that a new price, chip or model turns no test red. Tests with the
fixture `shipped_tables`, and commands that run in another process, read pricing_data: they check only what every edit must keep.
A change of the code that goes with a change of pricing_data (a column, a figure that a new test needs) takes a new copy:

    cp pricing_data/*.csv pricing_data/datapackage.json tests/tables/
"""

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from derive.tables import shipped
from tests.tools import remembered, together
from tests.tools.tables import FROZEN, SHIPPED, of_80_gb, reading, tiered_sonnet_tables

pytest.register_assert_rewrite("tests.tools.commands", "tests.tools.dimensions")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--case", default="", help="of tests that try many cases, only those whose name holds this text")
    parser.addoption("--whole", action="store_true", help="tests that try a part of their cases try them all")


def pytest_configure(config: pytest.Config) -> None:
    shipped.FOLDER = str(FROZEN)
    # What is imported is compiled once, and not again in each of the many processes that tests start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Outputs have the width of a pipe, whatever terminal the tests run in.
    os.environ.pop("COLUMNS", None)
    sys.dont_write_bytecode = False
    # As the program does: Python would look for circles every 700 objects, a sixth of the time of all tests.
    gc.set_threshold(100_000)
    together.ONLY, together.WHOLE = config.getoption("--case"), config.getoption("--whole")
    if not together.WHOLE:
        remembered.remember()


LONGEST = ("test_samplers", "test_laws")
"""Files whose tests take longest, a minute and more."""


def pytest_collection_finish() -> None:
    """What is loaded by now stays: whoever looks for garbage need not look at it again and again."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that none of them is left for one processor at the end."""
    items.sort(key=lambda item: not item.path.name.startswith(LONGEST))


settings.register_profile("the same draws every time", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("the same draws every time")


@pytest.fixture
def shipped_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test reads pricing_data, as a user does."""
    monkeypatch.setattr(shipped, "FOLDER", str(SHIPPED))


@pytest.fixture
def tiered_sonnet() -> Iterator[None]:
    """The test sees the tables of `tiered_sonnet_tables`."""
    with reading(tiered_sonnet_tables()):
        yield


@pytest.fixture
def chips_of_80_gb() -> Iterator[None]:
    """Chips with the round size of their data sheet, for numbers that were worked by hand with it."""
    with reading(of_80_gb()):
        yield
