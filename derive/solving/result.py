"""The outcome of a question: the record `Solution`, which shows itself, and its parts."""

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, overload

from derive.answers import BY_DEFAULT, OR, Answer, Reason, Result, RouteStep, Spans, Sweep, WhenRead, same_bound, shown_end, ways_to
from derive.catalogue import basis_of
from derive.errors import NoSingleValue
from derive.immutable import cut, immutable
from derive.quantities import QUANTITIES

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["BY_DEFAULT", "OR", "Answer", "Reason", "RouteStep", "Solution", "Spans", "Sweep", "WhenRead", "same_bound", "shown_end"]


def chain_slopes(slopes: Mapping[str, float], name: str, inner: Mapping[str, float]) -> Mapping[str, float]:
    """Return the elasticities of an answer if one of its inputs is an answer itself, by the chain rule. They are found when read.

    >>> dict(chain_slopes({"batch": 0.5, "chips": 1.0}, "batch", {"chips": 2.0, "hbm_capacity": 1.0}))
    {'chips': 2.0, 'hbm_capacity': 0.5}
    """

    def moved() -> dict[str, float]:
        sums = dict(slopes)
        by = sums.pop(name, 0.0)
        return {each: sums.get(each, 0.0) + by * inner.get(each, 0.0) for each in {**sums, **(inner if by else {})}}

    return WhenRead(moved)


