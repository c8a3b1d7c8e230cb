"""From sheets to intervals: in their order, the same numbers for each, and none if no draw is feasible."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from invert.assumptions import USUAL
from invert.data import read_data
from invert.estimate_text import plain_digits
from invert.estimators.all_prices import convention, probability_by_cost
from invert.inference import infer
from invert.posterior.points import PriceData
from invert.posterior.sampler import SUMMARISED, Summary, posterior, summarise, summary_of
from invert.records import BandPair, Convention, Premiums
from invert.report.sheet import firmness
from invert.result import InferenceTable
from invert.sheets.observables import observe
from invert.validation.simulation import _SHAPES, simulate

COUNT = 2048


def sheets(count: int = 3, seed: int = 21) -> list[PriceData]:
    """Return sheets of all shapes, one shape after the other and over again."""
    by_shape = [simulate(shape, count, (seed, place), USUAL)[1] for place, shape in enumerate(_SHAPES)]
    return [one for some in zip(*by_shape, strict=True) for one in some]


FLOP = 5.62e-19
"""What one rents for [USD]."""


@pytest.fixture(scope="module")
def serial() -> list[Summary]:
    return [summarise(one, USUAL, FLOP, count=COUNT) for one in sheets()]


# -- intervals ----------------------------------------------------------------------------------------------------------


def test_the_ends_of_an_interval_are_in_order_and_inside_the_one_sided_bounds(serial: list[Summary]):
    for summary in serial:
        assert tuple(summary.marginals) == SUMMARISED
        for marginal in summary.marginals.values():
            assert 0 < marginal.low <= marginal.median <= marginal.at_most <= marginal.high < np.inf
            assert marginal.spread > 0


def test_the_marginals_are_those_of_the_weighted_draws():
    sheet = sheets()[0]
    draws = posterior(sheet, USUAL, COUNT)
    found, logs, weight = summary_of(draws, FLOP), draws.logs("balance_context")[0], draws.weights.values
    marginal = found.marginals["balance_context"]
    held = weight > 0
    # Half a draw's weight on either side: the share of weight below an end is that of the end, up to one draw.
    ends = marginal.low, marginal.median, marginal.at_most, marginal.high
    for level, end in zip((0.05, 0.5, 0.9, 0.95), ends, strict=True):
        assert weight[held & (logs <= np.log(end))].sum() == pytest.approx(level, abs=weight.max())
    mean = weight[held] @ logs[held]
    assert marginal.spread == pytest.approx(np.sqrt(weight[held] @ (logs[held] - mean) ** 2), rel=1e-9)
    assert (found.ess, found.log_evidence) == (draws.weights.ess, draws.weights.log_evidence)


# Google and OpenAI ask 2 and 1.5, Alibaba 1.8 and 1.8 over the first of three thresholds, Claude Haiku 5.5 alone 5 and 5.
SHEETS = ("gemini-3.1-pro-preview", "qwen3-coder-plus", "claude-haiku-5-5", "gpt-5.4")


@cache
def everything() -> InferenceTable:
    return infer(SHEETS)


def found(model: str) -> Convention:
    one = next(one for one in everything() if one.sheet.model == model)
    assert one.convention is not None
    return one.convention


def pair(premium_in: float, premium_out: float) -> BandPair:
    values = {"output_input_ratio": 6.0, "premium_in": premium_in, "premium_out": premium_out}
    return BandPair(
        long_context_threshold=200_000,
        short_context=2e4,
        long_context=3e5,
        **{name: observe(name, value) for name, value in values.items()},
    )


def asks(vendor: str, premium_in: float, premium_out: float) -> Premiums:
    return Premiums(provider=vendor, premium_in=premium_in, premium_out=premium_out)


def test_a_vendor_has_one_vote_and_gives_it_to_the_cell():
    """2 stands for 1.73 to 2.24 and 1.5 for 1.37 to 1.73: 1.4 out is published as 1.5, and 2 out is not."""
    votes = [asks("a", 2.0, 1.5), asks("a", 2.0, 1.5), asks("a", 4.0, 4.0), asks("b", 1.8, 1.4), asks("c", 2.0, 2.0), asks("d", 5.0, 1.5)]
    one = convention(pair(2.0, 1.5), 0.01, votes)
    assert (one.same, one.others, one.probability_by_habit) == (2, 4, (2 + 1) / (4 + 2))
    assert one.bayes_factor == pytest.approx(50)
    edge = pair(2.0, 1.5).premium_out.high
    assert convention(pair(2.0, 1.5), 0.01, [asks("a", 2.0, edge)]).same == 1
    assert convention(pair(2.0, 1.5), 0.01, [asks("a", 2.0, edge * 1.001)]).same == 0


def test_a_pair_that_others_ask_has_a_factor_of_habit_against_cost():
    one = found("gemini-3.1-pro-preview")
    vendors = {asked.provider for asked in everything().premiums} - {"google"}
    assert one.others == len(vendors) < len([asked for asked in everything().premiums if asked.provider != "google"])
    assert one.same >= 1 and one.bayes_factor == pytest.approx(one.probability_by_habit / one.probability_by_cost)
    gemini = next(one for one in everything() if one.sheet.model == "gemini-3.1-pro-preview")
    (line,) = [line for line in firmness(gemini, everything()) if line.startswith("Cost or convention")]
    assert f"{one.same} of {one.others} other vendors with a premium" in line
    assert line.endswith(f"Bayes factor for a convention: {plain_digits(one.bayes_factor)}.")


def split(price_data: PriceData, parts: int, name: str) -> list[PriceData]:
    """The price data with the cell of a premium cut into as many cells, side by side."""
    ((low, high),) = price_data.cells[name]
    ends = [low + (high - low) * part / parts for part in range(parts + 1)]
    return [replace(price_data, cells={**price_data.cells, name: ((ends[at], ends[at + 1]),)}) for at in range(parts)]


def by_cost(price_data: PriceData) -> float:
    probability = probability_by_cost(price_data, posterior(price_data, USUAL).weights.log_evidence, read_data(), USUAL)
    assert probability is not None
    return probability


@pytest.mark.parametrize("name", ["premium_in", "premium_out"])
def test_the_probability_by_cost_is_that_of_the_cell(name: str):
    """A measure of cells: of two that make up one, the probabilities add up."""
    price_data = next(one for one in everything() if one.sheet.model == "gpt-5.4").price_data
    parts = [by_cost(part) for part in split(price_data, 2, name)]
    assert sum(parts) == pytest.approx(by_cost(price_data), rel=0.1) and min(parts) > 0
