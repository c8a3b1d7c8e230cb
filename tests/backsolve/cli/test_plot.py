"""Figures by name: each is written, the same each time; what is asked wrongly is answered in a line and writes nothing."""

import re
from pathlib import Path

import pytest

from backsolve.figures.named import FIGURES
from derive.quantities import quantity
from tests.tools.commands import call, refused
from tests.tools.together import in_one_test


@pytest.mark.slow
@in_one_test("name", FIGURES)
def test_every_figure_is_drawn_of_what_is_usual(name: str, tmp_path: Path):
    place = tmp_path / "figure.svg"
    said = call("plot", name, "--out", str(place))
    assert (said.status, said.out, said.err) == (0, "", "") and place.read_bytes().startswith(b"<?xml")


@in_one_test("question", [one.question for one in FIGURES.values() if one.question])
def test_default_inputs_are_names_of_quantities(question: str):
    names = re.findall(r"[a-z_]+(?==)|(?<![=\w])[a-z_]{4,}", question)
    assert names and all(quantity(name).name == name for name in names)


def test_an_old_file_gives_way_and_the_same_figure_is_the_same_file(tmp_path: Path):
    places = [tmp_path / name for name in ("a.svg", "b.svg")]
    places[0].write_text("old")
    for place in places:
        assert call("plot", "roofline", "batch=64", "--hardware", "B200:fp8", "--out", str(place)).status == 0
    assert places[0].read_bytes() == places[1].read_bytes() != b"old"


def test_a_deployment_that_says_how_many_chips_and_what_data_type_is_taken_at_its_word(tmp_path: Path):
    place = tmp_path / "roofline.svg"
    assert call("plot", "roofline", "--hardware", "8xH100", "--model", "Llama-3.1-70B", "batch=32", "--out", str(place)).status == 0
    said = place.read_text(encoding="utf-8")
    assert "8xH100" in said and "chips" not in said and "bytes_per_element" not in said


@pytest.mark.slow
def test_givens_and_sheets_are_those_that_are_named(tmp_path: Path):
    svg = tmp_path / "a.svg"
    for words in (("cost-batch", "chip_price=9USD/h", "batch=1..64:log:5"), ("latency-cost", "--hardware", "H100,B200:fp8")):
        assert call("plot", *words, "--out", str(svg)).status == 0
    assert call("plot", "size-price", "gemini-3.1-pro", "claude-opus-5", "--out", str(svg)).status == 0
    assert call("plot", "cost-context", "qwen3-coder-plus", "--as-of", "2026-11-01", "--out", str(tmp_path / "a.png")).status == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_what_has_no_answer_draws_nothing(tmp_path: Path):
    for words in (("tornado", "claude-opus-5"), ("roofline", "batch=1000000"), ("size-price", "kimi-k3", "--as-of", "2020-01-01")):
        place = tmp_path / "a.svg"
        said = call("plot", *words, "--out", str(place))
        assert said.status in (2, 3) and said.err.startswith("backsolve: ") and not place.exists()


def test_nothing_is_drawn_of_a_sweep_that_has_no_part_in_the_answer(tmp_path: Path):
    drawn = tmp_path / "flat.svg"
    deployed = ("--model", "Llama-3.1-70B", "--hardware", "H100-SXM:fp8", "gpus=4", "batch=64", "ctx=2k", "rent=2.5 USD/h")
    said = refused("solve", "throughput", "fleet_utilisation=0.2..1:lin:9", *deployed, "--plot", str(drawn))
    assert "ask for fleet_throughput" in said and not drawn.exists()
