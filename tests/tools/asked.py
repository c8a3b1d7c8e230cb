"""Givens that several tests of the solver ask with, and the one number of an answer."""

from derive.solving.api import solve
from derive.solving.result import Solution

STEP = {"hardware": "H100:fp8", "model": "DeepSeek-V3", "batch": 2048, "context_length": 4000, "bytes_per_element": 1, "chips": 16}


def value(solution: Solution) -> float:
    """The number of the one point that answers."""
    assert solution.reason is None, solution.reason
    (only,) = solution.answers
    assert only.kind == "point"
    return only.point


def value_of(unknown: str, *using: str, **given: object) -> float:
    """The number of the one point that answers a question, with the equations of these ids."""
    return solve(unknown, **{"using": using, **given}).value


def seconds(batch: float, context: float) -> float:
    """A step of 16 H100 by hand, all weights read and attention FLOPs left out."""
    return max(2 * batch * 37e9 / (16 * 1979e12), (671e9 + batch * context * 61 * 576) / (16 * 3.35e12))
