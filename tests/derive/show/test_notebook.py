"""What a notebook shows: the answer with its warnings, every step in numbers, and the assumptions."""

import pytest

from derive.solving.api import solve

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

DEPLOYED = {
    **{"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"chips": 16, "context_length": 4000, "chip_price": "2 USD/h"},
}


def shown(unknown, **given):
    return solve(unknown, **given)._repr_markdown_()


def test_the_answer_the_steps_and_the_assumptions_are_there():
    text = shown("batch", **DEPLOYED, step_time="15ms")
    assert text.startswith("**batch = 946 or less (from 946.3)   where memory-bound (memory_time >= attention_time + compute_time)**")
    assert r"= 12.52\,\text{ms}$$" in text and "(`roofline.memory_time@1`):" in text
    assert r"$W = 3.35\,\text{TB/s}$ (hardware.csv H100-SXM hbm_bandwidth)" in text
    assert "- mfu = 1 (default)" in text


def test_a_dollar_begins_no_mathematics():
    """100 sequences read 16.55e9 + 654.5e9 (1 - (1 - 8/256)^100) = 643.6e9 bytes of weights and 100 * 4000 * 35136 of cache.

    At 16 * 3.35e12 byte/s that is 12.27 ms, of 16 chips at 2/3600 USD/s, for 100 tokens.
    """
    assert r"\$1.091/MTok" in shown("cost_per_token", **DEPLOYED, batch=100)


def test_warnings_refusals_ranges_and_sweeps_are_shown():
    assert "⚠ does not fit" in shown("step_time", **{**DEPLOYED, "chips": 8}, batch=1, anyway=True)
    assert shown("step_time", **{**DEPLOYED, "chips": 8}, batch=1).startswith("**step_time: no answer.** does not fit")
    table = shown("step_time", **DEPLOYED, batch="1..500:lin:60")
    assert "| batch | step_time (or more) | where |" in table and "the first 40 of 60 points" in table
