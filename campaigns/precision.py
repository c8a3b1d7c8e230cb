"""Every quantity of every equation over sixty orders of magnitude and beside every crossover, held against many digits.

    python -m campaigns.precision --count 40000 --seed 71

Numbers are drawn between 1e-30 and 1e30, as they come in practice, and so that two terms of a Max or a Min differ by 1e-9 of
themselves or less. Each answer is compared with the roots that the same trees have in 120 digits, and is put back into the equation.
It may be off by 1e-12 times the sum of its elasticities. Exit status 1 if an answer is further off or missing.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from random import Random
from time import process_time
from typing import Any

from mpmath import MPContext

from derive.catalogue import by_id
from derive.expressions.branches import Branch, branches, regimes_of, turning_points
from derive.expressions.curve import search_interval
from derive.quantities import quantity
from derive.records import HOLDS, Equation
from derive.solving.engine.one_equation import solve_equation, value_inside
from derive.solving.result import Answer
from derive.trees import EXPONENTIAL, IN_ORDER, LARGEST_OF, LOGARITHM, PLAIN_NUMBER, ROOT, SMALLEST_OF, Tree, names, slopes, value_of

CLOSE = 1e-12
"""What an answer may be off, times its condition."""

SPAN = 30
"""Orders of magnitude on either side of 1."""

BESIDE = (-1e-9, -1e-12, -1e-14, 0.0, 1e-14, 1e-12, 1e-9)
"""How far from a crossover one of its quantities is put, relatively."""

HOPELESS = 1e-3
"""Above this share of itself that an answer may be off its digits say nothing: no number is asked for."""

LOOKED_FOR = "(looked for from "
"""In what a refusal says how far it searched."""

LAST = 1e-15
"""How near to 1 a share may be for a search to find it among the numbers of floating point."""

SLOW = 2.0
"""Seconds of processor time above which a question takes too long."""

TRIES = 60
KINDS = ("wide", "usual", "crossover")
PAIRS = [(row, name) for row in by_id().values() if row.sense == "=" for name in row.symbols]

DIGITS = MPContext()
DIGITS.dps = 120
OPERATIONS = {
    **IN_ORDER,
    **{ROOT: DIGITS.sqrt, LOGARITHM: DIGITS.log, EXPONENTIAL: DIGITS.exp, LARGEST_OF: max, SMALLEST_OF: min, PLAIN_NUMBER: DIGITS.mpf},
}
NOWHERE = DIGITS.nan


@dataclass(frozen=True)
class Case:
    """A question, and the value of the unknown from which its left side was worked out."""

    equation: Equation
    unknown: str
    given: Mapping[str, float]
    drawn: float
    kind: str


@dataclass(frozen=True)
class Root:
    """What the unknown is in many digits, and by how much an answer may be off."""

    value: Any
    allowed: Any


def cases(equation: Equation, unknown: str, kinds: tuple[str, ...], random: Random) -> Iterator[Case]:
    """One question of each kind, where its equation has any."""
    for kind in kinds:
        values = next((found for _ in range(TRIES) if (found := drawn(equation, kind, random))), None)
        if values:
            given = {name: value for name, value in values.items() if name != unknown}
            yield Case(equation, unknown, given, values[unknown], kind)


def drawn(equation: Equation, kind: str, random: Random) -> dict[str, float] | None:
    """Numbers for all quantities that meet the equation; None where these do not."""
    left, right = equation.trees
    values = {name: (usual if kind == "usual" or (kind == "crossover" and random.random() < 0.5) else wide)(name, random)
              for name in equation.symbols[1:]}  # fmt: skip
    if kind == "crossover":
        crossed = _crossed(equation, values, random)
        if crossed is None:
            return None
        values = crossed
    made = _as_float(at(right, values))
    if not _may_be(left, made):
        return None
    values = {left: made, **values}
    return None if equation.violated(values) else values


def wide(name: str, random: Random) -> float:
    """Anywhere in the domain of a quantity, by ratios; of a share, as often close to 1."""
    row = quantity(name)
    if row.ceiling < inf:
        share = 10 ** random.uniform(-SPAN, 0)
        return random.choice((share, 1 - share, random.random()))
    return float(10 ** random.uniform(-SPAN if row.floor == 0 else 0, SPAN))


def usual(name: str, random: Random) -> float:
    """As it is met in practice."""
    return float(quantity(name).at(random.random()))


def _crossed(equation: Equation, values: Mapping[str, float], random: Random) -> dict[str, float] | None:
    """The numbers with one of them moved to where two terms are equal, or 1e-12 beside it."""
    wins = [pair for regime in regimes_of(equation) for pair in regime.wins]
    if not wins:
        return None
    pair = random.choice(wins)
    moved = random.choice(sorted(names(pair[0]) | names(pair[1])))
    places = [_as_float(at(root, values)) for _, roots in turning_points(pair, moved) for root in roots or ()]
    places = [place * (1 + random.choice(BESIDE)) for place in places]
    places = [place for place in places if place and _may_be(moved, place)]
    return {**values, moved: random.choice(places)} if places else None


def _may_be(name: str, value: float) -> bool:
    row = quantity(name)
    return isfinite(value) and (value > 0 or (value == 0 and row.may_be_zero)) and row.floor <= value <= row.ceiling


def _as_float(number: Any) -> float:
    return float(number) if abs(number) < 1e300 else inf


def at(tree: Tree, values: Mapping[str, Any]) -> Any:
    """A tree in 120 digits; NaN off its domain."""
    try:
        number = value_of(tree, {name: DIGITS.mpf(values[name]) for name in names(tree)}, OPERATIONS)
    except (ArithmeticError, ValueError, TypeError):
        return NOWHERE
    return NOWHERE if isinstance(number, DIGITS.mpc) else DIGITS.mpf(number)


def pulls(tree: Tree, values: Mapping[str, Any]) -> dict[str, Any]:
    """By how much a tree moves with a share of each of its quantities, in 120 digits; nothing off its domain."""
    exact = {name: DIGITS.mpf(values[name]) for name in names(tree)}
    try:
        _, found = slopes(tree, exact, OPERATIONS)
    except (ArithmeticError, ValueError, TypeError):
        return {}
    return {name: abs(exact[name] * slope) for name, slope in found.items() if not isinstance(slope, DIGITS.mpc)}


def roots(case: Case) -> list[Root]:
    """The roots in force, one of each regime and closed form; where there is none to be had, the one beside the value drawn."""
    found = []
    for branch in branches(case.equation, case.unknown):
        for value in () if branch.absent else _values(case, branch):
            values = {**case.given, case.unknown: value}
            if _may_be(case.unknown, _as_float(value)) and all(at(a, values) >= at(b, values) for a, b in branch.regime.wins):
                found.append(Root(value, _allowed(branch.difference, case.unknown, values)))
    return [one for one in found if _is_met(case, float(one.value))]


def _is_met(case: Case, value: float) -> bool:
    """Whether a value of the unknown meets what is required."""
    return not case.equation.violated({**case.given, case.unknown: value})


def _is_well_inside(case: Case, root: float) -> bool:
    """Whether what is next to a root meets what is required too, and it is no rounding away from the end of a search."""
    met = all(_is_met(case, root * (1 + CLOSE * step)) for step in (-1, 1))
    return met and (_all_closed(case) or quantity(case.unknown).ceiling * (1 - LAST) > root)


def _is_held(case: Case, root: Root) -> bool:
    """Whether the equation holds at the number of floating point next to a root, but for digits that say nothing."""
    asked, made = _put_back(case, float(root.value))
    pulled = pulls(case.equation.trees[1], {**case.given, case.unknown: root.value})
    others = sum(pull for name, pull in pulled.items() if name != case.unknown)
    return bool(abs(asked - made) <= HOPELESS * max(abs(asked), others))


def _put_back(case: Case, value: float) -> tuple[Any, Any]:
    """Both sides in 120 digits."""
    left, right = (at(side, {**case.given, case.unknown: value}) for side in case.equation.trees)
    return left, right


def _is_beyond_the_search(case: Case, root: Root) -> bool:
    """Whether a root that has no closed form is further out than where roots are looked for."""
    low, high = search_interval(case.unknown)
    return not _all_closed(case) and not low <= root.value <= high


def _all_closed(case: Case) -> bool:
    """Whether the roots that are known are all there are."""
    return all(branch.roots is not None for branch in branches(case.equation, case.unknown))


def _values(case: Case, branch: Branch) -> list[Any]:
    if branch.roots is not None:
        return [at(root, case.given) for root in branch.roots]
    value = DIGITS.mpf(case.drawn)
    for _ in range(100):
        values = {**case.given, case.unknown: value}
        height, slope = at(branch.difference, values), _slope(branch.difference, case.unknown, values)
        if not slope or not DIGITS.isfinite(height / slope):
            return []
        value -= height / slope
        if abs(height / slope) <= abs(value) * DIGITS.mpf(10) ** -60:
            return [value]
    return []


def _slope(tree: Tree, name: str, values: Mapping[str, Any]) -> Any:
    try:
        return slopes(tree, {one: DIGITS.mpf(values[one]) for one in names(tree)}, OPERATIONS, frozenset([name]))[1][name]
    except (ArithmeticError, ValueError, TypeError):
        return 0


def _allowed(difference: Tree, unknown: str, values: Mapping[str, Any]) -> Any:
    """How far off the root an answer may be: by its condition, of itself."""
    pulled = pulls(difference, values)
    own = pulled.pop(unknown, 0)
    return abs(values[unknown]) * CLOSE * max(1, sum(pulled.values()) / own) if own else DIGITS.inf


def verdict(case: Case) -> str:
    """How a question ended: "right", or what is wrong with its answers."""
    begun = process_time()
    try:
        answers, reason = solve_equation(case.equation, case.unknown, case.given)
    except Exception as fault:  # a crash is what is looked for
        return f"crashed: {type(fault).__name__}: {fault}"
    if process_time() - begun > SLOW:
        return f"slow: {process_time() - begun:.1f} s"
    truth = roots(case)
    demanded = [root for root in truth if _is_well_inside(case, float(root.value)) and _is_held(case, root)]
    telling = [root for root in demanded if root.allowed <= HOPELESS * root.value]
    missing = [root for root in telling if not any(_matches(one, root) for one in answers)]
    if missing and all(_is_beyond_the_search(case, root) for root in missing) and (reason is None or LOOKED_FOR in reason.message):
        return "right, beyond where it is looked for"
    if missing:
        said = reason.message if reason else [(one.regime, one.value or (one.low, one.high)) for one in answers]
        return f"missing: {[float(root.value) for root in missing]}: {said}"
    for one in answers:
        if fault := _fault(case, one, truth):
            return f"wrong: {one.value or (one.low, one.high)} where {one.regime}: {fault}"
    points = [one for one in answers if one.kind == "point"]
    if _all_closed(case) and len(points) > max(1, len(truth)):
        return f"twice: {[one.point for one in points]}"
    return "right" if telling else "right, digits that say nothing" if demanded else "right, no root" if not answers else "right, put back"


def _matches(answer: Answer, root: Root) -> bool:
    if answer.kind == "interval":
        # Its ends are off by their own condition: where another term takes over may be known less well than the root.
        room = CLOSE * max(1.0, sum(map(abs, answer.elasticities.values())))
        low, high = answer.least * (1 - room), inf if answer.high is None else answer.high * (1 + room)
        return bool(low - root.allowed <= root.value <= high + root.allowed)
    return bool(abs(answer.point - root.value) <= root.allowed)


def _fault(case: Case, answer: Answer, truth: list[Root]) -> str | None:
    """What is wrong with an answer: it is no root, or does not hold where it is put back."""
    known = [root for root in truth if root.allowed <= HOPELESS * root.value]
    if answer.kind == "point" and any(_matches(answer, root) for root in known):
        return None
    if answer.kind == "point" and truth and _all_closed(case) and known == truth:
        return f"the roots are {[DIGITS.nstr(root.value, 20) for root in truth]}"
    asked, made = _put_back(case, value_inside(answer))
    pulled = pulls(case.equation.trees[1], {**case.given, case.unknown: value_inside(answer)})
    # Where rounding leaves no root, an answer holds to a billionth.
    room = (CLOSE if truth else HOLDS) * max(abs(asked), abs(made), sum(pulled.values()))
    return (
        None
        if abs(asked - made) <= room
        else f"put back, the sides are {DIGITS.nstr(asked, 20)} and {DIGITS.nstr(made, 20)}, room {DIGITS.nstr(room, 3)}"
    )


def campaign(kinds: tuple[str, ...], count: int, seed: int) -> Counter[str]:
    """So many questions, every quantity of every equation in turn, by how they ended."""
    random = Random(seed)
    found: Counter[str] = Counter()
    while found.total() < count:
        before = found.total()
        for equation, unknown in random.sample(PAIRS, len(PAIRS)):
            for case in cases(equation, unknown, kinds, random) if found.total() < count else ():
                end = verdict(case)
                found[f"{case.kind} {end.partition(':')[0]}"] += 1
                if not end.startswith("right"):
                    print(f"{case.equation.id} {case.unknown} ({case.kind}): {end}; {dict(case.given)}, {case.drawn!r}", flush=True)
        assert found.total() > before, "no question of this kind can be asked"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    asked = parser.parse_args()
    found = campaign(tuple(asked.kinds), asked.count, asked.seed)
    print({"seed": asked.seed, "count": found.total(), **dict(sorted(found.items()))})
    sys.exit(any("right" not in end for end in found))


if __name__ == "__main__":
    main()
