"""Turn a function of the catalogue into a tree of the same shape, by calling it with names instead of numbers."""

from collections.abc import Callable, Iterable
from typing import Any

from derive.quantities import CONSTANTS
from derive.trees import LARGEST_OF, LOGARITHM, MINUS, PRODUCT, RAISED, RATIO, SMALLEST_OF, SUM, Tree

AT_LEAST, AT_MOST, _ABOVE, _BELOW = ">=", "<=", ">", "<"


class Written:
    """A tree that supports arithmetic. The result of an operation is a larger tree."""

    __slots__ = ("tree",)

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def __add__(self, other: Any) -> "Written":
        return _with(SUM, self, other)

    def __radd__(self, other: Any) -> "Written":
        return _with(SUM, other, self)

    def __sub__(self, other: Any) -> "Written":
        return _with(SUM, self, Written((MINUS, tree_of_value(other))))

    def __rsub__(self, other: Any) -> "Written":
        return _with(SUM, other, Written((MINUS, self.tree)))

    def __mul__(self, other: Any) -> "Written":
        return _with(PRODUCT, self, other)

    def __rmul__(self, other: Any) -> "Written":
        return _with(PRODUCT, other, self)

    def __truediv__(self, other: Any) -> "Written":
        return _with(RATIO, self, other)

    def __rtruediv__(self, other: Any) -> "Written":
        return _with(RATIO, other, self)

    def __pow__(self, other: Any) -> "Written":
        return _with(RAISED, self, other)

    def __rpow__(self, other: Any) -> "Written":
        return _with(RAISED, other, self)

    def __neg__(self) -> "Written":
        return Written((MINUS, self.tree))

    def __ge__(self, other: Any) -> "Written":
        return _with(AT_LEAST, self, other)

    def __le__(self, other: Any) -> "Written":
        return _with(AT_MOST, self, other)

    def __gt__(self, other: Any) -> "Written":
        return _with(_ABOVE, self, other)

    def __lt__(self, other: Any) -> "Written":
        return _with(_BELOW, self, other)


def tree_of_value(value: Any) -> Tree:
    """Return the tree of a written value, or the number itself."""
    tree: Tree = value.tree if isinstance(value, Written) else value
    return tree


def _with(operation: str, *parts: Any) -> Written:
    return Written((operation, *map(tree_of_value, parts)))


def largest(terms: Iterable[Any]) -> Written:
    """Return the largest of several terms. At least one of them is written."""
    return _with(LARGEST_OF, *terms)


def smallest(terms: Iterable[Any]) -> Written:
    """Return the smallest of several terms. At least one of them is written."""
    return _with(SMALLEST_OF, *terms)


def logarithm_of(value: Written) -> Written:
    """Return the natural logarithm of a written value."""
    return _with(LOGARITHM, value)


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the quantities that a function of the catalogue takes, in order: its parameters, or the names that it states.

    >>> argument_names(lambda batch, chips: batch / chips)
    ('batch', 'chips')
    """
    stated: tuple[str, ...] | None = getattr(function, "argument_names", None)
    if stated is not None:
        return stated
    plain = function.__code__
    names: tuple[str, ...] = plain.co_varnames[: plain.co_argcount]
    return names


def tree_of_function(function: Callable[..., Any]) -> Any:
    """Return the result of a function of quantities as a tree, or a tuple of trees, with the constants as numbers.

    >>> tree_of_function(lambda batch, chips: (batch, 2 * chips)), tree_of_function(lambda batch: batch >= 1)
    (('batch', ('*', 2, 'chips')), ('>=', 'batch', 1))
    """
    found = function(*(int(CONSTANTS[name].value) if name in CONSTANTS else Written(name) for name in argument_names(function)))
    return tuple(map(tree_of_value, found)) if isinstance(found, tuple) else tree_of_value(found)
