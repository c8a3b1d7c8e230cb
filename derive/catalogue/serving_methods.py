"""Serving, continued: prefill in chunks, speculative decoding, and prefill and decode in pools of their own."""

from derive.arithmetic import maximum
from derive.catalogue.band_terms import ATTENTION_LEFT_OUT
from derive.catalogue.sources import CHUNKED_PREFILL_PAPER, DISTSERVE_PAPER, SPECULATIVE_PAPER, SPLITWISE_PAPER, ours, talk
from derive.records import BOUND, Equation, Step, at

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
        title="New tokens that make a pass compute-bound",
        defines="compute_bound_chunk",
        relation=lambda compute_bound_chunk, one_token, balance_batch, batch, context_length, balance_context: (
            compute_bound_chunk,
            one_token * (balance_batch / batch + context_length / balance_context),
        ),
        statement="As many new tokens of each sequence as decode waits longer for memory than for arithmetic.",
        assumptions=("perfect overlap", "dense attention", "attention FLOPs left out"),
        steps=(
            Step(
                operation="at this chunk the arithmetic takes as long as the reads",
                premises=(
                    at(
                        "serving.prefill_compute_time",
                        new_tokens_per_pass="compute_bound_chunk",
                        prefill_compute_time="memory_time",
                        prefill_attention_factor=1,
                    ),
                    at("roofline.memory_time"),
                ),
                eliminated=("memory_time",),
                relation=lambda compute_bound_chunk, one_token, weight_time, kv_time, compute_time: (
                    compute_bound_chunk,
                    one_token * (weight_time + kv_time) / compute_time,
                ),
            ),
            Step(
                operation="the reads over the arithmetic, in terms of the two balance points",
                premises=(
                    at("#1"),
                    at("batching.weight_compute_ratio#1"),
                    at("batching.weight_compute_ratio"),
                    at("context.kv_compute_ratio#1"),
                    at("context.kv_compute_ratio"),
                ),
                eliminated=("weight_time", "kv_time", "weight_compute_ratio", "kv_compute_ratio"),
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
        title="Step time with a chunk of prefill on board",
        kind=BOUND,
        defines="mixed_step_time",
        relation=lambda mixed_step_time, compute_time, prefill_chunk, one_token, batch, memory_time: (
            mixed_step_time,
            maximum(compute_time * (1 + prefill_chunk / (one_token * batch)), memory_time),
        ),
        statement="The tokens of the chunk share the weights that decode reads anyway and add only arithmetic.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "attention FLOPs and KV reads of the chunk left out",
            "compute_time is that of the decoding sequences",
        ),
        sources=(CHUNKED_PREFILL_PAPER,),
    ),
    Equation(
        id="serving.free_prefill_chunk",
        title="Prefill tokens that ride along for nothing",
        defines="free_prefill_chunk",
        relation=lambda free_prefill_chunk, batch, one_token, memory_time, compute_time: (
            free_prefill_chunk,
            batch * one_token * (memory_time / compute_time - 1),
        ),
        requires=(lambda memory_time, compute_time: memory_time > compute_time,),
        statement="Up to this chunk a memory-bound decode step takes no longer than without it.",
        assumptions=("the assumptions of serving.mixed_step_time",),
        steps=(
            Step(
                operation="the arithmetic of the mixed step takes just as long as its reads",
                premises=(
                    at(
                        "roofline.compute_time",
                        batch=lambda batch, free_prefill_chunk, one_token: batch + free_prefill_chunk / one_token,
                        compute_time="memory_time",
                    ),
                    at("roofline.compute_time"),
                ),
                eliminated=("active_params",),
            ),
        ),
        sources=(CHUNKED_PREFILL_PAPER, ours("chunk tokens count as sequences of one more token each")),
    ),
    Equation(
        id="serving.speculative_tokens",
        title="Tokens per step with speculative decoding",
        relation=lambda tokens_per_step, one_token, acceptance_rate, draft_tokens: (
            tokens_per_step,
            one_token * (1 - acceptance_rate ** (draft_tokens + 1)) / (1 - acceptance_rate),
        ),
        requires=(lambda acceptance_rate: acceptance_rate < 1,),
        statement="A draft is checked in one step: all tokens up to the first that is refused count, and one more comes from the check.",
        assumptions=(
            "each drafted token is accepted with the same chance, whatever the others",
            "the check of all drafted tokens takes one step",
        ),
        sources=(SPECULATIVE_PAPER,),
    ),
    Equation(
        id="serving.speculative_speedup",
        title="Speed-up by speculative decoding",
        defines="speculative_speedup",
        relation=lambda speculative_speedup, acceptance_rate, draft_tokens, draft_cost_ratio: (
            speculative_speedup,
            (1 - acceptance_rate ** (draft_tokens + 1)) / ((1 - acceptance_rate) * (draft_tokens * draft_cost_ratio + 1)),
        ),
        requires=(lambda acceptance_rate: acceptance_rate < 1,),
        statement="Tokens per step, over the time of drafting and checking them; below one where drafts are dear or poor.",
        assumptions=("the assumptions of serving.speculative_tokens", "a step takes as long with a draft as without: memory-bound decode"),
        steps=(
            Step(
                operation="what it means: tokens per step over its time with the drafting, against one token a step",
                relation=lambda speculative_speedup, tokens_per_step, one_token, draft_tokens, draft_cost_ratio: (
                    speculative_speedup,
                    tokens_per_step / (one_token * (draft_tokens * draft_cost_ratio + 1)),
                ),
            ),
            Step(
                operation="the tokens expected of a step",
                premises=(at("#1"), at("serving.speculative_tokens")),
                eliminated=("tokens_per_step",),
            ),
        ),
        sources=(SPECULATIVE_PAPER,),
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
        defines="decode_rate_per_chip",
        relation=lambda decode_rate_per_chip, throughput, chips: (decode_rate_per_chip, throughput / chips),
        statement="What a replica delivers, shared over its chips.",
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
        assumptions=("both pools are busy all the time", "moving the cache between the pools costs nothing"),
        sources=(DISTSERVE_PAPER, SPLITWISE_PAPER),
    ),
)
