"""The missing facts of a question: the fewest that would settle it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import islice
from math import isclose
from typing import NamedTuple

from derive.answers import COUNTED
from derive.catalogue import by_id
from derive.preset_record import HARDWARE_GIVENS, KV_INPUTS, OF_CONFIGURATION, OPEN_MODELS, PARAMETERS, ROUTER
from derive.quantities import QUANTITIES, quantity
from derive.records import CHAINED_BY_ITSELF, HOLDS, Equation
from derive.roles import MEANINGS, REQUEST, Waiting, Widths
from derive.solving.engine.plan import definitions_of, find_loops, find_plain_way, giving_equations, lacking_inputs, reaches
from derive.solving.question.defaults import values_to_put_in, with_defaults
from derive.solving.question.propagation import follow_values, list_reached, rows_behind
from derive.solving.question.questions import Question, known_values
from derive.solving.question.rows import list_stand_ins
from derive.solving.result import Reason
from derive.suppositions import USUAL_TYPES
from derive.units import show

OF_A_CHIP = frozenset((*HARDWARE_GIVENS, Widths.weights))
OF_A_MODEL = frozenset((*PARAMETERS, *(name for names in KV_INPUTS.values() for name in names))) - {*OF_CONFIGURATION}
"""What --hardware and --model give."""

_OF_ROUTERS = frozenset(ROUTER)
"""What no dense model has."""

_MAY_CANCEL = 3
"""Up to how many facts are looked at, whether they cancel."""

_SHORTER = 2
"""How many shorter ways in are named."""

_SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_MIDDLE = 0.5
"""Shares of the usual range of a quantity at which a result is compared, and the share at which all other quantities are meanwhile."""


def find_result_without_influence(asked: Question, known: Mapping[str, float]) -> Reason | None:
    """Return why a given result does not determine the unknown: it is made of it, and has one value for all values of it."""
    unknown, row = asked.unknown, quantity(asked.unknown)
    results = results_made_of(asked, unknown)
    # One of them may say of another what it is, whatever both are made of.
    rest = {name: value for name, value in known.items() if name not in results}
    places = [*([0.0] if row.may_be_zero else []), *map(row.at, _SHARES)]
    for name in results:
        there = (follow_values(rows_behind((name,), asked.active), {**rest, unknown: place}).get(name) for place in places)
        found = [value for value in there if value is not None]
        if len(found) < len(places) or not all(isclose(one, found[0], rel_tol=HOLDS) for one in found):
            continue
        told = f"{name} does not depend on {unknown}"
        if isclose(found[0], known[name], rel_tol=HOLDS):
            return Reason(code="not_identified", violated=(name,), message=f"{told}: it is {show(name, found[0])} with any {unknown}")
        message = f"{told}: it is {show(name, found[0])} with any {unknown}, and {show(name, known[name])} is given"
        return Reason(code="no_solution", violated=(name,), message=message)
    return None


def results_made_of(asked: Question, unknown: str) -> list[str]:
    """Return the given results whose definitions lead back to a quantity, or to a default."""
    rows = giving_equations(asked.active)

    def behind(name: str) -> list[str]:
        row = rows.get(name)
        return [other for other in (*row.symbols, *row.put_in) if other not in asked.known] if row else []

    return [name for name in asked.typed if name in rows and unknown in list_reached([name], behind)]


def missing_givens(asked: Question, known: Mapping[str, float]) -> Reason:
    """Return the fewest facts that would settle the question: inputs without a definition, and shorter lists."""
    unknown, subject = asked.unknown, asked.unknown
    if asked.listed:
        value, place = asked.listed
        subject = f"{unknown} is {show(unknown, value)} in {place}; to compute it, the question"
    if (
        unknown == Waiting.margin
        and {*known} >= {*REQUEST.beside, Waiting.of_use}
        and known.keys().isdisjoint(Waiting.costs - {Waiting.of_use})
    ):
        why = f"{Waiting.of_use} is for output tokens, and does not include the cost of prompts"
        return Reason(code="missing_givens", missing=(REQUEST.asked,), message=f"{unknown} of requests needs {REQUEST.asked}: {why}")
    if not any(unknown in row.symbols and row.sense == "=" for row in asked.active):
        joinable = ", ".join(row.id for row in by_id().values() if unknown in row.symbols)
        message = f"{subject} is only in equations that must be named with --using: {joinable}"
        return Reason(code="missing_givens", message=message + _left_out(asked, (unknown,)))
    first, *rest = _lists(unknown, asked.equalities, frozenset(known.items())) or [()]
    lists = _with_bounds(asked, known, [_without_stood_in(first, asked, known), *rest])
    missing, *others = _prefer_all_givens(asked, known, lists)
    if not missing:
        return Reason(code="not_identified", message=f"{unknown} is not determined: its equations hold for any value, or are the same")
    return _name_missing(asked, known, missing, subject, others)


class _WayIn(NamedTuple):
    """Facts that would settle a question by some equations and perhaps a rule, and what was typed and is not used then."""

    idle: frozenset[str]
    names: tuple[str, ...]
    rows: tuple[Equation, ...]
    rule: Equation | None


def nearest_givens(asked: Question, refused: Reason) -> Reason:
    """Return the reason with the facts that would settle the question with the most of what was typed, perhaps by a rule."""
    known = frozenset([*known_values(asked)][-1])
    first = _drop_spare(asked.unknown, asked.equalities, known, refused.missing) or refused.missing
    ways = [*_ways_in(asked, known, first)]
    fine = first and not any(way.idle for way in ways if way.names == first)
    found = nearest = min((way for way in ways if way.names == first or not fine), key=_distance, default=None)
    while found and nearest and nearest.idle:
        ways = [one for way in ways if len(way.names) <= _SHORTER for one in _through_idle(asked.unknown, way, known)]
        found = min(ways, key=_distance, default=None)
        nearest = found if found and _distance(found) < _distance(nearest) else nearest
    if not nearest or nearest.names == refused.missing:
        return refused
    return _name_missing(asked, known, nearest.names, asked.unknown, rule=nearest.rule)


def _distance(way: _WayIn) -> int:
    """Return how many facts a way lacks, a chip and a model as one each, and twice how many it does not use."""
    presets = (OF_A_CHIP, OF_A_MODEL)
    return len({*way.names}.difference(*presets)) + sum(not one.isdisjoint(way.names) for one in presets) + 2 * len(way.idle)


def _ways_in(asked: Question, known: frozenset[str], first: tuple[str, ...]) -> Iterator[_WayIn]:
    """Yield the facts that would settle the question without a rule, these first, and by each rule that is near."""
    unknown, active = asked.unknown, asked.equalities
    typed = frozenset(asked.typed)
    beside = {unknown, *(name for row in active if unknown in row.symbols for name in row.symbols)}
    unnamed = [row for row in by_id().values() if row.sense == "=" and row not in active and not beside.isdisjoint(row.symbols)]
    joined = [row for row in unnamed if row.rule or (row.kind in CHAINED_BY_ITSELF and unknown in row.symbols and beside == {unknown})]
    for rule in (None, *joined):
        rows = (*active, with_defaults(rule, dict(values_to_put_in(asked.defaults)))) if rule else active
        ways = [*lacking_inputs(unknown, rows, known), *_lacking_beside(unknown, rows, known)]
        for names in dict.fromkeys((*filter(None, [first]), *_settling(unknown, rows, known, ways))):
            if (used := _used_with(unknown, rows, known.union(names))) is not None:
                yield _WayIn(typed - used, names, rows, rule)


def _through_idle(unknown: str, way: _WayIn, known: frozenset[str]) -> Iterator[_WayIn]:
    """Yield ways that make one of the facts of another way from what was typed and is idle there."""
    for name in way.names:
        others = [other for other in way.names if other != name]
        rows = [row for row in way.rows if name in row.symbols and not way.idle.isdisjoint(row.symbols)]
        lacking = ((*others, *(other for other in row.symbols if other not in (name, *others) and other not in known)) for row in rows)
        for names in _settling(unknown, way.rows, known, lacking):
            if (used := _used_with(unknown, way.rows, known.union(names))) is not None:
                idle = way.idle - used
                yield from [way._replace(idle=idle, names=names)] if idle < way.idle else []


def _used_with(unknown: str, rows: tuple[Equation, ...], at_hand: frozenset[str]) -> set[str] | None:
    """Return the quantities on the way to the unknown, or None without a way."""
    way = find_plain_way(unknown, rows, at_hand) or next(find_loops(unknown, rows, at_hand, alone=True), None)
    return {name for leg in way.legs for row in leg.rows for name in row.symbols} if way else None


def _name_missing(
    asked: Question,
    known: Iterable[str],
    missing: tuple[str, ...],
    subject: str,
    others: Sequence[tuple[str, ...]] = (),
    rule: Equation | None = None,
) -> Reason:
    """Return the reason that names what is missing, and shorter lists."""
    unknown, by = asked.unknown, f", by {rule.rule}" if rule and rule.rule else ""
    needed = _join_names(tuple(map(_explain_input, missing)) if len(missing) <= 2 else missing)
    message = f"{subject} also needs {needed}{by}{_mention_dense(missing, asked)}{_mention_presets(missing, asked)}"
    message += _left_out(asked, (unknown, *missing))
    meaning = MEANINGS.get(unknown)
    if meaning and meaning.alone and {*known} >= meaning.beside and Waiting.margin not in known:
        message = f"the buyer pays {meaning.means}: ask for that\nthe cost of the chips: {message}"
    elif others:
        message += ". Instead you can give " + ", or ".join(_join_names(names) for names in others[:_SHORTER])
    return Reason(code="missing_givens", missing=missing, message=message)


def is_reachable(asked: Question) -> bool:
    """Return whether equations lead from the givens and defaults to the unknown. Inequalities only bound it."""
    return any(reaches(asked.unknown, asked.equalities, frozenset(known)) for known in known_values(asked))


@lru_cache(maxsize=64)
def _lists(unknown: str, active: tuple[Equation, ...], values: frozenset[tuple[str, float]]) -> list[tuple[str, ...]]:
    """Return the shortest lists of facts that would settle the question: the inputs to look up first, then two shorter lists."""
    known = dict(values)
    reached = frozenset(known)
    inputs = [
        _with_effect(free, unknown, active, known) if len(free) <= _MAY_CANCEL else free
        for free in lacking_inputs(unknown, active, reached)
    ]
    direct = _lacking_beside(unknown, active, reached)
    first = next(_settling(unknown, active, reached, (*inputs, *direct)), None)
    if first is None:
        return direct
    in_length = _settling(unknown, active, reached, sorted(dict.fromkeys(direct), key=len))
    others = dict.fromkeys(islice((names for names in in_length if names != first and len(names) <= len(first)), _SHORTER))
    return [first, *others]


def _lacking_beside(unknown: str, active: tuple[Equation, ...], known: Set[str]) -> list[tuple[str, ...]]:
    """Return what each equation with the unknown lacks beside it."""
    lacking = (tuple(name for name in row.symbols if name != unknown and name not in known) for row in active if unknown in row.symbols)
    return [names for names in lacking if names]


def _settling(
    unknown: str, active: tuple[Equation, ...], known: frozenset[str], ways: Iterable[Sequence[str]]
) -> Iterator[tuple[str, ...]]:
    """Yield what the question needs of each way that settles it."""
    return filter(None, (_drop_spare(unknown, active, known, names) for names in ways if unknown not in names))


def _with_effect(free: tuple[str, ...], unknown: str, active: tuple[Equation, ...], known: Mapping[str, float]) -> tuple[str, ...]:
    """Return the free inputs that change the unknown, or all of them if it is not worked out from them."""
    rows, middle = rows_behind((unknown,), active), {**known, **{name: QUANTITIES[name].at(_MIDDLE) for name in free}}

    def moves(name: str) -> bool:
        beside = [follow_values(rows, {**middle, name: QUANTITIES[name].at(share)}).get(unknown) for share in _SHARES]
        return not all(one is not None and beside[0] is not None and isclose(one, beside[0], rel_tol=HOLDS) for one in beside)

    return tuple(name for name in free if moves(name))


def _without_stood_in(names: tuple[str, ...], asked: Question, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names without those that a stand-in replaces once the others are given."""
    at_hand, chosen = {*known, *names}, dict(asked.variants)

    def stands_in(row: Equation, needed: Set[str]) -> bool:
        is_chosen = row.variant is None or chosen.get(row.variant.group, row.variant.name) == row.variant.name
        rest = frozenset(at_hand - {row.defines})
        return is_chosen and needed <= rest and reaches(row.defines or "", (*asked.equalities, row), rest)

    stood_in = {row.defines for row, needed in list_stand_ins(values_to_put_in(asked.defaults)).items() if stands_in(row, needed)}
    return tuple(name for name in names if name not in stood_in)


