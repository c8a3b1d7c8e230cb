"""Ranges in, ranges out; lists and sweeps as tables: the arrays say what the questions asked one by one say."""

import json
from random import Random

import numpy as np
import pytest

from derive.errors import WrongValue
from derive.quantities import quantity
from derive.show.tables import text_of
from derive.show.text import answer_lines, rendered
from derive.solving import intervals, sweeps
from derive.solving.api import solve
from derive.solving.givens import Interval
from derive.solving.intervals import SAMPLES
from derive.solving.result import Answer, Solution
from tests.tools.random_questions import at_random
from tests.tools.together import in_one_test

DEPLOYED = {
    **{"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"chips": 16, "chip_price": "2 USD/h", "variants": {"weight_time": "sharded"}, "attention_time": 0, "attention_compute_ratio": 0},
}
STEP = {"compute_time": 0.02, "memory_time": 0.01}


def seconds(batch, context):
    """The step of the deployment by hand, all weights read and attention FLOPs left out."""
    return max(2 * batch * 37e9 / (16 * 1979e12), (671e9 + batch * context * 61 * 576) / (16 * 3.35e12))


# -- sweeps ---------------------------------------------------------------------------------------------------------


def test_a_list_gives_a_row_for_every_value():
    table = solve("step_time", **DEPLOYED, batch="1,8,64,512", context_length="4k").sweep
    rows = [(given["batch"], [one.value for one in answers], reason) for given, answers, reason in table.rows()]
    assert rows == [(batch, [pytest.approx(seconds(batch, 4000))], None) for batch in (1, 8, 64, 512)]


def test_several_series_give_every_combination_the_last_one_fastest():
    table = solve("step_time", **DEPLOYED, batch=[64, 512], context_length=[1000, 4000, 8000]).sweep
    given = [(row["batch"], row["context_length"]) for row, _, _ in table.rows()]
    assert given == [(batch, context) for batch in (64, 512) for context in (1000, 4000, 8000)]


def test_a_sweep_answers_with_what_all_of_it_spans():
    solution = solve("step_time", **DEPLOYED, batch="1..512:log", context_length="4k")
    (span,) = solution.answers
    assert (span.kind, span.low, span.high) == ("interval", pytest.approx(seconds(1, 4000)), pytest.approx(seconds(512, 4000)))
    assert "batch" not in solution.given and solution.equations[-1] == "roofline.step_time@2"


def test_points_of_a_sweep_say_why_they_have_no_answer():
    table = solve("step_time", **DEPLOYED, batch="100,2400,24000", context_length="4k").sweep
    reasons = [reason and reason.code for _, _, reason in table.rows()]
    assert reasons == [None, None, "does_not_fit"]
    table = solve("batch", **DEPLOYED, step_time="5ms,13ms", context_length="4k").sweep
    assert [reason and reason.code for _, _, reason in table.rows()] == ["no_solution", None]


def test_a_sweep_across_regimes_says_which_holds_where():
    table = solve("step_time", memory_time="5ms,10ms,20ms", compute_time="10ms").sweep
    assert [answers[0].regime for _, answers, _ in table.rows()] == [
        *["compute_time >= memory_time"] * 2,
        "memory_time >= compute_time",
    ]


def test_an_interval_in_a_sweep_is_a_row_too():
    table = solve("memory_time", step_time="10ms,20ms", compute_time="10ms").sweep
    (first,), (second,) = (answers for _, answers, _ in table.rows())
    assert (first.kind, first.high, second.kind, second.value) == ("interval", 0.01, "point", 0.02)


LONG = {
    "forwards": ("cost_per_token", {**DEPLOYED, "batch": "1..4000:log:300", "context_length": 2000}),
    "across the memory's end": ("step_time", {**DEPLOYED, "batch": "1..40000:log:200", "context_length": 2000}),
    "backwards through a block": ("batch", {**DEPLOYED, "step_time": "5ms..16ms:lin:150", "context_length": 2000}),
    "two roots": (
        "tradeoff_variable",
        {"falling_cost": 4, "rising_cost": 1, "falling_exponent": 1, "rising_exponent": 1, "tradeoff_cost": "1..9:lin:100"},
    ),
    "across regimes": ("step_time", {"compute_time": "10ms", "memory_time": "1ms..100ms:log:101"}),
    "a bound in part": ("memory_time", {"compute_time": "10ms", "step_time": "5ms..20ms:lin:100"}),
    "an unknown without a closed form": (
        "batch",
        {"balance_batch": 500, "batch": None, "touched_experts": "9..250:lin:70", "experts": 256, "active_experts": 8},
    ),
    "a default that is swept": ("balance_batch", {"machine_balance_ratio": 300, "sparsity": 8, "mfu": "0.1..1:lin:100"}),
}


@pytest.mark.parametrize(("unknown", "given"), LONG.values(), ids=LONG)
def test_arrays_say_what_questions_asked_one_by_one_say(unknown, given, monkeypatch):
    given = {name: known for name, known in given.items() if known is not None}
    arrays = solve(unknown, **given).sweep
    monkeypatch.setattr(sweeps, "FEW", 10_000)
    singly = solve(unknown, **given).sweep
    assert len(arrays) == len(singly) > 64
    for (at, ours, why), (same, theirs, because) in zip(arrays.rows(), singly.rows(), strict=True):
        assert at == same and [one.kind for one in ours] == [one.kind for one in theirs]
        for own, other in zip(ours, theirs, strict=True):
            numbers = [(own.value, other.value), (own.low, other.low), (own.high, other.high)]
            assert all(mine == pytest.approx(alike, rel=1e-9) for mine, alike in numbers if mine is not alike)
            assert own.regime == other.regime
        assert (why and why.code) == (because and because.code)


@pytest.mark.slow
def test_arrays_meet_a_contradiction_that_questions_meet():
    """Where a given contradicts part of a sweep, arrays alone would not see it."""
    given = {"machine_balance_ratio": 300, "sparsity": 8, "balance_batch": 2400, "batch": "1..1000:lin:200", "context_length": 1000}
    reasons = [reason for _, _, reason in solve("compute_utilisation", **given, balance_context=1e5, mfu=0.5, mbu=1).sweep.rows()]
    assert {reason.code for reason in reasons} == {"contradiction"}


def test_a_sweep_of_a_million_points_is_one_call():
    table = solve("cost_per_token", **DEPLOYED, batch="1..4000:log:1e6", context_length=2000).sweep
    assert len(table) == 1_000_000 and not np.isnan(table.values).any()
    at = 654_321
    batch = table.given["batch"][at]
    assert table.values[0, at] == pytest.approx(16 * 2 / 3600 * seconds(batch, 2000) / batch, rel=1e-12)


@pytest.mark.parametrize("given", [{"batch": "1..4000:lin:1e12"}, {"batch": "1..4000:lin:1e5", "context_length": "1..4000:lin:1e5"}])
def test_too_many_points_are_refused_with_the_limit(given):
    with pytest.raises(WrongValue, match="at most 10,000,000"):
        solve("step_time", **{**DEPLOYED, "context_length": 1000, **given})


def test_a_sweep_of_what_lacks_a_given_says_so_once():
    solution = solve("step_time", hardware="H100:fp8", batch="1..4000:log:1e6")
    assert solution.sweep is None and solution.reason.code == "missing_givens"


def test_too_many_points_that_have_to_be_asked_one_by_one_are_refused():
    given = {"experts": 256, "active_experts": 8, "active_params": 37e9, "total_params": 671e9, "bytes_per_weight": 1}
    given |= {"kv_bytes_per_token": 35136, "context_length": 4000, "chips": 16, "hbm_bandwidth": 3.35e12, "peak_flops": 2e15}
    with pytest.raises(WrongValue, match="point by point"):
        solve("batch", using="experts.weight_time_touched", **given, step_time="5ms..12ms:lin:20000")


# -- ranges ---------------------------------------------------------------------------------------------------------


def test_ends_are_exact_where_the_answer_only_rises_or_falls():
    solution = solve("step_time", **DEPLOYED, batch="100..2000", context_length="1k..8k")
    spans = solution.spans
    assert spans.method == "bounds" and spans.answered == 1
    assert (spans.low, spans.high) == (pytest.approx(seconds(100, 1000), rel=1e-12), pytest.approx(seconds(2000, 8000), rel=1e-12))
    (only,) = solution.answers
    assert (only.kind, only.low, only.high) == ("interval", spans.low, spans.high)
    assert spans.low < spans.quantiles["p05"] < spans.quantiles["p50"] < spans.quantiles["p95"] < spans.high


def test_a_falling_answer_has_its_ends_the_other_way_round():
    spans = solve("cost_per_token", **DEPLOYED, batch="100..1000", context_length=4000).spans
    cost = [16 * 2 / 3600 * seconds(batch, 4000) / batch for batch in (1000, 100)]
    assert (spans.low, spans.high) == (pytest.approx(cost[0], rel=1e-12), pytest.approx(cost[1], rel=1e-12))


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


def test_both_sides_of_a_regime_meet_where_the_terms_are_equal():
    spans = solve("cost_per_token", **DEPLOYED, batch="500..9000", context_length=300).spans
    sides = {regime: (low, high) for regime, low, high, _ in spans.sides}
    balance = 671e9 / (2 * 37e9 * 3.35e12 / 1979e12 - 300 * 61 * 576)
    meeting = 16 * 2 / 3600 * seconds(balance, 300) / balance
    assert sides["memory_time >= attention_time + compute_time"][0] == pytest.approx(meeting, rel=1e-9)
    assert sides["attention_time + compute_time >= memory_time"][1] == pytest.approx(meeting, rel=1e-9)


def test_ranges_run_backwards_too():
    spans = solve("batch", **DEPLOYED, step_time="13ms..15ms", context_length=4000).spans
    by_hand = [(time * 16 * 3.35e12 - 671e9) / (4000 * 61 * 576) for time in (0.013, 0.015)]
    assert spans.method == "bounds" and [spans.low, spans.high] == pytest.approx(by_hand, rel=1e-9)


def test_a_range_of_which_part_has_no_answer_says_how_much_and_why():
    solution = solve("batch", **DEPLOYED, step_time="11.52ms..13.52ms", context_length=4000)
    assert solution.spans.method == "sampled" and solution.spans.answered == pytest.approx(0.5, abs=0.05)
    assert any("no answer in" in text and "step_time is at least" in text for text in solution.warnings)


def test_a_range_without_any_answer_is_refused():
    solution = solve("batch", **DEPLOYED, step_time="1ms..2ms", context_length=4000)
    assert solution.answers == () and solution.reason.code == "no_solution"


def test_a_range_of_a_bound_is_a_bound():
    (only,) = solve("memory_time", step_time="10ms..20ms", compute_time="10ms..20ms").answers
    assert only.kind == "interval" and only.low == 0


def test_ranges_in_a_sweep_give_a_span_for_every_point():
    table = solve("batch", **DEPLOYED, step_time="13ms..15ms", context_length="2k,4k").sweep
    for given, (one,), _ in table.rows():
        ends = [(time * 16 * 3.35e12 - 671e9) / (given["context_length"] * 61 * 576) for time in (0.013, 0.015)]
        assert (one.kind, one.low, one.high) == ("interval", pytest.approx(ends[0]), pytest.approx(ends[1]))


def test_the_same_ranges_give_the_same_numbers():
    first, second = (solve("step_time", **DEPLOYED, batch="100..2000", context_length="1k..8k").spans for _ in range(2))
    assert first == second


def test_a_range_of_nothing_that_is_needed_does_nothing():
    solution = solve("step_time", **STEP, batch="1..8")
    assert solution.answers[0].low == solution.answers[0].high == 0.02
    assert solution.unused == ("batch",)


def test_counting_multiply_adds_reaches_ranges_and_sweeps():
    given = {"batch": 64, "active_params": 37e9}
    flop, mac = (solve("compute_time", **given, peak_flops="1e15..2e15", count=count).spans for count in ("flop", "mac"))
    assert (mac.low, mac.high) == (pytest.approx(flop.low / 2), pytest.approx(flop.high / 2))
    flop, mac = (solve("compute_time", **given, peak_flops="1e15,2e15", count=count).sweep for count in ("flop", "mac"))
    assert mac.values == pytest.approx(flop.values / 2)


# -- what is shown --------------------------------------------------------------------------------------------------


def test_a_table_is_aligned_and_says_where_or_why():
    text = rendered(solve("step_time", **DEPLOYED, batch="64,2400,24000", context_length="4k"), "table")
    header, first, second, third, *_ = text.splitlines()
    assert header.split() == ["batch", "step_time", "(or", "more)", "where"]
    assert first.index("12.69 ms") + len("12.69 ms") == header.index("(or more)") + len("(or more)")
    assert "memory_time >= attention_time + compute_time" in second and third.split()[:3] == ["24k", "-", "does"]


def test_a_range_reads_from_its_ends_to_what_matters_most():
    lines = rendered(solve("step_time", **DEPLOYED, batch="100..2000", context_length="1k..8k"), "table").splitlines()
    assert lines[0].startswith("step_time: between 12.58 ms and 23.01 ms or more   (ends exact: with each range it only rises or only")
    assert lines[3].startswith("matters most  batch 100 to 2000: step_time 12.81 ms to 18.42 ms")
    assert "at the middle of the ranges:" in lines


@in_one_test("style", ["csv", "markdown", "latex", "json"])
def test_every_form_holds_every_point(style):
    text = rendered(solve("step_time", **DEPLOYED, batch="64;512", context_length="4k"), style)
    found = {"csv": ["64.0,step_time", "512.0,step_time"], "json": ['"batch": 64.0', '"batch": 512.0']}
    assert all(part in text for part in found.get(style, ["64", "512", "12.69 ms"]))


# -- ranges of which parts, or all, have no answer ------------------------------------------------------------------

IDLE = "readings.bandwidth_bound_fraction"
FIT = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 16, "bytes_per_element": 1, "context_length": "4k"}
FIT |= {"variants": {"weight_time": "sharded"}, "attention_time": 0, "attention_compute_ratio": 0}
PARTLY = {
    "does not fit from the middle on": ("step_time", {**FIT, "batch": "1k..30k"}, "does not fit"),
    "does not fit at the end": ("step_time", {**FIT, "batch": "1k..5k"}, "does not fit"),
    "fits in few": ("step_time", {**FIT, "batch": "4300..5000"}, "does not fit"),
    "no solution at first": ("batch", {**FIT, "step_time": "5ms..14ms"}, "no batch"),
    "a requirement is broken at first": ("bandwidth_bound_fraction", {"using": IDLE, "output_input_ratio": "0.5..5"}, "requires"),
    "a term that binds": ("memory_time", {"step_time": "10ms..20ms", "compute_time": "15.1ms"}, "no memory_time"),
}


