"""The smooth regimes of a SymPy expression, split without the project's own trees."""

from collections.abc import Iterator
from functools import cache

from sympy import Expr, Max, Min, postorder_traversal

from derive.expressions.sympy_solver import SmoothRegime


@cache
def regimes(expression: Expr) -> tuple[SmoothRegime, ...]:
    """All smooth regimes of an expression. A Max and a Min of the same terms are decided together."""
    return tuple(dict.fromkeys(_split(expression, ())))


def _split(expression: Expr, wins: tuple[tuple[Expr, Expr], ...]) -> Iterator[SmoothRegime]:
    node = next((part for part in postorder_traversal(expression) if isinstance(part, (Max, Min))), None)
    if node is None:
        yield SmoothRegime(expression, wins)
        return
    for chosen in sorted(node.args, key=str):
        others = [other for other in node.args if other is not chosen]
        pairs = tuple((chosen, other) if isinstance(node, Max) else (other, chosen) for other in others)
        if not any((smaller, larger) in wins for larger, smaller in pairs):
            yield from _split(expression.xreplace({node: chosen}), tuple(dict.fromkeys(wins + pairs)))
