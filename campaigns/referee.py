"""A referee for single equations: what is answered is held against roots worked out with 80 digits from the same numbers.

The numbers are drawn as they come in practice, far beyond that (shares next to 0 and 1), and so that two terms of a Max
or a Min are equal, or differ in a few last digits only.
"""

import random
from dataclasses import dataclass
from functools import cache

from mpmath import isfinite, mp, mpc, mpf
from sympy import lambdify

from derive.catalogue import by_id
from derive.expressions.branches import branches
from derive.expressions.search import search_interval
from derive.expressions.sympy_solver import regimes, solve_smooth
from derive.quantities import quantity, symbol
from derive.records import Equation
from derive.solving.one_equation import solve_equation

DIGITS = 80
STEP = mpf(10) ** -30
KINDS = ("usual", "wide", "crossover")
APART = (0.0, 1e-9, 1e-12, 1e-14)
"""How far the two terms at a crossover are apart (times a random number of either sign)."""

PAIRS = [(row, name) for row in by_id().values() if row.sense == "=" for name in row.symbols]
CROSSING = [(row, name) for row, name in PAIRS if len(regimes(row.sides[1])) > 1]


@dataclass(frozen=True)
class Case:
    """A question, and the value of the unknown from which its left side was worked out."""

    equation: Equation
    unknown: str
    given: dict[str, float]
    drawn: float
    kind: str


def cases(count: int, seed: int):
    """Random questions that have an answer."""
    rng = random.Random(seed)
    made = 0
    while made < count:
        kind = rng.choice(KINDS)
        equation, unknown = rng.choice(CROSSING if kind == "crossover" else PAIRS)
        values = _drawn(rng, equation, kind)
        if values is not None:
            made += 1
            yield Case(equation, unknown, {n: v for n, v in values.items() if n != unknown}, values[unknown], kind)


def verdict(case: Case) -> str:
    """How a question ended: "right", or what is wrong with its answers."""
    answers, reason = solve_equation(case.equation, case.unknown, case.given)
    with mp.workdps(DIGITS):
        truth = _truth(case)
        if not answers:
            return f"missing: {message(reason)}" if truth else "right: no answer, and with these digits there is none"
        if truth and not any(_matches(one, *root) for one in answers for root in truth):
            return f"missing: {[float(root) for root, _, _ in truth]} not among {[_value(one) for one in answers]}"
        for one in answers:
            if fault := _fault(case, one, exact=bool(truth)):
                return f"wrong: {_value(one)} where {one.regime}: {fault}"
        points = [one.value for one in answers if one.kind == "point"]
        roots = {mp.nstr(root, 25) for root, _, _ in (_root(case, one) for one in answers if one.kind == "point")}
        if len(roots) < len(points):
            return f"twice: {points}"
    return "right"


def message(reason) -> str:
    return reason.message


def _value(answer):
    return answer.value if answer.kind == "point" else (answer.low, answer.high)


@cache
def _function(expression, names):
    return lambdify([symbol(name) for name in names], expression, modules="mpmath")


def _height(expression, values):
    names = tuple(sorted(part.name for part in expression.free_symbols))
    try:
        found = mpf(1) * _function(expression, names)(*(mpf(values[name]) for name in names))
    except (ArithmeticError, ValueError, TypeError):
        return mpf("nan")
    return mpf("nan") if isinstance(found, mpc) else found


def _slope(expression, name, values):
    step = mpf(values[name]) * STEP or STEP
    return (_height(expression, {**values, name: values[name] + step}) - _height(expression, {**values, name: values[name] - step})) / (
        2 * step
    )


def _newton(expression, name, values):
    """The root that Newton's method leads to, or None."""
    at = mpf(values[name])
    for _ in range(200):
        here = {**values, name: at}
        slope = _slope(expression, name, here)
        if not (isfinite(slope) and slope):
            return None
        height = _height(expression, here)
        if not isfinite(height):
            return None
        move = height / slope
        at -= move
        if abs(move) <= abs(at) * mpf(10) ** -40:
            return at
    return None


def _allowed(difference, unknown, values):
    """The relative error a root may have: a billionth times the sum of its elasticities, 1e-12 where that sum is small."""
    scale = abs(values[unknown] * _slope(difference, unknown, values))
    moved = sum(abs(v * _slope(difference, n, values)) for n, v in values.items() if n != unknown and difference.has(symbol(n)))
    steepness = moved / scale if scale else mpf("inf")
    return (mpf("1e-12") if steepness <= 100 else mpf("1e-9") * steepness), steepness


def _drops(regime, values):
    """By how much the regime is not the one in force, relative to its terms."""
    worst = mpf(0)
    for larger, smaller in regime.wins:
        above, below = _height(larger, values), _height(smaller, values)
        worst = max(worst, (below - above) / max(abs(above), abs(below)) if below > above else mpf(0))
    return worst


