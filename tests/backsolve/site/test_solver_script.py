"""The engine of the pages, run by node, answers as Python does: a few points of every equation; .ci/long asks a thousand of each."""

import pytest

from campaigns.solver_script import NODE, Asked, compared, compared_ones
from derive.catalogue import by_id
from derive.solving.engine.one_equation import solve_equation
from tests.tools.together import some

pytestmark = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


def test_an_equation_is_solved_as_python_solves_it() -> None:
    asked = some(by_id(), every=6)
    found = [*compared(asked, count=1, seed=7, unknowns=1)]
    assert [(one.asked.equation.id, one.asked.unknown, one.fault) for one in found if one.fault] == []
    assert {one.asked.equation.id for one in found} == {*asked}


def test_what_has_no_closed_form_is_searched_for() -> None:
    found = [*compared(("experts.reached_racks", "training.tradeoff_cost", "roofline.minimum_latency"), count=1, seed=7)]
    assert [(one.asked.equation.id, one.asked.unknown, one.fault) for one in found if one.fault] == []
    assert sum(one.kind == "searched" for one in found) >= 3


def test_of_a_bound_every_unknown_errs_as_python_has_it() -> None:
    """Of a step of 20 ms, the memory time is 20 ms or less."""
    bounds = some([id for id, row in by_id().items() if row.direction], every=3)
    found = [*compared(bounds, count=1, seed=7)]
    assert [(one.asked.equation.id, one.asked.unknown, one.fault) for one in found if one.fault] == []
    assert {one.asked.equation.id for one in found} == {*bounds}


def test_an_unknown_that_does_not_bind_is_an_interval() -> None:
    found = [one for one in compared(("roofline.step_time",), count=20, seed=7) if one.asked.unknown == "compute_time"]
    kinds = {answer.kind for one in found for answer in one.asked.answers}
    assert kinds == {"point", "interval"} and not any(one.fault for one in found)


@pytest.mark.parametrize(("unknown", "given"), [("gross_margin", {"output_price": 1e-6}), ("output_price", {"gross_margin": -1.0})])
def test_a_margin_below_0_is_an_answer_and_a_given(unknown: str, given: dict[str, float]) -> None:
    """What costs 2 $/MTok and is sold for 1: a margin of -1."""
    row, given = by_id()["serving.gross_margin"], {**given, "fleet_cost_per_token": 2e-6}
    answers = solve_equation(row, unknown, given)[0]
    (found,) = compared_ones([Asked(row, unknown, given, answers)])
    assert [one.point for one in answers] == [pytest.approx({"gross_margin": -1, "output_price": 1e-6}[unknown])] and not found.fault
