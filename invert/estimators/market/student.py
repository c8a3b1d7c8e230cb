"""Student's t of a logarithm: the prediction of one more value, and the linear pool of two predictions."""

from collections.abc import Sequence
from math import exp, log, pi, sqrt
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import gammaln, stdtr, stdtrit

from derive.immutable import immutable

Floats = npt.NDArray[np.float64]
_REACH = 1e3
"""Scales from the centre that contain all quantiles in use."""


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
        """Return low, median and high of the quantity itself, with this probability between low and high."""
        ends = self.centre + self.scale * student_quantiles(self.freedom, _levels(level))
        low, median, high = (exp(float(end)) for end in ends)
        return low, median, high

    def log_density(self, at: float) -> float:
        """Return ln of the density [1/nat] at a logarithm."""
        return float(log_student_density(np.array((at - self.centre) / self.scale), self.freedom)) - log(self.scale)

    @property
    def spread(self) -> float:
        """Return the standard deviation [nat], scale sqrt(n/(n - 2)). It is not defined up to two degrees of freedom."""
        return self.scale * sqrt(self.freedom / (self.freedom - 2))


def predict_one_more(values: Sequence[float]) -> Student:
    """Return the prediction of one more value: about the mean, sd sqrt(1 + 1/n), n - 1 degrees of freedom.

    >>> predict_one_more([1.0, 2.0, 3.0])
    Student(centre=2.0, scale=1.1547005383792515, freedom=2)
    """
    return Student(centre=fmean(values), scale=stdev(values) * sqrt(1 + 1 / len(values)), freedom=len(values) - 1)


def pooled_range(weight: float, one: Student, other: Student, level: float) -> tuple[float, float, float]:
    """Return low, median and high of a quantity with the logarithm `one` at this weight, and else `other`.

    >>> one, other = (Student(centre=centre, scale=0.1, freedom=9.0) for centre in (0.0, 10.0))
    >>> [round(log(end), 2) for end in pooled_range(0.5, one, other, 0.8)]
    [-0.09, 5.0, 10.09]
    """
    ends = sorted(one.centre + sign * _REACH * one.scale for one in (one, other) for sign in (-1, 1))

    def below(at: float) -> float:
        first, second = (float(stdtr(of.freedom, (at - of.centre) / of.scale)) for of in (one, other))
        return weight * first + (1 - weight) * second

    low, median, high = (exp(brentq(lambda at, share=share: below(at) - share, ends[0], ends[-1])) for share in _levels(level))
    return low, median, high


def log_student_density(at: Floats, freedom: float | Floats) -> Floats:
    """Return ln of the density of Student's t.

    >>> log_student_density(np.array([0.0, 1.0]), 5).round(4).tolist()
    [-0.9686, -1.5156]
    """
    count = np.asarray(freedom, dtype=float)
    constant = gammaln((count + 1) / 2) - gammaln(count / 2) - np.log(count * pi) / 2
    return np.asarray(constant - (count + 1) / 2 * np.log1p(at**2 / count))


def student_quantiles(freedom: float | Floats, levels: float | Floats) -> Floats:
    """Return Student's t at these cumulative probabilities.

    >>> student_quantiles(5, np.array([0.05, 0.5, 0.95])).round(5).tolist()
    [-2.01505, 0.0, 2.01505]
    """
    return np.asarray(stdtrit(freedom, levels))


def within(apart: Floats, freedom: Floats) -> Floats:
    """Return the probability of Student's t within a number of scales of its centre.

    >>> within(np.array([2.015048, 1.0]), np.array([5.0, 2.5])).round(6).tolist()
    [0.9, 0.595939]
    """
    return np.asarray(1 - 2 * stdtr(freedom, -np.abs(apart)))


def _levels(level: float) -> Floats:
    return np.array([(1 - level) / 2, 0.5, (1 + level) / 2])
