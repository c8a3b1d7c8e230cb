"""What chips and models set in a page, and what other equations make of it, is what `derive.solve` comes to."""

import json
from itertools import product

import pytest

from backsolve.site.formulas import solvable
from backsolve.site.presets import ASKED, FIELDS, NO_CHIP, kind_of, presets_data
from derive import solve
from derive.catalogue import by_id, equation
from tests.tools.leads_script import Chosen, data_in_json, led
from tests.tools.solver_script import NODE
from tests.tools.together import some

KINDS = ("Llama-3.1-70B", "DeepSeek-V3.2", "gpt-oss-120b", "Qwen3-235B-A22B", "DeepSeek-V3", "Qwen3-Next-80B-A3B", "Gemma-3-27B")
"""Dense, selecting attention, windows with two widths of weights, a mixture, latent attention, states, windows of a dense model."""

needs_node = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


def test_they_are_what_solve_takes_of_them() -> None:
    data = presets_data()
    chip = data["chips"]["B200-SXM"]
    taken = solve("balance_batch", hardware="B200-SXM:fp8", model="Llama-3.1-70B").given
    assert {name: {**chip["givens"], **chip["types"]["fp8"]}[name] for name in ("peak_flops", "hbm_bandwidth")} == {
        name: taken[name] for name in ("peak_flops", "hbm_bandwidth")
    }
    _, own = data["kinds"][data["models"]["Llama-3.1-70B"]["kinds"]]["1 apart"]
    assert {**data["models"]["Llama-3.1-70B"]["givens"], **own}["bytes_per_weight"] == taken["bytes_per_weight"]


def test_every_way_comes_to_all_that_the_desk_asks_from_what_is_given() -> None:
    data = json.loads(data_in_json())
    for model in data["models"].values():
        for kind, (place, own) in data["kinds"][model["kinds"]].items():
            way = data["ways"][place]
            made = [data["legs"][leg]["makes"] for leg in way["legs"]]
            assert {*made}.isdisjoint({*model["givens"], *own, *FIELDS}) and len({*made}) == len(made)
            assert not kind or {*made[: way["asked"]]} >= {*ASKED}


def held_against_solve(hardware: str, model: str) -> int:
    """How many quantities follow from a chip and a model, each being what `derive.solve` comes to."""
    data, (chip, _, dtype) = presets_data(), hardware.partition(":")
    kind = kind_of(data["chips"][chip]["types"][dtype]) if chip else NO_CHIP
    place, _ = data["kinds"][data["models"][model]["kinds"]][kind] if model else data["alone"][kind]
    (found,) = led([Chosen(hardware, model)])
    rented = data["chips"][chip]["givens"] if chip else {}
    given = FIELDS | {name: rented[name] for name in FIELDS if name in rented}
    made = {data["legs"][leg]["makes"] for leg in data["ways"][place]["legs"]} & found["values"].keys()
    for name in made:
        expected = solve(name, hardware=hardware or None, model=model or None, given=given, anyway=True)
        assert expected.answers and found["values"][name] == pytest.approx(expected.value, rel=1e-9), name
    return len(made)


@needs_node
@pytest.mark.parametrize(
    ("hardware", "model", "least"),
    [("H100-SXM:fp8", KINDS[0], 50), ("B200-SXM:fp4", KINDS[1], 50), ("H100-SXM:fp8", "", 1), ("", KINDS[4], 1)],
)
def test_what_follows_from_them_is_what_solve_comes_to(hardware: str, model: str, least: int) -> None:
    assert held_against_solve(hardware, model) >= least


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize(
    ("hardware", "model"), some(product(["H100-SXM:bf16", "H100-SXM:fp8", "B200-SXM:fp4", "TPU-v5e:int8"], KINDS), every=3)
)
def test_what_follows_from_any_kind_of_them_is_what_solve_comes_to(hardware: str, model: str) -> None:
    assert held_against_solve(hardware, model) > 40


@needs_node
def test_equations_whose_quantities_follow_are_led_to_by_chip_and_model() -> None:
    rows = [{"id": row.id, "symbols": [*row.symbols], "right": 0} for row in by_id().values()]
    middle = {name: 1.0 for row in by_id().values() for name in row.symbols}
    found = led(Chosen("H100-SXM:fp8", "DeepSeek-V3", row, row["symbols"][0], middle) for row in rows)
    spoken = {row["id"] for row, one in zip(rows, found, strict=True) if one["found"].keys() - {row["symbols"][0]}}
    assert spoken >= {"batching.balance_batch", "roofline.step_time", "roofline.memory_time", "serving.cost_per_token"}
    by_equation = {row["id"]: one for row, one in zip(rows, found, strict=True)}
    step = by_equation["roofline.step_time"]
    assert step["found"].keys() == {*equation("roofline.step_time").symbols[1:]} - {
        "tokens_verified_per_step",
        "drafting_time",
        "overhead_time",
    }
    assert {"batch", "context_length", "chips"} <= {*step["rests"]} and "roofline.step_time" not in step["legs"]


@needs_node
def test_what_an_equation_is_asked_for_leads_nowhere_else() -> None:
    row = solvable(equation("roofline.kv_time"))
    values = dict.fromkeys(row["symbols"], 1.0) | {"batch": 7.0}
    forward, backward = led(Chosen("H100-SXM:fp8", "DeepSeek-V3", row, unknown, values) for unknown in ("kv_time", "batch"))
    assert "batch" not in forward["rests"] and "batch" not in backward["found"]
    assert forward["found"]["hbm_bandwidth"] == backward["found"]["hbm_bandwidth"]
    assert "kv_time" not in forward["found"] and "kv_time" not in backward["found"]
