"""Write docs/reference/catalogue.md: all equations as formulas, by quantity, and what has no derivation or source.

python docs/generate_catalogue.py           writes the file
python docs/generate_catalogue.py --check   exits 1 if the file differs from what would be written

Every equation and quantity has an anchor of its own name, so that `catalogue.md#roofline.step_time` can be linked to.
"""

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from written import REFERENCE, main, table

from derive.catalogue import CHAPTERS, by_id, equations
from derive.quantities import QUANTITIES
from derive.records import Equation
from derive.show.entry import parents, reason_not_derived, referenced_by, worked_example

PAGE = REFERENCE / "catalogue.md"


def page() -> str:
    """Return the whole page."""
    return "\n\n".join([*heading(), *by_chapter(), *by_quantity(), *without_derivation(), *without_source()]) + "\n"


def heading() -> Iterator[str]:
    """Yield the introduction of the page, its size, and links to the chapters."""
    rows = list(by_id().values())
    derived = sum(bool(row.steps) for row in rows)
    yield "# Catalogue"
    yield "Made by `python docs/generate_catalogue.py` from `derive/catalogue`. Edit it instead of this page."
    yield (
        f"{len(rows)} equations in {len(CHAPTERS)} chapters, {derived} of them derived from others in"
        f" {sum(len(row.steps) for row in rows)} steps. `backsolve show ID` prints an equation with its derivation,"
        " `backsolve cite ID` cites it."
    )
    counts = ((chapter, len(equations(chapter))) for chapter in CHAPTERS)
    yield "\n".join(f"- [{chapter}](#{chapter}): {count} equations" for chapter, count in counts)
    yield "- [By quantity](#by-quantity)\n- [Without derivation](#without-derivation)\n- [Without source](#without-source)"


def by_chapter() -> Iterator[str]:
    """Yield every equation under its chapter, below the first line of the module of the chapter."""
    for chapter in CHAPTERS:
        module = import_module(f"derive.catalogue.{chapter}")
        yield f"## {chapter}"
        yield (module.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        for row in equations(chapter):
            yield from entry(row)


def entry(row: Equation) -> Iterator[str]:
    """Yield one equation: its anchor, kind, formula (in symbols and as typed), statement, and relations to other equations."""
    yield f'### <a id="{row.id}"></a>{row.id}'
    yield f"**{row.title}.** {row.described}, `{row.reference}`"
    yield f"```math\n{row.latex}\n```"
    left, right = row.sides
    yield f"`{left} {row.sense} {right}`"
    yield row.statement
    if row.result:
        yield f"Example: `{worked_example(row)}`"
    places = [f"follows from {linked(parents(row))}"] if parents(row) else []
    places += [f"referenced by {linked(referenced_by(row.id))}"] if referenced_by(row.id) else []
    if places:
        yield f"{places[0][0].upper()}{'; '.join(places)[1:]}."


def by_quantity() -> Iterator[str]:
    """Yield every quantity with the equations that define it and the equations that use it."""
    yield "## By quantity"
    rows = []
    for quantity in QUANTITIES.values():
        found = equations(symbol=quantity.name)
        defining = [row.id for row in found if row.defines == quantity.name]
        others = [row.id for row in found if row.id not in defining]
        name = f'<a id="{quantity.name}"></a>`{quantity.name}`'
        rows.append((name, f"`{quantity.symbol}`", f"$`{quantity.latex}`$", quantity.unit, linked(defining), linked(others)))
    yield table(("quantity", "typed", "symbol", "unit", "defined by", "also in"), rows)


def without_derivation() -> Iterator[str]:
    """Yield the equations that follow from no other equation, with the reason."""
    yield "## Without derivation"
    rows = [(linked([row.id]), reason_not_derived(row)) for row in by_id().values() if not row.steps]
    yield table(("id", "why"), rows)


def without_source() -> Iterator[str]:
    """Yield the equations without a source."""
    yield "## Without source"
    yield linked(row.id for row in by_id().values() if not row.sources) or "None."


def linked(ids: Iterable[str]) -> str:
    """Return ids as links to their entries."""
    return ", ".join(f"[`{id}`](#{id})" for id in ids)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).name, PAGE, page, sys.argv[1:]))
