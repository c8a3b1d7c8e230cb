"""What a question lacks: lists none of which can be spared, and each of which settles it."""

import pytest

from derive.catalogue import by_id
from derive.errors import WrongValue
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.questions import question
from derive.ranges import solve
from derive.refusals import missing_givens
from derive.routes import reaches

CHIP_AND_MODEL = {"hardware": "H100:fp8", "model": "DeepSeek-V3"}
LACKING = [
    ("cost_per_token", {**CHIP_AND_MODEL, "batch": 100}, {"chip_price", "context_length", "bytes_per_element"}),
    ("batch", {**CHIP_AND_MODEL, "cost_per_token": 1e-6}, {"chip_price", "context_length", "bytes_per_element"}),
    ("chips", {**CHIP_AND_MODEL, "throughput": 1e5, "step_time": 0.03}, {"context_length", "bytes_per_element"}),
    ("mfu", {**CHIP_AND_MODEL, "step_time": 0.03}, {"batch", "context_length", "bytes_per_element"}),
    ("worst_latency", {}, {"train_period"}),
]


@pytest.mark.parametrize(("unknown", "given", "missing"), LACKING)
def test_the_facts_to_look_up_come_first(unknown, given, missing):
    reason = solve(unknown, **given).reason
    assert reason.code == "missing_givens" and {*reason.missing} == missing
    assert reason.message.startswith(f"{unknown} needs also {reason.missing[0]}")


@pytest.mark.parametrize("unknown", sorted(name for name in QUANTITIES if any(row.defines == name for row in by_id().values())))
def test_what_is_missing_settles_the_question_and_none_of_it_can_be_spared(unknown):
    asked = question(unknown, {})
    defaults = {name: value for name, value in NEUTRAL_DEFAULTS.items() if name != unknown}
    known = frozenset(defaults)
    if reaches(unknown, asked.active, known):
        found = solve(unknown)
        assert found.answers or found.reason.code == "requirement_violated"
        return
    missing = {*missing_givens(asked, defaults).missing}
    assert unknown not in missing
    assert reaches(unknown, asked.active, known | missing)
    assert not any(reaches(unknown, asked.active, known | missing - {name}) for name in missing)


def test_shorter_ways_in_are_named_too():
    message = solve("balance_batch").reason.message
    assert "machine_balance_ratio and sparsity" in message.splitlines()[1]


def test_the_options_that_would_give_it_are_named():
    assert "(--hardware and --model would give some of these)" in solve("step_time").reason.message
    assert "--" not in solve("worst_latency").reason.message


def test_a_cancelling_quantity_is_not_among_the_missing():
    """Bytes per weight drop out of the balance context, and chips out of everything in proportion to them."""
    reason = solve("balance_context").reason
    assert not {"bytes_per_weight", "chips"} & {*reason.missing}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "Llama-3-70B", "pipeline_stages": 100}, "a stage has at least one layer"),
        ({"experts": 8, "active_experts": 9}, "no more experts than there are"),
        ({"pipeline_stages": 4, "microbatches": 0.5}, "microbatches = 0.5: must be 1 or more"),
        ({"kv_copies": 0.5}, "kv_copies = 0.5: must be 1 or more"),
    ],
)
def test_parts_that_cannot_be_are_refused_whatever_is_asked(given, words):
    with pytest.raises(WrongValue, match=words):
        solve("step_time", **given)
