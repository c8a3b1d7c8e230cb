"""Sheets in, inferences out: what the shipped prices imply, on one set of anchors, and what each reading gets wrong.

Expected readings: those of the lecture (E3, E8, E13 of tests/validation/notes.csv), and worked by hand; prices: pricing_data.
"""

import csv
import io
import json
from datetime import date
from functools import cache

import pytest

from derive.errors import BacksolveError, UnknownName, WrongUnit, WrongValue
from derive.preset_rows import Architecture
from derive.tables import shipped
from invert.anchors import lecture_anchors
from invert.assumptions import ASSUMED, FACTS, UNLESS_GIVEN, USUAL
from invert.data import read_data
from invert.inference import infer
from invert.records import verdict
from invert.report.columns import flat
from invert.report.contract import saved
from invert.report.sheet import report
from invert.result import Inference
from invert.sheets.assemble import NotBegun, NotReleased, models, sheets
from invert.sheets.observables import rounding_cell
from invert.sheets.read import load
from tests.tools.inferred import current
from tests.tools.tables import reading
from tests.tools.together import in_one_test

# Sheets that the readings are about, with the threshold of each, or None: E8 and E13.


@cache
def one(name: str, **more) -> Inference:
    (found,) = infer([name], **more).inferences
    return found


def current_sheet(model: str) -> Inference:
    return next(found for found in current().inferences if found.sheet.model == model)


def own(tmp_path, *rows: str) -> str:
    path = tmp_path / "own.csv"
    path.write_text("\n".join(["provider,model,component,amount,threshold_tokens,ttl_seconds,currency", *rows, ""]))
    return str(path)


# -- all sheets -----------------------------------------------------------------------------------------------------


def test_every_current_sheet_gives_an_inference():
    table = current()
    assert table.problems == () and table.notes == ()
    assert len(table.inferences) >= 15
    assert len({found.sheet.provider for found in table.inferences}) >= 8
    assert table.as_of == date(2026, 11, 20)
    assert {found.sheet.as_of for found in table.inferences} == {table.as_of}


def test_every_inference_is_whole():
    """What a sheet offers is read, and what it does not offer is not made up."""
    for found in current().inferences:
        sheet, seen = found.sheet, found.observables
        assert len(found.pairs) == len(sheet.bands) - 1 == len(seen.pairs)
        assert [tier.ttl_seconds for tier in found.tiers] == [offer.ttl_seconds for offer in sheet.writes if offer.ttl_seconds]
        assert bool(found.bandwidth_bound.values) == (seen.output_input_ratio.value > 1)
        by_writes = any(not tariff.problem for tariff in found.tariffs)
        assert (found.implied_drain_time is not None) == (bool(found.pairs) and (seen.storage_price is not None or by_writes))
        for pair in found.pairs:
            assert pair.lecture.values["kv_bytes_per_token"] > 0
            assert bool(pair.joint.values) != bool(pair.joint.problem)


OTHER_MEANS = {"short_context": "20k", "long_context": "300k"}
"""At a threshold of 200k: 20 k and 300 k, as in one case of E8, and not those of the rule here."""


def test_readings_of_gemini_on_the_lecture_s_anchors():
    (found,) = infer(["gemini-3.1-pro"], anchors=OTHER_MEANS).inferences
    (pair,) = found.pairs
    assert round(pair.lecture.values["kv_bytes_per_token"], 1) == 1666.7  # 1:38:27
    # 7.7 kB at a ridge of 300 and 100 billion parameters, half of it at a ridge of 600
    assert round(pair.joint.values["kv_bytes_per_token"] / 1e3 * 100e9 / found.anchors.values["active_params"], 2) == 3.85
    assert round(found.bandwidth_bound.values["bandwidth_bound_fraction"], 3) == 0.833  # E8
    assert round(found.implied_drain_time.values["implied_drain_time"] * 1e3, 1) == 17.1  # 5.3, in 8 to 25 ms
    assert found.tiers == ()


def test_tiers_of_the_cache_lifetimes():
    found = one("claude-opus-5")
    assert [(tier.ttl_seconds, tier.lecture, tier.devices, tier.disclosed) for tier in found.tiers] == [
        (300, "flash", "flash", "memory"),  # 2:01:52 against platform.claude.com: held in memory only
        (3600, "disk", "flash", "memory"),
    ]
    assert [tier.disclosed for tier in one("gpt-6-sol").tiers] == [None, None]  # 30 min and 12 h: nothing is said of these


