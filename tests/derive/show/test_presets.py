"""The tables of accelerators and models: every row is there and fits, a cell is the figure of the table, what is missing is named."""

from derive import presets
from derive.preset_rows import OpenModel
from derive.show.presets import chip_lines, hardware_lines, hardware_records, model_lines, model_records
from derive.tables.shipped import rows_of
from derive.units import parse

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
            assert row[3:] == ["-", "-", "-", "-", "its", "configuration"] and presets.model(name).parameters_only
            continue
        try:
            preset = presets.model(name)
        except presets.NotCovered:
            assert row[4:6] == ["-", "-"] and "an equation of its cache" in " ".join(row)
            continue
        assert row[7] != "-" or {"query_heads", "total_params", "active_params"} <= preset.givens.keys()
        assert abs(parse("total_params", row[1]) / preset.givens["total_params"] - 1) < 1e-3


def test_records_are_in_si_and_name_what_is_missing():
    models = {one["name"]: one for one in model_records()}
    assert models["Apertus-70B"]["total_params"] == 70e9 and models["Apertus-70B"]["kv_bytes_per_token"] is None
    assert models["DeepSeek-V3.2"]["kv_read_bytes_per_token"] < models["DeepSeek-V3.2"]["kv_bytes_per_token"] == 42944
    chips = {one["name"]: one for one in hardware_records()}
    assert chips["H100-SXM"]["figures"]["hbm_capacity"]["value"] == 81_559 * 2**20
    assert {round(one["value"] * 3600, 2) for one in chips["H100-SXM"]["prices"]} >= {1.99, 2.35, 5.0}
