"""What would change a reading, input by input; elasticities are those of the closed forms."""

from functools import cache
from math import exp, inf, log

import pytest
from scipy.stats import t as student

from invert.assumptions import USUAL
from invert.estimators.calibration import learn
from invert.identify.sensitivity import swings_of_increment, swings_of_one_markup
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
    return {swing.name: swing for swing in swings_of_one_markup(one(name, **anchors).price_data, table(name, **anchors).assumptions)}


@cache
def of_increment(name: str) -> dict[str, Swing]:
    found = one(name)
    assumptions, architecture = table(name).assumptions, found.model.architecture or None if found.model else None
    increments = learn(shipped_data(), architecture, assumptions).increments
    return {swing.name: swing for swing in swings_of_increment(found.price_data, increments, assumptions)}


# -- tornado --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TWO_BANDS)
def test_every_input_swings_around_the_central_value(name: str):
    assert set(common(name)) == NUISANCES | RATIOS | {"active_params"}
    assert set(of_increment(name)) == {"increment_markup", "price_per_hbm_byte", "premium_out", "band means"}
    for swing in (*common(name).values(), *of_increment(name).values()):
        ends = [end for end in (swing.low, swing.high) if end is not None]
        assert ends and all(0 < end < inf for end in ends)
        if len(ends) == 2:
            assert min(ends) < 1 < max(ends), swing


def test_an_end_that_contradicts_the_model_is_the_widest():
    assert Swing("overlap", 0.5, None).width == inf > Swing("overlap", 0.01, 100).width
    assert Swing("overlap", 0.5, 2.0).width == pytest.approx(log(4)) == Swing("overlap", 2.0, 0.5).width


@pytest.mark.parametrize(("anchors", "spread"), [({}, None), ({"active_params": "100B"}, 0.05)])
def test_kv_bytes_go_with_the_parameters(anchors: dict, spread: float | None):
    """By the size that the price suggests, with its spread, where nobody states one."""
    spread = spread or one("gemini-3.1-pro").price_data.log_active_params[1]
    swing = common("gemini-3.1-pro", **anchors)["active_params"]
    assert (swing.low, swing.high) == pytest.approx((exp(-USUAL.reach * spread), exp(USUAL.reach * spread)), rel=1e-12)
    assert round(USUAL.reach, 3) == 1.645


def test_kv_bytes_go_against_the_ridge_point():
    """k = 2 N_a / (L* ridge): elasticity -1, and a spread of 0.4 nats."""
    swing = common("gemini-3.1-pro")["ridge_point"]
    assert (swing.low, swing.high) == pytest.approx((exp(USUAL.reach * 0.4), exp(-USUAL.reach * 0.4)), rel=1e-9)


def test_an_output_premium_is_read_as_more_kv_and_an_input_premium_as_less():
    for name in TWO_BANDS:
        swings = common(name)
        assert swings["premium_out"].low < 1 < swings["premium_out"].high
        assert swings["output_input_ratio"].low < 1 < swings["output_input_ratio"].high
        assert swings["premium_in"].low > 1 > swings["premium_in"].high


@pytest.mark.parametrize(
    ("anchor", "value"),
    [("overlap", 1.0), ("short_context", 2e4)],
)
def test_a_fixed_anchor_drops_out(anchor: str, value: float):
    assert set(common("gemini-3.1-pro", **{anchor: value})) == (NUISANCES - {anchor}) | RATIOS | {"active_params"}


def test_factors_of_the_increments_reading_have_elasticity_one():
    """The mark-up of one more of six families: Student's t with five degrees of freedom."""
    swings, learnt = of_increment("gemini-3.1-pro"), learn(shipped_data())
    reach = student.ppf(0.95, len(learnt.families) - 1) * learnt.increments.scale
    assert len(learnt.families) == 6
    assert log(swings["increment_markup"].high) == pytest.approx(reach) == -log(swings["increment_markup"].low)
    assert log(swings["price_per_hbm_byte"].high) == pytest.approx(USUAL.reach * USUAL.rent_spread)
    # r = 1.5 was 1.37 to 1.73 before rounding: increments of 0.37 and 0.73 over that of the middle of the cell.
    low, high = (15 / 8) ** 0.5, 3**0.5
    middle = (low * high) ** 0.5 - 1
    assert (swings["premium_out"].low, swings["premium_out"].high) == pytest.approx(((low - 1) / middle, (high - 1) / middle), rel=1e-9)


def test_swings_stand_beside_the_readings_that_they_are_of():
    """The class hangs on no price and has none."""
    found = one("gemini-3.1-pro")
    assert set(found.swings) == {"one_markup", "increment"} < set(found.kv_bytes)
    assert found.swings["one_markup"].value == tuple(common("gemini-3.1-pro").values())
    assert found.swings["increment"].value == tuple(of_increment("gemini-3.1-pro").values())
    assert one("kimi-k3").swings is None
