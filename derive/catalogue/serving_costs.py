"""Serving, continued: attention in prefill, the mean context of decode, and the cost of an owned chip."""

from derive.catalogue.sources import KAPLAN_PAPER, PALM_PAPER, WAREHOUSE_BOOK, ours
from derive.records import Equation, Requirement, Step, Variant, at

COSTS = (
    Equation(
        id="serving.forward_flops",
        changes=("includes every kind of attention, also windows and selections. For a prompt in several passes it is their mean",),
        title="FLOPs of a causal pass over new tokens",
        relation=lambda forward_flops, flop_per_mac_and_token, active_params, new_tokens_per_pass, prefill_attention_flops_per_token,
            one_token: (
            forward_flops,
            flop_per_mac_and_token * active_params * new_tokens_per_pass
            + prefill_attention_flops_per_token * new_tokens_per_pass / one_token,
        ),
        statement="Each new token uses every active weight and attends to the tokens before it.",
        assumptions=("one sequence", "for a prompt in several passes, the mean of the passes"),
        result="1.699 PFLOP",
        sources=(KAPLAN_PAPER, PALM_PAPER),
    ),
    Equation(
        id="serving.uncached_tokens",
        title="Tokens of a prompt that are not in the cache",
        relation=lambda uncached_tokens, prompt_tokens, cache_hit_share: (uncached_tokens, prompt_tokens * (1 - cache_hit_share)),
        requires=(Requirement(holds=lambda cache_hit_share: cache_hit_share < 1),),
        statement="The tokens of a prompt that must be computed, in one pass or in several chunks.",
        result="2400 tokens",
        sources=(ours("the rest of the prompt"),),
    ),
    Equation(
        id="serving.cached_tokens",
        title="Tokens of a prompt that are found in the cache",
        relation=lambda cached_tokens, uncached_tokens, cache_hit_share: (
            cached_tokens,
            uncached_tokens * cache_hit_share / (1 - cache_hit_share),
        ),
        requires=(Requirement(holds=lambda cache_hit_share: cache_hit_share < 1),),
        statement="The ratio of cached to uncached tokens of a prompt equals the ratio of their shares.",
        result="3600 tokens",
        sources=(ours("as a function of the new tokens, which a pass knows"),),
    ),
    Equation(
        id="serving.prefill_attention_factor",
        changes=("includes everything that a prompt token attends to on average, also windows and selections",),
        title="Factor of attention on the compute time of a prompt",
        relation=lambda prefill_attention_factor, prefill_attention_flops_per_token, flop_per_weight, active_params,
            attention_rate_ratio: (
            prefill_attention_factor,
            1 + prefill_attention_flops_per_token / (flop_per_weight * active_params * attention_rate_ratio),
        ),
        statement="One plus the mean attention FLOPs of a prompt token over its FLOPs with the weights.",
        assumptions=("the mean over all new tokens of a prompt",),
        result="1.098",
        derivation=lambda: (
            Step(
                operation="the definition: FLOPs of a pass over the FLOPs with the weights alone",
                relation=lambda prefill_attention_factor, forward_flops, flop_per_mac_and_token, active_params, new_tokens_per_pass: (
                    prefill_attention_factor,
                    forward_flops / (flop_per_mac_and_token * active_params * new_tokens_per_pass),
                ),
            ),
            Step(
                operation="attention runs at the rate of its own data type",
                premises=(
                    at("#1"),
                    at(
                        "serving.forward_flops",
                        prefill_attention_flops_per_token=lambda prefill_attention_flops_per_token, attention_rate_ratio: (
                            prefill_attention_flops_per_token / attention_rate_ratio
                        ),
                    ),
                ),
                eliminated=("forward_flops", "new_tokens_per_pass"),
            ),
        ),
        sources=(ours("serving.forward_flops with attention over serving.forward_flops without it. Chunks do not change the mean"),),
    ),
    Equation(
        id="serving.mean_decode_context",
        title="Mean context of decode",
        variant=Variant(group="context_length", name="decode", default=True),
        stand_in=True,
        relation=lambda context_length, prompt_tokens, output_tokens: (context_length, prompt_tokens + output_tokens / 2),
        statement="From the first to the last output token, a sequence reads its whole prompt and on average half of its output.",
        assumptions=("requests are equal, and sequences are at random positions in their output", "the whole prompt stays in the context"),
        result="6250 tokens",
        sources=(ours("the mean of n_in + i over the n_out steps of a request"),),
    ),
    Equation(
        id="serving.context_of_prompt",
        title="Context at the end of a prompt",
        variant=Variant(group="context_length", name="prompt"),
        stand_in=True,
        relation=lambda context_length, prompt_tokens: (context_length, prompt_tokens),
        statement="At its first output token the context of a sequence is only its prompt.",
        assumptions=("the whole prompt stays in the context",),
        result="6000 tokens",
        sources=(ours("the first step of decode, and the tokens whose cache is sent to decode chips"),),
    ),
    Equation(
        id="serving.chip_price_from_capex",
        defined_elsewhere=True,
        title="Price of an owned chip for a second in use",
        relation=lambda chip_price, chip_capex, depreciation_time, fleet_utilisation, chip_power, power_usage_effectiveness,
            electricity_price: (
            chip_price,
            chip_capex / (depreciation_time * fleet_utilisation) + chip_power * power_usage_effectiveness * electricity_price,
        ),
        requires=(Requirement(holds=lambda power_usage_effectiveness: power_usage_effectiveness >= 1),),
        statement=(
            "The price of the chip is divided by its seconds in use, so idle seconds are included (fleet_utilisation). Electricity is"
            " added."
        ),
        assumptions=(
            "this is the price of a second in use, not of any second. Do not divide it by fleet_utilisation again",
            "the chip is written off evenly, without interest",
            "an idle chip draws no power",
            "staff, repair and licences are left out",
        ),
        given={"chip_capex": "40000 USD", "depreciation_time": "1460 d", "chip_power": "1300 W"},
        result="2.027 USD/h",
        sources=(WAREHOUSE_BOOK, ours("this is per second in use. Do not divide it by the utilisation again")),
    ),
    Equation(
        id="serving.rented_chip_price",
        title="Rent of a chip from the price of a second in use",
        relation=lambda rented_chip_price, chip_price, fleet_utilisation: (rented_chip_price, chip_price * fleet_utilisation),
        statement="Rent is also paid for idle seconds. The price of a second in use includes them.",
        assumptions=(
            "chip_price is for a second in use, not for any second. Do not divide it by fleet_utilisation again",
            "every chip is rented all the time at the same rent",
        ),
        given={"chip_price": "4.167 USD/h"},
        result="2.5 USD/h",
        sources=(ours("the tokens of the hours in use must cover the idle hours, as in serving.fleet_cost_per_token"),),
    ),
    Equation(
        id="serving.fleet_cost_per_token",
        title="Cost of a decoded token of a fleet that is sometimes idle",
        relation=lambda fleet_cost_per_token, cost_per_token, fleet_utilisation: (fleet_cost_per_token, cost_per_token / fleet_utilisation),
        statement="Rented chips also cost money while they are idle. The tokens of the hours in use must cover this.",
        assumptions=(
            "every chip is paid all the time at the same price",
            "do not use it with serving.chip_price_from_capex, which already includes the idle seconds",
        ),
        result="2.245 USD/MTok",
        sources=(ours("DeepSeek published a mean of 226.75 nodes in use and a peak of 278: 0.816 of what the peak needs"),),
    ),
)
