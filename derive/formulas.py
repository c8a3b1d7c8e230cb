"""The table of formulas: of every equation its regimes and, for each of its quantities, the closed forms, worked out beforehand.

`formulas.tsv` has one line an equation, and one for each way in which neutral defaults are put into it: its key, the relation as
it is written in the catalogue, and what SymPy makes of it as trees (`derive.make_formulas` writes it). A line counts only for
the very relation that it was made from: of any other, SymPy is asked anew.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from derive.trees import Tree

PATH = os.path.join(os.path.dirname(__file__), "formulas.tsv")

TreePair = tuple[Tree, Tree]
Roots = tuple[Tree, ...] | None
"""Closed forms, or None where there are none to be had."""


class Formulas(NamedTuple):
    """A line of the table, of which only what is asked for is taken apart."""

    relation: bytes
    latex: bytes
    gone: bytes
    right: bytes
    regimes: bytes
    roots: bytes
    turns: bytes

    def stated(self) -> str:
        """The relation as it was written when the line was made, with what it requires."""
        return self.relation.decode()

    def without_effect(self) -> tuple[str, ...]:
        """The quantities of the equation that the defaults put into it took along."""
        return tuple(self.gone.decode().split())

    def right_side(self) -> Tree:
        """The right side, whatever regime it is in."""
        right: Tree = of_json(json.loads(self.right))
        return right

    def smooth(self) -> tuple[tuple[Tree, tuple[TreePair, ...]], ...]:
        """The smooth regimes of the right side, each with the pairs of a larger and a smaller tree that make it."""
        return tuple((of_json(one), tuple((of_json(a), of_json(b)) for a, b in wins)) for one, wins in json.loads(self.regimes))

    def roots_of(self, unknown: str) -> tuple[Roots, ...]:
        """The closed forms of an unknown, regime by regime."""
        return tuple(map(_as_roots, json.loads(self.roots)[unknown]))

    def turns_of(self, unknown: str, pair: TreePair) -> tuple[tuple[Tree, Roots], ...] | None:
        """What is zero where the larger of a pair turns into the smaller, with its closed forms; None of a pair that is not in the line."""
        for larger, smaller, parts in json.loads(self.turns).get(unknown, ()):
            if (of_json(larger), of_json(smaller)) == pair:
                return tuple((of_json(part), _as_roots(roots)) for part, roots in parts)
        return None


def key(id: str, put_in: Mapping[str, int | str]) -> str:
    """What a line of the table begins with.

    >>> key("roofline.step_time", {"positions_per_step": 1, "attention_time": 0})
    'roofline.step_time attention_time=0 positions_per_step=1'
    """
    return " ".join([id, *(f"{name}={value}" for name, value in sorted(put_in.items()))])


def found(key: str) -> Formulas | None:
    """The line of the table that begins with a key; None where there is none."""
    line = _lines().get(key.encode())
    return None if line is None else Formulas(*line.split(b"\t"))


@cache
def _lines() -> dict[bytes, bytes]:
    """What follows each key."""
    try:
        with open(PATH, "rb") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return {}
    return {key: rest for key, _, rest in (line.partition(b"\t") for line in lines)}


def of_json(stored: Any) -> Any:
    """What JSON has, its lists as tuples: a tree, or several."""
    return tuple(map(of_json, stored)) if isinstance(stored, list) else stored


def _as_roots(stored: list[Any] | None) -> Roots:
    return None if stored is None else tuple(map(of_json, stored))
