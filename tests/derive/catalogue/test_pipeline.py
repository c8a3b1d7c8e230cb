"""Pipeline stages in chains: their memory counts, and a hop between stages is only there where there are several."""

from fractions import Fraction

import pytest

from derive.errors import WrongValue
from derive.solving.api import solve
from tests.tools.schedules import gpipe, interleaved, one_forward_one_backward, run
from tests.tools.together import in_one_test

RACK = {"chips": 72, "hbm_capacity": "192GB", "scale_up_size": 72}


def test_stages_hold_more_than_one_scale_up_domain():
    """Without a name the bound is that of all stages, though the size of the domain is given."""
    for stages in (1, 4):
        (answer,) = solve("memory_demand", pipeline_stages=stages, **RACK).answers
        assert answer.kind == "interval" and answer.high == pytest.approx(stages * 72 * 192e9)


def test_the_bound_of_one_domain_is_for_those_who_claim_one_stage():
    solution = solve("memory_demand", using=["memory.scale_up_fit"], hbm_capacity="192GB", scale_up_size=72)
    assert solution.answers[0].high == pytest.approx(72 * 192e9)
    assert "memory.scale_up_fit is a condition, joined by name" in solution.assumptions


@pytest.mark.parametrize("stages", [{"pipeline_stages": 1}, {}], ids=["given", "default"])
def test_one_stage_hops_nowhere_however_long_a_hop_takes(stages):
    given = {"step_time": "20ms", "hop_latency": "2.5ms", **stages}
    assert solve("token_latency", **given).answers[0].value == pytest.approx(20e-3)
    assert solve("idle_fraction", **given, microbatches=1).answers[0].value == 0
    assert solve("throughput", **given, batch=100).answers[0].value == pytest.approx(5000)


def test_a_hop_of_one_stage_is_not_used():
    solution = solve("token_latency", step_time="20ms", hop_latency="2.5ms")
    assert solution.unused == ("hop_latency",)


def test_the_number_of_stages_comes_back_from_the_latency():
    for stages, latency in ((1, 20e-3), (2, 25e-3), (4, 30e-3)):
        (found,) = solve("pipeline_stages", token_latency=latency, step_time=20e-3, hop_latency=2.5e-3, microbatches=1).answers
        assert found.value == pytest.approx(stages)


@pytest.mark.parametrize("more", [{}, {"hop_latency": 0, "step_time": 0.02}])
def test_an_idle_half_is_twice_as_many_stages_as_microbatches(more):
    """Also where the hops are given as none: the square that they make of the stages is then a line."""
    (answer,) = solve("pipeline_stages", idle_fraction=0.5, microbatches=4, **more).answers
    assert answer.value == pytest.approx(8, rel=1e-12)


def test_a_bubble_without_stages_is_refused_by_what_it_requires():
    refused = solve("bubble_fraction", training_microbatches=4)
    assert refused.answers == () and "pipeline.bubble requires pipeline_stages > 1" in refused.reason.message


@pytest.mark.parametrize(("given", "in_flight"), [({"microbatches": 4}, 9600), ({"pipeline_stages": 3}, 7200), ({}, 2400)])
def test_a_microbatch_is_the_batch_of_a_pass_and_there_are_as_many_as_stages(given, in_flight):
    assert solve("sequences_in_flight", batch=2400, **given).answers[0].value == in_flight


# -- training schedules, run step by step -----------------------------------------------------------------------------

SHAPES = [(8, 32), (4, 8), (4, 4), (2, 6)]


def bubble(stages, microbatches, *using, **given):
    (answer,) = solve("bubble_fraction", using=using, pipeline_stages=stages, training_microbatches=microbatches, **given).answers
    return answer.value


@in_one_test("schedule", [gpipe, one_forward_one_backward])
@in_one_test("backward", [1, 2, 3])
@in_one_test(("stages", "microbatches"), [*SHAPES, (8, 3)])
def test_both_plain_schedules_wait_as_long_whatever_a_backward_pass_takes(schedule, backward, stages, microbatches):
    idle = run(schedule(stages, microbatches), backward=Fraction(backward)).idle
    assert bubble(stages, microbatches) == pytest.approx(float(idle), rel=1e-12)


@in_one_test("virtual", [1, 2, 3, 4])
@in_one_test("backward", [1, 2])
@in_one_test(("stages", "microbatches"), SHAPES)
def test_virtual_stages_shorten_the_bubble(virtual, backward, stages, microbatches):
    idle = run(interleaved(stages, microbatches, virtual), backward=Fraction(backward)).idle
    found = bubble(stages, microbatches, "pipeline.interleaved_bubble", virtual_stages=virtual)
    assert found == pytest.approx(float(idle), rel=1e-12)
    assert found < bubble(stages, microbatches) or virtual == 1


@in_one_test(("stages", "microbatches"), SHAPES)
def test_one_forward_one_backward_holds_as_many_microbatches_as_stages_and_gpipe_holds_all(stages, microbatches):
    """These are the microbatches in flight; those of a training step are as many as one likes."""
    assert run(one_forward_one_backward(stages, microbatches)).held == tuple(range(stages, 0, -1))
    assert run(gpipe(stages, microbatches)).held == (microbatches,) * stages


def test_microbatches_beside_a_bubble_are_those_of_a_training_step():
    """Of 4 and 3 slots 3 are idle; a step that decodes has microbatches in flight, and no bubble of training."""
    assert bubble(4, 4) == pytest.approx(3 / 7, rel=1e-12)
    solution = solve("bubble_fraction", pipeline_stages=4, microbatches=4)
    assert solution.answers[0].value == pytest.approx(3 / 7, rel=1e-12) and solution.given["training_microbatches"] == 4
    both = solve("bubble_fraction", pipeline_stages=4, training_microbatches=8, microbatches=4)
    assert both.answers[0].value == pytest.approx(3 / 11, rel=1e-12) and both.unused == ("microbatches",)
    assert "training_microbatches" not in solve("throughput", pipeline_stages=4, microbatches=4, batch=8, step_time=0.02).given


def test_half_a_microbatch_and_a_stage_without_a_layer_are_refused():
    refused = solve("bubble_fraction", pipeline_stages=4, training_microbatches=0.5)
    assert refused.answers == () and refused.reason.code == "requirement_violated"
    assert "training_microbatches >= 1" in refused.reason.message and "\n" not in refused.reason.message
    with pytest.raises(WrongValue, match="pipeline_stages = 8: no more than layers = 4"):
        solve("layers_per_stage", pipeline_stages=8, layers=4)


def test_fewer_microbatches_than_stages_do_not_interleave():
    refused = solve("bubble_fraction", using=["pipeline.interleaved_bubble"], pipeline_stages=8, training_microbatches=4, virtual_stages=2)
    assert refused.answers == () and "training_microbatches >= pipeline_stages" in refused.reason.message


def test_there_are_no_more_virtual_stages_than_layers_of_a_stage():
    (answer,) = solve("virtual_stages", layers=96, pipeline_stages=8).answers
    assert (answer.kind, answer.high) == ("interval", 12)
