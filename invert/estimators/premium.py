"""KV from premium, the extra price of long context: at rental cost, calibrated on models of known architecture, and beside typical KV.

A price is a line over the context, and its slope is the rental cost of KV reads. The ratio of this cost to the true KV bytes is fitted
at run time to calibration_models.csv. Each family counts once. The family of the inferred model is left out. The estimate beside typical
KV uses the premium only if the record of the calibration is good.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from io import BytesIO
from math import log
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike

from derive import presets
from derive.catalogue import equation, variants_of
from derive.errors import NotCovered, UnknownName, WrongData
from derive.immutable import immutable
from derive.preset_record import Preset
from derive.preset_rows import Architecture
from derive.solving.question.defaults import defaults_in_force, values_to_put_in, with_defaults
from derive.tables.lines import BadRow, Problem
from derive.trees import evaluate
from invert.arrays import Values
from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import panel
from invert.estimators.cases import Case, case_of, rental
from invert.estimators.prediction import Student, pool_verdict, pooled_range, predict_one_more
from invert.estimators.typical_kv import Bytes, record_of_typical_kv, typical_at, typical_kv
from invert.forward_model import closed_form
from invert.posterior.draws import coordinates, normals
from invert.posterior.points import LATENT, drawn_contexts
from invert.records import Estimate, Verdict, given_value, interval, references
from invert.sheets.assemble import assembled, models
from invert.sheets.read import book_of, sound_rows
from invert.sheets.rows import CalibrationModel, ModelRow, PriceBook, grouped
from invert.sheets.sheet import PriceSheet

DRAWS = 4096
ONE_TOKEN_MORE = {"long_context": 2.0, "short_context": 1.0}
"""Two contexts with a difference of one token: the increment between them is the slope."""


def weighted_line(contexts: ArrayLike, prices: ArrayLike) -> tuple[Values, Values]:
    """Return the line through prices over contexts with the least squared relative error: its value at no context, and its slope.

    Bands are the last axis. Draws of prices and contexts can be on other axes. The line goes exactly through two bands, and equal
    prices have a slope of exactly zero. The relative error of the slope is about 1e-16 times the price over its rise.

    >>> [float(round(number, 12)) for number in weighted_line([1000.0, 3000.0], [2.0, 3.0])]
    [1.5, 0.0005]
    """
    places, levels = np.asarray(contexts, dtype=float), np.asarray(prices, dtype=float)
    weights = levels**-2.0
    weights = weights / weights.sum(axis=-1, keepdims=True)
    centre = (weights * places).sum(axis=-1, keepdims=True)
    # The first price is subtracted: the common part of all prices must not leave a rounding error in the slope.
    rises = levels - levels[..., :1]
    slope = (weights * (places - centre) * rises).sum(axis=-1) / (weights * (places - centre) ** 2).sum(axis=-1)
    return levels[..., 0] + (weights * rises).sum(axis=-1) - slope * centre[..., 0], slope


def kv_bytes_at_cost(output_slope: Values, anchors: Mapping[str, Values]) -> Values:
    """Return the KV bytes per token of context [byte/token] whose rental cost is an output slope [USD/token per token].

    >>> from invert.data import read_data
    >>> f"{kv_bytes_at_cost(1.66e-11, rental(read_data()).values):.0f}"
    '100098'
    """
    kv: Values = equation("bands.kv_bytes_from_increment").right_side({**anchors, **ONE_TOKEN_MORE, "output_increment": output_slope})
    return kv


MEANS = ("short_context", "long_context")
INCREMENT = ("bands.kv_bytes_from_increment", "serving.price_per_hbm_byte")
CITED = references(*INCREMENT)
_BOUND = ("bands.kv_read_within_price", "serving.price_per_hbm_byte")


# The calibration reads each known model first, and its record reads it again.
@lru_cache(maxsize=32)
def estimate_at_cost(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the KV bytes from the output increments at rental cost, with uncertain rounding, band means and rent."""
    low = median = high = 0.0
    because = "no output premium, so KV reads at rental cost are at most the output price"
    if case.sheet.has_premium:
        low, median, high = kv_quantiles(case, data, assumptions)
        because = "the output price may not rise with length, so KV reads at rental cost are at most the output price"
    if low <= 0:
        most = most_within_price(case.sheet, case.max_context, data, assumptions)
        moving = MEANS if case.sheet.has_premium else ()
        found = Estimate(kind="upper", high=most, because=because, equations=references(*_BOUND), anchors=moving)
    else:
        found = interval((low, median, high), "assumes premium = rental cost", equations=CITED, anchors=MEANS)
    return {"kv_bytes_per_token": found}


