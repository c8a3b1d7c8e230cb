"""Answers by a reading, a condition or a rule of thumb where definitions and bounds lead to none."""

import pytest

from derive.catalogue import by_id
from derive.solving.api import respond_all, solve

THRESHOLD = {"long_context_threshold": "200k", "active_params": "100B", "machine_balance_ratio": 300}


def test_a_reading_answers_both_ways_and_says_so():
    found = solve("bandwidth_bound_fraction", output_input_ratio=5)
    assert (found.value, found.basis) == (pytest.approx(0.8), "reading")
    assert solve("output_input_ratio", bandwidth_bound_fraction=0.8).value == pytest.approx(5)
    assert by_id()["readings.bandwidth_bound_fraction"].rule in str(found).splitlines()[0]


def test_every_reading_of_a_price_is_an_answer_of_its_own():
    found = solve("kv_bytes_per_token", **THRESHOLD, total_params="1T", batch=2000, bytes_per_weight=1)
    assert [one.value for one in found.answers] == pytest.approx([1e11 / 300 / 2e5, 1e12 / 2000 / 2e5])
    first, second = (line for line in str(found).splitlines()[:2])
    assert "compute" in first and "weight" in second and "not used" not in str(found)
    ranged = solve("rl_tokens", pretrain_tokens="10T", rl_multiplier=4, decode_efficiency="0.18..0.22")
    assert any("is 4.576T tokens to 5.41T tokens by" in text for text in ranged.warnings)


def test_strict_keeps_to_definitions_and_bounds():
    assert solve("kv_bytes_per_token", **THRESHOLD, strict=True).reason.code == "missing_givens"
    assert solve("balance_batch", machine_balance_ratio=300, sparsity=8, strict=True).basis == "definition"
    with pytest.raises(ValueError, match="chinchilla"):
        solve("chinchilla_tokens", active_params=7e10, using=["training.chinchilla"], strict=True)


def test_definitions_come_first_and_a_step_is_still_a_bound():
    assert solve("output_input_ratio", output_price=1e-5, input_price=2e-6, bandwidth_bound_fraction=0.5).basis == "definition"
    assert solve("step_time", hardware="H100:fp8", total_params=7e10, batch=1, kv_bytes_per_token=1e5, context_length=1e3).basis == "bound"


def test_a_rule_of_thumb_stands_in_for_no_missing_batch():
    given = {"context_length": "2k", "step_time": "25ms", "bytes_per_element": 2}
    assert solve("mbu", hardware="8xH200:fp8", model="Llama-3.1-405B", given=given).reason.missing == ("batch",)


def test_one_of_several_unknowns_may_be_by_a_rule():
    given = {"pretrain_tokens": "150T", "active_params": "100B", "machine_balance_ratio": 300, "sparsity": 8}
    ratio, batch = respond_all(["overtraining_ratio", "balance_batch"], given)
    assert (ratio.value, ratio.basis, batch.value, batch.basis) == (75, "rule", 2400, "definition")


def test_a_rule_answers_where_its_other_quantities_cancel_and_for_a_dense_model():
    """20 tokens per parameter: 10 times as many are 200. A dense model of 70B parameters has the loss 1.93665 after 1.4T tokens."""
    law = {
        **{"irreducible_loss": 1.69, "size_loss_coefficient": 406.4, "size_loss_exponent": 0.34},
        **{"data_loss_coefficient": 410.7, "data_loss_exponent": 0.28},
    }
    found = solve("tokens_per_param", overtraining_ratio=10), solve("total_params", pretrain_tokens="1.4T", loss=1.93665, given=law)
    assert [one.value for one in found] == pytest.approx([200, 7e10], rel=1e-3)
    assert all("by the" in str(one).splitlines()[0] for one in found)
