"""Build a page for each equation: the outputs of `backsolve show` and `backsolve cite`, typeset and linked."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from backsolve.site.claim_states import states_of
from backsolve.site.formulas import page_data
from backsolve.site.lookups import video_of
from backsolve.site.writing import INDEX, Page
from derive.catalogue import CHAPTERS, by_id, equations
from derive.derivations import parents, reason_not_derived
from derive.immutable import immutable
from derive.quantities import QUANTITIES, aliases
from derive.quantities.formula import as_tree
from derive.records import Equation
from derive.requirements import in_words_of_names
from derive.show.citation import cite
from derive.show.entry import entry_as_record
from derive.show.mathml import math, relation_in_mathml
from derive.show.narration import NarratedStep, narrated_steps
from derive.show.parts import substitute_numbers

if TYPE_CHECKING:
    from derive.derivations import Sides

_STYLE_NAMES = {"plain": "Plain text", "bibtex": "BibTeX (Zotero reads it too)", "latex": "LaTeX", "markdown": "Markdown"}


def equation_address(id: str) -> str:
    """Return the permanent address of the page of an equation.

    >>> equation_address("roofline.step_time")
    'eq/roofline.step_time/index.html'
    """
    return f"eq/{id}/{INDEX}"


def equation_pages(html_base: str = "") -> Iterator[Page]:
    """Yield the pages of all equations in the order of the catalogue. `html_base` is the address of the site, for citations."""
    leads_to = descendants()
    return (equation_page(row, leads_to[row.id], html_base) for row in by_id().values())


def equation_page(row: Equation, leads_to: list[Equation], html_base: str = "") -> Page:
    """Return the page of an equation, with the equations whose derivations start from it."""
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
            **_context(row),
            "citations": all_styles(lambda style: cite(row.id, style, html_base)),
            "leads_to": leads_to,
            "before": before,
            "after": after,
        },
    )


def descendants() -> Mapping[str, list[Equation]]:
    """Return, for each equation, the equations whose derivations start from it."""
    found: dict[str, list[Equation]] = {id: [] for id in by_id()}
    for row in by_id().values():
        for id in parents(row):
            found[id].append(row)
    return found


def _words(row: Equation) -> str:
    """Return the words that the search finds an equation by. Only the quantity that it defines has its other names there."""
    called = " ".join(aliases(row.defines)) if row.defines else ""
    spoken_of = f"{' '.join(f'{name} {QUANTITIES[name].symbol}' for name in row.symbols)} {called}"
    said = " ".join(source.said for source in row.sources)
    return f"{row.id} {row.statement} {spoken_of} {' '.join(row.assumptions)} {said}"


def _context(row: Equation) -> dict[str, Any]:
    """Return the context of the template of an equation, from the record that `show --as json` prints."""
    record = entry_as_record(row)
    return {
        "row": row,
        "record": record,
        "formulas": page_data(row.id),
        "chapter_place": (CHAPTERS.index(row.chapter) + 1, len(equations(row.chapter))),
        "quantities": [QUANTITIES[name] for name in row.symbols],
        "requires": [(in_words_of_names(needed), needed.otherwise) for needed in row.requires],
        "reason_not_derived": "" if row.steps else reason_not_derived(row),
        "steps": [step_shown(step) for step in narrated_steps(row)],
        "follows_from": [by_id()[id] for id in parents(row)],
        "example": _example(row, record),
        "sources": [(source, video_of(source)) for source in row.sources],
        "claims": states_of(row.id),
    }


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


@immutable
class ShownStep:
    """A typeset step: its premises, each with the id and the step that it comes from, the change, and the conclusion."""

    operation: str
    premises: tuple[tuple[Markup, str, int, str, str], ...]
    change: str
    conclusion: Markup


def step_shown(step: NarratedStep) -> ShownStep:
    """Return a step of a derivation with its relations in MathML."""
    return ShownStep(
        operation=step.operation,
        premises=tuple((_set(one.sides), one.owner[0].id, one.owner[1], one.origin, one.where) for one in step.premises),
        change=step.change,
        conclusion=_set(step.sides, step.sense),
    )


def _set(sides: "Sides", sense: str = "=") -> Markup:
    left, right = map(as_tree, sides)
    return Markup(math(relation_in_mathml(left, sense, right), display=True))
