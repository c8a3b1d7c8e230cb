"""Compute the data for the script of a page: equations as trees with their closed forms, and all quantities.

The build of the site computes the closed forms. All numbers come from the registry, the examples and the tables.
"""

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from derive.answers import COUNTED
from derive.catalogue import equation
from derive.expressions.branches import branches, regimes_of, turning_points
from derive.expressions.digits import loses_digits
from derive.quantities import QUANTITIES
from derive.quantities.defaults import DEFAULTS
from derive.quantities.formula import tree_in_latex
from derive.records import Equation, tree_of_function
from derive.show.chart import Chart
from derive.show.mathml import PRODUCT_SIGN, symbol_in_mathml, tree_in_mathml
from derive.show.plot import sweep_charts
from derive.show.words import plain_regime
from derive.solving.api import solve
from derive.trees import Roots, Tree, TreePair, difference, names, text
from derive.units import is_of_one_element, parse, people_units, show

Json = dict[str, Any]

NEUTRAL = {row.quantity: row.value for row in DEFAULTS if row.value is not None and not row.beside}
"""Defaults that do not depend on the other givens, for quantities that a page does not ask for."""

RATES = ("mfu", "mbu")
"""The shares of its peaks that a step sustains. They are 1 until a reader selects sustained rates."""


def page_data(id: str) -> Json:
    """Return the data for the form on the page of an equation. Raise UnknownName for an unknown id."""
    row = equation(id)
    return {"equation": solvable(row), "start": start_values(row)}


def start_values(row: Equation) -> dict[str, float]:
    """Return the values [SI] that a page opens with: defaults, and the worked example, at ideal rates if the equation applies there."""
    neutral = {name: value for name, value in NEUTRAL.items() if name in row.symbols}
    worked = neutral | {name: parse(name, typed) for name, typed in row.example.items()}
    ideal = worked | {name: 1.0 for name in RATES if name in row.symbols}
    return ideal if row.applies(ideal) else worked


def chart_over(row: Equation, name: str) -> Chart:
    """Return the answers of an equation over one of its quantities, around the value that its page opens with."""
    start = start_values(row)
    places = f"{show(name, start[name] / 16)}..{show(name, 2.5 * start[name])}:lin:40"
    given = {one: value for one, value in start.items() if one != row.symbols[0]}
    return sweep_charts([("", [solve(row.symbols[0], using=[row.id], given=given | {name: places})])])[0]


def solvable(row: Equation) -> Json:
    """Return an equation as the engine solves it: its regimes, and the closed forms and turning points for each of its quantities.

    >>> data = solvable(equation("roofline.memory_time"))
    >>> data["right"], [(form["tree"], form["text"], form["latex"]) for form in data["roots"]["weight_time"][0]]
    (('+', 'kv_time', 'weight_time'), [(('+', ('-', 'kv_time'), 'memory_time'), '-kv_time + memory_time', '@memory_time@ - @kv_time@')])
    """
    left, right = row.trees
    return {
        "id": row.id,
        "version": row.version,
        "stated": {"latex": row.latex, "text": f"{text(left)} {row.sense} {text(right)}"},
        "sense": row.sense,
        "bound": row.direction,
        "symbols": [*row.symbols],
        "right": right,
        "regimes": [
            {
                "value": regime.expression,
                "wins": [_pair(row, pair) for pair in regime.wins],
                "label": regime.label,
                **({"plain": plain_regime(regime.label)} if regime.label else {}),
                "loses_digits": loses_digits(difference(left, regime.expression)),
            }
            for regime in regimes_of(row)
        ],
        "requires": [_requirement(row, needed) for needed in row.requires if isinstance(tree_of_function(needed.holds), tuple)],
        "roots": {name: [_forms(branch.roots, _printed) for branch in branches(row, name)] for name in row.symbols},
    }


def _requirement(row: Equation, needed: Any) -> Json:
    sign, left, right = tree_of_function(needed.holds)
    return {
        "sign": sign,
        "names": [*needed.names],
        "said": needed.text(),
        "otherwise": needed.otherwise,
        **_pair(row, (left, right)),
    }


def _pair(row: Equation, pair: TreePair) -> Json:
    """Return a larger and a smaller tree, and for each of their quantities the values at which the trees are equal."""
    found = {name: turning_points(pair, name) for name in row.symbols}
    turning = {name: [{"zero": zero, "roots": _forms(roots)} for zero, roots in parts] for name, parts in found.items() if parts}
    return {"larger": pair[0], "smaller": pair[1], "turns": turning}


def _forms(roots: Roots, printed: Callable[[Tree], Json] = lambda _: {}) -> list[Json] | None:
    """Return closed forms as `printed` formats them, or None if there are none."""
    lossy = {True: {"loses_digits": True}, False: {}}
    return None if roots is None else [{"tree": root, **lossy[loses_digits(root)], **printed(root)} for root in roots]


def _printed(tree: Tree) -> Json:
    """Return a closed form as MathML, text and LaTeX. The product sign is *, and the name of a quantity is between @ signs."""
    named = {name: f"@{name}@" for name in names(tree)}
    printed = tree_in_mathml(tree).replace(PRODUCT_SIGN, "*")
    for symbol, name in sorted(((symbol_in_mathml(name), name) for name in named), key=lambda pair: -len(pair[0])):
        printed = printed.replace(symbol, named[name])
    return {"math": printed, "text": text(tree), "latex": tree_in_latex(tree, named, " * ")}


def quantities_data(asked: Iterable[str] = QUANTITIES) -> dict[str, Json]:
    """Return quantities by name, with their common units and their allowed values.

    >>> quantities_data()["mfu"]["domain"]
    'in (0, 1]'
    """
    return {name: _quantity(name) for name in asked}


def _quantity(name: str) -> Json:
    """Return the data of a quantity, without keys for false flags, infinite limits and a missing default."""
    row = QUANTITIES[name]
    least, most = row.limits()
    *larger, smallest = people_units(name)
    some = {
        "zero": row.may_be_zero,
        "floor": row.floor if isfinite(row.floor) else None,
        "signed": row.floor < 0,
        "ceiling": row.ceiling if isfinite(row.ceiling) else None,
        "whole": name in COUNTED,
        "type": is_of_one_element(name),
    }
    return {
        "math": symbol_in_mathml(name),
        "latex": row.latex,
        "unit": row.unit,
        "units": [*([start, size, called] for start, size, called in larger if size <= most), [*smallest]],
        "domain": row.domain,
        "low": row.low,
        "high": row.high,
        "least": least,
        "most": most,
        **{key: value for key, value in some.items() if value},
        **({"default": NEUTRAL[name]} if name in NEUTRAL else {}),
    }
