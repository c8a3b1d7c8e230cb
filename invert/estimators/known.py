"""The estimators of KV bytes side by side: on one sheet, on the sheets of models with a known cache, and their reliability there.

The functions are the same for every sheet. The errors on models of known cache are the reliability on the others.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import log, pi, sqrt
from statistics import NormalDist, fmean, median, stdev

import numpy as np
from scipy.special import erf

from derive.catalogue import equation
from derive.immutable import immutable
from invert.arrays import Array
from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimate_text import KV_NAMES, kv_heading
from invert.estimators import all_prices, lecture, other_prices, premium
from invert.estimators.cases import Case, case_of, known_cache, lecture_anchors
from invert.estimators.prediction import LEAST_FAMILIES, Student, predict_one_more, record
from invert.estimators.prediction import Judged as Predicted
from invert.estimators.premium import Member, members
from invert.estimators.typical_kv import typical_kv
from invert.records import Bounds, Estimate, JudgedPrediction, KnownCache, Misreading, NegativeControl, Record, Reliability, Span
from invert.sheets.assemble import models, sheets_that_ship
from invert.sheets.rows import grouped

ESTIMATORS: Mapping[str, Callable[[Case, Data, Assumptions], dict[str, Estimate]]] = {
    "from_all_prices": all_prices.estimates,
    "from_premium_at_cost": premium.estimate_at_cost,
    "from_premium": premium.estimate_calibrated,
    "typical": premium.estimate_typical,
}
"""Each function uses only a sheet as read, the data and the assumptions of the run.

It returns its estimates from the prices by the name of the quantity.
"""


def side_by_side(
    case: Case, data: Data, assumptions: Assumptions, names: Iterable[str] = tuple(KV_NAMES)
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Return KV bytes of one sheet by these estimators, by default by all, and their other estimates by quantity."""
    kv_bytes, beside = {}, dict[str, Estimate]()
    for name in names:
        beside |= ESTIMATORS[name](case, data, assumptions)
        kv_bytes[name] = beside.pop("kv_bytes_per_token")
    return kv_bytes, beside


@immutable(kw_only=False)
class Judged:
    """A model of known cache, with the estimates from its sheet: KV bytes by estimator, and other estimates by quantity."""

    member: Member
    kv_bytes: Mapping[str, Estimate]
    beside: Mapping[str, Estimate]

    def ratio(self, estimator: str) -> float | None:
        """Return the median over the true cache, or None if the estimator gives no median."""
        median = self.kv_bytes[estimator].median
        return median and median / self.member.kv_bytes_per_token


@cache_with_data
def judged(data: Data, assumptions: Assumptions = USUAL, names: tuple[str, ...] = tuple(KV_NAMES)) -> tuple[Judged, ...]:
    """Return every known model with a sheet of several bands, with the results of these estimators for these assumptions."""
    assumptions = assumptions.without_facts(UNLESS_GIVEN)
    return tuple(Judged(member, *side_by_side(member.case, data, assumptions, names)) for member in members(data, assumptions))


def predictions_of_known(data: Data, assumptions: Assumptions = USUAL) -> tuple[JudgedPrediction, ...]:
    """Return every range of KV bytes on sheets with several bands, with the true KV bytes of the architecture, by estimator."""
    return tuple(
        JudgedPrediction(
            model=one.member.architecture,
            by=kv_heading(name),
            truth=one.member.kv_bytes_per_token,
            low=low,
            median=median,
            high=high,
            level=assumptions.level,
        )
        for one in judged(data, assumptions)
        for name, estimate in one.kv_bytes.items()
        if (low := estimate.low) and (median := estimate.median) and (high := estimate.high)
    )


def records(known: Sequence[Judged], data: Data, assumptions: Assumptions = USUAL) -> dict[str, Record]:
    """Return the record of each estimator's ranges on these models, with the gain over the typical KV. Each family counts once."""
    typical, families = typical_kv(data, assumptions)["read"], [one.member.family for one in known]
    caches = typical.by_name
    baseline = typical.judge([caches[one.member.architecture] for one in known])
    truths = np.array([log(one.member.kv_bytes_per_token) for one in known])
    found = {
        name: record(judge_ranges([one.kv_bytes[name] for one in known], truths, assumptions.level), baseline, families, by_families=True)
        for name in dict.fromkeys(name for one in known for name in one.kv_bytes)
    }
    return {estimator: one for estimator, one in found.items() if one}


