"""Write docs/catalogue.md, the index of all equations: by chapter, by quantity, and what has no derivation or source.

python docs/generate_catalogue.py           writes the file
python docs/generate_catalogue.py --check   exits 1 if the file differs from what would be written
"""

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from written import main

from derive.catalogue import CHAPTERS, by_id, equations
from derive.derivations import parents, referenced_by, why_not_derived
from derive.quantities import QUANTITIES
from derive.records import Equation

PAGE = Path(__file__).with_name("catalogue.md")


def page() -> str:
    """The whole index."""
    return "\n\n".join([*heading(), *by_chapter(), *by_quantity(), *without_derivation(), *without_source()]) + "\n"


def heading() -> Iterator[str]:
    rows = list(by_id().values())
    derived = sum(bool(row.steps) for row in rows)
    yield "# Catalogue"
    yield "Made by `python docs/generate_catalogue.py` from the catalogue itself; edit `derive/catalogue`, not this page."
    yield (
        f"{len(rows)} equations in {len(CHAPTERS)} chapters, {derived} of them derived from others in"
        f" {sum(len(row.steps) for row in rows)} steps. `backsolve show ID` prints an equation with its derivation,"
        " `backsolve cite ID` cites it."
    )


def by_chapter() -> Iterator[str]:
    """A table a chapter, under the first line of its module."""
    yield "## By chapter"
    for chapter in CHAPTERS:
        module = import_module(f"derive.catalogue.{chapter}")
        yield f"### {chapter}"
        yield module.__doc__.split("\n\n")[0].replace("\n", " ")
        yield table(("id", "kind", "equation", "follows from", "referenced by"), (cells(row) for row in equations(chapter)))


def cells(row: Equation) -> tuple[str, ...]:
    left, right = row.sides
    formula = f"`{left} {row.sense} {right}`"
    return (f"`{row.reference}`", row.described, formula, ids(parents(row)), ids(referenced_by(row.id)))


def by_quantity() -> Iterator[str]:
    """Every quantity with the equations that define it and those that speak of it."""
    yield "## By quantity"
    rows = []
    for quantity in QUANTITIES.values():
        found = equations(symbol=quantity.name)
        defining = [row.id for row in found if row.defines == quantity.name]
        others = [row.id for row in found if row.id not in defining]
        rows.append((f"`{quantity.name}`", f"`{quantity.symbol}`", quantity.unit, ids(defining), ids(others)))
    yield table(("quantity", "symbol", "unit", "defined by", "also in"), rows)


def without_derivation() -> Iterator[str]:
    yield "## Without derivation"
    rows = [(f"`{row.id}`", why_not_derived(row)) for row in by_id().values() if not row.steps]
    yield table(("id", "why"), rows)


def without_source() -> Iterator[str]:
    yield "## Without source"
    missing = [row.id for row in by_id().values() if not row.sources]
    yield ids(missing) or "None."


def ids(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).name, PAGE, page, sys.argv[1:]))