@in_one_test(("unknown", "given", "why"), PARTLY.values(), ids=PARTLY)
@in_one_test("style", ["table", "json", "csv", "markdown", "latex"])
def test_a_range_is_answered_where_it_has_answers_and_says_where_it_has_none(unknown, given, why, style):
    solution = solve(unknown, **given)
    assert solution.answers and rendered(solution, style)
    assert any("no answer in " in text and " % of the ranges; at " in text and why in text for text in solution.warnings)


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
@in_one_test("style", ["json", "csv", "markdown", "latex"])
def test_a_range_without_any_answer_has_a_reason(code, unknown, given, style):
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.reason.code == code and rendered(solution, style)
    assert code == "missing_givens" or solution.reason.message.startswith("no answer at any of ")


def test_the_least_that_fits_ends_a_range_that_does_not_fit_from_there_on():
    solution = solve("step_time", **FIT, batch="1k..30k")
    most = (16 * 80e9 - 671e9) / (4000 * 61 * 576)
    assert solution.spans.high == pytest.approx(seconds(most, 4000), rel=1e-4)
    assert solution.spans.answered == pytest.approx((most - 1000) / 29000, abs=0.03)
    assert solution.spans.shown == {"batch": 1000} and "as the middle of the ranges has no answer" in rendered(solution, "table")


