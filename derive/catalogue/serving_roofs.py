"""Limits of any replica, whatever its batch, context and schedule: each token is a pass through the active weights."""

from derive.catalogue.band_terms import ATTENTION_LEFT_OUT
from derive.catalogue.sources import DISTSERVE_PAPER, ROOFLINE_PAPER, ours
from derive.records import BOUND, Equation, Step, at

_ONE_PASS = "each token is computed at least once: no stored answers"

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
        statement="A token needs a multiply-add with every active weight, and the chips have a peak rate.",
        assumptions=(_ONE_PASS, "attention and refused drafts come on top"),
        result="39.09k token/s",
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
        id="serving.peak_prefill_rate",
        title="Largest prefill rate that the arithmetic of one chip allows",
        kind=BOUND,
        relation=lambda prefill_rate_per_chip, peak_flops, mfu, prefill_decode_flops_ratio, flop_per_mac_and_token, active_params,
            prefill_attention_factor: (
            prefill_rate_per_chip,
            peak_flops * mfu * prefill_decode_flops_ratio / (flop_per_mac_and_token * active_params * prefill_attention_factor),
        ),
        sense="<=",
        statement="Compute-bound prefill: the FLOP/s of a chip over the FLOPs of a token.",
        assumptions=("cached tokens are free and are not counted", ATTENTION_LEFT_OUT),
        result="1446 token/s",
        derivation=lambda: (
            Step(
                operation="the reads of the weights cost no time",
                premises=(at("serving.prefill_rate_per_chip", prefill_weight_time=0),),
            ),
        ),
        sources=(DISTSERVE_PAPER,),
    ),
)
