"""What a step, a cache or a memory came to, asked back for what it was made of, at every model of the tables."""

from functools import cache
from itertools import product

import pytest

from derive import solve
from derive.errors import NotCovered
from derive.presets import Preset, model, model_names
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


@in_one_test(("name", "result"), some(product(one_of_a_kind(), RESTS_ON), 9))
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
    ("throughput", "context_length", STAGED, [100, 4_000, 130_000]),
    ("cost_per_token", "batch", {**STAGED, "chip_price": "3 USD/h"}, [8, 64]),
    ("throughput", "context_length", SELECTED, [24_000, 300_000]),
    ("throughput", "batch", SELECTED, [1, 40]),
    ("cost_per_token", "context_length", LARGER, [24_000, 300_000]),
]


@pytest.mark.parametrize(("result", "unknown", "given", "truths"), ROUND)
def test_what_drafts_and_stages_lead_to_is_found_back(result, unknown, given, truths):
    for truth in truths:
        there = solve(result, anyway=True, **{**given, unknown: truth}).answers[0]
        back = solve(unknown, anyway=True, **{**{n: v for n, v in given.items() if n != unknown}, result: there.value})
        assert any(one.value == pytest.approx(truth, rel=1e-8) for one in back.answers), (truth, back.reason)


def test_a_batch_behind_stages_errs_as_the_step_does():
    """A step is longer than its bound, so that a rate takes more sequences than are answered."""
    given = {name: value for name, value in STAGED.items() if name != "batch"}
    solution = solve("batch", throughput=5000, **given)
    assert [one.bound for one in solution.answers] == ["lower"]
    rate = solve("throughput", **given, batch=solution.answers[0].value).answers[0]
    more = solve("throughput", **given, batch=1.01 * solution.answers[0].value).answers[0]
    assert (rate.value, rate.bound) == (pytest.approx(5000, rel=1e-9), "upper") and more.value > 5000
    slope = (more.value / 5000 - 1) / 0.01
    assert solution.answers[0].elasticities["throughput"] == pytest.approx(1 / slope, rel=0.01)


MIXED = {**ONE_BYTE, "model": "Llama-3.1-70B", "chips": 8, "batch": 64, "context_length": 3000, "prefill_chunk": 400}
RATES = {"peak_flops": 1.979e15, "hbm_bandwidth": 3.35e12, "bytes_per_weight": 1}


def there_and_back(result, unknown, given):
    """A result, and what its own value is answered to have been made of."""
    there = solve(result, anyway=True, **given).answers[0].value
    return there, solve(unknown, anyway=True, **{n: v for n, v in given.items() if n != unknown}, **{result: there})


@pytest.mark.slow
def test_two_results_together_give_two_unknowns():
    """Peak and batch are both open: the rate and the time of a mixed step say what they are."""
    given = {**RATES, **MIXED, "pipeline_stages": 2, "hop_latency": "2ms", "batch": 8}
    results = {name: solve(name, anyway=True, **given).answers[0].value for name in ("throughput", "mixed_step_time")}
    without = {name: value for name, value in given.items() if name not in ("peak_flops", "batch")}
    back = solve("batch", anyway=True, **without, **results)
    assert [one.value for one in back.answers] == [pytest.approx(8, rel=1e-6)]


CHUNKS = {"hardware": "B200-SXM:fp8", "chips": 32, "context_length": 3000, "bytes_per_element": 1}
ON_H200 = {"model": "DeepSeek-V3", "hardware": "H200-SXM:fp8", "chips": 8, "bytes_per_element": 1, "context_length": 1000}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unknown", "given"),
    [
        *(("batch", {**ON_H200, "batch": batch}) for batch in (64, 256, 2000)),
        *((name, {**CHUNKS, "model": "gpt-oss-120b", "batch": 64}) for name in ("batch", "bytes_per_element")),
        ("bytes_per_element", {**CHUNKS, "model": "MiniMax-M3", "batch": 64}),
    ],
)
def test_what_a_free_chunk_was_made_of_is_found_and_not_only_what_fits(unknown, given):
    """Its equation has no closed form for it, and weights and caches fit with anything that is far less than memory."""
    chunk, back = there_and_back("free_prefill_chunk", unknown, given)
    assert [one.value for one in back.answers] == [pytest.approx(given[unknown], rel=1e-8)]
    assert back.given["free_prefill_chunk"] == chunk and "free_prefill_chunk" not in back.unused


SUSTAINED = {"mfu": 0.464, "mbu": 0.794, "exposed_communication_share": 0.307}


@pytest.mark.parametrize(
    ("given", "inside"),
    [
        (
            {"model": "GLM-4.5-Air", "hardware": "A100-SXM-80GB:bf16", "chips": 8, **SUSTAINED, "batch": 4},
            {"context_length": 1000, "bytes_per_element": 2, "prefill_chunk": 600},
        ),
        (
            {"model": "Mixtral-8x7B", "hardware": "TPU-v5e:bf16", "chips": 256, "batch": 64},
            {"context_length": 3000, "bytes_per_element": 2, "prefill_chunk": 200},
        ),
    ],
)
def test_a_result_that_does_not_move_over_a_stretch_has_the_stretch(given, inside):
    """All experts are read, and reading them still takes longer than the arithmetic of the chunk."""
    given = {**given, **inside}
    step, back = there_and_back("mixed_step_time", "prefill_chunk", given)
    (answer,) = back.answers
    assert answer.kind == "interval" and answer.low < given["prefill_chunk"] < answer.high

    def moved(prefill_chunk):
        return solve("mixed_step_time", anyway=True, **{**given, "prefill_chunk": prefill_chunk}).answers[0].value / step - 1

    assert max(abs(moved(answer.low)), abs(moved(answer.high))) < 2e-9
    assert moved(answer.low * 0.5) < -2e-9 and moved(answer.high * 1.01) > 2e-9


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


def test_a_result_that_holds_with_any_leaves_what_another_leads_to():
    """With no copies that leave a rack the slowdown is 1 whatever the bandwidth is; the hops still say what it is."""
    hops = {"layers_per_stage": 50, "active_experts": 2, "rack_hop_ratio": 10}
    variants = {"scale_out_slowdown": "one_copy_a_rack"}
    found = solve("scale_out_bandwidth_ratio", **hops, leaving_copies=0, scale_out_slowdown=1, variants=variants)
    assert found.value == pytest.approx(2 * 2 * 50 / 10, rel=1e-12)
