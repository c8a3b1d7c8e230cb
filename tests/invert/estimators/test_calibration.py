"""Prices as lines in the context, what their slopes pay for, and what known models teach of it."""

import csv
import io
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from math import exp, inf, log, sqrt

import pytest
from scipy import integrate, stats
from scipy.optimize import brentq
from scipy.special import stdtr

from derive import presets, shipped
from derive.errors import UnknownName, WrongData
from derive.solving.api import solve
from invert.assumptions import USUAL
from invert.estimators import at_rent as increments
from invert.estimators import calibration
from invert.estimators.calibration import bounded, combined, increment_only, kv_ratio, learn, learned, members, reference_only, siblings
from invert.estimators.densities import central_interval, log_normal, on_grid
from invert.records import upper
from tests.tools.data import shipped_data
from tests.tools.tables import reading
from tests.tools.together import in_one_test

AS_SHIPPED = learn(shipped_data())


def edited(name: str, key: str, column: str, text: str) -> shipped.Tables:
    """The tables with one cell of the first row that begins with a key another."""
    return shipped.read().edited(**{name: with_cell(shipped.content(f"{name}.csv").decode(), key, column, text)})


def with_cell(content: str, key: str, column: str, text: str) -> str:
    rows = list(csv.DictReader(io.StringIO(content)))
    next(row for row in rows if next(iter(row.values())) == key)[column] = text
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


# What is learned.


def test_kv_bytes_and_attention_of_members_follow_from_their_architecture():
    for member in members(shipped_data()):
        given = {"model": member.architecture, "bytes_per_element": 2}
        assert member.kv_bytes_per_token == solve("kv_read_bytes_per_token", **given).answers[0].value
    by_name = {member.architecture: member for member in members(shipped_data())}
    assert by_name["DeepSeek-V3"].attention_flops_per_pair == 61 * 128 * 2 * (192 + 128)
    assert by_name["Kimi-K2"].attention_flops_per_pair == 61 * 64 * 2 * (192 + 128)
    assert by_name["gpt-oss-120b"].attention_flops_per_pair == 4 * 18 * 64 * 64
    assert by_name["GLM-4.6"].attention_flops_per_pair == 4 * 92 * 96 * 128
    assert calibration.prefill_attention_flops(presets.model("MiniMax-M3")) is None


def test_the_reference_class():
    """Thirteen models: ln-mean 11.78 (131 kB), ln-sd 0.95."""
    found = learn(shipped_data()).reference
    assert (found.count, round(found.mean, 2), round(found.sd, 2)) == (13, 11.78, 0.95)
    assert round(exp(found.mean) / 1e3) == 131
    assert found.predictive_sd == found.sd * sqrt(14 / 13) and found.degrees_of_freedom == 12


@in_one_test(
    ("architecture", "tiered", "usual"),
    [("GLM-4.5", 4, 11), ("GLM-4.7", 4, 11), ("Qwen3-30B-A3B", 4, 10), ("DeepSeek-V3.1", 6, 11), ("MiniMax-M1", 5, 12), ("GLM-5.1", 6, 13)],
)
def test_the_inferred_model_and_its_siblings_teach_nothing(architecture, tiered, usual):
    found = learn(shipped_data(), architecture)
    assert (found.increments.count, found.attention.count, found.reference.count) == (tiered, tiered, usual)
    assert architecture in found.left_out and not set(found.left_out) & {
        *found.kv_ratios,
        *found.attention_ratios,
        *found.reference_members,
    }


def test_only_what_is_left_out_matters_and_not_its_values():
    """The calibration for a model does not move when the figures of its family do."""
    altered = [replace(member, kv_bytes_per_token=1.0) if member.family == "qwen3" else member for member in members(shipped_data())]
    for name, same in (("Qwen3-Coder-480B-A35B", True), ("GLM-4.5", False)):
        without = learned(shipped_data(), altered, siblings(shipped_data(), name))
        assert (without == learn(shipped_data(), name)) == same


