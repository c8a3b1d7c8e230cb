"""The hours in which chips wait are paid where it is said how much of the time they are in use, and once."""

import pytest

from derive.solving.api import solve

SERVED = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "batch": 64, "bytes_per_element": 2, "chip_price": "2.5 USD/h"}
DECODED = {**SERVED, "context_length": 4096}
ASKED = {**SERVED, "isl": 2000, "osl": 500, "input_price": "0.4 USD/MTok", "output_price": "0.9 USD/MTok"}
IN_USE = 0.6


def test_a_margin_pays_for_the_hours_in_which_chips_wait():
    cost = solve("cost_per_token", **DECODED).answers[0].point
    solution = solve("gross_margin", **DECODED, output_price="0.9 USD/MTok", fleet_utilisation="60%")
    assert solution.value == pytest.approx(1 - cost / IN_USE / 0.9e-6) == pytest.approx(0.0616, abs=1e-4)
    assert not solution.unused


@pytest.mark.parametrize("rent", ["chip_price", "rented_chip_price"])
def test_a_margin_counts_idle_hours_once(rent: str):
    """32 USD/h for chips that decode 72 Mtok/h."""
    fleet = {rent: "2 USD/h", "chips": 8, "throughput": 10_000, "fleet_utilisation": 0.5, "output_price": "2 USD/MTok"}
    margin = solve("gross_margin", **fleet).value
    assert margin == pytest.approx(1 - 16 / 18 / 2)
    given = {name: value for name, value in fleet.items() if name != "throughput"}
    assert solve("throughput", **given, gross_margin=margin).value == pytest.approx(10_000)


@pytest.mark.parametrize("name", ["cost_per_request", "prefill_cost_per_token"])
def test_a_cost_of_requests_pays_for_them_too(name: str):
    always = solve(name, **ASKED).answers[0].point
    assert solve(name, **ASKED, fleet_utilisation=IN_USE).value == pytest.approx(always / IN_USE)


def test_it_counts_backwards_in_limits_and_in_lists():
    priced = {"output_price": "0.9 USD/MTok"}
    share = solve("fleet_utilisation", **DECODED, **priced, gross_margin=0.2).value
    assert solve("gross_margin", **DECODED, **priced, fleet_utilisation=share).value == pytest.approx(0.2)
    price = solve("output_price", **DECODED, gross_margin=0.2, fleet_utilisation=IN_USE).value
    assert price == pytest.approx(solve("output_price", **DECODED, gross_margin=0.2).value / IN_USE)
    free = {name: value for name, value in DECODED.items() if name != "batch"}
    least = solve("batch", **free, **priced, gross_margin=">=0.2", fleet_utilisation=IN_USE).answers[0]
    assert least.bound == "lower" and least.point == 96 > solve("batch", **free, **priced, gross_margin=">=0.2").answers[0].point
