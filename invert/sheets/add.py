"""The rows of a typed price sheet for the end of a price file. No row of the file is lost, and no wrong row is added."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from io import BytesIO

from derive.characters import begins_as_formula, hidden, mark_in_words, trimmed
from derive.errors import WrongData, WrongValue, shorten, suggest
from derive.files import alone, content_before, label, write
from derive.immutable import immutable
from derive.tables.cells import read_tokens
from derive.tables.problems import Problem
from derive.tables.writing import edited_table
from invert.assumptions import USUAL
from invert.data import Data
from invert.sheets.assemble import Place, spelled, typed_place
from invert.sheets.diff import date_of
from invert.sheets.doubts import doubtful_prices
from invert.sheets.read import NEEDED, book_of, own_place, prices_that_ship, read_rows
from invert.sheets.rows import OWN_COLUMNS, PriceBook, PriceRow
from invert.sheets.rules import COMPONENTS, Clash, check, descriptions_at_odds

SHEET_FIELDS = (
    "region", "service_tier", "currency", "max_context", "release_date", "effective_date", "valid_to", "retrieved_date", "utc_hours",
    "weekdays", "usd_rate", "verification", "source_url", "notes",
)  # fmt: skip
"""The fields of a sheet beside its prices. A release is the day from which prices hold, unless that day is given."""
_TO_FOLLOW = "; with effective_date=, the later day on which the new price begins, the older one ends there"
_TYPED = "what is typed"
"""The name in messages of a sheet that goes to no file."""
TYPED_ORDER = tuple(dict.fromkeys((*NEEDED, *OWN_COLUMNS)))
"""The columns of a new file: the needed ones first."""
_FIRST_ROW = 2
"""The row number of the first price in a file with the header in its first line."""


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
    """Return the cells of a row for every price of a sheet `provider/model`.

    The items are such as `{"input": "2", "input@200k": "4", "max_context": "1M"}`.

    >>> cells_of_sheet("acme/perm", {"input": "2", "output": "10"})[1]
    {'provider': 'acme', 'model': 'perm', 'component': 'output', 'amount': '10'}
    """
    provider, slash, model = name.strip().partition("/")
    if not (slash and provider and model):
        raise WrongValue(f"{shorten(name)} is not provider/model, such as acme/perm")
    said = {field: items[field].strip() for field in SHEET_FIELDS if items.get(field, "").strip()}
    if "max_context" in said:
        try:
            said["max_context"] = str(read_tokens(said["max_context"]))
        except WrongData as error:
            raise WrongValue(f"max_context {error}") from None
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
        if spec.partition("@")[0].partition(":")[0] not in COMPONENTS:
            known = (*COMPONENTS, *SHEET_FIELDS)
            meant = suggest(spec, known) or f"; allowed: {', '.join(known)}"
            raise WrongValue(f"{shorten(spec)} is neither a price nor a field of a sheet{meant}")
        component, threshold, ttl = priced = typed_place(spec)
        if (other := named.setdefault(priced, spec)) != spec:
            raise WrongValue(f"{shorten(other)} and {shorten(spec)} are the same price; give one of them")
        place = {"threshold_tokens": str(threshold)} if threshold else {}
        place |= {"ttl_seconds": str(ttl)} if ttl else {}
        rows.append({"provider": provider, "model": model, "component": component, **place, "amount": amount.strip(), **said})
    if not rows:
        raise WrongValue(f"{shorten(name)} has no price; give input=2 output=10")
    return [*rows, *_without_premium(rows)]


def refuse_answer(name: str, items: Mapping[str, str], data: Data) -> None:
    """Raise WrongValue for a sheet, a price or a field that is wrong, whatever the later answers are.

    >>> from invert.data import read_data
    >>> refuse_answer("acme/perm", {"input": "2,5"}, read_data())
    Traceback (most recent call last):
        ...
    derive.errors.WrongValue: '2,5' is not a number. Write 2.5
    """
    # A later answer may give the currency, so a blank one is no fault yet.
    said = {"currency": "USD", **items}
    cells = cells_of_sheet(name, said if any(item not in SHEET_FIELDS for item in items) else {"input": "1", **said})
    _refuse_hidden(cells)
    fx, shipped, _ = prices_that_ship(data)
    typed, mistyped = read_rows(BytesIO(edited_table(b"", TYPED_ORDER, cells)), _TYPED, fx, True, shipped, data=data)
    for fault in (*mistyped, *descriptions_at_odds(typed)):
        raise WrongValue(fault.message)


def prices_lacking(name: str, items: Mapping[str, str], data: Data, into: str | None = None) -> list[str]:
    """Return the components, input or output, without a price in the items and without one in the rows of the sheet in the target file.

    >>> from invert.data import read_data
    >>> prices_lacking("acme/perm", {"input": "2"}, read_data())
    ['output']
    """
    provider, _, model = name.strip().partition("/")
    sheet = provider, model, items.get("region", "").strip(), items.get("service_tier", "standard").strip()
    held = {row.component for row in _read_target(into, data)[2] if row.sheet_key == sheet and not row.threshold_tokens}
    return [component for component in ("input", "output") if component not in {*items, *held}]


def _refuse_hidden(cells: Sequence[Mapping[str, str]]) -> None:
    """Raise WrongValue for a cell with a hidden character or a formula."""
    for row in cells:
        for column, text in row.items():
            if mark := hidden(trimmed(text)):
                raise WrongValue(f"{column} {shorten(text)} holds the {mark_in_words(mark)}, which does not show")
            if column != "amount" and begins_as_formula(text):
                raise WrongValue(f"{column} {shorten(text)} begins like a formula of a spreadsheet")


def _read_target(into: str | None, data: Data) -> tuple[bytes, str, list[PriceRow], list[Problem]]:
    """Return the content of the target file, its name in messages, its rows and their faults."""
    before, origin = content_before(into) if into else b"", own_place(label(into)) if into else _TYPED
    fx, shipped, _ = prices_that_ship(data)
    rows, problems = read_rows(BytesIO(before), origin, fx, True, shipped, data=data) if before.strip() else ([], [])
    return before, origin, rows, problems


def _without_premium(rows: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the missing input or output prices of bands, copied from the band below. A price that is not named has no premium."""
    amounts = {(row["component"], int(row.get("threshold_tokens", "0"))): row for row in rows if row["component"] in ("input", "output")}
    found = []
    for component, threshold in sorted(amounts, key=lambda place: place[1]):
        other = "output" if component == "input" else "input"
        below = [at for name, at in amounts if name == other and at < threshold]
        if threshold and (other, threshold) not in amounts and below:
            found.append({**amounts[other, max(below)], "threshold_tokens": str(threshold), "notes": "no premium was named"})
    return found


