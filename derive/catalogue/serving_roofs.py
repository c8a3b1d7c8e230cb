"""Limits of a replica with any batch, context and schedule: each token needs a pass through the active weights."""

from derive.catalogue.band_terms import ATTENTION_LEFT_OUT
from derive.catalogue.sources import DISTSERVE_PAPER, ROOFLINE_PAPER, ours
from derive.records import BOUND, Equation, Step, at

_ONE_PASS = "each token is computed at least once. No stored answers are used"

ROOFS = (
    Equation(
        id="serving.peak_throughput",
        title="Largest throughput that the arithmetic of a replica allows",
        kind=BOUND,
        relation=lambda throughput, one_token, chips, pipeline_stages, peak_flops, mfu, flop_per_weight, active_params: (
            throughput,
            one_token * chips * pipeline_stages * peak_flops * mfu / (flop_per_weight * active_params),
        ),
        sense="<=",
        statement="Each token needs a multiply-add with every active weight, and the chips have a peak rate. So this is an upper bound.",
        assumptions=(_ONE_PASS, "attention and refused drafts need additional time"),
        result="39.09k token/s",
        derivation=lambda: (
            Step(
                operation="the chips only multiply with the weights, and each computed position yields a token",
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
        sources=(ROOFLINE_PAPER, ours("the flat part of the roofline, in tokens per second")),
    ),
    Equation(
        id="serving.peak_prefill_rate",
        title="Largest prefill rate that the arithmetic of one chip allows",
        kind=BOUND,
        relation=lambda prefill_rate_per_chip, peak_flops, mfu, prefill_decode_flops_ratio, flop_per_mac_and_token, active_params,
            prefill_attention_factor: (
            prefill_rate_per_chip,
            peak_flops * mfu * prefill_decode_flops_ratio / (flop_per_mac_and_token * active_params * prefill_attention_factor),
        ),
        sense="<=",
        statement="For compute-bound prefill: the FLOP/s of a chip over the FLOPs of a token. The rate is at most this.",
        assumptions=("cached tokens are free and are not counted", ATTENTION_LEFT_OUT),
        result="1446 token/s",
        derivation=lambda: (
            Step(
                operation="the reads of the weights cost no time, nor do launches and all-reduces",
                premises=(at("serving.prefill_rate_per_chip", prefill_weight_time=0, overhead_time=0),),
            ),
        ),
        sources=(DISTSERVE_PAPER,),
    ),
)
