"""Serving: what a token costs (lecture, 0:12:40 to 0:15:49 and 1:34:03 to 1:47:33)."""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.assumed import ATTENTION_LEFT_OUT
from derive.catalogue.serving_methods import METHODS
from derive.catalogue.serving_requests import REQUESTS
from derive.catalogue.sources import (
    DISTSERVE_PAPER,
    KAPLAN_PAPER,
    MOE_PAPER,
    PALM_PAPER,
    ROOFLINE_PAPER,
    WAREHOUSE_BOOK,
    ours,
    scaling_book,
    talk,
)
from derive.catalogue.speculation import SPECULATION
from derive.records import BOUND, ESTIMATE, LOWER, Equation, Requirement, Step, Variant, at

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


_ONE_PASS = "each token is computed at least once. No stored answers are used"

ROOFS = (
    Equation(
        id="serving.peak_throughput",
        title="Largest throughput that the arithmetic of a replica allows",
        kind=BOUND,
        relation=lambda throughput, one_token, chips, pipeline_stages, peak_flops, mfu, flop_per_weight, active_params: (
            throughput,
            one_token * chips * pipeline_stages * peak_flops * mfu / (flop_per_weight * active_params),
        ),
        sense="<=",
        statement="Each token needs a multiply-add with every active weight, and the chips have a peak rate. So this is an upper bound.",
        assumptions=(_ONE_PASS, "attention and refused drafts need additional time"),
        result="39.09k token/s",
        derivation=lambda: (
            Step(
                operation="the chips only multiply with the weights, and each computed position yields a token",
                premises=(
                    at(
                        "batching.compute_utilisation_of_rate",
                        compute_utilisation=1,
                        idle_fraction=0,
                        tokens_per_step=lambda one_token, tokens_verified_per_step: one_token * tokens_verified_per_step,
                    ),
                ),
            ),
        ),
        sources=(ROOFLINE_PAPER, ours("the flat part of the roofline, in tokens per second")),
    ),
    Equation(
        id="serving.peak_prefill_rate",
        title="Largest prefill rate that the arithmetic of one chip allows",
        kind=BOUND,
        relation=lambda prefill_rate_per_chip, peak_flops, mfu, prefill_decode_flops_ratio, flop_per_mac_and_token, active_params,
            prefill_attention_factor: (
            prefill_rate_per_chip,
            peak_flops * mfu * prefill_decode_flops_ratio / (flop_per_mac_and_token * active_params * prefill_attention_factor),
        ),
        sense="<=",
        statement="For compute-bound prefill: the FLOP/s of a chip over the FLOPs of a token. The rate is at most this.",
        assumptions=("cached tokens are free and are not counted", ATTENTION_LEFT_OUT),
        result="1446 token/s",
        derivation=lambda: (
            Step(
                operation="the reads of the weights cost no time, nor do launches and all-reduces",
                premises=(at("serving.prefill_rate_per_chip", prefill_weight_time=0, overhead_time=0),),
            ),
        ),
        sources=(DISTSERVE_PAPER,),
    ),
)


