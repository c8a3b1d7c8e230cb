"""One rule for the mean context of a band: the medians of its priors, for every estimator and for what calibrates it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invert.assumptions import USUAL
from invert.estimators import premium
from invert.estimators.cases import assumptions_of, case_of
from invert.estimators.known import judged
from invert.estimators.premium import members
from invert.inference import infer
from invert.posterior.draws import normals
from invert.posterior.points import drawn_contexts
from invert.sheets.observables import band_edges, band_means
from invert.sheets.sheet import PriceBand
from tests.tools.data import shipped_data
from tests.tools.sheets import full
from tests.tools.together import in_one_test

PRICE = full().rows[0]


def bands(*thresholds: int) -> tuple[PriceBand, ...]:
    return tuple(
        PriceBand(threshold_tokens=at, threshold_inclusive=False, input=PRICE, output=PRICE, cache_read=None) for at in (0, *thresholds)
    )


# By hand: 0.6/(1 + e^1.87) = 0.0801 of the first threshold, 1/(1 + e^1.4) = 0.1978 of the way through each band above it.
MEANS = [  # thresholds, longest context, means
    ((200_000,), 1_000_000, (16_025, 358_253)),
    ((200_000,), 300_000, (16_025, 219_782)),
    ((200_000,), None, (16_025, 239_563)),  # no longest context: twice the threshold
    ((200_000,), 200_000, (16_025, 239_563)),  # a context that ends at the threshold says nothing of the band above
    ((200_000,), 150_000, (16_025, 239_563)),
    ((32_000, 128_000), 262_144, (2_564, 50_990, 154_536)),
    ((32_000, 40_000, 256_000), 1_000_000, (2_564, 33_583, 82_728, 403_175)),
]


@in_one_test(("thresholds", "max_context", "means"), MEANS)
def test_each_band_has_its_mean_context(thresholds: tuple[int, ...], max_context: int | None, means: tuple[float, ...]):
    assert band_means(bands(*thresholds), max_context, USUAL) == pytest.approx(means, abs=0.6)


@pytest.mark.slow
@given(st.lists(st.integers(1_000, 10**7), min_size=1, max_size=5, unique=True), st.one_of(st.none(), st.integers(1_000, 10**8)))
def test_means_ascend_and_lie_in_the_lower_half_of_their_bands(thresholds: list[int], max_context: int | None):
    thresholds = sorted(thresholds)
    edges = (0, *band_edges(bands(*thresholds), max_context, USUAL))
    means = band_means(bands(*thresholds), max_context, USUAL)
    assert len(means) == len(thresholds) + 1 and list(means) == sorted(means)
    for mean, (low, high) in zip(means, pairwise(edges), strict=True):
        assert low < mean < (low + high) / 2


@in_one_test("given_means", [{}, {"short_context": 9e3}, {"long_context": 5e4}, {"short_context": 4e3, "long_context": 5e4}])
def test_draws_lie_about_the_rule_and_are_it_where_nothing_is_drawn(given_means):
    """The medians of what ranges draw from are what points take, band by band."""
    (one,) = infer(["qwen3-coder-plus"], anchors=given_means).inferences
    held = assumptions_of(given_means)
    still = drawn_contexts(one.price_data, held, np.zeros((1, 20)))[0]
    assert still == pytest.approx(one.observables.contexts, rel=1e-12)
    assert np.median(drawn_contexts(one.price_data, held, normals(4096)), axis=0) == pytest.approx(still, rel=2e-3)


def test_every_estimator_takes_the_contexts_of_the_rule():
    """The points read, the lines learned from, the ranges drawn: one set of means a sheet."""
    known_models = {member.architecture: member for member in members(shipped_data())}
    (one,) = infer(["qwen3-coder-plus"]).inferences
    mine = known_models["Qwen3-Coder-480B-A35B"]
    assert mine.case.observables.contexts == one.observables.contexts == band_means(one.sheet.bands, one.model.max_context, USUAL)
    assert (
        mine.premium_at_cost
        == replace(one.kv_bytes["from_premium_at_cost"], record=None, quantity="")
        == premium.estimate_at_cost(case_of(one.sheet, one.model, shipped_data(), USUAL), shipped_data(), USUAL)["kv_bytes_per_token"]
    )
    for known in judged(shipped_data()):
        assert known.kv_bytes["from_premium_at_cost"] == known.member.premium_at_cost
        assert known.member.case.observables.contexts == band_means(known.member.case.sheet.bands, known.member.case.max_context, USUAL)
