"""What chips and models set in a page, and what other equations make of it, is what `derive.solve` comes to."""

import json
from itertools import product

import pytest

from backsolve.site.presets import ASKED, FIELDS, NO_CHIP, kind_of, presets_data
from campaigns.desk_script import data_in_json, told
from campaigns.solver_script import NODE
from derive import solve
from tests.tools.together import some

KINDS = ("Llama-3.1-70B", "DeepSeek-V3.2", "gpt-oss-120b", "Qwen3-235B-A22B", "DeepSeek-V3", "Qwen3-Next-80B-A3B", "Gemma-3-27B")
"""Dense, selecting attention, windows with two widths of weights, a mixture, latent attention, states, windows of a dense model."""

needs_node = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


def test_every_way_comes_to_all_that_the_desk_asks_from_what_is_given() -> None:
    data = json.loads(data_in_json())
    for name, model in data["models"].items():
        for kind, (place, own) in model["kinds"].items():
            way = data["ways"][place]
            made = [data["legs"][leg]["makes"] for leg in way["legs"]]
            assert {*made}.isdisjoint({*model["givens"], *own, *FIELDS}) and len({*made}) == len(made)
            assert not (kind and name) or {*made[: way["asked"]]} >= {*ASKED}


def held_against_solve(hardware: str, model: str) -> int:
    """How many quantities follow from a chip and a model, each being what `derive.solve` comes to."""
    data, (chip, _, dtype) = presets_data(), hardware.partition(":")
    kind = kind_of(data["chips"][chip]["types"][dtype]) if chip else NO_CHIP
    place, _ = data["models"][model]["kinds"][kind]
    rented = data["chips"][chip]["givens"] if chip else {}
    given = FIELDS | {name: rented[name] for name in FIELDS if name in rented}
    found = told([(hardware, model, given)])[0].told["all"]
    made = {data["legs"][leg]["makes"] for leg in data["ways"][place]["legs"]} & found.keys()
    for name in made:
        expected = solve(name, hardware=hardware or None, model=model or None, given=given, anyway=True)
        assert expected.answers and found[name] == pytest.approx(expected.value, rel=1e-9), name
    return len(made)


@needs_node
@pytest.mark.parametrize(
    ("hardware", "model", "least"),
    [("B200-SXM:fp4", KINDS[1], 50), ("", KINDS[4], 1)],
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
