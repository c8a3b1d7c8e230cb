"""Pipeline stages in chains: their memory counts, and a hop between stages is only there where there are several."""

import pytest

from derive.ranges import solve

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


def test_one_stage_hops_nowhere():
    assert solve("token_latency", step_time="20ms", hop_latency="2.5ms", pipeline_stages=4).answers[0].value == pytest.approx(30e-3)
    alone = solve("token_latency", step_time="20ms", hop_latency="2.5ms")
    assert not alone.answers
    assert "pipeline_stages > 1" in alone.reason.message


def test_a_microbatch_is_the_batch_of_a_pass_where_that_is_claimed():
    given = {"batch": 2400, "microbatches": 4}
    assert not solve("sequences_in_flight", **given).answers
    assert solve("sequences_in_flight", using=["pipeline.batch_of_a_pass"], **given).answers[0].value == 4 * 2400
