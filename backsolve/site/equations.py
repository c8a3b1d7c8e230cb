"""Build a page for each equation: the outputs of `backsolve show` and `backsolve cite`, typeset and linked."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from backsolve.site.claim_states import states_of
from backsolve.site.formulas import page_data
from backsolve.site.presets import presets_data
from backsolve.site.writing import INDEX, Page
from derive.catalogue import by_id
from derive.derivations import reason_not_derived
from derive.quantities import QUANTITIES, aliases
from derive.records import Equation
from derive.requirements import in_words_of_names
from derive.show.citation import cite
from derive.show.entry import entry_as_record
from derive.show.narration import narrated_steps
from derive.show.parts import substitute_numbers

_STYLE_NAMES = {"plain": "Plain text", "bibtex": "BibTeX (Zotero reads it too)", "latex": "LaTeX", "markdown": "Markdown"}

_PRICE_CHAPTERS = ("readings", "bands", "cache")
"""Chapters whose equations read price sheets."""


def equation_address(id: str) -> str:
    """Return the permanent address of the page of an equation.

    >>> equation_address("roofline.step_time")
    'eq/roofline.step_time/index.html'
    """
    return f"eq/{id}/{INDEX}"


def equation_pages(html_base: str = "") -> Iterator[Page]:
    """Yield the pages of all equations in the order of the catalogue. `html_base` is the address of the site, for citations."""
    return (equation_page(row, html_base) for row in by_id().values())


def equation_page(row: Equation, html_base: str = "") -> Page:
    """Return the page of an equation, from the record that `show --as json` prints."""
    record = entry_as_record(row)
    ids = [None, *by_id(), None]
    place = ids.index(row.id)
    before, after = (by_id()[id] if id else None for id in (ids[place - 1], ids[place + 1]))
    return Page(
        address=equation_address(row.id),
        template="equation.html",
        title=row.title,
        summary=row.statement,
        kind="equation",
        words=_words(row),
        context={
            "row": row,
            "record": record,
            "formulas": page_data(row.id),
            "quantities": [QUANTITIES[name] for name in row.symbols],
            "requires": [(in_words_of_names(needed), needed.otherwise) for needed in row.requires],
            "reason_not_derived": "" if row.steps else reason_not_derived(row),
            "steps": [*narrated_steps(row)],
            "follows_from": [by_id()[id] for id in record["follows_from"]],
            "leads_to": [by_id()[id] for id in record["leads_to"]],
            "example": _example(row, record),
            "claims": states_of(row.id),
            "on_desk": any(leg["id"] == row.id for leg in presets_data()["legs"]),
            "of_prices": row.chapter in _PRICE_CHAPTERS,
            "citations": all_styles(lambda style: cite(row.id, style, html_base)),
            "before": before,
            "after": after,
        },
    )


def _words(row: Equation) -> str:
    """Return the words that the search finds an equation by. Only the quantity that it defines has its other names there."""
    called = " ".join(aliases(row.defines)) if row.defines else ""
    spoken_of = f"{' '.join(f'{name} {QUANTITIES[name].symbol}' for name in row.symbols)} {called}"
    said = " ".join(source.said for source in row.sources)
    return f"{row.id} {row.statement} {spoken_of} {' '.join(row.assumptions)} {said}"


def all_styles(written: Callable[[str], str]) -> list[tuple[str, str, str]]:
    """Return the forms of a citation that a page shows: style, common name and text. The command line has more."""
    return [(style, name, written(style)) for style, name in _STYLE_NAMES.items()]


def _example(row: Equation, record: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the worked example: the formula, the formula with the numbers of the record, and the result."""
    if row.example is None:
        return None
    left, _, right = record["equation"].partition(f" {row.sense} ")
    values = record["example"]["values"]
    return {"left": left, "right": right, "numbers": substitute_numbers(right, values), "result": row.example.result}
