"""Equations that were published and are no more: their last mathematics, for readers of a citation, and their successors."""

from collections.abc import Callable
from typing import Any

from derive.catalogue.sources import ours
from derive.records import Equation
from derive.requirements import Requirement


def retire(
    reference: str, successor: str, title: str, relation: Callable[..., tuple[Any, Any]], requires: tuple[Requirement, ...] = ()
) -> tuple[str, tuple[str, Equation]]:
    """Return an entry of `RETIRED`: the id, its successor and the equation in its last version, `reference`."""
    id, _, version = reference.partition("@")
    row = Equation(
        id=id,
        version=int(version),
        title=title,
        relation=relation,
        requires=requires,
        statement=f"Retired. Use {successor}.",
        sources=(ours(f"retired in favour of {successor}"),),
    )
    return id, (successor, row)


RETIRED: dict[str, tuple[str, Equation]] = dict(
    (
        retire(
            "roofline.tensor_parallel_time@1",
            "network.tensor_parallel_time",
            "Time to add up what the chips of a layer make",
            lambda tensor_parallel_time, layers, allreduces_per_layer, batch, tokens_verified_per_step, model_dim, bytes_per_activation,
                chips, link_bandwidth: (
                tensor_parallel_time,
                layers
                * allreduces_per_layer
                * batch
                * tokens_verified_per_step
                * model_dim
                * bytes_per_activation
                * 2
                * (chips - 1)
                / (chips * link_bandwidth),
            ),
            requires=(Requirement(holds=lambda chips: chips > 1, otherwise="one chip waits for no other"),),
        ),
        retire(
            "memory.weight_bytes_resident@1",
            "memory.resident_weight_bytes",
            "Bytes of the weights, from those resident on each chip",
            lambda weight_bytes, resident_weight_bytes_per_chip, chips, pipeline_stages: (
                weight_bytes,
                resident_weight_bytes_per_chip * chips * pipeline_stages,
            ),
        ),
        retire(
            "serving.drafting_compute_ratio@1",
            "serving.drafting_time",
            "Drafting time over compute time",
            lambda drafting_compute_ratio, drafting_time, compute_time: (drafting_compute_ratio, drafting_time / compute_time),
        ),
        retire(
            "roofline.plain_weight_time_resident@1",
            "roofline.plain_weight_time",
            "Weight-read time of a step without drafts, from the bytes resident on each chip",
            lambda plain_weight_time, weight_time: (plain_weight_time, weight_time),
        ),
        retire(
            "serving.prefill_weight_compute_ratio_resident@1",
            "serving.prefill_weight_compute_ratio",
            "Weight time of a pass with many new tokens over compute time of decode, from the bytes resident on each chip",
            lambda prefill_weight_compute_ratio, weight_compute_ratio: (prefill_weight_compute_ratio, weight_compute_ratio),
        ),
        retire(
            "serving.mixed_memory_time_resident@1",
            "serving.mixed_memory_time",
            "Memory time of a step with a chunk of prefill, from the bytes resident on each chip",
            lambda mixed_memory_time, memory_time: (mixed_memory_time, memory_time),
        ),
        retire(
            "serving.free_prefill_chunk_resident@1",
            "serving.free_prefill_chunk",
            "Prefill tokens that add no time to a memory-bound step, from the bytes resident on each chip",
            lambda free_prefill_chunk, batch, one_token, memory_time, tokens_verified_per_step, compute_time, attention_time,
            prefill_attention_factor: (
            free_prefill_chunk,
            batch
            * one_token
            * (memory_time - tokens_verified_per_step * (compute_time + attention_time))
            / (compute_time * prefill_attention_factor),
        ),
            requires=(
            Requirement(
                holds=lambda memory_time, tokens_verified_per_step, compute_time, attention_time: (
                    memory_time > tokens_verified_per_step * (attention_time + compute_time)
                ),
                otherwise="the step is compute-bound, so no prefill token is free",
            ),
        ),
        ),
        retire(
            "architecture.selected_attention_flops_compressed@1",
            "architecture.selected_attention_flops_gqa_indexed",
            "Attention FLOPs of one new token over selected entries, tokens compressed into shared entries",
            lambda selected_attention_flops, flop_per_mac, sparse_layers, query_heads, head_dim, read_entries: (
            selected_attention_flops,
            flop_per_mac * sparse_layers * query_heads * 2 * head_dim * read_entries,
        ),
        ),
        retire(
            "architecture.prefill_selected_flops_compressed@1",
            "architecture.prefill_selected_flops_gqa_indexed",
            "Attention FLOPs of one new token of a prompt over selected entries, tokens compressed into shared entries",
            lambda prefill_selected_flops, flop_per_mac, sparse_layers, query_heads, head_dim, prefill_read_entries: (
                prefill_selected_flops,
                flop_per_mac * sparse_layers * query_heads * 2 * head_dim * prefill_read_entries,
            ),
        ),
    )
)
"""By id: the successor, and the equation in its last version. An id is never used again for something else."""
