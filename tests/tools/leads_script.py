"""What the script of the pages makes of a chip and a model, run by node."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from backsolve.site.presets import FIELDS, presets_data
from tests.tools.solver_script import NODE

SCRIPT = Path(__file__).with_suffix(".js")
NOTHING = {"id": "", "symbols": [""]}
"""An equation that speaks of nothing, so that no other is left out for its sake."""


@dataclass(frozen=True)
class Chosen:
    """A chip and a model for an equation that is solved for one of its quantities, the others having values."""

    hardware: str
    model: str
    equation: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    unknown: str = ""
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """What the script is given."""
        chip, _, dtype = self.hardware.partition(":")
        chosen = {"chip": chip, "dtype": dtype, "model": self.model}
        asked = {"equation": self.equation, "unknown": self.unknown, "values": self.values, "chosen": chosen, "beside": FIELDS}
        return json.dumps(asked, allow_nan=False)


@cache
def data_in_json() -> str:
    """What all pages are given of chips and models."""
    return json.dumps(presets_data(), allow_nan=False)


def led(asked: Iterable[Chosen]) -> list[dict[str, Any]]:
    """What the script says of each."""
    text = "\n".join((data_in_json(), *(one.line for one in asked)))
    made = subprocess.run([NODE or "node", SCRIPT], input=text, capture_output=True, text=True, check=True).stdout
    return [*map(json.loads, made.splitlines())]