def test_shares_of_nearly_all_are_said_in_words():
    text = "; ".join(solve("step_time", **FIT, batch="4322..90M").warnings)
    assert "more than 99.9 % of the ranges" in text
    spans = solve("step_time", **FIT, batch="4322..90M").spans
    assert spans.answered == 0 and set(spans.quantiles.values()) == {None}
    assert rendered(solve("step_time", **FIT, batch="4322..90M"), "table").startswith("step_time: between 23.85 ms and 23.8")


def test_a_range_that_numbers_answer_is_answered():
    """A root that lost digits by cancellation, which arrays once dropped: the range was nan."""
    given = {"write_charge": 0.00255e-6, "storage_price": 4.3e-8, "ttl": 1566488, "using": ["cache.write_charge"]}
    spans = solve("input_price", **given, cache_write_premium="4.4..5.9").spans
    ends = [solve("input_price", **given, cache_write_premium=end).answers[0].value for end in (5.9, 4.4)]
    assert (spans.method, spans.answered) == ("bounds", 1) and [spans.low, spans.high] == pytest.approx(ends, rel=1e-9)


# -- bounds over ranges ---------------------------------------------------------------------------------------------

POD = {"model": "Llama-3-70B", "hardware": "TPU-v5e:int8", "bytes_per_element": 1}


