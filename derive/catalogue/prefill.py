"""Prefill: how long a prompt takes, attention and reads of the weights included, and what its tokens cost (lecture, 1:41:45 to 1:48:23)."""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.assumed import ATTENTION_LEFT_OUT
from derive.catalogue.sources import CHUNKED_PREFILL_PAPER, DISTSERVE_PAPER, GPT_OSS_CARD, MOE_PAPER, ours, talk
from derive.records import BOUND, LOWER, Equation, Requirement, Step, Variant, at

_READ_ONCE_A_PASS = "each pass reads the weights once"
_PROMPT_IN_A_PASS = "prefill is a pass of many tokens: memory time is the same, compute time grows"

EQUATIONS = (
    Equation(
        id="prefill.time",
        changes=("adds the time for launches and all-reduces in every layer of every pass",),
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
        statement="The longer of two times: the arithmetic of all tokens with causal attention, and the weight reads of all passes.",
        assumptions=(
            "no network",
            "arithmetic and memory traffic overlap perfectly",
            "chunks follow one another without a gap. Their reads of the cache are left out",
            "with pipeline stages, one stage computes at a time",
            ATTENTION_LEFT_OUT,
        ),
        result="270.4 ms",
        sources=(talk("1:41:45", "1:47:33", _PROMPT_IN_A_PASS), DISTSERVE_PAPER, ours("with attention, and a weight read in every pass")),
    ),
    Equation(
        id="prefill.weight_time",
        changes=("uses the weight-read time of a pass, for sharded or resident weights",),
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
            "weights that every token uses are read once in each attention replica",
            "experts and other weights may have different data types",
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
            Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token never uses all experts"),
        ),
        statement="Each pass reads the shared weights and the experts that its tokens use. Long prompts read all experts.",
        assumptions=(
            _READ_ONCE_A_PASS,
            "all experts have one data type, and all other weights have one",
            "tokens choose their experts independently and evenly. With uneven routing fewer experts are used",
        ),
        given={"uncached_tokens": "240", "chips": "32"},
        result="29.57 ms",
        derivation=lambda: (
            Step(
                operation="the definition: the shared parameters and the activated experts, once per pass",
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
        statement="A request waits in the queue, and then its prompt is computed. The last pass of the prompt yields the first token.",
        assumptions=(
            "prefill is not interleaved with decode. With chunked prefill each chunk needs the time of its decode step",
            "the time to send the cache to separate decode chips is not included, because the first token does not wait for it",
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
        statement="The uncached tokens of a prompt share the cost of the chips during its prefill.",
        assumptions=("prompts follow one another without a gap", "pipeline stages without this prompt compute another prompt"),
        result="0.3841 USD/MTok",
        sources=(talk("1:41:45", "1:47:33", _PROMPT_IN_A_PASS), ours("the cost of the chips for this time, over the number of tokens")),
    ),
)
