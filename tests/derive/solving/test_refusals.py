"""What a question lacks: lists none of which can be spared, and each of which settles it."""

import pytest

from derive.catalogue import by_id
from derive.errors import WrongValue
from derive.quantities import QUANTITIES
from derive.solving.api import solve
from derive.solving.engine.plan import definitions_of, definitions_to, reaches
from derive.solving.explain.refusals import missing_givens
from derive.solving.question.questions import known_values, pose_again, question
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

CHIP_AND_MODEL = {"hardware": "H100:fp8", "model": "DeepSeek-V3"}
LACKING = [
    ("cost_per_token", {**CHIP_AND_MODEL, "batch": 100}, {"chip_price", "context_length"}),
    ("chips", {**CHIP_AND_MODEL, "throughput": 1e5}, {"batch", "context_length"}),
    ("mfu", {**CHIP_AND_MODEL, "step_time": 0.03}, {"batch", "context_length"}),
    ("worst_latency", {}, {"train_period"}),
    ("sequences_in_flight", CHIP_AND_MODEL, {"context_length"}),
    ("request_latency", {**CHIP_AND_MODEL, "batch": 100}, {"prompt_tokens", "output_tokens"}),
]


REQUEST_PRICES = {"input_price": "$1/Mtok", "output_price": "$4/Mtok", "prompt_tokens": 4000}
WITH_WHAT_WAS_TYPED = [
    ("training_chips", {"pretrain_flops": 3.8e25, "hardware": "H100:bf16", "mfu": 0.4}, {"training_time"}),
    ("training_time", {"training_cost": 5e6, "training_chips": 2048}, {"chip_price"}),
    (
        "pretrain_tokens",
        {"hardware": "H100:bf16", "mfu": 0.4, "rent": 6e-4, "active_params": "70B", "strict": True},
        {"training_cost"},
    ),
    ("kv_bytes_per_token", {"storage_price": "$1/Mtok/h", "tier_price": "$1/h"}, {"tier_capacity"}),
    ("overtraining_ratio", {"active_params": "8B"}, {"pretrain_tokens"}),
    ("bandwidth_bound_fraction", {"input_price": "$1/Mtok"}, {"output_price"}),
    ("cache_read_price", {"cache_read_ratio": 0.1}, {"input_price"}),
    ("fast_batch", {"machine_balance_ratio": 300, "sparsity": 8}, {"fast_price_ratio"}),
    ("margin", {**REQUEST_PRICES, "output_tokens": 500, "cache_hit_share": 0.5, "cost_per_request": 0.001}, {"cache_read_price"}),
]


@in_one_test(("unknown", "given", "missing"), WITH_WHAT_WAS_TYPED)
def test_what_is_missing_is_of_the_way_that_uses_what_was_typed(unknown, given, missing):
    """Also of a reading or a rule of thumb where only these have the unknown."""
    reason = solve(unknown, **given).reason
    assert reason.code == "missing_givens" and {*reason.missing} == missing
    assert "--using" not in reason.message


@in_one_test(("unknown", "given", "missing"), LACKING)
def test_the_facts_to_look_up_come_first(unknown, given, missing):
    """Nothing that has a usual value, nothing that follows from the others, and of a size what bounds it."""
    reason = solve(unknown, **given).reason
    assert reason.code == "missing_givens" and {*reason.missing} == missing
    assert reason.message.startswith(f"{unknown} also needs {reason.missing[0]}")


@in_one_test("unknown", some(sorted(name for name in QUANTITIES if any(row.defines == name for row in by_id().values())), 4))
def test_what_is_missing_settles_the_question_and_none_of_it_can_be_spared(unknown):
    asked = question(unknown, {})
    known = frozenset([*known_values(asked)][-1])
    equalities = tuple(row for row in asked.active if row.sense == "=")
    if reaches(unknown, equalities, known):
        found = solve(unknown)
        # What follows from defaults alone is no answer if it could be made of inputs.
        assert found.answers or found.reason.code in ("requirement_violated", "missing_givens")
        return
    missing = {*missing_givens(asked).missing}
    assert unknown not in missing
    # Once they are given, more stands in for what is not: the context of a request for that of a sequence.
    given = pose_again(asked, unknown, dict.fromkeys(missing, 1.0))
    then = tuple(row for row in given.active if row.sense == "=")
    made = definitions_of(then, known | missing)
    bounded = any(definitions_to(row.symbols, made, known | missing | {unknown}) is not None for row in given.bounds)
    assert bounded or reaches(unknown, then, known | missing)
    assert not any(reaches(unknown, equalities, known | missing - {name}) for name in missing)


def test_the_options_that_would_give_it_are_named():
    assert "(--hardware and --model would give some of these)" in solve("step_time").reason.message
    assert "--" not in solve("worst_latency").reason.message


