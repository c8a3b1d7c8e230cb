"""Experts: a mixture of experts over the chips of a rack, and over racks (lecture, 0:32:00 to 0:47:02)."""

from derive.catalogue.arithmetic import logarithm, maximum, minimum, part_times, power
from derive.catalogue.sources import DEEPSEEK_V3_PAPER, GPT_OSS_CARD, MOE_PAPER, SWITCH_PAPER, ours, scaling_book, talk
from derive.records import BOUND, HEURISTIC, Equation, Requirement, Step, Variant, at

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
        changes=("counts the drafts that a pass verifies, because each draft uses its own experts. A batch is at least one sequence",),
        requires=(
            Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token never uses all experts"),
            Requirement(holds=lambda batch: batch >= 1, otherwise="a batch is at least one sequence"),
            Requirement(
                holds=lambda tokens_verified_per_step: tokens_verified_per_step >= 1, otherwise="a step computes at least one token"
            ),
        ),
        statement="A pass reads an expert if at least one of its tokens needs it. The result is the mean number.",
        assumptions=("tokens choose their experts independently and evenly. With uneven routing fewer experts are used",),
        given={"batch": "32", "tokens_verified_per_step": "2"},
        result="222.4",
        sources=(
            MOE_PAPER,
            ours("the lecture reads all weights at any batch, which is true if the tokens need nearly every expert"),
        ),
    ),
    Equation(
        id="experts.shared_params",
        title="Parameters that every token uses",
        relation=lambda shared_params, total_params, routed_params: (shared_params, total_params - routed_params),
        requires=(
            Requirement(
                holds=lambda total_params, routed_params: total_params > routed_params,
                otherwise="routed experts have fewer than all parameters",
            ),
        ),
        statement="The parameters outside the routed experts: attention, embeddings, shared experts and dense layers.",
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
            Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token never uses all experts"),
            Requirement(
                holds=lambda total_params, active_params: total_params > active_params,
                otherwise="a token uses fewer than all parameters",
            ),
        ),
        statement="A token does not use all routed parameters. Those that it does not use are the total minus the active parameters.",
        assumptions=("all experts have the same size",),
        given={"total_params": "671B", "active_params": "37B"},
        result="654.5B",
        sources=(MOE_PAPER, ours("active_params = shared_params + routed_params*active_experts/experts, combined with the total")),
    ),
    Equation(
        id="experts.fetched_params",
        title="Parameters a step reads",
        relation=lambda fetched_params, shared_params, routed_params, activated_experts, experts: (
            fetched_params,
            shared_params + routed_params * activated_experts / experts,
        ),
        statement="The shared parameters, and the experts that at least one token of the batch uses.",
        assumptions=("all experts have the same size", "an expert is read once for all tokens that use it"),
        result="585.1B",
        sources=(ours("from the active parameters for one sequence to the total parameters for many"),),
    ),
    Equation(
        id="experts.mean_bytes_per_weight",
        defined_elsewhere=True,
        changes=("the same mean in another form: the bytes of the other weights plus the difference for the experts",),
        title="Bytes of a weight, mean of experts and other weights",
        relation=lambda bytes_per_weight, expert_bytes_per_weight, routed_params, shared_bytes_per_weight, total_params: (
            bytes_per_weight,
            shared_bytes_per_weight + (expert_bytes_per_weight - shared_bytes_per_weight) * routed_params / total_params,
        ),
        requires=(
            Requirement(
                holds=lambda total_params, routed_params: total_params >= routed_params,
                otherwise="routed experts have at most all parameters",
            ),
        ),
        statement="The mean over all weights of a model whose experts are stored in fewer bytes than the other weights.",
        assumptions=("all experts have one data type, and all other weights have one",),
        given={"total_params": "671B"},
        result="0.5369",
        sources=(ours("the stored bytes over the number of weights"),),
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
            "the step waits for the chip with the most activated experts, which was not in the formula before",
            "the busiest chip reads at most all the experts that it stores. Before, nothing limited the imbalance",
            "weights that every token uses are read once in each attention replica",
            "experts and other weights may have different data types",
        ),
        requires=(
            Requirement(holds=lambda fetched_params, shared_params: fetched_params > shared_params),
            Requirement(holds=lambda expert_imbalance: expert_imbalance >= 1),
        ),
        statement="At small batches a step reads only the experts that it uses. The chip that reads the most finishes last. It reads at"
                  " most all its experts.",
        assumptions=(
            "all experts have one data type, and all other weights have one",
            "the weights that all tokens use are sharded perfectly over the chips of one copy",
            "every chip stores the same number of experts",
            "unless expert_imbalance is given, activated experts are spread evenly over the chips: see experts.busiest_chip",
        ),
        given={"chips": "32"},
        result="5.927 ms",
        derivation=lambda: (
            Step(
                operation="the bytes that the busiest chip reads, times the number of chips, give the weight time",
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
            ours("the transcript counts total parameters, a flashcard active parameters. This is between them and reaches both"),
            GPT_OSS_CARD,
        ),
    ),
    Equation(
        id="experts.plain_weight_time_touched",
        changes=(
            "the busiest chip reads at most all the experts that it stores",
            "weights that every token uses are read once in each attention replica",
            "experts and other weights may have different data types",
        ),
        title="Weight-read time of a step without drafts, with only the activated experts",
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
        statement="Without drafts each sequence computes one token, so it uses fewer experts.",
        assumptions=("the imbalance of activated experts between chips is the same as with drafts",),
        given={"batch": "32", "chips": "32"},
        result="4.819 ms",
        derivation=lambda: (
            Step(
                operation="the weight time of a pass with one position per sequence",
                premises=(
                    at("experts.weight_time_touched", weight_time="plain_weight_time"),
                    at("experts.fetched_params"),
                    at("experts.touched_experts", tokens_verified_per_step=1),
                ),
                eliminated=("fetched_params", "activated_experts"),
            ),
        ),
        sources=(MOE_PAPER, ours("a step with drafts is compared with it")),
    ),
    Equation(
        id="experts.busiest_chip",
        title="Activated experts on the busiest chip",
        kind=HEURISTIC,
        rule="the usual load of the busiest chip with even routing",
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
        changes=("also on more chips than experts, no chip reads more than its own experts",),
        requires=(
            Requirement(holds=lambda activated_experts, experts: activated_experts <= experts),
            Requirement(holds=lambda expert_parallel: expert_parallel >= 1),
        ),
        statement="The busiest chip has more activated experts than the mean of all chips: at least one, and at most all its experts.",
        assumptions=(
            "each expert is on one chip, chosen at random, and all chips have the same number",
            "tokens choose their experts independently and evenly. With uneven routing the imbalance is larger",
            "error against random draws: at most a sixth with one or more activated experts per chip on average, else at most a quarter",
        ),
        result="1.151",
        sources=(
            ours(
                "the activated experts of a chip are nearly binomial. The largest of n chips is about (ln n)^(3/4) standard deviations"
                " above the mean. The exponent is a fit to random draws"
            ),
        ),
    ),
    Equation(
        id="experts.expert_capacity",
        title="Largest number of tokens that an expert processes",
        relation=lambda expert_capacity, capacity_factor, batch, tokens_verified_per_step, active_experts, experts: (
            expert_capacity,
            capacity_factor * batch * tokens_verified_per_step * active_experts / experts,
        ),
        statement="A buffer of fixed size has room for the mean number of tokens times a factor. Further tokens are dropped.",
        assumptions=("buffers have a fixed size. In serving usually no tokens are dropped",),
        given={"capacity_factor": "1.25", "batch": "32", "tokens_verified_per_step": "2"},
        result="2.5",
        sources=(SWITCH_PAPER,),
    ),
    Equation(
        id="experts.sequences_per_chip",
        title="Sequences for each chip",
        relation=lambda sequences_per_chip, batch, chips: (sequences_per_chip, batch / chips),
        statement="Outside the experts each sequence is on one chip, so the batch is divided over the chips.",
        given={"batch": "2048", "chips": "32"},
        result="64",
        sources=(scaling_book("88 sequences per chip on 144 chips"),),
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
            "every expert of a token is on another chip. On few chips the time is too long by active_experts over reached_chips (see"
            " experts.all_to_all_time_one_copy)",
            "one message per expert",
            "no overlap with arithmetic",
        ),
        given={"model_dim": "7168"},
        result="12.77 ms",
        sources=(
            talk(
                "0:36:20", "0:38:47", "every chip sends to every other chip, and sends as much as it receives",
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
        requires=(Requirement(holds=lambda expert_parallel: expert_parallel > 1, otherwise="experts on one chip send to no other chip"),),
        statement="Two experts of a token may be on one chip, or on the token's own chip. The result is the mean number.",
        assumptions=("experts are chosen independently and evenly. Without repetition slightly more chips are reached",),
        result="6.953",
        sources=(ours("the probability that no expert of a token is on a given other chip is (1 - 1/n)^k"),),
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
        statement="A chip receives a token once for all of the token's experts there, and sends back the sum of their results.",
        assumptions=("a chip adds up the results of its experts before it sends them", "no overlap with arithmetic"),
        given={"model_dim": "7168"},
        result="11.1 ms",
        derivation=lambda: (
            Step(
                operation="the all-to-all time, with one message per chip instead of one per expert",
                premises=(at("experts.all_to_all_time", active_experts="reached_chips"),),
            ),
        ),
        sources=(DEEPSEEK_V3_PAPER,),
    ),
    Equation(
        id="experts.racks",
        title="Scale-up domains with experts of a layer",
        relation=lambda racks, expert_parallel, scale_up_size: (racks, maximum(1, expert_parallel / scale_up_size)),
        statement="The chips of the experts fill one domain after another.",
        assumptions=("all domains except the last are full",),
        given={"scale_up_size": "8"},
        result="4",
        sources=(ours("chips over the chips of one domain. Experts on fewer chips stay within one domain"),),
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
        statement="Most of the traffic leaves the rack over a slower link. It takes longer than the simultaneous traffic inside the rack.",
        assumptions=(
            "the assumptions of experts.all_to_all_time_one_copy",
            "traffic inside the rack overlaps with traffic between racks, and each link has its full rate in one direction",
            "one copy per chip leaves the rack. With one per rack the traffic is smaller (see experts.scale_out_slowdown_one_copy)",
        ),
        changes=(
            "the other chips that a token reaches do not include its own chip. So a larger share of them is in other racks",
            "a rack has at least one chip",
        ),
        given={"model_dim": "7168"},
        result="8.594 ms",
        derivation=lambda: (
            Step(
                operation="the definition: one copy per chip, and the longer of the times inside the rack and between racks. A token's own"
                          " chip is not among the chips that it is sent to",
                relation=lambda all_to_all_time, moe_layers, sequences_per_chip, reached_chips, model_dim, dispatch_bytes_per_element,
                    combine_bytes_per_element, expert_parallel, racks, scale_up_link_bandwidth, scale_out_link_bandwidth: (
                    all_to_all_time,
                    moe_layers
                    * sequences_per_chip
                    * reached_chips
                    * model_dim
                    * (dispatch_bytes_per_element + combine_bytes_per_element)
                    * maximum(
                        (1 - expert_parallel * (racks - 1) / (racks * (expert_parallel - 1))) / scale_up_link_bandwidth,
                        expert_parallel * (racks - 1) / (racks * (expert_parallel - 1)) / scale_out_link_bandwidth,
                    ),
                ),
            ),
            Step(operation="the share that stays in the rack as one fraction", premises=(at("#1"),)),
        ),
        sources=(
            DEEPSEEK_V3_PAPER,
            talk("0:38:47", "0:39:35", "scale-out is about eight times slower than scale-up", "uses the bandwidths of both links"),
            ours("the other chips of a rack are one fewer than its chips"),
        ),
    ),
    Equation(
        id="experts.reached_racks",
        changes=("counts the racks that the router selects. These are all racks unless the router limits them",),
        title="Racks with experts of a token",
        relation=lambda reached_racks, rack_limit, active_experts: (
            reached_racks,
            rack_limit * (1 - (1 - 1 / rack_limit) ** active_experts),
        ),
        requires=(Requirement(holds=lambda rack_limit: rack_limit >= 1),),
        statement="The experts of a token are in fewer racks than there are experts, because some share a rack. If the router first"
                  " selects a few racks and then experts in them, only these racks are reached.",
        assumptions=("experts are chosen independently and evenly. Without repetition slightly more racks are reached",),
        given={"rack_limit": "4"},
        result="3.6",
        sources=(DEEPSEEK_V3_PAPER, ours("the probability that no expert of a token is in a given rack is (1 - 1/n)^k"),),
    ),
    Equation(
        id="experts.most_racks",
        title="Largest number of racks of a token",
        kind=BOUND,
        relation=lambda reached_racks, active_experts, racks: (reached_racks, minimum(active_experts, racks)),
        sense="<=",
        statement="A token goes to at most as many racks as its active experts, and to at most all racks.",
        assumptions=("a token is sent only to racks with at least one of its experts",),
        result="4",
        sources=(DEEPSEEK_V3_PAPER,),
    ),
    Equation(
        id="experts.leaving_copies",
        title="Copies of a token that leave its rack",
        relation=lambda leaving_copies, reached_racks, racks: (leaving_copies, reached_racks * (racks - 1) / racks),
        requires=(Requirement(holds=lambda racks: racks >= 1),),
        statement="One copy goes to every rack with experts of the token, except its own.",
        assumptions=("the probability that a token's own rack is among the reached racks is the same as for any other rack",),
        given={"reached_racks": "3.6"},
        result="2.7",
        sources=(DEEPSEEK_V3_PAPER, ours("the token's own rack is a share of the reached racks: one over the number of racks")),
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
        statement="The bandwidths of the two links of one chip, each in one direction.",
        result="9",
        sources=(
            talk(
                "0:38:47", "0:39:35", "scale-out is about eight times slower than scale-up",
                "computed from the links of each chip, because the ratios differ by a factor of several",
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
        statement="Traffic between racks is slower by the ratio of the bandwidths and overlaps with the rest. The longer time counts.",
        assumptions=(
            "traffic inside the rack overlaps with traffic between racks",
            "one message per expert. With one copy per rack the traffic between racks is smaller (see experts.scale_out_slowdown_one_copy)",
        ),
        result="6.75",
        derivation=lambda: (
            Step(
                operation="the definition: the longer of the times inside the rack and between racks, over the time within one rack",
                relation=lambda scale_out_slowdown, leaving_share, scale_out_bandwidth_ratio: (
                    scale_out_slowdown,
                    maximum(1 - leaving_share, scale_out_bandwidth_ratio * leaving_share),
                ),
            ),
            Step(
                operation="the share of traffic between racks, as a function of the number of racks",
                premises=(at("#1"), at("experts.leaving_share")),
                eliminated=("leaving_share",),
            ),
        ),
        sources=(
            talk(
                "0:38:47", "0:39:35", "scale-out is about eight times slower than scale-up",
                "an input, because published ratios differ by a factor of several",
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
        statement="A token is sent once to each rack with some of its experts, and is distributed there.",
        assumptions=(
            "traffic inside the rack overlaps with traffic between racks",
            "inside the racks every expert receives a message, as within one rack",
        ),
        given={"leaving_copies": "2.7"},
        result="3.038",
        derivation=lambda: (
            Step(
                operation="the definition: the longer of the messages inside the racks and the copies that leave a rack, in units of the"
                          " time within one rack. There each expert receives one message",
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
