"""Roofline: how long one decode step takes at least (lecture, 0:02:50 to 0:10:34)."""

from derive.catalogue.arithmetic import maximum, power
from derive.catalogue.assumed import COPIES, EVERY_EXPERT_READ, PART_OF_A_STEP
from derive.catalogue.sources import (
    EPOCH_PAPER,
    ROOFLINE_PAPER,
    SPECULATIVE_PAPER,
    flashcard,
    ours,
    scaling_book,
    scaling_book_inference,
    talk,
)
from derive.records import BOUND, ESTIMATE, LOWER, Equation, Requirement, Step, Variant, at

GRID = (
    Equation(
        id="roofline.grid_latency",
        title="Latency of a token on a square grid of chips",
        kind=BOUND,
        direction=LOWER,
        relation=lambda grid_latency, active_params, bytes_per_weight, chips, hbm_bandwidth, layers,
            allreduces_per_layer, hop_latency: (
            grid_latency,
            active_params * bytes_per_weight / (chips * hbm_bandwidth)
            + 2 * layers * allreduces_per_layer * hop_latency * (power(chips, 1, 2) - 1),
        ),
        changes=("reads the active weights, because a mixture of experts does not read all weights for one token",),
        requires=(Requirement(holds=lambda chips: chips > 1, otherwise="a single chip waits for no other chip"),),
        statement="More chips read the weights faster, but wait longer for each other.",
        assumptions=(
            "chips form a square grid. Each all-reduce crosses it along one side and back",
            "small batch: arithmetic and KV reads are left out",
            "a token reads only the weights that it uses",
        ),
        result="22.68 ms",
        derivation=lambda: (
            Step(
                operation="the definition: one read of the weights, and the hops along one side of the grid and back",
                relation=lambda grid_latency, latency_floor, layers, allreduces_per_layer, hop_latency, chips: (
                    grid_latency,
                    latency_floor + 2 * layers * allreduces_per_layer * hop_latency * (power(chips, 1, 2) - 1),
                ),
            ),
            Step(
                operation="one read of the weights at the full memory bandwidth",
                premises=(
                    at("#1"),
                    at(
                        "roofline.latency_floor",
                        mbu=1,
                        attention_replicas=1,
                        **dict.fromkeys(("expert_bytes_per_weight", "shared_bytes_per_weight"), "bytes_per_weight"),
                    ),
                ),
                eliminated=("latency_floor",),
            ),
        ),
        sources=(EPOCH_PAPER,),
    ),
    Equation(
        id="roofline.minimum_latency",
        title="Lowest latency of a token, at the best number of chips",
        kind=BOUND,
        direction=LOWER,
        relation=lambda minimum_latency, layers, allreduces_per_layer, hop_latency, bytes_per_weight,
            active_params, hbm_bandwidth: (
            minimum_latency,
            3
            * power(layers * allreduces_per_layer * hop_latency, 2, 3)
            * power(bytes_per_weight * active_params / hbm_bandwidth, 1, 3)
            - 2 * layers * allreduces_per_layer * hop_latency,
        ),
        changes=("reads the active weights, because a mixture of experts does not read all weights for one token",),
        requires=(
            Requirement(
                holds=lambda layers, allreduces_per_layer, hop_latency, bytes_per_weight, active_params, hbm_bandwidth: (
                    hop_latency * layers * allreduces_per_layer < active_params * bytes_per_weight / hbm_bandwidth
                ),
                otherwise="one chip is the fastest, because waiting for a second chip costs more time than it saves",
            ),
        ),
        statement="At the best number of chips, one more chip adds as much waiting time as it saves reading time. With more chips of this"
                  " type a token is not faster.",
        assumptions=("the assumptions of roofline.grid_latency", "the best number of chips is more than one, and this number is available"),
        result="22.43 ms",
        derivation=lambda: (
            Step(
                operation="the best number of chips",
                premises=(at("roofline.grid_latency"),),
                stationary=("chips",),
                relation=lambda chips, bytes_per_weight, active_params, hbm_bandwidth, layers, allreduces_per_layer, hop_latency: (
                    chips,
                    power(
                        bytes_per_weight * active_params / (hbm_bandwidth * layers * allreduces_per_layer * hop_latency), 2, 3
                    ),
                ),
            ),
            Step(
                operation="the latency with this number of chips",
                premises=(at("#1"), at("roofline.grid_latency", grid_latency="minimum_latency")),
                eliminated=("chips",),
            ),
        ),
        sources=(EPOCH_PAPER,),
    ),
)


