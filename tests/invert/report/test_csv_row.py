"""A sheet as one flat row: the numbers of its records in SI, in the order of the columns, and nothing where there is nothing."""

import pytest

from invert.report.columns import flat
from invert.result import InferenceTable


def test_numbers_are_those_of_the_records_in_si(run: InferenceTable):
    one = run["google/gemini-3.1-pro-preview"]
    row, (pair,) = flat(one), one.pairs
    assert (row["input_price_usd_per_token"], row["output_price_usd_per_token"]) == pytest.approx((2e-6, 12e-6), rel=1e-12)
    assert (row["long_context_threshold"], row["premium_in"], row["premium_out"], row["output_input_ratio"]) == (200_000, 2, 1.5, 6)
    assert row["kv_bytes_per_token_joint"] == pair.joint.values["kv_bytes_per_token"]
    for name in ("balance_context", "memory_time_share"):
        assert row[f"{name}_joint"] == pair.joint.values[name]
        assert row[name] == pytest.approx(one.estimates[name].median, rel=5e-6) != row[f"{name}_joint"]
    for estimator, estimate in one.kv_bytes.items():
        start = f"kv_bytes_per_token_{estimator}"
        expected = [estimate.median, estimate.low, estimate.high]
        assert [row[start], row[f"{start}_low"], row[f"{start}_high"]] == pytest.approx(expected, rel=5e-6), estimator
        assert row[f"{start}_kind"] == estimate.kind
        assert (row[f"{start}_right"], row[f"{start}_of"]) == estimate.coverage
    assert row["active_params_by_price_low"] < row["active_params_by_price"] < row["active_params_by_price_high"]
    assert row["as_of"] == "2026-11-20" and row["check_lecture"] == "fail"
