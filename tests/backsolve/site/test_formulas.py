"""What a page is given is what Python works with: the same trees, numbers and units; and all of it is JSON."""

import json

import pytest

from backsolve.site.formulas import page_data, quantities_data, solvable
from derive.catalogue import by_id, equation
from derive.trees import evaluate
from derive.units import parse
from tests.tools.together import some


def test_every_equation_has_data_of_strict_json_that_makes_its_example_again() -> None:
    for row in some(by_id().values(), every=4):
        data = page_data(row.id)
        assert json.loads(json.dumps(data, allow_nan=False)).keys() == data.keys()
        if row.result and row.sense == "=":
            example = {name: parse(name, typed) for name, typed in row.example.items()}
            made = evaluate(data["equation"]["right"], data["start"] | example)
            assert made == pytest.approx(parse(row.symbols[0], row.result), rel=1e-3), row.id


def test_all_quantities_are_strict_json_and_those_of_an_equation_are_among_them() -> None:
    assert json.loads(json.dumps(quantities_data(), allow_nan=False)).keys() >= {name for row in by_id().values() for name in row.symbols}


def test_regimes_and_requirements_have_their_turning_points() -> None:
    step = solvable(equation("roofline.step_time"))
    assert [one["label"].partition(" >=")[0] for one in step["regimes"]] == [
        "memory_time",
        "tokens_verified_per_step*(attention_time + compute_time)",
    ]
    (turn,) = step["regimes"][0]["wins"][0]["turns"]["compute_time"]
    at = {"attention_time": 1e-3, "memory_time": 9e-3, "tokens_verified_per_step": 3.0}
    assert [evaluate(form["tree"], at) for form in turn["roots"]] == [pytest.approx(2e-3)]
    (needed,) = solvable(equation("batching.sparsity"))["requires"]
    assert needed["said"] == "total_params >= active_params" and needed["turns"].keys() == {"total_params", "active_params"}
