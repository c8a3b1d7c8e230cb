"""The figures of tests/tables: graded, and consistent with one another and with what their sources say."""

import csv
import json
from datetime import date
from math import prod
from pathlib import Path

import pytest

from derive.preset_rows import Architecture, OpenModel
from derive.presets import KV_INPUTS
from derive.tables import shipped
from derive.tables.shipped import rows_of
from invert.estimators.calibration import calibration_book
from invert.sheets.assemble import models, sheets
from invert.sheets.read import load
from invert.sheets.rows import units_per_usd
from invert.sheets.rules import check
from invert.sheets.tables import DISCLOSED
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

DATA = Path(shipped.FOLDER)
PACKAGE = json.loads((DATA / "datapackage.json").read_text())
RESOURCES = {resource["path"]: resource["schema"] for resource in PACKAGE["resources"]}
TODAY = date(2026, 11, 20)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_there_are_sheets_enough_of_providers_enough():
    current, problems = sheets(load(), TODAY)
    assert problems == []
    assert len(current) >= 15 and len({sheet.provider for sheet in current}) >= 8


def test_every_kind_of_price_the_readings_use_is_there():
    current, _ = sheets(load(), TODAY)
    assert any(len(sheet.bands) == 4 for sheet in current)
    assert any(len(sheet.writes) == 2 for sheet in current)
    assert any(sheet.storage for sheet in current)
    assert any(sheet.bands[1].threshold_inclusive for sheet in current if len(sheet.bands) > 1)
    assert any(sheet.bands[0].input.currency != "USD" for sheet in current)


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


def test_two_releases_of_one_model_that_lie_apart_are_explained():
    """More than a month: what is sold under a name may keep an older cache, or no source decides."""
    of_code = {row.model: row.release_date for row in rows_of(Architecture)}
    apart = {row.model for row in rows_of(OpenModel) if row.architecture and abs(row.release_date - of_code[row.architecture]).days >= 30}
    readme = Path(__file__).parents[1] / "pricing_data" / "README.md"
    (said,) = [line for line in readme.read_text(encoding="utf-8").splitlines() if line.startswith("- **Two release dates.**")]
    assert apart == {"Kimi-K2.6/2.7", "Mistral-Large-4"} and all(name in said for name in apart)


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


@in_one_test(("tier", "ends"), [("hbm", 2), ("ddr", 1), ("flash", 2), ("cxl", 2)])
def test_a_range_begins_with_the_fastest_device_and_ends_with_the_slowest(tier: str, ends: int):
    """The upper end of DDR is a terabyte behind one link, which is no row; disks leave the one of two actuators out."""
    drains = {row["device"]: row for row in rows("memory_tiers.csv") if (row["tier"], row["quantity"]) == (tier, "drain_time")}
    span = drains.pop("range")
    known = [float(row["value"]) for name, row in drains.items() if name != "lecture"]
    assert len(known) >= 2
    assert [float(span[end]) for end in ("low", "high")][:ends] == pytest.approx([min(known), max(known)][:ends], rel=0.02)


def test_what_is_owned_costs_its_price_twice_over_five_years():
    """The middle of the dearest price of a tier: 11 USD/GB x 2 / 43800 h is 5.02e-4 an hour; in 2025 DDR was at 3 to 4 USD/GB."""
    owned = {(row["tier"], row["year"]): float(row["value"]) for row in rows("memory_tiers.csv") if row["basis"] == "owned"}
    bought = {"hbm": 11, "ddr": 14, "flash": 0.603, "hdd": 0.0405}
    bought_before = {"hbm": 15.75, "ddr": 3.5, "flash": 0.092}
    priced = [row for row in rows("memory_tiers.csv") if row["quantity"] == "purchase_price"]
    assert set(bought.items()) <= {(row["tier"], float(row["value"])) for row in priced}
    # HBM has a row of that year, flash has it as the low end.
    assert {("hbm", 15.75), ("flash", 0.092)} <= {
        (row["tier"], float(row["value" if row["year"] else "low"])) for row in priced if row["low"]
    }
    by_year = {(tier, ""): price for tier, price in bought.items()} | {(tier, "2025"): price for tier, price in bought_before.items()}
    assert owned == {of: pytest.approx(price * 2 / 43_800, rel=3e-4) for of, price in by_year.items()}


def test_memory_is_what_the_driver_reports_or_says_that_it_is_nominal():
    """A driver counts whole MiB; a GB of a data sheet is 1e9 byte here, whatever its vendor meant."""
    sizes = [row for row in rows("hardware.csv") if row["quantity"] == "hbm_capacity"]
    chosen = {row["accelerator"]: row for row in sizes if row["preferred"] == "true"}
    nominal = {name for name, row in chosen.items() if row["notes"].startswith("nominal")}
    for name, row in chosen.items():
        assert int(row["value"]) % (10**9 if name in nominal else 2**20) == 0, name
    told = {name for name, row in chosen.items() if "as the driver reports it" in row["notes"] or " GiB" in row["notes"]}
    assert nominal | told == chosen.keys() and not nominal & told, "every row says whose figure it is"
    assert all("no figure of its driver is known" in chosen[name]["notes"] for name in nominal)
    of_80_gb = {
        **dict.fromkeys(("A100-SXM-80GB", "A100-PCIe-80GB"), 81_920),
        **dict.fromkeys(("H100-SXM", "H100-PCIe", "H800-SXM"), 81_559),
    }
    reported = {**of_80_gb, "A100-SXM-40GB": 40_960, "H200-SXM": 143_771, "B200-SXM": 183_359, "GB200-NVL72": 189_471, "MI300X": 196_592}
    assert {name: int(chosen[name]["value"]) / 2**20 for name in reported} == reported
    with_rival = {row["accelerator"] for row in sizes if row["preferred"] == "false" and int(row["value"]) % 10**9 == 0}
    assert set(reported) <= with_rival, "the figure of the data sheet is a rival"


