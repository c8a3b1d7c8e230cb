"""Build a page for each price sheet: its main results, its prices with their sources, every reading of them, and its citation."""

import re
from collections.abc import Iterator
from functools import partial

from backsolve.figures.sheets import figures_of_sheet
from backsolve.site.parts import sections_of
from backsolve.site.what_if import what_if
from backsolve.site.writing import Page
from invert.compare import histories
from invert.comparison_records import History
from invert.report.changes import history_parts
from invert.report.price_pages import GRADES, sheet_reference
from invert.report.sheet import full_parts, readings_in_lines
from invert.result import Inference, Run


def sheet_address(one: Inference) -> str:
    """Return the permanent address of the page of a sheet.

    >>> from invert.inference import infer
    >>> sheet_address(infer("gemini-3.1-pro")[0])
    'sheet/google/gemini-3.1-pro-preview/index.html'
    """
    return _address(one.sheet.provider, one.sheet.model)


def _address(*names: str) -> str:
    """Return an address with names as folders of any file system: no path to a parent folder, no special characters of URLs."""
    folders = (re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".") or "-" for name in names)
    return f"sheet/{'/'.join(folders)}/index.html"


def pages_of_sheets(table: Run) -> Iterator[Page]:
    """Yield the page of every sheet of a run."""
    _, found = histories([one.name for one in table], assumptions=table.assumptions)
    past = {one.key: one for one in found}
    yield from (_page(one, table, past.get(one.sheet.key)) for one in table)


def pages_of_other_names(table: Run) -> Iterator[Page]:
    """Yield, for every other name of a model in lower case, a page that redirects to its sheet, unless another model has the same name."""
    sheets = {sheet_address(one): one.sheet for one in table}
    meant: dict[str, set[str]] = {address.lower(): {address} for address in sheets}
    for one in table:
        for alias in one.model.aliases if one.model else ():
            name = alias.removeprefix(f"{one.sheet.provider}/")
            meant.setdefault(_address(one.sheet.provider, name).lower(), set()).add(sheet_address(one))
    own = {address.lower() for address in sheets}
    for address, (target, *others) in meant.items():
        if address not in own and not others:
            yield Page(address, "other_name.html", {"target": target, "sheet": sheets[target]})


def _page(one: Inference, table: Run, past: History | None) -> Page:
    rows = [row for row in table.rows if row.sheet_key == one.sheet.key]
    context = {
        "one": one,
        "said": readings_in_lines(one, table),
        "sections": sections_of(full_parts(one, table)),
        "figures": [*figures_of_sheet(one)],
        "rows": rows,
        "grades": {grade: GRADES[grade] for grade in dict.fromkeys(row.verification for row in rows) if grade in GRADES},
        "history": history_parts(past) if past else (),
        "reference": partial(sheet_reference, rows, str(one.sheet.as_of)),
        "what_if": what_if(one),
    }
    return Page(sheet_address(one), "sheet.html", context)
