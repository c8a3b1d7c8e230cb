"""Neutral defaults: factors that are 1 and terms that are 0, until something that was given says otherwise.

A default in force is put into the equations of a question, which then do not contain its quantity.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from functools import cache, lru_cache
from math import isclose, nan
from typing import Any

from derive.catalogue import equation
from derive.quantities import CONSTANTS, NEUTRAL_DEFAULTS
from derive.quantities.defaults import DEFAULTS, Default
from derive.records import HOLDS, Equation, in_place
from derive.solving.question.propagation import rows_behind

_ROWS = {row.quantity: row for row in DEFAULTS}
FOLLOWS = {name: row.follows for name, row in _ROWS.items() if row.follows}
"""Defaults that are what another quantity is: the first of these that is known or asked for."""

MEASURED = tuple(name for name, row in _ROWS.items() if row.measured)
"""Defaults that a measured result may contradict: it then says what they are. The others are put into the equations."""

PLAIN = frozenset(name for name, row in _ROWS.items() if row.plain)
"""Defaults that assume nothing: parts that a model does not have, and widths that are as all others."""

SHARES = tuple(name for name in MEASURED if _ROWS[name].ideal)
"""The shares of the peaks."""

IDEALS = {name: row.ideal for name, row in _ROWS.items() if row.ideal}
"""Defaults that nothing real betters, as bounds: a share of a peak is that at most, what takes time is that at least.

The others say what is served, and err neither way.
"""

DefaultValues = Mapping[str, float | str]
"""Defaults that stand: numbers, or the quantity that one follows, whatever that is."""

_Values = tuple[tuple[str, int | str], ...]
"""The default of each quantity: a number, or another quantity."""


def defaults_in_force(unknown: str, known: Set[str], claimed: Iterable[str] = (), made: Set[str] = frozenset()) -> DefaultValues:
    """Return the defaults in force beside the known quantities and the unknown. A quantity of a named equation has no default.

    A quantity that the chosen variants define (`made`) does not follow another one.

    As many microbatches are in flight as there are stages, the fewest that leave none idle, unless something given says
    how many. A step computes at least as many positions as it yields tokens.

    >>> defaults_in_force("throughput", {"pipeline_stages"})["microbatches"]
    'pipeline_stages'
    >>> "tokens_per_step" in defaults_in_force("throughput", {"draft_tokens"})
    False
    """
    at_hand = {*known, unknown}
    values = {row.quantity: _value_beside(row, at_hand, claimed, made) for row in DEFAULTS if row.quantity not in at_hand}
    said = {row.quantity for row in DEFAULTS if unknown not in row.follows and any(known >= {*names} for names in row.said_by)}
    defined = {row.quantity for row in DEFAULTS if row.gives_way and _gives_way(row, at_hand)}
    return {name: value for name, value in values.items() if value is not None and name not in said | defined}


def _value_beside(row: Default, at_hand: Set[str], claimed: Iterable[str], made: Set[str]) -> float | str | None:
    """Return the value of a default beside these quantities, or the quantity that it follows, or None if it has no value there."""
    followed = leading_quantity(row.quantity, at_hand) if row.follows else None
    if row.value is not None and at_hand.isdisjoint(row.beside) and not (row.about and at_hand.isdisjoint(row.about)):
        return None if row.quantity in claimed else followed or row.value
    only_follows = followed and row.quantity not in made and leading_quantity(row.quantity, at_hand - {*claimed})
    return followed if only_follows else None


def list_repeated(known: Mapping[str, float]) -> frozenset[str]:
    """Return the known quantities at their own default value. They add nothing to the default, unless it follows another quantity.

    >>> sorted(list_repeated({"sparse_layers": 0.0, "mfu": 1.0, "hop_latency": 1e-6}))
    ['sparse_layers']
    """
    own = NEUTRAL_DEFAULTS.keys() - {*MEASURED, *FOLLOWS}
    return frozenset(name for name, value in known.items() if name in own and NEUTRAL_DEFAULTS[name] == value)


def evaluate_defaults(defaults: DefaultValues, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return defaults as numbers or arrays beside these values. A default that follows an unknown quantity has no number.

    >>> evaluate_defaults({"chips": 1.0, "microbatches": "pipeline_stages"}, {"pipeline_stages": 4.0})
    {'chips': 1.0, 'microbatches': 4.0}
    >>> evaluate_defaults({"chips": 1.0, "microbatches": "pipeline_stages"}, {})
    {'chips': 1.0}
    """
    found = {name: values.get(value) if isinstance(value, str) else value for name, value in defaults.items()}
    return {name: value for name, value in found.items() if value is not None}


