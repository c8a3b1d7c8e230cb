"""`backsolve claims`: every claim of the lecture is found, and the command that it shows computes what it prints."""

import json
import shlex
from typing import Any

import pytest
from click.testing import CliRunner

from backsolve.cli.main import backsolve
from invert.validation import scoreboard


def _output(*words: str) -> str:
    result = CliRunner().invoke(backsolve, words, prog_name="backsolve")
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_of_a_claim_computes_the_number_that_it_prints():
    """A quotient has two commands, whose answers are divided. A command that shows a row of a table answers."""
    found = {}
    for row in scoreboard.section_rows("claims"):
        every = [shlex.split(one)[1:] for one in str(row["command"]).split(" && ") if one]
        commands = [one for one in every if one[0] == "solve"]
        assert all(_output(*one) for one in every if one[0] != "solve")
        ends = [_ends(json.loads(_output(*one, "--as", "json"))) for one in commands]
        if len(ends) == 2:
            found[row["id"]] = (row["found"], [ends[0][0] / ends[1][0]])
        elif ends and not row["unit"]:
            found[row["id"]] = (row["found"], ends[0])
    assert len(found) > 40
    assert [id for id, (number, values) in found.items() if number not in [pytest.approx(value, rel=1e-3) for value in values]] == []


def _ends(solution: dict[str, Any]) -> list[float]:
    return [answer[name] for answer in solution["answers"] for name in ("value", "low", "high") if answer.get(name) is not None]


def test_a_word_lists_claims_and_an_id_shows_one_with_time_reason_and_command():
    predictions = json.loads(_output("claims", "prediction", "--as", "json"))
    assert {"A8b", "B4c", "D5e", "E10a", "E15f"} <= {row["id"] for row in predictions}
    shown = _output("claims", "a13d")
    for text in ("8", "18.14", "contradicted by data", "0:19:16", "backsolve solve sparsity --model DeepSeek-V3"):
        assert text in shown


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("prediction",), "E10a"),
        (("0:19:16",), "batching.balance_batch"),
        (("300", "x", "sparsity"), "batching.balance_batch"),
        (("balanse", "batch"), "batching.balance_batch"),
        (("sparcity",), "batching.sparsity"),
    ],
)
def test_a_search_finds_claims_times_products_and_words_with_one_typo(words, found):
    assert found in _output("list", *words)
