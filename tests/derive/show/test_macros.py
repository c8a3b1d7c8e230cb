"""Commands for symbols are named by their quantities, and take the place of whole symbols only."""

from derive.quantities import QUANTITIES
from derive.show.macros import macro, macro_block, substitute_macros


def test_every_quantity_has_a_command_of_its_own_that_latex_can_name():
    commands = [macro(name) for name in QUANTITIES]
    assert len(set(commands)) == len(commands) and all(command[1:].isalpha() and command[1].isupper() for command in commands)


def test_a_symbol_inside_another_or_inside_a_command_stays():
    names = ("context_length", "short_context", "kv_bytes_per_token")
    symbols = [QUANTITIES[name] for name in names]
    formula = rf"{QUANTITIES['short_context'].latex} + \left({QUANTITIES['context_length'].latex}\right)^{{2}}"
    assert substitute_macros(formula, symbols) == r"\ShortContext + \left(\ContextLength\right)^{2}"


def test_a_command_is_defined_once():
    assert macro_block([QUANTITIES["batch"], QUANTITIES["chips"], QUANTITIES["batch"]]).count(r"\Batch") == 1
