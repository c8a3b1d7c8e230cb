"""What a sheet implies, as estimates of four kinds, KV bytes by three anchors side by side.

The anchors differ in what they hold a long-context premium to be paid for with: one mark-up on base price and increment
alike (what the lecture assumes), increments at rental cost, and increments at the mark-up that models of known
architecture show, combined with the KV bytes such models have. The last is the headline. A sheet without a premium
bounds KV bytes and does not give them; one that no hidden quantities fit is undetermined, with what it breaks.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from itertools import pairwise
from math import exp, hypot, log
from typing import ParamSpec

from derive.catalogue import equation
from derive.errors import WrongData
from derive.shipped import once_a_reading
from invert import calibration, storage, triangular
from invert.beliefs import Belief, interval
from invert.closed_form import JOINT_EQUATIONS
from invert.draws import normals, uniforms
from invert.evidence import NOMINAL_CONTEXT, Evidence
from invert.importance import quantiles
from invert.increments import kv_bytes_at_cost, kv_bytes_within_price, price_lines, rental, weighted_line
from invert.points import LATENT, drawn_contexts
from invert.priors import Beliefs
from invert.records import LEVEL, Estimate, Observable, PriceSheet
from invert.storage import NORMAL_95
from invert.summaries import LEVEL_OF_PRICES, Marginal, Summary, contracted

FEASIBLE = 0.05
"""Share of draws below which a sheet is taken to contradict the model."""
RENT_SPREAD = 0.25
"""Spread of the rental price of a byte of HBM over accelerators and contracts, in nats."""
DRAWS = 4096
LEANS_UPWARD = "leans upward: output/input also holds margin on output, idle capacity and whatever else decode waits for"


def ids(*names: str) -> tuple[str, ...]:
    """Equations as id@version."""
    return tuple(equation(name).reference for name in names)


JOINT = ids(*JOINT_EQUATIONS, "bands.prefill_cost", "bands.decode_cost", "bands.price")
INCREMENT = ids("bands.kv_bytes_from_increment", "serving.price_per_hbm_byte")
BATCH = ids("batching.weight_compute_ratio")
BOUND = ids("bands.kv_read_within_price", "serving.price_per_hbm_byte")


P = ParamSpec("P")


def or_undetermined(estimate: Callable[P, Estimate]) -> Callable[P, Estimate]:
    """The estimate, or none with the reason where a table that it rests on cannot be used."""

    @wraps(estimate)
    def found(*args: P.args, **kwargs: P.kwargs) -> Estimate:
        try:
            return estimate(*args, **kwargs)
        except WrongData as error:
            return undetermined(str(error))

    return found


def undetermined(because: str, equations: tuple[str, ...] = ()) -> Estimate:
    """No estimate, and why."""
    return Estimate("undetermined", because=because, equations=equations)


def upper(high: float, because: str, equations: tuple[str, ...] = (), contraction: float | None = None) -> Estimate:
    """A bound from above."""
    return Estimate("upper", high=high, because=because, equations=equations, contraction=contraction)


def kv_by_common_markup(found: Summary, prior_spread: float, premium: bool, contradiction: str | None, problem: str | None) -> Estimate:
    """KV bytes if one mark-up covers everything: the posterior; a bound without a premium; nothing where prices contradict it.

    `problem` is what the prices break at the anchors themselves; it is named where hardly any draw fits them either.
    """
    if contradiction or found.feasible_fraction < FEASIBLE:
        share = f"{found.feasible_fraction:.0%} of the draws fit the prices: they contradict the model"
        return undetermined(contradiction or share + (f"; {problem}" if problem else ""), JOINT)
    marginal = found.marginals["kv_bytes_per_token"]
    contraction = contracted(marginal.spread, prior_spread)
    if not premium:
        return upper(marginal.at_most, "no output premium: the prices bound KV from above", JOINT, contraction)
    return interval_of(marginal, "one mark-up on base price and premium alike", JOINT, contraction)


@or_undetermined
def kv_by_increment(sheet: PriceSheet, evidence: Evidence, held: Beliefs, max_context: int | None) -> Estimate:
    """KV bytes that the output increments pay for at the rental price of an HBM byte, rounding, band means and rent uncertain."""
    import numpy as np

    rent = rental().values
    if not has_premium(sheet):
        return upper(kv_bound(sheet, max_context), "no output premium: at most what the price pays for at rental cost", BOUND)
    normal, uniform = normals(DRAWS), uniforms(DRAWS)
    low, high = (end[0] for end in evidence.cells["premium_out"])
    logs = low + (high - low) * uniform[:, LATENT : LATENT + len(low)]
    prices = sheet.bands[0].output.usd_per_token * np.exp(np.column_stack([np.zeros(DRAWS), logs]))
    _, slope = weighted_line(drawn_contexts(evidence, held, normal), prices)
    kv = kv_bytes_at_cost(slope, rent) * np.exp(RENT_SPREAD * normal[:, LATENT - 1])
    (ends,) = quantiles(kv[None], np.full((1, DRAWS), 1 / DRAWS), (0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2))
    if ends[1] <= 0:
        because = "output need not rise with length: at most what the price pays for at rental cost"
        return upper(kv_bound(sheet, max_context), because, BOUND)
    return Estimate("interval", *(float(end) for end in ends), because="increments at rental cost", equations=INCREMENT)


@or_undetermined
def kv_calibrated(sheet: PriceSheet, max_context: int | None, architecture: str | None) -> Estimate:
    """KV bytes from the increments at the mark-up of models of known architecture, combined with the KV bytes of those models.

    The model itself and its siblings are left out of what is learned.
    """
    learnt = calibration.learn(architecture)
    lines = price_lines(sheet, max_context)
    if lines and has_premium(sheet) and lines.output.slope > 0:
        belief = calibration.combined(log(kv_bytes_at_cost(lines.output.slope, rental().values)), learnt)
        low, median, high = (exp(end) for end in interval(belief, LEVEL))
        because = f"increments at the mark-up of {learnt.increments.count} known sheets, and {learnt.reference.count} known caches"
        return Estimate(
            "interval", median, low, high, because=because, equations=INCREMENT, contraction=_against_class(belief, architecture)
        )
    belief = calibration.bounded(log(kv_bound(sheet, max_context)), learnt)
    because = f"no output premium: {learnt.reference.count} known caches, and what the price pays for"
    return upper(exp(belief.quantile(LEVEL)), because, BOUND, _against_class(belief, architecture))


def has_premium(sheet: PriceSheet) -> bool:
    """Whether an output token costs more in some band than in the one below it."""
    return any(above.output.usd_per_token > below.output.usd_per_token for below, above in pairwise(sheet.bands))


def kv_bound(sheet: PriceSheet, max_context: int | None) -> float:
    """The most KV bytes the output price pays for at rental cost, at the longest context known."""
    output = max(band.output.usd_per_token for band in sheet.bands)
    return kv_bytes_within_price(output, max_context or NOMINAL_CONTEXT, rental().values)


def interval_of(marginal: Marginal, because: str, equations: tuple[str, ...], contraction: float | None) -> Estimate:
    """The central interval of a marginal."""
    return Estimate("interval", marginal.median, marginal.low, marginal.high, LEVEL, because, equations, contraction)


def _against_class(belief: Belief, architecture: str | None) -> float:
    """Contraction against the reference class alone, from the half-widths of both."""
    return contracted(_width(belief), _width_of_class(architecture))


@once_a_reading
def _width_of_class(architecture: str | None) -> float:
    return _width(calibration.reference_only(calibration.learn(architecture)))


def _width(belief: Belief) -> float:
    return belief.quantile(0.84) - belief.quantile(0.16)


def posterior_estimates(found: Summary, prior: Mapping[str, float], contradiction: str | None) -> dict[str, Estimate]:
    """What the joint inference says beside KV bytes; all undetermined where the prices contradict the model."""
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
        return {name: undetermined(because, equations) for name, (_, equations) in [*names.items(), ("batch_multiple", ("", BATCH))]}
    estimates = {
        name: interval_of(found.marginals[name], because, equations, contracted(found.marginals[name].spread, prior[name]))
        for name, (because, equations) in names.items()
        if name in found.marginals
    }
    if LEVEL_OF_PRICES not in estimates:
        estimates[LEVEL_OF_PRICES] = undetermined("what a FLOP rents for is not known", names[LEVEL_OF_PRICES][1])
    weight = found.marginals["weight_compute_ratio"]
    contraction = contracted(weight.spread, prior["weight_compute_ratio"])
    because = "in balance batches; whatever decode waits for besides weights makes it look smaller"
    least = float(
        triangular.solved("batching.weight_compute_ratio", "batch", {"balance_batch": 1.0, "weight_compute_ratio": weight.at_most})
    )
    estimates["batch_multiple"] = Estimate("lower", low=least, because=because, equations=BATCH, contraction=contraction)
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
    return Estimate("interval", median, median / reach, median * reach, because=because, equations=ids("cache.implied_drain_time"))


@or_undetermined
def kv_bytes_stored(storage_price: Observable) -> Estimate:
    """KV bytes that the storage price pays for if they lie in rented HBM; the mark-up on storage leaves little of it."""
    holding = storage.tier_parameters("rented", storage.PRICE_YEARS[-1])["hbm"].holding_price
    priced = {"storage_price": storage_price.value / storage.STORAGE_MARKUP, "tier_price": holding.median, "tier_capacity": 1.0}
    median = float(triangular.solved("cache.storage_price_is_hold_cost", "kv_bytes_per_token", priced))
    reach = exp(NORMAL_95 * hypot(holding.sd, storage.STORAGE_MARKUP_SD))
    because = "if it lies in rented HBM; vendors ask one storage price for caches of unlike size"
    return Estimate("interval", median, median / reach, median * reach, because=because, equations=ids("cache.storage_price_is_hold_cost"))
