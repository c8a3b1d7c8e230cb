"""What is believed of the hidden quantities before a sheet is seen, and how far published prices stray from costs.

Every prior is a normal on a log scale, or on a logit scale between two ends. The structural three are what a sheet is
asked for; the nuisances are what has to be known beside it, and no price updates the first four of them much. The
collapsed ones enter one price each and are integrated out exactly. Centres and spreads are this project's judgement,
each with its reason; the calibration on models of known architecture does not use them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log, pi
from types import MappingProxyType
from typing import Any

from derive.briefly import brief


@dataclass(frozen=True, slots=True)
class Prior:
    """One hidden quantity: normal with this centre and spread, in nats, or in logits of a share of [low, high].

    `centre` is on the natural scale (a median), or the logit itself where there are ends. A spread of 0 holds it fixed.
    """

    __repr__ = brief

    name: str
    centre: float
    spread: float
    why: str
    ends: tuple[float, float] | None = None

    def at(self, normal: Any) -> Any:
        """Values at standard normal draws.

        >>> Prior("ridge_point", 300.0, 0.4, "").at(0.0), Prior("overlap", 0.0, 1.0, "", (0.0, 1.0)).at(0.0)
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
        """The same quantity, known."""
        return replace(self, centre=value, spread=0.0, ends=None, why="given")

    @property
    def normal(self) -> tuple[float, float]:
        """Mean and spread of the log of a quantity without ends.

        >>> Prior("batch", 1.0, 0.5, "").normal
        (0.0, 0.5)
        """
        return log(self.centre), self.spread


def normal_log_density(value: Any, mean: Any, spread: Any) -> Any:
    """Log density of a normal.

    >>> round(float(normal_log_density(0.0, 0.0, 1.0)), 4)
    -0.9189
    """
    import numpy as np

    return -0.5 * ((value - mean) / spread) ** 2 - np.log(spread) - 0.5 * log(2 * pi)


def standard_log_density(value: Any) -> Any:
    """Log density of the standard normal.

    >>> round(standard_log_density(0.0), 4)
    -0.9189
    """
    return -0.5 * (value**2 + log(2 * pi))


ASSUMED = MappingProxyType({"tokens_per_step": 1.0, "kv_copies": 1.0})
"""Held at this in every reading and estimate, and printed with the anchors: no sheet says how many tokens a step yields, or
how many chips hold a copy of the cache.

At more tokens a step, KV bytes that rest on decode prices are as many times larger; at more copies, smaller.
"""
SUSTAINED_MBU = 0.794
"""The share of the bandwidth that efficiencies.csv has measured. FLOP/s and byte/s are sustained ones here, so that mfu and
mbu are 1; a sweep, which data sheets have at the full bandwidth, is as much longer."""

STRUCTURE = (
    Prior("kv_bytes_per_token", 5e-7, 1.8, "per active parameter: open models lie at 9e-7 to 3e-5, the lecture's reading at 1.7e-8"),
    Prior("attention_intensity", 30.0, 1.0, "8 to 16 for grouped queries, 71 to 242 for latent attention"),
    Prior("weight_compute_ratio", 1.0, 1.0, "batches from a third of the balance batch to three times it, most of them"),
)
"""What a sheet is asked for; KV bytes are per active parameter here, so that the size of the model drops out of ratios."""

NUISANCES = (
    Prior("ridge_point", 600.0, 0.4, "sustained FLOP per byte: accelerators in bf16 and fp8, times mfu over mbu"),
    Prior("prefill_decode_flops_ratio", 1.1, 0.4, "prefill sustains more in theory, less in the one disclosure"),
    Prior("overlap", 0.5, 1.2, "anything from a sum to a maximum", (0.0, 1.0)),
    Prior("short_context", -1.87, 0.8, "share of the first threshold: most requests are far shorter, half is the most that a density"
          " falling with length gives", (0.0, 0.6)),
    Prior("long_context", -1.4, 0.8, "share of the way through each band above a threshold: lengths thin out, so the mean lies in"
          " the lower half", (0.0, 1.0)),
    Prior("prompt_position", 0.0, 1.0, "1/2 where the whole prompt is new, 1 for a short suffix", (0.5, 1.0)),
    Prior("tier_read_cost_ratio", 5.0, 1.5, "a hit is read from HBM or from something dearer to read"),
    Prior("suffix_tokens", 1500.0, 1.0, "new tokens after a cached prefix"),
)
"""Drawn for every sheet alike, each by one coordinate of the draws; contexts are shares of a sheet's own bands.

The medians of both contexts are the band means of every estimate that takes one number a band: `invert.sheets.contexts`.
"""

COLLAPSED = (
    Prior("active_params", 6e10, 1.0, "frontier and small models alike"),
    Prior("price_per_parameter", 3e-18, 1.0, "mark-up times the cost of a parameter's prefill [USD], from 2 USD/h to 20 times it"),
    Prior("sweep_time", 0.027 / SUSTAINED_MBU, 0.25, "capacity over bandwidth, as sustained, of the accelerators in memory_tiers.csv"),
    Prior("holding_cost_ratio", 0.3, 1.3, "storage may be priced as HBM, below it, or be a product of its own"),
    Prior("cache_read_markup", 3.0, 1.0, "hits are sold dearer than what they cost"),
)
"""Each enters one price, as a factor: integrated out exactly, its spread added to that price's."""

NOISE = {
    "input_price": 0.05,
    "output_input_ratio": 0.35,
    "premium_in": 0.15,
    "premium_out": 0.15,
    "cache_read_ratio": 0.5,
    "storage_ratio": 0.5,
}
"""How far a price strays from a common mark-up on cost, in nats: hosts of one open model differ by 0.5 in output/input."""


@dataclass(frozen=True, slots=True)
class Beliefs:
    """The priors of one run, by name, and the noise of each observable."""

    __repr__ = brief

    priors: Mapping[str, Prior]
    noise: Mapping[str, float]

    def __getitem__(self, name: str) -> Prior:
        return self.priors[name]


def beliefs(given: Mapping[str, float] | None = None, noise: Mapping[str, float] | None = None) -> Beliefs:
    """The priors with outside facts put in: `ridge_point` moves its centre, any other one named is held fixed.

    >>> beliefs({"overlap": 1.0})["overlap"].spread, beliefs({"ridge_point": 300.0})["ridge_point"].spread
    (0.0, 0.4)
    """
    rows = {row.name: row for row in (*STRUCTURE, *NUISANCES, *COLLAPSED)}
    for name, value in (given or {}).items():
        rows[name] = replace(rows[name], centre=value) if name == "ridge_point" else rows[name].fixed(value)
    return Beliefs(rows, NOISE | dict(noise or {}))
