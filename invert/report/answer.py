"""The answer of `infer`: inferences and tables that print themselves, and the texts of the command."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from derive.errors import WrongValue
from derive.show.layout import csv_text, fold
from invert.report.columns import WIDE_KEYS, column_of, picked, refuse_unknown_pattern, sort_sheets
from invert.report.table import document, format_answer, glance
from invert.result import Run, Shown

if TYPE_CHECKING:
    from invert.comparison_records import Comparison, History

MOST_LISTED = 100
"""The most sheets of a table in the terminal. For more, a summary is printed unless columns or an order are given."""
_RECORDS = ("json", "csv")
_HISTORY_FORMATS = ("table", *_RECORDS)
_APART = {
    "full": ("columns", "wide"),
    "summary": ("full", "columns", "by", "wide", "against"),
    "history": ("full", "columns", "by", "wide", "against", "summary", "wanted"),
}
"""Options that do not go together, by their fields of `Shown`."""
_SPELLED = {"by": "sort", "wanted": "where"}


def refuse_form(shown: Shown) -> None:
    """Raise for options that do not go together and for unknown column names, before the inference runs."""
    for option, value in (("--columns", shown.columns), ("--sort", shown.by)):
        if value == "":
            raise WrongValue(f"{option} needs the name of a column, e.g. price. Given ''")
    for name in shown.column_names:
        column_of(name)
    if shown.style == "json" and shown.columns:
        raise WrongValue("--columns does not go together with --as json, which has all columns. Choose columns with --as csv")
    if shown.by:
        column_of(shown.by.removeprefix("-"))
    for wanted in shown.wanted:
        refuse_unknown_pattern(wanted)
    if shown.wide and shown.columns:
        raise WrongValue("--wide and --columns do not go together: --wide shows all columns")
    for option, others in _APART.items():
        for other in others:
            if getattr(shown, option) and getattr(shown, other):
                raise WrongValue(f"--{option} and --{_SPELLED.get(other, other)} do not go together")
    if shown.history and shown.style not in _HISTORY_FORMATS:
        raise WrongValue(f"--history is not shown as {shown.style}. Allowed: {', '.join(_HISTORY_FORMATS)}")


def select_sheets(table: Run, shown: Shown) -> Run:
    """Return the sheets that are shown, in their order."""
    found = picked(table, shown.wanted)
    sheets = {one.sheet.key for one in found}
    left = frozenset(key for one in table if (key := one.sheet.key) not in sheets)
    ordered = type(table.inferences)(sort_sheets(found, shown.by) if shown.by else found)
    return replace(table, inferences=ordered, not_picked=table.not_picked | left)


def select_changes(moved: "Comparison", table: Run, shown: Shown) -> "Comparison":
    """Return the changes of the sheets that are shown. A selection leaves out sheets that only the earlier prices have."""
    if not shown.wanted:
        return moved
    keys = {one.key for one in table}
    sheets, added = tuple(one for one in moved.sheets if one.key in keys), tuple(key for key in moved.added if key in keys)
    return replace(moved, sheets=sheets, added=added, gone=())


def answer_texts(table: Run, moved: "Comparison | None", shown: Shown, width: int) -> Iterator[str]:
    """Yield the texts of an answer of `infer`: prices changed since the release, a comparison, and the sheets."""
    # Without a sheet, the problems, printed later, say why.
    sheets = shown.against is None and bool(table or shown.style in _RECORDS)
    # The changes of one sheet are its new main results. Only --full and --columns print more of it.
    only_changes = moved is not None and _is_report(table, shown) and not shown.full and shown.style == "table"
    if shown.style == "table" and shown.against in (None, "shipped") and (text := _release_changes(table, shown.against is not None)):
        yield fold(text, width)
    if moved:
        yield _changes_text(moved, shown.style, width, only_changes and shown.against is None)
    if sheets and not only_changes:
        yield f"{chr(10) if moved else ''}{_sheets_text(table, shown, width)}"


def _is_report(table: Run, shown: Shown) -> bool:
    """Return whether the answer is the report of one sheet that is named, or the full reports of several."""
    return bool(table.request.names) and (len(table) == 1 or shown.full) and not (shown.columns or shown.wide)


def _sheets_text(table: Run, shown: Shown, width: int) -> str:
    """Return sheets as records, as a summary, as a report of each sheet, or as one table."""
    # Each form imports its own modules: together they take as long as the quickest question.
    style, columns = shown.style, shown.column_names
    long = len(table) > MOST_LISTED and style == "table" and not (columns or shown.wide or shown.by or shown.full)
    if shown.summary or long:
        from invert.report.overview import ADVICE, CSV_HEAD, OVERVIEW, OVERVIEW_SCHEMA, overview, overview_parts

        found, advice = overview(table), ["", ADVICE] * (style == "table")
        return format_answer(
            style, width, lambda: [*overview_parts(found), *advice],
            json=lambda: OVERVIEW.text(found, OVERVIEW_SCHEMA), csv=lambda: csv_text(CSV_HEAD, map(OVERVIEW.encode, found.counts)),
        )  # fmt: skip
    if style in _RECORDS:
        from invert.report import contract

        return contract.run_as_json(table) if style == "json" else contract.run_as_csv(table, columns)
    if _is_report(table, shown):
        from invert.report.sheet import full_parts, short_parts

        parts_of = full_parts if shown.full else short_parts
        return "\n\n".join(format_answer(style, width, partial(parts_of, one, table)) for one in table)
    if style != "table":
        return document(table, style, columns, shown.by)
    return glance(table, width, WIDE_KEYS if shown.wide else columns, shown.by)


def history_answer(found: "Sequence[History]", style: str, width: int) -> str:
    """Return the estimates of sheets over time in a form."""
    from invert.report import changes

    return format_answer(
        style, width, lambda: changes.histories_parts(found),
        json=lambda: changes.CHANGES.text(found), csv=lambda: changes.history_csv(found),
    )  # fmt: skip


def _changes_text(moved: "Comparison", style: str, width: int, only_main: bool) -> str:
    from invert.report import changes

    most = changes.MOST_LINES if style == "table" else None
    return format_answer(
        style, width, lambda: changes.changes_parts(moved, only_main, most),
        json=lambda: changes.CHANGES.text(moved, changes.CHANGES_SCHEMA), csv=lambda: changes.changes_csv(moved),
    )  # fmt: skip


_MOST_CHANGES = 3
"""The most prices changed since the last release that are listed. The rest are counted."""


def _release_changes(table: Run, of_others: bool) -> str:
    """Return lines about prices changed since the last release: of these sheets, or `of_others`. Without a named sheet, list all."""
    shown = {(one.sheet.provider, one.sheet.model) for one in table}
    found = [one for one in table.since_release if (one.sheet_key[:2] in shown or not table.request.selects) is not of_others]
    lines = [*dict.fromkeys(f"Changed since release: {one.row.provider} {one.row.model} {one}" for one in found)]
    more = [f"and {len(lines) - _MOST_CHANGES} more: backsolve infer --against shipped"] if lines[_MOST_CHANGES:] else []
    return "\n".join([*lines[:_MOST_CHANGES], *more])