def leading_quantity(name: str, at_hand: Set[str]) -> str | None:
    """Return the known quantity that a default follows.

    >>> leading_quantity("uncached_tokens", {"new_tokens_per_pass", "context_length"}), leading_quantity("microbatches", {"chips"})
    ('new_tokens_per_pass', None)
    """
    if (beside := _ROWS[name].beside) and at_hand.isdisjoint(beside):
        return None
    if _ROWS[name].always or _have_each(_ROWS[name].worked_out_by, at_hand):
        return FOLLOWS[name][0]
    return next((other for other in FOLLOWS[name] if other in at_hand), None)


def equal_quantity(name: str, at_hand: Set[str]) -> str | None:
    """Return the quantity that a requested one equals by default: a known one, or else the first, unless the default gives way.

    >>> equal_quantity("training_chips", {"total_params"}), equal_quantity("training_chips", {"pipeline_stages"})
    ('chips', None)
    """
    return leading_quantity(name, at_hand) or (None if _gives_way(_ROWS[name], at_hand) else FOLLOWS[name][0])


def _gives_way(row: Default, at_hand: Set[str]) -> bool:
    """Return whether the definition of a quantity replaces its default."""
    return _have_each(row.gives_way, at_hand) and at_hand.isdisjoint(row.stays)


def _have_each(groups: tuple[tuple[str, ...], ...], at_hand: Set[str]) -> bool:
    """Return whether there are groups and one quantity of each is at hand."""
    return bool(groups) and all(not at_hand.isdisjoint(names) for names in groups)


def values_to_put_in(defaults: DefaultValues) -> _Values:
    """Return the defaults in force that are put into the equations.

    A default that follows another quantity follows it too where that one is worked out.
    """
    values: dict[str, int | str] = {n: v if isinstance(v, str) else int(v) for n, v in defaults.items() if n not in MEASURED}
    worked_out = {n: first for n, (first, *_) in FOLLOWS.items() if first not in defaults and not _ROWS[n].beside}
    values |= {n: first for n, first in worked_out.items() if isinstance(values.get(n), int)}
    values |= {first: 1 for n, (first, *_) in FOLLOWS.items() if n in values and _ROWS[n].together and first in defaults}
    return tuple(sorted(values.items()))


def with_defaults(row: Equation, values: Mapping[str, int | str]) -> Equation:
    """Return an equation with these default values put in. Quantities that then have no effect are dropped.

    >>> from derive.catalogue import equation
    >>> with_defaults(equation("scheduling.throughput"), {"microbatches": 1}).symbols
    ('throughput', 'batch', 'tokens_per_step', 'token_latency')
    """
    spoken = values.keys() & row.inputs
    return _put_values_in(row, tuple((name, values[name]) for name in sorted(spoken))) if spoken else row


@cache
def _put_values_in(row: Equation, some: _Values) -> Equation:
    """Return an equation without some of its quantities, at these values, as one object for equal arguments."""
    spoken = dict(some)
    # A single stage takes its hops along. Any number may stand for what is gone: at 1 a difference in a denominator may be 0.
    gone = dict.fromkeys(symbols_dropped(row, spoken), 2)
    # A requirement on what is gone says nothing of what is left.
    kept = [needed for needed in row.requires if gone.keys().isdisjoint(needed.names)]
    return replace(
        row,
        relation=in_place(row.relation, {name: gone.get(str(value), value) for name, value in spoken.items()} | gone),
        requires=tuple(replace(needed, holds=in_place(needed.holds, spoken)) for needed in kept),
        put_in=spoken,
    )


