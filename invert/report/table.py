"""The table of all sheets for a terminal and for documents, and the report of one sheet for documents.

A row has the estimates of a sheet, and the last line says how often each column was right. Documents are Markdown, LaTeX and HTML.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from derive.show.citation import latex_text, markdown_cell
from derive.show.layout import LEAST_FOR_NAMES, fold, name_beside, name_column, padded, widest_of
from derive.units import show
from invert.records import EXTRAPOLATED
from invert.report.columns import SHORT_KEYS, WIDE_KEYS, Column, column_of, model_in_words, size_of_lecture, sort_sheets
from invert.report.layout import Heading, Table, aligned, laid_out, many

if TYPE_CHECKING:
    from invert.result import Inference, Run

_GAPS = ("  ", " ")
"""Spaces between columns: the usual number, and a smaller one that saves a column in a narrow terminal."""
_GOES_LAST = ("model", "kv_bytes_per_token_from_threshold", "bandwidth_bound_fraction", "kv_bytes_per_token_from_premium", "cache_tier",
              "prices_missed", "active_params", "long_context", "kv_bytes_per_token_typical")  # fmt: skip
"""Columns by importance: in a narrow terminal the last one is left out first. Before that, prices move behind the name of the model."""
_RECORDS, _NAMES = "right where known", ("model", "sheet")


def glance(table: "Run", width: int = 100, columns: Sequence[str] = (), by: str | None = None) -> str:
    """Return a row for each sheet, with as many columns as fit, or with the chosen columns."""
    inferences, chosen = sort_sheets(table.inferences, by), [column_of(name) for name in columns]
    named = _with_sellers(inferences)
    if chosen:
        chosen, gap = [named if column.key == "model" else column for column in dict.fromkeys(chosen)], _GAPS[0]
    else:
        chosen, gap = _fitting(table, inferences, named, width)
    body = _lines(table, inferences, chosen, gap, width)
    if columns and widest_of(body) > width:
        # Cells are broken between words, and the last columns are below each row where that is not enough.
        _, _, *rows = _cells(table, inferences, chosen)
        body = laid_out([aligned([column.heading for column in chosen], rows, len(gap), rule=False)], width).splitlines()
    head = _title(table, min(width, max(widest_of(body), 60)))
    return "\n".join([*head, *body, fold(_legend(table, chosen, not columns), width)])


def _with_sellers(inferences: "Sequence[Inference]") -> Column:
    """Return the column of names. If several providers sell a model, the name contains the provider, except for the maker."""
    sold = {(one.sheet.model, one.sheet.provider, one.is_maker) for one in inferences}
    sellers, makers = Counter(model for model, _, _ in sold), Counter(model for model, _, is_maker in sold if is_maker)

    def text(one: "Inference") -> str:
        alone = sellers[one.sheet.model] == 1 or (one.is_maker and makers[one.sheet.model] == 1)
        return model_in_words(one) if alone else f"{one.sheet.provider}/{model_in_words(one)}"

    return replace(column_of("model"), text=text)


def _fitting(table: "Run", inferences: "Sequence[Inference]", named: Column, width: int) -> tuple[list[Column], str]:
    """Return the columns that fit and the gap between them. A wider terminal shows all that a narrower one does."""
    price = column_of("price")
    both = replace(named, head=("", "model, $/Mtok in/out"), text=lambda one: f"{named.text(one)} {price.text(one)}")
    of_key = {key: named if key == "model" else column_of(key) for key in SHORT_KEYS}
    merged = [both if key == "model" else column for key, column in of_key.items() if key != "price"]
    ways = [(list(of_key.values()), gap) for gap in _GAPS]
    ways += [([column for column in merged if column.key in _GOES_LAST[:count]], _GAPS[1]) for count in range(len(_GOES_LAST), 1, -1)]
    for columns, gap in ways:
        first, *others = zip(*_cells(table, inferences, columns), strict=True)
        if name_column(first, LEAST_FOR_NAMES) + sum(len(gap) + widest_of(cells) for cells in others) <= width:
            return columns, gap
    return ways[-1]


def _cells(table: "Run", inferences: "Sequence[Inference]", columns: Sequence[Column]) -> list[list[str]]:
    """Return the two lines of the head, the cells of each sheet, and the line of records if a column has one."""
    rows = [[column.lines[place] for column in columns] for place in (0, 1)]
    rows += [[column.text(one) for column in columns] for one in inferences]
    return [*rows, *record_rows(table, columns)]


def record_rows(table: "Run", columns: Sequence[Column]) -> list[list[str]]:
    """Return a row with how often each column was right where the truth is known, if a column has a record and another one names it."""
    records = [column.record(table.inferences, table) for column in columns]
    named = [column.key in _NAMES for column in columns]
    row = [_RECORDS if is_name else record for is_name, record in zip(named, records, strict=True)]
    return [row] if any(named) and any(records) else []


def _lines(table: "Run", inferences: "Sequence[Inference]", columns: Sequence[Column], gap: str, width: int) -> list[str]:
    """Return the table as lines. A name that is too long has a line of its own above its row."""
    rows = _cells(table, inferences, columns)
    first, *others = zip(*rows, strict=True)
    widths = [widest_of(column) for column in others]
    rests = ["".join(f"{gap}{padded(cell, at)}" for cell, at in zip(row[1:], widths, strict=True)).rstrip() for row in rows]
    name = name_column(first, width - widest_of(rests)) if columns[0].key in _NAMES else widest_of(first)
    return [name_beside(row[0], rest, name, width).rstrip() for row, rest in zip(rows, rests, strict=True)]


def _title(table: "Run", width: int) -> list[str]:
    """Return the title of the table with its day, and its number of sheets of all."""
    said, day, every = "What API prices imply", f"{table.as_of}", len(table) + len(table.not_picked)
    sheets = many(every, "price sheet")
    flagships = " flagships" * all(one.model and one.model.flagship for one in table)
    counted = sheets if not table.not_picked else f"{len(table)}{flagships} of {sheets}"
    room = width - len(said) - len(day) - 2
    return [f"{said}, {day}{counted:>{room}}" if len(counted) + 2 <= room else f"{said}, {day}\n{counted}"]


def _legend(table: "Run", columns: Iterable[Column], all_wanted: bool) -> str:
    """Return an explanation of the columns, and the names of columns that did not fit."""
    keys = [column.key for column in columns]
    changed = f"What if: {', '.join(f'{place} = {amount}' for place, amount in table.changes.items())}. " if table.changes else ""
    lecture = f"KV from threshold is the lecture's formula at {size_of_lecture(table.assumptions)}. "
    said = changed + lecture * ("kv_bytes_per_token_from_threshold" in keys) + _sizes(table) * ("active_params" in keys)
    if not all_wanted:
        return f"{said}Words: explain WORD."
    gone = [column_of(key).heading for key in SHORT_KEYS if key not in keys and key != "price"]
    wider = f"Left out here: {', '.join(gone)}. " if gone else ""
    return f"{said}{wider}Ranges: infer MODEL. Every sheet: infer --all. Words: explain WORD."


def _sizes(table: "Run") -> str:
    """Count the models whose active parameters do not have the record of their column: extrapolated and stated ones."""
    stated = "given" if "active_params" in table.assumptions.given else "stated"
    kinds = Counter(stated if one.size_stated else "extrapolated" for one in table if one.size_stated or EXTRAPOLATED in one.flags)
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"Active parameters: {said} (--columns model,active_params_range,flags). " if said else ""


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


def document(table: "Run", style: str, columns: Sequence[str] = (), by: str | None = None) -> str:
    """Format the table of all sheets with its date, anchors and warnings, escaped for the format."""
    inferences = sort_sheets(table.inferences, by)
    chosen = list(dict.fromkeys(map(column_of, columns or WIDE_KEYS)))
    flags = column_of("flags")
    chosen += [flags] if flags not in chosen and any(one.flags for one in inferences) else []
    headings = [one.heading for one in chosen]
    rows = [*([one.text(sheet) for one in chosen] for sheet in inferences), *record_rows(table, chosen)]
    said = [*_formatted(aligned(headings, rows), style), "", *_formatted("\n".join(footer(table)), style)]
    return "\n".join([*_PREAMBLE.get(style, ()), *said])


def format_answer(style: str, width: int, parts: Callable[[], Sequence[str]], **records: Callable[[], str]) -> str:
    """Return an answer in a form: as records (json, csv), as text of a width (table), or as a document."""
    if style in records:
        return records[style]()
    return laid_out(parts(), width) if style == "table" else report_document(parts(), style)


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


def footer(table: "Run") -> list[str]:
    """Return the day, the prices that were set by hand, the outside facts, and the command that explains the columns."""
    changes = ", ".join(f"{place} = {amount}" for place, amount in table.changes.items())
    anchors = "; ".join(f"{name} {show(name, value)} ({table.anchors.origin[name]})" for name, value in table.anchors.values.items())
    return [
        f"{many(len(table), 'sheet')}, prices of {table.as_of.isoformat()}.{f' What if: {changes}.' if changes else ''}",
        f"Anchors: {anchors}.",
        "Columns: backsolve infer --explain.",
    ]
