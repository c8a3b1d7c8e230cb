"""The tables of accelerators and models: every row is there and fits, a cell is the figure of the table, what is missing is named."""

import pytest

from derive import presets
from derive.preset_rows import OpenModel
from derive.show.presets import chip_lines, hardware_lines, hardware_records, model_card, model_lines, model_records
from derive.solving.api import solve
from derive.tables.shipped import rows_of
from derive.units import parse
from tests.tools.together import in_one_test

COLUMNS = 100


def cells(lines: list[str]) -> dict[str, list[str]]:
    return {line.split()[0]: line.split() for line in lines[1:-1]}


def test_every_accelerator_has_a_row_that_fits():
    lines = hardware_lines()
    assert [line.split()[0] for line in lines[1:-1]] == [*presets.hardware_names()]
    assert max(map(len, lines[:-1])) <= COLUMNS and lines[0].split()[:5] == ["chip", "bf16", "fp8", "int8", "fp4"]


def test_a_row_of_an_accelerator_is_what_its_preset_sets():
    for name, row in cells(hardware_lines()).items():
        for dtype, cell in zip(("bf16", "fp8", "int8", "fp4"), row[1:5], strict=True):
            if cell == "-":
                continue
            givens = presets.hardware(f"{name}:{dtype}").givens
            assert abs(float(cell) * 1e15 / givens["peak_flops"] - 1) < 5e-3
            assert abs(float(row[5]) * 1e12 / givens["hbm_bandwidth"] - 1) < 1e-3
            assert abs(float(row[6]) * 1e9 / givens["hbm_capacity"] - 1) < 1e-3


def test_the_ridge_point_is_that_of_the_first_type_and_rents_have_a_grade():
    """989e12/3.35e12 = 295; a chip that is rated in fp4 alone has that of fp4."""
    rows = cells(hardware_lines())
    assert rows["H100-SXM"][7] == "295" and rows["Rubin-VR200"][7] == "1591"
    assert " ".join(rows["H100-SXM"][8:]) == "1.3-5 (analyst model, secondary)" and rows["L4"][8:] == ["-"]


def test_an_accelerator_shows_all_its_types_and_every_price():
    lines = chip_lines("H100-SXM")
    assert lines[0] == "H100-SXM   --hardware H100-SXM:fp8"
    assert [line.split()[1] for line in lines if line.startswith("peak_flops")] == ["bf16", "fp8", "int8"]
    assert sum(line.startswith("chip_price") for line in lines) == len(presets.prices_of("H100-SXM"))
    assert "591 FLOP/byte" in next(line for line in lines if line.startswith("peak_flops fp8"))


def test_every_model_has_a_row_that_fits_with_its_cache_or_what_is_missing():
    lines = model_lines()
    alone = [row.model for row in rows_of(OpenModel) if not row.architecture]
    assert [line.split()[0] for line in lines[1:-1]] == [*presets.model_names(), *alone] and max(map(len, lines)) <= COLUMNS
    for name, row in cells(lines).items():
        if name in alone:
            assert row[3:] == ["-", "-", "-", "-", "its", "configuration"] and presets.model(name).missing
            continue
        try:
            preset = presets.model(name)
        except presets.NotCovered:
            assert row[4:6] == ["-", "-"] and "an equation of its cache" in " ".join(row)
            continue
        assert row[7] != "-" or {"query_heads", "total_params", "active_params"} <= preset.givens.keys()
        assert abs(parse("total_params", row[1]) / preset.givens["total_params"] - 1) < 1e-3


def test_what_is_read_of_a_cache_is_less_than_what_is_stored_where_attention_selects():
    rows = cells(model_lines())
    assert rows["DeepSeek-V3.2"][4:6] == ["7.808", "42.94"] and rows["DeepSeek-V3"][3:6] == ["8/256", "35.14", "35.14"]


def test_records_are_in_si_and_name_what_is_missing():
    models = {one["name"]: one for one in model_records()}
    assert models["Apertus-70B"]["total_params"] == 70e9 and models["Apertus-70B"]["kv_bytes_per_token"] is None
    assert models["DeepSeek-V3.2"]["kv_read_bytes_per_token"] < models["DeepSeek-V3.2"]["kv_bytes_per_token"] == 42944
    chips = {one["name"]: one for one in hardware_records()}
    assert chips["H100-SXM"]["figures"]["hbm_capacity"]["value"] == 81_559 * 2**20
    assert {round(one["value"] * 3600, 2) for one in chips["H100-SXM"]["prices"]} >= {1.99, 2.35, 5.0}


@in_one_test(("name", "says"), [
    ("Llama-3.1-70B", ["70.55B in all and 70.55B", "70.55B in all (+0.0 %)", "all weights", "163.8 kB/token read", "missing     nothing"]),
    ("gpt-oss-120b", ["116.8B in all (-0.2 %) and 5.71B active (+12.0 %)", "4 of 128 experts"]),
    ("DeepSeek-V3", ["not by its dimensions: the tables lack query_latent_dim", "8 of 256 experts"]),
    ("Apertus-8B", ["lack its configuration", "router      not known", "KV cache    -", "missing     its configuration"]),
])  # fmt: skip
def test_a_model_is_shown_with_its_parameters_as_published_and_as_counted(name, says):
    shown = "\n".join(model_card(name))
    assert shown.startswith(f"{name}   --model {name}\npublished ") and [one for one in says if one not in shown] == []


def test_a_card_says_what_a_byte_a_value_leaves_out_of_index_keys():
    """78 layers of 576 values and 128 index keys, of which 132 bytes are kept: 54.91 kB without their scales, 55.22 with them."""
    (cache,) = (line for line in model_card("GLM-5") if line.startswith("KV cache"))
    assert cache.endswith("54.91 kB/token stored, a byte a value, index keys too, at 1.031 in solve: twice as much all in bf16")
    assert solve("kv_bytes_per_token", model="GLM-5", bytes_per_element=1).value == pytest.approx(78 * (576 + 132))
    (cache,) = (line for line in model_card("DeepSeek-V3") if line.startswith("KV cache"))
    assert cache.endswith("stored, a byte a value: twice as much in bf16")
