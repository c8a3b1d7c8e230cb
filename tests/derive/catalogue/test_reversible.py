"""Reversible layers run backwards, whatever their function is, and what they save and cost."""

import pytest
import sympy

from derive.catalogue import equation
from derive.quantities import symbol
from tests.tools.asked import value_of

# The registry holds positive numbers; what is shown here needs no sign.
X, Y, LEFT, RIGHT = sympy.symbols("x y l r", real=True)
F, G = sympy.Function("f"), sympy.Function("g")
HALF, ROUND = symbol("right_half"), symbol("round_function")


def inverse(id, unknown):
    """The equation solved for a quantity of its right side, and the symbol of its left side."""
    left, right = equation(id).sides
    (found,) = sympy.solve(left - right, unknown)
    return found, left


def feistel(x, y, function):
    """(x, y) through one round of the catalogue's."""
    return x, equation("reversible.feistel").sides[1].subs({HALF: y, ROUND: function(x)}, simultaneous=True)


def feistel_back(x, z, function):
    found, mixed = inverse("reversible.feistel", HALF)
    return x, found.subs({mixed: z, ROUND: function(x)}, simultaneous=True)


def layer(x, y, function):
    """(x, y) through one RevNet layer of the catalogue's."""
    left = equation("reversible.feistel").sides[1].subs({HALF: y, ROUND: function(x)}, simultaneous=True)
    return left, x


def layer_back(left, right, function):
    found, first = inverse("reversible.feistel", HALF)
    return right, found.subs({first: left, ROUND: function(right)}, simultaneous=True)


@pytest.mark.parametrize(("there", "back"), [(feistel, feistel_back), (layer, layer_back)])
def test_there_and_back_is_the_identity_whatever_the_function(there, back):
    assert back(*there(X, Y, F), F) == (X, Y)
    assert tuple(sympy.expand(half) for half in there(*back(LEFT, RIGHT, F), F)) == (LEFT, RIGHT)


def test_a_layer_is_a_round_with_its_halves_swapped():
    kept, mixed = feistel(X, Y, F)
    assert layer(X, Y, F) == (mixed, kept)


def test_a_stack_of_layers_is_run_backwards_from_its_output_alone():
    through = [F, G, F, G]
    state = (X, Y)
    for function in through:
        state = layer(*state, function)
    for function in reversed(through):
        state = tuple(sympy.expand(half) for half in layer_back(*state, function))
    assert state == (X, Y)


ACTIVATIONS = {"tokens_in_training_batch": 4e6, "model_dim": 8192, "activations_per_width": 16, "bytes_per_activation": 2}


def test_activations_grow_with_depth_unless_layers_are_reversible():
    layers = symbol("layers")
    stored, kept = (equation(f"reversible.{name}").sides[1] for name in ("activation_memory", "activation_memory_reversible"))
    assert sympy.simplify(stored / layers).has(layers) is False and not kept.has(layers)
    saved = value_of("activation_bytes", layers=80, **ACTIVATIONS) / value_of(
        "activation_bytes", "reversible.activation_memory_reversible", **ACTIVATIONS
    )
    assert saved == pytest.approx(80)


def test_a_reversible_network_trains_at_a_third_more():
    """One more forward pass of two FLOPs a parameter and token, on top of two forward and four backward."""
    given = {"active_params": 100e9, "pretrain_tokens": 2e12}
    stored, again = value_of("pretrain_flops", **given), value_of("pretrain_flops", "reversible.training_cost", **given)
    assert again / stored == pytest.approx(4 / 3)
    assert (again - stored) / (100e9 * 2e12) == pytest.approx(2)
