"""Every cell of every table that ships: a broken one is named with its file and row, or it is a remark and moves nothing."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product

import pytest

from derive.tables import shipped
from derive.tables.lines import BadRow, Problem
from derive.tables.shipped import Tables, read
from invert.estimators import premium
from invert.inference import infer
from invert.report.contract import run_as_json
from invert.result import InferenceTable
from invert.sheets.read import load
from invert.sheets.rules import check
from invert.validation.soundness import all_problems, rivals, table_problems, without_change
from tests.tools.data import shipped_data
from tests.tools.tables import RECORDS, reading
from tests.tools.together import in_one_test, some

TABLES = tuple(name.removesuffix(".csv") for name in shipped.read().files if name != shipped.DESCRIPTION)
PRICES = ("prices", "prices_rivals", "prices_calibration")
Cells = dict[str, str]

REMARKS = {
    **{name: {"source_url", "notes"} for name in PRICES},
    "fx": {"source", "notes"},
    "models": {"aliases", "source", "notes"},
    "hardware": {"source", "notes"},
    "efficiencies": {"run", "setting", "source", "source_url", "notes"},
    "efficiency_fit": {"runs"},
    "memory_tiers": {"source", "notes"},
    "architectures": {"aliases", "hf_id", "params_source", "config_source", "experts_source", "stored_source", "notes"},
    "calibration_models": {"notes"},
    "disclosures": {"quote", "source_url", "notes"},
    "open_models": {"params_source"},
    "list_prices": {"source"},
    "host_prices": {"source", "price_id", "precision", "host"},
    "disclosed_sizes": {"source", "model", "vendor"},
    "price_history": {"source", "price_id", "host"},
    "knowledge_scores": {"variant", "source"},
    "natural_experiments": {"change", "source"},
    "claims": {"claim", "reason", "source"},
    "problems": {"problem", "reason", "source", "source_url"},
    "short_names": {"text"},
}
"""Columns of free text: names that people may type, and where a figure is from."""

MAY_BE_BLANK = {
    **{name: {"region", "ttl_seconds", "utc_hours", "weekdays", "valid_to"} for name in PRICES},
    "models": {"max_context", "total_params", "weights_until"},
    "architectures": {"total_params", "active_params", "kv_formula", "query_heads", "fixed_values_per_sequence"}
    | {"native_dtype", "max_context", "tied_embeddings"},
    "memory_tiers": {"low", "high", "year"},
    "calibration_models": {"max_context", "sheet_date"},
    "disclosures": {"model", "ttl_seconds", "date"},
    "open_models": {"architecture", "kv_bytes_per_token", "kv_grade", "bytes_per_weight"},
    "list_prices": {"cache_read_price"},
    "host_prices": {"cache_read_price", "batch_input_price", "batch_output_price"},
    "disclosed_sizes": {"active_params", "bound"},
    "price_history": {"cache_read_price"},
    "knowledge_scores": {"refusals"},
    "efficiencies": {"low", "high"},
    "short_names": {"accelerator", "model"},
    "claims": {"time", "unit", "equations"},
    "problems": {"unit"},
}
"""Columns whose blank has a meaning: not known, none, any, or open."""

FREE_WORDS = {
    "prices_rivals": {"region", "provider", "model"},
    "architectures": {"kv_family"},
    "open_models": {"price_family", "vendor"},
    "claims": {"id"},
    "problems": {"id", "arithmetic"},
    "knowledge_scores": {"benchmark", "model"},
}
"""Columns whose word may be any: in a table that nothing is worked out from, and of groups that have no table."""

MATTERS: dict[str, Callable[[Cells], bool]] = {
    "prices": lambda row: (row["model"], row["component"], row["threshold_tokens"]) == ("qwen3-coder-plus", "output", "256000"),
    "prices_calibration": lambda row: (row["model"], row["component"], row["threshold_tokens"]) == ("glm-4.5", "output", "32000"),
    "models": lambda row: row["model"] == "qwen3-coder-plus",
    "hardware": lambda row: (row["accelerator"], row["quantity"]) == ("H100-SXM", "hbm_bandwidth"),
    "memory_tiers": lambda row: (row["tier"], row["device"]) == ("hbm", "range"),
    "architectures": lambda row: row["model"] == "Qwen3-Coder-480B-A35B",
    "calibration_models": lambda row: row["architecture"] == "GLM-4.5",
    "disclosures": lambda row: row["quantity"] == "chip_price",
    "open_models": lambda row: row["model"] == "DeepSeek-V4-Pro",
    "claims": lambda row: row["id"] == "A13a",
    "problems": lambda row: row["id"] == "smallest-int4-bytes",
}
"""A row that an inference of another model rests on."""


@cache
def rows(name: str) -> tuple[Cells, ...]:
    return tuple(csv.DictReader(io.StringIO(shipped.read().content(f"{name}.csv").decode())))


def columns() -> list[tuple[str, str]]:
    return [(name, column) for name in TABLES for column in rows(name)[0]]


def chosen(name: str, column: str) -> int:
    """The row to break: one that matters, else one that has the cell, else the first."""
    matters = MATTERS.get(name, lambda row: True)
    places = [place for place, row in enumerate(rows(name)) if matters(row)]
    return next((place for place in (*places, *range(len(rows(name)))) if rows(name)[place][column]), 0)


def edited(name: str, place: int, **cells: str) -> Tables:
    changed = [row | cells if at == place else row for at, row in enumerate(rows(name))]
    out = io.StringIO()
    writer = csv.DictWriter(out, changed[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(changed)
    return shipped_and_read().edited(**{name: out.getvalue()})


@cache
def shipped_and_read() -> Tables:
    """The tables that ship, every row read: what is edited keeps those of all other tables."""
    tables = read()
    tables.problems(*TABLES)
    return tables


def broken(column: str, cell: str) -> dict[str, str]:
    """The cell spoilt in the ways of people and spreadsheets."""
    word = f"{cell[:-1]}{cell[-2:-1]}x" if cell and not cell.replace(".", "").isdigit() else "misspelt"
    return {"blank": "", "word": "abc", "nan": "nan", "negative": "-1", "misspelt": word, "unseen": f"{cell}\u200b"}


def named(name: str) -> Sequence[Problem]:
    """The part of `all_problems` that is about a table and what leans on it: all of it takes three times as long."""
    try:
        return problems_with(name)
    except BadRow as error:
        return error.problems


def problems_with(name: str) -> Sequence[Problem]:
    if name == "prices_calibration":
        return [*check(premium.calibration_book(shipped_data())), *shipped.read().problems(RECORDS.get(name, name))]
    if name == "prices_rivals":
        return [*rivals(load(), shipped_data().tables), *shipped.read().problems(RECORDS.get(name, name))]
    if name == "natural_experiments":
        return [*without_change(load(), shipped_data().tables), *shipped.read().problems(RECORDS.get(name, name))]
    return [
        *(check(load()) if name == "prices" else ()),
        *shipped.read().problems(RECORDS.get(name, name)),
        *(table_problems(load(), shipped_data()) if name not in PRICES else ()),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("turn", "name", "column"), some([(turn % 3, *column) for turn, column in enumerate(columns())], every=2))
def test_a_broken_cell_is_named_or_is_a_remark(turn: int, name: str, column: str):
    """Of the ways to spoil it, columns take turns."""
    place = chosen(name, column)
    for kind, text in some(broken(column, rows(name)[place][column]).items(), 3, turn):
        with reading(edited(name, place, **{column: text})):
            found = named(name)
        here = [problem for problem in found if (problem.origin, problem.row) == (f"{name}.csv", place + 2)]
        # A name that is another one now is missed where it was looked for.
        elsewhere = [problem for problem in found if problem.row is not None]
        if kind == "unseen":
            assert column in [problem.column for problem in here], (kind, text, found)
        elif column in REMARKS[name]:
            assert here or not found, (kind, text, found)
        elif (kind == "blank" and column in MAY_BE_BLANK.get(name, ())) or (kind != "blank" and column in FREE_WORDS.get(name, ())):
            continue
        else:
            assert here or elsewhere, (kind, text, found)


def test_the_tables_have_no_fault():
    assert all_problems(shipped_data())[1] == []


@in_one_test(
    ("lines", "said"),
    [
        ({"memory_tiers": 36}, ["memory_tiers.csv: has 0 rows of ddr drain_time for lecture, but one is needed"]),
        ({"open_models": 21}, ["list_prices.csv, column model: has 62 more faults like these"]),
        ({"prices": 1, "fx": 1}, [f"{name}.csv: has a header and no rows. Write a row below it" for name in ("fx", "prices")]),
    ],
)
def test_a_table_without_its_end_is_named_by_its_lacking_rows(lines: Mapping[str, int], said: Sequence[str]):
    cut = {name: "\n".join(shipped.read().content(f"{name}.csv").decode().splitlines()[:count]) for name, count in lines.items()}
    with reading(shipped_and_read().edited(**cut)):
        found = [*map(str, all_problems(shipped_data())[1])]
    assert {*said} <= {*found} and len(found) <= 12, found


@pytest.mark.parametrize("name", TABLES)
def test_a_row_with_a_cell_too_many_is_named_in_every_table(name: str):
    content = shipped.read().content(f"{name}.csv").decode()
    with reading(shipped_and_read().edited(**{name: f"{content}{content.splitlines()[-1]},one,more\n"})):
        found = all_problems(shipped_data())[1]
    assert any(str(problem).startswith(f"{name}.csv") for problem in found)


# -- remarks move nothing -------------------------------------------------------------------------------------------


@cache
def usual() -> InferenceTable:
    """By the tables that ship, whichever are read where it is asked first."""
    with reading(read()):
        return infer(["gemini-3.1-pro", "kimi-k3"])


def test_remarks_move_no_figure():
    """Those of all tables at once."""
    tables = shipped_and_read()
    for name in REMARKS.keys() - {"efficiencies", "efficiency_fit", "prices_rivals"}:
        place = chosen(name, max(REMARKS[name]))
        changed = edited(name, place, **dict.fromkeys(REMARKS[name], "another remark")).files[f"{name}.csv"]
        tables = tables.edited(**{name: changed.decode()})
    with reading(tables):
        found = infer(["gemini-3.1-pro", "kimi-k3"])
    assert found.problems == () and run_as_json(found) == run_as_json(usual())


# -- an edit and the next run ---------------------------------------------------------------------------------------

EDITS: dict[str, tuple[Callable[[Cells], bool], dict[str, str]]] = {
    "prices": (MATTERS["prices"], {"amount": "90"}),
    "prices_calibration": (MATTERS["prices_calibration"], {"amount": "40"}),
    "fx": (lambda row: row["date"] == "2025-06-16", {"units_per_usd": "9"}),
    "models": (lambda row: row["model"] == "qwen3-coder-plus", {"max_context": "2000000"}),
    "hardware": (MATTERS["hardware"], {"value": "4e12"}),
    "memory_tiers": (MATTERS["memory_tiers"], {"value": "0.02"}),
    "architectures": (MATTERS["architectures"], {"kv_heads": "16"}),
    "calibration_models": (MATTERS["calibration_models"], {"max_context": "128000"}),
    "disclosures": (MATTERS["disclosures"], {"value": "3"}),
}
PROGRAM = (
    "import sys; from pathlib import Path; from derive.tables import shipped; shipped.FOLDER = Path(sys.argv[1])\n"
    "from invert.inference import infer; from invert.report.contract import run_as_json; print(run_as_json(infer(['gemini-3.1-pro'])))"
)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    folder = shutil.copytree(shipped.FOLDER, tmp_path / "pricing_data")
    monkeypatch.setattr(shipped, "FOLDER", folder)
    return folder


def edit(folder, name: str) -> None:
    matters, cells = EDITS[name]
    place = next(place for place, row in enumerate(rows(name)) if matters(row))
    (folder / f"{name}.csv").write_bytes(edited(name, place, **cells).files[f"{name}.csv"])


@pytest.mark.slow
def test_each_table_can_be_edited_and_the_same_process_says_what_a_fresh_one_says(copy):
    said = [run_as_json(infer(["gemini-3.1-pro"]))]
    for name in EDITS:
        edit(copy, name)
        table = infer(["gemini-3.1-pro"])
        assert table.problems == ()
        said.append(run_as_json(table))
    assert len(set(said)) == len(said), "an edit of a table that moves nothing"
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(copy)], capture_output=True, text=True, check=True, env=os.environ)
    assert json.loads(done.stdout) == json.loads(said[-1])


# -- names that the program looks up by itself ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("column", ["kv_values_stored_per_token", "kv_values_read_per_context_token"])
def test_kv_bytes_come_from_the_configuration_and_a_count_that_differs_is_named(column: str):
    place = next(at for at, row in enumerate(rows("architectures")) if row["model"] == "Kimi-K3")
    with reading(edited("architectures", place, **{column: "12345"})):
        assert run_as_json(infer(["gemini-3.1-pro", "kimi-k3"])) == run_as_json(usual())
        (problem,) = all_problems(shipped_data())[1]
    assert (problem.origin, problem.row, problem.column) == ("architectures.csv", place + 2, column)
    assert problem.message == "12345 is not the 13824 that mla_hybrid attention makes of the configuration"
    with reading(edited("architectures", place, kv_layers="48")):
        known = infer(["kimi-k3"]).inferences[0].known
    assert (known.stored, known.read) == (48 * (512 + 64) * 2,) * 2


# -- the wrong one of two rows is named too -------------------------------------------------------------------------


@in_one_test(
    ("name", "row", "cells", "named_rows"),
    [
        ("hardware", 35, {"accelerator": "H20O-SXM"}, {35}),
        ("hardware", 32, {"accelerator": "H20O-SXM"}, {32}),
        ("hardware", 110, {"value": "inf"}, {110}),
        ("hardware", 110, {"unit": "1"}, {110}),
        ("hardware", 24, {"unit": "byte"}, {24}),
        ("hardware", 18, {"quantity": "scale_up_link_bandwidth"}, {18, 23}),
        ("hardware", 23, {"quantity": "hbm_bandwidth"}, {18, 23}),
        ("prices_calibration", 14, {"model": "minimax-m"}, {14, 15}),
        ("prices_calibration", 14, {"service_tier": "standart"}, {14}),
        ("prices_calibration", 13, {"provider": "minimax"}, {12, 13}),
        ("memory_tiers", 45, {"quantity": "purchase_price"}, {44, 45}),
        ("memory_tiers", 45, {"quantity": "tier_capacity"}, {44, 45}),
        ("memory_tiers", 45, {"device": "another"}, {44, 45}),
    ],
)
def test_a_misspelt_key_names_its_own_row_and_the_one_it_is_missed_by(name: str, row: int, cells: Cells, named_rows: set[int]):
    with reading(edited(name, row - 2, **cells)):
        found = [problem for problem in table_problems(load(), shipped_data()) if problem.origin == f"{name}.csv"]
    said = "; ".join(map(str, found))
    listed = {problem.row for problem in found} | {int(one) for one in re.findall(r"\d+", " ".join(re.findall(r"rows ([\d, ]+)", said)))}
    assert named_rows <= listed, said


@pytest.mark.parametrize("name", ["architectures", "open_models", "models", "disclosed_sizes"])
def test_more_active_than_total_params_are_named(name: str):
    place = next(place for place, row in enumerate(rows(name)) if row["active_params"] and row["total_params"])
    row = rows(name)[place]
    with reading(edited(name, place, active_params=row["total_params"], total_params=row["active_params"])):
        found = shipped.read().problems(RECORDS[name])
    assert [(one.row, one.column) for one in found] == [(place + 2, "active_params")] or row["active_params"] == row["total_params"]


def test_a_context_below_the_last_band_is_named():
    place = next(place for place, row in enumerate(rows("models")) if row["model"] == "gemini-3.1-pro-preview")
    with reading(edited("models", place, max_context="104857")):
        (problem,) = all_problems(shipped_data())[1]
        (said,) = infer(["gemini-3.1-pro", "kimi-k3"]).problems
    assert (problem.origin, problem.row, problem.column) == ("models.csv", place + 2, "max_context") and str(problem) in str(said)


@in_one_test("name", ["host_prices", "price_history", "list_prices", "disclosed_sizes"])
def test_a_price_in_another_unit_is_named(name: str):
    for text in ("135000", "2e-06"):
        with reading(edited(name, 0, input_price=text)):
            (problem,) = shipped.read().problems(RECORDS.get(name, name))
            assert (problem.row, problem.column) == (2, "input_price") and f"{float(text):g} is out of range" in problem.message


@pytest.mark.slow
@in_one_test("name", [name for name in TABLES if name not in PRICES])
def test_every_figure_is_finite_and_above_zero(name: str):
    """The description says which columns are figures."""
    figures = [field["name"] for field in shipped.read().schema(name)["fields"] if field["type"] in ("number", "integer")]
    for column in figures:
        places = [place for place, row in enumerate(rows(name)) if row[column]]
        few = {places[0], places[len(places) // 2], places[-1]} if places else ()
        for place, text in some(product(few, ("inf", "nan", "-inf", "1e999", "-1")), every=4):
            with reading(edited(name, place, **{column: text})):
                assert (place + 2, column) in [
                    (problem.row, problem.column) for problem in shipped.read().problems(RECORDS.get(name, name))
                ], text
