"""Turn a function of the catalogue into a tree of the same shape, by calling it with names instead of numbers."""

from collections.abc import Callable
from typing import Any

from derive.quantities import CONSTANTS
from derive.trees import MINUS, PRODUCT, RAISED, RATIO, SUM, Tree

AT_LEAST, AT_MOST, _ABOVE, _BELOW = ">=", "<=", ">", "<"


def _operator(operation: str) -> "Callable[[Written, Any], Written]":
    return lambda self, other: written(operation, self, other)


def _reflected(operation: str) -> "Callable[[Written, Any], Written]":
    return lambda self, other: written(operation, other, self)


class Written:
    """A tree that supports arithmetic. The result of an operation is a larger tree."""

    __slots__ = ("tree",)

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    __add__, __radd__ = _operator(SUM), _reflected(SUM)
    __mul__, __rmul__ = _operator(PRODUCT), _reflected(PRODUCT)
    __truediv__, __rtruediv__ = _operator(RATIO), _reflected(RATIO)
    __pow__, __rpow__ = _operator(RAISED), _reflected(RAISED)
    __ge__, __gt__, __le__, __lt__ = map(_operator, (AT_LEAST, _ABOVE, AT_MOST, _BELOW))

    def __sub__(self, other: Any) -> "Written":
        return self + Written((MINUS, tree_of_value(other)))

    def __rsub__(self, other: Any) -> "Written":
        return written(SUM, other, -self)

    def __neg__(self) -> "Written":
        return Written((MINUS, self.tree))


def tree_of_value(value: Any) -> Tree:
    """Return the tree of a written value, or the number itself."""
    tree: Tree = value.tree if isinstance(value, Written) else value
    return tree


def written(operation: str, *parts: Any) -> Written:
    """Return an operation on values, at least one of which is written."""
    return Written((operation, *map(tree_of_value, parts)))


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the quantities of a function of the catalogue, in order: its parameters, or its stated names.

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
