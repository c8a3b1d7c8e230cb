"""What follows from several equations together: one equation in a single unknown, with the regime in which it does."""

from collections.abc import Mapping
from functools import cached_property
from math import isclose, isfinite

from derive.evaluate import evaluate
from derive.immutable import immutable
from derive.quantities import quantity
from derive.records import Equation, Unmet
from derive.requirements import HOLDS, Requirement, named
from derive.trees import TreePair, names

_APART = 1e-6
"""Relative difference from which two sides are not the same number given twice."""

_FEW = 3
"""Up to how many equations of a block are named in a message."""


@immutable(eq=False)
class Joint:
    """One equation that follows from several, to be solved like one of the catalogue; `cancelled` dropped out of it.

    `sides` are left and right; where the left is no single quantity it is 1, and the right the ratio of both. It follows
    only where `wins` hold, pairs of a larger and a smaller expression: the regimes that were put in, `regime` in words.
    Where it turns on quantities that nothing determines, `open` names them, and nothing follows from it without them. It is
    `idle` where it does not give the unknown: the sides then only say when the case is possible.
    """

    rows: tuple[Equation, ...]
    sides: TreePair
    cancelled: tuple[str, ...] = ()
    wins: tuple[TreePair, ...] = ()
    regime: str | None = None
    open: tuple[str, ...] = ()
    idle: bool = False
    sense: str = "="

    @property
    def id(self) -> str:
        """The ids of the equations it follows from."""
        *others, last = (row.id for row in self.rows)
        return f"{', '.join(others)} and {last} together"

    @property
    def told(self) -> str:
        """The same in a message: many equations by their number."""
        return self.id if len(self.rows) <= _FEW else f"the {len(self.rows)} equations it rests on"

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the quantities that are left, that on the left side first; those of its regime included."""
        held = sorted(_names_in(self.sides, *self.wins))
        return tuple(sorted(held, key=lambda name: name != self.sides[0]))

    @cached_property
    def requires(self) -> "tuple[Requirement, ...]":
        """The requirements of its equations on what is left in it."""
        needed = (requirement for row in self.rows for requirement in row.requires)
        return tuple(one for one in needed if {*named(one)} <= {*self.symbols})

    def ruled_out(self, values: Mapping[str, float]) -> bool:
        """Whether its regimes or its sides cannot hold at these numbers; what holds a quantity that is not known is not judged."""
        known = (pair for pair in self.wins if _names_in(pair) <= values.keys())
        if any(evaluate(larger, values) < evaluate(smaller, values) * (1 - HOLDS) for larger, smaller in known):
            return True
        if not self.idle or not _names_in(self.sides) <= values.keys():
            return False
        left, right = (evaluate(side, values) for side in self.sides)
        return isfinite(left - right) and not isclose(left, right, rel_tol=_APART)

    def breaks_down(self, values: Mapping[str, float], unknown: str) -> bool:
        """Whether something that was divided by is zero at these numbers: what the equations then say, this one does not."""
        probes = [{**values, unknown: float(size)} for size in (quantity(unknown).low, quantity(unknown).high)]
        parts = {*self.sides, *(side for pair in self.wins for side in pair)}
        return any(all(not isfinite(evaluate(part, at)) for at in probes) for part in parts if names(part) <= probes[0].keys())

    def left_side(self, values: Mapping[str, float]) -> float:
        """The left side at numbers."""
        return evaluate(self.sides[0], values)

    def right_side(self, values: Mapping[str, float]) -> float:
        """The right side at numbers."""
        return evaluate(self.sides[1], values)

    def violated(self, values: Mapping[str, float]) -> list[str]:
        """The requirements of its equations that these values break, as text."""
        return [one.text for one in self.unmet(values)]

    def unmet(self, values: Mapping[str, float]) -> list[Unmet]:
        """The same with whose they are, of which quantities, and what that means."""
        return [one for row in self.rows for one in row.unmet(values)]


def _names_in(*pairs: TreePair) -> set[str]:
    return {name for pair in pairs for side in pair for name in names(side)}