# -- forward checks -------------------------------------------------------------------------------------------------


def test_the_lecture_pushed_forward_fails_gemini():
    """Decision 10 of the project: an output premium of about 1.2 and an input premium of 1.0, against 1.5 and 2.0."""
    (found,) = infer(["gemini-3.1-pro"], anchors=OTHER_MEANS).inferences
    checks = {check.component: check for check in found.pairs[0].lecture_checks}
    assert (checks["premium_out"].predicted, checks["premium_out"].published) == (pytest.approx(7.4 / 6, rel=1e-12), 1.5)
    assert round(checks["premium_out"].predicted, 2) == 1.23
    assert (checks["premium_in"].predicted, checks["premium_in"].published) == (pytest.approx(1.0, rel=1e-12), 2.0)
    assert not checks["premium_out"].inside_rounding_cell and not checks["premium_in"].inside_rounding_cell
    assert checks["output_input_ratio"].used_by_reading
    assert verdict(found.pairs[0].lecture_checks) == verdict(one("gemini-3.1-pro").pairs[0].lecture_checks) == "fail"


def test_no_reading_is_judged_by_what_it_used():
    for found in current().inferences:
        for place, pair in enumerate(found.pairs):
            used = {check.component for check in pair.joint_checks if check.used_by_reading}
            if pair.joint.values:
                assert used == {"output_input_ratio", "premium_in", "premium_out"}
                exact = [check for check in pair.joint_checks if check.used_by_reading]
                assert all(check.predicted == pytest.approx(check.published, rel=1e-9) for check in exact)
            assert {check.component for check in pair.lecture_checks if check.used_by_reading} <= {"output_input_ratio"}
            bands = found.sheet.bands[place:]
            expected = {"output_input_ratio", "premium_in", "premium_out"}
            expected |= {f"{name}@{band.threshold_tokens}" for band in bands[2:] for name in ("premium_in", "premium_out")}
            expected |= {"storage_price"} if found.observables.storage_price and place == 0 else set()
            expected |= {"cache_read_price"} if bands[0].cache_read else set()
            assert {check.component for check in pair.lecture_checks} == expected


REACHED = [  # sheet, changes, verdict of the joint reading
    ("claude-sonnet-4-5", {}, "pass (bound only)"),
    ("gemini-3.1-pro", {}, "fail"),  # storage at 4.5 against 2.03 predicted
    ("gemini-3.1-pro", {"cache_storage": "2"}, "pass"),  # 2.03 lies in [1.73, 2.24]
    ("gemini-3.1-pro", {"cache_storage": "3"}, "fail"),  # and not in [2.74, 3.46]
    ("gemini-3.1-pro", {"cache_storage": "2", "cache_read": "0.00001"}, "fail"),  # a read sold below its cost
    ("gemini-3.1-pro", {"cache_storage": "0"}, "pass (bound only)"),
    ("gemini-3.1-pro", {"cache_storage": "0", "cache_read": "0"}, "not testable"),
    ("qwen3-coder-plus", {}, "fail"),  # its further bands
]


@pytest.mark.usefixtures("tiered_sonnet")
@pytest.mark.parametrize(("name", "changes", "expected"), REACHED)
def test_every_verdict_is_reached(name: str, changes: dict[str, str], expected: str):
    (found,) = infer([name], changes=changes).inferences
    assert verdict(found.pairs[0].joint_checks) == expected


def test_a_storage_price_is_held_against_the_cell_it_was_published_in():
    """3 USD an hour: [2.74, 3.46]. With a sweep of 23 ms and means of 20k and 300k the joint reading says 3.214 x 24/23 = 3.354."""
    anchors = {"sweep_time": 0.023, **OTHER_MEANS}
    (found,) = infer(["gemini-3.1-pro"], changes={"cache_storage": "3"}, anchors=anchors).inferences
    (check,) = [check for check in found.pairs[0].joint_checks if check.component == "storage_price"]
    assert check.predicted * 3.6e9 == pytest.approx(
        2 * 3600 / (260_000 / 3 * 0.023 * 14 / 13), rel=1e-12
    )  # p_in / (L* tau (1 + alpha y m_lo))
    assert rounding_cell(3)[0] < check.predicted * 3.6e9 < rounding_cell(3)[1]
    assert check.inside_rounding_cell