def chips_for(context, sequences):
    return (70e9 + sequences * context * 2 * 80 * 8 * 128) / 2**34


def test_of_a_lower_bound_the_one_that_is_enough_everywhere_comes_first():
    solution = solve("chips", **POD, context_length="8k..32768", batch=240)
    (only,) = solution.answers
    ends = chips_for(8000, 240), chips_for(32768, 240)
    assert (only.low, only.high, only.loose_low, only.loose_high) == (pytest.approx(ends[1]), None, pytest.approx(ends[0]), None)
    assert rendered(solution, "table").startswith("chips: at least 79.07 is enough everywhere (22.39 to 79.07 over the ranges)\n")
    assert "context_length" not in solution.given
    assert any(text.startswith("context_length from 8000 tokens to 32.77k tokens: looked at in ") for text in solution.assumptions)


def test_of_an_upper_bound_the_one_that_is_safe_everywhere_comes_first():
    solution = solve("sequences_in_flight", **POD, context_length="8k..32k", chips="32..64", total_params="60B..70B")
    (only,) = solution.answers
    room = [(chips * 2**34 - weights) / (context * 163840) for chips, weights, context in ((32, 70e9, 32000), (64, 60e9, 8000))]
    assert (only.low, only.loose_low) == (0, 0) and [only.high, only.loose_high] == pytest.approx(room, rel=1e-12)
    assert " is safe everywhere (" in rendered(solution, "table")


