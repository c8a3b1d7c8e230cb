"""The columns: found by every name that they have, sorted by any of them, and sheets that are picked by patterns."""

import pytest

from derive.errors import UnknownName, WrongValue
from invert.inference import infer
from invert.report.columns import (
    CSV_KEYS,
    ESTIMATE_KEYS,
    HISTORY_KEYS,
    MODEL_KEYS,
    OF_TEXT,
    REGISTRY,
    SHORT_KEYS,
    WIDE_KEYS,
    column_of,
    explained,
    flat,
    picked,
    sort_sheets,
)
from invert.result import InferenceTable
from tests.tools.inferred import current
from tests.tools.together import in_one_test


def test_every_column_has_a_name_of_its_own_and_is_found_by_it():
    assert len({one.heading for one in REGISTRY.values()}) == len(REGISTRY)
    for one in REGISTRY.values():
        for name in (one.key, one.heading, one.heading.upper(), f" {one.key.replace('_', ' ')} "):
            assert column_of(name) is one, name
        for name in one.also:
            assert column_of(name) is one, f"{name} is another name of {one.key}, and the key or heading of another column"
    assert {*SHORT_KEYS, *MODEL_KEYS, *HISTORY_KEYS, *ESTIMATE_KEYS, *CSV_KEYS} <= {*REGISTRY}
    assert [column_of(key).key for key in WIDE_KEYS] == list(WIDE_KEYS)


@in_one_test(
    ("name", "key"),
    [
        ("KV lecture", "kv_bytes_per_token_from_threshold"), ("KV from threshold", "kv_bytes_per_token_from_threshold"),
        ("kv from premium", "kv_bytes_per_token_from_premium"), ("bandwidth-bound", "bandwidth_bound_fraction"),
        ("mark-up", "input_price_cost_ratio_by_price"), ("price/cost", "input_price_cost_ratio_by_price"),
        ("KV", "kv_bytes_per_token_typical"), ("typical kv", "kv_bytes_per_token_typical"), ("active", "active_params"),
        ("known", "kv_bytes_per_token_of_architecture"), ("Prices Missed", "prices_missed"), ("cache", "cache_tier"), ("in/out", "price"),
    ],
)  # fmt: skip
def test_people_call_a_column_by_many_names(name: str, key: str):
    assert column_of(name).key == key


@in_one_test(("name", "near"), [("modle", "model"), ("premum out", "premium out"), ("KV from treshold", "KV from threshold")])
def test_an_unknown_name_gets_the_nearest_one(name: str, near: str):
    with pytest.raises(UnknownName, match=f"did you mean .*'{near}'"):
        column_of(name)


def test_all_columns_are_explained():
    (table, _) = explained(current())
    told = {row["column"]: row for row in table.rows}
    assert {*told} == {one.heading for one in REGISTRY.values() if one.about} and all(
        f"Key: {one.key}" in told[one.heading]["what it is"] for one in REGISTRY.values() if one.about
    )
    assert told["KV from premium"]["right"] == "7 of 9" and told["active parameters"]["right"] == "7 of 7 closed"


@in_one_test("name", [*SHORT_KEYS, *WIDE_KEYS, "cache_read_ratio", "check_joint"])
def test_sheets_are_sorted_by_any_column_and_those_without_a_value_come_last(name: str):
    value = column_of(name).ordered_by
    for by in (name, f"-{name}"):
        values = [value(one) for one in sort_sheets(current(), by)]
        known = [one for one in values if one not in (None, "")]
        texts = isinstance(known[0], str)
        assert known == sorted(known, reverse=texts == by.startswith("-")) and values[: len(known)] == known


def test_a_frame_has_the_row_of_the_csv_for_each_sheet():
    run = infer(["gemini-3.1-pro", "claude-opus-5"])
    frame = run.to_frame().set_index("model")
    assert list(run.to_frame().columns) == list(CSV_KEYS) and list(frame.index) == [one.sheet.model for one in run]
    assert frame["kv_bytes_per_token_from_threshold"].dtype == float and frame["premium_out"].isna().tolist() == [False, True]


@in_one_test(
    ("wanted", "count"),
    [
        (["provider=openai"], 13), (["provider=openai, x-ai"], 18), (["model=GPT-6*"], 5), (["provider=openai", "model=*sol"], 3),
        (["flag=off*"], 2), (["tier=off_peak"], 2), (["cache=flash"], 8), (["currency=CNY"], 7), (["region=-"], 62),
        (["flag=off"], 2), (["flag=CNY"], 7), (["flag=cny, off*,"], 9), (["flag=prior"], 62),
    ],
)  # fmt: skip
def test_sheets_are_picked_by_patterns(wanted: list[str], count: int):
    assert len(picked(current(), wanted)) == count


@in_one_test(
    ("wanted", "said"),
    [
        (["flag=zzz"], "no sheet matches --where flag=zzz; allowed: .*priced in CNY"),
        (["provider=opnai"], "no sheet matches --where provider=opnai; did you mean 'openai'"),
        (["currency=EUR"], "allowed: CNY, USD"),
        (["provider"], "write provider=PATTERN"),
        (["provider="], "write provider=PATTERN"),
    ],
)
def test_where_nothing_matches_it_says_what_there_is(wanted: list[str], said: str):
    with pytest.raises(WrongValue, match=said):
        picked(current(), wanted)
    with pytest.raises(UnknownName, match="did you mean 'provider'"):
        picked(current(), ["providr=x"])
    assert {"provider", "model", "flag"} <= {*OF_TEXT}


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
