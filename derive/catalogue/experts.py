"""Experts: a mixture of experts over the chips of a rack, and over racks (lecture, 0:32:00 to 0:47:02)."""

from derive.arithmetic import maximum
from derive.catalogue.sources import MOE_PAPER, ours, scaling_book, talk
from derive.records import Equation, Step, at

EQUATIONS = (
    Equation(
        id="experts.experts_per_chip",
        title="Experts on one chip",
        defines="experts_per_chip",
        relation=lambda experts_per_chip, experts, expert_parallel: (experts_per_chip, experts / expert_parallel),
        statement="The experts of a layer are dealt out evenly.",
        sources=(talk("0:33:54", "0:34:23", "256 experts over 64 of a rack's 72 GPUs are four each"),),
    ),
    Equation(
        id="experts.touched_experts",
        title="Experts that a batch uses",
        defines="touched_experts",
        relation=lambda touched_experts, experts, active_experts, batch: (
            touched_experts,
            experts * (1 - (1 - active_experts / experts) ** batch),
        ),
        requires=(lambda active_experts, experts: active_experts < experts,),
        statement="An expert is read if at least one sequence of the batch needs it.",
        assumptions=("tokens choose their experts independently and evenly: skewed routing touches fewer",),
        sources=(
            MOE_PAPER,
            ours("the lecture reads all weights whatever the batch; that is true once nearly every expert has somebody who needs it"),
        ),
    ),
    Equation(
        id="experts.shared_params",
        title="Parameters that every token uses",
        defines="shared_params",
        relation=lambda shared_params, total_params, routed_params: (shared_params, total_params - routed_params),
        requires=(lambda total_params, routed_params: total_params > routed_params,),
        statement="Attention, embeddings, shared experts and dense layers: all that is not routed.",
        sources=(MOE_PAPER,),
    ),
    Equation(
        id="experts.active_params",
        title="Active parameters from shared and routed ones",
        relation=lambda active_params, shared_params, routed_params, active_experts, experts: (
            active_params,
            shared_params + routed_params * active_experts / experts,
        ),
        requires=(lambda active_experts, experts: active_experts < experts,),
        statement="A token uses the shared parameters and its share of the routed ones.",
        assumptions=("all experts are of one size",),
        sources=(MOE_PAPER,),
    ),
    Equation(
        id="experts.routed_params",
        title="Parameters of the routed experts",
        defines="routed_params",
        relation=lambda routed_params, total_params, active_params, active_experts, experts: (
            routed_params,
            (total_params - active_params) / (1 - active_experts / experts),
        ),
        requires=(
            lambda active_experts, experts: active_experts < experts,
            lambda total_params, active_params: total_params > active_params,
        ),
        statement="What total and active parameters and the router say of the experts together.",
        assumptions=("all experts are of one size",),
        steps=(
            Step(
                operation="a token leaves out all routed parameters but its own",
                premises=(at("experts.active_params"), at("experts.shared_params")),
                eliminated=("shared_params",),
            ),
        ),
        sources=(ours("two equations in two unknowns: what is shared and what is routed"),),
    ),
    Equation(
        id="experts.fetched_params",
        title="Parameters a step reads",
        defines="fetched_params",
        relation=lambda fetched_params, shared_params, routed_params, touched_experts, experts: (
            fetched_params,
            shared_params + routed_params * touched_experts / experts,
        ),
        statement="The shared parameters and the experts that somebody in the batch uses.",
        assumptions=("all experts are of one size", "an expert is read once, however many tokens use it"),
        sources=(ours("between active parameters at one sequence and total parameters at many"),),
    ),
    Equation(
        id="experts.weight_time_touched",
        title="Weight-read time with only the touched experts",
        defines="weight_time",
        variant=("weight_time", "touched", False),
        relation=lambda weight_time, fetched_params, bytes_per_weight, chips, hbm_bandwidth, mbu: (
            weight_time,
            fetched_params * bytes_per_weight / (chips * hbm_bandwidth * mbu),
        ),
        statement="At small batches a step reads only the experts it uses.",
        assumptions=("touched experts are spread evenly over the chips",),
        steps=(
            Step(
                operation="the weight time, of the parameters that are read",
                premises=(at("roofline.weight_time", total_params="fetched_params"),),
            ),
        ),
        sources=(
            ours("the transcript reads total parameters, a flashcard active ones: this lies between them and meets both"),
        ),
    ),
    Equation(
        id="experts.sequences_per_chip",
        title="Sequences for each chip",
        defines="sequences_per_chip",
        relation=lambda sequences_per_chip, batch, chips: (sequences_per_chip, batch / chips),
        statement="Outside the experts a sequence belongs to one chip, so the batch is dealt out.",
        sources=(scaling_book("88 sequences a chip on 144 chips"),),
    ),
    Equation(
        id="experts.all_to_all_time",
        title="All-to-all time of one step",
        defines="all_to_all_time",
        relation=lambda all_to_all_time, moe_layers, sequences_per_chip, active_experts, model_dim,
            dispatch_bytes_per_element, combine_bytes_per_element, link_bandwidth: (
            all_to_all_time,
            moe_layers
            * sequences_per_chip
            * active_experts
            * model_dim
            * (dispatch_bytes_per_element + combine_bytes_per_element)
            / link_bandwidth,
        ),
        statement="In every expert layer each token's activation goes to its experts and comes back.",
        assumptions=("every expert of a token lies on another chip", "one message an expert", "no overlap with arithmetic"),
        sources=(
            talk(
                "0:36:20", "0:38:47", "any chip talks to any other, as much in as out",
                "the lecture gives no time; the formula is the usual one",
            ),
            scaling_book("dispatch in fp8 and combine in bf16, over a link of 40 GB/s, is 22 ms of DeepSeek-V3's step"),
        ),
    ),
    Equation(
        id="experts.leaving_share",
        title="Share of the traffic that leaves the rack",
        defines="leaving_share",
        relation=lambda leaving_share, racks: (leaving_share, (racks - 1) / racks),
        statement="With the experts of a layer over several racks, a token's expert is in another one with this chance.",
        assumptions=("experts are chosen evenly over the racks",),
        sources=(talk("0:38:47", "0:39:35", "with two racks half of the tokens go to the other one"),),
    ),
    Equation(
        id="experts.scale_out_slowdown",
        title="Slowdown of the all-to-all over several racks",
        defines="scale_out_slowdown",
        relation=lambda scale_out_slowdown, racks, scale_out_bandwidth_ratio: (
            scale_out_slowdown,
            maximum(1 / racks, scale_out_bandwidth_ratio * (racks - 1) / racks),
        ),
        statement="What leaves the rack is slower by the ratio of the bandwidths, and hides what stays.",
        assumptions=("traffic inside and between racks overlaps",),
        steps=(
            Step(
                operation="what it means: the longer of what stays and what leaves, in units of the time within one rack",
                relation=lambda scale_out_slowdown, leaving_share, scale_out_bandwidth_ratio: (
                    scale_out_slowdown,
                    maximum(1 - leaving_share, scale_out_bandwidth_ratio * leaving_share),
                ),
            ),
            Step(
                operation="the share that leaves, in terms of the racks",
                premises=(at("#1"), at("experts.leaving_share")),
                eliminated=("leaving_share",),
            ),
        ),
        sources=(
            talk(
                "0:38:47", "0:39:35", "scale-out is about eight times slower than scale-up",
                "an input: published ratios differ by several times",
            ),
        ),
    ),
)
