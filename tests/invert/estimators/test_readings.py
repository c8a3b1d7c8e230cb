"""What prices break and what they pin: the contradiction of a sheet in the catalogue's names, and its rank and null space."""

from functools import cache
from itertools import product

import pytest

from invert.identify import _COMPONENTS_OF_SHEET
from invert.inference import infer
from invert.result import Inference
from tests.tools.inferred import everything_with_tiered_sonnet as everything
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

DECIDES = {"overlap": 0.0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.3}


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
    assert (found.kv_bytes["from_all_prices"].kind == "interval") == holds


# -- what the prices pin --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_price_is_one_combination_and_no_more():
    """The rank is the number of prices, the nullity what is left of twenty."""
    for found in everything().inferences:
        one = found.identifiability
        assert set(one.prices) == {_COMPONENTS_OF_SHEET[name] for name in found.price_data.cells}
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
