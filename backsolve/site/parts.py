"""Turn the parts of a report into parts of a page: sections of tables, paragraphs and lists."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from derive.immutable import immutable
from invert.report.layout import Heading, Table


@immutable
class Block:
    """A piece of a section: a paragraph, a list of lines, or a table."""

    kind: str
    lines: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@immutable
class ReportSection:
    """A heading, the blocks below it, and the id for links to it."""

    anchor: str
    heading: str
    blocks: tuple[Block, ...]


def sections_of(parts: Sequence[str]) -> list[ReportSection]:
    """Return a report in sections, without the parts before the first heading.

    >>> from invert.report.layout import title
    >>> [(one.heading, one.blocks[0].lines) for one in sections_of(["before", *title("What it says"), "one line"])]
    [('What it says', ('one line',))]
    """
    found: list[tuple[str, list[str]]] = []
    for part in parts:
        if isinstance(part, Heading):
            found.append((part.text, []))
        elif found:
            found[-1][1].append(part)
    return [
        ReportSection(anchor=f"part-{number}", heading=heading, blocks=tuple(text_blocks(inside)))
        for number, (heading, inside) in enumerate(found, 1)
    ]


def text_blocks(parts: Iterable[str]) -> Iterator[Block]:
    """Yield tables unchanged, other lines as paragraphs, and consecutive indented lines as one list.

    >>> [(one.kind, one.lines) for one in text_blocks(["said:\\n    this", "    and this"])]
    [('text', ('said:',)), ('list', ('this', 'and this'))]
    """
    pieces = (piece for part in parts for piece in ([part] if isinstance(part, Table) else filter(str.strip, part.split("\n"))))
    for kind, found in groupby(pieces, _kind):
        if kind == "table":
            yield from (table_block(one.columns, one.rows) for one in found if isinstance(one, Table))
        else:
            yield Block(kind=kind, lines=tuple(map(str.strip, found)))


def _kind(piece: str) -> str:
    return "table" if isinstance(piece, Table) else "list" if piece.startswith(" ") else "text"


def table_block(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Block:
    """Return rows of texts and numbers as a table. A dash marks a missing value."""
    texts = tuple(tuple("-" if row[column] is None else str(row[column]) for column in columns) for row in rows)
    return Block(kind="table", columns=tuple(columns), rows=texts)
