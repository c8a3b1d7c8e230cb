"""Which way a formula goes with its quantities, read off how it is written."""

from collections.abc import Mapping

from derive.trees import LOGARITHM, MINUS, RAISED, RATIO, Tree


def trend(tree: Tree, of: Mapping[str, int]) -> int | None:
    """1 where a formula rises with what some of its quantities are moved by, -1 where it falls, 0 where it stays.

    `of` has the same of these quantities; all others stay, and none is below 0. None where the formula does not say: where a term
    is taken off, or two go against each other.

    >>> trend(("/", ("*", 2, "batch"), ("+", "chips", 1)), {"chips": 1}), trend(("Max", "batch", ("**", "chips", 0.5)), {"batch": 1})
    (-1, 1)
    >>> trend(("+", "batch", ("-", "chips")), {"chips": 1}), trend(("/", "batch", "chips"), {"batch": 1, "chips": 1})
    (None, None)
    """
    if isinstance(tree, str):
        return of.get(tree, 0)
    if not isinstance(tree, tuple):
        return 0 if tree >= 0 else None
    operation, *parts = tree
    if operation in (MINUS, LOGARITHM):
        return None
    if operation == RAISED:
        return _of_power(parts[0], parts[1], of)
    trends = [trend(part, of) for part in parts]
    if operation == RATIO and trends[1]:
        trends[1] = -trends[1]
    moving = {*trends} - {0}
    return moving.pop() if len(moving) == 1 else None if moving else 0


def _of_power(base: Tree, exponent: Tree, of: Mapping[str, int]) -> int | None:
    found, power = trend(base, of), _number(exponent)
    if power is None:
        return 0 if found == 0 == trend(exponent, of) else None
    return found and (found if power > 0 else -found)


def _number(tree: Tree) -> float | None:
    if isinstance(tree, int | float):
        return float(tree)
    if isinstance(tree, tuple) and tree[0] == MINUS and isinstance(tree[1], int | float):
        return -float(tree[1])
    return None
