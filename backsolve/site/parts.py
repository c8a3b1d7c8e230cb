"""Turn the parts of a report into parts of a page: sections of tables, paragraphs and lists, and charts in figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup

from backsolve.figures.svg import chart_svg
from derive.immutable import immutable
from derive.quantities.formula import NOTHING
from derive.show.chart import Chart
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


@immutable
class Figure:
    """A chart for a page: the drawing and its caption."""

    title: str
    drawing: Markup
    said: tuple[str, ...]


def figure_of(chart: Chart, links: Mapping[str, str] = NOTHING) -> Figure:
    """Return the chart as a page shows it. `links` are the addresses of named points."""
    # The drawing escapes every text of a table itself.
    return Figure(title=chart.title, drawing=Markup(chart_svg(chart, alone=False, links=links)), said=chart.said)


def sections_of(parts: Sequence[str]) -> list[ReportSection]:
    """Return a report in sections, without the parts before the first heading.

    >>> from invert.report.layout import title
    >>> [(one.heading, one.blocks[0].lines) for one in sections_of(["before", *title("What it says"), "one line"])]
    [('What it says', ('one line',))]
    """
    starts = [place for place, part in enumerate(parts) if isinstance(part, Heading)]
    found = []
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(parts)], strict=True)):
        heading = parts[start]
        assert isinstance(heading, Heading)
        found.append(ReportSection(anchor=f"part-{number + 1}", heading=heading.text, blocks=tuple(text_blocks(parts[start + 1 : end]))))
    return found


def text_blocks(parts: Iterable[str]) -> Iterator[Block]:
    """Yield tables unchanged, other lines as paragraphs, and consecutive indented lines as one list.

    >>> [(one.kind, one.lines) for one in text_blocks(["said:\\n    this", "    and this"])]
    [('text', ('said:',)), ('list', ('this', 'and this'))]
    """
    items: list[str] = []
    for part in parts:
        if isinstance(part, Table):
            yield from _listed(items)
            yield table_block(part.columns, part.rows)
            continue
        for line in filter(str.strip, part.split("\n")):
            if line.startswith(" "):
                items.append(line.strip())
                continue
            yield from _listed(items)
            yield Block(kind="text", lines=(line,))
    yield from _listed(items)


def _listed(items: list[str]) -> Iterator[Block]:
    """Yield the collected lines as one list block, and clear them."""
    if items:
        yield Block(kind="list", lines=tuple(items))
        items.clear()


def table_block(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Block:
    """Return rows of texts and numbers as a table. A dash marks a missing value."""
    texts = tuple(tuple("-" if row[column] is None else str(row[column]) for column in columns) for row in rows)
    return Block(kind="table", columns=tuple(columns), rows=texts)
