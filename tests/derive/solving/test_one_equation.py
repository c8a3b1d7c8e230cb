"""One equation, any unknown: made-up equations of every awkward shape, and elasticities of the whole catalogue."""

from math import e

import numpy as np
import pytest
import sympy

from derive.catalogue import ROOF_IDS, by_id, equation
from derive.catalogue.arithmetic import maximum, minimum
from derive.quantities import quantity
from derive.records import Equation, Requirement, Source
from derive.solving.engine.one_equation import residual, solve_equation
from derive.solving.many.arrays import clip_to_domain, points
from derive.trees import EXPONENTIAL, Written
from tests.tools.draws import assignments
from tests.tools.together import in_one_test

SOURCE = Source(kind="web", title="Made up", author="The tests", url="https://example.org", said="nothing", page="1")


def made_up(relation, **more) -> Equation:
    return Equation(id="test.solving", title="Made up", relation=relation, statement="Made up.", sources=(SOURCE,), **more)


def exponential(x):
    """The exponential of a number, an expression of SymPy, or what is written."""
    return Written((EXPONENTIAL, x.tree)) if isinstance(x, Written) else sympy.exp(x)


V = made_up(lambda step_time, batch, compute_time, memory_time: (step_time, maximum(compute_time / batch, memory_time * batch)))
CAPPED = made_up(lambda step_time, batch, chips: (step_time, minimum(batch, chips)))
FLOORED = made_up(lambda step_time, batch, chips: (step_time, maximum(batch, chips)))
NESTED = made_up(
    lambda step_time, batch, compute_time, memory_time: (step_time, maximum(compute_time * batch, minimum(memory_time, batch)))
)
BATHTUB = made_up(lambda step_time, batch, chips: (step_time, maximum(chips, 10 - batch, batch - 10)))
TWO_MAXIMA = made_up(lambda step_time, batch, chips: (step_time, maximum(batch, chips) + maximum(10 - batch, chips)))
SADDLE = made_up(lambda step_time, batch, chips: (step_time, batch + chips / batch))
QUOTIENT = made_up(
    lambda premium_out, covered_context, balance_context, long_context_threshold: (
        premium_out,
        maximum(1, covered_context / balance_context) / maximum(1, long_context_threshold / balance_context),
    )
)
PARTLY_HIDDEN = made_up(
    lambda step_time, compute_time, memory_time, overlap: (
        step_time,
        maximum(compute_time, memory_time) + (1 - overlap) * minimum(compute_time, memory_time),
    )
)
HUMP = made_up(lambda step_time, batch, compute_time: (step_time, compute_time * batch * exponential(-batch / 100)))
HUMP_OR_FLAT = made_up(
    lambda step_time, batch, compute_time: (step_time, maximum(compute_time * batch * exponential(-batch / 100), 10 * compute_time))
)
CUBIC = made_up(lambda step_time, batch: (step_time, batch**3 - 6 * batch**2 + 11 * batch - 5))
QUINTIC = made_up(lambda step_time, batch, chips: (step_time, batch**5 - batch * chips))
POLE = made_up(lambda throughput, batch, chips: (throughput, batch**3 / (chips - batch) + batch))
SQUARE = made_up(lambda step_time, batch, overlap: (step_time, batch + overlap * batch**2))
WAVE = made_up(lambda step_time, batch: (step_time, (batch - 2) * (batch - 3) * exponential(batch) + 5))

NO_DRAFTS = {"overhead_time": 0, "drafting_time": 0, "tokens_verified_per_step": 1}
PLAIN_STEP = {**NO_DRAFTS, "attention_time": 0}
"""A step of the arithmetic with the weights and the reads alone."""

NO_HOPS = {"step_time": 1, "hop_latency": 0}
"""Stages that wait for microbatches alone."""

# Lambert's W, by hand: x exp(-x/100) = 30 on both sides of the hump at 100.
HUMP_AT_30 = (48.94022271802151, 178.13370234216276)

