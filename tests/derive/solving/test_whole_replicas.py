"""A sizing question names the whole replicas that can be built."""

import re
from math import ceil

import pytest

from derive.solving.api import solve

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.3-70B", "prompt_tokens": 2000, "output_tokens": 500, "bytes_per_element": 1}
TARGETS = {"requests_per_second": ">=40", "time_per_output_token": "<=30ms"}


def test_a_sizing_answer_leads_with_the_fewest_chips_of_whole_replicas():
    """No other tp that divides the 64 heads and fits in a domain of 8 takes fewer chips."""
    solution = solve("chips", **SERVED, **TARGETS)
    assert str(solution).startswith(solution.lead[0])
    fleets = [solve("fleet_chips", **SERVED, **TARGETS, chips=tp) for tp in (1, 2, 4, 8)]
    for line, together in zip(solution.lead, (True, False), strict=False):
        chips, count, size = map(
            int, re.match(r"chips >= (\d+)(?: \+ \d+)?   (?:[a-zA-Z ]+: )?(\d+)(?: replicas?)? of tp=(\d+)", line).groups()
        )
        ends = [((together and one.with_prompts) or one.answers[0]).ends[0] for one in fleets if one.answers]
        assert chips == count * size == min(ends) >= solution.answers[0].ends[0]


def test_prompts_on_chips_of_their_own_have_the_fewest_whole_replicas():
    """20 requests per second, each with a prompt of 8,000 tokens that takes prefill_time, on replicas that meet the time to first token."""
    asked = {"hardware": "H100:bf16", "model": "Llama-3.3-70B", "prompt_tokens": 8000, "output_tokens": 500}
    solution = solve("chips", **asked, requests_per_second=20, step_time="50ms", time_to_first_token="0.4s")
    chips, count, tp = map(int, re.search(r"\+ (\d+) .* and (\d+) of tp=(\d+)", solution.lead[1]).groups())
    prefill = {one: solve("prefill_time", **asked, chips=one).value for one in (2, 4, 8)}
    assert (count, tp) == (ceil(20 * prefill[4]), 4) and chips == count * tp
    assert chips == min(one * ceil(20 * time) for one, time in prefill.items() if time <= 0.4)


def test_prompts_count_although_a_single_sequence_meets_the_rate_of_decode():
    """Prompts of 12,000 tokens on one chip take 0.24 s, and 12 of them per second need three chips. Decode needs one."""
    asked = {"hardware": "H100:fp8", "model": "Qwen3-30B-A3B", "prompt_tokens": 12000, "output_tokens": 50, "mfu": 0.4}
    solution = solve("chips", **asked, requests_per_second=12, step_time="30ms")
    time = solve("prefill_time", **asked, chips=1).value
    together, apart = solution.deployments
    assert [part.replicas * part.chips_per_replica for part in apart] == [1, ceil(12 * time)] and together[0].chips_per_replica == 4


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


def test_the_sensitivities_of_replicas_are_those_of_their_parts():
    """With prompts on the same chips, 1 % more requests need 1 % more parts of replicas, and a faster chip needs fewer."""
    asked = {"hardware": "H100:bf16", "model": "Llama-3.3-70B", "prompt_tokens": 8000, "output_tokens": 500}
    (line,) = (text for text in solve("chips", **asked, requests_per_second=20, step_time="50ms").lead if text.startswith("+1 %"))
    moves = {name: float(slope) for name, slope in re.findall(r"(\w+) ([+-][\d.]+) %", line)}
    assert moves["requests_per_second"] == pytest.approx(1, abs=0.01) and -1 < moves["peak_flops"] < -0.5
