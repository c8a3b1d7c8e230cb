"""Any unknown through many equations: one at a time, in blocks, and where quantities cancel."""

from itertools import combinations, product
from math import isclose, log
from random import Random

import pytest

from derive.catalogue import equation
from derive.errors import WrongValue
from derive.quantities import QUANTITIES
from derive.records import LOWER
from derive.solving.api import solve
from derive.solving.questions import question
from derive.solving.route import checks, reaches, route, square
from tests.tools.random_questions import at_random
from tests.tools.together import some

DEPLOYMENTS = {
    "memory binds": {
        **{"batch": 2048, "context_length": 4000, "chips": 16, "active_params": 37e9, "total_params": 671e9, "bytes_per_weight": 1},
        **{"kv_bytes_per_token": 35136, "peak_flops": 1.979e15, "hbm_bandwidth": 3.35e12, "mfu": 0.5, "mbu": 0.7},
        **{"chip_price": 2 / 3600, "tokens_per_step": 1.2, "kv_replication": 1},
    },
    "compute binds": {
        **{"batch": 3000, "context_length": 700, "chips": 8, "active_params": 70e9, "total_params": 75e9, "bytes_per_weight": 2},
        **{"kv_bytes_per_token": 50000, "peak_flops": 989e12, "hbm_bandwidth": 4.8e12, "mfu": 0.4, "mbu": 0.9},
        **{"chip_price": 3 / 3600, "tokens_per_step": 1, "kv_replication": 1},
    },
}
RESULTS = ("step_time", "cost_per_token", "throughput", "memory_time_share", "normalised_cost", "compute_utilisation", "kv_time")
CHANGED = ("batch", "context_length", "chips", "kv_bytes_per_token", "total_params", "active_params", "mbu", "mfu", "hbm_bandwidth")


def value(unknown, **given):
    (only,) = solve(unknown, **given).answers
    assert only.kind == "point"
    return only.value


def holds(answers, truth):
    """Whether the truth is one of the points, or in one of the intervals."""
    return any(
        isclose(one.value, truth, rel_tol=1e-6)
        if one.kind == "point"
        else one.low <= truth * (1 + 1e-9) and (one.high is None or truth <= one.high * (1 + 1e-9))
        for one in answers
    )


def results(deployment):
    return {name: value(name, **deployment) for name in RESULTS}


def slope(result, name, deployment, truth):
    """d ln(result) / d ln(name), by a difference."""
    moved = value(result, **{**deployment, name: deployment[name] * (1 - 1e-6)})
    return log(truth / moved) / 1e-6


def questions(deployment):
    """Backwards: one input for one result, then two inputs for two results that depend on them independently."""
    truth = results(deployment)
    slopes = {(result, name): slope(result, name, deployment, truth[result]) for result in RESULTS for name in CHANGED}
    for name, result in product(CHANGED, RESULTS):
        if abs(slopes[result, name]) > 1e-6:
            yield (name,), (result,), truth
    for names, (first, second) in product(combinations(CHANGED, 2), combinations(RESULTS[:6], 2)):
        ways = [slopes[result, name] for result in (first, second) for name in names]
        if abs(ways[0] * ways[3] - ways[1] * ways[2]) > 1e-4:
            yield names, (first, second), truth


@pytest.mark.slow
@pytest.mark.parametrize("deployment", DEPLOYMENTS.values(), ids=DEPLOYMENTS)
def test_results_put_in_the_place_of_inputs_give_them_back(deployment):
    """Inputs from results that depend on them, one from one and two from two."""
    wrong, asked = [], 0
    for names, given, truth in some(questions(deployment), every=3):
        kept = {name: known for name, known in deployment.items() if name not in names}
        solution = solve(names[0], **kept, **{name: truth[name] for name in given})
        asked += 1
        if not holds(solution.answers, deployment[names[0]]):
            wrong.append((names, given, solution.reason or solution.answers))
    assert not wrong
    assert asked > 25


@pytest.mark.parametrize("deployment", DEPLOYMENTS.values(), ids=DEPLOYMENTS)
def test_every_answer_of_a_block_reproduces_what_was_asked_for(deployment):
    """Points that satisfy one case of a Max and not the whole are no answers."""
    truth = results(deployment)
    kept = {name: known for name, known in deployment.items() if name not in ("batch", "chips")}
    wanted = {"step_time": truth["step_time"], "cost_per_token": truth["cost_per_token"]}
    for chips in (one.value for one in solve("chips", **kept, **wanted).answers if one.kind == "point"):
        for batch in (one.value for one in solve("batch", **kept, **wanted, chips=chips).answers):
            assert {name: value(name, **kept, chips=chips, batch=batch) for name in wanted} == pytest.approx(wanted, rel=1e-9)