CASES = {
    # name: equation, unknown, givens, the points and (low, high) intervals to be found
    "V, two points": (V, "batch", {"step_time": 6, "compute_time": 2, "memory_time": 3}, [1 / 3, 2.0]),
    "V, below the tip": (V, "batch", {"step_time": 1, "compute_time": 2, "memory_time": 3}, []),
    "V, at the tip both arms say the same": (V, "batch", {"step_time": 2, "compute_time": 2, "memory_time": 2}, [1.0]),
    "V, an arm that does not bind": (V, "compute_time", {"step_time": 6, "batch": 2, "memory_time": 3}, [(0, 12)]),
    "V, an arm that binds": (V, "compute_time", {"step_time": 8, "batch": 2, "memory_time": 3}, [16.0]),
    "capped, under the cap": (CAPPED, "batch", {"step_time": 3, "chips": 8}, [3.0]),
    "capped, at the cap": (CAPPED, "batch", {"step_time": 8, "chips": 8}, [(8, None)]),
    "capped, over the cap": (CAPPED, "batch", {"step_time": 9, "chips": 8}, []),
    "floored, on the floor": (FLOORED, "batch", {"step_time": 8, "chips": 8}, [(0, 8)]),
    "floored, over the floor": (FLOORED, "batch", {"step_time": 9, "chips": 8}, [9.0]),
    "floored, under the floor": (FLOORED, "batch", {"step_time": 7, "chips": 8}, []),
    "capped, over the cap by a millionth": (CAPPED, "batch", {"step_time": 8.000008, "chips": 8}, []),
    "floored, over the floor by a millionth": (FLOORED, "batch", {"step_time": 8.000008, "chips": 8}, [8.000008]),
    "floored, under the floor by a millionth": (FLOORED, "batch", {"step_time": 7.999992, "chips": 8}, []),
    "nested, on the slope": (NESTED, "batch", {"step_time": 0.5, "compute_time": 0.1, "memory_time": 1}, [0.5]),
    "nested, on the terrace": (NESTED, "batch", {"step_time": 1, "compute_time": 0.1, "memory_time": 1}, [(1, 10)]),
    "nested, beyond it": (NESTED, "batch", {"step_time": 3, "compute_time": 0.1, "memory_time": 1}, [30.0]),
    "nested, no terrace": (NESTED, "memory_time", {"step_time": 8, "compute_time": 2, "batch": 4}, [(0, None)]),
    "bathtub, the floor": (BATHTUB, "batch", {"step_time": 4, "chips": 4}, [(6, 14)]),
    "bathtub, the sides": (BATHTUB, "batch", {"step_time": 5, "chips": 4}, [5.0, 15.0]),
    "bathtub, one side is out of the domain": (BATHTUB, "batch", {"step_time": 12, "chips": 4}, [22.0]),
    "bathtub, no floor": (BATHTUB, "chips", {"step_time": 5, "batch": 15}, [(0, 5)]),
    "two maxima, the valley": (TWO_MAXIMA, "batch", {"step_time": 10, "chips": 3}, [(3, 7)]),
    "two maxima, the terrace": (TWO_MAXIMA, "batch", {"step_time": 12, "chips": 6}, [(4, 6)]),
    "two maxima, the slopes": (TWO_MAXIMA, "batch", {"step_time": 11, "chips": 3}, [2.0, 8.0]),
    "saddle, two points": (SADDLE, "batch", {"step_time": 5, "chips": 4}, [1.0, 4.0]),
    "saddle, the double root": (SADDLE, "batch", {"step_time": 4, "chips": 4}, [2.0]),
    "saddle, below": (SADDLE, "batch", {"step_time": 3, "chips": 4}, []),
    "quotient, both bind: the unknown cancels": (
        QUOTIENT,
        "balance_context",
        {"premium_out": 3, "covered_context": 9e5, "long_context_threshold": 3e5},
        [(0, 3e5)],
    ),
    "quotient, one binds": (
        QUOTIENT,
        "balance_context",
        {"premium_out": 1.5, "covered_context": 9e5, "long_context_threshold": 3e5},
        [6e5],
    ),
    "quotient, neither binds": (
        QUOTIENT,
        "balance_context",
        {"premium_out": 1, "covered_context": 9e5, "long_context_threshold": 3e5},
        [(9e5, None)],
    ),
    "quotient, out of reach": (
        QUOTIENT,
        "balance_context",
        {"premium_out": 4, "covered_context": 9e5, "long_context_threshold": 3e5},
        [],
    ),
    "overlap 0 is the sum": (PARTLY_HIDDEN, "memory_time", {"step_time": 5, "compute_time": 3, "overlap": 0}, [2.0]),
    "overlap 1 is the largest": (PARTLY_HIDDEN, "memory_time", {"step_time": 5, "compute_time": 3, "overlap": 1}, [5.0]),
    "overlap between": (PARTLY_HIDDEN, "memory_time", {"step_time": 4, "compute_time": 3, "overlap": 0.5}, [2.0]),
    "overlap found, 0": (PARTLY_HIDDEN, "overlap", {"step_time": 5, "compute_time": 3, "memory_time": 2}, [0.0]),
    "overlap found, 1": (PARTLY_HIDDEN, "overlap", {"step_time": 3, "compute_time": 3, "memory_time": 2}, [1.0]),
    "overlap found, more than all": (PARTLY_HIDDEN, "overlap", {"step_time": 2.9, "compute_time": 3, "memory_time": 2}, []),
    "transcendental, both sides of the hump": (HUMP, "batch", {"step_time": 30, "compute_time": 1}, list(HUMP_AT_30)),
    "transcendental, above the hump": (HUMP, "batch", {"step_time": 40, "compute_time": 1}, []),
    "transcendental, by the other quantity": (HUMP, "compute_time", {"step_time": 30, "batch": 100}, [0.3 * e]),
    "transcendental, in one regime of two": (HUMP_OR_FLAT, "batch", {"step_time": 30, "compute_time": 1}, list(HUMP_AT_30)),
    "transcendental, two roots and a factor": (WAVE, "batch", {"step_time": 5}, [2.0, 3.0]),
}

