"""Inferences for documents: the same table in Markdown, LaTeX and HTML."""

from derive.show.citation import markdown_cell, markdown_text
from invert.report.table import TABLE_COLUMNS, cells, footer
from invert.result import Run

FORMATS = {"markdown": "github", "latex": "latex_booktabs", "html": "html"}


def document(table: Run, style: str) -> str:
    """The table of all sheets with its date, anchors and warnings below, text escaped for the format."""
    from tabulate import tabulate

    rows = [[_cell(cells(one)[column], style) for column in TABLE_COLUMNS] for one in table.inferences]
    body = tabulate(rows, headers=TABLE_COLUMNS, tablefmt=FORMATS[style], disable_numparse=True)
    return "\n".join([body, "", *(_paragraph(line, style) for line in footer(table))])


def _cell(text: str, style: str) -> str:
    """Text of a CSV as it may stand in a cell; LaTeX and HTML are escaped by the table itself."""
    return markdown_cell(text) if style == "markdown" else text


def _paragraph(text: str, style: str) -> str:
    if style == "html":
        from html import escape

        return f"<p>{escape(text)}</p>"
    if style == "markdown":
        return markdown_text(text)
    return text.replace("_", r"\_").replace("%", r"\%") if style == "latex" else text
