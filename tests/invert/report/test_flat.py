"""A sheet as one flat row: the numbers of its records in SI, in the order of the columns, and nothing where there is nothing."""

import json

import pytest

from invert.inference import infer
from invert.report.flat import COLUMNS, flat, six_digits
from invert.table import InferenceTable
from tests.tools.together import in_one_test


def test_every_row_has_the_columns_in_their_order(run: InferenceTable):
    for one in run:
        assert list(flat(one)) == list(COLUMNS) and len(set(COLUMNS)) == len(COLUMNS)
        json.dumps(flat(one), allow_nan=False)


def test_numbers_are_those_of_the_records_in_si(run: InferenceTable):
    one = run["google/gemini-3.1-pro-preview"]
    row, (pair,) = flat(one), one.pairs
    assert (row["input_price"], row["output_price"]) == pytest.approx((2e-6, 12e-6), rel=1e-12)
    assert (row["long_context_threshold"], row["premium_in"], row["premium_out"], row["output_input_ratio"]) == (200_000, 2, 1.5, 6)
    assert row["kv_bytes_per_token_joint"] == pair.joint.values["kv_bytes_per_token"]
    assert row["balance_context"] == pair.joint.values["balance_context"] != row["memory_time_share"]
    for estimator, estimate in one.kv_bytes.items():
        start = f"kv_bytes_per_token_{estimator}"
        expected = [estimate.median, estimate.low, estimate.high]
        assert [row[start], row[f"{start}_low"], row[f"{start}_high"]] == pytest.approx(expected, rel=5e-6), estimator
        assert row[f"{start}_kind"] == estimate.kind
    assert row["active_params_market_low"] < row["active_params_market"] < row["active_params_market_high"]
    assert row["as_of"] == "2026-11-20" and row["check_lecture"] == "fail"


def test_of_several_bands_the_first_pair_is_told_and_the_lifetimes_in_one_cell(run: InferenceTable):
    qwen = run["alibaba/qwen3-coder-plus"]
    assert len(qwen.pairs) == 3 and flat(qwen)["long_context_threshold"] == 32_000
    assert flat(run["anthropic/claude-opus-5"])["tiers"] == "300:flash 3600:disk"


def test_what_a_sheet_of_one_band_does_not_have_is_none(run: InferenceTable):
    one = run["deepseek/deepseek-v4-pro"]
    assert one.pairs == ()
    row = flat(one)
    pair_columns = {"long_context_threshold", "premium_in", "premium_out", "kv_bytes_per_token_lecture", "kv_bytes_per_token_joint"}
    pair_columns |= {"memory_time_share", "balance_context", "implied_drain_time_s", "tiers", "check_lecture", "check_joint"}
    assert {name for name in pair_columns if row[name] is not None} == set()
    assert row["kv_bytes_per_token_known"] == one.known.read and row["currency"] == one.sheet.bands[0].input.currency
    bounds = [f"kv_bytes_per_token_{name}" for name in ("one_markup", "at_rent")]
    assert all(row[f"{name}_low"] is None and row[f"{name}_kind"] == "upper" for name in bounds), "a bound has no lower end"


def test_no_flag_is_none_and_several_are_in_one_cell():
    (sheet,) = infer(["gemini-3.1-pro"])
    assert flat(sheet)["flags"] == ("; ".join(sheet.flags) or None)


@in_one_test(
    ("value", "shown"), [(154712.3456, 154712.0), (1.23456789e-9, 1.23457e-9), (0.0, 0.0), (7, 7), ("upper", "upper"), (None, None)]
)
def test_an_estimate_has_six_digits_and_what_is_no_estimate_stays(value: object, shown: object):
    assert six_digits(value) == shown and type(six_digits(value)) is type(value)