def _ends_of_rows(held: Sequence[PriceRow], typed: Sequence[PriceRow]) -> dict[int, date]:
    """Return the end of each open row of a file that a typed row of the same price follows, by the index of the row."""
    begins = {row.key: row.start for row in typed if row.valid_to is None}
    return {place: begins[row.key] for place, row in enumerate(held) if row.valid_to is None and row.start < begins.get(row.key, date.min)}


def addition(name: str, items: Mapping[str, str], data: Data, into: str | None = None) -> Addition:
    """Return a typed sheet, checked beside the rows of a file and the shipped prices. Raise WrongData for a fault."""
    cells = cells_of_sheet(name, items)
    _refuse_hidden(cells)
    fx, shipped, _ = prices_that_ship(data)
    before, origin, old_rows, old_problems = _read_target(into, data)
    typed, mistyped = read_rows(BytesIO(edited_table(b"", TYPED_ORDER, cells)), origin, fx, True, shipped, data=data)
    if mistyped:
        raise WrongData(str(_typed_fault(name, mistyped[0], cells, _FIRST_ROW)))
    followed = _ends_of_rows(old_rows, typed)
    ends = {_row_number(old_rows[place]): {"valid_to": end.isoformat()} for place, end in followed.items()}
    content = edited_table(before, TYPED_ORDER, cells, ends)
    rows, problems = read_rows(BytesIO(content), origin, fx, True, shipped, data=data)
    known = {str(problem) for problem in old_problems}
    first = _FIRST_ROW if into is None else len(content.splitlines()) - len(cells) + 1
    if new := [problem for problem in problems if str(problem) not in known]:
        fault = str(_typed_fault(name, new[0], cells, first))
        raise WrongData(fault + _TO_FOLLOW if isinstance(new[0], Clash) else fault)
    added = tuple(rows[len(old_rows) :])
    meant = [replace(row, valid_to=followed.get(place, row.valid_to)) for place, row in enumerate(old_rows)]
    if rows[: len(old_rows)] != meant or len(added) != len(cells):
        raise WrongData(f"{origin}: the rows would not be read back as they are written; nothing was added")
    book = book_of(data, BytesIO(content))
    own = {row.key for row in added}
    of_sheet = PriceBook(
        rows=tuple(row for row in rows if row.sheet_key == added[0].sheet_key), fx=fx, problems=(), newest_retrieved=book.newest_retrieved
    )
    if faults := check(of_sheet):
        raise WrongData(str(_typed_fault(name, replace(faults[0], column=None), cells, first)))
    places = {(problem.origin, problem.row) for problem in (row.problem(None, "") for row in rows if row.key in own)}
    named = PriceBook(
        rows=(*(row for row in shipped if row.key not in own), *rows),
        fx=fx,
        problems=(),
        newest_retrieved=book.newest_retrieved,
        replaced=tuple(row for row in shipped if row.key in own),
    )
    doubts = tuple(one for one in doubtful_prices(named, USUAL) if (one.origin, one.row) in places)
    return Addition(
        rows=added,
        content=content,
        warnings=_distinct_doubts(name, items, doubts if into else [_typed_fault(name, one, cells, first) for one in doubts]),
        closed=tuple(old_rows[place] for place in followed),
    )


