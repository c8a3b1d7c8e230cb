"""Deployments side by side: each as if asked alone, the winner of every row, those without an answer named once, in what fits."""

import csv
import json
import math

import pytest

from derive.show.text import SCREEN_WIDTH
from tests.tools.commands import call, refused

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = ("chips=8", "batch=64", "context_length=8k", "bytes_per_element=fp8")
LLAMA = ("--model", "Llama-3.1-70B", *SERVED)
TEN = "H100,H200,B200,B300,GB200,MI300X,MI325X,MI355X,TPU-v6e,H20:fp8"


def test_a_row_a_question_a_column_a_chip_and_its_winner():
    lines = call("solve", "step_time,throughput", "--hardware", "H100,H200,B200:fp8", *LLAMA).out.splitlines()
    assert lines[0].split() == ["H100:fp8", "H200:fp8", "B200:fp8", "best"]
    assert lines[1].split() == ["step_time", "(or", "more)", "5.763", "ms", "4.022", "ms", "2.413", "ms", "B200:fp8"]
    assert lines[2].split() == ["where", *["memory-bound"] * 3] and lines[3].split()[-1] == "B200:fp8"
    assert max(map(len, lines)) <= SCREEN_WIDTH


def test_each_is_what_it_is_alone():
    several = json.loads(call("solve", "step_time", "--hardware", "H100,B200:fp8", *LLAMA, "--as", "json").out)
    for name, one in zip(("H100:fp8", "B200:fp8"), several, strict=True):
        alone = json.loads(call("solve", "step_time", "--hardware", name, *LLAMA, "--as", "json").out)
        assert one == {"hardware": [name], "model": ["Llama-3.1-70B"], "solutions": [alone]}
    rows = [*csv.DictReader(call("solve", "step_time", "--hardware", "H100,B200:fp8", *LLAMA, "--as", "csv").out.splitlines())]
    assert [row["deployment"] for row in rows] == ["H100:fp8", "B200:fp8"] and rows[0]["unknown"] == "step_time"


def test_more_than_fit_are_rows_and_the_best_is_marked():
    lines = call("solve", "step_time", "--hardware", TEN, *LLAMA).out.splitlines()
    assert [line.split()[0] for line in lines[1:11]] == [f"{name}:fp8" for name in TEN.removesuffix(":fp8").split(",")]
    best = [line.split()[0] for line in lines[1:11] if " *" in line]
    assert best == ["B200:fp8", "B300:fp8", "GB200:fp8", "MI355X:fp8"], "eight terabytes a second, all of them"
    assert lines[11] == "* the best of its column"


def test_two_lists_are_all_with_all_or_one_with_one():
    asked = ("solve", "step_time", "--hardware", "H100,H200:fp8", "--model", "Llama-3.1-70B,Llama-3-8B", *SERVED)
    assert [line.split()[0] for line in call(*asked).out.splitlines()[1:5]] == ["H100:fp8", "H100:fp8", "H200:fp8", "H200:fp8"]
    zipped = json.loads(call(*asked, "--zip", "--as", "json").out)
    assert [(one["hardware"], one["model"]) for one in zipped] == [
        (["H100:fp8"], ["Llama-3.1-70B"]),
        (["H200:fp8"], ["Llama-3-8B"]),
    ]
    assert "--zip needs two lists" in refused("solve", "step_time", "--hardware", "H100:fp8", *LLAMA, "--zip")
    assert "of equal length" in refused(*asked[:5], "Llama-3-8B,Llama-3-70B,Mixtral-8x7B", "--zip")


def test_a_list_of_givens_is_zipped_with_the_chips():
    asked = ("solve", "step_time", "--hardware", "H100,H200:fp8", "--model", "Llama-3.1-70B", "chips=8", *SERVED[2:], "--zip")
    zipped = json.loads(call(*asked, "batch=64;128", "--as", "json").out)
    for one, chip, batch in zip(zipped, ("H100:fp8", "H200:fp8"), (64, 128), strict=True):
        alone = json.loads(call(*asked[:2], "--hardware", chip, *asked[4:-1], f"batch={batch}", "--as", "json").out)
        assert [part["answers"] for part in one["solutions"]] == [alone["answers"]]
    head, *_ = call(*asked, "batch=64;128").out.splitlines()
    assert "H100:fp8 batch=64" in head and "H200:fp8 batch=128" in head
    assert "batch (3) and --hardware and --model (2)" in refused(*asked, "batch=8,64,128")
    assert len(json.loads(call(*asked, "batch=8..64:log:4", "--as", "json").out)[0]["solutions"][0]["sweep"]) == 4, "a sweep is of both"


