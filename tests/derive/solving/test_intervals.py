"""Ranges in, ranges out: what an answer spans, what of it is exact, and where there is none."""

import json
from random import Random

import numpy as np
import pytest

from derive.answers import Interval
from derive.errors import WrongValue
from derive.quantities import quantity
from derive.show.text import render
from derive.show.words import answer_line, text_of
from derive.solving.api import solve
from derive.solving.many import intervals
from derive.solving.many.intervals import SAMPLES
from derive.solving.result import Answer, Solution
from tests.tools.asked import seconds
from tests.tools.random_questions import at_random
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

DEPLOYED = {
    **{"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"chips": 16, "chip_price": "2 USD/h", "variants": {"weight_time": "sharded"}, "attention_time": 0, "attention_compute_ratio": 0},
}


def test_range_is_exact_if_undetermined_quantities_cancel():
    """Without attention, each prompt token costs the same in every prompt."""
    solution = solve("prefill_cost_per_token", active_params=70e9, peak_flops=989e12, chip_price="2 USD/h", mfu="0.3..0.5")
    spans, dearest = solution.spans, 2 * 70e9 / (0.3 * 989e12) * 2 / 3600
    assert (spans.method, spans.low, spans.high) == ("bounds", pytest.approx(0.6 * dearest), pytest.approx(dearest))


def test_ends_are_exact_where_the_answer_only_rises_or_falls():
    solution = solve("step_time", **DEPLOYED, batch="100..2000", context_length="1k..8k")
    spans = solution.spans
    assert spans.method == "bounds" and spans.answered == 1
    assert (spans.low, spans.high) == (pytest.approx(seconds(100, 1000), rel=1e-12), pytest.approx(seconds(2000, 8000), rel=1e-12))
    (only,) = solution.answers
    assert (only.kind, only.low, only.high) == ("interval", spans.low, spans.high)
    assert spans.low < spans.quantiles["p05"] < spans.quantiles["p50"] < spans.quantiles["p95"] < spans.high


def test_an_answer_that_turns_back_is_sampled_and_says_so():
    given = {"falling_cost": 4, "rising_cost": 1, "falling_exponent": 1, "rising_exponent": 1}
    spans = solve("tradeoff_cost", **given, tradeoff_variable="1..8").spans
    assert spans.method == "sampled"
    assert spans.low == pytest.approx(4, rel=1e-3) and spans.high == pytest.approx(8.5, rel=1e-12), "4/x + x: least at 2, most at the end"
    assert (spans.samples, spans.seed) == (SAMPLES, 20261121)


def test_what_matters_most_comes_first():
    spans = solve("step_time", **DEPLOYED, batch="500..600", context_length="1k..8k", mfu="0.4±0.1").spans
    assert [name for name, _, _ in spans.tornado] == ["context_length", "batch", "mfu"]
    _, low, high = spans.tornado[0]
    assert (low, high) == (pytest.approx(seconds(550, 1000)), pytest.approx(seconds(550, 8000)))
    assert spans.tornado[-1][1] == spans.tornado[-1][2], "compute does not bind, so its utilisation does nothing"


def test_a_range_across_a_regime_shows_both_sides_and_where_they_meet():
    spans = solve("step_time", compute_time="10ms", memory_time="2ms..50ms").spans
    sides = {regime: (low, high) for regime, low, high, _ in spans.sides}
    assert sides == {
        "memory_time >= compute_time": (pytest.approx(0.01), pytest.approx(0.05)),
        "compute_time >= memory_time": (pytest.approx(0.01), pytest.approx(0.01)),
    }
    assert sum(share for *_, share in spans.sides) == pytest.approx(1)
    assert spans.method == "bounds" and (spans.low, spans.high) == (0.01, 0.05)


def test_a_range_without_any_answer_is_refused():
    solution = solve("batch", **DEPLOYED, step_time="1ms..2ms", context_length=4000)
    assert solution.answers == () and solution.reason.code == "no_solution"


def test_ranges_in_a_sweep_give_a_span_for_every_point():
    table = solve("batch", **DEPLOYED, step_time="13ms..15ms", context_length="2k,4k").sweep
    for given, (one,), _ in table.rows():
        ends = [(time * 16 * 3.35e12 - 671e9) / (given["context_length"] * 61 * 576) for time in (0.013, 0.015)]
        assert (one.kind, one.low, one.high) == ("interval", pytest.approx(ends[0]), pytest.approx(ends[1]))


# -- ranges of which parts, or all, have no answer ------------------------------------------------------------------

IDLE = "readings.bandwidth_bound_fraction"
FIT = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 16, "bytes_per_element": 1, "context_length": "4k"}
FIT |= {"variants": {"weight_time": "sharded"}, "attention_time": 0, "attention_compute_ratio": 0}
PARTLY = {
    "does not fit from the middle on": ("step_time", {**FIT, "batch": "1k..30k"}, "does not fit"),
    "fits in few": ("step_time", {**FIT, "batch": "4300..5000"}, "does not fit"),
    "no solution at first": ("batch", {**FIT, "step_time": "5ms..14ms"}, "no batch"),
    "a requirement is broken at first": ("bandwidth_bound_fraction", {"using": IDLE, "output_input_ratio": "0.5..5"}, "requires"),
}


