"""A sizing question names the whole replicas that can be built."""

import re

import pytest

from derive.solving.api import solve

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.3-70B", "prompt_tokens": 2000, "output_tokens": 500, "bytes_per_element": 1}
TARGETS = {"requests_per_second": ">=40", "time_per_output_token": "<=30ms"}


def test_a_sizing_answer_leads_with_the_fewest_chips_of_whole_replicas():
    """No other tp that divides the 64 heads and fits in a domain of 8 takes fewer chips."""
    solution = solve("chips", **SERVED, **TARGETS)
    assert str(solution).startswith(solution.lead[0])
    assert solve("chips", **SERVED, requests_per_second=40, time_per_output_token="30ms").lead == solution.lead
    fleets = [solve("fleet_chips", **SERVED, **TARGETS, chips=tp) for tp in (1, 2, 4, 8)]
    for line, together in zip(solution.lead, (True, False), strict=True):
        chips, count, size = map(int, re.match(r"chips >= (\d+)   (\d+) replicas? of tp=(\d+)", line).groups())
        ends = [((together and one.with_prompts) or one.answers[0]).ends[0] for one in fleets if one.answers]
        assert chips == count * size == min(ends) >= solution.answers[0].ends[0]


@pytest.mark.parametrize(
    "given",
    [
        {**SERVED, "context_length": 4000, "batch": 64, "step_time": "<=20ms"},
        {
            "total_params": 70e9,
            "active_params": 70e9,
            "hardware": "H100-SXM:fp8",
            "batch": 64,
            "kv_bytes_per_sequence": 1e9,
            "step_time": "<=20ms",
        },
    ],
    ids=["no rate", "no heads"],
)
def test_a_question_that_sizes_no_fleet_has_no_replicas(given):
    assert not solve("chips", **given).lead
