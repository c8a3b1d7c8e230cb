"""An answer from a table, or by a reading, a condition or a rule of thumb, where definitions and bounds lead to none."""

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import replace
from functools import reduce

from derive.answers import BY_RULE, ways_to
from derive.catalogue import by_id, definitions, equation
from derive.quantities import QUANTITIES
from derive.records import HEURISTIC, Equation
from derive.solving.engine.plan import has_way
from derive.solving.one_question import STOPGAP, suppose_usual
from derive.solving.question.defaults import FOLLOWS, equal_quantity, values_to_put_in, with_defaults
from derive.solving.question.questions import NOT_GIVEN, OF_DENSE, Question, known_values, results_made_of
from derive.solving.result import Solution, known_answer
from derive.suppositions import STOPGAPS
from derive.units import show


def answer_from_table(asked: Question) -> Solution | None:
    """Return the value of the unknown in the tables, or None if there is none or a given result says something of the unknown."""
    if not asked.listed or results_made_of(asked, asked.unknown):
        return None
    value, place = asked.listed
    return known_answer(asked.unknown, value, f"as in {place}")


def answer_by_default(asked: Question, many: Collection[str], ask: Callable[[str], Solution]) -> Solution | None:
    """Return the answer for the quantity that the unknown equals by default, or that alone is given and equals the unknown, or None.

    `many` are given as lists, ranges and limits.
    """
    at_hand, typed = asked.known.keys(), asked.typed
    alone = next((name for name in typed if len(typed) == 1 and FOLLOWS.get(name, ("",))[0] == asked.unknown), None)
    first = equal_quantity(asked.unknown, at_hand) if asked.unknown in FOLLOWS else alone
    if not first or first in many:
        return None
    told = f"the same as {first} by default"
    if first in asked.known:
        given, sources = {first: asked.known[first]}, {first: asked.provenance[first]}
        return replace(known_answer(asked.unknown, asked.known[first], told), given=given, provenance=sources)
    found = ask(first)
    # A stopgap fits the quantity that is asked for, and may not fit another one.
    if found.is_refused_for("missing_givens") or STOPGAP in found.kinds:
        return None
    said = (told, *found.said) if found.answers else found.said
    return replace(found, unknown=asked.unknown, unit=QUANTITIES[asked.unknown].unit, said=said)


def answer_without_results(asked: Question, limited: Set[str], ask: Callable[[Set[str]], Solution]) -> Solution | None:
    """Return the answer without the given results of the unknown, which do not determine it, or None if there is none.

    `limited` are limits. They would say something of the answer.
    """
    results = results_made_of(asked, asked.unknown)
    if not results or not limited.isdisjoint(results):
        return None
    found = ask({*asked.typed}.difference(results))
    # A stopgap fits only a question without these results.
    return replace(found, unused=(*found.unused, *results)) if found.answers and STOPGAP not in found.kinds else None


def answer_by_rules(asked: Question, missing: Collection[str], ask: Callable[[str], Solution]) -> Solution | None:
    """Return the answer by every single rule that leads to the unknown, or None if no rule does."""
    found = {row: ask(row.id) for row in _list_leading(suppose_usual(asked))}
    near = {row: one for row, one in found.items() if (one.answers or one.sweep) and _is_near(row, one, missing)}
    near = {row: one for row, one in near.items() if STOPGAP not in one.kinds} or near
    # A rule that uses less than another of what was given may contradict the rest.
    near = {row: one for row, one in near.items() if not any({*other.unused} < {*one.unused} for other in near.values())}
    # A law that no value satisfies says more than another one that leaves its result out.
    refused = {row.symbols[0]: one for row, one in found.items() if one.is_refused_for("no_solution")}
    if idle := {*refused}.intersection(*(one.unused for one in near.values())) if near else set():
        return refused[min(idle)]
    if near:
        return _join_solutions({row: _label_rule(one, row) for row, one in near.items()})
    return next((one for one in found.values() if one.is_refused_for("contradiction", "requirement_violated")), None)


