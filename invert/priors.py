"""Define the priors of hidden quantities: a normal on a log scale, or on a logit scale between two ends.

The three structural quantities are the targets. The nuisances must also be known. Prices change the first four only a little.
Each collapsed quantity enters one price and is integrated out exactly. The centres and spreads are chosen in `invert.assumptions`.
"""

from dataclasses import replace
from math import log, pi
from typing import TYPE_CHECKING, overload

from derive.immutable import immutable

if TYPE_CHECKING:
    from invert.arrays import Array, Values

STRUCTURE = ("kv_bytes_per_token", "attention_intensity", "weight_compute_ratio")
"""The quantities that a sheet is to determine. KV bytes are per active parameter here, so the size of the model cancels in ratios."""

NUISANCES = (
    "ridge_point", "prefill_decode_flops_ratio", "overlap", "short_context", "long_context", "prompt_position", "tier_read_cost_ratio",
    "suffix_tokens",
)  # fmt: skip
"""The nuisances of every sheet, each with one coordinate of the draws. Contexts are shares of the bands of the sheet."""

COLLAPSED = ("active_params", "price_per_parameter", "sweep_time", "holding_cost_ratio", "cache_read_price_cost_ratio")
"""Each of these is a factor of one price. It is integrated out exactly: its spread is added to the spread of the price."""

OBSERVED = ("input_price", "output_input_ratio", "premium_in", "premium_out", "cache_read_ratio", "storage_ratio")
"""The published prices. Each one has its own noise around the price that follows from cost."""


@immutable
class Prior:
    """One hidden quantity: normal with this centre and spread, in nats, or in logits of a share of [low, high].

    `centre` is on the natural scale (a median), or the logit itself where there are ends. With a spread of 0 it is fixed.
    """

    centre: float
    spread: float
    why: str
    ends: tuple[float, float] | None = None

    @overload
    def at(self, normal: float) -> float: ...
    @overload
    def at(self, normal: "Array") -> "Array": ...
    @overload
    def at(self, normal: "Values") -> "Values": ...
    def at(self, normal: "Values") -> "Values":
        """Return values at standard normal draws.

        >>> Prior(centre=300.0, spread=0.4, why="").at(0.0), Prior(centre=0.0, spread=1.0, why="", ends=(0.0, 1.0)).at(0.0)
        (300.0, 0.5)
        """
        import numpy as np

        if self.ends is None:
            value = self.centre * np.exp(self.spread * normal)
        else:
            low, high = self.ends
            value = low + (high - low) / (1 + np.exp(-(self.centre + self.spread * normal)))
        return value if isinstance(normal, np.ndarray) else float(value)

    def fixed(self, value: float) -> "Prior":
        """Return the prior of the same quantity at a known value."""
        return replace(self, centre=value, spread=0.0, ends=None, why="given")

    @property
    def normal(self) -> tuple[float, float]:
        """Mean and spread of the log of a quantity without ends.

        >>> Prior(centre=1.0, spread=0.5, why="").normal
        (0.0, 0.5)
        """
        return log(self.centre), self.spread


def normal_log_density(value: "Values", mean: "Values", spread: "Values") -> "Values":
    """Return the log density of a normal."""
    import numpy as np

    density: Values = -0.5 * ((value - mean) / spread) ** 2 - np.log(spread) - 0.5 * log(2 * pi)
    return density