@in_one_test(("unknown", "given", "why"), PARTLY.values(), ids=PARTLY)
def test_a_range_is_answered_where_it_has_answers_and_says_where_it_has_none(unknown, given, why):
    solution = solve(unknown, **given)
    assert solution.answers and all(render(solution, style) for style in ("table", "json", "csv", "markdown", "latex"))
    assert any("no answer in " in text and " % of the ranges" in text and why in text for text in solution.warnings)


NOWHERE = {
    "does_not_fit": ("step_time", {**FIT, "batch": "20k..24k"}),
    "contradiction": (
        "overtraining_ratio",
        {"pretrain_tokens": "1e10..2e10", "chinchilla_tokens": 1e9, "active_params": 1e11, "pretrain_flops": 1e20},
    ),
    "requirement_violated": ("bandwidth_bound_fraction", {"using": IDLE, "output_input_ratio": "0.2..0.9"}),
    "no_solution": ("memory_time", {"step_time": "10ms..20ms", "compute_time": "30ms"}),
    "missing_givens": ("balance_batch", {"machine_balance_ratio": "200..300"}),
}


@pytest.mark.slow
@in_one_test(("code", "unknown", "given"), [(code, *asked) for code, asked in NOWHERE.items()], ids=NOWHERE)
def test_a_range_without_any_answer_has_a_reason(code, unknown, given):
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.reason.code == code
    assert all(render(solution, style) for style in ("json", "csv", "markdown", "latex"))
    assert code == "missing_givens" or solution.reason.message.startswith("no answer at any of ")


def test_the_least_that_fits_ends_a_range_that_does_not_fit_from_there_on():
    solution = solve("step_time", **FIT, batch="1k..30k")
    most = (16 * 80e9 - 671e9) / (4000 * 61 * 576)
    assert solution.spans.high == pytest.approx(seconds(most, 4000), rel=1e-4)
    assert solution.spans.answered == pytest.approx((most - 1000) / 29000, abs=0.03)
    assert solution.spans.shown == {"batch": 1000} and "as the middle of the ranges has no answer" in render(solution, "table")


def test_a_range_that_numbers_answer_is_answered():
    """A root that lost digits by cancellation, which arrays once dropped: the range was nan."""
    given = {"write_charge": 0.00255e-6, "storage_price": 4.3e-8, "ttl": 1566488, "using": ["cache.write_charge"]}
    spans = solve("input_price", **given, cache_write_premium="4.4..5.9").spans
    ends = [solve("input_price", **given, cache_write_premium=end).answers[0].value for end in (5.9, 4.4)]
    assert (spans.method, spans.answered) == ("bounds", 1) and [spans.low, spans.high] == pytest.approx(ends, rel=1e-9)


# -- bounds over ranges ---------------------------------------------------------------------------------------------

POD = {"model": "Llama-3-70B", "hardware": "TPU-v5e:int8", "bytes_per_element": 1}


def chips_for(context, sequences):
    return (70_553_706_496 + sequences * context * 2 * 80 * 8 * 128) / 2**34


def test_of_a_lower_bound_the_one_that_is_enough_everywhere_comes_first():
    solution = solve("chips", **POD, context_length="8k..32768", batch=240)
    (only,) = solution.answers
    ends = chips_for(8000, 240), chips_for(32768, 240)
    assert (only.low, only.high, only.loose_low, only.loose_high) == (pytest.approx(ends[1]), None, pytest.approx(ends[0]), None)
    assert render(solution, "table").startswith("chips: at least 79.11 is enough everywhere (22.42 to 79.11 over the ranges)\n")
    assert "context_length" not in solution.given
    assert any(text.startswith("context_length from 8000 tokens to 32768 tokens: computed at ") for text in solution.assumptions)


