"""Which way an answer errs: the bounds on its route carried through to it, as at least or at most.

A bound that is written as an equality leaves its left side more (or less) than what stands on the right. What rests on it
then errs one way too, as long as every quantity in between only rises or only falls with it. Whether it does is seen at
values drawn anywhere in the domains, far apart, so that what holds in one regime alone is not taken for all of it.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from math import isclose
from random import Random

from derive.quantities import quantity
from derive.records import ESTIMATE, LOWER, UPPER, Equation
from derive.roots import in_domain
from derive.routes import Leg, Route
from derive.solving import right_side_at

Signs = frozenset[int]
"""How far off something may be: +1 where it may be more, -1 where it may be less; both, or neither."""

NEITHER, EITHER = frozenset[int](), frozenset((1, -1))
SIGNS = {LOWER: frozenset((1,)), UPPER: frozenset((-1,))}

DRAWS, TRIES = 64, 640
"""How many draws a sign is taken from, and from how many of which not all meet what is required."""

FEWEST = 8
"""Below so many draws nothing is said of a sign."""

SAME = 1e-12
"""Share of a side up to which it has not moved but for rounding."""


@lru_cache(maxsize=4096)
def direction(way: Route) -> str | None:
    """Whether what a route comes to is at least ("lower") or at most ("upper") so much; None if neither, or exact.

    >>> from derive.catalogue import equation
    >>> from derive.routes import route
    >>> rows = tuple(map(equation, ("serving.plain_step_time", "serving.drafting_time")))
    >>> times = {"compute_time", "attention_time", "plain_weight_time", "kv_time"}
    >>> direction(route("draft_cost_ratio", rows, frozenset({*times, "draft_tokens", "drafting_time"})))
    'upper'
    """
    signs = carried(way)
    return next((name for name, one in SIGNS.items() if one == signs), None)


def carried(way: Route) -> Signs:
    """How far off what a route comes to may be: that of every leg from its own bounds, and from what it rests on."""
    off: dict[str, Signs] = {}
    for leg in way.legs:
        off[leg.unknown] = _of_leg(leg, way.solved - off.keys() - {*way.cancelled, leg.unknown}, off)
    return off[way.legs[-1].unknown]


def _of_leg(leg: Leg, inner: frozenset[str], off: Mapping[str, Signs]) -> Signs:
    """How far off the unknown of a leg may be; `inner` are the quantities that its block determines on the way."""
    causes = {row.id: _own(row) for row in leg.rows} | {name: off.get(name, NEITHER) for row in leg.rows for name in row.symbols}
    causes = {name: signs for name, signs in causes.items() if signs}
    if not causes:
        return NEITHER
    arranged = _arranged(leg.rows, inner)
    if arranged is None:
        return EITHER
    by_unknown = _moves(arranged, leg.unknown)
    if len(by_unknown) != 1:
        return EITHER
    # Where a cause lifts the one side over the other, the unknown has to bring it down again.
    lifted = frozenset(sign * move for name, signs in causes.items() for move in _moves(arranged, name) for sign in signs)
    return frozenset(-lift * move for lift in lifted for move in by_unknown)


def _own(row: Equation) -> Signs:
    return EITHER if row.kind == ESTIMATE else SIGNS.get(row.direction, NEITHER)


def _arranged(rows: tuple[Equation, ...], inner: frozenset[str]) -> tuple[Equation, ...] | None:
    """The equations so that each but the last gives its left side from those before; None where that cannot be."""
    left, missing, found = list(rows), {*inner} & {name for row in rows for name in row.symbols}, []
    while len(left) > 1:
        row = next((row for row in left if row.symbols[0] in missing and not row.inputs & missing), None)
        if row is None:
            return None
        left.remove(row)
        missing.remove(row.symbols[0])
        found.append(row)
    return None if missing else (*found, *left)


@lru_cache(maxsize=4096)
def _moves(rows: tuple[Equation, ...], cause: str) -> Signs:
    """Which ways left less right of the last equation moves as the cause grows: a quantity, or the right side of an equation by its id.

    Either where too few draws meet what is required, or none of them moves: what is not seen is not ruled out.
    """
    random = Random(0)
    moves = (_move(rows, cause, random) for _ in range(TRIES))
    seen = list(islice((move for move in moves if move is not None), DRAWS))
    return frozenset(seen) - {0} or EITHER if len(seen) >= FEWEST else EITHER


def _move(rows: tuple[Equation, ...], cause: str, random: Random) -> int | None:
    """The sign of the move from less to more of the cause, all else at random; None where an equation does not apply."""
    produced = {row.symbols[0] for row in rows[:-1]}
    values = {name: quantity(name).at(random.random()) for name in _names(rows) if name not in produced}
    shares = sorted((random.random(), random.random()))
    if cause in values:
        less, more = (_sides(rows, {**values, cause: quantity(cause).at(share)}, {}) for share in shares)
    else:
        less, more = (_sides(rows, values, {cause: 1 + share}) for share in shares)
    if less is None or more is None:
        return None
    left, right = (0.0 if isclose(*ends, rel_tol=SAME) else ends[1] - ends[0] for ends in zip(less, more, strict=True))
    return (left > right) - (left < right)


def _names(rows: Iterable[Equation]) -> dict[str, None]:
    return dict.fromkeys(name for row in rows for name in row.symbols)


def _sides(rows: tuple[Equation, ...], values: Mapping[str, float], factors: Mapping[str, float]) -> tuple[float, float] | None:
    """Both sides of the last equation, some right sides taken so many times; None where an equation does not apply."""
    known = dict(values)
    for row in rows:
        right = right_side_at(row, known) * factors.get(row.id, 1.0)
        if row is not rows[-1]:
            known[row.symbols[0]] = right
        if row.violated(known) or not in_domain(row.symbols[0], right):
            return None
    return known[rows[-1].symbols[0]], right
