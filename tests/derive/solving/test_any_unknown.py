"""Any unknown: for every (equation, quantity) pair, take a quantity away and ask for it back."""

from collections.abc import Callable
from functools import partial
from math import exp, log
from random import Random

import numpy as np
import pytest

from derive.catalogue import CHAPTERS, by_id
from derive.expressions.branches import branches, regimes_of
from derive.quantities import quantity
from derive.records import Equation
from derive.solving.engine.engine import solve_leg
from derive.solving.engine.legs import Step
from derive.solving.engine.one_equation import solve_equation
from derive.solving.many.arrays import points
from derive.solving.many.arrays import solve_leg as at_leg
from tests.tools.draws import assignments
from tests.tools.together import each, some

DRAWS = 60
A_FEW = 2
"""Draws of the quick suite."""

THROUGH_THE_API = 12
ROOTS_AT = 60
"""Draws whose roots arrays must have; some lie where there is none, or nearly none."""

STEP = 1e-5
"""Of a difference quotient, in nats."""

PAIRS = [(row, name) for row in by_id().values() for name in row.symbols]

CHECKS: list[Callable[[Equation, str], None]] = []
"""What holds for every unknown of every equation: one test an equation makes all of them."""


def of_every_unknown(check: Callable[[Equation, str], None]) -> Callable[[Equation, str], None]:
    CHECKS.append(check)
    return check


@of_every_unknown
def what_was_taken_away_comes_back(equation, unknown, draws=DRAWS):
    truth = assignments(equation, draws, seed=20260429)
    answered = np.zeros(draws, dtype=bool)
    for draw in range(draws):
        values = {name: float(array[draw]) for name, array in truth.items()}
        given = {name: value for name, value in values.items() if name != unknown}
        answers, reason = solve_equation(equation, unknown, given)
        assert answers, f"{values}: {reason}"
        answered[draw] = any(_matches(answer, values[unknown], unknown) for answer in answers)
        for answer in answers:
            _holds_in_and_fails_out(equation, unknown, given, answer)
    assert answered.all(), f"draw {int(np.argmin(answered))} not recovered"


def _matches(answer, truth: float, unknown: str) -> bool:
    if answer.kind == "interval":
        return answer.low * (1 - 1e-9) <= truth and (answer.high is None or truth <= answer.high * (1 + 1e-9))
    sensitivity = max(1.0, sum(abs(slope) for slope in answer.elasticities.values()))
    return abs(answer.value - truth) <= 1e-9 * sensitivity * abs(truth)


def _holds_in_and_fails_out(equation, unknown, given, answer) -> None:
    """A point solves the equation to 1e-12; an interval solves it inside, and no longer beyond its finite ends."""
    if answer.kind == "point":
        assert answer.residual <= 1e-12, (given, answer)
        return
    assert equation.sense != "=" or len(regimes_of(equation)) > 1, "an interval without a Max or a Min"
    high = answer.high if answer.high is not None else max(1.0, 2 * answer.low)
    assert _holds(equation, {**given, unknown: (answer.low + high) / 2})
    inside = answer.high is not None and answer.high < quantity(unknown).limits()[1]
    if inside and _seen(equation, {**given, unknown: answer.high}, unknown):
        assert not _holds(equation, {**given, unknown: answer.high * 1.01})
    if answer.low > quantity(unknown).floor and _seen(equation, {**given, unknown: answer.low * 0.99}, unknown):
        assert not _holds(equation, {**given, unknown: answer.low * 0.99})


def _seen(equation, values, unknown) -> bool:
    """Whether a percent more of the unknown is more than the tolerance of what holds, or beyond what the equation requires."""
    if equation.violated(values):
        return True
    before, after = (float(equation.right_side({**values, unknown: values[unknown] * factor})) for factor in (1, 1.01))
    return abs(after - before) > 1e-8 * abs(before)


def _holds(equation, values) -> bool:
    """Whether the sides are as the sense says; nothing holds where the equation may not be used."""
    if equation.violated(values):
        return False
    left, right = values[equation.symbols[0]], float(equation.right_side(values))
    if equation.sense == ">=":
        return left >= right
    if equation.sense == "<=":
        return left <= right
    return abs(left - right) <= 1e-9 * max(abs(left), abs(right))


@of_every_unknown
def arrays_answer_as_single_numbers_do(equation, unknown):
    if equation.sense != "=":
        return
    truth = assignments(equation, DRAWS, seed=7)
    found = points(equation, unknown, {name: array for name, array in truth.items() if name != unknown})
    for draw in range(THROUGH_THE_API):
        given = {name: float(array[draw]) for name, array in truth.items() if name != unknown}
        answers, _ = solve_equation(equation, unknown, given)
        # An answer without a closed form was found by a search, which works on one number at a time.
        column = found[:, draw][~np.isnan(found[:, draw])]
        for answer in (answer for answer in answers if answer.kind == "point" and answer.formula):
            assert any(_matches(answer, root, unknown) for root in column)
        for root in column:
            assert any(_covers(answer, root, unknown) for answer in answers), (given, root)


