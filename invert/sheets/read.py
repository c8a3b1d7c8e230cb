"""Price files read as a stream: memory bounded, every fault named by file, row and column, no other error raised."""

import csv
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial, wraps
from io import BytesIO
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, Concatenate, ParamSpec, TextIO, TypeAlias, TypeVar

from derive.briefly import Records
from derive.characters import SPACES, trimmed
from derive.errors import WrongData, WrongValue, shorten, suggest, unseen
from derive.files import LARGEST, label, opened, size
from derive.price_rows import FxRate, ModelRow
from derive.shipped import BadRow, Tables
from derive.shipped_rows import truth
from invert.data import Data, cache_with_data, read_data
from invert.sheets.rows import SHIPPED_PRICES, Fx, PriceBook, PriceRow, Problem, RowKey, without_collection
from invert.sheets.rules import (
    COMPONENTS,
    NAMES,
    Columns,
    Parser,
    columns_of,
    contradictions,
    date_or_blank,
    hold,
    hours,
    look_alikes,
    number,
    one_of,
    parsed,
    plain,
    rate_or_blank,
    required,
    tokens_or_blank,
    unsaid_currencies,
    weekdays,
    whole_number,
    whole_or_blank,
    word,
)
from invert.sheets.sheet import FileText

_P = ParamSpec("_P")
_R = TypeVar("_R")

ROW_LIMIT, LINE_LIMIT, PROBLEM_LIMIT = 1_000_000, 64_000, 1_000
"""Rows of a file (blank lines count), characters of a line, and faults that are listed one by one.

All rows are held in memory, about 0.9 kB each, and read and checked at some 50,000 a second. So a file takes at most 20 seconds and
0.9 GB, and a stream without end is refused as soon; every price ever published fits many times over.
"""
_A_YEAR = 366
"""Days after the newest retrieval day from which on a later one is taken for a slip of the pen."""
_TOO_LARGE = f"larger than {size(LARGEST)}"
_Source: TypeAlias = Iterable[str] | BinaryIO | TextIO
"""Lines, or a stream of text or bytes."""
Prices: TypeAlias = str | Path | _Source | FileText
"""Prices of one's own: the place of a file, what is in it, or both."""

PRICE_COLUMNS: dict[str, Parser] = {
    "provider": required,
    "model": required,
    "region": plain,
    "service_tier": word,
    "component": one_of(*COMPONENTS),
    "threshold_tokens": whole_number,
    "threshold_inclusive": truth,
    "ttl_seconds": whole_or_blank,
    "utc_hours": hours,
    "weekdays": weekdays,
    "amount": number,
    "currency": plain,
    "per": one_of("mtok", "mtok_hour"),
    "effective_date": date_or_blank,
    "date_kind": one_of("", "start", "first_seen", "verified"),
    "valid_to": date_or_blank,
    "retrieved_date": date_or_blank,
    "source_url": plain,
    "verification": word,
    "notes": plain,
}
OVERLAY_COLUMNS: dict[str, Parser] = {
    **PRICE_COLUMNS,
    "max_context": tokens_or_blank,
    "release_date": date_or_blank,
    "usd_rate": rate_or_blank,
}
"""Those of one's own prices: of a model that ships, models.csv has the longest context, and of its currency fx.csv the rate."""
NEEDED = ("provider", "model", "component", "amount")
_OVERLAY_DEFAULTS = {
    "service_tier": "standard", "threshold_tokens": "0", "threshold_inclusive": "false", "currency": "USD", "verification": "user",
}  # fmt: skip
"""What a blank means in a file of one's own, where it is the usual; in one that ships it is a cell somebody emptied."""


def load(prices: Prices | None = None) -> PriceBook:
    """The shipped prices, with a file of one's own laid over them: its place, or a stream of its text or bytes.

    A row of one's own replaces every shipped row of the same key, as far as it is not of an earlier day, or adds to the book. Faults of
    single rows stand in `problems`; a file that cannot be used at all raises `WrongData`.

    >>> load(BytesIO(b"provider,model,component,amount\\nacme,m,input,2\\nacme,m,output,8")).own[1].amount
    8.0
    """
    return book_of(read_data(), prices)


