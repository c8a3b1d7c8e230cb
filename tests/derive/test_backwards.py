"""What a step, a cache or a memory came to, asked back for what it was made of, at every model of the tables."""

from itertools import product

import pytest

from derive import solve
from derive.errors import NotCovered
from derive.presets import Preset, model, model_names
from derive.solutions import Solution

ONE_BYTE = dict.fromkeys(("bytes_per_element", "indexer_bytes_per_element", "state_bytes_per_element"), 1.0)
DEPLOYMENTS = (
    {"chips": 16.0, "batch": 64.0, "context_length": 20_000.0},
    {"chips": 8.0, "batch": 1.0, "context_length": 100.0},
    {"chips": 8.0, "batch": 1.0, "context_length": 130_000.0},
    {"chips": 64.0, "batch": 2_000.0, "context_length": 3_000.0},
)
RESTS_ON = {
    "step_time": ("context_length", "batch", "chips"),
    "kv_time": ("context_length", "batch", "chips"),
    "kv_cache_bytes": ("context_length", "batch"),
    "memory_demand": ("context_length", "batch"),
}


def covered() -> dict[str, Preset]:
    found = {}
    for name in model_names():
        try:
            found[name] = model(name)
        except NotCovered:
            continue
    return found


def one_of_a_kind() -> list[str]:
    """A model for every set of variants, parts that are none, and equations left out."""
    kinds = {}
    for name, preset in covered().items():
        parts = tuple(part for part, value in preset.givens.items() if value == 0)
        kinds.setdefault((tuple(sorted(preset.variants.items())), parts, preset.left_out, "experts" in preset.givens), name)
    return [*kinds.values()]


def asked(name: str, unknown: str, given: dict[str, float]) -> Solution:
    return solve(unknown, model=name, hardware="H200:fp8", anyway=True, **given)


def recovers(name: str, result: str, unknown: str, deployment: dict[str, float]) -> bool:
    """Whether the deployment is found again, as a point or among what does not bind."""
    given = {**ONE_BYTE, **deployment}
    value = asked(name, result, given).answers[0].value
    back = asked(name, unknown, {**{n: v for n, v in given.items() if n != unknown}, result: value})
    truth = pytest.approx(deployment[unknown], rel=1e-9)
    within = (one.ends for one in back.answers if one.kind == "interval")
    return any(one.value == truth for one in back.answers) or any(low <= deployment[unknown] <= high for low, high in within)


@pytest.mark.parametrize(("name", "result"), [*product(one_of_a_kind(), RESTS_ON)])
def test_what_it_was_made_of_is_found_again(name: str, result: str):
    for unknown in RESTS_ON[result]:
        assert recovers(name, result, unknown, DEPLOYMENTS[0]), unknown


@pytest.mark.slow
@pytest.mark.parametrize("name", [*covered()])
def test_what_a_step_was_made_of_is_found_again_at_every_model(name: str):
    for deployment, unknown in product(DEPLOYMENTS, RESTS_ON["step_time"]):
        assert recovers(name, "step_time", unknown, deployment), (unknown, deployment)


@pytest.mark.parametrize("name", ["DeepSeek-V3", "Qwen3-235B-A22B", "gpt-oss-20b"])
@pytest.mark.parametrize("context", [100.0, 130_000.0])
def test_one_sequence_of_a_mixture_is_found_again_as_one(name: str, context: float):
    """Not as 0.9999999999999998, which no step has: what is one at least is one where only rounding says less."""
    given = {**ONE_BYTE, "chips": 8.0, "context_length": context}
    step = asked(name, "step_time", {**given, "batch": 1.0}).answers[0].value
    assert asked(name, "batch", {**given, "step_time": step}).answers[0].value >= 1
    swept = asked(name, "batch", {**given, "step_time": [step * (1 + place * 1e-15) for place in range(-40, 41)]}).sweep
    found = swept.values[~(swept.values != swept.values)]
    assert len(found) == 81 and min(found) == 1


def test_less_than_one_sequence_is_refused():
    given = {**ONE_BYTE, "chips": 8.0, "context_length": 100.0}
    step = asked("DeepSeek-V3", "step_time", {**given, "batch": 1.0}).answers[0].value
    reason = asked("DeepSeek-V3", "batch", {**given, "step_time": step * (1 - 1e-6)}).reason
    assert reason.code == "requirement_violated" and reason.violated == ("batch >= 1",)
