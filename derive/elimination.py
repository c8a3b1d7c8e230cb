"""Several equations brought to one in a single unknown: the others are put in or solved for, and drop out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from inspect import signature
from random import Random
from typing import TYPE_CHECKING, Any

from derive.blocks import Structure
from derive.compiled import evaluate
from derive.quantities import quantity, symbol
from derive.records import Equation
from derive.regimes import closed_forms, regimes

if TYPE_CHECKING:
    from sympy import Expr, Rel, Symbol

    Pair = tuple[Expr, Expr]
    Pairs = tuple[Pair, ...]

DRAWS = 8
"""How often a quantity is changed at random to see whether anything depends on it."""


@dataclass(frozen=True, eq=False)
class Joint:
    """One equation that follows from several, to be solved like one of the catalogue; `cancelled` dropped out of it.

    `sides` are left and right; where the left is no single quantity it is 1, and the right the ratio of both.
    """

    rows: tuple[Equation, ...]
    sides: "Pair"
    cancelled: tuple[str, ...] = ()
    sense: str = "="

    @property
    def id(self) -> str:
        """The ids of the equations it follows from."""
        *others, last = (row.id for row in self.rows)
        return f"{', '.join(others)} and {last} together"

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the quantities that are left, that on the left side first."""
        left, right = self.sides
        names = sorted(part.name for part in left.free_symbols | right.free_symbols)
        return tuple(sorted(names, key=lambda name: symbol(name) != left))

    @cached_property
    def requires(self) -> "tuple[Callable[..., Any], ...]":
        """The requirements of its equations on what is left in it."""
        needed = (requirement for row in self.rows for requirement in row.requires)
        return tuple(one for one in needed if {*signature(one).parameters} <= {*self.symbols})

    def left_side(self, values: dict[str, float]) -> float:
        """The left side at numbers."""
        return evaluate(self.sides[0], values)

    def right_side(self, values: dict[str, float]) -> float:
        """The right side at numbers."""
        return evaluate(self.sides[1], values)

    def requirements(self) -> "tuple[Rel, ...]":
        """The same as SymPy relations."""
        return tuple(needed(*map(symbol, signature(needed).parameters)) for needed in self.requires)

    def violated(self, values: dict[str, float]) -> list[str]:
        """The requirements of its equations that these values break, as text."""
        return [text for row in self.rows for text in row.violated(values)]


@lru_cache(maxsize=512)
def joint(structure: Structure, unknown: str) -> tuple[Joint, ...]:
    """The equations of a block as one in the unknown: several where it takes cases, none where it does not work out.

    What is left free must cancel, else there is none.
    """
    return tuple(case for sides in _as_one(structure, unknown) if (case := _without(structure, unknown, sides)))


@lru_cache(maxsize=512)
def that_cancel(structure: Structure, unknown: str) -> frozenset[str]:
    """What is left free and changes nothing, whatever the rest of what is left free is."""
    cases = list(_as_one(structure, unknown))
    return frozenset(name for name in structure.free if cases and all(_cancels(sides, name) for sides in cases))


def _as_one(structure: Structure, unknown: str) -> "Iterator[Pair]":
    others = frozenset(symbol(name) for name in structure.names if name != unknown)
    return map(_one_sided, _reduced(tuple(row.sides for row in structure.rows), others, symbol(unknown)))


def _one_sided(pair: "Pair") -> "Pair":
    from sympy import Integer

    left, right = pair
    return pair if left.is_Symbol else (Integer(1), right / left)


def _without(structure: Structure, unknown: str, sides: "Pair") -> Joint | None:
    """The equation without what is left free, if that can be anything; and only if the unknown is still there."""
    from sympy import Integer

    left, right = sides
    free = tuple(name for name in structure.free if symbol(name) in left.free_symbols | right.free_symbols)
    if not all(_cancels(sides, name) for name in free):
        return None
    left, right = (side.xreplace({symbol(name): Integer(1) for name in free}) for side in sides)
    if symbol(unknown) not in left.free_symbols | right.free_symbols or _cancels((left, right), unknown):
        return None
    return Joint(structure.rows, (left, _over_one_line(right)), structure.free)


def _over_one_line(expression: "Expr") -> "Expr":
    """A smooth expression as one fraction, common factors cancelled; one with a Max stays as it is."""
    from sympy import Max, Min, cancel, factor_terms, fraction

    if expression.has(Max, Min):
        return expression
    numerator, denominator = fraction(cancel(expression))
    return factor_terms(numerator) / factor_terms(denominator)


def _cancels(sides: "Pair", name: str) -> bool:
    """Whether left over right stays the same whatever the quantity is, at random values of the others."""
    left, right = sides
    names = sorted(part.name for part in left.free_symbols | right.free_symbols)
    random = Random(0)
    for _ in range(DRAWS):
        values = {other: _drawn(random, other) for other in names}
        ratios = [evaluate(left / right, {**values, name: _drawn(random, name)}) for _ in range(2)]
        if not abs(ratios[0] - ratios[1]) <= 1e-9 * abs(ratios[0]):
            return False
    return True


def _drawn(random: Random, name: str) -> float:
    row = quantity(name)
    return random.uniform(row.low, row.high) if row.low == 0 else row.low * (row.high / row.low) ** random.random()


def _reduced(pairs: "Pairs", others: "frozenset[Symbol]", unknown: "Symbol") -> "Iterator[Pair]":
    """The pairs with every other unknown eliminated, one after another; a Max is cut into its regimes when nothing else works."""
    if not others:
        if len(pairs) == 1 and unknown in pairs[0][0].free_symbols | pairs[0][1].free_symbols:
            yield pairs[0]
        return
    if found := next(_solvable(pairs, others), None):
        place, name, value = found
        rest = (pair for at, pair in enumerate(pairs) if at != place)
        yield from _reduced(
            tuple((left.xreplace({name: value}), right.xreplace({name: value})) for left, right in rest), others - {name}, unknown
        )
        return
    place = next((place for place, pair in enumerate(pairs) if len(_smooth(pair)) > 1), None)
    for smooth in () if place is None else _smooth(pairs[place]):
        yield from _reduced((*pairs[:place], smooth, *pairs[place + 1 :]), others, unknown)


def _smooth(pair: "Pair") -> "Pairs":
    """The regimes of a pair."""
    left, right = pair
    return tuple((low.expression, high.expression) for low in regimes(left) for high in regimes(right))


def _solvable(pairs: "Pairs", others: "frozenset[Symbol]") -> "Iterator[tuple[int, Symbol, Expr]]":
    """Where an unknown can be had: definitions first, the shortest of them, then what has one closed form."""
    explicit = [
        (right.count_ops(), place, left, right)
        for place, (left, right) in enumerate(pairs)
        if left in others and left not in right.free_symbols
    ]
    for _, place, left, right in sorted(explicit, key=lambda found: found[:2]):
        yield place, left, right
    for place, pair in sorted(enumerate(pairs), key=lambda found: found[1][1].count_ops()):
        if len(_smooth(pair)) > 1:
            continue
        left, right = pair
        for name in sorted(others & (left.free_symbols | right.free_symbols), key=str):
            roots = closed_forms(left - right, name)
            if roots is not None and len(roots) == 1:
                yield place, name, roots[0]
