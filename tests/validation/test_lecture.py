"""What the lecture says, and what it comes to when recomputed: one row of lecture.csv a claim, solved through the chain.

The first column is a line number, a letter, and the entry of notes.csv, which parts the lecture
(A: the step and the batch; B: experts; C: pipelining; D: training; E: price sheets). Lines that are no single number
are tests below. Lines above 57 are ours. Types: `lecture` is the lecture's own rounded figure, `recomputed` is ours from the same inputs,
`external` is somebody else's.
"""

import csv
import math
import re
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
import sympy

from derive.catalogue import equation
from derive.preset_rows import MemoryTierFigure
from derive.quantities import symbol
from derive.solving.api import solve
from derive.tables.shipped import rows_of
from derive.units import parse
from tests.tools.together import in_one_test, quick_part

ROWS = list(csv.DictReader(StringIO(Path(__file__).with_name("lecture.csv").read_text(encoding="utf-8"))))
EXACT = 1e-9


def expected(row):
    """The figure as a number, and whether it is an exact fraction."""
    text = row["expected"].removeprefix(">=")
    try:
        return float(Fraction(text))
    except ValueError:
        return parse(row["unknown"], text)


def answers_to(row, **more):
    """The solution of a row; its equations are named, so that conditions and variants take part."""
    pairs = dict(item.split("=", 1) for item in row["givens"].split(";"))
    return solve(row["unknown"], using=row["equations"].split(";"), **pairs, **more)


@pytest.mark.parametrize("row", quick_part([pytest.param(row, id=f"{row['line']} {row['type']}") for row in ROWS], 2))
def test_a_claim(row):
    solution = answers_to(row)
    assert solution.reason is None, solution.reason
    used = {reference.split("@")[0] for reference in solution.equations}
    assert used >= set(row["equations"].split(";")), "an equation of the row was not used"
    (answer,) = solution.answers
    if row["expected"].startswith(">="):
        assert (answer.kind, answer.high) == ("interval", None)
        found = answer.low
    else:
        assert answer.kind == "point"
        found = answer.value
    assert found == pytest.approx(expected(row), rel=float(row["relative_tolerance"])), row["claim"]


@in_one_test("row", [pytest.param(row, id=row["line"]) for row in ROWS])
def test_a_row_is_in_order(row):
    assert all(cell.strip() == cell and cell for cell in row.values()), "a cell is blank or padded"
    assert re.fullmatch(r"\d+[a-z] [A-E]\d+", row["line"])
    assert row["type"] in ("lecture", "recomputed", "external")
    for id in row["equations"].split(";"):
        assert equation(id)
    tolerance = float(row["relative_tolerance"])
    assert 0 < tolerance <= 0.25
    if row["type"] != "lecture" and tolerance > EXACT:
        figure = re.match(r"[0-9]+(?:\.[0-9]+)?", row["expected"].removeprefix(">="))[0]
        digits = len(figure.partition(".")[2])
        half_a_unit = 0.5 * 10**-digits / float(figure)
        assert tolerance <= half_a_unit * 1.01, f"looser than the rounding of {figure}: {half_a_unit:.2g}"


def test_all_57_lines_are_rows_or_tests():
    rows = {int(re.match(r"\d+", row["line"])[0]) for row in ROWS}
    tests = {int(found[1]) for name in globals() if (found := re.match(r"test_line_(\d+)_", name))}
    assert set(range(1, 58)) <= rows | tests, f"no row and no test for {sorted(set(range(1, 58)) - rows - tests)}"
    assert len({row["line"] for row in ROWS}) == len(ROWS)


# -- lines that are no single number ------------------------------------------------------------------------------

BATCH, BALANCE, CONTEXT, BALANCE_CONTEXT = (symbol(name) for name in ("batch", "balance_batch", "context_length", "balance_context"))


def test_line_4_precision_does_not_matter_where_flops_double_as_bytes_halve():
    for chip, data_types in (("H100", ("bf16", "fp8")), ("B200", ("bf16", "fp8", "fp4"))):
        found = [solve("machine_balance_ratio", hardware=f"{chip}:{one}").answers[0].value for one in data_types]
        assert max(found) / min(found) - 1 <= 1e-3


@in_one_test(
    ("hardware", "stable"),
    [("H100:fp8", True), ("B200:fp8", True), ("A100-SXM-80GB:bf16", False), ("B300:fp4", False), ("H200:fp8", False)],
)
def test_line_5_three_hundred_is_not_a_constant_of_nature(hardware, stable):
    """Stable from H100 to B200; wrong for A100, H200 and B300, by more than a quarter."""
    found = solve("machine_balance_ratio", hardware=hardware).answers[0].value
    assert (abs(found / 300 - 1) <= 0.25) is stable


