"""One equation, any unknown: points, an interval, or nothing and why.

The symbolic side is worked out once per (equation, unknown): every regime of the right side, and in it the closed
forms of the unknown. The numbers decide: a root counts only if the equation as it stands holds there. An unknown
that dropped out of the regime in force is known only by an interval, whose ends are where another term takes over.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import exp, inf, isclose, isfinite, log
from typing import TYPE_CHECKING

from derive.compiled import scalar, vectorised
from derive.quantities import quantity, symbol
from derive.records import Answer, Equation, Reason, WhenRead
from derive.regimes import Branch, branches, closed_forms
from derive.units import show

if TYPE_CHECKING:
    import numpy as np
    from sympy import Expr

HOLDS = 1e-9
GRID = 2_000


def solve_equation(equation: Equation, unknown: str, given: Mapping[str, float]) -> tuple[tuple[Answer, ...], Reason | None]:
    """All answers of one equation for one of its quantities, every other one given [SI]; or the reason of none."""
    values = {name: given[name] for name in equation.symbols if name != unknown}
    broken = equation.violated(values)
    if broken:
        return (), Reason("requirement_violated", violated=tuple(broken), message=f"{equation.id} requires {', '.join(broken)}")
    if equation.sense != "=":
        answers = list(_inequality(equation, unknown, values))
    else:
        answers = [answer for branch in branches(equation, unknown) for answer in _of_branch(equation, branch, unknown, values)]
    kept, broken = [], []
    for answer in _merge(answers):
        point = _inside(answer, unknown)
        broken_here = equation.violated({**values, unknown: point})
        broken += broken_here
        if not broken_here:
            kept.append(answer)
    if kept:
        return tuple(kept), None
    if broken:
        message = f"{equation.id} requires {', '.join(dict.fromkeys(broken))}, which no {unknown} here meets"
        return (), Reason("requirement_violated", violated=tuple(dict.fromkeys(broken)), message=message)
    return (), _no_solution(equation, unknown, values)


def points(equation: Equation, unknown: str, values: "Mapping[str, np.ndarray]") -> "np.ndarray":
    """Candidate roots at arrays of givens, shape (closed forms, draws); NaN where the equation does not hold there.

    A column of NaN is a draw whose unknown sits in a term that does not bind, or that has no solution.
    """
    import numpy as np

    names = tuple(name for name in equation.symbols if name != unknown)
    given = [np.asarray(values[name], dtype=float) for name in names]
    rows = [np.full(np.broadcast(*given).shape if given else (), np.nan)]
    with np.errstate(all="ignore"):
        for branch in branches(equation, unknown):
            for root in branch.roots or ():
                row = np.asarray(vectorised(root, names)(*given), dtype=float)
                at = {**{n: values[n] for n in names}, unknown: row}
                left = at[equation.symbols[0]]
                right = vectorised(equation.sides[1], equation.symbols)(*(at[name] for name in equation.symbols))
                holds = np.abs(left - right) <= HOLDS * np.maximum(np.abs(left), np.abs(right))
                inside = (row >= 0) if quantity(unknown).may_be_zero else (row > 0)
                rows.append(np.where(holds & inside & (row <= quantity(unknown).ceiling), row, np.nan))
    return np.stack(np.broadcast_arrays(*rows))


def residual(equation: Equation, values: Mapping[str, float]) -> float:
    """|left - right| over the larger of the two, at numbers for every quantity of the equation."""
    left = values[equation.symbols[0]]
    right = _right_side(equation, values)
    scale = max(abs(left), abs(right))
    return abs(left - right) / scale if scale else 0.0


def elasticities(difference: "Expr", unknown: str, values: Mapping[str, float]) -> dict[str, float]:
    """d ln(unknown)/d ln(given) for each given where difference = 0, by the implicit function theorem.

    Empty where the unknown is 0 and has no logarithm.
    """
    names, slopes_at = _gradient(difference)
    slope = dict(zip(names, slopes_at(*(values[name] for name in names)), strict=True))
    scale = values[unknown] * slope[unknown]
    return {name: 0.0 - values[name] * slope[name] / scale for name in names if name != unknown} if scale else {}


@cache
def _gradient(difference: "Expr") -> "tuple[tuple[str, ...], Callable[..., tuple[float, ...]]]":
    from sympy import diff

    names = tuple(sorted(part.name for part in difference.free_symbols))
    return names, scalar(tuple(diff(difference, symbol(name)) for name in names), names)


def _right_side(equation: Equation, values: Mapping[str, float]) -> float:
    try:
        number = equation.right_side(values)
    except (ArithmeticError, ValueError):
        return float("nan")
    return float("nan") if isinstance(number, complex) else float(number)


def _evaluate(expression: "Expr", values: Mapping[str, float]) -> float:
    """The number an expression takes; NaN off its domain."""
    names, function = _function(expression)
    try:
        number = function(*(values[name] for name in names))
    except (ArithmeticError, ValueError):
        return float("nan")
    return float("nan") if isinstance(number, complex) else float(number)


@cache
def _function(expression: "Expr") -> tuple[tuple[str, ...], Callable[..., float]]:
    names = tuple(sorted(part.name for part in expression.free_symbols))
    if names:
        return names, scalar(expression, names)
    number = float(expression)
    return names, lambda: number


@cache
def _text(expression: "Expr") -> str:
    return str(expression)


def _of_branch(equation: Equation, branch: Branch, unknown: str, values: Mapping[str, float]) -> Iterable[Answer]:
    if branch.absent:
        return _interval(equation, branch, unknown, values)
    if branch.roots is None:
        candidates = [(root, None) for root in _bracketed(branch.difference, unknown, values)]
    else:
        candidates = [(_evaluate(root, values), _text(root)) for root in branch.roots]
    return [answer for value, formula in candidates for answer in _point(equation, branch, unknown, values, value, formula)]


def _point(
    equation: Equation, branch: Branch, unknown: str, values: Mapping[str, float], value: float, formula: str | None
) -> list[Answer]:
    """The candidate as an answer if it lies in the domain and the whole equation holds there."""
    if not _in_domain(unknown, value):
        return []
    at = {**values, unknown: value}
    error = residual(equation, at)
    if not error <= HOLDS or not all(_wins(pair, at) for pair in branch.regime.wins):
        return []
    return [Answer("point", value=value, regime=branch.regime.label, formula=formula, residual=error,
                   elasticities=WhenRead(lambda: elasticities(branch.difference, unknown, at)))]  # fmt: skip


def _wins(pair: "tuple[Expr, Expr]", values: Mapping[str, float]) -> bool:
    larger, smaller = (_evaluate(side, values) for side in pair)
    return larger >= smaller or isclose(larger, smaller, rel_tol=HOLDS)


def _interval(equation: Equation, branch: Branch, unknown: str, values: Mapping[str, float]) -> list[Answer]:
    """The unknown is not in this regime: if the equation holds without it, all values that keep the regime in force."""
    left = values[equation.symbols[0]]
    if not isclose(left, _evaluate(branch.regime.expression, values), rel_tol=HOLDS):
        return []
    x = symbol(unknown)
    ends: dict[float, tuple[Expr, Expr]] = {}
    for larger, smaller in branch.regime.wins:
        for root in closed_forms(larger - smaller, x) or () if (larger - smaller).has(x) else ():
            value = _evaluate(root, values)
            if _in_domain(unknown, value):
                ends[value] = (root, larger - smaller)
    return [
        _segment(unknown, values, branch, low, high, ends)
        for low, high in _segments(unknown, ends)
        if all(_wins(pair, {**values, unknown: _middle(low, high)}) for pair in branch.regime.wins)
    ]


def _segment(
    unknown: str, values: Mapping[str, float], branch: Branch, low: float, high: float, ends: "Mapping[float, tuple[Expr, Expr]]"
) -> Answer:
    """An interval as an answer, its formula and elasticities those of its finite end."""
    formula = " and ".join(f"{unknown} {sign} {_text(ends[end][0])}" for end, sign in ((low, ">="), (high, "<=")) if end in ends)
    end = high if high in ends else low
    at = {**values, unknown: end}
    slopes = WhenRead(lambda: elasticities(ends[end][1], unknown, at) if end in ends else {})
    return Answer("interval", low=low, high=high if isfinite(high) else None, regime=branch.regime.label,
                  formula=formula or None, residual=0.0, elasticities=slopes)  # fmt: skip


def _inequality(equation: Equation, unknown: str, values: Mapping[str, float]) -> Iterable[Answer]:
    """The stretches of the unknown on which an inequality holds, ends by the closed forms of its equality."""
    found = {}
    for branch in branches(equation, unknown):
        for root in branch.roots or ():
            for answer in _point(equation, branch, unknown, values, _evaluate(root, values), _text(root)):
                found[answer.value] = (root, branch)
    for low, high in _segments(unknown, found):
        at = {**values, unknown: _middle(low, high)}
        left, right = at[equation.symbols[0]], _right_side(equation, at)
        if left >= right if equation.sense == ">=" else left <= right:
            branch = next((found[end][1] for end in (high, low) if end in found), branches(equation, unknown)[0])
            yield _segment(unknown, values, branch, low, high, {v: (root, b.difference) for v, (root, b) in found.items()})


def _segments(unknown: str, ends: Iterable[float]) -> list[tuple[float, float]]:
    """The domain of the unknown cut at the ends."""
    top = quantity(unknown).ceiling
    cuts = [0.0, *sorted(end for end in ends if 0 < end < top), top]
    return list(pairwise(cuts))


def _middle(low: float, high: float) -> float:
    """A number well inside an interval that may be unbounded."""
    if isfinite(high):
        return (low + high) / 2
    return 2 * low if low else 1.0


def _inside(answer: Answer, unknown: str) -> float:
    return answer.value if answer.kind == "point" else _middle(answer.low, inf if answer.high is None else answer.high)


def _in_domain(unknown: str, value: float) -> bool:
    row = quantity(unknown)
    return isfinite(value) and (value > 0 or (value == 0 and row.may_be_zero)) and value <= row.ceiling


def _bracketed(difference: "Expr", unknown: str, values: Mapping[str, float]) -> list[float]:
    """All sign changes over the domain, on a logarithmic grid, each closed in by Brent's method."""
    from scipy.optimize import brentq

    row = quantity(unknown)
    low, high = row.low / 1e3, min(row.high * 1e3, row.ceiling)
    step = log(high / low) / GRID

    def f(ln_x: float) -> float:
        return _evaluate(difference, {**values, unknown: exp(ln_x)})

    grid = [log(low) + i * step for i in range(GRID)] + [log(high)]
    heights = [f(ln_x) for ln_x in grid]
    found = [exp(ln_x) for ln_x, height in zip(grid, heights, strict=True) if height == 0]
    for left, right, f_left, f_right in zip(grid, grid[1:], heights, heights[1:], strict=False):
        if f_left * f_right < 0:
            found.append(exp(brentq(f, left, right, xtol=1e-15, rtol=1e-15)))
    return found


def _merge(answers: list[Answer]) -> list[Answer]:
    """One answer for what several regimes say alike: touching intervals joined, repeated points and points in them dropped."""
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


def _no_solution(equation: Equation, unknown: str, values: Mapping[str, float]) -> Reason:
    """Why no value in the domain will do: what the right side can reach against what is asked of it."""
    left, right = equation.sides
    message = f"no {unknown} {quantity(unknown).domain} satisfies {equation.id}"
    name = equation.symbols[0]
    if name == unknown:
        found = _right_side(equation, values)
        message += f": the right side is {found:.6g} {quantity(unknown).unit}"
    else:
        row = quantity(unknown)
        reach = [_right_side(equation, {**values, unknown: min(row.low * 10.0**k, row.ceiling)}) for k in range(-12, 25)]
        reach = [number for number in reach if isfinite(number)]
        if reach:
            low, high, asked = (show(name, number) for number in (min(reach), max(reach), values[name]))
            message += f": the right side runs from {low} to {high} over all {unknown}, and {name} is {asked}"
    return Reason("no_solution", violated=(f"{left} = {right}",), message=message)
