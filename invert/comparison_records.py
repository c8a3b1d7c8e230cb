"""Records of two runs side by side: their estimates, the changed inferences, the prices that changed them, and other causes in words."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from math import exp, isclose, log
from typing import Any

from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.tables.lines import Problem
from derive.units import show
from invert.data import Data, Made, made_with
from invert.encoder import Codec, Keys, Nested
from invert.estimate_text import round_digits
from invert.estimators.cases import common_anchors
from invert.records import Estimate, Name, Observable
from invert.report.contract import CODEC, SHEET
from invert.result import Inference, Run
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


FACTOR: Name = ("bayes_factor", "convention")
"""The factor of a convention against costs, as JSON has it. Other vendors' prices also move it."""
_CODEC = Codec(keys={**CODEC.keys, Estimate: {name: name for name in ("kind", "median", "low", "high")}})
_COMPARED: Keys = {
    **{name: SHEET[name] for name in ("prices", "estimates", "storage", "convention")},
    "readings": Nested({
        "lecture": Nested({"kv_bytes_per_token": "first_pair.lecture.values.kv_bytes_per_token"}),
        "joint": Nested({"kv_bytes_per_token": "first_pair.joint.values.kv_bytes_per_token"}, unless_none="first_pair"),
    }),
}  # fmt: skip
"""The keys of a sheet that are compared."""


def side_of(one: Inference) -> Side:
    """Reduce an inference to its prices and its numbers."""
    return side_of_record(_CODEC.encode_keys(one, _COMPARED))


def side_of_record(record: Mapping[str, Any]) -> Side:
    """Reduce a sheet, as JSON has it, to its prices and its numbers. Raises `ValueError` for texts that do not print in a line."""
    said: dict[Name, Estimate] = {}
    for quantity, found in sorted(record["estimates"].items(), key=lambda pair: "kind" in pair[1]):
        for estimator, one in {"": found}.items() if "kind" in found else found.items():
            said[printable(quantity), printable(estimator)] = _rounded(printable(one["kind"]), one["median"], one["low"], one["high"])
    # Two bands of equal prices are no pair, and have no joint reading.
    if record["readings"]["joint"]:
        for name, reading in (("from_threshold", "lecture"), ("joint", "joint")):
            said["kv_bytes_per_token", name] = _rounded("point", record["readings"][reading]["kv_bytes_per_token"])
    for of in record["storage"]:
        for tier, share in (of["probabilities"] or {}).items():
            ends, lifetime = of["range"][tier], str(of["ttl_seconds"] or "hour")
            said[f"probability_{printable(tier)}", lifetime] = _rounded("interval", share, ends["low"], ends["high"])
    if convention := record.get("convention"):
        factor, by_cost = convention["bayes_factor"], convention["probability_by_cost"]
        # The factor is a floor if the cost model excludes the premiums.
        said[FACTOR] = _rounded("point", factor) if by_cost or factor is None else _rounded("lower", None, factor)
    bands, cache, parts = record["prices"]["bands"], record["prices"]["cache"], ("input", "output", "cache_read")
    priced: list[tuple[Place, Any]] = [
        ((name, band["threshold_tokens"], None), band[name]) for band in bands for name in parts if band[name]
    ]
    priced += [((one["component"], one["threshold_tokens"], one["ttl_seconds"]), one["price"]) for one in cache]
    prices = {place: (float(one["amount"]), printable(one["currency"]), printable(one["per"])) for place, one in priced}
    return Side(prices=prices, said=said)


@immutable
class SavedSheet:
    """A sheet of a saved result: its key, its day, and its estimates as they were saved."""

    provider: str
    model: str
    region: str | None
    service_tier: str
    as_of: date
    estimates: Mapping[str, Any]

    @property
    def key(self) -> SheetKey:
        """Provider, model, region and service tier."""
        return self.provider, self.model, self.region or "", self.service_tier


def printable(text: object) -> str:
    """Return a text of a file if it can be printed in a line. Raises `ValueError` for control or invisible characters."""
    if not isinstance(text, str) or not text.isprintable():
        raise ValueError(f"{text!r} is not a text in a line")
    return text


