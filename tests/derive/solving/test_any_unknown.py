"""Any unknown: for every (equation, quantity) pair, take a quantity away and ask for it back."""

import numpy as np
import pytest

from derive.catalogue import by_id
from derive.expressions.regimes import regimes
from derive.quantities import quantity
from derive.solving.one_equation import points, solve_equation
from tests.tools.draws import assignments

DRAWS = 200
THROUGH_THE_API = 12
PAIRS = [(row, name) for row in by_id().values() for name in row.symbols]


def test_the_count_of_pairs_is_printed_and_no_pair_is_skipped(capsys):
    expected = sum(len(row.symbols) for row in by_id().values())
    with capsys.disabled():
        print(f"\n{len(by_id())} equations, {len(PAIRS)} (equation, symbol) pairs, {DRAWS} draws each")
    assert len(PAIRS) == len({(row.id, name) for row, name in PAIRS}) == expected


@pytest.mark.parametrize(("equation", "unknown"), PAIRS, ids=lambda part: getattr(part, "id", part))
def test_what_was_taken_away_comes_back(equation, unknown):
    truth = assignments(equation, DRAWS, seed=20260429)
    answered = np.zeros(DRAWS, dtype=bool)
    for draw in range(DRAWS):
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
    assert equation.sense != "=" or len(regimes(equation.sides[1])) > 1, "an interval without a Max or a Min"
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


@pytest.mark.parametrize(("equation", "unknown"), [p for p in PAIRS if p[0].sense == "="], ids=lambda part: getattr(part, "id", part))
def test_arrays_answer_as_single_numbers_do(equation, unknown):
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