def test_a_sweep_has_a_column_a_deployment_with_a_legend_where_names_are_too_long():
    short = call("solve", "step_time", "--hardware", "H100,H200:fp8", *LLAMA[:3], "batch=1,8", *LLAMA[4:]).out.splitlines()
    assert short[:2] == ["step_time (or more)", "batch   H100:fp8   H200:fp8"] and short[2].split()[0] == "1"
    models = ("--model", "Llama-3.1-70B,Llama-3.3-70B", "chips=8", "batch=1,8", *LLAMA[4:])
    long = call("solve", "step_time", "--hardware", "H100,H200:fp8", *models).out.splitlines()
    assert long[1].split() == ["batch", "A", "B", "C", "D"] and long[4] == "A: H100:fp8 Llama-3.1-70B"


def test_those_without_an_answer_are_named_with_why_and_all_without_leave_with_3():
    said = call("solve", "cost_per_token", "--hardware", "H100,L4:fp8", *LLAMA, "--price", "rent")
    assert said.status == 0 and "No answer    L4:fp8: hardware.csv has no rent for L4" in said.out
    nothing = call("solve", "throughput", "--hardware", "H100,H200:fp8", "--model", "Llama-3.1-70B")
    assert nothing.status == 3 and nothing.out.count("throughput also needs") == 1
    assert "unknown accelerator 'H1'" in refused("solve", "step_time", "--hardware", "H1,H200:fp8", *LLAMA)


def test_chips_are_whole_ones_and_as_many_win_alike():
    asked = ("solve", "chips", "--hardware", "H100,H200,B200:fp8", "--model", "Llama-3.1-70B", *SERVED[1:])
    few = call(*asked, "step_time=20ms").out.splitlines()[1].split()
    assert few[:3] == ["chips", "(or", "more)"] and all(cell.isdigit() for cell in few[3:6])
    alone = [json.loads(call("solve", "chips", "--hardware", f"{name}:fp8", *asked[4:], "step_time=20ms", "--as", "json").out)
             for name in ("H100", "H200", "B200")]  # fmt: skip
    exact = [one["answers"][0]["value"] for one in alone]
    assert [int(cell) for cell in few[3:6]] == [math.ceil(value) for value in exact] and exact[0] % 1
    same = call(*asked[:3], "H100,H800:fp8", *asked[4:], "step_time=20ms").out.splitlines()[1].split()
    assert same[3] == same[4] and len(same) == 5, "neither is better"


SIZED = ("--model", "Llama-3.3-70B", "isl=8000", "osl=500", "tpot=50ms", "ttft=1s")


def test_a_size_has_the_chips_to_deploy_beside_it_as_it_has_alone():
    """In a column for each chip, at each point of a list, and among several questions."""
    for chip in ("H100:bf16", "H200:bf16"):
        found = json.loads(call("solve", "gpus", "--hardware", chip, *SIZED, "qps=20", "--as", "json").out)["deployments"][0]
        several = call("solve", "gpus", "--hardware", "H100,H200:bf16", *SIZED, "qps=5,20", "--as", "csv").out
        rows = [row for row in csv.DictReader(several.splitlines()) if row["deployment"] == chip]
        assert [float(row["deploy"]) for row in rows if row["requests_per_second"] == "20.0"] == [found["chips"]]
        points = json.loads(call("solve", "gpus", "--hardware", chip, *SIZED, "qps=5,20", "--as", "json").out)["sweep"]
        assert points[1]["deploy"] == found["chips"] and points[0]["deploy"] < points[1]["deploy"]
        both = json.loads(call("solve", "gpus,replicas", "--hardware", chip, *SIZED, "qps=20", "--as", "json").out)
        assert both[0]["deployments"][0] == found
    lines = call("solve", "gpus", "--hardware", "H100,H200:bf16", *SIZED, "qps=20").out.splitlines()
    assert lines[0].split()[-3:] == ["with", "prompts", "deploy"]
    assert [line.split()[3:5] for line in lines if line.startswith("H")] == [["40"], ["36", "*"]]


def test_columns_of_sweeps_are_joined_by_name():
    """The last one alone has a batch, because the others are not limited by it."""
    asked = ("solve", "throughput", "--hardware", "H100,H200:fp8", "--model", "Llama-3.1-70B", "chips=8", "ctx=2k,8k", "tpot<=30ms")
    rows = [*csv.DictReader(call(*asked, "--as", "csv").out.splitlines())]
    assert len(rows) == 4 and all(float(row["value"]) > 1000 for row in rows)
    alone = {chip: call(*asked[:3], chip, *asked[4:]).out.splitlines()[0].split() for chip in ("H100:fp8", "H200:fp8")}
    assert [bool(row["batch"]) for row in rows] == ["batch" in alone[row["deployment"]] for row in rows]
    names = call(*asked).out.splitlines()[1].split()
    assert names.count("batch") == sum("batch" in words for words in alone.values()) > 0
