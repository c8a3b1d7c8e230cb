"""Roofline: how long one decode step takes at least (lecture, 0:02:50 to 0:10:34)."""

from derive.arithmetic import maximum
from derive.catalogue.assumed import COPIES
from derive.catalogue.roofline_grid import GRID
from derive.catalogue.sources import ROOFLINE_PAPER, ours, scaling_book, scaling_book_inference, talk
from derive.records import BOUND, Equation, Step, at

EQUATIONS = (
    Equation(
        id="roofline.compute_time",
        title="Compute time of one decode step",
        defines="compute_time",
        relation=lambda compute_time, flop_per_weight, batch, active_params, chips, peak_flops, mfu: (
            compute_time,
            flop_per_weight * batch * active_params / (chips * peak_flops * mfu),
        ),
        statement="Every sequence of the batch multiplies by every active weight once; the chips share the work.",
        assumptions=(
            "matrix multiplications with the active weights only; attention FLOPs are left out",
            "the work is spread evenly over the chips",
        ),
        sources=(
            talk(
                "0:03:28",
                "0:03:48",
                "compute time is batch times active parameters over FLOPs",
                "the board counts a multiply-add as one; we write 2 FLOP per weight so that data-sheet FLOP/s go in",
            ),
        ),
    ),
    Equation(
        id="roofline.weight_time",
        title="Weight-read time of one decode step",
        defines="weight_time",
        variant=("weight_time", "sharded", True),
        relation=lambda weight_time, total_params, bytes_per_weight, chips, hbm_bandwidth, mbu: (
            weight_time,
            total_params * bytes_per_weight / (chips * hbm_bandwidth * mbu),
        ),
        statement="Every weight, active or not, is read from memory once per step, whatever the batch.",
        assumptions=(
            "every expert is read, as in a dense model: too slow for a mixture of experts at small batches (experts.weight_time_touched)",
            "weights are sharded perfectly: no chip holds a copy of what another holds",
        ),
        sources=(
            talk(
                "0:05:09",
                "0:05:21",
                "weights must be fetched once: total parameters over memory bandwidth",
                "bytes per weight stand in the equation; the board leaves them out",
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
        defines="weight_time",
        variant=("weight_time", "resident", False),
        relation=lambda weight_time, resident_weight_bytes_per_chip, hbm_bandwidth, mbu: (
            weight_time,
            resident_weight_bytes_per_chip / (hbm_bandwidth * mbu),
        ),
        statement="A chip reads the weights that lie in its own memory once per step, replicas included.",
        assumptions=("every chip holds and reads the same number of bytes",),
        sources=(
            scaling_book(
                "DeepSeek-V3 in production holds about 22 GB of weights on each chip, not 671 GB over 144",
                "a variant, because perfect sharding understates the weight time of real deployments",
            ),
        ),
    ),
    Equation(
        id="roofline.kv_time",
        version=2,
        changes=("times the copies that chips hold of a cache: each reads its own",),
        title="KV-read time of one decode step",
        defines="kv_time",
        variant=("kv_time", "dense", True),
        relation=lambda kv_time, batch, context_length, kv_bytes_per_token, kv_copies, chips, hbm_bandwidth, mbu: (
            kv_time,
            batch * context_length * kv_bytes_per_token * kv_copies / (chips * hbm_bandwidth * mbu),
        ),
        statement="Every sequence reads the KV cache of its whole context once per step.",
        assumptions=("dense attention", "no prefix shared inside the batch", "equal context lengths, or their mean", COPIES),
        sources=(talk("0:05:21", "0:05:46", "KV fetch is batch times context length times bytes per token over bandwidth"),),
    ),
    Equation(
        id="roofline.memory_time",
        title="Memory time of one decode step",
        defines="memory_time",
        relation=lambda memory_time, weight_time, kv_time: (memory_time, weight_time + kv_time),
        statement="Weights and KV cache share one memory bus, so their times add.",
        sources=(talk("0:09:17", "0:09:35", "memory time is the sum of weight fetch and KV fetch"),),
    ),
    Equation(
        id="roofline.step_time",
        title="Step time with perfect overlap (roofline)",
        kind=BOUND,
        defines="step_time",
        variant=("overlap", "max", True),
        relation=lambda step_time, compute_time, memory_time: (step_time, maximum(compute_time, memory_time)),
        statement="A step takes at least as long as the slower of its arithmetic and its memory traffic.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "no network and no launch overhead",
            "weights and KV cache fit in memory",
        ),
        sources=(
            talk(
                "0:02:50",
                "0:03:09",
                "time is at least the maximum of compute and memory time",
                "kept as an equality so that it answers with points; DeepSeek's published step took about four times the bound",
            ),
            ROOFLINE_PAPER,
        ),
    ),
    Equation(
        id="roofline.step_time_serial",
        title="Step time with no overlap",
        kind=BOUND,
        defines="step_time",
        variant=("overlap", "sum", False),
        relation=lambda step_time, compute_time, memory_time: (step_time, compute_time + memory_time),
        statement="If nothing overlaps, arithmetic and memory traffic follow one another.",
        assumptions=("no overlap at all", "no network and no launch overhead"),
        sources=(ours("the other honest end: between the maximum and twice the maximum of the two times"),),
    ),
    Equation(
        id="roofline.step_time_kv_plus_max",
        title="Step time with the KV read apart",
        kind=BOUND,
        defines="step_time",
        variant=("overlap", "kv_plus_max", False),
        relation=lambda step_time, kv_time, compute_time, weight_time: (
            step_time,
            kv_time + maximum(compute_time, weight_time),
        ),
        statement="Attention reads the KV cache first; the weight layers then take the slower of compute and weight read.",
        assumptions=("attention and weight layers do not overlap", "no network and no launch overhead"),
        sources=(scaling_book_inference("attention time plus the maximum of weight and compute time"),),
    ),
    Equation(
        id="roofline.attention_time",
        title="Time of the attention FLOPs of one decode step",
        defines="attention_time",
        relation=lambda attention_time, batch, context_length, attention_flops_per_pair, chips, peak_flops, mfu: (
            attention_time,
            batch * context_length * attention_flops_per_pair / (chips * peak_flops * mfu),
        ),
        requires=(lambda attention_flops_per_pair: attention_flops_per_pair > 0,),
        statement="Every sequence's query meets every token of its context once per step.",
        assumptions=("dense attention", "the peak is that of the data type in which attention runs"),
        sources=(
            scaling_book("attention FLOPs of DeepSeek-V3's decode, in bf16, take about as long as weights and KV reads each do"),
            talk("1:51:24", "1:52:20", "the quadratic term is left out of the compute time", "kept apart, as a time of its own"),
        ),
    ),
    Equation(
        id="roofline.step_time_network",
        title="Step time with no overlap, attention and network counted",
        kind=BOUND,
        defines="step_time",
        variant=("overlap", "network", False),
        relation=lambda step_time, compute_time, attention_time, memory_time, all_to_all_time: (
            step_time,
            compute_time + attention_time + memory_time + all_to_all_time,
        ),
        statement="Arithmetic, attention, memory traffic and the exchange between experts follow one another.",
        assumptions=("no overlap at all", "no launch overhead", "only the exchange between experts loads the network"),
        sources=(
            scaling_book(
                "the published decode step of DeepSeek-V3 is mostly all-to-all",
                "not in the lecture; with every published part counted the sum falls somewhat short of the measured step",
            ),
        ),
    ),
    Equation(
        id="roofline.step_time_exposed",
        title="Step time with communication that nothing hides",
        kind=BOUND,
        defines="step_time",
        variant=("overlap", "exposed", False),
        relation=lambda step_time, compute_time, memory_time, exposed_communication_share: (
            step_time,
            maximum(compute_time, memory_time) / (1 - exposed_communication_share),
        ),
        requires=(lambda exposed_communication_share: exposed_communication_share < 1,),
        statement="What communication and launches add, as the share of the step they take for themselves.",
        assumptions=(
            "arithmetic and memory traffic overlap perfectly",
            "the share was measured on a step like this one",
            "weights and KV cache fit in memory",
        ),
        sources=(ours("a measured share in place of a model of the network: with mfu and mbu, the calibrated step time"),),
    ),
    Equation(
        id="roofline.latency_floor",
        title="Latency floor of a step",
        defines="latency_floor",
        relation=lambda latency_floor, weight_time: (latency_floor, weight_time),
        statement="As the batch goes to nothing, what remains is one read of all the weights.",
        assumptions=("fixed hardware", "the assumptions of the weight time"),
        steps=(
            Step(
                operation="the step without a batch: no arithmetic and no cache, but all weights",
                premises=(
                    at("roofline.step_time", step_time="latency_floor"),
                    at("roofline.compute_time", batch=0),
                    at("roofline.memory_time"),
                    at("roofline.kv_time", batch=0),
                ),
                eliminated=("compute_time", "memory_time", "kv_time"),
            ),
        ),
        sources=(
            talk(
                "0:09:54",
                "0:10:34",
                "there is a latency floor: all total parameters over memory bandwidth",
                "not the 20 ms of one full HBM read that some summaries give: that is sweep_time",
            ),
        ),
    ),
    Equation(
        id="roofline.memory_time_share",
        title="Memory share of the work of a step",
        defines="memory_time_share",
        relation=lambda memory_time_share, memory_time, compute_time: (
            memory_time_share,
            memory_time / (memory_time + compute_time),
        ),
        statement="Memory time over memory plus compute time: a half at the balance point, whatever overlaps.",
        sources=(ours("unlike 1 - 1/R this share does not presume that decode is memory-bound"),),
    ),
    *GRID,
)
