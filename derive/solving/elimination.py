"""Several equations brought to one in a single unknown: the others are put in or solved for, and drop out."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from derive.expressions.branches import regimes_of, sides_of
from derive.expressions.cases import smooth_cases
from derive.expressions.closed_roots import single_root
from derive.expressions.one_line import are_same, is_positive, put_for, put_over_one_line, simplified, terms_by_sign
from derive.expressions.polynomials import TooManyTerms
from derive.immutable import immutable
from derive.records import Equation
from derive.solving.blocks import Joint
from derive.solving.matching import Structure
from derive.trees import RATIO, Tree, TreePair, all_parts, difference, names, put_into, text

_Pairs = tuple[TreePair, ...]

_MOST_CASES, _MOST_CASES_LOOSE = 8, 4
"""Into how many regimes a block may be cut, and one in which something must cancel: with more it takes long, mostly in vain."""

_MOST_PARTS = 10_000
"""How many parts the formulas of a block may have in all steps of its elimination: no question that has an answer was seen to need
6,000, and one of a million takes minutes and a gigabyte.
"""

_TRIED = 9
"""At how many numbers what cancels is tried, where others are off the domain of a formula."""


@immutable(kw_only=False)
class _Case:
    """What is put into a block: quantities eliminated, one after another, and the regimes its equations were cut to.

    `cuts` are pairs of a larger and a smaller term as the catalogue writes them, `wins` the same with what is eliminated.
    """

    eliminated: tuple[tuple[str, Tree], ...] = ()
    cuts: _Pairs = ()
    wins: _Pairs = ()

    def put_in(self, sides: TreePair) -> TreePair | None:
        """Both sides with everything put in; None where that divides by nothing."""
        left, right = sides
        for name, value in self.eliminated:
            left, right = put_into(left, {name: value}), put_into(right, {name: value})
        try:
            return put_over_one_line(left), put_over_one_line(right)
        except ZeroDivisionError:
            return None

    def _is_put_in(self, pair: TreePair, found: TreePair) -> bool:
        """Whether a pair comes to another with everything put in."""
        made = self.put_in(pair)
        return made is not None and all(map(are_same, made, found))

    def put_in_all(self, pairs: _Pairs) -> _Pairs | None:
        """The same for several pairs; None where one of them has none."""
        found = [sides for pair in pairs if (sides := self.put_in(pair)) is not None]
        return tuple(found) if len(found) == len(pairs) else None

    def without(self, name: str, value: Tree) -> "_Case | None":
        """The same with one more quantity eliminated; None where a regime is then not defined."""
        wins = _Case(((name, value),)).put_in_all(self.wins)
        return None if wins is None else _Case((*self.eliminated, (name, value)), self.cuts, wins)

    def cut(self, wins: _Pairs, terms: _Pairs) -> "_Case":
        """The same in a regime; of two terms that are positive the ratio is held against 1, as more cancels in it."""
        written = tuple(next((pair for pair in terms if self._is_put_in(pair, won)), won) for won in wins)
        positive = (is_positive(larger) and is_positive(smaller) for larger, smaller in written)
        held = ((simplified((RATIO, *won)), 1) if ratio else won for won, ratio in zip(wins, positive, strict=True))
        return _Case(self.eliminated, (*self.cuts, *written), (*self.wins, *held))


@lru_cache(maxsize=512)
def joint(structure: Structure, unknown: str) -> tuple[Joint, ...]:
    """The equations of a block as one in the unknown: several where it takes cases, none where it does not work out.

    What is left free must cancel; a case in which it does not is open, and where all are there is none.
    """
    try:
        cases = tuple(_without(structure, unknown, *found) for found in _cases(structure, unknown))
    except TooManyTerms:
        return ()
    return cases if any(not case.open and not case.idle for case in cases) else ()


@lru_cache(maxsize=512)
def with_definitions(bound: Equation, rows: tuple[Equation, ...]) -> Joint:
    """An inequality with definitions put in on both its sides, so that it keeps its direction."""
    left, right = sides_of(bound)
    definitions = {row.symbols[0]: sides_of(row)[1] for row in rows}
    for _ in rows:
        left, right = put_into(left, definitions), put_into(right, definitions)
    return Joint(rows=(*rows, bound), sides=_one_sided((simplified(left), simplified(right))), sense=bound.sense)


@lru_cache(maxsize=512)
def that_cancel(structure: Structure, unknown: str) -> frozenset[str]:
    """What is left free and changes nothing, whatever the rest of what is left free is."""
    try:
        cases = _cases(structure, unknown)
    except TooManyTerms:
        return frozenset()
    return frozenset(name for name in structure.free if cases and not any(_turns_on(sides, wins, name) for sides, wins, *_ in cases))


@lru_cache(maxsize=512)
def _cases(structure: Structure, unknown: str) -> tuple[tuple[TreePair, _Pairs, str | None, tuple[str, ...]], ...]:
    """What is left of a block: sides, regimes put in, those in words, and quantities that could not be eliminated."""
    others = frozenset(name for name in structure.names if name != unknown)
    if not _few_enough(structure.rows, _MOST_CASES_LOOSE if structure.free else _MOST_CASES):
        return ()
    written = tuple((put_over_one_line(left), put_over_one_line(right)) for left, right in map(sides_of, structure.rows))
    terms = tuple(pair for row in structure.rows for regime in regimes_of(row) for pair in regime.wins)
    found = []
    for sides, case, stuck in _reduced(written, _Case(), others, unknown, terms, Counter()):
        # A Max of which only one side moves with what is left free is cut too: in that regime it may cancel.
        cut = _smooth(sides) if not all(_cancels(sides, name) for name in structure.free) else ((sides, ()),)
        cases = ((smooth, case.cut(wins, terms)) for smooth, wins in cut)
        found += [(_one_sided(smooth), inner, stuck) for smooth, inner in cases if not _contradicts_itself(inner.cuts)]
    return tuple((sides, case.wins, _in_words(case.cuts), stuck) for sides, case, stuck in found)


def _in_words(wins: _Pairs) -> str | None:
    return " and ".join(dict.fromkeys(f"{text(larger)} >= {text(smaller)}" for larger, smaller in wins)) or None


def _few_enough(rows: tuple[Equation, ...], most: int) -> bool:
    """Whether there are at most so many regimes of all equations together: what is the larger in one is so in the others."""
    found: list[_Pairs] = [()]
    for row in rows:
        ways = [regime.wins for regime in regimes_of(row)]
        found = [(*before, *wins) for before in found for wins in ways if not _contradicts_itself((*before, *wins))]
        if len(found) > most:
            return False
    return True


def _contradicts_itself(cuts: _Pairs) -> bool:
    """Whether of two terms each is taken to be the larger."""
    return any((smaller, larger) in cuts for larger, smaller in cuts)


def _one_sided(pair: TreePair) -> TreePair:
    left, right = pair if pair[0] != 0 else terms_by_sign(pair[1])
    return (left, right) if left == 0 or isinstance(left, str) else (1, simplified((RATIO, right, left)))


def _without(structure: Structure, unknown: str, sides: TreePair, wins: _Pairs, regime: str | None, stuck: tuple[str, ...]) -> Joint:
    """The equation without what is left free, as far as that can be anything."""
    held = _names(sides, *wins)
    turns_on = tuple(name for name in structure.free if name in held and _turns_on(sides, wins, name))
    rest = tuple(name for name in structure.free if name in held and name not in turns_on)
    sides = _without_what_drops_out(_at_any(sides, rest), unknown)
    moves = {name for name in (unknown, *turns_on) if not _cancels(sides, name)}
    decided = tuple(_at_any(pair, rest) for pair in wins if not _names(pair) & {*turns_on, *structure.names} - {unknown})
    return Joint(
        rows=structure.rows,
        sides=sides,
        cancelled=structure.free,
        wins=decided,
        regime=regime,
        open=turns_on,
        idle=bool(stuck) or moves != {unknown},
    )


def _without_what_drops_out(sides: TreePair, name: str) -> TreePair:
    """Both sides as positive terms without a quantity that adds the same to each: what is left says when they hold, with any of it."""
    rest = simplified(difference(*sides))
    if name in names(rest) or not all(name in names(side) for side in sides):
        return sides
    return terms_by_sign(rest)


def _turns_on(sides: TreePair, wins: _Pairs, name: str) -> bool:
    """Whether a quantity moves the answer, or decides whether the regime holds."""
    return not all(_cancels(pair, name) for pair in (sides, *((side, 1) for pair in wins for side in pair)))


def _at_any(sides: TreePair, names: tuple[str, ...]) -> TreePair:
    """Both sides without quantities that cancel: at 1, or where that is off their domain at other numbers."""
    for first in range(1, 1 + _TRIED):
        found = _Case(tuple((name, first + place) for place, name in enumerate(names))).put_in(sides)
        if found is not None:
            return found
    return sides


def _names(*pairs: TreePair) -> set[str]:
    return {name for pair in pairs for side in pair for name in names(side)}


def _cancels(sides: TreePair, name: str) -> bool:
    """Whether left over right stays the same whatever the quantity is, in every regime: over one line it is not there."""
    return all(name not in names(_ratio(smooth)) for smooth, _ in _smooth(sides) if name in _names(smooth))


def _ratio(sides: TreePair) -> Tree:
    left, right = sides
    return right if left == 0 else left if right == 0 else simplified((RATIO, left, right))


def _reduced(
    pairs: _Pairs, case: _Case, others: frozenset[str], unknown: str, terms: _Pairs, work: Counter[str]
) -> Iterator[tuple[TreePair, _Case, tuple[str, ...]]]:
    """What is left once every other unknown is eliminated; a Max is cut into its regimes when nothing else works.

    `terms` are the pairs of which one can win, as the catalogue writes them. The names are those of unknowns that stay:
    where an equation is left that has none of them, it says when the case is possible and no more. Raises TooManyTerms where
    the `work` of all steps is too much.
    """
    work["parts"] += sum(_size(side) for pair in pairs for side in pair)
    if work["parts"] > _MOST_PARTS:
        raise TooManyTerms(f"formulas of {work['parts']} parts in all")
    idle = next((pair for pair in pairs if not _names(pair) & {*others, unknown}), None)
    left = tuple(sorted(others))
    if not others or idle:
        if idle or len(pairs) == 1:
            yield idle or pairs[0], case, left
        return
    if found := next(_solvable(pairs, others), None):
        place, name, value = found
        after, last = case.without(name, value), _Case(((name, value),))
        rest = last.put_in_all(pairs[:place] + pairs[place + 1 :])
        if after and rest is not None:
            yield from _reduced(rest, after, others - {name}, unknown, terms, work)
        return
    cut = next((at for at, pair in enumerate(pairs) if len(_smooth(pair)) > 1), None)
    if cut is None and (told := _told_to_each_other(pairs)) != pairs:
        yield from _reduced(told, case, others, unknown, terms, work)
        return
    if cut is None:
        yield pairs[0], case, left
        return
    for smooth, wins in _smooth(pairs[cut]):
        inner = case.cut(wins, terms)
        if not _contradicts_itself(inner.cuts):
            yield from _reduced((*pairs[:cut], smooth, *pairs[cut + 1 :]), inner, others, unknown, terms, work)


def _told_to_each_other(pairs: _Pairs) -> _Pairs:
    """The pairs with a sum that one of them gives a name put by that name into the others, where it stands whole."""
    for place, (name, total) in enumerate(pairs):
        if isinstance(name, str):
            rest = pairs[:place] + pairs[place + 1 :]
            others = tuple((put_for(total, name, left), put_for(total, name, right)) for left, right in rest)
            if others != rest:
                return (*others[:place], (name, total), *others[place:])
    return pairs


def _smooth(pair: TreePair) -> tuple[tuple[TreePair, _Pairs], ...]:
    """The regimes of a pair, and what has to win in each."""
    left, right = map(smooth_cases, pair)
    return tuple(((low, high), (*lower, *higher)) for low, lower in left for high, higher in right)


def _solvable(pairs: _Pairs, others: frozenset[str]) -> Iterator[tuple[int, str, Tree]]:
    """Where an unknown can be had: definitions first, the shortest of them, then what has one closed form."""
    ordered = sorted(((_size(right), place, left, right) for place, (left, right) in enumerate(pairs)), key=lambda found: found[:2])
    for _, place, left, right in ordered:
        if isinstance(left, str) and left in others and left not in names(right):
            yield place, left, right
    for _, place, left, right in ordered:
        if len(_smooth((left, right))) > 1:
            continue
        for name in sorted(others & _names((left, right))):
            roots = single_root(difference(left, right), name)
            if roots is not None and len(roots) == 1:
                yield place, name, roots[0]


def _size(tree: Tree) -> int:
    return sum(1 for _ in all_parts(tree))
