"""`backsolve validate`: every section in every form, and what does not go together."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from backsolve.cli.main import backsolve
from backsolve.cli.validate import SECTIONS
from derive.errors import UnknownName
from invert import scoreboard
from tests.tools.together import in_one_test


def call(*arguments: str):
    return CliRunner().invoke(backsolve, ["validate", *arguments])


def test_sections_are_those_of_the_command():
    assert tuple(scoreboard.SECTIONS) == SECTIONS == tuple(scoreboard.TITLES)
    with pytest.raises(UnknownName, match="skill"):
        scoreboard.section_rows("skil")


@in_one_test("section", SECTIONS)
def test_the_command_prints_every_section_in_every_form(section: str):
    table, document, sheet = (call("--section", section, "--as", style).output for style in ("table", "json", "csv"))
    rows = json.loads(document)[section]
    assert rows and len(list(csv.reader(io.StringIO(sheet)))) == len(rows) + 1
    assert scoreboard.TITLES[section].split() == table.split()[: len(scoreboard.TITLES[section].split())]
    assert sum(line.startswith(tuple(str(next(iter(row.values()))) for row in rows)) for line in table.splitlines()) == len(rows)


@in_one_test(
    ("arguments", "said"),
    [
        (("--save", "x.csv"), "go with --rerun"),
        (("--workers", "2"), "go with --rerun"),
        (("--section", "truth", "--rerun"), "--section calibration"),
        (("--section", "truths"), "truth"),
    ],
)
def test_what_does_not_go_together_is_said(arguments: tuple[str, ...], said: str):
    assert call(*arguments).exit_code == 2 and said in call(*arguments).output
