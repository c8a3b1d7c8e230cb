"""Serving: what a token costs (lecture, 0:12:40 to 0:15:49 and 1:34:03 to 1:47:33)."""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.band_terms import ATTENTION_LEFT_OUT
from derive.catalogue.serving_costs import COSTS
from derive.catalogue.serving_methods import METHODS
from derive.catalogue.serving_requests import REQUESTS
from derive.catalogue.serving_roofs import ROOFS
from derive.catalogue.sources import MOE_PAPER, ours, scaling_book, talk
from derive.catalogue.speculation import SPECULATION
from derive.records import BOUND, ESTIMATE, LOWER, Equation, Requirement, Step, Variant, at

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
