"""The equations that a question may use: one variant of each group, with defaults and zeros put in, and the stand-ins that have a part."""

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from types import MappingProxyType

from derive.catalogue import ROOF_IDS, bounds, by_id, definitions, equation, stand_ins, variants_of
from derive.errors import UnknownName, WrongValue
from derive.expressions.branches import regimes_of
from derive.expressions.digits import has_difference
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.quantities.aliases import RENAMED
from derive.records import CHAINED_BY_ITSELF, CONDITION, Equation
from derive.roles import CHOICES, Memory
from derive.solving.question.defaults import DefaultValues, defaults_in_force, values_to_put_in, with_defaults
from derive.solving.question.propagation import results_of
from derive.suppositions import USUAL_TYPES
from derive.trees import factors, is_negative, terms

_Rows = tuple[Equation, ...]


def copies_condition(variants: Mapping[str, str]) -> Equation:
    """Return the condition for the copies of a cache on chips that share all heads, among the chosen variants."""
    return variants_of(Memory.copies)[variants.get(Memory.copies, "heads")]


@lru_cache(maxsize=4096)
def rows_in_force(
    unknown: str,
    known: frozenset[str],
    zeros: frozenset[str],
    repeated: frozenset[str],
    variants: tuple[tuple[str, str], ...],
    using: tuple[str, ...],
    left_out: tuple[str, ...],
    any_stand_in: bool,
    follows: tuple[tuple[str, str], ...],
) -> tuple[DefaultValues, _Rows, _Rows, _Rows]:
    """Return the defaults that apply. With these put in, return the equations that may be used, the named equations and the bounds.

    Givens that repeat a default are put in as it is.
    """
    claimed = [equation(id).symbols[0] for id in using]
    made = frozenset(row.symbols[0] for row in list_chosen(variants, using, left_out) if row.variant)
    defaults = {**defaults_in_force(unknown, known - repeated, claimed, made), **dict(follows)}
    values = values_to_put_in(defaults)
    aside = (*left_out, *(() if any_stand_in else _list_idle_stand_ins(unknown, {*known, *defaults}, values)))
    active = _put_defaults_in(list_active(unknown, variants, using, aside, (*sorted(zeros), *defaults)), values)
    named = _put_defaults_in(tuple(map(equation, using)), values)
    unsaid = MappingProxyType({name: value for name, value in defaults.items() if name not in repeated})
    # A limit of a quantity that nobody gave limits nothing else.
    put_in = dict(values)
    limits = _put_defaults_in(tuple(row for row in bounds() if row.symbols[0] not in put_in), values)
    if zeros:
        with_zeros = [[_put_zeros_in(row, unknown, zeros) for row in rows] for rows in (active, named, limits)]
        active, named, limits = (tuple(row for row in rows if row) for rows in with_zeros)
    return unsaid, active, named, limits


def may_be_its_zero(unknown: str, name: str) -> bool:
    """Return whether the unknown is behind a quantity that is 0: as a factor that may be 0 too, or in a difference."""
    row = definitions().get(name)
    return row is not None and unknown in row.inputs and (quantity(unknown).may_be_zero or has_difference(row.trees[1]))


def _list_idle_stand_ins(unknown: str, known: Set[str], values: tuple[tuple[str, int | str], ...]) -> tuple[str, ...]:
    """Return the stand-ins that are not used with the defaults put in. Their result is known, or an input that no other equation gives
    is missing and the result is not asked for.
    """
    have = known | {unknown}
    put_in = ((with_defaults(row, dict(values)), needed) for row, needed in stand_ins().items())
    return tuple(
        row.id
        for row, needed in ((row, needed & row.names) for row, needed in put_in)
        if row.defines in known or not (row.defines == unknown or (needed <= have and (needed or _are_made(row, have))))
    )


def _are_made(row: Equation, have: Set[str]) -> bool:
    """Return whether all inputs of an equation are known or can be made of known quantities."""
    defaults, firsts = {*have, *NEUTRAL_DEFAULTS}, definitions()
    return all(name in defaults or all(one in defaults or one in firsts for one in firsts[name].inputs) for name in row.inputs)


@lru_cache(maxsize=1024)
def _put_defaults_in(rows: tuple[Equation, ...], values: tuple[tuple[str, int | str], ...]) -> tuple[Equation, ...]:
    """Return the equations with the defaults put in, without those that have no quantity left."""
    given = dict(values)
    put_in = (row if row.inputs.isdisjoint(given) else with_defaults(row, given) for row in rows)
    return tuple(row for row in put_in if row.symbols)


@lru_cache(maxsize=4096)
def _put_zeros_in(row: Equation, unknown: str, zeros: frozenset[str]) -> Equation | None:
    """Return an equation with these quantities put in as 0, or as it is if it has no value there.

    A bound without a value limits only what its left side is made of, and is None for another unknown.
    """
    if zeros.isdisjoint(row.symbols[1:]):
        return row
    whole = with_defaults(equation(row.id), {**dict.fromkeys(zeros, 0), **row.put_in})
    try:
        loses_more = whole.trees and not {*row.symbols} <= {*whole.symbols, *zeros}
    except ZeroDivisionError:
        limited = row.symbols[0]
        return row if row.sense == "=" or limited == unknown or limited in results_of(unknown) else None
    # With a single term left, it would not say what binds.
    return whole if whole.symbols and (loses_more or len(regimes_of(row)) == len(regimes_of(whole))) else row


