"""What a sheet implies of KV bytes: four estimators side by side, of several kinds, and nothing made up where prices allow nothing.

Figures to compare with come from an earlier calculation by other code; the method: docs/explanation/three-estimators.md.
"""

import io
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from math import log

import pytest

from invert.data import read_data
from invert.estimate_text import KV_NAMES
from invert.estimators import premium
from invert.estimators.cases import Case, case_of
from invert.inference import infer
from invert.records import Estimate
from invert.result import Inference, InferenceTable
from tests.tools.data import shipped_data
from tests.tools.inferred import everything_with_tiered_sonnet as everything

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

ESTIMATORS = tuple(KV_NAMES)
NUMBERS = {"interval": {"median", "low", "high"}, "upper": {"high"}, "lower": {"low"}, "undetermined": set()}


@cache
def table(name: str, **anchors: float | str) -> InferenceTable:
    return infer([name], anchors=anchors)


def one(name: str, **anchors: float | str) -> Inference:
    (found,) = table(name, **anchors).inferences
    return found


def own(*rows: str) -> Inference:
    """A sheet `acme/m` of one's own: component, amount, threshold."""
    text = "\n".join(["provider,model,component,amount,threshold_tokens", *(f"acme,m,{row}" for row in rows), ""])
    (found,) = infer(["acme/m"], prices=io.StringIO(text)).inferences
    return found


def case(name: str, **anchors: float | str) -> Case:
    """A sheet as its estimators read it, but for the posterior."""
    found = one(name, **anchors)
    return case_of(found.sheet, found.model, shipped_data(), table(name, **anchors).assumptions)


def premium_at_cost(read: Case, **anchors: float | str) -> Estimate:
    return premium.estimate_at_cost(read, shipped_data(), table("gemini-3.1-pro", **anchors).assumptions)["kv_bytes_per_token"]


def width(estimate: Estimate) -> float:
    return log(estimate.high / estimate.low)


def present(estimate: Estimate) -> set[str]:
    return {name for name in ("median", "low", "high") if getattr(estimate, name) is not None}


# -- kinds ----------------------------------------------------------------------------------------------------------


def test_all_estimators_stand_side_by_side_for_every_sheet():
    """Never one number alone, and every kind with the numbers it has and no other."""
    for found in everything().inferences:
        assert tuple(found.kv_bytes) == ESTIMATORS
        # The class is of no equation, nor is what is not estimated from a premium that is not there.
        uncited = [found.kv_bytes["typical"], found.kv_bytes_stored["typical"]]
        uncited += [found.estimates[f"total_params_by_{name}"] for name in ("knowledge", "price_and_knowledge")]
        uncited += [] if found.kv_bytes["from_premium_at_cost"].median else [found.kv_bytes["from_premium"]]
        for estimate in (*found.kv_bytes.values(), *found.kv_bytes_stored.values(), *found.estimates.values()):
            assert present(estimate) == NUMBERS[estimate.kind]
            assert estimate.level == (0.90 if estimate.record or estimate.bounds else None)
            assert estimate.because and bool(estimate.equations) != (estimate in uncited)
            assert estimate.kind != "interval" or 0 <= estimate.low < estimate.median < estimate.high
            assert estimate.contraction is None or estimate.contraction <= 1


NO_PREMIUM = {"from_all_prices": "upper", "from_premium_at_cost": "upper", "from_premium": "undetermined", "typical": "interval"}


def kinds_of(found: Inference) -> dict[str, str]:
    """The kinds of these four estimates; what another estimator says is for its own tests."""
    return {name: found.kv_bytes[name].kind for name in NO_PREMIUM}


@pytest.mark.parametrize(
    "rows",
    [
        ("input,2,", "output,12,"),
        ("input,2,", "output,12,", "input,2,200000", "output,12,200000"),
        ("input,2,", "output,12,", "input,4,200000", "output,12,200000"),
        ("input,2,", "output,12,", "input,4,200000", "output,9,200000"),
    ],
    ids=["one band", "premiums of 1", "an output premium of 1", "an output premium below 1"],
)
def test_without_an_output_premium_prices_bound_and_the_class_stands(rows: tuple[str, ...]):
    found = own(*rows)
    assert kinds_of(found) == NO_PREMIUM
    assert all(
        present(found.kv_bytes[name]) == {"high"} and found.kv_bytes[name].high > 0 for name in ("from_all_prices", "from_premium_at_cost")
    )
    with_a_premium = own("input,2,", "output,12,", "input,4,200000", "output,18,200000").kv_bytes["typical"]
    assert found.kv_bytes["typical"] == with_a_premium


