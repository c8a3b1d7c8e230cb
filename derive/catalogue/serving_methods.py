"""Serving, continued: prefill in chunks, and prefill and decode on separate chips."""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.assumed import ATTENTION_LEFT_OUT, PART_OF_A_STEP
from derive.catalogue.sources import CHUNKED_PREFILL_PAPER, DISTSERVE_PAPER, MOE_PAPER, SPLITWISE_PAPER, ours, talk
from derive.records import BOUND, ESTIMATE, LOWER, UPPER, Equation, Requirement, Step, Variant, at

_OF_CHUNKS = (
    "the mean of the chunks of a prompt",
    "KV reads of the chunk are left out",
    ATTENTION_LEFT_OUT,
    "compute_time is for the decoding sequences",
)
"""What is assumed of a step with a chunk of prefill."""
_WEIGHTS_LEFT = (
    Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token uses a part of all experts"),
    Requirement(
        holds=lambda weight_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu: (
            weight_time <= bytes_per_weight * total_params / (chips * hbm_bandwidth * mbu)
        ),
        otherwise="decode reads no more than all weights",
    ),
)
"""Decode may leave weights unread that the chunk reads."""
_MEMORY_BOUND = Requirement(
    holds=lambda memory_time, tokens_verified_per_step, compute_time, attention_time: (
        memory_time > tokens_verified_per_step * (attention_time + compute_time)
    ),
    otherwise="the step is compute-bound, so no prefill token is free",
)

