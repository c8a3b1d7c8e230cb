"""Training rates from MFU and back, and the chips that hold the states of training."""

from math import ceil

import pytest

from derive.solving.api import solve


@pytest.mark.parametrize(("gradient_bytes", "chips"), [(0, 9), (2, 11)])
def test_the_states_of_training_need_so_many_chips(gradient_bytes: float, chips: int) -> None:
    found = solve(
        "chips",
        total_params="70B",
        bytes_per_weight=2,
        optimizer_bytes_per_param=8,
        gradient_bytes_per_param=gradient_bytes,
        hbm_capacity="80 GB",
    )
    assert ceil(found.answers[0].low) == chips


def test_rates_follow_from_mfu() -> None:
    run = {"hardware": "H100:bf16", "active_params": "70B", "mfu": 0.4}
    rate = 0.4 * 989e12 / (6 * 70e9)
    assert solve("training_rate_per_chip", **run).value == pytest.approx(rate)
    assert solve("training_throughput", training_chips=2048, **run).value == pytest.approx(2048 * rate)


@pytest.mark.parametrize("given", [{"training_rate_per_chip": 9600}, {"training_throughput": 9600 * 128, "training_chips": 128}])
def test_mfu_follows_from_a_rate(given: dict[str, float]) -> None:
    # 9,600 token/s on each chip is 0.41 of an H100 for 7B by six FLOPs a parameter and token.
    found = solve("mfu", hardware="H100:bf16", active_params="7B", given=given)
    assert found.value == pytest.approx(6 * 7e9 * 9600 / 989e12)


def test_days_and_dollars_follow_from_a_rate() -> None:
    run = {"active_params": "70B", "pretrain_tokens": "15T", "training_rate_per_chip": 942, "training_chips": 2048}
    seconds = 15e12 / (942 * 2048)
    assert solve("training_time", **run).value == pytest.approx(seconds)
    assert solve("training_cost", chip_price="2 USD/h", **run).value == pytest.approx(seconds / 3600 * 2048 * 2)


def test_attention_flops_do_not_contradict_the_rate() -> None:
    found = solve(
        "training_time",
        hardware="H100:bf16",
        active_params="405B",
        pretrain_tokens="15.6T",
        training_chips=16384,
        mfu=0.4,
        attention_flops_per_pair=8.258e6,
        training_sequence_length=8192,
        using=["training.pretrain_cost_attention"],
    )
    assert found.value / 86400 == pytest.approx(70.52, rel=1e-3)
