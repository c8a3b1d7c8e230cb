"""Generate questions about consistent deployments, ask them, and count how they end.

    python -m campaigns.generated_questions --count 20000 --seed 1 --failures folder

A deployment has a value for every quantity, and all equations hold. A question gives some of its quantities as `=`, `<=` or `>=` and
asks for another one. The deployment itself is a solution, so an answer is right if it contains the value of the deployment. A refusal
is a fault if the given equalities determine the unknown: its unit row is then a combination of rows of the Jacobian of the equations,
and other values of what the refusal lacks lead to no other answers.
Exit status 1 if an answer is wrong, a consistent question is called contradictory, or a question ends in an exception or takes too long.
"""

import argparse
import json
import os
import resource
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, islice
from math import ceil, floor, inf, isclose, isfinite, nan
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from shlex import quote
from time import process_time
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # Threads of a linear algebra library would count as memory and as CPU time.

import numpy as np
from scipy.linalg import lstsq

from campaigns.states import State, states, untrue_defaults
from derive import solve
from derive.answers import COUNTED
from derive.catalogue import by_id, equation
from derive.errors import BacksolveError, WrongValue
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES, meant_beside
from derive.records import LOWER, UPPER, Equation, Variant
from derive.solving.question.defaults import defaults_in_force
from derive.solving.question.questions import OF_DENSE
from derive.solving.result import Answer, Solution
from derive.trees import Tree
from derive.trees import slopes as derivatives

RESOURCES = ("chips", "replicas", "fleet_chips", "batch", "racks", "sequences_in_flight", "fleet_cost", "training_chips")
"""What is bought or sized: results given beside these are targets."""
SIZES = ("batch", "chips", "replicas", "context_length", "sequences_in_flight", "microbatches", "pipeline_stages")
"""What a limit leaves open if it is neither given nor asked for."""

WHOLE = {*COUNTED, "pipeline_stages", "fleet_sequences_in_flight"}
"""What the program rounds to whole ones."""

NO_WHOLE = "no whole value of "
"""How the reason begins if limits leave only parts."""

MET = (" is met", " are met")
"""How an answer ends the line of its targets. They are limits."""

QUESTIONS_PER_DEPLOYMENT = 16
NO_SLOPE, IN_ROW_SPACE, MOST_WEIGHT = 1e-12, 1e-9, 1e4
"""The relative slope that counts as none, the distance up to which a row lies in the row space, and the weight of an equation
above which the last digits of the facts decide the unknown."""
ELSEWHERE, TRIALS = (1e-6, 0.001, 0.03, 0.3, 3, 30, 1000, 1e6), 16
"""Factors of the true values of what a refusal lacks, and how often they are drawn."""
AGREES, LAST_DIGIT = 1e-6, 1e-15
"""Relative difference up to which a point is right, and the relative rounding of the values of a deployment."""
PRICE, RENT = "chip_price", "rented_chip_price"
CLAIMS = ("contradiction", "no_solution", "requirement_violated")
"""Reasons which claim that the facts cannot all be true."""
SLOW, TOO_SLOW, STOPPED, MEMORY = 1.0, 5.0, 20, 500_000_000
"""CPU seconds: reported, too long, and where the process is stopped. Bytes of data that a process may have."""
FAILURES = ("wrong", "contradiction", "crashed", "killed", "memory", "refused, determined", "lost")
"""Ends that are written to the file of failures."""
FATAL = ("wrong", "contradiction", "crashed", "killed", "memory")


class Form(NamedTuple):
    """How the facts of a question are drawn around an anchor.

    `results` and `lost` are numbers to choose from: of results that rest on the anchor, and of quantities beside it that are not given.
    `asked` is what is asked for: the anchor, one of the results, or any "other", and then the anchor is not given.
    `signs` are choices of signs for the results, one character each.
    """

    anchors: tuple[str, ...] = ()
    results: tuple[int, ...] = (1,)
    lost: tuple[int, ...] = (0,)
    asked: str = "anchor"
    signs: tuple[str, ...] = ("===",)


