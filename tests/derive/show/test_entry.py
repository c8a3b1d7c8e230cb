"""An entry of the catalogue as one record for programs, its example in a line, and its derivation in words and LaTeX."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from derive.catalogue import by_id, equation
from derive.quantities import QUANTITIES
from derive.quantities.formula import as_expression
from derive.show.entry import derivation_in_latex, derivation_lines, entry_as_json, entry_as_record, list_as_json, parents, worked_example
from derive.show.presets import hardware_records, model_records
from derive.units import parse
from tests.tools.together import in_one_test, some

ROWS = tuple(by_id().values())


def test_every_entry_is_a_record_of_the_schema():
    file = Path(__file__).parents[3] / "docs" / "reference" / "schema" / "show.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    records = [json.loads(entry_as_json(row)) for row in ROWS]
    assert [error.message for record in records for error in Draft202012Validator(schema).iter_errors(record)] == []
    assert {record["id"]: record["example"]["result"] for record in records} == {row.id: row.result for row in ROWS}
    for record in records:
        given = {name: parse(name, text) for name, text in record["example"]["given"].items()}
        assert given.items() < record["example"]["values"].items()
    assert Draft202012Validator(schema).is_valid({**records[0], "example": {"given": {}}}) is False


def test_a_list_is_a_document_of_the_schema_and_what_was_not_asked_for_is_null():
    file = Path(__file__).parents[3] / "docs" / "reference" / "schema" / "list.schema.json"
    schema = Draft202012Validator(json.loads(file.read_text(encoding="utf-8")), format_checker=Draft202012Validator.FORMAT_CHECKER)
    Draft202012Validator.check_schema(schema.schema)
    quantities, chips, models = QUANTITIES.values(), hardware_records(), model_records()
    whole = json.loads(list_as_json(ROWS, quantities, chips, models), parse_constant=pytest.fail)
    assert [error.message for error in schema.iter_errors(whole)] == []
    assert [len(one) for one in whole.values()] == [len(one) for one in (ROWS, quantities, chips, models)]
    assert json.loads(list_as_json(models=models)) == {**dict.fromkeys(("equations", "quantities", "hardware")), "models": whole["models"]}
    short = {kind: rows[:1] for kind, rows in whole.items()}
    for kind, (first,) in short.items():
        for name in first:
            lacking = {key: value for key, value in first.items() if key != name}
            assert not schema.is_valid({**short, kind: [lacking]}), f"{kind}: {name} is no key that may be left out"
        assert not schema.is_valid({**short, kind: [{**first, "more": 1}]})


def test_every_entry_says_its_equation_as_it_is_solved():
    for row, record in ((row, entry_as_record(row)) for row in ROWS):
        assert tuple(map(as_expression, record["equation"].split(f" {row.sense} "))) == row.sides
        assert [one["name"] for one in record["quantities"]] == list(row.symbols)
        assert all(one["unit"] == QUANTITIES[one["name"]].unit for one in record["quantities"])


def test_a_derivation_ends_at_the_entry_and_names_its_premises():
    record = entry_as_record(equation("roofline.minimum_latency"))
    first, last = record["derivation"]
    assert (first["stationary"], last["stationary"], last["eliminated"]) == (["chips"], [], ["chips"])
    assert (first["premises"], last["premises"]) == (["roofline.grid_latency"], ["#1", "roofline.grid_latency"])
    assert last["conclusion"] == record["equation"] and first["conclusion"].startswith("chips = ")
    assert record["follows_from"] == ["roofline.grid_latency"]
    assert "roofline.minimum_latency" in entry_as_record(equation("roofline.grid_latency"))["leads_to"]


def test_the_example_has_the_left_side_unrounded():
    record = entry_as_record(equation("roofline.compute_time"))["example"]
    assert record["result"] == "3.274 ms" and record["values"]["compute_time"] == 2 * 64 * 405e9 / (16 * 1979e12 * 0.5)
    assert worked_example(equation("training.memory_fits")).endswith("-> training_memory_per_chip <= 80 GB")


DERIVED = some([pytest.param(row, id=row.id) for row in by_id().values() if row.steps], every=4)


@in_one_test("row", DERIVED)
def test_a_derivation_reads_from_its_premises_to_the_equation(row):
    lines = derivation_lines(row)
    left, right = row.sides
    assert lines[-1].strip() == f"{left} {row.sense} {right}"
    assert [line.split(".")[0] for line in lines if line[0].isdigit()] == [str(n + 1) for n in range(len(row.steps))]
    for id in parents(row):
        assert any(id in line for line in lines)


@in_one_test("row", DERIVED)
def test_the_latex_is_balanced_and_has_an_item_a_step(row):
    text = derivation_in_latex(row)
    assert text.count(r"\item") == len(row.steps)
    assert text.count("{") == text.count("}") and text.count(r"\[") == text.count(r"\]")
    assert text.count("$") % 2 == 0
    assert text.count(r"\begin") == text.count(r"\end")


def test_a_definition_has_its_formula_and_no_steps():
    row = equation("roofline.kv_time")
    assert derivation_lines(row) == []
    assert r"\item" not in derivation_in_latex(row) and r"t_{\mathrm{kv}} = " in derivation_in_latex(row)