HARDER = {
    # coefficients that vanish with the numbers, roots without closed form, few digits left
    "hidden memory time at overlap 1 has only an upper end": (
        PARTLY_HIDDEN,
        "memory_time",
        {"step_time": 3, "compute_time": 3, "overlap": 1},
        [(0, 3)],
    ),
    "hidden compute time at overlap 1 has only an upper end": (
        PARTLY_HIDDEN,
        "compute_time",
        {"step_time": 3, "memory_time": 3, "overlap": 1},
        [(0, 3)],
    ),
    "a factor of nothing leaves the unknown free": (
        equation("bands.prefill_cost"),
        "context_length",
        {"prefill_cost_ratio": 1, "prompt_position": 0.5, "attention_flops_per_pair": 0, "active_params": 1e11},
        [(0, None)],
    ),
    "a square of no coefficient is a line": (SQUARE, "batch", {"step_time": 6, "overlap": 0}, [6.0]),
    "a square of some coefficient": (SQUARE, "batch", {"step_time": 6, "overlap": 1}, [2.0]),
    "cubic, three roots": (CUBIC, "batch", {"step_time": 1}, [1.0, 2.0, 3.0]),
    "quintic": (QUINTIC, "batch", {"step_time": 1, "chips": 3}, [1.388791984]),
    "a flat between two transcendental ends": (
        HUMP_OR_FLAT,
        "batch",
        {"step_time": 10, "compute_time": 1},
        [(0, 11.183255915896), (357.71520639573, None)],
    ),
    "a transcendental root far below what is met in practice": (
        HUMP,
        "batch",
        {"step_time": 1e-6, "compute_time": 1},
        [1.00000001e-6, 2148.8183944],
    ),
    # batch**3 - batch**2 + (chips + throughput) batch - chips throughput = 0, by hand
    "cubic over a pole: a sign change that is no root": (POLE, "batch", {"throughput": -5, "chips": 3}, []),
    "cubic over a pole: below it": (POLE, "batch", {"throughput": 10, "chips": 3}, [2.0]),
    "cubic over a pole: above it, twice": (POLE, "batch", {"throughput": -6, "chips": 1}, [(13**0.5 - 1) / 2, 2.0]),
    # two terms that are all but equal: what these numbers say, and not what numbers a billionth away would
    "floored, over the floor by half a billionth": (FLOORED, "batch", {"step_time": 8 * (1 + 5e-10), "chips": 8}, [8 * (1 + 5e-10)]),
    "V, above the tip by half a billionth": (
        V,
        "batch",
        {"step_time": 2 * (1 + 5e-10), "compute_time": 2, "memory_time": 2},
        [1 - 5e-10, 1 + 5e-10],
    ),
    "a share from two terms that are all but equal": (
        equation("roofline.step_time_exposed"),
        "exposed_communication_share",
        {"compute_time": 0.010105327028118801, "memory_time": 0.010105327018013475, "step_time": 0.01024799744735722, **PLAIN_STEP},
        [1 - 0.010105327028118801 / 0.01024799744735722],
    ),
    "no stage is idle but for the last digits": (
        equation("pipeline.idle_fraction"),
        "idle_fraction",
        {"microbatches": 1.3618818241003199, "pipeline_stages": 1.3618818241004476, **NO_HOPS},
        [1 - 1.3618818241003199 / 1.3618818241004476],
    ),
    # digits that floating point loses and the numbers determine: by hand, or with 60 digits
    "the logarithm of nearly one": (
        equation("experts.touched_experts"),
        "batch",
        {
            **{"experts": 66135.55460710365, "active_experts": 0.014965378512316985, "activated_experts": 0.2659275635004323},
            "tokens_verified_per_step": 1.0,
        },
        [17.76955175813066],
    ),
    "a power of nearly one": (
        equation("experts.touched_experts"),
        "activated_experts",
        {"experts": 67859.07417945801, "active_experts": 0.5300747991664864, "batch": 1.9594030395677232, "tokens_verified_per_step": 1.0},
        [1.038626280788382],
    ),
    "a share that leaves nothing above and below the line": (
        equation("serving.speculative_speedup"),
        "acceptance_rate",
        {
            **{"draft_tokens": 0.26580202454087365, "draft_cost_ratio": 0.3300715007184954, "speculative_speedup": 1.1637058360177654},
            "verification_ratio": 1,
        },
        [0.9999999935709202],
    ),
    "rounding that is the same on both sides of a root": (
        equation("serving.speculative_speedup"),
        "draft_tokens",
        {
            **{"acceptance_rate": 0.9999999988542174, "draft_cost_ratio": 11.187178583169647, "speculative_speedup": 0.8367634075552268},
            "verification_ratio": 1,
        },
        [0.019523522224141276],
    ),
    "rounding that looks like a root": (
        equation("serving.speculative_speedup"),
        "acceptance_rate",
        {"draft_tokens": 0.01, "draft_cost_ratio": 1e-5, "speculative_speedup": 0.9999999000002514, "verification_ratio": 1},
        [9.99934691829192475e-13],
    ),
    "stages all but as many as microbatches": (
        equation("pipeline.idle_fraction"),
        "pipeline_stages",
        {"microbatches": 53.11818195772065, "idle_fraction": 1.0000375195004396e-12, **NO_HOPS},
        [53.11818195777377],
    ),
    "a small difference of large numbers": (
        equation("bands.balance_context"),
        "memory_ratio_long",
        {"balance_context": 1e8, "long_context": 1100.0, "short_context": 100.0, "memory_ratio_short": 1e4},
        [1e4 + 1e-5],
    ),
}

