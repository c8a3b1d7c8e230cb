"""The records of what a question came to: Answer, Reason, RouteStep, Sweep, Spans and Solution."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from derive.briefly import brief, cut
from derive.records import LOWER, UPPER

if TYPE_CHECKING:
    import numpy as np


AT_ONCE = 4096
"""Rows of a sweep that are taken out of its arrays together."""


OR = {LOWER: " or more", UPPER: " or less", None: ""}
"""A bound in words, behind its value."""

DEFAULT = " (default)"
"""What an assumption ends with that says no more than the neutral value a quantity was taken to have."""


class WhenRead(Mapping[str, float]):
    """A mapping worked out when it is first read: elasticities cost more than the answers they belong to.

    >>> WhenRead(lambda: {"batch": 1.0})["batch"]
    1.0
    """

    def __init__(self, work_out: Callable[[], Mapping[str, float]]):
        self._work_out = work_out

    @cached_property
    def _found(self) -> Mapping[str, float]:
        return self._work_out()

    def __getitem__(self, name: str) -> float:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return repr(dict(self._found))

    def __reduce__(self) -> tuple[type, tuple[dict[str, float]]]:
        return dict, (dict(self._found),)


@dataclass(frozen=True, slots=True)
class Answer:
    """A point, or an interval of which only the ends are known (`low`, `high`; None is unbounded).

    Of bounds over ranges `low` and `high` are what holds at all their points, `loose_low` and `loose_high` what holds at
    one of them at least. The kind "loose" has the loose ends alone: no value holds at all points.
    `elasticities` are d ln(unknown)/d ln(given): of the point, or of the interval's finite end (the upper of two).
    `bound` says of a point, or of all that ranges and sweeps span, that it is so much at least ("lower") or at most ("upper").
    """

    __repr__ = brief

    kind: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    regime: str | None = None
    formula: str | None = None
    elasticities: Mapping[str, float] = field(default_factory=dict)
    residual: float | None = None
    loose_low: float | None = None
    loose_high: float | None = None
    bound: str | None = None

    @property
    def ends(self) -> tuple[float, float | None]:
        """The least and the greatest value it allows anywhere.

        >>> Answer("point", value=3.0).ends, Answer("interval", low=2.0).ends, Answer("loose", loose_low=1.0, loose_high=4.0).ends
        ((3.0, 3.0), (2.0, None), (1.0, 4.0))
        """
        if self.kind == "point":
            return self.value, self.value
        return (self.low, self.high) if self.loose_low is None else (self.loose_low, self.loose_high)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why there is no answer: a code for programs, the quantities that are missing, the inequalities violated."""

    __repr__ = brief

    code: str
    missing: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class RouteStep:
    """What was solved on the way, one equation or several together, with the value it gave."""

    __repr__ = brief

    equations: tuple[str, ...]
    unknown: str
    value: float | None
    formula: str | None = None
    alternatives: tuple[str, ...] = ()

    @property
    def equation(self) -> str:
        """Its equations in one line."""
        return ", ".join(self.equations)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A question answered at many points, as columns: what was given, and the points it has for answers.

    `values` and `places` have a row for every answer a question has at one point and a column for every point; NaN
    where there is none. `labels[place]` is the regime and `bounds[place]` the bound. `others` are the answers of the
    points that have no number: intervals, or nothing and why.
    """

    __repr__ = brief

    given: "Mapping[str, np.ndarray]"
    values: "np.ndarray"
    places: "np.ndarray"
    labels: tuple[str | None, ...]
    bounds: tuple[str | None, ...]
    others: "Mapping[int, tuple[tuple[Answer, ...], Reason | None]]" = field(default_factory=dict)

    def __len__(self) -> int:
        return self.values.shape[1]

    def rows(self) -> "Iterator[tuple[dict[str, float], tuple[Answer, ...], Reason | None]]":
        """What was given, what it came to and why not, point by point."""
        for start in range(0, len(self), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            columns = [column[part].tolist() for column in self.given.values()]
            numbers = zip(*(zip(row[part].tolist(), places[part].tolist(), strict=True) for row, places in self._pairs), strict=True)
            for at, (given, found) in enumerate(zip(zip(*columns, strict=True), numbers, strict=True), start):
                answers, reason = self.others.get(at, ((), None))
                present = ((value, place) for value, place in found if value == value)
                points = tuple(Answer("point", value=value, regime=self.labels[at], bound=self.bounds[at]) for value, at in present)
                yield dict(zip(self.given, given, strict=True)), points or answers, reason

    @property
    def bound(self) -> str | None:
        """What all of its answers are: at least, or at most so much; None where that is not one thing."""
        import numpy as np

        points = (self.bounds[place] for place in np.unique(self.places[~np.isnan(self.values)]).tolist())
        return same_bound((*points, *(one.bound for answers, _ in self.others.values() for one in answers)))

    @property
    def _pairs(self) -> "Iterator[tuple[np.ndarray, np.ndarray]]":
        return zip(self.values, self.places, strict=True)


@dataclass(frozen=True, slots=True)
class Spans:
    """What an answer spans while givens take any value of their ranges.

    `method` is "bounds" where the answer rises or falls throughout with each of them, so that its ends lie at corners,
    and "sampled" where it does not, or has no value everywhere. `sides` are (regime, low, high, share of the samples),
    `tornado` (given, answer at its low end, at its high end), the others at their middle, widest first. `shown` is the
    point that the route and the elasticities are of: the middle, or the first with an answer. `quantiles` are None where
    next to no point drawn has an answer.
    """

    __repr__ = brief

    ranges: Mapping[str, tuple[float, float]]
    method: str
    low: float
    high: float
    quantiles: Mapping[str, float | None]
    sides: tuple[tuple[str | None, float, float, float], ...]
    tornado: tuple[tuple[str, float, float], ...]
    answered: float
    samples: int
    seed: int
    shown: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Solution:
    """What a question came to. Always this shape: an empty `answers` has a `reason`; `unused` was given and not needed.

    `kinds` says of each warning what it is about, at one point.
    """

    unknown: str
    unit: str
    answers: tuple[Answer, ...]
    equations: tuple[str, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    reason: Reason | None = None
    route: tuple[RouteStep, ...] = ()
    warnings: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    sweep: Sweep | None = None
    spans: Spans | None = None

    def __repr__(self) -> str:
        texts = (f"{one.value:.6g}" if one.kind == "point" else f"{_end(one.low)} to {_end(one.high)}" for one in self.answers)
        found = " or ".join(f"{text}{OR[one.bound]}" for text, one in zip(texts, self.answers, strict=True))
        if self.sweep:
            found = f"a sweep of {len(self.sweep)} points"
        elif self.spans:
            found = f"between {self.spans.low:.6g} and {self.spans.high:.6g}{OR[self.answers[0].bound]}"
        elif self.reason and not found:
            found = f"no answer, {self.reason.code}"
        return cut(f"Solution({self.unknown} [{self.unit}]: {found})")

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return import_module("derive.show.notebook").as_notebook(self)


def same_bound(bounds: Iterable[str | None]) -> str | None:
    """The bound that all of these are; None where they are not one.

    >>> same_bound(["lower", "lower"]), same_bound(["lower", None])
    ('lower', None)
    """
    found = {*bounds}
    return found.pop() if len(found) == 1 else None


def _end(value: float | None) -> str:
    return "unbounded" if value is None else f"{value:.6g}"
