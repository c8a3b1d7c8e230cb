"""Wrong formulas that have been seen in other tools and in notes on the lecture, as data: `mutation_check.py` injects them.

Each has the symbols and the dimensions of the right one wherever the fault allows, so that only physics can tell.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from derive.catalogue.arithmetic import maximum


@dataclass(frozen=True)
class Cell:
    """A cell of a table that ships, by the columns that name its row, and what stands there instead."""

    table: str
    row: Mapping[str, str]
    column: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A fault: relations by the ids of the equations that get them, values of constants, or a cell of a table.

    `unpublished` says why no published figure can see it, where none can; something else must.
    """

    fault: str
    relations: Mapping[str, Callable[..., tuple[Any, Any]]] = field(default_factory=dict)
    constants: Mapping[str, int] = field(default_factory=dict)
    cell: Cell | None = None
    unpublished: str = ""

    @property
    def place(self) -> str:
        """Where the fault sits: ids, constants, or table and row."""
        cell = [f"{self.cell.table}.csv {' '.join(self.cell.row.values())}"] if self.cell else []
        return ", ".join([*self.relations, *self.constants, *cell])


def _threshold_in_the_numerator(
    kv_bytes_per_token, active_params, bytes_per_weight, machine_balance_ratio, long_context_threshold, one_token
):
    return kv_bytes_per_token, active_params * bytes_per_weight * long_context_threshold / (machine_balance_ratio * one_token**2)


AT_THE_PEAKS = "the published figures of tests/validation are at the peaks, where mfu and mbu are both one"
PER_CHIP = "the published steps of tests/validation start from the bytes that lie on a chip, not from a model's parameters"

CONTROL = "written_otherwise"

