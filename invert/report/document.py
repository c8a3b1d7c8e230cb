"""Inferences for documents, in Markdown, LaTeX and HTML: the table of all sheets, and the report of one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape

from derive.show.citation import latex_text, markdown_cell
from derive.units import show
from invert.report.columns import WIDE_KEYS, column_of, sort_sheets
from invert.report.glance import has_records, record_row
from invert.report.layout import Heading, Table, many
from invert.result import Run

FORMATS = {"markdown": "github", "latex": "latex_booktabs", "html": "html"}
_PREAMBLE = {"latex": (r"% the preamble needs \usepackage{booktabs}",)}
_ESCAPED: dict[str, Callable[[str], str]] = {"markdown": markdown_cell, "latex": latex_text, "html": escape}
_PARAGRAPHS = {"markdown": "{}", "latex": "{}", "html": "<p>{}</p>"}
_ITEMS = {"markdown": "- {}", "latex": r"\quad {}\\", "html": "<p style='margin-left: 2em'>{}</p>"}
"""Style of a line that is indented below another."""
_HEADINGS = {"markdown": ("# {}", "## {}"), "latex": (r"\section*{{{}}}", r"\subsection*{{{}}}"), "html": ("<h1>{}</h1>", "<h2>{}</h2>")}
"""The title of a report, and of a part of it."""
_WIDEST_LINE, _SHORT_CELL = 90, 24
"""Maximum characters of a row on a printed page without wrapped cells, and of a cell that is never wrapped."""


def document(table: Run, style: str, columns: Sequence[str] = (), by: str | None = None) -> str:
    """Format the table of all sheets with its date, anchors and warnings, escaped for the format."""
    inferences = sort_sheets(table.inferences, by)
    chosen = list(dict.fromkeys(map(column_of, columns or WIDE_KEYS)))
    flags = column_of("flags")
    chosen += [flags] if flags not in chosen and any(one.flags for one in inferences) else []
    headings = [one.heading for one in chosen]
    rows = [[one.text(sheet) for one in chosen] for sheet in inferences]
    rows += [record_row(table, chosen)] if has_records(table, chosen) else []
    body = _tabulated(headings, [dict(zip(headings, row, strict=True)) for row in rows], style)
    return "\n".join([*_PREAMBLE.get(style, ()), body, "", *(_PARAGRAPHS[style].format(_ESCAPED[style](line)) for line in footer(table))])


def report_document(parts: Sequence[str], style: str) -> str:
    """Format the parts of a report as headings, tables and paragraphs. The first part is the title.

    >>> print(report_document(["a sheet", "one line", "", "    indented"], "markdown"))
    # a sheet
    <BLANKLINE>
    one line
    <BLANKLINE>
    - indented
    """
    first, *others = parts
    said = [
        *_PREAMBLE.get(style, ()),
        _HEADINGS[style][0].format(_ESCAPED[style](first)),
        *(text for part in others for text in _formatted(part, style)),
    ]
    return "\n\n".join(said)


def _formatted(part: str, style: str) -> Iterator[str]:
    if isinstance(part, Table):
        yield _tabulated(part.columns, part.rows, style)
    elif isinstance(part, Heading):
        yield _HEADINGS[style][1].format(_ESCAPED[style](part.text))
    else:
        for line in filter(str.strip, part.split("\n")):
            yield (_ITEMS if line.startswith(" ") else _PARAGRAPHS)[style].format(_ESCAPED[style](line.strip()))


def _tabulated(columns: Sequence[str], rows: Iterable[Mapping[str, str]], style: str) -> str:
    from tabulate import tabulate

    # Tabulate escapes LaTeX and HTML itself.
    found = [[_ESCAPED[style](row[column]) if style == "markdown" else row[column] for column in columns] for row in rows]
    text = str(tabulate(found, headers=columns, tablefmt=FORMATS[style], disable_numparse=True))
    return text.replace(f"{{{'l' * len(columns)}}}", f"{{{_paper_columns(columns, found)}}}", 1) if style == "latex" else text


def _paper_columns(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the column specification of a LaTeX table. If a row is wider than a page, long cells wrap."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    long = [width for width in widths if width > _SHORT_CELL]
    if sum(widths) <= _WIDEST_LINE or not long:
        return "l" * len(widths)
    room = max(_WIDEST_LINE - (sum(widths) - sum(long)), _SHORT_CELL) / _WIDEST_LINE
    return "".join(f"p{{{room * width / sum(long):.2f}\\linewidth}}" if width > _SHORT_CELL else "l" for width in widths)


def footer(table: Run) -> list[str]:
    """Return the day, the prices that were set by hand, the outside facts, and the command that explains the columns."""
    changes = ", ".join(f"{place} = {amount}" for place, amount in table.changes.items())
    anchors = "; ".join(f"{name} {show(name, value)} ({table.anchors.origin[name]})" for name, value in table.anchors.values.items())
    return [
        f"{many(len(table), 'sheet')}, prices of {table.as_of.isoformat()}.{f' What if: {changes}.' if changes else ''}",
        f"Anchors: {anchors}.",
        "Columns: backsolve infer --explain.",
    ]
