"""Warnings of suppositions: each prints the factor that the same question gives with the alternative typed by hand."""

import re

import pytest

from derive.solving.api import solve
from derive.suppositions import SUPPOSITIONS
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

V3 = {"total_params": 671e9, "active_params": 37e9, "bytes_per_weight": 1, "chips": 8, "hbm_bandwidth": 4.8e12}
STEP = {**V3, "peak_flops": 1.979e15, "context_length": 4000, "kv_bytes_per_token": 35136}
ROUTER = {"experts": 256, "active_experts": 8}
DEEPSEEK = {"hardware": "8xH200:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1}
LLAMA = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 1}
ONE_H100 = {"hardware": "H100:fp8", "model": "Llama-3.1-8B", "chips": 1, "bytes_per_element": 1, "batch": 256, "context_length": 1000}
PROMPT = {"hardware": "H200-SXM:fp8", "model": "DeepSeek-V3", "chips": 16, "mfu": 0.4, "prompt_tokens": 32_000}
RUBIN = {
    "model": "DeepSeek-V3",
    "hardware": "Rubin-VR200:fp4",
    "chips": 16,
    "batch": 1500,
    "bytes_per_element": 1,
    "context_length": 32_000,
}
REQUESTS = {
    "model": "Llama-3.1-70B",
    "hardware": "8xH200:fp8",
    "prompt_tokens": 2048,
    "output_tokens": 512,
    "bytes_per_element": 2,
    "batch": 64,
}
SERVED = {**DEEPSEEK, "hardware": "H800-SXM:fp8", "context_length": 4989, "chips": 144, "batch": 88 * 144}
DENSE = {**LLAMA, "batch": 512, "context_length": 2000}
OWNED = {
    **{"chip_capex": 30000, "depreciation_time": "28000 h", "chip_power": 1000},
    **{"power_usage_effectiveness": 1.2, "electricity_price": 2e-8},
}
RACK = {
    "hardware": "GB300-NVL72:fp8",
    "model": "Llama-3.1-70B",
    "batch": 8,
    "context_length": 1000,
    "bytes_per_element": 1,
    "kv_replication": 1,
}
RUN = {"active_params": 37e9, "pretrain_tokens": 15e12, "chips": 2048, "peak_flops": 1e15}
PASS = {"model": "Llama-3.1-70B", "hardware": "H100:fp8", "chips": 8, "batch": 1}
SIZED = {"model": "Llama-3.1-70B", "hardware": "H100:bf16"}
STAGED = {"pipeline_stages": 4, "batch": 64}

