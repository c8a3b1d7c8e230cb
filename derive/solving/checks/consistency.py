"""Contradictions: an equation that does not hold, and the fewest givens that cannot all be true."""

from collections.abc import Mapping, Sequence, Set

from derive.catalogue import ROOF_IDS, bounds, equation
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.records import Equation, right_side_at
from derive.roles import DecodeStep, Memory, Replica
from derive.solving.engine.one_equation import sides_agree, solve_equation, value_inside
from derive.solving.question.defaults import evaluate_defaults
from derive.solving.question.propagation import follow_values, rows_behind
from derive.solving.question.questions import Question
from derive.solving.result import Answer, Reason
from derive.trees import text
from derive.units import show

AGREES = 5e-3
"""Relative difference up to which two values for one quantity agree. People type results with three digits."""

_ROOM = frozenset((Memory.room, Memory.of_a_chip))
"""What short memory is short of: that has a refusal of its own, which may be only a warning."""


def contradiction(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...]) -> Reason | None:
    """Return an equation that does not hold between givens, or between a given and the result of the others.

    The results follow from the givens and the defaults of the way. Named equations use all defaults.
    """
    on_route = {name for row in used for name in row.symbols}
    given = {n: v for n, v in values.items() if n in asked.known or n in on_route or n not in NEUTRAL_DEFAULTS}
    unused = tuple(row for row in asked.named if row not in used)
    starts = [(asked.active, given), *([(unused, {**evaluate_defaults(asked.defaults, values), **values})] if unused else [])]
    for rows, start in starts:
        known = follow_values(asked.active, start)
        broken = _find_broken(rows, known)
        if broken and not (broken.put_in and _is_unrelated(broken, asked.active, used)):
            return _explain_broken(asked, broken, known, start, used)
    return None


def _is_unrelated(row: Equation, active: tuple[Equation, ...], used: Sequence[Equation]) -> bool:
    """Return whether an equation shares no quantity with the equations of an answer, nor does what it is made of."""
    behind = {name for one in (row, *rows_behind(row.symbols, active)) for name in (*one.names, *one.put_in)}
    return behind.isdisjoint(name for one in used for name in (*one.names, *one.put_in))


def contradicted_default(asked: Question) -> tuple[Equation, Reason] | None:
    """Return the equation with which the defaults contradict a given, and the reason."""
    rows = tuple(row for row in asked.active if row.symbols[0] in asked.known)
    spoken = tuple(dict.fromkeys(name for row in rows for name in row.symbols))
    known = follow_values(rows_behind(spoken, asked.active), {**evaluate_defaults(asked.defaults, asked.known), **asked.known})
    broken = _find_broken(rows, known)
    if broken is None:
        return None
    return broken, Reason(code="contradiction", violated=_find_conflict(broken, known), message=_two_sides(broken, known))


def find_impossible(asked: Question, values: Mapping[str, float]) -> Reason | None:
    """Return what no deployment can do: a step shorter than one of its parts at full rates, or more of something than possible."""
    best = {name: value for name, value in evaluate_defaults(asked.defaults, values).items() if name not in (Replica.chips, Replica.number)}
    known = _claimed_values(follow_values(asked.active, {**best, **values}), values.keys())
    return _below_its_parts(known) or _find_broken_bound((*bounds(), *map(equation, ROOF_IDS)), known, best.keys() - values.keys())


def exceeded_bound(name: str, values: Mapping[str, float]) -> Reason | None:
    """Return why a quantity is more or less than possible beside these values, such as more copies of a cache than chips."""
    return _find_broken_bound(tuple(row for row in bounds() if row.symbols[0] == name), values, frozenset())


def find_implausible(name: str, found: Answer) -> Reason | None:
    """Return why an answer is not possible: it is far beyond the values in practice."""
    (low, high), (least, most) = quantity(name).limits(), found.ends
    if most == 0 or (least <= high and (most is None or most >= low)):
        return None
    would = show(name, value_inside(found))
    run = f"{show(name, low)} to {show(name, high)}"
    message = f"no value of {name} in its range is an answer: it would have to be {would}, and the range is {run}"
    return Reason(code="no_solution", violated=(f"{show(name, low)} <= {name} <= {show(name, high)}",), message=message)


def _claimed_values(known: Mapping[str, float], claimed: Set[str]) -> dict[str, float]:
    """Return the known values, with the rates and times of claimed results in place of roofline values."""
    known, claimed = dict(known), {*claimed}
    for id, name in DecodeStep.claims:
        row = equation(id)
        if row.symbols[0] in claimed and name not in claimed and known.keys() >= {*row.symbols} - {name}:
            (one,), _ = solve_equation(row, name, known)
            known[name] = one.point
            claimed |= {name}
    return known


def _below_its_parts(known: Mapping[str, float]) -> Reason | None:
    """Return that a step, or the time between two tokens, is shorter than the roofline of one part or of all known parts."""
    there = {
        name: known[name] for name in DecodeStep.parts if name in known and (name != DecodeStep.floor or DecodeStep.weights not in known)
    }
    for parts in (*({name: value} for name, value in there.items()), there):
        least = _least_step(known, parts)
        for name in (name for name in DecodeStep.times if name in known and known[name] < least * (1 - AGREES)):
            told = f"{next(iter(parts))} alone makes" if len(parts) == 1 else f"{' and '.join(parts)} make"
            message = f"contradiction: {name} = {show(name, known[name])}, and {told} it {show(name, least)} or more"
            return Reason(code="contradiction", violated=tuple(f"{name} >= {part}" for part in parts), message=message)
    return None


