"""Describe differences of two runs other than prices, in words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date

from derive.quantities import QUANTITIES
from derive.units import show
from invert.anchors import common_anchors
from invert.data import Data, made_with
from invert.result import Inference, Run
from invert.sheets.observables import longest_context
from invert.sheets.rows import SheetKey

_MOST_NAMED = 3
"""Maximum number of named sheets, tables or anchors."""
CALIBRATION = "the calibration, which used other prices"


def causes_of_runs(old: Iterable[Inference], run: Run, recalibrated: bool) -> tuple[str, ...]:
    """List the causes of differences between a run on earlier prices or another day and a run on the same tables."""
    before = {one.sheet.key: one for one in old}
    both = {key: (before[key], one) for one in run if (key := one.sheet.key) in before}
    days = {one.sheet.as_of for one in before.values()}
    return (*_days(days, run.as_of), *([CALIBRATION] if recalibrated else []), *_changed("max_context", _context, both),
            *_changed("weights", lambda one: one.model.architecture if one.model else "", both))  # fmt: skip


def causes_of_saved(sheets: Iterable[Mapping[str, object]], saved: Mapping[str, object], run: Run, data: Data) -> tuple[str, ...]:
    """List the causes of differences from a saved result. A plain list of sheets has little information, and the text says so."""
    days = {date.fromisoformat(str(one["as_of"])) for one in sheets}
    if not saved:
        return (*_days(days, run.as_of), "anchors, tables or versions, which a list of sheets does not have")
    made = made_with(data)
    return (
        *_days(days, run.as_of),
        *_named("anchor", _anchors(_numbers(saved.get("anchors")), common_anchors(run.assumptions).values)),
        *_named("", (f"{name} as it is now" for name in differing_names(saved.get("tables"), made.tables))),
        *_named("", (f"{name} {made.versions.get(name, 'none')}" for name in differing_names(saved.get("versions"), made.versions))),
    )


def calibrates_alike(saved: Mapping[str, object], data: Data) -> bool:
    """Whether a saved result used these tables and versions, so its calibration equals the present one."""
    made = made_with(data)
    return bool(saved) and not (differing_names(saved.get("tables"), made.tables) or differing_names(saved.get("versions"), made.versions))


def _days(days: Iterable[date], now: date) -> Iterator[str]:
    """Describe a change of day: `the day, 2026-03-12 -> 2026-11-20`."""
    if others := sorted({day for day in days if day != now}):
        yield f"the day, {others[0]} -> {now}"


def _changed(what: str, told: Callable[[Inference], str], both: Mapping[SheetKey, tuple[Inference, Inference]]) -> Iterator[str]:
    """Describe a fact that differs between two runs: `max_context of acme/m, 128k tokens -> 1M tokens`."""
    texts = {key: [told(one) or "not known" for one in pair] for key, pair in both.items()}
    return _named(f"{what} of", (f"{key[0]}/{key[1]}, {then} -> {now}" for key, (then, now) in texts.items() if then != now))


def _context(one: Inference) -> str:
    longest = longest_context(one.sheet, one.model)
    return show("context_length", longest) if longest else ""


def _anchors(then: Mapping[str, float], now: Mapping[str, float]) -> Iterator[str]:
    """Describe a change of anchors: `active_params, not given -> 60B`."""
    for name in sorted(name for name in {*then, *now} if name in QUANTITIES and then.get(name) != now.get(name)):
        yield f"{name}, {' -> '.join(show(name, of[name], digits=3) if name in of else 'not given' for of in (then, now))}"


def _numbers(found: object) -> dict[str, float]:
    of = found if isinstance(found, dict) else {}
    return {str(name): float(value) for name, value in of.items() if isinstance(value, int | float)}


def differing_names(then: object, now: Mapping[str, object]) -> list[str]:
    """Return the names whose values differ between a saved mapping and a new one."""
    of = then if isinstance(then, dict) else {}
    return [name for name in {**now, **of} if name not in of or name not in now or of[name] != now[name]]


def _named(what: str, found: Iterable[str]) -> Iterator[str]:
    """Name the first ones and the number of others."""
    each = [f"{what} {one}".lstrip() for one in found]
    yield from each[:_MOST_NAMED]
    if each[_MOST_NAMED:]:
        yield f"{len(each) - _MOST_NAMED} more like these"
