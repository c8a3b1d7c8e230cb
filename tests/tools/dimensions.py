"""Whether equations add and compare like with like: pint checks it, over base units of our own.

The stock registry of pint counts a byte and a token as pure numbers and would let nonsense pass.
"""

from zlib import crc32

import pint

from derive.quantities import CONSTANTS, QUANTITIES
from derive.records import argument_names

UNITS = pint.UnitRegistry(None)
for base in ("second = [time] = s", "byte = [information]", "FLOP = [arithmetic]", "token = [text]", "USD = [money]", "J = [energy]"):
    UNITS.define(base)


def unit(name):
    """The unit of a quantity or constant, read by pint from the text of the registry."""
    text = (QUANTITIES.get(name) or CONSTANTS[name]).unit
    return UNITS.Unit("" if text == "1" else text)


def sample(name):
    """A quantity somewhere inside its range, or a constant, with its unit."""
    if name in CONSTANTS:
        return UNITS.Quantity(CONSTANTS[name].value, unit(name))
    row = QUANTITIES[name]
    # Different for every quantity, so that no difference of two is 0.
    return UNITS.Quantity(row.low + crc32(name.encode()) / 2**32 * (row.high - row.low), unit(name))


def same(terms):
    """The terms as quantities of one dimension; pint raises where one is of another."""
    first, *others = (term if isinstance(term, UNITS.Quantity) else UNITS.Quantity(term, "") for term in terms)
    return [first, *(other.to(first.units) for other in others)]


def check(relation):
    """Raises unless both sides of a relation are of one dimension, and that of the quantity on the left."""
    names = argument_names(relation)
    left, right = relation(*(sample(name) for name in names))
    right = right if isinstance(right, UNITS.Quantity) else UNITS.Quantity(right, "")
    assert left.units == unit(names[0])
    assert right.to_root_units().units == left.to_root_units().units, f"{left.units} = {right.to_root_units().units}"


def check_requirement(requirement):
    """Raises unless a requirement compares like with like."""
    assert requirement.compared({name: sample(name) for name in requirement.names}) in (True, False)
