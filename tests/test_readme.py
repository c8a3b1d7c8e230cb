"""Every command of the README is run and what it prints compared; every count of the CHANGELOG computed.

`python tests/test_readme.py` writes the outputs anew.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def blocks(text: str) -> list[list[tuple[str, str]]]:
    """The console blocks, each as its (command, printed output) pairs."""
    return [[_pair(part) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]] for block in BLOCK.findall(text)]


def _pair(part: str) -> tuple[str, str]:
    command, _, output = part.partition("\n")
    return command, output


def run(command: str, folder: str) -> str:
    """What a command prints on both streams, run in a folder with `backsolve` on the path."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def test_the_readme_shows_the_three_uses():
    commands = [command for block in blocks(README.read_text()) for command, _ in block]
    for use in ("solve", "infer", "cite"):
        assert any(f"backsolve {use}" in command for command in commands)


@pytest.mark.parametrize("block", blocks(README.read_text()), ids=lambda block: block[0][0][:60])
def test_the_readme_prints_what_it_says(block, tmp_path):
    for command, expected in block:
        assert run(command, str(tmp_path)) == expected, command


def test_the_python_of_the_readme_runs():
    for code in re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL):
        exec(compile(code, "README.md", "exec"), {})


def test_the_changelog_counts_are_the_counts():
    from derive.catalogue import by_id
    from invert.inference import infer
    from invert.sheets.read import load

    counts = {
        "equations": len(by_id()),
        "(equation, symbol) pairs solved": sum(len(row.symbols) for row in by_id().values()),
        "current price sheets": len(infer().inferences),
        "price rows": len(load().rows),
    }
    sections = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    newest = next(section for section in sections if "price rows" in section)
    for name, count in counts.items():
        assert f"{count} {name}" in newest, f"{count} {name}"


def written(text: str) -> str:
    """The README with every output as the commands print it now."""

    def again(match: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            shown = "".join(
                f"$ {command}\n{run(command, folder)}" for command, _ in map(_pair, re.split(r"^\$ ", match[1], flags=re.M)[1:])
            )
        return f"```console\n{shown}```"

    return BLOCK.sub(again, text)


if __name__ == "__main__":
    README.write_text(written(README.read_text()))
