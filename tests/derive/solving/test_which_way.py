"""Which way leads to what is asked for: equations, the variants and defaults they join with, inequalities, or backwards."""

from math import inf

import pytest

from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.solving.api import solve
from derive.solving.question.defaults import PLAIN
from tests.tools.asked import CROSSOVER, STEP, value
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")


TWO_WAYS = {
    **{"layers": 10, "kv_heads": 8, "head_dim": 128, "bytes_per_element": 1},
    **{"kv_time": 2.048e-3, "batch": 100, "context_length": 1000, "chips": 1, "hbm_bandwidth": 1e12, "mbu": 1},
}
"""20,480 bytes a token by the architecture, and by the time it takes to read them."""


@pytest.mark.parametrize(("unknown", "more"), [("kv_bytes_per_token", {}), ("attention_intensity", {"attention_flops_per_pair": 40960})])
def test_the_equation_that_defines_a_quantity_is_preferred(unknown, more):
    """Also on the way, and although the other one comes first in the catalogue."""
    solution = solve(unknown, **TWO_WAYS, **more)
    (step,) = [step for step in solution.route if step.unknown == "kv_bytes_per_token"]
    assert (step.equation, step.value) == (equation("architecture.kv_bytes_gqa").reference, 20480)
    assert step.alternatives == ("roofline.kv_time",)
    without = {name: known for name, known in TWO_WAYS.items() if name != "layers"}
    assert solve(unknown, **without, **more).route[0].equation == "roofline.kv_time@2"


def test_an_inequality_answers_but_never_serves_on_the_way():
    (only,) = solve("balance_batch", using=["batching.users_needed"], concurrent_sequences=2400).answers
    assert (only.kind, only.low, only.high) == ("interval", 0, 2400)
    for using in ([], ["batching.users_needed"]):
        solution = solve("weight_compute_ratio", using=using, concurrent_sequences=2400, batch=100)
        assert solution.answers == () and solution.reason.code == "missing_givens"
    solution = solve(
        "kv_bytes_per_token",
        using=["bands.cache_read_price"],
        **{"cache_read_price": 2e-7, "input_price": 2e-6, "prefill_decode_flops_ratio": 1, "prefill_cost_ratio": 1},
        **{"active_params": 1e11, "ridge_point": 600},
    )
    assert solution.answers == () and solution.reason.code in ("missing_givens", "simultaneous")


def test_conditions_and_heuristics_join_when_named_or_where_definitions_end():
    given = {"sweep_time": 0.02}
    assert solve("worst_latency", strict=True, **given).reason.code == "missing_givens"
    unnamed = solve("worst_latency", **given)
    assert (
        value(unnamed) == 0.04 and "scheduling.train_period_rule is a heuristic, used as no definition leads there" in unnamed.assumptions
    )
    assert unnamed.warnings[0].startswith("worst_latency is by the rule of thumb that") and "--strict leaves it out" in unnamed.warnings[0]
    solution = solve("worst_latency", using=["scheduling.train_period_rule"], **given)
    assert value(solution) == 0.04
    assert "scheduling.train_period_rule is a heuristic, joined by name" in solution.assumptions
    assert solve("kv_bytes_per_token", strict=True, **CROSSOVER).reason.code == "missing_givens"
    assert value(solve("kv_bytes_per_token", **CROSSOVER)) == pytest.approx(5000 / 3, rel=1e-12)
    solution = solve("kv_bytes_per_token", using=["readings.threshold_is_crossover"], **CROSSOVER)
    assert value(solution) == pytest.approx(5000 / 3, rel=1e-12)
    assert "readings.threshold_is_crossover is a condition, joined by name" in solution.assumptions