def test_a_sheet_made_by_the_model_passes_its_own_check(tmp_path):
    """w = 5, L* = 100k, means 100k and 350k, halfway, and so 750k: output 6, 8.5 and 12.5 at an input of 1."""
    rows = [f"acme,m,{component},{amount},{at},," for at, amounts in ((0, (1, 6)), (200_000, (1, 8.5)), (500_000, (1, 12.5)))
            for component, amount in zip(("input", "output"), amounts, strict=True)]  # fmt: skip
    means = {"short_context": "100k", "long_context": "350k"}
    (found,) = infer(["acme/m"], prices=own(tmp_path, *rows), anchors=means).inferences
    assert found.pairs[0].joint.values["balance_context"] == pytest.approx(1e5, rel=1e-12)
    assert found.pairs[0].joint.values["weight_compute_ratio"] == pytest.approx(5, rel=1e-12)
    assert {check.component: check.inside_rounding_cell for check in found.pairs[0].joint_checks if not check.used_by_reading} == {
        "premium_in@500000": True, "premium_out@500000": True,
    }  # fmt: skip
    assert verdict(found.pairs[0].joint_checks) == "pass"
    assert [pair.joint.values["balance_context"] for pair in found.pairs] == pytest.approx([1e5, 1e5], rel=1e-12)


# -- anchors --------------------------------------------------------------------------------------------------------


def test_all_columns_rest_on_the_same_anchors_and_echo_them():
    table = current()
    assert table.anchors.values == {**USUAL.facts, "ridge_point": 600.0} and set(USUAL.facts) == {*FACTS, *ASSUMED} - {*UNLESS_GIVEN}
    # 2 x 300 multiplies a byte at one byte per weight: E3, 2
    for found in table.inferences:
        assert {name: value for name, value in found.anchors.values.items() if name != "active_params"} == table.anchors.values
        assert found.anchors.values.keys() == found.anchors.origin.keys()
        for pair in found.pairs:
            for made in (pair.lecture, pair.joint):
                anchors = lecture_anchors(found.anchors, USUAL) if made is pair.lecture else found.anchors.values
                used = {name: value for name, value in made.solution.given.items() if name in anchors}
                assert used and used == {name: anchors[name] for name in used}


def test_active_params_come_from_the_architecture_or_from_the_price():
    for found in current().inferences:
        by_price = found.anchors.origin["active_params"] == "market"
        assert not by_price or found.model.active_params is None
        assert found.size_stated is not by_price
        assert not by_price or found.anchors.values["active_params"] == found.market["active_params"].median
        assert "active_params assumed" not in found.flags
    assert one("deepseek-v4-pro").anchors.values["active_params"] == 49e9
    stated = {name: one(name).anchors for name in ("kimi-k3", "mimo-v2.5-pro")}
    assert {name: anchors.origin["active_params"] for name, anchors in stated.items()} == {
        "kimi-k3": "architectures.csv",
        "mimo-v2.5-pro": "open_models.csv (read)",
    }
    assert stated["mimo-v2.5-pro"].values["active_params"] == 42e9


def test_a_given_anchor_holds_for_every_sheet_and_scales_the_lecture_s_reading():
    table = infer(anchors={"active_params": "60B"})
    before = {(found.sheet.provider, found.sheet.model): found for found in current().inferences}
    assert table.anchors.values["active_params"] == 60e9 and table.anchors.origin["active_params"] == "given"
    for found in table.inferences:
        assert found.anchors == table.anchors and "active_params assumed" not in found.flags
        for pair, old in zip(found.pairs, before[found.sheet.provider, found.sheet.model].pairs, strict=True):
            was = before[found.sheet.provider, found.sheet.model].anchors
            for name, size in (("lecture", lecture_anchors(was, USUAL)["active_params"]), ("joint", was.values["active_params"])):
                factor = 60e9 / size
                assert getattr(pair, name).values.get("kv_bytes_per_token", 0) == pytest.approx(
                    factor * getattr(old, name).values.get("kv_bytes_per_token", 0), rel=1e-12
                )
    assert round(one("gemini-3.1-pro").pairs[0].lecture.values["kv_bytes_per_token"] * 0.6) == 1000


