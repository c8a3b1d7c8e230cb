"""Commands that write a file, ended by signals: a few kills of each; five hundred of each in `.ci/long`."""

import os
import subprocess
import sys
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import pytest

from campaigns.kills import WRITERS, verdict

OLD, NEW = {"run.json": b"old"}, {"run.json": b"new"}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no fork or no handle of a process here")
def test_a_command_that_is_killed_leaves_the_old_file_or_the_new_one():
    told = [sys.executable, "-m", "campaigns.kills", "--count", "6", "--seed", "3"]
    done = subprocess.run(told, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(WRITERS) and all("'inside': " in line for line in lines)


@pytest.mark.parametrize(
    ("found", "number", "status", "said", "wrong"),
    [
        (OLD, SIGKILL, SIGKILL, "", ""),
        (NEW, SIGTERM, SIGTERM, "", ""),
        (NEW, SIGINT, 130 << 8, "", ""),
        (NEW, SIGTERM, 0, "", ""),
        (OLD | {".backsolve-1": b"ne"}, SIGKILL, SIGKILL, "", ""),
        (OLD | {".backsolve-1": b"ne"}, SIGTERM, SIGTERM, "", "left ['.backsolve-1']"),
        (OLD | {"other": b""}, SIGKILL, SIGKILL, "", "left ['other']"),
        ({"run.json": b"ne"}, SIGKILL, SIGKILL, "", "run.json is neither old nor new"),
        ({}, SIGKILL, SIGKILL, "", "run.json is neither old nor new"),
        (OLD, SIGTERM, 0, "", "said that all is well, and the file is the old one"),
        (OLD, SIGTERM, 1 << 8, "", "ended with 1"),
        (OLD, SIGTERM, 130 << 8, "", "ended with 130"),
        (OLD, SIGINT, 130 << 8, "Traceback\nKeyboardInterrupt", "says 'KeyboardInterrupt'"),
    ],
)
def test_what_is_wrong_after_a_kill(found: dict[str, bytes], number: Signals, status: int, said: str, wrong: str):
    assert verdict(OLD, NEW, found, number, status, said) == wrong
