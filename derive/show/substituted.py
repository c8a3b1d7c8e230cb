"""Print a step of a route in LaTeX: the equation, its form for the unknown, the numbers put in, and the value with its unit."""

import re
from collections.abc import Iterator, Mapping

from derive.answers import RouteStep
from derive.catalogue import equation
from derive.quantities import QUANTITIES
from derive.quantities.formula import formula_in_latex
from derive.show.citation import latex_text
from derive.units import show

_FIGURE = re.compile(r"(?P<dollar>\$?)(?P<figure>-?[0-9.]+)(?:e(?P<power>[+-][0-9]+))?(?P<count>[kMBT]?)(?P<unit>[ /].*)?")
_POWERS = {"": 0, "k": 3, "M": 6, "B": 9, "T": 12}
"""Powers of ten of the suffixes of counts. A B behind a number would read as bytes."""
_TIMES = r" \cdot "


def value_in_latex(name: str, value: float) -> str:
    r"""Return a value of a quantity as LaTeX, in the unit that people use.

    >>> for name, value in {"hbm_bandwidth": 3.35e12, "active_params": 37e9, "chip_price": 2 / 3600, "step_time": 2e-5}.items():
    ...     print(value_in_latex(name, value))
    3.35\,\text{TB/s}
    37 \cdot 10^{9}
    2\,\text{USD/h}
    20\,\mu\text{s}
    """
    text = show(name, value)
    found = _FIGURE.fullmatch(text)
    if not found:
        return rf"\text{{{latex_text(text)}}}"
    power = int(found["power"] or 0) + _POWERS[found["count"]]
    unit = ("USD" if found["dollar"] else "") + (found["unit"] or "").strip()
    micro = r"\mu" if unit.startswith("µ") else ""
    return (
        found["figure"]
        + (rf"{_TIMES}10^{{{power}}}" if power else "")
        + (rf"\,{micro}\text{{{latex_text(unit.lstrip('µ'))}}}" if unit else "")
    )


def substitute_in_latex(formula: str, values: Mapping[str, float], keep: str = "") -> str:
    r"""Return a formula as LaTeX with every known quantity replaced by its value.

    >>> print(substitute_in_latex("total_params/active_params", {"total_params": 671e9, "active_params": 37e9}))
    \frac{671 \cdot 10^{9}}{37 \cdot 10^{9}}
    """
    known = {name: value_in_latex(name, values[name]) for name in QUANTITIES if name in values and name != keep}
    return formula_in_latex(formula, known, _TIMES)


def step_in_latex(step: RouteStep, values: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    r"""Yield the lines of a step in LaTeX. A line that is an equation of the catalogue has its `id@version`, any other "".

    >>> step = RouteStep(equations=("batching.sparsity@1",), unknown="total_params", value=370e9, formula="active_params*sparsity")
    >>> for line in step_in_latex(step, {"active_params": 37e9, "sparsity": 10.0, "total_params": 370e9}):
    ...     print(line)
    ('s = \\frac{N_t}{N_a}', 'batching.sparsity@1')
    ('N_t = N_a \\, s', '')
    ('N_t = 37 \\cdot 10^{9} \\cdot 10 = 370 \\cdot 10^{9}', '')
    """
    rows = [equation(id) for id in step.equations]
    stated = {row.latex: row.reference for row in rows}
    yield from stated.items()
    unknown = QUANTITIES[step.unknown].latex
    value = "" if step.value is None else value_in_latex(step.unknown, step.value)
    if step.formula:
        solved = formula_in_latex(step.formula)
        numbers = substitute_in_latex(step.formula, values, keep="" if value else step.unknown)
        lines = (
            [f"{unknown} = {solved}", f"{unknown} = {numbers}" + ("" if numbers == value else f" = {value}")]
            if value
            else [solved, numbers]
        )
        yield from ((line, "") for line in lines if line not in stated)
    elif value:
        yield f"{unknown} = {value}", ""
