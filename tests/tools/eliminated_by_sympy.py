"""Several equations brought to one in a single unknown by SymPy: what `derive.solving.elimination` is held against."""

from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

from derive.evaluate import evaluate, exact
from derive.expressions.sympy_solver import in_words, regimes, solve_smooth
from derive.quantities import quantity, symbol
from derive.quantities.formula import as_tree
from derive.records import Equation
from derive.solving.blocks import Joint
from derive.solving.matching import Structure
from derive.trees import TreePair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sympy import Expr, Symbol

    Pair = tuple[Expr, Expr]
    Pairs = tuple[Pair, ...]

MOST_CASES, MOST_CASES_LOOSE = 8, 4
"""Into how many regimes a block may be cut, and one in which something must cancel: with more it takes minutes, mostly in vain."""

_DRAWS = 8
"""How often a quantity is changed at random to see whether anything depends on it."""


@dataclass(frozen=True, slots=True)
class _Case:
    """What is put into a block: quantities eliminated, one after another, and the regimes its equations were cut to.

    `cuts` are pairs of a larger and a smaller term as the catalogue writes them, `wins` the same with what is eliminated.
    """

    eliminated: "tuple[tuple[Symbol, Expr], ...]" = ()
    cuts: "Pairs" = ()
    wins: "Pairs" = ()

    def put_in(self, sides: "Pair") -> "Pair | None":
        """Both sides with everything put in; None where that leaves a Max of something that is not a number."""
        try:
            for name, value in self.eliminated:
                sides = sides[0].xreplace({name: value}), sides[1].xreplace({name: value})
        except ValueError:
            return None
        return sides

    def put_in_all(self, pairs: "Pairs") -> "Pairs | None":
        """The same for several pairs; None where one of them has none."""
        found = [sides for pair in pairs if (sides := self.put_in(pair)) is not None]
        return tuple(found) if len(found) == len(pairs) else None

    def without(self, name: "Symbol", value: "Expr") -> "_Case | None":
        """The same with one more quantity eliminated; None where a regime is then not defined."""
        wins = _Case(((name, value),)).put_in_all(self.wins)
        return None if wins is None else _Case((*self.eliminated, (name, value)), self.cuts, wins)

    def cut(self, wins: "Pairs", terms: "Pairs") -> "_Case":
        """The same in a regime; of two terms that are positive the ratio is held against 1, as more cancels in it."""
        from sympy import Integer

        written = tuple(next((pair for pair in terms if self.put_in(pair) == won), won) for won in wins)
        positive = (larger.is_positive and smaller.is_positive for larger, smaller in written)
        held = ((won[0] / won[1], Integer(1)) if ratio else won for won, ratio in zip(wins, positive, strict=True))
        return _Case(self.eliminated, (*self.cuts, *written), (*self.wins, *held))


def eliminated(structure: Structure, unknown: str) -> tuple[Joint, ...]:
    """The equations of a block as one in the unknown: several where it takes cases, none where it does not work out.

    What is left free must cancel; a case in which it does not is open, and where all are there is none.
    """
    cases = tuple(_without(structure, unknown, *found) for found in _cases(structure, unknown))
    return cases if any(not case.open and not case.idle for case in cases) else ()


def definitions_put_in(bound: Equation, rows: tuple[Equation, ...]) -> Joint:
    """An inequality with definitions put in on both its sides, so that it keeps its direction."""
    sides = bound.sides
    definitions = {symbol(row.symbols[0]): row.sides[1] for row in rows}
    for _ in rows:
        sides = sides[0].xreplace(definitions), sides[1].xreplace(definitions)
    left, right = _one_sided(sides)
    return Joint(rows=(*rows, bound), sides=_as_trees((left, _over_one_line(right))), sense=bound.sense)


def free_of_effect(structure: Structure, unknown: str) -> frozenset[str]:
    """What is left free and changes nothing, whatever the rest of what is left free is."""
    cases = _cases(structure, unknown)
    return frozenset(name for name in structure.free if cases and not any(_turns_on(sides, wins, name) for sides, wins, *_ in cases))


@lru_cache(maxsize=512)
def _cases(structure: Structure, unknown: str) -> "tuple[tuple[Pair, Pairs, str | None, tuple[str, ...]], ...]":
    """What is left of a block: sides, regimes put in, those in words, and quantities that could not be eliminated."""
    others = frozenset(symbol(name) for name in structure.names if name != unknown)
    written = tuple(row.sides for row in structure.rows)
    if not _few_enough(written, MOST_CASES_LOOSE if structure.free else MOST_CASES):
        return ()
    terms = tuple(pair for sides in written for _, wins in _smooth(sides) for pair in wins)
    found = []
    for sides, case, stuck in _reduced(written, _Case(), others, symbol(unknown), terms):
        # A Max of which only one side moves with what is left free is cut too: in that regime it may cancel.
        cut = _smooth(sides) if not all(_cancels(sides, name) for name in structure.free) else ((sides, ()),)
        cases = ((smooth, case.cut(wins, terms)) for smooth, wins in cut)
        found += [(_one_sided(smooth), inner, stuck) for smooth, inner in cases if not _contradicts_itself(inner.cuts)]
    return tuple((sides, case.wins, in_words(case.cuts), stuck) for sides, case, stuck in found)


