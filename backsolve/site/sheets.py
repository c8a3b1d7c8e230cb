"""Build a page for each price sheet: its main results, its prices with their sources, every reading of them, and its citation."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from backsolve.site.equations import all_styles
from backsolve.site.parts import Block, sections_of, table_block, text_blocks
from backsolve.site.what_if import what_if
from backsolve.site.writing import Page
from derive.errors import NotCovered
from derive.show.chart import Chart
from derive.show.references import cite_with_references
from derive.units import show
from invert.comparison_records import History
from invert.history import histories
from invert.report.dates import history_parts
from invert.report.figures import SHEET_FIGURES
from invert.report.price_pages import GRADES, sheet_reference
from invert.report.readings import readings_in_lines
from invert.report.sheet import full_parts
from invert.result import Inference, Run
from invert.sheets.rows import PriceRow
from invert.sheets.what_if import sheet_key

_SHOWN = 2
"""The number of open sections: the prices and all estimates. A reader opens the others by their headings."""
ROW_COLUMNS = ("what", "price", "from", "until", "read on", "grade", "page", "notes")


def sheet_address(one: Inference) -> str:
    """Return the permanent address of the page of a sheet.

    >>> from invert.inference import infer
    >>> sheet_address(infer("gemini-3.1-pro")[0])
    'sheet/google/gemini-3.1-pro-preview/index.html'
    """
    return _address(one.sheet.provider, one.sheet.model)


def _address(provider: str, model: str) -> str:
    return f"sheet/{_folder_name(provider)}/{_folder_name(model)}/index.html"


def _folder_name(name: str) -> str:
    """Return a name as a folder name for any file system, without a path to a parent folder and without special characters of URLs."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".") or "-"


def pages_of_sheets(table: Run, html_base: str = "") -> Iterator[Page]:
    """Yield the page of every sheet of a run."""
    past = {found.key: found for found in histories([one.name for one in table], assumptions=table.assumptions)}
    for one in table:
        rows = [row for row in table.rows if row.sheet_key == sheet_key(one.sheet)]
        yield _page(one, table, past.get(sheet_key(one.sheet)), rows, html_base)


def pages_of_other_names(table: Run) -> Iterator[Page]:
    """Yield, for every other name of a model in lower case, a page that leads to its sheet, unless another model has the name too."""
    titles = {sheet_address(one): f"{one.sheet.provider} {one.sheet.model}" for one in table}
    meant: dict[str, set[str]] = {address.lower(): {address} for address in titles}
    for one in table:
        for alias in one.model.aliases if one.model else ():
            name = alias.removeprefix(f"{one.sheet.provider}/")
            meant.setdefault(_address(one.sheet.provider, name).lower(), set()).add(sheet_address(one))
    for address, targets in meant.items():
        target, *others = sorted(targets)
        if address not in {known.lower() for known in titles} and not others:
            yield Page(address=address, template="other_name.html", title=titles[target], context={"target": target})


def _page(one: Inference, table: Run, past: History | None, rows: Sequence[PriceRow], html_base: str) -> Page:
    said, sections = readings_in_lines(one, table), sections_of(full_parts(one, table))
    title = f"{one.sheet.provider} {one.sheet.model}"
    reference = sheet_reference([*rows], str(one.sheet.as_of), html_base)
    context = {
        "one": one,
        "flags": one.flags,
        "headlines": said,
        "figures": [*_figures(one)],
        "rows": provenance(rows),
        "grades": {grade: GRADES[grade] for grade in dict.fromkeys(row.verification for row in rows) if grade in GRADES},
        "sections": sections,
        "shown": _SHOWN,
        "history": tuple(text_blocks(history_parts(past))) if past else (),
        "citations": all_styles(lambda style: cite_with_references([], [reference], style)),
        "what_if": what_if(one),
    }
    return Page(
        address=sheet_address(one),
        template="sheet.html",
        title=title,
        summary=" ".join([*said[:1], f"Prices of {one.sheet.as_of} and what they imply."]),
        kind="price sheet",
        words=" ".join([*said, *one.flags]),
        context=context,
    )


def provenance(rows: Sequence[PriceRow]) -> Block:
    """Return every price row with its effective date, its grade and its source."""
    return table_block(ROW_COLUMNS, map(_row, rows))


def _row(row: PriceRow) -> dict[str, object]:
    where = f" above {show('long_context_threshold', row.threshold_tokens)}" if row.threshold_tokens else ""
    kept = f", kept {show('ttl', row.ttl_seconds)}" if row.ttl_seconds else ""
    per = "MTok and hour" if row.per == "mtok_hour" else "MTok"
    return {
        "what": f"{row.component.replace('_', ' ')}{kept}{where}",
        "price": f"{row.amount:g} {row.currency}/{per}",
        "from": f"{row.effective_date} ({row.date_kind.replace('_', ' ')})" if row.effective_date else "always",
        "until": row.valid_to or "open",
        "read on": row.retrieved_date,
        "grade": row.verification,
        "page": row.source_url or row.origin,
        "notes": row.notes or None,
    }


def _figures(one: Inference) -> Iterator[Chart]:
    """Yield the figures with data to draw. In the figure of size against price only the sheet is named."""
    needed = {"cost-context": one.pairs, "tornado": one.pairs, "tier-map": one.storage}
    for name, chart_of in SHEET_FIGURES.items():
        with suppress(NotCovered):
            if needed.get(name, (one,)):
                chart = chart_of(one)
                marks = (replace(mark, names=mark.names if len(mark.names) == 1 else ()) for mark in chart.marks)
                yield replace(chart, marks=tuple(marks)) if name == "size-price" else chart
