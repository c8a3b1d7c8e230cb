"""Mixtures of experts against draws at random, against their own configurations, and by hand.

The draws are seeded: tokens choose their experts evenly and without repetition, experts lie on the chips in order.
"""

from math import comb

import numpy as np
import pytest

from derive.preset_rows import Architecture
from derive.solving.api import solve
from derive.tables.shipped import rows_of
from tests.tools.asked import value_of
from tests.tools.together import in_one_test, some

ALL = [row for row in rows_of(Architecture) if row.experts]
MIXTURES = [row for row in ALL if row.kv_formula and row.total_params and row.active_params]
V3 = {"model": "DeepSeek-V3", "hardware": "H200:fp8", "chips": 8, "bytes_per_element": 1, "context_length": 4000}


def chosen(experts, active, tokens, rng):
    """Experts of every token, shape (tokens, active), none twice."""
    return np.argpartition(rng.random((tokens, experts)), active - 1, axis=1)[:, :active]


# -- a pass with more tokens than those that are decoded -----------------------------------------------------------

H100S = {"model": "DeepSeek-V3", "hardware": "H100-SXM:fp8", "chips": 16, "bytes_per_element": 1, "context_length": 4000}
BANDWIDTH = 16 * 3.35e12


@pytest.mark.parametrize("more", [{}, {"tokens_verified_per_step": 3}, {"expert_imbalance": 2.5}], ids=["plain", "drafts", "uneven"])
def test_a_chunk_makes_no_step_shorter_and_reads_no_more_than_all(more):
    bare, every = (
        value_of("step_time", **H100S, batch=2, **more),
        value_of("memory_time", **H100S, batch=2, variants={"weight_time": "sharded"}),
    )
    steps = [value_of("mixed_step_time", **H100S, batch=2, prefill_chunk=chunk, **more) for chunk in (1, 8, 64, 512)]
    assert bare < steps[0] and steps == sorted(steps) and steps[-1] <= every * (1 + 1e-12)


@pytest.mark.parametrize("batch", [1, 512])
def test_at_the_free_chunk_the_arithmetic_is_as_long_as_the_reads(batch):
    free = value_of("free_prefill_chunk", **H100S, batch=batch)
    reads = (671e9 - 634e9 * (31 / 32) ** (batch + free - 1) + batch * 4000 * 35136) / BANDWIDTH
    pairs = batch * 4000 * 2 * 61 * 128 * (2 * 512 + 64) + free * 2000 * 2 * 61 * 128 * (128 + 64 + 128)
    arithmetic = (2 * 37e9 * (batch + free) / 1979e12 + pairs / 989e12) / 16
    assert reads == pytest.approx(arithmetic, rel=1e-9)
    assert value_of("mixed_step_time", **H100S, batch=batch, prefill_chunk=free) == pytest.approx(reads, rel=1e-9)


@in_one_test("variant", ["sharded", "touched", "resident"])
@in_one_test("more", [{}, {"expert_imbalance": 2.5}], ids=["even", "uneven"])
def test_a_pass_of_one_token_costs_what_decode_does(variant, more):
    given = {**H100S, "batch": 3, "resident_weight_bytes_per_chip": 42e9, "variants": {"weight_time": variant}} | more
    assert value_of("prefill_normalised_cost", **given, new_tokens_per_pass=1) == pytest.approx(
        value_of("normalised_cost", **given), rel=1e-9
    )


# -- the busiest chip holds no more than it holds ---------------------------------------------------------------------

H200S = {"model": "DeepSeek-V3", "hardware": "H200-SXM:fp8", "chips": 16, "bytes_per_element": 1, "context_length": 4096}
ALL_READ = 671e9 / (16 * 4.8e12)


def test_an_imbalance_that_a_full_read_says_is_at_least_so_much():
    """Of 8 sequences 0.224 of the experts are activated: all of a chip is 4.46 times that."""
    (bound,) = solve("expert_imbalance", **H200S, batch=8, weight_time=ALL_READ).answers
    assert bound.ends == (pytest.approx(1 / (1 - (31 / 32) ** 8), rel=1e-9), None)


# -- the floor ------------------------------------------------------------------------------------------------------


