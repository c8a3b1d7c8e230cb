"""Divide a report for a page: sections below headings, and in them tables, paragraphs and lists."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from invert.report.layout import Heading, Table


class Section(NamedTuple):
    """The id of a section for links to it, its heading, and the parts of the report below it."""

    anchor: str
    heading: str
    parts: list[str]


def sections_of(parts: Sequence[str]) -> list[Section]:
    """Return a report in sections, without the parts before the first heading.

    >>> from invert.report.layout import title
    >>> sections_of(["before", *title("What it says"), "one line"])
    [Section(anchor='part-1', heading='What it says', parts=['one line'])]
    """
    found: list[Section] = []
    for part in parts:
        if isinstance(part, Heading):
            found.append(Section(f"part-{len(found) + 1}", part.text, []))
        elif found:
            found[-1].parts.append(part)
    return found


def blocks_of(parts: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield tables, other lines as paragraphs, and consecutive indented lines as one list, each with its kind.

    >>> [*blocks_of(["said:\\n    this", "    and this"])]
    [('text', ['said:']), ('list', ['    this', '    and this'])]
    """
    pieces = (piece for part in parts for piece in ([part] if isinstance(part, Table) else filter(str.strip, part.split("\n"))))
    kinds = groupby(pieces, lambda piece: "table" if isinstance(piece, Table) else "list" if piece.startswith(" ") else "text")
    return ((kind, [*found]) for kind, found in kinds)
