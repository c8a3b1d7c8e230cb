"""What copies of a model exchange in training, and the tokens that hide it."""

import pytest

from derive.solving.api import solve
from tests.tools.asked import value_of
from tests.tools.together import in_one_test

CHIP = {"peak_flops": 4.59e14, "link_bandwidth": 1.8e11, "exchange_bytes_per_param": 2}
DENSE = {"total_params": 70e9, "active_params": 70e9}
MOE = {"total_params": 671e9, "active_params": 37e9}
SHARDED = "training.data_parallel_time_sharded"


def only(names, given):
    return {name: given[name] for name in names.split() if name in given}


def exchange(*using, **given):
    return value_of("data_parallel_time", *using, **only("total_params exchange_bytes_per_param link_bandwidth chips", given))


def compute(**given):
    return given["training_tokens_per_chip"] / value_of("training_rate_per_chip", **only("active_params peak_flops mfu", given))


@in_one_test("model", [DENSE, MOE], ids=["dense", "experts"])
@in_one_test("chips", [1, 8])
def test_at_the_balance_exchange_takes_as_long_as_arithmetic(model, chips):
    given = {**CHIP, **model, "chips": chips, "mfu": 0.5}
    tokens = value_of("balance_tokens_per_chip", **given)
    assert exchange(SHARDED, **given) == pytest.approx(compute(**given, training_tokens_per_chip=tokens))
    # Gradients are added up beside the backward pass, four of the six FLOPs a parameter and token.
    assert exchange(**given) == pytest.approx(4 / 6 * compute(**given, training_tokens_per_chip=tokens))


def test_chips_that_share_a_copy_and_experts_that_are_not_used_move_the_balance():
    dense, experts = (value_of("balance_tokens_per_chip", **CHIP, **model) for model in (DENSE, MOE))
    assert dense == pytest.approx(2550)
    assert experts / dense == pytest.approx(671 / 37), "all experts are exchanged, the active ones compute"
    assert value_of("balance_tokens_per_chip", **CHIP, **DENSE, chips=8) == pytest.approx(2550 / 8)


def test_enough_tokens_is_a_claim_that_one_joins_by_name():
    given = {**CHIP, **DENSE}
    assert not solve("training_tokens_per_chip", **given).answers
    (answer,) = solve("training_tokens_per_chip", using=["training.exchange_hidden"], **given).answers
    assert (answer.kind, answer.high) == ("interval", None) and answer.low == pytest.approx(2550)


def ring_all_gather(chips: int, size: float) -> float:
    """Bytes each chip sends: in every round it passes on the part that it got in the round before."""
    parts = [{chip} for chip in range(chips)]
    passing = list(range(chips))
    sent = 0.0
    while any(len(part) < chips for part in parts):
        passing = [passing[(chip - 1) % chips] for chip in range(chips)]
        for chip, part in enumerate(passing):
            parts[chip].add(part)
        sent += size / chips
    return sent


@pytest.mark.parametrize("chips", [2, 64])
def test_passes_around_a_ring_send_what_the_equations_say_of_many_copies(chips):
    """All-reduce is a scatter and a gather, alike in bytes; of two copies each sends half."""
    size = 70e9 * 2
    sent = ring_all_gather(chips, size)
    assert sent == pytest.approx(size * (1 - 1 / chips))
    for passes, using in ((2, "training.data_parallel_time"), (3, SHARDED)):
        assert passes * sent / CHIP["link_bandwidth"] == pytest.approx((1 - 1 / chips) * exchange(using, **CHIP, **DENSE))
