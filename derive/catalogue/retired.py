"""Equations that were published and are no more: their last mathematics, for readers of a citation, and their successors."""

from collections.abc import Callable
from typing import Any

from derive.catalogue.network import SEVERAL_CHIPS
from derive.catalogue.sources import ours
from derive.records import Equation
from derive.requirements import Requirement


def retire(
    reference: str,
    successor: str,
    title: str,
    relation: Callable[..., tuple[Any, Any]],
    requires: tuple[Requirement, ...] = (),
    sense: str = "=",
) -> tuple[str, tuple[str, Equation]]:
    """Return an entry of `RETIRED`: the id, its successor and the equation in its last version, `reference`."""
    id, _, version = reference.partition("@")
    row = Equation(
        id=id,
        version=int(version),
        title=title,
        relation=relation,
        requires=requires,
        sense=sense,
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
            requires=(SEVERAL_CHIPS,),
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
        retire(
            "serving.cost_per_token_with_prompts@1",
            "serving.cost_per_token",
            "Cost of a decoded token, prompts on the same chips",
            lambda cost_per_token, chips, pipeline_stages, chip_price, token_latency, microbatches, batch, tokens_per_step,
            prompt_time_share: (
            cost_per_token,
            chips * pipeline_stages * chip_price * token_latency / (microbatches * batch * tokens_per_step * (1 - prompt_time_share)),
        ),
            requires=(Requirement(holds=lambda prompt_time_share: prompt_time_share < 1, otherwise="prompts need all the time"),),
        ),
        retire(
            "serving.cost_from_throughput@2",
            "serving.cost_per_token",
            "Cost of a token from a measured throughput",
            lambda cost_per_token, chips, pipeline_stages, chip_price, throughput: (
            cost_per_token,
            chips * pipeline_stages * chip_price / throughput,
        ),
        ),
        retire(
            "scheduling.decode_only_throughput_with_prompts@1",
            "scheduling.decode_only_throughput",
            "Throughput while only decode runs, prompts on the same chips",
            lambda decode_only_throughput, microbatches, batch, tokens_per_step, token_latency: (
            decode_only_throughput,
            microbatches * batch * tokens_per_step / token_latency,
        ),
        ),
        retire(
            "network.tensor_parallel_time_of_prompts@1",
            "network.tensor_parallel_time",
            "Tensor-parallel all-reduce time of a pass over prompts",
            lambda tensor_parallel_time, layers, allreduces_per_layer, prefill_batch, new_tokens_per_pass, one_token, model_dim,
            bytes_per_activation, chips, link_bandwidth: (
            tensor_parallel_time,
            layers
            * allreduces_per_layer
            * prefill_batch
            * new_tokens_per_pass
            / one_token
            * model_dim
            * bytes_per_activation
            * 2
            * (chips - 1)
            / (chips * link_bandwidth),
        ),
            requires=(SEVERAL_CHIPS,),
        ),
        retire(
            "training.pretrain_cost_recomputed@1",
            "reversible.training_cost",
            "FLOPs of pre-training with full recomputation",
            lambda pretrain_flops, one_flop_per_token, active_params, pretrain_tokens: (
            pretrain_flops,
            8 * one_flop_per_token * active_params * pretrain_tokens,
        ),
        ),
        retire(
            "serving.blended_price_of_share@1",
            "serving.blended_price",
            "Mean price of a token from the share that is prompt",
            lambda blended_price, prompt_share, mean_input_price, output_price: (
            blended_price,
            prompt_share * mean_input_price + (1 - prompt_share) * output_price,
        ),
        ),
        retire(
            "serving.prefill_rate_of_time@1",
            "serving.prefill_rate_per_chip",
            "Prefill rate of one chip from the time of a prompt",
            lambda prefill_rate_per_chip, prefill_batch, uncached_tokens, prefill_time, chips: (
            prefill_rate_per_chip,
            prefill_batch * uncached_tokens / (prefill_time * chips),
        ),
        ),
        retire(
            "training.activations_that_fit@1",
            "training.memory_fits",
            "Activations that fit beside the states",
            lambda activation_bytes_per_chip, hbm_capacity, training_state_bytes_per_chip: (
            activation_bytes_per_chip,
            hbm_capacity - training_state_bytes_per_chip,
        ),
            requires=(
            Requirement(
                holds=lambda hbm_capacity, training_state_bytes_per_chip: hbm_capacity > training_state_bytes_per_chip,
                otherwise="parameters, gradients and optimizer states alone do not fit",
            ),
        ),
            sense="<=",
        ),
        retire(
            "training.state_bytes_adam@1",
            "training.state_bytes",
            "Sixteen bytes per parameter",
            lambda training_state_bytes_per_chip, trained_bytes_per_param, total_params, chips, pipeline_stages: (
            training_state_bytes_per_chip,
            trained_bytes_per_param * total_params / (chips * pipeline_stages),
        ),
        ),
    )
)
"""By id: the successor, and the equation in its last version. An id is never used again for something else."""
