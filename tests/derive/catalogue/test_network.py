"""The network against rings played out and every way to cut a matrix tried."""

import pytest

from tests.tools.asked import value_of


def ring(chips: int, parts: list[list[int]]) -> tuple[list[list[int]], int]:
    """What every chip holds after two rounds of a ring, and the rounds of sending: part `p` of chip `c` is parts[c][p]."""
    held, sent = [row[:] for row in parts], 0
    for gather in (False, True):
        for turn in range(chips - 1):
            moves = [(chip, (chip - turn + gather) % chips) for chip in range(chips)]
            arriving = [(chip, part, held[chip][part]) for chip, part in moves]
            for chip, part, amount in arriving:
                other = (chip + 1) % chips
                held[other][part] = amount if gather else held[other][part] + amount
            sent += 1
    return held, sent


@pytest.mark.parametrize("chips", [2, 5, 8])
def test_a_ring_has_the_sums_everywhere_after_as_many_turns(chips):
    """Each turn a chip sends one part of as many as there are chips, and waits one hop."""
    held, turns = ring(chips, [[10**chip + part for part in range(chips)] for chip in range(chips)])
    sums = [sum(10**chip + part for chip in range(chips)) for part in range(chips)]
    assert held == [sums] * chips
    took = turns * (64e6 / chips / 450e9 + 2e-6)
    given = {"all_reduce_bytes": "64MB", "chips": chips, "link_bandwidth": "450GB/s"}
    assert value_of("all_reduce_time", **given, hop_latency="2us") == pytest.approx(took, rel=1e-12)


def test_no_way_to_cut_a_feed_forward_part_sends_less():
    """Every split of 64 chips; four of the width and sixteen of the feed-forward part is the best, as the paper says where F is 4 E."""
    cut = {split: 2 * 2 * 512 * 118 * (18432 / split + 73728 * split / 64) / 270e9 for split in (1, 2, 4, 8, 16, 32, 64)}
    best = min(cut, key=cut.get)
    sizes = {"layers": 118, "batch": 512, "bytes_per_activation": 2, "model_dim": 18432, "ffn_dim": 73728}
    found = value_of("weight_stationary_time", **sizes, chips=64, link_bandwidth="270GB/s")
    assert best == 64**0.5 / 2 and found == pytest.approx(cut[best], rel=1e-12)
    assert found == pytest.approx(8 * 512 * 118 * 18432 * 2 / (64**0.5 * 270e9), rel=1e-12), "8 B L E over the root of the chips"


def test_what_is_sent_is_the_cache_of_the_prompt_and_of_no_output():
    """327,680 B a token of Llama-3.1-70B in bf16; of Gemma-3-27B windows hold 1,024 tokens at most."""
    sent = {"bytes_per_element": 2, "link_bandwidth": "50GB/s", "prompt_tokens": 32768}
    assert value_of("kv_transfer_time", model="Llama-3.1-70B", **sent, chips=8) == pytest.approx(327680 * 32768 / (8 * 50e9))
    assert value_of("kv_transfer_time", model="Llama-3.1-70B", **sent, output_tokens=1000) == pytest.approx(327680 * 32768 / 50e9)
    windowed = value_of("kv_transfer_time", model="Gemma-3-27B", **sent)
    assert windowed == pytest.approx(2 * 16 * 128 * 2 * (10 * 32768 + 52 * 1024) / 50e9)