ALL_CASES = [pytest.param(*case, id=name) for name, case in (CASES | HARDER).items()]


@in_one_test(("row", "unknown", "given", "expected"), ALL_CASES)
def test_all_answers_are_found_and_no_other(row, unknown, given, expected):
    answers, reason = solve_equation(row, unknown, given)
    found = [answer.value if answer.kind == "point" else (answer.low, answer.high) for answer in answers]
    assert len(found) == len(expected), (found, reason)
    for one, wanted in zip(found, expected, strict=True):
        if isinstance(wanted, tuple):
            assert one[0] == pytest.approx(wanted[0], rel=1e-9)
            assert one[1] is wanted[1] is None or one[1] == pytest.approx(wanted[1], rel=1e-9)
        else:
            assert one == pytest.approx(wanted, rel=1e-9, abs=1e-15)
    for answer in answers:
        _holds_around(row, unknown, given, answer)
    if expected:
        assert reason is None
    else:
        assert reason.code == "no_solution" and row.id in reason.message and unknown in reason.message and reason.violated


def test_a_root_that_rounding_hides_is_not_decided():
    given = {"experts": 80.0, "active_experts": 60.0, "activated_experts": 80.0, "tokens_verified_per_step": 1.0}
    answers, reason = solve_equation(equation("experts.touched_experts"), "batch", given)
    assert answers == () and reason.code == "not_identified" and "batch" in reason.message