FACTORS = [
    ("cache_copied", "step_time", {**DEEPSEEK, "bytes_per_element": 2, "batch": 16, "context_length": 4096}, {"kv_replication": 8}),
    ("cache_copied", "step_time", {**DEEPSEEK, "hardware": "144xH200:fp8", "batch": 128, "context_length": 8000}, {"kv_replication": 128}),
    ("cache_copied", "step_time", {**LLAMA, "hardware": "128xH200:fp8", "batch": 128, "context_length": 8000}, {"kv_replication": 8}),
    ("cache_copied", "kv_cache_tokens", DEEPSEEK, {"kv_replication": 8}),
    ("cache_copied", "batch", {**DEEPSEEK, "context_length": 8192}, {"kv_replication": 8}),
    ("cache_copied", "context_length", {**DEEPSEEK, "batch": 64}, {"kv_replication": 8}),
    (
        "cache_copied",
        "mixed_step_time",
        {**DEEPSEEK, "batch": 256, "context_length": 4000, "prefill_chunk": 64, "hbm_capacity": "800 GB"},
        {"kv_replication": 8},
    ),
    (
        "cache_cut_by_heads",
        "step_time",
        {**DEEPSEEK, "hardware": "H200:fp8", "tp": 8, "batch": 64, "context_length": 8000},
        {"kv_replication": 1},
    ),
    ("cache_cut_by_heads", "batch", {**DEEPSEEK, "hardware": "H200:fp8", "tp": 8, "context_length": 8192}, {"kv_replication": 1}),
    ("memory_nearly_full", "sequences_in_flight", {**LLAMA, "hardware": "H100:fp8", "context_length": 4000}, {"reserved_share": 0.1}),
    ("memory_nearly_full", "context_length", {**LLAMA, "hardware": "H100:fp8", "sequences_in_flight": 8}, {"reserved_share": 0.1}),
    ("experts_unknown", "step_time", {**STEP, "batch": 64}, {"experts": 128, "active_experts": 1}),
    ("experts_unknown", "throughput", {**STEP, "batch": 8}, {"experts": 128, "active_experts": 1}),
    ("experts_unknown", "weight_time", V3, {"experts": 128, "active_experts": 1, "batch": 1}),
    ("busiest_chip", "weight_time", {**V3, **ROUTER, "batch": 1}, {"expert_parallel": 8, "using": "experts.busiest_chip"}),
    ("attention_in_bf16", "prefill_time", PROMPT, {"attention_rate_ratio": 1}),
    ("attention_rate_unknown", "attention_time", RUBIN, {"attention_rate_ratio": 0.25}),
    ("prefill_attention_left_out", "prefill_rate_per_chip", PASS, {"prompt_tokens": 32_768}),
    (
        "prefill_attention_left_out",
        "prefill_compute_time",
        {**PASS, "new_tokens_per_pass": "2k", "context_length": "126k"},
        {"cached_tokens": "126k", "context_length": None},
    ),
    (
        "prefill_attention_left_out",
        "prefill_compute_time",
        {**PASS, "model": "Gemma-3-27B", "new_tokens_per_pass": "2k", "context_length": "120k"},
        {"cached_tokens": "120k", "context_length": None},
    ),
    ("prompts_of_others_elsewhere", "request_latency", REQUESTS, {"using": "serving.request_latency_with_prompts"}),
    ("drafts_for_nothing", "throughput", {**ONE_H100, "tokens_per_step": 3}, {"draft_tokens": 7, "draft_cost_ratio": 0.05}),
    ("drafts_for_nothing", "throughput", {**ONE_H100, "draft_tokens": 4, "acceptance_rate": 0.8}, {"draft_cost_ratio": 0.05}),
    ("hops_left_out", "token_latency", {**STAGED, "step_time": "100us"}, {"hop_latency": 10e-6}),
    ("one_of_a_rack", "step_time", RACK, {"chips": 72}),
    ("at_the_peak", "training_time", RUN, {"mfu": 0.4}),
    ("chip_always_in_use", "chip_price", OWNED, {"fleet_utilisation": 0.5}),
    ("power_of_chips_alone", "fleet_power", {"chips": 8, "chip_power": 700}, {"power_usage_effectiveness": 1.2}),
    ("type_unsaid bytes_per_element", "step_time", {**DENSE, "bytes_per_element": None}, {"bytes_per_element": 1}),
    ("type_unsaid bytes_per_weight", "step_time", {**DENSE, "hardware": "8xH100", "batch": 8}, {"hardware": "8xH100:fp8"}),
]


def asked(unknown, given):
    return solve(unknown, **{name: value for name, value in given.items() if value is not None})


def warned(unknown, given):
    found = asked(unknown, given)
    return dict(zip(found.kinds, found.warnings, strict=True))


def value(solution):
    (answer,) = solution.answers
    return answer.value if answer.value is not None else answer.high or answer.low


def factor(text):
    return float(re.search(r": ([\d.e+-]+)x", text)[1])


@in_one_test(("kind", "unknown", "given", "changed"), some(FACTORS, 3))
def test_a_warning_prints_the_factor_that_the_alternative_gives(kind, unknown, given, changed):
    text = warned(unknown, given)[kind]
    assert factor(text) == pytest.approx(value(asked(unknown, given | changed)) / value(asked(unknown, given)), rel=0.006), text
    assert kind not in warned(unknown, given | changed)


ADDED = [
    ("exchange_left_out", "step_time", SERVED, "all_to_all_time", {}),
    ("exchange_left_out", "step_time", {**SERVED, "link_bandwidth": "40GB/s"}, "all_to_all_time", {}),
    ("sums_left_out", "step_time", DENSE, "tensor_parallel_time", {}),
    ("sums_left_out", "step_time", {**DENSE, "bytes_per_activation": 4}, "tensor_parallel_time", {}),
    ("sums_left_out", "step_time", {**LLAMA, "batch": 512, "prompt_tokens": 1900, "output_tokens": 200}, "tensor_parallel_time", {}),
    ("sums_left_out", "step_time", {**DENSE, "hardware": "12xH100:fp8", "batch": 1024}, "tensor_parallel_time", {}),
    (
        "sums_left_out",
        "prefill_time",
        {**LLAMA, "prompt_tokens": 8192},
        "tensor_parallel_time",
        {"using": "network.all_reduce_bytes_of_prompts"},
    ),
]


