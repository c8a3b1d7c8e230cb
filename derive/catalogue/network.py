"""Network: the transfers between chips, apart from the tokens of experts, and their duration."""

from derive.catalogue.arithmetic import maximum, power
from derive.catalogue.sources import POPE_PAPER, RING_PAPER, SPLITWISE_PAPER, TENSOR_PARALLEL_PAPER, ours
from derive.records import Equation, Requirement, Step, Variant, at

SEVERAL_CHIPS = Requirement(holds=lambda chips: chips > 1, otherwise="a single chip waits for no other chip")
_OF_SUMS = (
    "every layer is sharded over all chips (tensor parallelism), with two all-reduces: after attention and after the feed-forward layer",
    "only the time on the links. Every all-reduce also has a latency",
    "every chip has its own link at full rate in one direction. Switches that add up values themselves halve the time",
    "no overlap with arithmetic",
)

EQUATIONS = (
    Equation(
        id="network.all_reduce_time",
        title="Time of an all-reduce",
        relation=lambda all_reduce_time, chips, all_reduce_bytes, link_bandwidth, hop_latency: (
            all_reduce_time,
            2 * (chips - 1) * (all_reduce_bytes / (chips * link_bandwidth) + hop_latency),
        ),
        requires=(SEVERAL_CHIPS,),
        statement="In a ring, each part of the data goes around twice: once for the sum and once to distribute it.",
        assumptions=(
            "a ring: the fewest bytes without switches that add up values themselves. Such switches halve the bytes",
            "every chip has its own link at full rate in one direction",
        ),
        given={"link_bandwidth": "450 GB/s", "hop_latency": "2 us"},
        result="94.95 us",
        sources=(RING_PAPER,),
    ),
    Equation(
        id="network.all_reduce_bytes",
        title="Bytes of an all-reduce of a decode step",
        variant=Variant(group="summed", name="step", default=True),
        relation=lambda all_reduce_bytes, batch, tokens_verified_per_step, model_dim, bytes_per_activation: (
            all_reduce_bytes,
            batch * tokens_verified_per_step * model_dim * bytes_per_activation,
        ),
        statement="The chips of a layer add up one activation vector for each position of a step. It is as wide as the model.",
        assumptions=("one of the two all-reduces of a layer: after attention, or after the feed-forward layer",),
        result="8.389 MB",
        sources=(TENSOR_PARALLEL_PAPER,),
    ),
    Equation(
        id="network.all_reduce_bytes_of_prompts",
        title="Bytes of an all-reduce of a pass over prompts",
        variant=Variant(group="summed", name="prompts"),
        relation=lambda all_reduce_bytes, prefill_batch, new_tokens_per_pass, one_token, model_dim, bytes_per_activation: (
            all_reduce_bytes,
            prefill_batch * new_tokens_per_pass / one_token * model_dim * bytes_per_activation,
        ),
        statement="The chips of a layer add up one activation vector for each token of a pass. It is as wide as the model.",
        assumptions=("one of the two all-reduces of a layer: after attention, or after the feed-forward layer",),
        result="131.1 MB",
        derivation=lambda: (
            Step(
                operation="every token of a pass is a position",
                premises=(
                    at(
                        "network.all_reduce_bytes",
                        batch="prefill_batch",
                        tokens_verified_per_step=lambda new_tokens_per_pass, one_token: new_tokens_per_pass / one_token,
                    ),
                ),
            ),
        ),
        sources=(TENSOR_PARALLEL_PAPER,),
    ),
    Equation(
        id="network.tensor_parallel_time",
        title="Tensor-parallel all-reduce time",
        changes=("uses the bytes of one all-reduce, so it is also valid for a pass over prompts",),
        relation=lambda tensor_parallel_time, layers, allreduces_per_layer, all_reduce_bytes, chips, link_bandwidth: (
            tensor_parallel_time,
            layers * allreduces_per_layer * all_reduce_bytes * 2 * (chips - 1) / (chips * link_bandwidth),
        ),
        requires=(SEVERAL_CHIPS,),
        statement="Each chip of a layer has partial sums. A reduce-scatter adds them, and an all-gather distributes the result.",
        assumptions=_OF_SUMS,
        given={"link_bandwidth": "450 GB/s"},
        result="8.808 ms",
        derivation=lambda: (
            Step(
                operation="every layer has its all-reduces, and the latency of hops is left out",
                premises=(
                    at(
                        "network.all_reduce_time",
                        all_reduce_time=lambda tensor_parallel_time, layers, allreduces_per_layer: (
                            tensor_parallel_time / (layers * allreduces_per_layer)
                        ),
                        hop_latency=0,
                    ),
                ),
            ),
        ),
        sources=(TENSOR_PARALLEL_PAPER,),
    ),
    Equation(
        id="network.exposed_share_of_sums",
        title="Share of a step for its all-reduces, if no computation hides them",
        stand_in=True,
        relation=lambda exposed_communication_share, tensor_parallel_time, memory_time, tokens_verified_per_step, compute_time,
            attention_time: (
            exposed_communication_share,
            tensor_parallel_time
            / (tensor_parallel_time + maximum(tokens_verified_per_step * (compute_time + attention_time), memory_time)),
        ),
        statement="The all-reduce time adds to the longer of arithmetic and reads.",
        assumptions=("no other traffic, and launches cost no time", "computation and reads hide no part of it: an upper bound"),
        given={"tensor_parallel_time": "652.4 us", "memory_time": "4.06 ms", "compute_time": "565.9 us", "attention_time": "173.9 us"},
        result="0.1384",
        sources=(ours("the all-reduce time over the time of a step that waits for it. A measured share is at most this"),),
    ),
    Equation(
        id="network.weight_stationary_2d",
        title="Communication time of a feed-forward layer that is sharded in two dimensions",
        relation=lambda weight_stationary_time, layers, batch, tokens_verified_per_step, bytes_per_activation, model_dim, ffn_dim, chips,
            link_bandwidth: (
            weight_stationary_time,
            4
            * layers
            * batch
            * tokens_verified_per_step
            * bytes_per_activation
            * power(model_dim * ffn_dim / chips, 1, 2)
            / link_bandwidth,
        ),
        requires=(
            SEVERAL_CHIPS,
            Requirement(
                holds=lambda chips, model_dim, ffn_dim: chips * model_dim >= ffn_dim,
                otherwise="with so few chips it is best to shard only the width of the feed-forward layer",
            ),
        ),
        statement="If weights are sharded in two dimensions and stay in place, the traffic shrinks with the square root of the chips.",
        assumptions=(
            "only the feed-forward layer, with two matrices. Attention needs further communication",
            "the best sharding has many parts in both dimensions, so a chip sends almost all of an activation",
            "only the links, without overlap with arithmetic",
        ),
        given={"layers": "118", "batch": "512", "model_dim": "18432", "ffn_dim": "73728", "chips": "64", "link_bandwidth": "270 GB/s"},
        result="33 ms",
        derivation=lambda: (
            Step(
                operation="the definition: inputs and outputs of both matrices. The chips along a side share an activation",
                relation=lambda weight_stationary_time, layers, batch, tokens_verified_per_step, bytes_per_activation, model_dim,
                    model_dim_parts, ffn_dim, chips, link_bandwidth: (
                    weight_stationary_time,
                    2
                    * layers
                    * batch
                    * tokens_verified_per_step
                    * bytes_per_activation
                    * (model_dim / model_dim_parts + ffn_dim * model_dim_parts / chips)
                    / link_bandwidth,
                ),
            ),
            Step(
                operation="the best sharding, which is the same for one value of one layer and for all values",
                premises=(at("#1", layers=1, batch=1, tokens_verified_per_step=1, bytes_per_activation=1, link_bandwidth=1),),
                stationary=("model_dim_parts",),
                relation=lambda model_dim_parts, chips, model_dim, ffn_dim: (
                    model_dim_parts,
                    power(chips * model_dim / ffn_dim, 1, 2),
                ),
            ),
            Step(
                operation="the time with this sharding",
                premises=(at("#1"), at("#2")),
                eliminated=("model_dim_parts",),
            ),
        ),
        sources=(POPE_PAPER,),
    ),
    Equation(
        id="network.kv_transfer_time",
        title="Time to send the cache of a prompt to the chips that decode",
        relation=lambda kv_transfer_time, kv_bytes_per_sequence, chips, link_bandwidth: (
            kv_transfer_time,
            kv_bytes_per_sequence / (chips * link_bandwidth),
        ),
        statement="The bytes of a sequence's cache at the end of its prompt, over the bandwidth of all links of the chips that send it.",
        assumptions=(
            "every chip sends its part over its own link, at full rate in one direction",
            "the cache is sent after the prefill. If it is sent layer by layer, prefill hides most of the time",
        ),
        result="5.161 ms",
        sources=(SPLITWISE_PAPER,),
    ),
)
