"""Prices, caches and prefill against arithmetic done by hand; the working stands in the comments."""

import pytest

from derive.solving.api import solve

H100 = {"peak_flops": 1979e12, "hbm_bandwidth": 3.35e12, "hbm_capacity": 80e9}
MTOK_HOUR = 3600e6


def value(unknown, *using, **given):
    (answer,) = solve(unknown, using=using, **given).answers
    assert answer.kind == "point"
    return answer.value


@pytest.mark.parametrize("mbu", [1.0, 0.8, 0.5])
def test_storage_sold_as_memory_costs_what_the_memory_does_whatever_bandwidth_is_sustained(mbu):
    """100 B at half the FLOP/s and 2 USD/h, 2,000 bytes a token, all sold at three times cost.

    Input: 3 x 2 x 100e9 x 2/3600/(1979e12 x .5) = 3.369e-7 USD a token; the memory of a token: 3 x 2/3600 x 2,000/80e9
    = 4.167e-11 USD a second, .15 USD a million tokens and hour. What decode sustains of the bandwidth has no part in it.
    """
    model = {**H100, "active_params": 100e9, "mfu": 0.5, "mbu": mbu, "kv_bytes_per_token": 2000.0}
    prices = {"input_price": 3 * 2 * 100e9 * 2 / 3600 / (1979e12 * 0.5), "prefill_decode_flops_ratio": 1, "prefill_cost_ratio": 1}
    found = value("storage_price", "bands.storage_price", **model, **prices, holding_cost_ratio=1)
    assert found * MTOK_HOUR == pytest.approx(0.15, rel=1e-12)


@pytest.mark.parametrize("mbu", [1.0, 0.8])
def test_storage_priced_as_memory_shows_the_sweep_of_decode(mbu):
    """A second read of KV takes 2,000/(3.35e12 mbu) s of a chip; at 2 USD/h that buys as much as 80e9/(3.35e12 mbu) s of its memory."""
    chip = 2 / 3600
    read, held = chip * 2000 / (3.35e12 * mbu), chip * 2000 / 80e9
    increment = {"output_price": 1e-5, "premium_out": 1 + 1e5 * read / 1e-5, "short_context": 1e5, "long_context": 2e5}
    by_prices = value("implied_drain_time", "cache.implied_drain_time", **increment, storage_price=held)
    tier = {"output_storage_markup_ratio": 1, "hbm_holding_price": chip / 80e9, "holding_price": chip / 80e9, "mbu": mbu}
    by_tier = value("implied_drain_time", "cache.implied_drain_time_of_tier", sweep_time=80e9 / 3.35e12, **tier)
    assert by_prices == pytest.approx(80e9 / (3.35e12 * mbu)) and by_tier == pytest.approx(by_prices)


# -- prefill with attention -----------------------------------------------------------------------------------------

LLAMA_70B = {"active_params": 70e9, "layers": 80, "query_heads": 64, "head_dim": 128}
"""4 x 80 x 64 x 128 = 2.62e6 FLOP a pair."""
ALL_NEW = {"cache_hit_share": 0, "attention_rate_ratio": 1}


@pytest.mark.parametrize(("tokens", "factor"), [(32_768, 1.31), (131_072, 2.23)])
def test_attention_in_the_prefill_of_a_dense_model(tokens, factor):
    """1 + a L/(4N): 2.62e6 x 32,768/280e9 = .307, four times that at 128k."""
    found = value("prefill_attention_factor", **LLAMA_70B, **ALL_NEW, prompt_tokens=tokens)
    assert found == pytest.approx(1 + 2.62144e6 * tokens / 280e9, rel=1e-12) and found == pytest.approx(factor, abs=0.005)


@pytest.mark.parametrize(("tokens", "factor", "digit"), [(8_192, 1.28, 0.01), (32_768, 2.11, 0.01), (131_072, 5.4, 0.1)])
def test_attention_in_the_prefill_of_a_latent_cache_is_that_of_the_expanded_heads(tokens, factor, digit):
    """2 x 61 x 128 x (128 + 64 + 128) = 5.00e6 FLOP a pair, where decode does 1.70e7: 4.997e6 x 8,192/(4 x 37e9) = .277."""
    found = value("prefill_attention_factor", model="DeepSeek-V3", **ALL_NEW, prompt_tokens=tokens)
    assert found == pytest.approx(1 + 4_997_120 * tokens / 148e9, rel=1e-12) and found == pytest.approx(factor, abs=digit / 2)


def test_new_tokens_behind_a_cached_part_attend_to_it_too():
    """9k tokens after 3k: each meets 3k and on average 4.5k of its own, 7.5k, where 12k new ones meet 6k."""
    a, weights = 2.62144e6, 2 * 70e9
    flops = value("forward_flops", **LLAMA_70B, new_tokens_per_pass=9000, cached_tokens=3000)
    assert flops == pytest.approx(9000 * (weights + a * 7500), rel=1e-12)
    token_by_token = sum(weights + a * (3000 + place) for place in range(9000))
    assert flops == pytest.approx(token_by_token, rel=1e-4)
    found = value("prefill_attention_factor", **LLAMA_70B, attention_rate_ratio=1, prompt_tokens=12_000, cache_hit_share=0.25)
    assert found == pytest.approx(flops / (9000 * weights), rel=1e-12)


def test_attention_at_half_the_rate_takes_twice_as_long():
    slow, fast = (value("prefill_attention_factor", **LLAMA_70B, prompt_tokens=32_768, cache_hit_share=0, attention_rate_ratio=r)
                  for r in (0.5, 1))  # fmt: skip
    assert slow - 1 == pytest.approx(2 * (fast - 1))


