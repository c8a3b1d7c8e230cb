"""Several unknowns under limits: the size that the limits bound comes first, the others are answered at its best end."""

import pytest

from derive.answers import DECODE_ALONE
from derive.errors import WrongValue
from derive.solving.api import respond, respond_all, solve
from derive.solving.question.conventions import Conventions, Switches

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

DEPLOYED = {"chips": 8, "context_length": "8k", "bytes_per_element": 1}
CHIP, MODEL = "H100:fp8", "Llama-3.1-70B"


def test_a_rate_is_answered_at_the_largest_batch_within_the_limit() -> None:
    rate, batch = respond_all(("throughput", "batch"), {**DEPLOYED, "step_time": "<=10ms"}, Switches(CHIP, MODEL))
    assert batch.value == 150
    assert rate.given["batch"] == 150 and rate.provenance["batch"] == "at batch = 150, the largest"
    assert rate.said[0] == "at batch = 150, the largest" and "is met" in rate.said[1]
    assert rate.value == pytest.approx(solve("throughput", hardware=CHIP, model=MODEL, batch=150, given=DEPLOYED).value)


def test_a_cost_is_answered_at_the_fewest_chips_and_not_at_one() -> None:
    given = {"context_length": "8k", "bytes_per_element": 1, "batch": 64, "chip_price": "2 USD/h", "step_time": "<=20ms"}
    cost, chips = respond_all(("cost_per_token", "chips"), given, Switches(CHIP, MODEL))
    assert chips.value == 3 and cost.given["chips"] == 3
    assert cost.said[0] == "at chips = 3, the fewest"


@pytest.mark.slow
def test_copies_are_counted_at_the_largest_batch_within_the_limit_and_not_as_if_one_served_all() -> None:
    given = {"chips": 8, "context_length": "4k", "step_time": "<=30ms"}
    rate = solve("throughput", hardware=CHIP, model=MODEL, given=given)
    copies = solve("replicas", hardware=CHIP, model=MODEL, fleet_throughput=50_000, given=given)
    assert copies.said[0] == rate.said[0] == "at batch = 434, the largest that memory holds"
    assert copies.value == 3 and 50_000 / rate.value == pytest.approx(2.749, abs=1e-3)
    asked = {**given, "fleet_throughput": 50_000, "chip_price": 1.0, "deployment_time": 1e6}
    both = respond_all(("replicas", "batch", "fleet_cost"), asked, Switches(CHIP, MODEL))
    assert [one.value for one in both] == [3, 434, 3 * 8e6]
    assert solve("fleet_cost", hardware=CHIP, model=MODEL, given=asked).value == both[2].value


def test_a_rate_at_a_batch_that_no_limit_leaves_says_why() -> None:
    refused = solve("throughput", hardware=CHIP, model=MODEL, step_time="<=1ms", given=DEPLOYED)
    assert not refused.answers and refused.refusal.code == "no_solution"
    assert refused.why_not.startswith("throughput at the best batch that the limits leave: ") and "2.633 ms" in refused.why_not


def test_without_a_limit_only_what_lacks_the_size_is_answered_at_its_end() -> None:
    batch, rate, sweep = respond_all(("batch", "throughput", "sweep_time"), DEPLOYED, Switches(CHIP, MODEL))
    assert batch.answers[0].high == pytest.approx(434.45, abs=0.1)
    assert rate.given["batch"] == 434 and rate.said == ("at batch = 434, the largest that memory holds",)
    assert sweep.value == respond("sweep_time", DEPLOYED, Switches(CHIP, MODEL)).value and not sweep.said


def test_a_limit_that_says_nothing_of_a_batch_either_is_refused() -> None:
    given = {**DEPLOYED, "context_length": ["8k", "16k"], "batch_multiple": "<=3"}
    with pytest.raises(WrongValue, match="batch_multiple is given as a limit, and is not made of throughput"):
        solve("throughput", hardware=CHIP, model=MODEL, given=given)