def _least_step(known: Mapping[str, float], parts: Mapping[str, float]) -> float:
    """Return the roofline of some parts of a step without the others."""
    step, reads = equation(DecodeStep.roof), equation(DecodeStep.reads_roof)
    some = {**dict.fromkeys((*step.symbols, *reads.symbols), 0.0), **{DecodeStep.parts[name]: value for name, value in parts.items()}}
    some[DecodeStep.verified] = known.get(DecodeStep.verified, 1.0)
    return float(step.right_side({**some, DecodeStep.reads: reads.right_side(some)}))


def _find_broken_bound(rows: tuple[Equation, ...], known: Mapping[str, float], taken: Set[str]) -> Reason | None:
    """Return an inequality that is true for every deployment and false for these values. Suppositions are not tested.

    Memory is compared elsewhere.
    """
    judged = (row for row in rows if row.symbols[0] not in taken and _ROOM.isdisjoint(row.symbols))
    for row in (row for row in judged if known.keys() >= {*row.symbols} and row.applies(known)):
        left, right = row.left_side(known), right_side_at(row, known)
        over = left > right * (1 + AGREES) if row.sense == "<=" else left < right * (1 - AGREES)
        if over:
            name, side = row.symbols[0], f"at {'most' if row.sense == '<=' else 'least'}"
            made = show(name, right)
            message = f"contradiction: {name} = {show(name, left)}; {row.id} makes it {side} {made} from {_list_values(row, known, name)}"
            return Reason(code="contradiction", violated=(f"{name} {row.sense} {text(row.trees[1])}",), message=message)
    return None


def _explain_broken(
    asked: Question, broken: Equation, known: Mapping[str, float], start: Mapping[str, float], used: tuple[Equation, ...]
) -> Reason:
    """Return the reason of an equation that does not hold: its numbers, then the givens that cannot all be true."""
    of_unknown = _two_values(asked, broken, known, used)

    def look_up() -> tuple[tuple[str, ...], str]:
        message = of_unknown or _two_sides(broken, known)
        given = {name: value for name, value in start.items() if name in asked.known or name in NEUTRAL_DEFAULTS}
        fewest = _fewest_givens(asked.active, given)
        if len(fewest) > 1 and not set(fewest) <= set(broken.symbols):
            message += "\nnot all of these can hold: " + ", ".join(f"{name} = {show(name, known[name])}" for name in fewest)
        return (), message

    two = asked.unknown if of_unknown else ""
    return Reason(code="contradiction", violated=_find_conflict(broken, known), look_up=look_up, two_values=two)


def _find_conflict(broken: Equation, known: Mapping[str, float]) -> tuple[str, ...]:
    """Return the requirements that are not met, else the equation that does not hold."""
    return tuple(broken.violated(known)) or (f"{broken.symbols[0]} = {text(broken.trees[1])}",)


def _two_values(asked: Question, broken: Equation, known: Mapping[str, float], used: tuple[Equation, ...]) -> str | None:
    """Return both values of the unknown, by the way and by this equation, if the equation contains it."""
    unknown = asked.unknown
    points = solve_equation(broken, unknown, known)[0] if unknown in broken.symbols and unknown in known else ()
    if not points or points[0].kind != "point":
        return None
    ours, theirs = _show_both(unknown, known[unknown], points[0].point)
    route = ", ".join(row.id for row in used)
    return f"contradiction: {unknown} = {ours} by {route}; {theirs} by {broken.id} from {_list_values(broken, known, unknown)}"


def _two_sides(broken: Equation, known: Mapping[str, float]) -> str:
    """Return why an equation does not hold: requirements that are not met, or both values of its left side."""
    left = broken.symbols[0]
    if violated := broken.violated(known):
        values = ", ".join(f"{name} = {show(name, known[name])}" for name in broken.symbols)
        return f"contradiction: {broken.id} requires {' and '.join(violated)}, and is given {values}"
    given, made = _show_both(left, known[left], right_side_at(broken, known))
    return f"contradiction: {left} = {given}; {broken.id} makes it {made} from {_list_values(broken, known, left)}"


def _list_values(row: Equation, known: Mapping[str, float], without: str) -> str:
    return ", ".join(f"{name} = {show(name, known[name])}" for name in row.symbols if name != without)


def _fewest_givens(active: tuple[Equation, ...], given: Mapping[str, float]) -> tuple[str, ...]:
    """Return the fewest givens that contradict each other, or none if they lead to no contradiction."""
    kept = dict(given)
    if not _find_broken(active, follow_values(active, kept)):
        return ()
    for name in given:
        fewer = {other: value for other, value in kept.items() if other != name}
        if _find_broken(active, follow_values(active, fewer)):
            kept = fewer
    return tuple(kept)


def _find_broken(rows: tuple[Equation, ...], values: Mapping[str, float]) -> Equation | None:
    """Return the first equation whose quantities are all known and that does not hold."""
    for row in rows:
        known = row.sense == "=" and row.symbols[0] in values and row.inputs <= values.keys()
        if known and not (row.applies(values) and sides_agree(row, values, AGREES)):
            return row
    return None


def _show_both(name: str, first: float, second: float) -> tuple[str, str]:
    """Return two values as text with the digits that show that they differ."""
    texts = ((show(name, first, digits), show(name, second, digits)) for digits in (4, 6, 8, 12))
    return next((pair for pair in texts if pair[0] != pair[1]), (repr(first), repr(second)))
