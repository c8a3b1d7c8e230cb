"""Densities of ln KV bytes on an even grid: what a few values foretell of one more, and products of such foretellings.

Student's t is worked out here because scipy.special, which has it, takes 0.2 s to load, and `infer` needs nothing else of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log1p, sqrt, tan
from statistics import fmean, stdev
from typing import TypeAlias

import numpy as np

from invert.arrays import Array
from invert.assumptions import USUAL

LogShape: TypeAlias = Callable[[Array], Array]
"""The logarithm of a density at points, but for a constant."""
SHORT_TAILS, LONG_TAILS = 12.0, 300.0
"""How far a grid goes, in predictive standard deviations: Student's t with few degrees of freedom has long tails."""
POINTS = 20_001


@dataclass(frozen=True, slots=True)
class Sample:
    """Mean and standard deviation [nat] of a few values, and how far from the mean to expect one more."""

    mean: float
    sd: float
    count: int

    @property
    def predictive_sd(self) -> float:
        """sd sqrt(1 + 1/n): the spread of one more value about a mean that is itself estimated."""
        return self.sd * sqrt(1 + 1 / self.count)

    @property
    def degrees_of_freedom(self) -> int:
        """n - 1."""
        return self.count - 1

    def mirrored(self, value: float) -> "Sample":
        """Where a quantity lies that `value` exceeds by one more draw of this sample: value - mean, with the same spread."""
        return replace(self, mean=value - self.mean)


def sample_of(values: Sequence[float]) -> Sample:
    """Mean and standard deviation (n - 1 in the denominator) of two values or more.

    >>> sample_of([1.0, 3.0])
    Sample(mean=2.0, sd=1.4142135623730951, count=2)
    """
    return Sample(fmean(values), stdev(values), len(values))


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A probability density of ln k, k in byte/token: even points, its logarithm there, and the probability below each."""

    points: Array
    log_densities: Array
    below: Array

    def quantile(self, level: float) -> float:
        """ln k with this probability below it."""
        return float(np.interp(level, self.below, self.points))

    def log_density(self, ln_kv: float) -> float:
        """ln of the density [1/nat] at this ln k; minus infinity off the grid."""
        return float(np.interp(ln_kv, self.points, self.log_densities, left=-np.inf, right=-np.inf))


def central_interval(belief: Belief, level: float = USUAL.level) -> tuple[float, float, float]:
    """Low, median and high of ln k, with this probability between low and high.

    >>> [round(end, 3) for end in central_interval(on_grid(Sample(10.0, 1.0, 10**9), log_normal(Sample(10.0, 1.0, 10**9))))]
    [8.355, 10.0, 11.645]
    """
    return belief.quantile((1 - level) / 2), belief.quantile(0.5), belief.quantile((1 + level) / 2)


def on_grid(about: Sample, log_shape: LogShape, reach: float = SHORT_TAILS) -> Belief:
    """The density of this shape, normalised on a grid that reaches so many predictive standard deviations about a mean.

    Quantiles between 5 and 95 % and logarithms of densities are good to 1e-5; with long tails to 1e-3, from three degrees of
    freedom on.
    """
    points = about.mean + about.predictive_sd * np.linspace(-reach, reach, POINTS)
    logs = log_shape(points)
    density = np.exp(logs - logs.max())
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    total = below[-1] * (points[1] - points[0])
    return Belief(points, logs - logs.max() - np.log(total), below / below[-1])


def log_normal(sample: Sample) -> LogShape:
    """The logarithm of a normal density about the mean with the predictive spread, but for a constant."""
    return lambda points: -(((points - sample.mean) / sample.predictive_sd) ** 2) / 2


def log_student(sample: Sample) -> LogShape:
    """The logarithm of Student's t about the mean with the predictive spread and n - 1 degrees of freedom, but for a constant."""
    freedom = sample.degrees_of_freedom
    return lambda points: -(freedom + 1) / 2 * np.log1p(((points - sample.mean) / sample.predictive_sd) ** 2 / freedom)


def log_student_above(sample: Sample) -> LogShape:
    """The logarithm of the probability that a value so distributed lies above a point."""
    freedom = sample.degrees_of_freedom
    return lambda points: np.interp(np.arctan((points - sample.mean) / (sample.predictive_sd * sqrt(freedom))), *_log_above(freedom))


def student_quantile(freedom: int, level: float) -> float:
    """Student's t with this probability below it, between 5 and 95 % to 1e-7.

    >>> round(student_quantile(5, 0.95), 6)
    2.015048
    """
    angles, above = _log_above(freedom)
    return sqrt(freedom) * tan(np.interp(log1p(-level), above[::-1], angles[::-1]))


@cache
def _log_above(freedom: int) -> tuple[Array, Array]:
    """Angles, and the logarithm of the probability that Student's t lies above sqrt(n) tan(angle): its density there is cos^(n - 1)."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, POINTS)
    density = np.cos(angles) ** (freedom - 1)
    above = np.cumsum(((density[1:] + density[:-1]) / 2)[::-1])[::-1]
    with np.errstate(divide="ignore"):
        return angles, np.log(np.append(above, 0.0) / above[0])