def test_a_limit_on_what_is_asked_for_leaves_a_part_of_it_or_none() -> None:
    given = {**DEPLOYED, "step_time": "<=10ms"}
    batch, rate = respond_all(("batch", "throughput"), {**given, "batch": "<=64"}, Switches(CHIP, MODEL))
    assert (batch.answers[0].ends[1], rate.given["batch"]) == (64, 64)
    wider = solve("batch", hardware=CHIP, model=MODEL, given={**given, "B": "<=200"})
    assert wider.value == 150 and wider.said[-1] == "batch at most 200 is met"
    refused = solve("batch", hardware=CHIP, model=MODEL, given={**given, "batch": ">=200"})
    assert refused.why_not == "batch at least 200 is not met: with what is given it is 150 or less"
    sized = {"context_length": "8k", "bytes_per_element": 1, "batch": 8}
    assert solve("chips", hardware=CHIP, model=MODEL, given={**sized, "chips": "<=2"}).value == 2
    assert "it is 2 or more (from 1.013)" in solve("chips", hardware=CHIP, model=MODEL, given={**sized, "chips": "<=1"}).why_not


def test_a_time_that_is_asked_for_is_held_against_its_limit() -> None:
    found, refused = (
        solve("step_time", hardware=CHIP, model=MODEL, batch=64, step_time=most, given=DEPLOYED) for most in ("<=10ms", "<=1ms")
    )
    assert found.value == pytest.approx(5.763e-3, rel=1e-3) and found.said[-1] == "step_time at most 10 ms is met"
    assert refused.why_not == "step_time at most 1 ms is not met: with what is given it is 5.763 ms or more"
    with pytest.raises(WrongValue, match="asked for over several values and limited"):
        solve("step_time", hardware=CHIP, model=MODEL, batch=[8, 64], step_time="<=1ms", given=DEPLOYED)


def test_where_memory_ends_the_batch_it_is_said_and_what_it_was_sized_by_is_used() -> None:
    """Weights of 671 GB on 1,086 GB leave 415 GB for caches of 576 * 61 * 2 bytes * 8,192 tokens; a fifth of these takes 20 ms."""
    sized = {"hardware": "8xH200:fp8", "model": "DeepSeek-V3", "context_length": "8Ki", "bytes_per_element": 2, "reserved_share": 0.1}
    held, hurried = (solve("throughput", **sized, tpot=limit) for limit in ("<=30ms", "<=20ms"))
    assert held.said[0] == "at batch = 719, the largest that memory holds" and held.unused == ()
    assert hurried.said[0] == "at batch = 173, the largest" and hurried.unused == ()


def test_a_rate_beside_a_batch_that_memory_bounds_is_at_the_largest_of_each_point_of_a_list() -> None:
    """320 GB less 70 GB of weights hold 95 caches of 8k tokens in bf16, and 190 in fp8: both steps read nearly all of it."""
    given = {"chips": 4, "context_length": "8k", "bytes_per_element": "bf16,fp8"}
    rate, batch = respond_all(("throughput", "batch"), given, Switches(CHIP, MODEL))
    rows = [(at["batch"], answers[0].value) for at, answers, _ in rate.sweep.rows()]
    reads = [70_553_706_496 + 95 * 8000 * 327680, 70_553_706_496 + 190 * 8000 * 163840]
    assert rows == [(n, pytest.approx(n * 4 * 3.35e12 / read)) for n, read in zip((95, 190), reads, strict=True)]
    assert len(batch.sweep) == 2


def test_beside_chips_that_are_asked_for_nothing_is_of_the_one_chip_that_there_is_by_default():
    served = {"prompt_tokens": 1000, "output_tokens": 300, "requests_per_second": 100, "step_time": 0.05}
    presets = ("H100-SXM:fp8", "Llama-3.1-70B")
    chips, first = respond_all(["chips", "time_to_first_token"], served, Switches(*presets))
    alone = solve("time_to_first_token", hardware=presets[0], model=presets[1], chips=chips.value, prompt_tokens=1000)
    assert chips.value > 1 and first.value == pytest.approx(alone.value)
    assert DECODE_ALONE in chips.kinds and DECODE_ALONE not in first.kinds
    assert any(text.startswith("at chips = ") for text in first.said)


@pytest.mark.slow
@pytest.mark.parametrize("price", [{}, {"mbu": "0.5..0.7"}])
def test_over_ranges_a_size_is_taken_that_will_do_all_over(price: dict[str, str]) -> None:
    """It was taken to be one chip, and the limit not met."""
    given = {"context_length": 4000, "batch": 64, "chip_price": "2 USD/h", "step_time": "<=30ms", **price}
    chips, cost = respond_all(("chips", "cost_per_token"), given, Switches(CHIP, MODEL, conventions=Conventions(efficiency="calibrated")))
    assert chips.spans and chips.answers[0].bound == "lower" and chips.spans.low < chips.spans.high
    assert cost.given["chips"] == chips.spans.high
    assert f"  at chips = {chips.spans.high:.0f}, the fewest that will do all over the ranges" in str(cost).splitlines()
    assert len(cost.assumptions) == len({*cost.assumptions})