def test_an_unknown_architecture_and_too_few_members_are_refused():
    with pytest.raises(UnknownName, match=r"unknown architecture 'GLM-4\.55'"):
        learn(shipped_data(), "GLM-4.55")
    with pytest.raises(WrongData, match=r"reference_class\.csv: 1 sheets of several bands are left"):
        learned(shipped_data(), [member for member in members(shipped_data()) if member.family in ("minimax-m1", "gpt-oss")], frozenset())


@in_one_test(
    ("column", "text", "message"),
    [
        ("architecture", "GPT-9", "architecture: 'GPT-9' is not in architectures.csv"),
        ("calibration_sheet", "alibaba/qwen-9", "calibration_sheet: 'alibaba/qwen-9' has no sheet of several bands"),
        ("calibration_sheet", "qwen-9", "calibration_sheet: 'qwen-9' does not have the form of alibaba/qwen3-coder-plus"),
        ("calibration_date", "2025-07-27", "calibration_sheet: 'alibaba-cn/glm-4.5' has no sheet of several bands on 2025-07-27"),
        ("calibration_date", "2062-07-28", "calibration_date: 2062-07-28 is later than the newest prices here, which were read on 2026-"),
        ("calibration_date", "July", "calibration_date: 'July' is not an ISO date"),
        *(("kv_bytes_per_element", text, f"kv_bytes_per_element: '{text}' is not a number") for text in ("two", "nan", "inf")),
        ("kv_bytes_per_element", "0", "kv_bytes_per_element: 0 is out of range: it must be 0.25 or more, at most 8"),
        ("kv_bytes_per_element", "", "kv_bytes_per_element: is blank"),
        ("in_class", "yes", "in_class: 'yes' is no truth value; allowed: true, false"),
        ("in_class", "-1", "in_class: '-1' is no truth value; allowed: true, false"),
        ("family", "glm-4.5\0", "family: the cell holds the control character U+0000, which does not show"),
        ("family", "glm\u200b-4.5", "family: the cell holds the character U+200B (zero width space), which does not show"),
        ("family", "glm-45", "family: 'glm-45' is not known; did you mean 'glm-4.5'?"),
    ],
)
def test_a_bad_row_is_named_and_the_rest_is_learned_from(column, text, message):
    with reading(edited("reference_class", "GLM-4.5", column, text)):
        found = members(shipped_data())
        (problem,) = (*shipped.problems("reference_class"), *calibration.class_problems(shipped_data()))
        assert str(problem).startswith(f"reference_class.csv row 10, column {message}")
        assert calibration.lacking(shipped_data()) == (text if column == "architecture" else "GLM-4.5",)
        assert {member.architecture for member in members(shipped_data())} == {member.architecture for member in found} and len(found) == 29
        if column != "architecture" and shipped.problems("reference_class"):
            # Its family is not known, so its siblings could not be left out.
            with pytest.raises(WrongData, match=r"reference_class\.csv row 10"):
                learn(shipped_data(), "GLM-4.5")
    assert len(members(shipped_data())) == 30


@pytest.mark.parametrize("text", ["TRUE", "True"])
def test_truth_is_read_as_a_spreadsheet_writes_it(text):
    with reading(edited("reference_class", "GLM-4.5", "in_class", text)):
        assert learn(shipped_data()) == AS_SHIPPED


def test_a_sheet_without_an_increment_teaches_nothing():
    (member,) = [member for member in members(shipped_data()) if member.architecture == "GLM-4.5"]
    none = increments.PriceLine(1e-6, 0.0)
    sold = replace(member.sold, lines=replace(member.sold.lines, output=none, input=none), at_rent=upper(USUAL, 1e5, "no premium"))
    flat = replace(member, sold=sold)
    assert kv_ratio(flat) is None and calibration.attention_ratio(shipped_data(), flat) is None


# What is believed.

LN_KV = log(91e3)
LEVELS = (0.05, 0.5, 0.95)