def test_bounds_that_have_no_value_in_common_say_so():
    row = {"compute_utilisation": 1, "balance_batch": "1e3..1e6", "balance_context": 1e5}
    solution = solve("batch", **row, context_length=1e4)
    (only,) = solution.answers
    assert only.kind == "interval" and only.low == pytest.approx(1e6 / 0.9) and only.loose_low == pytest.approx(1e3 / 0.9)
    both = _of_bounds([(1.0, 2.0), (3.0, 4.0)])
    assert (both.kind, both.low, both.high, both.loose_low, both.loose_high) == ("loose", None, None, 1.0, 4.0)
    assert answer_lines("batch", both)[0] == "batch: no value holds over all of the ranges; between 1 and 4 somewhere in them"
    assert text_of("batch", both) == "1 to 4, none of it everywhere"
    touching = _of_bounds([(1.0, 3.0), (2.0, None)])
    assert (touching.kind, touching.low, touching.high, touching.loose_high) == ("interval", 2.0, 3.0, None)


def _of_bounds(ends):
    """What bounds at several points of a range come to."""
    found = [Solution("batch", "1", (Answer("interval", low=low, high=high),)) for low, high in ends]
    looks = [intervals._Look(at, solution, None) for at, solution in enumerate(found)]
    columns = {"chips": np.arange(float(len(ends)))}
    (only,) = intervals._of_looks({"chips": Interval(0.0, 1.0)}, columns, looks, slice(0, len(ends))).answers
    return only


# -- anything at all ------------------------------------------------------------------------------------------------


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
    solution = solve(unknown, **{**given, **ranges})
    assert bool(solution.answers) != bool(solution.reason), (unknown, given, ranges)
    for style in ("table", "json", "csv", "markdown", "latex"):
        text = rendered(solution, style)
        assert "nan" not in text.split() and "inf" not in text.split(), (unknown, given, ranges, style)
    json.loads(rendered(solution, "json"), parse_constant=pytest.fail)
    unanswered = solution.reason or any("no answer" in text for text in solution.warnings)
    for point in points:
        at = solve(unknown, **{**given, **point})
        assert at.answers or unanswered, (unknown, given, ranges, point)
        if solution.answers:
            assert all(is_inside(solution, one) for one in at.answers), (unknown, given, ranges, point, at.answers, solution.answers)


@pytest.mark.slow
def test_any_range_spans_its_points_or_says_that_some_have_no_answer():
    random = Random(20261122)
    for _ in range(25):
        hold_a_range_to_its_points(random)