EQUATIONS = (
    Equation(
        id="roofline.compute_time",
        title="Compute time of one decode step",
        relation=lambda compute_time, flop_per_weight, batch, active_params, chips, peak_flops, mfu: (
            compute_time,
            flop_per_weight * batch * active_params / (chips * peak_flops * mfu),
        ),
        statement="Every sequence of the batch uses every active weight once. The chips share the work.",
        assumptions=(
            "only multiplications with the active weights. Attention has its own time",
            "one new token per sequence. Verification of drafts multiplies the time",
            "the work is spread evenly over the chips",
        ),
        result="3.274 ms",
        sources=(
            talk(
                "0:03:28",
                "0:03:48",
                "compute time is batch times active parameters over FLOPs",
                "the board counts a multiply-add as one operation. We write 2 FLOP per weight, to use data-sheet FLOP/s",
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
        statement="Every weight, active or not, is read from memory once per step, at any batch.",
        assumptions=(
            EVERY_EXPERT_READ,
            "weights are sharded perfectly: no two chips store the same weight",
        ),
        result="10.79 ms",
        sources=(
            talk(
                "0:05:09",
                "0:05:21",
                "weights must be fetched once: total parameters over memory bandwidth",
                "the equation contains bytes per weight, which the board leaves out",
            ),
            talk(
                "0:09:54",
                "0:10:34",
                "the floor loads all of the total parameters",
                "the transcript clearly says total parameters, although flashcard 5 says active",
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
        statement="A chip reads the weights in its own memory once per step, copies included. Pipeline stages read one after another.",
        changes=("a pass goes through all stages. The chips of each stage read their own weights in turn",),
        assumptions=("every chip stores and reads the same number of bytes",),
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
        id="roofline.kv_time",
        changes=("includes the copies of a cache on the chips, because each chip reads its own copy",),
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
        statement="Weights and KV cache use the same memory bus, so their times add.",
        result="24.88 ms",
        sources=(talk("0:09:17", "0:09:35", "memory time is the sum of weight fetch and KV fetch"),),
    ),
    Equation(
        id="roofline.overhead_time",
        title="Overhead of all layers of a pass",
        relation=lambda overhead_time, layers, layer_time: (overhead_time, layers * layer_time),
        statement="Every layer launches kernels, runs all-reduces and routes tokens. This time does not depend on the bytes read.",
        assumptions=("every layer needs the same time", "no part of it overlaps with arithmetic or reads"),
        given={"layer_time": "100 us"},
        result="12.6 ms",
        sources=(
            ours("efficiencies.csv: with a single sequence a layer needs nearly as much additional time on one chip as on eight"),
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
        statement="After the drafting, a step needs at least the longer of its arithmetic time and its memory time.",
        unsaid=("overhead_time", "drafting_time", "tokens_verified_per_step", "attention_time"),
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "no network",
            "weights and KV cache fit in memory",
        ),
        changes=(
            "attention FLOPs count as arithmetic, and drafts are made before the step and verified in it. Without these times a step could"
            " exceed the peak FLOP/s", "the time of launches and all-reduces in every layer is added"),
        result="41.21 ms",
        sources=(
            talk(
                "0:02:50",
                "0:03:09",
                "time is at least the maximum of compute and memory time",
                "used as an equality, so that an answer is a number. Attention FLOPs and drafts are counted if they are known. DeepSeek's"
                " published step needed about four times the bound",
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
        statement="Without overlap, arithmetic comes after memory traffic, so their times add.",
        assumptions=("no overlap at all", "no network"),
        changes=("attention FLOPs and drafts count", "the time of launches and all-reduces in every layer is added"),
        result="56.44 ms",
        sources=(ours("the other extreme: between the longer of the two times and twice this time"),),
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
        statement="Attention needs the longer of its FLOP time and its KV-read time. The other layers need the longer of compute time and"
                  " weight-read time. The sum is the step time.",
        assumptions=("attention does not overlap with the other layers", "no network"),
        changes=(
            "attention needs the time of its FLOPs if this is longer than the KV read. Drafts are counted",
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
        statement="Each new token attends to its context. The chip computes at its rate for the data type of attention.",
        assumptions=("the work is spread evenly over the chips", "attention and weights sustain the same share of their peak rates"),
        changes=("includes everything that a sequence attends to, also windows and selections, at the rate of attention's data type",),
        result="534.1 us",
        sources=(
            scaling_book("attention FLOPs of DeepSeek-V3's decode, in bf16, take about as long as weights and KV reads each do"),
            talk("1:51:24", "1:52:20", "the quadratic term is left out of the compute time", "we keep it, as a separate time"),
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
        statement="The times of arithmetic, attention, memory traffic and all-to-all between experts add.",
        assumptions=("no overlap at all", "only the all-to-all between experts uses the network"),
        changes=("counts drafts. Each draft is also sent to its experts", "the time of launches and all-reduces in every layer is added"),
        given={
            "overhead_time": "6.1 ms", "drafting_time": "323 us", "tokens_verified_per_step": "2", "compute_time": "74.79 us",
            "attention_time": "274.7 us", "memory_time": "8.675 ms", "all_to_all_time": "200 us",
        },
        result="16.2 ms",
        sources=(
            scaling_book(
                "the published decode step of DeepSeek-V3 is mostly all-to-all",
                "not in the lecture. With every published part counted the sum is somewhat shorter than the measured step",
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
        requires=(PART_OF_A_STEP,),
        statement="Communication and launches add their share of the step, because no computation hides them.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "the share was measured on a similar step",
            "weights and KV cache fit in memory",
        ),
        changes=("attention FLOPs and drafts count", "the time of launches and all-reduces in every layer is added"),
        result="47.43 ms",
        sources=(ours("a measured share instead of a model of the network. With mfu and mbu it is the calibrated step time"),),
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
            "always one read of the active weights. A read of all weights of a mixture of experts is longer than a step at small batches,"
            " and the activated experts depend on the batch",
            "weights that every token uses are read once in each attention replica",
            "experts and other weights may have different data types",
        ),
        unsaid=("attention_replicas",),
        statement="At any batch, a step reads at least the weights that one sequence uses.",
        assumptions=("fixed hardware", "weights are sharded perfectly over the chips of one copy"),
        given={"active_params": "37B"},
        result="3.791 ms",
        derivation=lambda: (
            Step(
                operation="the weight-read time of the next token of one sequence alone, as if these were all weights",
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
                "uses the active parameters. The lecture's total parameters are right for a dense model. Some summaries give the 20 ms of"
                " one full HBM read, which is sweep_time",
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
        statement="At any batch, a step of a dense model reads at least all weights, with every copy of its attention.",
        assumptions=("fixed hardware", "every chip stores and reads the same number of bytes"),
        given={"weight_bytes": "416 GB"},
        result="11.09 ms",
        sources=(ours("the read of all weights on the chips, the same as roofline.weight_time_resident for one chip"),),
    ),
    Equation(
        id="roofline.memory_time_share",
        title="Memory time over memory plus compute time",
        relation=lambda memory_time_share, memory_time, tokens_verified_per_step, compute_time, attention_time: (
            memory_time_share,
            memory_time / (memory_time + tokens_verified_per_step * (compute_time + attention_time)),
        ),
        statement="Memory time over memory plus arithmetic time. It is a half at the balance point, with any overlap.",
        changes=("attention FLOPs and the verification of drafts are arithmetic",),
        result="0.6203",
        sources=(ours("unlike 1 - 1/R this share does not assume that decode is memory-bound"),),
    ),
    *GRID,
)
