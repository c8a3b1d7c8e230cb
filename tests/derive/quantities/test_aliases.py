"""What quantities are called elsewhere: each word means one of them, or is refused with all that it could mean."""

import pytest

from derive.errors import AmbiguousName, UnknownName
from derive.quantities import NAME_OF_SYMBOL, QUANTITIES, quantity
from derive.quantities.aliases import ALIASES, ALSO_CALLED, in_full
from derive.solving.api import solve
from tests.tools.commands import refused
from tests.tools.together import in_one_test


@in_one_test(("word", "meant"), ALIASES.items())
def test_a_word_means_quantities_and_is_the_name_of_none(word, meant):
    assert set(meant) <= set(QUANTITIES) and word == word.lower()
    assert word not in QUANTITIES and word not in NAME_OF_SYMBOL and NAME_OF_SYMBOL.get(word.upper(), *meant[:1]) == meant[0]
    if len(meant) == 1:
        assert quantity(word) is quantity(word.upper()) is QUANTITIES[meant[0]]
        return
    with pytest.raises(AmbiguousName) as caught:
        quantity(word)
    assert str(caught.value) == f"quantity {word!r} could mean {' or '.join(meant)}: write the one that is meant"


def test_words_stand_on_either_side_of_a_question():
    """Two seconds, less 0.5 in the queue."""
    assert solve("ttft", queue_time="0.5s", prefill_time="1.5s").answers[0].value == 2
    assert solve("QPS", throughput="1000 token/s", osl=500).answers[0].value == 2
    assert solve("prefill_time", TTFT="2s", queue_time="0.5s").answers[0].value == 1.5


@in_one_test(
    ("word", "name"),
    [
        ("tokens/s/user", "tokens_per_second_per_user"),
        ("tok/s/GPU", "decode_rate_per_chip"),
        ("req/s", "requests_per_second"),
        ("num_gpus", "chips"),
        ("hbm_bw", "hbm_bandwidth"),
        ("max-model-len", "context_length"),
        ("gpu_price", "chip_price"),
        ("memory per chip", "memory_per_chip"),
        ("pue", "power_usage_effectiveness"),
        ("request-rate", "requests_per_second"),
        ("memory_reserve", "reserved_share"),
        ("bytes_per_kv", "bytes_per_element"),
    ],
)
def test_a_name_may_be_written_otherwise(word, name):
    assert quantity(word).name == name


def test_all_names_that_are_none_are_refused_at_once():
    latency = "quantity 'latency' could mean step_time or time_to_first_token or request_latency: write the one that is meant"
    assert refused("solve", "fooo", "latency=12s", "zork=1", "batch=3").splitlines() == [
        f"backsolve: unknown quantity 'fooo'; {latency}; unknown quantity 'zork'",
        "backsolve: backsolve list WORD searches them",
    ]


@in_one_test(("word", "meant"), ALSO_CALLED.items())
def test_a_word_that_is_no_name_is_hinted_at_with_what_may_be_meant(word, meant):
    assert set(meant) <= set(QUANTITIES) and word not in QUANTITIES and word not in ALIASES and word == in_full(word)
    with pytest.raises(UnknownName) as caught:
        quantity(word)
    assert f"did you mean {' or '.join(map(repr, meant))}" in str(caught.value)


@in_one_test("word", ["gpu_utilization", "fp8_flops", "TTFT_p50", "cost/1M"])
def test_a_word_with_a_meaning_beside_ours_is_no_alias(word):
    """A unit, a percentile or a share of another whole that it brings along would be lost."""
    with pytest.raises(UnknownName, match="did you mean"):
        quantity(word)
