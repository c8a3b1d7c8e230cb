"""One equation, any unknown: points, an interval, or nothing and why.

The symbolic side is worked out once per (equation, unknown): every regime of the right side, and in it the closed
forms of the unknown. The numbers decide: a root counts only if the equation as it stands holds there. An unknown
that dropped out of the regime in force is known only by an interval, whose ends are where another term takes over.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from itertools import pairwise
from math import inf, isclose, isfinite
from typing import TYPE_CHECKING

from derive.compiled import evaluate, vectorised
from derive.quantities import quantity, symbol
from derive.records import Equation
from derive.regimes import Branch, branches, closed_forms
from derive.roots import HOLDS, LAST_DIGITS, clamped, drops_out, elasticities, polished, real_roots
from derive.solutions import Answer, Reason, WhenRead
from derive.units import show

if TYPE_CHECKING:
    import numpy as np
    from sympy import Expr

Values = Mapping[str, float]

ASKED_SINGLY = 200
"""Up to how many draws of an array that is not sure of them are asked one by one."""

MAGNIFIED = 1e5
"""By how much rounding may be magnified in a root of an array that is sure of it."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A value of the unknown at which something changes, the closed form of it, and the expression that vanishes there."""

    value: float
    formula: str | None
    difference: "Expr"


def solve_equation(equation: Equation, unknown: str, given: Values) -> tuple[tuple[Answer, ...], Reason | None]:
    """All answers of one equation for one of its quantities, every other one given [SI]; or the reason of none."""
    values = {name: given[name] for name in equation.symbols if name != unknown}
    if broken := equation.violated(values):
        return (), _requirement(equation, broken)
    found = _merge(list(_answers(equation, unknown, values)))
    broken_by = [equation.violated({**values, unknown: inside(answer)}) for answer in found]
    kept = tuple(answer for answer, broken in zip(found, broken_by, strict=True) if not broken)
    if kept:
        return kept, None
    broken = [text for texts in broken_by for text in texts]
    return (), _requirement(equation, broken) if broken else _no_solution(equation, unknown, values)


def points(equation: Equation, unknown: str, values: "Mapping[str, np.ndarray]") -> "np.ndarray":
    """Roots in closed form at arrays of givens, shape (closed forms, draws); NaN where the equation does not hold there.

    A column of NaN is a draw whose unknown sits in a term that does not bind, or that has no solution. Draws of which
    arrays are not sure, as digits were lost or two terms are nearly equal, are asked one by one as far as they are few.
    """
    import numpy as np

    names = tuple(name for name in equation.symbols if name != unknown)
    shape = np.broadcast_shapes(*(np.shape(values[name]) for name in names))
    given = {name: np.broadcast_to(np.asarray(values[name], dtype=float), shape or (1,)) for name in names}
    rows, unsure = [np.full(shape or (1,), np.nan)], np.zeros(shape or (1,), dtype=bool)
    free = np.zeros(shape or (1,), dtype=bool)
    with np.errstate(all="ignore"):
        for branch in branches(equation, unknown):
            if branch.absent:
                height, scale = _heights(branch.difference, branch.regime.expression, given)
                free |= np.abs(height) <= HOLDS * np.abs(scale)
            for root in branch.roots or ():
                row, doubtful = _along(equation, branch, unknown, given, vectorised(root, names)(*given.values()))
                rows.append(row)
                unsure |= doubtful
    found = np.where(free, np.nan, np.stack(rows))
    places = np.flatnonzero(unsure | free) if len(shape) <= 1 else ()
    for at in places if len(places) <= ASKED_SINGLY else ():
        answers, _ = solve_equation(equation, unknown, {name: float(column[at]) for name, column in given.items()})
        single = [one.value for one in answers if one.kind == "point"]
        if len(single) <= len(found):
            found[:, at] = [*single, *[np.nan] * (len(found) - len(single))]
    return found.reshape(-1, *shape)


