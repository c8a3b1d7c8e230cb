"""Which way leads to what is asked for: equations, the variants and defaults they join with, inequalities, or backwards."""

import pytest

from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.quantities.defaults import DEFAULTS
from derive.solving.api import solve
from tests.tools.asked import value
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
    "shared_experts": "architecture.total_params",
    "prompt_share": "training.equal_cost_inference",
    "power_usage_effectiveness": "energy.fleet_power",
    "virtual_stages": "pipeline.bubble",
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


@in_one_test("name", [row.quantity for row in DEFAULTS if row.value is not None and not row.plain and not row.beside])
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
