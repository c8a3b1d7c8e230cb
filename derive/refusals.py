"""Why a question has no answer: what is missing, what is tangled, what contradicts what."""

from collections.abc import Mapping
from math import isfinite

from derive.catalogue import by_id
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.questions import Leg, Question
from derive.records import Equation, Reason
from derive.solving import residual, right_side_at
from derive.units import show

AGREES = 1e-6
"""Relative difference up to which two values for one quantity agree."""


def missing_givens(asked: Question, known: Mapping[str, float]) -> Reason:
    """The shortest list of givens that would settle the question, by the equation that defines it if one does."""
    unknown = asked.unknown
    rows = [row for row in asked.active if unknown in row.symbols and row.sense == "="]
    if not rows:
        joinable = ", ".join(row.id for row in by_id().values() if unknown in row.symbols)
        message = f"{unknown} is in no equation that joins by itself; name one with --using: {joinable}"
        return Reason("missing_givens", message=message + _left_out(asked, (unknown,)))
    lists = [(row, _leaves(asked, row, unknown, known, frozenset())) for row in rows]
    # Somebody who names equations means to go through them; else the equation that defines the unknown comes first.
    lists.sort(key=lambda pair: (pair[0] not in asked.named, len(pair[1])) if asked.named else (pair[0].defines != unknown, len(pair[1])))
    tangled = [(row, names) for row, names in lists if all(_rests_on(asked, row, name, unknown) for name in names)]
    if lists[0][0].defines != unknown and (len(tangled) > 1 or any(not names for _, names in tangled)):
        direct = tuple(name for name in tangled[0][0].symbols if name != unknown and name not in known)
        message = (
            f"{unknown} sits in several equations at once ({', '.join(row.id for row, _ in tangled[:3])}),"
            f" which this version does not solve together; it would follow from {_listed(direct)}"
        )
        return Reason("simultaneous", missing=direct, message=message)
    missing = lists[0][1]
    others = [(other, names) for other, names in lists[1:2] if names != missing]
    message = "; or ".join(f"{_listed(names)} ({row.id})" for row, names in [lists[0], *others])
    meanings = "".join(f"; {name} [{QUANTITIES[name].unit}]: {QUANTITIES[name].meaning}" for name in missing if len(missing) <= 2)
    message = f"{unknown} needs also {message}{meanings}{_left_out(asked, (unknown, *missing))}"
    return Reason("missing_givens", missing=missing, message=message)


def _left_out(asked: Question, names: tuple[str, ...]) -> str:
    """Which definitions of these quantities the model rules out, as the end of a sentence."""
    untrue = ", ".join(row.id for row in asked.left_out if row.defines in names)
    return f"; left out, as this model does not read all that it stores: {untrue}" if untrue else ""


def _leads_to(asked: Question, row: Equation, name: str, unknown: str) -> bool:
    """Whether an equation is how a quantity would be found: it defines it, or was named and speaks of it."""
    return row.defines == name or (row in asked.named and name in row.symbols and unknown not in row.symbols)


def _rests_on(asked: Question, row: Equation, name: str, unknown: str) -> bool:
    """Whether the equation that defines a quantity speaks of the unknown, and is another than this one."""
    return any(other is not row and other.defines == name and unknown in other.symbols for other in asked.active)


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _leaves(asked: Question, row: Equation, unknown: str, known: Mapping[str, float], seen: frozenset[str]) -> tuple[str, ...]:
    """What is not known of an equation, each replaced by what defines it where that is in play."""
    leaves: dict[str, None] = {}
    for name in row.symbols:
        if name == unknown or name in known or name in seen:
            continue
        definition = next((other for other in asked.active if other is not row and _leads_to(asked, other, name, unknown)), None)
        below = _leaves(asked, definition, name, known, seen | {unknown, name}) if definition else ()
        leaves.update(dict.fromkeys(below if definition else (name,)))
    return tuple(leaves)


def contradiction(asked: Question, values: Mapping[str, float], legs: tuple[Leg, ...]) -> Reason | None:
    """An equation that does not hold: between givens, or between a given and what follows from the others.

    What follows is worked out from the givens and the defaults of the route; for equations that were named, from all
    defaults.
    """
    on_route = {name for leg in legs for name in leg.equation.symbols}
    given = {n: v for n, v in values.items() if n in asked.known or n in on_route or n not in NEUTRAL_DEFAULTS}
    clash = _broken(asked.active, _followed(asked.active, given))
    unused = tuple(row for row in asked.named if all(row is not leg.equation for leg in legs))
    if clash or not unused:
        return clash
    return _broken(unused, _followed(asked.active, {**NEUTRAL_DEFAULTS, **values}))


def _followed(active: tuple[Equation, ...], values: Mapping[str, float]) -> dict[str, float]:
    """All that the values lead to by putting them into right sides."""
    known = dict(values)
    while True:
        new = {
            row.symbols[0]: right_side_at(row, known)
            for row in reversed(active)
            if row.sense == "=" and row.symbols[0] not in known and all(n in known for n in row.symbols[1:]) and not row.violated(known)
        }
        new = {name: value for name, value in new.items() if isfinite(value)}
        if not new:
            return known
        known |= new


def _broken(rows: tuple[Equation, ...], values: Mapping[str, float]) -> Reason | None:
    """The first equation whose quantities are all known and that does not hold, with the numbers."""
    for row in rows:
        if row.sense != "=" or not all(name in values for name in row.symbols):
            continue
        violated = row.violated(values)
        if not violated and residual(row, values) <= AGREES:
            continue
        left = row.symbols[0]
        others = ", ".join(f"{name} = {show(name, values[name])}" for name in row.symbols[1:])
        if violated:
            message = (
                f"contradiction: {row.id} requires {' and '.join(violated)}, and is given {left} = {show(left, values[left])}, {others}"
            )
            return Reason("contradiction", violated=tuple(violated), message=message)
        given, made = _apart(left, values[left], right_side_at(row, values))
        message = f"contradiction: {left} = {given}; {row.id} makes it {made} from {others}"
        return Reason("contradiction", violated=(f"{left} = {row.sides[1]}",), message=message)
    return None


def _apart(name: str, first: float, second: float) -> tuple[str, str]:
    """Two values as text, with as many digits as it takes to tell them apart."""
    texts = ((show(name, first, digits), show(name, second, digits)) for digits in (4, 6, 8, 12))
    return next((pair for pair in texts if pair[0] != pair[1]), (repr(first), repr(second)))
