"""What is said before a number: of weights that are read for want of a router, and of chips that wait for the busiest."""

import pytest

from derive.solving.api import solve
from derive.units import show

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

V3 = {"total_params": 671e9, "active_params": 37e9, "bytes_per_weight": 1, "chips": 8, "hbm_bandwidth": 4.8e12}
STEP = {**V3, "peak_flops": 1.979e15, "context_length": 4000, "kv_bytes_per_token": 35136}
ROUTER = {"experts": 256, "active_experts": 8}


def warned(unknown, **given):
    return solve(unknown, **given).warnings


# -- slips -------------------------------------------------------------------------------------------------------------

TYPED = {"hardware": "H100:bf16", "model": "Llama-3.1-70B", "chips": 8, "context_length": 8000, "batch": 8, "bytes_per_element": 2}


def test_what_is_far_from_the_table_is_doubted():
    (text,) = warned("step_time", **TYPED, hbm_bandwidth="3.35GB/s")
    assert all(part in text for part in ("hbm_bandwidth = 3.35 GB/s", "1,000 times less", "3.35 TB/s", "hardware.csv H100-SXM"))
    assert not warned("compute_time", **TYPED, hbm_bandwidth="3.35GB/s") and not warned("step_time", **TYPED, hbm_bandwidth="335GB/s")


@pytest.mark.parametrize(("bits", "width"), [(8, 1), (16, 2)])
def test_bits_that_are_given_as_bytes_are_doubted(bits, width):
    (text,) = warned("weight_bytes", total_params=70e9, bytes_per_weight=bits)
    assert text.endswith(f"write bytes_per_weight={width}")
    assert not warned("weight_bytes", total_params=70e9, bytes_per_weight=4)


# -- the rate of attention ------------------------------------------------------------------------------------------


def test_kv_heads_that_chips_do_not_divide_are_said():
    """10 KV heads over 8 chips: two on some of them. The 40 query heads would divide."""
    given = {"hardware": "H100:bf16", "model": "Phi-4", "context_length": 8000}
    assert any("10 KV heads cannot be divided evenly by 8 chips" in text for text in warned("batch", **given, tp=8))
    assert not any("shared evenly" in text for text in warned("batch", **given, tp=2))


def test_a_tensor_parallel_size_that_does_not_divide_the_heads_is_said():
    """Weights and cache of 405B need 7 chips, and 8 divide the 128 heads."""
    given = {"hardware": "H100:fp8", "model": "Llama-3.1-405B", "context_length": 8000}
    assert any("128 heads cannot be divided evenly by 7 chips" in text for text in warned("chips", **given, batch=8))
    assert not any("shared evenly" in text for text in warned("chips", **given, batch=26))


# -- routers that cannot be -----------------------------------------------------------------------------------------


def test_less_than_one_sequence_is_no_batch():
    backwards = solve("batch", **STEP, **ROUTER, step_time=0.5e-3).reason
    assert backwards.code == "requirement_violated" and "requires batch >= 1, but batch would be 0." in backwards.message


# -- what a model was published for ---------------------------------------------------------------------------------


def beyond(unknown, **given):
    return [text for text in warned(unknown, **given) if text.startswith("longer than the model's context")]


CACHE = {"model": "Llama-3-8B", "bytes_per_element": 2}
"""Published for 8,192 tokens; 131,072 bytes a token."""


@pytest.mark.parametrize(("context", "said"), [(8192, []), (8193, ["8193"]), ("200k", ["200k"])])
def test_a_context_beyond_that_of_the_model_is_said(context, said):
    texts = beyond("kv_bytes_per_sequence", **CACHE, context_length=context)
    expected = "longer than the model's context: {} tokens, and Llama-3-8B was published for 8192 tokens"
    assert texts == [expected.format(length) for length in said]


# -- what another variant would have taken --------------------------------------------------------------------------

STAGES = {"pipeline_stages": 4, "training_microbatches": 8}


def test_virtual_stages_choose_the_interleaved_schedule():
    """4 stages and 8 microbatches wait 3 of 11; with two virtual stages each 3 of 19, and hold 1 + 3/8 of the activations."""
    solution = solve("bubble_fraction", **STAGES, virtual_stages=2)
    assert solution.answers[0].value == pytest.approx(3 / 19) and solution.warnings == solution.unused == ()
    assert solve("activation_bytes_per_chip", **STAGES, virtual_stages=2, activation_bytes=8e9).value == pytest.approx(1.1e10)


TIMED = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:bf16", "chips": 8, "bytes_per_element": 2}


@pytest.mark.parametrize(
    ("unknown", "other", "measured"),
    [
        ("mfu", "mbu", {"batch": 64, "context_length": 4000, "throughput": 3000}),
        ("mfu", "mbu", {"batch": 1, "context_length": 4000, "step_time": 0.02}),
        ("mbu", "mfu", {"batch": 2000, "context_length": 100, "throughput": 3000}),
    ],
)
def test_a_share_of_the_peak_whose_time_need_not_bind_is_said_to_be_so_only_if_it_does(unknown, other, measured):
    """The other share leads to the same measured time at any share above the one that was found."""
    solution = solve(unknown, **TIMED, **measured)
    (text,) = [one for one in solution.warnings if one.startswith("at both peaks this step is")]
    share = solve(other, **TIMED, **measured).value
    assert f"{other} = {show(other, share)}" in text and solution.answers[0].bound == "lower"
    assert "exactly so if" in str(solution).splitlines()[0] and "exactly so" in solution.full.splitlines()[0]
    (result,) = measured.keys() & {"throughput", "step_time"}
    rest = {name: value for name, value in measured.items() if name != result}
    for least in (solution.value * 1.01, 1.0):
        assert solve(result, **TIMED, **rest, **{unknown: least, other: share}).value == pytest.approx(measured[result])