@pytest.mark.slow
def test_of_an_upper_bound_the_one_that_is_safe_everywhere_comes_first():
    solution = solve("sequences_in_flight", **POD, context_length="8k..32k", chips=32, total_params="60B..70B", active_params="60B")
    (only,) = solution.answers
    room = [(32 * 2**34 - weights) / (context * 163840) for weights, context in ((70e9, 32000), (60e9, 8000))]
    assert (only.low, only.loose_low) == (0, 0) and [only.high, only.loose_high] == pytest.approx(room, rel=1e-12)
    assert " is safe everywhere (" in render(solution, "table")


def test_bounds_that_have_no_value_in_common_say_so():
    row = {"compute_utilisation": 1, "balance_batch": "1e3..1e6", "balance_context": 1e5}
    solution = solve("batch", **row, context_length=1e4)
    (only,) = solution.answers
    assert only.kind == "interval" and only.low == pytest.approx(1e6 / 0.9) and only.loose_low == pytest.approx(1e3 / 0.9)
    both = _of_bounds([(1.0, 2.0), (3.0, 4.0)])
    assert (both.kind, both.low, both.high, both.loose_low, both.loose_high) == ("loose", None, None, 1.0, 4.0)
    assert answer_line("batch", both) == "batch: no value holds over all of the ranges; between 1 and 4 somewhere in them"
    assert text_of("batch", both) == "1 to 4, but not everywhere"
    touching = _of_bounds([(1.0, 3.0), (2.0, None)])
    assert (touching.kind, touching.low, touching.high, touching.loose_high) == ("interval", 2.0, 3.0, None)


def _of_bounds(ends):
    """What bounds at several points of a range come to."""
    found = [Solution(unknown="batch", unit="1", answers=(Answer(kind="interval", low=low, high=high),)) for low, high in ends]
    looks = dict(enumerate(found))
    columns = {"chips": np.arange(float(len(ends)))}
    (only,) = intervals._join_bounds({"chips": Interval(0.0, 1.0)}, columns, looks, [*looks]).answers
    return only


def in_ranges(random):
    """A question of which one to three givens are ranges, and a given at random inside each."""
    while True:
        unknown, given = at_random(random)
        numbers = [name for name, value in given.items() if isinstance(value, float)]
        if numbers:
            break
    spans = {}
    for name in random.sample(numbers, min(len(numbers), random.randint(1, 3))):
        row, middle = quantity(name), given[name]
        spans[name] = middle, min(middle * (1 + random.choice([0.01, 0.5, 5])), row.ceiling)
    spans = {name: (low, high) for name, (low, high) in spans.items() if low < high}
    ranges = {name: f"{low!r}..{high!r}" for name, (low, high) in spans.items()}
    return unknown, given, ranges, [{name: random.uniform(*ends) for name, ends in spans.items()} for _ in range(3)]


def is_inside(solution, one):
    """Whether an answer at a point is within what is said of the ranges."""
    slack = 1e-6 if solution.spans and solution.spans.method == "bounds" else 0.05
    lows, highs = zip(*(answer.ends for answer in solution.answers), strict=True)
    least, most = one.ends
    above = None in highs or (most is not None and most <= max(highs) * (1 + slack))
    return min(lows) * (1 - slack) <= least and above


def hold_a_range_to_its_points(random):
    unknown, given, ranges, points = in_ranges(random)
    try:
        solution = solve(unknown, **{**given, **ranges})
    except WrongValue as refused:
        assert "no more than" in str(refused), "more of a part than of its whole was drawn"
        return
    assert bool(solution.answers) != bool(solution.reason), (unknown, given, ranges)
    for style in ("table", "json", "csv", "markdown", "latex"):
        text = render(solution, style)
        assert "nan" not in text.split() and "inf" not in text.split(), (unknown, given, ranges, style)
    json.loads(render(solution, "json"), parse_constant=pytest.fail)
    unanswered = solution.reason or any("no answer" in text for text in solution.warnings)
    for point in points:
        at = solve(unknown, **{**given, **point})
        assert at.answers or unanswered, (unknown, given, ranges, point)
        if solution.answers:
            assert all(is_inside(solution, one) for one in at.answers), (unknown, given, ranges, point, at.answers, solution.answers)


@pytest.mark.slow
def test_any_range_spans_its_points_or_says_that_some_have_no_answer():
    random = Random(20261122)
    for _ in some(range(25), every=4):
        hold_a_range_to_its_points(random)


def test_a_range_beside_a_limit_that_any_value_meets_is_of_memory():
    spans = solve("batch", model="Llama-3.1-8B", hardware="1xH100:bf16", context_length="3000..4000", step_time="<=200ms").spans
    room = 80e9 - 2 * 8_030_261_248
    assert (spans.low, spans.high) == (room // (4000 * 131_072), room // (3000 * 131_072))