MUTATIONS = {
    CONTROL: Mutation(
        fault="none: the same sum, the other way round",
        relations={"roofline.memory_time": lambda memory_time, weight_time, kv_time: (memory_time, kv_time + weight_time)},
    ),
    "factor_two_dropped": Mutation(
        fault="a multiply-add counted as one FLOP in the compute time",
        relations={
            "roofline.compute_time": lambda compute_time, flop_per_weight, batch, active_params, chips, peak_flops, mfu: (
                compute_time,
                flop_per_weight * batch * active_params / (2 * chips * peak_flops * mfu),
            ),
        },
    ),
    "factor_two_dropped_everywhere": Mutation(
        fault="a multiply-add counted as one FLOP wherever weights are multiplied: every derivation still holds",
        constants={"flop_per_weight": 1},
    ),
    "kv_read_twice": Mutation(
        fault="the cache read once for keys and once more for values",
        relations={
            "roofline.kv_time": lambda kv_time, batch, context_length, kv_bytes_per_token, kv_replication, chips, hbm_bandwidth, mbu: (
                kv_time,
                2 * batch * context_length * kv_bytes_per_token * kv_replication / (chips * hbm_bandwidth * mbu),
            ),
        },
    ),
    "latent_counted_twice": Mutation(
        fault="a key and a value counted for a latent that is both",
        relations={
            "architecture.kv_bytes_mla": lambda kv_bytes_per_token, keys_and_values, layers, latent_dim, rope_dim, bytes_per_element: (
                kv_bytes_per_token,
                keys_and_values * layers * (latent_dim + rope_dim) * bytes_per_element,
            ),
        },
    ),
    "active_for_total_parameters": Mutation(
        fault="only the active weights read, in the weight time and so in the latency floor",
        relations={
            "roofline.weight_time": lambda weight_time, active_params, bytes_per_weight, chips, hbm_bandwidth, mbu: (
                weight_time,
                active_params * bytes_per_weight / (chips * hbm_bandwidth * mbu),
            ),
        },
        unpublished=PER_CHIP,
    ),
    "total_for_active_parameters": Mutation(
        fault="every expert multiplied with, whatever the router says",
        relations={
            "roofline.compute_time": lambda compute_time, flop_per_weight, batch, total_params, chips, peak_flops, mfu: (
                compute_time,
                flop_per_weight * batch * total_params / (chips * peak_flops * mfu),
            ),
        },
        unpublished="the published steps of tests/validation give active parameters only",
    ),
    "weights_not_sharded": Mutation(
        fault="all weights on every chip",
        relations={
            "roofline.weight_time": lambda weight_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu: (
                weight_time,
                total_params * bytes_per_weight / (hbm_bandwidth * mbu),
            ),
        },
        unpublished=PER_CHIP,
    ),
    "rotary_key_left_out": Mutation(
        fault="the rotary key that all heads share left out of the latent cache",
        relations={
            "architecture.kv_bytes_mla": lambda kv_bytes_per_token, latent_per_token, layers, latent_dim, rope_dim, bytes_per_element: (
                kv_bytes_per_token,
                latent_per_token * layers * latent_dim * bytes_per_element,
            ),
        },
    ),
    "query_heads_for_kv_heads": Mutation(
        fault="a key and a value for every query head",
        relations={
            "architecture.kv_bytes_gqa": lambda kv_bytes_per_token, keys_and_values, layers, query_heads, head_dim, bytes_per_element: (
                kv_bytes_per_token,
                keys_and_values * layers * query_heads * head_dim * bytes_per_element,
            ),
        },
    ),
    "layers_for_kv_layers": Mutation(
        fault="windowed and linear layers counted as if they kept the whole context",
        relations={
            "architecture.kv_bytes_gqa": lambda kv_bytes_per_token, keys_and_values, layers, kv_heads, head_dim, bytes_per_element: (
                kv_bytes_per_token,
                keys_and_values * layers * kv_heads * head_dim * bytes_per_element,
            ),
        },
        unpublished="configurations are published, and the sums over their layers are ours",
    ),
    "experts_of_one_token": Mutation(
        fault="top-k experts read, whatever the batch",
        relations={
            "experts.touched_experts": lambda activated_experts, experts, active_experts, batch, tokens_verified_per_step: (
                activated_experts,
                active_experts,
            ),
        },
        unpublished="no published count of the experts that a batch uses is at hand; the figures are ours",
    ),
    "efficiency_upside_down": Mutation(
        fault="slow decode makes reinforcement learning cheaper",
        relations={
            "training.rl_cost": lambda rl_flops, one_flop_per_token, rl_multiplier, active_params, rl_tokens, decode_efficiency: (
                rl_flops,
                one_flop_per_token * rl_multiplier * active_params * rl_tokens * decode_efficiency,
            ),
        },
        unpublished="the lecture prints the rule that follows and no FLOPs",
    ),
    "efficiency_upside_down_everywhere": Mutation(
        fault="the same in the rule that follows from it: the derivation still holds",
        relations={
            "training.rl_cost": lambda rl_flops, one_flop_per_token, rl_multiplier, active_params, rl_tokens, decode_efficiency: (
                rl_flops,
                one_flop_per_token * rl_multiplier * active_params * rl_tokens * decode_efficiency,
            ),
            "training.equal_cost_rl": lambda pretrain_tokens, rl_multiplier, rl_tokens, decode_efficiency: (
                pretrain_tokens,
                rl_multiplier * rl_tokens * decode_efficiency / 6,
            ),
        },
    ),
    "mfu_where_mbu_belongs_in_the_weight_time": Mutation(
        fault="reads of weights slowed by the utilisation of the arithmetic",
        relations={
            "roofline.weight_time": lambda weight_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mfu: (
                weight_time,
                total_params * bytes_per_weight / (chips * hbm_bandwidth * mfu),
            ),
        },
        unpublished=AT_THE_PEAKS,
    ),
    "mfu_where_mbu_belongs_in_the_kv_time": Mutation(
        fault="reads of the cache slowed by the utilisation of the arithmetic",
        relations={
            "roofline.kv_time": lambda kv_time, batch, context_length, kv_bytes_per_token, kv_replication, chips, hbm_bandwidth, mfu: (
                kv_time,
                batch * context_length * kv_bytes_per_token * kv_replication / (chips * hbm_bandwidth * mfu),
            ),
        },
        unpublished=AT_THE_PEAKS,
    ),
    "max_for_sum": Mutation(
        fault="reads of weights and cache overlapped on one memory bus",
        relations={
            "roofline.memory_time": lambda memory_time, weight_time, kv_time: (memory_time, maximum(weight_time, kv_time)),
        },
    ),
    "threshold_in_the_numerator": Mutation(
        fault="a longer threshold means more bytes",
        relations={"readings.threshold_is_crossover": _threshold_in_the_numerator},
    ),
    "sparse_flops_in_a_dense_column": Mutation(
        fault="the data sheet's figure with sparsity for the dense one",
        cell=Cell("hardware", {"accelerator": "H100-SXM", "quantity": "peak_flops", "dtype": "fp8"}, "value", "3958e12"),
    ),
    "an_older_bandwidth": Mutation(
        fault="3,072 GB/s for the 3,350 of an H100",
        cell=Cell("hardware", {"accelerator": "H100-SXM", "quantity": "hbm_bandwidth", "dtype": ""}, "value", "3072e9"),
    ),
}
