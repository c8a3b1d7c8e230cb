"""The point of a step under the roof of its chip: on the slope where memory binds, on the flat where arithmetic does."""

import pytest

from derive.show.roofline import Roof, known_numbers, roof, roof_marks
from derive.solving.api import solve
from tests.tools.together import in_one_test

SERVED = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "chips": 8, "context_length": 8000, "bytes_per_element": 2}


def under(unknown: str, **more) -> Roof:
    found = roof("H100", known_numbers(solve(unknown, **SERVED | more)))
    assert found is not None
    return found


def test_a_step_that_memory_binds_lies_on_the_slope():
    """64 tokens of 140 GFLOP and 64 x 8000 x 2.62 MFLOP of attention, over 140 GB of weights and 64 x 2.62 GB of cache."""
    found = under("step_time", batch=64)
    flops, read = 64 * (2 * 70_553_706_496 + 8000 * 4 * 128 * 80 * 64), 2 * 70_553_706_496 + 64 * 8000 * 327680
    assert found.intensity == pytest.approx(flops / read)
    assert found.rate == pytest.approx(3.35e12 * flops / read) == pytest.approx(found.attainable(found.intensity))
    assert found.ridge == pytest.approx(989e12 / 3.35e12)


def test_a_step_that_arithmetic_binds_lies_on_the_flat():
    found = under("step_time", batch=2000, context_length=100)
    assert found.intensity > found.ridge and found.rate == pytest.approx(989e12)


@in_one_test("more", [{"mfu": 0.5}, {"mbu": 0.6}, {"mfu": 0.4, "mbu": 0.6}])
def test_a_step_lies_on_the_roof_of_what_is_sustained(more):
    found, ideal = (under("step_time", batch=64, **one) for one in (more, {}))
    assert found.intensity == pytest.approx(ideal.intensity)
    assert found.rate == pytest.approx(ideal.rate * more.get("mbu", 1.0)) == pytest.approx(found.attainable(found.intensity))
    (_, ridge, _) = roof_marks([found])
    assert ridge.name.endswith("".join(f", {name} = {value}" for name, value in more.items()))


def test_what_tells_of_no_step_has_no_point():
    assert roof("", known_numbers(solve("ridge_point", hardware="H100-SXM:bf16"))) is None
    assert known_numbers(solve("step_time", batch=1)) == {}