def test_rents_and_powers_have_a_day_before_the_day_of_the_prices():
    dated = [row for row in rows("hardware.csv") if row["quantity"] in ("chip_price", "chip_power")]
    assert len(dated) >= 60 and all(date.fromisoformat(row["date"]) <= date(2026, 11, 21) for row in dated)
    assert not any(row["date"] for row in rows("hardware.csv") if row["quantity"] not in ("chip_price", "chip_power"))


@pytest.mark.parametrize(
    ("chip", "gbit"),
    [
        *((name, 400) for name in ("H100-SXM", "H200-SXM", "B200-SXM", "GB200-NVL72")),  # a port of a ConnectX-7 for each chip
        *((name, 800) for name in ("B300-SXM", "GB300-NVL72")),  # one of a ConnectX-8
    ],
)
def test_a_chip_sends_out_of_its_domain_what_the_port_of_its_network_card_takes(chip, gbit):
    wanted = (chip, "scale_out_link_bandwidth", "true")
    (row,) = (row for row in rows("hardware.csv") if (row["accelerator"], row["quantity"], row["preferred"]) == wanted)
    assert float(row["value"]) == gbit * 1e9 / 8


def test_the_launch_sheets_are_sound_and_only_the_calibration_sees_them():
    book, shipped = calibration_book(shipped_data()), load()
    assert check(book) == []
    launched = {(row["provider"], row["model"]) for row in rows("prices_calibration.csv")}
    named = {tuple(row["sheet"].split("/")) for row in rows("calibration_models.csv")}
    assert launched <= named <= launched | {(row.provider, row.model) for row in models(shipped_data())}
    assert not launched & {(row.provider, row.model) for row in shipped.rows}
    assert {row["verification"] for row in rows("prices_calibration.csv")} == {"unverified"}


def test_launch_sheets_are_converted_at_the_rate_of_their_time_and_current_ones_as_before():
    fx = load().fx
    for row in rows("prices_calibration.csv"):
        assert units_per_usd(fx, "CNY", date.fromisoformat(row["effective_date"])) == 7.2
    assert units_per_usd(fx, "CNY", TODAY) == units_per_usd(fx, "CNY", date(2026, 1, 1)) == units_per_usd(fx, "CNY", date.max) == 7


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


def test_bytes_that_do_not_follow_the_cache_are_known_where_there_are_states_or_index_keys():
    table = {row["model"]: row for row in rows("architectures.csv")}
    stored = {name: (row["state_bytes_per_element"], row["indexer_bytes_per_element"]) for name, row in table.items()}
    assert {name for name, (state, _) in stored.items() if state} == {name for name, row in table.items() if row["linear_layers"]}
    assert {name for name, (_, key) in stored.items() if key} == {name for name, row in table.items() if row["indexer_dim"]}
    assert (stored["Qwen3.5-397B-A17B"][0], stored["Qwen3-Next-80B-A3B"][0]) == ("4", "2")
    assert float(stored["DeepSeek-V3.2"][1]) == 132 / 128
    for row in table.values():
        if row["state_heads"]:
            values = [float(row[column]) for column in ("linear_layers", "state_heads", "state_key_dim", "state_value_dim")]
            assert float(row["fixed_values_per_sequence"]) >= prod(values) > 0, row["model"]


def test_what_may_be_disclosed_is_said_in_the_description():
    (quantity,) = (field for field in RESOURCES["disclosures.csv"]["fields"] if field["name"] == "quantity")
    assert quantity["constraints"]["enum"] == [name for topic in DISCLOSED.values() for name in topic]


def test_every_calibration_sheet_is_one_of_the_price_tables():
    sold = {(row["provider"], row["model"]) for name in ("prices.csv", "prices_calibration.csv") for row in rows(name)}
    named = {tuple(row["sheet"].split("/")) for row in rows("calibration_models.csv")}
    assert named and named <= sold


def test_a_peak_price_of_working_days_says_so():
    peak = [row for row in rows("prices.csv") if row["provider"] == "deepseek" and row["service_tier"] == "peak" and not row["valid_to"]]
    assert len(peak) == 6 and {(row["utc_hours"], row["weekdays"]) for row in peak} == {("01:00-04:00;06:00-10:00", "1-5")}
    tariffs, _ = sheets(load(), TODAY, tier="peak")
    assert {sheet.weekdays for sheet in tariffs if sheet.provider == "deepseek"} == {"1-5"}


def test_a_band_that_was_dropped_ends_on_its_day():
    """The long context of Claude Sonnet 4.5 was a beta until 2026-04-30; longer prompts fail since."""

    def bands(day: date) -> list[int]:
        (sheet,) = [one for one in sheets(load(), day)[0] if one.model == "claude-sonnet-4-5"]
        return [band.threshold_tokens for band in sheet.bands]

    assert (bands(date(2026, 4, 29)), bands(date(2026, 4, 30)), bands(TODAY)) == ([0, 200_000], [0], [0])
    (known,) = [row for row in models(shipped_data()) if row.model == "claude-sonnet-4-5"]
    assert known.max_context == 200_000
