"""A rate of requests whose prompts nobody says where they are computed: the answer for decode alone, and for both on the same chips."""

from math import ceil

import pytest

from derive.answers import COUNTED, DECODE_ALONE, OR
from derive.roles import Prompts
from derive.show.text import solution_record
from derive.solving.api import solve
from derive.units import show

WITH_PROMPTS = Prompts.together
pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "prompt_tokens": 1000, "output_tokens": 300}
SIZES = [
    ("chips", {"requests_per_second": 100, "step_time": 0.05}),
    ("chips", {"requests_per_second": ">=100", "step_time": "<=50ms"}),
    ("chips", {"requests_per_second": 40, "batch": 64}),
    ("replicas", {"requests_per_second": 1000, "batch": 64, "chips": 8}),
    ("batch", {"requests_per_second": 40, "chips": 8}),
]
RATES = [
    ("requests_per_second", {"batch": 64, "chips": 8}),
    ("throughput", {"batch": 64, "chips": 8, "pipeline_stages": 2, "draft_tokens": 2, "acceptance_rate": 0.7}),
    ("tokens_per_dollar", {"batch": 64, "chips": 8, "chip_price": "2 USD/h"}),
    ("fleet_throughput", {"batch": 64, "chips": 8, "replicas": 3}),
]
COSTS = [
    ("cost_per_token", {"batch": 64, "chips": 8, "chip_price": "2 USD/h"}),
    ("energy_per_token", {"batch": 64, "chips": 8}),
    ("output_energy", {"batch": 64, "chips": 8}),
    ("chips", {"batch": 64, "throughput": 5000}),
    ("batch", {"chips": 8, "decode_rate_per_chip": 500}),
]
"""What prompts on the same chips make more of."""


@pytest.mark.slow
@pytest.mark.parametrize(("unknown", "given"), [*SIZES, *RATES, *COSTS])
def test_an_answer_for_decode_alone_stands_beside_the_one_with_prompts_on_the_same_chips(unknown, given):
    of_a_user = {"time_per_output_token" if name == "step_time" else name: value for name, value in given.items()}
    alone, both = solve(unknown, **SERVED, **given), solve(unknown, **SERVED, **of_a_user, using=WITH_PROMPTS)
    assert alone.with_prompts.point == both.answers[0].point and both.with_prompts is None
    (one,) = both.answers
    number, bound = show(unknown, one.point), OR[one.bound]
    in_parts = unknown in COUNTED and bound and "." in number
    told = f"{ceil(one.point)}{bound} (from {number})" if in_parts else f"{number}{bound}"
    first = " ".join(str(alone).split("\n  best")[0].split())
    assert "for decode alone" in first and told in first
    record = solution_record(alone)
    assert any(f"is {told}" in text for text in record["remarks"]) and record["with_prompts"]["value"] == one.point


@pytest.mark.slow
@pytest.mark.parametrize(("unknown", "given"), [*SIZES, *COSTS])
def test_prompts_on_the_same_chips_take_no_less_of_what_is_sized(unknown, given):
    solution = solve(unknown, **SERVED, **given)
    assert solution.with_prompts.point > solution.answers[0].point


@pytest.mark.parametrize(("unknown", "given"), RATES)
def test_prompts_on_the_same_chips_leave_no_more_of_a_rate(unknown, given):
    solution = solve(unknown, **SERVED, **given)
    assert solution.with_prompts.point < solution.answers[0].point


@pytest.mark.parametrize("batch", [1, 512])
def test_the_chips_that_a_rate_takes_with_prompts_give_that_rate_with_prompts(batch):
    rate = solve("requests_per_second", **SERVED, batch=batch, chips=8).with_prompts.point
    assert solve("chips", **SERVED, batch=batch, requests_per_second=rate).with_prompts.point == pytest.approx(8)


def test_what_counts_prompts_or_has_none_of_its_own_is_not_for_decode_alone():
    served = {**SERVED, "chips": 8, "batch": 64}
    for unknown in ("cost_per_request", "prefill_decode_chip_ratio", "prompt_time_share", "step_time", "prefill_throughput"):
        solution = solve(unknown, **served, chip_price="2 USD/h")
        assert solution.with_prompts is None and DECODE_ALONE not in solution.kinds, unknown
    no_output = {name: value for name, value in served.items() if name != "output_tokens"}
    assert DECODE_ALONE not in solve("throughput", **no_output).kinds


def test_nothing_is_said_of_prompts_where_nobody_spoke_of_them_or_said_where_they_are():
    decode = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "batch": 64, "context_length": 1150, "output_tokens": 300}
    assert "decode alone" not in str(solve("chips", **decode, requests_per_second=40))
    apart = solve("chips", **SERVED, batch=64, requests_per_second=40, using="serving.requests_per_second")
    assert apart.with_prompts is None and apart.value == pytest.approx(solve("chips", **SERVED, batch=64, requests_per_second=40).value)


SERVED_2K = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "prompt_tokens": 2000, "output_tokens": 500}
HELD = [
    ("replicas", {"requests_per_second": 55, "chips": 4}, 30),
    ("chips", {"requests_per_second": 20}, 13),
]


def whole(one):
    return ceil(one.point)


def test_a_limit_on_the_time_of_a_token_is_that_on_its_speed_where_prompts_are_on_the_same_chips():
    (unknown, given, most), word = HELD[1], "inter_token_latency"
    by_time = solve(unknown, **SERVED_2K, **given, **{word: f"<={most}ms"}, using=WITH_PROMPTS)
    by_speed = solve(unknown, **SERVED_2K, **given, tokens_per_second_per_user=f">={1000 / most}", using=WITH_PROMPTS)
    assert whole(by_time.answers[0]) == whole(by_speed.answers[0])
    assert whole(solve(unknown, **SERVED_2K, **given, **{word: f"<={most}ms"}).with_prompts) == whole(by_time.answers[0])
    paid = {**SERVED_2K, "chips": 4, "chip_price": "2 USD/h", word: f"<={most}ms"}
    apart, together = (solve("cost_per_request", **paid, using=using) for using in ((), WITH_PROMPTS))
    assert apart.value < apart.with_prompts.point == together.value


def test_a_prompt_for_a_rate_is_shorter_with_prompts_on_the_same_chips():
    """At 9,166 tokens the rate with prompts is the given one, at the largest batch that fits."""
    served = {"hardware": "8xH100-SXM:bf16", "model": "Llama-3.1-70B", "output_tokens": 500, "bytes_per_element": 2}
    found = solve("prompt_tokens", **served, requests_per_second=4)
    there = solve("requests_per_second", **served, prompt_tokens=found.with_prompts.point)
    assert found.with_prompts.point < found.value and found.with_prompts.bound == "upper"
    assert there.with_prompts.point == pytest.approx(4, rel=0.01)
