"""Start a new equation of the catalogue, and list what it lacks.

    python docs/new_equation.py chapter.name

The first run writes a skeleton at the end of the chapter. Every later run lists what a person must still write, with exit status 1. If
nothing is missing it runs the tests of all entries, and writes the fingerprint and the page. An entry whose mathematics differs from its
fingerprint is refused.
"""

import ast
import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from math import isclose
from pathlib import Path

from derive.catalogue import CHAPTERS, by_id
from derive.catalogue.retired import RETIRED
from derive.errors import INPUT_IS_WRONG, WrongData
from derive.quantities import CONSTANTS, QUANTITIES
from derive.records import DEFINITION, ESTIMATE, Equation
from derive.show.mathml import latex_in_mathml
from derive.units import parse, show

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "derive" / "catalogue"
LINE = re.compile(r"\d+[a-z] [A-E]\d+")
"""The first cell of a row of lecture.csv: a number, a letter, and the entry of notes.csv it belongs to."""
TODO, AFTER_WORDS = "TODO", '"(),'
FOUR_DIGITS = 5e-4
MADE = (
    ("tests/derive/fingerprints.json", ("tests/derive/test_catalogue.py", "--write")),
    ("docs/reference/catalogue.md", ("docs/generate_catalogue.py",)),
)
"""The files that are made from the entries, each with the command that makes it."""
TESTS = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "tests/derive/catalogue", "tests/derive/quantities")
"""The tests of all entries: dimensions, names, sources and prose."""

SKELETON = """    Equation(
        id="{id}",
        title="TODO: a few words",
        # TODO: kind=BOUND, ESTIMATE, CONDITION, HEURISTIC or EMPIRICAL, if it is not a definition
        # TODO: the quantities of the relation, and its right side
        relation=lambda {name}: ({name}, {name}),
        statement="TODO: one plain sentence.",
        # TODO: requires=(Requirement(holds=lambda ...: ... >= ..., otherwise="..."),), if it is not always true
        assumptions=("TODO: what is left out or assumed",),
        # TODO: result="12.3 ms", the left side to four digits, at `given` or at the values of example_values.py
        # TODO: derivation=lambda: (Step(...),), if it follows from other equations
        sources=(ours("TODO: or talk(...), or a work of derive/catalogue/sources.py"),),
    ),
"""


def main(arguments: list[str]) -> int:
    """Write the skeleton if there is no such equation, then list what is missing of it."""
    if len(arguments) != 1 or (fault := wrong(arguments[0])):
        print(fault if len(arguments) == 1 else "usage: python docs/new_equation.py chapter.name", file=sys.stderr)
        return INPUT_IS_WRONG
    (id,) = arguments
    if id not in by_id():
        file = CATALOGUE / f"{id.split('.')[0]}.py"
        file.write_text(inserted(file.read_text(encoding="utf-8"), id), encoding="utf-8")
        print(f"{id}: a skeleton is at the end of {file.relative_to(ROOT)}. Fill it in and run this again")
        return 1
    row = by_id()[id]
    if found := list(missing(row)):
        print("\n".join([f"{id}: missing", *(f"  {one}" for one in found)]))
        return 1
    if begun := [one.id for one in by_id().values() if not {*one.parameters} <= QUANTITIES.keys() | CONSTANTS.keys()]:
        print(f"{id}: nothing is missing, but {begun[0]} is only begun. Fill it in or remove it, and run this again")
        return 1
    print(f"tests of all entries: python {' '.join(TESTS)}", flush=True)
    if status := subprocess.run([sys.executable, *TESTS], cwd=ROOT, check=False).returncode:
        print(f"{id}: these tests name what is wrong")
        return status
    for place, command in MADE:
        print(f"{place}: python {' '.join(command)}", flush=True)
        if status := subprocess.run([sys.executable, *command], cwd=ROOT, check=False).returncode:
            return status
    print(f"{id}: nothing is missing. The other tests: pytest -q -n auto tests/derive tests/test_docs.py tests/test_new_equation.py")
    return 0


