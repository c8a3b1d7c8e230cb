"""A route with numbers, and what an answer says of itself: its route, its numbers, its elasticities."""

from math import exp, log

import pytest

from derive.catalogue import equation
from derive.catalogue.arithmetic import maximum
from derive.records import Equation, Source
from derive.solving.api import solve
from derive.solving.limits.answering import answer
from derive.solving.question.defaults import defaults_in_force, values_to_put_in, with_defaults
from derive.solving.question.questions import Question
from tests.tools.asked import STEP, value
from tests.tools.together import in_one_test

SOURCE = Source(kind="web", title="Made up", author="The tests", url="https://example.org", said="nothing", page="1")


def test_the_route_runs_from_givens_to_the_unknown_and_nothing_else():
    solution = solve("step_time", **STEP)
    assert solution.equations == tuple(step.equation for step in solution.route)
    assert set(solution.equations) == {
        *("roofline.compute_time@1", "architecture.kv_bytes_mla@2"),
        *("experts.touched_experts@2", "experts.routed_params@1", "experts.shared_params@1"),
        *("experts.fetched_params@1", "experts.weight_time_touched@5"),
        *("architecture.attention_flops_mla_absorbed@2", "architecture.attention_flops_of_context@2", "roofline.attention_time@2"),
        *("roofline.kv_time@2", "roofline.memory_time@1", "roofline.step_time@3"),
    }
    known = set(solution.given)
    for step in solution.route:
        row = with_defaults(equation(step.equation), values_to_put_in(defaults_in_force("step_time", known)))
        assert set(row.symbols) - {step.unknown} <= known, "a step uses what is not known yet"
        known.add(step.unknown)
    assert solution.route[-1].unknown == solution.unknown == "step_time"
    assert solution.route[-1].value == solution.answers[0].value
    assert set(solution.given) == known - {step.unknown for step in solution.route}, "a given that was not used is listed"
    assert solution.unit == "s"


def test_the_numbers_of_a_route_are_those_of_the_formulas():
    """16 H100 at 3.35 TB/s and 1,979 TFLOP/s, 671 B and 37 B in fp8, 61 layers of 512 + 64 values."""
    memory = (671e9 + 2048 * 4000 * 61 * 576) / (16 * 3.35e12)
    compute = 2 * 2048 * 37e9 / (16 * 1979e12)
    assert memory > compute
    assert value(solve("step_time", **STEP)) == pytest.approx(memory, rel=1e-12)
    assert value(solve("compute_time", **STEP)) == pytest.approx(compute, rel=1e-12)
    assert value(solve("throughput", **STEP)) == pytest.approx(2048 / memory, rel=1e-12)
    assert value(solve("cost_per_token", **STEP, chip_price="2 USD/h")) == pytest.approx(16 * 2 / 3600 * memory / 2048, rel=1e-12)
    assert value(solve("normalised_cost", **STEP)) == pytest.approx(memory / compute, rel=1e-12)
    assert value(solve("compute_utilisation", **STEP)) == pytest.approx(compute / memory, rel=1e-12)


@in_one_test(
    ("unknown", "given"),
    [
        # each is the same deployment with one number taken away and a result put in its place
        ("kv_bytes_per_token", {"memory_time": "step_time"}),
        ("context_length", {"kv_time": "kv_time"}),
        ("total_params", {"weight_time": "weight_time"}),
        ("hbm_bandwidth", {"weight_time": "weight_time"}),
        ("active_params", {"compute_time": "compute_time"}),
        ("bytes_per_element", {"memory_time": "memory_time"}),
        ("chip_price", {"cost_per_token": "cost_per_token"}),
    ],
)
def test_a_number_taken_away_comes_back_through_the_chain(unknown, given):
    whole = {**STEP, "chip_price": 2 / 3600}
    replaced = {name: value(solve(result, **whole)) for name, result in given.items()}
    truth = {**whole, "kv_bytes_per_token": 61 * 576, "total_params": 671e9, "hbm_bandwidth": 3.35e12, "active_params": 37e9}
    left = {name: known for name, known in whole.items() if name != unknown}
    # The preset's own value of what is asked is dropped, so that the question is one.
    assert value(solve(unknown, **left, **replaced)) == pytest.approx(truth[unknown], rel=1e-9)


