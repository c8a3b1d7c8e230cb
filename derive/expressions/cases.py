"""Split a formula with a Max or a Min into its smooth regimes, each with the pairs of terms that select it."""

from collections.abc import Callable, Iterator
from functools import cache

from derive.expressions.one_line import EXTREMES, simplify
from derive.trees import LARGEST_OF, Tree, TreePair, all_parts, put_into, text

_Smoothed = tuple[Tree, tuple[TreePair, ...]]


@cache
def smooth_cases(tree: Tree, shaped: Callable[[Tree], Tree] = simplify) -> tuple[_Smoothed, ...]:
    """Return all smooth regimes of a formula, each with the pairs of a larger and a smaller term that select it.

    `shaped` brings each regime into its final form, by default a single fraction. A Max and a Min of the same terms are decided together.
    So no regime contradicts itself.

    >>> from derive.trees import tree_of
    >>> [(text(one), wins) for one, wins in smooth_cases(tree_of("2*Max(batch, chips)"))]
    [('2*batch', (('batch', 'chips'),)), ('2*chips', (('chips', 'batch'),))]
    """
    return tuple(dict.fromkeys(_split(shaped(tree), (), shaped)))


def _split(tree: Tree, wins: tuple[TreePair, ...], shaped: Callable[[Tree], Tree]) -> Iterator[_Smoothed]:
    node = next((part for part in all_parts(tree) if _is_extreme(part) and sum(map(_is_extreme, all_parts(part))) == 1), None)
    if not isinstance(node, tuple):
        yield tree, wins
        return
    for chosen in sorted(node[1:], key=text):
        others = [other for other in node[1:] if other != chosen]
        pairs = tuple((chosen, other) if node[0] == LARGEST_OF else (other, chosen) for other in others)
        if not any((smaller, larger) in wins for larger, smaller in pairs):
            yield from _split(shaped(put_into(tree, {node: chosen})), tuple(dict.fromkeys(wins + pairs)), shaped)


def _is_extreme(part: Tree) -> bool:
    return isinstance(part, tuple) and part[0] in EXTREMES
