"""Cite one reading of a sheet: its price rows with sources, the equation, its input numbers, the residual and the record."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import log

from derive.errors import NoSingleValue
from derive.immutable import immutable
from derive.show.citation import LATEX, MARKDOWN, PLAIN, slug
from derive.show.references import Reference, cite_with_references
from derive.show.text import render
from derive.show.values import text_of
from derive.solving.result import Solution
from derive.units import show
from invert.estimate_text import two_digits
from invert.estimators.cases import UNKNOWN
from invert.forward_model import solve_steps
from invert.records import TierShares
from invert.report.columns import lecture_record
from invert.report.price_pages import price_reference
from invert.report.prices import DRAIN_TIMES_OF_LECTURE, join_tiers, name_of_price, predictions, worst_record
from invert.result import DRAIN_TIME_RULE, Inference, Run
from invert.sheets.sheet import Place

_REPRODUCED = 1e-9
"""Largest relative residual of a price that is reproduced."""
_FORMS = {"plain": ("table", PLAIN, "{}"), "markdown": ("markdown", MARKDOWN, "### {}"), "latex": ("latex", LATEX, r"\paragraph{{{}}}")}
"""Styles that print the formula with its input numbers: the form of a solution, the form of text, and a heading."""
_OF_PRICES, _OF_LECTURE = "price sheet", "as the lecture supposes"
"""The sources of the input numbers."""


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
    right, cases = worst_record(rules, run.tier_rules) or (0, 0)
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
        return _OF_PRICES if name in of_prices else _OF_LECTURE if said in (*UNKNOWN, "default") else said

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
            met = "met" if found.met else "missed"
            yield f"{name_of_price(found.price)} {found.price.amount:g}, predicted {least}{found.predicted:.3g} ({met})"


def _compare_with_devices(drain_time: float, run: Run, device: str) -> str:
    """Return the drain time over the drain time of the nearest memory tier."""
    times = run.drain_times[device]
    if not times:
        return "no drain time of a memory tier can be read."
    nearest = min(times, key=lambda tier: abs(log(drain_time / times[tier])))
    times_nearest, of_tier = two_digits(drain_time / times[nearest]), show("drain_time", times[nearest])
    return f"{show('drain_time', drain_time)} is {times_nearest} times the drain time of the nearest tier ({nearest}, {of_tier})."
