"""The script of the desk against `derive.solve`: the same step, speed, cost and memory of every model on chips, over batches and contexts.

    python -m campaigns.desk_script

Exit status 1 if a figure is another one by more than a billionth of itself.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from backsolve.site.desk import desk_data
from backsolve.site.formulas import quantities_data
from backsolve.site.presets import ASKED, FIELDS, OWN, covered_models, presets_data
from campaigns.solver_script import NODE
from derive import solve

SCRIPT = Path(__file__).with_suffix(".js")
CHIPS = ("H100-SXM:bf16", "H100-SXM:fp8", "B200-SXM:fp4", "MI355X:fp8", "TPU-v5e:int8", "Rubin-VR200:fp4")
BATCHES, CONTEXTS = (1.0, 64.0, 900.0), (2_000.0, 100_000.0)
ALLOWED = 1e-9


@dataclass(frozen=True)
class Deployment:
    """A model on chips with what is chosen beside it, and what the script of the desk makes of that."""

    chip: str
    model: str
    fields: dict[str, float | None]
    told: dict[str, Any]

    def solved(self, name: str, **instead: float) -> float:
        """The same of Python."""
        return solve(name, hardware=self.chip, model=self.model, given={**self.fields, **instead}, anyway=True).value

    def faults(self) -> Iterator[str]:
        """What the script has otherwise than Python."""
        for name in ASKED:
            value, mine = self.solved(name), self.told["values"][name]
            if not abs(mine - value) <= ALLOWED * abs(value):
                yield f"{name} of {self.model} on {self.chip} with {self.fields}: {mine} for {value}"


@cache
def data_in_json() -> str:
    """What the page of the desk is given, and the quantities of its fields."""
    return json.dumps(
        {**presets_data(), **desk_data(), "quantities": quantities_data([*FIELDS, *(name for values in OWN.values() for name in values)])},
        allow_nan=False,
    )


def deployments(chips: Iterable[str], models: Iterable[str], batches: Iterable[float], contexts: Iterable[float]) -> list[Deployment]:
    """What the script makes of all of these with all of those."""
    all_of = product(chips, models, batches, contexts)
    return told((chip, model, {**FIELDS, "batch": batch, "context_length": context}) for chip, model, batch, context in all_of)


def told(deployed: Iterable[tuple[str, str, dict[str, float | None]]], wanted: float | None = None) -> list[Deployment]:
    """What the script makes of models on chips with fields, of which one may be blank; `wanted` is a step time to find the batch for."""
    asked = [*deployed]
    lines = [
        {**dict(zip(("chip", "dtype"), chip.partition(":")[::2], strict=True)), "model": model, "fields": fields, "wanted": wanted}
        for chip, model, fields in asked
    ]
    text = "\n".join((data_in_json(), *map(json.dumps, lines)))
    made = subprocess.run([NODE or "node", SCRIPT], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    return [Deployment(*one, json.loads(line)) for one, line in zip(asked, made, strict=True)]


def main() -> None:
    found = deployments(CHIPS, covered_models(), BATCHES, CONTEXTS)
    faults = [fault for one in found for fault in one.faults()]
    print("\n".join([*faults, f"{len(found)} deployments, {len(ASKED)} figures each, {len(faults)} otherwise"]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