def kv_quantiles(case: Case, data: Data, assumptions: Assumptions) -> tuple[float, float, float]:
    """Return low, median and high of the KV bytes [byte/token] from the slope of the output price."""
    normal = normals(DRAWS)
    bottom, top = np.transpose(case.price_data.cells["premium_out"])
    logs = bottom + (top - bottom) * coordinates(DRAWS, LATENT, len(bottom))
    prices = case.sheet.bands[0].output.usd_per_token * np.exp(np.column_stack([np.zeros(DRAWS), logs]))
    _, slope = weighted_line(drawn_contexts(case.price_data, assumptions, normal), prices)
    rent = np.exp(assumptions.rent_spread * normal[:, LATENT - 1])
    kv = kv_bytes_at_cost(slope, rental(data, assumptions).values) * rent
    low, high = assumptions.tails
    low, median, high = np.quantile(kv, (low, 0.5, high), method="hazen").tolist()
    return low, median, high


def most_within_price(sheet: PriceSheet, max_context: int | None, data: Data, assumptions: Assumptions) -> float:
    """Return the largest KV bytes [byte/token] whose cost the output price covers at the longest known context [token]."""
    given = {**rental(data, assumptions).values, "output_price": max(band.output.usd_per_token for band in sheet.bands)}
    given["max_context"] = float(max_context or assumptions.nominal_context)
    return evaluate(closed_form("bands.kv_read_within_price", "kv_bytes_per_token"), given)


_KNOWN, LAUNCHED = CalibrationModel.TABLE, "prices_calibration.csv"


@immutable
class Member:
    """A model of known architecture, the sheet of several bands that sells it, and the estimate of its KV bytes at rental cost.

    kv_bytes_per_token are the bytes that a step reads [byte/token]. `preset` has the other numbers of the architecture.
    """

    architecture: str
    family: str
    kv_bytes_per_token: float
    preset: Preset
    case: Case
    premium_at_cost: Estimate

    @property
    def kv_ratio(self) -> float | None:
        """Return the KV bytes at rental cost over the true KV bytes of the architecture, or None without an increment."""
        return self.premium_at_cost.median and self.premium_at_cost.median / self.kv_bytes_per_token

    @property
    def active_params(self) -> float | None:
        """Its active parameters, if the architecture has them."""
        return self.preset.givens.get("active_params")

    @cached_property
    def attention_flops_per_pair(self) -> float | None:
        """Attention FLOPs per query and context token of prefill, by the equation of its KV formula, or None if heads are unknown."""
        name = self.preset.variants["kv_bytes_per_token"]
        if name in presets.SELECTING:
            return None
        formula, givens = variants_of("attention_flops_per_pair")[name], self.preset.givens
        plain = with_defaults(formula, dict(values_to_put_in(defaults_in_force("attention_flops_per_pair", givens.keys()))))
        return float(plain.right_side(givens)) if plain.inputs <= givens.keys() else None


@immutable
class Calibration:
    """The calibration on known models: ln(KV bytes at cost / true) of one more family, and the ratios by architecture."""

    increments: Student
    kv_ratios: Mapping[str, float]
    families: tuple[str, ...]
    left_out: tuple[str, ...]

    def predict(self, ln_at_cost: float) -> Student:
        """Return ln KV bytes from an increment: the KV bytes at cost, corrected by the mean ratio of known families."""
        return replace(self.increments, centre=ln_at_cost - self.increments.centre)


@cache_with_data
def learn(data: Data, leave_out: str | None = None, assumptions: Assumptions = USUAL) -> Calibration:
    """Return the calibration without an architecture of architectures.csv and its family.

    >>> from invert.data import read_data
    >>> data = read_data()
    >>> f"{learn(data).increments.centre:.2f}", learn(data, "GLM-4.6").families == learn(data).families
    ('-0.43', False)
    """
    return learned(members(data, assumptions), siblings(data, leave_out) if leave_out else frozenset())


