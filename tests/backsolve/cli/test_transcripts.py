"""Commands beside what they print, in the files of `transcripts`: standard output, standard error, and the exit status unless it is 0.

A line `$ backsolve ...` is a command, and a line `@ own.csv` begins a file that the commands after it can read. After a wanted change of
the outputs write them again:

    BACKSOLVE_REWRITE=1 pytest -q tests/backsolve/cli/test_transcripts.py
"""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from tests.tools.commands import call, plain

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


def entries(transcript: Path) -> list[tuple[str, str]]:
    """Return the entries of a transcript: the first line of each, and the lines below it."""
    parts = re.split(r"^(?=\$ backsolve|@ )", transcript.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(head, rest) for head, _, rest in (part.partition("\n") for part in parts if part)]


def printed(command: str) -> str:
    """Return what a command prints. Every line on stderr is plain."""
    said = call(*shlex.split(command)[1:])
    for line in said.err.splitlines(keepends=True):
        plain(line)
    return said.out + said.err + (f"[{said.status}]\n" if said.status else "")


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda transcript: transcript.stem)
def test_commands_print_what_their_transcript_shows(transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    found = []
    for head, rest in entries(transcript):
        if head.startswith("@ "):
            Path(head[2:]).write_text(rest, encoding="utf-8")
        found.append((head, printed(head[2:]) if head.startswith("$ ") else rest))
    if os.environ.get("BACKSOLVE_REWRITE"):
        transcript.write_text("".join(f"{head}\n{rest}" for head, rest in found), encoding="utf-8")
    assert found == entries(transcript), "BACKSOLVE_REWRITE=1 writes the outputs again"


def test_a_question_without_an_answer_has_a_reason_in_json():
    commands = [
        head
        for transcript in TRANSCRIPTS
        for head, rest in entries(transcript)
        if head.startswith("$ backsolve solve") and rest.endswith("[3]\n")
    ]
    asked = [shlex.split(command)[2:] for command in commands if "--as" not in command]
    found = [json.loads(call(*words, "--as", "json").out) for words in asked]
    assert len(found) > 8 and all(one["answers"] or one["reason"]["code"] for one in found if isinstance(one, dict))
