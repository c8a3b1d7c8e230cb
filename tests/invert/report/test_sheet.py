"""What the full report of a sheet says: estimates, doubts, what prices cannot tell, tiers; whole lines, and numbers only."""

import re
from functools import cache

import pytest

from invert.estimate_text import KV_NAMES, kv_heading
from invert.inference import infer
from invert.report.layout import laid_out
from invert.report.sheet import full_parts
from invert.result import Inference
from invert.sheets.add import typed_sheet
from tests.tools.inferred import everything_with_tiered_sonnet as everything
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

UNBROKEN = 10_000
"""Columns in which no line of a report is broken."""
NO_NUMBER = re.compile(r"(?<![\w-])-?(nan|inf|infinity|None)(?![\w-])")


@cache
def reports() -> dict[str, str]:
    """The report of every shipped sheet of every tier."""
    return {
        f"{one.sheet.provider}/{one.sheet.model} {one.sheet.service_tier}": laid_out(full_parts(one, everything()), UNBROKEN)
        for one in everything().inferences
    }


@cache
def one(name: str) -> Inference:
    return next(one for one in everything().inferences if one.sheet.model == name and one.sheet.service_tier == "standard")


@cache
def text(name: str) -> str:
    return laid_out(full_parts(one(name), everything()), UNBROKEN)


def changed(name: str, **prices: str) -> str:
    table = infer([name], changes={component.replace("_at_", "@"): amount for component, amount in prices.items()})
    return laid_out(full_parts(table.inferences[0], table), UNBROKEN)


# -- all sheets -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_report_of_a_shipped_sheet_prints_what_is_no_number():
    assert len(reports()) == len(everything().inferences) > 33
    found = {name: line for name, text in reports().items() for line in text.splitlines() if NO_NUMBER.search(line)}
    assert found == {}


@pytest.mark.slow
def test_no_line_is_cut_and_no_name_is_broken():
    for found in everything().inferences:
        said = reports()[f"{found.sheet.provider}/{found.sheet.model} {found.sheet.service_tier}"]
        assert "\u2026" not in said and not any(line.endswith((" ", "...")) for line in said.splitlines())
        for estimate in (*found.kv_bytes.values(), *found.estimates.values()):
            assert any(estimate.because in line for line in said.splitlines())


@pytest.mark.slow
@in_one_test(
    "prices",
    [
        {"input_at_200k": "0.5"},  # no draw fits
        {"input_at_200k": "1"},
        {"output": "0.2", "output_at_200k": "0.3"},
        {"output_at_200k": "12"},  # an output premium of 1: no slope to swing
        {"input_at_200k": "2", "output_at_200k": "12"},
        {"output_at_200k": "10"},
        {"output_at_200k": "1200"},
    ],
)
def test_odd_prices_are_reported_in_full_and_in_numbers(prices: dict[str, str]):
    said = changed("gemini-3.1-pro", **prices)
    assert not NO_NUMBER.search(said)
    assert all(kv_heading(name) in said for name in KV_NAMES) and "What the prices determine" in said


def test_large_numbers_have_no_exponent_and_a_bound_is_in_words():
    run = infer("typed/sheet", prices=typed_sheet("900/5000; >200k 1800/5000; context 1M"), anchors={"active_params": "1T"})
    text = laid_out([*full_parts(run[0], run), str(run)], 100)
    assert [part in text for part in ("1000 B", "900/5000", "B/token or less", "-/token", "e+")] == [True, True, True, False, False]
