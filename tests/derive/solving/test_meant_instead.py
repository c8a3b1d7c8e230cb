"""What is meant by a quantity beside what was given is answered, and said."""

import pytest

from derive.meanings import MEANINGS
from derive.solving.api import respond_all, solve

PRICES = {"input_price": "3 USD/MTok", "output_price": "15 USD/MTok"}
TOKENS = {"prompt_tokens": 2000, "output_tokens": 500}


def test_a_request_with_prices_alone_is_answered_with_its_price_and_says_so():
    """2,000 tokens at 3 USD a million and 500 at 15 USD."""
    solution = solve("cost_per_request", **PRICES, **TOKENS)
    assert (solution.unknown, solution.value) == ("price_per_request", pytest.approx(0.006 + 0.0075))
    assert solution.warnings == (MEANINGS["cost_per_request"].warning,)
    assert solve("cost_per_request", **PRICES, **TOKENS, deployment_time="1 d").value == solution.value, "it has no part in a request"
    (alone, _) = respond_all(["cost_per_request", "blended_price"], {**PRICES, **TOKENS})
    assert alone.unknown == "price_per_request"
    swept = solve("cost_per_request", **PRICES, **(TOKENS | {"output_tokens": [500, 1000]}))
    assert swept.sweep and [*swept.sweep.values[0]] == pytest.approx([0.0135, 0.021])


@pytest.mark.parametrize("more", [{"batch": 64}, {"hardware": "H100:fp8"}])
def test_what_serves_it_is_asked_further_where_something_of_that_is_given(more: dict[str, str]):
    solution = solve("cost_per_request", **PRICES, **TOKENS, **more)
    assert solution.unknown == "cost_per_request" and solution.refusal.code == "missing_givens"


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


def test_what_is_asked_for_is_answered_where_it_has_an_answer():
    assert solve("all_reduce_time", all_reduce_bytes="8 MB", hardware="8xH100").unknown == "all_reduce_time"
    owned = {"chip_capex": 35_000, "depreciation_time": "4 yr", "fleet_utilisation": 0.8, "power_usage_effectiveness": 1.2}
    owned |= {"chip_power": 700, "electricity_price": "0.08 USD/kWh", "throughput": 5000, "chips": 8}
    assert solve("cost_per_token", **owned).unknown == "cost_per_token"