def _along(
    equation: Equation, branch: Branch, unknown: str, given: "Mapping[str, np.ndarray]", root: "np.ndarray"
) -> "tuple[np.ndarray, np.ndarray]":
    """A root at arrays where the whole equation holds there, in this regime, else NaN; and where that is not sure."""
    import numpy as np

    shape = np.broadcast_shapes((1,), *(array.shape for array in given.values()))
    row = _clamped_along(unknown, np.array(np.broadcast_to(root, shape), dtype=float))
    inside = np.isfinite(row) & ((row > 0) | ((row == 0) & quantity(unknown).may_be_zero))
    error = _residual_along(equation, {**given, unknown: row})
    lost = inside & (error > LAST_DIGITS) & (error <= HOLDS)
    if lost.any():
        # A closed form can lose digits that one Newton step brings back.
        at = {name: array[lost] for name, array in {**given, unknown: row}.items()}
        nearer = _clamped_along(unknown, _newton(branch.difference, unknown, at))
        left = _residual_along(equation, {**at, unknown: nearer})
        row[lost], error[lost] = np.where(left < error[lost], (nearer, left), (row[lost], error[lost]))
    at = {**given, unknown: row}
    equal = np.zeros(row.shape, dtype=bool)
    for pair in branch.regime.wins:
        larger, smaller = _heights(*pair, at)
        margin = (larger - smaller) / np.maximum(np.abs(larger), np.abs(smaller))
        inside &= ~(margin < -HOLDS)
        equal |= (np.abs(margin) <= HOLDS) & (margin != 0)
    for requirement in equation.requires:
        inside &= requirement(*(at[name] for name in signature(requirement).parameters))
    holds = inside & (error <= HOLDS)
    doubtful = inside & ~holds
    if doubtful.any():
        holds[doubtful] = _cross_along(equation, unknown, {name: array[doubtful] for name, array in at.items()})
    _, slope = _heights(*_and_slope(branch.difference, unknown), at)
    scale = np.maximum(*map(np.abs, _sides_along(equation, at)))
    loose = ~(np.abs(row * slope) * MAGNIFIED > scale)
    return np.where(holds, row, np.nan), (row == 0) & ~inside | (holds & (equal | loose | (error > LAST_DIGITS)))


def _cross_along(equation: Equation, unknown: str, at: "Mapping[str, np.ndarray]") -> "np.ndarray":
    """Where the sides cross within the last digits of the unknown: towards a root their distance shrinks, at a pole it grows."""

    def height(shift: float) -> "np.ndarray":
        left, right = _sides_along(equation, {**at, unknown: at[unknown] * (1 + shift)})
        return left - right

    below, above = height(-1e-12), height(1e-12)
    return (below * above < 0) & (abs(below) < abs(height(-1e-11))) & (abs(above) < abs(height(1e-11)))


def _clamped_along(unknown: str, values: "np.ndarray") -> "np.ndarray":
    import numpy as np

    row = quantity(unknown)
    return np.clip(values, 0.0 if row.may_be_zero else None, row.ceiling)


def _sides_along(equation: Equation, values: "Mapping[str, np.ndarray]") -> "tuple[np.ndarray, np.ndarray]":
    """Both sides at arrays, worked out in the order in which numbers are."""
    if isinstance(equation, Equation):
        return values[equation.symbols[0]], equation.right_side(values)
    return vectorised(equation.sides, equation.symbols)(*(values[name] for name in equation.symbols))


def _residual_along(equation: Equation, values: "Mapping[str, np.ndarray]") -> "np.ndarray":
    import numpy as np

    left, right = _sides_along(equation, values)
    scale = np.maximum(np.abs(left), np.abs(right))
    return np.where(scale == 0, 0.0, np.abs(left - right) / scale)


def _newton(difference: "Expr", unknown: str, values: "Mapping[str, np.ndarray]") -> "np.ndarray":
    """The root one Newton step on, or where it was if there is no slope."""
    import numpy as np

    height, slope = _heights(*_and_slope(difference, unknown), values)
    return values[unknown] - np.where(slope == 0, 0.0, height / slope)


def _heights(one: "Expr", other: "Expr", values: "Mapping[str, np.ndarray]") -> "tuple[np.ndarray, np.ndarray]":
    """Two expressions at arrays."""
    names = tuple(sorted({part.name for side in (one, other) for part in side.free_symbols}))
    return vectorised((one, other), names)(*(values[name] for name in names))


@cache
def _and_slope(difference: "Expr", unknown: str) -> "tuple[Expr, Expr]":
    return difference, difference.diff(symbol(unknown))


def residual(equation: Equation, values: Values) -> float:
    """|left - right| over the larger of the two, at numbers for every quantity of the equation."""
    left = equation.left_side(values)
    right = right_side_at(equation, values)
    scale = max(abs(left), abs(right))
    return abs(left - right) / scale if scale else 0.0


def right_side_at(equation: Equation, values: Values) -> float:
    """The right side at numbers; NaN off its domain."""
    try:
        number = equation.right_side(values)
    except (ArithmeticError, ValueError):
        return float("nan")
    return float("nan") if isinstance(number, complex) else float(number)


def _answers(equation: Equation, unknown: str, values: Values) -> Iterable[Answer]:
    if equation.sense != "=":
        return _inequality(equation, unknown, values)
    return (answer for branch in branches(equation, unknown) for answer in _of_branch(equation, branch, unknown, values))