@in_one_test(
    ("given", "words"),
    [
        ({"model": "Llama-3-70B", "pipeline_stages": 100}, "pipeline_stages = 100: no more than layers = 80"),
        ({"experts": 8, "active_experts": 9}, "active_experts = 9: no more than experts = 8"),
        ({"kv_replication": 9, "chips": 8}, "kv_replication = 9: no more than chips = 8"),
        ({"pipeline_stages": 4, "microbatches": 0.5}, "microbatches = 0.5: must be >= 1"),
        ({"kv_replication": 0.5}, "kv_replication = 0.5: must be >= 1"),
        ({"expert_imbalance": [1, 2, 0.9]}, "expert_imbalance = 0.9: must be >= 1"),
        ({"tokens_verified_per_step": "0.5..4"}, "tokens_verified_per_step = 0.5: must be >= 1"),
        ({"microbatches": "1.2±0.5"}, "microbatches = 0.7: must be >= 1"),
        ({"experts": 8, "active_experts": "1,4,9", "batch": 8}, "active_experts = 9: no more than experts = 8"),
        ({"experts": "8..16", "active_experts": "4..9", "batch": 8}, "active_experts = 9: no more than experts = 8"),
        ({"experts": "4..64:log:5", "active_experts": 8}, "active_experts = 8: no more than experts = 4"),
        ({"model": "Llama-3-70B", "pipeline_stages": "1..128:log:8"}, "pipeline_stages = 128: no more than layers = 80"),
    ],
)
def test_parts_that_cannot_be_are_refused_whatever_is_asked(given, words):
    """Anywhere in a range, a list or a sweep. A question that lacks other givens may name these first."""
    with pytest.raises(WrongValue, match=words):
        solve("activated_experts" if "batch" in given else "layers_per_stage", **given)


# -- in words -------------------------------------------------------------------------------------------------------

CHIPS = {"hardware": "H100-SXM:fp8", "model": "Llama-3-70B", "chips": 8, "bytes_per_element": 2}
TOO_FEW = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 8, "bytes_per_element": 1}


@in_one_test(
    ("unknown", "given", "words"),
    [
        ("sequences_in_flight", {**TOO_FEW, "context_length": "8k"}, ["chips is 8", "80 GB", "is 671 GB"]),
        ("context_length", {**TOO_FEW, "sequences_in_flight": 1}, ["weight_bytes is 671 GB"]),
        ("balance_batch_with_kv", {**CHIPS, "context_length": "8k"}, ["kv_compute_ratio is 10.97"]),
        ("free_prefill_chunk", {**CHIPS, "context_length": 100, "batch": 2000}, ["compute_time is 17.83 ms"]),
        ("minimum_latency", {**CHIPS, "allreduces_per_layer": 4, "hop_latency": "1ms"}, ["1 ms"]),
        ("bubble_fraction", {"pipeline_stages": 1, "training_microbatches": 8}, ["pipeline_stages is 1"]),
        ("training_microbatches", {"pipeline_stages": 8, "bubble_fraction": 0.99}, ["would be 0.0707"]),
        ("routed_params", {"total_params": 1e10, "active_params": 1e10, "experts": 8, "active_experts": 2}, ["active_params is 10B"]),
    ],
)
def test_what_cannot_be_is_said_in_words_with_the_numbers(unknown, given, words):
    """8,000 x 327,680 B at 3.35 TB/s take 10.97 times as long as 2 x 70.55e9 FLOP at 1,979 TFLOP/s; 2,000 of these on 8 chips 17.83 ms."""
    reason = solve(unknown, **given).reason
    assert reason.code == "requirement_violated" and all(word in reason.message for word in words), reason.message


LLAMA = {
    **{"model": "Llama-3.1-70B", "hardware": "H100-SXM:fp8", "batch": 16, "context_length": 4000},
    **{"bytes_per_element": 2, "chip_price": "2 USD/h"},
}


def test_what_a_result_does_not_depend_on_is_said_to_be_anything():
    """Twice the chips take half as long at twice the price: a token costs the same on any number of them."""
    cost = solve("cost_per_token", chips=8, **LLAMA).answers[0].value
    reason = solve("chips", cost_per_token=cost, **LLAMA).reason
    assert reason.code == "not_identified" and not reason.missing
    assert reason.message == "cost_per_token does not depend on chips: it is $0.9486/MTok with any chips"
    reason = solve("chips", cost_per_token=2 * cost, **LLAMA).reason
    assert reason.code == "no_solution" and "it is $0.9486/MTok with any chips, and $1.897/MTok is given" in reason.message


@pytest.mark.parametrize(
    ("unknown", "served", "value", "place"),
    [
        ("hbm_bandwidth", {"hardware": "MI300X"}, 5.3e12, "hardware.csv MI300X"),
        ("hidden_size", {"model": "Llama-3.1-8B"}, 4096, "architectures.csv Llama-3.1-8B"),
        ("nvlink_bandwidth", {"hardware": "H100"}, 450e9, "hardware.csv H100-SXM"),
        ("active_params", {"model": "DeepSeek-V3"}, 37e9, "architectures.csv DeepSeek-V3"),
    ],
)
def test_what_a_table_has_is_the_answer_unless_a_result_is_given_for_it(unknown, served, value, place):
    solution = solve(unknown, **served)
    assert solution.value == value and any(place in text for text in solution.said)
    refused = solve("hbm_bandwidth", hardware="H100", step_time="10ms")
    assert refused.reason.code == "missing_givens" and "hbm_bandwidth is 3.35 TB/s in hardware.csv" in refused.why_not


def test_a_contradiction_is_told_although_a_rule_would_answer():
    assert solve("overtraining_ratio", active_params="70B", pretrain_tokens="15T", pretrain_flops=1e25).reason.code == "contradiction"


def test_a_count_is_asked_for_where_a_dense_model_supplies_it():
    """(0.02 s * 8 * 4.8 TB/s - 495.04 GB) / (32 * 8000 tokens), where the reads are all weights of a dense model."""
    served = {"hardware": "H200:fp8", "context_length": 8000, "bytes_per_weight": 1, "step_time": "20ms", "chips": 8, "batch": 32}
    found = solve("kv_bytes_per_token", active_params=495.04e9, **served)
    assert found.value == pytest.approx((0.02 * 8 * 4.8e12 - 495.04e9) / 256_000)