def learned(known: Sequence[Member], left_out: frozenset[str]) -> Calibration:
    """Return the calibration from these members, without some architectures."""
    ratios = [(one, ratio) for one in known if one.architecture not in left_out and (ratio := one.kv_ratio)]
    of_family = grouped((member.family, log(ratio)) for member, ratio in ratios)
    if len(of_family) < 2:
        raise WrongData(f"{_KNOWN}.csv: {len(of_family)} families with sheets of several bands are left, and a spread needs two")
    return Calibration(
        increments=predict_one_more([fmean(logs) for logs in of_family.values()]),
        kv_ratios={member.architecture: ratio for member, ratio in ratios},
        families=tuple(of_family),
        left_out=tuple(sorted(left_out)),
    )


@cache_with_data
def verdict_on_premium(data: Data, assumptions: Assumptions = USUAL) -> Verdict | None:
    """Return the gain of increments over typical KV, with each known model predicted by other families, or None for too few models."""
    known, typical = members(data, assumptions), typical_kv(data, assumptions)["read"]
    caches = typical.by_name
    rows = [(caches[one.architecture], ratio) for one in known if (ratio := one.kv_ratio) and one.architecture in caches]
    if len({one.family for one, _ in rows}) < assumptions.least_families:
        return None
    by_premium = []
    for one, ratio in rows:
        # The model is predicted by its own increments and the calibration of other families.
        family = frozenset(member.architecture for member in known if member.family == one.family)
        by_premium.append(learned(known, family).predict(one.ln_kv + log(ratio)).judge(one.ln_kv).log_density)
    by_baseline = typical.judge([one for one, _ in rows]).log_density
    return pool_verdict([one.family for one, _ in rows], np.array(by_premium), by_baseline, assumptions)


# The known models of the calibration.


def siblings(data: Data, architecture: str) -> frozenset[str]:
    """Return the architecture and all others with the same cache design."""
    family = presets.architecture(architecture, data.tables).kv_family
    return frozenset(row.model for row in data.tables.rows_of(Architecture) if row.kv_family == family)


@cache_with_data
def members(data: Data, assumptions: Assumptions = USUAL) -> tuple[Member, ...]:
    """Return every row of calibration_models.csv, with its architecture and its sheet. Raise BadRow with every row that cannot be used."""
    book, assumptions = calibration_book(data), assumptions.without_facts(UNLESS_GIVEN)
    known = {f"{one.provider}/{one.model}": one for one in models(data)}
    found, faults = list[Member](), list[Problem]()
    for row in data.tables.rows_of(CalibrationModel):
        try:
            found.append(_member(row, book, known, data, assumptions))
        except BadRow as error:
            faults += error.problems
    if faults:
        raise BadRow(*faults)
    return tuple(found)


def _member(row: CalibrationModel, book: PriceBook, known: Mapping[str, ModelRow], data: Data, assumptions: Assumptions) -> Member:
    """Return the member of one row of calibration_models.csv. Raise `BadRow` if it depends on something that cannot be used."""
    try:
        architecture = presets.architecture(row.architecture, data.tables)
        preset, (_, read) = presets.of_architecture(architecture), presets.kv_bytes(architecture, assumptions.bytes_per_kv_value)
    except (NotCovered, UnknownName) as error:
        raise BadRow(row.problem_in("architecture", str(error))) from None
    if late := panel.dated_late(architecture, data):
        raise BadRow(late)
    case = _case_sold(row, book, known, preset.givens.get("active_params"), data, assumptions)
    return Member(
        architecture=row.architecture,
        family=architecture.kv_family,
        kv_bytes_per_token=read,
        preset=preset,
        case=case,
        premium_at_cost=estimate_at_cost(case, data, assumptions)["kv_bytes_per_token"],
    )


@cache_with_data
def calibration_book(data: Data) -> PriceBook:
    """Return the shipped prices and the launch sheets of prices_calibration.csv, which `infer` does not use."""
    book = book_of(data)
    rows = sound_rows(BytesIO(data.tables.content(LAUNCHED)), LAUNCHED, book.fx, data=data)
    return PriceBook(rows=(*book.rows, *rows), fx=book.fx, newest_retrieved=book.newest_retrieved)


