"""What a step, a cache or a memory came to, asked back for what it was made of, at every model of the tables."""

from functools import cache
from itertools import product

import pytest

from derive import solve
from derive.errors import NotCovered
from derive.preset_record import Preset
from derive.presets import model, model_names
from derive.solving.result import Solution
from tests.tools.together import in_one_test, some

ONE_BYTE = dict.fromkeys(("bytes_per_element", "indexer_bytes_per_element", "state_bytes_per_element"), 1.0)
DEPLOYMENTS = (
    {"chips": 16.0, "batch": 64.0, "context_length": 20_000.0},
    {"chips": 8.0, "batch": 1.0, "context_length": 100.0},
    {"chips": 8.0, "batch": 1.0, "context_length": 130_000.0},
    {"chips": 64.0, "batch": 2_000.0, "context_length": 3_000.0},
)
RESTS_ON = {
    "step_time": ("context_length", "batch", "chips"),
    "kv_time": ("context_length", "batch", "chips"),
    "kv_cache_bytes": ("context_length", "batch"),
    "memory_demand": ("context_length", "batch"),
}


@cache
def covered() -> dict[str, Preset]:
    found = {}
    for name in model_names():
        try:
            found[name] = model(name)
        except NotCovered:
            continue
    return found


def one_of_a_kind() -> list[str]:
    """A model for every set of variants, parts that are none, and equations left out."""
    kinds = {}
    for name, preset in covered().items():
        parts = tuple(part for part, value in preset.givens.items() if value == 0)
        kinds.setdefault((tuple(sorted(preset.variants.items())), parts, preset.left_out, "experts" in preset.givens), name)
    return [*kinds.values()]


def asked(name: str, unknown: str, given: dict[str, float]) -> Solution:
    return solve(unknown, model=name, hardware="H200:fp8", anyway=True, **given)


def recovers(name: str, result: str, unknown: str, deployment: dict[str, float]) -> bool:
    """Whether the deployment is found again, as a point or among what does not bind."""
    given = {**ONE_BYTE, **deployment}
    value = asked(name, result, given).answers[0].value
    back = asked(name, unknown, {**{n: v for n, v in given.items() if n != unknown}, result: value})
    truth = pytest.approx(deployment[unknown], rel=1e-9)
    within = (one.ends for one in back.answers if one.kind == "interval")
    return any(one.value == truth for one in back.answers) or any(low <= deployment[unknown] <= high for low, high in within)


@in_one_test(("name", "result"), some(product(one_of_a_kind(), RESTS_ON), 18))
def test_what_it_was_made_of_is_found_again(name: str, result: str):
    for unknown in RESTS_ON[result]:
        assert recovers(name, result, unknown, DEPLOYMENTS[0]), unknown


@pytest.mark.slow
@pytest.mark.parametrize("name", [*covered()])
def test_what_a_step_was_made_of_is_found_again_at_every_model(name: str):
    for deployment, unknown in some(product(DEPLOYMENTS, RESTS_ON["step_time"]), every=2):
        assert recovers(name, "step_time", unknown, deployment), (unknown, deployment)


# -- through more regimes than can be taken apart -------------------------------------------------------------------

DRAFTS = {"draft_tokens": 1, "acceptance_rate": 0.7, "draft_cost_ratio": 0.05, "bytes_per_element": 2}
STAGED = {
    **{**DRAFTS, "model": "Llama-3.1-70B", "hardware": "H200-SXM:fp8", "chips": 8, "batch": 8, "context_length": 4000},
    **{"pipeline_stages": 2, "hop_latency": "2ms"},
}
SELECTED = {**DRAFTS, "model": "DeepSeek-V4-Flash", "hardware": "GB200-NVL72:fp8", "chips": 8, "batch": 1, "context_length": 24_000}
LARGER = {**SELECTED, "model": "DeepSeek-V4-Pro", "batch": 64, "chip_price": "3 USD/h"}
ROUND = [
    ("throughput", "batch", STAGED, [1, 8, 64, 3_000]),
    ("cost_per_token", "batch", {**STAGED, "chip_price": "3 USD/h"}, [8, 64]),
    ("throughput", "batch", SELECTED, [1, 40]),
    ("cost_per_token", "context_length", LARGER, [24_000, 300_000]),
]


@pytest.mark.parametrize(("result", "unknown", "given", "truths"), ROUND)
def test_what_drafts_and_stages_lead_to_is_found_back(result, unknown, given, truths):
    for truth in truths:
        there = solve(result, anyway=True, **{**given, unknown: truth}).answers[0]
        back = solve(unknown, anyway=True, **{**{n: v for n, v in given.items() if n != unknown}, result: there.value})
        assert any(one.value == pytest.approx(truth, rel=1e-8) for one in back.answers), (truth, back.reason)


MIXED = {**ONE_BYTE, "model": "Llama-3.1-70B", "chips": 8, "batch": 64, "context_length": 3000, "prefill_chunk": 400}
RATES = {"peak_flops": 1.979e15, "hbm_bandwidth": 3.35e12, "bytes_per_weight": 1}


def test_a_result_says_more_than_that_another_does_not_bind():
    """A step that waits for memory leaves the peak open; the same step with a chunk, which does not, has it."""
    given = {**MIXED, **RATES}
    results = {name: solve(name, anyway=True, **given).answers[0].value for name in ("step_time", "mixed_step_time")}
    given.pop("peak_flops")
    alone = solve("peak_flops", anyway=True, **given, step_time=results["step_time"])
    assert [one.kind for one in alone.answers] == ["interval"]
    both = solve("peak_flops", anyway=True, **given, **results)
    assert [one.value for one in both.answers] == [pytest.approx(1.979e15, rel=1e-8)]
    for share, code in ((0.5, "no_solution"), (300, "contradiction")):
        beyond = {**results, "mixed_step_time": share * results["mixed_step_time"]}
        assert solve("peak_flops", anyway=True, **given, **beyond).reason.code == code