@without_collection()
def book_of(data: Data, prices: Prices | None = None) -> PriceBook:
    """What `load` reads, by the tables of a run."""
    fx, rows, faults = prices_that_ship(data)
    overlay = None if prices is None else own_file(prices)
    own, own_faults = _own_rows(overlay, fx, rows, data) if overlay else ([], [])
    sold = {(row.provider, row.model) for row in rows}
    first: dict[RowKey, date] = {}
    for row in own:
        if (row.provider, row.model) in sold:
            first[row.key] = min(row.start, first.get(row.key, date.max))
    left = [(row, until(row, first.get(row.key, date.max))) for row in rows]
    kept = [before for _, before in left if before]
    day, far_off = newest_day(rows, own)
    return PriceBook(
        rows=Records((*kept, *own)),
        fx=fx,
        problems=(*faults, *own_faults),
        newest_retrieved=day,
        far_off=far_off,
        day_moved=moved(day, rows, own),
        own=Records(own),
        overlay=overlay,
        refused=_sold_by(overlay, {problem.row for problem in own_faults}) if overlay and own_faults else frozenset(),
        replaced=tuple(row for row, before in left if before is None),
    )


def _own_rows(overlay: FileText, fx: Fx, shipped: Sequence[PriceRow], data: Data) -> tuple[list[PriceRow], list[Problem]]:
    """Return the rows of a file of one's own and their faults. A rate for which no row has the currency is one of them."""
    rows, faults = read_rows(BytesIO(overlay.content), overlay.place, fx, True, shipped, _described(data.tables), overlay.rates)
    for currency in [name for name, _ in overlay.rates if not faults and name not in {row.currency for row in rows}]:
        lack = f"no price is in {currency}, for which a rate is given; is its currency {currency}?"
        faults.append(Problem(origin=overlay.place, row=None, column="currency", message=lack))
    return rows, faults


def _sold_by(overlay: FileText, numbers: Container[int | None]) -> frozenset[tuple[str, str]]:
    """Provider and model of the rows of these numbers."""
    rows = (item for item in table(BytesIO(overlay.content), overlay.place, OVERLAY_COLUMNS, NEEDED) if not isinstance(item, Problem))
    return frozenset((cells["provider"], cells["model"]) for number, cells in rows if number in numbers)


def until(row: PriceRow, day: date) -> PriceRow | None:
    """The row as far as its price holds before that day, or None where it begins no earlier."""
    if row.end <= day:
        return row
    return replace(row, valid_to=day) if row.start < day else None


def undated(row: PriceRow) -> Iterator[tuple[str, str]]:
    """(column, message) for what a row that ships says of its dates; of one's own files it is not asked."""
    if row.retrieved_date is None:
        yield "retrieved_date", "is blank"
    if bool(row.effective_date) != bool(row.date_kind):
        lacking, there = ("date_kind", "effective_date") if row.effective_date else ("effective_date", "date_kind")
        yield lacking, f"must be filled when {there} is"


def _described(tables: Tables) -> tuple[ModelRow, ...]:
    try:
        return tables.rows_of(ModelRow)
    except WrongData:
        return ()


@cache_with_data
def prices_that_ship(data: Data) -> tuple[Fx, tuple[PriceRow, ...], tuple[Problem, ...]]:
    """The rates of exchange and the prices that ship, with their faults."""
    try:
        fx = rates(data.tables.rows_of(FxRate))
    except WrongData:
        # Prices in US dollars need none; `problems` names the file, and each price that does need one is named by its row.
        fx = {}
    sound, faults = read_rows(BytesIO(data.tables.content(SHIPPED_PRICES)), SHIPPED_PRICES, fx)
    return fx, tuple(sound), (*data.tables.problems("fx"), *faults)