def _of_branch(equation: Equation, branch: Branch, unknown: str, values: Values) -> list[Answer]:
    """Points of a regime the unknown is in; an interval of one it is not in, or in which its coefficient is zero."""
    if branch.absent:
        return _interval(equation, branch, unknown, values)
    found = real_roots(branch.difference, branch.roots, unknown, values)
    if not found and drops_out(branch.difference, unknown, values):
        return _interval(equation, branch, unknown, values)
    return [point for value, formula in found for point in _point(equation, branch, unknown, values, value, formula)]


def _point(equation: Equation, branch: Branch, unknown: str, values: Values, value: float, formula: str | None) -> list[Answer]:
    """The root as an answer if the whole equation holds there, in this regime."""
    at = {**values, unknown: value}
    error = residual(equation, at)
    if LAST_DIGITS < error <= HOLDS:
        # A closed form can lose digits that one Newton step brings back.
        nearer = clamped(unknown, polished(branch.difference, unknown, at))
        if residual(equation, {**values, unknown: nearer}) < error:
            value, at = nearer, {**values, unknown: nearer}
            error = residual(equation, at)
    if not (error <= HOLDS or _crosses(equation, unknown, at)) or not all(_wins(pair, at) for pair in branch.regime.wins):
        return []
    slopes = WhenRead(lambda: elasticities(branch.difference, unknown, at))
    return [Answer("point", value=value, regime=branch.regime.label, formula=formula, residual=error, elasticities=slopes)]


def _crosses(equation: Equation, unknown: str, at: Values) -> bool:
    """Whether the sides cross within the last digits of the unknown: a root where few digits of the residual survive."""

    def height(shift: float) -> float:
        moved = {**at, unknown: at[unknown] * (1 + shift)}
        return equation.left_side(moved) - right_side_at(equation, moved)

    below, above = height(-1e-12), height(1e-12)
    # Towards a root the heights shrink; at a pole, where they change sign too, they grow.
    return below * above < 0 and abs(below) < abs(height(-1e-11)) and abs(above) < abs(height(1e-11))


def _wins(pair: "tuple[Expr, Expr]", values: Values) -> bool:
    larger, smaller = (evaluate(side, values) for side in pair)
    return larger >= smaller or isclose(larger, smaller, rel_tol=HOLDS)


def _interval(equation: Equation, branch: Branch, unknown: str, values: Values) -> list[Answer]:
    """The equation holds without the unknown: all values that keep the regime in force and meet the requirements."""
    probe = {**values, unknown: quantity(unknown).high}
    if not isclose(equation.left_side(probe), evaluate(branch.regime.expression, probe), rel_tol=HOLDS):
        return []
    cuts = [cut for larger, smaller in branch.regime.wins for cut in _cuts(larger - smaller, unknown, values)]

    def holds(value: float) -> bool:
        return all(_wins(pair, {**values, unknown: value}) for pair in branch.regime.wins)

    return _stretches(equation, unknown, values, cuts, holds, branch.regime.label)


def _inequality(equation: Equation, unknown: str, values: Values) -> list[Answer]:
    """The stretches of the unknown on which an inequality holds."""
    cuts = [
        _Cut(value, formula, branch.difference)
        for branch in branches(equation, unknown)
        if not branch.absent
        for value, formula in real_roots(branch.difference, branch.roots, unknown, values)
    ]

    def holds(value: float) -> bool:
        at = {**values, unknown: value}
        left, right = at[equation.symbols[0]], right_side_at(equation, at)
        return left >= right if equation.sense == ">=" else left <= right

    return _stretches(equation, unknown, values, cuts, holds, None)


def _cuts(difference: "Expr", unknown: str, values: Values) -> list[_Cut]:
    if not difference.has(symbol(unknown)):
        return []
    found = real_roots(difference, closed_forms(difference, symbol(unknown)), unknown, values)
    return [_Cut(value, formula, difference) for value, formula in found]


def _stretches(
    equation: Equation, unknown: str, values: Values, cuts: list[_Cut], holds: Callable[[float], bool], regime: str | None
) -> list[Answer]:
    """The domain cut wherever something changes, and of it the stretches on which all holds, neighbours joined."""
    required = [cut for needed in equation.requirements() for cut in _cuts(needed.lhs - needed.rhs, unknown, values)]
    by_value = {cut.value: cut for cut in (*cuts, *required)}
    ends = [0.0, *sorted(value for value in by_value if 0 < value < quantity(unknown).ceiling), quantity(unknown).ceiling]
    joined: list[tuple[float, float]] = []
    for low, high in pairwise(ends):
        middle = _middle(low, high)
        if not holds(middle) or equation.violated({**values, unknown: middle}):
            continue
        if joined and joined[-1][1] == low:
            low = joined.pop()[0]
        joined.append((low, high))
    return [_stretch(unknown, values, low, high, by_value, regime) for low, high in joined]


