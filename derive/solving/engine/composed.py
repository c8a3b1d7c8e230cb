"""Several equations as one: the closing equation of a loop, or a bound, with what its quantities are made of put in."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from derive.evaluate import evaluate
from derive.immutable import immutable
from derive.records import Equation, Unmet
from derive.requirements import Requirement, named
from derive.trees import TreePair, names

if TYPE_CHECKING:
    from derive.solving.engine.plan import Leg

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
    closing: "Equation | Composed | None" = None
    steps: "tuple[Leg, ...]" = ()
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
        return tuple(one for one in needed if {*named(one)} <= {*self.symbols})

    def left_side(self, values: Mapping[str, float]) -> float:
        """Return the left side at numbers."""
        return evaluate(self.trees[0], values)

    def right_side(self, values: Mapping[str, float]) -> float:
        """Return the right side at numbers."""
        return evaluate(self.trees[1], values)

    def violated(self, values: Mapping[str, float]) -> list[str]:
        """Return the requirements of its equations that these values break, as text."""
        return [one.text for one in self.unmet(values)]

    def unmet(self, values: Mapping[str, float]) -> list[Unmet]:
        """Return the same as records."""
        return [one for row in self.rows for one in row.unmet(values)]
