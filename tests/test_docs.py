"""The reference of the command line and the index of the catalogue are generated, complete and up to date."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import click
import pytest

from derive.catalogue import by_id
from derive.quantities import QUANTITIES

DOCS = Path(__file__).parents[1] / "docs"
SCRIPT, PAGE = DOCS / "generate_cli.py", DOCS / "cli.md"
INDEX_SCRIPT, INDEX = DOCS / "generate_catalogue.py", DOCS / "catalogue.md"
GENERATOR, INDEX_GENERATOR = (runpy.run_path(str(script)) for script in (SCRIPT, INDEX_SCRIPT))
COMMANDS = dict(GENERATOR["commands"]())
OPTIONS = [(path, one) for path, command in COMMANDS.items() for one in command.params if isinstance(one, click.Option)]


def section(path: str) -> str:
    """What the page says of one command."""
    return PAGE.read_text(encoding="utf-8").split(f"\n## {path}\n")[1].split("\n## ")[0]


def test_the_page_is_what_the_commands_make_of_it():
    assert PAGE.read_text(encoding="utf-8") == GENERATOR["page"](), "run python docs/generate_cli.py"


def test_the_page_has_every_command_once_and_no_other():
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == list(COMMANDS)
    assert {"backsolve solve", "backsolve show", "backsolve cite", "backsolve infer", "backsolve prices check"} <= set(headings)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_and_a_usage_line(path: str):
    assert COMMANDS[path].help, f"{path} has no docstring"
    assert f"```\n{path}" in section(path)
    for argument in (one for one in COMMANDS[path].params if isinstance(one, click.Argument)):
        assert (argument.metavar or argument.name.upper()) in section(path)


@pytest.mark.parametrize(("path", "option"), OPTIONS, ids=[f"{path} {option.opts[0]}" for path, option in OPTIONS])
def test_every_option_has_help_and_is_on_the_page(path: str, option: click.Option):
    assert option.help, f"{path} {option.opts[0]} has no help"
    line = next(line for line in section(path).splitlines() if re.match(rf"- `{option.opts[0]}[ `]", line))
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    assert all(str(choice) in line for choice in choices)
    assert option.help.split(";")[0].split(",")[0] in line


def run(script: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", [SCRIPT, INDEX_SCRIPT], ids=lambda script: script.name)
def test_check_tells_a_page_that_is_out_of_date_from_one_that_is_not(script: Path, tmp_path: Path):
    for file in (script, DOCS / "written.py"):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    copy, page = tmp_path / script.name, tmp_path / script.name.replace("generate_", "").replace(".py", ".md")
    missing = run(copy, "--check")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "out of date" in missing.stderr
    assert run(copy).returncode == run(copy, "--check").returncode == 0
    page.write_text("old", encoding="utf-8")
    assert run(copy, "--check").returncode == 1
    assert run(copy, "--other").returncode == 2


# -- the index of the catalogue -------------------------------------------------------------------------------------


def part(title: str) -> str:
    """What the index says under one heading."""
    return INDEX.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_index_is_what_the_catalogue_makes_of_it():
    assert INDEX.read_text(encoding="utf-8") == INDEX_GENERATOR["page"](), "run python docs/generate_catalogue.py"


def test_the_index_has_every_equation_by_chapter_and_every_quantity_once():
    by_chapter = [row for row in part("By chapter").splitlines() if row.startswith("| `")]
    assert [row.split("`")[1] for row in by_chapter] == [row.reference for row in by_id().values()]
    by_quantity = [row for row in part("By quantity").splitlines() if row.startswith("| `")]
    assert [row.split("`")[1] for row in by_quantity] == list(QUANTITIES)


def test_what_has_no_derivation_says_why_and_nothing_is_without_source():
    rows = [row for row in part("Without derivation").splitlines() if row.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [row.id for row in by_id().values() if not row.steps]
    assert all(len(row.split(" | ")[1].strip(" |")) > 20 for row in rows)
    assert part("Without source").strip() == "None."
