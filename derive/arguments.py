"""What a function takes: the formulas of the catalogue name their quantities by their parameters."""

from collections.abc import Callable
from inspect import signature
from typing import Any


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of its parameters in order, or of those that stand in its `__signature__`.

    A plain function holds them ready; `inspect.signature` makes an object of each, thirty times as long.

    >>> argument_names(lambda batch, chips: batch / chips)
    ('batch', 'chips')
    """
    plain = getattr(function, "__code__", None)
    if plain is None or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return tuple(signature(function).parameters)
    names: tuple[str, ...] = plain.co_varnames[: plain.co_argcount]
    return names
