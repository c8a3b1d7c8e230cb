"""Serving, continued: prefill in chunks, and prefill and decode in pools of their own."""

from derive.arithmetic import maximum
from derive.catalogue.band_terms import ATTENTION_LEFT_OUT
from derive.catalogue.sources import CHUNKED_PREFILL_PAPER, DISTSERVE_PAPER, SPLITWISE_PAPER, ours, talk
from derive.records import BOUND, LOWER, Equation, Step, at

METHODS = (
    Equation(
        id="serving.prefill_compute_time",
        version=2,
        changes=("what attention adds is a factor of its own, which may be a multiple in long prompts",),
        title="Compute time of a pass with many new tokens",
        defines="prefill_compute_time",
        relation=lambda prefill_compute_time, compute_time, new_tokens_per_pass, one_token, prefill_attention_factor: (
            prefill_compute_time,
            compute_time * new_tokens_per_pass / one_token * prefill_attention_factor,
        ),
        statement="Arithmetic grows with the new tokens of each sequence; what is read from memory does not.",
        assumptions=("KV of the new tokens stays on chip", "mfu is that of prefill", ATTENTION_LEFT_OUT),
        sources=(talk("1:41:45", "1:47:33", "prefill is many tokens in one pass: memory unchanged, compute times the new tokens"),),
    ),
    Equation(
        id="serving.compute_bound_chunk",
        version=3,
        title="New tokens that make a pass compute-bound",
        defines="compute_bound_chunk",
        relation=lambda compute_bound_chunk, one_token, balance_batch, batch, kv_compute_ratio, prefill_attention_factor: (
            compute_bound_chunk,
            one_token * (balance_batch / batch + kv_compute_ratio) / prefill_attention_factor,
        ),
        statement="As many new tokens of each sequence as decode waits longer for memory than for arithmetic.",
        assumptions=("perfect overlap", ATTENTION_LEFT_OUT, "every weight is read, as a pass of many tokens does"),
        changes=(
            "the KV read enters by its ratio to the arithmetic, so that windows and selections are right",
            "attention of the new tokens is arithmetic, so that fewer of them will do",
        ),
        steps=(
            Step(
                operation="at this chunk the arithmetic takes as long as the reads",
                premises=(
                    at(
                        "serving.prefill_compute_time",
                        new_tokens_per_pass="compute_bound_chunk",
                        prefill_compute_time="memory_time",
                    ),
                    at("roofline.memory_time"),
                ),
                eliminated=("memory_time",),
                relation=lambda compute_bound_chunk, one_token, weight_time, kv_time, compute_time, prefill_attention_factor: (
                    compute_bound_chunk,
                    one_token * (weight_time + kv_time) / (compute_time * prefill_attention_factor),
                ),
            ),
            Step(
                operation="the reads over the arithmetic, that of the weights in terms of the balance batch",
                premises=(
                    at("#1"),
                    at("batching.weight_compute_ratio#1"),
                    at("batching.weight_compute_ratio"),
                    at("context.kv_compute_ratio#1"),
                ),
                eliminated=("weight_time", "kv_time", "weight_compute_ratio"),
            ),
        ),
        sources=(
            talk(
                "1:47:56", "1:48:23", "prefill needs few tokens to be compute-bound",
                "as many as the output/input ratio, if that is read as memory over compute",
            ),
        ),
    ),
    Equation(
        id="serving.mixed_step_time",
        version=3,
        title="Step time with a chunk of prefill on board",
        kind=BOUND,
        direction=LOWER,
        defines="mixed_step_time",
        relation=lambda mixed_step_time, drafting_time, positions_per_step, compute_time, attention_time, prefill_chunk, one_token,
            batch, prefill_attention_factor, memory_time: (
            mixed_step_time,
            drafting_time
            + maximum(
                positions_per_step * (compute_time + attention_time)
                + compute_time * prefill_attention_factor * prefill_chunk / (one_token * batch),
                memory_time,
            ),
        ),
        statement="The tokens of the chunk share the weights that decode reads anyway and add only arithmetic.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "the mean over the chunks of a prompt",
            "KV reads of the chunk left out",
            ATTENTION_LEFT_OUT,
            "compute_time is that of the decoding sequences",
        ),
        changes=("attention FLOPs and drafts of the decoding sequences count", "attention FLOPs of the chunk count"),
        sources=(CHUNKED_PREFILL_PAPER,),
    ),
    Equation(
        id="serving.free_prefill_chunk",
        version=3,
        title="Prefill tokens that ride along for nothing",
        defines="free_prefill_chunk",
        relation=lambda free_prefill_chunk, batch, one_token, memory_time, positions_per_step, compute_time, attention_time,
            prefill_attention_factor: (
            free_prefill_chunk,
            batch
            * one_token
            * (memory_time - positions_per_step * (compute_time + attention_time))
            / (compute_time * prefill_attention_factor),
        ),
        requires=(
            lambda memory_time, positions_per_step, compute_time, attention_time: (
                memory_time > positions_per_step * (compute_time + attention_time)
            ),
        ),
        otherwise=("arithmetic binds the step already, so that nothing rides along for free",),
        statement="Up to this chunk a memory-bound decode step takes no longer than without it.",
        assumptions=("the assumptions of serving.mixed_step_time",),
        changes=("attention FLOPs and drafts of the decoding sequences leave less room", "attention FLOPs of the chunk take room too"),
        steps=(
            Step(
                operation="the arithmetic of the mixed step takes just as long as its reads",
                premises=(
                    at(
                        "roofline.compute_time",
                        batch=lambda positions_per_step, batch, prefill_attention_factor, free_prefill_chunk, one_token: (
                            positions_per_step * batch + prefill_attention_factor * free_prefill_chunk / one_token
                        ),
                        compute_time=lambda memory_time, positions_per_step, attention_time: (
                            memory_time - positions_per_step * attention_time
                        ),
                    ),
                    at("roofline.compute_time"),
                ),
                eliminated=("active_params",),
            ),
        ),
        sources=(CHUNKED_PREFILL_PAPER, ours("chunk tokens count as sequences of one more token each, with what attention adds")),
    ),
    Equation(
        id="serving.prefill_rate_per_chip",
        version=2,
        changes=("attention is a factor of its own, and prefill sustains prefill_decode_flops_ratio times the mfu of decode",),
        title="Prefill rate of one chip",
        defines="prefill_rate_per_chip",
        relation=lambda prefill_rate_per_chip, peak_flops, mfu, prefill_decode_flops_ratio, flop_per_mac_and_token, active_params,
            prefill_attention_factor: (
            prefill_rate_per_chip,
            peak_flops * mfu * prefill_decode_flops_ratio / (flop_per_mac_and_token * active_params * prefill_attention_factor),
        ),
        statement="Compute-bound prefill: what a chip computes over what a token takes.",
        assumptions=("prefill is compute-bound", "tokens found in the cache take nothing and are not counted", ATTENTION_LEFT_OUT),
        sources=(DISTSERVE_PAPER,),
    ),
    Equation(
        id="serving.decode_rate_per_chip",
        title="Decode rate of one chip",
        version=2,
        defines="decode_rate_per_chip",
        relation=lambda decode_rate_per_chip, throughput, chips, pipeline_stages: (
            decode_rate_per_chip,
            throughput / (chips * pipeline_stages),
        ),
        statement="What a replica delivers, shared over the chips of all its stages.",
        changes=("the chips of all stages share it",),
        sources=(SPLITWISE_PAPER,),
    ),
    Equation(
        id="serving.prefill_decode_chip_ratio",
        version=2,
        changes=("tokens found in the cache are not prefilled again",),
        title="Prefill over decode chips",
        defines="prefill_decode_chip_ratio",
        relation=lambda prefill_decode_chip_ratio, prompt_tokens, cache_hit_share, decode_rate_per_chip, output_tokens,
            prefill_rate_per_chip: (
            prefill_decode_chip_ratio,
            prompt_tokens * (1 - cache_hit_share) * decode_rate_per_chip / (output_tokens * prefill_rate_per_chip),
        ),
        requires=(lambda cache_hit_share: cache_hit_share < 1,),
        statement="Two pools, one for each phase, sized so that neither waits for the other; what the cache holds is not prefilled.",
        assumptions=(
            "both pools are busy all the time",
            "moving the cache between the pools costs nothing",
            "requests alike, or their mean",
        ),
        sources=(DISTSERVE_PAPER, SPLITWISE_PAPER),
    ),
)