USES = {
    # a default, and an equation that speaks of it
    "activation_bytes_per_chip": "training.memory_per_chip",
    "pipeline_stages": "pipeline.layers_per_stage",
    "chips": "serving.cost_per_token",
    "mfu": "serving.prefill_rate_per_chip",
    "mbu": "roofline.weight_time_resident",
    "replicas": "scheduling.fleet_throughput",
    "prefill_batch": "prefill.cost_per_token",
    "prefill_passes": "prefill.weight_time",
    "prefill_weight_time": "prefill.time",
    "reserved_share": "memory.capacity",
    "shared_experts": "architecture.total_params_moe",
    "queue_time": "prefill.time_to_first_token",
    "tokens_per_step": "scheduling.throughput",
    "tokens_verified_per_step": "experts.touched_experts",
    "expert_imbalance": "experts.weight_time_touched",
    "attention_replicas": "memory.weight_bytes_touched",
    "kv_replication": "context.kv_time_fixed",
    "fleet_utilisation": "serving.chip_price_from_capex",
    "attention_rate_ratio": "serving.prefill_attention_factor",
    "prefill_attention_factor": "serving.prefill_compute_time",
    "prefill_decode_flops_ratio": "bands.base_cost_memory_bound",
    "cache_hit_share": "serving.prefill_decode_chip_ratio",
    "cached_tokens": "architecture.prefill_window_tokens",
    "microbatches": "scheduling.throughput",
    "hop_latency": "pipeline.idle_fraction",
    "idle_fraction": "batching.compute_utilisation_of_rate",
    "attention_time": "roofline.memory_time_share",
    "attention_compute_ratio": "batching.balance_batch_with_kv",
    "draft_cost_ratio": "serving.speculative_speedup",
    "drafting_time": "roofline.step_time",
    "overhead_time": "roofline.step_time",
    "verification_ratio": "serving.speculative_speedup",
}


@in_one_test("name", [name for name in NEUTRAL_DEFAULTS if name not in PLAIN])
def test_a_default_that_was_used_is_listed_and_one_that_was_given_is_not(name):
    row = equation(USES[name])
    given = {other: (quantity(other).low * quantity(other).high) ** 0.5 for other in row.symbols[1:] if other != name}
    unasked = solve(row.symbols[0], using=[row.id], **given)
    assert unasked.equations == (row.reference,)
    default = NEUTRAL_DEFAULTS[name]
    assert f"{name} = {default:g} (default)" in unasked.assumptions
    assert unasked.given[name] == default
    told = solve(row.symbols[0], using=[row.id], **given, **{name: default})
    assert not any(f"{name} = " in note for note in told.assumptions)
    assert value(told) == value(unasked)


@in_one_test(
    ("variant", "expected"),
    [(None, 3.0), ("max", 3.0), ("sum", 5.0), ("kv_plus_max", 4.5)],
)
def test_the_overlap_is_chosen_by_name(variant, expected):
    chosen = {"variants": {"overlap": variant}} if variant else {}
    solution = solve("step_time", compute_time=2, weight_time=0.5, kv_time=2.5, **chosen)
    assert value(solution) == pytest.approx(expected)
    assert any(note.startswith(f"overlap: {variant or 'max'} (roofline.step_time") for note in solution.assumptions)


def test_the_kv_time_of_a_model_that_selects_is_that_of_what_it_reads():
    """DeepSeek-V3.2, 32 sequences of 100 k tokens on 16 H100: indexer keys of every token, 2048 latents in every layer."""
    given = {"hardware": "H100:fp8", "model": "DeepSeek-V3.2", "bytes_per_element": 1, "indexer_bytes_per_element": 1, "chips": 16}
    solution = solve("kv_time", batch=32, context_length="100k", **given)
    assert value(solution) == pytest.approx(32 * 61 * (100_000 * 128 + 2048 * 576) / (16 * 3.35e12))
    assert solution.equations[-1] == "context.kv_time_fixed@2"
    assert value(solve("step_time", batch=32, context_length="100k", **given)) > value(solution)


@pytest.mark.parametrize(
    ("unknown", "left_out"),
    [
        ("balance_context", "context.balance_context"),
        ("attention_intensity", "architecture.attention_intensity"),
    ],
)
def test_what_holds_of_dense_attention_only_is_refused_for_a_model_that_selects(unknown, left_out):
    given = {"model": "MiniMax-M3", "hardware": "H100:fp8", "bytes_per_element": 1, "batch": 32, "context_length": "100k"}
    given |= {"indexer_bytes_per_element": 1}
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.reason.code == "missing_givens"
    first, *_ = solution.reason.message.splitlines()
    assert "; left out, as not all that this model reads grows with its context: " in first and first.endswith(left_out)


