"""A page an equation: all that `backsolve show` prints of it and `backsolve cite` says, typeset and linked."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from backsolve.site.claim_states import states_of
from backsolve.site.formulas import page_data
from backsolve.site.lookups import video_of
from backsolve.site.writing import INDEX, Entry, Page
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

_STYLE_NAMES = {
    **{"plain": "Plain text", "bibtex": "BibTeX", "csl-json": "CSL-JSON (Zotero, Pandoc)", "latex": "LaTeX"},
    "markdown": "Markdown",
}


def equation_address(id: str) -> str:
    """Where the page of an equation stands, for good.

    >>> equation_address("roofline.step_time")
    'eq/roofline.step_time/index.html'
    """
    return f"eq/{id}/{INDEX}"


def equation_pages(html_base: str = "") -> Iterator[Page]:
    """All equations in the order of the catalogue; citations have their addresses where `html_base` says where the site will stand."""
    leads_to = descendants()
    return (equation_page(row, leads_to[row.id], html_base) for row in by_id().values())


def equation_page(row: Equation, leads_to: list[Equation], html_base: str = "") -> Page:
    """The page of an equation, with those whose derivations start from it."""
    ids = [None, *by_id(), None]
    place = ids.index(row.id)
    before, after = (by_id()[id] if id else None for id in (ids[place - 1], ids[place + 1]))
    return Page(
        address=equation_address(row.id),
        template="equation.html",
        title=row.title,
        summary=row.statement,
        context={
            **_context(row),
            "citations": all_styles(lambda style: cite(row.id, style, html_base)),
            "leads_to": leads_to,
            "before": before,
            "after": after,
        },
        entries=(_entry(row),),
    )


def descendants() -> Mapping[str, list[Equation]]:
    """The equations whose derivations start from each."""
    found: dict[str, list[Equation]] = {id: [] for id in by_id()}
    for row in by_id().values():
        for id in parents(row):
            found[id].append(row)
    return found


def _entry(row: Equation) -> Entry:
    """What is searched of an equation; what else the quantities are called that it only speaks of stands with these."""
    called = " ".join(aliases(row.defines)) if row.defines else ""
    spoken_of = f"{' '.join(f'{name} {QUANTITIES[name].symbol}' for name in row.symbols)} {called}"
    said = " ".join(source.said for source in row.sources)
    words = f"{row.id} {row.statement} {spoken_of} {' '.join(row.assumptions)} {said}"
    return Entry(title=row.title, kind="equation", address=equation_address(row.id), summary=row.statement, words=words)


def _context(row: Equation) -> dict[str, Any]:
    """What the template of an equation shows, out of the record that `show --as json` prints."""
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
    """Every form of a citation: its style, what people call that, and the text.

    Of CSL-JSON an item is a line, as indented it takes half as much again.

    >>> all_styles(lambda style: '[{"id": "a"}, {"id": "b"}]')[2][2].splitlines()
    ['[{"id":"a"},', '{"id":"b"}]']
    """
    return [(style, name, in_lines(written(style)) if style == "csl-json" else written(style)) for style, name in _STYLE_NAMES.items()]


def in_lines(items: str) -> str:
    """A list of JSON, an item a line."""
    return "[" + ",\n".join(json.dumps(item, separators=(",", ":"), ensure_ascii=False) for item in json.loads(items)) + "]"


def _example(row: Equation, record: Mapping[str, Any]) -> dict[str, str] | None:
    """The worked example: the formula, the same with the numbers of the record in it, and the result."""
    if row.example is None:
        return None
    left, _, right = record["equation"].partition(f" {row.sense} ")
    values = record["example"]["values"]
    return {"left": left, "right": right, "numbers": substitute_numbers(right, values), "result": row.example.result}


@immutable
class ShownStep:
    """A step as it is typeset: its premises with the id and the step they are of, what it changes, what it comes to."""

    operation: str
    premises: tuple[tuple[Markup, str, int, str, str], ...]
    change: str
    conclusion: Markup


def step_shown(step: NarratedStep) -> ShownStep:
    """A step of a derivation, its relations set in MathML."""
    return ShownStep(
        operation=step.operation,
        premises=tuple((_set(one.sides), one.owner[0].id, one.owner[1], one.origin, one.where) for one in step.premises),
        change=step.change,
        conclusion=_set(step.sides, step.sense),
    )


def _set(sides: "Sides", sense: str = "=") -> Markup:
    left, right = map(as_tree, sides)
    return Markup(math(relation_in_mathml(left, sense, right), display=True))
