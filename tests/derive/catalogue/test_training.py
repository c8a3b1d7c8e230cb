"""The chapter on training: what equal costs have to do with least ones, and what the cost terms come to.

The lecture's own figures are rows of tests/validation/lecture.csv; here is what takes algebra or a search.
"""

from math import log

import numpy as np
import pytest
import sympy
from scipy.optimize import minimize_scalar

from derive.catalogue import equation
from derive.quantities import symbol
from derive.solving.api import solve
from tests.tools.asked import value_of
from tests.tools.fits import BESIROGLU, HOFFMANN, HOFFMANN_UNROUNDED, without_floor
from tests.tools.together import in_one_test

X, FALLING, RISING = (symbol(name) for name in ("tradeoff_variable", "falling_cost", "rising_cost"))
FALLS, RISES = symbol("falling_exponent"), symbol("rising_exponent")


def right(id):
    return equation(id).sides[1]


# -- equal costs and least costs ------------------------------------------------------------------------------------


def terms_of_the_cost():
    """The falling and the rising term of training.tradeoff_cost."""
    terms = right("training.tradeoff_cost").args
    return next(term for term in terms if term.has(FALLING)), next(term for term in terms if term.has(RISING))


def test_where_the_sum_is_least_the_terms_are_as_the_powers():
    """The slope of the sum, put to zero, says what the ratio of the two terms is: rising over falling power."""
    falling, rising = terms_of_the_cost()
    slope = sympy.diff(right("training.tradeoff_cost"), X) * X
    ratio = right("training.tradeoff_minimum")
    at_the_ratio = sympy.powdenest(slope.subs(FALLING, sympy.solve(falling - ratio * rising, FALLING)[0]), force=True)
    assert sympy.simplify(at_the_ratio) == 0
    assert sympy.solve(sympy.Eq(ratio, 1), RISES) == [FALLS]


@in_one_test(("falls", "rises"), [(1, 1), (2, 1), (0.5, 1), (0.3, 2)])
def test_a_search_for_the_least_finds_the_ratio_of_the_catalogue(falls, rises):
    given = {"falling_cost": 3, "rising_cost": 0.7, "falling_exponent": falls, "rising_exponent": rises}

    def total(ln_x):
        return value_of("tradeoff_cost", tradeoff_variable=np.exp(ln_x), **given)

    x = float(np.exp(minimize_scalar(total, bracket=(-1, 1), options={"xtol": 1e-10}).x))
    found = 3 * x**-falls / (0.7 * x**rises)
    assert found == pytest.approx(value_of("falling_rising_ratio", falling_exponent=falls, rising_exponent=rises), rel=1e-6)


@pytest.mark.parametrize(("falls", "rises", "excess"), [(1, 1, 0), (2, 1, 0.06), (1, 4, 0.21)])
def test_equal_terms_cost_a_little_more_than_the_least(falls, rises, excess):
    """Exact for equal powers; a fifth more where one power is four times the other."""
    given = {"falling_cost": 3, "rising_cost": 0.7, "falling_exponent": falls, "rising_exponent": rises}
    equal = value_of("tradeoff_variable", "training.equalisation", **given)
    assert 3 * equal**-falls == pytest.approx(0.7 * equal**rises)
    least = (3 * falls / (0.7 * rises)) ** (1 / (falls + rises))
    paid, needed = (value_of("tradeoff_cost", tradeoff_variable=one, **given) for one in (equal, least))
    assert paid / needed - 1 == pytest.approx(excess, abs=0.005)


def test_a_cost_above_the_least_has_two_places_and_one_below_has_none():
    given = {"falling_cost": 1, "rising_cost": 1, "falling_exponent": 1, "rising_exponent": 1}
    found = [answer.value for answer in solve("tradeoff_variable", tradeoff_cost=2.5, **given).answers]
    assert found == pytest.approx([0.5, 2])
    refused = solve("tradeoff_variable", tradeoff_cost=1.9, **given)
    assert refused.answers == () and refused.reason.code == "no_solution"


# -- what training, reinforcement learning and serving cost ---------------------------------------------------------


def test_twenty_tokens_a_parameter_is_a_convention_that_strict_leaves_out():
    asked = {"active_params": "100B", "pretrain_tokens": "200T"}
    refused = solve("overtraining_ratio", strict=True, **asked)
    assert refused.answers == () and refused.reason.missing == ("chinchilla_tokens",)
    for count in ("active_params", "total_params"):
        assert solve("chinchilla_tokens", given={count: 70e9}).value == pytest.approx(1.4e12)
    assert value_of("overtraining_ratio", "training.chinchilla", active_params="100B", pretrain_tokens="200T") == pytest.approx(100)


# -- attention in training ------------------------------------------------------------------------------------------

PAIR, SEQUENCE, SIZE, READ = (
    symbol(n) for n in ("attention_flops_per_pair", "training_sequence_length", "active_params", "pretrain_tokens")
)


def flops_per_token():
    """Of training with attention, at four FLOPs a layer and unit of attention width for each pair of tokens."""
    layers, width = sympy.symbols("layers width", positive=True)
    cost = right("training.pretrain_cost_attention") / READ
    return cost.subs({PAIR: 4 * layers * width, symbol("one_token"): 1, symbol("one_flop_per_token"): 1}), layers, width


def test_training_is_three_times_the_forward_pass_of_kaplan_with_causal_attention():
    """Equation 2.2 of Kaplan et al., 2020: 2 N + 2 n_layer n_ctx d_attn forward, and twice that backward."""
    found, layers, width = flops_per_token()
    assert sympy.expand(found - 3 * (2 * SIZE + 2 * layers * SEQUENCE * width)) == 0


def test_palm_counts_the_half_of_attention_that_is_masked_as_well():
    """Appendix B of the PaLM paper: 6 N + 12 L H Q T."""
    found, layers, width = flops_per_token()
    assert sympy.expand(found.subs(SEQUENCE, 2 * SEQUENCE) - (6 * SIZE + 12 * layers * width * SEQUENCE)) == 0


def test_a_sum_over_the_tokens_of_a_sequence_finds_half_of_it_on_average():
    """Position i attends to i tokens, itself among them: the mean is half a token more than half the sequence."""
    length, per_pair, size = 4096, 5e6, 8e9
    forward = sum(2 * size + per_pair * position for position in range(1, length + 1))
    given = {"active_params": size, "attention_flops_per_pair": per_pair, "training_sequence_length": length}
    found = value_of("pretrain_flops", "training.pretrain_cost_attention", pretrain_tokens=1e9, **given) / 1e9
    assert found == pytest.approx(3 * forward / length, rel=1e-3)
    assert found < 3 * forward / length


# -- the best size for a budget -------------------------------------------------------------------------------------


@in_one_test("fit", [HOFFMANN, HOFFMANN_UNROUNDED, BESIROGLU], ids=["Hoffmann", "unrounded", "Besiroglu"])
@in_one_test("budget", [1e21, 5.76e23, 1e26])
def test_a_search_over_sizes_finds_the_optimum_of_the_catalogue(fit, budget):
    def loss(ln_n):
        size = float(np.exp(ln_n))
        return equation("training.loss_law").right_side({**fit, "active_params": size, "pretrain_tokens": budget / (6 * size)})

    best = float(np.exp(minimize_scalar(loss, bounds=(log(1e7), log(1e14)), options={"xatol": 1e-9}).x))
    found = value_of("active_params", "training.compute_optimal_size", pretrain_flops=budget, **without_floor(fit))
    assert found == pytest.approx(best, rel=1e-4)