def _rounded(kind: str, median: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    """Return an estimate to six digits, because later ones are those of the draws and of the machine. A point without a value is none."""
    median, low, high = (None if value is None else round_digits(float(value)) for value in (median, low, high))
    return Estimate(kind="undetermined" if kind == "point" and median is None else kind, median=median, low=low, high=high)


@immutable
class PriceChange:
    """A changed price of a sheet, before and after. None is a price that did not exist.

    `copied_from` is the place of the price in the band below, if a band that was added by hand copied it from there. `day` is the day of
    the change if it is known, and `source` the page or the file that has the price.
    """

    place: Place
    old: Asked | None
    new: Asked | None
    copied_from: str = ""
    day: date | None = None
    source: str = ""

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
    def name(self) -> Name:
        """Its quantity and its estimator."""
        return self.quantity, self.estimator

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
    """One sheet in both runs: changed prices, changed inferences, and the names of unchanged ones.

    `calibrates`: estimates of other sheets depend on its row. `rerounded` lists ratios of prices, and the input price, before and after if
    their rounding cell changed.
    """

    key: SheetKey
    prices: tuple[PriceChange, ...]
    moved: tuple[Moved, ...]
    unmoved: tuple[Name, ...]
    calibrates: bool
    rerounded: tuple[tuple[Observable, Observable], ...] = ()

    @property
    def days(self) -> dict[str, date]:
        """The day on which each price changed, where that is known."""
        return {price.spelled: price.day for price in self.prices if price.day}

    @property
    def sources(self) -> list[str]:
        """The pages or files that have the prices."""
        return [*dict.fromkeys(price.source for price in self.prices if price.source)]


@immutable
class Comparison:
    """Two runs side by side.

    `added` and `gone` are sheets of only one run. `recalibrated`: the calibration may also differ. `causes` describe
    differences other than prices. `problems` and `file` belong to the earlier prices. `doubts` are questions about its prices.
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
    doubts: tuple[Problem, ...] = ()


@immutable
class Dated:
    """The inference of a sheet from a day on, and its prices that changed on that day. All prices are new on the first day.

    `since` is None if the start of the first prices is unknown. `unsold_from` is the day from which the sheet had no price until then.
    """

    since: date | None
    one: Inference
    changes: tuple[PriceChange, ...]
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


@immutable
class NewSheet:
    """The inference of a new sheet, and the day on which it began."""

    one: Inference
    since: date


@immutable
class News:
    """Changed sheets since a day, new ones with the newest first, those with an unknown first day (`first_seen`), and removed ones."""

    since: date
    until: date
    changed: tuple[SheetChange, ...]
    new: tuple[NewSheet, ...]
    first_seen: tuple[SheetKey, ...]
    gone: tuple[SheetKey, ...]


def log_change(before: Estimate | None, after: Estimate | None) -> float | None:
    """Return ln(after / before), or None if they are not numbers of the same kind."""
    if not before or not after or (before.kind != after.kind and not (before.median and after.median)):
        return None
    return log(after.middle / before.middle) if before.middle and after.middle else None


_MOST_NAMED = 3
"""Maximum number of named differences of a kind."""
_LAST_DIGITS = 1e-9
"""Relative difference of two versions of a library or two machines, up to which two numbers are the same."""
CALIBRATION = "the calibration, which used other prices"
_HASH_SHOWN = 8
"""Number of printed digits of a hash."""


def places_that_differ(then: object, now: object, at: str = "") -> Iterator[str]:
    """Yield the places at which two results differ, by more than the last digits of a number."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for name in {**then, **now}:
            yield from places_that_differ(then.get(name, ...), now.get(name, ...), f"{at}.{name}" if at else name)
    elif isinstance(then, list | tuple) and isinstance(now, list | tuple) and len(then) == len(now):
        for place, (one, other) in enumerate(zip(then, now, strict=True)):
            yield from places_that_differ(one, other, f"{at}[{place}]")
    elif then != now and not (isinstance(then, float) and isinstance(now, float) and isclose(then, now, rel_tol=_LAST_DIGITS)):
        yield at


def is_same(then: object, now: object) -> bool:
    """Return whether two values or results are equal, but for the last digits of numbers."""
    return next(places_that_differ(then, now), None) is None


def changed_facts(what: str, sides: Iterable[Mapping[str, object]], most: int = _MOST_NAMED) -> list[str]:
    """Describe facts that differ then and now, `weights of acme/m, none -> v2`: the first ones, and the number of others."""
    then, now = sides
    pairs = [(name, then.get(name) or "none", now.get(name) or "none") for name in {**now, **then}]
    each = [f"{what}{name}, {_fact_text(one)} -> {_fact_text(other)}" for name, one, other in pairs if not is_same(one, other)]
    return each[:most] + ([f"{len(each) - most} more like these"] if each[most:] else [])


def _fact_text(fact: object) -> str:
    return fact if isinstance(fact, str) else json.dumps(fact)


def changed_inputs(then: Made, now: Made, most: int = _MOST_NAMED) -> list[str]:
    """Describe the tables, by the beginnings of their hashes, and the versions that differ."""
    hashes = [{name: (digest or "")[:_HASH_SHOWN] for name, digest in of.tables.items()} for of in (then, now)]
    return changed_facts("", hashes, most) + changed_facts("", (then.versions, now.versions), most)


def causes_of_runs(old: Iterable[Inference], run: Run, recalibrated: bool) -> tuple[str, ...]:
    """List the causes of differences between a run on earlier prices or another day and a run on the same tables."""
    before, now = {one.key: one for one in old}, {one.key: one for one in run}
    models = (_facts_of_models(of[key] for key in now if key in before) for of in (before, now))
    day = _other_day((one.sheet.as_of for one in before.values()), run.as_of)
    return (*day, *[CALIBRATION] * recalibrated, *changed_facts("", models))


def _facts_of_models(inferences: Iterable[Inference]) -> dict[str, str]:
    """Return the longest context and the weights of each model, by the name of the fact."""
    facts = {}
    for one in inferences:
        facts[f"max_context of {one.name}"] = show("context_length", one.max_context) if one.max_context else ""
        facts[f"weights of {one.name}"] = one.model.architecture if one.model else ""
    return facts


def causes_of_saved(days: Iterable[date], saved: Mapping[str, Any], run: Run, data: Data) -> tuple[tuple[str, ...], bool]:
    """List the causes of differences from a saved result. Return also whether it used other tables or versions, so that its calibration may
    differ. A plain list of sheets has little information, and the text says so.
    """
    day = _other_day(days, run.as_of)
    if not saved:
        return (*day, "anchors, tables or versions, which a list of sheets does not have"), True
    inputs = changed_inputs(CODEC.decode(Made, {name: saved[name] for name in ("versions", "seeds", "tables")}), made_with(data))
    anchors = (
        {name: show(name, value, digits=6) for name, value in sorted(of.items()) if name in QUANTITIES}
        for of in (saved["anchors"], common_anchors(run.assumptions).values)
    )
    return (*day, *changed_facts("anchor ", anchors), *inputs), bool(inputs)


def _other_day(days: Iterable[date], now: date) -> list[str]:
    """Describe a change of day: `the day, 2026-03-12 -> 2026-11-20`."""
    others = sorted({day for day in days if day != now})
    return [f"the day, {others[0]} -> {now}"] if others else []