def wrong(id: str) -> str:
    """Return the fault of a new id, or an empty text."""
    chapter, _, name = id.partition(".")
    if chapter not in CHAPTERS:
        return f"{chapter!r} is not a chapter. The chapters are {', '.join(CHAPTERS)}"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        return f"{name!r} is not a name: lower case letters, digits and underscores, a letter first"
    return f"{id} was published and retired; an id is never used again" if id in RETIRED else ""


def inserted(text: str, id: str) -> str:
    """Return the module of a chapter with a skeleton at the end of its EQUATIONS, and with the import that the skeleton needs."""
    (last,) = (
        node.end_lineno for node in ast.parse(text).body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EQUATIONS"
    )
    lines = text.splitlines(keepends=True)
    lines.insert(last - 1, SKELETON.format(id=id, name=id.split(".")[1]))
    imported = {name.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) for name in node.names}
    first = next(place for place, line in enumerate(lines) if line.startswith("from "))
    if "ours" not in imported:
        lines.insert(first, "from derive.catalogue.sources import ours\n")
    return "".join(lines)


def missing(row: Equation) -> Iterator[str]:
    """Yield each part of an equation that a person must still write."""
    yield from in_entry(row)
    for name in row.parameters:
        if name not in QUANTITIES and name not in CONSTANTS:
            yield f"derive/quantities: {name} has no row. Add one in the module of its theme, with symbol, unit, meaning and range"
        elif name in QUANTITIES:
            try:
                latex_in_mathml(QUANTITIES[name].latex)
            except WrongData:
                yield f"derive/quantities: derive/show/mathml.py cannot draw the LaTeX of {name}, {QUANTITIES[name].latex}"
    if row.kind == DEFINITION and row.defines is None and not row.steps:
        yield "the entry: a quantity with another definition needs a `derivation` here: what this relation follows from"
    if row.kind == ESTIMATE and row.variant is None:
        yield "the entry: an estimate is used only if it is chosen. Give it a `variant`, with its group"
    if not row.result:
        yield "the entry: no `result`. Compute it once to four digits, at the values of example_values.py or at `given`"
    elif row.example.keys() == {*row.symbols[1:]} <= QUANTITIES.keys():
        yield from in_example(row)
    yield from in_lecture(row)


def in_example(row: Equation) -> Iterator[str]:
    """Yield the value of the example if its result is different."""
    made = float(row.right_side({name: parse(name, text) for name, text in row.example.items()}))
    if not isclose(parse(row.symbols[0], row.result), made, rel_tol=FOUR_DIGITS):
        yield f"the entry: the example gives {show(row.symbols[0], made)}, and its result is {row.result}"


def in_lecture(row: Equation) -> Iterator[str]:
    """Yield each wrong `line` of its rows in lecture.csv."""
    with (ROOT / "tests" / "validation" / "lecture.csv").open(encoding="utf-8", newline="") as stream:
        figures = list(csv.DictReader(stream))
    lines = [figure["line"] for figure in figures]
    for line in (figure["line"] for figure in figures if row.id in (figure["equations"] or "").split(";")):
        if not LINE.fullmatch(line):
            yield f"tests/validation/lecture.csv: the line {line!r} is not a number, a letter and an entry of notes.csv, such as '1a A13'"
        if lines.count(line) > 1:
            yield f"tests/validation/lecture.csv: the line {line!r} is there twice"


def in_entry(row: Equation) -> Iterator[str]:
    """Yield each TODO of the entry, by file and line."""
    for file in sorted(CATALOGUE.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and is_entry(node, row.id)):
            lines = enumerate(text.splitlines()[call.lineno - 1 : call.end_lineno], call.lineno)
            for number, what in ((number, line.partition(TODO)[2]) for number, line in lines if TODO in line):
                yield f"{file.relative_to(ROOT)}, line {number}: {what.lstrip(': ').rstrip(AFTER_WORDS)}"


def is_entry(call: ast.Call, id: str) -> bool:
    """Return whether a call has this id among its keywords."""
    return any(one.arg == "id" and isinstance(one.value, ast.Constant) and one.value.value == id for one in call.keywords)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
