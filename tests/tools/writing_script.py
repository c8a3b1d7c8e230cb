"""What the script of the pages writes to be pasted, run by node."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from backsolve.site.formulas import quantities_data
from tests.tools.solver_script import NODE

SCRIPT = Path(__file__).with_suffix(".js")


def told(lines: Iterable[Mapping[str, Any]]) -> list[Any]:
    """A tree as plain text and as LaTeX, or a value as LaTeX."""
    text = "\n".join(map(json.dumps, [quantities_data(), *lines]))
    made = subprocess.run([NODE or "node", SCRIPT], input=text, capture_output=True, text=True, check=True).stdout
    return [*map(json.loads, made.splitlines())]
