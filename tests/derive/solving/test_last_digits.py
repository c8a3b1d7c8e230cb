"""Answers of single equations against a referee that works with 80 digits: in practice, far beyond it, and at crossovers."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from campaigns import precision, referee
from campaigns.referee import KINDS, cases, verdict
from derive.catalogue import by_id
from derive.expressions.branches import sides_of
from derive.solving.one_equation import agrees, solve_equation
from tests.tools.together import in_one_test

CASES = 300
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
    ("experts.prefill_touched_experts", "experts", 0.04550043713988247,
     {"prefill_activated_experts": 0.044732794158978836, "active_experts": 1.9302158620994193e-30, "batch": 46728948134.29152,
      "new_tokens_per_pass": 2.0592681569642447e18}),
    ("experts.all_to_all_time_racks", "scale_up_link_bandwidth", 5.8610679718693104e25,
     {"all_to_all_time": 482185.45545805467, "moe_layers": 5700.35316745687, "sequences_per_chip": 811.651754851059,
      "reached_chips": 1.6528436973260938, "model_dim": 1.0976349848465076e24, "dispatch_bytes_per_element": 2.4778599565105797,
      "combine_bytes_per_element": 0.8890355811858539, "expert_parallel": 638.7268876287558, "racks": 1.0,
      "scale_out_link_bandwidth": 9.416931470809259e-15}),
    ("serving.request_latency", "request_latency", 3.110364483360216e-23,
     {"time_to_first_token": 3.110364483454344e-23, "output_tokens": 2.6617200084070352e-15, "token_latency": 3.5797058857044375e-30,
      "tokens_per_step": 3802.9986510293134}),
)  # fmt: skip


BESIDE_A_BOUND = (  # the same; each has two roots, one of them a rounding away from what is required
    ("experts.weight_time_mixed", "shared_params", 5.1922913186241604e-14,
     {"weight_time": 4.390872725442759e-05, "shared_bytes_per_weight": 7.312635391378278e-20, "fetched_params": 1.2728708406390542e21,
      "expert_imbalance": 9.583134732300134e18, "routed_params": 3.360798951722589e25, "expert_bytes_per_weight": 1.3363900193003025e-13,
      "chips": 0.556186261003535, "hbm_bandwidth": 9.065910106907169e18, "mbu": 0.020285851532375943}),
    ("experts.weight_time_touched", "shared_params", 4.315176719521294e19,
     {"weight_time": 4191895431665.9087, "fetched_params": 4.315176719521379e19, "expert_imbalance": 4.800185841126454e23,
      "routed_params": 4.0777820805493136e29, "bytes_per_weight": 0.6291628152412934, "chips": 4963.280508437294,
      "hbm_bandwidth": 12331269770380.207, "mbu": 1.0}),
    ("experts.weight_time_mixed", "shared_params", 0.07951347881471726,
     {"weight_time": 7.799581880923074e27, "shared_bytes_per_weight": 8.132413843964132e-15, "fetched_params": 45.86224051246996,
      "expert_imbalance": 2.908000632118151e26, "routed_params": 1.567383449561504e22, "expert_bytes_per_weight": 3.7247617101655546e-24,
      "chips": 4.3554702953135976e16, "hbm_bandwidth": 1.923077238034076e-26, "mbu": 8.936565553643629e-21}),
)  # fmt: skip


OF_ROUNDING_ALONE = (  # the same; most digits of the root are lost, and it was what rounding left
    ("architecture.prefill_read_entries_compressed", "uncached_tokens", 525811.6928319985,
     {"selected_entries": 0.03910823623906469, "sparse_compression_ratio": 35.610713558268685, "cached_tokens": 1.3926721984784334,
      "prefill_read_entries": 0.039108236217275515}),
    ("architecture.prefill_read_entries", "uncached_tokens", 376.9978671104245,
     {"selected_entries": 6.967452656563286, "cached_tokens": 6.967452656563247, "prefill_read_entries": 6.967452656560194}),
    ("architecture.prefill_window_tokens", "uncached_tokens", 1.4779503824855469,
     {"window_tokens": 2163.0266233947596, "cached_tokens": 2163.026623394742, "prefill_window_tokens": 2163.0266233929965}),
    ("bands.decode_cost", "active_params", 24498651880434.09,
     {"prefill_decode_flops_ratio": 0.005719088749743669, "context_length": 0.11072222227971742,
      "attention_flops_per_pair": 0.0016980825845044037, "weight_compute_ratio": 14459.483553657044,
      "balance_context": 536.7888626284929, "tokens_per_step": 1.99868265104571, "overlap": 0.9956397733076203,
      "decode_cost_ratio": 41.374812902597505}),
    ("architecture.prefill_read_entries", "uncached_tokens", 8792.21001889584,
     {"selected_entries": 19.57385583173865, "cached_tokens": 19.573855814734998, "prefill_read_entries": 19.573855831745547}),
    ("architecture.prefill_read_entries", "uncached_tokens", 19.97207617146018,
     {"selected_entries": 1.481472164421086, "cached_tokens": 1.4814721629576284, "prefill_read_entries": 1.4814721644210764}),
)  # fmt: skip


@pytest.mark.slow
def test_no_root_is_missing_none_is_wrong_and_all_have_their_digits():
    asked = list(cases(CASES, seed=20261121))
    ends = [(case, verdict(case)) for case in asked]
    faults = [(case, end) for case, end in ends if not end.startswith("right")]
    assert not faults, (len(faults), faults[0])
    assert sum(end == "right" for _, end in ends) > 0.98 * CASES, "most questions have an answer"
    assert min(Counter(case.kind for case in asked)[kind] for kind in KINDS) > CASES / 6


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda answers: (), "missing"),
        (lambda answers: [replace(one, value=one.value * (1 + 1e-8)) for one in answers], "missing"),
        (lambda answers: [*answers, replace(answers[0], value=answers[0].value * 3)], "wrong"),
        (lambda answers: [*answers, answers[0]], "twice"),
    ],
    ids=["no answer", "another one", "one more", "the same again"],
)
def test_the_referee_sees_what_is_wrong(monkeypatch, spoil, fault):
    def spoilt(*question):
        answers, reason = solve_equation(*question)
        return spoil(answers), reason

    # At a crossover the digits given may leave no root, and then none is missing.
    asked = [case for case in cases(60, seed=3) if case.kind != "crossover" and _are_points(case)]
    monkeypatch.setattr(referee, "solve_equation", spoilt)
    monkeypatch.setattr(referee, "message", lambda reason: "")
    ends = Counter(verdict(case).split(":")[0] for case in asked)
    assert len(asked) > 20 and ends[fault] == len(asked), ends


def _are_points(case) -> bool:
    answers, _ = solve_equation(case.equation, case.unknown, case.given)
    return bool(answers) and all(one.kind == "point" and sum(map(abs, one.elasticities.values())) < 100 for one in answers)


def test_numbers_that_meet_an_equation_agree_with_it_and_others_do_not():
    for case in cases(200, seed=4):
        values = {**case.given, case.unknown: case.drawn}
        if case.kind != "crossover":
            assert agrees(case.equation, values, 1e-12), case
            left = case.equation.symbols[0]
            assert not agrees(case.equation, {**values, left: 2 * values[left]}, 1e-6), case


@in_one_test(("id", "unknown", "drawn", "given"), AT_THE_EDGE, ids=[f"{id} {unknown}" for id, unknown, *_ in AT_THE_EDGE])
def test_what_rounding_hides_is_decided_in_many_digits(id, unknown, drawn, given):
    equation = by_id()[id]
    answers, _ = solve_equation(equation, unknown, given)
    assert len(answers) == 1
    assert precision.verdict(precision.Case(equation, unknown, given, drawn, "edge")).startswith("right")


@in_one_test(("id", "unknown", "drawn", "given"), OF_ROUNDING_ALONE)
def test_what_rounding_made_is_no_root(id, unknown, drawn, given):
    assert verdict(referee.Case(by_id()[id], unknown, given, drawn, "crossover")).startswith("right")


@in_one_test(("id", "unknown", "drawn", "given"), BESIDE_A_BOUND)
def test_two_roots_are_no_root_twice_though_one_is_all_but_beyond_what_is_required(monkeypatch, id, unknown, drawn, given):
    given = {"attention_replicas": 1.0, **given}
    case = precision.Case(by_id()[id], unknown, given, drawn, "wide")
    answers, reason = solve_equation(case.equation, unknown, given)
    roots = precision.roots(case)
    assert len(answers) == len(roots) == 2 and precision.verdict(case).startswith("right")
    for root in roots:
        values = {**given, unknown: root.value}
        sides = [precision.at(side, values) for side in sides_of(case.equation)]
        assert abs(sides[0] - sides[1]) <= 1e-60 * sides[0], "each solves it in many digits"
    with monkeypatch.context() as patched:
        patched.setattr(precision, "solve_equation", lambda *question: ((*answers, answers[0]), reason))
        assert precision.verdict(case).startswith("twice"), "one of the two said again is seen"


def test_over_sixty_orders_of_magnitude_and_beside_crossovers_answers_have_their_digits():
    found = precision.campaign(precision.KINDS, ASKED, seed=20261123)
    assert sum(number for end, number in found.items() if "right" not in end) == 0, found
    assert sum(number for end, number in found.items() if end.endswith(" right")) > 0.7 * ASKED, "most questions have an answer"


def test_no_root_is_demanded_that_no_number_of_floating_point_holds():
    """1 + 1.5e-26 active_params to the power of 4e27 are few enough; 1 is too few by far, and all above it are enough."""
    given = {
        **{"loss": 26943733615.76764, "irreducible_loss": 6912.943645017482, "size_loss_coefficient": 1.8224784637318152e20},
        **{"size_loss_exponent": 3.864638800511533e27, "data_loss_coefficient": 26943726568.800743},
        **{"pretrain_tokens": 0.0005361445564862325, "data_loss_exponent": 6.60486093327681e-10},
    }
    case = precision.Case(by_id()["training.loss_law"], "active_params", given, 4.107868305375377e22, "wide")
    (root,) = precision.roots(case)
    assert 0 < root.value - 1 < 2e-26 and precision.verdict(case) == "right, no root"


@pytest.mark.parametrize("factor", [1 + 1e-10, 3.0])
def test_digits_that_are_lost_are_seen(monkeypatch, factor):
    def spoilt(*question):
        answers, reason = solve_equation(*question)
        return tuple(replace(one, value=one.point * factor) if one.kind == "point" else one for one in answers), reason

    equation = by_id()["roofline.compute_time"]
    asked = [one for name in equation.symbols for one in precision.cases(equation, name, ("usual",), Random(1))]
    right = [one for one in asked if precision.verdict(one) == "right"]
    monkeypatch.setattr(precision, "solve_equation", spoilt)
    ends = [precision.verdict(one) for one in right]
    assert len(right) > 2 and all(end.startswith("missing") for end in ends), ends


def test_a_search_says_how_far_it_looked():
    given = {"minimum_latency": 1e-22, "allreduces_per_layer": 1e-7, "hop_latency": 5e-11, "bytes_per_weight": 4e3}
    _, reason = solve_equation(by_id()["roofline.minimum_latency"], "layers", given | {"active_params": 1e10, "hbm_bandwidth": 1e12})
    assert reason.message.endswith("(looked for from 0.000001 to 200M)")
