"""A script that node runs, asked line by line: it takes ten times as long to start as to answer, and is started once."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

Ask = Callable[[Any], Any]
"""What the script answers to a line."""


@contextmanager
def answering(script: Path, *arguments: str) -> Iterator[Ask]:
    """The script as long as somebody asks."""
    command = [which("node") or "node", str(script), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdin and node.stdout
        asked, told = node.stdin, node.stdout

        def ask(line: Any) -> Any:
            asked.write(f"{json.dumps(line, allow_nan=False)}\n")
            asked.flush()
            return json.loads(told.readline())

        yield ask
