"""The script of the pages against Python: the same answers of every equation for each of its quantities, at random points.

    python -m campaigns.solver_script --points 1000 --seed 1

Exit status 1 if an answer is another one. A page has the digits of a machine where Python has fifty, and
prints six at most: a point is compared to 1e-7 times its condition, the sum of its elasticities where that is more than 1.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, starmap
from pathlib import Path
from random import Random
from shutil import which
from typing import Any, TypeVar

from backsolve.site.formulas import page_data, quantities_data
from derive.catalogue import by_id
from derive.expressions.branches import regimes_of
from derive.quantities import quantity
from derive.records import HOLDS, LOWER, UPPER, Equation
from derive.solving.engine.one_equation import solve_equation
from derive.solving.result import Answer
from derive.trees import slopes

_Answer = TypeVar("_Answer")
STEEP = 1e6
"""Elasticity from which a billionth of a given, up to which two sides are equal, moves a point by a thousandth, which is printed."""

SCRIPT = Path(__file__).with_suffix(".js")
NODE = which("node")
ALLOWED = 1e-7
ATTEMPTS = 4_000
LEAST_EFFECT = 1e-9
"""Share of itself by which the left side moves with a quantity that can be asked back."""
LEAST_PRINTED = 5e-4
"""Elasticity below which a page prints none."""
AT_ONCE = 24
"""Equations that one process of node is asked about."""


@dataclass(frozen=True)
class Asked:
    """A question about one equation, with the answers of Python."""

    equation: Equation
    unknown: str
    given: dict[str, float]
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Compared:
    """How far the script is off: relative to the condition, and what is wrong with it if anything is."""

    asked: Asked
    kind: str
    off: float
    fault: str


def points_of(equation: Equation, count: int, random: Random) -> Iterator[dict[str, float]]:
    """Values for all quantities of an equation that meet it, drawn as they are met in practice."""
    for _ in range(ATTEMPTS * count):
        values = {name: quantity(name).at(random.random()) for name in equation.symbols[1:]}
        left = equation.symbols[0]
        try:
            made = equation.right_side(values)
        except (ArithmeticError, ValueError):
            continue
        if isinstance(made, complex):
            continue
        away = {"=": 1.0, ">=": 20 ** random.random(), "<=": 20 ** -random.random()}[equation.sense]
        values[left] = float(made) * away
        low, high = quantity(left).limits()
        if values[left] > 0 and low <= values[left] <= high and not equation.violated(values):
            yield values
            count -= 1
        if not count:
            return


def questions(equation: Equation, count: int, random: Random, unknowns: int | None) -> Iterator[Asked]:
    """Questions about an equation: at each point for all quantities, or for so many of them in turn."""
    turn = random.randrange(len(equation.symbols))
    for values in points_of(equation, count, random):
        told = [name for name in equation.symbols if shows(equation, name, values)]
        for unknown in told if unknowns is None else dict.fromkeys(told[(turn + k) % len(told)] for k in range(unknowns)):
            given = {name: value for name, value in values.items() if name != unknown}
            yield Asked(equation, unknown, given, solve_equation(equation, unknown, given)[0])
        turn += unknowns or 0


def shows(equation: Equation, unknown: str, values: dict[str, float]) -> bool:
    """Whether the digits of the left side say anything of a quantity: all experts activated say nothing of the batch."""
    if unknown == equation.symbols[0] or len(regimes_of(equation)) > 1:
        return True
    _, right = equation.trees
    slope = slopes(right, values)[1].get(unknown, 1.0)
    return abs(slope * values[unknown]) > LEAST_EFFECT * abs(values[equation.symbols[0]])


def compared(equations: Sequence[str], count: int, seed: int, unknowns: int | None = None) -> Iterator[Compared]:
    """The script beside Python, question by question."""
    random = Random(seed)
    for start in range(0, len(equations), AT_ONCE):
        ids = equations[start : start + AT_ONCE]
        yield from compared_ones([one for id in ids for one in questions(by_id()[id], count, random, unknowns)])


def compared_ones(asked: Sequence[Asked]) -> Iterator[Compared]:
    """The script beside Python for these questions, which stand equation by equation."""
    lines = [line for id, some in groupby(asked, lambda one: one.equation.id) for line in (_data(id), *map(_line, some))]
    text = "\n".join(map(json.dumps, lines))
    told = subprocess.run([NODE or "node", SCRIPT], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    yield from starmap(_beside, zip(asked, map(json.loads, told), strict=True))


def _data(id: str) -> dict[str, Any]:
    return {"data": {**page_data(id), "quantities": quantities_data(by_id()[id].symbols)}}


def _line(asked: Asked) -> dict[str, Any]:
    return {"unknown": asked.unknown, "given": asked.given}


def _beside(asked: Asked, told: list[dict[str, Any]]) -> Compared:
    if max([0.0, *(_steepness(one, getattr) for one in asked.answers), *(_steepness(one, dict.__getitem__) for one in told)]) > STEEP:
        return Compared(asked, "steep", 0.0, "")
    mine, script = _without_loose(asked.answers, getattr), _without_loose(told, dict.__getitem__)
    if [one.kind for one in mine] != [one["kind"] for one in script]:
        return Compared(asked, "other", 0.0, f"{told} for {asked.answers}")
    offs, kind = [0.0], "closed"
    for answer, one in zip(mine, script, strict=True):
        condition = max(1.0, sum(map(abs, answer.elasticities.values())))
        ends = [(answer.value, one["value"])] if answer.kind == "point" else [(answer.low, one["low"]), (answer.high, one["high"])]
        if answer.kind == "point" and one["bound"] != _bound(asked, answer):
            return Compared(asked, "other", 0.0, f"{told} errs another way than {_bound(asked, answer)}")
        if answer.regime != one["regime"] and answer.kind == "point":
            return Compared(asked, "other", 0.0, f"{told} for {asked.answers}")
        kind = "searched" if one["searched"] else kind
        offs += [_apart(mine, other) / condition for mine, other in ends]
        largest = max([LEAST_PRINTED, *map(abs, answer.elasticities.values())])
        moves = ((answer.elasticities.get(name, 0.0), one["elasticities"].get(name, 0.0)) for name in asked.given)
        slopes = [abs(other - value) / largest / condition for value, other in moves]
        offs += [off if answer.kind == "point" else 0.0 for off in slopes]
    return Compared(asked, kind, max(offs), f"{told} for {asked.answers}" if not max(offs) <= ALLOWED else "")


def _steepness(one: _Answer, part: Callable[[_Answer, str], Any]) -> float:
    return max([1.0, *map(abs, part(one, "elasticities").values())]) if part(one, "kind") == "point" else 0.0


def _without_loose(answers: Sequence[_Answer], part: Callable[[_Answer, str], Any]) -> list[_Answer]:
    """Return the answers without points that the digits of the givens do not tell apart from the end of an interval."""
    ends = [end for one in answers if part(one, "kind") == "interval" for end in (part(one, "low"), part(one, "high")) if end]
    reach = {at: HOLDS * _steepness(one, part) for at, one in enumerate(answers)}
    return [one for at, one in enumerate(answers) if not reach[at] or all(_apart(part(one, "value"), end) > reach[at] for end in ends)]


def _bound(asked: Asked, answer: Answer) -> str | None:
    """Which way an answer errs by its equation alone: a lower bound leaves less of the left side for the right one."""
    row, left = asked.equation, asked.equation.symbols[0]
    if not row.direction or asked.unknown == left:
        return row.direction or None
    rises = answer.elasticities.get(left, 0.0) * (1 if row.direction == LOWER else -1)
    return None if rises == 0 else UPPER if rises > 0 else LOWER


def _apart(mine: float | None, other: float | None) -> float:
    if mine is None or other is None:
        return 0.0 if mine is other else float("inf")
    return abs(mine - other) / abs(mine) if mine else abs(other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unknowns", type=int, help="how many quantities are asked for at a point; all of them unless it is given")
    parser.add_argument("ids", nargs="*", default=[*by_id()])
    asked = parser.parse_args()
    found: Counter[str] = Counter()
    worst: dict[str, float] = {}
    for one in compared(tuple(asked.ids), asked.points, asked.seed, asked.unknowns):
        found[one.kind] += 1
        worst[one.kind] = max(worst.get(one.kind, 0.0), one.off)
        if one.fault:
            found["wrong"] += 1
            print(f"{one.asked.equation.id} for {one.asked.unknown}, off by {one.off:.3g}: {one.asked.given}: {one.fault}", flush=True)
    print({"seed": asked.seed, **found, "worst": {kind: f"{off:.2g}" for kind, off in worst.items()}})
    sys.exit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