def _covers(answer, root: float, unknown: str) -> bool:
    """Whether a root is this answer, or stands in it: points inside an interval are not repeated."""
    if answer.kind == "point":
        return _matches(answer, root, unknown)
    return answer.low * (1 - 1e-9) <= root and (answer.high is None or root <= answer.high * (1 + 1e-9))


def _asked(equation, unknown, seed):
    """Givens that have an answer, such that nearly or just have one, and such at random: a third of each."""
    random = np.random.default_rng(seed)
    given = {name: array for name, array in assignments(equation, ROOTS_AT, seed).items() if name != unknown}
    for name, array in given.items():
        row = quantity(name)
        low, high = (limit or row.high * 1e-6 for limit in row.limits())
        array[:20] *= 1 + random.choice([-1, 0, 1], 20) * 10 ** random.uniform(-16, -6, 20)
        array[20:40] = np.exp(random.uniform(np.log(low), np.log(high), 20)) if low > 0 else random.uniform(low, high, 20)
        np.clip(array, None, row.ceiling, out=array)
    return given


@of_every_unknown
def arrays_have_the_roots_of_numbers_and_no_others(equation, unknown):
    if equation.sense != "=" or any(branch.roots is None for branch in branches(equation, unknown)):
        return
    leg, given = Step(equation, unknown), _asked(equation, unknown, seed=11)
    with np.errstate(all="ignore"):
        found = np.stack(np.broadcast_arrays(*at_leg(leg, given)))
    for draw in range(ROOTS_AT):
        values = {name: float(array[draw]) for name, array in given.items()}
        answers, _ = solve_leg(leg, values)
        ours = found[:, draw][~np.isnan(found[:, draw])]
        singly = [one.value for one in answers if one.kind == "point"]
        assert len(ours) in (len(singly), 0 if len(answers) > len(singly) else len(singly)), (values, ours, answers)
        assert len(ours) == 0 or sorted(ours) == pytest.approx(singly, rel=1e-9), values


@of_every_unknown
def elasticities_are_those_of_finite_differences(equation, unknown):
    """d ln(unknown)/d ln(given), by moving each given a little up and down and solving again."""
    if equation.sense != "=":
        return
    # Of some quantities few draws lie where they bind.
    truth = assignments(equation, 400, seed=11)
    checked = 0
    for draw in Random(equation.id).sample(range(400), 400):
        given = {name: float(array[draw]) for name, array in truth.items() if name != unknown}
        answer = solve_equation(equation, unknown, given)[0][0]
        slopes = answer.elasticities
        if answer.kind != "point":
            continue  # its end is given by what does not bind: moving that breaks the equality
        steepness = sum(abs(slope) for slope in slopes.values())
        if steepness > 3000:
            continue  # too steep for a difference quotient
        measured = {name: _measured(equation, unknown, given, name, answer, STEP / max(1, steepness / 30)) for name in given}
        if None in measured.values():
            continue  # a step crossed into another regime or out of a domain
        for name, slope in measured.items():
            assert slopes.get(name, 0.0) == pytest.approx(slope, rel=1e-4, abs=1e-4 * max(1, steepness / 30)), (name, given, answer)
        checked += 1
        if checked == 2:
            return
    raise AssertionError(f"only {checked} draws could be checked")


def _measured(equation, unknown, given, name, answer, step):
    """None where the answer a step away is another one, or there is more than one to tell apart."""
    ends = []
    for factor in (exp(-step), exp(step)):
        moved = given[name] * factor
        answers, _ = solve_equation(equation, unknown, {**given, name: moved})
        near = [one for one in answers if one.kind == "point" and one.regime == answer.regime and abs(log(one.value / answer.value)) < 0.01]
        if moved > quantity(name).ceiling or len(near) != 1:
            return None
        ends.append(log(near[0].value))
    return (ends[1] - ends[0]) / (2 * step)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_was_taken_away_comes_back_at_a_few_draws(chapter):
    pairs = [(row, unknown) for row, unknown in PAIRS if row.chapter == chapter]
    each((f"{row.id} for {unknown}", partial(what_was_taken_away_comes_back, row, unknown, A_FEW)) for row, unknown in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("equation", some(by_id().values(), every=6), ids=lambda row: row.id)
def test_any_unknown_of_an_equation(equation):
    asked = ((unknown, check) for unknown in equation.symbols for check in CHECKS)
    each((f"{equation.id} for {unknown}: {check.__name__}", partial(check, equation, unknown)) for unknown, check in asked)