@in_one_test("variant", ["sharded", "touched", "resident"])
@in_one_test("more", [{}, {"tokens_verified_per_step": 4}, {"expert_imbalance": 2.5}, {"batch": 300}])
def test_no_step_is_below_the_floor(variant, more):
    given = {**V3, "batch": 1, "resident_weight_bytes_per_chip": 671e9 / 8, "variants": {"weight_time": variant}} | more
    floor = value_of("latency_floor", **V3)
    assert floor == pytest.approx(37e9 / (8 * 4.8e12), rel=1e-12)
    assert value_of("step_time", **given) > floor
    assert value_of("weight_time", **given) >= floor * (1 - 1e-12)


# -- every mixture of the table -------------------------------------------------------------------------------------


@in_one_test("row", some(MIXTURES, 3, 1), ids=lambda row: row.model)
def test_total_and_active_parameters_are_rebuilt_from_the_router(row):
    """What is routed and what is shared come out positive, make up the total, and one sequence reads the active ones."""
    total, active = row.total_params, row.active_params
    routed, shared = (value_of(name, model=row.model) for name in ("routed_params", "shared_params"))
    assert routed > 0 and shared > 0 and routed + shared == pytest.approx(total, rel=1e-12)
    assert shared + routed * row.active_experts / row.experts == pytest.approx(active, rel=1e-9)
    assert value_of("fetched_params", model=row.model, batch=1) == pytest.approx(active, rel=1e-9)


# -- draws at random ------------------------------------------------------------------------------------------------


@in_one_test(("experts", "active", "batch"), [(256, 8, 1), (256, 8, 32), (128, 1, 100), (8, 2, 3)])
def test_touched_experts(experts, active, batch):
    rng = np.random.default_rng(1)
    drawn = np.mean([len(np.unique(chosen(experts, active, batch, rng))) for _ in range(400)])
    assert value_of("activated_experts", experts=experts, active_experts=active, batch=batch) == pytest.approx(drawn, rel=0.02)


def busiest(experts, active, chips, batch, rng, times=400):
    """Activated experts of the busiest chip over the mean of all chips."""
    most = total = 0
    for _ in range(times):
        hit = np.zeros(experts, dtype=bool)
        hit[chosen(experts, active, batch, rng)] = True
        on_chip = hit.reshape(chips, -1).sum(axis=1)
        most, total = most + on_chip.max(), total + on_chip.mean()
    return most / total


# batch, chips, drawn at random elsewhere with 256 experts of which a token takes 8
PUBLISHED = [(1, 8, 2.5), (8, 64, 3.4), (32, 64, 1.57), (128, 64, 1.02)]


@pytest.mark.parametrize(("batch", "chips", "ratio"), PUBLISHED)
def test_the_busiest_chip(batch, chips, ratio):
    found = value_of("expert_imbalance", using="experts.busiest_chip", experts=256, active_experts=8, batch=batch, expert_parallel=chips)
    assert found == pytest.approx(ratio, rel=0.1)
    assert busiest(256, 8, chips, batch, np.random.default_rng(2)) == pytest.approx(ratio, rel=0.03)


SPREAD = [
    (experts, active, chips)
    for experts, active in ((256, 8), (128, 4), (512, 10), (16, 1), (128, 1))
    for chips in (2, 8, 16, 128)
    if chips <= experts
]


@in_one_test(("experts", "active", "chips"), some(SPREAD, 3))
@in_one_test("batch", [1, 64])
def test_the_busiest_chip_is_as_near_to_the_draws_as_it_says(experts, active, chips, batch):
    given = {"experts": experts, "active_experts": active, "batch": batch, "expert_parallel": chips}
    found = value_of("expert_imbalance", using="experts.busiest_chip", **given)
    drawn = busiest(experts, active, chips, batch, np.random.default_rng(3), times=150)
    near = 1 / 6 if value_of("activated_experts", experts=experts, active_experts=active, batch=batch) >= chips else 1 / 4
    assert found == pytest.approx(drawn, rel=near)


def test_one_chip_waits_for_no_other_and_neither_do_chips_of_which_all_experts_are_touched():
    alone = {"using": "experts.busiest_chip", "experts": 256, "active_experts": 8}
    assert value_of("expert_imbalance", **alone, batch=3, expert_parallel=1) == 1
    assert value_of("expert_imbalance", **alone, batch=1e4, expert_parallel=64) == 1