COUPLED = Form(results=(2, 2, 3), lost=(1, 1, 2))
FORMS = (
    Form(asked="result"),
    Form(lost=(0, 0, 1)),
    COUPLED,
    Form(results=(1, 2), signs=("<<", "<>", ">>", "><")),
    Form(SIZES, results=(2, 3), lost=(0, 1), asked="other", signs=("<<>", "><<", ">>=", "<=>")),
    Form(RESOURCES, results=(2, 3), signs=("===", "<<>", "=<>", "><<", ">>=")),
    Form(results=(2, 3), lost=(0, 0, 1), signs=("=<>", "=>=", "<=<", "=<<", ">==")),
)
"""Forwards, backwards, coupled, limits, a limit beside an unknown size, several targets, mixed."""


@dataclass(frozen=True)
class Deployment:
    """A consistent state with what follows from its equations: what is made of what, and how everything moves with everything."""

    state: State

    @cached_property
    def rows(self) -> tuple[Equation, ...]:
        """The equations that hold as equalities, bounds that are reached included."""
        return tuple(row for row in self.state.rows if row.sense == "=")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All quantities, in the order of the columns of the Jacobian."""
        return tuple(sorted(self.state.values))

    @cached_property
    def made(self) -> dict[str, Equation]:
        """For each quantity the equation that defines it."""
        return {row.symbols[0]: row for row in reversed(self.rows) if row.defines and not row.stand_in}

    @cached_property
    def roots(self) -> dict[str, set[str]]:
        """For each quantity with a definition all quantities that it is made of."""
        found: dict[str, set[str]] = {}
        for name in self.made:
            queue, rests = [name], set[str]()
            while queue:
                new = self.made[one].inputs - rests if (one := queue.pop()) in self.made else set()
                rests |= new
                queue += new
            found[name] = rests
        return found

    @cached_property
    def coupled(self) -> list[set[str]]:
        """For each equation the quantities that move with each other by it."""
        return [{self.names[place] for place in np.flatnonzero(line)} for line in self.jacobian]

    @cached_property
    def jacobian(self) -> Any:
        """The relative slopes of all equations, one row each, scaled to a largest slope of 1. Slopes of rounding alone are 0."""
        found = np.zeros((len(self.rows), len(self.names)))
        for line, row in zip(found, self.rows, strict=True):
            for name, slope in slopes(row, self.state.values).items():
                line[self.names.index(name)] = slope
        found /= np.abs(found).max(axis=1, keepdims=True)
        found[np.abs(found) < NO_SLOPE] = 0
        return found


@dataclass(frozen=True)
class Question:
    """An unknown of a deployment, and facts about it: the sign and the value of each given quantity."""

    deployment: Deployment = field(repr=False)
    unknown: str
    facts: Mapping[str, tuple[str, float]]
    variants: Mapping[str, str]
    using: tuple[str, ...]

    @property
    def given(self) -> dict[str, float | str]:
        """The facts as keywords of `solve`."""
        return {name: value if sign == "=" else f"{sign}{value!r}" for name, (sign, value) in self.facts.items()}

    @property
    def limits(self) -> set[str]:
        """The quantities that are given as at most or at least so much."""
        return {name for name, (sign, _) in self.facts.items() if sign != "="}

    @property
    def command(self) -> str:
        """The question as a command."""
        facts = (f"{name}{sign}{value!r}" for name, (sign, value) in self.facts.items())
        ids = [row.id for row in by_id().values() if row.variant and self.is_chosen(row.variant)]
        using = (word for id in (*self.using, *ids) for word in ("--using", id))
        return " ".join(map(quote, ("backsolve", "solve", self.unknown, *facts, *using, *([] if self.using else ["--strict"]))))

    def is_chosen(self, variant: Variant) -> bool:
        """Return whether the question asks for a variant that is not the default."""
        return not variant.default and self.variants.get(variant.group) == variant.name


@dataclass(frozen=True)
class End:
    """How a question ended: one word, what the program said, the CPU time in seconds, and what a refusal lacks."""

    word: str
    said: str = ""
    seconds: float = 0.0
    question: Question | None = field(default=None, repr=False)
    missing: Sequence[str] = ()


# -- what the facts determine ------------------------------------------------------------------------------------------


def slopes(row: Equation, values: Mapping[str, float]) -> dict[str, float]:
    """Return d ln(left)/d ln(quantity) of an equation for each of its quantities; a quantity that is 0 is scaled by a usual value."""
    scales = {name: values[name] or QUANTITIES[name].at(0.1) for name in row.symbols}
    left, right = row.trees
    return {left: -1.0, **{name: slope_at(right, name, values) * scales[name] / scales[left] for name in row.inputs}}


def slope_at(tree: Tree, name: str, values: Mapping[str, float]) -> float:
    """Return the derivative of a tree by a quantity; 0 where there is none."""
    try:
        slope = derivatives(tree, values, wanted=frozenset([name]))[1].get(name, 0.0)
    except (ArithmeticError, ValueError):
        return 0.0
    return slope if isfinite(slope) else 0.0


def known_by_default(question: Question) -> tuple[set[str], list[tuple[str, str]]]:
    """Return the quantities whose neutral defaults are in force and true, and pairs that are equal by a default that is true."""
    values, claimed = question.deployment.state.values, [equation(id).symbols[0] for id in question.using]
    at_hand = {*question.facts}
    in_force = {
        name: other
        for name, other in defaults_in_force(question.unknown, at_hand, claimed, question.deployment.state.made).items()
        if name in values
    }
    numbers = {name for name, other in in_force.items() if not isinstance(other, str) and isclose(values[name], other)}
    pairs = [(name, other) for name, other in in_force.items() if isinstance(other, str) and isclose(values[name], values.get(other, nan))]
    return numbers, pairs


def determining_equations(question: Question) -> tuple[str, ...]:
    """Return the ids of equations that fix the unknown, given the equalities and the defaults in force; none if nothing does."""
    deployment = question.deployment
    defaults, pairs = known_by_default(question)
    known = defaults | (question.facts.keys() - question.limits)
    equal = np.zeros((len(pairs), len(deployment.names)))
    for line, pair in zip(equal, pairs, strict=True):
        line[[deployment.names.index(name) for name in pair]] = 1, -1
    free = [place for place, name in enumerate(deployment.names) if name not in known]
    unit = np.array([float(deployment.names[place] == question.unknown) for place in free])
    ids = [*(row.id for row in deployment.rows), *(f"{name} = {other} by default" for name, other in pairs)]
    rows = weights_in(np.vstack([deployment.jacobian, equal])[:, free], unit)
    return tuple(ids[place] for place in np.flatnonzero(np.abs(rows) > 1e-6)) if rows is not None else ()


def weights_in(matrix: Any, unit: Any) -> Any:
    """Return the weights with which the rows of a matrix add up to a unit row; None if they do not, or only with large weights."""
    weights = lstsq(matrix.T, unit, cond=IN_ROW_SPACE, check_finite=False)[0]
    adds_up = np.abs(weights @ matrix - unit).max() < IN_ROW_SPACE
    return weights if adds_up and np.abs(weights).max() < MOST_WEIGHT else None


def has_other_answers(question: Question, missing: Sequence[str]) -> bool:
    """Return whether other values of what a refusal lacks lead to several answers: then the facts alone do not determine the unknown.

    Slopes say what is determined near the values of the deployment. A quantity that has no effect there may have one further away.
    """
    found, values, random = set[float](), question.deployment.state.values, Random(question.unknown)
    for _ in range(TRIALS if missing else 0):
        supplied = {name: ("=", random.choice(ELSEWHERE) * (values.get(name) or QUANTITIES[name].at(0.5))) for name in missing}
        with suppress(BacksolveError):
            _, solution = ask(replace(question, facts={**question.facts, **supplied}))
            found |= {one.point for one in solution.answers if one.kind == "point"}
    return bool(found) and not isclose(min(found), max(found), rel_tol=AGREES)


def needs_several_at_once(question: Question) -> bool:
    """Return whether no chain of equations with one unknown each leads to the unknown."""
    deployment = question.deployment
    defaults, pairs = known_by_default(question)
    groups = deployment.coupled + [{*pair} for pair in pairs]
    known = defaults | (question.facts.keys() - question.limits)
    while new := {name for names in groups if len(left := names - known) == 1 for name in left}:
        known |= new
    return question.unknown not in known


# -- drawing questions -------------------------------------------------------------------------------------------------


def deployment_of(seed: int, place: int) -> Deployment:
    """Draw a deployment: the same one for the same seed and place. In every second one more defaults are true."""
    return Deployment(next(states(Random(f"{seed} {place}"), (0.6, 0.9)[place % 2])))


def question_of(seed: int, number: int, deployment: Deployment) -> Question:
    """Draw a question about a deployment: the same one for the same seed and number. All forms take turns."""
    random, turn = Random(f"{seed} question {number}"), number % (len(FORMS) + 1)
    form = FORMS[turn] if turn < len(FORMS) else None
    drawn = filter(None, (draw(random, deployment, form) if form else draw_anything(random, deployment) for _ in count()))
    if form is not COUPLED:
        return next(drawn)
    # One draw of fifteen is coupled.
    return next((one for one in islice(drawn, 20) if needs_several_at_once(one) and determining_equations(one)), next(drawn))


def draw(random: Random, deployment: Deployment, form: Form) -> Question | None:
    """Draw a question of a form: results that rest on an anchor, and what else they are made of."""
    state, roots = deployment.state, deployment.roots
    parts = set[str]().union(*roots.values())
    anchor = random.choice(sorted(parts.intersection(form.anchors) or parts))
    beside = sorted({name for row in deployment.made.values() if anchor in row.inputs for name in row.inputs} - {anchor})
    lost = random.sample(beside, min(len(beside), random.choice(form.lost)))
    above = sorted((name for name in roots if roots[name] >= {anchor, *lost} and name not in lost), key=lambda name: len(roots[name]))
    if not above:
        return None
    results, wanted = set[str](), min(random.choice(form.results), len(above))
    while len(results) < wanted:
        results.add(above[int(len(above) * random.random() ** 2)])  # Most are near: made of few quantities.
    ends, inner = taken_apart(random, deployment, results, {anchor, *lost})
    unknown = random.choice({"anchor": [anchor], "result": sorted(results), "other": sorted({*lost, *inner, *results})}[form.asked])
    if form.asked == "other":
        lost.append(anchor)
    signs = {name: "=" for name in sorted(ends - {*lost}) if not is_true_default(state, name) or random.random() < 0.3}
    signs |= dict(zip(random.sample(sorted(results), len(results)), random.choice(form.signs), strict=False))
    signs |= {name: "=" for name in random.sample(deployment.names, random.choice((0, 0, 0, 1, 3))) if name not in signs}
    signs.pop(unknown, None)
    return stated(deployment, unknown, signs, random)


def draw_anything(random: Random, deployment: Deployment) -> Question | None:
    """Draw any facts and any unknown."""
    unknown, *chosen = random.sample(deployment.names, random.randint(4, 16))
    return stated(deployment, unknown, {name: random.choice("=====<>") for name in chosen}, random)


def taken_apart(random: Random, deployment: Deployment, results: set[str], whole: set[str]) -> tuple[set[str], set[str]]:
    """Return what results are made of, some parts taken apart further: the last ones and those between.

    All that rests on what is left whole is taken apart, so that nothing else says how much that is.
    """
    ends, inner, queue = set[str](), set[str](), sorted(results)
    while queue:
        row = deployment.made.get(queue.pop())
        for name in sorted(row.inputs - results - inner - ends if row else ()):
            apart = name not in whole and name in deployment.made
            if apart and (not whole.isdisjoint(deployment.roots[name]) or random.random() < 0.4):
                inner.add(name)
                queue.append(name)
            else:
                ends.add(name)
    return ends, inner


def is_true_default(state: State, name: str) -> bool:
    """Return whether a quantity has its neutral default in a state."""
    return NEUTRAL_DEFAULTS.get(name) == state.values[name]


def stated(deployment: Deployment, unknown: str, signs: Mapping[str, str], random: Random) -> Question | None:
    """State a question: limits have slack, and all that the program would suppose otherwise is given. None if words cannot state it."""
    state, facts = deployment.state, dict[str, tuple[str, float]]()
    for name, sign in signs.items():
        truth, slack = state.values[name], random.uniform(1.02, 2.0)
        limit = truth * slack if sign == "<" else truth / slack
        low, high = QUANTITIES[name].limits()
        facts[name] = (f"{sign}=", limit) if sign != "=" and truth and low <= limit <= high else ("=", truth)
    while untrue := untrue_defaults(state, unknown, {*facts}):
        facts |= {name: ("=", state.values[name]) for name in sorted(untrue)}
    facts = as_said(unknown, facts)
    if untrue_defaults(state, unknown, {*facts}):
        return None
    order = random.sample(sorted(facts), len(facts))
    return Question(deployment, unknown, {name: facts[name] for name in order}, state.variants, state.using)


def as_said(unknown: str, facts: Mapping[str, tuple[str, float]]) -> dict[str, tuple[str, float]]:
    """Return the facts without those whose name means another quantity beside the others."""
    names = (unknown, *facts)
    return {name: fact for name, fact in facts.items() if meant_beside(name, names, (unknown,)) == name}


def kind_of(question: Question, determined: bool) -> str:
    """Return which of the kinds of the table a question belongs to."""
    roots, given = question.deployment.roots, question.facts.keys()
    results = {name for name in given if question.unknown in roots.get(name, ())}
    limits = results & question.limits
    open_sizes = {name for name in SIZES if name not in given and name != question.unknown}
    if question.unknown in RESOURCES and len(results) > 1:
        return "several targets"
    if not determined and any(open_sizes & roots.get(name, set()) for name in question.limits):
        return "limit beside an unknown size"
    if limits and results - limits:
        return "mixed given results"
    if question.limits:
        return "limits"
    if determined and needs_several_at_once(question):
        return "coupled unknowns"
    return "result given" if results else "no result given"


# -- asking ------------------------------------------------------------------------------------------------------------


def ask(question: Question, times: list[float] | None = None) -> tuple[Question, Solution]:
    """Ask a question until nothing is supposed that the deployment has otherwise; return it as it was asked last, and what it came to.

    `times` receives the CPU seconds of each attempt.
    """
    values = question.deployment.state.values
    while True:
        start = process_time()
        try:
            solution = solve_it(question)
            if times is not None:
                times.append(process_time() - start)
        except WrongValue as refused:
            idle = next((id for id in question.using if str(refused).startswith(f"{id} is not part of ")), "")
            if not idle:
                raise
            question = with_facts(replace(question, using=tuple(id for id in question.using if id != idle)), {})
            continue
        untrue = {name for name, source in solution.provenance.items() if source in ("supposed", OF_DENSE)}
        supposed = {name: ("=", values[name]) for name in sorted(untrue & values.keys())}
        facts = {**question.facts}
        if RENT in solution.provenance and PRICE in facts:
            # Beside the share of time in use, the price of a chip was read as its rent. The deployment has another name for that.
            del facts[PRICE]
            supposed[RENT] = ("=", values[RENT])
        if not supposed.keys() - facts.keys():
            return question, solution
        question = with_facts(replace(question, facts=facts), supposed)


def with_facts(question: Question, facts: Mapping[str, tuple[str, float]]) -> Question:
    """Return the question with more facts, and with all that the program would then suppose otherwise."""
    facts, values = {**question.facts, **facts}, question.deployment.state.values
    while untrue := untrue_defaults(question.deployment.state, question.unknown, {*facts}):
        facts |= {name: ("=", values[name]) for name in sorted(untrue)}
    return replace(question, facts=as_said(question.unknown, facts))


def solve_it(question: Question) -> Solution:
    """Solve a question; if memory is claimed to be too short, without regard to that."""
    options: dict[str, Any] = {"using": question.using, "variants": question.variants, "strict": not question.using}
    solution = solve(question.unknown, given=question.given, **options)
    if solution.reason and not solution.answers and solution.reason.code in CLAIMS[1:]:
        return solve(question.unknown, given=question.given, anyway=True, **options)
    return solution


def contains(answer: Answer, truth: float, limited: bool) -> bool:
    """Return whether an answer contains a value. Beside limits a point that is a bound stands for all beyond it."""
    low, high = answer.ends
    slack = AGREES * abs(truth)
    if answer.kind == "point":
        slack = max(slack, LAST_DIGIT * sum(map(abs, answer.elasticities.values())) * max(abs(truth), abs(answer.point)))
        low, high = (0.0 if limited and answer.bound == UPPER else low), (inf if limited and answer.bound == LOWER else high)
    return low - slack <= truth <= (inf if high is None else high) + slack


def lies_beside_whole_size(answer: Answer, truth: float, solution: Solution) -> bool:
    """Return whether an answer at a size in whole ones is no farther from a value than the next whole size moves it."""
    sizes = [solution.given[name] for name, source in solution.provenance.items() if name in WHOLE and source.startswith(f"at {name} = ")]
    return any(truth * size / (size + 1) <= end <= truth * (1 + 1 / size) for size in sizes for end in answer.ends if end is not None)


def end_of(question: Question) -> End:
    """Ask a question and say how it ends. What is counted may be answered in whole ones."""
    start, times = process_time(), list[float]()
    try:
        question, solution = ask(question, times)
    except MemoryError:
        return End("memory", seconds=process_time() - start, question=question)
    except BacksolveError as refused:
        return End("refused", f"{type(refused).__name__}: {refused}", process_time() - start, question)
    except Exception as fault:  # whatever it is, no question may end in it
        return End("crashed", f"{type(fault).__name__}: {fault}", process_time() - start, question)
    seconds = max(times)
    if solution.answers:
        truth = question.deployment.state.values[solution.unknown]
        near = {truth, *((float(floor(truth)), float(ceil(truth))) if solution.unknown in WHOLE else ())}
        limited = bool(question.limits) or any(text.endswith(MET) for text in solution.said)
        right = any(contains(one, value, limited) for one in solution.answers for value in near)
        right = right or any(lies_beside_whole_size(one, truth, solution) for one in solution.answers)
        return End("right" if right else "wrong", f"{solution.unknown} = {' or '.join(map(str, solution.answers))}", seconds, question)
    reason = solution.reason
    assert reason
    # A deployment may have a part of a chip or of a sequence, and no answer has.
    word = "right" if reason.message.startswith(NO_WHOLE) else "contradiction" if reason.code in CLAIMS else "refused"
    return End(word, f"{reason.code}: {reason.message}; missing {reason.missing}", seconds, question, reason.missing)


def with_another_fact(random: Random, question: Question) -> Question | None:
    """Return the question with one more true fact, unless another default would then be supposed."""
    values = question.deployment.state.values
    name = random.choice(sorted(values.keys() - question.facts.keys() - {question.unknown}))
    more = with_facts(question, {name: ("=", values[name])})
    return more if len(more.facts) == len(question.facts) + 1 else None


def record(seed: int, number: int, deployment: Deployment) -> tuple[dict[str, Any], Question]:
    """Ask a question of a campaign, and once more with one more fact if it has an answer. Return what became of it, and what failed."""
    question = question_of(seed, number, deployment)
    end = end_of(question)
    asked = end.question or question
    equations = determining_everywhere(asked, end)
    words, failed = [worded(end, equations)], end
    if end.word == "right" and (more := with_another_fact(Random(number), asked)):
        again = end_of(more)
        if again.word != "right":
            words.append("lost" if again.word == "refused" else again.word)
            failed = again
    found = {
        **{"number": number, "kind": kind_of(asked, bool(equations)), "ends": words, "determined": bool(equations)},
        **{"seconds": round(max(end.seconds, failed.seconds), 3), "said": failed.said, "unknown": asked.unknown},
        **{"truth": deployment.state.values[asked.unknown], "equations": equations, "command": (failed.question or asked).command},
    }
    return found, failed.question or asked


def determining_everywhere(question: Question, end: End) -> tuple[str, ...]:
    """Return the equations that determine the unknown, none of a refusal that has an answer for each value of what it lacks."""
    equations = determining_equations(question)
    return () if equations and end.word == "refused" and has_other_answers(question, end.missing) else equations


def worded(end: End, equations: Sequence[str]) -> str:
    """The word of an end; of a refusal also whether the facts determine the unknown."""
    return end.word if end.word != "refused" else f"refused, {'determined' if equations else 'not determined'}"


def shrunk(found: dict[str, Any], question: Question) -> dict[str, Any]:
    """Leave out of a failing question what does not matter for it to fail.

    A refusal stays determined by equations that determined it before. Other failures keep what would be supposed otherwise.
    """
    word, refused = found["ends"][-1], found["ends"][-1].startswith("refused")

    def fails(shorter: Question) -> bool:
        end = end_of(shorter)
        equations = determining_everywhere(end.question or shorter, end) if refused else ()
        supposed = untrue_defaults(question.deployment.state, question.unknown, {*shorter.facts}) and not refused
        return not supposed and worded(end, equations) == word and {*equations} <= {*found["equations"]}

    if word not in FAILURES or not fails(question) or found["seconds"] > SLOW / 2:
        return found
    for part in ("facts", "variants") if refused else ("facts",):
        for name in [*getattr(question, part)]:
            shorter = replace(question, **{part: {one: value for one, value in getattr(question, part).items() if one != name}})
            question = shorter if fails(shorter) else question
    for id in question.using:
        shorter = replace(question, using=tuple(other for other in question.using if other != id))
        question = shorter if fails(shorter) else question
    return {**found, "said": end_of(question).said, "command": question.command}


# -- a campaign --------------------------------------------------------------------------------------------------------


def work(results: Connection, seed: int, numbers: range, shorten: bool) -> None:
    """Ask questions in a process of its own: the number of each is sent before it is asked, and what became of it after."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    deployment, place = None, -1
    for number in numbers:
        if deployment is None or number // QUESTIONS_PER_DEPLOYMENT != place:
            place = number // QUESTIONS_PER_DEPLOYMENT
            deployment = deployment_of(seed, place)
        results.send(number)
        signal.setitimer(signal.ITIMER_VIRTUAL, STOPPED)  # Its signal ends the process, whatever runs.
        found, question = record(seed, number, deployment)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        results.send(shrunk(found, question) if shorten else found)
        if "memory" in found["ends"]:
            return


