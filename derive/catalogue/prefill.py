"""Prefill: how long a prompt takes, attention and reads of the weights included, and what its tokens cost (lecture, 1:41:45 to 1:48:23)."""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.band_terms import ATTENTION_LEFT_OUT
from derive.catalogue.sources import CHUNKED_PREFILL_PAPER, DISTSERVE_PAPER, GPT_OSS_CARD, MOE_PAPER, ours, talk
from derive.records import BOUND, LOWER, Equation, Step, Variant, at
from derive.requirements import Requirement

_READ_ONCE_A_PASS = "the weights are read once a pass"
_PROMPT_IN_A_PASS = "prefill is many tokens in one pass: memory unchanged, compute times the new tokens"

EQUATIONS = (
    Equation(
        id="prefill.time",
        changes=("what launches and all-reduces take in every layer of every pass comes on top",),
        title="Time to compute a prompt",
        kind=BOUND,
        direction=LOWER,
        relation=lambda prefill_time, prefill_passes, overhead_time, prefill_batch, uncached_tokens, flop_per_mac_and_token,
            active_params, prefill_attention_factor,
            chips, peak_flops, mfu, prefill_decode_flops_ratio, prefill_weight_time: (
            prefill_time,
            prefill_passes * overhead_time
            + maximum(
                prefill_batch
                * uncached_tokens
                * flop_per_mac_and_token
                * active_params
                * prefill_attention_factor
                / (chips * peak_flops * mfu * prefill_decode_flops_ratio),
                prefill_weight_time,
            ),
        ),
        statement="The arithmetic of all its tokens with causal attention, or the weight reads if these are longer.",
        assumptions=(
            "no network",
            "arithmetic and memory traffic overlap perfectly",
            "chunks follow one another without a gap. Their reads of the cache are left out",
            "with pipeline stages, one of them computes at a time",
            ATTENTION_LEFT_OUT,
        ),
        result="270.4 ms",
        sources=(talk("1:41:45", "1:47:33", _PROMPT_IN_A_PASS), DISTSERVE_PAPER, ours("with attention and a read for every pass")),
    ),
    Equation(
        id="prefill.weight_time",
        changes=("of the weight read of a pass, sharded or resident",),
        title="Weight-read time of all passes of a prompt",
        variant=Variant(group="weight_time", name="sharded", default=True, holds_for=("resident", "replicated")),
        relation=lambda prefill_weight_time, prefill_passes, weight_time: (prefill_weight_time, prefill_passes * weight_time),
        statement="Each pass reads the weights, so small chunks of a prompt are memory-bound.",
        assumptions=(_READ_ONCE_A_PASS, "the assumptions of the weight time"),
        result="53.95 ms",
        sources=(CHUNKED_PREFILL_PAPER,),
    ),
    Equation(
        id="prefill.weight_time_touched",
        changes=(
            "what every token uses is read once in each attention replica",
            "experts and other weights may have widths of their own",
        ),
        title="Weight-read time of all passes of a prompt, with only the activated experts",
        variant=Variant(group="weight_time", name="touched", holds_for=("mixed",)),
        relation=lambda prefill_weight_time, prefill_passes, attention_replicas, shared_params, routed_params, active_experts,
            experts, prefill_batch, uncached_tokens, one_token, shared_bytes_per_weight, expert_bytes_per_weight, chips,
            hbm_bandwidth, mbu: (
            prefill_weight_time,
            prefill_passes
            * (
                attention_replicas * shared_params * shared_bytes_per_weight
                + routed_params
                * (1 - (1 - active_experts / experts) ** (prefill_batch * uncached_tokens / (one_token * prefill_passes)))
                * expert_bytes_per_weight
            )
            / (chips * hbm_bandwidth * mbu),
        ),
        requires=(
            Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token uses a part of all experts"),
        ),
        statement="Each pass reads the shared weights and the experts of its own tokens. Long prompts read all experts.",
        assumptions=(
            _READ_ONCE_A_PASS,
            "all experts are stored alike, and so is all beside them",
            "tokens choose their experts independently and evenly: skewed routing touches fewer",
        ),
        given={"uncached_tokens": "240", "chips": "32"},
        result="29.57 ms",
        derivation=lambda: (
            Step(
                operation="what it means: the shared parameters and the activated experts, once a pass",
                relation=lambda prefill_weight_time, prefill_passes, attention_replicas, shared_params, routed_params,
                    activated_experts, experts,
                    shared_bytes_per_weight, expert_bytes_per_weight, chips, hbm_bandwidth, mbu: (
                    prefill_weight_time,
                    prefill_passes
                    * (
                        attention_replicas * shared_params * shared_bytes_per_weight
                        + routed_params * activated_experts / experts * expert_bytes_per_weight
                    )
                    / (chips * hbm_bandwidth * mbu),
                ),
            ),
            Step(
                operation="the experts that the tokens of one pass use",
                premises=(
                    at("#1"),
                    at(
                        "experts.touched_experts",
                        batch="prefill_batch",
                        tokens_verified_per_step=lambda uncached_tokens, one_token, prefill_passes: (
                            uncached_tokens / (one_token * prefill_passes)
                        ),
                    ),
                ),
                eliminated=("activated_experts",),
            ),
        ),
        sources=(MOE_PAPER, GPT_OSS_CARD, CHUNKED_PREFILL_PAPER),
    ),
    Equation(
        id="prefill.time_to_first_token",
        title="Time to the first token",
        relation=lambda time_to_first_token, queue_time, prefill_time: (time_to_first_token, queue_time + prefill_time),
        statement="A request waits for its turn and then for its prompt, whose last pass yields the first token.",
        assumptions=(
            "prefill is not interleaved with decode. With chunked prefill each chunk needs the time of its decode step",
            "sending the cache to other chips that decode is not counted: the first token does not wait for it",
        ),
        result="257.4 ms",
        sources=(DISTSERVE_PAPER,),
    ),
    Equation(
        id="prefill.cost_per_token",
        title="Cost of a prompt token",
        relation=lambda prefill_cost_per_token, chips, chip_price, prefill_time, prefill_batch, uncached_tokens: (
            prefill_cost_per_token,
            chips * chip_price * prefill_time / (prefill_batch * uncached_tokens),
        ),
        statement="The chips are paid for the time of a prompt, and its uncached tokens share this cost.",
        assumptions=("prompts follow one another without a gap", "pipeline stages that do not compute this prompt compute another"),
        result="0.3841 USD/MTok",
        sources=(talk("1:41:45", "1:47:33", _PROMPT_IN_A_PASS), ours("the chip cost for this time, over the tokens")),
    ),
)