def choose_variants(unknown: str, known: Mapping[str, float], named: tuple[Equation, ...], follows: Iterable[str] = ()) -> dict[str, str]:
    """Return the variants that the givens choose, by the rows of `CHOICES`."""
    at_hand, spoken = {*known, unknown}, {*known, *follows, *(symbol for row in named for symbol in row.symbols)}
    return {
        row.group: row.variant
        for row in CHOICES
        if known.keys() >= {*row.known}
        and at_hand >= {*row.all}
        and at_hand.isdisjoint(row.absent)
        and spoken.isdisjoint(row.unspoken)
        and row.asked in ("", unknown)
        and (not row.less or known[row.less[0]] < known[row.less[1]])
    }


def variants_that_read(unread: Set[str], known: Set[str]) -> Mapping[str, str]:
    """Return the variants that alone in their group use a given that no other equation uses.

    >>> variants_that_read({"rope_dim"}, {"layers", "latent_dim", "rope_dim"})
    {'kv_bytes_per_token': 'mla', 'selected_entry_width': 'mla_indexed', 'selected_flops_per_entry': 'mla_indexed'}
    """
    if not unread:
        return {}
    supplied = {*known, *NEUTRAL_DEFAULTS, *USUAL_TYPES}
    defaults = dict(values_to_put_in(defaults_in_force("", known)))
    rows = (with_defaults(row, defaults) for row in by_id().values() if row.variant and not unread.isdisjoint(row.inputs))
    able = [row.variant for row in rows if row.variant and row.inputs <= supplied]
    names = {variant.group: {one.name for one in able if one.group == variant.group} for variant in able}
    return {group: name for group, (name, *others) in names.items() if not others}


def check_variants(asked: Mapping[str, str]) -> Mapping[str, str]:
    asked = {RENAMED.get(group, group): name for group, name in asked.items()}
    groups = {row.variant.group for row in by_id().values() if row.variant}
    for group, name in asked.items():
        if group not in groups:
            raise UnknownName("variant group", group, sorted(groups))
        if name not in variants_of(group):
            raise UnknownName(group, name, variants_of(group))
    return asked


@lru_cache(maxsize=1024)
def list_active(
    unknown: str, variants: tuple[tuple[str, str], ...], using: tuple[str, ...], left_out: tuple[str, ...], settled: tuple[str, ...]
) -> tuple[Equation, ...]:
    """Return the equations that a way may use. An inequality is one if it was named or contains the unknown.

    A quantity that is given as 0, or has its default, needs no definition. A bound that was named for the unknown takes its place.
    """
    named = {equation(id) for id in using}
    made = {*settled, *(unknown for row in named if row.sense != "=" and row.symbols[0] == unknown)}
    rows = list_chosen(variants, using, left_out)
    return tuple(row for row in rows if row in named or (row.defines not in made and (row.sense == "=" or unknown in row.symbols)))


@lru_cache(maxsize=256)
def list_chosen(variants: tuple[tuple[str, str], ...], using: tuple[str, ...], left_out: tuple[str, ...]) -> tuple[Equation, ...]:
    """Return one variant of each group, and the named equations, without those that a preset leaves out."""
    named = [equation(id) for id in using]
    picked: dict[str, tuple[tuple[str, ...], Equation]] = {}
    for row, variant in ((row, row.variant) for row in named if row.variant):
        names, first = picked.setdefault(variant.group, ((variant.name, *variant.holds_for), row))
        common = tuple(name for name in names if name in (variant.name, *variant.holds_for))
        if not common:
            raise WrongValue(f"{first.id} and {row.id} are two variants of {variant.group}: name one")
        picked[variant.group] = common, first
    usual = {row.variant.group: row.variant.name for row in by_id().values() if row.variant and row.variant.default}
    chosen = {**usual, **dict(variants), **{group: names[0] for group, (names, _) in picked.items()}}
    aside = {*left_out, *ROOF_IDS}
    # A condition joins by name alone, whichever variant is chosen.
    joining = (
        chosen.get(row.variant.group) in (row.variant.name, *row.variant.holds_for)
        if row.variant and row.kind != CONDITION
        else row.kind in CHAINED_BY_ITSELF
        for row in by_id().values()
    )
    return tuple(row for row, joins in zip(by_id().values(), joining, strict=True) if row in named or (joins and row.id not in aside))


def find_made_zeros(rows: Iterable[Equation], nothing: Iterable[str], some: Set[str], usual: Set[str] = frozenset()) -> dict[str, str]:
    """Return the other quantities that are 0 with these, and for each the given 0 that causes it.

    `some` are quantities that are not 0, `usual` those that are 0 by default. Terms without such a factor, or with several, have no part.

    >>> from derive.catalogue import equation
    >>> find_made_zeros([equation("roofline.attention_time")], ["attention_time"], set())
    {'attention_flops_per_sequence': 'attention_time'}
    """
    definitions = {row.defines: row for row in rows if row.defines}
    found: dict[str, str] = {}
    queue = list(nothing)
    while queue:
        name = queue.pop()
        for factor in _zero_factors(definitions[name], some, usual) if name in definitions else ():
            if factor not in found:
                found[factor] = found.get(name, name)
                queue.append(factor)
    return found


def _zero_factors(row: Equation, some: Set[str], usual: Set[str]) -> set[str]:
    """Return the factors that make a whole sum 0, or none if the sum can be 0 in another way."""
    found: set[str] = set()
    for term in terms(row.trees[1]):
        if any(name in usual and name not in some for name in factors(term)):
            continue
        can = [name for name in factors(term) if name not in some and quantity(name).may_be_zero]
        if len(can) != 1 or is_negative(term) or has_difference(term):
            return set()
        found |= {*can}
    return found
