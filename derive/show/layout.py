"""Lay out text for a terminal: lines broken to a width, labels, names and cells in columns. Cells are exported to CSV.

The continuation of a broken line is indented to where the text of the line begins. No spreadsheet runs an exported cell as a formula.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from derive.tables.writing import begins_as_formula, line_text

_NARROWEST = 20
LEAST_FOR_NAMES = 24
"""Smallest width of the column of names [columns]."""
_LABEL = r"Not included | *\S+(?: \S+)? {2,}"
"""A label of a word or two, and the gap after it. The longest label has a gap of one space."""
WORD = re.compile(r"(?:[a-z][a-z_]* (?:= (?=[\d$])|(?=[+-]\d)))?(?:[+-]?\d[^\s,;]* (?=\S))?\S+\s*")
"""A word with the space after it. A number stays together with its unit and with the name before it."""
_SHELL_WORD = r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\S)+\s*"""
"""A word of a shell command with the space after it, with its quoted parts."""
_PART = r"[^*/+,]+[*/+,]*\s*|[*/+,]+\s*"
"""A term or factor of a formula with its operator."""
_NO_SENTENCE = r"[a-z_(=]|\d+\. "
_COMMAND, _MORE = "backsolve ", " \\"


def fold(text: str, width: int) -> str:
    """Return the text with every line that is too wide broken between words.

    A formula that is too wide is broken after its operators. An address is never broken.

    >>> print(fold("Assumed      a pass needs one period, and the next batch has room", 41))
    Assumed      a pass needs one period, and
                 the next batch has room
    """
    return "\n".join(part for line in text.split("\n") for part in _break_line(line, max(width, _NARROWEST)))


def wrap_text(text: str, width: int, start: str = "", hang: int = 0) -> list[str]:
    """Return lines of at most `width` columns, the first one after `start`, the others after `hang` spaces.

    >>> wrap_text("a derivation in words", 12, "1. ", 3)
    ['1. a', '   derivation', '   in words']
    """
    return _lay_out(_chunks(text, width - hang), width, start, hang)


def widest_of(texts: Iterable[str]) -> int:
    """Return the width of the widest text [columns]."""
    return max(map(width_of, texts), default=0)


def name_column(names: Iterable[str], room: int) -> int:
    """Return the width of a column of names. Names that are wider than `room` are not counted."""
    return widest_of(name for name in names if width_of(name) <= max(room, LEAST_FOR_NAMES))


def name_beside(name: str, rest: str, room: int, width: int) -> str:
    """Return a name in a column of width `room` with the rest of its line. A wider name gets its own lines above the rest.

    >>> print(name_beside("b/lm", "0.5/2", 6, 20), name_beside("a/lm-large", "1/4", 6, 20), sep="\\n")
    b/lm  0.5/2
    a/lm-large
          1/4
    """
    if width_of(name) <= room:
        return f"{padded(name, room)}{rest}"
    return "\n".join([*_pieces(name, width), " " * room + rest])


def _pieces(name: str, width: int) -> Iterator[str]:
    """Yield a name in lines of at most `width` columns. It may be one word, so it is broken at any character."""
    piece = ""
    for mark in name:
        if width_of(piece + mark) > width:
            yield piece
            piece = ""
        piece += mark
    yield piece


def _lay_out(chunks: Iterable[str], width: int, start: str, hang: int) -> list[str]:
    lines, line, empty = [], start, True
    for chunk in chunks:
        if not empty and width_of(line + chunk.rstrip()) > width:
            lines.append(line.rstrip())
            line = " " * hang
        line += chunk
        empty = False
    return [*lines, line.rstrip()]


def _chunks(text: str, room: int) -> Iterator[str]:
    """Yield words with the space after them. A word that is too wide is split into its terms and factors."""
    for word in WORD.findall(text):
        if width_of(word.rstrip()) > room and "://" not in word:
            yield from re.findall(_PART, word)
        else:
            yield word


def _break_line(line: str, width: int) -> list[str]:
    if width_of(line) <= width:
        return [line]
    if not line.strip("─-"):  # the rule under a heading
        return [line[:width]]
    start, hang = _margins(line, width)
    if not line.startswith(_COMMAND, start):
        return wrap_text(line[start:], width, line[:start], hang)
    # A command runs as it is copied.
    *parts, last = _lay_out(re.findall(_SHELL_WORD, line[start:]), width - len(_MORE), line[:start], hang)
    return [*(part + _MORE for part in parts), last]


def _margins(line: str, width: int) -> tuple[int, int]:
    """Return the column at which the text of a line begins, and the column at which its continuation begins.

    Both are the same for a text. The continuation of a formula is indented a little more.
    """
    end = 0
    while (label := re.match(_LABEL, line[end:])) and end + label.end() <= width // 2:
        end += label.end()
    if end:
        return end, end
    indent = len(line) - len(line.lstrip())
    further = 4 if indent < 12 and re.match(_NO_SENTENCE, line[indent:]) else 0
    return indent, min(indent + further, width // 2)


def width_of(text: str) -> int:
    """Return the width of a text in columns of a terminal: 2 for a wide letter, 0 for a mark over a letter."""
    if text.isascii():
        return len(text)
    drawn = (mark for mark in text if unicodedata.category(mark) not in ("Mn", "Me"))
    return sum(1 + (unicodedata.east_asian_width(mark) in ("W", "F")) for mark in drawn)


def padded(text: str, width: int) -> str:
    """Return the text with spaces after it up to this many columns."""
    return text + " " * (width - width_of(text))


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
    told = "".join(mark if mark.isprintable() or mark in _LAID_OUT else repr(mark)[1:-1] for mark in value)
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
