"""A leg of a route at arrays of values: it has the digits of each point asked by itself."""

from dataclasses import replace

import numpy as np
import pytest

from derive.catalogue import by_id
from derive.solving.one_equation import ASKED_SINGLY, solve_equation
from derive.solving.route import Leg
from derive.solving.vectorised_leg import NoClosedForm, at_leg
from tests.tools.draws import assignments
from tests.tools.together import in_one_test, some

DRAWS = 2
LAST_DIGITS = 2e-14
"""What arrays and points may differ by, times the condition: forwards, 1 - x loses up to two digits of a small x."""
EQUALITIES = [row for row in by_id().values() if row.sense == "="]


def test_a_share_a_last_digit_above_one_is_one_forwards_too():
    row = replace(by_id()["roofline.memory_time_share"], relation=lambda mfu, step_time, compute_time: (mfu, step_time / compute_time))
    (found,) = at_leg(Leg((row,), "mfu"), {"step_time": np.array([0.5, 1, 1 + 1e-12, 1.1]), "compute_time": np.ones(4)})
    assert found[:3].tolist() == [0.5, 1, 1] and np.isnan(found[3])


@in_one_test("row", some(EQUALITIES, 4), ids=[row.id for row in some(EQUALITIES, 4)])
def test_arrays_and_points_have_the_same_digits(row):
    """Of every quantity of every equation, at more draws than are asked one by one where arrays are not sure."""
    drawn = assignments(row, DRAWS, seed=7)
    for unknown in row.symbols:
        given = {name: column for name, column in drawn.items() if name != unknown}
        many = {name: np.tile(column, ASKED_SINGLY) for name, column in given.items()}
        try:
            found = np.stack([np.broadcast_to(one, DRAWS * ASKED_SINGLY)[:DRAWS] for one in at_leg(Leg((row,), unknown), many)])
        except NoClosedForm:
            continue
        for at in range(DRAWS):
            answers, _ = solve_equation(row, unknown, {name: float(column[at]) for name, column in given.items()})
            singly = sorted(one.point for one in answers if one.kind == "point")
            # Where arrays have no number, a sweep asks the point by itself.
            together = sorted(found[~np.isnan(found[:, at]), at]) or singly
            condition = max([1.0, *(sum(map(abs, one.elasticities.values())) for one in answers)])
            assert together == pytest.approx(singly, rel=LAST_DIGITS * condition, abs=0), unknown


def test_arrays_of_each_regime_have_numbers():
    """Without which the test above would hold of arrays that have none."""
    rows = [row for row in EQUALITIES if len(row.symbols) > 1]
    there = [~np.isnan(np.asarray(next(at_leg(Leg((row,), row.symbols[0]), assignments(row, DRAWS, seed=7))))) for row in rows]
    assert all(one.all() for one in there)
