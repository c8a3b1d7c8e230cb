"""A reading of a sheet is cited with its price rows, equation, numbers, residual and record, in every style."""

import json
import re

import pytest
from pybtex.database import parse_string

from derive.errors import NoSingleValue
from derive.show.citation import STYLES
from invert.inference import infer
from invert.report.cited import cite_reading
from invert.result import InferenceTable
from tests.tools.commands import call


@pytest.fixture(scope="module")
def gemini() -> InferenceTable:
    return infer("gemini-3.1-pro")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("reading", "prices", "equation", "digits"),
    [
        ("kv", ["input@200k 4"], "readings.threshold_is_crossover", "1.667"),
        ("fraction", ["input 2", "output 12"], "readings.bandwidth_bound_fraction", "0.8333"),
        ("tier", ["output 12", "output@200k 18", "cache_storage 4.5"], "cache.implied_drain_time", "HBM or DDR"),
    ],
)
def test_prices_equation_residual_and_record_are_in_every_style(
    gemini: InferenceTable, style: str, reading: str, prices: list[str], equation: str, digits: str
):
    text = cite_reading(gemini[0], gemini, reading, style)
    plain = text.replace("\\_", "_").replace("\\@", "@")
    assert digits in plain and "ai.google.dev/gemini-api/docs/pricing" in plain and equation in plain
    assert all(price in plain for price in prices)
    assert "esidual: " in plain and "ecord: " in plain
    if style == "csl-json":
        assert len(json.loads(text)) >= 2 + len(prices)
    if style == "bibtex":
        assert len(parse_string(text.partition("\n")[2], "bibtex").entries) >= 2 + len(prices)


def test_the_residual_names_the_prices_that_the_reading_misses(gemini: InferenceTable):
    """The lecture's reading has no attention FLOPs, so that it predicts no premium on input: 2 where 4 is asked."""
    text = cite_reading(gemini[0], gemini, "kv")
    assert "input above 200k 4, predicted 2, missed" in text and "reproduced" in text
    assert re.search(r"Record: 12\dx low", text)


def test_the_tier_of_lifetimes_is_that_of_the_drain_time_rule():
    table = infer("claude-opus-5-5")
    text = cite_reading(table[0], table, "tier")
    assert "5 min flash, 1 h disk" in text and "cache_write:5min 5 USD" in text and "cache_write:1h 8 USD" in text
    assert "is 5 times the drain time of the nearest tier (flash," in text
    with pytest.raises(NoSingleValue):
        cite_reading(table[0], table, "kv")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("reading", ["kv", "fraction", "tier"])
def test_prices_of_ones_own_are_cited(reading: str, style: str):
    shown = call("cite", "typed/sheet", "--prices", "2/12; >200k 4/18; 1h 4.5", "--reading", reading, "--as", style)
    assert shown.status == 0 and shown.out


def test_a_storage_price_of_two_write_prices_leaves_the_tier_by_lifetime():
    shown = call("cite", "typed/sheet", "--prices", "2/12; >200k 4/18; 5min 2.5; 1h 4", "--reading", "tier")
    assert shown.status == 0 and "5 min flash, 1 h disk" in shown.out


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (("claude-opus-5-5", "--reading", "kv"), 3),
        (("typed/sheet", "--prices", "2/1", "--reading", "fraction"), 3),
        (("typed/sheet", "--prices", "2/12", "--reading", "tier"), 3),
        (("--reading", "kv"), 2),
        (("gemini-3.1-pro#output", "--reading", "kv"), 2),
        (("gemini-3.1-pro", "--reading", "size"), 2),
        (("roofline.step_time", "--reading", "kv"), 2),
    ],
)
def test_what_has_no_such_reading_is_refused(asked: tuple[str, ...], status: int):
    refused = call("cite", *asked)
    assert refused.status == status and refused.out == "" and 1 <= len(refused.err.splitlines()) <= 2
