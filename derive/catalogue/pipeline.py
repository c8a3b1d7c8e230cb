"""Pipeline: layers cut into stages, and the effect on memory, latency and idle time (lecture, 0:47:00 to 1:18:14).

Batch has two meanings. A pass works on one microbatch on the chips of one stage, so the roofline's `batch` is a
microbatch. Memory stores the caches of all `sequences_in_flight`, which is all microbatches.
"""

from typing import Any

from derive.catalogue.arithmetic import maximum, minimum
from derive.catalogue.sources import GPIPE_PAPER, MEGATRON_PAPER, talk
from derive.records import BOUND, CONDITION, Equation, Requirement, Step, at


def hops(stages: Any) -> Any:
    """Return the hops of a token through all stages and back to the first: one per stage, 0 for a single stage.

    >>> [hops(stages) for stages in (1, 2, 3, 8)]
    [0, 2, 3, 8]
    """
    return minimum(stages, 2 * (stages - 1))


EQUATIONS = (
    Equation(
        id="pipeline.sequences_in_flight",
        title="Sequences in flight",
        changes=("a microbatch is the batch of one pass",),
        relation=lambda sequences_in_flight, microbatches, batch: (sequences_in_flight, microbatches * batch),
        statement="The number of microbatches in the pipeline times the sequences of one microbatch.",
        result="128",
        sources=(
            talk(
                "1:08:36", "1:10:03", "the batch in flight is the number of microbatches times their size",
                "the talk once says that their size is the number of stages. It means their number",
            ),
            talk("1:08:36", "1:10:03", "as many microbatches as pipeline stages are needed, as a drawing shows"),
        ),
    ),
    Equation(
        id="pipeline.kv_cancellation",
        changes=(
            "counts the bytes of a sequence with windows and states, and the copies of a cache on the chips",
            "a microbatch is the batch of one pass",
        ),
        title="Memory of one chip with as many microbatches as stages",
        kind=CONDITION,
        relation=lambda memory_per_chip, total_params, bytes_per_weight, chips, pipeline_stages, batch,
            kv_bytes_per_sequence, kv_replication: (
            memory_per_chip,
            total_params * bytes_per_weight / (chips * pipeline_stages) + batch * kv_bytes_per_sequence * kv_replication / chips,
        ),
        statement="More stages need more microbatches. So a chip stores fewer weights, but the same number of caches.",
        assumptions=("as many microbatches as stages", "the assumptions of memory.per_chip"),
        result="45.69 GB",
        derivation=lambda: (
            Step(
                operation="the demand of one chip, with the caches of all microbatches",
                premises=(
                    at("memory.per_chip"),
                    at("memory.demand"),
                    at("memory.weight_bytes"),
                    at("memory.kv_cache_bytes"),
                    at("pipeline.sequences_in_flight"),
                ),
                eliminated=("memory_demand", "weight_bytes", "kv_cache_bytes", "sequences_in_flight"),
                relation=lambda memory_per_chip, total_params, bytes_per_weight, microbatches, batch,
                    kv_bytes_per_sequence, kv_replication, chips, pipeline_stages: (
                    memory_per_chip,
                    (total_params * bytes_per_weight + microbatches * batch * kv_bytes_per_sequence * kv_replication)
                    / (chips * pipeline_stages),
                ),
            ),
            Step(
                operation="the number of stages cancels in the second term",
                premises=(at("#1", microbatches="pipeline_stages"),),
            ),
        ),
        sources=(
            talk(
                "1:10:33",
                "1:12:28",
                "pipelining reduces the weights on a chip, but not its KV cache",
                "a condition, because it is true only with as many microbatches as stages",
            ),
        ),
    ),
    Equation(
        id="pipeline.idle_fraction",
        title="Idle share of a stage in decode",
        relation=lambda idle_fraction, microbatches, step_time, pipeline_stages, hop_latency: (
            idle_fraction,
            maximum(0, 1 - microbatches * step_time / (pipeline_stages * (step_time + hops(pipeline_stages) * hop_latency))),
        ),
        statement="A round is one pass and its hops. In a round, each microbatch keeps a stage busy for its share of the pass. For the"
                  " rest of the round the stage is idle.",
        assumptions=(
            "all stages need the same time",
            "one hop per stage, the last one back to the first stage. A single stage has no hop",
        ),
        changes=(
            "hops also leave stages idle. As many microbatches as stages do not fill the pipeline",
            "a single stage has no hop, for any hop_latency",
        ),
        given={"microbatches": "3", "pipeline_stages": "4"},
        result="0.251",
        sources=(talk("0:57:28", "0:57:40", "four stages and one batch at a time leave three quarters idle"),),
    ),
    Equation(
        id="pipeline.bubble",
        title="Bubble of a training schedule",
        relation=lambda bubble_fraction, pipeline_stages, virtual_stages, training_microbatches: (
            bubble_fraction,
            (pipeline_stages - 1) / (virtual_stages * training_microbatches + pipeline_stages - 1),
        ),
        unsaid=("virtual_stages",),
        changes=(
            "counts the microbatches of a training step. Fewer are in flight at the same time: 1F1B limits them to the number of stages",
            "a device may have several short groups of layers (interleaved 1F1B)",
        ),
        requires=(
            Requirement(holds=lambda pipeline_stages: pipeline_stages > 1, otherwise="a single stage has no bubble"),
            Requirement(
                holds=lambda training_microbatches: training_microbatches >= 1,
                otherwise="a training step has at least one microbatch",
            ),
            Requirement(holds=lambda virtual_stages: virtual_stages >= 1, otherwise="a device has at least one group of layers"),
            Requirement(
                holds=lambda virtual_stages, training_microbatches, pipeline_stages: (
                    (virtual_stages - 1) * training_microbatches >= (virtual_stages - 1) * pipeline_stages
                ),
                otherwise="an interleaved schedule has at least as many microbatches as stages",
            ),
        ),
        statement="Once per training step the pipeline fills and drains. This share of the schedule is idle for a stage. A device with"
                  " several short groups of layers fills and drains faster, and sends its activations more often by the same factor.",
        assumptions=(
            "GPipe or 1F1B (one forward, one backward). Both have the same idle time, but store different numbers of microbatches",
            "a pass needs the same time in all stages. A backward pass may be longer than a forward pass",
            "schedules with a split backward pass (zero bubble, DualPipe) are not included",
            "traffic between stages costs no time. If schedules are interleaved, the microbatches are a multiple of the stages",
        ),
        given={"pipeline_stages": "16"},
        result="0.05535",
        sources=(
            GPIPE_PAPER,
            MEGATRON_PAPER,
            talk("0:59:01", "1:00:46", "training has a bubble. Schedules such as zero bubble make it smaller", "no formula is given"),
        ),
    ),
    Equation(
        id="pipeline.virtual_stages_fit",
        title="No more virtual stages than layers",
        kind=BOUND,
        relation=lambda virtual_stages, layers_per_stage: (virtual_stages, layers_per_stage),
        sense="<=",
        statement="A virtual stage has at least one layer.",
        assumptions=("no layer is split",),
        given={"layers_per_stage": "9"},
        result="9",
        sources=(MEGATRON_PAPER,),
    ),
    Equation(
        id="pipeline.layers_per_stage",
        title="Layers of a stage",
        relation=lambda layers_per_stage, layers, pipeline_stages: (layers_per_stage, layers / pipeline_stages),
        changes=("does not accept more stages than layers, because a stage needs a layer",),
        requires=(
            Requirement(holds=lambda layers, pipeline_stages: layers >= pipeline_stages, otherwise="a stage has at least one layer"),
        ),
        statement="The layers are divided evenly over the stages.",
        given={"pipeline_stages": "14"},
        result="9",
        sources=(talk("0:50:48", "0:52:55", "a stage is a number of layers"),),
    ),
    Equation(
        id="pipeline.rack_hop_ratio",
        title="Scale-up time over scale-out time of a stage",
        relation=lambda rack_hop_ratio, active_experts, layers_per_stage, scale_out_bandwidth_ratio: (
            rack_hop_ratio,
            2 * active_experts * layers_per_stage / scale_out_bandwidth_ratio,
        ),
        statement=(
            "In each layer a token's activation crosses the rack twice for each of its experts. It leaves the rack once per stage. If the"
            " ratio is one or more, the hop between racks is not the bottleneck."
        ),
        assumptions=("every message has the same bytes", "every expert of a token is on another chip"),
        given={"layers_per_stage": "4"},
        result="7.111",
        sources=(talk("0:50:48", "0:52:55", "activated experts times layers times two, compared with eight"),),
    ),
    Equation(
        id="pipeline.hop_latency",
        title="Latency of a token through the stages",
        relation=lambda token_latency, step_time, pipeline_stages, hop_latency, microbatches: (
            token_latency,
            maximum(step_time + hops(pipeline_stages) * hop_latency, microbatches * step_time / pipeline_stages),
        ),
        statement=(
            "Stages do not change the time of a pass, but hops add time, and so do more microbatches than stages and hops can hold."
        ),
        assumptions=(
            "step_time is the pass through all layers, and all stages need the same time",
            "one hop per stage, the last one back to the first stage, where the next token begins. A single stage has no hop",
        ),
        changes=(
            "microbatches wait in a queue if stages and hops are full. The equation is also valid for a single stage",
            "a single stage has no hop, for any hop_latency",
        ),
        result="28.63 ms",
        sources=(
            talk("1:00:49", "1:01:14", "pipelining does not change the latency"),
            talk(
                "1:15:13",
                "1:15:50",
                "a hop is a few milliseconds, within a factor of ten: 20 becomes 30 ms",
                "ten milliseconds are all hops of a token, including the one back to the first stage",
            ),
        ),
    ),
)
