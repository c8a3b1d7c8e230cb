"""What no replica beats, whatever its batch, context and schedule: each token is a pass through the active weights."""

from derive.catalogue.band_terms import ATTENTION_LEFT_OUT
from derive.catalogue.sources import DISTSERVE_PAPER, ROOFLINE_PAPER, ours
from derive.records import BOUND, Equation, Example, Step, at

_ONE_PASS = "each token is computed once at least: none is taken from an answer that is stored"

ROOFS = (
    Equation(
        id="serving.peak_throughput",
        title="Most tokens that the arithmetic of a replica makes",
        kind=BOUND,
        relation=lambda throughput, one_token, chips, pipeline_stages, peak_flops, mfu, flop_per_weight, active_params: (
            throughput,
            one_token * chips * pipeline_stages * peak_flops * mfu / (flop_per_weight * active_params),
        ),
        sense="<=",
        statement="A token takes a multiply-add with every active weight, and the chips do so many in a second.",
        assumptions=(_ONE_PASS, "attention and refused drafts come on top"),
        example=Example(
            given={"chips": "16", "pipeline_stages": "2", "peak_flops": "1979 TFLOP/s", "mfu": "50%", "active_params": "405B"},
            result="39.09k token/s",
        ),
        derivation=lambda: (
            Step(
                operation="all the time goes to the weights' arithmetic, and each position that is computed yields a token",
                premises=(
                    at(
                        "batching.compute_utilisation_of_rate",
                        compute_utilisation=1,
                        idle_fraction=0,
                        tokens_per_step=lambda one_token, tokens_verified_per_step: one_token * tokens_verified_per_step,
                    ),
                ),
            ),
        ),
        sources=(ROOFLINE_PAPER, ours("the flat part of the roofline, in tokens")),
    ),
    Equation(
        id="serving.peak_decode_rate",
        title="Most tokens that the arithmetic of one chip makes",
        kind=BOUND,
        relation=lambda decode_rate_per_chip, one_token, peak_flops, mfu, flop_per_weight, active_params: (
            decode_rate_per_chip,
            one_token * peak_flops * mfu / (flop_per_weight * active_params),
        ),
        sense="<=",
        statement="A token takes a multiply-add with every active weight, and a chip does so many in a second.",
        assumptions=(_ONE_PASS, "attention and refused drafts come on top"),
        example=Example(given={"peak_flops": "1979 TFLOP/s", "mfu": "50%", "active_params": "405B"}, result="1222 token/s"),
        derivation=lambda: (
            Step(
                operation="the rate of a replica, shared over its chips",
                premises=(at("serving.peak_throughput"), at("serving.decode_rate_per_chip")),
                eliminated=("throughput",),
            ),
        ),
        sources=(ours("serving.peak_throughput of one chip"),),
    ),
    Equation(
        id="serving.peak_prefill_rate",
        title="Most prompt tokens that the arithmetic of one chip takes",
        kind=BOUND,
        relation=lambda prefill_rate_per_chip, peak_flops, mfu, prefill_decode_flops_ratio, flop_per_mac_and_token, active_params,
            prefill_attention_factor: (
            prefill_rate_per_chip,
            peak_flops * mfu * prefill_decode_flops_ratio / (flop_per_mac_and_token * active_params * prefill_attention_factor),
        ),
        sense="<=",
        statement="Compute-bound prefill: what a chip computes over what a token takes.",
        assumptions=("tokens found in the cache take nothing and are not counted", ATTENTION_LEFT_OUT),
        example=Example(
            given={
                "peak_flops": "1979 TFLOP/s",
                "mfu": "50%",
                "prefill_decode_flops_ratio": "1.3",
                "active_params": "405B",
                "prefill_attention_factor": "1.098",
            },
            result="1446 token/s",
        ),
        derivation=lambda: (
            Step(
                operation="the reads of the weights take no time",
                premises=(at("serving.prefill_rate_per_chip", prefill_weight_time=0),),
            ),
        ),
        sources=(DISTSERVE_PAPER,),
    ),
    Equation(
        id="serving.least_cost",
        title="Least cost of a decoded token",
        kind=BOUND,
        relation=lambda cost_per_token, chip_price, flop_per_weight, active_params, one_token, peak_flops, mfu: (
            cost_per_token,
            chip_price * flop_per_weight * active_params / (one_token * peak_flops * mfu),
        ),
        sense=">=",
        statement="A token costs at least the time of a chip that its arithmetic takes.",
        assumptions=(_ONE_PASS, "attention and refused drafts come on top"),
        example=Example(
            given={"chip_price": "2 USD/h", "active_params": "405B", "peak_flops": "1979 TFLOP/s", "mfu": "50%"},
            result="0.4548 USD/MTok",
        ),
        derivation=lambda: (
            Step(
                operation="the price of the chips over the most tokens that they make",
                premises=(at("serving.peak_throughput"), at("serving.cost_from_throughput")),
                eliminated=("throughput",),
            ),
        ),
        sources=(ours("what serving.normalised_cost is measured in"),),
    ),
)
