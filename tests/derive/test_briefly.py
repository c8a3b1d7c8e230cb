"""Records in a Python session: every public one shows itself on a line, and what holds many of them on a screen."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import derive
import invert
from derive.briefly import _LINE
from derive.quantities import CONSTANTS, QUANTITIES
from derive.show.citation import citation_record
from invert.estimators import calibration
from invert.storage import tariffs
from tests.tools.data import shipped_data

DEPLOYED = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 16, "bytes_per_element": 1, "context_length": "4k"}
LINES = 25


def answers() -> list[Any]:
    """One of everything that the public functions return, in their own records."""
    return [
        # A run of its own: other tests put inferences of the shared one into other tables.
        invert.infer(),
        invert.load(),
        derive.equations(),
        derive.solve("step_time", batch=8, **DEPLOYED),
        derive.solve("step_time", batch="1..64:log", **DEPLOYED),
        derive.solve("step_time", compute_time="1ms..3ms", memory_time="2ms"),
        derive.solve("memory_time", step_time=2.0, compute_time=2.0),
        derive.solve("step_time"),
        *map(citation_record, derive.equations("roofline")),
        *QUANTITIES.values(),
        *CONSTANTS.values(),
        *calibration.members(shipped_data()),
        calibration.learn(shipped_data()),
        *tariffs.negative_controls(shipped_data()),
    ]


def inside(value: Any) -> list[Any]:
    """What a record or a collection holds."""
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    return list(value.values()) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple | list) else []


def test_every_record_is_a_line_and_every_collection_a_screen():
    waiting, seen, long = answers(), {}, Counter()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        text = repr(value)
        if is_dataclass(value) and (len(text) > _LINE or not text.isprintable()):
            long[type(value).__name__] += 1
        if isinstance(value, tuple | list) and sum(1 + len(line) // _LINE for line in text.splitlines()) > LINES:
            long[f"{type(value).__name__} of {type(value[0]).__name__}"] += 1
        waiting += inside(value)
    assert not long
    assert {"InferenceTable", "Inference", "Solution", "Equation", "PriceSheet", "Price", "Estimate"} <= {
        type(value).__name__ for value in seen.values()
    }