@in_one_test(("kind", "unknown", "given", "exchange", "using"), ADDED)
def test_what_chips_send_each_other_comes_on_top(kind, unknown, given, exchange, using):
    """It is asked for by itself, with the links and widths that are then taken."""
    time, sent = value(asked(unknown, given)), value(asked(exchange, given | using))
    assert factor(warned(unknown, given)[kind]) == pytest.approx(1 + sent / time, rel=0.006)


SILENT = [
    ("exchange_left_out", "step_time", {**DEEPSEEK, "batch": 256, "context_length": 4000}),
    ("exchange_left_out", "throughput", {**SERVED, "step_time": "40ms"}),
    ("exchange_left_out", "step_time", {**SERVED, "variants": {"overlap": "exposed"}, "exposed_communication_share": 0.5}),
    ("sums_left_out", "step_time", {**DENSE, "batch": 32, "context_length": 4000}),
    ("sums_left_out", "chips", {**SIZED, "prompt_tokens": 2000, "output_tokens": 500, "requests_per_second": 20, "step_time": "8ms"}),
    ("sums_left_out", "step_time", {**DENSE, "variants": {"overlap": "exposed"}, "exposed_communication_share": 0.3}),
    ("sums_left_out", "prefill_compute_time", {**LLAMA, "batch": 2, "prompt_tokens": 8192, "mfu": 0.5}),
    ("cache_copied", "step_time", {**LLAMA, "batch": 64, "context_length": 4000}),
    ("experts_unknown", "step_time", {**STEP, "batch": 2000}),
    ("experts_unknown", "step_time", {**STEP, **ROUTER, "batch": 1, "variants": {"weight_time": "sharded"}}),
    ("busiest_chip", "weight_time", {**V3, **ROUTER, "batch": 1, "chips": 1}),
    ("busiest_chip", "weight_time", {**V3, **ROUTER, "batch": 1, "expert_imbalance": 1}),
    ("attention_in_bf16", "prefill_time", {**PROMPT, "prompt_tokens": 1000}),
    ("attention_rate_unknown", "attention_time", {**RUBIN, "hardware": "B200-SXM:fp4"}),
    ("prefill_attention_left_out", "prefill_compute_time", {**PASS, "new_tokens_per_pass": "2k", "context_length": "3k"}),
    ("prompts_of_others_elsewhere", "request_latency", {**REQUESTS, "batch": 1}),
    ("drafts_for_nothing", "throughput", {**ONE_H100, "tokens_per_step": 1}),
    ("hops_left_out", "token_latency", {**STAGED, "step_time": "20ms"}),
    ("one_of_a_rack", "step_time", {**RACK, "hardware": "H200-SXM:fp8"}),
    ("memory_nearly_full", "batch", {**LLAMA, "hardware": "2xH100:fp8", "context_length": 4000}),
    ("type_unsaid bytes_per_weight", "weight_bytes", {"model": "gpt-oss-120b"}),
    ("type_unsaid bytes_per_weight", "prefill_time", {**PROMPT, "hardware": "H200-SXM"}),
]


@in_one_test(("kind", "unknown", "given"), some(SILENT, 2))
def test_a_supposition_that_moves_little_or_does_not_apply_is_no_warning(kind, unknown, given):
    assert asked(unknown, given).answers and kind not in warned(unknown, given)


@pytest.mark.parametrize("given", [SERVED, {**DENSE, "bytes_per_element": None}, {**DEEPSEEK, "batch": 16, "context_length": 4096}])
def test_the_largest_factor_comes_first_and_none_is_below_two_percent(given):
    factors = [factor(text) for text in warned("step_time", given).values() if re.search(r": [\d.e+-]+x", text)]
    sizes = [max(one, 1 / one) for one in factors]
    assert sizes == sorted(sizes, reverse=True) and min(sizes) >= 1.02


def test_every_row_is_asked_for_by_a_test():
    told = {kind for kind, *_ in (*FACTORS, *ADDED)}
    others = {"little_room_left", "chunk_not_free", "reads_outlast_prefill", "step_of_decode_alone", "latent_attention_left_out"}
    others |= {"no_time_per_layer", "attention_everywhere"}  # tests/derive/test_layouts.py
    assert {row.kind for row in SUPPOSITIONS} - told <= others
