"""Sheets in, inferences out: the one place that runs the rooms in order."""

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import TextIO

from derive.catalogue import equation
from derive.compiled import right_side
from derive.errors import BacksolveError, UnknownName, WrongData, WrongValue
from derive.presets import cell, number, table
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.solving import solve_equation
from derive.units import parse
from invert import closed_form, lecture
from invert.observables import observables, observe, ratio
from invert.predict import forward
from invert.prices.load import load
from invert.prices.select import find, models, sheets, with_amounts
from invert.records import (
    Anchors,
    Check,
    Inference,
    InferenceTable,
    KnownCache,
    Observable,
    Observables,
    PairInference,
    PriceSheet,
    Reading,
    TierReading,
)
from invert.rows import ModelRow, Problem

ASSUMED_ACTIVE_PARAMS = 1e11
ANCHORS = {
    "machine_balance_ratio": 300.0,
    "bytes_per_weight": 1.0,
    "prompt_position": 0.5,
    "prefill_decode_flops_ratio": 1.0,
    "overlap": 1.0,
    "sweep_time": 0.024,
    "holding_cost_ratio": 1.0,
}
BYTES_PER_ELEMENT_KNOWN = 2.0


def infer(
    names: str | Iterable[str] = (),
    *,
    prices: str | Path | TextIO | None = None,
    provider: str | None = None,
    tier: str | None = None,
    as_of: date | None = None,
    everything: bool = False,
    anchors: Mapping[str, float | str] | None = None,
    changes: Mapping[str, str] | None = None,
) -> InferenceTable:
    """What every chosen price sheet implies, on one set of anchors.

    Without names all current sheets of the default tier; `prices` is laid over the shipped ones, `changes` are
    amounts to put into the chosen sheets, `anchors` outside facts to replace. Raises `UnknownName` for a model,
    provider, component or anchor that does not exist and `WrongData` for a file that cannot be read.

    >>> table = infer(["gemini-3.1-pro"])
    >>> round(table.inferences[0].pairs[0].lecture.values["kv_bytes_per_token"], 1)
    1666.7
    """
    common = _common(read_anchors(anchors or {}))
    book, known = load(prices), models()
    offered, faults = sheets(book, as_of, tier or "", everything)
    problems = [*book.problems, *faults]
    try:
        chosen, notes = _chosen((names,) if isinstance(names, str) else tuple(names), provider, offered, known)
    except UnknownName as error:
        # A row that could not be read may be why the name is not known.
        raise WrongData(f"{error}\n{problems[0]}") if problems else error from None
    if changes:
        chosen = [_changed(sheet, changes) for sheet in chosen]
    rows = {(row.provider, row.model): row for row in known}
    inferences = []
    for sheet in chosen:
        try:
            inferences.append(_infer_sheet(sheet, rows.get((sheet.provider, sheet.model)), common))
        except WrongValue as error:
            problems.append(Problem(f"{sheet.provider}/{sheet.model}", None, None, str(error)))
    newest = book.newest_retrieved
    if as_of and newest and as_of > newest:
        notes = [*notes, f"the newest prices here were read on {newest}: what holds on {as_of} is not known"]
    return InferenceTable(tuple(inferences), as_of or newest, common, tuple(problems), tuple(notes), dict(changes or {}))


def _chosen(
    names: tuple[str, ...], provider: str | None, offered: list[PriceSheet], known: list[ModelRow]
) -> tuple[list[PriceSheet], list[str]]:
    if provider is not None:
        providers = sorted({sheet.provider for sheet in offered})
        offered = [sheet for sheet in offered if sheet.provider.lower() == provider.lower()]
        if not offered:
            raise UnknownName("provider", provider, providers)
    return find(names, offered, known) if names else (offered, [])


def _changed(sheet: PriceSheet, changes: Mapping[str, str]) -> PriceSheet:
    try:
        return with_amounts(sheet, changes)
    except BacksolveError as error:
        raise WrongValue(f"{sheet.provider}/{sheet.model}: {error}") from error


