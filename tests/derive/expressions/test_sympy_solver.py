"""An expression with Max and Min falls into smooth regimes that cover it and agree with it."""

import random

import pytest
import sympy
from sympy import Max, Min, exp, sqrt

from derive.catalogue import by_id
from derive.expressions.sympy_solver import solve_by_regime, solve_smooth
from derive.quantities import quantity, symbol
from derive.quantities.formula import as_tree
from tests.tools.compiled import scalar
from tests.tools.together import in_one_test

B, N, C, M, W, L, H = (
    symbol(name) for name in ("batch", "chips", "compute_time", "memory_time", "weight_time", "context_length", "overlap")
)

SHAPES = {
    # expression, number of regimes: the product of the argument counts, less what contradicts itself
    "smooth": (C + M, 1),
    "max of two": (Max(C, M), 2),
    "min of three": (Min(C, M, W), 3),
    "the step": (W + Max(C, M), 2),
    "max in a quotient": (N * Max(C, M) / B, 2),
    "sum of two": (Max(C, M) + Max(C, W), 4),
    "max of a min": (Max(C, Min(M, W * B)), 4),
    "min of a max of a min": (Min(L, Max(C, Min(M, W))), 8),
    "max and min of the same terms": (Max(C, M) + (1 - H) * Min(C, M), 2),
    "quotient of two": (Max(1, L / B) / Max(1, N / B), 4),
    "V": (Max(C / B, M * B), 2),
    "same max twice": (Max(C, M) ** 2 + Max(C, M), 2),
}


def regimes(expression):
    return [one.regime for one in solve_by_regime("layers", as_tree(expression), "layers")]


def number(expression, values):
    names = tuple(values)
    return float(scalar(sympy.sympify(expression), names)(*values.values()))


@in_one_test("name", SHAPES)
def test_the_number_of_regimes(name):
    expression, count = SHAPES[name]
    found = regimes(expression)
    assert len(found) == len(set(found)) == count
    assert not any(regime.expression.has(Max, Min) or Max in map(type, sum(regime.wins, ())) for regime in found)
    for regime in found:
        assert not {(smaller, larger) for larger, smaller in regime.wins} & set(regime.wins), "a regime contradicts itself"


@in_one_test("name", [*SHAPES, *by_id()])
def test_regimes_cover_the_expression_and_agree_with_it(name):
    """At any point some regime is in force, and each that is in force has the value of the whole."""
    expression = SHAPES[name][0] if name in SHAPES else by_id()[name].sides[1]
    if not expression.has(Max, Min):
        return
    names = tuple(sorted(part.name for part in expression.free_symbols))
    rng = random.Random(name)
    seen = set()
    # Some numbers alike, so that ties occur.
    for _ in range(120):
        draw = [rng.choice((1.0, 2.0, rng.uniform(0.1, 30))) if quantity(n).domain in ("> 0", ">= 1") else rng.random() for n in names]
        values = dict(zip(names, draw, strict=True))
        if name in by_id() and by_id()[name].violated(values):
            continue
        whole = number(expression, values)
        in_force = [
            regime
            for regime in regimes(expression)
            if all(number(larger, values) >= number(smaller, values) for larger, smaller in regime.wins)
        ]
        assert in_force, values
        for regime in in_force:
            assert number(regime.expression, values) == pytest.approx(whole, rel=1e-12), (values, regime.label)
        seen.update(in_force)
    assert name not in SHAPES or len(seen) >= min(SHAPES[name][1], 2)


# -- closed forms ---------------------------------------------------------------------------------------------------


@in_one_test(
    ("difference", "unknown", "roots"),
    [
        (C - M * B, B, {C / M}),
        (C - M / B, B, {M / C}),
        (C - M / (1 - B / N), B, {N * (C - M) / C}),
        (C - (B + N / B), B, {(C - sqrt(C**2 - 4 * N)) / 2, (C + sqrt(C**2 - 4 * N)) / 2}),
        (C - sqrt(B), B, {C**2}),
        (C - exp(B), B, {sympy.log(C)}),
        (C - B**H, H, {sympy.log(C) / sympy.log(B)}),
        ((1 - H) * M - C, H, {1 - C / M}),
    ],
)
def test_solve_smooth(difference, unknown, roots):
    found = solve_smooth(difference, unknown)
    real = {root for root in found if root.is_positive is not False and root.is_real is not False}
    assert {sympy.simplify(root) for root in real} == {sympy.simplify(root) for root in roots}


@pytest.mark.parametrize(
    "difference",
    [
        pytest.param(C - B * exp(-B / N), id="Lambert's W is not elementary"),
        pytest.param(C - B - sympy.log(B) * sqrt(B), id="SymPy gives up"),
    ],
)
def test_no_closed_form_is_none_and_not_nothing(difference):
    assert solve_smooth(difference, B) is None


X, P, Q, R = map(symbol, ("batch", "chips", "layers", "experts"))


def test_a_square_of_two_lines_has_their_roots_without_a_square_root():
    assert {*solve_smooth((P * X - Q) * (Q * X - R), X)} == {Q / P, R / Q}
    assert solve_smooth((P * X - Q) ** 2, X) == (Q / P,)


def test_an_exponent_with_which_a_power_would_be_nothing_is_no_root():
    """1 = 1/(1 - (1 - 1/racks)^active_experts) only with endlessly many."""
    x, racks = symbol("active_experts"), symbol("racks")
    assert solve_smooth(1 - 1 / (1 - (1 - 1 / racks) ** x), x) == ()
