"""Training, continued: copies of a model that train on different data, and the tokens that hide what they exchange."""

from derive.catalogue.sources import ZERO_PAPER, scaling_book_training
from derive.records import CONDITION, Equation, Step, Variant, at

_RING = "there are many copies. With two links, each link sends half of this"
_OWN_LINK = "every chip has its own link. If groups of chips first add their values, fewer bytes go over it"

NETWORK = (
    Equation(
        id="training.data_parallel_time",
        title="All-reduce time of the gradients of all copies",
        variant=Variant(group="data_parallel_time", name="all_reduce", default=True),
        relation=lambda data_parallel_time, total_params, exchange_bytes_per_param, chips, pipeline_stages, link_bandwidth: (
            data_parallel_time,
            2 * total_params * exchange_bytes_per_param / (chips * pipeline_stages * link_bandwidth),
        ),
        statement="Once per training step a reduce-scatter adds the gradients and an all-gather distributes them. ZeRO-1 sends the"
                  " same bytes.",
        assumptions=(_RING, _OWN_LINK, "every copy stores all weights. FSDP sends more"),
        given={"chips": "8", "pipeline_stages": "16"},
        result="253.1 ms",
        sources=(scaling_book_training("an all-reduce of the gradients in the backward pass"), ZERO_PAPER),
    ),
    Equation(
        id="training.data_parallel_time_sharded",
        title="Time to gather weights and to reduce gradients, fully sharded",
        variant=Variant(group="data_parallel_time", name="sharded"),
        relation=lambda data_parallel_time, total_params, exchange_bytes_per_param, chips, pipeline_stages, link_bandwidth: (
            data_parallel_time,
            3 * total_params * exchange_bytes_per_param / (chips * pipeline_stages * link_bandwidth),
        ),
        statement="FSDP, or ZeRO-3: an all-gather of the weights for the forward pass, another for the backward pass, and a"
                  " reduce-scatter of the gradients.",
        assumptions=(_RING, _OWN_LINK, "one microbatch per training step, because weights are gathered for each microbatch"),
        given={"chips": "8", "pipeline_stages": "16"},
        result="379.7 ms",
        sources=(scaling_book_training("all-gathers of the weights, a reduce-scatter of the gradients"), ZERO_PAPER),
    ),
    Equation(
        id="training.balance_tokens_per_chip",
        title="Tokens per chip at which communication and arithmetic need the same time",
        relation=lambda balance_tokens_per_chip, peak_flops, mfu, exchange_bytes_per_param, total_params, one_flop_per_token,
            active_params, chips, pipeline_stages, link_bandwidth: (
            balance_tokens_per_chip,
            peak_flops
            * mfu
            * exchange_bytes_per_param
            * total_params
            / (2 * one_flop_per_token * active_params * chips * pipeline_stages * link_bandwidth),
        ),
        statement=(
            "For a dense model with two bytes per value it is FLOP/s over link bandwidth. It is the same for a whole fully sharded step"
            " and for only the gradients in the backward pass."
        ),
        assumptions=(_RING, _OWN_LINK, "attention FLOPs are left out"),
        given={"peak_flops": "989 TFLOP/s", "mfu": "40%", "chips": "8", "pipeline_stages": "16"},
        result="61.81 tokens",
        derivation=lambda: (
            Step(
                operation="communication needs the same time as computation",
                premises=(
                    at("training.data_parallel_time_sharded"),
                    at(
                        "training.rate_per_chip",
                        training_rate_per_chip=lambda balance_tokens_per_chip, data_parallel_time: (
                            balance_tokens_per_chip / data_parallel_time
                        ),
                    ),
                ),
                eliminated=("data_parallel_time",),
            ),
        ),
        sources=(scaling_book_training("compute-bound if tokens per chip exceed FLOP/s over bandwidth", "bytes per value are an input"),),
    ),
    Equation(
        id="training.exchange_hidden",
        title="Enough tokens per chip to hide communication",
        kind=CONDITION,
        relation=lambda training_tokens_per_chip, balance_tokens_per_chip: (training_tokens_per_chip, balance_tokens_per_chip),
        sense=">=",
        statement="With fewer tokens per chip, the network determines the time of a training step.",
        assumptions=("a condition: training need not be compute-bound", "communication overlaps with arithmetic all the time"),
        given={"balance_tokens_per_chip": "61.81"},
        result="61.81 tokens",
        sources=(scaling_book_training("more chips for the same batch end up waiting for the network"),),
    ),
)
