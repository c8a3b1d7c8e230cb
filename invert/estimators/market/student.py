"""Student's t of a logarithm, for one prediction or many: ranges, densities, and the linear pool of two predictions."""

from collections.abc import Sequence
from math import exp, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, stdtr, stdtrit

from derive.immutable import immutable
from invert.arrays import Array

_REACH = 1e3
"""Scales from the centre that contain all quantiles in use."""


class Judged(NamedTuple):
    """Predictions compared with the truth: errors [nat], ln density of the truth, and the probability of values nearer to the centre.

    A truth is in the 90 % range if that probability is below 0.9. A missing prediction is nan.
    """

    errors: Array
    log_density: Array
    nearer: Array


@immutable(eq=False)
class Students:
    """Student's t of many logarithms: centres [nat], scales [nat], and degrees of freedom. A missing prediction is nan."""

    centre: Array
    scale: Array
    freedom: float | Array

    def judge(self, truth: Array) -> Judged:
        """Return the predictions beside the true logarithms."""
        apart = (truth - self.centre) / self.scale
        constant = gammaln((np.asarray(self.freedom) + 1) / 2) - gammaln(np.asarray(self.freedom) / 2)
        density = constant - np.log(self.freedom * np.pi) / 2 - (self.freedom + 1) / 2 * np.log1p(apart**2 / self.freedom)
        return Judged(
            errors=np.asarray(self.centre - truth),
            log_density=np.asarray(density - np.log(self.scale)),
            nearer=np.asarray(1 - 2 * stdtr(self.freedom, -np.abs(apart))),
        )


@immutable
class Student:
    """Student's t of a logarithm: centre [nat], scale [nat], degrees of freedom."""

    centre: float
    scale: float
    freedom: float

    def range(self, level: float) -> tuple[float, float, float]:
        """Return low, median and high of the quantity itself, with this probability between low and high."""
        low, median, high = (exp(self.centre + self.scale * float(stdtrit(self.freedom, share))) for share in _levels(level))
        return low, median, high

    def log_density(self, at: float) -> float:
        """Return ln of the density [1/nat] at a logarithm."""
        one = Students(centre=np.array(self.centre), scale=np.array(self.scale), freedom=self.freedom)
        return float(one.judge(np.array(at)).log_density)

    @property
    def spread(self) -> float:
        """Return the standard deviation [nat], scale sqrt(n/(n - 2)). It is not defined for two or fewer degrees of freedom."""
        return self.scale * sqrt(self.freedom / (self.freedom - 2))


def predict_one_more(values: Sequence[float]) -> Student:
    """Return the prediction of one more value: centre mean, scale sd sqrt(1 + 1/n), n - 1 degrees of freedom."""
    return Student(centre=fmean(values), scale=stdev(values) * sqrt(1 + 1 / len(values)), freedom=len(values) - 1)


def pooled_range(weight: float, one: Student, other: Student, level: float) -> tuple[float, float, float]:
    """Return low, median and high of a mixture: the logarithm is `one` with this weight, and otherwise `other`."""
    ends = sorted(one.centre + sign * _REACH * one.scale for one in (one, other) for sign in (-1, 1))

    def below(at: float) -> float:
        first, second = (float(stdtr(of.freedom, (at - of.centre) / of.scale)) for of in (one, other))
        return weight * first + (1 - weight) * second

    low, median, high = (exp(brentq(lambda at, share=share: below(at) - share, ends[0], ends[-1])) for share in _levels(level))
    return low, median, high


def _levels(level: float) -> tuple[float, float, float]:
    return (1 - level) / 2, 0.5, (1 + level) / 2
