"""The posterior with one price/cost for all prices: KV bytes and further quantities."""

from collections.abc import Mapping

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.cases import Case
from invert.estimators.joint_point import JOINT_EQUATIONS, broken_by, joint_reading
from invert.estimators.lecture import LEANS_UPWARD
from invert.estimators.rent import rental
from invert.posterior import inverse
from invert.posterior.data import PriceData
from invert.posterior.summary import LEVEL_OF_PRICES, Marginal, Summary, contracted, prior_spreads, summarise
from invert.records import Estimate, given_value, interval, lower, references, undetermined, upper

_JOINT = (*JOINT_EQUATIONS, "bands.prefill_cost", "bands.decode_cost", "bands.price")
_CITED = {
    "memory_time_share": ("bands.memory_time_share",),
    "balance_context": _JOINT,
    "attention_intensity": (*_JOINT, "architecture.attention_intensity"),
    LEVEL_OF_PRICES: ("bands.active_params_times_price_cost_ratio", "serving.price_per_flop"),
}
"""The equations of the quantities other than KV bytes."""
_BATCH = ("batching.weight_compute_ratio",)
_BECAUSE = {"memory_time_share": LEANS_UPWARD, LEVEL_OF_PRICES: "uses the rental price of a bf16 FLOP"}


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return KV bytes and related quantities if all prices have one price/cost."""
    broken = broken_by(case, assumptions)
    return {"kv_bytes_per_token": _kv_bytes(case, data, assumptions, broken), **_estimate_others(case, data, assumptions, broken)}


def anchors_of_posterior(price_data: PriceData) -> tuple[str, ...]:
    """Return the outside facts that move the posterior of a sheet."""
    names = ["active_params", "machine_balance_ratio", "bytes_per_weight", "prompt_position", "prefill_decode_flops_ratio", "overlap"]
    names += ("short_context", "long_context") if "premium_out" in price_data.cells else ("short_context",)
    names += ("sweep_time", "holding_cost_ratio") if "storage_ratio" in price_data.cells else ()
    return (*names, "kv_bytes_per_token")


def posterior_of(price_data: PriceData, data: Data, assumptions: Assumptions) -> tuple[Summary, Mapping[str, float]]:
    """Return the posterior of a sheet and the prior spread of each quantity [nat]. Both are drawn once for the same prices."""

    def draw() -> tuple[Summary, Mapping[str, float]]:
        per_flop = rental(data, assumptions).values["price_per_flop"]
        return summarise(price_data, assumptions, per_flop), prior_spreads(price_data, assumptions)

    return data.once((posterior_of, price_data.key, assumptions), draw)


def _kv_bytes(case: Case, data: Data, assumptions: Assumptions, broken: str | None) -> Estimate:
    if assumptions.kv_bytes_per_token is not None:
        return given_value(assumptions, assumptions.kv_bytes_per_token, "kv_bytes_per_token")
    (found, prior), cited = posterior_of(case.price_data, data, assumptions), references(*_JOINT)
    anchors = anchors_of_posterior(case.price_data)
    if broken or found.feasible_fraction < assumptions.feasible_share:
        return undetermined(assumptions, broken or _misfit(case, found), equations=cited, anchors=anchors)
    marginal = found.marginals["kv_bytes_per_token"]
    contraction = contracted(marginal.spread, prior["kv_bytes_per_token"])
    if not case.sheet.has_premium:
        because = "no output premium, so the prices give only an upper bound"
        return upper(assumptions, marginal.at_most, because, equations=cited, contraction=contraction, anchors=anchors)
    because = "assumes one price/cost for base price and premium"
    return interval(assumptions, *marginal.ends, because, equations=cited, contraction=contraction, anchors=anchors)


def _misfit(case: Case, found: Summary) -> str:
    """Return the share of the draws that fits the prices, and the contradiction of the prices at the central anchors, if any."""
    share = f"{found.feasible_fraction:.0%} of the draws fit the prices: they contradict the model"
    problem = joint_reading(case.seen.pairs[0], case.anchors.values).problem if case.seen.pairs else None
    return share + (f"; {problem}" if problem else "")


def _estimate_others(case: Case, data: Data, assumptions: Assumptions, broken: str | None) -> dict[str, Estimate]:
    """Return the posterior of quantities other than KV bytes."""
    (found, prior), anchors = posterior_of(case.price_data, data, assumptions), anchors_of_posterior(case.price_data)
    cited = {name: references(*ids) for name, ids in _CITED.items()}
    if broken or not found.marginals or found.feasible_fraction < assumptions.feasible_share:
        because = (
            "the prices contradict the model at these anchors" if broken else f"{found.feasible_fraction:.0%} of the draws fit the prices"
        )
        equations = {**cited, "batch_multiple": references(*_BATCH)}
        return {name: undetermined(assumptions, because, equations=ids, anchors=anchors) for name, ids in equations.items()}
    estimated = {}
    for name, ids in cited.items():
        if name in found.marginals:
            one, because = found.marginals[name], _BECAUSE.get(name, "assumes one price/cost for all prices")
            contraction = contracted(one.spread, prior[name])
            estimated[name] = interval(assumptions, *one.ends, because, equations=ids, contraction=contraction, anchors=anchors)
        else:
            estimated[name] = undetermined(assumptions, "the rental price of a FLOP is not known", equations=ids)
    weight = found.marginals["weight_compute_ratio"]
    contraction = contracted(weight.spread, prior["weight_compute_ratio"])
    return estimated | {"batch_multiple": _batch_multiple(weight, contraction, anchors, assumptions)}


def _batch_multiple(weight: Marginal, contraction: float, anchors: tuple[str, ...], assumptions: Assumptions) -> Estimate:
    """Return a lower bound of the batch in balance batches."""
    least = inverse.solved("batching.weight_compute_ratio", "batch", {"balance_batch": 1.0, "weight_compute_ratio": weight.at_most})
    because = "too low if memory time is not only weight reads"
    return lower(assumptions, float(least), because, equations=references(*_BATCH), contraction=contraction, anchors=anchors)
