"""A sheet as one flat row: the numbers of its records in SI, in the order of the columns, and nothing where there is nothing."""

import json

import pytest

from invert.inference import infer
from invert.report.columns import CSV_KEYS, flat
from invert.report.contract import run_as_json
from invert.result import InferenceTable


def test_every_row_has_the_columns_in_their_order(run: InferenceTable):
    for one in run:
        assert list(flat(one)) == list(CSV_KEYS) and len(set(CSV_KEYS)) == len(CSV_KEYS)
        json.dumps(flat(one), allow_nan=False)


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
        assert (row[f"{start}_held"], row[f"{start}_of"]) == estimate.kept
    assert row["active_params_market_low"] < row["active_params_market"] < row["active_params_market_high"]
    assert row["as_of"] == "2026-11-20" and row["check_lecture"] == "fail"


def test_of_several_bands_the_first_pair_is_told_and_the_lifetimes_in_one_cell(run: InferenceTable):
    qwen = run["alibaba/qwen3-coder-plus"]
    assert len(qwen.pairs) == 3 and flat(qwen)["long_context_threshold"] == 32_000
    row, storage = flat(run["anthropic/claude-opus-5"]), run["anthropic/claude-opus-5"].storage
    assert row["tiers_lecture"] == "300:flash 3600:disk"
    ends = [found.undisclosed_ranges["hbm"] for found in storage]
    assert row["tiers_by_price"] == " ".join(f"{ttl}:hbm:{low:.2g}-{high:.2g}" for ttl, (low, high) in zip((300, 3600), ends, strict=True))
    assert flat(run["google/gemini-3.1-pro-preview"])["tiers_by_price"].startswith("hour:hbm:")


def test_the_currency_is_that_of_the_list_and_no_converted_amount_is_named_as_if_it_were_in_it():
    (sheet,) = infer(["glm-4.7"])
    row, base = flat(sheet), sheet.sheet.bands[0]
    assert (row["currency"], base.input.amount, base.output.amount) == ("CNY", 3, 14)
    assert row["input_price_usd_per_token"] == base.input.usd_per_token == pytest.approx(3e-6 / 7, rel=0.05)
    assert not {"input_price", "output_price"} & {*row, *json.loads(run_as_json(infer(["glm-4.7"])))[0]["observables"]}


def test_every_range_stands_beside_what_ranges_like_it_held(run: InferenceTable):
    """As in JSON, name by name; where nothing like it was held against what is true both columns are empty."""
    (sheet, *_) = json.loads(run_as_json(infer(["gemini-3.1-pro"])))
    row, estimates = flat(run["google/gemini-3.1-pro-preview"]), sheet["estimates"]
    named = {name: estimates[name] for name in ("bandwidth_bound_fraction", "memory_time_share", "balance_context")}
    for quantity in ("kv_bytes_per_token", "kv_bytes_stored_per_token", "active_params", "total_params", "input_markup"):
        named |= {f"{quantity}_{estimator}": estimate for estimator, estimate in estimates[quantity].items()}
    for name, estimate in named.items():
        assert (row[name], row[f"{name}_low"], row[f"{name}_high"]) == (estimate["median"], estimate["low"], estimate["high"]), name
        last = estimate["record"] and estimate["record"]["held"][-1]
        assert (row[f"{name}_held"], row[f"{name}_of"]) == ((last["held"], last["count"]) if last else (None, None)), name
        assert estimate["level"] == row[f"{name}_level"] == (0.9 if last else None), name
    assert {name for name, estimate in named.items() if not estimate["record"]} == {
        *("bandwidth_bound_fraction", "memory_time_share", "input_markup_market")
    }


def test_what_a_sheet_of_one_band_does_not_have_is_none(run: InferenceTable):
    one = run["deepseek/deepseek-v4-pro"]
    assert one.pairs == ()
    row = flat(one)
    pair_columns = {"long_context_threshold", "premium_in", "premium_out", "kv_bytes_per_token_lecture", "kv_bytes_per_token_joint"}
    pair_columns |= {"memory_time_share_joint", "balance_context_joint", "implied_drain_time_s_point", "check_lecture", "check_joint"}
    pair_columns |= {"tiers_lecture", "tiers_by_price", "kv_bytes_stored_per_token_storage_price"}
    assert {name for name in pair_columns if row[name] is not None} == set()
    assert row["kv_bytes_per_token_known"] == one.known.read and row["currency"] == one.sheet.bands[0].input.currency
    bounds = [f"kv_bytes_per_token_{name}" for name in ("one_markup", "at_rent")]
    assert all(row[f"{name}_low"] is None and row[f"{name}_kind"] == "upper" for name in bounds), "a bound has no lower end"
