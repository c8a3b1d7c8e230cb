"""A cost asked for with prices alone is answered with what a buyer pays."""

import pytest

from derive.solving.api import respond_all, solve
from derive.solving.buyers import ANSWERED_WITH_PRICE

PRICES = {"input_price": "3 USD/MTok", "output_price": "15 USD/MTok"}
TOKENS = {"prompt_tokens": 2000, "output_tokens": 500}


def test_a_request_with_prices_alone_is_answered_with_its_price_and_says_so():
    """2,000 tokens at 3 USD a million and 500 at 15 USD."""
    solution = solve("cost_per_request", **PRICES, **TOKENS)
    assert (solution.unknown, solution.value) == ("price_per_request", pytest.approx(0.006 + 0.0075))
    assert solution.warnings == (ANSWERED_WITH_PRICE,)
    (alone, _) = respond_all(["cost_per_request", "blended_price"], {**PRICES, **TOKENS})
    assert alone.unknown == "price_per_request"
    swept = solve("cost_per_request", **PRICES, **(TOKENS | {"output_tokens": [500, 1000]}))
    assert swept.sweep and [*swept.sweep.values[0]] == pytest.approx([0.0135, 0.021])


@pytest.mark.parametrize("more", [{"batch": 64}, {"chips": 8}, {"hardware": "H100:fp8"}, {"chip_price": "2 USD/h"}])
def test_what_serves_it_is_asked_further_where_something_of_that_is_given(more: dict[str, str]):
    solution = solve("cost_per_request", **PRICES, **TOKENS, **more)
    assert solution.unknown == "cost_per_request" and solution.refusal.code == "missing_givens"


def test_prices_without_tokens_are_no_price_of_a_request():
    assert solve("cost_per_request", **PRICES).unknown == "cost_per_request"
