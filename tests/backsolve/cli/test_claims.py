"""`backsolve claims`: every claim of the lecture is found, and the command that it shows computes what it prints."""

import json
import shlex
from typing import Any

import pytest

from invert.validation import scoreboard
from tests.tools.commands import call


def _output(*words: str) -> str:
    said = call(*words)
    assert said.status == 0, said
    return said.out


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


def test_a_word_lists_claims():
    predictions = json.loads(_output("claims", "prediction", "--as", "json"))
    assert {"A8b", "B4c", "D5e", "E10a", "E15f"} <= {row["id"] for row in predictions}


@pytest.mark.parametrize(
    ("word", "found"), [("prediction", "E10a"), ("0:19:16", "batching.balance_batch"), ("sparcity", "batching.sparsity")]
)
def test_a_search_finds_claims_times_and_words_with_one_typo(word: str, found: str):
    assert found in _output("list", word)
