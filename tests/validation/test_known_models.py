"""Prices of models whose KV bytes are known, read as if they were not: what increments and common mark-ups make of them.

The figures were worked out before, outside this project, from the same sheets: H100 at 2 USD an hour, data-sheet peaks, a
ridge point of 300 for the common mark-up, CNY at 7.2 (at 7.00 the increments read -0.79, sd 1.14). They take other contexts for
the bands than the project does, and each price as published, without its rounding cell: both are put in here by hand.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from math import log, sqrt
from statistics import fmean, stdev

import pytest

from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS
from invert.assumptions import USUAL
from invert.estimators.at_rent import PriceLine, PriceLines, base_markup, kv_bytes_at_cost, price_lines
from invert.estimators.calibration import Member, attention_ratio, kv_ratio, members
from invert.estimators.rent import rental
from invert.records import Estimate
from invert.sheets.contexts import band_edges
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

RIDGE_POINT = 300.0
# architecture: KV bytes of it and at cost [kB], their ratio, that of the common mark-up, attention [MFLOP], its ratio, base mark-up
KNOWN = {
    "Qwen3-Coder-480B-A35B": ("254", "462", "1.82", "0.073", "3.05", "12.4", "25"),
    "Qwen3-30B-A3B": ("98", "95", "0.96", "0.012", "0.79", "12.3", "79"),
    "GLM-4.5": ("377", "35", "0.09", "0.008", "4.52", "2.3", "11"),
    "GLM-4.5-Air": ("188", "35", "0.19", "0.024", "2.26", "1.8", "8"),
    "MiniMax-M1": ("41", "40", "0.97", "0.444", "0.33", "7.0", "2"),
    "Qwen3.5-397B-A17B": ("31", "8", "0.27", "0.013", "0.49", "1.6", "20"),
}


def read(member: Member, lines: PriceLines) -> Member:
    """The member with what a slope pays for at cost in the place of the estimate."""
    at_cost = kv_bytes_at_cost(lines.output.slope, rental(shipped_data()).values)
    return replace(
        member, sold=replace(member.sold, lines=lines, at_rent=Estimate(kind="interval", median=at_cost, low=at_cost, high=at_cost))
    )


def as_published(member: Member) -> Member:
    """A quarter of the first threshold stands for the base band, the geometric mean of its ends for any above it."""
    edges = band_edges(member.sold.case.sheet.bands, member.sold.case.max_context, USUAL)
    middles = (sqrt(low * high) for low, high in pairwise(edges))
    return read(member, price_lines(member.sold.case.sheet, (edges[0] / 4, *middles)))


CALIBRATED = {member.architecture: as_published(member) for member in members(shipped_data()) if member.architecture in KNOWN}
"""The six sheets that were known then, each with a vote of its own."""


def one_markup_ratio(member: Member) -> float:
    """The cost of a token doubles over the context in which the output price rises by the input price at no context."""
    scale = {"base_cost": 1.0, "cost_context_scale": member.sold.lines.input.at_none / member.sold.lines.output.slope}
    given = {**NEUTRAL_DEFAULTS, **scale, "active_params": member.active_params, "ridge_point": RIDGE_POINT}
    return equation("bands.kv_bytes_from_scale").right_side(given) / member.kv_bytes_per_token


def test_the_sheets_are_those_of_the_table():
    assert list(CALIBRATED) == list(KNOWN)


@in_one_test("architecture", KNOWN)
def test_each_sheet_reads_as_published(architecture):
    member, anchors = CALIBRATED[architecture], rental(shipped_data()).values
    found = (
        f"{member.kv_bytes_per_token / 1e3:.0f}",
        f"{kv_bytes_at_cost(member.sold.lines.output.slope, anchors) / 1e3:.0f}",
        f"{kv_ratio(member):.2f}",
        f"{one_markup_ratio(member):.3f}",
        f"{member.attention_flops_per_pair / 1e6:.2f}",
        f"{attention_ratio(shipped_data(), member):.1f}",
    )
    assert found == KNOWN[architecture][:-1]
    # The table rounds these up from 24.5, 78.5 and 7.5.
    assert base_markup(member.sold.lines, member.active_params, anchors) == pytest.approx(float(KNOWN[architecture][-1]), abs=0.55)


def in_the_mean(ratios: Iterable[float]) -> tuple[str, str]:
    logs = [log(ratio) for ratio in ratios]
    return f"{fmean(logs):.2f}", f"{stdev(logs):.2f}"


def test_increments_are_priced_near_cost_and_base_prices_are_not():
    assert in_the_mean(kv_ratio(member) for member in CALIBRATED.values()) == ("-0.81", "1.15")
    assert in_the_mean(attention_ratio(shipped_data(), member) for member in CALIBRATED.values()) == ("1.49", "0.95")
    assert in_the_mean(one_markup_ratio(member) for member in CALIBRATED.values()) == ("-3.45", "1.50")


def test_at_the_exchange_rate_of_today():
    ratios = []
    for member in CALIBRATED.values():
        rate = 7.2 / 7.0 if member.architecture in ("GLM-4.5", "GLM-4.5-Air", "MiniMax-M1") else 1.0
        output = PriceLine(member.sold.lines.output.at_none * rate, member.sold.lines.output.slope * rate)
        ratios.append(kv_ratio(read(member, replace(member.sold.lines, output=output))))
    assert in_the_mean(ratios) == ("-0.79", "1.14")
