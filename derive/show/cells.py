"""Lay out cells of tables in columns, and export them to CSV so that a spreadsheet does not run them as formulas."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from derive.tables.writing import begins_as_formula, line_text

_LAID_OUT = "\n\t"
"""Unprintable characters that may stay in a cell. A carriage return may not: csv does not quote it, and a reader ends the row there."""


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (), gap: str = "   ") -> list[str]:
    """Return rows of cells as lines with aligned columns. Columns are aligned to the right, and to the left at the places `left`.

    >>> align_columns([["chip", "batch"], ["H100-SXM", "64"]], left=[0])
    ['chip       batch', 'H100-SXM      64']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.ljust if place in left else str.rjust for place in range(len(widths))]
    return [gap.join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip() for row in rows]


def escape_cell(value: object) -> object:
    """Return a cell that is safe in a CSV file. A text that begins like a formula gets a ' before it, and a number stays a number.

    Control characters are written as escapes.

    >>> escape_cell("=1+1"), escape_cell("gemini"), escape_cell(-1.5), escape_cell(True)
    ("'=1+1", 'gemini', -1.5, 'true')
    >>> escape_cell("\\x1b[31mred"), escape_cell("acme/\\r=1")
    ('\\\\x1b[31mred', 'acme/\\\\r=1')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    told = (
        value if value.isprintable() else "".join(mark if mark.isprintable() or mark in _LAID_OUT else repr(mark)[1:-1] for mark in value)
    )
    return f"'{told}" if begins_as_formula(value) else told


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return the rows as CSV under a header, without a line break at the end."""
    lines = ([escape_cell(row[column]) for column in columns] for row in rows)
    return "\n".join(map(line_text, [columns, *lines]))


def label_lines(label: str, items: list[str]) -> list[str]:
    """Return items one below the other, the first behind a label.

    >>> label_lines("Given", ["chips = 8", "batch = 1"])
    ['Given        chips = 8', '             batch = 1']
    """
    return [f"{label if not place else '':<13}{item}" for place, item in enumerate(items)]


def label_line(label: str, items: Iterable[str]) -> list[str]:
    """Return items in one line behind a label, and no line without items."""
    text = ", ".join(items)
    return label_lines(label, [text]) if text else []
