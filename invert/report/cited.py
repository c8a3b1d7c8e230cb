"""Cite what `infer` says: one reading of a sheet, and the sources of a saved result of `solve` or `infer`.

A reading has its price rows with sources, the equation, its input numbers, the residual and the record. A saved result has its equations,
pages, sheets, inferences and the run, each with a reason.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import isfinite, log
from typing import Any

from derive.catalogue import by_id
from derive.errors import NoSingleValue, WrongData, shorten
from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.show.citation import LATEX, MARKDOWN, PLAIN, slug
from derive.show.references import Reference, cite_with_references
from derive.show.text import render
from derive.show.words import text_of
from derive.solving.result import Solution
from derive.units import show
from invert.estimate_text import two_digits, with_new_keys
from invert.estimators.cases import UNKNOWN
from invert.forward_model import solve_steps
from invert.records import TierShares
from invert.report.columns import lecture_record
from invert.report.contract import SCHEMA
from invert.report.layout import several
from invert.report.price_pages import PER, day_named, pages_of, price_reference, rows_in, sheet_pages, sheet_reference
from invert.report.prices import DRAIN_TIMES_OF_LECTURE, join_tiers, name_of_price, predictions, worst_record
from invert.result import DRAIN_TIME_RULE, Inference, Run
from invert.sheets.rows import PriceRow
from invert.sheets.sheet import Place

_REPRODUCED = 1e-9
"""Largest relative residual of a price that is reproduced."""
_FORMS = {"plain": ("table", PLAIN, "{}"), "markdown": ("markdown", MARKDOWN, "### {}"), "latex": ("latex", LATEX, r"\paragraph{{{}}}")}
"""Styles that print the formula with its input numbers: the form of a solution, the form of text, and a heading."""


@immutable
class CitedReading:
    """A reading of a sheet to cite. `places` are the prices that it used. `residual` and `record` are sentences."""

    name: str
    found: str
    solution: Solution
    places: tuple[Place, ...]
    residual: str
    record: str


def cite_reading(one: Inference, run: Run, kind: str, style: str = "plain", html_base: str = "", macros: bool = False) -> str:
    """Return a reading (kv, fraction or tier) of a sheet with its price rows, equation, numbers, residual and record.

    Text, Markdown and LaTeX print the equation with the numbers put in. Every other style has an entry for the reading, for each of its
    prices and for its equation. Raise `NoSingleValue` if the sheet has no such reading.

    >>> from invert.inference import infer
    >>> run = infer("gemini-3.1-pro")
    >>> print(cite_reading(run[0], run, "fraction").splitlines()[0])
    bandwidth-bound fraction of google/gemini-3.1-pro-preview: 0.8333
    """
    reading = _READINGS[kind](one, run)
    rows = [row for row in run.rows if row.sheet_key == one.key and row.place in reading.places]
    prices = [price_reference(row, str(one.sheet.as_of)) for row in rows]
    title = f"{reading.name} of {one.name}: {reading.found}"
    if style not in _FORMS:
        return cite_with_references(reading.solution.equations, [_reference(one, kind, title, reading), *prices], style, html_base, macros)
    form, markup, heading = _FORMS[style]
    sentences = (markup.text(f"{label}: {text}") for label, text in (("Residual", reading.residual), ("Record", reading.record)))
    parts = [heading.format(markup.text(title)), cite_with_references([], prices, style), render(reading.solution, form), *sentences]
    return "\n\n".join(parts)


def _reference(one: Inference, kind: str, title: str, reading: CitedReading) -> Reference:
    sheet = one.sheet
    return Reference(
        key=f"reading:{kind}:{':'.join(map(slug, (sheet.provider, sheet.model, sheet.service_tier, str(sheet.as_of))))}",
        title=title,
        which=f"reading of the {sheet.service_tier} prices of {sheet.as_of}",
        said=f"residual: {reading.residual} record: {reading.record}",
        day=sheet.as_of,
    )


def _kv(one: Inference, run: Run) -> CitedReading:
    if not one.pairs:
        raise NoSingleValue(f"{one.name} has one price for all lengths, and so no KV from a threshold; allowed: --reading fraction or tier")
    solution = _with_origins(one.pairs[0].lecture.solution, one, {"long_context_threshold"})
    ends = f" ({run.lecture_error.low:.3g} to {run.lecture_error.high:.3g} times)" if run.lecture_error else ""
    return CitedReading(
        name="KV from threshold",
        found=_value(solution),
        solution=solution,
        places=(("input", one.pairs[0].pair.long_context_threshold, None),),
        residual=_residual("the threshold", one.inversion.residuals["long_context_threshold"], one),
        record=f"{lecture_record(run)}{ends} on the sheets of models whose KV cache is known.",
    )


def _fraction(one: Inference, run: Run) -> CitedReading:
    reading = one.bandwidth_bound
    if reading.problem:
        raise NoSingleValue(f"{one.name}: output is not sold above input, which the bandwidth-bound fraction needs")
    solution = _with_origins(reading.solution, one, {"output_input_ratio"})
    found = one.estimates["bandwidth_bound_fraction"]
    ends = f" Hosts of one model leave {100 * found.low:.0f} to {100 * found.high:.0f} %." if found.low and found.high else ""
    return CitedReading(
        name="bandwidth-bound fraction",
        found=_value(solution),
        solution=solution,
        places=(("input", 0, None), ("output", 0, None)),
        residual=_residual("output over input", one.inversion.residuals["output"], one),
        record=f"never checked, because no vendor states the fraction.{ends}",
    )


def _tier(one: Inference, run: Run) -> CitedReading:
    """Return the tier by the storage price if there is one and a premium, otherwise by the lifetime of a cache write."""
    of = next((found for found in one.storage if found.ttl_seconds is None), None)
    if of and of.by_price and one.implied_drain_time and one.implied_drain_time.values:
        return _tier_by_price(one, of.by_price, of.evidence, run)
    if not one.tiers:
        raise NoSingleValue(f"{one.name} has no price for cache lifetimes or storage, so no cache tier; allowed: --reading fraction")
    return _tier_by_lifetime(one, run)


def _tier_by_price(one: Inference, of: TierShares, rules: Iterable[str], run: Run) -> CitedReading:
    reading, above = one.implied_drain_time, one.pairs[0].pair.long_context_threshold
    assert reading
    drain_time = reading.values["implied_drain_time"]
    right, cases = worst_record(rules, run.tier_rules)
    return CitedReading(
        name="cache tier",
        found=f"{join_tiers(of.agreed)}, {100 * of.agreed_share:.0f} % likely",
        solution=_with_origins(reading.solution, one, {"output_price", "premium_out", "storage_price"}),
        places=(("output", 0, None), ("output", above, None), ("cache_storage", 0, None)),
        residual=_compare_with_devices(drain_time, run, "range"),
        record=f"right for {right} of {cases} caches whose tier the vendor states.",
    )


def _tier_by_lifetime(one: Inference, run: Run) -> CitedReading:
    longest = one.tiers[-1]
    solution = solve_steps([(DRAIN_TIME_RULE, "drain_time")], {"ttl": longest.ttl_seconds})
    scores = run.tier_rules.scores
    record = next((f"right for {row.right} of {row.answered}" for row in scores if row.rule == DRAIN_TIMES_OF_LECTURE), "never checked")
    stated = f" The vendor states {longest.disclosed}." if longest.disclosed else ""
    return CitedReading(
        name="cache tier",
        found=", ".join(f"{tier.lecture} for {show('ttl', tier.ttl_seconds)}" for tier in one.tiers),
        solution=_with_origins(solution, one, {"ttl"}),
        places=tuple(("cache_write", 0, tier.ttl_seconds) for tier in one.tiers),
        residual=" ".join(_compare_with_devices(float(tier.ttl_seconds), run, "lecture") for tier in one.tiers),
        record=f"{record} caches whose tier the vendor states.{stated}",
    )


_READINGS = {"kv": _kv, "fraction": _fraction, "tier": _tier}


def _value(solution: Solution) -> str:
    return text_of(solution.unknown, solution.answers[0])


def _with_origins(solution: Solution, one: Inference, of_prices: Iterable[str]) -> Solution:
    """Return the solution with the origin of every input number."""

    def origin(name: str) -> str:
        said = one.anchors.origin.get(name, "assumption")
        return "price sheet" if name in of_prices else "as the lecture supposes" if said in (*UNKNOWN, "default") else said

    return replace(solution, provenance={name: origin(name) for name in solution.given})


def _residual(what: str, relative: float, one: Inference) -> str:
    """Describe a residual: `the threshold is reproduced; of the prices not used, input above 200k is 4, predicted 2 (missed).`"""
    used = f"{what} is {'reproduced' if abs(relative) <= _REPRODUCED else f'missed by {100 * relative:.2g} %'}"
    others = "; ".join(_unused_prices(one))
    return f"{used}. Prices that were not used: {others}." if others else f"{used}. No other price is predicted."


def _unused_prices(one: Inference) -> Iterator[str]:
    for found in predictions(one):
        if found.predicted is not None:
            least = "at least " * found.bound
            met = "" if found.bound and found.met else f" ({'met' if found.met else 'missed'})"
            yield f"{name_of_price(found.price)} {found.price.amount:g}, predicted {least}{found.predicted:.3g}{met}"


def _compare_with_devices(drain_time: float, run: Run, device: str) -> str:
    """Return the drain time over the drain time of the nearest memory tier."""
    times = run.drain_times[device]
    nearest = min(times, key=lambda tier: abs(log(drain_time / times[tier])))
    times_nearest, of_tier = two_digits(drain_time / times[nearest]), show("drain_time", times[nearest])
    return f"{show('drain_time', drain_time)} is {times_nearest} times the drain time of the nearest tier ({nearest}, {of_tier})."


# The sources of a saved result.

_AMOUNT = re.compile(r"[0-9.]+")
_REFERENCE = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+@[0-9]+")
_SHEET = ("provider", "model", "service_tier", "as_of")
_Record = Mapping[str, Any]


def uses_in(result: dict[str, Any] | list[Any]) -> dict[str, str]:
    """Return every `id@version` that a saved result used, in order, with its use."""
    found: dict[str, dict[str, None]] = {}
    lists = 0
    # A stack of our own: a file can be nested deeper than Python's functions can.
    waiting: list[tuple[Any, tuple[str, ...], str]] = [(result, (), "")]
    while waiting:
        node, path, of = waiting.pop()
        if isinstance(node, dict):
            of, path = (_sheet_name(node), ()) if _sheet_name(node) else (of, path)
            if "equations" in node:
                lists += 1
                for reference in _references(node["equations"]):
                    found.setdefault(reference, {})[_use(reference, node, path, of)] = None
            waiting.extend((child, (*path[-1:], name), of) for name, child in reversed(node.items()))
        elif isinstance(node, list):
            waiting.extend((child, path, of) for child in reversed(node))
    if not lists:
        raise WrongData("not a result of solve or infer: it has no 'equations'")
    return {reference: several([*filter(None, uses)] or ["the result"], between="; ") for reference, uses in found.items()}


def references_in(result: object, html_base: str = "") -> list[Reference]:
    """Return the sources of a saved result of `infer` other than equations: pages, price sheets, inferences and the run. A result of
    `solve` has no such sources.
    """
    rows, run = rows_in(result), _dict(_dict(result).get("run"))
    if not run:
        return []
    sheets = [sheet for sheet in _list(_dict(result).get("sheets")) if _sheet_name(sheet)]
    pages, made = [page.reference for page in pages_of(rows)], _version_text(run)
    found = [reference for sheet in sheets for reference in (*_sheet(sheet, rows, html_base), _inference(sheet, run, html_base))]
    return [*pages, *found, *([_run(run, made, sheets)] if made else [])]


def _sheet(sheet: _Record, rows: list[PriceRow], html_base: str) -> Iterator[Reference]:
    """Yield the price sheet, if the result has its rows."""
    key = tuple(sheet.get(name) or "" for name in ("provider", "model", "region", "service_tier"))
    if of := [row for row in rows if row.sheet_key == key]:
        yield sheet_reference(of, sheet["as_of"], html_base, "the prices that were read")


def _inference(sheet: _Record, run: _Record, html_base: str) -> Reference:
    """Cite the inference from one sheet, with its estimates. The title names what the user set."""
    provider, model, tier, day = (sheet[name] for name in _SHEET)
    made, by_hand = _version_text(run), "; ".join((*_prices_set(sheet, run), *_anchors_set(run)))
    tier = " ".join(filter(None, (tier, _plain(sheet.get("region")))))
    said = "; ".join(_estimates_in_words(sheet.get("estimates"))) or "no estimate"
    return Reference(
        key=":".join(filter(None, ("inference", *map(slug, (provider, model, tier, day, by_hand))))),
        title=f"What the prices of {provider} {model} imply" + (f", with {by_hand} set by the user" if by_hand else ""),
        places=sheet_pages(html_base, provider, model),
        which=f"inference from the {tier} prices of {day}" + (f", {made}" if made else ""),
        said=said,
        day=day_named(day),
        why="the result",
    )


def _prices_set(sheet: _Record, run: _Record) -> Iterator[str]:
    """Yield the prices that were set by hand, with currency and unit of the replaced price."""
    bands = _list(_dict(sheet.get("prices")).get("bands"))
    currency = _plain(_dict(_dict(bands[0]).get("input")).get("currency")) if bands else ""
    for name, amount in _dict(run.get("changes")).items():
        place, text = _plain(name), _plain(amount)
        unit = f" {currency}/{PER['mtok_hour' if place == 'cache_storage' else 'mtok']}" if currency and _AMOUNT.fullmatch(text) else ""
        yield f"{place} = {text}{unit}"


def _anchors_set(run: _Record) -> Iterator[str]:
    """Yield the outside facts that were set by hand."""
    assumptions = _dict(run.get("assumptions"))
    for name in map(_plain, _list(assumptions.get("given"))):
        if name in QUANTITIES:
            value = assumptions.get(name)
            yield f"{name} = {show(name, value) if isinstance(value, int | float) and isfinite(value) else 'another value'}"


def _estimates_in_words(estimates: object) -> Iterator[str]:
    """Yield one estimate of every quantity, with its range and reason."""
    for name, found in ((name, found) for name, found in _dict(estimates).items() if name in QUANTITIES):
        by = with_new_keys(_dict(found))
        one = _dict(by.get("typical") or by.get("by_price") or by)
        median, low, high = (_value_text(name, one.get(key)) for key in ("median", "low", "high"))
        bounds = " to ".join(filter(None, (low, high))) if low and high else f"at least {low}" if low else f"at most {high}" if high else ""
        if median or bounds:
            yield f"{name} {f'{median} ({bounds})' if median and bounds else median or bounds}, {_plain(one.get('because'))}".rstrip(", ")


def _value_text(name: str, value: object) -> str:
    return show(name, value, digits=2) if isinstance(value, int | float) and isfinite(value) else ""


def _run(run: _Record, made: str, sheets: list[_Record]) -> Reference:
    """Cite the run: programs, seed and tables."""
    versions = ", ".join(f"{_plain(name)} {_plain(version)}" for name, version in _dict(run.get("versions")).items())
    tables = ", ".join(f"{_plain(name)} {_plain(digest)[:12]}" for name, digest in _dict(run.get("tables")).items())
    day = _plain(run.get("as_of"))
    names = [f"{sheet['provider']} {sheet['model']}" for sheet in sheets]
    return Reference(
        key=f"run:{slug(made)}:{slug(day)}:{slug(_plain(_dict(run.get('tables')).get('prices.csv'))[:12])}",
        title="A run of backsolve infer",
        which=f"{made}, prices of {day}",
        said=f"{versions}. Tables by the beginning of their SHA-256: {tables}",
        day=day_named(day),
        why=f"sources of the numbers for {several(names)}",
    )


def refuse_other_schema(result: object) -> None:
    """Raise WrongData for a result of `infer` that another version saved: its sheets and inferences may have other keys."""
    saved = _dict(result)
    if (schema := saved.get("schema")) not in (None, SCHEMA):
        by = version_of(saved)
        theirs = shorten(str(schema)) + (f" of backsolve {shorten(by)[1:-1]}" if by else "")
        raise WrongData(
            f"the result's schema is {theirs}, and {SCHEMA!r} is expected here: some of its sources may be missing. Save it again with"
            " this version"
        )


def version_of(result: Mapping[str, Any]) -> str:
    """Return the version of backsolve that made a saved result of `infer`, or an empty text."""
    return _plain(_dict(_dict(result.get("run")).get("versions")).get("backsolve"))


def _version_text(run: _Record) -> str:
    """Return the version and seed of a result."""
    version, seeds = version_of({"run": run}), _dict(run.get("seeds"))
    seed = ", ".join(f"seed {_plain(str(value))}" for value in seeds.values())
    return ", ".join(filter(None, (f"backsolve {version}" if version else "", seed)))


def _use(reference: str, node: Mapping[str, Any], path: tuple[str, ...], of: str) -> str:
    if isinstance(node.get("unknown"), str):
        row, unknown = by_id().get(reference.partition("@")[0]), _plain(node["unknown"])
        left = row.symbols[0] if row else unknown
        return f"the answer for {unknown}" if left == unknown else f"{left}, on the way to {unknown}"
    # That a sheet used it says less than what for.
    said = " ".join(_plain(name) for name in path if name not in ("estimates", "readings"))
    return f"{said} of {of}" if said and of else said


def _sheet_name(node: object) -> str:
    """Return provider and model of a sheet, or an empty text for another node."""
    texts = [_plain(_dict(node).get(name)) for name in _SHEET]
    return " ".join(texts[:2]) if all(texts) else ""


def _plain(text: object) -> str:
    """Return printable text of a file, or an empty text."""
    return shorten(text, 200)[1:-1] if isinstance(text, str) and text and text.isprintable() else ""


def _dict(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _references(found: Any) -> list[str]:
    wrong = [row for row in found if not (isinstance(row, str) and _REFERENCE.fullmatch(row))] if isinstance(found, list) else [found]
    if wrong:
        raise WrongData(f"'equations' has {shorten(str(wrong[0]))}, but must be a list such as ['roofline.step_time@1']")
    return [*found]
