"""Serving, continued: attention in prefill, the mean context of decode, and what a chip costs that is owned."""

from derive.catalogue.sources import KAPLAN_PAPER, PALM_PAPER, WAREHOUSE_BOOK, ours
from derive.records import CONDITION, Equation, Step, at

COSTS = (
    Equation(
        id="serving.forward_flops",
        title="FLOPs of a causal pass over new tokens",
        defines="forward_flops",
        relation=lambda forward_flops, flop_per_mac_and_token, active_params, new_tokens_per_pass, prefill_attention_flops_per_pair,
            one_token, cached_tokens: (
            forward_flops,
            flop_per_mac_and_token * active_params * new_tokens_per_pass
            + prefill_attention_flops_per_pair * new_tokens_per_pass / one_token * (cached_tokens + new_tokens_per_pass / 2),
        ),
        statement="Each new token meets every active weight, all that is cached, and on average half of the new tokens.",
        assumptions=("one sequence", "many new tokens: of one alone, half of itself is attended to"),
        sources=(KAPLAN_PAPER, PALM_PAPER),
    ),
    Equation(
        id="serving.prefill_attention_factor",
        title="What attention adds to the compute time of a prompt",
        defines="prefill_attention_factor",
        relation=lambda prefill_attention_factor, prefill_attention_flops_per_pair, prompt_tokens, cache_hit_share, flop_per_weight,
            active_params, attention_rate_ratio: (
            prefill_attention_factor,
            1
            + prefill_attention_flops_per_pair
            * prompt_tokens
            * (1 + cache_hit_share)
            / (2 * flop_per_weight * active_params * attention_rate_ratio),
        ),
        statement="A token of a prompt that is all new attends to half of it on average, one after a cached part to more.",
        assumptions=("every prompt is as long, and finds the same share in the cache", "the mean over all new tokens of a prompt"),
        steps=(
            Step(
                operation="what it means: FLOPs of a pass over those with the weights alone",
                relation=lambda prefill_attention_factor, forward_flops, flop_per_mac_and_token, active_params, new_tokens_per_pass: (
                    prefill_attention_factor,
                    forward_flops / (flop_per_mac_and_token * active_params * new_tokens_per_pass),
                ),
            ),
            Step(
                operation="in one pass over what is not found in the cache, attention at the rate of its own data type",
                premises=(
                    at("#1", new_tokens_per_pass=lambda prompt_tokens, cache_hit_share: prompt_tokens * (1 - cache_hit_share)),
                    at(
                        "serving.forward_flops",
                        new_tokens_per_pass=lambda prompt_tokens, cache_hit_share: prompt_tokens * (1 - cache_hit_share),
                        cached_tokens=lambda prompt_tokens, cache_hit_share: prompt_tokens * cache_hit_share,
                        prefill_attention_flops_per_pair=lambda prefill_attention_flops_per_pair, attention_rate_ratio: (
                            prefill_attention_flops_per_pair / attention_rate_ratio
                        ),
                    ),
                ),
                eliminated=("forward_flops",),
            ),
        ),
        sources=(ours("serving.forward_flops with the prompt in its cached and its new part; chunks change nothing in the sum"),),
    ),
    Equation(
        id="serving.mean_decode_context",
        title="Mean context of decode",
        kind=CONDITION,
        relation=lambda context_length, prompt_tokens, output_tokens: (context_length, prompt_tokens + output_tokens / 2),
        statement="From the first output token to the last, a sequence reads its prompt and on average half of its output.",
        assumptions=("all requests alike, the sequences of a batch anywhere in their output", "the whole prompt stays in the context"),
        sources=(ours("the mean of n_in + i over the n_out steps of a request"),),
    ),
    Equation(
        id="serving.chip_price_from_capex",
        title="Price of a chip that is owned",
        relation=lambda chip_price, chip_capex, depreciation_time, fleet_utilisation, chip_power, power_usage_effectiveness,
            electricity_price: (
            chip_price,
            chip_capex / (depreciation_time * fleet_utilisation) + chip_power * power_usage_effectiveness * electricity_price,
        ),
        requires=(lambda power_usage_effectiveness: power_usage_effectiveness >= 1,),
        statement="A second in use pays for its share of the chip, written off over the seconds it is used, and for electricity.",
        assumptions=(
            "written off evenly, without interest",
            "no power is drawn while a chip is not in use",
            "staff, repair and licences left out",
        ),
        sources=(WAREHOUSE_BOOK, ours("per second in use: nothing else is to be divided by the utilisation again")),
    ),
    Equation(
        id="serving.fleet_cost_per_token",
        title="Cost of a decoded token of a fleet that is not always in use",
        defines="fleet_cost_per_token",
        relation=lambda fleet_cost_per_token, cost_per_token, fleet_utilisation: (fleet_cost_per_token, cost_per_token / fleet_utilisation),
        statement="Rented chips are paid while they wait for work too, and the tokens of the hours in use pay for it.",
        assumptions=(
            "every chip is paid all the time at the same price",
            "not with serving.chip_price_from_capex, whose second in use has paid for the others",
        ),
        sources=(ours("DeepSeek published a mean of 226.75 nodes in use and a peak of 278: 0.816 of what the peak needs"),),
    ),
)
