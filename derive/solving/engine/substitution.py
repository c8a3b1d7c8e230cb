"""Put formulas into each other: into the closing equation of a loop, into a bound, or into any other equation."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from derive.expressions.branches import branches
from derive.expressions.one_line import EXTREMES, combine_fractions, terms_by_sign
from derive.expressions.polynomials import TooManyTerms
from derive.records import Equation
from derive.solving.engine.composed import Composed
from derive.solving.engine.plan import Leg, Loop, Step
from derive.trees import RATIO, Tree, TreePair, all_parts, names, put_into

_MOST_PARTS, _MOST_EXTREMES = 2000, 4
"""The largest formula that is composed, in parts, and the most terms of a maximum or minimum in it: larger ones are solved with numbers."""


@lru_cache(maxsize=1024)
def compose(closing: Equation | Composed, steps: tuple[Leg, ...], unknown: str = "") -> Composed | None:
    """Return an equation with the formulas of steps put in, or None if it is too large or a step has no single formula.

    It is solved for the unknown if that has a single formula. A ratio of both sides has no value where one of them is zero.
    """
    sides = closing.trees
    for leg in reversed(steps):
        formula = formula_of(leg) if any(leg.unknown in names(side) for side in sides) else 0
        if formula is None:
            return None
        left, right = (put_into(side, {leg.unknown: formula}) for side in sides)
        sides = left, right
        if _size(*sides) > _MOST_PARTS:
            return None
    if sum(len(part) - 2 for side in sides for part in all_parts(side) if isinstance(part, tuple) and part[0] in EXTREMES) > _MOST_EXTREMES:
        return None
    try:
        left, right = map(combine_fractions, sides)
        rows = tuple(dict.fromkeys(row for leg in (*steps, Step(closing, closing.symbols[0])) for row in leg.rows))
        whole = Composed(rows=rows, trees=_one_sided((left, right)), sense=closing.sense, closing=closing, steps=steps)
        formula = formula_of(Step(whole, unknown)) if unknown else None
        return whole if formula is None else replace(whole, trees=(unknown, formula), solved_for=unknown)
    except (TooManyTerms, ZeroDivisionError):
        return None


def change_equation(row: Equation | Composed, change: Callable[[Equation], Equation | Composed]) -> Equation | Composed:
    """Return an equation with a change made in it, or in every equation that it was composed of."""
    if isinstance(row, Equation) or row.closing is None:
        return change(row) if isinstance(row, Equation) else row
    steps = tuple(Step(change_equation(leg.row, change), leg.unknown) for leg in row.steps if isinstance(leg, Step))
    return compose(change_equation(row.closing, change), steps, row.solved_for) or row


@lru_cache(maxsize=1024)
def closed_form_of(loop: Loop) -> Composed | None:
    """Return a loop as one equation that gives its unknown in closed form, or None."""
    whole = compose(loop.closing, loop.steps)
    closed = whole is not None and loop.unknown in whole.symbols and all(one.roots is not None for one in branches(whole, loop.unknown))
    return whole if closed else None


def _size(*sides: Tree) -> int:
    return sum(len(all_parts(side)) for side in sides)


def formula_of(leg: Leg) -> Tree | None:
    """Return the formula of the result of a leg, or None if it has several formulas or no formula."""
    if isinstance(leg, Loop):
        return None
    left, right = leg.row.trees
    if left == leg.unknown and left not in names(right):
        return right
    found = branches(leg.row, leg.unknown)
    roots = found[0].roots if len(found) == 1 else None
    return roots[0] if roots and len(roots) == 1 else None


def _one_sided(pair: TreePair) -> TreePair:
    """Return both sides with a single quantity on the left that is not on the right, or else 1 and their ratio."""
    left, right = pair if pair[0] != 0 else terms_by_sign(pair[1])
    alone = left == 0 or (isinstance(left, str) and left not in names(right))
    return (left, right) if alone else (1, combine_fractions((RATIO, right, left)))
