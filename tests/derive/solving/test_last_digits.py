"""Compare answers of single equations with roots in 120 digits: in practice, far beyond it, and at crossovers."""

from dataclasses import replace
from random import Random

import pytest

from campaigns import precision
from derive.catalogue import by_id
from derive.solving.engine.one_equation import sides_agree, solve_equation
from tests.tools.together import in_one_test

ASKED = 250
"""Of the fifty thousand in `.ci/long`."""

AT_THE_EDGE = (  # equation, unknown, what it is drawn from, and what is given: each has one root, and had another answer once
    ("roofline.step_time", "step_time", 1.0000000009,
     {"overhead_time": 0.0,
      "compute_time": 1.0, "memory_time": 1.0000000009, "tokens_verified_per_step": 1.0, "attention_time": 0.0, "drafting_time": 0.0}),
    ("roofline.step_time_exposed", "exposed_communication_share", 0.0139,
     {"overhead_time": 0.0,
      "step_time": 0.01024799744735722, "compute_time": 0.010105327028118801, "memory_time": 0.010105327018013475,
      "tokens_verified_per_step": 1.0, "attention_time": 0.0, "drafting_time": 0.0}),
    ("roofline.step_time", "drafting_time", 2.1,
     {"overhead_time": 0.0,
      "step_time": 2220570831860307.5, "tokens_verified_per_step": 89881817246678.38, "compute_time": 0.06878507348697255,
      "attention_time": 24.636665927420193, "memory_time": 2220570831860305.2}),
    ("serving.plain_step_time", "kv_time", 1e-15,
     {"overhead_time": 0.0,
      "plain_step_time": 18.51872384506722, "compute_time": 13.15838383702305, "attention_time": 5.360340008044169,
      "plain_weight_time": 18.518723845067218}),
    ("serving.speculative_speedup", "acceptance_rate", 1e-12,
     {"draft_tokens": 0.01, "draft_cost_ratio": 1e-5, "speculative_speedup": 0.9999999000002514, "verification_ratio": 1.0}),
    ("experts.touched_experts", "batch", 1571467434504.2517,
     {"activated_experts": 18868874071.926445, "experts": 4.592963488457819e28, "active_experts": 2.6570005624341155e-18,
      "tokens_verified_per_step": 4519068809544970.0}),
    ("experts.scale_out_slowdown", "scale_out_slowdown", 1.0, {"racks": 1.0, "scale_out_bandwidth_ratio": 1.057667431061749e22}),
    ("pipeline.idle_fraction", "pipeline_stages", 1.234,
     {"idle_fraction": 9.998943025297723e-13, "microbatches": 6.593764138639065e22, "step_time": 3.290296242046271e-36,
      "hop_latency": 3.753614131968452e-13}),
    ("roofline.step_time_exposed", "exposed_communication_share", 0.99999994,
     {"overhead_time": 0.0,
      "step_time": 2327494749501362.5, "drafting_time": 2327494747132934.5, "tokens_verified_per_step": 5.364361045859909,
      "compute_time": 8.628175491213807e-20, "attention_time": 0.0245463442582115, "memory_time": 0.13167545295701683}),
    ("experts.touched_experts", "experts", 0.027639720147123792,
     {"activated_experts": 0.027639720147123792, "active_experts": 5.249337644810332e-21, "batch": 9.958714941882601e17,
      "tokens_verified_per_step": 765338.5456341219}),
    ("experts.all_to_all_time_racks", "scale_up_link_bandwidth", 5.8610679718693104e25,
     {"all_to_all_time": 482185.45545805467, "moe_layers": 5700.35316745687, "sequences_per_chip": 811.651754851059,
      "reached_chips": 1.6528436973260938, "model_dim": 1.0976349848465076e24, "dispatch_bytes_per_element": 2.4778599565105797,
      "combine_bytes_per_element": 0.8890355811858539, "expert_parallel": 638.7268876287558, "racks": 1.0,
      "scale_out_link_bandwidth": 9.416931470809259e-15}),
    ("serving.request_latency", "request_latency", 3.110364483360216e-23,
     {"time_to_first_token": 3.110364483454344e-23, "output_tokens": 2.6617200084070352e-15, "token_latency": 3.5797058857044375e-30,
      "tokens_per_step": 3802.9986510293134}),
)  # fmt: skip


def test_numbers_that_meet_an_equation_agree_with_it_and_others_do_not():
    random = Random(4)
    for equation, name in precision.PAIRS[::10]:
        for case in precision.cases(equation, name, ("usual",), random):
            values = {**case.given, case.unknown: case.drawn}
            assert sides_agree(case.equation, values, 1e-12), case
            left = case.equation.symbols[0]
            assert not sides_agree(case.equation, {**values, left: 2 * values[left] or 0.5}, 1e-6), case


@in_one_test(("id", "unknown", "drawn", "given"), AT_THE_EDGE, ids=[f"{id} {unknown}" for id, unknown, *_ in AT_THE_EDGE])
def test_what_rounding_hides_is_decided_in_many_digits(id, unknown, drawn, given):
    equation = by_id()[id]
    answers, _ = solve_equation(equation, unknown, given)
    assert len(answers) == 1
    assert precision.verdict(precision.Case(equation, unknown, given, drawn, "edge")).startswith("right")


def test_over_sixty_orders_of_magnitude_and_beside_crossovers_answers_have_their_digits():
    found = precision.campaign(precision.KINDS, ASKED, seed=20261123)
    assert sum(number for end, number in found.items() if "right" not in end) == 0, found
    assert sum(number for end, number in found.items() if end.endswith(" right")) > 0.7 * ASKED, "most questions have an answer"


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda answers: (), "missing"),
        (lambda answers: tuple(replace(one, value=one.point * (1 + 1e-10)) for one in answers), "missing"),
        (lambda answers: (*answers, replace(answers[0], value=3 * answers[0].point)), "wrong"),
        (lambda answers: (*answers, answers[0]), "twice"),
    ],
    ids=["none", "another", "one more", "the same again"],
)
def test_wrong_answers_are_seen(monkeypatch, spoil, fault):
    def solve_wrongly(*question):
        answers, reason = solve_equation(*question)
        return spoil(answers), reason

    equation = by_id()["roofline.compute_time"]
    asked = [one for name in equation.symbols for one in precision.cases(equation, name, ("usual",), Random(1))]
    right = [one for one in asked if precision.verdict(one) == "right"]
    monkeypatch.setattr(precision, "solve_equation", solve_wrongly)
    ends = {precision.verdict(one).partition(":")[0] for one in right}
    assert len(right) > 2 and ends == {fault}
