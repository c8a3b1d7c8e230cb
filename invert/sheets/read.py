"""Price files: rows in limited memory, each fault with file, row and column, and the day of the prices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeAlias

from derive.errors import WrongData
from derive.files import STANDARD_INPUT, content_of, content_of_stream, label
from derive.immutable import Records
from derive.tables.cells import Column, column_of
from derive.tables.lines import BadRow, CsvTable, Problem, Source
from derive.tables.shipped import read_cells
from invert.data import Data, cache_with_data, read_data
from invert.sheets.rows import (
    OWN_COLUMNS,
    SHIPPED_PRICES,
    FileText,
    Fx,
    FxRate,
    ModelRow,
    PriceBook,
    PriceRow,
    RowKey,
    grouped,
    problem_at,
)
from invert.sheets.rules import NAMES, OTHER_COMPONENTS, check, contradictions, hold, look_alikes, missing_dates, unsaid_currencies
from invert.sheets.sheet import name_price

PROBLEM_LIMIT = 1_000
"""The most faults of a file that are listed. Further faults are counted."""
_FAULTS_BESIDE = 8
"""The most faults of rows that are listed beside a fault of the whole file."""
_A_YEAR = 366
"""Maximum gap between retrieval days [days]. After a longer gap a day is a typing error."""
Prices: TypeAlias = str | Path | Iterable[str] | BinaryIO | TextIO | FileText
"""A price file of the user: its path, its content, or both."""

NEEDED = ("provider", "model", "component", "amount")
"""The columns that a file of the user must have."""
_WORD = {"pattern": "[a-z][a-z0-9_]*"}
_WORD_EXAMPLE = "a lower-case word such as 'standard' or 'off_peak'"
_OTHER_UNITS = {
    **dict.fromkeys(("token", "tokens"), ". Multiply the amount by 1,000,000 and write mtok"),
    **dict.fromkeys(("ktok", "1k"), ". Multiply the amount by 1,000 and write mtok"),
}
_OTHER_WORDS = {"component": OTHER_COMPONENTS, "per": _OTHER_UNITS}
"""Words of other price lists, by column, with ours or with advice."""
_OWN_FIELDS: Mapping[str, Mapping[str, object]] = {
    "service_tier": {"default": "standard", "constraints": _WORD, "example": _WORD_EXAMPLE},
    "threshold_tokens": {"default": "0"},
    "threshold_inclusive": {"default": "false"},
    "currency": {"default": "USD", "constraints": {}},
    "retrieved_date": {"constraints": {}},
    "source_url": {"constraints": {}},
    "verification": {"default": "user", "constraints": _WORD, "example": _WORD_EXAMPLE},
}
"""Differences of a user's file from the description of prices.csv: more words, and the meaning of a blank cell."""
_MORE_FIELDS = ({"name": "max_context", "type": "tokens"}, {"name": "release_date", "type": "date"}, {"name": "usd_rate", "type": "number"})
"""Columns of only a user's file. For the shipped prices, models.csv and fx.csv have these values."""
_OTHER_NAMES = {
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
"""Common names of our columns, in small letters and with _ between words."""


@cache_with_data
def _price_columns(data: Data, table: str) -> Mapping[str, Column]:
    """Return the columns of a shipped table of prices, or of a file of the user if `table` is blank."""
    own, more = ({}, ()) if table else (_OWN_FIELDS, _MORE_FIELDS)
    described = [field | own.get(field["name"], {}) for field in data.tables.schema(table or "prices")["fields"]]
    fields = [field | {"other_names": _OTHER_WORDS.get(field["name"], {})} for field in (*described, *more)]
    return {field["name"]: column_of(field) for field in fields}


def load(prices: Prices | None = None) -> PriceBook:
    """Return the shipped prices, with the rows of a user's file in place of theirs: its path, or a stream of text or bytes.

    A user's row replaces every shipped row of the same key, except rows of a later day. A row with a new key is added. Raise BadRow with
    all wrong rows of a file, and WrongData for a file that cannot be used.

    >>> load(BytesIO(b"provider,model,component,amount\\nacme,m,input,2\\nacme,m,output,8")).own[1].amount
    8.0
    """
    return book_of(read_data(), prices)


def book_of(data: Data, prices: Prices | None = None) -> PriceBook:
    """Return the book that `load` returns, from the tables of a run."""
    fx, rows = prices_that_ship(data)
    overlay = None if prices is None else own_file(prices)
    own, faults = _own_rows(overlay, fx, rows, data) if overlay else ([], [])
    sold = {(row.provider, row.model) for row in rows}
    begins = grouped((row.key, row.start) for row in own if (row.provider, row.model) in sold)
    kept, replaced = list[PriceRow](), list[PriceRow]()
    for row in rows:
        # A row ends where one of the user begins, and is gone if it begins there or later.
        begin = min(begins.get(row.key, [date.max]))
        part = row if row.end <= begin else replace(row, valid_to=begin) if row.start < begin else None
        (kept if part else replaced).append(part or row)
    day, far_off = newest_day(rows, own)
    book = PriceBook(
        rows=Records((*kept, *own)),
        fx=fx,
        newest_retrieved=day,
        far_off=far_off,
        day_moved=moved(day, rows, own),
        own=Records(own),
        overlay=overlay,
        replaced=tuple(replaced),
    )
    if overlay and faults:
        raise BadRow(*_all_faults(book, overlay, faults))
    return book


def _all_faults(book: PriceBook, overlay: FileText, faults: list[Problem]) -> list[Problem]:
    """Return the faults of single rows of a user's file, and those of its other sheets."""
    if overlay.typed:
        # Its prices share a currency and dates, and repeat their fault.
        return faults[:1]
    places = {fault.row for fault in faults}
    lines = CsvTable(BytesIO(overlay.content), overlay.place, OWN_COLUMNS, NEEDED)
    wrong = {(row["provider"], row["model"]) for row in lines if row.place in places and not row.fault}
    return [*faults, *check(replace(book, rows=tuple(row for row in book.rows if row.sheet_key[:2] not in wrong)))]


def _own_rows(overlay: FileText, fx: Fx, shipped: Sequence[PriceRow], data: Data) -> tuple[list[PriceRow], list[Problem]]:
    """Return the rows of a file of the user and their faults. An exchange rate for a currency without a row is a fault."""
    rows, faults = read_rows(
        BytesIO(overlay.content), overlay.place, fx, True, shipped, data.tables.rows_of(ModelRow), overlay.rates, data, overlay.typed
    )
    for currency in [name for name, _ in overlay.rates if not faults and name not in {row.currency for row in rows}]:
        lack = f"a rate for {currency} is given, but no price is in {currency}. Is its currency {currency}?"
        faults.append(Problem(origin=overlay.place, column="currency", message=lack))
    return rows, faults


@cache_with_data
def prices_that_ship(data: Data) -> tuple[Fx, tuple[PriceRow, ...]]:
    """Return the exchange rates and the shipped prices."""
    fx = rates(data.tables.rows_of(FxRate))
    return fx, tuple(sound_rows(BytesIO(data.tables.content(SHIPPED_PRICES)), SHIPPED_PRICES, fx, data=data))


def newest_day(shipped: Sequence[PriceRow], own: Sequence[PriceRow] = ()) -> tuple[date, tuple[Problem, ...]]:
    """Return the newest plausible retrieval day, and a problem if there are later ones.

    The search starts at the median of the shipped days and continues while each day is at most a year after the one before. So a typing
    error (2062 for 2026) in any number of user rows has no effect, and no clock is read.
    """
    anchors = sorted(row.retrieved_date for row in shipped if row.retrieved_date)
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
    others = f" (also in {len(far) - 1} more row{'s' if len(far) > 2 else ''})" if len(far) > 1 else ""
    lack = f"is more than a year after the day before it, {newest}. The prices of {newest} are used"
    return newest, (first.problem("retrieved_date", f"{day}{others} {lack}; --as-of {day} uses the prices of that day"),)


@cache_with_data
def last_day(data: Data) -> date:
    """Return the newest retrieval day of the shipped prices. No row of the tables is newer."""
    _, rows = prices_that_ship(data)
    return newest_day(rows)[0]


def moved(day: date, shipped: Sequence[PriceRow], own: Sequence[PriceRow]) -> str:
    """Return which row of the user's file made the day later than the shipped one, or ""."""
    before, _ = newest_day(shipped)
    row = next((row for row in own if row.retrieved_date == day), None) if day > before else None
    if row is None:
        return ""
    place = str(row.problem(None, "")).removesuffix(": ")
    return f"prices are of {day}, the retrieved_date of {place}; the shipped ones were read on {before}"


def own_file(prices: Prices) -> FileText:
    """Return the content of a user's price file: of a path, a stream of text or bytes, or lines of text."""
    if isinstance(prices, FileText):
        return replace(prices, place=own_place(prices.place))
    if isinstance(prices, str | Path):
        return FileText(own_place(label(prices)), content_of(prices))
    if hasattr(prices, "read"):
        return FileText(STANDARD_INPUT, content_of_stream(prices))
    return FileText(STANDARD_INPUT, "".join(f"{line.removesuffix(chr(10))}\n" for line in prices).encode(errors="replace"))


def own_place(place: str) -> str:
    """Return the name of a user's file in messages. Only the shipped table is called `prices.csv`."""
    return f"./{place}" if place == SHIPPED_PRICES else place


def read_rows(
    source: Source,
    origin: str,
    fx: Fx | None = None,
    overlay: bool = False,
    beside: Sequence[PriceRow] = (),
    described: Sequence[ModelRow] = (),
    rates: Iterable[tuple[str, float]] = (),
    data: Data | None = None,
    typed: tuple[str, int] | None = None,
) -> tuple[list[PriceRow], list[Problem]]:
    """Return the sound rows of a price file and the faults of the others. `overlay` marks a file of the user.

    A blank currency must not contradict the rows `beside`. No name may look like another name in these rows or in `described`.
    `rates` are US dollars for one unit of a currency, for rows without a rate of their own. Messages name the prices of a `typed` sheet,
    given with its first row. At most a thousand faults are listed. Raise WrongData for a file that cannot be used.
    """
    rows, faults = list[PriceRow](), list[Problem]()
    held: dict[RowKey, list[PriceRow]] = {}
    data = data or read_data()
    shipped_table = "" if overlay else origin.removesuffix(".csv") if origin in data.tables.files else "prices"
    columns = _price_columns(data, shipped_table)
    given_rates = {currency: repr(rate) for currency, rate in rates}
    try:
        table = CsvTable(source, origin, tuple(columns), NEEDED if overlay else None, _OTHER_NAMES)
        filled = {*table.header, *(("per", "usd_rate") if overlay else ())}
        read = [column for name, column in columns.items() if name in filled]
        blanks: dict[str, Any] = {name: column.read("")[0] for name, column in columns.items() if name not in filled}
        for cells in table:
            if cells.fault:
                faults.append(Problem(origin=origin, row=cells.place, message=cells.fault))
                continue
            if overlay:
                cells["per"] = cells.get("per") or ("mtok_hour" if cells["component"] == "cache_storage" else "mtok")
                cells["usd_rate"] = cells.get("usd_rate") or given_rates.get(cells.get("currency", ""), "")
            place = name_price(typed[0], cells) if typed and cells.place >= typed[1] else f"{origin}:{cells.place}"
            values, wrong = read_cells(cells, read)
            if not wrong:
                row = PriceRow(**blanks, **values, origin=place, currency_assumed=not cells.get("currency"))
                wrong = [*contradictions(row, fx or {}), *([] if overlay else missing_dates(row))]
            if wrong:
                faults += [problem_at(place, column, message) for column, message in wrong]
            elif clash := hold(held, row):
                faults.append(replace(clash, column=None) if clash.column not in cells else clash)
            else:
                rows.append(row)
        if table.unknown:
            raise BadRow(table.unknown)
    except WrongData as error:
        beyond = f"\nand {len(faults) - _FAULTS_BESIDE} more faults" if faults[_FAULTS_BESIDE:] else ""
        raise WrongData("\n".join(map(str, (error, *faults[:_FAULTS_BESIDE]))) + beyond) from None
    unclear = unsaid_currencies(rows, beside)
    mistaken = look_alikes(rows, names_in_use(beside, described))
    faults += [*unclear.values(), *chain.from_iterable(mistaken.values())]
    if more := len(faults[PROBLEM_LIMIT:]):
        faults[PROBLEM_LIMIT:] = [Problem(origin=origin, message=f"has {more} more faults like these")]
    return [row for row in rows if row.origin not in unclear and row.origin not in mistaken], faults


def sound_rows(*args: Any, **kwargs: Any) -> list[PriceRow]:
    """Return the rows of a price file as `read_rows` does. Raise BadRow with every fault."""
    rows, faults = read_rows(*args, **kwargs)
    if faults:
        raise BadRow(*faults)
    return rows


def names_in_use(rows: Sequence[PriceRow], described: Sequence[ModelRow]) -> dict[str, list[str]]:
    """Return the names of rows by column, with the names and aliases of models.csv."""
    names = {column: [getattr(row, column) for row in rows] for column in NAMES}
    names["provider"] += [row.provider for row in described]
    names["model"] += [name for row in described for name in (row.model, *row.aliases)]
    return names


def rates(known: Iterable[FxRate]) -> dict[str, tuple[FxRate, ...]]:
    """Return the exchange rates by currency, oldest first."""
    oldest_first = sorted(known, key=lambda rate: rate.date)
    return {name: tuple(found) for name, found in grouped((rate.currency, rate) for rate in oldest_first).items()}
