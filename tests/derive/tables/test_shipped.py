"""The tables that ship: one reading a run, the files as they are now, from beside the code, held to their description."""

import csv
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import derive
from derive.errors import BacksolveError, WrongData
from derive.preset_rows import AcceleratorFigure
from derive.presets import hardware, model
from derive.tables import shipped
from derive.tables.lines import BadRow
from derive.tables.shipped import Tables, read, rows_of
from invert.sheets.rows import FxRate
from tests.tools.tables import GOOD, HARDWARE, RECORDS, SHIPPED, of_hardware, reading, with_cells
from tests.tools.together import in_one_test

HOME = Path(derive.__file__).parent.parent


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the tables in place of those that ship, to edit."""
    folder = shutil.copytree(shipped.FOLDER, tmp_path / "pricing_data")
    monkeypatch.setattr(shipped, "FOLDER", folder)
    return folder


def edit(path: Path, changes: Callable[[dict[str, str]], dict[str, str]]) -> None:
    path.write_text(with_cells(path.read_text(), changes))


# -- one reading ----------------------------------------------------------------------------------------------------


def doubled_bandwidth(row: dict[str, str]) -> dict[str, str]:
    return row | {"value": str(2 * float(row["value"]))} if row["quantity"] == "hbm_bandwidth" else row


def test_an_edited_file_is_seen_by_the_next_question_of_the_process(copy):
    before = derive.solve("sweep_time", hardware="H100-SXM:fp8").answers[0].value
    edit(copy / "hardware.csv", doubled_bandwidth)
    assert derive.solve("sweep_time", hardware="H100-SXM:fp8").answers[0].value == before / 2
    size = derive.solve("sparsity", model="DeepSeek-V3").answers[0].value
    edit(copy / "architectures.csv", lambda row: row | {"active_params": "74000000000"} if row["model"] == "DeepSeek-V3" else row)
    assert derive.solve("sparsity", model="DeepSeek-V3").answers[0].value == size / 2
    edit(copy / "efficiency_fit.csv", lambda row: row | {"value": row["high"]})
    sustained = derive.presets.calibrated(kinds=["dense"], deployments=["one node"])
    assert all(sustained.givens[name] == high for name, (_, high) in sustained.ranges.items())


def test_a_question_reads_the_tables_once_for_each_of_its_points(monkeypatch):
    found = []
    monkeypatch.setattr(shipped, "read", lambda: found.append(read()) or found[-1])
    derive.solve("balance_batch", hardware="H100-SXM:fp8", model="DeepSeek-V3")
    assert len(found) == 1
    derive.solve("balance_batch", hardware="H100-SXM:fp8", model="DeepSeek-V3", efficiency="calibrated")
    assert {*map(id, found)} == {id(found[0])}


def test_a_question_without_a_preset_reads_no_file(monkeypatch):
    monkeypatch.setattr(shipped, "read", lambda: pytest.fail("the tables were read"))
    assert derive.solve("step_time", compute_time="20us", memory_time="10us").answers[0].value == 20e-6


def test_tables_go_to_another_process_with_their_content():
    edited = read().edited(efficiencies="quantity\n")
    assert pickle.loads(pickle.dumps(edited)).files == edited.files
    assert "efficiencies.csv" in read().files and read().files != edited.files


# -- where they lie -------------------------------------------------------------------------------------------------


LOOK = "import derive; print(derive.presets.hardware_names()[0], len(derive.presets.hardware_names()))"


@pytest.mark.parametrize(("regular", "by_path"), [(False, False), (True, True)])
def test_a_folder_of_that_name_elsewhere_changes_nothing(tmp_path, regular: bool, by_path: bool):
    """In the working directory, which python -c and notebooks search first, or elsewhere on the path; a package or not."""
    folder = tmp_path / "pricing_data"
    folder.mkdir()
    if regular:
        (folder / "__init__.py").write_text("")
    for name in read(SHIPPED).files:
        (folder / name).write_text("accelerator,quantity\nMine,peak_flops\n")
    (tmp_path / "elsewhere").mkdir()
    found = subprocess.run(
        [sys.executable, "-c", "import derive.presets; " + LOOK],
        cwd=tmp_path / "elsewhere" if by_path else tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*([str(tmp_path)] if by_path else []), str(HOME)])},
        capture_output=True,
        text=True,
        check=True,
    )
    names = derive.presets.hardware_names(read(SHIPPED))
    assert found.stdout == f"{names[0]} {len(names)}\n"


def test_the_tables_are_a_package_that_the_wheel_carries():
    import pricing_data

    assert Path(pricing_data.__file__).parent == SHIPPED == HOME / "pricing_data"
    described = {one["path"] for one in json.loads((SHIPPED / shipped.DESCRIPTION).read_text())["resources"]}
    assert described | {shipped.DESCRIPTION} == set(read(SHIPPED).files)


# -- rows -----------------------------------------------------------------------------------------------------------


@in_one_test("space", [" ", "\t", "\u00a0", "\u3000"])
def test_a_byte_order_mark_line_ends_and_white_space_at_the_ends_are_no_part_of_cells(space: str):
    text = "\ufeff" + "\r\n".join([HARDWARE.replace(",", " , "), *(row.replace("page", f"{space}µ  page{space}") for row in GOOD), ""])
    with reading(read().edited(hardware=text)):
        assert (
            shipped.read().problems(AcceleratorFigure) == ()
            and rows_of(AcceleratorFigure)[0].source == "µ  page"
            and rows_of(AcceleratorFigure)[0].place == 2
        )
        assert hardware("H1").givens["hbm_bandwidth"] == 3e12


WRONG_ROWS = [
    ("H1,chip_price,,2,USD/h,false,page", None, "the header has 10 cells, and the row has 7"),
    ("H1,chip_price,,2,USD/h,false,a, page,2026-05-01,official,", None, "the header has 10 cells, and the row has 11"),
    ('H1,chip_price,,2,USD/h,false,"page,official,', None, "is not CSV"),
    ("H1,chip_price,,2,USD/h,false,page\r,2026-05-01,official,", None, "has a line break inside"),
    ("H1,chip_price,,2,USD/h,false,page\0,2026-05-01,official,", "source", "a NUL byte, which is invisible"),
    ("H1,chip_price,,2,USD/h,false,pa\u00adge,2026-05-01,official,", "source", "U+00AD (soft hyphen), which is invisible"),
    (",chip_price,,2,USD/h,false,page,2026-05-01,official,", "accelerator", "is blank"),
    ("H1,chip_prize,,2,USD/h,false,page,2026-05-01,official,", "quantity", "'chip_prize' is not known; did you mean 'chip_price' or"),
    ("H1,chip_price,fp9,2,USD/h,false,page,2026-05-01,official,", "dtype", "'fp9' is not known"),
    ("H1,chip_price,fp8,2,USD/h,false,page,2026-05-01,official,", "dtype", "chip_price has no dtype"),
    ("H1,chip_price,,2,USD/h,false,page,,official,", "date", "is blank, and chip_price needs one"),
    ("H1,hbm_bandwidth,,2e12,byte/s,false,sheet,2026-05-01,official,", "date", "hbm_bandwidth has no date"),
    *(
        (f"H1,chip_price,,{text},USD/h,false,page,2026-05-01,official,", "value", why)
        for text, why in [
            ("", "is blank"),
            ("nan", "'nan' is not a number"),
            ("1_0", "'1_0' is not a number"),
            ("٣", "is not a number"),
            ("-2", "'-2' is negative"),
            ("0", "0 is out of range: it must be above 0"),
            ("1e-400", "'1e-400' is absurd"),
            ("1e400", "'1e400' is absurd: values are between 1e-20 and 1e+20"),
            ("1e-300", "1e-300 is absurd"),
        ]
    ),
    ("H1,chip_price,,2,byte,false,page,2026-05-01,official,", "unit", "chip_price is in USD/s"),
    ("H1,chip_price,,2,USD/hour,false,page,2026-05-01,official,", "unit", "'USD/hour' is not known"),
    *(
        (f"H1,chip_price,,2,USD/h,{text},page,2026-05-01,official,", "preferred", "is not a truth value" if text else "is blank")
        for text in ("yes", "1", "-1", "t", "", "TRUE.")
    ),
    ("H1,chip_price,,2,USD/h,false,page,2026-05-01,oficial,", "verification", "'oficial' is not known; did you mean 'official'?"),
]


@in_one_test(("row", "column", "why"), WRONG_ROWS)
def test_a_bad_row_is_named_and_stops_its_table(row: str, column: str | None, why: str):
    with reading(of_hardware(*GOOD[:3], row, GOOD[3])):
        (problem,) = shipped.read().problems(AcceleratorFigure)
        assert (problem.origin, problem.row, problem.column) == ("hardware.csv", 5, column) and why in problem.message
        assert str(problem).isprintable() and "\n" not in str(problem)
        with pytest.raises(BadRow, match=r"hardware\.csv row 5"):
            rows_of(AcceleratorFigure)
    peak = row.replace("chip_price", "peak_flops").replace("USD/h", "FLOP/s").replace(",,", ",bf16,", 1).replace("2026-05-01", "")
    if column not in ("quantity", "unit", "dtype", "accelerator"):
        with reading(of_hardware(peak, *GOOD[1:])), pytest.raises(BadRow, match=r"hardware\.csv row 2"):
            hardware("H1")


def test_the_name_of_a_bad_row_does_not_pass_for_the_beginning_of_another():
    def broken(row: dict[str, str]) -> dict[str, str]:
        return row | {"layers": "many"} if row["model"] == "GLM-4.5" else row

    text = with_cells(shipped.read().content("architectures.csv").decode(), broken)
    with reading(read().edited(architectures=text)):
        for name in ("GLM-4.5", "glm-4.5", "zai-org/GLM-4.5"):
            with pytest.raises(BadRow, match=r"architectures\.csv row \d+, column layers: 'many'"):
                model(name)
        assert model("GLM-4.5-Air").givens["layers"] == 46


@in_one_test(
    ("content", "says"),
    [
        (None, "hardware.csv: not among the shipped data"),
        (b"", "hardware.csv: is empty"),
        (HARDWARE.encode(), "hardware.csv: has a header and no rows"),
        (b"accelerator,value\nH1,2\n", "hardware.csv row 1: there is no column quantity, dtype, unit"),
        (HARDWARE.replace("notes", "unit").encode() + b"\nH1\n", "hardware.csv row 1, column unit: is twice in the header"),
        (
            HARDWARE.encode().replace(b",", b";"),
            "hardware.csv row 1: there is no column accelerator, quantity, dtype, value and 6 more; cells are separated by commas, not ';'",
        ),
        (HARDWARE.encode() + b"\rH1" * 30_000, "hardware.csv row 1: has a line break inside"),
        (b"\xff\xfea\0", "hardware.csv row 1: this is UTF-16"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(content: bytes | None, says: str):
    files = {name: text for name, text in read().files.items() if name != "hardware.csv"}
    with reading(Tables(files if content is None else {**files, "hardware.csv": content})):
        for look in (lambda: hardware("H100"), derive.presets.hardware_names, lambda: rows_of(AcceleratorFigure)):
            with pytest.raises(WrongData) as caught:
                look()
            assert str(caught.value).startswith(says)
        assert [str(problem) for problem in shipped.read().problems(AcceleratorFigure)] == [str(caught.value)]


def test_a_file_that_may_not_be_read_or_is_none_is_named(copy):
    (copy / "hardware.csv").unlink()
    (copy / "hardware.csv").mkdir()
    (copy / "fx.csv").unlink()
    os.mkfifo(copy / "fx.csv")
    with pytest.raises(WrongData, match=r"^hardware\.csv: .*it is not a file"):
        hardware("H100")
    with pytest.raises(WrongData, match=r"^fx\.csv: .*it is not a file"):
        rows_of(FxRate)


def test_all_bad_rows_are_named_at_once():
    rows = [row.replace(",page,,", ",,,") for row in GOOD[:2]]
    with reading(of_hardware(*rows, *GOOD[2:])), pytest.raises(BadRow) as caught:
        rows_of(AcceleratorFigure)
    assert [(one.row, one.column) for one in caught.value.problems] == [(2, "source"), (3, "source")]
    assert len(str(caught.value).splitlines()) == 2


def test_a_column_that_is_not_described_is_named():
    with reading(of_hardware(*(row + ",1" for row in GOOD), header=HARDWARE + ",prefered")):
        (problem,) = shipped.read().problems(AcceleratorFigure)
        assert str(problem) == "hardware.csv row 1: unknown column 'prefered'. Rename the column or remove it"


@in_one_test("content", ["", "{", "[]", '{"resources": [{}]}', '{"resources": 3}', "[" * 100_000])
def test_a_description_that_cannot_be_used_is_named(content: str):
    with reading(Tables({**read().files, "datapackage.json": content.encode()})), pytest.raises(WrongData, match=r"^datapackage\.json: "):
        rows_of(AcceleratorFigure)


def test_any_content_gives_rows_or_named_faults():
    """Bytes of a real table flipped at random: never another error, and every line is a row or has a problem."""
    import random

    generator = random.Random(7)
    for name in ("memory_tiers", "disclosures", "architectures", "calibration_models"):
        for _ in range(8):
            content = bytearray(shipped.read().content(f"{name}.csv"))
            for _ in range(20):
                content[generator.randrange(len(content))] = generator.randrange(256)
            with reading(Tables({**read().files, f"{name}.csv": bytes(content)})):
                try:
                    records, problems = shipped.read().checked(RECORDS[name])
                except BacksolveError as error:
                    assert str(error).startswith(f"{name}.csv") and str(error).isprintable()
                    continue
                of_lines = {row.place for row in shipped.read().raw_rows(name)}
                assert of_lines <= {row.place for row in records} | {problem.row for problem in problems}
                assert all(str(problem).isprintable() for problem in problems)


KEYED = [
    ("architectures", 5, 9, ("model",)),
    ("fx", 3, 4, ("date",)),
    ("efficiency_fit", 2, 3, ("kind", "deployment", "quantity")),
]


@in_one_test(("name", "wrong", "right", "columns"), KEYED)
def test_both_rows_of_one_key_are_named(name: str, wrong: int, right: int, columns: tuple[str, ...]):
    cells = list(csv.DictReader(shipped.read().content(f"{name}.csv").decode().splitlines()))
    cells[wrong - 2] |= {column: cells[right - 2][column] for column in columns}
    out = io.StringIO()
    writer = csv.DictWriter(out, cells[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells)
    with reading(read().edited(**{name: out.getvalue()})):
        found = {problem.row: problem.message for problem in shipped.read().problems(RECORDS[name])}
    assert f"row {right} has the same" in found[wrong] and f"row {wrong} has the same" in found[right]
