"""The engine of the pages, run by node, answers as Python does: a few points of every equation; .ci/long asks a thousand of each."""

import pytest

from derive.catalogue import by_id
from derive.solving.one_equation import solve_equation
from tests.tools.solver_script import NODE, Asked, compared, compared_ones

pytestmark = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


def test_every_equation_is_solved_as_python_solves_it() -> None:
    found = [*compared((*by_id(),), count=1, seed=7, unknowns=1)]
    assert [(one.asked.equation.id, one.asked.unknown, one.fault) for one in found if one.fault] == []
    assert {one.asked.equation.id for one in found} == {*by_id()}


def test_what_has_no_closed_form_is_searched_for() -> None:
    found = [*compared(("experts.reached_racks", "training.tradeoff_cost", "roofline.minimum_latency"), count=3, seed=7)]
    assert [(one.asked.equation.id, one.asked.unknown, one.fault) for one in found if one.fault] == []
    assert sum(one.kind == "searched" for one in found) >= 9


def test_of_a_bound_every_unknown_errs_as_python_has_it() -> None:
    """Of a step of 20 ms, the memory time is 20 ms or less."""
    bounds = [id for id, row in by_id().items() if row.direction]
    found = [*compared(bounds, count=4, seed=7)]
    assert [(one.asked.equation.id, one.asked.unknown, one.fault) for one in found if one.fault] == []
    assert {one.asked.equation.id for one in found} == {*bounds}


def test_an_unknown_that_does_not_bind_is_an_interval() -> None:
    found = [one for one in compared(("roofline.step_time",), count=20, seed=7) if one.asked.unknown == "compute_time"]
    kinds = {answer.kind for one in found for answer in one.asked.answers}
    assert kinds == {"point", "interval"} and not any(one.fault for one in found)


def test_what_only_the_rounding_of_a_difference_makes_hold_is_no_answer() -> None:
    """Weights that take 5e-8 of the attention's time: their root in the other regime is off by more than it lies above the crossover."""
    given = {
        **{
            "overhead_time": 0.0,
            "drafting_time": 1.7970820934272035e-06,
            "tokens_verified_per_step": 1.7412749481346497,
            "attention_time": 94.94569426483339,
        },
        **{"kv_time": 2.073468629120632e-05, "compute_time": 5.221710936551079e-06, "step_time": 165.3265697461226},
    }
    equation = by_id()["roofline.step_time_kv_plus_max"]
    answers = solve_equation(equation, "weight_time", given)[0]
    assert [one.kind for one in answers] == ["interval"]
    (found,) = compared_ones([Asked(equation, "weight_time", given, answers)])
    assert not found.fault


@pytest.mark.parametrize(
    ("id", "unknown", "given"),
    [
        (
            "experts.all_to_all_time_racks",
            "scale_up_link_bandwidth",
            {
                **{"all_to_all_time": 482185.45545805467, "moe_layers": 5700.35316745687, "sequences_per_chip": 811.651754851059},
                **{"reached_chips": 1.6528436973260938, "model_dim": 1.0976349848465076e24, "racks": 1.0},
                **{"dispatch_bytes_per_element": 2.4778599565105797, "combine_bytes_per_element": 0.8890355811858539},
                **{"expert_parallel": 638.7268876287558, "scale_out_link_bandwidth": 9.416931470809259e-15},
            },
        ),
        (
            "serving.request_latency",
            "request_latency",
            {"time_to_first_token": 1.0, "output_tokens": 1 - 1e-7, "token_latency": 1e-3, "tokens_per_step": 1.0},
        ),
        (
            "batching.compute_utilisation",
            "tokens_verified_per_step",
            {
                **{"compute_utilisation": 9.770869692860373e-12, "attention_compute_ratio": 102345034927.7439},
                **{"weight_compute_ratio": 27086.15278350743, "kv_compute_ratio": 131775378856805.14},
                **{"drafting_time": 65475.75378285856, "overhead_time": 0.0, "compute_time": 1.0},
            },
        ),
    ],
)
def test_what_is_true_to_a_billionth_only_is_answered_as_python_answers_it(id: str, unknown: str, given: dict[str, float]) -> None:
    (found,) = compared_ones([Asked(by_id()[id], unknown, given, solve_equation(by_id()[id], unknown, given)[0])])
    assert not found.fault


@pytest.mark.parametrize(("unknown", "given"), [("gross_margin", {"output_price": 1e-6}), ("output_price", {"gross_margin": -1.0})])
def test_a_margin_below_0_is_an_answer_and_a_given(unknown: str, given: dict[str, float]) -> None:
    """What costs 2 $/MTok and is sold for 1: a margin of -1."""
    row, given = by_id()["serving.gross_margin"], {**given, "cost_per_token": 2e-6}
    answers = solve_equation(row, unknown, given)[0]
    (found,) = compared_ones([Asked(row, unknown, given, answers)])
    assert [one.point for one in answers] == [pytest.approx({"gross_margin": -1, "output_price": 1e-6}[unknown])] and not found.fault