def records(seed: int, count: int, shorten: bool, each: int = 256) -> Iterator[dict[str, Any]]:
    """Ask the questions of a campaign in one process after another; a question that ends its process is recorded as killed."""
    start, context = 0, get_context("spawn")
    while start < count:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(theirs, seed, range(start, min(start + each, count)), shorten))
        process.start()
        theirs.close()
        asked = start - 1
        with suppress(EOFError):
            while True:
                asked = ours.recv()
                yield ours.recv()
                start = asked + 1
        process.join()
        if asked >= start:
            question = question_of(seed, asked, deployment_of(seed, asked // QUESTIONS_PER_DEPLOYMENT))
            yield {"number": asked, "kind": kind_of(question, False), "ends": ["killed"], "seconds": STOPPED, "command": question.command}
            start = asked + 1
        elif process.exitcode:
            raise SystemExit(f"a process ended with {process.exitcode} between two questions, after {asked}")


def table(found: Mapping[str, Counter[str]]) -> str:
    """One line for each kind, one column for each end."""
    total = sum(found.values(), Counter[str]())
    words = ["asked", "right", "wrong", "refused, determined", "refused, not determined", "lost", *FATAL[1:], "over 1 s", "over 5 s"]
    heads = [f"{word:>{max(len(word), 7)}}" for word in words]
    lines = [
        f"{kind:28}" + "  ".join(f"{ends[word]:{len(head)}}" for word, head in zip(words, heads, strict=True))
        for kind, ends in [*sorted(found.items()), ("all", total)]
    ]
    return "\n".join([" " * 28 + "  ".join(heads), *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--failures", type=Path, help="folder for failures-SEED.jsonl, one failing question a line")
    parser.add_argument("--shrink", action="store_true", help="leave out of failing questions what does not matter")
    options = parser.parse_args()
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    if options.failures:
        options.failures.mkdir(parents=True, exist_ok=True)
    with open(options.failures / f"failures-{options.seed}.jsonl", "w") if options.failures else open(os.devnull, "w") as file:
        for one in records(options.seed, options.count, options.shrink):
            late = [f"over {limit:g} s" for limit in (SLOW, TOO_SLOW) if one["seconds"] > limit]
            found[one["kind"]].update(["asked", *one["ends"], *late])
            if late or {*one["ends"]} & {*FAILURES}:
                print(json.dumps(one), file=file, flush=True)
    print(table(found))
    total = sum(found.values(), Counter[str]())
    sys.exit(any(total[word] for word in (*FATAL, f"over {TOO_SLOW:g} s")))


if __name__ == "__main__":
    main()
