"""Several answers: every one of them first, one route without a step twice, what all rest on once; each document as if asked alone."""

import csv
import json

from tests.tools.commands import call, refused

GIVEN = (
    *("--hardware", "8xH100:fp8", "--model", "Llama-3.1-70B", "context_length=8k", "bytes_per_element=fp8"),
    *("chip_price=2USD/h", "batch=64"),
)
ASKED = "step_time,throughput,cost_per_token"


def test_each_answer_is_that_of_the_question_alone():
    for given in (GIVEN, (*GIVEN[:-1], "batch=1,64")):
        alone = [json.loads(call("solve", name, *given, "--as", "json").out) for name in ASKED.split(",")]
        assert call("solve", ASKED, *given, "--as", "json").out == json.dumps(alone, indent=2) + "\n"
    rows = [*csv.DictReader(call("solve", ASKED, *GIVEN, "--as", "csv").out.splitlines())]
    assert [row["unknown"] for row in rows] == ASKED.split(",")


def test_one_without_an_answer_leaves_with_3_and_the_others_are_printed():
    said = call("solve", "step_time,chip_capex", *GIVEN)
    assert said.status == 3 and said.out.startswith("step_time = 5.763 ms") and "\nchip_capex: no answer: " in said.out
    assert "also needs depreciation_time" in said.err
    assert "unknown quantity 'step_tim'" in refused("solve", "step_tim,throughput", *GIVEN)
    assert call("solve", "step_time,step_time", *GIVEN).out == call("solve", "step_time", *GIVEN).out