def _case_sold(
    row: CalibrationModel, book: PriceBook, known: Mapping[str, ModelRow], active_params: float | None, data: Data, assumptions: Assumptions
) -> Case:
    """Return the sheet that a row of calibration_models.csv names, on its day, with the row of models.csv that `infer` uses for it."""
    wanted = row.sheet
    provider, _, model = wanted.partition("/")
    newest = book.newest_retrieved
    day = row.sheet_date or newest
    if day > newest:
        raise BadRow(row.problem_in("sheet_date", f"{day} is later than the newest prices here, which were read on {newest}"))
    if wanted in known and (released := known[wanted].release_date) and released > day:
        raise BadRow(row.problem_in("sheet_date", f"{day} is before the release of {wanted}, on {released}"))
    rows = [one for one in book.rows if f"{one.provider}/{one.model}" == wanted and one.service_tier == "standard"]
    sheet, faults = assembled(rows, day, book.fx)
    if faults:
        raise BadRow(faults[0])
    if sheet is None or len(sheet.bands) < 2:
        raise BadRow(row.problem_in("sheet", f"{wanted!r} has no sheet of several bands on {day}"))
    # A model that is not in models.csv has a launch sheet: an open model with public parameters.
    model_row = known.get(wanted) or data.tables.own_row(
        ModelRow,
        provider=provider,
        model=model,
        first_party=True,
        architecture=row.architecture,
        architecture_grade="verified",
        active_params=active_params,
        active_params_grade="verified" if active_params else "",
    )
    if row.max_context is not None:
        model_row = model_row.changed(max_context=row.max_context)
        if (last := sheet.bands[-1].threshold_tokens) > row.max_context:
            lack = f"{row.max_context:,} tokens is below {last:,}, the threshold of the last band of {wanted}"
            raise BadRow(row.problem_in("max_context", lack))
    return case_of(sheet, model_row, data, assumptions)


# Calibrated, and beside typical KV.

_GIVEN = ("kv_bytes_per_token",)
"""Given KV bytes replace the typical ones."""


def estimate_calibrated(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the KV bytes from the output increments at the price/cost of other families. All families have equal weight."""
    found = predict_by_premium(case, data, assumptions)
    if found is None:
        return {"kv_bytes_per_token": Estimate(kind="undetermined", because="no output premium that rises with length")}
    families = learn(data, case.architecture, assumptions).families
    because = f"assumes the price/cost of premiums of {len(families)} families with known KV"
    return {"kv_bytes_per_token": interval(found.range(assumptions.level), because, equations=CITED, anchors=MEANS)}


def predict_by_premium(case: Case, data: Data, assumptions: Assumptions) -> Student | None:
    """Return ln KV bytes as the premium predicts them, or None if output does not cost more with length."""
    at_cost = estimate_at_cost(case, data, assumptions)["kv_bytes_per_token"].median
    return None if at_cost is None else learn(data, case.architecture, assumptions).predict(log(at_cost))


def estimate_typical(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the KV bytes that a step reads (baseline, and premium weighted by its gain) and the stored KV bytes (baseline).

    Given KV bytes replace the estimate of bytes read.
    """
    return {
        "kv_bytes_per_token": _read(case, data, assumptions),
        "kv_bytes_stored_per_token": _typical_kv("stored", case, data, assumptions),
    }


def _read(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    if assumptions.kv_bytes_per_token is not None:
        return given_value(assumptions.kv_bytes_per_token, "kv_bytes_per_token")
    verdict = verdict_on_premium(data, assumptions)
    by_price = predict_by_premium(case, data, assumptions) if verdict and verdict.enters else None
    typical, families = typical_at(data, "read", case.day, case.kv_family, assumptions)
    if verdict is None or typical is None or by_price is None:
        return replace(_typical_kv("read", case, data, assumptions), anchors=_GIVEN)
    ends = pooled_range(verdict.weight, by_price, typical, assumptions.level)
    because = f"typical of models released before {case.day}, and with weight {verdict.weight:.2f} the estimate from its premium"
    return interval(ends, because, equations=CITED, anchors=(*MEANS, *_GIVEN), families=families)


def _typical_kv(of: Bytes, case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    typical, families = typical_at(data, of, case.day, case.kv_family, assumptions)
    if typical is None:
        return Estimate(kind="undetermined", because="fewer than two families with known KV were released earlier")
    unless_released = ""
    if not case.released:
        by_then = ", the earliest day that a table has of it" if case.day < case.sheet.as_of else ""
        unless_released = f"{by_then} (release not known. Its record is of known models with typical KV of {case.sheet.as_of})"
    because = f"typical of models released before {case.day}{unless_released}. Uses no price"
    record = record_of_typical_kv(data, of, assumptions, None if case.released else case.sheet.as_of)
    return interval(typical.range(assumptions.level), because, contraction=0.0, record=record, families=families)
