"""Student's t of a logarithm: what a few values foretell of one more, and the linear pool of two such foretellings.

It stands here because scipy.special, which has it, takes .3 s to load, and `infer` needs nothing else of it.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from math import exp, lgamma, log, pi, sqrt
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt

from derive.immutable import immutable

Floats = npt.NDArray[np.float64]

_POINTS = 20_001


@immutable
class Student:
    """Student's t of a logarithm: centre [nat], scale [nat], degrees of freedom.

    >>> one = Student(centre=9.9, scale=1.0, freedom=6.0)
    >>> [round(end / 1e3, 1) for end in one.range(0.9)], round(one.spread, 3)
    ([2.9, 19.9, 139.1], 1.225)
    """

    centre: float
    scale: float
    freedom: float

    def range(self, level: float) -> tuple[float, float, float]:
        """Low, median and high of the quantity itself, with this probability between low and high."""
        ends = self.centre + self.scale * student_quantiles(self.freedom, _levels(level))
        low, median, high = (exp(float(end)) for end in ends)
        return low, median, high

    def log_density(self, at: float) -> float:
        """ln of the density [1/nat] at a logarithm."""
        return float(log_student_density(np.array((at - self.centre) / self.scale), self.freedom)) - log(self.scale)

    @property
    def spread(self) -> float:
        """Standard deviation [nat], scale sqrt(n/(n - 2)). There is none up to two degrees of freedom."""
        return self.scale * sqrt(self.freedom / (self.freedom - 2))


def foretold_by(values: Sequence[float]) -> Student:
    """What two values or more foretell of one more: about their mean, sd sqrt(1 + 1/n), n - 1 degrees of freedom.

    >>> foretold_by([1.0, 2.0, 3.0])
    Student(centre=2.0, scale=1.1547005383792515, freedom=2)
    """
    return Student(centre=fmean(values), scale=stdev(values) * sqrt(1 + 1 / len(values)), freedom=len(values) - 1)


def pooled_range(weight: float, one: Student, other: Student, level: float) -> tuple[float, float, float]:
    """Low, median and high of a quantity whose logarithm is `one` with this weight and else `other`.

    >>> one, other = (Student(centre=centre, scale=0.1, freedom=9.0) for centre in (0.0, 10.0))
    >>> [round(log(end), 2) for end in pooled_range(0.5, one, other, 0.8)]
    [-0.09, 5.0, 10.09]
    """
    points = np.sort(np.concatenate([_points(one), _points(other)]))
    below = weight * _below(one, points) + (1 - weight) * _below(other, points)
    low, median, high = (exp(float(end)) for end in np.interp(_levels(level), below, points))
    return low, median, high


def log_student_density(at: Floats, freedom: float) -> Floats:
    """ln of the density of Student's t.

    >>> log_student_density(np.array([0.0, 1.0]), 5).round(4).tolist()
    [-0.9686, -1.5156]
    """
    constant = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(sqrt(freedom * pi))
    return constant - (freedom + 1) / 2 * np.log1p(at**2 / freedom)


def student_quantiles(freedom: float, levels: Floats) -> Floats:
    """Student's t with these probabilities below it, to 1e-6 between 1 and 99 %.

    >>> student_quantiles(5, np.array([0.05, 0.5, 0.95])).round(5).tolist()
    [-2.01505, 0.0, 2.01505]
    """
    angles, below = _summed(freedom)
    # In ascending order the search for each begins where the one before ended.
    order, found = np.argsort(levels), np.empty(len(levels))
    found[order] = np.interp(levels[order], below, angles)
    return np.asarray(sqrt(freedom) * np.tan(found))


def within(apart: Floats, freedom: Floats) -> Floats:
    """How much of Student's t lies within so many scales of its centre.

    >>> within(np.array([2.015048, 1.0]), np.array([5.0, 2.5])).round(6).tolist()
    [0.9, 0.595939]
    """
    angles = np.arctan(np.abs(apart) / np.sqrt(freedom))
    places, shares = _nodes()
    beneath = angles / 2 * (shares @ np.cos(angles / 2 * (places[:, None] + 1)) ** (freedom - 1))
    constants = np.array([lgamma((n + 1) / 2) - lgamma(n / 2) for n in freedom])
    return np.asarray(2 * beneath * np.exp(constants) / np.sqrt(np.pi))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Of the integral by which Student's t is summed about its centre: cos^(n - 1) over an angle."""
    return np.polynomial.legendre.leggauss(64)


def _levels(level: float) -> Floats:
    return np.array([(1 - level) / 2, 0.5, (1 + level) / 2])


@lru_cache(64)
def _summed(freedom: float) -> tuple[Floats, Floats]:
    """Angles, and the probability that Student's t lies below sqrt(n) tan(angle): its density there is cos^(n - 1)."""
    angles, cosines = _half_circle()
    density = cosines ** (freedom - 1)
    below = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return angles, below / below[-1]


@cache
def _half_circle() -> tuple[Floats, Floats]:
    """Angles from minus to plus a right one, and their cosines."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, _POINTS)
    return angles, np.cos(angles)


def _points(one: Student) -> Floats:
    """Logarithms that lie as close as its density is high."""
    angles, _ = _summed(one.freedom)
    return np.asarray(one.centre + one.scale * sqrt(one.freedom) * np.tan(angles[1:-1]))


def _below(one: Student, points: Floats) -> Floats:
    angles, below = _summed(one.freedom)
    return np.interp(np.arctan((points - one.centre) / (one.scale * sqrt(one.freedom))), angles, below)
