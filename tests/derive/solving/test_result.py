"""A solution from Python: its single value, its formula, and how it shows itself."""

import pytest

from derive import equation, solve, symbols
from derive.errors import NoSingleValue

FAST = {"machine_balance_ratio": 300, "sparsity": 8}


def test_the_single_value():
    found = solve("balance_batch", given=FAST)
    assert found.value == float(found) == found.answers[0].value == found.answers[0].point == 2400


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sparsity": 8}, "balance_batch has no single value: balance_batch also needs"),
        ({**FAST, "sparsity": "1..64:log:4"}, "balance_batch has no single value: it is a sweep of 4 points"),
        ({**FAST, "sparsity": "4..8"}, "balance_batch has no single value: it is between 1200 and 2400"),
    ],
)
def test_where_there_is_no_single_value_the_error_says_what_there_is(given, said):
    with pytest.raises(NoSingleValue, match=said):
        solve("balance_batch", given=given).value  # noqa: B018


def test_several_values_are_no_single_one():
    found = solve("draft_tokens", acceptance_rate=0.8, draft_cost_ratio=0.1, speculative_speedup=1.5)
    assert len(found.answers) == 2
    with pytest.raises(NoSingleValue, match=" or "):
        found.value  # noqa: B018


def test_the_formula_in_sympy_and_latex():
    (answer,) = solve("ridge_point", peak_flops=989e12, hbm_bandwidth=3.35e12).answers
    assert answer.expr == symbols.peak_flops / symbols.hbm_bandwidth and answer.latex == r"\frac{F}{W}"
    assert solve("balance_batch", given=FAST).answers[0].expr == equation("batching.balance_batch").sides[1]


def test_repr_is_a_line_and_print_the_whole_text():
    found = solve("balance_batch", given=FAST)
    assert repr(found) == "Solution(balance_batch [1]: 2400)"
    assert str(found).splitlines()[0] == "balance_batch = 2400" and "Cite         backsolve cite batching.balance_batch" in str(found)
    refused = solve("balance_batch", sparsity=8)
    assert str(refused).startswith("balance_batch: no answer\nbalance_batch also needs")
