"""Split a formula with a Max or a Min into its smooth regimes, each with the pairs of terms that select it."""

from collections.abc import Callable, Iterator
from functools import cache

from derive.expressions.one_line import EXTREMES, simplify
from derive.immutable import immutable
from derive.trees import LARGEST_OF, Tree, TreePair, all_parts, put_into, text


@immutable(kw_only=False)
class Regime:
    """A smooth formula, and the (larger, smaller) pairs under which it is the value of the whole."""

    expression: Tree
    wins: tuple[TreePair, ...] = ()

    @property
    def label(self) -> str | None:
        """Return the inequalities in words of the registry, or None if there is a single regime."""
        return " and ".join(dict.fromkeys(f"{text(larger)} >= {text(smaller)}" for larger, smaller in self.wins)) or None


@cache
def smooth_cases(tree: Tree, shaped: Callable[[Tree], Tree] = simplify) -> tuple[Regime, ...]:
    """Return all smooth regimes of a formula.

    `shaped` brings each regime into its final form, by default a single fraction. A Max and a Min of the same terms are decided together.
    So no regime contradicts itself.

    >>> from derive.trees import tree_of
    >>> [(text(one.expression), one.wins) for one in smooth_cases(tree_of("2*Max(batch, chips)"))]
    [('2*batch', (('batch', 'chips'),)), ('2*chips', (('chips', 'batch'),))]
    """
    return tuple(dict.fromkeys(_split(shaped(tree), (), shaped)))


def _split(tree: Tree, wins: tuple[TreePair, ...], shaped: Callable[[Tree], Tree]) -> Iterator[Regime]:
    node = next((part for part in all_parts(tree) if _is_extreme(part) and sum(map(_is_extreme, all_parts(part))) == 1), None)
    if not isinstance(node, tuple):
        yield Regime(tree, wins)
        return
    for chosen in sorted(node[1:], key=text):
        others = [other for other in node[1:] if other != chosen]
        pairs = tuple((chosen, other) if node[0] == LARGEST_OF else (other, chosen) for other in others)
        if not any((smaller, larger) in wins for larger, smaller in pairs):
            yield from _split(shaped(put_into(tree, {node: chosen})), tuple(dict.fromkeys(wins + pairs)), shaped)


def _is_extreme(part: Tree) -> bool:
    return isinstance(part, tuple) and part[0] in EXTREMES
