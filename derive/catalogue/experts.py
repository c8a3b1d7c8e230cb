"""Experts: a mixture of experts over the chips of a rack, and over racks (lecture, 0:32:00 to 0:47:02)."""

from derive.catalogue.arithmetic import logarithm, maximum, minimum, part_times, power
from derive.catalogue.sources import DEEPSEEK_V3_PAPER, GPT_OSS_CARD, MOE_PAPER, SWITCH_PAPER, ours, scaling_book, talk
from derive.records import BOUND, HEURISTIC, Equation, Step, Variant, at
from derive.requirements import Requirement

EQUATIONS = (
    Equation(
        id="experts.experts_per_chip",
        title="Experts on one chip",
        relation=lambda experts_per_chip, experts, expert_parallel: (experts_per_chip, experts / expert_parallel),
        statement="The experts of a layer are divided evenly over the chips.",
        result="8",
        sources=(talk("0:33:54", "0:34:23", "256 experts over 64 of a rack's 72 GPUs are four each"),),
    ),
    Equation(
        id="experts.touched_experts",
        title="Experts that a batch uses",
        relation=lambda activated_experts, experts, active_experts, batch, tokens_verified_per_step: (
            activated_experts,
            experts * (1 - (1 - active_experts / experts) ** (batch * tokens_verified_per_step)),
        ),
        changes=("counts the drafts that a pass checks, as each of them goes to experts of its own. A batch is one sequence at least",),
        requires=(
            Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token uses a part of all experts"),
            Requirement(holds=lambda batch: batch >= 1, otherwise="a batch is one sequence at least"),
            Requirement(
                holds=lambda tokens_verified_per_step: tokens_verified_per_step >= 1, otherwise="a step computes one token at least"
            ),
        ),
        statement="An expert is read if at least one token of the pass needs it.",
        assumptions=("tokens choose their experts independently and evenly: skewed routing touches fewer",),
        given={"batch": "32", "tokens_verified_per_step": "2"},
        result="222.4",
        sources=(
            MOE_PAPER,
            ours("the lecture reads all weights whatever the batch. That is true if tokens need nearly every expert"),
        ),
    ),
    Equation(
        id="experts.shared_params",
        title="Parameters that every token uses",
        relation=lambda shared_params, total_params, routed_params: (shared_params, total_params - routed_params),
        requires=(
            Requirement(
                holds=lambda total_params, routed_params: total_params > routed_params,
                otherwise="routed experts are a part of all parameters",
            ),
        ),
        statement="Attention, embeddings, shared experts and dense layers: everything that is not routed.",
        given={"total_params": "671B"},
        result="16.5B",
        sources=(MOE_PAPER,),
    ),
    Equation(
        id="experts.routed_params",
        title="Parameters of the routed experts",
        relation=lambda routed_params, total_params, active_params, active_experts, experts: (
            routed_params,
            (total_params - active_params) / (1 - active_experts / experts),
        ),
        requires=(
            Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token uses a part of all experts"),
            Requirement(
                holds=lambda total_params, active_params: total_params > active_params,
                otherwise="a token uses a part of all parameters",
            ),
        ),
        statement="A token leaves out all routed parameters but its own share, so these are the total less the active ones.",
        assumptions=("all experts are of one size",),
        given={"total_params": "671B", "active_params": "37B"},
        result="654.5B",
        sources=(MOE_PAPER, ours("active_params = shared_params + routed_params*active_experts/experts, with the total")),
    ),
    Equation(
        id="experts.fetched_params",
        title="Parameters a step reads",
        relation=lambda fetched_params, shared_params, routed_params, activated_experts, experts: (
            fetched_params,
            shared_params + routed_params * activated_experts / experts,
        ),
        statement="The shared parameters and the experts that any token of the batch uses.",
        assumptions=("all experts are of one size", "an expert is read once, however many tokens use it"),
        result="585.1B",
        sources=(ours("between active parameters at one sequence and total parameters at many"),),
    ),
    Equation(
        id="experts.mean_bytes_per_weight",
        defined_elsewhere=True,
        changes=("the same mean, written as the width of the rest and the difference that experts make",),
        title="Bytes of a weight, experts and the rest together",
        relation=lambda bytes_per_weight, expert_bytes_per_weight, routed_params, shared_bytes_per_weight, total_params: (
            bytes_per_weight,
            shared_bytes_per_weight + (expert_bytes_per_weight - shared_bytes_per_weight) * routed_params / total_params,
        ),
        requires=(
            Requirement(
                holds=lambda total_params, routed_params: total_params >= routed_params,
                otherwise="routed experts are a part of all parameters",
            ),
        ),
        statement="The mean over all weights of a model whose experts are stored in fewer bytes than the rest.",
        assumptions=("all experts are stored alike, and so is all beside them",),
        given={"total_params": "671B"},
        result="0.5369",
        sources=(ours("what is stored, over how many weights it is"),),
    ),
    Equation(
        id="experts.weight_time_touched",
        title="Weight-read time with only the activated experts",
        variant=Variant(group="weight_time", name="touched", holds_for=("mixed",)),
        relation=lambda weight_time, attention_replicas, shared_params, shared_bytes_per_weight, fetched_params, expert_imbalance,
            routed_params, expert_bytes_per_weight, chips, hbm_bandwidth, mbu: (
            weight_time,
            # The ratio of widths is 1 and goes, where all weights have one.
            (
                attention_replicas * shared_params * (shared_bytes_per_weight / expert_bytes_per_weight)
                + part_times(fetched_params - shared_params, expert_imbalance, routed_params)
            )
            * expert_bytes_per_weight
            / (chips * hbm_bandwidth * mbu),
        ),
        changes=(
            "waits for the chip on which most of the activated experts lie. That was left out",
            "the busiest chip reads no more than all the experts that it holds. An imbalance could make it read any number",
            "what every token uses is read once in each attention replica",
            "experts and other weights may have widths of their own",
        ),
        requires=(
            Requirement(holds=lambda fetched_params, shared_params: fetched_params > shared_params),
            Requirement(holds=lambda expert_imbalance: expert_imbalance >= 1),
        ),
        statement="At small batches a step reads only the experts that it uses. The chip with the most reads, at most all its"
                  " experts, finishes last.",
        assumptions=(
            "all experts are stored alike, and so is all beside them",
            "what all tokens use is sharded perfectly over the chips that share one copy",
            "every chip holds as many experts",
            "unless expert_imbalance is given, activated experts are spread evenly over the chips: see experts.busiest_chip",
        ),
        given={"chips": "32"},
        result="5.927 ms",
        derivation=lambda: (
            Step(
                operation="the weight time of all the bytes that the busiest chip reads, times the chips",
                premises=(
                    at(
                        "roofline.weight_time",
                        total_params=lambda attention_replicas, shared_params, shared_bytes_per_weight, fetched_params, expert_imbalance,
                            routed_params, expert_bytes_per_weight, bytes_per_weight: (
                            (
                                attention_replicas * shared_params * shared_bytes_per_weight
                                + part_times(fetched_params - shared_params, expert_imbalance, routed_params) * expert_bytes_per_weight
                            )
                            / bytes_per_weight
                        ),
                    ),
                ),
            ),
        ),
        sources=(
            ours("the transcript reads total parameters, a flashcard active ones: this lies between them and meets both"),
            GPT_OSS_CARD,
        ),
    ),
    Equation(
        id="experts.plain_weight_time_touched",
        changes=(
            "the busiest chip reads no more than all the experts that it holds",
            "what every token uses is read once in each attention replica",
            "experts and other weights may have widths of their own",
        ),
        title="Weight-read time with only the activated experts, of a step without drafts",
        variant=Variant(group="weight_time", name="touched", holds_for=("mixed",)),
        relation=lambda plain_weight_time, attention_replicas, shared_params, shared_bytes_per_weight, routed_params, active_experts,
            experts, batch, expert_imbalance, expert_bytes_per_weight, chips, hbm_bandwidth, mbu: (
            plain_weight_time,
            (
                attention_replicas * shared_params * shared_bytes_per_weight
                + routed_params * part_times(1 - (1 - active_experts / experts) ** batch, expert_imbalance, 1) * expert_bytes_per_weight
            )
            / (chips * hbm_bandwidth * mbu),
        ),
        requires=(
            Requirement(holds=lambda active_experts, experts: active_experts < experts),
            Requirement(holds=lambda batch: batch >= 1),
            Requirement(holds=lambda expert_imbalance: expert_imbalance >= 1),
        ),
        statement="One token per sequence uses fewer experts than the token and its drafts.",
        assumptions=("activated experts lie on the chips as unevenly as in a step with drafts",),
        given={"batch": "32", "chips": "32"},
        result="4.819 ms",
        derivation=lambda: (
            Step(
                operation="the weight time of a pass with one position a sequence",
                premises=(
                    at("experts.weight_time_touched", weight_time="plain_weight_time"),
                    at("experts.fetched_params"),
                    at("experts.touched_experts", tokens_verified_per_step=1),
                ),
                eliminated=("fetched_params", "activated_experts"),
            ),
        ),
        sources=(MOE_PAPER, ours("what a step with drafts is compared with")),
    ),
    Equation(
        id="experts.busiest_chip",
        title="Activated experts on the busiest chip",
        kind=HEURISTIC,
        relation=lambda expert_imbalance, activated_experts, experts, expert_parallel: (
            expert_imbalance,
            minimum(
                experts / activated_experts,
                maximum(
                    expert_parallel / activated_experts,
                    1
                    + power(logarithm(expert_parallel), 3, 4) * power(expert_parallel * (1 / activated_experts - 1 / experts), 1, 2),
                ),
            ),
        ),
        changes=("on more chips than there are experts, too, none reads more than all of what it holds",),
        requires=(
            Requirement(holds=lambda activated_experts, experts: activated_experts <= experts),
            Requirement(holds=lambda expert_parallel: expert_parallel >= 1),
        ),
        statement="One of many chips has more activated experts than the mean: at least one, at most all its experts.",
        assumptions=(
            "experts lie on the chips at random, as many on each, and none twice",
            "tokens choose their experts independently and evenly: skewed routing is worse",
            "against draws at random within a sixth where a chip has one activated expert or more on average, else within a quarter",
        ),
        result="1.151",
        sources=(
            ours(
                "activated experts of a chip are nearly binomial, and the largest of n chips lies about (ln n)^(3/4) standard deviations"
                " above the mean. The exponent fits draws at random"
            ),
        ),
    ),
    Equation(
        id="experts.expert_capacity",
        title="Tokens that an expert processes",
        relation=lambda expert_capacity, capacity_factor, batch, tokens_verified_per_step, active_experts, experts: (
            expert_capacity,
            capacity_factor * batch * tokens_verified_per_step * active_experts / experts,
        ),
        statement="Buffers of fixed size have room for the mean number of tokens times a factor. Further tokens are dropped.",
        assumptions=("buffers of a fixed size: serving usually drops no tokens",),
        given={"capacity_factor": "1.25", "batch": "32", "tokens_verified_per_step": "2"},
        result="2.5",
        sources=(SWITCH_PAPER,),
    ),
    Equation(
        id="experts.sequences_per_chip",
        title="Sequences for each chip",
        relation=lambda sequences_per_chip, batch, chips: (sequences_per_chip, batch / chips),
        statement="Outside the experts a sequence belongs to one chip, so the batch is divided over the chips.",
        given={"batch": "2048", "chips": "32"},
        result="64",
        sources=(scaling_book("88 sequences a chip on 144 chips"),),
    ),
    Equation(
        id="experts.all_to_all_time",
        title="All-to-all time of one step",
        variant=Variant(group="all_to_all_time", name="one_message_an_expert", default=True),
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
        statement="In every expert layer the activation of each token goes to its experts and comes back.",
        assumptions=(
            "every expert of a token lies on another chip: on few chips too long by active_experts over reached_chips"
            " (experts.all_to_all_time_one_copy)",
            "one message an expert",
            "no overlap with arithmetic",
        ),
        given={"model_dim": "7168"},
        result="12.77 ms",
        sources=(
            talk(
                "0:36:20", "0:38:47", "any chip talks to any other, as much in as out",
                "the lecture gives no time. The formula is the usual one",
            ),
            scaling_book("dispatch in fp8 and combine in bf16, over a link of 40 GB/s, is 22 ms of DeepSeek-V3's step"),
        ),
    ),
    Equation(
        id="experts.reached_chips",
        title="Other chips with experts of a token",
        relation=lambda reached_chips, expert_parallel, active_experts: (
            reached_chips,
            (expert_parallel - 1) * (1 - (1 - 1 / expert_parallel) ** active_experts),
        ),
        requires=(Requirement(holds=lambda expert_parallel: expert_parallel > 1, otherwise="experts on one chip reach no other"),),
        statement="Two experts of a token may be on one chip, or on the token's own chip.",
        assumptions=("experts are chosen independently and evenly: without repetition a little more chips are reached",),
        result="6.953",
        sources=(ours("each other chip is missed by all experts of a token with the chance (1 - 1/n)^k"),),
    ),
    Equation(
        id="experts.all_to_all_time_one_copy",
        title="All-to-all time of one step, one copy per chip",
        variant=Variant(group="all_to_all_time", name="one_copy_a_chip"),
        relation=lambda all_to_all_time, moe_layers, sequences_per_chip, reached_chips, model_dim,
            dispatch_bytes_per_element, combine_bytes_per_element, link_bandwidth: (
            all_to_all_time,
            moe_layers
            * sequences_per_chip
            * reached_chips
            * model_dim
            * (dispatch_bytes_per_element + combine_bytes_per_element)
            / link_bandwidth,
        ),
        statement="A chip gets a token once for all of its experts there, and sends back their sum.",
        assumptions=("the experts of a chip add up their results before they send them", "no overlap with arithmetic"),
        given={"model_dim": "7168"},
        result="11.1 ms",
        derivation=lambda: (
            Step(
                operation="the all-to-all time, with a message for each chip in place of each expert",
                premises=(at("experts.all_to_all_time", active_experts="reached_chips"),),
            ),
        ),
        sources=(DEEPSEEK_V3_PAPER,),
    ),
    Equation(
        id="experts.racks",
        title="Scale-up domains with experts of a layer",
        relation=lambda racks, expert_parallel, scale_up_size: (racks, maximum(1, expert_parallel / scale_up_size)),
        statement="Chips fill one domain after another.",
        assumptions=("all domains except the last are full",),
        given={"scale_up_size": "8"},
        result="4",
        sources=(ours("chips over the chips of one domain. Experts on fewer chips stay within one"),),
    ),
    Equation(
        id="experts.all_to_all_time_racks",
        title="All-to-all time of one step over several racks",
        variant=Variant(group="all_to_all_time", name="over_racks"),
        relation=lambda all_to_all_time, moe_layers, sequences_per_chip, reached_chips, model_dim, dispatch_bytes_per_element,
            combine_bytes_per_element, expert_parallel, racks, scale_up_link_bandwidth, scale_out_link_bandwidth: (
            all_to_all_time,
            moe_layers
            * sequences_per_chip
            * reached_chips
            * model_dim
            * (dispatch_bytes_per_element + combine_bytes_per_element)
            * maximum(
                (expert_parallel - racks) / (racks * (expert_parallel - 1) * scale_up_link_bandwidth),
                expert_parallel * (racks - 1) / (racks * (expert_parallel - 1) * scale_out_link_bandwidth),
            ),
        ),
        requires=(
            Requirement(holds=lambda racks: racks >= 1),
            Requirement(holds=lambda expert_parallel: expert_parallel > 1),
            Requirement(holds=lambda expert_parallel, racks: expert_parallel >= racks),
        ),
        statement="Most of the traffic leaves the rack over a slower link and hides the traffic inside.",
        assumptions=(
            "the assumptions of experts.all_to_all_time_one_copy",
            "traffic inside and between racks overlaps, and each link gives its full rate in one direction",
            "a copy for each chip leaves the rack: with one that is handed on there less does (experts.scale_out_slowdown_one_copy)",
        ),
        changes=(
            "of the other chips that a token reaches none is its own: a larger share of them is in other racks than of all chips",
            "a rack has a chip at least",
        ),
        given={"model_dim": "7168"},
        result="8.594 ms",
        derivation=lambda: (
            Step(
                operation="what it means: one copy a chip, the longer of what stays in the rack and what leaves it",
                relation=lambda all_to_all_time, moe_layers, sequences_per_chip, reached_chips, model_dim, dispatch_bytes_per_element,
                    combine_bytes_per_element, leaving_share, scale_up_link_bandwidth, scale_out_link_bandwidth: (
                    all_to_all_time,
                    moe_layers
                    * sequences_per_chip
                    * reached_chips
                    * model_dim
                    * (dispatch_bytes_per_element + combine_bytes_per_element)
                    * maximum((1 - leaving_share) / scale_up_link_bandwidth, leaving_share / scale_out_link_bandwidth),
                ),
            ),
            Step(
                operation="the share that leaves of what goes to other chips: a token's own chip is none of them",
                relation=lambda leaving_share, expert_parallel, racks: (
                    leaving_share,
                    expert_parallel * (racks - 1) / (racks * (expert_parallel - 1)),
                ),
            ),
            Step(
                operation="with this share",
                premises=(at("#1"), at("#2")),
                eliminated=("leaving_share",),
            ),
        ),
        sources=(
            DEEPSEEK_V3_PAPER,
            talk("0:38:47", "0:39:35", "scale-out is about eight times slower than scale-up", "by the bandwidths of both links"),
            ours("the other chips of a rack are one fewer than its chips"),
        ),
    ),
    Equation(
        id="experts.reached_racks",
        changes=("over the racks that the router picks, which are all racks unless it limits them",),
        title="Racks with experts of a token",
        relation=lambda reached_racks, rack_limit, active_experts: (
            reached_racks,
            rack_limit * (1 - (1 - 1 / rack_limit) ** active_experts),
        ),
        requires=(Requirement(holds=lambda rack_limit: rack_limit >= 1),),
        statement="The experts of a token are in fewer racks than there are experts, because some share a rack. A router that first picks"
                  " a few racks, and then experts in them, reaches no other racks.",
        assumptions=("experts are chosen independently and evenly: without repetition a little more racks are reached",),
        given={"rack_limit": "4"},
        result="3.6",
        sources=(DEEPSEEK_V3_PAPER, ours("each rack is missed by all experts of a token with the chance (1 - 1/n)^k"),),
    ),
    Equation(
        id="experts.most_racks",
        title="Largest number of racks of a token",
        kind=BOUND,
        relation=lambda reached_racks, active_experts, racks: (reached_racks, minimum(active_experts, racks)),
        sense="<=",
        statement="At most the number of its experts, and at most the number of racks.",
        assumptions=("a token goes to no rack without one of its experts",),
        result="4",
        sources=(DEEPSEEK_V3_PAPER,),
    ),
    Equation(
        id="experts.leaving_copies",
        title="Copies of a token that leave its rack",
        relation=lambda leaving_copies, reached_racks, racks: (leaving_copies, reached_racks * (racks - 1) / racks),
        requires=(Requirement(holds=lambda racks: racks >= 1),),
        statement="One copy goes to every rack with experts of the token, except its own.",
        assumptions=("a token's own rack is among those it reaches as often as any other",),
        given={"reached_racks": "3.6"},
        result="2.7",
        sources=(DEEPSEEK_V3_PAPER, ours("of the racks that are reached, one in all racks is the token's own")),
    ),
    Equation(
        id="experts.leaving_share",
        title="Share of the traffic that leaves the rack",
        relation=lambda leaving_share, racks: (leaving_share, (racks - 1) / racks),
        statement="The probability that an expert of a token is in another rack.",
        assumptions=("experts are chosen evenly over the racks",),
        result="0.75",
        sources=(talk("0:38:47", "0:39:35", "with two racks half of the tokens go to the other one"),),
    ),
    Equation(
        id="experts.scale_out_bandwidth_ratio",
        title="Bandwidth inside a rack over bandwidth between racks",
        relation=lambda scale_out_bandwidth_ratio, scale_up_link_bandwidth, scale_out_link_bandwidth: (
            scale_out_bandwidth_ratio,
            scale_up_link_bandwidth / scale_out_link_bandwidth,
        ),
        statement="Both links of one chip, in one direction.",
        result="9",
        sources=(
            talk(
                "0:38:47", "0:39:35", "scale-out is about eight times slower than scale-up",
                "from the links of each chip: the ratios differ by several times",
            ),
        ),
    ),
    Equation(
        id="experts.scale_out_slowdown",
        title="Slowdown of the all-to-all over several racks",
        variant=Variant(group="scale_out_slowdown", name="one_message_an_expert", default=True),
        relation=lambda scale_out_slowdown, racks, scale_out_bandwidth_ratio: (
            scale_out_slowdown,
            maximum(1 / racks, scale_out_bandwidth_ratio * (racks - 1) / racks),
        ),
        statement="Traffic out of the rack is slower by the ratio of the bandwidths, and hides the traffic inside.",
        assumptions=(
            "traffic inside and between racks overlaps",
            "one message an expert: with one copy a rack less leaves (experts.scale_out_slowdown_one_copy)",
        ),
        result="6.75",
        derivation=lambda: (
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
    Equation(
        id="experts.scale_out_slowdown_one_copy",
        title="Slowdown of the all-to-all over several racks, one copy per rack",
        variant=Variant(group="scale_out_slowdown", name="one_copy_a_rack"),
        relation=lambda scale_out_slowdown, scale_out_bandwidth_ratio, leaving_copies, active_experts: (
            scale_out_slowdown,
            maximum(1, scale_out_bandwidth_ratio * leaving_copies / active_experts),
        ),
        statement="A token crosses once to each rack with some of its experts, and is distributed there.",
        assumptions=(
            "traffic inside and between racks overlaps",
            "inside the racks every expert gets a message, as within one rack",
        ),
        given={"leaving_copies": "2.7"},
        result="3.038",
        derivation=lambda: (
            Step(
                operation="what it means: the longer of the messages inside the racks and the copies that leave one, in units of the time"
                " within one rack, which is a message an expert",
                relation=lambda scale_out_slowdown, scale_out_bandwidth_ratio, leaving_copies, active_experts: (
                    scale_out_slowdown,
                    maximum(active_experts, scale_out_bandwidth_ratio * leaving_copies) / active_experts,
                ),
            ),
            Step(operation="divided out", premises=(at("#1"),)),
        ),
        sources=(DEEPSEEK_V3_PAPER,),
    ),
)
