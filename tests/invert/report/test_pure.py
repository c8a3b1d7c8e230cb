"""The reports read records: only figures import modules that compute, because no record has their curves."""

import ast
from pathlib import Path

from invert import report as forms
from tests.tools.parsed import tree_of

ALLOWED = (
    "derive.briefly",
    "derive.catalogue",
    "derive.immutable",
    "derive.quantities",
    *(
        "invert.assumptions",
        "invert.estimate_text",
        "invert.estimators.names",
        "invert.comparison_records",
        "invert.encoder",
        "invert.inversion",
        "invert.overview",
        "invert.sheets.assemble",
        "invert.sheets.places",
        "invert.provenance",
        "invert.records",
        "invert.sheets.rows",
        "invert.sheets.sheet",
        "invert.result",
        "invert.supposed",
    ),
    *("invert.report", "derive.show", "derive.characters", "derive.files", "derive.units", "derive.errors", "derive.solving.result"),
)


def imports_of(path: Path) -> list[str]:
    """The modules of ours that one imports anywhere."""
    names = []
    for node in ast.walk(tree_of(path)):
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return [name for name in names if name.split(".")[0] in ("derive", "invert", "backsolve")]


def test_reports_lean_on_records_alone():
    (folder,) = forms.__path__
    modules = sorted(path for path in Path(folder).glob("*.py") if path.name != "figures.py")
    assert len(modules) > 5
    leaning = {path.name: [name for name in imports_of(path) if not within(name, ALLOWED)] for path in modules}
    assert {name: found for name, found in leaning.items() if found} == {}


def within(name: str, allowed: tuple[str, ...]) -> bool:
    return f"{name}.".startswith(tuple(f"{start}." for start in allowed))
