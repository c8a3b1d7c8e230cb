"""What relations are written with beyond + - * /: the same for numbers and for SymPy, which is imported when it is needed."""

from typing import Any


def maximum(*terms: Any) -> Any:
    """The largest of the terms: a number of numbers, else a SymPy Max, imported when a relation is first built.

    >>> maximum(1, 2.5)
    2.5
    """
    if all(isinstance(term, int | float) for term in terms):
        return max(terms)
    from sympy import Max

    return Max(*terms)


def minimum(*terms: Any) -> Any:
    """The smallest of the terms: a number of numbers, else a SymPy Min."""
    if all(isinstance(term, int | float) for term in terms):
        return min(terms)
    from sympy import Min

    return Min(*terms)


def power(base: Any, numerator: int, denominator: int) -> Any:
    """A fractional power, exact in SymPy.

    >>> power(16.0, 3, 4)
    8.0
    """
    if not hasattr(base, "free_symbols"):
        return base ** (numerator / denominator)
    from sympy import Rational

    return base ** Rational(numerator, denominator)
