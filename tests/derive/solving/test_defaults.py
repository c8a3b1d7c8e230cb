"""Defaults of one question and of many: a list, a sweep and a range say what their points say by themselves."""

from random import Random

import numpy as np
import pytest

from derive.catalogue import by_id
from derive.expressions.algebra import sort_terms
from derive.quantities import NEUTRAL_DEFAULTS
from derive.quantities.defaults import DEFAULTS
from derive.records import in_place, tree_of_function
from derive.solving.api import solve
from derive.solving.question.defaults import FOLLOWS, symbols_dropped, with_defaults
from derive.trees import names
from tests.tools.together import in_one_test, some

SERVED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "bytes_per_element": 1}
UNCOUNTED = {name: value for name, value in SERVED.items() if name != "chips"}
DECODE = {**SERVED, "context_length": 8192, "batch": 50}
DRAFTED = {**DECODE, "draft_tokens": 3, "acceptance_rate": 0.7}
STAGED = {**DECODE, "pipeline_stages": 2}
PROMPT = {**DECODE, "prompt_tokens": 4000}
COUNTED = {
    **{"layers": 32, "model_dim": 4096, "vocab_size": 32000, "query_heads": 32, "kv_heads": 8, "head_dim": 128},
    **{"experts": 8, "ffn_dim": 14336},
}

MIXTURE = {
    **{"total_params": 235e9, "active_params": 22e9, "experts": 128, "active_experts": 8},
    **{"batch": 50, "chips": 8, "hbm_bandwidth": 3e12},
}
CACHED = {"layers": 32, "kv_heads": 8, "bytes_per_element": 1}

LED = {
    ("microbatches", "pipeline_stages"): ("throughput", DECODE, (1, 2, 4)),
    ("tokens_verified_per_step", "tokens_per_step"): ("throughput", DECODE, (1, 2, 3)),
    ("uncached_tokens", "new_tokens_per_pass"): ("free_prefill_chunk", DECODE, (500, 2000, 6000)),
    ("uncached_tokens", "context_length"): ("free_prefill_chunk", {**SERVED, "batch": 50}, (1000, 4000, 8000)),
    ("new_tokens_per_pass", "uncached_tokens"): ("prefill_compute_time", DECODE, (500, 2000, 6000)),
    ("moe_layers", "layers"): ("total_params", COUNTED, (16, 32, 64)),
    ("moe_ffn_dim", "ffn_dim"): ("total_params", COUNTED, (7168, 14336, 28672)),
    ("ffn_dim", "moe_ffn_dim"): ("total_params", {**COUNTED, "moe_ffn_dim": 14336}, (7168, 14336, 28672)),
    ("expert_bytes_per_weight", "bytes_per_weight"): ("weight_time", MIXTURE, (0.5, 1, 2)),
    ("shared_bytes_per_weight", "bytes_per_weight"): ("weight_time", MIXTURE, (0.5, 1, 2)),
    ("kv_layers", "layers"): ("kv_bytes_per_token", {"kv_heads": 8, "head_dim": 128, "bytes_per_element": 1}, (16, 32, 64)),
    ("key_dim", "head_dim"): ("kv_bytes_per_token", CACHED, (64, 128, 256)),
    ("value_dim", "head_dim"): ("kv_bytes_per_token", CACHED, (64, 128, 256)),
    ("rack_limit", "racks"): ("reached_racks", {"active_experts": 8}, (2, 4, 8)),
    ("plain_weight_time", "weight_time"): ("plain_step_time", {"kv_time": 1e-3, "compute_time": 1e-3}, (1e-3, 2e-3, 4e-3)),
    ("mixed_memory_time", "memory_time"): ("mixed_step_time", {**DECODE, "prefill_chunk": 64}, (1e-2, 2e-2)),
    ("prefill_weight_compute_ratio", "weight_compute_ratio"): (
        "prefill_normalised_cost",
        {"kv_compute_ratio": 8, "new_tokens_per_pass": 2},
        (2, 4, 8),
    ),
    ("prefill_attention_flops_per_pair", "attention_flops_per_pair"): (
        "prefill_attention_flops_per_token",
        {"uncached_tokens": 4000},
        (1e3, 1e6),
    ),
    ("training_chips", "chips"): ("training_time", {"chip_hours": "1M h"}, (8, 64, 512)),
    ("chips", "expert_parallel"): ("throughput", {**UNCOUNTED, "batch": 50, "context_length": 2000}, (4, 8, 16)),
    ("chips", "fleet_chips"): ("throughput", {**UNCOUNTED, "batch": 50, "context_length": 2000}, (4, 8, 16)),
    ("fleet_cost_per_token", "cost_per_token"): ("gross_margin", {"output_price": 2e-6}, (4e-7, 1e-6)),
    ("new_tokens_per_pass", "prompt_tokens"): ("prefill_compute_time", DECODE, (500, 2000, 6000)),
}
"""Defaults with what they follow: what is asked, of what, and at which values of that."""

