"""Functions in relations besides + - * /. They work for numbers, arrays and SymPy, and import these packages when needed."""

from functools import reduce
from math import log
from typing import Any

from derive.trees import LARGEST_OF, LOGARITHM, SMALLEST_OF, Written, written


def maximum(*terms: Any) -> Any:
    """Return the largest of the terms: a number for numbers, an array if one is an array, else a SymPy Max.

    >>> maximum(1, 2.5)
    2.5
    """
    if all(isinstance(term, int | float) for term in terms):
        return max(terms)
    if any(hasattr(term, "__array__") for term in terms):
        import numpy as np

        return reduce(np.maximum, terms)
    if any(isinstance(term, Written) for term in terms):
        return written(LARGEST_OF, *terms)
    from sympy import Max

    return Max(*terms)


def minimum(*terms: Any) -> Any:
    """Return the smallest of the terms: a number for numbers, an array if one is an array, else a SymPy Min."""
    if all(isinstance(term, int | float) for term in terms):
        return min(terms)
    if any(hasattr(term, "__array__") for term in terms):
        import numpy as np

        return reduce(np.minimum, terms)
    if any(isinstance(term, Written) for term in terms):
        return written(SMALLEST_OF, *terms)
    from sympy import Min

    return Min(*terms)


def part_times(part: Any, factor: Any, whole: Any) -> Any:
    """Return a part multiplied by a number of times, limited to the whole. With a number of 1 it is the part itself, without a comparison.

    >>> part_times(20.0, 3, 100.0), part_times(40.0, 3, 100.0)
    (60.0, 100.0)
    """
    return part if isinstance(factor, int) and factor == 1 else minimum(factor * part, whole)


def logarithm(value: Any) -> Any:
    """Return the natural logarithm.

    >>> logarithm(1.0)
    0.0
    """
    if isinstance(value, int | float):
        return log(value)
    if hasattr(value, "__array__"):
        import numpy as np

        return np.log(value)
    if isinstance(value, Written):
        return written(LOGARITHM, value)
    from sympy import log as symbolic

    return symbolic(value)


def power(base: Any, numerator: int, denominator: int) -> Any:
    """Return a fractional power, exact in SymPy.

    >>> power(16.0, 3, 4)
    8.0
    """
    if isinstance(base, Written):
        return base ** (Written(numerator) / denominator)
    if not hasattr(base, "free_symbols"):
        return base ** (numerator / denominator)
    from sympy import Rational

    return base ** Rational(numerator, denominator)
