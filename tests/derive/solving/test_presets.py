"""Links of a chip where nobody gives one: between pools the slow one, between chips that share a layer the one that all of them reach."""

import pytest

from derive.solving.api import solve
from derive.solving.question.presets import links
from tests.tools.together import in_one_test

LLAMA = {"hardware": "H100", "model": "Llama-3.1-70B"}
DEEPSEEK = {"hardware": "H100:fp8", "model": "DeepSeek-V3", "batch": 2048, "chips": 32}
CACHE = 8000 * 2 * 2 * 80 * 8 * 128
"""Bytes of 8000 tokens: a key and a value of 2 bytes, 80 layers, 8 heads of 128."""


def assumed(solution, name):
    return next((text for text in solution.assumptions if text.startswith(f"{name} = ")), "")


def test_a_cache_goes_from_prefill_to_decode_over_the_link_out_of_the_domain():
    found = solve("kv_transfer_time", **LLAMA, prompt_tokens="8k")
    assert found.answers[0].value == pytest.approx(CACHE / 50e9)
    said = "link_bandwidth = 50 GB/s unless it is given: out of the scale-up domain, from prefill chips to decode chips"
    assert assumed(found, "link_bandwidth").startswith(f"{said} (hardware.csv H100-SXM scale_out_link_bandwidth: github:SemiAnalysisAI")
    assert any(text.startswith("the KV cache is in bf16") for text in found.warnings)


def test_a_given_link_or_width_wins():
    found = solve("kv_transfer_time", **LLAMA, prompt_tokens="8k", link_bandwidth="25 GB/s", bytes_per_element=1)
    assert found.answers[0].value == pytest.approx(CACHE / 2 / 25e9)
    assert not any("unless it is given" in text for text in found.assumptions)
    assert not any("caches are taken" in text for text in found.warnings)


@in_one_test(("hardware", "chips", "link"), [
    ("H100:bf16", 8, 450e9), ("H100:bf16", 9, 4.5 * 50e9), ("H100:bf16", 16, 8 * 50e9),
    ("GB200-NVL72:bf16", 16, 900e9), ("GB200-NVL72:bf16", 73, 900e9),
])  # fmt: skip
def test_chips_that_share_a_layer_take_the_inner_link_where_one_domain_holds_them_and_else_rings_over_all(hardware, chips, link):
    sums = 2 * 80 * 64 * 8192 * 2 * 2 * (chips - 1) / chips
    found = solve("tensor_parallel_time", hardware=hardware, model="Llama-3.1-70B", batch=64, chips=chips)
    assert found.answers[0].value == pytest.approx(sums / link)
    assert ("within a scale-up domain" in assumed(found, "link_bandwidth")) == (
        (hardware, chips) in (("H100:bf16", 8), ("GB200-NVL72:bf16", 16))
    )
    ring = solve("all_reduce_time", hardware=hardware, chips=chips, all_reduce_bytes="8 MB")
    assert ring.answers[0].value == pytest.approx(2 * (chips - 1) * 8e6 / chips / link)


def test_experts_exchange_within_a_domain_or_over_several():
    copies = 58 * 64 * 31 * (1 - (31 / 32) ** 8) * 7168 * 3
    over = solve("all_to_all_time", **DEEPSEEK)
    assert over.answers[0].value == pytest.approx(copies * 24 / 31 / 50e9), "24 of the 31 other chips are in other racks"
    assert over.equations[-1] == "experts.all_to_all_time_racks@3"
    alone = solve("all_to_all_time", **DEEPSEEK, scale_up_size=1)
    assert alone.answers[0].value == pytest.approx(copies / 50e9), "every other chip is"
    within = solve("all_to_all_time", **DEEPSEEK | {"hardware": "GB200-NVL72:fp8"})
    assert within.answers[0].value == pytest.approx(copies / 900e9)
    assert assumed(within, "expert_parallel") == "expert_parallel = 32 unless it is given: experts over all chips"
    step = {**DEEPSEEK, "context_length": 4000, "bytes_per_element": 2, "attention_time": 0}
    bare, counted = (solve("step_time", **step, variants={"overlap": way}).answers[0].value for way in ("sum", "network"))
    assert counted - bare == pytest.approx(over.answers[0].value)


def test_nothing_is_taken_across_both_links_nor_without_a_preset():
    across = solve("tensor_parallel_time", **LLAMA, batch=64, chips=[8, 16])
    alone = [solve("tensor_parallel_time", **LLAMA, batch=64, chips=chips).value for chips in (8, 16)]
    assert across.sweep.values[0].tolist() == alone, "each point has its own link"
    both = {"scale_out_link_bandwidth": 5e10, "scale_up_link_bandwidth": 45e10}
    assert links("kv_transfer_time", both, dict.fromkeys(both, "given"), {}).givens == {}
