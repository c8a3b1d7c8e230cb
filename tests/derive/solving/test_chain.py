"""A route with numbers, and what an answer says of itself: its route, its numbers, its elasticities."""

from math import exp, log

import pytest

from derive.catalogue import equation
from derive.catalogue.arithmetic import maximum
from derive.records import Equation, Source
from derive.solving.api import solve
from derive.solving.limits.answering import answer_with_way
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
        row = with_defaults(equation(step.equation), dict(values_to_put_in(defaults_in_force("step_time", known))))
        assert set(row.symbols) - {step.unknown} <= known, "a step uses what is not known yet"
        known.add(step.unknown)
    assert solution.route[-1].unknown == solution.unknown == "step_time"
    assert solution.route[-1].value == solution.answers[0].value
    assert set(solution.given) == known - {step.unknown for step in solution.route}, "a given that was not used is listed"
    assert solution.unit == "s"


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
    solution, _ = answer_with_way(Question(unknown="throughput", known={**TIP, "context_length": 100.0}, active=(V, TIMES)))
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
    assert (only.kind, only.low, only.high, only.bound) == ("interval", 0, 1, None)
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


def test_sensitivities_of_a_quantity_that_was_searched_agree_with_small_changes():
    """The batch of a mixture has no closed form, because a larger batch activates more experts."""
    given = {"chips": 16.0, "context_length": 4000.0, "bytes_per_element": 1.0, "step_time": 0.012}

    def batch(**changed):
        return solve("batch", hardware="H100:fp8", model="DeepSeek-V3", **{**given, **changed})

    found = batch()
    for name in ("step_time", "context_length", "chips"):
        ratio = batch(**{name: given[name] * (1 + 1e-5)}).value / found.value
        assert log(ratio) / log(1 + 1e-5) == pytest.approx(found.answers[0].elasticities[name], rel=1e-3)