def _truth(case):
    """The roots next to the value drawn, each in the regime it stands in, with the error allowed."""
    found = []
    left, right = case.equation.sides
    for regime in regimes(right):
        difference = left - regime.expression
        if not difference.has(symbol(case.unknown)):
            continue
        root = _newton(difference, case.unknown, {**case.given, case.unknown: mpf(case.drawn)})
        if root is None or not _in_domain(root, case.unknown) or abs(root / mpf(case.drawn) - 1) > mpf("1e-3"):
            continue
        if not _is_looked_at(case, root):
            continue
        at = {**case.given, case.unknown: root}
        allowed, steepness = _allowed(difference, case.unknown, at)
        if steepness > 1e9 or case.equation.violated({n: float(v) for n, v in at.items()}):
            continue
        if _drops(regime, at) < mpf("1e-40"):
            found.append((root, allowed, steepness))
    return found


def _matches(answer, root, allowed, steepness):
    if answer.kind == "interval":
        beside = max(allowed, 1e-12 * steepness)
        return answer.low * (1 - beside) <= root and (answer.high is None or root <= answer.high * (1 + beside))
    return abs(answer.value - root) <= allowed * root


def _in_force(right, answer):
    """The regime that an answer names, in whatever order."""
    return next(one for one in regimes(right) if {*(one.label or "").split(" and ")} == {*(answer.regime or "").split(" and ")})


def _root(case, answer):
    """The root an answer stands for, in the regime it names."""
    left, right = case.equation.sides
    regime = _in_force(right, answer)
    at = {**case.given, case.unknown: mpf(answer.value)}
    return _newton(left - regime.expression, case.unknown, at), regime, left - regime.expression


def _fault(case, answer, exact):
    """What is wrong with an answer; where there is no exact one, it may be off by a billionth."""
    left, right = case.equation.sides
    slack = mpf("2e-13") if exact else mpf("1e-9")
    if answer.kind == "interval":
        regime = _in_force(right, answer)
        for share in (mpf("0.001"), mpf("0.5"), mpf("0.999")):
            high = max(10 * answer.low, 1.0) if answer.high is None else answer.high
            at = {**case.given, case.unknown: answer.low + share * (high - answer.low)}
            asked, made = mpf(at[left.name]), _height(right, at)
            moved = sum(abs(v * _slope(regime.expression, n, at)) for n, v in at.items() if n != left.name)
            if not abs(asked - made) <= slack * max(abs(asked), abs(made), moved):
                return f"at {float(at[case.unknown])!r} the sides are {mp.nstr(asked, 17)} and {mp.nstr(made, 17)}"
        return None
    root, regime, difference = _root(case, answer)
    if not root:
        return "no root near it" if answer.value else None
    at = {**case.given, case.unknown: root}
    allowed, _ = _allowed(difference, case.unknown, at)
    off = abs(answer.value - root) / root
    if not off <= (allowed if exact else max(allowed, mpf("1e-9"))):
        return f"the root is {mp.nstr(root, 17)}, off by {mp.nstr(off, 3)}, allowed {mp.nstr(allowed, 3)}"
    dropped = _drops(regime, at)
    return f"this regime falls short by {mp.nstr(dropped, 3)}" if dropped > slack else None


def _is_looked_at(case, root) -> bool:
    """Whether the value has a closed form, or lies where an answer without one is looked for, as a refusal says."""
    low, high = search_interval(case.unknown)
    return low <= root <= high or all(branch.roots is not None for branch in branches(case.equation, case.unknown))


def _in_domain(root, unknown) -> bool:
    row = quantity(unknown)
    return 0 < root <= row.ceiling and root >= row.floor


def _drawn(rng, equation, kind):
    """Numbers for all quantities that meet the equation, or None."""
    draw = _wide if kind == "wide" else _usual
    values = {name: draw(rng, name) for name in equation.symbols[1:]}
    if kind == "crossover":
        larger, smaller = rng.choice(rng.choice(regimes(equation.sides[1])).wins)
        moved = rng.choice(sorted(part.name for part in (larger - smaller).free_symbols))
        forms = solve_smooth(larger - smaller, symbol(moved)) or ()
        roots = [_height(form, values) for form in forms]
        roots = [root for root in roots if isfinite(root) and 0 < root <= quantity(moved).ceiling]
        if not roots:
            return None
        values[moved] = float(rng.choice(roots) * (1 + rng.choice(APART) * rng.uniform(-1, 1)))
        if not 0 < values[moved] <= quantity(moved).ceiling:
            return None
    with mp.workdps(DIGITS):
        made = _height(equation.sides[1], values)
        left = equation.symbols[0]
        values[left] = float(made) * (1 + (rng.choice(APART) * rng.uniform(-1, 1) if kind == "crossover" else 0.0))
    low, high = quantity(left).limits()
    if not (low <= values[left] <= high and values[left]) or equation.violated(values):
        return None
    return values


def _usual(rng, name):
    row = quantity(name)
    return rng.uniform(row.low, row.high) if row.low == 0 else row.low * (row.high / row.low) ** rng.random()


def _wide(rng, name):
    """Anywhere that is accepted from outside; shares next to 0 and 1 as often as in between."""
    low, high = quantity(name).limits()
    if high == 1:
        return rng.choice((rng.random(), 10 ** rng.uniform(-12, 0), 1 - 10 ** rng.uniform(-14, 0)))
    low = low or high * 1e-15
    return low * (high / low) ** rng.random()