GIVEN = {
    "attention_time": ("step_time", DECODE, (0.0, 1e-3, 5e-3)),
    "attention_compute_ratio": ("memory_time_share", DECODE, (0.0, 0.2, 3.0)),
    "tokens_per_step": ("step_time", DECODE, (1, 2, 3)),
    "tokens_verified_per_step": ("step_time", {**DECODE, "tokens_per_step": 2}, (2, 3, 5)),
    "drafting_time": ("speculative_speedup", DRAFTED, (0.0, 1e-4, 1e-3)),
    "layer_time": ("step_time", DECODE, (0.0, 1e-5, 1e-3)),
    "overhead_time": ("step_time", DECODE, (0.0, 1e-3, 1e-2)),
    "draft_cost_ratio": ("throughput", DRAFTED, (0.0, 0.1, 0.5)),
    "verification_ratio": ("speculative_speedup", DRAFTED, (1.0, 1.2, 1.5)),
    "hop_latency": ("token_latency", STAGED, (0.0, 1e-5, 1e-3)),
    "idle_fraction": ("cost_per_token", {**STAGED, "chip_price": "2 USD/h"}, (0.0, 0.1, 0.5)),
    "prefill_attention_factor": ("free_prefill_chunk", DECODE, (1.0, 1.2, 2.0)),
    "uncached_tokens": ("prefill_compute_time", DECODE, (500, 2000)),
    "cached_tokens": ("prefill_compute_time", PROMPT, (0.0, 500.0, 1000.0)),
    "cache_hit_share": ("prefill_compute_time", PROMPT, (0.0, 0.2, 0.5)),
    "prefill_weight_time": ("prefill_time", {**SERVED, "prompt_tokens": 40}, (0.0, 1e-3, 1e-1)),
    "activation_bytes_per_chip": ("training_memory_per_chip", {"training_state_bytes_per_chip": 1e10}, (0.0, 1e9, 5e9)),
    "training_chips": ("training_time", {"chip_hours": "1M h", "chips": 64}, (64, 512)),
    "reserved_share": ("sequences_in_flight", {**SERVED, "context_length": 8192}, (0.0, 0.1, 0.3)),
    "ffn_dim": ("total_params", {**COUNTED, "moe_layers": 24, "moe_ffn_dim": 14336}, (7168, 14336)),
    "prompt_share": ("inference_flops", {"active_params": 1e11, "inference_tokens": 1e14, "decode_efficiency": 0.3}, (0.0, 0.5, 0.8)),
    "draft_tokens": ("throughput", {**DECODE, "acceptance_rate": 0.7}, (0.0, 1.0, 4.0)),
    "acceptance_rate": ("throughput", {**DECODE, "draft_tokens": 3}, (0.1, 0.5, 0.9)),
    "sequences_in_flight": ("throughput", STAGED, (50, 100, 300)),
}
"""Defaults that definitions govern, and what governs them, given: the first value is often the one that stands by default."""


def told(solution):
    """The answers of a question, or the code of its reason."""
    return tuple((one.kind, one.ends, one.bound) for one in solution.answers) or (solution.reason.code,)


def told_of_each(solution):
    """Of a list, as `told` has it."""
    return [tuple((one.kind, one.ends, one.bound) for one in answers) or (reason.code,) for _, answers, reason in solution.sweep.rows()]


def test_every_default_that_follows_or_is_governed_is_looked_at():
    assert LED.keys() == {(name, other) for name, others in FOLLOWS.items() for other in others} - {("indexer_layers", "sparse_layers")}
    assert GIVEN.keys() >= {row.quantity for row in DEFAULTS if row.gives_way and not row.plain}


CASES = {**{other: case for (_, other), case in LED.items()}, **GIVEN}


@pytest.mark.slow
@in_one_test("name", CASES)
def test_a_list_in_any_order_says_what_its_points_say_by_themselves(name):
    unknown, given, values = CASES[name]
    given = {other: value for other, value in given.items() if other != name}
    singly = {value: told(solve(unknown, **given, **{name: value})) for value in values}
    for order in some((values[::-1], values, [*values[1:], values[0]]), every=3):
        assert told_of_each(solve(unknown, **given, **{name: list(order)})) == [singly[value] for value in order], order


@pytest.mark.slow
@in_one_test(("default", "name"), LED)
def test_a_long_sweep_and_a_range_say_what_their_points_say_by_themselves(default, name):
    unknown, given, values = LED[default, name]
    given = {other: value for other, value in given.items() if other != name}
    singly = [solve(unknown, **given, **{name: value}).answers[0].value for value in values]
    assert len({*singly}) == len(values)
    many = [*np.linspace(values[0], values[-1], 70), *values]
    Random(0).shuffle(many)
    table = solve(unknown, **given, **{name: many}).sweep
    assert [table.values[0][many.index(value)] for value in values] == pytest.approx(singly, rel=1e-9)
    spans = solve(unknown, **given, **{name: f"{values[0]}..{values[-1]}"}).spans
    assert (spans.answered, [spans.low, spans.high]) == (1, pytest.approx([min(singly), max(singly)], rel=1e-9))


def test_numbers_show_what_disappears_as_the_algebra_does():
    """For each equation with each neutral default put in, alone and together with all others."""
    rows = [(row, [name for name in row.symbols[1:] if name in NEUTRAL_DEFAULTS]) for row in by_id().values()]
    cases = [(row, dict.fromkeys(some)) for row, names in rows for some in (*((name,) for name in names), names) if some]
    put_in = [(row, {name: int(NEUTRAL_DEFAULTS[name]) for name in some}) for row, some in cases]
    assert all(with_defaults(row, values).trees for row, values in put_in), "each still has its formula"
    found = [symbols_dropped(row, values) for row, values in put_in]
    left = [names(sort_terms(tree_of_function(in_place(row.relation, values))[1])) for row, values in put_in]
    pairs = zip(put_in, left, strict=True)
    assert found == [tuple(name for name in row.symbols[1:] if name not in {*values, *held}) for (row, values), held in pairs]
    assert any(found)
