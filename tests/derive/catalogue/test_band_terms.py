"""Terms of a band: what attention adds to compute, what overlap hides, and what a step of several tokens shares."""

import pytest

from derive.catalogue.assumed import compute, decode, shared


def test_compute_doubles_at_the_context_whose_attention_is_as_much_as_the_weights():
    """2 FLOP for each of 100 G weights, and 500 kFLOP a pair: at 400 k tokens attention is as much again."""
    assert [compute(context, 500e3, 100e9, 2) for context in (0, 400e3, 800e3)] == [1, 2, 3]


@pytest.mark.parametrize(("overlap", "cost"), [(1, 30), (0.5, 35), (0, 40)])
@pytest.mark.parametrize("times", [(1, 3), (3, 1)])
def test_the_shorter_of_both_is_hidden_as_far_as_they_overlap(overlap: float, cost: float, times: tuple[float, float]):
    assert decode(10, *times, overlap) == cost


def test_what_a_step_reads_is_shared_by_the_tokens_it_yields():
    assert shared(6.0, 1.5, 1) == 4.0 and shared(6.0, 1, 1) == 6.0