def test_recomputing_and_prefilling_take_the_attention_of_a_known_model():
    chip = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "mfu": 0.4, **ALL_NEW}
    factor = 1 + 4_997_120 * 32_000 / 148e9
    cost = value("rematerialisation_cost", **chip, chip_price="2 USD/h", prompt_tokens="32k")
    assert cost == pytest.approx(2 * 37e9 * (2 / 3600) / (0.4 * 1979e12) * factor, rel=1e-12)
    rate = value("prefill_rate_per_chip", **chip, prompt_tokens="32k", prefill_decode_flops_ratio=1.5)
    assert rate == pytest.approx(1.5 * 0.4 * 1979e12 / (2 * 37e9) / factor, rel=1e-12)
    time = value("prefill_compute_time", **chip, chips=8, batch=1, prompt_tokens="32k", new_tokens_per_pass="32k")
    assert time == pytest.approx(2 * 37e9 * 32_000 / (8 * 0.4 * 1979e12) * factor, rel=1e-12)


@pytest.mark.parametrize(("unknown", "given"), [
    ("rematerialisation_cost", {"active_params": 37e9, "chip_price": 6e-4, "peak_flops": 1e15, "mfu": 0.4}),
    ("prefill_rate_per_chip", {"active_params": 37e9, "peak_flops": 1e15, "mfu": 0.4}),
    ("prefill_compute_time", {"compute_time": 0.01, "new_tokens_per_pass": 4096}),
])  # fmt: skip
def test_attention_that_is_left_out_is_said_so(unknown, given):
    said = solve(unknown, **given).assumptions
    assert "prefill_attention_factor = 1 (default)" in said and "attention counts by prefill_attention_factor alone" in said


def test_decode_reads_the_prompt_and_half_of_the_answer():
    """The mean of 4,000 + i over the 500 steps of an answer."""
    found = value("context_length", "serving.mean_decode_context", prompt_tokens=4000, output_tokens=500)
    assert found == 4250 == pytest.approx(sum(4000 + step for step in range(500)) / 500, abs=0.5)


def test_tokens_found_in_the_cache_need_no_chips_for_prefill():
    """DeepSeek told of 342 of 608 billion prompt tokens found on disk, 56 %: 2.3 times the chips for prefill without them."""
    pools = {"prompt_tokens": 6080, "output_tokens": 1680, "decode_rate_per_chip": 1850, "prefill_rate_per_chip": 9200}
    with_hits, without = (value("prefill_decode_chip_ratio", **pools, cache_hit_share=hits) for hits in (342 / 608, 0))
    assert without / with_hits == pytest.approx(608 / 266) and without / with_hits == pytest.approx(2.3, abs=0.02)


# -- tiers and owned chips ------------------------------------------------------------------------------------------


def test_what_is_kept_off_the_chip_is_written_before_it_is_read():
    """35,136 bytes at 5 cents an hour and 7 GB/s: each way 35,136 x .05/3600/7e9 = 6.97e-11 USD. How many ways is asked."""
    drive = {"tier_price": "0.05 USD/h", "tier_bandwidth": "7GB/s", "kv_bytes_per_token": 35_136}
    assert value("retrieve_cost", **drive, transfers_per_hold=2) == pytest.approx(2 * 35_136 * 0.05 / 3600 / 7e9, rel=1e-12)
    asked = solve("retrieve_cost", **drive)
    assert asked.reason.code == "missing_givens" and "a write and a read are 2" in asked.reason.message


def test_an_owned_chip_costs_its_life_and_its_power():
    """30,000 USD over 4 years of 8,760 h, in use 226.75 nodes of 278; 1.3 kW with its share of the server, PUE 1.2, 8 cents a kWh.

    30,000/35,040 = .856 USD an hour, over .8156 1.0497; 1.3 x 1.2 x .08 = .1248: 1.1745 USD for an hour in use.
    """
    owned = {"chip_capex": "30k USD", "depreciation_time": "35040h", "chip_power": "1.3kW"}
    building = {"power_usage_effectiveness": 1.2, "electricity_price": "0.08 USD/kWh"}
    found = value("chip_price", **owned, **building, fleet_utilisation=226.75 / 278)
    assert found * 3600 == pytest.approx(30_000 / 35_040 * 278 / 226.75 + 0.1248, rel=1e-12)
    assert found * 3600 == pytest.approx(1.1745, abs=1e-4)


def test_a_price_and_what_the_chip_cost_that_do_not_agree_are_a_contradiction():
    owned = {"chip_capex": "30k USD", "depreciation_time": "35040h", "chip_power": "1.3kW", "fleet_utilisation": 1}
    building = {"power_usage_effectiveness": 1.2, "electricity_price": "0.08 USD/kWh"}
    found = solve("price_per_flop", chip_price="2 USD/h", peak_flops=1e15, mfu=0.4, **owned, **building)
    assert found.reason.code == "contradiction" and "chip_price" in found.reason.message
    assert solve("price_per_flop", chip_price="2 USD/h", peak_flops=1e15, mfu=0.4, chip_power="700W").answers


def test_a_fleet_that_waits_is_paid_by_the_tokens_of_the_hours_in_use():
    """DeepSeek's published day: a mean of 226.75 nodes in use, 278 at the peak, 2 dollars an hour a chip; 14.8k tokens/s a node of 8."""
    deployed = {"chips": 8, "throughput": 14800, "chip_price": "2 USD/h"}
    plain = 8 * 2 / 3600 / 14800
    assert value("cost_per_token", **deployed) == pytest.approx(plain)
    assert value("fleet_cost_per_token", **deployed, fleet_utilisation=226.75 / 278) == pytest.approx(plain * 278 / 226.75)