@in_one_test(
    ("anchors", "kv", "ridge"),
    [
        ({"bytes_per_weight": "0.5 B"}, 2500 / 3, 1200),  # E3: 833 for fp4
        ({"bytes_per_weight": 2.0}, 10000 / 3, 300),  # E3: 3,333 for bf16
        ({"machine_balance_ratio": 281.25}, 1e11 / (281.25 * 2e5), 562.5),
        ({"rho": 150}, 10000 / 3, 300),  # the symbol will do
        ({"overlap": 0, "sweep_time": "20ms", "holding_cost_ratio": 2, "prompt_position": 1}, 5000 / 3, 600),
    ],
)
def test_anchors_move_the_lecture_s_reading_as_the_equation_has_it(anchors: dict, kv: float, ridge: float):
    (found,) = infer(["gemini-3.1-pro"], anchors=anchors).inferences
    assert found.pairs[0].lecture.values["kv_bytes_per_token"] == pytest.approx(kv, rel=1e-12)
    assert found.anchors.values["ridge_point"] == pytest.approx(ridge, rel=1e-12)


def test_given_means_replace_the_band_means():
    """E8: (100 k, 400 k) with both premiums gives L* = 66.67 k."""
    (found,) = infer(["gemini-3.1-pro"], anchors={"short_context": "100k", "long_context": "400k"}).inferences
    assert found.pairs[0].joint.values["balance_context"] == pytest.approx(2e5 / 3, rel=1e-12)


@in_one_test(
    ("anchors", "error", "message"),
    [
        ({"active_param": "60B"}, UnknownName, "did you mean 'active_params'"),
        ({"batch": 3}, UnknownName, "unknown anchor 'batch'; allowed: active_params"),
        ({"bacth": 3}, UnknownName, "unknown anchor 'bacth'; allowed: active_params"),
        ({"overlp": 1}, UnknownName, "unknown anchor 'overlp'; did you mean 'overlap'?"),
        ({"ridge_point": 300}, UnknownName, "machine_balance_ratio"),
        ({"active_params": "60 tokens"}, WrongUnit, "is in token"),
        ({"active_params": 0}, WrongValue, "must be > 0"),
        ({"active_params": -1e11}, WrongValue, "must be > 0"),
        ({"active_params": float("nan")}, WrongValue, "finite"),
        ({"sweep_time": float("inf")}, WrongValue, "finite"),
        ({"active_params": 1e30}, WrongValue, "absurd"),
        ({"overlap": 1.5}, WrongValue, "in [0, 1]"),
        ({"overlap": "150%"}, WrongValue, "in [0, 1]"),
    ],
)
def test_a_wrong_anchor_is_refused(anchors: dict, error: type[BacksolveError], message: str):
    with pytest.raises(error) as caught:
        infer(anchors=anchors)
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.usefixtures("tiered_sonnet")
def test_an_inconsistent_sheet_has_no_joint_reading_and_is_flagged():
    """Claude Sonnet 4.5, costs added up, prefill 1.3 times as fast."""
    anchors = {"overlap": 0, "prefill_decode_flops_ratio": 1.3, "prompt_position": 0.5}
    (found,) = infer(["claude-sonnet-4-5"], anchors=anchors).inferences
    (pair,) = found.pairs
    assert pair.joint.values == {} and "memory_ratio" in pair.joint.problem
    assert "inconsistent" in found.flags
    assert pair.joint_checks == () and verdict(pair.joint_checks) == "not testable"
    assert pair.lecture.values["kv_bytes_per_token"] == pytest.approx(5000 / 3)


# -- history --------------------------------------------------------------------------------------------------------

HISTORY = [  # sheet, day, tier, input and output of each band, cache read of the base band
    ("claude-opus-4-6", date(2026, 3, 12), "standard", [(5, 25), (10, 37.5)], 0.5),  # premium dropped on 2026-03-13
    ("claude-opus-4-6", date(2026, 3, 13), "standard", [(5, 25)], 0.5),
    ("gemini-2.5-pro", date(2025, 12, 17), "standard", [(1.25, 10), (2.5, 15)], 0.31),  # E13: cache read .31 to .125
    ("gemini-2.5-pro", date(2025, 12, 18), "standard", [(1.25, 10), (2.5, 15)], 0.125),
    ("deepseek-v4-pro", date(2026, 4, 24), "standard", [(1.74, 3.48)], 0.145),  # launch list
    ("deepseek-v4-pro", date(2026, 4, 26), "standard", [(0.435, 0.87)], 0.003625),  # promotion
    ("deepseek-v4-pro", date(2026, 8, 16), "standard", [(0.435, 0.87)], 0.003625),
    ("deepseek-v4-pro", date(2026, 8, 17), "off_peak", [(0.66, 1.98)], 0.022),  # peak and off-peak lists since then
]