def test_what_was_given_and_is_not_needed_is_listed():
    solution = solve("balance_batch", machine_balance_ratio=300, sparsity=8, head_dim=128)
    assert value(solution) == 2400
    assert solution.unused == ("head_dim",)
    assert "head_dim" not in solution.given
    preset = solve("machine_balance_ratio", hardware="H100:fp8")
    assert not any("hbm_capacity" in note for note in preset.assumptions), "nobody gave what a preset brings"


def made_up(id, relation):
    return Equation(id=id, title="Made up", relation=relation, statement="Made up.", sources=(SOURCE,))


V = made_up("test.v", lambda step_time, batch, compute_time, memory_time: (step_time, maximum(compute_time / batch, memory_time * batch)))
TIMES = made_up("test.times", lambda throughput, batch, context_length: (throughput, batch * context_length))
TIP = {"step_time": 6.0, "compute_time": 2.0, "memory_time": 3.0}
"""batch is 1/3 or 2."""


def test_two_points_on_the_way_give_two_answers():
    solution = answer(Question(unknown="throughput", known={**TIP, "context_length": 100.0}, active=(V, TIMES)))
    assert [one.value for one in solution.answers] == pytest.approx([100 / 3, 200])
    assert [one.elasticities["step_time"] for one in solution.answers] == pytest.approx([-1, 1])


def test_provenance_covers_every_given():
    solution = solve("step_time", **STEP)
    assert set(solution.provenance) == set(solution.given)
    assert solution.provenance["batch"] == "given"
    assert solution.provenance["peak_flops"].startswith("hardware.csv H100-SXM peak_flops fp8")
    assert solution.provenance["total_params"].startswith("architectures.csv DeepSeek-V3 total_params")
    assert solution.provenance["mfu"] == "default"


def test_an_unknown_that_does_not_bind_is_an_interval():
    (only,) = solve("memory_time", step_time=1, compute_time=1).answers
    assert (only.kind, only.low, only.high) == ("interval", 0, 1)
    users = {"using": ["batching.users_needed"], "machine_balance_ratio": 300, "sparsity": 8}
    (only,) = solve("concurrent_sequences", **users).answers
    assert (only.kind, only.low, only.high) == ("interval", 2400, None)
    assert only.elasticities == pytest.approx({"machine_balance_ratio": 1, "sparsity": 1, "mfu": 1, "mbu": -1})


def test_bounds_carry_through_the_equations_that_rest_on_them():
    """The read may take up to the time of the arithmetic, so the cache may have up to so many bytes a token."""
    (only,) = solve(
        "kv_bytes_per_token", step_time=1, compute_time=1, weight_time=0.2, batch=10, context_length=1e3, hbm_bandwidth=1e12
    ).answers
    assert (only.kind, only.low, only.high) == ("interval", 0, pytest.approx(0.8 * 1e12 / (10 * 1e3)))
    (only,) = solve("peak_flops", step_time=0.02, memory_time=0.02, batch=1000, active_params=37e9, chips=16).answers
    assert (only.kind, only.low, only.high) == ("interval", pytest.approx(2 * 1000 * 37e9 / (16 * 0.02)), None)


