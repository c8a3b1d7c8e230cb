"""Return the roofline of a chip and the point at which a step works: its FLOP/s over the FLOPs for each byte that it reads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from derive.answers import Result
from derive.catalogue import equation
from derive.immutable import immutable
from derive.quantities import NEUTRAL_DEFAULTS
from derive.show.chart import Mark
from derive.show.parts import values_of
from derive.trees import Tree, names, value_of
from derive.units import show

_PEAKS = ("peak_flops", "hbm_bandwidth")
_SHARES = ("mfu", "mbu")
"""The shares of these peaks that a step sustains."""
STEPS = ("step_time", "compute_time", "memory_time")
"""Times of a step that determine its point in the roofline."""
_ARITHMETIC: Tree = (
    *("*", "tokens_verified_per_step", ("+", "compute_time", "attention_time")),
    *("mfu", "peak_flops"),
)
_READ: Tree = ("*", "memory_time", "mbu", "hbm_bandwidth")
"""FLOPs and bytes of one chip in a step, from its times at the sustained rates.

A FLOP of attention at half the rate counts as two. So all arithmetic is under one roof, and a compute-bound step is on its flat part.
"""
RATE: Tree = ("/", _ARITHMETIC, "step_time")
INTENSITY: Tree = ("/", _ARITHMETIC, _READ)
ATTAINABLE: Tree = ("Min", "peak_flops", ("*", "hbm_bandwidth", "intensity"))
"""Rate and intensity of a chip, and the largest FLOP/s that it can attain at this intensity."""
NEUTRAL = {name: NEUTRAL_DEFAULTS[name] for name in sorted({*names(INTENSITY)} & {*NEUTRAL_DEFAULTS})}
"""Values of the quantities of a step that are not given."""
_BESIDE = 10.0
"""Ratio by which the picture extends beyond the ridge and the point on either side."""
PARTS = 3
"""Number of lines of a roof: the roof, its ridge and its point."""
_MANY = 61
"""Number of places at which a roof is drawn."""


@immutable
class Roof:
    """A chip by name: FLOP/s and bytes/s that a step sustains, intensity [FLOP/byte] and rate [FLOP/s] of the step, and the sustained
    shares in words.
    """

    name: str
    peak: float
    bandwidth: float
    step: str
    intensity: float
    rate: float
    shares: str = ""

    @property
    def ridge(self) -> float:
        """Return the intensity from which on arithmetic binds [FLOP/byte], by batching.ridge_point."""
        return float(equation("batching.ridge_point").right_side({"peak_flops": self.peak, "hbm_bandwidth": self.bandwidth}))

    def attainable(self, intensity: float) -> float:
        """Return the largest FLOP/s at an intensity."""
        return float(value_of(ATTAINABLE, {"peak_flops": self.peak, "hbm_bandwidth": self.bandwidth, "intensity": intensity}))


def roof_trees() -> dict[str, Any]:
    """Return the formulas of a roofline as trees by name, and as `given` the neutral values of a step."""
    _, ridge = equation("batching.ridge_point").trees
    return {"rate": RATE, "intensity": INTENSITY, "ridge": ridge, "attainable": ATTAINABLE, "given": NEUTRAL}


def known_numbers(solution: Result) -> Mapping[str, float]:
    """Return all numbers on the route to the first answer of a question."""
    return values_of(solution, solution.answers[0], solution.route) if solution.answers else {}


def roof(name: str, known: Mapping[str, float]) -> Roof | None:
    """Return the roof of a chip and the point of its step, from numbers in SI, or None if a time of the step is missing.

    >>> found = roof("", {"peak_flops": 1e15, "hbm_bandwidth": 4e12, "step_time": 0.02, "compute_time": 0.01, "memory_time": 0.02})
    >>> found and (found.ridge, found.intensity, found.rate)
    (250.0, 125.0, 500000000000000.0)
    """
    if not known.keys() >= {*_PEAKS, *STEPS} or not known["memory_time"] or not known["step_time"]:
        return None
    at = {**NEUTRAL, **known}
    return Roof(
        name=name,
        peak=at["mfu"] * at["peak_flops"],
        bandwidth=at["mbu"] * at["hbm_bandwidth"],
        step=f"step of {show('step_time', known['step_time'])}{attention_note(known)}",
        intensity=value_of(INTENSITY, at),
        rate=value_of(RATE, at),
        shares="".join(f", {share} = {show(share, at[share])}" for share in _SHARES if at[share] != 1),
    )


def attention_note(known: Mapping[str, float]) -> str:
    """Return how FLOPs of attention are counted if they run at their own rate.

    >>> attention_note({"attention_time": 0.01, "attention_rate_ratio": 0.5}), attention_note({"attention_time": 0.01})
    (', a FLOP of attention counted as 2', '')
    """
    at = {**NEUTRAL_DEFAULTS, **known}
    if not at["attention_time"] or at["attention_rate_ratio"] == 1:
        return ""
    return f", a FLOP of attention counted as {1 / at['attention_rate_ratio']:.3g}"


def roof_marks(roofs: Sequence[Roof]) -> Iterator[Mark]:
    """Yield the roofs, each with its ridge and its point in its colour, all over the same span."""
    places = [place for one in roofs for place in (one.ridge, one.intensity)]
    low, high = min(places) / _BESIDE, max(places) * _BESIDE
    for colour, one in enumerate(roofs):
        xs = sorted({one.ridge, *(low * (high / low) ** (at / (_MANY - 1)) for at in range(_MANY))})
        yield Mark(name=one.name or "roof", form="line", xs=tuple(xs), ys=tuple(map(one.attainable, xs)), colour=colour)
        ridge = f"ridge at {show('ridge_point', one.ridge)}, {show('peak_flops', one.peak)}{one.shares}"
        point = f"{one.step}: {show('peak_flops', one.rate)} at {show('ridge_point', one.intensity)}"
        for name, x, y in ((ridge, one.ridge, one.peak), (point, one.intensity, one.rate)):
            yield Mark(name=name, form="points", xs=(x,), ys=(y,), colour=colour)
