"""Solve equations with SymPy, one smooth regime at a time. It is the public solver, and the referee of the project's own algebra.

SymPy cannot solve equations that contain a Max. So it solves each smooth regime.
"""

from functools import cache
from typing import NamedTuple

from sympy import Dummy, Expr, Poly, PolynomialError, Pow, exp, factor_terms, fraction, log, solve, together
from sympy.logic.boolalg import And, Boolean

from derive.expressions.algebra import smooth_cases, sort_terms
from derive.quantities import symbol
from derive.quantities.formula import as_expression
from derive.trees import Tree, text


class SmoothRegime(NamedTuple):
    """An expression without Max and Min, and the pairs of a larger and a smaller term that select it."""

    expression: Expr
    wins: tuple[tuple[Expr, Expr], ...] = ()
    label: str | None = None
    """The condition in words of the registry, or None if there is only one regime."""

    @property
    def condition(self) -> Boolean:
        """Return where the regime is valid, or true if there is only one."""
        return And(*(larger >= smaller for larger, smaller in self.wins))


class SolvedRegime(NamedTuple):
    """The solutions in one regime, or None if SymPy finds no elementary ones. If the unknown drops out, there are no solutions."""

    regime: SmoothRegime
    solutions: tuple[Expr, ...] | None


def solve_by_regime(left: Tree, right: Tree, unknown: str) -> tuple[SolvedRegime, ...]:
    """Return the solutions of left = right in every smooth regime of the right side."""
    x, solved = symbol(unknown), []
    for one in smooth_cases(right, sort_terms):
        smooth, wins = _expression(one.expression), tuple((_expression(larger), _expression(smaller)) for larger, smaller in one.wins)
        roots = (smooth,) if left == unknown and not smooth.has(x) else solve_smooth(_expression(left) - smooth, x)
        solved.append(SolvedRegime(SmoothRegime(smooth, wins, one.label), roots))
    return tuple(solved)


def _expression(tree: Tree) -> Expr:
    return as_expression(text(tree))


@cache
def solve_smooth(height: Expr, x: Expr) -> tuple[Expr, ...] | None:
    """Return where a smooth expression is 0, by `sympy.solve`, or None if it would run for minutes without an elementary result."""
    inner = [part for part in height.atoms(Pow, log, exp) if part.has(x) and not (part.is_Pow and part.exp.is_Integer)]
    outer = [part for part in inner if not any(other != part and other.has(part) for other in inner)]
    if not outer:
        return _solve_polynomial(height, x)
    # The unknown is in a root, a power or a logarithm: solve for that, and then for what is inside it.
    whole = Dummy(real=True) if isinstance(outer[0], log) else Dummy(positive=True)
    outside = height.xreplace({outer[0]: whole})
    values = None if len(outer) > 1 or outside.has(x) else _solve_polynomial(outside, whole)
    if values is None:
        return None
    found = [solve_smooth(_inside(outer[0], value, x), x) for value in values]
    return None if None in found else tuple(one for roots in found for one in roots or ())


def _solve_polynomial(height: Expr, x: Expr) -> tuple[Expr, ...] | None:
    numerator = fraction(together(height))[0]
    try:
        coefficients = Poly(numerator, x).all_coeffs()
    except PolynomialError:
        return None
    # The closed forms of cubics and beyond pass through complex numbers.
    if len(coefficients) > 3 and any(coefficients[1:-1]):
        return None
    # SymPy would simplify each root, which takes most of the time and says no more.
    return tuple(factor_terms(together(root)) for root in solve(numerator, x, simplify=False))


def _inside(part: Expr, value: Expr, x: Expr) -> Expr:
    """Return an expression that is 0 where a logarithm, an exponential or a power with the unknown has this value."""
    if isinstance(part, log):
        return part.args[0] - exp(value)
    if isinstance(part, exp):
        return part.args[0] - log(value)
    base, exponent = part.args
    return exponent - log(value) / log(base) if exponent.has(x) else base - value ** (1 / exponent)