@in_one_test("parts", [2, 4, 8, 32])
def test_reached_racks_and_chips_against_draws_and_without_repetition(parts):
    """C(E - E/n, k)/C(E, k) of all choices miss a part; choices with repetition miss it a little more often."""
    experts, active = 256, 8
    exact = parts * (1 - comb(experts - experts // parts, active) / comb(experts, active))
    racks = value_of("reached_racks", racks=parts, active_experts=active)
    assert racks < exact and racks == pytest.approx(exact, rel=0.015)
    picked = chosen(experts, active, 4000, np.random.default_rng(4)) // (experts // parts)
    assert np.mean([len(np.unique(row)) for row in picked]) == pytest.approx(exact, rel=0.02)
    others = value_of("reached_chips", expert_parallel=parts, active_experts=active)
    assert np.mean([len(np.unique(row[row > 0])) for row in picked]) == pytest.approx(others, rel=0.03)


def test_on_few_chips_an_all_to_all_of_one_message_an_expert_is_too_long():
    """8 experts over 8 chips reach 7 (1 - (7/8)^8) = 4.6 others: 8/4.6 = 1.74."""
    assert value_of("reached_chips", expert_parallel=8, active_experts=8) == pytest.approx(4.6, abs=0.05)
    given = {"moe_layers": 58, "sequences_per_chip": 88, "active_experts": 8, "model_dim": 7168, "link_bandwidth": 40e9}
    given |= {"dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2, "expert_parallel": 8}
    one = value_of("all_to_all_time", **given)
    assert one / value_of("all_to_all_time", **given, variants={"all_to_all_time": "one_copy_a_chip"}) == pytest.approx(1.74, abs=0.005)


@pytest.mark.parametrize(("link", "published"), [(50e9, 67), (900e9, 1200)])
def test_the_published_limits_of_the_exchange_between_experts(link, published):
    """DeepSeek's account of its hardware (arXiv 2505.09343): 64 tokens a chip, to 9 experts each in 61 layers of 7,000 values, 1 byte out
    and 2 back: 14.8 ms over InfiniBand of 400 Gbit/s, 67 tokens a second; about 1,200 over the links of an NVL72."""
    given = {"moe_layers": 61, "sequences_per_chip": 64, "active_experts": 9, "model_dim": 7000, "link_bandwidth": link}
    took = value_of("all_to_all_time", **given, dispatch_bytes_per_element=1, combine_bytes_per_element=2)
    assert took == pytest.approx(61 * 64 * 9 * 7000 * 3 / link) and 1 / took == pytest.approx(published, rel=0.02)


def test_what_leaves_a_rack_is_what_draws_at_random_send_out():
    """64 chips of 4 experts in 8 racks: of the chips that a token of chip 0 reaches, those not in rack 0; slow links out set the time."""
    out, inside = 25e9, 900e9
    given = {"moe_layers": 1, "sequences_per_chip": 1, "active_experts": 8, "model_dim": 1024, "expert_parallel": 64, "scale_up_size": 8}
    given |= {"dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2, "scale_up_link_bandwidth": inside}
    variants = {"all_to_all_time": "over_racks"}
    took = value_of("all_to_all_time", **given, scale_out_link_bandwidth=out, variants=variants)
    picked = chosen(256, 8, 4000, np.random.default_rng(6)) // 4
    sent = np.mean([len(np.unique(row[row >= 8])) for row in picked])
    assert took * out / (1024 * 3) == pytest.approx(sent, rel=0.03)
    within = value_of("all_to_all_time", **given | {"scale_up_size": 64}, scale_out_link_bandwidth=out, variants=variants)
    one_copy = value_of("all_to_all_time", **given, link_bandwidth=inside, variants={"all_to_all_time": "one_copy_a_chip"})
    assert within == pytest.approx(one_copy)


def test_one_copy_a_rack_takes_the_slowdown_away():
    """Two racks, 8 experts, a link 8 times slower: 8/2 = 4 with a message an expert; a copy a rack crosses (1 - 1/2^8) 8/8 = 1 time."""
    given = {"racks": 2, "active_experts": 8, "scale_out_bandwidth_ratio": 8}
    assert value_of("scale_out_slowdown", **given) == 4
    assert value_of("scale_out_slowdown", **given, variants={"scale_out_slowdown": "one_copy_a_rack"}) == 1
    assert value_of("leaving_copies", **given) == 1 - 1 / 2**8


def test_a_router_that_picks_racks_first_reaches_no_others():
    limited = {"racks": 8, "rack_limit": 4, "active_experts": 8}
    assert value_of("reached_racks", **limited) == 4 * (1 - (3 / 4) ** 8)
    within = np.random.default_rng(5).integers(4, size=(4000, 8))
    assert value_of("reached_racks", **limited) == pytest.approx(np.mean([len(np.unique(row)) for row in within]), rel=0.02)