def _few_enough(written: "Pairs", most: int) -> bool:
    """Whether there are at most so many regimes of all equations together: what is the larger in one is so in the others."""
    found: list[Pairs] = [()]
    for sides in written:
        found = [(*before, *wins) for before in found for _, wins in _smooth(sides) if not _contradicts_itself((*before, *wins))]
        if len(found) > most:
            return False
    return True


def _contradicts_itself(cuts: "Pairs") -> bool:
    """Whether of two terms each is taken to be the larger."""
    return any((smaller, larger) in cuts for larger, smaller in cuts)


def _one_sided(pair: "Pair") -> "Pair":
    from sympy import Integer

    left, right = pair
    return pair if left.is_Symbol else (Integer(1), right / left)


def _without(structure: Structure, unknown: str, sides: "Pair", wins: "Pairs", regime: str | None, stuck: tuple[str, ...]) -> Joint:
    """The equation without what is left free, as far as that can be anything."""
    names = _names(*sides, *(side for pair in wins for side in pair))
    turns_on = tuple(name for name in structure.free if name in names and _turns_on(sides, wins, name))
    rest = tuple(name for name in structure.free if name in names and name not in turns_on)
    left, right = _without_what_drops_out(_at_any(sides, rest), unknown)
    moves = {name for name in (unknown, *turns_on) if not _cancels((left, right), name)}
    decided = tuple(_at_any(pair, rest) for pair in wins if not _names(*pair) & {*turns_on, *structure.names} - {unknown})
    idle = bool(stuck) or moves != {unknown}
    return Joint(
        rows=structure.rows,
        sides=_as_trees((left, right if idle else _over_one_line(right))),
        cancelled=structure.free,
        wins=tuple(map(_as_trees, decided)),
        regime=regime,
        open=turns_on,
        idle=idle,
    )


def _as_trees(pair: "Pair") -> TreePair:
    return as_tree(pair[0]), as_tree(pair[1])


def _without_what_drops_out(sides: "Pair", name: str) -> "Pair":
    """Both sides as positive terms without a quantity that adds the same to each: what is left says when they hold, with any of it."""
    from sympy import Add, Max, Min, diff, expand

    (left, right), x = sides, symbol(name)
    if not (left.has(x) and right.has(x)) or any(part.has(x) for part in right.atoms(Max, Min)) or expand(diff(left - right, x)) != 0:
        return sides
    terms = Add.make_args(expand((left - right).subs(x, 1)))
    above = Add(*(term for term in terms if not term.could_extract_minus_sign()))
    return above, above - Add(*terms)


def _turns_on(sides: "Pair", wins: "Pairs", name: str) -> bool:
    """Whether a quantity moves the answer, or decides whether the regime holds."""
    from sympy import Integer

    return not all(_cancels(pair, name) for pair in (sides, *((side, Integer(1)) for pair in wins for side in pair)))


def _at_any(sides: "Pair", names: tuple[str, ...]) -> "Pair":
    """Both sides without quantities that cancel: at 1, or where that is off their domain at other numbers."""
    from sympy import Integer, nan, zoo

    for first, step in ((1, 0), *((number, 1) for number in range(2, 2 + _DRAWS))):
        chosen = _Case(tuple((symbol(name), Integer(first + step * place)) for place, name in enumerate(names)))
        found = chosen.put_in(sides)
        if found is not None and not any(side.has(nan, zoo) for side in found):
            return found
    return sides


def _names(*expressions: "Expr") -> set[str]:
    return {part.name for expression in expressions for part in expression.free_symbols}


def _over_one_line(expression: "Expr") -> "Expr":
    """A smooth expression as one fraction, common factors cancelled; one with a Max stays as it is.

    A power that a quantity is the exponent of stays whole: (n - k)**B over n**B is beyond all numbers where (1 - k/n)**B is none.
    """
    from sympy import Dummy, Max, Min, Pow, cancel, factor_terms, fraction

    if expression.has(Max, Min):
        return expression
    whole = {power: Dummy(positive=True) for power in expression.atoms(Pow) if not power.exp.is_number and power.base.is_Add}
    numerator, denominator = fraction(cancel(expression.xreplace(whole)))
    back = {kept: power for power, kept in whole.items()}
    return (factor_terms(numerator) / factor_terms(denominator)).xreplace(back)


