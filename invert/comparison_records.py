"""Records of runs side by side: what each said, which inferences moved, and the prices that moved them."""

from collections.abc import Mapping
from datetime import date
from math import exp, log

from derive.immutable import immutable
from derive.tables.problems import Problem
from invert.sheets.assemble import Place, spelled
from invert.sheets.rows import SheetKey
from invert.sheets.sheet import FileText

__all__ = [
    "TAKEN_HOME", "Asked", "Comparison", "Dated", "History", "Moved", "Name", "Place", "PriceChange", "Rerounded", "SheetChange",
    "SheetKey", "Side", "Told", "how_far",
]  # fmt: skip

Asked = tuple[float, str, str]
"""A price as published: amount, currency and unit."""
Name = tuple[str, str]
"""A quantity and the estimator of it, as JSON has them."""
TAKEN_HOME: tuple[Name, ...] = (
    ("active_params", "market"), ("kv_bytes_per_token", "headline"), ("kv_bytes_stored_per_token", "headline"), ("input_markup", "market"),
    ("bandwidth_bound_fraction", ""),
)  # fmt: skip
"""What the first lines of a report tell, in their order."""


@immutable
class Told:
    """What one estimate said: its kind and its numbers in SI units."""

    kind: str
    median: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def numbers(self) -> tuple[float | None, float | None, float | None]:
        """Median and ends."""
        return self.median, self.low, self.high

    @property
    def middle(self) -> float | None:
        """The number that moves: the median, or the one end of a bound."""
        return self.median or (self.high if self.kind == "upper" else self.low if self.kind == "lower" else None)


@immutable
class Side:
    """One sheet of one run: what it asks by place, and what it implies."""

    prices: Mapping[Place, Asked]
    said: Mapping[Name, Told]


@immutable
class PriceChange:
    """A price of a sheet that is not what it was, or None where it was not there, or is not any more.

    `copied_from` is the price that it is, as one types its place, where a band that was added by hand took it from the one below.
    """

    place: Place
    old: Asked | None
    new: Asked | None
    copied_from: str = ""

    @property
    def spelled(self) -> str:
        """Its place as one types it."""
        return spelled(self.place)

    @property
    def times(self) -> float | None:
        """The new amount over the old one, or None where there are not two in one currency, or one of them is nothing."""
        if not self.old or not self.new or self.old[1:] != self.new[1:] or not self.old[0] or not self.new[0]:
            return None
        return self.new[0] / self.old[0]


@immutable
class Rerounded:
    """A ratio of prices, or the input price, whose digits say another rounding than before: each value with the ends of its cell."""

    name: str
    old: tuple[float, float, float]
    new: tuple[float, float, float]


@immutable
class Moved:
    """An inference that is not what it was.

    `prices` are those that moved it, the one that did most of it where that can be told, none where only the day, the calibration
    or an outside fact did; `elasticity` is per cent of it per
    cent of that price, None where there is no one price, and where part of what moved is how finely the price is rounded.
    `elasticities` are those of `prices` one by one where several were told apart, in their order.
    """

    quantity: str
    estimator: str
    before: Told | None
    after: Told | None
    prices: tuple[PriceChange, ...]
    elasticity: float | None
    elasticities: tuple[float | None, ...] = ()

    @property
    def times(self) -> float | None:
        """After over before, or None where one of them has no number.

        >>> before, after = Told(kind="interval", median=2.0, low=1.0, high=4.0), Told(kind="interval", median=4.0, low=2.0, high=8.0)
        >>> moved = Moved(quantity="active_params", estimator="market", before=before, after=after, prices=(), elasticity=None)
        >>> moved.times, moved.of_range
        (2.0, 0.5)
        """
        moved = how_far(self.before, self.after)
        return None if moved is None else exp(moved)

    @property
    def of_range(self) -> float | None:
        """By how much it moved over the width of its range before, both as logarithms, or None where it had no range."""
        if not self.times or not self.before or not self.before.low or not self.before.high or self.before.high <= self.before.low:
            return None
        return log(self.times) / log(self.before.high / self.before.low)


@immutable
class SheetChange:
    """One sheet in both runs: the prices that changed, the inferences that moved, and how many did not.

    `calibrates` says that the estimates of other sheets are learned from its row, `rerounded` what a change of digits rather than of
    prices moved. `stayed` are those of what is taken home that did not move.
    """

    key: SheetKey
    prices: tuple[PriceChange, ...]
    moved: tuple[Moved, ...]
    unmoved: int
    calibrates: bool
    rerounded: tuple[Rerounded, ...] = ()
    stayed: tuple[Name, ...] = ()


@immutable
class Comparison:
    """Two runs side by side.

    `added` and `gone` are sheets of one run alone; `recalibrated` says whether the calibration may have changed too. `causes` are
    what besides the prices of a sheet is not the same, in words. `problems` are those of what is compared with, `file` is it where
    it is one. `in_full` is what else one types to have all of it, `doubts` are questions about its prices.
    """

    before: str
    after: str
    sheets: tuple[SheetChange, ...]
    added: tuple[SheetKey, ...]
    gone: tuple[SheetKey, ...]
    recalibrated: bool
    causes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    file: FileText | None = None
    in_full: str = "--as csv"
    doubts: tuple[Problem, ...] = ()


@immutable
class Dated:
    """What a sheet implied from a day on, and which of its prices changed on it; on the first day they began, all of them.

    `since` is None where nobody says when the first prices began; `as_of` is the day that they are read on. `size` are the active
    parameters that somebody states, by which its mark-up is, with where they are from; None where it is by those that the price suggests.
    """

    since: date | None
    as_of: date
    changes: tuple[PriceChange, ...]
    side: Side
    size: tuple[float, str] | None


@immutable
class History:
    """One sheet over the days on which a price of it changed, oldest first, and why it has no inference on others.

    `until` is the day on which it was no longer sold, None where it still is.
    """

    key: SheetKey
    days: tuple[Dated, ...]
    until: date | None
    problems: tuple[Problem, ...]
    doubts: tuple[Problem, ...] = ()


def how_far(before: Told | None, after: Told | None) -> float | None:
    """How far the number moved, as a logarithm, or None where there are not two of one kind: a bound is no median."""
    if not before or not after or (before.kind != after.kind and not (before.median and after.median)):
        return None
    return log(after.middle / before.middle) if before.middle and after.middle else None