@pytest.mark.slow
@in_one_test(
    ("unknown", "variants", "using"),
    [
        ("step_time", {}, []),
        ("step_time", {"overlap": "sum"}, []),
        ("cost_per_token", {"overlap": "sum"}, []),
        ("normalised_cost", {}, []),
        ("memory_time_share", {}, []),
        ("balance_batch_with_kv", {}, []),
        ("cost_per_token", {}, ["roofline.step_time_kv_plus_max"]),
        ("readings", {}, []),
    ],
)
def test_elasticities_through_a_chain_are_those_of_finite_differences(unknown, variants, using):
    given = {
        **{"batch": 900.0, "context_length": 1500.0, "active_params": 37e9, "total_params": 671e9, "bytes_per_weight": 1.0},
        **{"layers": 61.0, "kv_heads": 2.0, "head_dim": 128.0, "bytes_per_element": 1.0, "chips": 16.0, "mfu": 0.4, "mbu": 0.8},
        **{"peak_flops": 1979e12, "hbm_bandwidth": 3.35e12, "chip_price": 5.6e-4},
    }
    if unknown == "readings":
        unknown, using = "kv_bytes_per_token", ["readings.joint_slope"]
        given = {
            **{"output_input_ratio": 6.0, "premium_out": 1.5, "long_context": 4e5, "short_context": 1e5},
            **{"active_params": 1e11, "peak_flops": 1979e12, "hbm_bandwidth": 3.35e12, "mfu": 0.4, "mbu": 0.8},
        }
    solution = solve(unknown, variants=variants, using=using, **given)
    assert len(solution.route) > 2
    slopes = solution.answers[0].elasticities
    h = 1e-5
    for name in given:
        if given[name] * exp(h) > 1 and name in ("mfu", "mbu"):
            continue
        ends = [value(solve(unknown, variants=variants, using=using, **{**given, name: given[name] * exp(s * h)})) for s in (-1, 1)]
        measured = (log(ends[1]) - log(ends[0])) / (2 * h)
        assert slopes.get(name, 0.0) == pytest.approx(measured, abs=1e-6), name
    assert set(slopes) <= set(solution.given), "elasticities are with respect to what was given"


@pytest.mark.parametrize("peak_flops", [1e12, 1e15, 1e17])
def test_what_is_said_to_cancel_can_be_given_and_changes_nothing(peak_flops):
    given = {
        **{"total_params": 70e9, "active_params": 70e9, "kv_bytes_per_token": 163840, "bytes_per_weight": 1},
        **{"ridge_point": 590, "context_length": 4000, "batch": 100},
    }
    alone = solve("memory_time_share", **given)
    beside = solve("memory_time_share", **given, peak_flops=peak_flops)
    assert value(beside) == pytest.approx(value(alone))


FULL = {"compute_utilisation": 1.0, "balance_batch": 8, "context_length": 1500}


@in_one_test(
    ("unknown", "given", "low", "high"),
    [
        # arithmetic binds where 8/batch + 1500/balance_context <= 1
        ("batch", {"balance_context": 2000}, 8 / (1 - 1500 / 2000), None),
        ("batch", {"balance_context": 1500.015}, 8 / (1 - 1500 / 1500.015), None),
        ("balance_context", {"batch": 32}, 1500 / (1 - 8 / 32), None),
        ("balance_context", {"batch": 8.0001}, 1500 / (1 - 8 / 8.0001), None),
        ("balance_batch", {"batch": 32, "balance_context": 2000, "balance_batch": None}, 0, 32 * (1 - 1500 / 2000)),
        ("batch", {"balance_context": 1500}, None, None),
        ("batch", {"balance_context": 1000}, None, None),
        ("balance_context", {"batch": 8}, None, None),
    ],
)
def test_a_regime_ends_at_its_pole_and_is_not_beyond_it(unknown, given, low, high):
    solution = solve(unknown, **{name: value for name, value in {**FULL, **given}.items() if value is not None})
    if low is None:
        assert solution.answers == () and solution.reason.code == "no_solution"
        return
    (found,) = solution.answers
    assert (found.kind, found.low) == ("interval", pytest.approx(low, rel=1e-9)) and found.high == (high and pytest.approx(high, rel=1e-9))


def test_a_root_beside_the_edge_of_a_loop_inside_a_loop_is_found():
    """The latency of a token on this grid and on the best one, at 0.95 bytes per weight and hops of 490 us: next to the best number of
    chips another width has the same latencies.
    """
    grid = {"layers": 25, "allreduces_per_layer": 4 / 3, "hbm_bandwidth": 8e11, "active_params": 1.6e10, "chips": 2.8}
    here, best = equation("roofline.grid_latency"), equation("roofline.minimum_latency")
    given = {row.symbols[0]: row.right_side({**grid, "bytes_per_weight": 0.95, "hop_latency": 4.9e-4}) for row in (here, best)}
    first, second = (one.value for one in solve("bytes_per_weight", **grid, **given).answers)
    hop = solve("hop_latency", **grid, bytes_per_weight=second, grid_latency=given["grid_latency"]).value
    assert first == pytest.approx(0.95) and second > 1
    assert best.right_side({**grid, "bytes_per_weight": second, "hop_latency": hop}) == pytest.approx(given["minimum_latency"])