def _stretch(unknown: str, values: Values, low: float, high: float, cuts: Mapping[float, _Cut], regime: str | None) -> Answer:
    """An interval as an answer, its formula and elasticities those of its finite ends."""
    formula = " and ".join(f"{unknown} {sign} {cuts[end].formula}" for end, sign in ((low, ">="), (high, "<=")) if end in cuts)
    end = high if high in cuts else low
    slopes = WhenRead(lambda: elasticities(cuts[end].difference, unknown, {**values, unknown: end}) if end in cuts else {})
    top = high if isfinite(high) else None
    return Answer("interval", low=low, high=top, regime=regime, formula=formula or None, residual=0.0, elasticities=slopes)


def _middle(low: float, high: float) -> float:
    """A number well inside an interval that may be unbounded."""
    if isfinite(high):
        return (low + high) / 2
    return 2 * low if low else 1.0


def inside(answer: Answer) -> float:
    """The value of a point, or one well inside an interval."""
    return answer.value if answer.kind == "point" else _middle(answer.low, inf if answer.high is None else answer.high)


def _merge(answers: list[Answer]) -> list[Answer]:
    """What several regimes say alike, said once: touching intervals joined, repeated points and points in them dropped."""
    intervals: list[Answer] = []
    for answer in sorted((a for a in answers if a.kind == "interval"), key=lambda a: a.low):
        last = intervals[-1] if intervals else None
        if last is not None and (last.high is None or answer.low <= last.high * (1 + HOLDS)):
            if last.high is not None and (answer.high is None or answer.high > last.high):
                intervals[-1] = replace(answer, low=last.low, formula=None)
        else:
            intervals.append(answer)
    distinct: list[Answer] = []
    for answer in (a for a in answers if a.kind == "point"):
        covered = any(i.low * (1 - HOLDS) <= answer.value and (i.high is None or answer.value <= i.high * (1 + HOLDS)) for i in intervals)
        if not covered and not any(isclose(answer.value, other.value, rel_tol=HOLDS) for other in distinct):
            distinct.append(answer)
    return sorted(distinct, key=lambda a: a.value) + intervals


def _requirement(equation: Equation, broken: Iterable[str]) -> Reason:
    distinct = tuple(dict.fromkeys(broken))
    return Reason("requirement_violated", violated=distinct, message=f"{equation.id} requires {', '.join(distinct)}")


def _no_solution(equation: Equation, unknown: str, values: Values) -> Reason:
    """Why no value in the domain will do: what the right side can reach against what is asked of it."""
    left, right = equation.sides
    row, name = quantity(unknown), equation.symbols[0]
    message = f"no {unknown} {row.domain} satisfies {equation.id}"
    if not left.is_Symbol or right.has(left):
        return Reason("no_solution", violated=(f"{left} = {right}",), message=message)
    if name == unknown:
        message += f": the right side is {right_side_at(equation, values):.6g} {row.unit}"
    else:
        probes = [row.low * 10.0**k for k in range(-12, 25)] if row.low else [row.high * share / 24 for share in range(25)]
        reach = [right_side_at(equation, {**values, unknown: min(probe, row.ceiling)}) for probe in probes]
        reach = [number for number in reach if isfinite(number)]
        if len(reach) > 1:
            subject, given = ("the right side", name) if isinstance(equation, Equation) else (name, "the one asked for")
            over = f"{_reach(name, reach, isfinite(row.ceiling))} over all {unknown}"
            message += f": {subject} {over}, and {given} is {show(name, values[name])}"
    return Reason("no_solution", violated=(f"{left} = {right}",), message=message)


def _reach(name: str, reach: list[float], closed: bool) -> str:
    """What the right side can be; where it still moves at the edge of an open domain it has no bound there."""

    def bound(end: float) -> str | None:
        inner = reach[1] if end == reach[0] else reach[-2]
        moving = end in (reach[0], reach[-1]) and not isclose(end, inner, rel_tol=HOLDS)
        return None if moving and not closed else show(name, end)

    low, high = bound(min(reach)), bound(max(reach))
    if low and high:
        return f"runs from {low} to {high}"
    return f"is {f'at least {low}' if low else f'at most {high}' if high else 'anything'}"