def _typed_fault(name: str, fault: Problem, cells: Sequence[Mapping[str, str]], first: int) -> Problem:
    """Return a fault under the name of the typed price, if its row is in no file yet. `first` is the row number of the first typed price.

    A fault of a row in the file keeps the name of that row.
    """
    place = (fault.row or 0) - first
    if not 0 <= place < len(cells):
        return fault
    row = cells[place]
    spec = spelled((row["component"], int(row.get("threshold_tokens", "0")), int(row["ttl_seconds"]) if "ttl_seconds" in row else None))
    return Problem(origin=f"{shorten(name)} {spec}", column=fault.column, message=fault.message)


def _distinct_doubts(name: str, items: Mapping[str, str], doubts: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return each doubt once. A doubt about a value that is typed once and is in every row gets the name of the typed field."""
    found: dict[str, Problem] = {}
    for doubt in doubts:
        said = doubt
        if doubt.column in ("provider", "model", *SHEET_FIELDS):
            is_release = doubt.column == "effective_date" and not items.get("effective_date", "").strip()
            column = "release_date" if is_release else doubt.column
            said = Problem(origin=shorten(name), column=column, message=doubt.message)
        found.setdefault(str(said), said)
    return tuple(found.values())


def _row_number(row: PriceRow) -> int:
    return int(row.origin.rpartition(":")[2])


def add_to_file(name: str, items: Mapping[str, str], data: Data, into: str) -> Addition:
    """Add a typed sheet at the end of a file, which is written whole or not at all. Two writers at once lose no row."""
    with alone(into):
        found = addition(name, items, data, into)
        write(into, found.content)
        return found
