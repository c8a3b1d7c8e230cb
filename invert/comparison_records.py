"""Records of two runs side by side: their estimates, the changed inferences, the prices that changed them, and other causes in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import exp, log

from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.tables.lines import Problem
from derive.units import show
from invert.data import Data, made_with
from invert.estimators.cases import common_anchors
from invert.records import Estimate, Name, Observable
from invert.result import Inference, Run
from invert.sheets.observables import longest_context
from invert.sheets.rows import FileText, SheetKey
from invert.sheets.sheet import Asked, Place, spelled

TAKEN_HOME: tuple[Name, ...] = (
    ("active_params", "by_price"), ("kv_bytes_per_token", "typical"), ("kv_bytes_stored_per_token", "typical"),
    ("input_price_cost_ratio", "by_price"), ("bandwidth_bound_fraction", ""), ("kv_bytes_per_token", "from_premium"),
)  # fmt: skip
"""The estimates in the first lines of a report, in order."""


@immutable
class Side:
    """One sheet of one run: its prices by place, and the kind and the numbers of its estimates, to six digits."""

    prices: Mapping[Place, Asked]
    said: Mapping[Name, Estimate]


@immutable
class PriceChange:
    """A changed price of a sheet, before and after. None is a price that did not exist.

    `copied_from` is the place of the price in the band below, if a band that was added by hand copied it from there.
    """

    place: Place
    old: Asked | None
    new: Asked | None
    copied_from: str = ""

    @property
    def spelled(self) -> str:
        """Its place as a user types it."""
        return spelled(self.place)

    @property
    def published(self) -> Asked:
        """The new price, else the old one."""
        return self.new or self.old or (0.0, "", "")

    @property
    def times(self) -> float | None:
        """Return the new amount over the old one, or None if one is missing or 0 or the currencies differ."""
        if not self.old or not self.new or self.old[1:] != self.new[1:] or not self.old[0] or not self.new[0]:
            return None
        return self.new[0] / self.old[0]


@immutable
class Moved:
    """An inference that changed.

    `prices` are the prices that moved it, the largest effect first. It is empty if only the day, the calibration or an outside fact changed
    it. `slopes` are the changes in percent for 1 % of a price: one for all prices if they changed by one factor, else one for each of
    `prices`. None is a price that appeared, disappeared, or changed the kind of the estimate. They are empty if the prices were not
    separated, or rounding is a part of the change.
    """

    quantity: str
    estimator: str
    before: Estimate | None
    after: Estimate | None
    prices: tuple[PriceChange, ...]
    slopes: tuple[float | None, ...] = ()

    @property
    def times(self) -> float | None:
        """The value after over the value before, or None if one of them has no number."""
        moved = log_change(self.before, self.after)
        return None if moved is None else exp(moved)

    @property
    def elasticity(self) -> float | None:
        """The slope of the price with the largest effect, or None."""
        return self.slopes[0] if self.slopes else None

    @property
    def elasticities(self) -> tuple[float | None, ...]:
        """The slopes of several prices, each by itself."""
        return self.slopes if len(self.slopes) == len(self.prices) > 1 else ()

    @property
    def share_of_range(self) -> float | None:
        """Return the change over the width of its previous range, both as logarithms, or None without a range."""
        if not self.times or not self.before or not self.before.low or not self.before.high or self.before.high <= self.before.low:
            return None
        return log(self.times) / log(self.before.high / self.before.low)


@immutable
class SheetChange:
    """One sheet in both runs: changed prices, changed inferences, and the number of unchanged ones.

    `calibrates`: estimates of other sheets depend on its row. `rerounded` lists ratios of prices, and the input price, before and after if
    their rounding cell changed. `stayed` are the main estimates that did not change.
    """

    key: SheetKey
    prices: tuple[PriceChange, ...]
    moved: tuple[Moved, ...]
    unmoved: int
    calibrates: bool
    rerounded: tuple[tuple[Observable, Observable], ...] = ()
    stayed: tuple[Name, ...] = ()


@immutable
class Comparison:
    """Two runs side by side.

    `added` and `gone` are sheets of only one run. `recalibrated`: the calibration may also differ. `causes` describe
    differences other than prices. `problems` and `file` belong to the earlier prices. `in_full` is the part of a command that prints
    everything. `doubts` are questions about its prices.
    """

    before: str
    after: str
    sheets: tuple[SheetChange, ...] = ()
    added: tuple[SheetKey, ...] = ()
    gone: tuple[SheetKey, ...] = ()
    recalibrated: bool = False
    causes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    file: FileText | None = None
    in_full: str = "--as csv"
    doubts: tuple[Problem, ...] = ()


@immutable
class Dated:
    """Estimates of a sheet from a day on, and its prices that changed on that day. All prices are new on the first day.

    `since` is None if the start of the first prices is unknown. `as_of` is the day of the reading. `size` has the stated active parameters
    and their source, or None if the input price suggests them. `unsold_from` is the day from which the sheet had no price until then.
    """

    since: date | None
    as_of: date
    changes: tuple[PriceChange, ...]
    side: Side
    size: tuple[float, str] | None
    unsold_from: date | None = None


@immutable
class History:
    """One sheet over the days on which a price of it changed, oldest first, and why it has no inference on others.

    `until` is the first day on which it was no longer sold, or None if it is still sold.
    """

    key: SheetKey
    days: tuple[Dated, ...]
    until: date | None
    problems: tuple[Problem, ...]
    doubts: tuple[Problem, ...] = ()


def log_change(before: Estimate | None, after: Estimate | None) -> float | None:
    """Return ln(after / before), or None if they are not numbers of the same kind."""
    if not before or not after or (before.kind != after.kind and not (before.median and after.median)):
        return None
    return log(after.middle / before.middle) if before.middle and after.middle else None


_MOST_NAMED = 3
"""Maximum number of named sheets, tables or anchors."""
CALIBRATION = "the calibration, which used other prices"


def causes_of_runs(old: Iterable[Inference], run: Run, recalibrated: bool) -> tuple[str, ...]:
    """List the causes of differences between a run on earlier prices or another day and a run on the same tables."""
    before = {one.sheet.key: one for one in old}
    days = {one.sheet.as_of for one in before.values()}
    known = {key: (before[key], one) for one in run if (key := one.sheet.key) in before}
    contexts = {key: [longest_context(one.sheet, one.model) for one in both] for key, both in known.items()}
    texts = {key: [show("context_length", longest) if longest else "" for longest in both] for key, both in contexts.items()}
    weights = {key: [one.model.architecture if one.model else "" for one in both] for key, both in known.items()}
    recalibration = [CALIBRATION] if recalibrated else []
    return *_days(days, run.as_of), *recalibration, *_changed("max_context", texts), *_changed("weights", weights)


def causes_of_saved(
    sheets: Iterable[Mapping[str, object]], saved: Mapping[str, object], run: Run, data: Data
) -> tuple[tuple[str, ...], bool]:
    """List the causes of differences from a saved result. Return also whether it used other tables or versions, so that its calibration may
    differ. A plain list of sheets has little information, and the text says so.
    """
    days = {date.fromisoformat(str(one["as_of"])) for one in sheets}
    if not saved:
        return (*_days(days, run.as_of), "anchors, tables or versions, which a list of sheets does not have"), True
    made = made_with(data)
    tables, versions = differing_names(saved.get("tables"), made.tables), differing_names(saved.get("versions"), made.versions)
    causes = (
        *_days(days, run.as_of),
        *_named("anchor", _anchors(saved.get("anchors"), common_anchors(run.assumptions).values)),
        *_named("", (f"{name} as it is now" for name in tables)),
        *_named("", (f"{name} {made.versions.get(name, 'none')}" for name in versions)),
    )
    return causes, bool(tables or versions)


def _days(days: Iterable[date], now: date) -> Iterator[str]:
    """Describe a change of day: `the day, 2026-03-12 -> 2026-11-20`."""
    if others := sorted({day for day in days if day != now}):
        yield f"the day, {others[0]} -> {now}"


def _changed(what: str, told: Mapping[SheetKey, Sequence[str]]) -> Iterator[str]:
    """Describe a fact that differs between two runs: `max_context of acme/m, 128k tokens -> 1M tokens`."""
    texts = {key: [text or "not known" for text in both] for key, both in told.items()}
    return _named(f"{what} of", (f"{key[0]}/{key[1]}, {then} -> {now}" for key, (then, now) in texts.items() if then != now))


def _anchors(saved: object, now: Mapping[str, float]) -> Iterator[str]:
    """Describe a change of anchors: `active_params, not given -> 60B`."""
    found = saved if isinstance(saved, dict) else {}
    then = {str(name): float(value) for name, value in found.items() if isinstance(value, int | float)}
    for name in sorted(name for name in {*then, *now} if name in QUANTITIES and then.get(name) != now.get(name)):
        yield f"{name}, {' -> '.join(show(name, of[name], digits=3) if name in of else 'not given' for of in (then, now))}"


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
