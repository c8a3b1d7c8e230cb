"""Cite what `infer` says: one reading of a sheet, and the sources of a saved result of `solve` or `infer`.

A reading has its price rows with sources, the equation, its input numbers, the residual and the record. A saved result has its equations,
pages, sheets, inferences and the run, each with a reason.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
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
from invert.comparison_records import SavedSheet
from invert.encoder import Codec, WrongShape
from invert.estimate_text import bracket_range, estimate_text, plain_digits, with_new_keys
from invert.estimators.cases import UNKNOWN as UNKNOWN_SIZE
from invert.records import Estimate
from invert.report.columns import REGISTRY, UNKNOWN
from invert.report.contract import CODEC, Question, anchors_given, read_question
from invert.report.layout import several
from invert.report.price_pages import pages_of, price_reference, sheet_pages, sheet_reference
from invert.report.prices import name_of_price, outcome, predictions
from invert.result import DRAIN_TIME_RULE, Inference, Run
from invert.sheets.rows import PriceRow
from invert.sheets.sheet import Place
from invert.steps import solve_steps

_REPRODUCED = 1e-9
"""Largest relative residual of a price that is reproduced."""
_FORMS = {"plain": ("table", PLAIN, "{}"), "markdown": ("markdown", MARKDOWN, "### {}"), "latex": ("latex", LATEX, r"\paragraph{{{}}}")}
"""Styles that print the formula with its input numbers: the form of a solution, the form of text, and a heading."""


@immutable
class CitedReading:
    """A reading of a sheet to cite: its column, its equation in numbers, the prices that it used, and its residual as a sentence."""

    column: str
    solution: Solution
    places: tuple[Place, ...]
    residual: str


def cite_reading(one: Inference, run: Run, kind: str, style: str = "plain", html_base: str = "", macros: bool = False) -> str:
    """Return a reading (kv, fraction or tier) of a sheet with its price rows, equation, numbers, residual and record.

    Text, Markdown and LaTeX print the equation with the numbers put in. Every other style has an entry for the reading, for each of its
    prices and for its equation. Raise `NoSingleValue` if the sheet has no such reading.

    >>> from invert.inference import infer
    >>> run = infer("gemini-3.1-pro")
    >>> print(cite_reading(run[0], run, "fraction").splitlines()[0])
    bandwidth-bound fraction of google/gemini-3.1-pro-preview: 0.8333 (74-89 %)
    """
    reading = _READINGS[kind](one, run)
    column, solution = REGISTRY[reading.column], reading.solution
    value = text_of(solution.unknown, solution.answers[0]) if solution.unknown in reading.column else column.text(one)
    title = f"{column.heading} of {one.name}: {bracket_range(value, column.span(one))}"
    known = column.record([one], run)
    record = "never checked." if known in ("", UNKNOWN) else f"{known} where the truth is known."
    rows = [row for row in run.rows if row.sheet_key == one.key and row.place in reading.places]
    prices = [price_reference(row, str(one.sheet.as_of)) for row in rows]
    if style not in _FORMS:
        sheet = one.sheet
        cited = Reference(
            key=":".join(("reading", kind, *map(slug, (sheet.provider, sheet.model, sheet.service_tier, str(sheet.as_of))))),
            title=title,
            which=f"reading of the {sheet.service_tier} prices of {sheet.as_of}",
            said=f"residual: {reading.residual} record: {record}",
            day=sheet.as_of,
        )
        return cite_with_references(solution.equations, [cited, *prices], style, html_base, macros)
    form, markup, heading = _FORMS[style]
    sentences = (markup.text(f"{label}: {text}") for label, text in (("Residual", reading.residual), ("Record", record)))
    parts = [heading.format(markup.text(title)), cite_with_references([], prices, style), render(solution, form), *sentences]
    return "\n\n".join(parts)


def _kv(one: Inference, _: Run) -> CitedReading:
    if not one.pairs:
        raise NoSingleValue(f"{one.name} has one price for all lengths, and so no KV from a threshold; allowed: --reading fraction or tier")
    return CitedReading(
        column="kv_bytes_per_token_from_threshold",
        solution=_with_origins(one.pairs[0].lecture.solution, one, {"long_context_threshold"}),
        places=(("input", one.pairs[0].pair.long_context_threshold, None),),
        residual=_residual("long_context_threshold", one),
    )


def _fraction(one: Inference, _: Run) -> CitedReading:
    if one.bandwidth_bound.problem:
        raise NoSingleValue(f"{one.name}: output is not sold above input, which the bandwidth-bound fraction needs")
    return CitedReading(
        column="bandwidth_bound_fraction",
        solution=_with_origins(one.bandwidth_bound.solution, one, {"output_input_ratio"}),
        places=(("input", 0, None), ("output", 0, None)),
        residual=_residual("output", one),
    )


def _tier(one: Inference, run: Run) -> CitedReading:
    """Return the tier by the storage price if there is one and a premium, otherwise by the lifetime of a cache write."""
    by_price = any(found.ttl_seconds is None and found.by_price for found in one.storage)
    if by_price and one.implied_drain_time and one.implied_drain_time.values:
        return CitedReading(
            column="cache_tier_by_price",
            solution=_with_origins(one.implied_drain_time.solution, one, {"output_price", "premium_out", "storage_price"}),
            places=(("output", 0, None), ("output", one.pairs[0].pair.long_context_threshold, None), ("cache_storage", 0, None)),
            residual=_compare_with_devices(one.implied_drain_time.values["implied_drain_time"], run, "range"),
        )
    if not one.tiers:
        raise NoSingleValue(f"{one.name} has no price for cache lifetimes or storage, so no cache tier; allowed: --reading fraction")
    solution = solve_steps([(DRAIN_TIME_RULE, "drain_time")], {"ttl": one.tiers[-1].ttl_seconds})
    return CitedReading(
        column="cache_tier_by_duration",
        solution=_with_origins(solution, one, {"ttl"}),
        places=tuple(("cache_write", 0, tier.ttl_seconds) for tier in one.tiers),
        residual=" ".join(_compare_with_devices(float(tier.ttl_seconds), run, "lecture") for tier in one.tiers),
    )


_READINGS = {"kv": _kv, "fraction": _fraction, "tier": _tier}


def _with_origins(solution: Solution, one: Inference, of_prices: Iterable[str]) -> Solution:
    """Return the solution with the origin of every input number."""

    def origin(name: str) -> str:
        said = one.anchors.origin.get(name, "assumption")
        return "price sheet" if name in of_prices else "as the lecture supposes" if said in (*UNKNOWN_SIZE, "default") else said

    return replace(solution, provenance={name: origin(name) for name in solution.given})


def _residual(used: str, one: Inference) -> str:
    """Describe a residual: `output is reproduced. Prices that were not used: input above 200k 4, predicted 2, missed.`"""
    relative = one.inversion.residuals[used]
    reproduced = "reproduced" if abs(relative) <= _REPRODUCED else f"missed by {100 * relative:.2g} %"
    unused = [found for found in predictions(one) if found.predicted is not None]
    others = "; ".join(f"{name_of_price(found.price)} {found.price.amount:g}, predicted {outcome(found)}" for found in unused)
    return (
        f"{used.replace('_', ' ')} is {reproduced}. {f'Prices that were not used: {others}' if others else 'No other price is predicted'}."
    )


def _compare_with_devices(drain_time: float, run: Run, device: str) -> str:
    """Return the drain time over the drain time of the nearest memory tier."""
    times = run.drain_times[device]
    nearest = min(times, key=lambda tier: abs(log(drain_time / times[tier])))
    times_nearest, of_tier = plain_digits(drain_time / times[nearest]), show("drain_time", times[nearest])
    return f"{show('drain_time', drain_time)} is {times_nearest} times the drain time of the nearest tier ({nearest}, {of_tier})."


_REFERENCE = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+@[0-9]+")


_CODEC = Codec(keys={Estimate: {name: name for name in ("kind", "median", "low", "high", "because")}})
"""The keys of a saved estimate that are cited."""


def uses_in(result: dict[str, Any] | list[Any]) -> dict[str, str]:
    """Return every `id@version` that a saved result used, in order, with its use."""
    found: dict[str, dict[str, None]] = {}
    lists = 0
    # A stack of our own: a file can be nested deeper than Python's functions can.
    waiting: list[tuple[Any, tuple[str, ...], str]] = [(result, (), "")]
    while waiting:
        node, path, of = waiting.pop()
        if isinstance(node, dict):
            if {"provider", "model", "as_of"} <= node.keys():
                of, path = " ".join(map(_plain, (node["provider"], node["model"]))), ()
            if "equations" in node:
                lists += 1
                used = node["equations"]
                wrong = (
                    [row for row in used if not (isinstance(row, str) and _REFERENCE.fullmatch(row))] if isinstance(used, list) else [used]
                )
                if wrong:
                    raise WrongData(f"'equations' has {shorten(str(wrong[0]))}, but must be a list such as ['roofline.step_time@1']")
                for reference in used:
                    found.setdefault(reference, {})[_use(reference, node, path, of)] = None
            waiting.extend((child, (*path[-1:], name), of) for name, child in reversed(node.items()))
        elif isinstance(node, list):
            waiting.extend((child, path, of) for child in reversed(node))
    if not lists:
        raise WrongData("not a result of solve or infer: it has no 'equations'")
    return {reference: several([*filter(None, uses)] or ["the result"], between="; ") for reference, uses in found.items()}


def _use(reference: str, node: Mapping[str, Any], path: tuple[str, ...], of: str) -> str:
    if unknown := _plain(node.get("unknown")):
        row = by_id().get(reference.partition("@")[0])
        left = row.symbols[0] if row else unknown
        return f"the answer for {unknown}" if left == unknown else f"{left}, on the way to {unknown}"
    # That a sheet used it says less than what for.
    said = " ".join(_plain(name) for name in path if name not in ("estimates", "readings"))
    return f"{said} of {of}" if said and of else said


def _plain(text: object) -> str:
    """Return printable text of a file, or an empty text."""
    return shorten(text, 200)[1:-1] if isinstance(text, str) and text and text.isprintable() else ""


def references_in(result: object, html_base: str = "") -> list[Reference]:
    """Return the sources of a saved result of `infer` other than equations: pages, price sheets, inferences and the run. A result of
    `solve` and a list of sheets have no such sources. Raises `WrongData` for a result of another schema or shape.
    """
    if not isinstance(result, dict) or result.keys().isdisjoint(("run", "sheets")):
        return []
    try:
        question = read_question(result)
        rows = CODEC.decode(tuple[PriceRow, ...], result["run"].get("rows"), "run.rows")
        sheets = CODEC.decode(tuple[SavedSheet, ...], result.get("sheets"), "sheets")
        found: list[Reference] = []
        for one in sheets:
            of = [row for row in rows if row.sheet_key == one.key]
            found += [sheet_reference(of, str(one.as_of), html_base, "the prices that were read")] if of else []
            found.append(_inference(one, question, html_base))
    except WrongShape as fault:
        raise WrongData(f"not a result of infer --save of this version: {fault}") from None
    return [*pages_of(rows), *found, _run(question, sheets)]


def _inference(one: SavedSheet, question: Question, html_base: str) -> Reference:
    """Cite the inference from one sheet, with its estimates. The title names what the user set."""
    given = {name: show(name, value) for name, value in anchors_given(question).items() if name in QUANTITIES}
    by_hand = "; ".join(f"{name} = {value}" for name, value in {**question.changes, **given}.items())
    tier = " ".join(filter(None, (one.service_tier, one.region)))
    return Reference(
        key=":".join(filter(None, ("inference", *map(slug, (one.provider, one.model, tier, str(one.as_of), by_hand))))),
        title=f"What the prices of {one.provider} {one.model} imply" + (f", with {by_hand} set by the user" if by_hand else ""),
        places=sheet_pages(html_base, one.provider, one.model),
        which=f"inference from the {tier} prices of {one.as_of}, {_made_by(question)}",
        said="; ".join(_estimates_in_words(one)) or "no estimate",
        day=one.as_of,
        why="the result",
    )


def _estimates_in_words(one: SavedSheet) -> Iterator[str]:
    """Yield one estimate of every quantity, with its range and reason."""
    for name, by in with_new_keys(one.estimates).items():
        if name in QUANTITIES and isinstance(by, dict):
            named = with_new_keys(by)
            found = _CODEC.decode(Estimate, named.get("typical") or named.get("by_price") or named, f"estimates.{name}")
            if found.middle:
                yield f"{name} {estimate_text(name, found)}, {found.because}"


def _run(question: Question, sheets: Sequence[SavedSheet]) -> Reference:
    """Cite the run: programs, seed and tables."""
    made, by, day = question.made, _made_by(question), str(question.as_of)
    versions = ", ".join(f"{name} {version}" for name, version in made.versions.items())
    tables = ", ".join(f"{name} {(digest or 'none')[:12]}" for name, digest in made.tables.items())
    return Reference(
        key=f"run:{slug(by)}:{slug(day)}:{slug((made.tables.get('prices.csv') or '')[:12])}",
        title="A run of backsolve infer",
        which=f"{by}, prices of {day}",
        said=f"{versions}. Tables by the beginning of their SHA-256: {tables}",
        day=question.as_of,
        why=f"sources of the numbers for {several([f'{one.provider} {one.model}' for one in sheets])}",
    )


def _made_by(question: Question) -> str:
    """Return the version and the seed of a result."""
    return ", ".join([f"backsolve {question.made.versions.get('backsolve')}", *(f"seed {seed}" for seed in question.made.seeds.values())])