def quadrature(shape, middle):
    """Quantiles and total of a density but for a constant, by adaptive quadrature and bisection: another way than the grid."""
    low, high = middle - 12, middle + 12

    def mass(end):
        return integrate.quad(shape, low, end, points=[point for point in (middle - 2, middle, middle + 2) if point < end], limit=200)[0]

    total = mass(high)
    return [brentq(lambda end, level=level: mass(end) - level * total, low + 1, high, xtol=1e-8) for level in LEVELS], total


def test_the_reference_class_alone_is_normal_and_the_increment_alone_students_t():
    known = learn(shipped_data())
    normal = stats.norm(known.reference.mean, known.reference.predictive_sd)
    assert central_interval(reference_only(known)) == pytest.approx(normal.ppf(LEVELS), abs=1e-5)
    assert reference_only(known).log_density(11.0) == pytest.approx(normal.logpdf(11.0), abs=1e-5)
    student = stats.t(5, LN_KV - known.increments.mean, known.increments.sd * sqrt(7 / 6))
    assert central_interval(increment_only(LN_KV, known)) == pytest.approx(student.ppf(LEVELS), abs=1e-3)
    assert increment_only(LN_KV, known).log_density(11.0) == pytest.approx(student.logpdf(11.0), abs=1e-3)


@in_one_test("ln_kv", [0.0, LN_KV, 25.0])
@in_one_test("left_out", [None, "GLM-4.5"])
def test_both_together_are_the_product_of_the_densities(ln_kv, left_out):
    known = learn(shipped_data(), left_out)
    usual, increments = known.reference, known.increments

    def product(point):
        off = (ln_kv - increments.mean - point) / increments.predictive_sd
        student = (1 + off**2 / (increments.count - 1)) ** (-increments.count / 2)
        return exp(-(((point - usual.mean) / usual.predictive_sd) ** 2) / 2) * student

    exact, total = quadrature(product, usual.mean)
    found = combined(ln_kv, known)
    assert central_interval(found) == pytest.approx(exact, abs=1e-5)
    assert found.log_density(12.0) == pytest.approx(log(product(12.0) / total), abs=1e-5)


@pytest.mark.parametrize("ln_bound", [8.0, LN_KV, 14.0])
def test_a_bound_cuts_the_reference_class_from_above(ln_bound):
    known = learn(shipped_data())
    usual, increments = known.reference, known.increments

    def product(point):
        covered = stdtr(increments.count - 1, (ln_bound - increments.mean - point) / increments.predictive_sd)
        return exp(-(((point - usual.mean) / usual.predictive_sd) ** 2) / 2) * covered

    exact, _ = quadrature(product, usual.mean)
    assert central_interval(bounded(ln_bound, known)) == pytest.approx(exact, abs=1e-5)


def test_a_lower_bound_means_less_a_distant_one_nothing_and_an_absurd_one_is_not_believed():
    known = learn(shipped_data())
    alone, *upper = (belief.quantile(0.95) for belief in (reference_only(known), *(bounded(at, known) for at in (9.0, 11.0, 13.0, 15.0))))
    assert all(lower < higher < alone for lower, higher in pairwise(upper))
    assert bounded(1e3, known).quantile(0.95) == pytest.approx(alone, abs=1e-5)
    assert upper[0] < bounded(4.0, known).quantile(0.95) < alone


def test_price_and_class_together_lie_between_the_two():
    known = learn(shipped_data())
    medians = [belief.quantile(0.5) for belief in (reference_only(known), combined(LN_KV + 1, known), increment_only(LN_KV + 1, known))]
    assert medians == sorted(medians)
    assert on_grid(known.reference, log_normal(known.reference)).log_density(1e3) == -inf


def test_learning_imports_neither_pandas_nor_scipy_stats():
    code = (
        "import sys, invert.estimators.calibration as c; from invert.data import read_data;"
        "k = c.learn(read_data()); c.combined(11.0, k); c.bounded(11.0, k);"
        "print([name for name in ('pandas', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