_OF_ARCHITECTURES = {"balance_context": "context.balance_context", "attention_intensity": "architecture.attention_intensity"}
"""Quantities other than KV bytes that are estimated from a sheet of several bands, and the equation that gives them for an architecture."""


def records_beside(known: Sequence[Judged], assumptions: Assumptions = USUAL) -> dict[str, Record]:
    """Return the record of ranges of other quantities on these models, with the gain over the values of the other families."""
    found = {}
    for quantity, id in _OF_ARCHITECTURES.items():
        # The quantity of an architecture at the ridge point of a run, if its parameters and heads are known.
        formula, rows = equation(id), []
        fixed = {**assumptions.held, "ridge_point": assumptions.ridge_point, "mfu": 1.0, "mbu": 1.0}
        for one in (one for one in known if quantity in one.beside):
            own = {name: getattr(one.member, name) for name in ("active_params", "attention_flops_per_pair", "kv_bytes_per_token")}
            if all(own[name] for name in own.keys() & formula.inputs):
                rows.append((one, float(formula.right_side({**fixed, **own}))))
        truths, families = np.array([log(truth) for _, truth in rows]), [one.member.family for one, _ in rows]
        judged = judge_ranges([one.beside[quantity] for one, _ in rows], truths, assumptions.level)
        found[quantity] = record(judged, _predict_by_other_families(truths, families), families, by_families=True)
    return {quantity: one for quantity, one in found.items() if one}


@cache_with_data
def record_of_storage_price(data: Data, assumptions: Assumptions = USUAL) -> Record | None:
    """Return the record of KV bytes by a storage price, on every shipped sheet with a storage price and known stored KV bytes."""
    typical, found = typical_kv(data, assumptions)["stored"], []
    caches = typical.by_name
    for case, cache in cases_of_known_cache(data, assumptions):
        price = case.storage_price
        if price and price.value > 0 and cache.architecture in caches:
            found.append((other_prices.kv_bytes_stored(price, data, assumptions), caches[cache.architecture]))
    rows = [one for _, one in found]
    judged = judge_ranges([estimate for estimate, _ in found], np.array([one.ln_kv for one in rows]), assumptions.level)
    return record(judged, typical.judge(rows), [one.family for one in rows], by_families=True)


def _predict_by_other_families(truths: Array, families: Sequence[str]) -> Predicted:
    """Return each truth with its prediction by the other families, each of which counts once. With too few families it is nan."""
    of_family = {family: fmean(truth for truth, of in zip(truths, families, strict=True) if of == family) for family in families}
    if len(of_family) <= LEAST_FAMILIES:
        none = np.full(len(truths), np.nan)
        return Predicted(none, none, none)
    predicted = {family: predict_one_more([mean for other, mean in of_family.items() if other != family]) for family in of_family}
    centre, scale, freedom = np.array([(one.centre, one.scale, one.freedom) for one in map(predicted.__getitem__, families)]).T
    return Student(centre=centre, scale=scale, freedom=freedom).judge(truths)


@cache_with_data
def cases_of_known_cache(data: Data, assumptions: Assumptions) -> tuple[tuple[Case, KnownCache], ...]:
    """Return every shipped sheet of a model with a known cache, without the given facts of another model, and the cache."""
    assumptions = assumptions.without_facts(UNLESS_GIVEN)
    described = {(row.provider, row.model): row for row in models(data)}
    sold = ((sheet, described.get((sheet.provider, sheet.model))) for sheet in sheets_that_ship(data))
    known = ((sheet, model, known_cache(model and model.known_on(sheet.as_of), data, assumptions)) for sheet, model in sold)
    return tuple((case_of(sheet, model, data, assumptions), cache) for sheet, model, cache in known if cache)


@cache_with_data
def negative_controls(data: Data, assumptions: Assumptions = USUAL) -> tuple[NegativeControl, ...]:
    """Return the vendors with one storage price for several models with a known architecture, on shipped sheets, widest first.

    They are evidence against KV bytes from a storage price: the bytes differ, but the price does not.
    """
    groups = grouped(
        ((case.sheet.provider, asked.amount, asked.currency), (case.sheet.model, cache.stored, asked.usd_per_token))
        for case, cache in cases_of_known_cache(data, assumptions)
        if (asked := case.sheet.storage) and asked.amount
    )
    found = []
    for (provider, amount, currency), sold in groups.items():
        names, stored, prices = zip(*sold, strict=True)
        if len(names) > 1:
            found.append(NegativeControl(
                provider=provider, amount=amount, currency=currency, storage_price=prices[0], models=names, kv_low=min(stored),
                kv_high=max(stored),
            ))  # fmt: skip
    return tuple(sorted(found, key=lambda one: -one.ratio))