@immutable
class Solution(Result):
    """The outcome of a question.

    A prompt shows it as one line, and a notebook shows every step with its numbers. Printed, it is the output of the command. `full` is the
    output with `--full`.
    """

    # A Question and a Way, which schemas of this record cannot import.
    along: Any = field(default=None, repr=False, compare=False)
    """The posed question and its way, if one way leads to the answer: arrays repeat it at other values."""

    def __repr__(self) -> str:
        return cut(f"Solution({self.unknown} [{self.unit}]: {_summarise(self)})")

    def __str__(self) -> str:
        from derive.show.text import screen_lines

        told = "\n".join(screen_lines([self]))
        return told if self.answers or self.sweep else f"{told}\n{self.why_not}"

    @property
    def full(self) -> str:
        """Return the whole text: every equation of the way, the source of each number, and all assumptions.

        >>> rests_on = ("pipeline.sequences_in_flight@2",)
        >>> Solution(unknown="batch", unit="1", answers=(Answer(kind="point", value=8.0),), equations=rests_on).full.splitlines()[0]
        'batch = 8'
        """
        from derive.show.text import full_lines

        return "\n".join(full_lines([self]))

    @property
    def first_value(self) -> float | None:
        """Return the value of the first answer if that is a point."""
        return self.answers[0].value if self.answers else None

    def is_refused_for(self, *codes: str) -> bool:
        """Return whether there is no answer, for a reason with one of these codes."""
        return self.reason is not None and self.reason.code in codes

    @property
    def doubts(self) -> dict[str, str]:
        """Return the warnings by what each is about."""
        return dict(zip(self.kinds, self.warnings, strict=True))

    def with_doubts(self, doubts: Mapping[str, str]) -> "Solution":
        """Return the same answer with these warnings, and with no others."""
        return replace(self, warnings=tuple(doubts.values()), kinds=tuple(doubts))

    def warn(self, kind: str, text: str) -> "Solution":
        """Return the same answer with one warning more, before its others.

        >>> Solution(unknown="batch", unit="1", answers=()).warn("slip", "no unit").doubts
        {'slip': 'no unit'}
        """
        return replace(self, warnings=(text, *self.warnings), kinds=(kind, *self.kinds))

    def keep(self, kept: Collection[Answer]) -> "Solution":
        """Return the same with some of the answers, each with its route.

        >>> two = tuple(Answer(kind="point", value=value) for value in (2.0, 8.0))
        >>> Solution(unknown="batch", unit="1", answers=two).keep(two[1:]).value
        8.0
        """
        if len(self.further) != len(self.answers) - 1 or not kept:
            return replace(self, answers=tuple(one for one in self.answers if one in kept))
        ways = [(one, steps) for one, steps in ways_to(self) if one in kept]
        (_, first), *further = ways
        return replace(self, answers=tuple(one for one, _ in ways), route=first, further=tuple(steps for _, steps in further))

    def _repr_markdown_(self) -> str:
        from derive.show.typeset import notebook_markdown

        return notebook_markdown(self)

    def __float__(self) -> float:
        return self.value

    def to_frame(self) -> "DataFrame":
        """Return one row per answer, of a sweep one per point and answer, with the given values and the answer [SI].

        >>> Solution(unknown="batch", unit="1", answers=(Answer(kind="point", value=8.0),)).to_frame()["batch"].tolist()
        [8.0]
        """
        # pandas takes longer to load than an answer.
        from pandas import DataFrame

        points = self.sweep.rows() if self.sweep else [({}, self.answers, None)]
        return DataFrame([{**given, **_cells(self.unknown, answer)} for given, answers, _ in points for answer in answers or (None,)])

    @overload
    def __getitem__(self, place: int) -> "tuple[dict[str, float], tuple[Answer, ...]]": ...
    @overload
    def __getitem__(self, place: slice) -> "DataFrame": ...
    @overload
    def __getitem__(self, place: str) -> "Series": ...
    def __getitem__(self, place: int | slice | str) -> "tuple[dict[str, float], tuple[Answer, ...]] | DataFrame | Series":
        """Return the given values and the answers of one point of a sweep, or some rows or a column of `to_frame()`."""
        if isinstance(place, str | slice):
            return self.to_frame()[place]
        if not self.sweep:
            raise NoSingleValue(f"{self.unknown} is no sweep: its answers are in .answers")
        given, answers, _ = [*self.sweep.rows()][place]
        return given, answers

    @property
    def basis(self) -> str:
        """Return what the answers rest on: reading or rule, else bound or definition. Return an empty text without an answer.

        >>> Solution(unknown="batch", unit="1", answers=(Answer(kind="point", value=8.0),)).basis
        'definition'
        """
        return basis_of(self.equations, self.answers) if self.answers or self.sweep else ""

    @property
    def value(self) -> float:
        """Return the single point in SI. Raise `NoSingleValue` for any other number of answers.

        >>> Solution(unknown="batch", unit="1", answers=(Answer(kind="point", value=8.0),)).value
        8.0
        >>> Solution(unknown="batch", unit="1", answers=(Answer(kind="interval", low=8.0),)).value
        Traceback (most recent call last):
            ...
        derive.errors.NoSingleValue: batch has no single value: it is 8 to unbounded
        """
        if len(self.answers) == 1 and self.answers[0].kind == "point" and not self.sweep:
            return self.answers[0].point
        why = f": {self.why_not}" if self.why_not else f": it is {_summarise(self)}"
        raise NoSingleValue(f"{self.unknown} has no single value{why}")


Answers = tuple[Solution, ...]
"""The answers to several questions that were asked at once."""
Point = Mapping[str, float]
"""A value for each of some inputs."""


def known_answer(unknown: str, value: float, told: str) -> Solution:
    """Return a known value as an answer, with where it is from.

    >>> known_answer("batch", 8.0, "as in a table").said
    ('as in a table',)
    """
    return Solution(unknown=unknown, unit=QUANTITIES[unknown].unit, answers=(Answer(kind="point", value=value),), said=(told,))


def _cells(unknown: str, answer: Answer | None) -> dict[str, float | str | None]:
    """Return the cells of one answer: its value, or its ends, and whether it is a bound."""
    if answer is None:
        return {unknown: None}
    ends = {f"{unknown}_low": answer.low, f"{unknown}_high": answer.high} if answer.kind == "interval" else {unknown: answer.value}
    return {**ends, "bound": answer.bound, "regime": answer.regime}


def _summarise(solution: Solution) -> str:
    if solution.sweep:
        return f"a sweep of {len(solution.sweep)} points"
    if solution.spans:
        return f"between {solution.spans.low:.6g} and {solution.spans.high:.6g}{OR[solution.answers[0].bound]}"
    if solution.reason:
        return f"no answer, {solution.reason.code}"
    return " or ".join(map(str, solution.answers))
