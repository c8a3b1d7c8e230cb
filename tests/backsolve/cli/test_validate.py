"""The scoreboard and the claims of the lecture on the command line."""

import csv
import io
import json
import shlex
from typing import Any

import pytest

from backsolve.cli.validate import _ALGEBRA, _SECTIONS
from derive.errors import UnknownName
from invert.validation import scoreboard
from invert.validation.scoreboard_text import SHOWN, TITLES, VERDICTS, estimate_in_words
from tests.tools.commands import call
from tests.tools.together import in_one_test


def test_sections_are_those_of_the_command():
    assert tuple(scoreboard._SECTIONS) == (*_SECTIONS, _ALGEBRA) == tuple(TITLES)
    with pytest.raises(UnknownName, match="skill"):
        scoreboard.section_rows("skil")


@pytest.mark.slow
@in_one_test("section", _SECTIONS)
def test_the_command_prints_every_section_in_every_form(section: str):
    table, document, sheet = (call("validate", "--section", section, "--as", style).out for style in ("table", "json", "csv"))
    rows = json.loads(document)[section]
    assert rows and len(list(csv.reader(io.StringIO(sheet)))) == len(rows) + 1
    assert TITLES[section].split() == table.split()[: len(TITLES[section].split())]
    assert all(f"{verdict}: {meaning}" in " ".join(table.split()) for verdict, meaning in VERDICTS.get(section, {}).items())
    firsts = [str(next(iter(row.values()))) for row in rows]
    shown = tuple(map(estimate_in_words, firsts) if section == "experiments" else firsts)
    begins = tuple(text[:13] for text in shown)  # a long name is folded after its second word
    assert sum(line.startswith(begins) for line in table.splitlines()) == len(rows)


def test_without_a_section_the_answer_is_one_screen(monkeypatch: pytest.MonkeyPatch):
    claim = dict.fromkeys(SHOWN["claims"], "") | {"id": "A1z", "verdict": "loose", "tolerance": 0.25}
    monkeypatch.setattr(scoreboard, "sections", lambda names, starting: ({"claims": [claim]}, []))
    screen, whole = call("validate").out, call("validate", "--section", "all").out
    assert "0 of 1" in screen and "A1z" not in screen and len(screen.splitlines()) <= 40
    assert TITLES["claims"] in " ".join(whole.split()) and "A1z" in whole
    assert [json.loads(call("validate", *section, "--as", "json").out) for section in ((), ("--section", "all"))] == [
        {"claims": [claim]}
    ] * 2


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