def read_anchors(anchors: Mapping[str, float | str]) -> dict[str, float]:
    """Anchors as typed, to SI; only those that a reading uses are allowed."""
    allowed = ("active_params", *ANCHORS, "short_context", "long_context")
    read = {}
    for name, value in anchors.items():
        row = quantity(name)
        if row.name not in allowed:
            raise UnknownName("anchor", name, allowed)
        read[row.name] = parse(row.name, value) if isinstance(value, str) else row.check(float(value))
    return read


def _common(given: Mapping[str, float]) -> Anchors:
    """The anchors all sheets of a run share; active_params is among them only if given."""
    values = {**ANCHORS, **given}
    origin = {name: "given" if name in given else "default" for name in values}
    ridge, _ = solve_equation(equation("batching.balance_ratio_from_ridge"), "ridge_point", values)
    return Anchors({**values, "ridge_point": ridge[0].value}, {**origin, "ridge_point": "batching.balance_ratio_from_ridge"})


def _anchors(model: ModelRow | None, common: Anchors) -> Anchors:
    if "active_params" in common.values:
        return common
    if model is not None and model.active_params:
        value, origin = model.active_params, f"models.csv ({model.active_params_grade})"
    else:
        value, origin = ASSUMED_ACTIVE_PARAMS, "assumed"
    return Anchors({**common.values, "active_params": value}, {**common.origin, "active_params": origin})


def _infer_sheet(sheet: PriceSheet, model: ModelRow | None, common: Anchors) -> Inference:
    given = common.values
    seen = observables(sheet, model.max_context if model else None, given.get("short_context"), given.get("long_context"))
    anchors = _anchors(model, common)
    pairs = tuple(_infer_pair(sheet, seen, index, anchors.values) for index in range(len(seen.pairs)))
    known = _known(model)
    return Inference(
        sheet=sheet,
        model=model,
        observables=seen,
        anchors=anchors,
        bandwidth_bound=lecture.bandwidth_bound_fraction(seen.output_input_ratio.value),
        pairs=pairs,
        tiers=tuple(_tier(sheet, ttl) for ttl, _ in seen.cache_write_premiums if ttl),
        implied_drain_time=_implied_drain_time(sheet, seen),
        known=known,
        flags=_flags(sheet, seen, anchors, pairs, known),
    )


def _infer_pair(sheet: PriceSheet, seen: Observables, index: int, anchors: Mapping[str, float]) -> PairInference:
    pair = seen.pairs[index]
    by_lecture = lecture.kv_bytes_from_threshold(pair, anchors)
    jointly = closed_form.joint(pair, anchors)
    return PairInference(
        pair, by_lecture, jointly,
        _checks(sheet, seen, index, anchors, _lecture_hidden(by_lecture, seen, index, anchors), ("output_input_ratio",)),
        _checks(sheet, seen, index, anchors, jointly.values, ("output_input_ratio", "premium_in", "premium_out")),
    )  # fmt: skip


def _lecture_hidden(reading: Reading, seen: Observables, index: int, anchors: Mapping[str, float]) -> dict[str, float]:
    """The lecture's two readings as one set of hidden quantities: its KV bytes give L_star, R gives the weight read.

    It has no attention FLOPs. Empty where R leaves no room for a weight read.
    """
    pair = seen.pairs[index]
    values = {**NEUTRAL_DEFAULTS, **anchors, **reading.values, "attention_flops_per_pair": 0.0}
    values["balance_context"] = right_side(equation("context.balance_context"), values)
    at_base = {**values, "context_length": pair.short_context, "decode_cost_ratio": pair.output_input_ratio.value}
    answers, _ = solve_equation(equation("bands.decode_cost"), "weight_compute_ratio", at_base)
    points = [answer.value for answer in answers if answer.kind == "point"]
    return {**values, "weight_compute_ratio": points[0]} if points else {}