def newest_day(shipped: Sequence[PriceRow], own: Sequence[PriceRow] = ()) -> tuple[date | None, tuple[Problem, ...]]:
    """The newest retrieval day to be believed, and a problem where there are later ones.

    Days are followed from the median of those that ship, as long as each is at most a year after the one before: a slip
    of the pen (2062 for 2026) moves nothing, in however many rows of one's own it stands, and no clock is asked.
    """
    anchors = sorted(row.retrieved_date for row in shipped if row.retrieved_date)
    anchors = anchors or sorted(row.retrieved_date for row in own if row.retrieved_date)
    if not anchors:
        return None, ()
    newest = anchors[(len(anchors) - 1) // 2]
    later = [(row.retrieved_date, row) for row in (*shipped, *own) if row.retrieved_date and row.retrieved_date > newest]
    for day in sorted({day for day, _ in later}):
        if (day - newest).days > _A_YEAR:
            break
        newest = day
    far = [(day, row) for day, row in later if day > newest]
    if not far:
        return newest, ()
    day, first = far[0]
    others = f" (and {len(far) - 1} more row{'s' if len(far) > 2 else ''})" if len(far) > 1 else ""
    lack = f"is more than a year after {newest}, the newest day before it{others}: prices are of {newest}"
    return newest, (first.problem("retrieved_date", f"{day} {lack}; --as-of {day} uses the prices of that day"),)


@cache_with_data
def last_day(data: Data) -> date:
    """The day on which the prices that ship were read last: nothing in the tables is of a later one."""
    _, rows, _ = prices_that_ship(data)
    return newest_day(rows)[0] or date.max


def once_beside_prices(function: Callable[Concatenate[Data, _P], _R]) -> Callable[Concatenate[Data, _P], _R]:
    """`cache_with_data` for what rests on no price, but by the day on which they were read last: data of other prices share it.

    >>> found = once_beside_prices(lambda data, name: [name])
    >>> data, later = read_data(), read_data().tables.content("prices.csv").decode().replace(",2026-11-20,", ",2026-11-21,")
    >>> found(data, "fx") is found(data.with_prices(data.tables.content("prices.csv").decode()), "fx")
    True
    >>> found(data, "fx") is found(data.with_prices(later), "fx")
    False
    """

    @wraps(function)
    def within(data: Data, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return data.cache_without_prices((function, last_day(data), args, tuple(kwargs.items())), partial(function, data, *args, **kwargs))

    return within


def moved(day: date | None, shipped: Sequence[PriceRow], own: Sequence[PriceRow]) -> str:
    """Which row of one's own made the day later than that of the shipped prices, or nothing where none did."""
    before, _ = newest_day(shipped)
    row = next((row for row in own if row.retrieved_date == day), None) if before and day and day > before else None
    if row is None:
        return ""
    place = str(row.problem(None, "")).removesuffix(": ")
    return f"prices are of {day}, the retrieved_date of {place}; the shipped ones were read on {before}"


def own_file(prices: Prices) -> FileText:
    """Prices of one's own as they were read, every line ended: all of them, or as much as it takes to refuse them.

    >>> own_file(["provider,model,component,amount", "acme,m,input,2"]).content
    b'provider,model,component,amount\\nacme,m,input,2\\n'
    """
    if isinstance(prices, FileText):
        return replace(prices, place=own_place(prices.place))
    if isinstance(prices, str | Path):
        with opened(prices) as stream:
            place = own_place(label(prices))
            return FileText(place, _first_lines(stream, place))
    return FileText("standard input", _first_lines(prices, "standard input"))


def own_place(place: str) -> str:
    """What a file of one's own is called: `prices.csv` alone is the table that ships.

    >>> own_place("prices.csv"), own_place("mine.csv")
    ('./prices.csv', 'mine.csv')
    """
    return f"./{place}" if place == SHIPPED_PRICES else place


def _first_lines(source: _Source, origin: str) -> bytes:
    """One line more than is read of any file, long ones as far as it takes to see that they are."""
    lines = (line.encode(errors="replace") if isinstance(line, str) else line for line in raw_lines(source, origin))
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in islice(lines, ROW_LIMIT + 2))


def read_rows(
    source: _Source,
    origin: str,
    fx: Fx | None = None,
    overlay: bool = False,
    beside: Sequence[PriceRow] = (),
    described: Sequence[ModelRow] = (),
    rates: Iterable[tuple[str, float]] = (),
) -> tuple[list[PriceRow], list[Problem]]:
    """The sound rows of one price file and the faults of the rest; of many faults, the first thousand and a count.

    `beside` are rows of another file: a blank currency may not contradict theirs, and no name may merely look like one of theirs
    or of the models `described`. `rates` are US dollars for one unit of a currency, for rows without a rate of their own.

    >>> rows, problems = read_rows(["provider,model,component,amount", "acme,m,input,2", "acme,m,output,-5"], "my.csv", overlay=True)
    >>> rows[0].amount, rows[0].origin, str(problems[0])
    (2.0, 'my.csv:2', "my.csv row 3, column amount: '-5' is negative")
    """
    rows: list[PriceRow] = []
    problems: list[Problem] = []
    unlisted = 0
    held: dict[RowKey, list[PriceRow]] = {}

    def name(*faults: Problem) -> None:
        nonlocal unlisted
        room = PROBLEM_LIMIT - len(problems)
        problems.extend(faults[:room])
        unlisted += len(faults[room:])

    parsers = OVERLAY_COLUMNS if overlay else PRICE_COLUMNS
    given_rates = {currency: repr(rate) for currency, rate in rates}
    columns: Columns | None = None
    for item in _with_faults(table(source, origin, parsers, NEEDED if overlay else parsers), problems):
        if isinstance(item, Problem):
            name(item)
            continue
        place, cells = item
        if overlay and not cells.get("per"):
            cells["per"] = "mtok_hour" if cells["component"] == "cache_storage" else "mtok"
        if given_rates:
            cells["usd_rate"] = cells.get("usd_rate") or given_rates.get(cells.get("currency", ""), "")
        columns = columns or columns_of(cells, parsers, _OVERLAY_DEFAULTS if overlay else {})
        found = price_row(place, cells, origin, fx or {}, columns, overlay)
        if isinstance(found, list):
            name(*found)
        elif clash := hold(held, found):
            name(replace(clash, column=None) if clash.column in columns.lacking else clash)
        else:
            rows.append(found)
    unclear = unsaid_currencies(rows, beside)
    name(*unclear.values())
    mistaken = look_alikes(rows, in_use(beside, described))
    name(*chain.from_iterable(mistaken.values()))
    if unlisted:
        problems.append(Problem(origin=origin, row=None, column=None, message=f"has {unlisted} more faults like these"))
    return [row for row in rows if row.origin not in unclear and row.origin not in mistaken], problems


_FAULTS_BESIDE = 8
"""Of the faults of rows, how many are named beside that of a whole file."""


def _with_faults(items: Iterator[_R], problems: Sequence[Problem]) -> Iterator[_R]:
    """The items; where a file is refused after some of its rows, the faults that these have stand beside the reason."""
    try:
        yield from items
    except WrongData as error:
        more = f"\nand {len(problems) - _FAULTS_BESIDE} more faults" if problems[_FAULTS_BESIDE:] else ""
        raise WrongData("\n".join(map(str, (error, *problems[:_FAULTS_BESIDE]))) + more) from None


def in_use(rows: Sequence[PriceRow], described: Sequence[ModelRow] = ()) -> dict[str, list[str]]:
    """The names of rows by column, and those of models.csv, which knows other names of a model."""
    names = {column: [getattr(row, column) for row in rows] for column in NAMES}
    names["provider"] += [row.provider for row in described]
    names["model"] += [name for row in described for name in (row.model, *row.aliases)]
    return names


def price_row(place: int, cells: dict[str, str], origin: str, fx: Fx, columns: Columns, overlay: bool) -> PriceRow | list[Problem]:
    """The row that these cells hold, or all that is wrong with them."""
    values, faults = parsed(cells, columns)
    if not faults:
        row = PriceRow(**values, origin=f"{origin}:{place}", currency_assumed=not cells.get("currency"))
        faults = [*contradictions(row, fx), *([] if overlay else undated(row))]
        if not faults:
            return row
    return [Problem(origin=origin, row=place, column=column, message=message) for column, message in faults]


def rates(known: Iterable[FxRate]) -> dict[str, tuple[FxRate, ...]]:
    """Exchange rates by currency, oldest first.

    >>> rates(read_data().tables.rows_of(FxRate))["CNY"][0].units_per_usd
    7.2
    """
    found: dict[str, list[FxRate]] = {}
    for rate in known:
        found.setdefault(rate.currency, []).append(rate)
    return {name: tuple(sorted(of_one, key=lambda rate: rate.date)) for name, of_one in found.items()}


def refuse_bad_rate(tables: Tables, currency: str, day: date) -> None:
    """Raises `BadRow` where the rate of exchange that holds on a day, or may have been meant to, is a row that cannot be used."""
    if currency == "USD":
        return
    dated: list[tuple[tuple[date, bool], Problem | None]] = [
        ((rate.date, True), None) for rate in tables.rows_of(FxRate) if rate.currency == currency
    ]
    for row, columns, problem in tables.checked(FxRate.TABLE).bad:
        if row.get("currency") == currency or "currency" in (columns or ()):
            since = _day(row.get("date", ""))
            if since is None or "date" in (columns or ()):
                # It may be of any day.
                raise BadRow(problem)
            dated.append(((since, False), problem))
    # As `units_per_usd` chooses: the newest on that day, else the oldest. A sound one of the same day goes before a bad one.
    held = [one for one in dated if one[0][0] <= day]
    chosen = max(held, key=itemgetter(0)) if held else min(dated, key=lambda one: (one[0][0], not one[0][1]), default=None)
    if chosen and chosen[1]:
        raise BadRow(chosen[1])


def _day(text: str) -> date | None:
    try:
        return date_or_blank(text)
    except WrongData:
        return None


# Files and streams.


def raw_lines(source: _Source, origin: str) -> Iterator[str | bytes]:
    """The lines of a source; of one longer than the limit only the beginning is kept, the rest is read away in pieces."""
    if not hasattr(source, "readline"):
        yield from source
        return
    # The bytes under a text stream: its decoder knows neither our file nor our rows.
    stream = getattr(source, "buffer", source)
    left, in_a_long_line = LARGEST, False
    while True:
        try:
            part = stream.readline(LINE_LIMIT + 1)
        except WrongData:
            raise
        except (OSError, ValueError) as error:
            raise WrongData(f"{origin} cannot be read: {shorten(str(error))}") from None
        left -= len(part)
        if left < 0:
            raise WrongData(f"{origin} is {_TOO_LARGE}")
        if not part:
            return
        if not in_a_long_line:
            yield part
        in_a_long_line = len(part) > LINE_LIMIT and part[-1:] not in (b"\n", "\n")


def table(source: _Source, origin: str, columns: Iterable[str], needed: Iterable[str]) -> Iterator[tuple[int, dict[str, str]] | Problem]:
    """Row number and cells by column of each row under the header, or the problem of a row that cannot be taken apart.

    A row is a line, so that a quote left open spoils one row and not the rest of the file. `WrongData` for columns that nobody knows
    comes after the last row, so that whoever lists faults has all of them.
    """
    header: list[str] = []
    known = {name.lower(): name for name in columns}
    empty, unknown = True, ""
    for place, raw in enumerate(raw_lines(source, origin), start=1):
        if place > ROW_LIMIT + 1:
            raise WrongData(f"{origin} has more than {ROW_LIMIT:,} rows, the most that are read; split it, or leave out what is not needed")
        try:
            cells = split(raw, first=place == 1)
            if header and any(cells) and len(cells) != len(header):
                more = "; a comma inside a cell needs quotes around the cell" if len(cells) > len(header) else ""
                raise WrongValue(f"has {len(cells)} cells where the header has {len(header)}{more}")
        except WrongValue as error:
            if not header:
                raise WrongData(f"{origin} row {place}: {error}") from None
            empty = False
            yield Problem(origin=origin, row=place, column=None, message=str(error))
            continue
        if not any(cells):
            continue
        if header:
            empty = False
            yield place, dict(zip(header, cells, strict=True))
        else:
            header = [known.get(name.lower(), name) for name in cells]
            refuse_header(header, tuple(known.values()), tuple(needed), f"{origin} row {place}")
            unknown = unknown_columns(header, tuple(known.values()))
            unknown = unknown and f"{origin} row {place}: {unknown}"
    if unknown:
        raise WrongData(unknown)
    if empty:
        raise WrongData(f"{origin} has a header and no rows" if header else f"{origin} is empty")


def refuse_header(header: list[str], columns: tuple[str, ...], needed: tuple[str, ...], place: str) -> None:
    """`WrongData` where a needed column is lacking or one stands twice."""
    repeated = next((name for name in columns if header.count(name) > 1), None)
    if repeated:
        raise WrongData(f"{place}, column {repeated}: is twice in the header")
    lacking = [name for name in needed if name not in header]
    if lacking:
        mark = next((mark for mark in (";", "\t", "|") if mark in header[0]), None)
        if header[0].lower().startswith("sep="):
            raise WrongData(f"{place}: {shorten(header[0])} tells a spreadsheet what separates cells; take the line out")
        hint = f"cells are separated by commas, not {mark!r}" if mark else "; ".join(_unknown(header, columns)[:2])
        raise WrongData(f"{place}: there is no column {', '.join(lacking)}" + (f"; {hint}" if hint else ""))


_ALSO_CALLED = {
    **dict.fromkeys(("context", "context_length", "context_size", "context_window", "max_input_tokens"), "max_context"),
    **dict.fromkeys(
        ("cost", "price", "price_per_mtok", "price_usd", "usd_mtok", "usd_per_mtok", "usd_per_1m_tokens"), "amount"
    ),
    **dict.fromkeys(("company", "host", "vendor"), "provider"),
    **dict.fromkeys(("threshold", "min_tokens"), "threshold_tokens"),
    **dict.fromkeys(("from", "start_date", "valid_from"), "effective_date"),
    **dict.fromkeys(("end_date", "until", "valid_until"), "valid_to"),
    **dict.fromkeys(("date", "retrieved"), "retrieved_date"),
    "model_name": "model", "type": "component", "ttl": "ttl_seconds", "tier": "service_tier", "url": "source_url", "comment": "notes",
    "released": "release_date", **dict.fromkeys(("exchange_rate", "fx", "fx_rate", "rate", "usd_per_unit"), "usd_rate"),
}  # fmt: skip
"""What others call our columns, in small letters and with _ between words."""
_OTHERS_NAMED = 4
"""Of unknown columns, how many are named after the first."""


def unknown_columns(header: list[str], columns: tuple[str, ...]) -> str:
    """What to say of columns that are not ours, or nothing where all are.

    Cells that nobody reads may be the currency or the dates, without which the others would be misread.

    >>> unknown_columns(["provider", "modell"], ("provider", "model"))
    "unknown column 'modell'; did you mean 'model'?; rename the column or take it out"
    """
    first, *others = _unknown(header, columns) or [""]
    if not others:
        return first and f"{first}; rename the column or take it out"
    more = f" and {len(others) - _OTHERS_NAMED} more" if others[_OTHERS_NAMED:] else ""
    return f"{first}\nand {', '.join(others[:_OTHERS_NAMED])}{more}; rename these columns or take them out"


def _unknown(header: list[str], columns: tuple[str, ...]) -> list[str]:
    """What to say of each column that is not ours, first of those for which one of ours may be meant."""
    found = [f"unknown column {shorten(name)}{unseen(name)}{_meant(name, header, columns)}" for name in header if name not in columns]
    return sorted(found, key=lambda said: "did you mean" not in said)


def _meant(name: str, header: list[str], columns: tuple[str, ...]) -> str:
    """`; did you mean 'max_context'?` for what others call a column that the header lacks, else by its spelling."""
    ours = _ALSO_CALLED.get(re.sub("[^a-z0-9]+", "_", name.lower()).strip("_"))
    lacking = [column for column in columns if column not in header]
    meant = f"; did you mean {ours!r}?" if ours in lacking else suggest(name[:200], lacking)
    # Where the header lacks few, all of them would be listed, and those that it has are allowed too.
    return meant if "did you mean" in meant else ""


def split(raw: str | bytes, first: bool) -> list[str]:
    """The cells of one line; `WrongValue` says why it has none."""
    if isinstance(raw, bytes) and first:
        if raw.startswith(b"PK\x03\x04"):
            raise WrongValue("this is a spreadsheet file (xlsx, ods) or another archive and no text; save it as CSV in UTF-8")
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw:
            raise WrongValue("this is UTF-16 or no text at all; save it as CSV in UTF-8")
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    if len(raw) > LINE_LIMIT:
        raise WrongValue("the line is longer than 64 kB")
    try:
        text = raw.decode() if isinstance(raw, bytes) else raw.removeprefix("\ufeff") if first else raw
        text = text.removesuffix("\n").removesuffix("\r")
        if "\n" in text or "\r" in text:
            raise WrongValue("has a line break inside; lines end in LF or CRLF")
        # Of a line without a quote a comma ends a cell, and in one of ASCII only white space is to be taken off: most lines are both.
        cells = text.split(",") if '"' not in text else [cell for record in csv.reader([text], strict=True) for cell in record]
        if " " not in text and text.isascii() and text.isprintable():
            return cells
        return [cell.strip(SPACES) for cell in cells] if text.isascii() else list(map(trimmed, cells))
    except UnicodeDecodeError as error:
        raise WrongValue(f"byte {error.object[error.start]:#04x} at position {error.start + 1} is not UTF-8; save it as UTF-8") from None
    except csv.Error as error:
        raise WrongValue(f"is not CSV ({error}); a quote is closed on its line and doubled inside a cell") from None
