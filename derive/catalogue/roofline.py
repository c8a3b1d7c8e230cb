"""Roofline: how long one decode step takes at least (lecture, 0:02:50 to 0:10:34)."""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.assumed import COPIES, EVERY_EXPERT_READ
from derive.catalogue.roofline_grid import GRID
from derive.catalogue.sources import ROOFLINE_PAPER, SPECULATIVE_PAPER, flashcard, ours, scaling_book, scaling_book_inference, talk
from derive.records import BOUND, ESTIMATE, LOWER, Equation, Step, Variant, at
from derive.requirements import Requirement

EQUATIONS = (
    Equation(
        id="roofline.compute_time",
        title="Compute time of one decode step",
        relation=lambda compute_time, flop_per_weight, batch, active_params, chips, peak_flops, mfu: (
            compute_time,
            flop_per_weight * batch * active_params / (chips * peak_flops * mfu),
        ),
        statement="Every sequence of the batch multiplies by every active weight once. The chips share the work.",
        assumptions=(
            "matrix multiplications with the active weights only. Attention has a time of its own",
            "one new token of each sequence. Checking drafts multiplies it",
            "the work is spread evenly over the chips",
        ),
        result="3.274 ms",
        sources=(
            talk(
                "0:03:28",
                "0:03:48",
                "compute time is batch times active parameters over FLOPs",
                "the board counts a multiply-add as one. We write 2 FLOP per weight so that data-sheet FLOP/s go in",
            ),
        ),
    ),
    Equation(
        id="roofline.weight_time",
        title="Weight-read time of one decode step",
        variant=Variant(group="weight_time", name="sharded", default=True),
        relation=lambda weight_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu: (
            weight_time,
            total_params * bytes_per_weight / (chips * hbm_bandwidth * mbu),
        ),
        statement="Every weight, active or not, is read from memory once per step, whatever the batch.",
        assumptions=(
            EVERY_EXPERT_READ,
            "weights are sharded perfectly: no chip holds a copy of what another holds",
        ),
        result="10.79 ms",
        sources=(
            talk(
                "0:05:09",
                "0:05:21",
                "weights must be fetched once: total parameters over memory bandwidth",
                "bytes per weight are in the equation. The board leaves them out",
            ),
            talk(
                "0:09:54",
                "0:10:34",
                "the floor loads all of the total parameters",
                "total, where flashcard 5 says active: the transcript is plain",
            ),
        ),
    ),
    Equation(
        id="roofline.weight_time_resident",
        title="Weight-read time from the bytes resident on each chip",
        variant=Variant(group="weight_time", name="resident", holds_for=("replicated",)),
        relation=lambda weight_time, pipeline_stages, resident_weight_bytes_per_chip, hbm_bandwidth, mbu: (
            weight_time,
            pipeline_stages * resident_weight_bytes_per_chip / (hbm_bandwidth * mbu),
        ),
        statement="A chip reads the weights in its own memory once per step, replicas included. Pipeline stages read one after another.",
        changes=("a pass goes through all stages, whose chips read their own weights in turn",),
        assumptions=("every chip holds and reads the same number of bytes",),
        given={"resident_weight_bytes_per_chip": "13 GB"},
        result="11.09 ms",
        sources=(
            scaling_book(
                "DeepSeek-V3 in production holds about 22 GB of weights on each chip, not 671 GB over 144",
                "a variant, because perfect sharding understates the weight time of real deployments",
            ),
        ),
    ),
    Equation(
        id="roofline.plain_weight_time",
        title="Weight-read time of a step without drafts",
        variant=Variant(group="weight_time", name="sharded", default=True, holds_for=("resident", "replicated")),
        relation=lambda plain_weight_time, weight_time: (plain_weight_time, weight_time),
        statement="All weights are read, however many tokens a pass computes.",
        assumptions=("the assumptions of the weight time",),
        result="10.79 ms",
        sources=(ours("what a step with drafts is compared with"),),
    ),
    Equation(
        id="roofline.kv_time",
        changes=("times the copies of a cache on the chips: each reads its own",),
        title="KV-read time of one decode step",
        variant=Variant(group="kv_time", name="dense", default=True),
        relation=lambda kv_time, batch, context_length, kv_bytes_per_token, kv_replication, chips, hbm_bandwidth, mbu: (
            kv_time,
            batch * context_length * kv_bytes_per_token * kv_replication / (chips * hbm_bandwidth * mbu),
        ),
        statement="Every sequence reads the KV cache of its whole context once per step.",
        assumptions=("dense attention", "no prefix shared inside the batch", "equal context lengths, or their mean", COPIES),
        given={"kv_bytes_per_token": "516.1 kB/token"},
        result="14.09 ms",
        sources=(talk("0:05:21", "0:05:46", "KV fetch is batch times context length times bytes per token over bandwidth"),),
    ),
    Equation(
        id="roofline.memory_time",
        title="Memory time of one decode step",
        relation=lambda memory_time, weight_time, kv_time: (memory_time, weight_time + kv_time),
        statement="Weights and KV cache share one memory bus, so their times add.",
        result="24.88 ms",
        sources=(talk("0:09:17", "0:09:35", "memory time is the sum of weight fetch and KV fetch"),),
    ),
    Equation(
        id="roofline.overhead_time",
        title="Time per layer over all layers of a pass",
        relation=lambda overhead_time, layers, layer_time: (overhead_time, layers * layer_time),
        statement="Every layer launches kernels, adds up over its chips and routes tokens, however few bytes it reads.",
        assumptions=("every layer takes as long", "nothing of it overlaps with arithmetic or reads"),
        given={"layer_time": "100 us"},
        result="12.6 ms",
        sources=(
            ours("efficiencies.csv: for a single sequence a layer takes nearly as much beside its reads on one chip as on eight"),
        ),
    ),
    Equation(
        id="roofline.step_time",
        title="Step time with perfect overlap (roofline)",
        kind=BOUND,
        direction=LOWER,
        variant=Variant(group="overlap", name="max", default=True),
        relation=lambda step_time, overhead_time, drafting_time, tokens_verified_per_step, compute_time, attention_time, memory_time: (
            step_time,
            overhead_time + drafting_time + maximum(tokens_verified_per_step * (compute_time + attention_time), memory_time),
        ),
        statement="A step needs at least the longer of its arithmetic time and its memory time, after the drafting.",
        unsaid=("overhead_time", "drafting_time", "tokens_verified_per_step", "attention_time"),
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "no network",
            "weights and KV cache fit in memory",
        ),
        changes=(
            "attention FLOPs count as arithmetic, and drafts are made before and checked in the step: without these a step could"
            " beat the peak FLOP/s", "the time of launches and all-reduces in every layer is added"),
        result="41.21 ms",
        sources=(
            talk(
                "0:02:50",
                "0:03:09",
                "time is at least the maximum of compute and memory time",
                "kept as an equality so that it answers with points. Attention FLOPs and drafts are counted where they are known."
                " DeepSeek's published step took about four times the bound",
            ),
            ROOFLINE_PAPER,
            SPECULATIVE_PAPER,
        ),
    ),
    Equation(
        id="roofline.step_time_serial",
        title="Step time with no overlap",
        kind=ESTIMATE,
        variant=Variant(group="overlap", name="sum"),
        relation=lambda step_time, overhead_time, drafting_time, tokens_verified_per_step, compute_time, attention_time, memory_time: (
            step_time,
            overhead_time + drafting_time + tokens_verified_per_step * (compute_time + attention_time) + memory_time,
        ),
        statement="Without overlap, arithmetic and memory traffic follow one another.",
        assumptions=("no overlap at all", "no network"),
        changes=("attention FLOPs and drafts count", "the time of launches and all-reduces in every layer is added"),
        result="56.44 ms",
        sources=(ours("the other honest end: between the maximum and twice the maximum of the two times"),),
    ),
    Equation(
        id="roofline.step_time_kv_plus_max",
        title="Step time with attention separate",
        kind=ESTIMATE,
        variant=Variant(group="overlap", name="kv_plus_max"),
        relation=lambda step_time, overhead_time, drafting_time, tokens_verified_per_step, attention_time, kv_time, compute_time,
            weight_time: (
            step_time,
            overhead_time
            + drafting_time
            + maximum(tokens_verified_per_step * attention_time, kv_time)
            + maximum(tokens_verified_per_step * compute_time, weight_time),
        ),
        statement="Attention needs the longer of its FLOP time and its KV-read time. The other layers need the longer of compute"
                  " time and weight-read time.",
        assumptions=("attention and weight layers do not overlap", "no network"),
        changes=(
            "attention takes as long as its FLOPs where those are slower than the KV read, and drafts count",
            "the time of launches and all-reduces in every layer is added",
        ),
        result="43.52 ms",
        sources=(scaling_book_inference("attention time plus the maximum of weight and compute time"),),
    ),
    Equation(
        id="roofline.attention_time",
        title="Time of the attention FLOPs of one decode step",
        relation=lambda attention_time, batch, attention_flops_per_sequence, chips, peak_flops, attention_rate_ratio, mfu: (
            attention_time,
            batch * attention_flops_per_sequence / (chips * peak_flops * attention_rate_ratio * mfu),
        ),
        statement="Each new token attends to its context, at the rate of the data type of attention.",
        assumptions=("the work is spread evenly over the chips", "attention sustains the same share of its peak as the weights of theirs"),
        changes=("of what a sequence attends to, selections and windows included, and at the rate of attention's own data type",),
        result="534.1 us",
        sources=(
            scaling_book("attention FLOPs of DeepSeek-V3's decode, in bf16, take about as long as weights and KV reads each do"),
            talk("1:51:24", "1:52:20", "the quadratic term is left out of the compute time", "kept apart, as a time of its own"),
        ),
    ),
    Equation(
        id="roofline.step_time_network",
        title="Step time with no overlap, network included",
        kind=ESTIMATE,
        variant=Variant(group="overlap", name="network"),
        relation=lambda step_time, overhead_time, drafting_time, tokens_verified_per_step, compute_time, attention_time, memory_time,
            all_to_all_time: (
            step_time,
            overhead_time + drafting_time + tokens_verified_per_step * (compute_time + attention_time + all_to_all_time) + memory_time,
        ),
        statement="Arithmetic, attention, memory traffic and all-to-all between experts follow one another.",
        assumptions=("no overlap at all", "only the exchange between experts loads the network"),
        changes=("drafts count, each of which goes to its experts too", "the time of launches and all-reduces in every layer is added"),
        given={
            "overhead_time": "6.1 ms", "drafting_time": "323 us", "tokens_verified_per_step": "2", "compute_time": "74.79 us",
            "attention_time": "274.7 us", "memory_time": "8.675 ms", "all_to_all_time": "200 us",
        },
        result="16.2 ms",
        sources=(
            scaling_book(
                "the published decode step of DeepSeek-V3 is mostly all-to-all",
                "not in the lecture. With every published part counted the sum falls somewhat short of the measured step",
            ),
        ),
    ),
    Equation(
        id="roofline.step_time_exposed",
        title="Step time with exposed communication",
        kind=ESTIMATE,
        variant=Variant(group="overlap", name="exposed"),
        relation=lambda step_time, overhead_time, drafting_time, tokens_verified_per_step, compute_time, attention_time, memory_time,
            exposed_communication_share: (
            step_time,
            overhead_time
            + drafting_time
            + maximum(tokens_verified_per_step * (compute_time + attention_time), memory_time) / (1 - exposed_communication_share),
        ),
        requires=(
            Requirement(
                holds=lambda exposed_communication_share: exposed_communication_share < 1,
                otherwise="communication needs the whole step",
            ),
        ),
        statement="Communication and launches add their share of the step, because no computation hides them.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "the share was measured on a step like this one",
            "weights and KV cache fit in memory",
        ),
        changes=("attention FLOPs and drafts count", "the time of launches and all-reduces in every layer is added"),
        result="47.43 ms",
        sources=(ours("a measured share in place of a model of the network: with mfu and mbu, the calibrated step time"),),
    ),
    Equation(
        id="roofline.latency_floor",
        title="Latency floor of a step",
        variant=Variant(group="weight_time", name="sharded", default=True, holds_for=("resident", "touched", "mixed")),
        relation=lambda latency_floor, active_params, expert_bytes_per_weight, attention_replicas, shared_params,
            shared_bytes_per_weight, chips, hbm_bandwidth, mbu: (
            latency_floor,
            (
                active_params * expert_bytes_per_weight
                + shared_params * (attention_replicas * shared_bytes_per_weight - expert_bytes_per_weight)
            )
            / (chips * hbm_bandwidth * mbu),
        ),
        changes=(
            "one read of the active weights, not of whatever the weight time reads: all of a mixture of experts is above its steps at"
            " small batches, and what a batch touches moves with the batch",
            "what every token uses is read as often as attention_replicas hold it",
            "experts and other weights may have widths of their own",
        ),
        unsaid=("attention_replicas",),
        statement="Whatever the batch, a step reads at least the weights that one sequence uses.",
        assumptions=("fixed hardware", "weights are sharded perfectly over the chips that share one copy"),
        given={"active_params": "37B"},
        result="3.791 ms",
        derivation=lambda: (
            Step(
                operation="the weight time of what one sequence reads for its next token alone, as if that were all there is",
                premises=(
                    at(
                        "roofline.weight_time",
                        weight_time="latency_floor",
                        total_params=lambda attention_replicas, shared_params, shared_bytes_per_weight, active_params,
                            expert_bytes_per_weight, bytes_per_weight: (
                            (
                                attention_replicas * shared_params * shared_bytes_per_weight
                                + (active_params - shared_params) * expert_bytes_per_weight
                            )
                            / bytes_per_weight
                        ),
                    ),
                ),
            ),
        ),
        sources=(
            talk(
                "0:09:54",
                "0:10:34",
                "there is a latency floor: all total parameters over memory bandwidth",
                "active parameters: total ones are the floor of a dense model, where the two are the same. Nor is it the 20 ms of"
                " one full HBM read that some summaries give: that is sweep_time",
            ),
            flashcard("card 5", "active parameters over memory bandwidth"),
        ),
    ),
    Equation(
        id="roofline.latency_floor_replicated",
        title="Latency floor of a dense model with copies of its attention",
        variant=Variant(group="weight_time", name="replicated"),
        relation=lambda latency_floor, weight_bytes, chips, hbm_bandwidth, mbu: (
            latency_floor,
            weight_bytes / (chips * hbm_bandwidth * mbu),
        ),
        statement="Whatever the batch, a step of a dense model reads all weights, with every copy of its attention.",
        assumptions=("fixed hardware", "every chip holds and reads the same number of bytes"),
        given={"weight_bytes": "416 GB"},
        result="11.09 ms",
        sources=(ours("the read of all weights on the chips, as roofline.weight_time_resident has it for one chip"),),
    ),
    Equation(
        id="roofline.memory_time_share",
        title="Memory share of the work of a step",
        relation=lambda memory_time_share, memory_time, tokens_verified_per_step, compute_time, attention_time: (
            memory_time_share,
            memory_time / (memory_time + tokens_verified_per_step * (compute_time + attention_time)),
        ),
        statement="Memory time over memory plus arithmetic time: a half at the balance point, whatever overlaps.",
        changes=("attention FLOPs and the checking of drafts are arithmetic",),
        result="0.6203",
        sources=(ours("unlike 1 - 1/R this share does not presume that decode is memory-bound"),),
    ),
    *GRID,
)
