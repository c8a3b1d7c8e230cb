"""The table of formulas: of every equation its regimes and, for each of its quantities, the closed forms, worked out beforehand.

`formulas.tsv` has one line an equation, and one for each way in which neutral defaults are put into it: its key, the relation as
it is written in the catalogue, and what SymPy makes of it as trees (`derive.expressions.making` writes it). A line counts only for
the very relation that it was made from: of any other, SymPy is asked anew.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from derive.trees import Tree

PATH = Path(__file__).with_name("formulas.tsv")

TreePair = tuple[Tree, Tree]
Roots = tuple[Tree, ...] | None
"""Closed forms, or None where there are none to be had."""


@dataclass(frozen=True, slots=True)
class Formulas:
    """A line of the table: the right side, its smooth regimes with the pairs that make each, roots and turns by unknown."""

    right: Tree
    gone: tuple[str, ...]
    regimes: tuple[tuple[Tree, tuple[TreePair, ...]], ...]
    _roots: Mapping[str, list[Any]]
    _turns: Mapping[str, list[Any]]

    def roots(self, unknown: str) -> tuple[Roots, ...]:
        """The closed forms of an unknown, regime by regime."""
        return tuple(map(_as_roots, self._roots[unknown]))

    def turns(self, unknown: str, pair: TreePair) -> tuple[tuple[Tree, Roots], ...] | None:
        """What is zero where the larger of a pair turns into the smaller, with its closed forms; None of a pair that is not in the line."""
        for larger, smaller, found in self._turns.get(unknown, ()):
            if (of_json(larger), of_json(smaller)) == pair:
                return tuple((of_json(part), _as_roots(roots)) for part, roots in found)
        return None


def key(id: str, put_in: Mapping[str, int | str]) -> str:
    """What a line of the table begins with.

    >>> key("roofline.step_time", {"positions_per_step": 1, "attention_time": 0})
    'roofline.step_time attention_time=0 positions_per_step=1'
    """
    return " ".join([id, *(f"{name}={value}" for name, value in sorted(put_in.items()))])


def found(key: str) -> tuple[str, Formulas] | None:
    """The relation as it was written when a line of the table was made, and what it came to; None where there is no such line."""
    start = _table().find(f"\n{key}\t")
    if start < 0:
        return None
    _, as_written, body = _table()[start + 1 : _table().index("\n", start + 1)].split("\t")
    line = json.loads(body)
    regimes = tuple((of_json(one), tuple((of_json(a), of_json(b)) for a, b in wins)) for one, wins in line["regimes"])
    return as_written, Formulas(of_json(line["right"]), tuple(line["gone"]), regimes, line["roots"], line["turns"])


@cache
def _table() -> str:
    return PATH.read_text(encoding="utf-8") if PATH.is_file() else ""


def of_json(stored: Any) -> Tree:
    """A tree as JSON has it, as one of tuples."""
    return tuple(map(of_json, stored)) if isinstance(stored, list) else stored


def _as_roots(stored: list[Any] | None) -> Roots:
    return None if stored is None else tuple(map(of_json, stored))
