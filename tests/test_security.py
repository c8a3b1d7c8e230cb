"""SECURITY.md says what holds: its limits are those of the code, and no module opens a network."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from backsolve.cli.options import LONGEST_WORD
from campaigns import lowest
from campaigns.lowest import PYPROJECT
from derive.files import LARGEST, LARGEST_RESULT, PATIENCE, size
from derive.solving.question.givens import MOST_POINTS, MOST_VALUES
from derive.tables.cells import CELL_LIMIT
from derive.tables.lines import LINE_LIMIT, ROW_LIMIT
from derive.units import LONGEST
from invert.sheets.read import PROBLEM_LIMIT
from invert.sheets.rules import BAND_LIMIT, PRICE_LIMIT
from tests.tools.parsed import tree_of

PAGE = (PYPROJECT.parent / "SECURITY.md").read_text(encoding="utf-8")
SAID = (
    f"{size(LARGEST)}, a saved result {size(LARGEST_RESULT)}.",
    f"{ROW_LIMIT:,} rows, {LINE_LIMIT:,} characters per line, {CELL_LIMIT:,} per cell, ",
    f"per cell, {BAND_LIMIT} bands and {PRICE_LIMIT} prices per sheet and day |",
    f"| {PROBLEM_LIMIT:,} per file",
    f"| a value of `solve` | {LONGEST} characters |",
    f"| a search word | {LONGEST_WORD} characters |",
    f"| {MOST_POINTS:,} points, {MOST_VALUES:,} values |",
    f"| waiting for another writer | {PATIENCE:g} s |",
)
ASKS = {"socket", "urllib.request", "http.client", "requests", "httpx", "subprocess", "os.system", "os.popen", "os.execv", "os.posix_spawn"}
"""Modules and functions that open a network or start another program."""


def test_the_limits_are_those_of_the_code():
    assert [one for one in SAID if one not in PAGE] == []


STARTS_TEX = ("paper.py", "subprocess")


def asked_of(path: Path) -> Iterator[str]:
    """The modules that a file imports, and what it takes from modules, as `os.system`."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{one.name}" for one in node.names))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def test_no_module_opens_a_network_or_another_program_but_tex():
    modules = [path for package in ("backsolve", "derive", "invert", "pricing_data") for path in (PYPROJECT.parent / package).rglob("*.py")]
    assert len(modules) > 150
    assert [(path.name, word) for path in modules for word in sorted(ASKS & {*asked_of(path)})] == [STARTS_TEX]


@pytest.mark.parametrize(
    "text", ["import socket", "from urllib import request", "from subprocess import run", "import os\nos.system('ls')"]
)
def test_a_module_that_asks_is_found(tmp_path: Path, text: str):
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    assert ASKS & {*asked_of(path)}


def test_every_dependency_has_a_lowest_version(capsys):
    lowest.main()
    named = {line.partition("==")[0] for line in capsys.readouterr().out.splitlines()}
    assert {"click", "numpy", "pandas", "scipy", "sympy", "tabulate", "matplotlib"} <= named
    with pytest.raises(ValueError, match="without a lowest version: numpy"):
        lowest.constraints(["click>=8.1,<9", "numpy"])
