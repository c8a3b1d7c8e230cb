"""What a sheet implies, as estimates of four kinds, KV bytes by three anchors side by side.

The anchors differ in what they hold a long-context premium to be paid for with: one mark-up on base price and increment
alike (what the lecture assumes), increments at rental cost, and increments at the mark-up that models of known
architecture show, combined with the KV bytes such models have. The last is the headline; KV bytes given from outside take
its place. A sheet without a premium bounds KV bytes and does not give them; one that no hidden quantities fit is
undetermined, with what it breaks. Every estimate names the outside facts (`invert.anchors`) that move it.
"""

from collections.abc import Mapping
from math import exp, hypot, log

from derive.catalogue import equation
from derive.shipped import once_a_reading
from invert.estimators import calibration
from invert.estimators.at_rent import MEANS
from invert.estimators.densities import Belief, interval
from invert.estimators.joint_point import JOINT_EQUATIONS
from invert.posterior import inverse
from invert.posterior.data import Evidence
from invert.posterior.summary import LEVEL_OF_PRICES, Marginal, Summary, contracted
from invert.records import LEVEL, Estimate, Observable, or_undetermined, undetermined, upper
from invert.storage import tiers
from invert.storage.tiers import NORMAL_95

FEASIBLE = 0.05
"""Share of draws below which a sheet is taken to contradict the model."""
LEANS_UPWARD = "leans upward: output/input also holds margin on output, idle capacity and whatever else decode waits for"


def ids(*names: str) -> tuple[str, ...]:
    """Equations as id@version."""
    return tuple(equation(name).reference for name in names)


JOINT = ids(*JOINT_EQUATIONS, "bands.prefill_cost", "bands.decode_cost", "bands.price")
BATCH = ids("batching.weight_compute_ratio")


def posterior_anchors(evidence: Evidence) -> tuple[str, ...]:
    """The outside facts that move the posterior of a sheet: those of storage and of a long band only where it sells one."""
    names = ["active_params", "machine_balance_ratio", "bytes_per_weight", "prompt_position", "prefill_decode_flops_ratio", "overlap"]
    names += MEANS if "premium_out" in evidence.cells else MEANS[:1]
    names += ("sweep_time", "holding_cost_ratio") if "storage_ratio" in evidence.cells else ()
    return (*names, "kv_bytes_per_token")


def kv_by_common_markup(
    found: Summary, prior_spread: float, premium: bool, contradiction: str | None, problem: str | None, anchors: tuple[str, ...] = ()
) -> Estimate:
    """KV bytes if one mark-up covers everything: the posterior; a bound without a premium; nothing where prices contradict it.

    `problem` is what the prices break at the anchors themselves; it is named where hardly any draw fits them either. `anchors`
    are those the posterior rests on.
    """
    if contradiction or found.feasible_fraction < FEASIBLE:
        share = f"{found.feasible_fraction:.0%} of the draws fit the prices: they contradict the model"
        return undetermined(contradiction or share + (f"; {problem}" if problem else ""), JOINT, anchors)
    marginal = found.marginals["kv_bytes_per_token"]
    contraction = contracted(marginal.spread, prior_spread)
    if not premium:
        return upper(marginal.at_most, "no output premium: the prices bound KV from above", JOINT, contraction, anchors)
    return interval_of(marginal, "one mark-up on base price and premium alike", JOINT, contraction, anchors)


@or_undetermined
def kv_calibrated(at_rent: Estimate, architecture: str | None) -> Estimate:
    """KV bytes from what `kv_by_increment` says, at the mark-up of models of known architecture, combined with their KV bytes.

    The model itself and its siblings are left out of what is learned.
    """
    if at_rent.kind == "undetermined":
        return at_rent
    learnt = calibration.learn(architecture)
    anchors = (*at_rent.anchors, "kv_bytes_per_token")
    if at_rent.kind == "interval":
        belief = calibration.combined(log(at_rent.median), learnt)
        low, median, high = (exp(end) for end in interval(belief, LEVEL))
        because = f"increments at the mark-up of {learnt.increments.count} known sheets, and {learnt.reference.count} known caches"
        return Estimate("interval", median, low, high, LEVEL, because, at_rent.equations, _against_class(belief, architecture), anchors)
    belief = calibration.bounded(log(at_rent.high), learnt)
    because = f"no output premium: {learnt.reference.count} known caches, and what the price pays for"
    return upper(exp(belief.quantile(LEVEL)), because, at_rent.equations, _against_class(belief, architecture), anchors)


