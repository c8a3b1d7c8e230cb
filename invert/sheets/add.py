"""The rows of a typed price sheet for the end of a price file. No row of the file is lost, and no wrong row is added.

A sheet can also be typed in one line, such as `2/12; >200k 4/18; cache .2; 1h 4.5`.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from derive.errors import WrongData, WrongValue, hidden, mark_in_words, plain_word, shorten, suggest, trimmed
from derive.files import alone, content_before, label, write
from derive.immutable import immutable
from derive.tables.lines import BadRow, Problem
from derive.tables.shipped import FOLDER
from derive.tables.writing import edited_table
from invert.assumptions import USUAL
from invert.data import Data
from invert.sheets.diff import date_of
from invert.sheets.doubts import doubts_about
from invert.sheets.read import NEEDED, book_of, own_place
from invert.sheets.rows import OWN_COLUMNS, SHIPPED_PRICES, FileText, PriceBook, PriceRow
from invert.sheets.rules import COMPONENTS, OTHER_COMPONENTS, check
from invert.sheets.sheet import Place, typed_place

SHEET_FIELDS = (
    "region", "service_tier", "currency", "max_context", "release_date", "effective_date", "valid_to", "retrieved_date", "utc_hours",
    "weekdays", "usd_rate", "verification", "source_url", "notes",
)  # fmt: skip
"""The fields of a sheet beside its prices. Prices begin on the release day, unless another day is given."""
_TO_FOLLOW = "; give effective_date=, the day on which the new price begins. The older one then ends on this day"
COPIED = "no premium was named"
"""The note of a price of a band that repeats the band below."""
_TYPED = "what is typed"
"""The name in messages for a sheet that is not written to a file."""
_Ends = Mapping[int, Mapping[str, str]]
"""New ends of rows, by row number and column."""
TYPED_ORDER = tuple(dict.fromkeys((*NEEDED, *OWN_COLUMNS)))
"""The columns of a new file: the needed ones first."""


@immutable
class Addition:
    """The rows of a typed sheet, the content of the file with them, and the doubts about them.

    `closed` are earlier rows of the file, unchanged, that end at the start of one of these rows.
    """

    rows: tuple[PriceRow, ...]
    content: bytes
    warnings: tuple[Problem, ...]
    closed: tuple[PriceRow, ...] = ()


def cells_of_sheet(name: str, items: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the cells of a row for every price of a sheet `provider/model`."""
    provider, slash, model = name.strip().partition("/")
    if not (slash and provider and model):
        raise WrongValue(f"{shorten(name)} is not provider/model, such as acme/perm")
    said = {field: items[field].strip() for field in SHEET_FIELDS if items.get(field, "").strip()}
    if released := said.get("release_date", ""):
        if date_of(released) is None:
            raise WrongValue(f"release_date {shorten(released)} is not an ISO date such as 2026-11-20")
        said = {"effective_date": released, "date_kind": "start"} | said
    elif "effective_date" in said:
        said["date_kind"] = "start"
    rows = []
    named: dict[Place, str] = {}
    for spec, amount in items.items():
        if spec in SHEET_FIELDS:
            continue
        component = spec.partition("@")[0].partition(":")[0]
        if component not in COMPONENTS:
            known = (*COMPONENTS, *SHEET_FIELDS)
            other = OTHER_COMPONENTS.get(plain_word(component))
            meant = f"; did you mean {other!r}?" if other else suggest(spec, known) or f"; allowed: {', '.join(known)}"
            raise WrongValue(f"{shorten(spec)} is neither a price nor a field of a sheet{meant}")
        component, threshold, ttl = priced = typed_place(spec)
        if (other := named.setdefault(priced, spec)) != spec:
            raise WrongValue(f"{shorten(other)} and {shorten(spec)} are the same price. Give one of them")
        place = {"threshold_tokens": str(threshold)} if threshold else {}
        place |= {"ttl_seconds": str(ttl)} if ttl else {}
        rows.append({"provider": provider, "model": model, "component": component, **place, "amount": amount.strip(), **said})
    if not rows:
        raise WrongValue(f"{shorten(name)} has no price. Give input=2 output=10")
    return [*rows, *_without_premium(rows)]


