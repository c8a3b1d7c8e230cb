"""Which way an answer errs: the bounds on its route carried through to it, as at least or at most.

A bound that is written as an equality leaves its left side more (or less) than what stands on the right. What rests on it
then errs one way too, as long as every quantity in between only rises or only falls with it. Whether it does is seen at
values drawn anywhere in the domains, far apart, so that what holds in one regime alone is not taken for all of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from math import inf, isclose
from random import Random
from typing import TYPE_CHECKING, Any

from derive.expressions.branches import regimes_of, sides_of
from derive.expressions.roots import in_domain
from derive.expressions.trends import trend
from derive.immutable import immutable
from derive.quantities import Quantity, quantity
from derive.records import ESTIMATE, LOWER, UPPER, Equation, right_side_at
from derive.requirements import HOLDS
from derive.solving.defaults import IDEALS, put_back
from derive.solving.questions import Question
from derive.solving.route import Leg, Route

if TYPE_CHECKING:
    import numpy as np

Signs = frozenset[int]
"""How far off something may be: +1 where it may be more, -1 where it may be less; both, or neither."""

Causes = frozenset[tuple[str, str]]
"""What errs besides the bounds: a quantity, or an equation by its id, with the direction of it."""

NEITHER, EITHER = frozenset[int](), frozenset((1, -1))
_SIGNS = {LOWER: frozenset((1,)), UPPER: frozenset((-1,))}

_ALL_WEIGHTS = ("roofline.weight_time", "batching.weight_compute_ratio")
"""Equations in which a step reads all weights: too many, where it is a few experts whose number is not known."""

_DRAWS, _TRIES = 64, 640
"""How many draws a sign is taken from, and from how many of which not all meet what is required."""

_FEWEST = 8
"""Below so many draws nothing is said of a sign."""

_SHARES = tuple(place / 48 for place in range(49))
NEAR, EDGE = (0.3, -0.3, 0.03, -0.03, 1e-3, -1e-3, 1e-5, -1e-5), 1e-7
"""Where between two roots it is looked which side is the larger: over all of the domain; beside them; and how close to none."""

_SAME = 1e-12
"""Share of it up to which the ratio of two sides has not moved but for rounding."""


@immutable(kw_only=False)
class _Drawn:
    """Quantities that are drawn, the equations that do not rest on a cause, and those that do, with the last."""

    quantities: tuple[Quantity, ...]
    aside: tuple[Equation, ...]
    resting: tuple[Equation, ...]


def taken_for_granted(asked: Question, way: Route, values: "Mapping[str, float | np.ndarray]") -> Causes:
    """What an answer rests on that can only be worse, or only better: ideals that stand by default, all weights read, limits.

    So is what a default was found to be instead, as far as that rests on such. What a table has as rated may be worse and better: an
    answer from it has no direction, but the side of a limit.
    """
    ideals = {name for name in IDEALS.keys() & asked.defaults.keys() - asked.known.keys() if name not in way.solved}
    if _on_one_chip(asked, way, values):
        # memory.most_kv_copies: one chip holds one copy.
        ideals.discard("kv_replication")
    read = _ALL_WEIGHTS if _more_than_active(values) else ()
    found = (cause for one in asked.instead for cause in one.causes if one.name not in way.solved)
    either = ((name, bound) for name in as_rated(asked.provenance) for bound in _SIGNS if not asked.limits)
    return frozenset([*((name, IDEALS[name]) for name in ideals), *((id, UPPER) for id in read), *asked.limits.items(), *either, *found])


def as_rated(provenance: Mapping[str, str]) -> list[str]:
    """Quantities of which a table has what they are rated at.

    >>> as_rated({"chip_power": "hardware.csv H100-SXM", "hbm_bandwidth": "hardware.csv H100-SXM"}), as_rated({"chip_power": "given"})
    (['chip_power'], [])
    """
    return [name for name, source in provenance.items() if source != "given" and quantity(name).rated]


def _on_one_chip(asked: Question, way: Route, values: "Mapping[str, Any]") -> bool:
    """Whether all that is asked is of one chip, given or because nothing is said of chips, at all of these values."""
    chips = values.get("chips", asked.known.get("chips", asked.defaults.get("chips")))
    alone = chips == 1
    return "chips" not in way.solved and (alone if isinstance(alone, bool) else bool(alone.all()))


def _more_than_active(values: "Mapping[str, Any]") -> bool:
    """Whether a model has more weights than a token uses, anywhere in these values, and its router is not known."""
    if not values.keys() >= {"total_params", "active_params"} or values.keys() >= {"experts", "active_experts"}:
        return False
    more = values["total_params"] > values["active_params"]
    return more if isinstance(more, bool) else bool(more.any())


@lru_cache(maxsize=4096)
def direction(way: Route, causes: Causes = frozenset()) -> str | None:
    """Whether what a route comes to is at least ("lower") or at most ("upper") so much; None if neither, or exact.

    >>> from derive.catalogue import equation
    >>> from derive.solving.route import route
    >>> rows = tuple(map(equation, ("serving.plain_step_time", "serving.drafting_time")))
    >>> times = {"compute_time", "attention_time", "plain_weight_time", "kv_time"}
    >>> direction(route("draft_cost_ratio", rows, frozenset({*times, "draft_tokens", "drafting_time"})))
    'upper'
    """
    return _named(carried(way, causes))


def direction_at(way: Route, causes: Causes, values: Mapping[str, float], roots: Sequence[float]) -> str | None:
    """The same at the values that a route led to: there it may be one thing where it is not so everywhere.

    `roots` are all that the unknown can be there, of which the values have one. Between two of them the sides differ one
    way, and the truth lies where they differ as the bounds have it.
    """
    if carried(way, causes) != EITHER or way.cancelled:
        return direction(way, causes)
    return _named(_carried(way, causes, lambda leg, rows, _: _crosses(rows, leg.unknown, values, roots if leg is way.legs[-1] else ())))


def _named(signs: Signs) -> str | None:
    return next((name for name, one in _SIGNS.items() if one == signs), None)


@lru_cache(maxsize=4096)
def left_to_values(way: Route, causes: Causes = frozenset()) -> tuple[tuple[Equation, ...], int]:
    """The equations of the last leg and which way bounds lift their last left side, where values alone say what that comes to.

    No equations, and 0, where that is said already or cannot be.
    """
    asked: list[tuple[tuple[Equation, ...], int]] = []

    def noted(leg: Leg, rows: tuple[Equation, ...], lifts: Signs) -> Signs:
        if leg is way.legs[-1]:
            (lift,) = lifts
            asked.append((rows, lift))
        return EITHER

    _carried(way, causes, noted)
    return asked[0] if asked and not way.cancelled else ((), 0)


@lru_cache(maxsize=4096)
def carried(way: Route, causes: Causes = frozenset()) -> Signs:
    """How far off what a route comes to may be: that of every leg from its own bounds, and from what it rests on."""
    return _carried(way, causes, lambda *_: EITHER)


def _carried(way: Route, causes: Causes, here: Callable[[Leg, tuple[Equation, ...], Signs], Signs]) -> Signs:
    """The same, with what moves its equation either way in general moving it as it does `here`."""
    off: dict[str, Signs] = {}
    for leg in way.legs:
        rows, lifts = _lifting(way, leg, off, {}, causes)
        if lifts == EITHER and (written := _written_out(way, leg, off)):
            # Two causes that go against each other in what was worked out before may not do so in what rests on it.
            rows, lifts = _lifting(way, leg, off, written, causes)
        moves = _moves(rows, leg.unknown) if rows and lifts else NEITHER
        moves = here(leg, rows, lifts) if rows and moves == EITHER and len(lifts) == 1 else moves
        # Where a cause lifts the one side over the other, the unknown has to bring it down again.
        certain = not lifts or (rows and len(moves) == 1)
        off[leg.unknown] = frozenset(-lift * move for lift in lifts for move in moves) if certain else EITHER
    return off[way.legs[-1].unknown]


def _written_out(way: Route, leg: Leg, off: Mapping[str, Signs]) -> dict[str, Leg]:
    """The legs by which what a leg rests on was worked out before, as far as that errs."""
    legs, found = {one.unknown: one for one in way.legs}, dict[str, Leg]()
    queue = [*leg.symbols]
    while queue:
        name = queue.pop()
        if name not in found and off.get(name):
            found[name] = legs[name]
            queue += legs[name].symbols
    return found


def _lifting(
    way: Route, leg: Leg, off: Mapping[str, Signs], written: Mapping[str, Leg], causes: Causes
) -> tuple[tuple[Equation, ...], Signs]:
    """The equations of a leg so that its left sides can be worked out, and how its causes lift the last left side over the right.

    No equations where they cannot be arranged so; what is `off` is what was worked out before, some of it by the legs that
    are `written` out.
    """
    legs = tuple(dict.fromkeys(row for one in (*written.values(), leg) for row in one.rows))
    errs = {row.id: _own(row) for row in legs}
    errs |= {name: off.get(name, NEITHER) for row in legs for name in row.symbols if name not in written}
    for cause, bound in causes:
        if any(cause in (row.id, *row.symbols, *row.put_in) for row in legs):
            errs[cause] = errs.get(cause, NEITHER) | _SIGNS[bound]
    errs = {name: signs for name, signs in errs.items() if signs}
    if not errs:
        return (), NEITHER
    rows = _arranged(legs, (way.solved - off.keys() - {*way.cancelled, leg.unknown}) | written.keys())
    if rows is None:
        return (), EITHER
    lifts: set[int] = set()
    for name, signs in errs.items():
        lifts |= {sign * move for move in _moves(rows, name) for sign in signs}
        if lifts >= EITHER:
            # What follows can add nothing, and may take hundreds of draws.
            break
    return rows, frozenset(lifts)


def _crosses(rows: tuple[Equation, ...], unknown: str, values: Mapping[str, float], roots: Sequence[float]) -> Signs:
    """Which way left less right of the last equation goes through 0 at the unknown's value; either where that is not seen.

    It has to have one sign between any two roots, and another beyond each: else there is more to it than these roots.
    """
    if not _names(rows).keys() <= {*values, *(row.symbols[0] for row in rows)}:
        return EITHER
    root, ends = values[unknown], sorted({values[unknown], *roots})
    below, above = ends[: ends.index(root)], ends[ends.index(root) + 1 :]
    seen = [_between(rows, unknown, values, low, high) for low, high in pairwise([0.0, *ends, inf])]
    sides = seen[len(below)], seen[len(seen) - 1 - len(above)]
    if any(one == EITHER for one in seen) or not any(sides) or sides[0] == sides[1]:
        return EITHER
    return sides[1] or frozenset(-sign for sign in sides[0])


def _between(rows: tuple[Equation, ...], unknown: str, values: Mapping[str, float], low: float, high: float) -> Signs:
    """The signs of left less right of the last equation between two values of the unknown, as far as it applies there."""
    produced = {row.symbols[0] for row in rows[:-1]}
    rest = {name: value for name, value in values.items() if name not in produced}
    near = (end * (1 + step) for end in (low, high) if 0 < end < inf for step in NEAR)
    looked_at = (place for place in (*places(unknown), *near) if low * (1 + EDGE) < place < high * (1 - EDGE))
    sides = (_sides(rows, {**rest, unknown: place}, {}) for place in looked_at if place <= quantity(unknown).ceiling)
    return frozenset(1 if left > right else -1 for left, right in filter(None, sides) if not isclose(left, right, rel_tol=HOLDS))


def places(unknown: str) -> list[float]:
    """Values of a quantity over all of its domain.

    >>> [f"{place:.3g}" for place in places("batch")][:3], places("mfu")[-1]
    (['0.01', '0.0162', '0.0261'], 1.0)
    """
    least, most = quantity(unknown).limits()
    return [least * (most / least) ** share if least > 0 else least + share * (most - least) for share in _SHARES]


def _own(row: Equation) -> Signs:
    return EITHER if row.kind == ESTIMATE else _SIGNS.get(row.direction, NEITHER)


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
    """Which ways left over right of the last equation moves as the cause grows: a quantity, or the right side of an equation by its id.

    Either where too few draws meet what is required, or none of them moves: what is not seen is not ruled out.
    """
    inner = frozenset(row.symbols[0] for row in rows[:-1])
    # What a default took along comes back with it, and may be worked out further on.
    arranged = _arranged(tuple(put_back(row, cause) for row in rows), inner)
    if arranged is None:
        return EITHER
    rows = arranged
    if not any(cause in (row.id, *row.symbols) for row in rows):
        # What was put in went with another default: the hops of a single stage.
        return NEITHER
    if written := _as_written(rows, cause):
        return frozenset((written,))
    random, draws = Random(0), _drawn_for(rows, cause)
    moves = (_move(draws, cause, random) for _ in range(_TRIES))
    seen: list[int] = []
    for move in islice((move for move in moves if move is not None), _DRAWS):
        seen.append(move)
        if {*seen} >= EITHER:
            break
    if len(seen) < _FEWEST:
        return EITHER
    # Without regimes, what does not move at any draw moves nowhere: it cancels.
    return frozenset(seen) - {0} or (NEITHER if all(len(regimes_of(row)) == 1 for row in rows) else EITHER)


def _as_written(rows: tuple[Equation, ...], cause: str) -> int | None:
    """The same read off the formulas: 1 or -1; 0 or None where they do not say."""
    trends = {cause: 1}
    for row in rows:
        right = trend(sides_of(row)[1], trends)
        if row.id == cause:
            right = 1 if right in (0, 1) else None
        if right is None:
            return None
        if row is rows[-1]:
            left = trends.get(row.symbols[0], 0)
            return left or -right if left != right else None
        trends[row.symbols[0]] = right
    return None


def _drawn_for(rows: tuple[Equation, ...], cause: str) -> _Drawn:
    """What is drawn for equations, and which of them rest on the cause; the last one is looked at on either side."""
    produced, touched = {row.symbols[0] for row in rows[:-1]}, {cause}
    resting = []
    for row in rows:
        if row.id == cause or row is rows[-1] or not touched.isdisjoint(row.symbols):
            resting.append(row)
            touched.add(row.symbols[0])
    drawn = tuple(quantity(name) for name in _names(rows) if name not in produced)
    return _Drawn(drawn, tuple(row for row in rows if row not in resting), tuple(resting))


def _move(draws: _Drawn, cause: str, random: Random) -> int | None:
    """The sign of the move from less to more of the cause, all else at random; None where an equation does not apply."""
    values = {row.name: row.at(random.random()) for row in draws.quantities}
    shares = sorted((random.random(), random.random()))
    if _worked_out(draws.aside, values, {}) is None:
        return None
    if cause in values:
        less, more = (_sides(draws.resting, {**values, cause: quantity(cause).at(share)}, {}) for share in shares)
    else:
        less, more = (_sides(draws.resting, values, {cause: 1 + share}) for share in shares)
    if less is None or more is None:
        return None
    # Of sides that are not below 0, the ratio: what both are multiplied by moves neither over the other. Over nothing, the left alone.
    before, after = (less[0] * more[1], more[0] * less[1]) if less[1] or more[1] else (less[0], more[0])
    if min(*less, *more) < 0:
        before, after = less[0] - less[1], more[0] - more[1]
    return 0 if isclose(before, after, rel_tol=_SAME) else 1 if after > before else -1


def _names(rows: Iterable[Equation]) -> dict[str, None]:
    return dict.fromkeys(name for row in rows for name in row.symbols)


def _sides(rows: tuple[Equation, ...], values: Mapping[str, float], factors: Mapping[str, float]) -> tuple[float, float] | None:
    """Both sides of the last equation, some right sides taken so many times; None where an equation does not apply."""
    known, last = dict(values), rows[-1]
    if _worked_out(rows[:-1], known, factors) is None:
        return None
    right = right_side_at(last, known) * factors.get(last.id, 1.0)
    if not last.applies(known) or not in_domain(last.symbols[0], right):
        return None
    return known[last.symbols[0]], right


def _worked_out(rows: tuple[Equation, ...], known: dict[str, float], factors: Mapping[str, float]) -> dict[str, float] | None:
    """Puts the left sides of equations among the known values, one after another; None where one does not apply."""
    for row in rows:
        right = known[row.symbols[0]] = right_side_at(row, known) * factors.get(row.id, 1.0)
        if not row.applies(known) or not in_domain(row.symbols[0], right):
            return None
    return known
