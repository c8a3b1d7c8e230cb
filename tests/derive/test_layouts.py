"""Layouts of a deployment: what each chip holds and reads, forwards and backwards, against figures of deployments that people run."""

import pytest

from derive.errors import WrongValue
from derive.layouts import LAYOUTS, split_layout
from derive.solving.api import solve
from tests.tools.together import in_one_test

RACK = {"hardware": "GB200-NVL72:fp8", "model": "DeepSeek-V3", "chips": 72, "context_length": 8000, "bytes_per_element": 1}
NODE = {"hardware": "H200:fp8", "model": "DeepSeek-V3", "chips": 8, "context_length": 8000, "batch": 64}


def value(unknown, **given):
    (answer,) = solve(unknown, **given, anyway=True).answers
    return answer.ends[0]


@in_one_test(("batch", "layout", "rate"), [(256, {}, 198.5e3), (256, {"attention": "dp"}, 76.9e3), (4096, {"attention": "dp"}, 787e3)])
def test_data_parallel_attention_reads_all_beside_the_experts_on_every_chip(batch, layout, rate):
    """By hand: 16.55B beside the experts and a 72nd of the experts that a batch hits, beside a 72nd of the caches."""
    assert value("throughput", **RACK, batch=batch, **layout) == pytest.approx(rate, rel=2e-3)


@in_one_test(("chips", "held"), [(72, 25.64e9), (144, 21.09e9), (320, 18.60e9)])
def test_what_lies_on_a_chip_is_the_shared_weights_and_its_part_of_the_experts(chips, held):
    """DeepSeek in production holds about 22 GB on each of 144."""
    given = {"hardware": "H800:fp8", "model": "DeepSeek-V3", "attention": "dp"}
    assert value("resident_weight_bytes_per_chip", **given, chips=chips) == pytest.approx(held, rel=1e-3)
    assert value("chips", **given, resident_weight_bytes_per_chip=held) == pytest.approx(chips, rel=5e-3)


@in_one_test(
    ("layout", "copies"),
    [
        ({}, 1),
        ({"attention": "tp"}, 8),
        ({"tp": 8}, 8),
        ({"attention": "dp"}, 1),
        ({"attention": "dp", "dp": 4}, 2),
        ({"experts": "ep", "dp": 8}, 1),
    ],
)
def test_a_layout_says_how_often_a_cache_is_held(layout, copies):
    given = {name: one for name, one in NODE.items() if name != "chips" or "tp" not in layout}
    assert value("kv_cache_bytes", **given, **layout) == pytest.approx(copies * value("kv_cache_bytes", **NODE))


def test_a_list_of_chips_and_chips_that_are_asked_for_have_the_layout_too():
    each = solve("memory_per_chip", **{**NODE, "chips": [8, 16]}, attention="dp").sweep
    found = [answers[0].value for _, answers, _ in each.rows()]
    assert found == [pytest.approx(value("memory_per_chip", **{**NODE, "chips": chips}, attention="dp")) for chips in (8, 16)]
    most = {name: one for name, one in NODE.items() if name != "chips"}
    chips = value("chips", **most, step_time="<=12ms", attention="dp")
    assert value("step_time", **{**NODE, "chips": chips}, attention="dp") <= 12e-3 * (1 + 1e-9)
    assert value("step_time", **{**NODE, "chips": chips - 1}, attention="dp") > 12e-3


@in_one_test(("layout", "held"), [({"attention": "tp"}, 70.55e9), ({"attention": "dp"}, 155.1e9), ({"attention": "dp", "dp": 4}, 106.8e9)])
def test_a_dense_model_has_copies_of_its_attention_alone(layout, held):
    """By hand: 70.55B parameters in fp8, of which attention is 80 x 2 x 8,192 x 128 x (64 + 8) = 12.08B."""
    given = {**NODE, "model": "Llama-3-70B"}
    assert value("weight_bytes", **given, **layout) == pytest.approx(held, rel=1e-3)
    assert value("weight_time", **given, **layout) == pytest.approx(held / (8 * 4.8e12), rel=1e-3)
    fewer = {name: one for name, one in given.items() if name != "chips"}
    resident = value("resident_weight_bytes_per_chip", **given, attention="dp")
    assert value("chips", **fewer, attention="dp", resident_weight_bytes_per_chip=resident) == pytest.approx(8)


