"""`backsolve validate`: every section in every form, and what does not go together."""

import csv
import io
import json

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
