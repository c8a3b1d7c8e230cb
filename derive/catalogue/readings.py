"""Readings: the inferences of the lecture from a price sheet (1:35:23 to 1:48:23), each one a condition. They contradict each other. By the
threshold readings decode is compute-bound up to the threshold, so the output/input ratio is 1 to 1.5 there. The ratio reading explains the
ratios of real sheets (2 to 8) by memory-bound decode at all lengths. A reading is used in a chain only if it is named.
"""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.assumed import BAND_MEANS, DENSE, ONE_COPY
from derive.catalogue.sources import flashcard, ours, talk
from derive.records import CONDITION, Equation, Requirement, Step, at

_KV_ALONE = {
    **{"weight_compute_ratio": 0, "attention_compute_ratio": 0, "drafting_time": 0, "overhead_time": 0},
    **{"tokens_verified_per_step": 1, "tokens_per_step": 1},
}
"""A step with one token per sequence that only reads caches: no weights, no attention FLOPs, no drafts."""

EQUATIONS = (
    Equation(
        id="readings.threshold_is_crossover",
        title="KV bytes from the threshold: KV read equals compute",
        kind=CONDITION,
        rule="the reading that KV reads equal compute at the threshold",
        relation=lambda kv_bytes_per_token, active_params, bytes_per_weight, machine_balance_ratio,
            long_context_threshold: (
            kv_bytes_per_token,
            active_params * bytes_per_weight / (machine_balance_ratio * long_context_threshold),
        ),
        statement="If the long-context price starts where the KV read becomes longer than compute, the threshold gives KV bytes.",
        assumptions=("the threshold is the crossover of the costs", "weight reads are left out", DENSE, "mfu = mbu", ONE_COPY),
        given={"active_params": "100B"},
        result="1.667 kB/token",
        derivation=lambda: (
            Step(
                operation="the threshold is the balance context, at equal utilisations",
                premises=(
                    at("context.balance_context", balance_context="long_context_threshold", mfu=1, mbu=1, kv_replication=1),
                    at("batching.machine_balance_ratio"),
                ),
                eliminated=("ridge_point",),
            ),
        ),
        sources=(
            talk(
                "1:36:01",
                "1:38:27",
                "100 B over 300 times 200 k is 1,667 bytes, almost two kilobytes",
                "compares KV reads with compute, as on the board. It includes the bytes per weight behind the 300: 1,667 is one byte per"
                " weight, 833 is fp4, 3,333 is bf16",
            ),
            flashcard("card on KV bytes", "1.7 KB", "some summaries compare KV reads with weight reads, but the lecture computed this"),
        ),
    ),
    Equation(
        id="readings.threshold_is_weight_crossover",
        title="KV bytes from the threshold: KV read equals weight read",
        kind=CONDITION,
        rule="the reading that KV reads equal weight reads at the threshold",
        relation=lambda kv_bytes_per_token, total_params, bytes_per_weight, batch, long_context_threshold: (
            kv_bytes_per_token,
            total_params * bytes_per_weight / (batch * long_context_threshold),
        ),
        statement="Some summaries use this reading: at the threshold the batch reads as many KV bytes as weight bytes.",
        assumptions=(
            "at the threshold the KV read equals the weight read",
            "the assumptions of the weight time",
            ONE_COPY,
        ),
        given={"total_params": "1T", "batch": "2000"},
        result="2.5 kB/token",
        derivation=lambda: (
            Step(
                operation="at the threshold the KV read needs the same time as the weight read",
                premises=(
                    at("roofline.kv_time", context_length="long_context_threshold", kv_time="weight_time", kv_replication=1),
                    at("roofline.weight_time"),
                ),
                eliminated=("weight_time",),
            ),
        ),
        sources=(
            ours("some public summaries use this reading. It equals the lecture's reading only at the balance batch, and is half of it at"
                 " twice that batch"),
        ),
    ),
    Equation(
        id="readings.threshold_with_weights",
        title="KV bytes from the threshold, with weight reads",
        kind=CONDITION,
        rule="the reading that KV and weight reads equal compute at the threshold",
        relation=lambda kv_bytes_per_token, batch_multiple, active_params, bytes_per_weight,
            machine_balance_ratio, long_context_threshold: (
            kv_bytes_per_token,
            (1 - 1 / batch_multiple) * active_params * bytes_per_weight / (machine_balance_ratio * long_context_threshold),
        ),
        requires=(Requirement(holds=lambda batch_multiple: batch_multiple > 1),),
        statement="At m balance batches the weight read needs 1/m of the compute time. The KV read has only the rest.",
        assumptions=(
            "the threshold is the exact crossover of memory and compute time",
            "mfu = mbu",
            "attention FLOPs left out",
            DENSE,
            ONE_COPY,
        ),
        given={"batch_multiple": "2", "active_params": "100B"},
        result="833.3 B/token",
        derivation=lambda: (
            Step(
                operation="at the threshold the batch is the balance batch with KV reads",
                premises=(
                    at(
                        "batching.balance_batch_with_kv",
                        balance_batch_with_kv="batch",
                        attention_compute_ratio=0,
                        kv_compute_ratio=lambda long_context_threshold, balance_context: long_context_threshold / balance_context,
                    ),
                    at("batching.practical_batch"),
                ),
                eliminated=("batch", "balance_batch"),
                relation=lambda long_context_threshold, balance_context, batch_multiple: (
                    long_context_threshold,
                    balance_context * (1 - 1 / batch_multiple),
                ),
            ),
            Step(
                operation="the balance context as a function of KV bytes, at equal utilisations",
                premises=(at("#1"), at("context.balance_context", mfu=1, mbu=1, kv_replication=1), at("batching.machine_balance_ratio")),
                eliminated=("balance_context", "ridge_point"),
            ),
        ),
        sources=(ours("at the lecture's own two to three balance batches the plain reading is 1.5 to 2 times too high"),),
    ),
    Equation(
        id="readings.bandwidth_bound_fraction",
        changes=("equal prices are allowed. Decode then leaves no compute idle",),
        title="Bandwidth-bound fraction of decode",
        kind=CONDITION,
        rule="the reading of output/input price as idle compute of decode",
        relation=lambda bandwidth_bound_fraction, output_input_ratio: (bandwidth_bound_fraction, 1 - 1 / output_input_ratio),
        requires=(Requirement(holds=lambda output_input_ratio: output_input_ratio >= 1),),
        statement="If an output token costs R input tokens, decode leaves this share of its compute idle: 0.8 at R = 5.",
        assumptions=("the assumptions of readings.output_input_ratio",),
        result="0.8333",
        sources=(
            talk("1:47:56", "1:48:23", "this would be at 1 and this would be at 5", "the name and the form 1 - 1/R are ours"),
            flashcard("card on output price", "decode runs at a fifth of the utilisation of prefill"),
        ),
    ),
    Equation(
        id="readings.price_ratio",
        title="Output over input price",
        relation=lambda output_input_ratio, output_price, input_price: (output_input_ratio, output_price / input_price),
        statement="All readings of decode start from this ratio: 2 to 8 on current sheets.",
        assumptions=("both prices are of the same band",),
        given={"output_price": "12 USD/MTok"},
        result="6",
        sources=(talk("1:41:33", "1:41:42", "output costs three to five times input"),),
    ),
    Equation(
        id="readings.output_input_ratio",
        changes=("the tokens of a step share its reads. With more than one token, R is smaller by their number",),
        title="Output/input ratio as memory over compute",
        kind=CONDITION,
        rule="the reading of output/input price as memory time over compute time",
        relation=lambda output_input_ratio, balance_batch, batch, context_length, balance_context, one_token, tokens_per_step: (
            output_input_ratio,
            (balance_batch / batch + context_length / balance_context) * one_token / tokens_per_step,
        ),
        requires=(Requirement(holds=lambda output_input_ratio: output_input_ratio >= 1),),
        statement="If prefill is compute-bound, decode is memory-bound and both have the same price/cost, R is the memory time of a step"
                  " over the compute time of its tokens.",
        assumptions=("one price/cost of input and output", "memory-bound decode, compute-bound prefill", "no attention FLOPs", DENSE),
        given={"balance_batch": "2400", "batch": "240", "context_length": "60k"},
        result="5.983",
        derivation=lambda: (
            Step(
                operation="the claim: a prompt token costs its arithmetic, the tokens of a step cost its reads, and price/cost is the same",
                relation=lambda output_input_ratio, memory_time, compute_time, one_token, tokens_per_step: (
                    output_input_ratio,
                    memory_time * one_token / (compute_time * tokens_per_step),
                ),
            ),
            Step(
                operation="the reads over the arithmetic, as a function of the two balance points",
                premises=(
                    at("#1"),
                    at("roofline.memory_time"),
                    at("batching.weight_compute_ratio#1"),
                    at("batching.weight_compute_ratio"),
                    at("context.kv_compute_ratio#1"),
                    at("context.kv_compute_ratio"),
                ),
                eliminated=("memory_time", "weight_time", "kv_time", "compute_time", "weight_compute_ratio", "kv_compute_ratio"),
            ),
        ),
        sources=(
            talk(
                "1:47:56",
                "1:48:23",
                "the ratio of output to input price is the ratio of memory to compute time",
                "a contradiction: by threshold_is_crossover at two balance batches it is at most 1.5 at the threshold",
            ),
        ),
    ),
    Equation(
        id="readings.joint_slope",
        changes=("the tokens of a step share its reads. The earlier balance context was too long by their number",),
        title="Balance context from the output premium",
        kind=CONDITION,
        rule="the joint reading of output price and premium",
        relation=lambda balance_context, long_context, short_context, one_token, output_input_ratio, tokens_per_step, premium_out: (
            balance_context,
            (long_context - short_context) * one_token / (output_input_ratio * tokens_per_step * (premium_out - 1)),
        ),
        requires=(
            Requirement(holds=lambda long_context, short_context: long_context > short_context),
            Requirement(holds=lambda premium_out: premium_out > 1),
        ),
        statement="Two bands give two points on the line of memory time. The slope of this line is one over the balance context.",
        assumptions=(*BAND_MEANS, "attention FLOPs left out", DENSE),
        result="51.85k tokens",
        derivation=lambda: (
            Step(
                operation="the output/input ratio at the two band means. The weight read is the same in both",
                premises=(
                    at("readings.output_input_ratio", context_length="short_context"),
                    at(
                        "readings.output_input_ratio",
                        context_length="long_context",
                        output_input_ratio=lambda output_input_ratio, premium_out: output_input_ratio * premium_out,
                    ),
                ),
                eliminated=("balance_batch", "batch"),
            ),
        ),
        sources=(
            ours("readings.output_input_ratio at the two band means. It resolves the contradiction between the lecture's two readings"),
        ),
    ),
    Equation(
        id="readings.joint_intercept",
        changes=("the tokens of a step share its reads",),
        title="Batch from the output/input ratio and the balance context",
        kind=CONDITION,
        rule="the joint reading of output price and premium",
        relation=lambda weight_compute_ratio, output_input_ratio, tokens_per_step, one_token, short_context, balance_context: (
            weight_compute_ratio,
            output_input_ratio * tokens_per_step / one_token - short_context / balance_context,
        ),
        statement="R minus the KV read of the short band is the weight read, B_star over B.",
        assumptions=("the assumptions of readings.joint_slope",),
        given={"balance_context": "51.85k"},
        result="10.41",
        derivation=lambda: (
            Step(
                operation="the output/input ratio at the mean of the base band",
                premises=(at("readings.output_input_ratio", context_length="short_context"), at("batching.weight_compute_ratio")),
                eliminated=("balance_batch", "batch"),
            ),
        ),
        sources=(ours("readings.output_input_ratio at the short context, solved for B_star/B"),),
    ),
    Equation(
        id="readings.tier_coverage",
        title="Context that a long-context price covers",
        kind=CONDITION,
        rule="the reading of the output premium as the cost of a longer context",
        relation=lambda premium_out, covered_context, balance_context, long_context_threshold: (
            premium_out,
            maximum(1, covered_context / balance_context) / maximum(1, long_context_threshold / balance_context),
        ),
        statement="Each band covers its most expensive request. The premium is the cost at covered_context over the cost at the threshold.",
        assumptions=(
            "large batch: weight reads are left out",
            "the margin is zero or the same in both bands",
            "attention FLOPs left out",
            "one token per step",
            DENSE,
        ),
        given={"covered_context": "300k"},
        result="1.5",
        derivation=lambda: (
            Step(
                operation="the claim: the premium is the cost at covered_context over the cost at the threshold, at a large batch",
                premises=(
                    at(
                        "serving.normalised_cost",
                        **_KV_ALONE,
                        kv_compute_ratio=lambda long_context_threshold, balance_context: long_context_threshold / balance_context,
                    ),
                    at(
                        "serving.normalised_cost",
                        **_KV_ALONE,
                        kv_compute_ratio=lambda covered_context, balance_context: covered_context / balance_context,
                        normalised_cost=lambda premium_out, normalised_cost: premium_out * normalised_cost,
                    ),
                ),
                eliminated=("normalised_cost",),
            ),
        ),
        sources=(
            talk(
                "1:35:23",
                "1:35:41",
                "the price covers the cost at every context length, and the step is near the crossover",
                "the lecture does not derive the 50 percent. At a balance context of 200 k it covers 300 k. 1 M costs five times as much",
            ),
        ),
    ),
    Equation(
        id="readings.input_price_cost_ratio",
        title="Price/cost of input",
        relation=lambda input_price_cost_ratio, input_price, rematerialisation_cost: (
            input_price_cost_ratio,
            input_price / rematerialisation_cost,
        ),
        statement="The input price over the compute cost of an input token.",
        assumptions=("the assumptions of cache.rematerialisation_cost",),
        result="16.25",
        sources=(
            talk(
                "1:41:18",
                "1:41:33",
                "vendors have a reason to charge little more than cost",
                "absolute prices do not fit: the lecture's 5 dollars are 89 times the compute cost of its 100 B on an H100. Other readings"
                " use only ratios",
            ),
        ),
    ),
)
