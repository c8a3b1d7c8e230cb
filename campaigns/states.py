"""Consistent states of the whole catalogue, with which answers to questions about them are compared.

A state has a value for every quantity that the definitions and bounds speak of, one variant of each group, so that all
that is chained by itself holds; conditions that were drawn hold too and are named in the question.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, isclose, isfinite, isnan, log, nan
from random import Random

from derive.catalogue import by_id, equation
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.quantities.defaults import DEFAULTS
from derive.records import CHAINED_BY_ITSELF, Equation, right_side_at
from derive.solving.engine.one_equation import residual
from derive.solving.question.defaults import defaults_in_force, values_to_put_in

SAME_VARIANT = ("kv_bytes_per_token", "attention_flops_per_pair", "selected_entry_width", "selected_flops_per_entry")
"""Groups that take the variant of the first, where they have it."""

REPAIRS = 400
"""How often a state that breaks an equation is drawn anew in part before it is given up."""


@dataclass(frozen=True)
class State:
    """Values that satisfy all that is chained by itself, and what has to be said to use them."""

    values: Mapping[str, float]
    variants: Mapping[str, str]
    using: tuple[str, ...]
    rows: tuple[Equation, ...]

    @property
    def made(self) -> frozenset[str]:
        """The quantities that the variants of the state define: they do not follow another one by default."""
        return frozenset(row.symbols[0] for row in self.rows if row.variant)


def states(random: Random, neutral: float = 0.6) -> Iterator[State]:
    """Yield one consistent state after another; `neutral` is the share of defaults that are true where nothing defines them."""
    while True:
        if found := _state(random, neutral):
            yield found


def untrue_defaults(state: State, unknown: str, chosen: set[str]) -> set[str]:
    """Defaults that would stand and are not the values of the state: they have to be given."""
    claimed = [equation(id).symbols[0] for id in state.using]
    in_force = defaults_in_force(unknown, chosen, claimed, state.made)
    # One that follows another quantity follows it too where that one is worked out.
    following = {name: value for name, value in values_to_put_in(in_force) if isinstance(value, str)}
    there = {name: value for name, value in {**in_force, **following}.items() if name in state.values}
    values = {name: state.values.get(value, nan) if isinstance(value, str) else value for name, value in there.items()}
    return {name for name, value in values.items() if not isclose(state.values[name], value, rel_tol=1e-12)}


def _state(random: Random, neutral: float) -> State | None:
    variants = _variants(random)
    drafts = random.random() < 0.4
    rows = [
        row
        for row in by_id().values()
        if row.kind in CHAINED_BY_ITSELF and _chosen(row, variants) and (drafts or "acceptance_rate" not in row.symbols)
    ]
    order, others = _ordered([*rows, *_equal_by_default(random, {row.symbols[0] for row in rows}, neutral)])
    claimed = _claims(random, order)
    values = _repaired(random, [*order, *claimed], others, neutral)
    # No router uses more experts than there are, no stage has less than a layer: such givens are refused, whatever is asked.
    if values is None or any(values[part] > values.get(QUANTITIES[part].whole, inf) for part in values):
        return None
    if values.get("tokens_per_step", 0) > values.get("tokens_verified_per_step", inf):
        return None
    whole = {*by_id().values()}
    true = tuple(row for row in (*order, *claimed, *others) if row in whole and all(name in values for name in row.symbols))
    named = tuple(row.id for row in claimed if row in true)
    return State(values, variants, named, true)


def _equal_by_default(random: Random, made: set[str], neutral: float) -> list[Equation]:
    """Equations of quantities that equal another one by default, in the share of states in which the default is true."""
    found: list[Equation] = []
    for default in DEFAULTS:
        if default.always and default.quantity not in made and random.random() < neutral:

            def relation(*sides: float) -> tuple[float, ...]:
                return sides

            relation.argument_names = (default.quantity, default.follows[0])  # type: ignore[attr-defined]
            found.append(Equation(id=f"default of {default.quantity}", title="", relation=relation, statement="", sources=()))
    return found


def _variants(random: Random) -> dict[str, str]:
    groups: dict[str, dict[str, bool]] = {}
    for row in by_id().values():
        if row.variant:
            groups.setdefault(row.variant.group, {})[row.variant.name] = row.variant.default
    chosen: dict[str, str] = {}
    for group, names in groups.items():
        usual = [name for name, is_default in names.items() if is_default]
        chosen[group] = usual[0] if usual and random.random() < 0.6 else random.choice(sorted(names))
    for group in SAME_VARIANT[1:]:
        if chosen[SAME_VARIANT[0]] in groups[group]:
            chosen[group] = chosen[SAME_VARIANT[0]]
    return chosen


def _chosen(row: Equation, variants: Mapping[str, str]) -> bool:
    return row.variant is None or variants[row.variant.group] in (row.variant.name, *row.variant.holds_for)


def _ordered(rows: Sequence[Equation]) -> tuple[list[Equation], list[Equation]]:
    """The equations that give each quantity its value, in an order that can be followed, and all others."""
    giving: dict[str, Equation] = {}
    for row in sorted(rows, key=lambda row: row.defines is None):
        if row.sense == "=" and row.symbols[0] not in giving:
            giving[row.symbols[0]] = row
    order: list[Equation] = []
    reached = {name for row in rows for name in row.symbols} - giving.keys()
    # A loop is opened where an equation follows from definitions: it is held against the state instead.
    loose = [row for row in giving.values() if row.defines is None and row.id != "serving.chip_price_from_capex"]
    for row in loose:
        del giving[row.symbols[0]]
        reached.add(row.symbols[0])
    while left := [row for row in giving.values() if row not in order and row.inputs <= reached]:
        order += left
        reached |= {row.symbols[0] for row in left}
    assert len(order) == len(giving), [row.id for row in giving.values() if row not in order]
    return order, [row for row in rows if row not in order]


def _claims(random: Random, order: Sequence[Equation]) -> list[Equation]:
    """Conditions, heuristics and empirical relations that can be made true: their left side has no other equation."""
    taken = {row.symbols[0] for row in order}
    possible = [row for row in by_id().values() if row.kind not in CHAINED_BY_ITSELF and row.sense == "=" and not row.variant]
    found: list[Equation] = []
    upstream = {name for row in order for name in row.inputs}
    for row in random.sample(possible, len(possible)) if random.random() < 0.5 else ():
        left = row.symbols[0]
        if left not in taken | upstream and left not in row.inputs and len(found) < 2:
            found.append(row)
            taken |= {left}
            upstream |= {*row.inputs}
    return found


def _repaired(random: Random, order: Sequence[Equation], others: Sequence[Equation], neutral: float) -> dict[str, float] | None:
    """Base quantities drawn until all equations hold; what an unmet requirement rules out is left out of the state."""
    # Which requirements have to be met, and which only decide whether their equation says anything.
    optional = {row for row in order if row.requires and random.random() < 0.4}
    given = {row.symbols[0] for row in order}
    base = sorted({name for row in (*order, *others) for name in row.symbols} - given)
    drawn = {name: _drawn(random, name, neutral) for name in base}
    if random.random() < 0.6:
        drawn["microbatches"] = 1.0
    single = drawn["microbatches"] == 1.0
    ancestors = _ancestors(order)
    known: dict[str, tuple[tuple[float, ...], float | None]] = {}
    for _ in range(REPAIRS):
        values, wrong = _followed(drawn, order, others, optional, known)
        if wrong is None:
            return values
        roots = sorted({root for name in wrong for root in ancestors.get(name, {name})} & drawn.keys())
        for name in random.sample(roots, min(len(roots), random.randint(1, 3))):
            drawn[name] = _drawn(random, name, neutral)
        if single:
            drawn["microbatches"] = 1.0
    return None


def _followed(
    drawn: Mapping[str, float],
    order: Sequence[Equation],
    others: Sequence[Equation],
    optional: set[Equation],
    known: dict[str, tuple[tuple[float, ...], float | None]],
) -> tuple[dict[str, float], tuple[str, ...] | None]:
    """All that follows from the base quantities, and the quantities of the first equation that does not hold."""
    values, absent = dict(drawn), set()
    for row in order:
        if row.inputs & absent:
            absent.add(row.symbols[0])
            continue
        value = _worked_out(row, values, known)
        if value is None:
            if row not in optional:
                return values, row.symbols
            absent.add(row.symbols[0])
            continue
        if isnan(value):
            return values, row.symbols
        values[row.symbols[0]] = value
    for row in others:
        if any(name in absent for name in row.symbols):
            continue
        left, right = values[row.symbols[0]], right_side_at(row, values)
        if not row.applies(values) or not isfinite(right):
            return values, row.symbols
        if not (residual(row, values) < 1e-9 if row.sense == "=" else left <= right if row.sense == "<=" else left >= right):
            return values, row.symbols
    return values, None


def _worked_out(row: Equation, values: Mapping[str, float], known: dict[str, tuple[tuple[float, ...], float | None]]) -> float | None:
    """What an equation gives: None where its requirements are broken, NaN where the value is met nowhere.

    `known` has what each gave the last time, and the inputs it had.
    """
    inputs = tuple(values[name] for name in row.symbols if name in row.inputs)
    if row.id not in known or known[row.id][0] != inputs:
        value = right_side_at(row, values) if row.applies(values) else None
        known[row.id] = inputs, value if value is None or _plausible(row.symbols[0], value) else nan
    return known[row.id][1]


def _ancestors(order: Sequence[Equation]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in order:
        found[row.symbols[0]] = {root for name in row.inputs for root in found.get(name, {name})}
    return found


def _plausible(name: str, value: float) -> bool:
    row = QUANTITIES[name]
    low, high = row.limits()
    return isfinite(value) and low <= value <= high and (value > 0 or row.may_be_zero) and value <= row.ceiling


def _drawn(random: Random, name: str, neutral: float) -> float:
    row = QUANTITIES[name]
    if name in NEUTRAL_DEFAULTS and random.random() < neutral:
        return NEUTRAL_DEFAULTS[name]
    if row.low == 0:
        return random.uniform(row.low, row.high)
    return exp(random.uniform(log(row.low), log(row.high)))
