"""Every command and every line of Python in README.md and docs is run, and what the page shows is what it prints.

`python tests/test_readme.py` writes the outputs anew, on all pages or on those that are named.
"""

import difflib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.tools.commands import call

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
WRITTEN = (README, *(page for part in ("tutorials", "how-to", "explanation") for page in sorted((ROOT / "docs" / part).glob("*.md"))))
"""Pages that are written by hand, but for the outputs in them."""

CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```)", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"(?<=^```python\n).*?(?=^```)", re.DOTALL | re.MULTILINE)
CUT = re.compile(r"\|\s*(head|tail|sed|grep|awk|cut)\b|2>\s*/dev/null")
"""Commands that hide a part of an output."""
FENCE = re.compile(r"^( *)```(\w+)$", re.MULTILINE)


def pairs(block: str) -> list[tuple[str, str]]:
    """A console block as its commands, each with the output below it."""
    return [(command, output) for command, _, output in (part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])]


def run(command: str, folder: str) -> str:
    """What a command prints on both streams, run in a folder with `backsolve` on the path."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def console(block: "re.Match[str]", folder: str) -> str:
    """A console block with what its commands print now."""
    return "".join(f"$ {command}\n{run(command, folder)}" for command, _ in pairs(block[0]))


def python(block: "re.Match[str]", names: dict[str, Any]) -> str:
    """A block of Python at the prompt with what it prints now."""
    shown = []
    for example in doctest.DocTestParser().get_examples(block[0]):
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(example.source, "page", "single"), names)
        shown += [">>> " + example.source.rstrip("\n").replace("\n", "\n... ") + "\n", out.getvalue()]
    return "".join(shown)


def written(text: str) -> str:
    """A page with every output as it is now; its commands share one folder, its Python one set of names."""
    with tempfile.TemporaryDirectory() as folder:
        text = CONSOLE.sub(partial(console, folder=folder), text)
    return PYTHON.sub(partial(python, names={}), text)


def parameters() -> list[Any]:
    """Every page; all but the README take a minute of commands, and wait for -m slow."""
    places = ((page, str(page.relative_to(ROOT))) for page in WRITTEN)
    return [pytest.param(page, id=place, marks=() if place == "README.md" else pytest.mark.slow) for page, place in places]


@pytest.mark.parametrize("page", parameters())
@pytest.mark.usefixtures("shipped_tables")
def test_a_page_shows_what_is_printed(page):
    text = page.read_text(encoding="utf-8")
    changed = difflib.unified_diff(text.splitlines(), written(text).splitlines(), "page", "printed", lineterm="", n=1)
    assert "\n".join(changed) == "", "python tests/test_readme.py writes the outputs anew"


def test_a_changed_output_is_seen():
    assert (
        written("```console\n$ echo 1\n2\n```\n```python\n>>> 1 + 1\n3\n```\n")
        == "```console\n$ echo 1\n1\n```\n```python\n>>> 1 + 1\n2\n```\n"
    )


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_command_of_a_page_goes_unrun(page):
    text = page.read_text(encoding="utf-8")
    for indent, language in FENCE.findall(text):
        assert not indent, "a block inside a list is not run"
        # A module of code in a page is what the trial of that page runs: tests/test_new_estimator.py.
        module = language == "py" and page.name == "add-an-estimator.md"
        # Settings are those that the trial of type checkers is made with: tests/test_typing.py.
        settings = language == "ini" and page.name == "from-python.md"
        # A script of many processes is run by the campaign of that page: campaigns/large_jobs.py.
        script = language == "py" and page.name == "large-jobs.md"
        assert module or settings or script or language in ("console", "python", "csv", "math", "sh"), f"a block in {language} is not run"
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        assert all(line.startswith("python3 -m venv") for line in block.splitlines()), ".ci/run runs only the two commands of README.md"
    for block in CONSOLE.findall(text):
        assert block.startswith("$ ")
        for command, output in pairs(block):
            assert output or " > " in command or " --out " in command, f"a filter that no longer finds anything: {command}"
    for block in PYTHON.findall(text):
        assert block.startswith(">>> ")


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_an_example_shows_what_a_user_sees(page):
    """No output is cut, and each how-to page with commands has an example of at most 15 lines."""
    examples = [example for block in CONSOLE.findall(page.read_text(encoding="utf-8")) for example in pairs(block)]
    assert [command for command, _ in examples if CUT.search(command)] == []
    if page.parent.name == "how-to" and examples:
        assert any(0 < output.count("\n") <= 15 for _, output in examples)


def test_the_readme_shows_the_three_uses():
    commands = [command for block in CONSOLE.findall(README.read_text(encoding="utf-8")) for command, _ in pairs(block)]
    for use in ("solve", "infer", "cite"):
        assert any(f"backsolve {use}" in command for command in commands)


@pytest.mark.usefixtures("shipped_tables")
def test_every_record_of_the_readme_is_printed_by_infer():
    table = README.read_text(encoding="utf-8").split("How far can I trust it?")[1].split("\n## ")[0]
    records = re.findall(r"\d+ (?:of \d+|times)", table)
    printed = call("infer", "gemini-3.1-pro").out.replace("x low", " times")
    assert len(records) >= 4 and [record for record in records if record not in printed] == []


def test_the_readme_is_short_and_narrow():
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150 and max(map(len, lines)) <= 140
    printed = [
        line for block in CONSOLE.findall(README.read_text(encoding="utf-8")) for _, output in pairs(block) for line in output.splitlines()
    ]
    assert max(map(len, printed)) <= 100


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]) if sys.argv[1:] else WRITTEN:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
