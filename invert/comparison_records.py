"""Records of two runs side by side: their estimates, the changed inferences, and the prices that changed them."""

from collections.abc import Mapping
from datetime import date
from math import exp, log

from derive.immutable import immutable
from derive.tables.problems import Problem
from invert.records import Estimate, Name, Observable
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
    and their source, or None if the input price suggests them.
    """

    since: date | None
    as_of: date
    changes: tuple[PriceChange, ...]
    side: Side
    size: tuple[float, str] | None


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
