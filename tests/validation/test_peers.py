"""Step times on the cases that other tools were run on: the roofline of each, by hand from data sheets.

Hardware: H100 989 TFLOP/s bf16 and 1,979 fp8, 3.35 TB/s; H200 the same at 4.8 TB/s; B200 2.25 and 4.5 PFLOP/s, 8 TB/s;
8 chips each, tensor-parallel, 8,192 tokens of context. Llama-3-70B has 70.55 B parameters, DeepSeek-V3 671 B and 37 B.
"""

import pytest

from derive.chain import solve

LLAMA = {"model": "Llama-3-70B", "total_params": 70.55e9, "active_params": 70.55e9, "bytes_per_weight": 2, "bytes_per_element": 2}
DEEPSEEK = {"model": "DeepSeek-V3", "total_params": 671e9, "active_params": 37e9, "bytes_per_weight": 1, "bytes_per_element": 2}
H100 = {"hbm_bandwidth": 3.35e12, "chips": 8, "context_length": 8192}
H200 = {**H100, "hbm_bandwidth": 4.8e12}
B200 = {**H100, "hbm_bandwidth": 8e12}

CASES = {
    # name: givens, weights, KV and roofline in ms, as printed in the comparison of the tools
    "L70: Llama-3-70B bf16 on 8 H200": ({**LLAMA, **H200, "batch": 256, "peak_flops": 989e12}, 3.67, 17.90, 21.57),
    "L70s: the same on 8 H100, batch 64": ({**LLAMA, **H100, "batch": 64, "peak_flops": 989e12}, None, None, 11.68),
    "INF: the same, batch 256": ({**LLAMA, **H100, "batch": 256, "peak_flops": 989e12}, None, None, 30.9),
    "DSV3: DeepSeek-V3 fp8 on 8 H200, KV in bf16": ({**DEEPSEEK, **H200, "batch": 256, "peak_flops": 1979e12}, 17.47, 3.84, 21.31),
    "DSV3b: the same on 8 B200": ({**DEEPSEEK, **B200, "batch": 256, "peak_flops": 4.5e15}, None, None, 12.79),
}
MARKED = [pytest.param(*case, id=name) for name, case in CASES.items()]


def milliseconds(unknown, given, **more):
    solution = solve(unknown, **given, **more)
    assert solution.reason is None, solution.reason
    return 1e3 * solution.answers[0].value


def rounded(number, like):
    """A number to as many digits after the point as the printed one has."""
    return round(number, len(str(like).partition(".")[2]))


@pytest.mark.parametrize(("given", "weights", "kv", "roofline"), MARKED)
def test_the_roofline_is_the_printed_one(given, weights, kv, roofline):
    assert rounded(milliseconds("step_time", given, variants={"overlap": "max"}), roofline) == roofline
    if weights is not None:
        assert rounded(milliseconds("weight_time", given), weights) == weights
        assert rounded(milliseconds("kv_time", given), kv) == kv


@pytest.mark.parametrize(("given", "weights", "kv", "roofline"), MARKED)
def test_the_roofline_is_the_least_of_the_three_and_half_the_sum_at_least(given, weights, kv, roofline):
    least, apart, total = (milliseconds("step_time", given, variants={"overlap": name}) for name in ("max", "kv_plus_max", "sum"))
    assert least <= apart <= total <= 2 * least
    assert total == pytest.approx(least + milliseconds("compute_time", given), rel=1e-12), "memory binds in all of these"


@pytest.mark.parametrize(
    ("given", "flops", "using", "attention_rate", "compute"),
    [
        # the printed compute time counts attention: linear FLOPs at the rate of the weights, attention at the bf16 rate
        pytest.param(CASES["L70: Llama-3-70B bf16 on 8 H200"][0], 989e12, [], 989e12, 5.26, id="L70"),
        pytest.param(
            CASES["DSV3: DeepSeek-V3 fp8 on 8 H200, KV in bf16"][0],
            1979e12,
            ["architecture.attention_flops_mla_absorbed"],
            989e12,
            5.70,
            id="DSV3",
        ),
    ],
)
def test_the_printed_compute_time_is_ours_with_attention(given, flops, using, attention_rate, compute):
    linear = milliseconds("compute_time", given)
    parity = solve("attention_context", using=using, **given).answers[0].value
    assert rounded(linear * (1 + given["context_length"] / parity * flops / attention_rate), compute) == compute
