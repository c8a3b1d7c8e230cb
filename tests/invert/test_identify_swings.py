"""What would change a reading, input by input; elasticities are those of the closed forms."""

from functools import cache
from math import inf, log

import pytest
from scipy.stats import t as student

from invert.assumptions import USUAL
from invert.estimators.premium import learn
from invert.identify import swings_of_all_prices, swings_of_premium
from invert.inference import infer
from invert.records import Swing
from invert.result import Inference, InferenceTable
from tests.tools.data import shipped_data

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

NUISANCES = {"ridge_point", "prefill_decode_flops_ratio", "overlap", "short_context", "long_context", "prompt_position"}
RATIOS = {"output_input_ratio", "premium_in", "premium_out"}
TWO_BANDS = ("gemini-3.1-pro", "MiniMax-M3", "qwen3-coder-plus")


@cache
def table(name: str, **anchors: float | str) -> InferenceTable:
    return infer([name], anchors=anchors)


def one(name: str, **anchors: float | str) -> Inference:
    (found,) = table(name, **anchors).inferences
    return found


@cache
def common(name: str, **anchors: float | str) -> dict[str, Swing]:
    return {swing.name: swing for swing in swings_of_all_prices(one(name, **anchors).price_data, table(name, **anchors).assumptions)}


@cache
def of_increment(name: str) -> dict[str, Swing]:
    found = one(name)
    assumptions, architecture = table(name).assumptions, found.model.architecture or None if found.model else None
    increments = learn(shipped_data(), architecture, assumptions).increments
    return {swing.name: swing for swing in swings_of_premium(found.price_data, increments, assumptions)}


# -- tornado --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWO_BANDS)
def test_every_input_swings_around_the_central_value(name: str):
    assert set(common(name)) == NUISANCES | RATIOS | {"active_params"}
    assert set(of_increment(name)) == {"increment_price_cost_ratio", "price_per_hbm_byte", "premium_out", "band means"}
    for swing in (*common(name).values(), *of_increment(name).values()):
        ends = [end for end in (swing.low, swing.high) if end is not None]
        assert ends and all(0 < end < inf for end in ends)
        if len(ends) == 2:
            assert min(ends) < 1 < max(ends), swing


@pytest.mark.parametrize(
    ("anchor", "value"),
    [("overlap", 1.0), ("short_context", 2e4)],
)
def test_a_fixed_anchor_drops_out(anchor: str, value: float):
    assert set(common("gemini-3.1-pro", **{anchor: value})) == (NUISANCES - {anchor}) | RATIOS | {"active_params"}


def test_factors_of_the_increments_reading_have_elasticity_one():
    """The price/cost of one more of six families: Student's t with five degrees of freedom."""
    swings, learnt = of_increment("gemini-3.1-pro"), learn(shipped_data())
    reach = student.ppf(0.95, len(learnt.families) - 1) * learnt.increments.scale
    assert len(learnt.families) == 6
    assert log(swings["increment_price_cost_ratio"].high) == pytest.approx(reach) == -log(swings["increment_price_cost_ratio"].low)
    assert log(swings["price_per_hbm_byte"].high) == pytest.approx(USUAL.reach * USUAL.rent_spread)
    # r = 1.5 was 1.37 to 1.73 before rounding: increments of 0.37 and 0.73 over that of the middle of the cell.
    low, high = (15 / 8) ** 0.5, 3**0.5
    middle = (low * high) ** 0.5 - 1
    assert (swings["premium_out"].low, swings["premium_out"].high) == pytest.approx(((low - 1) / middle, (high - 1) / middle), rel=1e-9)
