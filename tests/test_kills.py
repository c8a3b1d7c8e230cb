"""Commands that write a file, ended by signals: a few kills of each; five hundred of each in `.ci/long`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns.kills import WRITERS


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no fork or no handle of a process here")
def test_a_command_that_is_killed_leaves_the_old_file_or_the_new_one():
    told = [sys.executable, "-m", "campaigns.kills", "--count", "6", "--seed", "3"]
    done = subprocess.run(told, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(WRITERS) and all("'inside': " in line for line in lines)
