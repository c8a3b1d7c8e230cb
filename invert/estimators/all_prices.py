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
from invert.records import Contraction, Estimate, Support, dominated, given_value, interval, lower, references, undetermined, upper

_JOINT = (*JOINT_EQUATIONS, "bands.prefill_cost", "bands.decode_cost", "bands.price")
_KV, _BATCH = "kv_bytes_per_token", "batch_multiple"
_CITED = {
    _KV: _JOINT,
    "memory_time_share": ("bands.memory_time_share",),
    "balance_context": _JOINT,
    "attention_intensity": (*_JOINT, "architecture.attention_intensity"),
    LEVEL_OF_PRICES: ("bands.active_params_times_price_cost_ratio", "serving.price_per_flop"),
    _BATCH: ("batching.weight_compute_ratio",),
}
"""The equations of each quantity."""
_BECAUSE = {
    _KV: "assumes one price/cost for base price and premium",
    "memory_time_share": LEANS_UPWARD,
    LEVEL_OF_PRICES: "uses the rental price of a bf16 FLOP",
}


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return KV bytes and related quantities if all prices have one price/cost."""
    (found, contractions), broken = posterior_of(case.price_data, data, assumptions), broken_by(case, assumptions)
    anchors, cited = anchors_of_posterior(case.price_data), {name: references(*ids) for name, ids in _CITED.items()}
    if broken or found.feasible_fraction < assumptions.feasible_share:
        fits = f"{found.feasible_fraction:.0%} of the draws fit the prices"
        why = dict.fromkeys(cited, "the prices contradict the model at these anchors" if broken else fits)
        problem = joint_reading(case.seen.pairs[0], case.anchors.values).problem if case.seen.pairs else None
        why[_KV] = broken or f"{fits}: they contradict the model" + (f"; {problem}" if problem else "")
        estimated = {name: undetermined(assumptions, why[name], equations=cited[name], anchors=anchors) for name in cited}
    else:
        estimated = {}
        for name, equations in cited.items():
            quantity = "weight_compute_ratio" if name == _BATCH else name
            support: Support = {"equations": equations, "contraction": contractions[quantity].contraction, "anchors": anchors}
            estimated[name] = _estimate(name, found.marginals[quantity], case, assumptions, support)
    if assumptions.kv_bytes_per_token is not None:
        estimated[_KV] = given_value(assumptions, assumptions.kv_bytes_per_token, _KV)
    return estimated


def anchors_of_posterior(price_data: PriceData) -> tuple[str, ...]:
    """Return the outside facts that move the posterior of a sheet."""
    names = ["active_params", "machine_balance_ratio", "bytes_per_weight", "prompt_position", "prefill_decode_flops_ratio", "overlap"]
    names += ("short_context", "long_context") if "premium_out" in price_data.cells else ("short_context",)
    names += ("sweep_time", "holding_cost_ratio") if "storage_ratio" in price_data.cells else ()
    return (*names, "kv_bytes_per_token")


def posterior_of(price_data: PriceData, data: Data, assumptions: Assumptions) -> tuple[Summary, Mapping[str, Contraction]]:
    """Return the posterior of a sheet and the contraction of each quantity. Both are drawn once for the same prices."""

    def draw() -> tuple[Summary, Mapping[str, Contraction]]:
        found = summarise(price_data, assumptions, rental(data, assumptions).values["price_per_flop"])
        prior, contractions = prior_spreads(price_data, assumptions), {}
        for name, one in found.marginals.items():
            share = contracted(one.spread, prior[name])
            too_wide = dominated(share, assumptions)
            contractions[name] = Contraction(prior_spread=prior[name], spread=one.spread, contraction=share, prior_dominated=too_wide)
        return found, contractions

    return data.once((posterior_of, price_data.key, assumptions), draw)


def _estimate(name: str, found: Marginal, case: Case, assumptions: Assumptions, support: Support) -> Estimate:
    """Return a quantity of the posterior. The batch [balance batches] is a lower bound, KV bytes without a premium an upper one."""
    if name == _BATCH:
        least = inverse.solved("batching.weight_compute_ratio", "batch", {"balance_batch": 1.0, "weight_compute_ratio": found.at_most})
        return lower(assumptions, float(least), "too low if memory time is not only weight reads", **support)
    if name == _KV and not case.sheet.has_premium:
        return upper(assumptions, found.at_most, "no output premium, so the prices give only an upper bound", **support)
    because = _BECAUSE.get(name, "assumes one price/cost for all prices")
    return interval(assumptions, found.low, found.median, found.high, because, **support)
