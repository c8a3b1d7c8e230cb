"""What is offered of what a question lacks answers it, with what was given beside it."""

import pytest

from derive.solving.api import respond
from derive.solving.explain.sufficient_givens import _CHIP, _MODEL, Enough, sufficient_givens
from derive.solving.question.conventions import Switches

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

H100 = "H100-SXM:bf16"


def offered(unknown: str, given: dict[str, str], *presets: str) -> Enough | None:
    switches = Switches(presets[:1], presets[1:])
    assert respond(unknown, given, switches).refusal.code == "missing_givens"
    found = sufficient_givens(unknown, given, Enough({}, switches))
    assert found is None or respond(unknown, {**given, **found.given}, found.switches).answers
    return found


def test_what_is_missing_is_offered_as_examples_give_it():
    found = offered("request_latency", {"chips": "8"}, H100, _MODEL)
    assert found == Enough({"output_tokens": "500", "batch": "32", "prompt_tokens": "6000"}, Switches((H100,), (_MODEL,)))


def test_presets_are_offered_where_they_give_it_and_as_many_chips_as_hold_it():
    """70 billion weights of two bytes take two chips of 80 GB."""
    assert offered("step_time", {}) == Enough({"batch": "32", "context_length": "8k", "chips": "2"}, Switches((_CHIP,), (_MODEL,)))
    assert offered("step_time", {"batch": "8"}, H100) == Enough({"context_length": "8k", "chips": "3"}, Switches((H100,), (_MODEL,)))


@pytest.mark.parametrize(
    ("unknown", "given"),
    [("throughput", {"chips": "1"}), ("mfu", {"step_time": "1us"})],
    ids=["too few chips", "beyond the peak"],
)
def test_nothing_is_offered_that_does_not_answer_it(unknown, given):
    assert offered(unknown, given, H100, _MODEL) is None