@lru_cache(maxsize=4096)
def restore_default(row: Equation, name: str) -> Equation:
    """Return an equation with one of its defaults as a quantity again.

    >>> from derive.catalogue import equation
    >>> row = with_defaults(equation("scheduling.throughput"), {"microbatches": 1})
    >>> restore_default(row, "microbatches").symbols == equation("scheduling.throughput").symbols
    True
    """
    others = {other: value for other, value in row.put_in.items() if other != name}
    return with_defaults(equation(row.id), others) if name in row.put_in else row


_POINTS = ((2.0, 1.3), (60.0, 0.8), (0.9, 0.9), (5e3, 0.4), (0.04, 2.5), (1e-3, 3.0), (300.0, 0.5))
"""Where a relation is tried: values of its quantities between these two numbers, which differ by powers of the second."""
_MOVES = (3.0, 1e3, 0.0)
"""By which factors a quantity is moved there: a little, and so far that any term of a maximum or minimum is the largest or the least."""


def defaults_behind(row: Equation, active: Iterable[Equation], at_hand: Set[str], waits: bool = False) -> tuple[str, ...]:
    """Return the defaults behind an equation that results may contradict, or the waiting times among them.

    None of a bound: what misses it need not be anything else than supposed.

    >>> from derive.catalogue import equation
    >>> defaults_behind(with_defaults(equation("roofline.kv_time"), {"kv_replication": 1}), (), set())
    ('kv_replication',)
    """
    if row.direction:
        return ()
    made = tuple({one.defines: one for one in active if one.defines}.values())
    spoken = {*row.put_in, *(name for one in rows_behind(row.symbols[1:], made) for name in one.put_in)}
    rows_of = (one for one in DEFAULTS if one.quantity in spoken and (one.waits if waits else one.found))
    return tuple(one.quantity for one in rows_of if not one.spoken or not at_hand.isdisjoint(one.spoken))


def symbols_dropped(row: Equation, spoken: Mapping[str, int | str]) -> tuple[str, ...]:
    """Return the quantities that disappear from an equation with a term of 0 or a ratio of 1: all, if both sides are then the same.

    Numbers at a few points show them, in a twentieth of the time that the algebra takes: quantities with which the right side moves at
    no point where it has a value. `spoken` has the quantities that are numbers there, or are called by another name.
    """
    places = [spoken.get(name, name) for name in row.parameters]
    free = [one for one in dict.fromkeys(places) if isinstance(one, str) and one not in CONSTANTS]
    fixed = {name: float(one.value) for name, one in CONSTANTS.items()} | {one: one for one in places if not isinstance(one, str)}
    dropped, alike = free[1:], free[0] in places[1:]
    for first, step in _POINTS:
        at: dict[int | str, float] = {**fixed, **{name: first * step ** (5 * place % 7) for place, name in enumerate(free)}}
        for factor in _MOVES if dropped or alike else ():
            sides = []
            for point in (at, *({**at, name: factor * at[name]} for name in dropped)):
                try:
                    sides.append(float(row.relation(*[point[one] for one in places])[1]))
                except (ArithmeticError, ValueError, TypeError):
                    # It has no value there.
                    sides.append(nan)
            here, *there = sides
            moved = [here == here and one == one and not isclose(one, here, rel_tol=HOLDS) for one in there]
            dropped = [name for name, has_moved in zip(dropped, moved, strict=True) if not has_moved]
            alike = alike and isclose(here, at[free[0]], rel_tol=HOLDS)
    return tuple(name for name in row.symbols if name in dropped or (alike and name not in spoken))