def _cancels(sides: "Pair", name: str) -> bool:
    """Whether left over right stays the same whatever the quantity is, in every regime, at random values of the others."""
    return all(_same_ratio(*smooth, name) for smooth, _ in _smooth(sides) if name in _names(*smooth))


def _same_ratio(left: "Expr", right: "Expr", name: str) -> bool:
    """The same of smooth sides, in exact fractions where that can be, so that no digits are lost where terms cancel."""
    from sympy import Pow

    ratio, others = left / right, sorted(_names(left, right))
    worked_out: Callable[..., Any] = exact if all(power.exp.is_Integer for power in ratio.atoms(Pow)) else evaluate
    random = Random(0)
    for _ in range(_DRAWS):
        values = {other: _drawn(random, other) for other in others}
        ratios = [worked_out(as_tree(ratio), {**values, name: _drawn(random, name)}) for _ in range(2)]
        if not abs(ratios[0] - ratios[1]) <= 1e-9 * abs(ratios[0]):
            return False
    return True


def _drawn(random: Random, name: str) -> float:
    return float(f"{quantity(name).at(random.random()):.3g}")


def _reduced(
    pairs: "Pairs", case: _Case, others: "frozenset[Symbol]", unknown: "Symbol", terms: "Pairs"
) -> "Iterator[tuple[Pair, _Case, tuple[str, ...]]]":
    """What is left once every other unknown is eliminated; a Max is cut into its regimes when nothing else works.

    `terms` are the pairs of which one can win, as the catalogue writes them. The names are those of unknowns that stay:
    where an equation is left that has none of them, it says when the case is possible and no more.
    """
    idle = next((pair for pair in pairs if not _names(*pair) & {name.name for name in (*others, unknown)}), None)
    left = tuple(sorted(name.name for name in others))
    if not others or idle:
        if idle or len(pairs) == 1:
            yield idle or pairs[0], case, left
        return
    if found := next(_solvable(pairs, others), None):
        place, name, value = found
        after, last = case.without(name, value), _Case(((name, value),))
        rest = last.put_in_all(pairs[:place] + pairs[place + 1 :])
        if after and rest is not None:
            yield from _reduced(rest, after, others - {name}, unknown, terms)
        return
    cut = next((at for at, pair in enumerate(pairs) if len(_smooth(pair)) > 1), None)
    if cut is None and (told := _told_to_each_other(pairs)) != pairs:
        yield from _reduced(told, case, others, unknown, terms)
        return
    if cut is None:
        yield pairs[0], case, left
        return
    for smooth, wins in _smooth(pairs[cut]):
        inner = case.cut(wins, terms)
        if not _contradicts_itself(inner.cuts):
            yield from _reduced((*pairs[:cut], smooth, *pairs[cut + 1 :]), inner, others, unknown, terms)


def _told_to_each_other(pairs: "Pairs") -> "Pairs":
    """The pairs with a sum that one of them gives a name put by that name into the others, where it stands whole."""
    for place, (name, total) in enumerate(pairs):
        if name.is_Symbol and total.is_Add:
            others = tuple((left.subs(total, name), right.subs(total, name)) for left, right in pairs[:place] + pairs[place + 1 :])
            if others != pairs[:place] + pairs[place + 1 :]:
                return (*others[:place], (name, total), *others[place:])
    return pairs


def _smooth(pair: "Pair") -> "tuple[tuple[Pair, Pairs], ...]":
    """The regimes of a pair, and what has to win in each."""
    left, right = pair
    return tuple(((low.expression, high.expression), (*low.wins, *high.wins)) for low in regimes(left) for high in regimes(right))


def _solvable(pairs: "Pairs", others: "frozenset[Symbol]") -> "Iterator[tuple[int, Symbol, Expr]]":
    """Where an unknown can be had: definitions first, the shortest of them, then what has one closed form."""
    explicit = [
        (right.count_ops(), place, left, right)
        for place, (left, right) in enumerate(pairs)
        if left in others and left not in right.free_symbols
    ]
    for _, place, left, right in sorted(explicit, key=lambda found: found[:2]):
        yield place, left, right
    for place, pair in sorted(enumerate(pairs), key=lambda found: found[1][1].count_ops()):
        if len(_smooth(pair)) > 1:
            continue
        left, right = pair
        for name in sorted(others & (left.free_symbols | right.free_symbols), key=str):
            roots = solve_smooth(left - right, name)
            if roots is not None and len(roots) == 1:
                yield place, name, roots[0]
