"""A step of a derivation held to its word: exactly within each regime, at random points across them, and in need of
every one of its premises.

The premises of a step are relations. They are put in an order in which each can be solved for a quantity that none
before it holds; the rest is drawn from the registry's ranges. At the points so found the conclusion must hold; and in
each combination of regimes they fall in, it must hold identically.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy

from derive.expressions.sympy_solver import solve_smooth
from derive.quantities import CONSTANTS, quantity, symbol
from derive.records import argument_names
from derive.show.entry import owner
from tests.tools.draws import draw, in_force, value_at
from tests.tools.regimes import regimes

DRAWS, KEPT, ROUNDS = 1000, 200, 60
FOLLOWS, BROKEN = 1e-9, 1e-3


class DoesNotFollow(AssertionError):
    """A step whose conclusion is not what its premises give."""


@dataclass(frozen=True)
class Solved:
    """One relation, to be solved for one quantity: by regime, the closed forms of it."""

    difference: sympy.Expr
    unknown: sympy.Symbol
    forms: tuple[tuple[sympy.Expr, ...] | None, ...]


def in_sympy(relation):
    """Both sides of a relation, without the trees of the project, with constants as exact integers."""
    left, right = relation(*map(_symbol_or_number, argument_names(relation)))
    return left + sympy.Integer(0), right + sympy.Integer(0)


def _symbol_or_number(name):
    return sympy.Integer(CONSTANTS[name].value) if name in CONSTANTS else symbol(name)


def conclusion(row, number):
    """The conclusion of a step in SymPy."""
    relation = row.steps[number - 1].relation
    return in_sympy(row.relation if relation is None else relation)


def premise_sides(row, premise):
    """The relation of a premise at its point in SymPy."""
    source, number = owner(row, premise)
    point = {symbol(name): _expression(value) for name, value in premise.point.items()}
    left, right = conclusion(source, number) if number else in_sympy(source.relation)
    return left.subs(point, simultaneous=True), right.subs(point, simultaneous=True)


def assumed(row, number):
    """The relations that a step starts from: of a stationary step the slopes that are zero."""
    step = row.steps[number - 1]
    found = tuple(premise_sides(row, premise) for premise in step.premises)
    if not step.stationary:
        return found
    ((_, right),) = found
    return tuple((sympy.Integer(0), sympy.diff(right, symbol(name))) for name in step.stationary)


def _expression(value):
    if callable(value):
        return value(*map(_symbol_or_number, argument_names(value)))
    return symbol(value) if isinstance(value, str) else sympy.Integer(value)


def check(row, number: int, seed: int = 20260429) -> None:
    """Raises `DoesNotFollow` unless step `number` of the equation follows from all its premises and from no fewer."""
    step, relations = row.steps[number - 1], assumed(row, number)
    left, right = conclusion(row, number)
    claim = left - right
    _names_are_in_order(row, number, relations, claim)
    if not step.premises:
        return
    points = _points(relations, row.requires, claim, seed)
    error = _error(left, right, points)
    if not error.max() <= FOLLOWS:
        raise DoesNotFollow(f"{row.id} step {number}: the relation is off by {error.max():.2g} of itself")
    _exactly(row, number, relations, claim, points)
    for place in range(len(relations)):
        rest = relations[:place] + relations[place + 1 :]
        elsewhere = _points(rest, row.requires, claim, seed)
        # Away from the premises what is concluded may be beyond any number.
        with np.errstate(over="ignore", invalid="ignore"):
            error = _error(left, right, elsewhere)
        if error.max() < BROKEN:
            raise DoesNotFollow(f"{row.id} step {number} holds without its premise {place + 1}")


def _names_are_in_order(row, number, relations, claim) -> None:
    step = row.steps[number - 1]
    held = {part.name for sides in relations for side in sides for part in side.free_symbols}
    concluded = {part.name for part in claim.free_symbols}
    gone = set(step.eliminated) | set(step.stationary)
    if step.premises and not concluded <= held:
        raise DoesNotFollow(f"{row.id} step {number} speaks of {sorted(concluded - held)}, which no premise holds")
    if not set(step.eliminated) <= held - concluded:
        raise DoesNotFollow(f"{row.id} step {number} does not eliminate {sorted(gone - (held - concluded))}")
    if len(relations) > 1 and not gone:
        raise DoesNotFollow(f"{row.id} step {number} joins {len(relations)} relations and eliminates nothing")


# -- points that satisfy the premises -------------------------------------------------------------------------------


def _points(relations, requires, claim, seed) -> dict[str, np.ndarray]:
    """Values of every quantity at which all relations hold, inside the domains and the requirements."""
    way = _way(relations)
    solved = {one.unknown for one in way}
    names = {part for sides in relations for side in sides for part in side.free_symbols} | claim.free_symbols
    drawn = sorted(part.name for part in names - solved)
    rng, kept, count = np.random.default_rng(seed), [], 0
    for _ in range(ROUNDS):
        values = {name: draw(rng, name, DRAWS) for name in drawn}
        with np.errstate(all="ignore"):
            for one in way:
                values[one.unknown.name] = _root(one, values)
            inside = np.ones(DRAWS, dtype=bool)
            for name, found in values.items():
                ceiling = quantity(name).ceiling
                inside &= np.isfinite(found) & (found >= 0) & (found <= ceiling)
            for needed in requires:
                if values.keys() >= {*needed.names}:
                    inside &= needed.compared(values)
        kept.append({name: found[inside] for name, found in values.items()})
        count += int(inside.sum())
        if count >= KEPT:
            return {name: np.concatenate([part[name] for part in kept])[:KEPT] for name in values}
    raise DoesNotFollow(f"only {count} of {KEPT} points satisfy the premises")


def _way(relations) -> list[Solved]:
    """The relations in an order in which each has a quantity that none before it holds, and that quantity.

    One that can be solved in all its regimes is put last first: it leaves the others their own quantities.
    """
    lefts = {left - right: left for left, right in relations}
    waiting, way = [left - right for left, right in relations], []
    while waiting:
        best = None
        for one in (one for difference in waiting for one in _own(difference, waiting, lefts[difference])):
            best = best or one
            if all(one.forms):
                best = one
                break
        if best is None:
            raise DoesNotFollow(f"the premises cannot be solved one after another: {waiting}")
        waiting.remove(best.difference)
        way.insert(0, best)
    return way


def _own(difference, waiting, left) -> Iterator[Solved]:
    """A relation solved for each quantity that no other one holds, its left side first."""
    others = {part for other in waiting if other is not difference for part in other.free_symbols}
    for unknown in sorted(difference.free_symbols - others, key=lambda part: (part != left, part.name)):
        found = _solved(difference, unknown)
        if found:
            yield found


def _solved(difference, unknown) -> Solved | None:
    forms = tuple(solve_smooth(one.expression, unknown) if one.expression.has(unknown) else () for one in regimes(difference))
    return Solved(difference, unknown, forms) if all(form is not None for form in forms) and any(forms) else None


def _root(one: Solved, values) -> np.ndarray:
    """The root, of those of all regimes, that solves the whole relation; not a number where there is none."""
    found = np.full(DRAWS, np.nan)
    for form in (root for forms in one.forms for root in forms):
        candidate = value_at(form, values)
        there = {**values, one.unknown.name: candidate}
        terms = sum(abs(value_at(term, there)) for term in sympy.Add.make_args(one.difference))
        holds = abs(value_at(one.difference, there)) <= 1e-10 * terms
        found = np.where(np.isnan(found) & holds & (candidate >= 0), candidate, found)
    return found


def _error(left, right, points) -> np.ndarray:
    """How far a relation is from holding, relative to its largest term: a difference of large terms keeps fewer digits."""
    ours, theirs = value_at(left, points), value_at(right, points)
    terms = [abs(value_at(term, points)) for term in sympy.Add.make_args(sympy.expand(right))]
    return np.nan_to_num(abs(ours - theirs) / np.maximum.reduce([abs(ours), *terms]), nan=0.0)


# -- exactly --------------------------------------------------------------------------------------------------------


def _exactly(row, number, relations, claim, points) -> None:
    """The conclusion is an identity in every combination of regimes that the points fall in, and they fall in all of its own."""
    way, own = _way(relations), regimes(claim)
    parts = [regimes(one.difference) for one in way]
    places = np.array([_active(part, points) for part in [*parts, own]])
    for combination in {tuple(column) for column in places.T}:
        *chosen, last = combination
        first = int(np.nonzero((np.array(combination) == places.T).all(axis=1))[0][0])
        here = {name: float(found[first]) for name, found in points.items()}
        difference = own[last].expression
        for one, part, place in reversed(list(zip(way, parts, chosen, strict=True))):
            roots = solve_smooth(part[place].expression, one.unknown) if part[place].expression.has(one.unknown) else ()
            form = min(roots, key=lambda root: abs(float(root.subs(_numbers(root, here))) - here[one.unknown.name]))
            difference = difference.subs(one.unknown, form)
        if not _is_zero(difference):
            raise DoesNotFollow(f"{row.id} step {number} is no identity where {own[last].label or 'smooth'}: {difference}")
    missed = set(range(len(own))) - set(places[-1])
    if missed:
        raise DoesNotFollow(f"{row.id} step {number}: no point where {[own[place].label for place in missed]}")


def _numbers(expression, here):
    return {part: here[part.name] for part in expression.free_symbols}


def _active(part, points) -> np.ndarray:
    """Which regime each point lies in."""
    found = np.zeros(len(next(iter(points.values()))), dtype=int)
    for place, regime in enumerate(part):
        found = np.where(in_force(regime, points), place, found)
    return found


def _is_zero(difference) -> bool:
    return sympy.cancel(sympy.together(difference)) == 0 or sympy.simplify(difference) == 0
