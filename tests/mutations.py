"""Wrong formulas that have been seen in other tools and in notes on the lecture, and a way to inject one of them.

Loaded as a pytest plugin (`-p mutations --mutant NAME`) it replaces one relation of the catalogue, or one cell of a table,
before any test is collected. Nothing on disk changes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from derive import presets
from derive.catalogue import by_id
from derive.records import maximum


@dataclass(frozen=True)
class Mutation:
    """A fault, and the equation it sits in with the relation that has it; a fault in a table has no relation."""

    fault: str
    place: str
    relation: Callable[..., tuple[Any, Any]] | None = None


MUTATIONS = {
    "factor_two_dropped": Mutation(
        "a multiply-add counted as one FLOP",
        "roofline.compute_time",
        lambda compute_time, batch, active_params, chips, peak_flops, mfu: (
            compute_time,
            batch * active_params / (chips * peak_flops * mfu),
        ),
    ),
    "kv_counted_twice": Mutation(
        "a key and a value counted for a latent that is both",
        "architecture.kv_bytes_mla",
        lambda kv_bytes_per_token, keys_and_values, layers, latent_dim, rope_dim, bytes_per_element: (
            kv_bytes_per_token,
            keys_and_values * layers * (latent_dim + rope_dim) * bytes_per_element,
        ),
    ),
    "kv_read_twice": Mutation(
        "the cache read once for keys and once more for values",
        "roofline.kv_time",
        lambda kv_time, batch, context_length, kv_bytes_per_token, chips, hbm_bandwidth, mbu: (
            kv_time,
            2 * batch * context_length * kv_bytes_per_token / (chips * hbm_bandwidth * mbu),
        ),
    ),
    "active_for_total_parameters": Mutation(
        "only the active weights read",
        "roofline.weight_time",
        lambda weight_time, active_params, bytes_per_weight, chips, hbm_bandwidth, mbu: (
            weight_time,
            active_params * bytes_per_weight / (chips * hbm_bandwidth * mbu),
        ),
    ),
    "rotary_key_left_out": Mutation(
        "the shared rotary key left out of the latent cache",
        "architecture.kv_bytes_mla",
        lambda kv_bytes_per_token, latent_per_token, layers, latent_dim, bytes_per_element: (
            kv_bytes_per_token,
            latent_per_token * layers * latent_dim * bytes_per_element,
        ),
    ),
    "experts_of_one_token": Mutation(
        "top-k experts read, whatever the batch",
        "experts.touched_experts",
        lambda touched_experts, active_experts: (touched_experts, active_experts),
    ),
    "efficiency_upside_down": Mutation(
        "slow decode makes reinforcement learning cheaper",
        "training.rl_cost",
        lambda rl_flops, one_flop_per_token, rl_multiplier, active_params, rl_tokens, decode_efficiency: (
            rl_flops,
            one_flop_per_token * rl_multiplier * active_params * rl_tokens * decode_efficiency,
        ),
    ),
    "sparse_flops_in_a_dense_column": Mutation("the sparse figure of the data sheet for the dense one", "hardware.csv H100-SXM fp8"),
    "layers_for_kv_layers": Mutation(
        "windowed and linear layers counted as if they kept the whole context",
        "architecture.kv_bytes_hybrid",
        lambda kv_bytes_per_token, keys_and_values, layers, kv_heads, head_dim, bytes_per_element: (
            kv_bytes_per_token,
            keys_and_values * layers * kv_heads * head_dim * bytes_per_element,
        ),
    ),
    "mfu_where_mbu_belongs": Mutation(
        "reads slowed by the utilisation of the arithmetic",
        "roofline.weight_time",
        lambda weight_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mfu: (
            weight_time,
            total_params * bytes_per_weight / (chips * hbm_bandwidth * mfu),
        ),
    ),
    "max_for_sum": Mutation(
        "weight and KV reads overlapped on one memory bus",
        "roofline.memory_time",
        lambda memory_time, weight_time, kv_time: (memory_time, maximum(weight_time, kv_time)),
    ),
    "threshold_in_the_numerator": Mutation(
        "a longer threshold means more bytes",
        "readings.threshold_is_crossover",
        lambda kv_bytes_per_token, active_params, bytes_per_weight, long_context_threshold, one_token, machine_balance_ratio: (
            kv_bytes_per_token,
            active_params * bytes_per_weight * long_context_threshold / (machine_balance_ratio * one_token * one_token),
        ),
    ),
}


def inject(name: str) -> None:
    """Put one wrong formula, or one wrong cell, in the place of the right one."""
    mutation = MUTATIONS[name]
    if mutation.relation is not None:
        object.__setattr__(by_id()[mutation.place], "relation", mutation.relation)
        return
    _, accelerator, dtype = mutation.place.split()
    right = presets.table

    def wrong(file: str) -> tuple[presets.Row, ...]:
        rows = right(file)
        return tuple(row | {"value": str(2 * float(row["value"]))} if is_the_cell(row) else row for row in rows)

    def is_the_cell(row: presets.Row) -> bool:
        return (row.get("accelerator"), row.get("dtype"), row.get("quantity")) == (accelerator, dtype, "peak_flops")

    presets.table = wrong


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutant", choices=sorted(MUTATIONS), help="inject one wrong formula before the tests are collected")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--mutant"):
        inject(config.getoption("--mutant"))
