"""Blocks: several equations as one in a single unknown, out of the table of those that are often asked, else from SymPy.

`blocks.tsv` has a line for every block that the questions of the tests and many more like them met: its equations and unknowns, a
check sum of the equations as they are written, and what eliminating came to (`python -m tests.tools.blocks` writes it). Of any other
block SymPy is asked.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from math import isclose, isfinite
from pathlib import Path
from typing import Any
from zlib import crc32

from derive.evaluate import evaluate
from derive.expressions.branches import Branch, Regime, Solved, branches, comparisons, formulas, turns
from derive.formulas import TreePair, key, of_json
from derive.quantities import quantity
from derive.records import Equation, Unmet
from derive.requirements import HOLDS, Requirement, named
from derive.solving.matching import Structure
from derive.trees import names

PATH = Path(__file__).with_name("blocks.tsv")

APART = 1e-6
"""Relative difference from which two sides are not the same number given twice."""

FEW = 3
"""Up to how many equations of a block are named in a message."""


@dataclass(frozen=True, eq=False)
class Joint:
    """One equation that follows from several, to be solved like one of the catalogue; `cancelled` dropped out of it.

    `sides` are left and right; where the left is no single quantity it is 1, and the right the ratio of both. It follows
    only where `wins` hold, pairs of a larger and a smaller expression: the regimes that were put in, `regime` in words.
    Where it turns on quantities that nothing determines, `open` names them, and nothing follows from it without them. It is
    `idle` where it does not give the unknown: the sides then only say when the case is possible.
    """

    rows: tuple[Equation, ...]
    sides: TreePair
    cancelled: tuple[str, ...] = ()
    wins: tuple[TreePair, ...] = ()
    regime: str | None = None
    open: tuple[str, ...] = ()
    idle: bool = False
    sense: str = "="
    solved: Mapping[str, Solved] = field(default_factory=dict)
    """What was worked out beforehand, by unknown."""

    @property
    def id(self) -> str:
        """The ids of the equations it follows from."""
        *others, last = (row.id for row in self.rows)
        return f"{', '.join(others)} and {last} together"

    @property
    def told(self) -> str:
        """The same in a message: many equations by their number."""
        return self.id if len(self.rows) <= FEW else f"the {len(self.rows)} equations it rests on"

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Names of the quantities that are left, that on the left side first; those of its regime included."""
        held = sorted(_names_in(self.sides, *self.wins))
        return tuple(sorted(held, key=lambda name: name != self.sides[0]))

    @cached_property
    def requires(self) -> "tuple[Requirement, ...]":
        """The requirements of its equations on what is left in it."""
        needed = (requirement for row in self.rows for requirement in row.requires)
        return tuple(one for one in needed if {*named(one)} <= {*self.symbols})

    def ruled_out(self, values: Mapping[str, float]) -> bool:
        """Whether its regimes or its sides cannot hold at these numbers; what holds a quantity that is not known is not judged."""
        known = (pair for pair in self.wins if _names_in(pair) <= values.keys())
        if any(evaluate(larger, values) < evaluate(smaller, values) * (1 - HOLDS) for larger, smaller in known):
            return True
        if not self.idle or not _names_in(self.sides) <= values.keys():
            return False
        left, right = (evaluate(side, values) for side in self.sides)
        return isfinite(left - right) and not isclose(left, right, rel_tol=APART)

    def breaks_down(self, values: Mapping[str, float], unknown: str) -> bool:
        """Whether something that was divided by is zero at these numbers: what the equations then say, this one does not."""
        probes = [{**values, unknown: float(size)} for size in (quantity(unknown).low, quantity(unknown).high)]
        parts = {*self.sides, *(side for pair in self.wins for side in pair)}
        return any(all(not isfinite(evaluate(part, at)) for at in probes) for part in parts if names(part) <= probes[0].keys())

    def left_side(self, values: Mapping[str, float]) -> float:
        """The left side at numbers."""
        return evaluate(self.sides[0], values)

    def right_side(self, values: Mapping[str, float]) -> float:
        """The right side at numbers."""
        return evaluate(self.sides[1], values)

    def violated(self, values: Mapping[str, float]) -> list[str]:
        """The requirements of its equations that these values break, as text."""
        return [one.text for one in self.unmet(values)]

    def unmet(self, values: Mapping[str, float]) -> list[Unmet]:
        """The same with whose they are, of which quantities, and what that means."""
        return [one for row in self.rows for one in row.unmet(values)]


def _names_in(*pairs: TreePair) -> set[str]:
    return {name for pair in pairs for side in pair for name in names(side)}


