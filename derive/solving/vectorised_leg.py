"""One leg of a route at arrays of values: what its equations give there, each root by itself."""

from collections.abc import Iterator, Mapping

import numpy as np

from derive.expressions.branches import branches
from derive.quantities import quantity
from derive.records import Equation
from derive.requirements import HOLDS, named
from derive.solving.blocks import Joint
from derive.solving.one_equation import met_along, points
from derive.solving.route import Leg

Arrays = Mapping[str, "np.ndarray | float"]


class NoClosedForm(Exception):
    """A leg of a route whose unknown has to be searched for."""


def at_leg(leg: Leg, world: Arrays) -> "Iterator[np.ndarray]":
    """What a leg comes to, each root by itself."""
    first = leg.cases[0]
    if isinstance(first, Equation) and first.symbols[0] == leg.unknown:
        found = within_domain(leg.unknown, np.asarray(first.right_side(world), dtype=float))
        yield found if not first.requires else np.where(meets(first, {**world, leg.unknown: found}), found, np.nan)
        return
    if any(case.open or case.idle or branch.roots is None for case in leg.cases for branch in branches(case, leg.unknown)):
        raise NoClosedForm(f"{leg.id} has no closed form for {leg.unknown}")
    roots = [_roots(case, leg.unknown, world) for case in leg.cases]
    shape = np.broadcast_shapes(*(rows.shape[1:] for rows in roots))
    yield from _each_root(np.stack([np.broadcast_to(row, shape) for rows in roots for row in rows]))


def within_domain(name: str, found: "np.ndarray") -> "np.ndarray":
    """The values where the quantity may have them, NaN elsewhere; one that passes a limit by rounding stands at it."""
    row = quantity(name)
    if row.ceiling < np.inf:
        found = np.where((found > row.ceiling) & (found <= row.ceiling * (1 + HOLDS)), row.ceiling, found)
    if row.floor:
        found = np.where((found < row.floor) & (found >= row.floor * (1 - HOLDS)), row.floor, found)
    low, high = np.nanmin(found, initial=np.inf), np.nanmax(found, initial=-np.inf)
    if (low > 0 or row.may_be_zero) and low >= row.floor and high <= row.ceiling and np.isfinite(high):
        return found
    inside = ((found != 0) | row.may_be_zero) & (found >= row.floor) & (found <= row.ceiling) & np.isfinite(found)
    return np.where(inside, found, np.nan)


def _roots(case: Equation | Joint, unknown: str, world: Arrays) -> "np.ndarray":
    """The points of one equation; none where it holds without the unknown, of which then only bounds are known."""
    return points(case, unknown, {name: world[name] for name in case.symbols if name != unknown})


def _each_root(found: "np.ndarray") -> "Iterator[np.ndarray]":
    """Rows of distinct roots, the smallest first; a root that several closed forms give counts once."""
    ordered = np.sort(found, axis=0)
    again = np.abs(np.diff(ordered, axis=0)) <= HOLDS * np.abs(ordered[1:])
    ordered[1:][again] = np.nan
    ordered = np.sort(ordered, axis=0)
    yield ordered[0]
    yield from (row for row in ordered[1:] if not np.isnan(row).all())


def meets(equation: Equation, world: Arrays) -> "np.ndarray":
    """Where the requirements of an equation hold, as far as its quantities are known."""
    met = [met_along(needed, world) for needed in equation.requires if all(name in world for name in named(needed))]
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*(met or [np.asarray(True)]))))
