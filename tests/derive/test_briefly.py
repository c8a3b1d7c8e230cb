"""Records in a Python session: every public one shows itself on a line, and what holds many of them on a screen."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import derive
import invert
from derive.answers import Answer
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


def test_a_solution_shows_its_answer():
    assert repr(derive.solve("step_time", compute_time=1, memory_time=2)) == "Solution(step_time [s]: 2 or more)"
    assert repr(derive.solve("step_time", compute_time=1)) == "Solution(step_time [s]: no answer, missing_givens)"
    assert repr(derive.solve("memory_time", step_time=2, compute_time=2)) == "Solution(memory_time [s]: 0 to 2)"
    assert repr(derive.solve("step_time", compute_time=1, memory_time=[1, 2])) == "Solution(step_time [s]: a sweep of 2 points)"


def test_an_answer_shows_its_value_or_its_formula():
    (symbolic,) = derive.solve("balance_batch", machine_balance_ratio=derive.symbols.machine_balance_ratio, sparsity=8).answers
    assert str(symbolic) == symbolic.formula and repr(symbolic) == f"Answer(symbolic: {symbolic.formula})"
    (point,) = derive.solve("step_time", compute_time=1, memory_time=2).answers
    assert str(point) == "2 or more" and repr(point).startswith("Answer(point: 2 or more")
    (ends,) = derive.solve("memory_time", step_time=2, compute_time=2).answers
    assert str(ends) == "0 to 2" and repr(ends).startswith("Answer(interval: 0 to 2")
    assert str(Answer(kind="loose", loose_low=1.0, loose_high=4.0)) == "1 to 4"