def _holds_around(row, unknown, given, answer):
    """A point satisfies the equation; an interval at both ends and inside, and just beyond a finite end no longer."""

    def off(value):
        return residual(row, {**given, unknown: value})

    def crossed(value):
        at = {**given, unknown: value}
        return at[row.symbols[0]] > row.right_side(at)

    if answer.kind == "point":
        assert answer.residual == pytest.approx(off(answer.value), abs=1e-15)
        assert answer.residual <= 1e-12 or crossed(answer.value * (1 - 1e-12)) != crossed(answer.value * (1 + 1e-12))
        return
    high = answer.high or max(10.0, 10 * answer.low)
    for value in (answer.low or high / 1e6, (answer.low + high) / 2, high):
        assert off(value) <= 1e-12
    if answer.low:
        assert off(answer.low * 0.999) > 1e-12
    if answer.high is not None:
        assert off(answer.high * 1.001) > 1e-12


@pytest.mark.parametrize(
    ("row", "given", "expected"),
    [
        (FLOORED, {"step_time": 8 * (1 - 5e-10), "chips": 8}, (0, 8)),
        (V, {"step_time": 2 * (1 - 2e-10), "compute_time": 2, "memory_time": 2}, 1),
    ],
)
def test_where_nothing_holds_what_holds_to_a_billionth_is_the_answer(row, given, expected):
    (answer,), _ = solve_equation(row, "batch", given)
    found = answer.value if answer.kind == "point" else (answer.low, answer.high)
    assert found == pytest.approx(expected, rel=1e-9) and answer.residual <= 1e-9


# -- arrays of givens -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "beyond"), [("mfu", 1.0), ("kv_replication", -1.0)])
def test_a_value_in_an_array_that_passes_a_limit_of_one_by_rounding_is_one(name, beyond):
    found = clip_to_domain(name, 1 + beyond * np.array([1e-12, 1e-3, 0.0, -1e-3]))
    assert np.array_equal(found, [1, np.nan, 1, 1 - beyond * 1e-3], equal_nan=True)


