"""Updates of a price file from databases: a changed price is closed, and the new price is appended."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from io import BytesIO
from operator import itemgetter

from derive.errors import WrongData
from derive.files import alone, content_before, label, write
from derive.immutable import immutable
from derive.tables.lines import CsvTable, Problem
from derive.tables.writing import cell_text, edited_table
from invert.sheets.diff import Difference, price_facts, redescribed
from invert.sheets.read import NEEDED, sound_rows
from invert.sheets.rows import OWN_COLUMNS, PRICE_COLUMNS, Fx, PriceRow, SheetKey, description_of
from invert.sheets.rules import is_traded, rows_by_sheet

_PRICED = PRICE_COLUMNS[:13]
"""Columns that identify a price, and columns that give its amount."""


@immutable
class Rival:
    """A price on which two sources disagree: the row that is used, and the row that is not."""

    row: PriceRow
    believed: PriceRow

    def __str__(self) -> str:
        row = self.row
        sheet = ", ".join(filter(None, (row.region, row.service_tier, row.utc_hours, row.weekdays)))
        lifetime = f" for {row.ttl_seconds:,} s" if row.ttl_seconds else ""
        place = lifetime + (f" above {row.threshold_tokens:,}" if row.threshold_tokens else "")
        what = f"{row.provider}/{row.model} ({sheet}) {row.component}{place}"
        same_band = self.believed.threshold_tokens == row.threshold_tokens
        source = "another entry of " * (source_name(self.believed) == source_name(row)) + source_name(row)
        return f"{what}: {'' if same_band else 'no price of its own, '}{price_and_source(self.believed)}; {_price(row)} by {source}"


@dataclass(kw_only=True)
class Update:
    """The changes of a price file: the days on which rows end, by origin, and the rows to append. `updated` fills it in.

    `counts` are prices by (database, result): `added`, `changed`, `ended` if the sheet lacks them now, `kept` if they are the same,
    `other_day` if they hold on another day and are not in the file. `later` are changes that must wait for another day, and `held` is the
    earlier number of rows. `redescribed` are new facts of a database about the model of remaining rows, and `cells` the new cells of these
    rows, by origin and column. `not_met` are sheets from the same databases that the present pull does not contain.
    """

    closed: dict[str, date] = field(default_factory=dict)
    opened: list[PriceRow] = field(default_factory=list)
    rivals: list[Rival] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    later: list[Problem] = field(default_factory=list)
    held: int = 0
    redescribed: list[Difference] = field(default_factory=list)
    cells: dict[str, Mapping[str, object]] = field(default_factory=dict)
    not_met: tuple[SheetKey, ...] = ()

    def count(self, what: str) -> int:
        """Return the number of prices of all databases with a result: added, changed, ended or kept."""
        return sum(number for (_, became), number in self.counts.items() if became == what)

    def add(self, rows: Iterable[PriceRow], became: str) -> None:
        """Count prices with a result."""
        self.counts.update((database(row), became) for row in rows)


def price_and_source(row: PriceRow) -> str:
    """Return the price of a row and its source: `3 by genai-prices 0.2.3`."""
    return f"{_price(row)} by {source_name(row)}"


def _price(row: PriceRow) -> str:
    return cell_text(row.amount) + ("" if row.currency == "USD" else f" {row.currency}")


def source_name(row: PriceRow) -> str:
    """Return the source of a row: the database at the start of its notes, or its file and grade."""
    if row.verification in ("db", "db_host") and row.notes:
        return row.notes.partition(";")[0]
    return f"{row.origin.rpartition('/')[2]} ({row.verification})"


def updated(held: Sequence[PriceRow], pulled: Sequence[PriceRow], day: date) -> Update:
    """Return how a pull on a day changes the rows of a file. It overwrites no price.

    A price that its own source changed is closed on the day, and a new one opened. A price that another source contradicts stays, and the
    other price is its rival. New facts of a source about a model go into the valid rows of its sheet. A sheet that its source no longer
    lists stays open, because its prices may still hold. If a seller was read on a later day, its rows do not change.
    """
    sheets, of_sheet, update = rows_by_sheet(held), rows_by_sheet(pulled), Update(held=len(held))
    # An unchanged row keeps the day on which it was first read. Other rows of its seller show that its source was read again.
    after = [(row.retrieved_date, row) for row in held if row.retrieved_date and row.retrieved_date > day]
    later = {(row.provider, database(row)): row for _, row in sorted(after, key=itemgetter(0))}
    for key, rows in of_sheet.items():
        sheet, current = sheets.get(key, []), [row for row in rows if row.valid_on(day)]
        now = [row for row in sheet if row.valid_on(day)]
        if newest := next(filter(None, (later.get((row.provider, database(row))) for row in rows)), None):
            _add_past(update, current, now, newest, day)
        elif not sheet:
            update.opened += rows
            update.add(rows, "added")
        else:
            there = {(row.effective_date, *price_facts(row)) for row in sheet}
            for row in rows:
                if row.valid_on(day):
                    _add_price(update, row, sheet, now, day)
                else:
                    update.add([row], "kept" if (row.effective_date, *price_facts(row)) in there else "other_day")
            # Their own source no longer lists them, although it lists the sheet.
            keys, sources = {row.key for row in current}, {database(row) for row in current}
            left = [row for row in now if row.valid_to is None and row.key not in keys and database(row) in sources]
            ended = [row for row in left if _can_end(row, day)]
            update.closed |= dict.fromkeys((row.origin for row in ended), day)
            update.add(ended, "ended")
            _add_description(update, now, current)
    # A valid sheet is not met if its databases no longer list it, although they list other sheets of the same seller.
    read = {(row.provider, database(row)) for row in pulled}
    now_of = ((key, [row for row in rows if row.valid_on(day)]) for key, rows in sheets.items() if key not in of_sheet)
    update.not_met = tuple(key for key, now in now_of if now and all((row.provider, database(row)) in read for row in now))
    return update


def _add_past(update: Update, current: Sequence[PriceRow], now: Iterable[PriceRow], newest: PriceRow, day: date) -> None:
    """Add to an update a pull of an earlier day than the last one: it counts equal prices and changes no row."""
    there = {price_facts(row) for row in now}
    kept = [row for row in current if price_facts(row) in there]
    update.add(kept, "kept")
    if len(kept) < len(current):
        why = f"those of {newest.provider} were read on {newest.retrieved_date}, and other prices of {current[0].model} on {day}"
        update.later.append(newest.problem("retrieved_date", f"{why}: a pull of an earlier day changes no row"))


def _add_description(update: Update, now: Sequence[PriceRow], current: Iterable[PriceRow]) -> None:
    """Add to an update the new facts of a database about the model of a sheet that it prices. A fact that it no longer gives stays."""
    name = next((database(row) for row in now if is_traded(row)), "")
    mine, its = ([row for row in rows if name and database(row) == name] for rows in (now, current))
    changes = [one for one in redescribed(mine, its) if one.values[1]]
    cells = {one.column: one.values[1] for one in changes}
    update.redescribed += changes
    update.cells |= {row.origin: cells for row in now if cells and database(row) and row.origin not in update.closed}


def _add_price(update: Update, new: PriceRow, sheet: Sequence[PriceRow], now: Sequence[PriceRow], day: date) -> None:
    """Add to an update how one price of the day changes the rows of its sheet. `now` are the valid rows."""
    known = [row for row in sheet if row.key == new.key]
    old = next((row for row in now if row.key == new.key), None)
    own = any(database(row) == database(new) for row in now)
    bands = {row.threshold_tokens: row for row in now if row.component == "input"}
    # A new band contradicts the base price if the sheet lacks the band and no valid row is from its database.
    base = None if own or new.threshold_tokens in bands else bands.get(0)
    believed = base if old is None else old if database(old) != database(new) else None
    if old and price_facts(old) == price_facts(new):
        update.add([new], "kept")
    elif believed:
        update.rivals.append(Rival(row=new, believed=believed))
    elif old and not _can_end(old, day):
        why = f"began on {old.effective_date}, and {price_and_source(new)}: pull again on a later day"
        update.later.append(old.problem("amount", why))
    else:
        to_come = (row.start for row in known if row.start > day)
        ends = min((end for end in (new.valid_to, *to_come) if end), default=None)
        # The database of the row describes the model if it prices the sheet. Else the present description of the sheet stays.
        priced = not now or any(is_traded(row) and database(row) == database(new) for row in now)
        described = description_of([new] if priced else now)
        update.opened.append(replace(new, effective_date=day, date_kind="first_seen", valid_to=ends, **described))
        update.closed |= {old.origin: day} if old else {}
        update.add([new], "changed" if old else "added")


def _can_end(row: PriceRow, day: date) -> bool:
    """Return whether a row may end on a day. No row ends on the day on which it begins."""
    return row.effective_date is None or row.effective_date < day


def database(row: PriceRow) -> str:
    """Return the database of a row without its version, or "" for a row that a person wrote."""
    return row.notes.partition(";")[0].partition(" ")[0] if row.verification in ("db", "db_host") else ""


def update_file(
    place: str, decide: Callable[[list[PriceRow]], Update], fx: Fx, beside: Sequence[PriceRow] = (), rivals: Sequence[Rival] = ()
) -> Update:
    """Close and append the rows that `decide` returns for a file. The file is created if needed, and written whole or not at all.

    Rejected prices go to a file of `rivals` in the same folder. Other processes cannot write it at the same time. Raise `WrongData` for a
    file with an unreadable row, because it could not be kept.
    """
    with alone(place):
        content = content_before(place)
        rows = sound_rows(BytesIO(content), label(place), fx, True, beside) if content else []
        update = decide(rows)
        not_believed = _with_rivals(rivals_of(place), (*rivals, *update.rivals))
        if update.closed or update.opened or update.cells:
            changed = {**update.cells, **{origin: {"valid_to": end} for origin, end in update.closed.items()}}
            cells = {
                int(origin.rpartition(":")[2]): {name: cell_text(value) for name, value in of.items()} for origin, of in changed.items()
            }
            write(place, edited_table(content, OWN_COLUMNS, [*map(cells_of, update.opened)], cells))
        if not_believed:
            # After the prices. If those cannot be written, no file changes. The next pull reports again any rival that is missing here.
            write(rivals_of(place), not_believed)
    return update


def rivals_of(place: str) -> str:
    """Return the path of the file of rival prices, in the folder of a price file."""
    return f"{place.removesuffix('.csv')}_rivals.csv"


def _with_rivals(place: str, rivals: Iterable[Rival]) -> bytes:
    """Return the file of rivals with the new ones of these, or no bytes if it has them all."""
    content = content_before(place)
    seen: set[tuple[str, ...]] = set()
    for row in CsvTable(BytesIO(content), label(place), OWN_COLUMNS, NEEDED) if content else ():
        if row.fault:
            raise WrongData(f"{label(place)} row {row.place}: {row.fault}. Correct it first. No file was changed")
        seen.add(_rival_key(row))
    new = [cells for cells in map(_cells_of_rival, distinct(rivals)) if _rival_key(cells) not in seen]
    return edited_table(content, PRICE_COLUMNS, new) if new else b""


def distinct(rivals: Iterable[Rival]) -> tuple[Rival, ...]:
    """Return each disagreement once."""
    found: dict[tuple[str, ...], Rival] = {}
    for one in rivals:
        found.setdefault(_rival_key(_cells_of_rival(one)), one)
    return tuple(found.values())


def _cells_of_rival(rival: Rival) -> dict[str, str]:
    """Return a row of the file of rivals. Its notes end with the chosen price."""
    return cells_of(replace(rival.row, notes=f"{rival.row.notes}; {price_and_source(rival.believed)}"))


def _rival_key(cells: Mapping[str, str]) -> tuple[str, ...]:
    """Return the facts that identify a rival: its price and source, and the price and source that it contradicts."""
    notes = cells.get("notes", "")
    return (*(cells.get(name, "") for name in _PRICED), notes.partition(";")[0], notes.rpartition(";")[2])


def price_file(rows: Iterable[PriceRow]) -> str:
    """Return rows as a price file."""
    return edited_table(b"", OWN_COLUMNS, [*map(cells_of, rows)]).decode()


def cells_of(row: PriceRow) -> dict[str, str]:
    """Return a row as the cells of a price file, by column."""
    return {name: cell_text(getattr(row, name)) for name in OWN_COLUMNS}
