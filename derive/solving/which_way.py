"""Which way leads to what is asked for: equations, inequalities that bound it, or backwards from a result that is given.

Defining equations and bounds join by themselves, one variant of a group; conditions, heuristics and empirical
relations join when named. Neutral defaults are taken up only when the givens alone do not reach the unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isclose, isfinite

from derive.answers import SHORT
from derive.presets import PARAMETERS
from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER, Equation
from derive.requirements import HOLDS
from derive.solving.backwards import Backwards, backwards
from derive.solving.caveats import less_than_one
from derive.solving.chain import LEAVES_OPEN, Stop, follow, left_unused, only_said, without_answer
from derive.solving.directions import EITHER, NEITHER, Causes, carried, taken_for_granted
from derive.solving.fit import SHORT_OF_MEMORY, batch_is_left_to_a_rate
from derive.solving.limits import FREE
from derive.solving.one_equation import inside
from derive.solving.questions import Question, in_usual_types, posed, taken_as_known
from derive.solving.refusals import giving, indifferent, made_of, missing_givens
from derive.solving.result import Answer, Reason, RouteStep, Solution, WhenRead
from derive.solving.route import Failed, Leg, Route, bounding, route, without_blocks
from derive.units import show


def by_any_way(asked: Question, told: bool = True) -> tuple[Solution, Route | None]:
    """By equations alone where they lead to the unknown; else inequalities say what bounds it.

    What a question lacks takes long to find, and is left out unless it is `told`.
    """
    equalities = tuple(row for row in asked.active if row.sense == "=")
    for rows in (equalities, asked.active):
        stops: list[tuple[Stop, Route]] = []
        outcome = _by(asked, rows, stops)
        if rows is equalities and (behind := _behind(asked, outcome and outcome[0], bool(stops))):
            return behind, None
        if outcome and rows is asked.active and not _says_something(asked, outcome[0]):
            outcome = None
        if outcome or stops:
            break
    if not stops and (not outcome or (rows is asked.active and left_unused(asked, {*outcome[0].given}))):
        outcome = _tighter(outcome, _bounded(asked, stops))
    if outcome and (rows is asked.active or _only_bounded(outcome[0])) and (aside := _left_aside(asked, *outcome)):
        return without_answer(asked, aside), None
    if outcome and rows is asked.active and (lacking := _more_is_said(asked, outcome[0])):
        return without_answer(asked, lacking), None
    if outcome:
        return _sided(asked, *outcome)
    known = [*taken_as_known(asked)][-1]
    if free := indifferent(asked, known):
        return without_answer(asked, free), None
    lacking = (
        missing_givens(asked, known) if told and not stops else Reason(code="missing_givens", message="what is missing was not asked for")
    )
    return without_answer(asked, _told(asked, stops) if stops else lacking), None


def _tighter(beside: tuple[Solution, Route] | None, bounded: tuple[Solution, Route] | None) -> tuple[Solution, Route] | None:
    """Of what inequalities say of the unknown itself, and of what is made of it, the one that leaves less of it; else the first."""
    ends = [[one.ends for one in outcome[0].answers] if outcome else [] for outcome in (beside, bounded)]
    if bounded and len(ends[0]) == len(ends[1]) == 1:
        ((low, high),), ((least, most),) = ends
        more, less = least > low * (1 + HOLDS), (most or inf) * (1 + HOLDS) < (high or inf)
        if (more and (most or inf) <= (high or inf)) or (less and least >= low):
            return bounded
    return beside or bounded


def _sided(asked: Question, solution: Solution, way: Route) -> tuple[Solution, Route]:
    """An answer of which its route does not say which way it errs, with what another one says, or the result that it was found from."""
    points = [one for one in solution.answers if one.kind == "point" and not one.bound]
    if len(points) != 1 or len(solution.answers) != 1:
        return solution, way
    if carried(way, taken_for_granted(asked, way, {**solution.given, asked.unknown: points[0].point})) != EITHER:
        return solution, way
    bound = _by_another_way(asked, solution, way) or _seen_forwards(asked, points[0].point)
    return replace(solution, answers=(replace(points[0], bound=bound),)), way


def _by_another_way(asked: Question, solution: Solution, way: Route) -> str | None:
    """How the same value errs on the way that does not end with the same leg, if there is one and it says."""
    known = next((known for known in taken_as_known(asked) if solution.given.keys() <= known.keys()), {})
    rows = tuple(row for row in asked.active if row.sense == "=")
    # Blocks may take minutes to bring to one equation, which is too long for a word.
    other = without_blocks(asked.unknown, rows, frozenset(known), frozenset([(way.legs[-1].id, asked.unknown)]))
    outcome = follow(asked, known, other) if other else None
    found = outcome.answers if isinstance(outcome, Solution) else ()
    same = len(found) == 1 and found[0].kind == "point" and isclose(found[0].point, solution.answers[0].point, rel_tol=HOLDS)
    return found[0].bound if same else None


def _seen_forwards(asked: Question, value: float) -> str | None:
    """How a value errs by the one result that it was found from, where that rises or falls with it all over."""
    (name, *more) = made_of(asked, asked.unknown) or [""]
    if not name or more or asked.limits:
        return None
    found = next(filter(None, (backwards(asked, known, [name]) for known in taken_as_known(asked))), None)
    if found is None or found.rises is None:
        return None
    bounds = {one.bound for one in result_where(replace(asked, silent=True), name, value).answers}
    return _turned(bounds.pop(), found.rises) if len(bounds) == 1 else None


def _turned(bound: str | None, rises: bool | None) -> str | None:
    """How what is behind a result errs, where the result errs so and rises, falls, or does either with it."""
    if bound is None or rises is None:
        return None
    return {LOWER: UPPER, UPPER: LOWER}[bound] if rises else bound


def _behind(asked: Question, bounded: Solution | None, stopped: bool) -> Solution | None:
    """What was asked for from a given result, found by going forwards; None where nothing that was given rests on it.

    So it is looked for where no route leads to it, where one did and stopped, which then says itself why, and where one only
    bounds it and leaves a result aside.
    """
    names = _aside(asked, bounded) if bounded else None
    if bounded and not (names and _only_bounded(bounded)):
        return None
    free = indifferent(asked, [*taken_as_known(asked)][-1])
    if free and (names is None or free.code != "not_identified" or not {*free.violated}.isdisjoint(names)):
        return None
    found = next(filter(None, (backwards(asked, known, names) for known in taken_as_known(asked))), None)
    if found is None:
        return None
    solution = _turned_round(asked, found)
    if solution.answers:
        return _within(asked, solution, found, bounded) if bounded else solution
    said = solution.refusal.code not in LEAVES_OPEN if bounded else not stopped
    return solution if said else None


def _within(asked: Question, solution: Solution, found: Backwards, bounded: Solution) -> Solution:
    """What leads to one result, as far as another leaves it possible."""
    answers = tuple(left for one in solution.answers for left in _left_of(one, bounded))
    if not answers:
        place, ids = show(asked.unknown, inside(solution.answers[0])), ", ".join(bounded.equations)
        message = f"contradiction: {asked.unknown} = {place} by {found.by.id} from {found.name}, which is ruled out by {ids}"
        return without_answer(asked, Reason(code="contradiction", violated=(found.name,), message=message))
    return replace(solution, answers=answers, unused=tuple(name for name in solution.unused if name not in bounded.given))


def _only_bounded(solution: Solution) -> bool:
    return any(one.kind != "point" for one in solution.answers)


def _aside(asked: Question, solution: Solution) -> list[str]:
    """Results that were given, are made of the unknown, and had no part in an answer."""
    return [name for name in made_of(asked, asked.unknown) if name in left_unused(asked, {*solution.given})]


def _left_of(one: Answer, bounded: Solution) -> Iterator[Answer]:
    """What an answer and bounds have in common."""
    low, high = one.ends
    for least, most in (other.ends for other in bounded.answers):
        lowest, highest = max(low, least), min((end for end in (high, most) if end is not None), default=None)
        if highest is None or lowest <= highest * (1 + HOLDS):
            yield one if one.kind == "point" else replace(one, low=lowest, high=highest)


def _turned_round(asked: Question, found: Backwards) -> Solution:
    """What a result comes to at every value that leads to it, as answers of the quantity that was asked for."""
    name, unknown = found.name, asked.unknown
    target = show(name, asked.known[name])
    if (None, None) in found.found:
        message = f"{name} does not depend on {unknown}: it is {target} with any {unknown}"
        return without_answer(asked, Reason(code="not_identified", violated=(name,), message=message))
    if not found.found:
        reach = [show(name, end) for end in found.reach or ()]
        runs = f": it runs from {' to '.join(reach)} over all {unknown}" if reach else ""
        message = f"no {unknown} leads to {name} = {target}{runs}"
        return without_answer(asked, Reason(code="no_solution", violated=(name,), message=message))
    candidates = [_span(unknown, *ends) for ends in found.found]
    worlds = [result_where(asked, name, inside(one)) for one in candidates]
    ends = [(candidate, one) for candidate, one in zip(candidates, worlds, strict=True) if one.answers]
    if not ends:
        return without_answer(asked, worlds[0].refusal)
    answers = tuple(_answer_behind(_nearest(one, asked.known[name]), asked, candidate, found) for candidate, one in ends)
    first = ends[0][1]
    given = {other: value for other, value in first.given.items() if other != unknown} | {name: asked.known[name]}
    said = {**dict(zip(first.kinds, first.warnings, strict=True)), **less_than_one(unknown, answers)}
    value = answers[0].value
    return replace(
        first,
        unknown=unknown,
        unit=QUANTITIES[unknown].unit,
        answers=answers,
        given=given,
        provenance={other: asked.provenance.get(other, "default") for other in given},
        unused=left_unused(asked, {*given}),
        warnings=tuple(said.values()),
        kinds=tuple(said),
        route=(*first.route, RouteStep(equations=(found.by.reference,), unknown=unknown, value=value, forwards=name)),
        further=tuple(
            (*one.route, RouteStep(equations=(found.by.reference,), unknown=unknown, value=at.value, forwards=name)) for at, one in ends[1:]
        ),
    )


def _span(unknown: str, low: float | None, high: float | None) -> Answer:
    """A point, or a stretch, whose ends are those of the domain where they are as far as was looked."""
    if low == high:
        return Answer(kind="point", value=low)
    row = QUANTITIES[unknown]
    top = row.ceiling if high is None else high
    return Answer(kind="interval", low=row.floor if low is None else low, high=top if isfinite(top) else None)


def _nearest(solution: Solution, target: float) -> Answer:
    """Of several answers the one that was followed."""
    return min(solution.answers, key=lambda one: abs(inside(one) - target))


def result_where(asked: Question, name: str, root: float) -> Solution:
    """The result asked for at a value of what was asked."""
    known = {**{other: value for other, value in asked.known.items() if other != name}, asked.unknown: root}
    return forwards(replace(asked, unknown=name, known=known))


def forwards(asked: Question) -> Solution:
    """What a question comes to by equalities alone."""
    outcome = _by(asked, tuple(row for row in asked.active if row.sense == "="), [])
    return outcome[0] if outcome else without_answer(asked, missing_givens(asked, asked.known))


def _answer_behind(result: Answer, asked: Question, candidate: Answer, found: Backwards) -> Answer:
    """The value of the unknown behind a result, which moves as the result does turned round, and errs the other way where that rises."""
    if candidate.kind != "point":
        return replace(candidate, regime=result.regime, residual=0.0)
    name, unknown = found.name, asked.unknown
    bound = _turned(result.bound, found.rises)

    def slopes() -> Mapping[str, float]:
        steep = result.elasticities.get(unknown, 0.0)
        moved = {other: -slope / steep for other, slope in result.elasticities.items() if other != unknown} if steep else {}
        return {**moved, name: 1 / steep} if steep else {}

    apart = abs(inside(result) / asked.known[name] - 1)
    return replace(candidate, regime=result.regime, elasticities=WhenRead(slopes), residual=apart, bound=bound)


def _told(asked: Question, stops: Sequence[tuple[Stop, Route]]) -> Reason:
    """Why there is no answer: where nothing will do on the first way, in terms of what is asked if another way says so.

    What can be reached is not said of a quantity that others on the way were worked out from.
    """
    first = stops[0][0].reason
    if first.code != "no_solution":
        return first
    plain = (stop.reason for stop, way in stops if stop.leg.unknown == asked.unknown and not _turns_on_itself(way, stop.leg))
    return next((reason for reason in plain if reason.code == first.code), first)


def _turns_on_itself(way: Route, leg: Leg) -> bool:
    """Whether the left side of a leg went into what its right side is made of."""
    left = leg.cases[0].symbols[0]
    return any(left in one.symbols and one.unknown in leg.symbols for one in way.legs if one is not leg)


def _left_aside(asked: Question, bounded: Solution, way: Route) -> Reason | None:
    """A result that was given, rests on the unknown and has no part in its bounds: these are not what was asked for.

    One that comes to what was given whatever the unknown is takes nothing from bounds that equations lead to.
    """
    free = indifferent(asked, [*taken_as_known(asked)][-1])
    if free and free.violated[0] in left_unused(asked, {*bounded.given}):
        by_equations = all(row.sense == "=" for row in way.rows)
        return None if by_equations and free.code == "not_identified" else free
    definitions = {**{row.defines: row for row in asked.left_out if row.defines}, **giving(asked.active)}
    for name in (name for name in left_unused(asked, {*bounded.given}) if name in definitions):
        rests, queue = {name: definitions[name]}, [name]
        while queue:
            row = definitions.get(queue.pop())
            if row is None:
                continue
            new = [other for other in row.symbols if other not in asked.known and other not in rests]
            rests |= dict.fromkeys(new, row)
            queue += new
        if asked.unknown in rests:
            told = f"{name} = {show(name, asked.known[name])} says something of {asked.unknown}"
            untrue = [row.id for row in asked.left_out if row in rests.values()]
            if untrue:
                why = f"by {', '.join(untrue)}, which is left out, as not all that this model reads grows with its context"
                return Reason(code="not_identified", violated=tuple(untrue), message=f"{told} {why}")
            rest = missing_givens(asked, [*taken_as_known(asked)][-1])
            return replace(rest, message=f"{told}, but not what with these givens alone: {rest.message}")
    return None


def _more_is_said(asked: Question, bounded: Solution) -> Reason | None:
    """What the definition of the unknown still needs, where it is made of more that was given than its bounds are, or of a model that
    is named and of which they say nothing.
    """
    definitions = giving(asked.active)
    if asked.unknown not in definitions:
        return None
    made, queue = set[str](), [asked.unknown]
    while queue:
        row = definitions.get(queue.pop())
        new = {*row.symbols} - {*made, asked.unknown} if row else set[str]()
        made |= new
        queue += [name for name in new if name not in asked.known]
    of_model = {*PARAMETERS} if asked.published and bounded.given.keys().isdisjoint(PARAMETERS) else set()
    if made.isdisjoint({*left_unused(asked, {*bounded.given}), *of_model}):
        return None
    reason = missing_givens(asked, [*taken_as_known(asked)][-1])
    (low, high), ids = bounded.answers[0].ends if bounded.answers else (None, None), ", ".join(bounded.equations)
    ends = [f"at {word} {show(asked.unknown, end)}" for word, end in (("least", low), ("most", high)) if end]
    if not reason.missing or not ends:
        return None
    return replace(reason, message=f"{reason.message}\nall that is known of it is that it is {' and '.join(ends)} ({ids})")


def _by(asked: Question, rows: tuple[Equation, ...], stops: list[tuple[Stop, Route]]) -> tuple[Solution, Route] | None:
    """The first answer that a route through these equations gives; `stops` collects where routes ended."""
    for known in taken_as_known(asked):
        failed: Failed = frozenset()
        here = len(stops)
        while (way := route(asked.unknown, rows, frozenset(known), failed)) is not None:
            outcome = _along(asked, known, way)
            if isinstance(outcome, Solution):
                return outcome, way
            stops.append((outcome, way))
            failed |= {(outcome.leg.id, outcome.leg.unknown)}
        for stop, way in stops[here:]:
            carried = way.carried(stop.leg) if stop.reason.code == "not_identified" else None
            further = _along(asked, known, carried) if carried else None
            if carried and isinstance(further, Solution) and further.answers:
                return further, carried
    return None


def _along(asked: Question, known: Mapping[str, float], way: Route) -> Solution | Stop:
    """What a route comes to with numbers, held against the memory of the batch that makes a given rate where it speaks of none."""
    outcome = follow(asked, known, way)
    if isinstance(outcome, Stop) or outcome.reason or SHORT in outcome.kinds or any(step.unknown == FREE for step in outcome.route):
        return outcome
    short = _batch_does_not_fit(asked)
    if short is None:
        return outcome
    if not only_said(asked, way):
        return without_answer(asked, short, outcome.route)
    told = "; ".join(short.message.split("\n"))
    return replace(outcome, warnings=(told, *outcome.warnings), kinds=(SHORT, *outcome.kinds))


def _batch_does_not_fit(asked: Question) -> Reason | None:
    """The memory that is short of the batch that makes a given rate, where nothing says how large it is; None where all is well."""
    if asked.unknown == FREE or FREE in asked.known or not batch_is_left_to_a_rate(asked):
        return None
    batch = replace(posed(asked, FREE, asked.known), silent=True)
    reason = by_any_way(batch, told=False)[0].reason
    if reason and (usual := in_usual_types(batch, reason.missing)):
        reason = by_any_way(usual, told=False)[0].reason
    return reason if reason and reason.code == SHORT_OF_MEMORY else None


def _bounded(asked: Question, stops: list[tuple[Stop, Route]]) -> tuple[Solution, Route] | None:
    """What inequalities on quantities that are made of the unknown leave of it."""
    for known in taken_as_known(asked):
        for way in bounding(asked.unknown, asked.bounds, asked.active, frozenset(known)):
            outcome = _along(asked, known, way)
            if isinstance(outcome, Stop):
                stops.append((outcome, way))
            elif _says_something(asked, outcome):
                return outcome, way
    return None


def _says_something(asked: Question, bounded: Solution) -> bool:
    """Whether bounds are more than the domain of the unknown and rest on more than defaults; a refusal always does."""
    cut = any(one.least > 0 or one.high not in (None, QUANTITIES[asked.unknown].ceiling) for one in bounded.answers)
    return not bounded.answers or (cut and not asked.known.keys().isdisjoint(bounded.given))


def may_err(asked: Question, solution: Solution, way: Route | None, found: Answer) -> Causes:
    """Which way an answer errs, as what rests on it takes it: neither where it is exact, either where that is not known."""
    if found.bound:
        return frozenset([(asked.unknown, found.bound)])
    exact = way and carried(way, taken_for_granted(asked, way, {**solution.given, asked.unknown: found.point})) == NEITHER
    return frozenset() if exact else frozenset((asked.unknown, side) for side in (LOWER, UPPER))
