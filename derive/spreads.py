"""Many values of one given: any between two, or one after another."""

from math import floor, log10
from typing import TYPE_CHECKING

from derive.immutable import immutable

if TYPE_CHECKING:
    import numpy as np


@immutable(kw_only=False)
class Interval:
    """Any value between two [SI]."""

    low: float
    high: float

    @property
    def shown(self) -> float:
        """The arithmetic mean of the ends: the value a question is posed with."""
        return (self.low + self.high) / 2

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return self.low, self.high


@immutable
class Series:
    """One value after another [SI]: those of a list, or evenly spaced between two, in size or in ratio."""

    values: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    count: int = 0
    spacing: str = ""

    def __len__(self) -> int:
        return self.count or len(self.values)

    @property
    def shown(self) -> float:
        """The first value that is not nothing: the one a question is posed with, as nothing is made up of nothing."""
        return (self.low or self.high) if self.count else next(filter(None, self.values), 0.0)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest of all values."""
        return (self.low, self.high) if self.count else (min(self.values), max(self.values))

    def array(self) -> "np.ndarray":
        """All values.

        >>> Series(low=1, high=4096, count=5, spacing="log").array().tolist()
        [1.0, 8.0, 64.0, 512.0, 4096.0]
        """
        import numpy as np

        if not self.count:
            return np.array(self.values)
        evenly = np.geomspace if self.spacing == "log" else np.linspace
        values = evenly(self.low, self.high, self.count)
        # To 12 digits of the smallest, so that a sweep by powers of two meets 8 and not 7.999999999999999.
        return np.round(values, 11 - floor(log10(abs(self.low or self.high))), out=values)


Spread = Interval | Series