def test_spread_experts_wait_for_the_busiest_chip():
    cut, spread = (value("weight_time", **{**NODE, "batch": 8}, experts=how) for how in ("tp", "ep"))
    assert cut == value("weight_time", **{**NODE, "batch": 8}) and 1.1 * cut < spread < 8 * cut


def test_the_latency_floor_is_below_every_step_of_its_layout():
    for layout in ({}, {"attention": "dp"}):
        assert value("latency_floor", **NODE, **layout) <= value("step_time", **{**NODE, "batch": 1}, **layout)
    assert value("latency_floor", **NODE, attention="dp") == pytest.approx((37e9 + 7 * 16.546e9) / (8 * 4.8e12), rel=1e-3)
    dense = {**NODE, "model": "Llama-3-70B"}
    assert value("latency_floor", **dense, attention="dp") == pytest.approx(155.1e9 / (8 * 4.8e12), rel=1e-3)


def test_the_layout_of_engines_is_told_where_none_is_given():
    told = [text for text in solve("step_time", **RACK, batch=256).warnings if "attention=dp" in text]
    assert len(told) == 1 and "2.58x" in told[0]
    given = solve("step_time", **RACK, batch=256, attention="dp", experts="ep")
    assert not any("attention=dp" in text for text in given.warnings)
    assert sum(text.startswith("layout: attention=dp, ") for text in given.assumptions) == 1


def test_what_is_no_layout_is_refused_with_those_there_are():
    with pytest.raises(WrongValue, match="attention=tp or attention=dp"):
        solve("step_time", **NODE, attention="pp")
    with pytest.raises(WrongValue, match="experts = 'dp': use experts=tp or experts=ep"):
        solve("step_time", **NODE, experts="dp")
    with pytest.raises(WrongValue, match="mixture of experts"):
        solve("step_time", **{**NODE, "model": "Llama-3-70B"}, experts="ep")
    with pytest.raises(WrongValue, match="zero=1 or zero=2 or zero=3"):
        solve("training_state_bytes_per_chip", zero="4")
    assert {part for part, _ in LAYOUTS} == {"attention", "experts", "zero"}


def test_experts_may_be_a_number_and_dp_means_what_it_did_without_a_layout():
    assert split_layout([("experts", 256), ("dp", 8)]) == ((), [("experts", 256), ("dp", 8)])


def test_deployments_are_numbers_too():
    """Five replicas of 8, or prompts on chips of their own: all that the lines say."""
    given = {"isl": 8000, "osl": 500, "qps": 20, "tpot": "50ms", "ttft": "1s"}
    together, apart = solve("chips", hardware="H100:bf16", model="Llama-3.3-70B", **given).deployments
    assert [(one.replicas, one.chips_per_replica) for one in together] == [(5, 8)]
    assert [one.phase for one in apart] == ["decode", "prefill"]
    (layout,) = solve("chips", hardware="H200:fp8", model="DeepSeek-V3", **{**given, "ttft": "2s"}, attention="tp").deployments[:1]
    assert [(one.replicas, one.chips_per_replica) for one in layout] == [(4, 8)]


def test_decode_alone_meets_its_rate_at_a_given_batch_and_both_sides_of_a_limit():
    """64 sequences in 21 ms are 6.1 requests/s of 500 tokens: four replicas of 8 with attention=dp. A step of 4 ms holds 37 on one chip."""
    _, (decode, _) = solve("chips", hardware="H200:fp8", model="DeepSeek-V3", isl=8000, osl=500, qps=20, tpot="50ms", batch=64).deployments
    assert (decode.replicas, decode.chips_per_replica) == (4, 8)
    given = {"isl": 1000, "osl": 200, "qps": 40}
    for limit in (">=1ms <=4ms", "<=4ms"):
        (together,), *_ = solve("chips", hardware="H100:fp8", model="Llama-3.1-8B", **given, tpot=limit).deployments
        assert (together.replicas, together.chips_per_replica, together.batch) == (1, 2, (15, 65))
