"""A quantity given as nothing, and what it is made of."""

from collections.abc import Iterable, Set

from derive.quantities import quantity
from derive.records import Equation


def made_of_nothing(rows: Iterable[Equation], nothing: Iterable[str], some: Set[str]) -> dict[str, str]:
    """What else is nothing where these are, with what makes it so: of each term of a definition the one factor that can be.

    `some` are quantities that are not nothing. Terms without such a factor, or with several, say nothing.

    >>> from derive.catalogue import equation
    >>> made_of_nothing([equation("roofline.attention_time")], ["attention_time"], set())
    {'attention_flops_per_sequence': 'attention_time'}
    """
    definitions = {row.defines: row for row in rows if row.defines}
    found: dict[str, str] = {}
    queue = list(nothing)
    while queue:
        name = queue.pop()
        for factor in _vanishing(definitions[name], some) if name in definitions else ():
            if factor not in found:
                found[factor] = found.get(name, name)
                queue.append(factor)
    return found


def _vanishing(row: Equation, some: Set[str]) -> set[str]:
    """The factors without which nothing is left of a sum; none where it may be nothing in another way."""
    from sympy import Add, Mul

    found: set[str] = set()
    for term in Add.make_args(row.sides[1]):
        factors = [part.name for part in Mul.make_args(term) if part.is_Symbol and part.name not in some]
        can = [name for name in factors if quantity(name).may_be_zero]
        if len(can) != 1 or not term.is_nonnegative:
            return set()
        found |= {*can}
    return found
