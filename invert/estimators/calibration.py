"""Calibration on models with known architecture: the ratio of the increments of their sheets to cost. It is fitted at run time to
calibration_models.csv. Each family counts once. The family of the inferred model is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from math import log
from statistics import fmean

import numpy as np

from derive import presets
from derive.catalogue import variants_of
from derive.errors import NotCovered, UnknownName, WrongData
from derive.immutable import immutable
from derive.preset_record import Preset
from derive.preset_rows import Architecture
from derive.solving.question.defaults import defaults_in_force, values_to_put_in, with_defaults
from derive.tables.problems import BadRow, Problem
from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import panel, premium_at_cost
from invert.estimators.cases import Case, case_of
from invert.estimators.prediction import Student, pool_verdict, predict_one_more
from invert.estimators.typical_kv import typical_kv
from invert.records import Estimate, Verdict
from invert.sheets.assemble import assembled, models
from invert.sheets.read import book_of, sound_rows
from invert.sheets.rows import PriceBook
from invert.sheets.tables import CalibrationModel, ModelRow

_KNOWN, LAUNCHED = CalibrationModel.TABLE, "prices_calibration.csv"


@immutable
class Member:
    """A model of known architecture, the sheet of several bands that sells it, and the estimate of its KV bytes at rental cost.

    kv_bytes_per_token are the bytes that a step reads [byte/token]. attention_flops_per_pair is for prefill, None if heads
    are unknown.
    """

    architecture: str
    family: str
    kv_bytes_per_token: float
    attention_flops_per_pair: float | None
    active_params: float | None
    case: Case
    premium_at_cost: Estimate

    @property
    def kv_ratio(self) -> float | None:
        """Return the KV bytes at rental cost over the true KV bytes of the architecture, or None without an increment."""
        return self.premium_at_cost.median and self.premium_at_cost.median / self.kv_bytes_per_token


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
    of_family: dict[str, list[float]] = {}
    for member, ratio in ratios:
        of_family.setdefault(member.family, []).append(log(ratio))
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
        by_premium.append(learned(known, family).predict(one.ln_kv + log(ratio)).log_density(one.ln_kv))
    by_baseline = typical.judge([one for one, _ in rows]).log_density
    return pool_verdict([one.family for one, _ in rows], np.array(by_premium), by_baseline, assumptions)


# Members.


def siblings(data: Data, architecture: str) -> frozenset[str]:
    """Return the architecture and all others with the same cache design."""
    family = presets.architecture(architecture, data.tables).kv_family
    return frozenset(row.model for row in data.tables.rows_of(Architecture) if row.kv_family == family)


def members(data: Data, assumptions: Assumptions = USUAL) -> tuple[Member, ...]:
    """Return every row of calibration_models.csv, with its architecture and its sheet. Raise BadRow with every row that cannot be used."""
    return _members(data, assumptions.without_facts(UNLESS_GIVEN))


@cache_with_data
def _members(data: Data, assumptions: Assumptions) -> tuple[Member, ...]:
    book = calibration_book(data)
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
        raise BadRow(_fault(row, "architecture", str(error))) from None
    if late := panel.dated_late(architecture, data):
        raise BadRow(late)
    params = preset.givens.get("active_params")
    case = _case_sold(row, book, known, params, data, assumptions)
    return Member(
        architecture=row.architecture,
        family=architecture.kv_family,
        kv_bytes_per_token=read,
        attention_flops_per_pair=prefill_attention_flops(preset),
        active_params=params,
        case=case,
        premium_at_cost=premium_at_cost.estimates(case, data, assumptions)["kv_bytes_per_token"],
    )


def _fault(row: CalibrationModel, column: str, message: str) -> Problem:
    return Problem(origin=f"{_KNOWN}.csv", row=row.place, column=column, message=message)


@cache_with_data
def calibration_book(data: Data) -> PriceBook:
    """Return the shipped prices and the launch sheets of prices_calibration.csv, which `infer` does not use."""
    book = book_of(data)
    rows = sound_rows(BytesIO(data.tables.content(LAUNCHED)), LAUNCHED, book.fx, data=data)
    return PriceBook(rows=(*book.rows, *rows), fx=book.fx, newest_retrieved=book.newest_retrieved)


def prefill_attention_flops(preset: Preset) -> float | None:
    """Return attention FLOPs per query and context token of prefill, by the equation of its KV formula, or None if heads are unknown."""
    name = preset.variants["kv_bytes_per_token"]
    if name in presets.SELECTING:
        return None
    formula = variants_of("attention_flops_per_pair")[name]
    plain = with_defaults(formula, dict(values_to_put_in(defaults_in_force("attention_flops_per_pair", preset.givens.keys()))))
    return float(plain.right_side(preset.givens)) if plain.inputs <= preset.givens.keys() else None


def _case_sold(
    row: CalibrationModel, book: PriceBook, known: Mapping[str, ModelRow], active_params: float | None, data: Data, assumptions: Assumptions
) -> Case:
    """Return the sheet that a row of calibration_models.csv names, on its day, with the row of models.csv that `infer` uses for it."""
    wanted = row.sheet
    provider, _, model = wanted.partition("/")
    newest = book.newest_retrieved
    day = row.sheet_date or newest
    if day is None:
        raise BadRow(_fault(row, "sheet_date", "is blank, and no price has a retrieved_date to replace it"))
    if newest and day > newest:
        raise BadRow(_fault(row, "sheet_date", f"{day} is later than the newest prices here, which were read on {newest}"))
    if wanted in known and (released := known[wanted].release_date) and released > day:
        raise BadRow(_fault(row, "sheet_date", f"{day} is before the release of {wanted}, on {released}"))
    rows = [one for one in book.rows if f"{one.provider}/{one.model}" == wanted and one.service_tier == "standard"]
    sheet, faults = assembled(rows, day, book.fx)
    if faults:
        raise BadRow(faults[0])
    if sheet is None or len(sheet.bands) < 2:
        raise BadRow(_fault(row, "sheet", f"{wanted!r} has no sheet of several bands on {day}"))
    # A model that is not in models.csv has a launch sheet: an open model with public parameters.
    model_row = known.get(wanted) or ModelRow(
        provider=provider,
        model=model,
        first_party=True,
        architecture=row.architecture,
        architecture_grade="verified",
        active_params=active_params,
        active_params_grade="verified" if active_params else "",
    )
    if row.max_context is not None:
        model_row = replace(model_row, max_context=row.max_context)
    return case_of(sheet, model_row, data, assumptions)
