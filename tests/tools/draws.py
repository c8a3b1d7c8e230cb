"""Random assignments that satisfy an equation, inside the declared domains: shared by the property tests."""

from collections.abc import Iterator

import numpy as np
from sympy import Expr

from derive.expressions.sympy_solver import SmoothRegime
from derive.quantities import quantity
from derive.records import Equation
from tests.tools.compiled import vectorised
from tests.tools.regimes import regimes


def assignments(equation: Equation, count: int, seed: int) -> dict[str, np.ndarray]:
    """Arrays for every quantity of the equation: all but the left side drawn log-uniformly, the left side computed."""
    rng = np.random.default_rng(seed)
    kept: list[dict[str, np.ndarray]] = []
    found = 0
    for _ in range(400):
        drawn = {name: draw(rng, name, 4 * count) for name in equation.symbols[1:]}
        left = equation.symbols[0]
        with np.errstate(all="ignore"):
            base = np.broadcast_to(equation.right_side(drawn), (4 * count,)).astype(float)
            drawn[left] = base
            if equation.sense != "=":
                away = np.exp(rng.uniform(0, 3, 4 * count))
                drawn[left] = drawn[left] * (away if equation.sense == ">=" else 1 / away)
            row = quantity(left)
            inside = np.isfinite(drawn[left]) & (drawn[left] > 0) & (drawn[left] >= row.floor) & (drawn[left] <= row.ceiling)
            # What has no effect in double precision cannot be asked back: all experts activated say nothing of the batch.
            for here, names in _regimes_at(equation, drawn):
                moved = [equation.right_side({**drawn, name: drawn[name] * 1.01}) != base for name in names]
                inside &= ~here | np.all(moved, axis=0)
            for requirement in equation.requires:
                inside &= requirement.compared(drawn)
        kept.append({name: array[inside] for name, array in drawn.items()})
        found += int(inside.sum())
        if found >= count:
            return {name: np.concatenate([part[name] for part in kept])[:count] for name in equation.symbols}
    raise AssertionError(f"{equation.id}: only {found} of {count} draws meet its requirements")


def _regimes_at(equation: Equation, drawn: dict[str, np.ndarray]) -> Iterator[tuple[np.ndarray, list[str]]]:
    """Where each regime is in force, and the quantities that it holds."""
    parts = regimes(equation.sides[1])
    for regime in parts:
        held = {part.name for part in regime.expression.free_symbols}
        yield in_force(regime, drawn), [name for name in equation.symbols[1:] if name in held or len(parts) == 1]


def in_force(regime: SmoothRegime, values: dict[str, np.ndarray]) -> np.ndarray:
    """Whether each point lies in a regime."""
    inside = np.ones_like(next(iter(values.values())), dtype=bool)
    for larger, smaller in regime.wins:
        inside &= value_at(larger, values) >= value_at(smaller, values)
    return inside


def value_at(expression: Expr, values: dict[str, np.ndarray]) -> np.ndarray:
    """An expression at every point."""
    names = sorted(part.name for part in expression.free_symbols)
    found = vectorised(expression, tuple(names))(*(values[name] for name in names))
    return np.broadcast_to(np.asarray(found, dtype=float), next(iter(values.values())).shape)


def draw(rng: np.random.Generator, name: str, count: int) -> np.ndarray:
    """Values of a quantity in its range in practice, drawn log-uniformly unless it may be 0."""
    row = quantity(name)
    if row.low == 0:
        return rng.uniform(row.low, row.high, count)
    return np.exp(rng.uniform(np.log(row.low), np.log(row.high), count))
