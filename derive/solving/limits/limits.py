"""Givens with a limit: at most a value, at least a value, or both.

A limit on a result of the unknown is solved as an equality. The answer is bounded on the side on which the limit is met: a step of at
most 30 ms needs 6 chips or more. A limit on an input bounds the answer.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from derive.answers import BOUGHT, next_whole
from derive.errors import WrongValue
from derive.immutable import immutable
from derive.quantities import NEUTRAL_DEFAULTS
from derive.records import LOWER, UPPER
from derive.roles import Batch, Replica
from derive.solving.checks.contradicted_defaults import consistent_answer
from derive.solving.checks.targets import is_within
from derive.solving.engine.find import answer_forwards
from derive.solving.explain.answer_with import result_with
from derive.solving.question.givens import IN_WORDS
from derive.solving.question.presets import tell_given
from derive.solving.question.propagation import giving_equations, results_of
from derive.solving.question.questions import Question, default_values, drop_knowns, pose_again, results_made_of
from derive.solving.result import Solution
from derive.units import show

_SIGN_OF = {UPPER: "<=", LOWER: ">="}

FREE = Batch.name
"""The size that is found without being asked for, if limits bound it and not the unknown."""


class NotMadeOf(WrongValue):
    """Raised for a limit that the unknown has no part in, with the name of the limited quantity."""

    def __init__(self, limit: str, unknown: str):
        super().__init__(f"{limit} is given as a limit, but does not depend on {unknown}: give {limit}=...")
        self.limit = limit


@immutable
class Limit:
    """A limit on a result."""

    name: str
    side: str
    value: float

    @property
    def words(self) -> str:
        """Return the limit in words.

        >>> Limit(name="step_time", side="upper", value=0.03).words
        'step_time <= 30 ms'
        """
        return f"{self.name} {_SIGN_OF[self.side]} {show(self.name, self.value)}"

    def allows(self, value: float | None) -> bool:
        """Return whether a result is known and within the limit."""
        return value is not None and bool(is_within(self.side, value, self.value))


@immutable
class LimitByEquations(Limit):
    """A limit on a result that equations give. `alone` is the question with this limit as an equality, and no other."""

    alone: Question

    @property
    def moves(self) -> bool:
        """Return whether the limited result is made of the unknown."""
        return self.name in results_made_of(self.alone, self.alone.unknown)

    def value_at(self, place: float) -> float | None:
        """Return the result at a value of the unknown, whether memory suffices there or not."""
        forwards = result_with(drop_knowns(self.alone, {self.name}), self.name, {self.alone.unknown: place})
        return self.evaluate(place).first_value if forwards is None else forwards

    def evaluate(self, place: float | None = None, silent: bool = True) -> Solution:
        """Return the result with all that it rests on, at a value of the unknown if it is made of the unknown."""
        asked = replace(drop_knowns(self.alone, {self.name}), unknown=self.name, anyway=True)
        if place is None or not self.moves:
            return answer_forwards(asked)
        return consistent_answer(replace(asked, known={**asked.known, self.alone.unknown: place}, silent=silent))[0]


def add_limits(asked: Question, given: Mapping[str, Mapping[str, str]]) -> Question:
    """Return the question with its limits.

    Raises WrongValue for two that contradict each other, and `NotMadeOf` for one that does not limit a result.
    """
    read = asked.conventions.read
    sides = {name: UPPER if UPPER in texts else LOWER for name, texts in given.items()}
    floors = {name: read(name, texts[LOWER]) for name, texts in given.items() if len(texts) > 1}
    for name, least in floors.items():
        if least > asked.known[name]:
            raise WrongValue(f"{name} is at least {show(name, least)} and at most {show(name, asked.known[name])}: no value is both")
    told = tuple(map(note_of_limit, given, given.values()))
    asked = _with_usual_replicas(replace(asked, limits=sides, floors=floors, notes=(*asked.notes, *told)))
    for one in split_limits(asked):
        if not one.moves and one.name not in giving_equations(asked.active):
            raise NotMadeOf(one.name, asked.unknown)
    return asked


def _with_usual_replicas(asked: Question) -> Question:
    """Return the question of one replica, or of as many as are paid for, if a limit on results of all replicas is about them."""
    number = Replica.number
    of_all = results_of(number) & asked.known.keys()
    rates = of_all & {*Replica.sized_by}
    limited = bool(of_all) and (rates or of_all) <= asked.limits.keys()
    if not limited or number in asked.known or asked.unknown in (*BOUGHT, *results_of(number)):
        return asked
    more, why = {number: NEUTRAL_DEFAULTS[number]}, "one replica"
    if rates < of_all and (paid := _replicas_paid_for(drop_knowns(asked, rates), rates)):
        more, why = paid, " and ".join(map(tell_given, sorted(of_all - rates)))
    posed = pose_again(asked, asked.unknown, {**asked.known, **more})
    provenance, supposed = (dict.fromkeys(more, text) for text in ("supposed", why))
    return replace(posed, provenance={**asked.provenance, **provenance}, supposed={**asked.supposed, **supposed})


def _replicas_paid_for(asked: Question, rates: Set[str]) -> dict[str, float]:
    """Return one replica of all chips, or the number of replicas that is paid for if rates need it, or nothing if it is not known."""
    number, chips = Replica.number, Replica.chips
    if isinstance(asked.defaults.get(chips), str):
        return {number: 1.0, chips: default_values(asked, asked.known)[chips]}
    found = consistent_answer(pose_again(replace(asked, limits={}, floors={}), number, asked.known))[0].first_value if rates else None
    return {number: max(1.0, next_whole(found, UPPER))} if found else {}


def note_of_limit(name: str, sides: Iterable[str]) -> str:
    """Return the assumption that a given is a limit.

    >>> note_of_limit("step_time", ["upper"])
    'step_time is a limit: at most this value'
    """
    return f"{name} is a limit: {' and '.join(IN_WORDS[side] for side in sides)} this value"


def split_limits(asked: Question) -> tuple[LimitByEquations, ...]:
    """Return the limits of a question, two for a result that is limited on both sides."""
    ends = [(name, side, asked.known[name]) for name, side in asked.limits.items()]
    ends += [(name, LOWER, value) for name, value in asked.floors.items()]
    alone = {name: replace(drop_knowns(asked, {*asked.limits} - {name}), floors={}) for name in asked.limits}
    posed = {end: replace(alone[end[0]], known={**alone[end[0]].known, end[0]: end[2]}, limits={end[0]: end[1]}) for end in ends}
    return tuple(LimitByEquations(name=name, side=side, value=value, alone=one) for (name, side, value), one in posed.items())


def list_in_words(limits: Iterable[Limit]) -> str:
    """Return several limits in words."""
    return " and ".join(one.words for one in limits)
