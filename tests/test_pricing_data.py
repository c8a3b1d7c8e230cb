"""The figures of tests/tables: graded, and consistent with one another and with what their sources say."""

import json
from datetime import date
from functools import partial
from math import prod
from pathlib import Path

import pytest

from derive.preset_record import KV_INPUTS
from derive.tables import shipped
from invert.estimators.premium import calibration_book
from invert.sheets.assemble import models, sheets
from invert.sheets.read import load
from invert.sheets.rows import DISCLOSED
from invert.sheets.rules import check
from tests.tools.data import shipped_data
from tests.tools.tables import rows_of_file
from tests.tools.together import in_one_test

DATA = Path(shipped.FOLDER)
PACKAGE = json.loads((DATA / "datapackage.json").read_text())
rows = partial(rows_of_file, DATA)
RESOURCES = {resource["path"]: resource["schema"] for resource in PACKAGE["resources"]}
TODAY = date(2026, 11, 20)


def test_every_priced_model_is_described_and_every_architecture_exists():
    known = {(row.provider, row.model) for row in models(shipped_data())}
    assert {(row["provider"], row["model"]) for row in rows("prices.csv")} == known
    architectures = {row["model"] for row in rows("architectures.csv")}
    assert {row.architecture for row in models(shipped_data()) if row.architecture} <= architectures


def test_a_release_is_that_of_the_architecture_where_the_vendor_names_it():
    architectures = {row["model"]: row for row in rows("architectures.csv")}
    graded = {"quoted": "quoted", "approximate": "assumed", "from memory": "assumed"}
    for row in rows("models.csv"):
        known = architectures.get(row["architecture"])
        if known and row["release_date"] and "release: architectures.csv" in row["source"]:
            assert row["release_date"] == known["release_date"], row["model"]
            named = row["architecture_grade"] == "verified"
            assert row["release_grade"] == (graded[known["release_grade"]] if named else "assumed"), row["model"]
    assert all("release: " in row["source"] for row in rows("models.csv") if row["release_date"])


def test_a_drain_time_is_capacity_over_bandwidth():
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows("memory_tiers.csv"):
        if row["value"]:
            found.setdefault((row["tier"], row["device"]), {})[row["quantity"]] = float(row["value"])
    whole = [device for device in found.values() if {"tier_capacity", "tier_bandwidth", "drain_time"} <= set(device)]
    assert len(whole) >= 10
    for device in whole:
        assert device["drain_time"] == pytest.approx(device["tier_capacity"] / device["tier_bandwidth"], rel=1e-3)


def test_hbm_devices_repeat_the_preferred_rows_of_the_hardware_table():
    same = {"tier_capacity": "hbm_capacity", "tier_bandwidth": "hbm_bandwidth"}
    chips = {(row["accelerator"], row["quantity"]): row["value"] for row in rows("hardware.csv") if row["preferred"] == "true"}
    repeated = [row for row in rows("memory_tiers.csv") if row["tier"] == "hbm" and row["quantity"] in same]
    assert len(repeated) >= 20
    for row in repeated:
        assert row["value"] == chips[row["device"], same[row["quantity"]]], row["device"]


def test_the_launch_sheets_are_sound_and_only_the_calibration_sees_them():
    book, shipped = calibration_book(shipped_data()), load()
    assert check(book) == []
    launched = {(row["provider"], row["model"]) for row in rows("prices_calibration.csv")}
    named = {tuple(row["sheet"].split("/")) for row in rows("calibration_models.csv")}
    assert launched <= named <= launched | {(row.provider, row.model) for row in models(shipped_data())}
    assert not launched & {(row.provider, row.model) for row in shipped.rows}
    assert {row["verification"] for row in rows("prices_calibration.csv")} == {"unverified"}


def test_every_calibrating_model_has_an_architecture_and_no_better_a_grade():
    architectures = {row["model"]: row for row in rows("architectures.csv")}
    for row in rows("calibration_models.csv"):
        configuration = architectures[row["architecture"]]["verification"]
        assert row["grade"] in (configuration, "assumed", "unverified"), row["architecture"]
        assert bool(row["sheet_date"]) == row["sheet"].startswith(("alibaba-cn", "minimax-cn"))


def test_a_family_of_caches_holds_every_model_of_a_maker_shaped_as_one_of_it():
    def shape(row: dict[str, str]) -> tuple[str, ...]:
        return row["hf_id"].split("/")[0], row["kv_formula"], *(row[name] for name in KV_INPUTS[row["kv_formula"]])

    # The shape of Qwen2.5-32B is that of Qwen3-32B by coincidence: models of each lay their caches out otherwise.
    known = [row for row in rows("architectures.csv") if row["kv_formula"] and row["model"] != "Qwen2.5-32B"]
    family = {shape(row): row["kv_family"] for row in known}
    assert {row["model"]: family[shape(row)] for row in known} == {row["model"]: row["kv_family"] for row in known}


MIXTURES = [row for row in rows("architectures.csv") if float(row["experts"] or 0) > 0 and row["total_params"] and row["active_params"]]
LATENT = {"Kimi-K3": 3584}
"""Models whose routed experts work in a width of their own."""


@in_one_test("row", MIXTURES, ids=lambda row: row["model"])
def test_experts_and_parameters_agree(row: dict[str, str]):
    """What a token leaves out are experts: their layers x 3 matrices x widths x those not chosen, all else cancels.

    DeepSeek-V3: 58 x 3 x 7168 x 2048 x 248 = 633.5e9, and 671 - 37 = 634e9 on its card.
    """
    layers, width, inner = (float(row[column]) for column in ("moe_layers", "model_dim", "moe_ffn_dim"))
    idle = layers * 3 * LATENT.get(row["model"], width) * inner * (float(row["experts"]) - float(row["active_experts"]))
    assert float(row["total_params"]) - float(row["active_params"]) == pytest.approx(idle, rel=0.05)
    assert float(row["active_params"]) < float(row["total_params"])


def test_a_dense_model_uses_all_of_its_parameters():
    dense = [row for row in rows("architectures.csv") if row["experts"] == "0"]
    assert len(dense) >= 15 and len(MIXTURES) >= 40
    assert [row["model"] for row in dense if row["total_params"] != row["active_params"]] == []


def test_values_that_do_not_grow_with_the_context_hold_the_states():
    for row in rows("architectures.csv"):
        if row["state_heads"]:
            values = [float(row[column]) for column in ("linear_layers", "state_heads", "state_key_dim", "state_value_dim")]
            assert float(row["fixed_values_per_sequence"]) >= prod(values) > 0, row["model"]


def test_what_may_be_disclosed_is_said_in_the_description():
    (quantity,) = (field for field in RESOURCES["disclosures.csv"]["fields"] if field["name"] == "quantity")
    assert quantity["constraints"]["enum"] == [name for topic in DISCLOSED.values() for name in topic]


def test_a_band_that_was_dropped_ends_on_its_day():
    """The long context of Claude Sonnet 4.5 was a beta until 2026-04-30; longer prompts fail since."""

    def bands(day: date) -> list[int]:
        (sheet,) = [one for one in sheets(load(), day) if one.model == "claude-sonnet-4-5"]
        return [band.threshold_tokens for band in sheet.bands]

    assert (bands(date(2026, 4, 29)), bands(date(2026, 4, 30)), bands(TODAY)) == ([0, 200_000], [0], [0])
    (known,) = [row for row in models(shipped_data()) if row.model == "claude-sonnet-4-5"]
    assert known.max_context == 200_000