def test_arrays_keep_the_requirements():
    """t = x + n/x at 5 has roots 1 and 4 for n = 4, and the larger one only if x > n is required."""
    given = {"step_time": np.array([5.0, 5.0]), "chips": np.array([3.9, 4.0])}
    free = points(SADDLE, "batch", given)
    assert sorted(free[~np.isnan(free)]) == pytest.approx(sorted([(5 - 9.4**0.5) / 2, (5 + 9.4**0.5) / 2, 1, 4]))
    required = points(LARGE, "batch", given)
    columns = [column[~np.isnan(column)].tolist() for column in required.T]
    assert columns == [pytest.approx([(5 + 9.4**0.5) / 2]), []]


# -- inequalities ---------------------------------------------------------------------------------------------------


def with_sense(sense, row):
    return made_up(row.relation, sense=sense)


def unequal(sense):
    return {
        "the left side": (FLOORED, "step_time", {"batch": 3, "chips": 4}, [(4, None)] if sense == ">=" else [(0, 4)]),
        "a term that binds": (FLOORED, "batch", {"step_time": 5, "chips": 4}, [(0, 5)] if sense == ">=" else [(5, None)]),
        "a term that is over already": (FLOORED, "batch", {"step_time": 3, "chips": 4}, [] if sense == ">=" else [(0, None)]),
        "between two roots": (SADDLE, "batch", {"step_time": 5, "chips": 4}, [(1, 4)] if sense == ">=" else [(0, 1), (4, None)]),
        "never or always": (SADDLE, "batch", {"step_time": 3, "chips": 4}, [] if sense == ">=" else [(0, None)]),
        "bathtub": (BATHTUB, "batch", {"step_time": 5, "chips": 4}, [(5, 15)] if sense == ">=" else [(0, 5), (15, None)]),
        "a share of at most 1": (
            made_up(lambda step_time, compute_time, mfu: (step_time, compute_time / mfu)),
            *("mfu", {"step_time": 4, "compute_time": 1}),
            [(0.25, 1)] if sense == ">=" else [(0, 0.25)],
        ),
    }


@in_one_test(
    ("sense", "row", "unknown", "given", "expected"),
    [pytest.param(sense, *case, id=f"{sense} {name}") for sense in (">=", "<=") for name, case in unequal(sense).items()],
)
def test_an_inequality_is_answered_by_stretches(sense, row, unknown, given, expected):
    answers, reason = solve_equation(with_sense(sense, row), unknown, given)
    assert [answer.kind for answer in answers] == ["interval"] * len(expected), (answers, reason)
    for answer, (low, high) in zip(answers, expected, strict=True):
        assert (answer.low, answer.high) == (pytest.approx(low), high and pytest.approx(high))
    assert (reason is None) == bool(expected)


# -- requirements and reasons ---------------------------------------------------------------------------------------


@in_one_test(
    ("row", "unknown", "given", "violated"),
    [
        # by the givens alone
        (
            "batching.balance_batch_with_kv",
            "balance_batch",
            {"balance_batch_with_kv": 1, "kv_compute_ratio": 2, "attention_compute_ratio": 0},
            "kv_compute_ratio < attention_compute_ratio + 1",
        ),
        (
            "readings.joint_slope",
            "balance_context",
            {"long_context": 2e5, "short_context": 1e5, "output_input_ratio": 6, "premium_out": 1.0, "tokens_per_step": 1},
            "premium_out > 1",
        ),
        ("readings.bandwidth_bound_fraction", "bandwidth_bound_fraction", {"output_input_ratio": 0.5}, "output_input_ratio >= 1"),
        # by the answer: B_star_kv below B_star would need a context below 0, R at the intercept leaves nothing for the weights
        ("cache.break_even_reads", "break_even_reads", {"cache_write_premium": 0, "cache_read_ratio": 0.1}, "cache_write_premium > 0"),
    ],
)
def test_a_requirement_that_is_not_met_is_the_reason(row, unknown, given, violated):
    answers, reason = solve_equation(equation(row), unknown, given)
    assert answers == ()
    assert reason.code == "requirement_violated" and violated in reason.violated and violated in reason.message and row in reason.message