def _with_bounds(asked: Question, known: Mapping[str, float], lists: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the lists, first the one that would bound a size or an input, unless a given result is made of the unknown.

    Of several such lists it is the one with the fewest facts that no chip and no model gives. It must be as short as the first list, or
    the first list must have a quantity that an equation gives.
    """
    definition = giving_equations(asked.active).get(asked.unknown)
    result = definition and not definition.stand_in and asked.unknown not in COUNTED
    ways = () if result or results_made_of(asked, asked.unknown) else (_leading_to_bound(bound, asked, known) for bound in asked.bounds)
    shortest = min(filter(None, ways), key=lambda names: len({*names} - OF_A_CHIP - OF_A_MODEL - {*USUAL_TYPES}), default=())
    before = len(shortest) <= len(lists[0]) or not giving_equations(asked.active).keys().isdisjoint(lists[0])
    return [shortest, *(names for names in lists if names != shortest)] if shortest and before else lists


def _prefer_all_givens(asked: Question, known: Mapping[str, float], lists: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the lists whose equations use all givens, or all lists if no equation does."""
    reached = frozenset(known)
    rows = [row for row in asked.equalities if len(asked.typed) > 1 and {*asked.typed, asked.unknown} <= {*row.symbols}]
    ways = {tuple(name for name in row.symbols if name != asked.unknown and name not in known) for row in rows}
    settling = [names for names in ways if _drop_spare(asked.unknown, asked.equalities, reached, names) == names]
    return sorted(settling, key=lambda names: (len(names), names)) or lists


def _leading_to_bound(bound: Equation, asked: Question, known: Mapping[str, float]) -> tuple[str, ...]:
    """Return the missing inputs of an inequality that have no definition. Return an empty list if it does not bound the unknown."""
    made = definitions_of(asked.active, {asked.unknown, *known})
    seen = list_reached(bound.symbols, lambda name: made[name].symbols if name in made else (), last_first=True)
    left = tuple(name for name in seen if name not in known and name not in made and name != asked.unknown)
    return left if asked.unknown in seen else ()


def _drop_spare(unknown: str, active: tuple[Equation, ...], known: frozenset[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the names without those that the question does not need, or none if they do not settle it."""
    kept = dict.fromkeys(names)
    if not reaches(unknown, active, known.union(kept)):
        return ()
    for name in tuple(kept):
        if reaches(unknown, active, known.union(kept.keys() - {name})):
            del kept[name]
    return tuple(kept)


def _mention_dense(missing: tuple[str, ...], asked: Question) -> str:
    """Return the end of a sentence: the named model is dense, without experts."""
    counts = [asked.known.get(name) for name in PARAMETERS if asked.provenance.get(name) != "given"]
    dense = len(counts) == len(PARAMETERS) and counts[0] is not None and len({*counts}) == 1
    names = " and ".join(one.model for one in asked.published) or "the model"
    return f"; {names} is dense and has no experts" if dense and not _OF_ROUTERS.isdisjoint(missing) else ""


def _mention_presets(missing: tuple[str, ...], asked: Question) -> str:
    """Return the end of a sentence: which options would give some of it, or that a named model cannot."""
    from_model = OF_A_MODEL | {*OF_CONFIGURATION}
    if asked.parameters_only and not from_model.isdisjoint(missing):
        return f"; of {_join_names(asked.parameters_only)} only the parameters are known ({OPEN_MODELS}.csv)"
    options = {"--hardware": OF_A_CHIP, "--model": OF_A_MODEL}
    helpful = [option for option, names in options.items() if not names.isdisjoint(missing)]
    return f" ({' and '.join(helpful)} would give some of these)" if helpful and len(missing) > 2 else ""


def _left_out(asked: Question, names: tuple[str, ...]) -> str:
    """Return the end of a sentence: the definitions of these quantities that the model rules out."""
    untrue = ", ".join(row.id for row in asked.left_out if row.defines in names)
    return f"; not used, because this model has reads that do not grow with its context: {untrue}" if untrue else ""


def _explain_input(name: str) -> str:
    """Return a name with its meaning and its unit."""
    row = QUANTITIES[name]
    return f"{name} ({row.meaning}{'' if row.unit == '1' else f', in {row.unit}'})"


def _join_names(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