@lru_cache(maxsize=512)
def joint(structure: Structure, unknown: str) -> tuple[Joint, ...]:
    """The equations of a block as one in the unknown: several where it takes cases, none where it does not work out."""
    stored = _stored(structure.rows, key_of_block(structure, unknown))
    if stored is not None:
        return tuple(_joint(structure.rows, unknown, case) for case in stored["cases"])
    from derive.solving.elimination import eliminated

    return eliminated(structure, unknown)


@lru_cache(maxsize=512)
def that_cancel(structure: Structure, unknown: str) -> frozenset[str]:
    """What is left free and changes nothing, whatever the rest of what is left free is."""
    stored = _stored(structure.rows, key_of_block(structure, unknown))
    if stored is not None or not structure.rows:
        return frozenset(stored["cancel"] if stored else ())
    from derive.solving.elimination import free_of_effect

    return free_of_effect(structure, unknown)


@lru_cache(maxsize=512)
def with_definitions(bound: Equation, rows: tuple[Equation, ...], unknown: str) -> Joint:
    """An inequality with definitions put in on both its sides, to be solved for an unknown."""
    stored = _stored((*rows, bound), key_of_bound(bound, rows, unknown))
    if stored is not None:
        return _joint((*rows, bound), unknown, stored["cases"][0])
    from derive.solving.elimination import definitions_put_in

    return definitions_put_in(bound, rows)


def key_of_block(structure: Structure, unknown: str) -> str:
    """What the line of a block begins with."""
    return " | ".join((_keys(structure.rows), " ".join(structure.names), " ".join(structure.free), unknown))


def key_of_bound(bound: Equation, rows: tuple[Equation, ...], unknown: str) -> str:
    """What the line of an inequality with definitions put in begins with."""
    return " | ".join((_keys((*rows, bound)), "bound", unknown))


def _keys(rows: tuple[Equation, ...]) -> str:
    return "; ".join(key(row.id, row.put_in) for row in rows)


def block_line(rows: tuple[Equation, ...], key: str, unknown: str, cases: tuple[Joint, ...], cancel: frozenset[str] = frozenset()) -> str:
    """What eliminating came to, as a line of the table."""
    body = {"cancel": sorted(cancel), "cases": [_case(one, unknown) for one in cases]}
    return f"{key}\t{check_sum(rows)}\t{json.dumps(body, separators=(',', ':'))}"


def _case(one: Joint, unknown: str) -> dict[str, Any]:
    solved = [] if one.idle else branches(one, unknown)
    pairs = dict.fromkeys((*(pair for branch in solved for pair in branch.regime.wins), *((a, b) for _, a, b in comparisons(one))))
    return {
        **{"sides": one.sides, "cancelled": one.cancelled, "wins": one.wins, "regime": one.regime, "open": one.open, "idle": one.idle},
        "sense": one.sense,
        "branches": [
            [branch.regime.expression, branch.regime.wins, branch.regime.said, branch.difference, branch.roots, branch.absent]
            for branch in solved
        ],
        "turns": [[*pair, turns(one, pair, unknown)] for pair in pairs] if solved else [],
    }


def _joint(rows: tuple[Equation, ...], unknown: str, case: Mapping[str, Any]) -> Joint:
    """A case of a block as it was stored."""
    found = tuple(
        Branch(Regime(of_json(expression), of_json(wins), said), of_json(rest), of_json(roots), absent)
        for expression, wins, said, rest, roots, absent in case["branches"]
    )
    turning = {(of_json(larger), of_json(smaller)): of_json(parts) for larger, smaller, parts in case["turns"]}
    return Joint(
        rows=rows,
        sides=of_json(case["sides"]),
        cancelled=tuple(case["cancelled"]),
        wins=of_json(case["wins"]),
        regime=case["regime"],
        open=tuple(case["open"]),
        idle=case["idle"],
        sense=case["sense"],
        solved={unknown: Solved(found, turning)} if found else {},
    )


def _stored(rows: tuple[Equation, ...], key: str) -> Any:
    """What the table has of equations that are as they were; None where it has nothing."""
    line = _lines().get(key.encode())
    if line is None or not all(map(formulas, rows)):
        return None
    made_from, body = line.split(b"\t")
    return json.loads(body) if int(made_from) == check_sum(rows) else None


def check_sum(rows: tuple[Equation, ...]) -> int:
    """A number that another relation or requirement of these equations would change."""
    lines = (formulas(row) for row in rows)
    return crc32(b"\n".join(line.relation for line in lines if line))


@cache
def _lines() -> dict[bytes, bytes]:
    """What follows each key."""
    lines = PATH.read_bytes().splitlines() if PATH.is_file() else []
    return {key: rest for key, _, rest in (line.partition(b"\t") for line in lines)}
