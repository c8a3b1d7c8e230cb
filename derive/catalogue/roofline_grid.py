"""Roofline, continued: more chips read faster and wait longer for each other."""

from derive.catalogue.arithmetic import power
from derive.catalogue.sources import EPOCH_PAPER
from derive.records import BOUND, LOWER, Equation, Requirement, Step, at

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
