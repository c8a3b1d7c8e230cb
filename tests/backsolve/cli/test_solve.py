"""`backsolve solve`: what has no answer leaves with 3 and says what is missing, in every form."""

import json
import shlex

import pytest

from tests.tools.commands import DEPLOYED, STAR, call, refused
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")


def test_what_is_missing_is_named_in_json_too():
    document = json.loads(call(*STAR, "machine_balance_ratio=300", "--as", "json").out)
    assert document["reason"]["code"] == "missing_givens" and document["reason"]["missing"] == ["active_params", "total_params"]


def test_a_question_that_lacks_something_is_shown_with_what_would_do_as_a_command_that_answers_it():
    asked = ("solve", "cost_per_token", *DEPLOYED, "--overlap", "sum", "--anyway", "chips=16", "batch=64", "context_length=4k")
    said = refused(*asked, status=3)
    *_, command = said.splitlines()
    words = shlex.split(command.partition("for example, with your own values for chip_price: backsolve ")[2])
    assert {*words} == {*asked, "chip_price=2 USD/h"} and call(*words).status == 0


@in_one_test("style", ["csv", "markdown", "latex", "json"])
def test_what_is_said_beside_an_answer_is_on_stderr_where_the_answer_is_for_a_file(style):
    said = call("solve", "token_latency", "pipeline_stages=4", "step_time=20ms", "experts=8", "--as", style)
    warning, *others = said.err.splitlines()
    assert warning.startswith("backsolve: ") and "pipeline_stages" in warning and "backsolve: " not in said.out
    assert others == ["backsolve: experts is given but not used"]


def test_a_rent_is_taken_from_the_table_only_where_it_is_asked_for():
    deployed = ("--hardware", "8xH100:fp8", "--model", "Llama-3.1-70B", "bytes_per_element=1", "context_length=8k")
    question = ("solve", "cost_per_token", *deployed)
    assert "also needs chip_price" in refused(*question, "batch=64", status=3)
    document = json.loads(call(*question, "batch=64", "--price", "rent", "--as", "json").out)
    assert document["provenance"]["chip_price"].startswith("hardware.csv H100-SXM chip_price: median of 5 rents")
    given = json.loads(call(*question, "batch=64", "--price", "rent", "chip_price=2USD/h", "--as", "json").out)
    assert given["provenance"]["chip_price"] == "given"


def test_several_unknowns_of_which_some_lack_something_are_shown_with_one_command_that_answers_all():
    unknowns = "cost_per_token,gross_margin,step_time"
    served = ("--hardware", "H100-SXM:fp8", "--model", "Llama-3.1-70B", "chips=8", "batch=64", "isl=1000", "osl=300")
    said = call("solve", unknowns, *served)
    (command,) = [line for line in said.err.splitlines() if "for example" in line]
    words = shlex.split(command.partition(": backsolve ")[2])
    assert said.status == 3 and words[1] == unknowns and {*served} < {*words} and call(*words).status == 0


def test_a_rule_of_thumb_answers_with_its_name():
    found = json.loads(call("solve", "overtraining_ratio", "--model", "Llama-3.1-8B", "pretrain_tokens=15T", "--as", "json").out)
    assert (found["basis"], found["answers"][0]["by"]) == ("rule", ["training.chinchilla@1"])


@in_one_test(
    ("word", "given", "names"),
    [
        ("tokens_per_second", ("batch=4", "step_time=20ms"), ["throughput", "tokens_per_second_per_user"]),
        ("latency", ("compute_time=8ms", "memory_time=5ms"), ["step_time"]),
    ],
)
def test_a_word_with_several_meanings_is_answered_in_each_that_the_inputs_determine(word, given, names):
    found = json.loads(call("solve", word, *given, "--as", "json").out)
    assert [one["unknown"] for one in (found if isinstance(found, list) else [found])] == names
    assert refused("solve", word).startswith(f"backsolve: quantity '{word}' could mean {names[0]}")


def test_a_given_word_has_the_only_meaning_that_is_possible_or_is_refused():
    """A user of 32 who gets 3,000 tokens per second would need 29 times the bandwidth of the chip. A share of 3 % is possible."""
    served = ("solve", "mbu", "--model", "Llama-3.1-8B", "--hardware", "H100:bf16", "batch=32", "ctx=4k")
    assert call(*served, "tps=3000").err.startswith("backsolve: tps is read as throughput\n")
    assert "'tps' could mean" in refused(*served, "tps=100")


@in_one_test(
    ("inputs", "formula"),
    [
        (["machine_balance_ratio", "sparsity=8"], "8*machine_balance_ratio"),
        (["machine_balance_ratio=300", "sparsity=8"], "machine_balance_ratio*sparsity"),
    ],
)
def test_inputs_without_a_value_are_symbols_or_all_inputs(inputs, formula):
    (answer,) = json.loads(call("solve", "balance_batch", *inputs, "--symbolic", "--as", "json").out)["answers"]
    assert (answer["kind"], answer["formula"]) == ("symbolic", formula)


def test_a_symbol_beside_a_limit_or_a_list_is_refused():
    assert "is a limit" in refused("solve", "chips", "total_params", "step_time<=20ms", "--symbolic", status=2)
    assert "is a range or a list" in refused("solve", "throughput", "token_latency", "batch=1,8", "--symbolic", status=2)