@cache_with_data
def error_of_lecture(data: Data, assumptions: Assumptions = USUAL) -> Span | None:
    """Return the true KV bytes over the lecture's, for every shipped sheet with a threshold and a known cache."""
    times = []
    for case, cache in cases_of_known_cache(data, assumptions):
        if case.sheet.bands[1:]:
            read = lecture.kv_bytes_from_threshold(case.observables.pairs[0], lecture_anchors(case.anchors, assumptions))
            times.append(cache.read / read.values["kv_bytes_per_token"])
    return Span(low=min(times), median=median(times), high=max(times)) if times else None


@cache_with_data
def bounds_at_cost(data: Data, assumptions: Assumptions = USUAL) -> Bounds | None:
    """Return the bounds at rental cost over the true cache, on shipped sheets of known cache without an output premium, or None."""
    factors = [
        premium.most_within_price(case.sheet, case.max_context, data, assumptions) / cache.read
        for case, cache in cases_of_known_cache(data, assumptions)
        if not case.sheet.has_premium
    ]
    if not factors:
        return None
    return Bounds(
        count=len(factors),
        right=sum(factor >= 1 for factor in factors),
        right_at_one_byte=sum(factor * assumptions.bytes_per_kv_value >= 1 for factor in factors),
        least=min(factors),
        median=median(factors),
        most=max(factors),
    )


def with_bounds(estimate: Estimate, data: Data, assumptions: Assumptions) -> Estimate:
    """Return an estimate at rental cost, a bound with the ratios of similar bounds to the true cache, if there are any."""
    bounds = bounds_at_cost(data, assumptions) if estimate.kind == "upper" else None
    if bounds is None:
        return estimate
    said = (
        f"on {bounds.count} sheets with known KV the bound was {bounds.least:.2g} to {bounds.most:.2g} times the truth (median"
        f" {bounds.median:.2g}): right for {bounds.right} in bf16 and for {bounds.right_at_one_byte} at one byte"
    )
    return replace(estimate, because=f"{estimate.because}; {said}", bounds=bounds)


def judge_ranges(estimates: Sequence[Estimate], truths: Array, level: float) -> Predicted:
    """Return printed ranges of a level with the true values, or nan for an estimate without a range.

    A range means a normal density of the logarithm on each side of its median.
    """
    ends = ([(getattr(one, end) or None) if one.kind == "interval" else None for one in estimates] for end in ("low", "median", "high"))
    low, median, high = (np.log(np.array(numbers, dtype=float)) for numbers in ends)
    reach = NormalDist().inv_cdf((1 + level) / 2)
    below, above, errors = (median - low) / reach, (high - median) / reach, median - truths
    apart = np.abs(errors) / np.where(errors > 0, below, above)
    return Predicted(errors, np.log(2 / (below + above)) - apart**2 / 2 - log(2 * pi) / 2, erf(apart / sqrt(2)))


def reliabilities(
    architectures: Iterable[str | None], data: Data, assumptions: Assumptions = USUAL, names: tuple[str, ...] = tuple(KV_NAMES)
) -> dict[str | None, Reliability]:
    """Return the accuracy of these estimators on sheets of each of these architectures."""
    known = judged(data, assumptions, names)

    # Most architectures leave the same models, so their results are computed once.
    @functools.cache
    def scored(models: tuple[str, ...], left_out: tuple[str, ...]) -> Reliability:
        kept, misread = [one for one in known if one.member.architecture in models], {}
        for estimator in dict.fromkeys(name for one in kept for name in one.kv_bytes):
            errors = [log(ratio) for one in kept if (ratio := one.ratio(estimator))]
            bias, sd = (fmean(errors), stdev(errors)) if len(errors) > 1 else (None, None)
            misread[estimator] = Misreading(models=len(kept), medians=len(errors), bias=bias, sd=sd)
        of_kv, beside = records(kept, data, assumptions), records_beside(kept, assumptions)
        return Reliability(models=models, left_out=left_out, misreadings=misread, records=of_kv, beside=beside)

    learnt = {one: premium.learn(data, one, assumptions) for one in dict.fromkeys(architectures)}
    return {one: scored(tuple(of.kv_ratios), of.left_out) for one, of in learnt.items()}