def test_line_10_a_thousand_replicas_make_hundreds_of_millions_of_tokens():
    found = solve("fleet_throughput", batch=2000, step_time=1 / 64, replicas=1000).answers[0].value
    assert 1e8 <= found < 1e9


# The lecture has neither attention FLOPs nor drafts: one token a step, checked by nothing.
PLAIN = {
    **dict.fromkeys(map(symbol, ("attention_time", "attention_compute_ratio", "drafting_time", "overhead_time")), 0),
    **dict.fromkeys(map(symbol, ("tokens_verified_per_step", "tokens_per_step", "one_token")), 1),
}


def test_line_13_cost_at_small_and_large_batches():
    """At no batch the cost is unbounded, at a large one it is max(1, L/L*)."""
    cost = equation("serving.normalised_cost").sides[1].subs(PLAIN)
    weights = equation("batching.weight_compute_ratio").sides
    reads = equation("context.kv_compute_ratio").sides
    smooth = BALANCE / BATCH + CONTEXT / BALANCE_CONTEXT
    assert cost.subs([weights, reads]) == sympy.Max(1, smooth)
    assert sympy.limit(smooth, BATCH, 0, "+") == sympy.oo
    assert sympy.Max(1, sympy.limit(smooth, BATCH, sympy.oo)) == sympy.Max(1, CONTEXT / BALANCE_CONTEXT)


def test_line_14_a_batch_of_one_is_a_thousand_times_worse_to_an_order_of_magnitude():
    """300 if only the active experts are read, 2,400 if all are; the lecture says a thousand."""
    for sparsity in (1, 8):
        found = solve("weight_compute_ratio", machine_balance_ratio=300, sparsity=sparsity, batch=1).answers[0].value
        assert found == 300 * sparsity
        assert abs(math.log10(found / 1000)) <= 1


def test_line_16_no_overlap_is_between_the_roofline_and_twice_the_roofline():
    maximum, total = (equation(id).sides[1].subs(PLAIN) for id in ("roofline.step_time", "roofline.step_time_serial"))
    compute, memory = symbol("compute_time"), symbol("memory_time")
    # In either order of the two times: total - maximum is the smaller, 2 maximum - total the difference, of which both are >= 0.
    extra = sympy.Symbol("extra", nonnegative=True)
    for larger, smaller in ((compute, memory), (memory, compute)):
        largest = maximum.subs(larger, smaller + extra)
        sum_ = total.subs(larger, smaller + extra)
        assert sympy.simplify(largest) == smaller + extra
        assert sympy.expand(sum_ - largest).is_nonnegative
        assert sympy.expand(2 * largest - sum_).is_nonnegative


def test_line_21_pipeline_stages_thin_out_the_weights_and_not_the_cache():
    """Talk 1:10:33: the KV term does not depend on the stages, the weights go with one over them."""
    stages, microbatch = symbol("pipeline_stages"), symbol("batch")
    demand = equation("pipeline.kv_cancellation").sides[1]
    weights = demand.subs(microbatch, 0)
    assert sympy.diff(demand - weights, stages) == 0 and (demand - weights).has(microbatch)
    assert sympy.simplify(weights * stages).has(stages) is False


def test_line_23_a_blackwell_rack_reads_twenty_times_as_fast_as_eight_hoppers():
    """Talk 1:17:06: eight to nine times the chips, each one and a half to two and a half times as fast."""
    rack, node = (solve("scale_up_bandwidth", scale_up_size=n, hbm_bandwidth=w).answers[0].value for n, w in ((72, 8e12), (8, 3.35e12)))
    assert rack / node == pytest.approx(21.5, rel=0.01)
    assert 8 * 1.5 < rack / node < 9 * 2.4


def test_line_24_the_terms_of_one_over_x_plus_x_are_equal_where_their_sum_is_least():
    """Talk 1:20:19; its second example, e^y + e^-y, is the first at x = e^y."""
    names = ("falling_cost", "rising_cost", "falling_exponent", "rising_exponent")
    x = symbol("tradeoff_variable")
    total = equation("training.tradeoff_cost").sides[1].subs({symbol(name): 1 for name in names})
    (least,) = sympy.solve(sympy.diff(total, x), x)
    falling, rising = (term.subs(x, least) for term in total.args)
    assert falling == rising == 1
    y = sympy.Symbol("y", real=True)
    exponentials = total.subs(x, sympy.exp(y))
    (least,) = sympy.solve(sympy.diff(exponentials, y), y)
    falling, rising = (term.subs(y, least) for term in exponentials.args)
    assert falling == rising == 1


def test_line_26_the_ratio_of_tokens_is_not_that_of_the_upside_down_efficiency():
    """Talk 1:25:28: first a tenth, caught on air; RL tokens are two thirds of pre-training tokens."""
    given = {"rl_multiplier": 3, "decode_efficiency": 1 / 3, "pretrain_tokens": 150e12}
    found = solve("rl_tokens", using=["training.equal_cost_rl"], **given).answers[0].value
    assert found / 150e12 == pytest.approx(2 / 3)