@in_one_test(("name", "day", "tier", "prices", "read"), HISTORY)
def test_sheets_before_and_after_their_changes(name: str, day: date, tier: str, prices: list, read: float):
    table = infer([name], as_of=day)
    (found,) = table.inferences
    assert (table.as_of, found.sheet.as_of, found.sheet.service_tier) == (day, day, tier)
    assert [(band.input.amount, band.output.amount) for band in found.sheet.bands] == prices
    assert found.sheet.bands[0].cache_read.amount == read
    assert len(found.pairs) == len(prices) - 1
    assert ("one band" in found.flags) == (len(prices) == 1)


# -- known architectures --------------------------------------------------------------------------------------------

KNOWN = [  # sheet, architecture, bytes stored and read per token in bf16, source
    ("baidu-qianfan/deepseek-v3", "DeepSeek-V3", 70_272, 70_272, "E3, 5: 61 x 576 values"),
    ("MiniMax-M3", "MiniMax-M3", 137_472, 20_736, "20,736 B read"),
    ("qwen3-coder-plus", "Qwen3-Coder-480B-A35B", 253_952, 253_952, "254 kB"),
    ("qwen3-coder-flash", "Qwen3-30B-A3B", 98_304, 98_304, "98 kB"),
    ("qwen3.5-plus", "Qwen3.5-397B-A17B", 30_720, 30_720, "31 kB"),
]


@in_one_test(("name", "architecture", "stored", "read", "source"), KNOWN, ids=[row[0] for row in KNOWN])
def test_a_public_architecture_stands_beside_the_readings(name: str, architecture: str, stored: float, read: float, source: str):
    known = one(name).known
    assert (known.architecture, known.stored, known.read) == (architecture, stored, read)


def test_architectures_are_named_where_they_are_public_and_nowhere_else():
    """Public, and with an equation that covers its attention: of glm-5.3-flash the size alone is known."""
    covered = {row.model for row in shipped.rows_of(Architecture) if row.kv_formula}
    for found in current().inferences:
        public = bool(found.model and found.model.architecture in covered)
        assert (found.known is not None) == public
        assert any(flag.startswith("architecture") for flag in found.flags) == public
    assert one("gemini-3.1-pro").known is None and one("glm-5.3-flash").known is None and one("glm-5.3-flash").size_stated


# -- flags ----------------------------------------------------------------------------------------------------------

FLAGS = [
    ("gemini-3.1-pro", ("KV PRIOR-DOMINATED",)),
    ("gpt-6.1-terra", ("release not known", "KV PRIOR-DOMINATED")),
    ("claude-opus-5", ("one band", "size extrapolated", "KV PRIOR-DOMINATED")),
    ("gemini-3.8-flash", ("one band", "introductory, ends 2027-01-01", "KV PRIOR-DOMINATED")),
    ("qwen3-coder-plus", ("4 bands, first pair shown", "architecture assumed", "KV PRIOR-DOMINATED")),
    ("baidu-qianfan/deepseek-v3", ("one band", "architecture known", "KV PRIOR-DOMINATED", "priced in CNY")),
    ("deepseek-v4-flash", ("one band", "weights may not be DeepSeek-V4-Flash", "KV PRIOR-DOMINATED", "off-peak")),
    ("kimi-k3", ("one band", "architecture known", "KV PRIOR-DOMINATED")),
]


@in_one_test(("name", "flags"), FLAGS)
def test_flags(name: str, flags: tuple[str, ...]):
    assert one(name).flags == flags


def test_an_output_price_below_input_is_flagged_and_gives_no_fraction():
    (found,) = infer(["gemini-3.1-pro"], changes={"output": "2", "output@200k": "3"}).inferences
    assert "output not above input" in found.flags
    assert found.bandwidth_bound.values == {} and "output_input_ratio > 1" in found.bandwidth_bound.problem
    assert found.pairs[0].lecture.values["kv_bytes_per_token"] == pytest.approx(5000 / 3)


# -- prices of one's own, tiers, names ------------------------------------------------------------------------------


def test_a_row_of_one_s_own_replaces_the_shipped_one(tmp_path):
    changed = infer(["gemini-3.1-pro"], prices=own(tmp_path, "google,gemini-3.1-pro-preview,output,10,,,")).inferences[0]
    assert changed.observables.output_input_ratio.value == 5
    assert changed.pairs[0].pair.premium_out.value == pytest.approx(1.8)
    assert changed.sheet.bands[0].output.verification == "user" and changed.sheet.bands[0].input.verification == "quoted"
    assert one("gemini-3.1-pro").observables.output_input_ratio.value == 6