# -- what is learned and from whom ----------------------------------------------------------------------------------


def test_a_model_is_not_calibrated_on_itself():
    """qwen3-coder-plus is dearer than its cache: with its own rows allowed, the price/cost learned would take part of that out."""
    found = one("qwen3-coder-plus")
    at_cost, architecture = log(found.kv_bytes["from_premium_at_cost"].median), found.model.architecture
    without, allowed = (premium.learn(shipped_data(), left_out) for left_out in (architecture, None))
    by_others, by_all = (known.predict(at_cost).range(0.9) for known in (without, allowed))
    said = found.kv_bytes["from_premium"]
    assert (said.low, said.median, said.high) == pytest.approx(by_others, rel=1e-12)
    assert by_all[1] < 0.9 * by_others[1] and log(by_all[2] / by_all[0]) < width(said)
    # Itself and qwen3-coder-flash, of one family.
    assert architecture in without.left_out and len(allowed.kv_ratios) - len(without.kv_ratios) == 2
    assert set(allowed.families) - set(without.families) == {"qwen3"}


# -- how estimates move with prices ---------------------------------------------------------------------------------


PRICES = {"input": 2, "output": 12, "input@200k": 4, "output@200k": 18, "cache_read": 0.2, "cache_read@200k": 0.4, "cache_storage": 4.5}


@pytest.mark.parametrize("factor", [0.1, 10])
def test_a_scale_of_all_prices_moves_dollars_and_leaves_a_common_mark_up(factor: float):
    """By tens, so that the numbers vendors round to stay the same; with parameters known, for a price level hints at them."""
    changes = {component: f"{factor * amount:.10g}" for component, amount in PRICES.items()}
    (scaled,) = infer(["gemini-3.1-pro"], anchors={"active_params": "100B"}, changes=changes).inferences
    usual = one("gemini-3.1-pro", active_params="100B")
    for end in ("low", "median", "high"):
        of_dollars = (getattr(found.kv_bytes["from_premium_at_cost"], end) for found in (scaled, usual))
        assert next(of_dollars) == pytest.approx(factor * next(of_dollars), rel=1e-9)
    # The draws are 1,400 effective ones with a spread of 0.6 nats; the level also weighs how much of the input price is attention.
    assert scaled.kv_bytes["from_all_prices"].median == pytest.approx(usual.kv_bytes["from_all_prices"].median, rel=0.08)
    level = (found.estimates["active_params_times_price_cost_ratio"].median for found in (scaled, usual))
    assert next(level) == pytest.approx(factor * next(level), rel=0.08)


# -- the same numbers however it is run -----------------------------------------------------------------------------


@pytest.mark.slow
def test_two_processes_give_the_table_of_one():
    read_data().known.clear()
    with ProcessPoolExecutor(2) as pool:
        parallel = infer(everything=True, executor=pool)
    read_data().known.clear()
    alone = infer(everything=True)
    assert parallel == alone
    assert [found.summary for found in parallel.inferences] == [found.summary for found in alone.inferences]


def test_a_sheet_is_the_same_alone_and_among_others():
    """Draws do not depend on what else is inferred; sums over a stack may differ by rounding."""
    among = {(found.sheet.provider, found.sheet.model, found.sheet.service_tier): found for found in everything().inferences}
    for name in ("gemini-3.1-pro", "kimi-k3"):
        alone = one(name)
        other = among[alone.sheet.provider, alone.sheet.model, alone.sheet.service_tier]
        for estimator in ESTIMATORS:
            for end in present(alone.kv_bytes[estimator]):
                assert getattr(alone.kv_bytes[estimator], end) == pytest.approx(getattr(other.kv_bytes[estimator], end), rel=1e-9)
