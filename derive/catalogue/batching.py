"""Batching: how many sequences keep the arithmetic busy (lecture, 0:11:40 to 0:31:25; fast mode 0:01:01)."""

from derive.catalogue.arithmetic import maximum, minimum
from derive.catalogue.assumed import EVERY_EXPERT_IN_USE
from derive.catalogue.sources import ROOFLINE_PAPER, SPECULATIVE_PAPER, flashcard, ours, scaling_book, talk
from derive.records import BOUND, CONDITION, HEURISTIC, UPPER, Equation, Requirement, Step, Variant, at

EQUATIONS = (
    Equation(
        id="batching.machine_balance_ratio",
        title="Machine balance ratio",
        relation=lambda machine_balance_ratio, ridge_point, bytes_per_weight, flop_per_weight: (
            machine_balance_ratio,
            ridge_point * bytes_per_weight / flop_per_weight,
        ),
        changes=("computed from the ridge point, which is FLOP/s over bandwidth",),
        statement="The number of weights that a chip can multiply while it reads one weight: about 300 on an H100 and on a B200.",
        result="295.4",
        sources=(
            talk(
                "0:17:56",
                "0:18:53",
                "FLOPs over bandwidth, made dimensionless, is around 300 and stable",
                "true for H100 and B200 (295, 281). A100 has 153 to 201, H200 206, B300 in fp4 422 to 469. So it is an input for each chip",
            ),
            flashcard(
                "card 7", "about 300 FLOPs per byte", "this is the unit of ridge_point, which is 295 for bf16 on an H100 and 591 for fp8"
            ),
        ),
    ),
    Equation(
        id="batching.ridge_point",
        title="Ridge point",
        relation=lambda ridge_point, peak_flops, hbm_bandwidth: (ridge_point, peak_flops / hbm_bandwidth),
        statement="The arithmetic intensity above which a chip is compute-bound.",
        assumptions=("dense data-sheet rates",),
        result="590.7 FLOP/byte",
        sources=(ROOFLINE_PAPER, ours("twice machine_balance_ratio over bytes_per_weight")),
    ),
    Equation(
        id="batching.arithmetic_intensity",
        title="Arithmetic intensity of a decode step",
        relation=lambda arithmetic_intensity, ridge_point, mfu, tokens_verified_per_step, compute_time, mbu, memory_time: (
            arithmetic_intensity,
            ridge_point * mfu * tokens_verified_per_step * compute_time / (mbu * memory_time),
        ),
        statement="The FLOPs of a step over the bytes that it reads. The peak rates of the chip cancel.",
        assumptions=(
            "only multiplications with the weights. Attention has its own attention_intensity",
            "the FLOPs of refused drafts are counted",
        ),
        changes=("a step computes every position that it verifies. Before, the roof with drafts was below the rate of a step",),
        given={"mfu": "0.5", "mbu": "0.7"},
        result="222.1 FLOP/byte",
        sources=(ROOFLINE_PAPER, ours("FLOPs are arithmetic time times arithmetic rate, and bytes are memory time times bandwidth")),
    ),
    Equation(
        id="batching.attainable_flops",
        title="Attainable FLOP/s of a chip",
        kind=BOUND,
        direction=UPPER,
        relation=lambda attainable_flops, peak_flops, mfu, arithmetic_intensity, hbm_bandwidth, mbu: (
            attainable_flops,
            minimum(peak_flops * mfu, arithmetic_intensity * hbm_bandwidth * mbu),
        ),
        statement="The roofline: at low arithmetic intensity memory limits the FLOP/s in proportion to the intensity, up to the peak rate.",
        assumptions=("arithmetic and memory traffic overlap perfectly",),
        given={"mfu": "0.5", "arithmetic_intensity": "222.1 FLOP/byte", "mbu": "0.7"},
        result="520.8 TFLOP/s",
        sources=(ROOFLINE_PAPER,),
    ),
    Equation(
        id="batching.sparsity",
        title="Sparsity",
        relation=lambda sparsity, total_params, active_params: (sparsity, total_params / active_params),
        requires=(
            Requirement(
                holds=lambda total_params, active_params: total_params >= active_params,
                otherwise="active parameters are at most the total parameters",
            ),
        ),
        statement="Total over active parameters: 1 for a dense model.",
        given={"total_params": "671B", "active_params": "37B"},
        result="18.14",
        sources=(
            talk(
                "0:19:16",
                "0:19:44",
                "32 of 256 experts is a sparsity of 8",
                "from parameters DeepSeek-V3 has 671/37 = 18. Its router selects 8 of 256 experts, so 32 is a simplification",
            ),
            flashcard("card 8", "active over total", "the inverse ratio. We keep the lecture's total over active"),
        ),
    ),
    Equation(
        id="batching.sparsity_of_router",
        title="Sparsity of a router",
        kind=HEURISTIC,
        rule="the rule of thumb that all parameters are in the routed experts",
        relation=lambda sparsity, experts, active_experts: (sparsity, experts / active_experts),
        requires=(Requirement(holds=lambda active_experts, experts: active_experts <= experts, otherwise="at most all are active"),),
        statement="Sparsity as the lecture counts it: experts of a layer over the experts that a token uses.",
        assumptions=("no attention, no embeddings and no shared experts",),
        given={"active_experts": "32"},
        result="8",
        sources=(talk("0:19:16", "0:19:44", "32 of 256 experts is a sparsity of 8", "from the counts of the router"),),
    ),
    Equation(
        id="batching.balance_batch",
        title="Balance batch",
        relation=lambda balance_batch, machine_balance_ratio, sparsity, mfu, mbu: (
            balance_batch,
            machine_balance_ratio * sparsity * mfu / mbu,
        ),
        requires=(Requirement(holds=lambda sparsity: sparsity >= 1),),
        statement="The batch at which compute time equals weight-read time. It is the balance ratio times the sparsity, at any model size.",
        assumptions=("KV reads, attention FLOPs and drafts are left out", EVERY_EXPERT_IN_USE),
        given={"sparsity": "8"},
        result="1714",
        derivation=lambda: (
            Step(
                operation="at the balance batch, arithmetic and weight read need the same time",
                premises=(at("roofline.compute_time", batch="balance_batch", compute_time="weight_time"), at("roofline.weight_time")),
                eliminated=("weight_time",),
                relation=lambda balance_batch, total_params, bytes_per_weight, peak_flops, mfu, flop_per_weight,
                    active_params, hbm_bandwidth, mbu: (
                    balance_batch,
                    total_params * bytes_per_weight * peak_flops * mfu / (flop_per_weight * active_params * hbm_bandwidth * mbu),
                ),
            ),
            Step(
                operation="the chip is only in the balance ratio, and the model only in the sparsity",
                premises=(at("#1"), at("batching.machine_balance_ratio"), at("batching.ridge_point"), at("batching.sparsity")),
                eliminated=("peak_flops", "ridge_point", "total_params"),
            ),
        ),
        sources=(
            talk(
                "0:19:16",
                "0:19:44",
                "setting weight fetch equal to compute gives 300 times sparsity, 2,400 for s = 8",
                "with utilisations: compute is slower by mfu, reads by mbu",
            ),
            talk("0:25:43", "0:25:57", "it depends on sparsity, not on scale"),
        ),
    ),
    Equation(
        id="batching.balance_batch_with_kv",
        title="Balance batch with KV reads and attention",
        relation=lambda balance_batch_with_kv, balance_batch, attention_compute_ratio, kv_compute_ratio: (
            balance_batch_with_kv,
            balance_batch / (1 + attention_compute_ratio - kv_compute_ratio),
        ),
        requires=(
            Requirement(
                holds=lambda kv_compute_ratio, attention_compute_ratio: kv_compute_ratio < attention_compute_ratio + 1,
                otherwise="the KV read of a sequence is longer than its arithmetic, so memory is the limit at any batch",
            ),
        ),
        statement=(
            "KV reads raise the balance batch, and attention FLOPs lower it. If the reads of a sequence are slower than all its"
            " arithmetic, there is no balance batch."
        ),
        assumptions=(EVERY_EXPERT_IN_USE, "no drafts"),
        changes=("counts attention FLOPs. The KV read is a ratio to the arithmetic, so windows and selections are included",),
        given={"attention_compute_ratio": "0.1", "kv_compute_ratio": "0.4"},
        result="2449",
        derivation=lambda: (
            Step(
                operation="at this batch the arithmetic needs the same time as weight and KV read together",
                premises=(
                    at("roofline.memory_time", memory_time=lambda compute_time, attention_time: compute_time + attention_time),
                    at("batching.weight_compute_ratio#1"),
                    at("context.kv_compute_ratio#1"),
                    at("context.attention_compute_ratio#1"),
                ),
                eliminated=("weight_time", "kv_time", "attention_time"),
                relation=lambda weight_compute_ratio, attention_compute_ratio, kv_compute_ratio: (
                    weight_compute_ratio,
                    1 + attention_compute_ratio - kv_compute_ratio,
                ),
            ),
            Step(
                operation="the weight read in terms of the balance batch",
                premises=(at("#1"), at("batching.weight_compute_ratio", batch="balance_batch_with_kv")),
                eliminated=("weight_compute_ratio",),
            ),
        ),
        sources=(talk("0:19:49", "0:20:13", "the KV term should make the batch larger", "the formula is ours"),),
    ),
    Equation(
        id="batching.practical_batch",
        title="Batch as a multiple of the balance batch",
        kind=HEURISTIC,
        rule="the rule of thumb that the batch is a multiple of the balance batch",
        relation=lambda batch, batch_multiple, balance_batch: (batch, batch_multiple * balance_batch),
        statement="A common rule: run at two or three times the balance batch.",
        assumptions=("the multiple is an input",),
        given={"batch_multiple": "2.5"},
        result="4285",
        sources=(
            talk(
                "0:19:41",
                "0:19:49",
                "maybe double or triple it",
                "the multiple is an input. The lecture then says two to three thousand, which is 2,400 itself",
            ),
            scaling_book("DeepSeek ran 12,672 sequences: 2.33 times the computed 5,440, and half the balance batch for the resident bytes"),
        ),
    ),
    Equation(
        id="batching.weight_compute_ratio",
        defined_elsewhere=True,
        title="Weight time over compute time, from the batch",
        variant=Variant(group="weight_time", name="sharded", default=True),
        relation=lambda weight_compute_ratio, balance_batch, batch: (weight_compute_ratio, balance_batch / batch),
        statement="The ratio of weight-read time to linear compute time: 1 at the balance batch.",
        assumptions=("every weight is read at any batch",),
        given={"balance_batch": "211"},
        result="3.297",
        derivation=lambda: (
            Step(
                operation="the definition",
                relation=lambda weight_compute_ratio, weight_time, compute_time: (weight_compute_ratio, weight_time / compute_time),
            ),
            Step(
                operation="the balance batch contains all factors that both times share",
                premises=(at("#1"), at("roofline.compute_time"), at("roofline.weight_time"), at("batching.balance_batch#1")),
                eliminated=("weight_time", "compute_time", "total_params"),
            ),
        ),
        sources=(ours("in every ratio of a step, the batch is only in this number"),),
    ),
    Equation(
        id="batching.weight_time_over_compute_time",
        title="Weight time over compute time",
        relation=lambda weight_compute_ratio, weight_time, compute_time: (weight_compute_ratio, weight_time / compute_time),
        statement="The ratio of weight-read time to linear compute time, for any set of weights that a step reads.",
        result="3.296",
        sources=(ours("the definition of the ratio"),),
    ),
    Equation(
        id="batching.compute_utilisation_of_step",
        title="Compute time over step time",
        relation=lambda compute_utilisation, tokens_verified_per_step, one_token, normalised_cost, tokens_per_step: (
            compute_utilisation,
            tokens_verified_per_step * one_token / (normalised_cost * tokens_per_step),
        ),
        changes=("computed from the cost of a token over its compute floor, which also follows from ratios of times",),
        statement="The share of a step in which the chips compute with the weights, with any overlap.",
        assumptions=(
            "relative to the given mfu, which is a share of peak",
            "attention FLOPs have their own share. The FLOPs of refused drafts are counted",
        ),
        given={"normalised_cost": "1.48", "tokens_per_step": "2.952"},
        result="0.9155",
        sources=(
            ours("the arithmetic with the weights over the step time, by serving.normalised_cost_of_step"),
            talk(
                "0:11:40",
                "0:12:04",
                "the optimum is 100k, and at 200k MFU is 50 percent, as in this equation",
                "this equation includes the weight term. The 50 percent is the limit of a large batch",
            ),
        ),
    ),
    Equation(
        id="batching.compute_utilisation_of_rate",
        defined_elsewhere=True,
        title="Compute utilisation from a rate",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda compute_utilisation, flop_per_weight, active_params, tokens_verified_per_step, throughput, chips, pipeline_stages,
            peak_flops, mfu, tokens_per_step, idle_fraction: (
            compute_utilisation,
            flop_per_weight
            * active_params
            * tokens_verified_per_step
            * throughput
            / (chips * pipeline_stages * peak_flops * mfu * tokens_per_step * (1 - idle_fraction)),
        ),
        requires=(Requirement(holds=lambda idle_fraction: idle_fraction < 1),),
        statement="The FLOPs of all tokens of a measured rate, over the FLOPs that the chips can do while they are busy.",
        assumptions=(
            "relative to the given mfu, which is a share of peak",
            "attention FLOPs have their own share. The FLOPs of refused drafts are counted",
        ),
        given={"tokens_per_step": "2.952", "idle_fraction": "0.0006986"},
        result="0.4579",
        derivation=lambda: (
            Step(
                operation="arithmetic over step time, by the arithmetic of a batch",
                premises=(
                    at("batching.compute_utilisation_of_step"), at("serving.normalised_cost_of_step"), at("roofline.compute_time"),
                ),
                eliminated=("normalised_cost", "compute_time"),
                relation=lambda compute_utilisation, tokens_verified_per_step, flop_per_weight, batch, active_params, chips, peak_flops,
                    mfu,
                    step_time: (
                    compute_utilisation,
                    tokens_verified_per_step * flop_per_weight * batch * active_params / (chips * peak_flops * mfu * step_time),
                ),
            ),
            Step(
                operation="the batch over the step time is the rate, if a stage is not idle",
                premises=(
                    at("#1"),
                    at("scheduling.throughput"),
                    at("pipeline.hop_latency"),
                    at("pipeline.idle_fraction"),
                ),
                eliminated=("batch", "step_time", "token_latency"),
            ),
        ),
        sources=(ours("batch, context and memory are not needed, because every rate gives FLOPs"),),
    ),
    Equation(
        id="batching.users_needed",
        changes=("uses sequences_in_flight, which had a second name before",),
        title="Sequences needed to reach the balance batch",
        kind=CONDITION,
        relation=lambda sequences_in_flight, balance_batch: (sequences_in_flight, balance_batch),
        sense=">=",
        statement="Sparsity costs no time if at least the balance batch of sequences decodes at once.",
        assumptions=("KV reads are left out", "the replica has one stage", "the balance batch is the goal. Fewer sequences are possible"),
        result="1714",
        sources=(talk("0:30:44", "0:31:25", "doubling sparsity is free if there are enough users to double the batch"),),
    ),
    Equation(
        id="batching.fast_mode_batch_ratio",
        title="Batches behind a fast mode",
        kind=CONDITION,
        rule="the condition that the price of a fast mode covers the cost of its smaller batch",
        relation=lambda normal_batch, fast_batch, fast_price_ratio, fast_speed_ratio: (
            normal_batch,
            fast_batch * fast_price_ratio * fast_speed_ratio,
        ),
        statement="If price follows cost, the batch shrinks by the price ratio times the speed ratio: 15 for 6x at 2.5x.",
        assumptions=("price is proportional to chip time in both modes", "same weights on the same hardware"),
        given={"fast_batch": "400"},
        result="6000",
        derivation=lambda: (
            Step(
                operation="a token of the fast mode costs pi times as much, and its step needs 1/sigma of the time",
                premises=(
                    at(
                        "serving.cost_per_token",
                        throughput=lambda microbatches, normal_batch, tokens_per_step, token_latency: (
                            microbatches * normal_batch * tokens_per_step / token_latency
                        ),
                    ),
                    at(
                        "serving.cost_per_token",
                        cost_per_token=lambda fast_price_ratio, cost_per_token: fast_price_ratio * cost_per_token,
                        throughput=lambda microbatches, fast_batch, tokens_per_step, token_latency, fast_speed_ratio: (
                            microbatches * fast_batch * tokens_per_step * fast_speed_ratio / token_latency
                        ),
                    ),
                ),
                eliminated=("cost_per_token", "token_latency"),
            ),
        ),
        sources=(
            talk(
                "0:01:01",
                "0:01:09",
                "fast mode: six times the price for two and a half times the speed",
                "the lecture answers with batch size and derives no numbers. The identity is ours",
            ),
        ),
    ),
    Equation(
        id="batching.fast_batch_ratio",
        title="How many times smaller the batch of a fast mode is",
        kind=CONDITION,
        rule="the condition that the price of a fast mode covers the cost of its smaller batch",
        relation=lambda fast_batch_ratio, fast_price_ratio, fast_speed_ratio: (fast_batch_ratio, fast_price_ratio * fast_speed_ratio),
        statement="If price follows cost, a step of the fast mode has fewer tokens by the price ratio times the speed ratio.",
        assumptions=("price is proportional to chip time in both modes", "same weights on the same hardware"),
        result="15",
        derivation=lambda: (
            Step(
                operation="the batch of the normal mode over the batch of the fast mode",
                premises=(
                    at(
                        "batching.fast_mode_batch_ratio",
                        normal_batch=lambda fast_batch, fast_batch_ratio: fast_batch * fast_batch_ratio,
                    ),
                ),
                eliminated=("fast_batch",),
            ),
        ),
        sources=(ours("fast_mode_batch_ratio without the sizes of the two batches"),),
    ),
    Equation(
        id="batching.fast_mode_normal_batch",
        title="Batch of the normal mode",
        kind=CONDITION,
        rule="the condition that the normal mode runs above the balance batch",
        relation=lambda normal_batch, fast_speed_ratio, balance_batch: (normal_batch, fast_speed_ratio * balance_batch),
        statement="If normal mode is compute-bound and fast mode is at the latency floor, normal mode has sigma times the balance batch.",
        assumptions=("KV reads are left out", "normal mode is compute-bound, and fast mode is at the latency floor"),
        result="4285",
        derivation=lambda: (
            Step(
                operation="fast mode needs the weight-read time. Normal mode needs sigma times as long, and this is its compute time",
                premises=(
                    at(
                        "batching.weight_compute_ratio",
                        batch="normal_batch",
                        weight_compute_ratio=lambda fast_speed_ratio: 1 / fast_speed_ratio,
                    ),
                ),
            ),
        ),
        sources=(ours("step times have the inverse ratio of the speeds: B_norm/B_star = sigma"),),
    ),
    Equation(
        id="batching.fast_mode_fast_batch",
        title="Batch of the fast mode",
        kind=CONDITION,
        rule="the condition that a fast mode is priced at its cost",
        relation=lambda fast_batch, balance_batch, fast_price_ratio: (fast_batch, balance_batch / fast_price_ratio),
        statement="Under the same assumptions, the batch of the fast mode is the balance batch over the price ratio.",
        assumptions=("KV reads are left out", "normal mode is compute-bound, and fast mode is at the latency floor"),
        result="285.7",
        derivation=lambda: (
            Step(
                operation="the ratio of the batches, combined with the batch of the normal mode",
                premises=(at("batching.fast_mode_batch_ratio"), at("batching.fast_mode_normal_batch")),
                eliminated=("normal_batch", "fast_speed_ratio"),
            ),
        ),
        sources=(ours("fast_mode_batch_ratio with fast_mode_normal_batch substituted"),),
    ),
    Equation(
        id="batching.speculative_speedup_at_batch",
        title="Speed-up by speculative decoding at a batch",
        kind=CONDITION,
        rule="the condition that both steps are as long as their batch makes them",
        relation=lambda speculative_speedup, acceptance_rate, draft_tokens, draft_cost_ratio, batch, balance_batch: (
            speculative_speedup,
            (1 - acceptance_rate ** (draft_tokens + 1))
            / (
                (1 - acceptance_rate)
                * (draft_tokens * draft_cost_ratio + maximum(1, (draft_tokens + 1) * batch / balance_batch))
            ),
        ),
        requires=(
            Requirement(holds=lambda acceptance_rate: acceptance_rate < 1, otherwise="a draft that is always accepted needs no check"),
            Requirement(
                holds=lambda batch, balance_batch: batch <= balance_batch,
                otherwise="past the balance batch a plain step is bound by arithmetic as well: verification_ratio is draft_tokens + 1",
            ),
        ),
        statement="Verifying drafts is free up to a fraction of the balance batch. Above it the arithmetic grows with the batch.",
        assumptions=(
            "a condition: without KV reads and attention FLOPs, and with a read of every weight. serving.speculative_speedup includes them",
            "the assumptions of serving.speculative_tokens",
        ),
        given={"balance_batch": "211"},
        result="2.165",
        derivation=lambda: (
            Step(
                operation="a step reads the weights once. With drafts it needs the arithmetic of all its positions if this is longer",
                premises=(
                    at(
                        "serving.speculative_speedup",
                        verification_ratio=lambda draft_tokens, batch, balance_batch: (
                            maximum(1, (draft_tokens + 1) * batch / balance_batch)
                        ),
                    ),
                ),
            ),
        ),
        sources=(SPECULATIVE_PAPER, ours("the gain of drafts over the batch, in closed form")),
    ),
)
