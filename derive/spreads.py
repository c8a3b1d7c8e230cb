"""Many values of one input: a range, a list, or a sweep."""

from functools import cached_property
from math import floor, log10
from typing import TYPE_CHECKING

from derive.immutable import immutable

if TYPE_CHECKING:
    import numpy as np


@immutable(kw_only=False)
class Interval:
    """A range of values [SI]."""

    low: float
    high: float

    @property
    def shown(self) -> float:
        """Return the middle of the range, which is used for the first answer."""
        return (self.low + self.high) / 2

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the greatest value."""
        return self.low, self.high


@immutable
class Series:
    """A list of values [SI], or a sweep with even steps or even ratios between two ends."""

    values: "tuple[float, ...] | np.ndarray" = ()
    low: float = 0.0
    high: float = 0.0
    count: int = 0
    spacing: str = ""

    def __len__(self) -> int:
        return self.count or len(self.values)

    @property
    def shown(self) -> float:
        """Return the first value that is not 0, which is used for the first answer."""
        return (self.low or self.high) if self.count else float(next(filter(None, self.values), 0.0))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Return the least and the greatest of all values."""
        return (self.low, self.high) if self.count else (float(self.array().min()), float(self.array().max()))

    def array(self) -> "np.ndarray":
        """Return all values.

        >>> Series(low=1, high=4096, count=5, spacing="log").array().tolist()
        [1.0, 8.0, 64.0, 512.0, 4096.0]
        """
        import numpy as np

        if not self.count:
            return np.array(self.values)
        evenly = np.geomspace if self.spacing == "log" else np.linspace
        values = evenly(self.low, self.high, self.count)
        # Rounded to 12 digits of the smallest, so that a sweep by powers of two contains 8 and not 7.999999999999999.
        return np.round(values, 11 - floor(log10(abs(self.low or self.high))), out=values)


Spread = Interval | Series
