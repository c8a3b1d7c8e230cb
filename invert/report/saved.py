"""Cite the sources of a saved result of `solve` or `infer`, each with a reason: equations, pages, sheets, inferences, the run."""

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from derive.catalogue import by_id
from derive.errors import WrongData, shorten
from derive.quantities import QUANTITIES
from derive.show.citation import slug
from derive.show.references import Reference
from derive.units import show
from invert.estimate_text import with_new_keys
from invert.report.contract import SCHEMA
from invert.report.layout import several
from invert.report.price_pages import PER, day_named, pages_of, rows_in, sheet_pages, sheet_reference
from invert.sheets.rows import PriceRow

_AMOUNT = re.compile(r"[0-9.]+")
_REFERENCE = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+@[0-9]+")
_SHEET = ("provider", "model", "service_tier", "as_of")
_ROOMS = ("estimates", "readings")
_Record = Mapping[str, Any]
_DIGITS = 2
"""Digits of a number with a wide range."""


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
    rows = rows_in(result)
    run = result.get("run") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(run, dict):
        return []
    sheets = [sheet for sheet in _list(result.get("sheets")) if _sheet_name(sheet)]
    pages = [page.reference for page in pages_of(rows)]
    made = _version_text(run)
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
    for name, found in estimates.items() if isinstance(estimates, dict) else ():
        by = with_new_keys(_dict(found))
        one = _dict(by).get("typical") or _dict(by).get("by_price") or by
        if name not in QUANTITIES:
            continue
        figures = [_value_text(name, one.get(key)) for key in ("low", "high")]
        median, low, high = _value_text(name, one.get("median")), *figures
        bounds = " to ".join(filter(None, (low, high))) if low and high else f"at least {low}" if low else f"at most {high}" if high else ""
        if median or bounds:
            yield f"{name} {f'{median} ({bounds})' if median and bounds else median or bounds}, {_plain(one.get('because'))}".rstrip(", ")


def _value_text(name: str, value: object) -> str:
    return show(name, value, _DIGITS) if isinstance(value, int | float) and isfinite(value) else ""


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
    schema = result.get("schema") if isinstance(result, dict) else None
    if isinstance(result, dict) and schema not in (None, SCHEMA):
        by = version_of(result)
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
    said = " ".join(_plain(name) for name in path if name not in _ROOMS)
    return f"{said} of {of}" if said and of else said


def _sheet_name(node: object) -> str:
    """Return provider and model of a sheet, or an empty text for another node."""
    texts = [_plain(node.get(name)) for name in _SHEET] if isinstance(node, dict) else [""]
    return " ".join(texts[:2]) if all(texts) else ""


def _plain(text: object) -> str:
    """Return printable text of a file, or an empty text."""
    return shorten(text, 200)[1:-1] if isinstance(text, str) and text and text.isprintable() else ""


def _dict(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _references(found: Any) -> list[str]:
    if found is None:
        return []
    wrong = [row for row in found if not (isinstance(row, str) and _REFERENCE.fullmatch(row))] if isinstance(found, list) else [found]
    if wrong:
        raise WrongData(f"'equations' has {shorten(str(wrong[0]))}, but must be a list such as ['roofline.step_time@1']")
    return [*found]
