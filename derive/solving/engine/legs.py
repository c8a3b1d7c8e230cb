"""The legs of a way: one equation that gives a quantity, or a loop over several. Formulas of legs are put into one another.

An equation that was composed of several is solved as one of the catalogue is.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from derive.expressions.algebra import EXTREMES, TooManyTerms, combine_fractions
from derive.expressions.branches import branches
from derive.immutable import immutable
from derive.records import Equation, Requirement, Unmet
from derive.trees import RATIO, Tree, TreePair, all_parts, evaluate, names, put_into

_MOST_PARTS, _MOST_EXTREMES = 2000, 4
"""The largest formula that is composed, in parts, and the most terms of a maximum or minimum in it: larger ones are solved with numbers."""

_FEW = 3
"""Up to how many equations a message names."""


@immutable(eq=False)
class Composed:
    """One equation that follows from several. It is solved as one of the catalogue is.

    The formulas of the `steps` were put into the `closing` equation. `trees` are left and right.
    If the left is not a single quantity, it is 1 and the right is the ratio of both.
    One that is `solved_for` a quantity has it on the left.
    """

    rows: tuple[Equation, ...]
    trees: TreePair
    sense: str = "="
    closing: "Equation | Composed"
    steps: "tuple[Step, ...]" = ()
    solved_for: str = ""

    @property
    def id(self) -> str:
        """Return the ids of its equations."""
        *others, last = (row.id for row in self.rows)
        return f"{', '.join(others)} and {last} together" if others else last

    @property
    def told(self) -> str:
        """Return the name in messages: the ids, or the number of equations."""
        return self.id if len(self.rows) <= _FEW else f"the {len(self.rows)} equations it rests on"

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Return the quantities that are left, the one on the left side first."""
        return tuple(sorted(names(self.trees[0]) | names(self.trees[1]), key=lambda name: (name != self.trees[0], name)))

    @cached_property
    def requires(self) -> "tuple[Requirement, ...]":
        """Return the requirements of its equations on what is left."""
        needed = (requirement for row in self.rows for requirement in row.requires)
        return tuple(one for one in needed if {*one.names} <= {*self.symbols})

    def left_side(self, values: Mapping[str, float]) -> float:
        """Return the left side at numbers."""
        return evaluate(self.trees[0], values)

    def right_side(self, values: Mapping[str, float]) -> float:
        """Return the right side at numbers."""
        return evaluate(self.trees[1], values)

    def unmet(self, values: Mapping[str, float]) -> list[Unmet]:
        """Return the requirements of its equations that these values break."""
        return [one for row in self.rows for one in row.unmet(values)]


Failed = frozenset[tuple[str, str]]
"""Legs that gave no number to go on with: their ids and unknowns."""


class Step(NamedTuple):
    """One equation that gives one quantity. The `alternatives` would have given it too."""

    row: Equation | Composed
    unknown: str
    alternatives: tuple[Equation, ...] = ()

    @property
    def id(self) -> str:
        """Return the id of its equation."""
        return self.row.id

    @property
    def rows(self) -> tuple[Equation, ...]:
        """Return its equations of the catalogue."""
        return (self.row,) if isinstance(self.row, Equation) else self.row.rows

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the quantities that must be known before it."""
        return tuple(name for name in self.row.symbols if name != self.unknown)

    @property
    def goes_forwards(self) -> bool:
        """Return whether its equation has what it gives on the left side alone."""
        if isinstance(self.row, Equation):
            return self.row.symbols[0] == self.unknown
        left, right = self.row.trees
        return left == self.unknown and self.unknown not in names(right)


@immutable(kw_only=False)
class Loop:
    """A quantity whose value is tried: the steps lead from it to both sides of the closing equation, which must agree."""

    closing: Equation
    unknown: str
    steps: tuple[Step, ...]

    @property
    def id(self) -> str:
        """Return the id of its equation."""
        return f"{self.closing.id} closes a loop"

    @property
    def rows(self) -> tuple[Equation, ...]:
        """Return its equations of the catalogue."""
        return (*dict.fromkeys(row for leg in self.steps for row in leg.rows), self.closing)

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the quantities that must be known before it."""
        found = {self.unknown, *(step.unknown for step in self.steps)}
        return tuple(dict.fromkeys(name for row in self.rows for name in row.symbols if name not in found))


Leg = Step | Loop


@immutable(kw_only=False)
class Way:
    """The legs that lead to an unknown, it last."""

    legs: tuple[Leg, ...]

    @property
    def rows(self) -> tuple[Equation, ...]:
        """Return its equations of the catalogue."""
        return tuple(dict.fromkeys(row for leg in self.legs for row in leg.rows))

    @property
    def unknown(self) -> str:
        """Return the quantity that the last leg gives."""
        return self.legs[-1].unknown

    @property
    def solved(self) -> frozenset[str]:
        """Return the quantities that its legs give."""
        return frozenset(leg.unknown for leg in self.legs)


@lru_cache(maxsize=1024)
def compose(closing: Equation | Composed, steps: tuple[Step, ...], unknown: str = "") -> Composed | None:
    """Return an equation with the formulas of steps put in, or None if it is too large or a step has no single formula.

    It is solved for the unknown if that has a single formula. A ratio of both sides has no value where one of them is zero.
    """
    sides = closing.trees
    for step in reversed(steps):
        formula = formula_of(step) if any(step.unknown in names(side) for side in sides) else 0
        if formula is None:
            return None
        left, right = (put_into(side, {step.unknown: formula}) for side in sides)
        sides = left, right
        if sum(len(all_parts(side)) for side in sides) > _MOST_PARTS:
            return None
    if sum(len(part) - 2 for side in sides for part in all_parts(side) if isinstance(part, tuple) and part[0] in EXTREMES) > _MOST_EXTREMES:
        return None
    try:
        left, right = map(combine_fractions, sides)
        if not isinstance(left, str) or left in names(right):
            left, right = 1, combine_fractions((RATIO, right, left))
        rows = tuple(dict.fromkeys(row for step in (*steps, Step(closing, closing.symbols[0])) for row in step.rows))
        whole = Composed(rows=rows, trees=(left, right), sense=closing.sense, closing=closing, steps=steps)
        formula = formula_of(Step(whole, unknown)) if unknown else None
        return whole if formula is None else replace(whole, trees=(unknown, formula), solved_for=unknown)
    except (TooManyTerms, ZeroDivisionError):
        return None


def change_equation(row: Equation | Composed, change: Callable[[Equation], Equation | Composed]) -> Equation | Composed:
    """Return an equation with a change made in it, or in every equation that it was composed of."""
    if isinstance(row, Equation):
        return change(row)
    steps = tuple(Step(change_equation(step.row, change), step.unknown) for step in row.steps)
    return compose(change_equation(row.closing, change), steps, row.solved_for) or row


@lru_cache(maxsize=1024)
def closed_form_of(loop: Loop) -> Composed | None:
    """Return a loop as one equation that gives its unknown in closed form, or None."""
    whole = compose(loop.closing, loop.steps)
    closed = whole is not None and loop.unknown in whole.symbols and all(one.roots is not None for one in branches(whole, loop.unknown))
    return whole if closed else None


def formula_of(step: Step) -> Tree | None:
    """Return the formula of the result of a step, or None if it has several formulas or no formula."""
    left, right = step.row.trees
    if left == step.unknown and left not in names(right):
        return right
    found = branches(step.row, step.unknown)
    roots = found[0].roots if len(found) == 1 else None
    return roots[0] if roots and len(roots) == 1 else None
