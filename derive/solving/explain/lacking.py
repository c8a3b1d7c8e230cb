"""The facts that a question lacks: the fewest that settle it and use the most of what was given."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from derive.catalogue import definitions
from derive.preset_record import HARDWARE_GIVENS, KV_INPUTS, OF_CONFIGURATION, PARAMETERS
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.quantities.aliases import ALIASES
from derive.records import Equation
from derive.roles import Widths
from derive.solving.engine.plan import definitions_of, find_loops, find_plain_way, propagate, reaches
from derive.solving.question.defaults import values_to_put_in, with_defaults
from derive.solving.question.propagation import list_reached, results_of
from derive.solving.question.questions import OF_DENSE, Question, known_values, pose_again
from derive.suppositions import USUAL_TYPES

OF_A_CHIP = frozenset((*HARDWARE_GIVENS, Widths.weights))
OF_A_MODEL = frozenset((*PARAMETERS, *(name for names in KV_INPUTS.values() for name in names))) - {*OF_CONFIGURATION}
"""What --hardware and --model give."""

_RESULT, _UNKNOWN, _IDLE, _FIGURE, _ASIDE, _BOUND, _STEP = 6.0, 0.5, 2.6, 0.005, 2.7, 0.5, 0.003
"""What counts against a way, where an input to look up counts 1: a result to measure, a fact without other words, a given
that is not used, a figure of a preset that is not used, another equation than the definition of a result, an inequality, any quantity."""

_WORDS = Counter(meant for meant, *others in ALIASES.values() if not others)
"""How many other words a quantity has: more if people know it."""

_LISTED, _LOOKED_AT = 3, 12
"""How many ways are listed, and how many are looked at closely for them."""

_SOME = 2.0
"""The value of all that is known, as none of them but 0 and the defaults matters here."""


class Lack(NamedTuple):
    """A way to settle a question: what counts against it, also for givens that are idle, the facts that the question lacks on it,
    its last equation, its quantities, and its rule.
    """

    cost: float
    names: tuple[str, ...]
    idle: float
    last: Equation
    used: Set[str]
    rule: Equation | None


def is_reachable(asked: Question) -> bool:
    """Return whether equations lead from the givens and defaults to the unknown. Inequalities only bound it."""
    return any(reaches(asked.unknown, asked.equalities, frozenset(known)) for known in known_values(asked))


def find_lacking(asked: Question, rules: Iterable[Equation | None] = (None,)) -> list[Lack]:
    """Return the ways to settle a question with one of the rules, the best first, each without facts that it can spare.

    They depend on which quantities are known, and not on their values but 0 and defaults, so that questions with other values share them.
    """
    known = {name: value if value in (0, NEUTRAL_DEFAULTS.get(name)) else _SOME for name, value in asked.known.items()}
    return _search_lacking(replace(asked, known=known, doubtful={}, notes=()), tuple(rules))


@lru_cache(maxsize=256)
def _search_lacking(asked: Question, rules: tuple[Equation | None, ...]) -> list[Lack]:
    """Return the ways to settle a question, by a search."""
    given, found = _weigh_given(asked), dict[tuple[str, ...], Lack]()
    ways = [way for rule in rules for way in _list_ways(asked, rule, given)]
    for way in sorted(ways, key=lambda one: one[:2])[:_LOOKED_AT]:
        if len(found) == _LISTED:
            break
        facts, used = _settle(replace(asked, named=(*asked.named, way.rule)) if way.rule else asked, way)
        if facts and used:
            settled = _weigh(asked, given, facts, way.last, used, way.rule)
            found[settled.names] = min(settled, found.get(settled.names, settled), key=lambda one: one.cost)
    return sorted(found.values(), key=lambda one: one[:2])


def _list_ways(asked: Question, rule: Equation | None, given: Mapping[frozenset[str], float]) -> Iterable[Lack]:
    """Return the ways that seem to settle a question: by each equation with the unknown, or with a result of it.

    At a trial value of the unknown the rest follows, and the equation, which is then known on both sides, says which value is right. Its
    left side must be given, or the unknown. The rest follows by definitions, also by given results, or a way lacks all of it.
    """
    joined = [with_defaults(rule, dict(values_to_put_in(asked.defaults)))] if rule else []
    rows, known = (*asked.equalities, *joined), frozenset([*known_values(asked)][-1])
    legs = propagate(asked.equalities, known, frozenset())
    known = (known | legs.keys()) - {asked.unknown}
    made = definitions_of(rows, known | {asked.unknown})
    by_given = {name: row for row in rows if row.symbols[0] in asked.typed for name in row.symbols[1:] if name in made}
    resting, ways = results_of(asked.unknown, tuple(made.values())) | {asked.unknown}, dict[tuple[tuple[str, ...], str], Lack]()
    for row, makes in product((*rows, *asked.bounds), (made, {**made, **by_given}, {})):
        if resting.isdisjoint(row.symbols):
            continue
        left = row.symbols[0] if row.sense == "=" else ""
        made_here = {name: one.symbols for name, one in makes.items() if name != left and one is not row}
        behind = defaultdict[str, Iterable[str]](tuple, {name: leg.needs for name, leg in legs.items()} | made_here)
        used = list_reached(row.symbols, behind.__getitem__)
        lacks = used.keys() - known - made_here.keys() - {asked.unknown}
        is_by_rule = not joined or row in joined or any(makes.get(name) in joined for name in used)
        if lacks and asked.unknown in used and is_by_rule:
            way = _weigh(asked, given, lacks, row, used.keys(), rule)
            ways[way.names, row.sense] = min(way, ways.get((way.names, row.sense), way), key=lambda one: one.cost)
    return ways.values()


def _weigh(
    asked: Question, given: Mapping[frozenset[str], float], lacks: Set[str], last: Equation, used: Set[str], rule: Equation | None
) -> Lack:
    """Return a way with what counts against it: a chip and a model as one fact each, and no data type, which has a usual value."""
    counted = lacks - USUAL_TYPES.keys()
    results = {last.symbols[0], *(row.defines for row in asked.equalities if not row.stand_in)}
    others = ((_RESULT if name in results else 1.0) + _UNKNOWN / (1 + _WORDS[name]) for name in counted - OF_A_CHIP - OF_A_MODEL)
    facts = sum(others) + sum(not one.isdisjoint(counted) for one in (OF_A_CHIP, OF_A_MODEL))
    is_aside = asked.unknown in results and last.symbols[0] != asked.unknown
    idle = sum(weight for names, weight in given.items() if names.isdisjoint(used))
    cost = facts + _ASIDE * is_aside + _BOUND * (last.sense != "=") + _STEP * len(used) + idle
    return Lack(cost, tuple(name for name in QUANTITIES if name in lacks), idle, last, used, rule)


def _weigh_given(asked: Question) -> dict[frozenset[str], float]:
    """Return what counts against a way that uses none of some quantities: a given, a chip, a model, and a figure of these.

    What follows from the other givens need not be used.
    """
    preset = frozenset(name for name, source in asked.provenance.items() if source not in ("given", "supposed", OF_DENSE))
    typed = [one for one in asked.typed if not find_plain_way(one, asked.equalities, frozenset(asked.known.keys() - {one}))]
    whole = (*(frozenset((name,)) for name in typed), preset & OF_A_CHIP, preset & OF_A_MODEL)
    return {frozenset((name,)): _FIGURE for name in preset} | dict.fromkeys(filter(None, whole), _IDLE)


def _settle(asked: Question, way: Lack) -> tuple[Set[str], Set[str]]:
    """Return the facts of a way that it cannot spare, and its quantities, or none if it settles no question."""

    def pose_with(names: Iterable[str]) -> tuple[tuple[Equation, ...], frozenset[str]]:
        posed = pose_again(asked, asked.unknown, {**asked.known, **dict.fromkeys(names, 1.0)})
        return posed.equalities, frozenset([*known_values(posed)][-1])

    facts = {*way.names}
    if way.last.sense != "=":
        return facts, way.used
    for name in sorted(facts, key=lambda name: (name not in definitions(), name)):
        rest = propagate(*pose_with(facts - {name}), frozenset())
        if facts > {name} and (name in rest or asked.unknown in rest):
            facts.remove(name)
    posed = asked.unknown, *pose_with(facts)
    there = find_plain_way(*posed) or next(find_loops(*posed, alone=True), None)
    used = {name for leg in there.legs for row in leg.rows for name in row.symbols} if there else set()
    return facts & used, used