def test_line_36_architecture_and_threshold_agree_within_a_quarter():
    by_threshold = solve(
        "kv_bytes_per_token",
        using=["readings.threshold_is_crossover"],
        **{"active_params": 1e11, "bytes_per_weight": 1, "machine_balance_ratio": 300, "long_context_threshold": 2e5},
    )
    by_architecture = solve("kv_bytes_per_token", layers=1, kv_heads=8, head_dim=128, bytes_per_element=1)
    assert 1 < by_architecture.answers[0].value / by_threshold.answers[0].value < 1.25


LECTURE = {"batch_multiple": 2, "machine_balance_ratio": 300, "sparsity": 8, "context_length": 2e5, "balance_context": 2e5}


@pytest.mark.parametrize("multiple", [2, 2.5, 3])
def test_line_44_the_threshold_reading_and_the_ratio_reading_contradict_each_other(multiple):
    """At two or three balance batches and a crossover at the threshold R is at most 1.5 there, and sheets have 5."""
    named = ["readings.output_input_ratio", "batching.practical_batch"]
    given = {**LECTURE, "batch_multiple": multiple}
    allowed = solve("output_input_ratio", using=named, **given).answers[0].value
    assert allowed == pytest.approx(1 / multiple + 1) and allowed <= 1.5
    both = solve("batch", using=named, **given, output_input_ratio=5)
    assert both.answers == () and both.reason.code == "contradiction"
    assert "output_input_ratio" in both.reason.message and "5" in both.reason.message


def test_line_49_holding_costs_as_much_as_one_read_at_the_drain_time():
    hold, fetch = (equation(f"cache.{name}").sides[1] for name in ("hold_cost", "retrieve_cost"))
    (found,) = sympy.solve(hold - fetch.subs(symbol("transfers_per_hold"), 1), symbol("ttl"))
    assert sympy.simplify(found - equation("cache.drain_time").sides[1]) == 0


def nearest(seconds, drain_times):
    """The tier nearest in log distance."""
    return min(drain_times, key=lambda tier: abs(math.log(drain_times[tier] / seconds)))


TIERS = rows_of(MemoryTierFigure)


@pytest.mark.parametrize(("hold", "tier"), [(300, "flash"), (3600, "hdd")])
def test_line_50_nearest_tier_by_the_lectures_drain_times(hold, tier):
    """Five minutes is flash and an hour is spinning disk (talk 2:01:52 and 2:03:33)."""
    spoken = {row.tier: row.value for row in TIERS if row.device == "lecture" and row.quantity == "drain_time"}
    assert set(spoken) == {"hbm", "ddr", "flash", "hdd"}
    assert nearest(hold, spoken) == tier


def device_drain_times():
    """Drain time of every device of the table that has a capacity and a bandwidth, through the catalogue."""
    cells = {(row.tier, row.device, row.quantity): row.value for row in TIERS}
    found = {}
    for (tier, device, quantity), capacity in cells.items():
        bandwidth = cells.get((tier, device, "tier_bandwidth"))
        if quantity == "tier_capacity" and bandwidth:
            found[tier, device] = solve("drain_time", tier_capacity=capacity, tier_bandwidth=bandwidth).answers[0].value
    return found, cells


@pytest.mark.parametrize(("hold", "tier"), [(300, "flash"), (3600, "flash")])
def test_line_51_nearest_tier_by_real_devices(hold, tier):
    """Five minutes is NVMe, and so is an hour: disks drain in 7 hours at least."""
    found, _ = device_drain_times()
    assert nearest(hold, found)[0] == tier
    assert min(value for (name, _), value in found.items() if name == "hdd") > 7 * 3600


def test_the_drain_times_of_the_table_are_those_of_the_catalogue():
    found, cells = device_drain_times()
    assert len(found) > 10
    for (tier, device), value in found.items():
        assert cells[tier, device, "drain_time"] == pytest.approx(value, rel=1e-9), device


def test_line_57_a_revnet_layer_can_be_run_backwards():
    """Talk 2:11:08: forward and back again is the identity, whatever the function is."""
    x, y = sympy.symbols("x y", real=True)
    function = sympy.Function("f")
    half, round_function, left = symbol("right_half"), symbol("round_function"), symbol("mixed_half")
    layer = equation("reversible.feistel").sides
    forward_left, forward_right = layer[1].subs({half: y, round_function: function(x)}), x
    (back,) = sympy.solve(layer[0] - layer[1], half)
    assert forward_right == x
    assert sympy.simplify(back.subs({left: forward_left, round_function: function(forward_right)}) - y) == 0
