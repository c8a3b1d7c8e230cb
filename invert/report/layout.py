"""The parts of reports: titles, aligned tables, paragraphs, KV bytes in usual units, and shell commands with the options of their run."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from derive.files import called
from derive.show.layout import WORD, fold, padded, width_of, wrap_text
from derive.units import show
from invert.estimate_text import plain_digits
from invert.sheets.sheet import Price

if TYPE_CHECKING:
    from invert.result import Inference, Run

NONE = "-"
USD_PER_MTOK = 1e-6
"""Unit of printed prices [USD/token]."""
GAP, _READABLE = 3, 24
"""Spaces between columns, and the narrowest column that text is broken into."""


def many(number: int, what: str) -> str:
    """Return a count with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def several(names: Sequence[str], most: int = 3, between: str = ", ") -> str:
    """Return the first names, and the number of others."""
    return between.join(names[:most]) + (f" and {len(names) - most} more" if names[most:] else "")


def billions(params: float, digits: int = 2) -> str:
    """Format a number of parameters in billions."""
    return f"{plain_digits(params / 1e9, digits)} B"


class Heading(str):
    """An underlined heading as text, with the words of the heading."""

    text: str


def title(text: str) -> list[str]:
    """Return a heading, underlined, after an empty line."""
    heading = Heading(f"{text}\n{'-' * width_of(text)}")
    heading.text = text
    return ["", heading]


def dollars(price: Price) -> str:
    """Format a price in US dollars per million tokens with three digits."""
    return plain_digits(price.usd_per_token / USD_PER_MTOK, 3)


def kv(value: float | None) -> str:
    """Format KV bytes per token in usual units, or a dash."""
    return NONE if value is None else show("kv_bytes_per_token", value, digits=3).removesuffix("/token")


class Table(str):
    """A table as text with its cells, so that `laid_out` can format it for another width."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    gap: int
    rule: bool


def aligned(columns: Sequence[str], cells: Iterable[Mapping[str, str] | Sequence[str]], gap: int = GAP, rule: bool = True) -> Table:
    """Format a table in aligned columns, as wide as its cells, with a rule under its head. Rows are cells in order, or by column."""
    rows = [row if isinstance(row, Mapping) else dict(zip(columns, row, strict=True)) for row in cells]
    table = Table(_set(columns, rows, gap, rule, _widths(columns, rows)))
    table.columns, table.rows, table.gap, table.rule = tuple(columns), tuple(rows), gap, rule
    return table


def laid_out(parts: Iterable[str], width: int) -> str:
    """Lay out lines, paragraphs and tables in this width. Cells and words are never cut."""
    return "\n".join(_fitted(part, width) if isinstance(part, Table) else fold(part, width) for part in parts)


def _widths(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> list[int]:
    return [max(width_of(text) for text in (column, *(row[column] for row in rows))) for column in columns]


def _fitted(table: Table, width: int) -> str:
    """Narrow columns by wrapping words. If that is not enough, put the last columns below their row."""
    for count in range(len(table.columns), 1, -1):
        if widths := _narrowed(table.columns[:count], table.rows, width - table.gap * (count - 1)):
            break
    else:
        widths = [min(*_widths(table.columns[:1], table.rows), width)]
    return _set(table.columns, table.rows, table.gap, table.rule, widths, width)


def _narrowed(columns: Sequence[str], rows: Sequence[Mapping[str, str]], room: int) -> list[int]:
    """Return widths that fit, narrowing the widest column first, or None if a column would become unreadable."""
    widths = _widths(columns, rows)
    least = []
    for column in columns:
        cells = [row[column] for row in rows]
        words = (word.rstrip() for text in (column, *cells) for word in WORD.findall(text))
        least.append(max(min(_READABLE, max(map(width_of, cells), default=0)), max(map(width_of, words), default=0)))
    while sum(widths) > room:
        at = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        if widths[at] <= least[at]:
            return []
        widths[at] -= 1
    return widths


def _set(columns: Sequence[str], rows: Sequence[Mapping[str, str]], gap: int, rule: bool, widths: Sequence[int], width: int = 0) -> str:
    """Format a table with wrapped cells in columns of these widths, with the other columns as lines below each row."""
    beside, below = columns[: len(widths)], columns[len(widths) :]

    def lines(cells: Iterable[str]) -> Iterator[str]:
        broken = [wrap_text(cell, width) for cell, width in zip(cells, widths, strict=True)]
        for parts in zip_longest(*broken, fillvalue=""):
            yield (" " * gap).join(padded(part, width) for part, width in zip(parts, widths, strict=True)).rstrip()

    printed = [*lines(beside), *(["─" * (sum(widths) + gap * (len(widths) - 1))] if rule else [])]
    for row in rows:
        printed += lines(row[column] for column in beside)
        hung = (" " * gap).join(f"{column}: {row[column]}" if column else row[column] for column in below if row[column])
        printed += wrap_text(hung, width, "    ", 8) if hung else []
    return "\n".join(printed)


def infer_in_full(one: "Inference", run: "Run") -> str:
    """Return the command for the full report of a sheet."""
    tier = ("--tier", run.request.tier) if run.request.tier else ("--all",) if run.request.everything else ()
    anchors = (word for name, value in run.given.items() for word in ("--anchor", f"{name}={value:.12g}"))
    changes = (word for place, amount in run.changes.items() for word in ("--set", f"{place}={amount}"))
    regions = {region for provider, model, region, _ in run.base_inputs if f"{provider}/{model}" == one.name}
    region = ("--where", f"region={one.sheet.region or NONE}") if len(regions) > 1 else ()
    return _command("infer", one.name, *_prices(run), *tier, *region, *anchors, *changes, "--full")


def cite_sheet(one: "Inference", run: "Run", equations: Iterable[str]) -> str:
    """Return the command that cites a price sheet and these equations, with the service tier if the user gave another one than standard."""
    asked = run.request.tier or run.request.everything
    tier = ("--tier", one.sheet.service_tier) if asked and one.sheet.service_tier != "standard" else ()
    return _command("cite", one.name, *equations, *_prices(run), *tier)


def _prices(run: "Run") -> Iterator[str]:
    """Return the options for the prices and the day."""
    if run.request.prices:
        yield from ("--prices", "-" if run.request.prices.place == called("-") else run.request.prices.place)
        yield from (word for currency, rate in run.request.prices.rates for word in ("--rate", f"{currency}={rate:.12g}"))
    if run.request.as_of:
        yield from ("--as-of", str(run.request.as_of))


def _command(*words: str) -> str:
    return shlex.join(("backsolve", *words))