def _target(into: str | None) -> FileText:
    """Return the target file, empty if there is none. Raise WrongValue for the shipped table, because its rows need more facts than a typed
    sheet has.
    """
    shipped = os.path.join(FOLDER, SHIPPED_PRICES)
    if into and os.path.exists(into) and os.path.samefile(into, shipped):
        raise WrongValue(f"{label(into)} is the shipped table. Its rows need a source and a grade: edit it, or name a file of your own")
    return FileText(own_place(label(into)), content_before(into)) if into else FileText(_TYPED, b"")


def typed_file(place: str, name: str, cells: Sequence[Mapping[str, str]], before: bytes = b"", ends: _Ends | None = None) -> FileText:
    """Return a price file with the cells of a typed sheet at its end. `ends` are new ends of existing rows."""
    content = edited_table(before, TYPED_ORDER, cells, ends)
    return FileText(place, content, typed=(name, len(content.splitlines()) - len(cells) + 1))


def _read_file(file: FileText, data: Data) -> PriceBook:
    """Return a file that replaces and extends the shipped prices."""
    return book_of(data, file) if file.content.strip() else book_of(data)


def _without_premium(rows: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the missing input or output prices of bands, copied from the band below. A price that is not named has no premium."""
    amounts = {(row["component"], int(row.get("threshold_tokens", "0"))): row for row in rows if row["component"] in ("input", "output")}
    found = []
    for component, threshold in sorted(amounts, key=lambda place: place[1]):
        other = "output" if component == "input" else "input"
        below = [at for name, at in amounts if name == other and at < threshold]
        if threshold and (other, threshold) not in amounts and below:
            found.append({**amounts[other, max(below)], "threshold_tokens": str(threshold), "notes": COPIED})
    return found


def _following(cells: Sequence[Mapping[str, str]], held: Sequence[PriceRow]) -> list[dict[str, str]]:
    """Return new copies of base prices that are typed, for bands of the sheet whose prices are copies of the earlier ones."""
    base = {row["component"]: row for row in cells if "threshold_tokens" not in row}
    names = [(row["provider"], row["model"], row.get("region", ""), row.get("service_tier", "standard")) for row in cells[:1]]
    typed = {(row["component"], row.get("threshold_tokens")) for row in cells}
    return [
        {**base[row.component], "threshold_tokens": str(row.threshold_tokens), "notes": COPIED}
        for row in held
        if row.notes == COPIED and row.valid_to is None and row.sheet_key in names and row.component in base
        and (row.component, str(row.threshold_tokens)) not in typed
    ]  # fmt: skip


def addition(name: str, items: Mapping[str, str], data: Data, into: str | None = None) -> Addition:
    """Return a typed sheet after checks against the rows of a file and the shipped prices. Raise WrongData for a fault."""
    cells, target = cells_of_sheet(name, items), _target(into)
    for column, text in (pair for row in cells for pair in row.items()):
        # It may be the end of a line.
        if mark := hidden(trimmed(text)):
            raise WrongValue(f"{column} {shorten(text)} holds the {mark_in_words(mark)}, which is invisible")
    before = _read_file(target, data)
    cells += _following(cells, before.own)
    alone = _read_file(typed_file(target.place, name, cells), data)
    begins = {row.key: row.start for row in alone.own if row.valid_to is None}
    closed = tuple(row for row in before.own if row.valid_to is None and row.start < begins.get(row.key, date.min))
    ends = {int(row.origin.rpartition(":")[2]): {"valid_to": begins[row.key].isoformat()} for row in closed}
    file = typed_file(target.place, name, cells, target.content, ends)
    try:
        book = _read_file(file, data)
    except BadRow as error:
        said = (
            f"{fault}{_TO_FOLLOW if fault.message.startswith(('overlaps', 'repeats')) and 'effective_date' not in items else ''}"
            for fault in error.problems
        )
        raise WrongData("\n".join(said)) from None
    meant = [replace(row, valid_to=begins[row.key]) if row in closed else row for row in before.own]
    old, added = book.own[: len(meant)], book.own[len(meant) :]
    if [*old] != meant or len(added) != len(cells):
        raise WrongData(f"{target.place}: the written rows would be read back differently. Nothing was added")
    sheet = added[0].sheet_key
    if faults := check(replace(book, rows=tuple(row for row in book.own if row.sheet_key == sheet))):
        raise WrongData(str(replace(faults[0], column=None)))
    released = not items.get("effective_date", "").strip()
    doubts = doubts_about([sheet], book, USUAL)
    warnings = (replace(one, column="release_date") if released and one.column == "effective_date" else one for one in doubts)
    return Addition(rows=added, content=file.content, warnings=tuple(warnings), closed=closed)


def add_to_file(name: str, items: Mapping[str, str], data: Data, into: str) -> Addition:
    """Add a typed sheet at the end of a file, which is written whole or not at all. Two writers at once lose no row."""
    with alone(into):
        found = addition(name, items, data, into)
        write(into, found.content)
        return found


TYPED_SHEET = "typed/sheet"
"""The name of a sheet that is typed without a file."""
_WORDS = {
    **{name: name for name in COMPONENTS}, **OTHER_COMPONENTS, "write": "cache_write", "context": "max_context", "released": "release_date",
    **{"currency": "currency", "rate": "usd_rate", "usd_rate": "usd_rate"},
}  # fmt: skip
"""The words before an amount or a fact, with the price or the field of a sheet that each one names."""
_BASE = re.compile(r"(?:([A-Z]{3})\s+)?([^/\s;]+)\s*/\s*([^/\s;]+)(?:\s+([A-Z]{3}))?")
_BAND = re.compile(r"(>=|[>\u2265])\s*([^\s/:]+)(?:\s*tokens)?:?\s+([^/\s]+)\s*/\s*([^/\s]+)")
_LIFETIME = re.compile(r"[0-9]{1,9}(?:s|min|h)")
_ALLOWED = "2/12 or EUR 2/12 (input/output), >200k 4/18, cache .2, 1h 4.5 (cache write kept for 1 h), storage 4.5 (per hour), " + ", ".join(
    ("context 1M", "released 2026-11-20", "rate 1.08 (USD for one EUR)")
)


def typed_sheet(text: str) -> FileText:
    """Return the price file of a typed sheet. Its name in messages and commands is the typed text.

    >>> typed_sheet("2/12; >200k 4/18; 1h 4.5").content.decode().splitlines()[-1]
    'typed,sheet,cache_write,4.5,,3600'
    >>> typed_sheet("EUR 2/12").content.decode().splitlines()[-1]
    'typed,sheet,output,12,EUR'
    """
    items: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        for name, amount in _prices_of(part).items():
            if name in items:
                raise WrongValue(f"{shorten(part)}: {name} is given twice")
            items[name] = amount
    return typed_file(text, text, cells_of_sheet(TYPED_SHEET, items))


def _prices_of(part: str) -> dict[str, str]:
    """Return the prices and fields that one part between semicolons names."""
    if band := _BAND.fullmatch(part):
        sign, threshold, above_in, above_out = band.groups()
        threshold = threshold.replace(",", "")
        if sign != ">":
            raise WrongValue(
                f"{shorten(part)}: write >{threshold}. Only a price file has a band from its threshold on (threshold_inclusive)"
            )
        return {f"input@{threshold}": above_in.lstrip("$"), f"output@{threshold}": above_out.lstrip("$")}
    if base := _BASE.fullmatch(part):
        before, amount_in, amount_out, after = base.groups()
        currency = {"currency": before or after} if before or after else {}
        return {"input": amount_in.lstrip("$"), "output": amount_out.lstrip("$"), **currency}
    word, _, amount = part.rpartition(" ")
    if _LIFETIME.fullmatch(word.strip()):
        return {f"cache_write:{word.strip()}": amount.lstrip("$")}
    if named := _WORDS.get(plain_word(word)):
        return {named: amount.lstrip("$")}
    near = "" if part in _WORDS else suggest(part.partition(" ")[0], _WORDS)
    raise WrongValue(f"{shorten(part)} is not a price of a sheet{'' if near.startswith('; allowed') else near}; allowed: {_ALLOWED}")