def test_both_roots_of_a_block_are_answers():
    """Memory per chip as a function of chips and batch is no parabola; the sum of a falling and a rising cost is."""
    given = {"falling_cost": 4, "rising_cost": 1, "falling_exponent": 1, "rising_exponent": 1, "tradeoff_cost": 5}
    assert sorted(one.value for one in solve("tradeoff_variable", **given).answers) == pytest.approx([1, 4])


def test_a_sum_that_one_equation_names_is_that_in_another():
    """A batch that stands beside its own power comes out of the share only once the reads of the step are its time."""
    given = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": 2000}
    forward = {name: solve(name, **given, chips=10, batch=500).answers[0].value for name in ("memory_time_share", "step_time")}
    for unknown, wanted in (("chips", 10), ("batch", 500)):
        assert [one.value for one in solve(unknown, **given, **forward).answers] == [pytest.approx(wanted, rel=1e-6)]


def test_a_route_shows_each_step_and_a_block_all_its_equations():
    given = {name: known for name, known in DEPLOYMENTS["memory binds"].items() if name != "batch"}
    solution = solve("batch", **given, step_time=0.03)
    (together,) = [step for step in solution.route if len(step.equations) > 1]
    assert together.unknown == "batch" and together.formula
    assert set(together.equations) == {row.reference for row in STEP}
    after = {step.unknown: step.value for step in solution.route[solution.route.index(together) + 1 :]}
    assert after["memory_time"] == pytest.approx(0.03) and after["compute_time"] < 0.03
    assert solution.answers[0].regime == "memory_time >= compute_time*tokens_per_step"


def test_elasticities_of_a_block_are_those_of_finite_differences():
    given = {name: known for name, known in DEPLOYMENTS["memory binds"].items() if name != "batch"} | {"cost_per_token": 1e-7}
    (only,) = solve("batch", **given).answers
    for name, own in only.elasticities.items():
        nudge = 1e-6 if QUANTITIES[name].floor else -1e-6
        moved = value("batch", **{**given, name: given[name] * (1 + nudge)})
        assert own == pytest.approx(log(moved / only.value) / nudge, abs=1e-4), name


# -- structure ------------------------------------------------------------------------------------------------------

STEP = tuple(map(equation, ("roofline.step_time", "roofline.memory_time", "roofline.kv_time", "roofline.compute_time")))


def test_equations_that_say_the_same_do_not_determine_two_quantities():
    """The ridge point and the balance ratio both know only peak over bandwidth."""
    reason = solve("hbm_bandwidth", ridge_point=600, machine_balance_ratio=300, bytes_per_weight=1).reason
    assert reason.code == "missing_givens" and "peak_flops" in reason.missing


def test_a_block_without_an_answer_says_what_can_be_reached():
    given = {name: known for name, known in DEPLOYMENTS["memory binds"].items() if name != "batch"}
    reason = solve("batch", **given, step_time=1e-3).reason
    assert reason.code == "no_solution"
    assert "step_time is at least 17.88 ms over all batch, and the one asked for is 1 ms" in reason.message


FLOOR = {
    **{"active_params": 70e9, "total_params": 70e9, "bytes_per_weight": 1, "kv_bytes_per_token": 3e5, "context_length": 8000},
    **{"chips": 8, "hbm_bandwidth": 3e12, "peak_flops": 2e15, "mbu": 0.7, "mfu": 0.4, "chip_price": 2 / 3600},
}


@pytest.mark.parametrize("asked", [0.1e-6, 0.2e-6, 0.6e-6])
def test_what_can_be_reached_does_not_move_with_what_is_asked(asked):
    """The least cost is that of the KV reads alone; with both utilisations given it was once said to be above any target."""
    least = 2 / 3600 * 8000 * 3e5 / (3e12 * 0.7)
    reason = solve("batch", **FLOOR, cost_per_token=asked).reason
    assert reason.code == "no_solution" and f"cost_per_token is at least ${1e6 * least:.4g}/MTok over all batch" in reason.message


def test_where_what_can_be_reached_depends_on_what_is_asked_nothing_is_said_of_it():
    given = {name: known for name, known in FLOOR.items() if name != "chips"}
    reason = solve("chips", **given, cost_per_token=0.5e-6, step_time=0.03).reason
    assert reason.code == "no_solution" and "at least" not in reason.message


