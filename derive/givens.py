"""What is given of a quantity that other givens would make: none at all, or not what a preset makes it."""

from collections.abc import Iterable, Mapping, Set

from derive.forward import followed
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


def yielding(rows: Iterable[Equation], preset: Mapping[str, float], typed: Set[str], unknown: str) -> dict[Equation, float | None]:
    """The equations by which presets alone would make one quantity that somebody gave; a definition with what they make it.

    What follows from a preset is as much the preset's as what it sets, and gives way in the same manner.

    >>> from derive.catalogue import equation
    >>> ridge = equation("batching.ridge_point")
    >>> yielding([ridge], {"peak_flops": 1e15, "hbm_bandwidth": 4e12}, {"ridge_point"}, "balance_context") == {ridge: 250.0}
    True
    """
    equalities = [row for row in rows if row.sense == "="]
    possible = [row for row in equalities if len(typed & {*row.symbols}) == 1 and unknown not in row.symbols]
    if not preset or not any(row.defines in typed for row in possible):
        return {}
    implied = followed(tuple(row for row in equalities if row.symbols[0] not in {*typed, unknown}), preset)
    found = [row for row in possible if {*row.symbols} - typed <= implied.keys() and not row.violated(implied)]
    return {row: row.right_side(implied) if row.defines in typed else None for row in found}
