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
        ("num_experts", "experts"),
        ("expert_count", "experts"),
        ("number_of_gpus", "chips"),
        ("num_replicas", "replicas"),
        ("num_experts_per_tok", "active_experts"),
        ("num_key_value_heads", "kv_heads"),
        ("hidden_size", "model_dim"),
        ("training_flops", "pretrain_flops"),
        ("memory_bandwidth_utilization", "mbu"),
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


@in_one_test(
    ("word", "meant"),
    [
        ("tokens_per_verification", "tokens_per_step"),
        ("experts_hit", "touched_experts"),
        ("goodput", "throughput"),
        ("weights_memory", "weight_bytes"),
        ("kv_memory", "kv_cache_bytes"),
        ("cost_per_million", "cost_per_token"),
        ("cost_per_hour", "chip_price"),
        ("dollars_per_hour", "chip_price"),
        ("first_token_latency", "time_to_first_token"),
        ("days_to_train", "training_time"),
        ("gpu_days", "chip_hours"),
        ("spec_decode_speedup", "speculative_speedup"),
        ("draft_acceptance_rate", "acceptance_rate"),
        ("cache_transfer_time", "kv_transfer_time"),
        ("all_reduce_latency", "all_reduce_time"),
        ("prefill_batch_size", "prefill_batch"),
        ("optimizer_memory", "optimizer_bytes_per_param"),
        ("electricity_bill", "electricity_price"),
    ],
)
def test_a_name_that_is_none_is_answered_with_the_name_of_what_it_means(word, meant):
    with pytest.raises(UnknownName, match=f"; did you mean {meant!r}"):
        quantity(word)


@in_one_test(("word", "meant"), [("contex_length", "context_length"), ("output_tokns", "output_tokens"), ("batch_sise", "batch_size")])
def test_a_misspelt_name_is_answered_with_the_name_and_not_by_its_other_words(word, meant):
    with pytest.raises(UnknownName, match=f"; did you mean {meant!r}"):
        quantity(word)


@in_one_test("word", ["zork", "carbon"])
def test_a_word_that_says_nothing_of_any_quantity_is_given_no_name_by_meaning(word):
    with pytest.raises(UnknownName) as caught:
        quantity(word)
    assert "did you mean" not in str(caught.value)