METHODS = (
    Equation(
        id="serving.prefill_compute_time",
        changes=("attention is a factor, which may be large in long prompts",),
        title="Compute time of a pass with many new tokens",
        relation=lambda prefill_compute_time, compute_time, new_tokens_per_pass, one_token, prefill_attention_factor: (
            prefill_compute_time,
            compute_time * new_tokens_per_pass / one_token * prefill_attention_factor,
        ),
        statement="Arithmetic grows with the new tokens of each sequence. Reads from memory do not grow.",
        assumptions=("the KV of the new tokens stays on the chip", "mfu is for prefill", ATTENTION_LEFT_OUT),
        result="7.19 s",
        sources=(talk("1:41:45", "1:47:33", "prefill is a pass of many tokens: memory time is the same, compute time grows"),),
    ),
    Equation(
        id="serving.compute_bound_chunk",
        title="New tokens that make a pass compute-bound",
        relation=lambda compute_bound_chunk, one_token, balance_batch, batch, kv_compute_ratio, prefill_attention_factor: (
            compute_bound_chunk,
            one_token * (balance_batch / batch + kv_compute_ratio) / prefill_attention_factor,
        ),
        statement="The number of new tokens per sequence equals the memory time of decode over its compute time.",
        assumptions=("perfect overlap", ATTENTION_LEFT_OUT, "every weight is read, as in a pass of many tokens"),
        changes=(
            "the KV read is a ratio to the arithmetic, so windows and selections are included",
            "attention of the new tokens is arithmetic, so fewer tokens are needed",
        ),
        given={"balance_batch": "211"},
        result="6.922 tokens",
        derivation=lambda: (
            Step(
                operation="at this chunk the arithmetic needs the same time as the reads",
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
                operation="the reads over the arithmetic, the weight read in terms of the balance batch",
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
                "the output/input ratio, if it is read as memory over compute",
            ),
        ),
    ),
    Equation(
        id="serving.mixed_step_time",
        title="Step time with a chunk of prefill",
        kind=BOUND,
        direction=LOWER,
        variant=Variant(group="overlap", name="max", default=True),
        relation=lambda mixed_step_time, overhead_time, drafting_time, tokens_verified_per_step, compute_time, attention_time,
            prefill_chunk, one_token, batch, prefill_attention_factor, mixed_memory_time: (
            mixed_step_time,
            overhead_time
            + drafting_time
            + maximum(
                tokens_verified_per_step * (compute_time + attention_time)
                + compute_time * prefill_attention_factor * prefill_chunk / (one_token * batch),
                mixed_memory_time,
            ),
        ),
        statement="The tokens of the chunk use the weights that decode reads anyway. They add arithmetic, and reads of their own experts.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            *_OF_CHUNKS,
        ),
        changes=(
            "attention FLOPs and drafts of the decoding sequences count",
            "attention FLOPs of the chunk count",
            "includes the experts that the chunk uses. With only those of decode, a chunk in a small batch was much too fast",
            "the time of launches and all-reduces in every layer is added",
        ),
        result="60.32 ms",
        sources=(CHUNKED_PREFILL_PAPER,),
    ),
    Equation(
        id="serving.mixed_step_time_serial",
        changes=("the time of launches and all-reduces in every layer is added",),
        title="Step time with a chunk of prefill, with no overlap",
        kind=ESTIMATE,
        variant=Variant(group="overlap", name="sum"),
        relation=lambda mixed_step_time, overhead_time, drafting_time, tokens_verified_per_step, compute_time, attention_time,
            prefill_chunk, one_token, batch, prefill_attention_factor, mixed_memory_time: (
            mixed_step_time,
            overhead_time
            + drafting_time
            + tokens_verified_per_step * (compute_time + attention_time)
            + compute_time * prefill_attention_factor * prefill_chunk / (one_token * batch)
            + mixed_memory_time,
        ),
        statement="Without overlap, the arithmetic of the chunk adds to the arithmetic of decode and to all reads.",
        assumptions=(
            "no overlap at all",
            *_OF_CHUNKS,
        ),
        result="85.2 ms",
        sources=(ours("serving.mixed_step_time with the two times added"),),
    ),
    Equation(
        id="serving.mixed_step_time_exposed",
        changes=("the time of launches and all-reduces in every layer is added",),
        title="Step time with a chunk of prefill, with exposed communication",
        kind=ESTIMATE,
        variant=Variant(group="overlap", name="exposed"),
        relation=lambda mixed_step_time, overhead_time, drafting_time, tokens_verified_per_step, compute_time, attention_time,
            prefill_chunk, one_token, batch, prefill_attention_factor, mixed_memory_time, exposed_communication_share: (
            mixed_step_time,
            overhead_time
            + drafting_time
            + maximum(
                tokens_verified_per_step * (compute_time + attention_time)
                + compute_time * prefill_attention_factor * prefill_chunk / (one_token * batch),
                mixed_memory_time,
            )
            / (1 - exposed_communication_share),
        ),
        requires=(PART_OF_A_STEP,),
        statement="Communication and launches add their share of the step, because no computation hides them.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "the share was measured on a similar step",
            *_OF_CHUNKS,
        ),
        result="71.32 ms",
        sources=(ours("serving.mixed_step_time with a measured share instead of a model of the network"),),
    ),
    Equation(
        id="serving.mixed_memory_time_touched",
        title="Memory time of a step with a chunk of prefill, with only the activated experts",
        variant=Variant(group="weight_time", name="touched", holds_for=("mixed",)),
        relation=lambda mixed_memory_time, memory_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu, weight_time,
            active_experts, experts, prefill_chunk, one_token: (
            mixed_memory_time,
            memory_time
            + (total_params * bytes_per_weight / (chips * hbm_bandwidth * mbu) - weight_time)
            * (1 - (1 - active_experts / experts) ** (prefill_chunk / one_token)),
        ),
        requires=_WEIGHTS_LEFT,
        statement="The step also reads experts that the chunk uses but decode does not.",
        assumptions=(
            "tokens choose their experts independently and evenly. With uneven routing fewer experts are used",
            "the busiest chip is the one of decode. With a chunk it may be another one",
            "KV reads of the chunk are left out",
        ),
        given={"memory_time": "8.675 ms", "total_params": "671B", "chips": "32", "weight_time": "8.555 ms", "prefill_chunk": "64"},
        result="9.011 ms",
        derivation=lambda: (
            Step(
                operation="the definition: decode does not read some weights. The chunk alone reads this share of them",
                relation=lambda mixed_memory_time, memory_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu, weight_time,
                    activated_experts, experts: (
                    mixed_memory_time,
                    memory_time
                    + (total_params * bytes_per_weight / (chips * hbm_bandwidth * mbu) - weight_time) * activated_experts / experts,
                ),
            ),
            Step(
                operation="experts that the tokens of the chunk touch",
                premises=(
                    at("#1"),
                    at(
                        "experts.touched_experts",
                        batch=lambda prefill_chunk, one_token: prefill_chunk / one_token,
                        tokens_verified_per_step=1,
                    ),
                ),
                eliminated=("activated_experts",),
            ),
        ),
        sources=(MOE_PAPER, ours("whether a token of the chunk uses an expert is independent of the other tokens")),
    ),
    Equation(
        id="serving.free_prefill_chunk",
        title="Prefill tokens that add no time to a memory-bound step",
        variant=Variant(group="weight_time", name="sharded", default=True, holds_for=("resident", "replicated")),
        relation=lambda free_prefill_chunk, batch, one_token, memory_time, tokens_verified_per_step, compute_time, attention_time,
            prefill_attention_factor: (
            free_prefill_chunk,
            batch
            * one_token
            * (memory_time - tokens_verified_per_step * (compute_time + attention_time))
            / (compute_time * prefill_attention_factor),
        ),
        requires=(_MEMORY_BOUND,),
        statement="Up to this chunk a memory-bound decode step is as fast as without it.",
        assumptions=("perfect overlap", "the assumptions of serving.mixed_step_time", "every weight is read with any chunk"),
        changes=(
            "attention FLOPs and drafts of the decoding sequences make the free chunk smaller",
            "attention FLOPs of the chunk count too",
            "valid if every weight is read anyway. Otherwise the chunk also reads its own experts",
        ),
        result="171.8 tokens",
        derivation=lambda: (
            Step(
                operation="arithmetic and reads of the mixed step need the same time",
                premises=(
                    at(
                        "roofline.compute_time",
                        batch=lambda tokens_verified_per_step, batch, prefill_attention_factor, free_prefill_chunk, one_token: (
                            tokens_verified_per_step * batch + prefill_attention_factor * free_prefill_chunk / one_token
                        ),
                        compute_time=lambda memory_time, tokens_verified_per_step, attention_time: (
                            memory_time - tokens_verified_per_step * attention_time
                        ),
                    ),
                    at("roofline.compute_time"),
                ),
                eliminated=("active_params",),
            ),
        ),
        sources=(CHUNKED_PREFILL_PAPER, ours("a token of the chunk counts like a sequence with one more token, with its attention")),
    ),
    Equation(
        id="serving.free_prefill_chunk_touched",
        defined_elsewhere=True,
        title="Prefill tokens whose arithmetic is hidden by the reads, with only the activated experts",
        variant=Variant(group="weight_time", name="touched", holds_for=("mixed",)),
        relation=lambda memory_time, tokens_verified_per_step, compute_time, attention_time, prefill_attention_factor, free_prefill_chunk,
            one_token, batch, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu, weight_time, active_experts, experts: (
            memory_time,
            tokens_verified_per_step * (compute_time + attention_time)
            + compute_time * prefill_attention_factor * free_prefill_chunk / (one_token * batch)
            - (total_params * bytes_per_weight / (chips * hbm_bandwidth * mbu) - weight_time)
            * (1 - (1 - active_experts / experts) ** (free_prefill_chunk / one_token)),
        ),
        requires=(*_WEIGHTS_LEFT, _MEMORY_BOUND),
        statement="Up to this chunk, its arithmetic needs no more time than the reads. The reads of its own experts are not free.",
        assumptions=("perfect overlap", "the assumptions of serving.mixed_step_time"),
        given={
            "tokens_verified_per_step": "2", "compute_time": "74.79 us", "attention_time": "274.7 us", "prefill_attention_factor": "1.648",
            "free_prefill_chunk": "2170", "batch": "32", "total_params": "671B", "chips": "32", "weight_time": "8.555 ms",
        },
        result="8.67 ms",
        derivation=lambda: (
            Step(
                operation="arithmetic and reads of the mixed step need the same time",
                premises=(
                    at(
                        "serving.mixed_memory_time_touched#1",
                        mixed_memory_time=lambda tokens_verified_per_step, compute_time, attention_time, prefill_attention_factor,
                            free_prefill_chunk, one_token, batch: (
                            tokens_verified_per_step * (compute_time + attention_time)
                            + compute_time * prefill_attention_factor * free_prefill_chunk / (one_token * batch)
                        ),
                    ),
                ),
                relation=lambda memory_time, tokens_verified_per_step, compute_time, attention_time, prefill_attention_factor,
                    free_prefill_chunk, one_token, batch, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu, weight_time,
                    activated_experts, experts: (
                    memory_time,
                    tokens_verified_per_step * (compute_time + attention_time)
                    + compute_time * prefill_attention_factor * free_prefill_chunk / (one_token * batch)
                    - (total_params * bytes_per_weight / (chips * hbm_bandwidth * mbu) - weight_time) * activated_experts / experts,
                ),
            ),
            Step(
                operation="experts that the tokens of the chunk touch",
                premises=(
                    at("#1"),
                    at(
                        "experts.touched_experts",
                        batch=lambda free_prefill_chunk, one_token: free_prefill_chunk / one_token,
                        tokens_verified_per_step=1,
                    ),
                ),
                eliminated=("activated_experts",),
            ),
        ),
        sources=(CHUNKED_PREFILL_PAPER, ours("no closed form, because the reads also grow with the chunk")),
    ),
    Equation(
        id="serving.prefill_rate_per_chip",
        changes=(
            "attention has its own factor. Prefill sustains prefill_decode_flops_ratio times the mfu of decode",
            "computed from prefill_time. By arithmetic alone, memory-bound prompts were up to 28 times too fast",
            "adds the time for launches and all-reduces in every layer of every pass",
        ),
        title="Prefill rate of one chip",
        kind=BOUND,
        direction=UPPER,
        relation=lambda prefill_rate_per_chip, prefill_batch, uncached_tokens, chips, flop_per_mac_and_token, active_params,
            prefill_attention_factor, peak_flops, mfu, prefill_decode_flops_ratio, prefill_weight_time, prefill_passes, overhead_time: (
            prefill_rate_per_chip,
            1
            / (
                maximum(
                    flop_per_mac_and_token * active_params * prefill_attention_factor / (peak_flops * mfu * prefill_decode_flops_ratio),
                    chips * prefill_weight_time / (prefill_batch * uncached_tokens),
                )
                + chips * prefill_passes * overhead_time / (prefill_batch * uncached_tokens)
            ),
        ),
        statement="The FLOP/s of a chip over the FLOPs of a token. If prefill is memory-bound, the rate is the tokens of a pass over the"
                  " weight-read time.",
        assumptions=(
            "prompts follow one another without a gap",
            "the assumptions of prefill.time",
            "cached tokens are free and are not counted",
            ATTENTION_LEFT_OUT,
        ),
        result="1109 token/s",
        derivation=lambda: (
            Step(
                operation="the tokens of a pass over its time",
                relation=lambda prefill_rate_per_chip, prefill_batch, uncached_tokens, prefill_time, chips: (
                    prefill_rate_per_chip,
                    prefill_batch * uncached_tokens / (prefill_time * chips),
                ),
            ),
            Step(operation="the time of a prompt", premises=(at("#1"), at("prefill.time")), eliminated=("prefill_time",)),
        ),
        sources=(DISTSERVE_PAPER,),
    ),
    Equation(
        id="serving.prefill_throughput",
        title="Prefill rate of a replica",
        relation=lambda prefill_throughput, prefill_rate_per_chip, chips, pipeline_stages: (
            prefill_throughput,
            prefill_rate_per_chip * chips * pipeline_stages,
        ),
        statement="The rate of one chip times the chips of all stages.",
        assumptions=("every stage computes all the time: prompts follow one another without a gap",),
        result="46.27k token/s",
        sources=(SPLITWISE_PAPER,),
    ),
    Equation(
        id="serving.decode_rate_per_chip",
        title="Decode rate of one chip",
        relation=lambda decode_rate_per_chip, throughput, chips, pipeline_stages: (
            decode_rate_per_chip,
            throughput / (chips * pipeline_stages),
        ),
        statement="The throughput of a replica over the chips of all its stages.",
        changes=("the chips of all stages share the throughput",),
        result="412.5 token/s",
        sources=(SPLITWISE_PAPER,),
    ),
    Equation(
        id="serving.prefill_decode_chip_ratio",
        changes=("tokens found in the cache are not prefilled again",),
        title="Prefill over decode chips",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda prefill_decode_chip_ratio, prompt_tokens, cache_hit_share, decode_rate_per_chip, output_tokens,
            prefill_rate_per_chip: (
            prefill_decode_chip_ratio,
            prompt_tokens * (1 - cache_hit_share) * decode_rate_per_chip / (output_tokens * prefill_rate_per_chip),
        ),
        requires=(Requirement(holds=lambda cache_hit_share: cache_hit_share < 1),),
        statement="Prefill and decode have separate chips. With this ratio neither waits for the other. Cached tokens are not prefilled.",
        assumptions=(
            "both groups are busy all the time",
            "sending the cache between the groups is free",
            "all requests are equal, or the mean is used",
        ),
        given={"decode_rate_per_chip": "412.5 token/s"},
        result="1.369",
        sources=(DISTSERVE_PAPER, SPLITWISE_PAPER),
    ),
)
