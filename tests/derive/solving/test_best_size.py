"""Several unknowns under limits: the size that the limits bound comes first, the others are answered at its best end."""

import pytest

from derive.answers import DECODE_ALONE
from derive.solving.api import respond_all, solve
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


def test_a_rate_at_a_batch_that_no_limit_leaves_says_why() -> None:
    refused = solve("throughput", hardware=CHIP, model=MODEL, step_time="<=1ms", given=DEPLOYED)
    assert not refused.answers and refused.refusal.code == "no_solution"
    assert refused.why_not.startswith("throughput at the best batch that the limits allow: ") and "2.633 ms" in refused.why_not


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
    assert "it is 2 or more" in solve("chips", hardware=CHIP, model=MODEL, given={**sized, "chips": "<=1"}).why_not


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
def test_over_ranges_each_point_has_a_size_of_its_own(price: dict[str, str]) -> None:
    """It was taken to be one chip, and the limit not met."""
    given = {"context_length": 4000, "batch": 64, "chip_price": "2 USD/h", "step_time": "<=30ms", **price}
    asked = ("chips", "cost_per_token")
    over = respond_all(asked, given, Switches(CHIP, MODEL, conventions=Conventions(efficiency="calibrated")))
    assert over[0].spans and over[0].answers[0].bound == "lower" and over[0].spans.low < over[0].spans.high
    for end in (False, True):
        point = {name: pair[end] for name, pair in over[0].spans.ranges.items()}
        for alone, one in zip(respond_all(asked, {**given, **point}, Switches(CHIP, MODEL)), over, strict=True):
            assert one.spans and one.spans.low <= alone.value <= one.spans.high
    assert all(len(one.assumptions) == len({*one.assumptions}) for one in over)


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
