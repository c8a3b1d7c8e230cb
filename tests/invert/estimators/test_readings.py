"""What prices break and what they pin: the contradiction of a sheet in the catalogue's names, and its rank and null space."""

from functools import cache
from itertools import product

import pytest

from invert.anchors import assumptions_of
from invert.estimators.cases import case_of
from invert.estimators.joint_point import broken_by
from invert.identify.identifiability import _COMPONENTS, identified
from invert.inference import infer
from invert.result import Inference, InferenceTable
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

DEGENERATE = "not identified: degenerate with weight_bytes/batch"
DECIDES = {"overlap": 0.0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.3}


@cache
def everything() -> InferenceTable:
    return infer(everything=True)


@cache
def one(name: str, **anchors: float) -> Inference:
    (found,) = infer([name], anchors=anchors).inferences
    return found


# -- contradiction --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_shipped_sheet_contradicts_the_model_at_the_usual_anchors():
    assert all(found.contradiction is None for found in everything().inferences)


def test_the_inequality_stands_with_its_figures_and_its_equation():
    """alpha dP_out <= rho dP_in for Claude Sonnet 4.5."""
    assert one("claude-sonnet-4-5", **DECIDES).contradiction == (
        "inconsistent: output_increment >= input_increment*prefill_decode_flops_ratio/prompt_position does not hold:"
        " $7.5/MTok < $7.8/MTok (bands.increments_of_a_sum@1)"
    )


@pytest.mark.slow
@in_one_test(
    ("name", "ratio", "position"),
    some(product(["claude-sonnet-4-5", "gemini-3.1-pro", "gpt-5.4", "gpt-6-sol", "grok-4.5"], (1.0, 1.3, 1.6), (0.5, 0.7)), every=4),
)
def test_costs_that_add_up_need_the_output_to_rise_enough(name: str, ratio: float, position: float):
    """An additive model exists if and only if alpha dP_out > rho dP_in. Claude and GPT-6 have none at 1/2 and 1.3."""
    found = one(name, overlap=0.0, prompt_position=position, prefill_decode_flops_ratio=ratio)
    base, above = found.sheet.bands
    rise_in, rise_out = (
        getattr(above, side).usd_per_token - getattr(base, side).usd_per_token for side in ("input", "output")
    )  # fmt: skip
    holds = position * rise_out > ratio * rise_in
    assert (found.contradiction is None) == holds == (found.pairs[0].joint.problem is None)
    assert (found.kv_bytes["one_markup"].kind == "interval") == holds


@pytest.mark.parametrize("left_out", list(DECIDES))
def test_anchors_that_were_not_given_are_free_to_give_way(left_out: str):
    """The point reading of the defaults fails, but the posterior moves what was not given: nothing is broken."""
    found = one("claude-sonnet-4-5", **DECIDES)
    given = {name: value for name, value in DECIDES.items() if name != left_out}
    read = case_of(found.sheet, found.model, shipped_data(), assumptions_of(DECIDES))
    assert broken_by(read, assumptions_of(given)) is None and broken_by(read, assumptions_of(DECIDES)) == found.contradiction


def test_another_problem_is_told_in_its_own_words():
    """Where times do not add up, the reading's own requirement is what breaks."""
    found = one("claude-sonnet-4-5", overlap=1.0, prompt_position=1.0, prefill_decode_flops_ratio=20.0)
    problem = found.pairs[0].joint.problem
    assert problem and found.contradiction == f"inconsistent: {problem}"


# -- what the prices pin --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_price_is_one_combination_and_no_more():
    """The rank is the number of prices, the nullity what is left of twenty."""
    for found in everything().inferences:
        one = found.identifiability
        assert set(one.prices) == {_COMPONENTS[name] for name in found.price_data.cells}
        assert (one.rank, one.nullity) == (len(one.prices), 20 - len(one.prices))


@in_one_test(
    ("name", "prices"),
    [
        ("kimi-k3", ("input", "output", "cache_read")),
        ("gpt-5.4", ("input", "output", "long_input", "long_output", "cache_read")),
        ("gemini-3.1-pro", ("input", "output", "long_input", "long_output", "cache_read", "storage")),
        ("claude-sonnet-4-5", ("input", "output", "long_input", "long_output", "cache_read", "storage")),  # storage by two lifetimes
    ],
)
def test_the_prices_of_a_sheet(name: str, prices: tuple[str, ...]):
    found = one(name).identifiability
    assert found.prices == prices and found.rank == len(prices)


def test_the_facts_that_a_memory_bound_sheet_needs():
    found = one("gpt-5.4").identifiability
    assert found.regime == "memory-bound in both bands"
    assert set(found.missing_facts["kv_bytes_per_token"]) == {
        "active_params", "ridge_point", "prefill_decode_flops_ratio", "output_markup/input_markup", "short_context", "long_context",
    }  # fmt: skip
    assert len(found.missing_facts["kv_bytes_per_token_in_dollars"]) == 3


def test_one_band_leaves_kv_bytes_free():
    found = one("kimi-k3").identifiability
    assert found.regime == "memory-bound" and found.verdict("kv_bytes_per_token") == DEGENERATE
    assert found.pinned == ()


def test_in_the_lecture_s_regime_kv_bytes_are_not_identified():
    """Acceptance line 11. Below the crossover decode is bound by compute at two balance batches: w = 1/2, hardly any attention.

    No sheet reads so jointly, since it asks more for output than compute costs; so the lecture's reading stands in.
    """
    found = one("gpt-5.4")
    (pair,) = found.pairs
    values = {"kv_bytes_per_token": pair.lecture.values["kv_bytes_per_token"], "weight_compute_ratio": 0.5, "attention_flops_per_pair": 1e3}
    told = identified(found.price_data.cells, found.observables.contexts, found.anchors.values, values)
    assert told.regime == "compute-bound in the base band, memory-bound in the long one"
    for target in ("kv_bytes_per_token", "balance_context"):
        assert told.verdict(target) == DEGENERATE
    assert told.rank == len(told.prices) == 5