SMALL = made_up(lambda step_time, batch, chips: (step_time, maximum(batch, chips)), requires=(Requirement(holds=lambda batch: batch < 3),))
LARGE = made_up(
    lambda step_time, batch, chips: (step_time, batch + chips / batch), requires=(Requirement(holds=lambda batch, chips: batch > chips),)
)


def test_a_requirement_picks_among_the_answers():
    """1 and 4 both solve it; only 4 is allowed."""
    assert [answer.value for answer in solve_equation(LARGE, "batch", {"step_time": 5, "chips": 3.9})[0]] == pytest.approx(
        [(5 + (25 - 15.6) ** 0.5) / 2]
    )
    answers, reason = solve_equation(SMALL, "batch", {"step_time": 4, "chips": 1})
    assert answers == () and reason.code == "requirement_violated" and reason.violated == ("batch < 3",)


@in_one_test(
    ("row", "unknown", "given", "words"),
    [
        # what the right side reaches stands beside what is asked
        (V, "batch", {"step_time": 1, "compute_time": 2, "memory_time": 3}, ["no batch > 0", "has to be 1 s"]),
        (CAPPED, "batch", {"step_time": 9, "chips": 8}, ["step_time is at most 8 s", "has to be 9 s"]),
        (PARTLY_HIDDEN, "overlap", {"step_time": 9, "compute_time": 3, "memory_time": 2}, ["in [0, 1]", "to 5 s", "has to be 9 s"]),
        (made_up(lambda batch, chips, layers: (batch, chips - layers)), "batch", {"chips": 2, "layers": 5}, ["is -3 from chips = 2, lay"]),
    ],
)
def test_no_solution_says_what_can_be_reached(row, unknown, given, words):
    answers, reason = solve_equation(row, unknown, given)
    assert answers == () and reason.code == "no_solution"
    assert all(word in reason.message for word in words), reason.message


# An inequality that holds at the share of one alone has no stretch to report.
AT_ONE_ALONE = ("bands.increments_of_a_sum", *ROOF_IDS)
SHARES = [
    (row, name)
    for row in by_id().values()
    for name in row.symbols[1:]
    if quantity(name).limits()[1] == 1 and not row.violated({name: 1}) and row.id not in AT_ONE_ALONE
]


def test_a_share_of_exactly_one_is_found_again():
    """What is true of an overlap or an mfu of 1 is not lost because the root came out a bit above it."""
    lost = []
    for row, name in SHARES:
        truth = assignments(row, 30, seed=5)
        truth[name] = truth[name] * 0 + 1
        truth[row.symbols[0]] = row.right_side(truth)
        for draw in range(30):
            values = {n: float(array[draw]) for n, array in truth.items()}
            if row.violated(values):
                continue
            answers, _ = solve_equation(row, name, {n: value for n, value in values.items() if n != name})
            found = [answer.value if answer.kind == "point" else answer.high for answer in answers]
            if not any(one == pytest.approx(1, rel=1e-5) for one in found):
                lost.append((row.id, name, values))
    assert not lost, (len(lost), lost[0])


# -- elasticities ---------------------------------------------------------------------------------------------------


def test_elasticities_of_a_made_up_curve():
    """t = x + n/x at x = 4, n = 4: dt/dx = 1 - n/x^2 = 3/4, dt/dn = 1/x = 1/4."""
    answers, _ = solve_equation(SADDLE, "batch", {"step_time": 5, "chips": 4})
    assert answers[1].elasticities == pytest.approx({"step_time": 5 / (0.75 * 4), "chips": -4 * 0.25 / (0.75 * 4)})


def test_elasticities_of_an_interval_are_those_of_its_upper_end():
    (answer,), _ = solve_equation(NESTED, "batch", {"step_time": 1, "compute_time": 0.1, "memory_time": 1})
    assert (answer.low, answer.high) == (1, 10)
    assert answer.elasticities == pytest.approx({"memory_time": 1, "compute_time": -1})
