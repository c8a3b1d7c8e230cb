"""Prices of models whose KV bytes are known, read as if they were not: what increments and common prices over cost make of them.

The figures were worked out before, outside this project, from the same sheets: H100 at 2 USD an hour, data-sheet peaks, a
ridge point of 300 for the common price/cost, CNY at 7.2 (at 7.00 the increments read -0.79, sd 1.14). They take other contexts for
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
from invert.estimators.cases import rental
from invert.estimators.premium import Member, kv_bytes_at_cost, members, weighted_line
from invert.records import Estimate
from invert.sheets.observables import band_edges
from invert.validation.scoreboard import attention_ratio, base_price_over_cost, input_line
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

RIDGE_POINT = 300.0
# architecture: KV bytes of it and at cost [kB], their ratio, that of the common price/cost, attention [MFLOP], its ratio, base price/cost
KNOWN = {
    "Qwen3-Coder-480B-A35B": ("254", "462", "1.82", "0.073", "3.05", "12.4", "25"),
    "Qwen3-30B-A3B": ("98", "95", "0.96", "0.012", "0.79", "12.3", "79"),
    "GLM-4.5": ("377", "35", "0.09", "0.008", "4.52", "2.3", "11"),
    "GLM-4.5-Air": ("188", "35", "0.19", "0.024", "2.26", "1.8", "8"),
    "MiniMax-M1": ("41", "40", "0.97", "0.444", "0.33", "7.0", "2"),
    "Qwen3.5-397B-A17B": ("31", "8", "0.27", "0.013", "0.49", "1.6", "20"),
}


def output_line(member: Member) -> tuple[float, float]:
    return weighted_line(member.case.observables.contexts, [band.output.usd_per_token for band in member.case.sheet.bands])


def with_slope(member: Member, slope: float) -> Member:
    """The member with what a slope pays for at cost in the place of the estimate."""
    at_cost = float(kv_bytes_at_cost(slope, rental(shipped_data()).values))
    return replace(member, premium_at_cost=Estimate(kind="interval", median=at_cost, low=at_cost, high=at_cost))


def as_published(member: Member) -> Member:
    """The member at a quarter of the first threshold for the base band, and at the geometric mean of its ends for any band above."""
    edges = band_edges(member.case.sheet.bands, member.case.max_context, USUAL)
    contexts = (edges[0] / 4, *(sqrt(low * high) for low, high in pairwise(edges)))
    found = replace(member, case=replace(member.case, observables=replace(member.case.observables, contexts=contexts)))
    return with_slope(found, output_line(found)[1])


CALIBRATED = {member.architecture: as_published(member) for member in members(shipped_data()) if member.architecture in KNOWN}
"""The six sheets that were known then, each with a vote of its own."""


def all_prices_ratio(member: Member) -> float:
    """The cost of a token doubles over the context in which the output price rises by the input price at no context."""
    scale = {"base_cost": 1.0, "cost_context_scale": input_line(member)[0] / output_line(member)[1]}
    given = {**NEUTRAL_DEFAULTS, **scale, "active_params": member.active_params, "ridge_point": RIDGE_POINT}
    return equation("bands.kv_bytes_from_scale").right_side(given) / member.kv_bytes_per_token


def test_the_sheets_are_those_of_the_table():
    assert list(CALIBRATED) == list(KNOWN)


@in_one_test("architecture", KNOWN)
def test_each_sheet_reads_as_published(architecture):
    member = CALIBRATED[architecture]
    found = (
        f"{member.kv_bytes_per_token / 1e3:.0f}",
        f"{member.premium_at_cost.median / 1e3:.0f}",
        f"{member.kv_ratio:.2f}",
        f"{all_prices_ratio(member):.3f}",
        f"{member.attention_flops_per_pair / 1e6:.2f}",
        f"{attention_ratio(shipped_data(), member, USUAL):.1f}",
    )
    assert found == KNOWN[architecture][:-1]
    # The table rounds these up from 24.5, 78.5 and 7.5.
    assert base_price_over_cost(shipped_data(), member, USUAL) == pytest.approx(float(KNOWN[architecture][-1]), abs=0.55)


def in_the_mean(ratios: Iterable[float]) -> tuple[str, str]:
    logs = [log(ratio) for ratio in ratios]
    return f"{fmean(logs):.2f}", f"{stdev(logs):.2f}"


def test_increments_are_priced_near_cost_and_base_prices_are_not():
    assert in_the_mean(member.kv_ratio for member in CALIBRATED.values()) == ("-0.81", "1.15")
    assert in_the_mean(attention_ratio(shipped_data(), member, USUAL) for member in CALIBRATED.values()) == ("1.49", "0.95")
    assert in_the_mean(all_prices_ratio(member) for member in CALIBRATED.values()) == ("-3.45", "1.50")


def test_at_the_exchange_rate_of_today():
    ratios = []
    for member in CALIBRATED.values():
        rate = 7.2 / 7.0 if member.architecture in ("GLM-4.5", "GLM-4.5-Air", "MiniMax-M1") else 1.0
        ratios.append(with_slope(member, rate * output_line(member)[1]).kv_ratio)
    assert in_the_mean(ratios) == ("-0.79", "1.14")
