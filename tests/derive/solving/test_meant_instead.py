"""What is meant by a quantity beside what was given is answered, and said."""

import pytest

from derive.solving.api import solve

SERVED = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B"}


@pytest.mark.parametrize(
    ("asked", "given", "meant", "value"),
    [
        ("mfu", SERVED | {"throughput": 20_000}, "compute_utilisation", 2 * 70_553_706_496 * 20_000 / (8 * 1979e12)),
    ],
)  # fmt: skip
def test_what_is_meant_beside_what_was_given_is_answered_and_said_first(asked, given, meant, value):
    """It was refused with its name, or answered without what had been given."""
    solution = solve(asked, **given)
    assert (solution.unknown, solution.value) == (meant, pytest.approx(value, rel=1e-3))
    assert solution.warnings[0].startswith(f"{asked} is answered with {meant}")


@pytest.mark.parametrize(
    ("asked", "given", "value", "other", "of_all"),
    [
        ("cost_per_token", {"step_time": 0.02, "batch": 64, "chips": 8, "chip_price": 6e-4, "fleet_utilisation": 0.6}, 1.5e-6,
         "fleet_cost_per_token", "$2.5/MTok"),
        ("throughput", {"step_time": 0.02, "batch": 64, "replicas": 4}, 3200, "fleet_throughput", "12.8k token/s"),
        ("requests_per_second", {"throughput": 5000, "output_tokens": 500, "replicas": 4}, 10, "fleet_requests_per_second", "40 request/s"),
    ],
)  # fmt: skip
def test_what_is_asked_for_is_answered_and_what_all_replicas_come_to_is_said_beside_it(asked, given, value, other, of_all):
    solution = solve(asked, **given)
    assert (solution.unknown, solution.value, solution.unused) == (asked, pytest.approx(value), ())
    assert any(f"{other} = {of_all}" in text for text in solution.said)
    both = solve(other, **given).value
    assert solve(asked, **given, given={other: both}).value == pytest.approx(value), "consistent: it is no second question"