def interval_of(
    marginal: Marginal, because: str, equations: tuple[str, ...], contraction: float | None, anchors: tuple[str, ...]
) -> Estimate:
    """The central interval of a marginal."""
    return Estimate("interval", marginal.median, marginal.low, marginal.high, LEVEL, because, equations, contraction, anchors)


def _against_class(belief: Belief, architecture: str | None) -> float:
    """Contraction against the reference class alone, from the half-widths of both."""
    return contracted(_width(belief), _width_of_class(architecture))


@once_a_reading
def _width_of_class(architecture: str | None) -> float:
    return _width(calibration.reference_only(calibration.learn(architecture)))


def _width(belief: Belief) -> float:
    return belief.quantile(0.84) - belief.quantile(0.16)


def posterior_estimates(
    found: Summary, prior: Mapping[str, float], contradiction: str | None, anchors: tuple[str, ...] = ()
) -> dict[str, Estimate]:
    """What the joint inference says beside KV bytes; all undetermined where the prices contradict the model.

    `anchors` are those the posterior rests on.
    """
    names = {
        "memory_time_share": (LEANS_UPWARD, ids("bands.memory_time_share")),
        "balance_context": ("one mark-up throughout", JOINT),
        "attention_intensity": ("one mark-up throughout", (*JOINT, *ids("architecture.attention_intensity"))),
        "active_params_times_markup": (
            "at the rental price of a FLOP in bf16",
            ids("bands.active_params_times_markup", "serving.price_per_flop"),
        ),
    }
    if contradiction or not found.marginals or found.feasible_fraction < FEASIBLE:
        because = (
            "the prices contradict the model at these anchors"
            if contradiction
            else f"{found.feasible_fraction:.0%} of the draws fit the prices"
        )
        missing = [*names.items(), ("batch_multiple", ("", BATCH))]
        return {name: undetermined(because, equations, anchors) for name, (_, equations) in missing}
    estimates = {
        name: interval_of(found.marginals[name], because, equations, contracted(found.marginals[name].spread, prior[name]), anchors)
        for name, (because, equations) in names.items()
        if name in found.marginals
    }
    if LEVEL_OF_PRICES not in estimates:
        estimates[LEVEL_OF_PRICES] = undetermined("what a FLOP rents for is not known", names[LEVEL_OF_PRICES][1])
    weight = found.marginals["weight_compute_ratio"]
    contraction = contracted(weight.spread, prior["weight_compute_ratio"])
    because = "in balance batches; whatever decode waits for besides weights makes it look smaller"
    least = float(
        inverse.solved("batching.weight_compute_ratio", "batch", {"balance_batch": 1.0, "weight_compute_ratio": weight.at_most})
    )
    estimates["batch_multiple"] = Estimate(
        "lower", low=least, because=because, equations=BATCH, contraction=contraction, anchors=anchors
    )
    return estimates


def bandwidth_bound_fraction(ratio: Observable) -> Estimate:
    """The lecture's reading over the rounding cell of output/input."""
    equations = ids("readings.bandwidth_bound_fraction")
    if ratio.value <= 1:
        return undetermined("output is not sold above input", equations)
    reading = equation("readings.bandwidth_bound_fraction")
    low, median, high = (reading.right_side({"output_input_ratio": end}) for end in (max(1.0, ratio.low), ratio.value, ratio.high))
    return Estimate("interval", median, low, high, because=LEANS_UPWARD, equations=equations)


def implied_drain_time(seen: tuple[float, float]) -> Estimate:
    """Median [s] and spread [nat] as an estimate."""
    median, spread = seen
    reach = exp(NORMAL_95 * spread)
    because = "what storage is priced as, against the premium: no parameters, KV bytes or base margins in it"
    equations = ids("cache.implied_drain_time")
    return Estimate("interval", median, median / reach, median * reach, because=because, equations=equations, anchors=MEANS)


@or_undetermined
def kv_bytes_stored(storage_price: Observable) -> Estimate:
    """KV bytes that the storage price pays for if they lie in rented HBM; the mark-up on storage leaves little of it."""
    holding = tiers.tier_parameters("rented", tiers.PRICE_YEARS[-1])["hbm"].holding_price
    priced = {"storage_price": storage_price.value / tiers.STORAGE_MARKUP, "tier_price": holding.median, "tier_capacity": 1.0}
    median = float(inverse.solved("cache.storage_price_is_hold_cost", "kv_bytes_per_token", priced))
    reach = exp(NORMAL_95 * hypot(holding.sd, tiers.STORAGE_MARKUP_SD))
    because = "if it lies in rented HBM; vendors ask one storage price for caches of unlike size"
    return Estimate("interval", median, median / reach, median * reach, because=because, equations=ids("cache.storage_price_is_hold_cost"))