def test_a_sheet_of_one_s_own_stands_among_the_others(tmp_path):
    table = infer(prices=own(tmp_path, "acme,m,input,2,,,", "acme,m,output,8,,,"))
    assert table.problems == () and len(table.inferences) == len(current().inferences) + 1
    assert table.inferences[0].sheet.provider == "acme" and table.inferences[0].observables.output_input_ratio.value == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (["acme,m,input,abc,,,", "acme,m,output,8,,,"], "own.csv row 4, column amount"),
        (["acme,m,input,2,,,", "acme,m,input,3,,,", "acme,m,output,8,,,"], "own.csv row 5: repeats the key of "),
        (["acme,m,input,2,200000,,", "acme,m,output,8,200000,,"], "own.csv row 4, column threshold_tokens"),
        (["acme,m,input,2,,,"], "own.csv row 4, column component"),
        (["acme,m,input,2,,,XYZ", "acme,m,output,2,,,"], "own.csv row 4, column currency"),
    ],
)
def test_a_bad_row_is_reported_and_leaves_the_others(tmp_path, rows: list[str], place: str):
    table = infer(prices=own(tmp_path, "other,n,input,1,,,", "other,n,output,5,,,", *rows))
    assert any(place in str(problem) for problem in table.problems)
    names = [f"{found.sheet.provider}/{found.sheet.model}" for found in table.inferences]
    assert "other/n" in names and len(names) >= len(current().inferences) + 1


def test_all_tiers():
    chosen = ["google", "deepseek", "anthropic"]
    table = infer(provider=chosen, everything=True)
    assert table.problems == ()
    assert {found.sheet.service_tier for found in table.inferences} >= {"standard", "off_peak", "peak", "batch", "fast"}
    assert [found.sheet for found in infer(provider=chosen, tier="all").inferences] == [found.sheet for found in table.inferences]
    default = {(found.sheet.provider, found.sheet.model) for found in current().inferences if found.sheet.provider in chosen}
    assert default <= {(found.sheet.provider, found.sheet.model) for found in table.inferences}
    batch = infer(["gemini-2.5-pro"], tier="batch").inferences[0]
    assert batch.sheet.bands[0].input.amount == 0.625 and "batch" in batch.flags


def test_one_provider_and_names_in_the_order_asked():
    assert {found.sheet.provider for found in infer(provider="google").inferences} == {"google"}
    assert [found.sheet.model for found in infer(["gpt-5.4", "gemini-2.5-pro"]).inferences] == ["gpt-5.4", "gemini-2.5-pro"]
    table = infer(["deepseek-v4-pro"])
    assert [found.sheet.provider for found in table.inferences] == ["deepseek"]
    assert table.notes == ("deepseek-v4-pro: taken from deepseek/deepseek-v4-pro, the first party; also sold by volcengine",)


