"""Infer a model's prices on every day on which one of them changed."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Unpack

from derive.tables.problems import BadRow, Problem
from invert.compare import price_changes, side_of
from invert.comparison_records import Dated, History
from invert.inference import RunOptions, infer_sheets, run_of
from invert.result import Inference
from invert.sheets.assemble import assembled
from invert.sheets.models import described
from invert.sheets.rows import PriceRow, SheetKey
from invert.sheets.sheet import PriceSheet


def histories(names: Iterable[str], **asked: Unpack[RunOptions]) -> tuple[History, ...]:
    """Return the history of the sheets that names select: each sheet on every day of a price change up to the day of the prices.

    If no service tier is given, sheets of ended service tiers of the same model come first.

    >>> (found,) = histories(["claude-opus-4-6"])
    >>> [(str(one.since), len(one.changes)) for one in found.days][-1]
    ('2026-03-13', 5)
    """
    data, book, run = run_of(names, **asked)
    released = {(row.provider, row.model): row.release_date for row in described((one.sheet for one in run), data)}
    found = []
    keys = [one.sheet.key for one in run]
    for key in dict.fromkeys(key for now in keys for key in (*([] if run.request.tier else list_earlier_tiers(now, book.rows)), now)):
        rows = [row for row in book.rows if row.sheet_key == key]
        sheets, faults = list[PriceSheet](), list[Problem]()
        # A day before the release of the model is that of its release.
        first = released.get(key[:2]) or date.min
        for day in sorted({max(day, first) for day in days_of_change(rows, run.as_of)}):
            sheet, wrong = assembled(rows, day, book.fx)
            faults += wrong
            sheets += [sheet] if sheet else []
        if faults:
            raise BadRow(*dict.fromkeys(faults))
        inferences, problems = infer_sheets(sheets, data, run.assumptions, asked.get("executor"))
        until = None if key in keys else max(row.valid_to for row in rows if row.valid_to)
        found.append(History(key=key, days=_dated(inferences, rows), until=until, problems=tuple(problems), doubts=run.doubts))
    return tuple(found)


def list_earlier_tiers(now: SheetKey, rows: Iterable[PriceRow]) -> list[SheetKey]:
    """Return the sheets of the same model in service tiers that ended when this one began."""
    (*what, _), of_tier = now, dict[SheetKey, list[PriceRow]]()
    for row in rows:
        if [*row.sheet_key[:-1]] == what:
            of_tier.setdefault(row.sheet_key, []).append(row)
    begun = min(row.start for row in of_tier[now])
    return [key for key, sold in of_tier.items() if key != now and all(row.valid_to and row.valid_to <= begun for row in sold)]


def days_of_change(rows: Iterable[PriceRow], last: date) -> list[date]:
    """List the days up to the last on which a row begins or ends. A row without a first day begins before all others."""
    rows = list(rows)
    known = sorted({day for row in rows for day in (row.start, row.valid_to) if day and date.min < day <= last})
    open_start = any(row.start == date.min for row in rows)
    if not known:
        return [last]
    return [*([known[0] - timedelta(days=1)] if open_start else []), *known]


def _dated(inferences: Iterable[Inference], rows: Iterable[PriceRow]) -> tuple[Dated, ...]:
    """Build the dated estimates. Days on which no selected price changed are left out."""
    found: list[Dated] = []
    begun = {row.start for row in rows} | {row.valid_to for row in rows}
    for one in inferences:
        side = side_of(one)
        changes = price_changes(found[-1].side.prices if found else {}, side.prices)
        if changes:
            since = one.sheet.as_of if one.sheet.as_of in begun else None
            size = (one.anchors.values["active_params"], one.anchors.origin["active_params"]) if one.size_stated else None
            found.append(Dated(since=since, as_of=one.sheet.as_of, changes=changes, side=side, size=size))
    return tuple(found)