def _checks(
    sheet: PriceSheet, seen: Observables, index: int, anchors: Mapping[str, float], hidden: Mapping[str, float], used: tuple[str, ...]
) -> tuple[Check, ...]:
    """The forward model at what a reading found, against every component of the sheet it can speak of."""
    if not hidden:
        return ()
    bands, contexts = sheet.bands[index:], seen.contexts[index:]
    base = bands[0]
    predicted = forward({**anchors, **hidden}, contexts, base.input.usd_per_token)
    found = [_check(seen.pairs[index].output_input_ratio, "", predicted["output_input_ratio"], used)]
    for place, band in enumerate(bands[1:], start=1):
        suffix = "" if place == 1 else f"@{band.threshold_tokens}"
        for name, price, at_base in (("premium_in", band.input, base.input), ("premium_out", band.output, base.output)):
            found.append(_check(observe(name, ratio(price, at_base)), suffix, predicted[name][place], used))
    if seen.storage_price and index == 0:
        found.append(_check(seen.storage_price, "", predicted["storage_price"], used))
    if base.cache_read and base.cache_read.usd_per_token:
        published, least = base.cache_read.usd_per_token, float(predicted["cache_read_price"])
        found.append(Check("cache_read_price", published, least, False, least <= published, bound=True))
    return tuple(found)


def _check(published: Observable, suffix: str, predicted: float, used: tuple[str, ...]) -> Check:
    component = published.name + suffix
    inside = bool(published.low <= predicted <= published.high)
    return Check(component, published.value, float(predicted), component in used, inside)


def verdict(checks: tuple[Check, ...]) -> str:
    """pass or fail over the components the reading did not use; a cache read alone bounds and proves little.

    >>> verdict((Check("premium_out", 1.5, 1.2, False, False),)), verdict(())
    ('fail', 'not testable')
    """
    unused = [check for check in checks if not check.used_by_reading]
    if not unused:
        return "not testable"
    if not all(check.inside_rounding_cell for check in unused):
        return "fail"
    return "pass" if any(not check.bound for check in unused) else "pass (bound only)"


def _tier(sheet: PriceSheet, ttl: int) -> TierReading:
    said = (
        cell("disclosures", row, "disclosed_tier")
        for row in table("disclosures")
        if cell("disclosures", row, "topic") == "cache_tier"
        and cell("disclosures", row, "provider") == sheet.provider
        and cell("disclosures", row, "model") in ("", sheet.model)
        and cell("disclosures", row, "ttl_seconds") in ("", str(ttl))
    )
    return TierReading(ttl, lecture.tier_of_lifetime(ttl), lecture.tier_of_lifetime(ttl, "range"), next(said, None) or None)


def _implied_drain_time(sheet: PriceSheet, seen: Observables) -> Reading | None:
    if not seen.pairs or seen.storage_price is None:
        return None
    return closed_form.implied_drain_time(seen.pairs[0], sheet.bands[0].output.usd_per_token, seen.storage_price.value)


def _known(model: ModelRow | None) -> KnownCache | None:
    """The KV bytes of a model of public architecture, stored and read, at two bytes an element."""
    if model is None or not model.architecture:
        return None
    row = next((row for row in table("architectures") if cell("architectures", row, "model") == model.architecture), None)
    if row is None:
        raise WrongData(f"models.csv {model.provider}/{model.model}: architecture {model.architecture!r} is not in architectures.csv")

    def bytes_of(column: str) -> float:
        return number("architectures", model.architecture, column, cell("architectures", row, column)) * BYTES_PER_ELEMENT_KNOWN

    stored, read = bytes_of("kv_values_stored_per_token"), bytes_of("kv_values_read_per_context_token")
    return KnownCache(model.architecture, model.architecture_grade, stored, read)


def _flags(
    sheet: PriceSheet, seen: Observables, anchors: Anchors, pairs: tuple[PairInference, ...], known: KnownCache | None
) -> tuple[str, ...]:
    """What a reader must know before using the row, in a few words each."""
    flags = []
    if pairs and anchors.origin["active_params"] == "assumed":
        flags.append("active_params assumed")
    if not pairs:
        flags.append("one band")
    elif len(pairs) > 1:
        flags.append(f"{len(pairs) + 1} bands, first pair shown")
    if pairs and pairs[0].joint.problem:
        flags.append("joint: no reading")
    if seen.output_input_ratio.value <= 1:
        flags.append("output not above input")
    if known:
        flags.append("architecture known" if known.grade == "verified" else f"architecture {known.grade}")
    if sheet.bands[0].input.currency != "USD":
        flags.append(f"priced in {sheet.bands[0].input.currency}")
    if not sheet.start_known:
        flags.append("start not known")
    if sheet.service_tier != "standard":
        flags.append(sheet.service_tier.replace("_", "-"))
    return tuple(flags)