EQUATIONS = (
    Equation(
        id="serving.cost_per_token",
        title="Cost of a decoded token",
        relation=lambda cost_per_token, chips, pipeline_stages, chip_price, throughput: (
            cost_per_token,
            chips * pipeline_stages * chip_price / throughput,
        ),
        statement="The chips of a replica cost money all the time. The output tokens of this time share the cost. Prompts between decode"
                  " steps are included.",
        assumptions=("every step is full. Idle time of the replica is not charged", "every token has the same cost"),
        changes=(
            "the cost includes stages that wait for hops or microbatches",
            "uses the throughput, so it is also valid with prompts on the same chips and for a measured rate",
        ),
        result="1.347 USD/MTok",
        sources=(
            talk("0:12:40", "0:15:29", "cost per token is time over batch, at about two dollars per GPU hour"),
            scaling_book("14,800 tokens per second on hardware for 16 dollars per hour cost 0.30 dollars per million"),
        ),
    ),
    Equation(
        id="serving.price_per_flop",
        title="Price of a FLOP",
        relation=lambda price_per_flop, chip_price, peak_flops, mfu: (price_per_flop, chip_price / (peak_flops * mfu)),
        statement="The price of a chip per second over the FLOPs that it sustains per second.",
        assumptions=("the chip does only arithmetic",),
        result="5.615e-19 USD/FLOP",
        sources=(ours("rent over sustained FLOP/s"),),
    ),
    Equation(
        id="serving.price_per_hbm_byte",
        title="Price of a byte read from HBM",
        relation=lambda price_per_hbm_byte, chip_price, hbm_bandwidth, mbu: (price_per_hbm_byte, chip_price / (hbm_bandwidth * mbu)),
        statement="The price of a chip per second over the bytes that it reads per second.",
        assumptions=("the chip only reads",),
        result="2.369e-16 USD/byte",
        sources=(ours("rent over sustained bandwidth. Between accelerators it differs less than rent or bandwidth"),),
    ),
    Equation(
        id="serving.normalised_cost_of_step",
        title="Step time over the arithmetic for its tokens",
        relation=lambda normalised_cost, step_time, one_token, compute_time, tokens_per_step: (
            normalised_cost,
            step_time * one_token / (compute_time * tokens_per_step),
        ),
        statement="The cost of a token as a multiple of its compute floor, with any overlap.",
        assumptions=("no pipeline stage is idle",),
        given={"tokens_per_step": "2.952"},
        result="2.96",
        sources=(ours("the definition of the ratio"),),
    ),
    Equation(
        id="serving.normalised_cost",
        defined_elsewhere=True,
        title="Cost of a decoded token over its compute floor",
        kind=BOUND,
        direction=LOWER,
        variant=Variant(group="overlap", name="max", default=True),
        relation=lambda normalised_cost, tokens_verified_per_step, attention_compute_ratio, weight_compute_ratio, kv_compute_ratio,
            drafting_time, overhead_time, compute_time, one_token, tokens_per_step: (
            normalised_cost,
            (
                maximum(tokens_verified_per_step * (1 + attention_compute_ratio), weight_compute_ratio + kv_compute_ratio)
                + (drafting_time + overhead_time) / compute_time
            )
            * one_token
            / tokens_per_step,
        ),
        statement="It is constant while compute-bound. Otherwise it is a hyperbola in the batch (weights) plus a line in the context (KV).",
        assumptions=("perfect overlap", "no pipeline stage waits"),
        changes=(
            "attention FLOPs and drafts are counted. Weight and KV reads are ratios to the arithmetic. It is a lower bound of the cost"
            " only with perfect overlap",
            "drafting is a time, like launches and all-reduces",
        ),
        given={"tokens_per_step": "2.952"},
        result="4.264",
        derivation=lambda: (
            Step(
                operation="by definition: the cost of a token over the cost of its arithmetic with the weights",
                relation=lambda normalised_cost, cost_per_token, batch, one_token, chips, chip_price, compute_time: (
                    normalised_cost,
                    cost_per_token * batch * one_token / (chips * chip_price * compute_time),
                ),
            ),
            Step(
                operation="the price of the chips cancels. If no stage waits, stages and microbatches also cancel",
                premises=(
                    at("#1"),
                    at("serving.cost_per_token", pipeline_stages=1),
                    at("scheduling.throughput", token_latency="step_time", microbatches=1),
                ),
                eliminated=("cost_per_token", "throughput"),
                relation=lambda normalised_cost, step_time, one_token, compute_time, tokens_per_step: (
                    normalised_cost,
                    step_time * one_token / (compute_time * tokens_per_step),
                ),
            ),
            Step(
                operation="the step, with every part in units of the linear arithmetic",
                premises=(
                    at("#2"),
                    at("roofline.step_time"),
                    at("roofline.memory_time"),
                    at("batching.weight_compute_ratio#1"),
                    at("context.kv_compute_ratio#1"),
                    at("context.attention_compute_ratio#1"),
                ),
                eliminated=("step_time", "memory_time", "weight_time", "kv_time", "attention_time"),
            ),
        ),
        sources=(
            talk(
                "1:34:03",
                "1:35:09",
                "cost is flat in the context, then rises linearly",
                "uses only ratios of times: no price, FLOP/s or bytes are needed",
            ),
        ),
    ),
    Equation(
        id="serving.prefill_normalised_cost",
        title="Cost of a token of a pass with many new tokens, over its compute floor",
        kind=BOUND,
        direction=LOWER,
        variant=Variant(group="overlap", name="max", default=True),
        relation=lambda prefill_normalised_cost, prefill_attention_factor, prefill_weight_compute_ratio, kv_compute_ratio,
            new_tokens_per_pass, one_token: (
            prefill_normalised_cost,
            maximum(prefill_attention_factor, (prefill_weight_compute_ratio + kv_compute_ratio) * one_token / new_tokens_per_pass),
        ),
        statement="New tokens share the reads. With a large batch, a few new tokens make the pass compute-bound. A single sequence needs"
                  " as many new tokens as the balance batch.",
        assumptions=("perfect overlap", "the KV of the new tokens stays on the chip", ATTENTION_LEFT_OUT),
        changes=(
            "the KV read is a ratio to the arithmetic. It is a lower bound only with perfect overlap",
            "attention of the new tokens is arithmetic",
            "uses the weights that a pass with this number of tokens reads. With all weights of a mixture it was not a lower bound",
        ),
        result="1.098",
        derivation=lambda: (
            Step(
                operation="the definition: arithmetic grows with the new tokens, and reads do not. The new tokens share both",
                relation=lambda prefill_normalised_cost, new_tokens_per_pass, one_token, compute_time, prefill_attention_factor,
                    weight_time, kv_time: (
                    prefill_normalised_cost,
                    maximum(compute_time * prefill_attention_factor * new_tokens_per_pass / one_token, weight_time + kv_time)
                    * one_token
                    / (compute_time * new_tokens_per_pass),
                ),
            ),
            Step(
                operation="the reads of the pass over the arithmetic of decode",
                premises=(
                    at("#1"),
                    at("batching.weight_compute_ratio#1", weight_compute_ratio="prefill_weight_compute_ratio"),
                    at("context.kv_compute_ratio#1"),
                ),
                eliminated=("weight_time", "kv_time"),
            ),
        ),
        sources=(talk("1:41:45", "1:47:33", "prefill is a pass of many tokens: memory time is the same, compute time grows"),),
    ),
    Equation(
        id="serving.prefill_normalised_cost_serial",
        changes=("attention of the new tokens is arithmetic", "reads only the weights that a pass of this number of tokens needs"),
        title="Cost of a token of a pass with many new tokens, over its compute floor, without overlap",
        kind=ESTIMATE,
        variant=Variant(group="overlap", name="sum"),
        relation=lambda prefill_normalised_cost, prefill_attention_factor, prefill_weight_compute_ratio, kv_compute_ratio,
            new_tokens_per_pass, one_token: (
            prefill_normalised_cost,
            prefill_attention_factor + (prefill_weight_compute_ratio + kv_compute_ratio) * one_token / new_tokens_per_pass,
        ),
        statement="Without overlap, the reads add to the arithmetic, and the new tokens share both.",
        assumptions=("no overlap at all", "the KV of the new tokens stays on the chip", ATTENTION_LEFT_OUT),
        result="1.102",
        sources=(ours("serving.prefill_normalised_cost with the two times added"),),
    ),
    Equation(
        id="serving.prefill_weight_compute_ratio_touched",
        changes=(
            ("uses the weight read of decode, in which the busiest chip reads at most its own experts, with or without drafts. Before, a"
             " larger imbalance had no answer"),
        ),
        title="Weight time of a pass with many new tokens over compute time of decode, with only the activated experts",
        variant=Variant(group="weight_time", name="touched", holds_for=("mixed",)),
        relation=lambda prefill_weight_compute_ratio, balance_batch, batch, weight_compute_ratio, active_experts, experts,
            new_tokens_per_pass, one_token, tokens_verified_per_step: (
            prefill_weight_compute_ratio,
            balance_batch / batch
            - (balance_batch / batch - weight_compute_ratio)
            * (1 - active_experts / experts) ** (batch * (new_tokens_per_pass / one_token - tokens_verified_per_step)),
        ),
        requires=(
            Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token uses a part of all experts"),
            Requirement(holds=lambda batch: batch >= 1, otherwise="a batch is at least one sequence"),
            Requirement(
                holds=lambda weight_compute_ratio, balance_batch, batch: weight_compute_ratio <= balance_batch / batch,
                otherwise="decode reads no more than all weights",
            ),
        ),
        statement="A pass reads the weights of a decode step, and the experts that the further tokens of the sequences use.",
        assumptions=(
            "tokens choose their experts independently and evenly. With uneven routing fewer experts are used",
            "the busiest chip is the one of decode. With more tokens it may be another one",
        ),
        given={
            "balance_batch": "3828", "batch": "32", "weight_compute_ratio": "114.4", "new_tokens_per_pass": "4",
            "tokens_verified_per_step": "2",
        },
        result="118.9",
        derivation=lambda: (
            Step(
                operation="the definition: all weights except experts that neither decode nor a further token uses",
                relation=lambda prefill_weight_compute_ratio, balance_batch, batch, weight_compute_ratio, activated_experts, experts: (
                    prefill_weight_compute_ratio,
                    balance_batch / batch - (balance_batch / batch - weight_compute_ratio) * (1 - activated_experts / experts),
                ),
            ),
            Step(
                operation="experts that the further tokens use",
                premises=(
                    at("#1"),
                    at(
                        "experts.touched_experts",
                        batch=lambda batch, new_tokens_per_pass, one_token, tokens_verified_per_step: (
                            batch * (new_tokens_per_pass / one_token - tokens_verified_per_step)
                        ),
                        tokens_verified_per_step=1,
                    ),
                ),
                eliminated=("activated_experts",),
            ),
        ),
        sources=(MOE_PAPER, ours("with one new token it equals decode, with many tokens all weights are read")),
    ),
    *METHODS,
    *ROOFS,
    *COSTS,
    *SPECULATION,
    *REQUESTS,
)
