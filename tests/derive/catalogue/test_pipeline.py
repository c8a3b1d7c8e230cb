"""Pipeline stages in chains: their memory counts, and a hop between stages is only there where there are several."""

from fractions import Fraction

import pytest

from derive.solving.api import solve
from tests.tools.schedules import gpipe, interleaved, one_forward_one_backward, run
from tests.tools.together import in_one_test

# -- training schedules, run step by step -----------------------------------------------------------------------------

SHAPES = [(8, 32), (4, 8), (4, 4), (2, 6)]


def bubble(stages, microbatches, **given):
    (answer,) = solve("bubble_fraction", pipeline_stages=stages, training_microbatches=microbatches, **given).answers
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
    found = bubble(stages, microbatches, virtual_stages=virtual)
    assert found == pytest.approx(float(idle), rel=1e-12)
    assert found < bubble(stages, microbatches) or virtual == 1


@in_one_test(("stages", "microbatches"), SHAPES)
def test_one_forward_one_backward_holds_as_many_microbatches_as_stages_and_gpipe_holds_all(stages, microbatches):
    """These are the microbatches in flight; those of a training step are as many as one likes."""
    assert run(one_forward_one_backward(stages, microbatches)).held == tuple(range(stages, 0, -1))
    assert run(gpipe(stages, microbatches)).held == (microbatches,) * stages