USERS = {"model": "Llama-3.3-70B", "hardware": "H100-SXM:fp8", "tp": 8, "context_length": 2048, "users": 5000}
USUAL_TYPES, IN_FP8 = ((8 * 80e9 - 70_553_706_496) // (2 * size * 128 * 8 * 80 * 2048) for size in (2, 1))
"""Sequences that eight chips hold beside a byte a weight."""


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"tpot": "<=50ms"}], ids=str)
def test_a_batch_that_memory_fills_is_each_point_s_own_in_a_list_and_the_least_of_a_range(more):
    swept = solve("replicas", **USERS, bytes_per_element="1,2", **more).sweep
    assert swept.given["batch"].tolist() == [IN_FP8, USUAL_TYPES]
    assert swept.values[0].tolist() == pytest.approx([5000 / IN_FP8, 5000 / USUAL_TYPES])
    spanned = solve("replicas", **USERS, bytes_per_element="1..2", **more)
    assert (
        spanned.answers[0].ends == pytest.approx((5000 / USUAL_TYPES, 5000 / USUAL_TYPES))
        and f"batch = {USUAL_TYPES:.0f}, the largest" in spanned.said[0]
    )
    assert [solve("fleet_chips", **USERS, bytes_per_element=size, **more).answers[0].ends[0] for size in ("1", "2", "1..2")] == [24, 48, 48]


LATENTS = {"hardware": "8xH200:fp8", "model": "DeepSeek-V3", "context_length": "32Ki", "bytes_per_element": 2}


def test_replicas_of_the_largest_batch_rest_on_all_that_this_rests_on() -> None:
    """What is doubtful of the batch, how it came about and what it moves with: a user who gave no batch sees none of it else."""
    found, batch = solve("replicas", fleet_sequences_in_flight=600, **LATENTS), solve("batch", **LATENTS)
    assert (found.given["batch"], found.provenance["batch"]) == (232, "at batch = 232, the largest that memory holds")
    assert any("With kv_replication = 8, batch is 29" in text for text in found.warnings)
    assert {id.split("@")[0] for id in found.equations} >= {"memory.sequences_that_fit", "scheduling.fleet_sequences_in_flight"}
    slopes = found.answers[0].elasticities
    assert slopes["hbm_capacity"] == pytest.approx(-batch.answers[0].elasticities["hbm_capacity"]) and "batch" not in slopes
    assert slopes["fleet_sequences_in_flight"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("unknown", "more", "best"),
    [
        ("fleet_throughput", {"replicas": 4}, 36_380),
        ("cost_per_token", {"chip_price": "2.5 USD/h"}, 0.6108e-6),
    ],
)
def test_a_rate_or_a_cost_of_which_nobody_says_the_batch_is_that_of_a_full_memory(unknown: str, more: dict, best: float) -> None:
    """640e9 bytes less 70.55e9, over 8,000 tokens of 327,680: 217 sequences, read in (70.55e9 + 217 x 2.621e9) / 26.8e12 s."""
    found = solve(unknown, hardware="8xH100:fp8", model="Llama-3.3-70B", context_length=8000, bytes_per_element=2, **more)
    assert found.said[0] == "at batch = 217, the largest that memory holds"
    assert found.value == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("moved", ["bytes_per_weight", "step_time"])
def test_a_rate_at_the_largest_batch_moves_with_what_moves_that(moved: str) -> None:
    """By a hundredth, the batch free to move along: 171 sequences of a limit are 171.3 between whole ones."""
    given = {"context_length": 4096, "bytes_per_element": 2, "bytes_per_weight": 1, "hbm_bandwidth": 4.8e12, "chips": 8}
    found = solve("throughput", hardware="H200:fp8", model="Llama-3.1-405B", **given, step_time="<=20ms")
    slope = found.answers[0].elasticities[moved]
    batches = [
        (8 * values["hbm_bandwidth"] * values["step_time"] - 405853388800 * values["bytes_per_weight"])
        / (values["context_length"] * 2 * values["bytes_per_element"] * 1024 * 126)
        / values["step_time"]
        for values in ({**given, "step_time": 0.02}, {**given, "step_time": 0.02, moved: {**given, "step_time": 0.02}[moved] * 1.0001})
    ]
    assert slope == pytest.approx((batches[1] / batches[0] - 1) / 1e-4, abs=0.02)