def test_a_definition_goes_before_what_bounds_the_same_quantity():
    """What 64 sequences need is no bound of what there is, nor does that stand for it: one is taken if nobody says how many there are."""
    given = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "bytes_per_element": 2, "context_length": 32000}
    needed = 70_553_706_496 + 64 * 32000 * 2 * 80 * 8 * 128 * 2
    assert value("memory_demand", **given, batch=64) == pytest.approx(needed)
    of_one = solve("memory_demand", **given)
    assert of_one.answers[0].value == pytest.approx(70_553_706_496 + 32000 * 2 * 80 * 8 * 128 * 2) and of_one.answers[0].bound == LOWER
    assert "batch = 1 unless it is given: one sequence" in of_one.assumptions and "memory.fits@1" not in of_one.equations


def test_what_a_route_reaches_structurally_it_reaches_with_equations():
    asked = question("batch", {name: known for name, known in DEPLOYMENTS["memory binds"].items() if name != "batch"} | {"step_time": 0.03})
    known = frozenset(asked.known)
    way = route("batch", asked.active, known)
    assert reaches("batch", asked.active, known) and way.legs[-1].unknown == "batch"
    assert {"memory_time", "compute_time"} <= way.solved
    assert [leg.unknown for leg in checks(way, known | {"batch", "weight_time"})] == ["compute_time", "kv_time", "memory_time"]
    assert not reaches("batch", asked.active, known - {"step_time"})


def test_the_equations_of_blocks_are_definitions_and_what_was_named():
    rows = square(question("batch", {}, using=["batching.practical_batch"]).active)
    assert {row.id for row in rows if not row.defines} == {"batching.practical_batch"}
    assert all(row.defines or row.id == "batching.practical_batch" for row in rows)


# -- what cancels ---------------------------------------------------------------------------------------------------

RIDGE = {
    **{"ridge_point": 590, "bytes_per_weight": 1, "total_params": 671e9, "active_params": 37e9, "kv_bytes_per_token": 35136},
    **{"context_length": 4000, "batch": 100},
}


def test_what_cancels_is_not_asked_for():
    """The share of memory time knows the chip by its ridge point alone: neither FLOP/s nor bytes a second are needed."""
    solution = solve("memory_time_share", **RIDGE)
    memory = 671e9 + 100 * 4000 * 35136
    assert solution.answers[0].value == pytest.approx(memory / (memory + 2 * 100 * 37e9 / 590), rel=1e-12)
    assert any("cancels" in text for text in solution.assumptions)
    assert not {"peak_flops", "hbm_bandwidth"} & solution.given.keys()


def test_what_cancels_is_not_asked_for_backwards_either():
    share = value("memory_time_share", **RIDGE)
    left = {name: known for name, known in RIDGE.items() if name != "batch"}
    assert value("batch", **left, memory_time_share=share) == pytest.approx(100, rel=1e-9)


def test_what_does_not_cancel_is_asked_for():
    reason = solve("memory_time", **RIDGE).reason
    assert reason.code == "missing_givens" and {"hbm_bandwidth", "peak_flops"} & {*reason.missing}


# -- anything at all ------------------------------------------------------------------------------------------------

FOUND = [
    # a closed form in which the unknown stands above and below a line
    (
        "free_prefill_chunk",
        {"model": "DeepSeek-V3", "memory_time": 0.01, "compute_utilisation": 0.3, "ridge_point": 100, "peak_flops": 4e15},
    ),
    # an unknown that drops out of its own block
    ("latency_floor", {"hardware": "B200:fp8", "model": "Llama-3-70B", "memory_time": 5e-4, "fleet_throughput": 7e10, "weight_time": 0.05}),
]


@pytest.mark.slow
def test_any_question_has_an_answer_or_a_reason():
    random = Random(20261121)
    for unknown, given in (*FOUND, *(at_random(random) for _ in some(range(120), every=4))):
        try:
            solution = solve(unknown, **given)
        except WrongValue as refused:
            assert "no more than" in str(refused), "more of a part than of its whole was drawn"
            continue
        assert bool(solution.answers) != bool(solution.reason), (unknown, given)
        assert solution.reason is None or solution.reason.message, (unknown, given)


def test_a_rate_goes_forwards_over_the_step_it_rests_on_where_that_takes_as_much():
    """It was found back from the utilisation of its chips, whose formula nobody thinks of first."""
    served = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "batch": 64, "context_length": 8192, "bytes_per_element": 1}
    for unknown in ("throughput", "requests_per_second", "fleet_throughput", "decode_rate_per_chip"):
        solution = solve(unknown, **served, **({"output_tokens": 500} if unknown == "requests_per_second" else {}))
        assert "roofline.step_time@2" in solution.equations and "batching.compute_utilisation_of_rate@1" not in solution.equations
    measured = solve("compute_utilisation", **served, throughput=4000)
    assert "batching.compute_utilisation_of_rate@1" in measured.equations