def _list_leading(asked: Question) -> list[Equation]:
    """Return the rules with each of which equations lead to the unknown, from what is known or with a stopgap, if none do without."""
    known, values = frozenset([*known_values(asked)][-1]), dict(values_to_put_in(asked.defaults))
    supposed = (known, *(known.union(row.values) for row in STOPGAPS if asked.unknown in row.unknowns))
    open_ = [some for some in supposed if not has_way(asked.unknown, asked.equalities, some)]
    rules = (row for row in by_id().values() if row.rule and known in open_)
    return [row for row in rules if any(has_way(asked.unknown, (*asked.equalities, with_defaults(row, values)), some) for some in open_)]


def _is_near(rule: Equation, solution: Solution, missing: Collection[str]) -> bool:
    """Return whether a rule has a part in an answer, with one kind of supposition.

    A rule of thumb feeds the last leg with what is missing or from what is given, and a longer chain only if a given is about its result,
    which nothing else defines.
    """
    steps = solution.route
    at = next((place for place, step in enumerate(steps) if rule.reference in step.equations), len(steps))
    between = {name for step in steps[at + 1 : -1] for id in step.equations for name in equation(id).symbols}
    found = steps[at].unknown if at < len(steps) else "" if steps else solution.unknown
    supposed = len({"supposed", OF_DENSE} & {solution.provenance.get(name) for name in solution.given})
    typed = {name for name, source in solution.provenance.items() if source in ("given", NOT_GIVEN)}
    others = [equation(id) for id in solution.equations if id != rule.reference]
    is_meant = found not in definitions() and any(found in row.symbols and not typed.isdisjoint(row.symbols) for row in others)
    is_fed = found in missing or {*rule.symbols} - {found} <= typed
    last = found == solution.unknown or (found and (rule.kind != HEURISTIC or is_meant or (is_fed and found not in between)))
    return bool(last) and supposed < 2


def _label_rule(solution: Solution, rule: Equation) -> Solution:
    """Return a solution that says by which rule it is, and that the rule was not named."""
    told = f"{solution.unknown} is by {rule.rule}, because no definition leads to it. With --strict it has no answer"
    joined = tuple(text.replace("added by --using", "used because no definition gives it") for text in solution.assumptions)
    return replace(solution, assumptions=joined).warn(BY_RULE, told)


def _range_in_words(solution: Solution) -> str:
    """Return in words that an answer has a range, or other values in a table."""
    name, spans = solution.unknown, solution.spans
    return f"{name} is {show(name, spans.low)} to {show(name, spans.high)}" if spans else f"{name} has other values"


def _join_solutions(found: Mapping[Equation, Solution]) -> Solution:
    """Return the solutions by several rules as one, each answer with its own route, the least first.

    Of sweeps and ranges it is the first solution, which names the other rules.
    """
    solutions = [*found.values()]
    if any(one.sweep or one.spans for one in solutions):
        others = (f"{_range_in_words(one)} by {row.rule} (--using {row.id})" for row, one in [*found.items()][1:])
        return reduce(lambda first, told: first.warn(_join_solutions.__name__, told), others, solutions[0])
    answers, routes = zip(*sorted((pair for one in solutions for pair in ways_to(one)), key=lambda pair: pair[0].ends[0]), strict=True)
    warnings = {text: kind for one in solutions for text, kind in zip(one.warnings, one.kinds, strict=True)}
    return replace(
        solutions[0],
        answers=answers,
        route=routes[0],
        further=routes[1:],
        equations=tuple(dict.fromkeys(id for one in solutions for id in one.equations)),
        given={name: value for one in solutions for name, value in one.given.items()},
        provenance={name: source for one in solutions for name, source in one.provenance.items()},
        assumptions=tuple(dict.fromkeys(text for one in solutions for text in one.assumptions)),
        unused=tuple(name for name in solutions[0].unused if all(name in one.unused for one in solutions)),
        warnings=tuple(warnings),
        kinds=tuple(warnings.values()),
    )
