"""How reports are laid out: titles, aligned tables, KV bytes in people's units."""

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from textwrap import fill

from derive.errors import WrongData
from derive.units import show

ESTIMATORS = {
    "dollar_anchored": "increments at rental cost",
    "common_markup": "one mark-up",
    "calibrated": "calibrated on known models",
}
"""What each estimator of KV bytes is called wherever it is printed in full."""

COLUMNS_OF_KV = {"common_markup": "KV one mark-up", "dollar_anchored": "KV at rent", "calibrated": "KV calibrated"}
"""The same over a column."""

NONE = "-"
PARAGRAPH = 120
GAP = 3


def title(text: str) -> list[str]:
    """A heading, underlined, after an empty line."""
    return ["", text, "-" * len(text)]


def or_why(section: Callable[[], list[str]]) -> list[str]:
    """The lines of a section, or which row of the tables it rests on cannot be used."""
    try:
        return section()
    except WrongData as error:
        return [fill(f"left out: {error}", PARAGRAPH)]


def kv(value: float | None) -> str:
    """KV bytes per token in the units people use, or a dash."""
    return NONE if value is None else show("kv_bytes_per_token", value, digits=3).removesuffix("/token")


def aligned(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    """A table in aligned columns; no line is cut and no cell wraps.

    >>> print(aligned(("a", "name"), [{"a": "1", "name": "x"}, {"a": "22", "name": "yy"}]))
    a    name
    ─────────
    1    x
    22   yy
    """
    widths = [max(len(column), *(len(row[column]) for row in rows)) if rows else len(column) for column in columns]

    def line(cells: Iterable[str]) -> str:
        return (" " * GAP).join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    rule = "─" * (sum(widths) + GAP * (len(widths) - 1))
    return "\n".join([line(columns), rule, *(line(row[column] for column in columns) for row in rows)])


def spread(factors: Sequence[float]) -> str:
    """`44 times (9.8 to 127)`: the median and the ends."""
    ends = f" ({min(factors):.3g} to {max(factors):.3g})" if len(factors) > 1 else ""
    return f"{median(factors):.3g} times{ends}"