@in_one_test(
    ("asked", "message"),
    [
        ({"names": ["gemini-3.1-prow"]}, "google/gemini-3.1-pro-preview"),
        ({"names": ["nothing-like-it"]}, "prices list"),
        ({"provider": "gogle"}, "did you mean 'google'"),
        ({"tier": "batsh"}, "did you mean 'batch'"),
        ({"names": ["gemini-3.1-pro"], "changes": {"outptu": "3"}}, "did you mean 'output'"),
        ({"names": ["gemini-3.1-pro"], "changes": {"cache_write@300k": "3"}}, "output@200k"),
        ({"names": ["gemini-3.1-pro"], "changes": {"output": "free"}}, "not a number"),
        ({"names": ["gemini-3.1-pro"], "changes": {"input": "0"}}, "zero"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest_name(asked: dict, message: str):
    with pytest.raises(BacksolveError) as caught:
        infer(**asked)
    assert message in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.slow
def test_a_sheet_with_an_absurd_ratio_is_a_problem_that_names_it_and_stops_no_other(tmp_path):
    table = infer(prices=own(tmp_path, "acme,m,input,0.0001,,,", "acme,m,output,4,,,"))
    (problem,) = table.problems
    assert str(problem).startswith("acme/m: ") and "40000" in str(problem) and "\n" not in str(problem)
    assert [flat(found) for found in table.inferences] == [flat(found) for found in current().inferences]


# -- days before and after the data ---------------------------------------------------------------------------------


def test_a_day_before_anyone_read_the_prices_is_flagged():
    table = infer(["nova-premier", "gpt-6.1-terra"], as_of=date(2020, 1, 1))
    assert len(table) == 2 and table.problems == ()
    assert all("start not known" in found.flags for found in table.inferences)
    assert not any("start not known" in found.flags for found in current().inferences)


def test_a_sheet_of_a_day_before_the_release_of_its_model_is_left_out_and_counted():
    day = date(2026, 3, 4)
    released = {(row.provider, row.model): row.release_date or day for row in models(read_data())}
    table = infer(as_of=day)
    left_out = [sheet for sheet in sheets(load(), day)[0] if released[sheet.provider, sheet.model] > day]
    assert left_out and not any(released[one.sheet.provider, one.sheet.model] > day for one in table)
    (note,) = [note for note in table.notes if "left out: their models were" in note]
    assert note.startswith(f"{len(left_out)} sheets left out: their models were released after 2026-03-04 (")
    assert all(f"{sheet.model} {released[sheet.provider, sheet.model]}" in note for sheet in left_out[:3]) and note.endswith(", ...)")
    assert json.loads(saved(table))["run"]["notes"] == list(table.notes)
    assert not any("left out" in note for note in current().notes)


def test_a_model_of_unknown_release_is_not_put_before_the_earliest_day_that_a_table_has_of_it_unless_it_is_named():
    day = date(2026, 2, 6)
    table = infer(as_of=day)
    shown = {one.sheet.model for one in table}
    assert "gpt-5.2" in shown and not shown & {"gpt-6.1-terra", "claude-fable-5-2", "nova-premier"}
    (note,) = [note for note in table.notes if "no release is known" in note]
    assert (
        " sheets left out: no table has their models by 2026-02-06, and " in note and "(first seen: qwen3-coder-flash 2026-11-20, " in note
    )
    assert int(note.split()[0]) == sum(row.release_date is None for row in models(read_data()))
    assert not any("no release is known" in note for note in current().notes)
    named = infer("gpt-6.1-terra", as_of=day)
    assert "start not known" in named[0].flags
    said = "a model shown without a row in any table by 2026-02-06, and no release is known (first seen: gpt-6.1-terra 2026-11-20)"
    assert named.notes == (said,)


def test_a_model_of_a_later_release_is_refused_by_name_and_left_out_of_a_pattern():
    with pytest.raises(NotReleased, match=r"openai/gpt-5.4 was released on 2026-03-05, after 2026-03-04; --as-of 2026-03-05"):
        infer(["gemini-3.1-pro", "gpt-5.4"], as_of=date(2026, 3, 4))
    with pytest.raises(NotReleased, match="'minimax': minimax/MiniMax-M3 was released on 2026-06-01"):
        infer(provider="minimax", as_of=date(2026, 3, 4))
    assert infer("gpt-5.4", as_of=date(2026, 3, 5)).notes == ()
    table = infer("gpt-5.[24]", as_of=date(2026, 3, 4))
    assert [one.sheet.model for one in table] == ["gpt-5.2"]
    assert table.notes == ("1 sheet left out: its model was released after 2026-03-04 (gpt-5.4 2026-03-05)",)


@pytest.mark.parametrize(("day", "noted"), [(date(2026, 11, 20), False), (date(2026, 11, 21), True), (date(2030, 1, 1), True)])
def test_a_day_after_the_newest_prices_is_noted(day: date, noted: bool):
    table = infer(["gemini-3.1-pro"], as_of=day)
    assert table.as_of == day and bool(table.notes) == noted
    assert not noted or ("2026-11-20" in table.notes[0] and day.isoformat() in table.notes[0])


# -- tables that ship with a fault ----------------------------------------------------------------------------------


def edited(name: str, change) -> shipped.Tables:
    """The tables that ship with the rows of one of them put through `change`, which may alter them or give none."""
    cells = shipped.read().raw_rows(name)
    rows = [changed for row in cells for changed in [change(dict(row))] if changed]
    out = io.StringIO()
    writer = csv.DictWriter(out, cells[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return shipped.read().edited(**{name: out.getvalue()})


def test_an_architecture_that_does_not_exist_is_named_with_its_row_and_stops_its_sheet_alone():
    with reading(edited("models", lambda row: row | {"architecture": "Nothing-1B"} if row["model"] == "kimi-k3" else row)):
        table = infer(["kimi-k3", "gemini-3.1-pro"])
    assert [one.sheet.model for one in table.inferences] == ["gemini-3.1-pro-preview"]
    of_row, of_sheet = map(str, table.problems)
    assert all(word in of_row for word in ("models.csv row ", "column architecture", "'Nothing-1B'", "architectures.csv"))
    assert of_sheet == f"moonshotai/kimi-k3: {of_row}"


def test_an_unknown_tier_is_named_with_its_row_and_stops_storage_alone():
    def taped(row):
        return row | {"tier": "tape"} if (row["tier"], row["device"]) == ("hdd", "lecture") else row

    with reading(edited("memory_tiers", taped)):
        table = infer(["claude-opus-5"])
    (found,) = table.inferences
    assert found.tiers == () == found.storage and "storage left out" in found.flags
    assert str(table.problems[0]).startswith("memory_tiers.csv row ") and "'tape' is not known" in str(table.problems[0])
    assert found.no_storage == str(table.problems[0]) and found.no_storage in " ".join(report(found, table).split())
    assert found.kv_bytes == current_sheet("claude-opus-5").kv_bytes


def test_means_of_bands_must_ascend():
    """A mean below the threshold that lies above the mean over it is a problem of that sheet, and stops no other."""
    table = infer(["gemini-3.1-pro", "gpt-5.4"], anchors={"short_context": "370k"})
    assert [found.sheet.model for found in table.inferences] == ["gpt-5.4"]
    (problem,) = table.problems
    assert "gemini-3.1-pro" in str(problem) and "must be below long_context 367.9k tokens" in str(problem)


@pytest.mark.parametrize(
    ("input_in", "output_in", "read_in", "flag"),
    [("CNY", "CNY", "CNY", "priced in CNY"), *((*of, "priced in CNY and USD") for of in (("USD", "CNY", "USD"), ("USD", "USD", "CNY")))],
)
def test_the_currencies_of_a_sheet_are_flagged(input_in: str, output_in: str, read_in: str, flag: str, tmp_path):
    path = tmp_path / "own.csv"
    rows = [f"acme,m,input,1,{input_in}", f"acme,m,output,9.5,{output_in}", f"acme,m,cache_read,0.1,{read_in}"]
    path.write_text("\n".join(["provider,model,component,amount,currency", *rows]))
    (found,) = infer("acme/m", prices=path).inferences
    assert [one for one in found.flags if one.startswith("priced")] == [flag]
    assert ("9.5 CNY" in report(found, infer("acme/m", prices=path))) == (output_in == "CNY" and input_in != "CNY")


def test_a_model_whose_prices_begin_later_is_not_called_unknown(tmp_path):
    path = tmp_path / "own.csv"
    rows = [f"acme,m,{name},{amount},2027-03-01" for name, amount in (("input", 1), ("output", 4))]
    path.write_text("\n".join(["provider,model,component,amount,effective_date", *rows]))
    with pytest.raises(NotBegun, match="acme/m: its prices begin on 2027-03-01, after 2026-11-20; --as-of 2027-03-01"):
        infer("acme/m", prices=path)
    assert infer("acme/m", prices=path, as_of=date(2027, 3, 1)).inferences


@pytest.mark.parametrize("bad", ["input", "output"])
def test_a_sheet_of_which_a_row_cannot_be_read_says_so_beside_what_is_left_of_it(bad: str):
    rows = {"input": "acme,m,input,200000,4", "output": "acme,m,output,200000,18"}
    header = "provider,model,component,threshold_tokens,amount"
    whole = [header, "acme,m,input,,2", "acme,m,output,,12", "acme,n,input,,2", "acme,n,output,,12", *rows.values()]
    assert not any("some prices could not be read" in one.flags for one in infer(provider="acme", prices=whole))
    both = infer(provider="acme", prices=[*whole[:-2], *(row[:-1] + "x" for row in rows.values())])
    assert {one.sheet.model: "some prices could not be read" in one.flags for one in both} == {"m": True, "n": False}
    one = infer(provider="acme", prices=[*whole[:-2], *(row + "x" * (name == bad) for name, row in rows.items())])
    assert [of.sheet.model for of in one] == ["n"] and f"column amount: '{rows[bad].rpartition(',')[2]}x'" in str(one.problems[0])


def test_a_day_that_is_no_date_is_refused_with_how_it_is_written():
    with pytest.raises(WrongValue, match=r"as_of = '2026-11-20': a day is a date of datetime, as date\(2026, 11, 20\)"):
        infer("kimi-k3", as_of="2026-11-20")  # type: ignore[arg-type]
