"""The table of formulas made by SymPy: `python -m derive.make_formulas` writes it anew, in a minute or two.

A line for every equation of the catalogue, and one for every way in which neutral defaults can be put into it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from derive.catalogue import by_id, equation
from derive.expressions.branches import as_stated, comparisons
from derive.expressions.regimes import as_tree, regimes, trees_of_roots, turning_points
from derive.formulas import PATH, Formulas, key
from derive.quantities import symbol
from derive.quantities.formula import as_expression
from derive.records import Equation, in_place, key_of_claim, solution_by_sympy
from derive.solving.defaults import put_in_ways, taken_along, with_defaults
from derive.trees import Tree, names, text
from derive.written import Written, as_written

_HEAD = "\t".join(("key", *Formulas._fields))


def table_lines() -> Iterator[str]:
    """The lines of the table, those of an equation one after another."""
    with ProcessPoolExecutor() as pool:
        for made in pool.map(lines_of, by_id(), chunksize=4):
            yield from made


def lines_of(id: str) -> list[str]:
    """The lines of one equation."""
    claim = getattr(equation(id).relation, "claim", None)
    return [*([line_of_claim(*claim)] if claim else []), *(line(id, dict(way)) for way in ways(id))]


def line_of_claim(claim: Callable[..., tuple[Any, Any]], names: tuple[str, ...]) -> str:
    """A claim solved for the first of these names, of which the right side alone is needed."""
    right = solution_by_sympy(claim, names)(*map(Written, names[1:]))
    return "\t".join((key_of_claim(claim, names[0]), "", "", "", json.dumps(as_written(right), separators=(",", ":")), "[]", "{}", "{}"))


def ways(id: str) -> Iterator[tuple[tuple[str, int | str], ...]]:
    """Every way in which defaults can be put into an equation: each of those that it speaks of at one of its values, or not."""
    choices = put_in_ways()
    spoken = [[None, *((name, value) for value in choices[name])] for name in equation(id).symbols[1:] if name in choices]
    return (tuple(sorted(filter(None, way))) for way in product(*spoken))


def line(id: str, put_in: Mapping[str, int | str]) -> str:
    """What SymPy makes of an equation into which these defaults are put."""
    row = with_defaults(equation(id), tuple(sorted(put_in.items())))
    smooth = regimes(row.sides[1])
    wins = [tuple((as_tree(larger), as_tree(smaller)) for larger, smaller in one.wins) for one in smooth]
    pairs = dict.fromkeys((*(pair for one in wins for pair in one), *((a, b) for _, a, b in comparisons(row))))
    gone = taken_along(equation(id), in_place(equation(id).relation, put_in), put_in) if put_in else ()
    bodies = (
        as_tree(row.sides[1]),
        [[as_tree(one.expression), won] for one, won in zip(smooth, wins, strict=True)],
        {name: _roots(row, name) for name in row.symbols},
        {name: found for name in row.symbols if (found := [[*pair, _turns(pair, name)] for pair in pairs if _has(pair, name)])},
    )
    plain = (key(id, row.put_in), as_stated(row), row.latex, " ".join(gone))
    return "\t".join((*plain, *(json.dumps(body, separators=(",", ":")) for body in bodies)))


def _roots(row: Equation, name: str) -> list[tuple[Tree, ...] | None]:
    """The closed forms of a quantity, regime by regime; none in one that does not speak of it."""
    x, (left, right) = symbol(name), row.sides
    found: list[tuple[Tree, ...] | None] = []
    for one in regimes(right):
        if left == x and not one.expression.has(x):
            found.append((as_tree(one.expression),))
        else:
            whole = left - one.expression
            found.append(trees_of_roots(whole, x) if whole.has(x) else ())
    return found


def _turns(pair: tuple[Tree, Tree], name: str) -> object:
    larger, smaller = (as_expression(text(side)) for side in pair)
    return turning_points(larger - smaller, symbol(name))


def _has(pair: tuple[Tree, Tree], name: str) -> bool:
    return name in names(pair[0]) | names(pair[1])


if __name__ == "__main__":
    # No line that stands may have a part in the new ones.
    table = Path(PATH)
    table.unlink(missing_ok=True)
    table.write_text("".join(f"{one}\n" for one in (_HEAD, *table_lines())), encoding="utf-8")
