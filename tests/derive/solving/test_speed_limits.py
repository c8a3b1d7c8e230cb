"""Fewest chips for a target: what one domain comes to, and that the answer meets its target."""

import pytest

from derive.preset_rows import Architecture
from derive.solving.api import solve
from derive.tables.shipped import read
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

NODE = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 1, "context_length": 8000, "batch": 64}
PER_TOKEN = 2 * 80 * 8 * 128
READ = 70_553_706_496 + 64 * 8000 * PER_TOKEN


@in_one_test("more", [{}, {"kv_replication": 1}, {"anyway": True}])
def test_a_short_time_needs_many_chips_and_their_domain_is_named_first(more):
    solution = solve("chips", **NODE, step_time="<=1us", **more)
    assert solution.value > 40_000 and "more than one scale-up domain" in solution.warnings[0]


# -- one domain ------------------------------------------------------------------------------------------------------


def test_more_chips_than_one_domain_say_first_what_that_reaches():
    first, *_ = solve("chips", **NODE, step_time="<=3ms").warnings
    reached = f"{READ / 8 / 3.35e12 * 1e3:.4g} ms"
    assert first == f"more than one scale-up domain of 8 chips: 8 reach step_time = {reached}. Network time between them is not included"


def test_a_domain_that_does_not_hold_the_model_is_said_so_also_where_memory_binds():
    given = {**NODE, "model": "DeepSeek-V3"}
    for target in ("<=200ms", "<=10ms"):
        assert (
            solve("chips", **given, step_time=target)
            .warnings[0]
            .startswith("more than one scale-up domain of 8 chips: 8 do not have enough memory")
        )


# -- the answer put back ---------------------------------------------------------------------------------------------

MODELS = [row.model for row in read().rows_of(Architecture)]
CHIPS = ("H100-SXM:fp8", "B200-SXM:fp8", "GB200-NVL72:fp8")
NOT_COVERED = {"GLM-5.3-Flash"}


@pytest.mark.parametrize(("hardware", "more"), [*zip(CHIPS, (1.7, 12.0, 1.7), strict=True)])
@in_one_test("model", some([name for name in MODELS if name not in NOT_COVERED], 20))
def test_chips_put_back_meet_their_target_and_are_warned_of_alike(model, hardware, more):
    """So many times the chips that memory takes: the step on them asked back gives them, with every warning that it has itself."""
    given = {"hardware": hardware, "model": model, "bytes_per_element": 1, "context_length": 8000, "batch": 64}
    (least,) = solve("chips", **given).answers
    chips = round(more * least.least + 0.5)
    target = solve("step_time", **given, chips=chips).value * (1 + 1e-7)
    found = solve("chips", **given, step_time=f"<={target}")
    there = solve("step_time", **given, chips=found.value)
    assert found.value == chips and there.value <= target
    assert {*there.kinds} <= {*found.kinds}