def test_attention_flops_are_those_of_the_models_own_layers():
    """Kimi-K3: 24 latent layers of 93, 96 heads; decode absorbs the latent of 512 + 64, prefill expands it to 128 + 64 and 128."""
    solution = solve("attention_flops_per_pair", model="Kimi-K3")
    assert value(solution) == 2 * 24 * 96 * (2 * 512 + 64)
    assert solution.equations == ("architecture.attention_flops_mla_absorbed@2",)
    prefill = solve("attention_flops_per_pair", model="Kimi-K3", using="architecture.attention_flops_mla")
    assert value(prefill) == 2 * 24 * 96 * (128 + 64 + 128)


@in_one_test(
    ("unknown", "given", "missing"),
    [
        ("balance_batch", {}, {"peak_flops", "hbm_bandwidth", "total_params", "active_params"}),
        ("sweep_time", {"hbm_capacity": 8e10}, {"hbm_bandwidth"}),
        ("sparsity", {}, {"total_params", "active_params"}),
        ("weight_time", {"total_params": 7e10, "bytes_per_weight": 1}, {"hbm_bandwidth"}),
        ("kv_bytes_per_token", {}, {"layers", "kv_heads", "head_dim"}),
        ("kv_time", {"model": "DeepSeek-V3", "hbm_bandwidth": 3.35e12}, {"batch", "context_length"}),
        ("worst_latency", {}, {"train_period"}),
        ("cost_per_token", {"batch": 2000, "step_time": 0.02}, {"chip_price"}),
    ],
)
def test_what_is_missing_is_listed(unknown, given, missing):
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.equations == () and solution.route == ()
    assert solution.reason.code == "missing_givens"
    assert set(solution.reason.missing) == missing
    assert all(name in solution.reason.message for name in missing)
    assert solution.given.keys() >= given.keys() - {"model"}


@pytest.mark.parametrize(
    ("unknown", "given", "missing"),
    [
        ("balance_batch", {"hardware": "H100:fp8", "experts": 64}, {"total_params", "active_params"}),
        ("balance_context", {"hardware": "H100:fp8", "active_params": "100B"}, {"layers", "kv_heads", "head_dim"}),
        ("step_time", {name: known for name, known in STEP.items() if name != "context_length"}, {"context_length"}),
    ],
)
def test_what_follows_from_the_givens_is_not_missing(unknown, given, missing):
    reason = solve(unknown, **given).reason
    assert reason.code == "missing_givens" and set(reason.missing) == missing


def test_the_balance_batch_of_a_chip_alone_is_that_of_a_dense_model():
    """1,979e12 FLOP/s over 2 FLOP per weight and 3.35e12 weights of a byte per second."""
    solution = solve("balance_batch", hardware="H100:fp8")
    assert value(solution) == pytest.approx(1979e12 / (2 * 3.35e12), rel=1e-12)
    assert "sparsity = 1: no experts are given, and a dense model is assumed" in solution.assumptions


SERVED = {"model": "Llama-3.3-70B", "hardware": "H100-SXM:fp8", "chips": 8}
WORK_DONE = 2 * 70_553_706_496 / (8 * 1979e12)


@in_one_test(
    "besides",
    [
        {},
        {"context_length": "8k"},
        {"bytes_per_element": 1},
        {"context_length": "8k", "bytes_per_element": 1},
        {"batch": 64},
    ],
    ids=str,
)
def test_the_share_of_the_peak_is_the_work_done_whatever_else_is_known(besides):
    """2 N FLOP a token: 4,000 token/s are 3.5 % of eight chips, and no regime makes them all of it."""
    assert value(solve("compute_utilisation", **SERVED, throughput=4000, **besides)) == pytest.approx(WORK_DONE * 4000)


ROOF = {"model": "Llama-3.3-70B", "hardware": "H100-SXM:fp8", "bytes_per_element": 1, "chips": 8, "mfu": 0.7}
LINEAR, ATTENTION = 2 * 70_553_706_496, 4 * 80 * 64 * 128 * 200
WITH_ATTENTION = 8 * 0.7 * 1979e12 / (LINEAR + 1979 / 989 * ATTENTION)
"""The same with the attention to 200 tokens, which runs at the 989 TFLOP/s of bf16."""


@in_one_test(
    ("unknown", "given", "truth"),
    [
        ("batch", {"context_length": 200, "throughput": WITH_ATTENTION}, 2000.0),
    ],
)
def test_at_the_roof_a_rate_does_not_say_which_batch_has_it(unknown, given, truth):
    (found,) = solve(unknown, **ROOF, **given).answers
    assert found.kind == "interval" and found.low <= truth <= (found.high or inf)
