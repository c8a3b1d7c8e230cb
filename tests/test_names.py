"""A public name means one thing: no two modules define a function or a class of the same name, but for the roles listed here.

Constants and names of types are held to it as soon as another module imports them: no two modules lend one of the same name.
What a module keeps to itself may be called as elsewhere.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("backsolve", "derive", "invert", "pricing_data")
SAME_ROLE = {
    "estimates": ("invert.estimators", "every estimator is a module with this one function, of one signature"),
    "as_text": ("derive.show", "an equation and a solution, each rendered in the form of this name by its own module"),
    "as_latex": ("derive", "a formula, an equation and a solution, each rendered in the form of this name by its own module"),
    "offers": ("invert.sheets.databases", "what a database lists, by the module that knows its fields"),
    "is_shape": ("invert.sheets.databases", "whether a file is of a database, by the module that knows its fields"),
    "installed": ("invert.sheets.databases", "a database that is installed as a package, by the module that knows it"),
}
"""Names that several modules of a package define because they have the same part to play, and why."""


def definitions() -> Iterator[tuple[str, str]]:
    """Every public function and class at the top of a module: its name, and the module."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                    yield node.name, module


def constants(tree: ast.Module) -> Iterator[str]:
    """The names that are assigned at the top of a module."""
    for node in tree.body:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []:
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def lent() -> dict[str, set[str]]:
    """Every constant that another module of the packages imports: its name, and the modules that define and lend it."""
    trees = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(path.read_text())
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    own = {module: set(constants(tree)) for module, tree in trees.items()}
    found: dict[str, set[str]] = {}
    for node in (node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)):
        for name in (one.name for one in node.names if one.name in own.get(node.module or "", ())):
            found.setdefault(name, set()).add(node.module or "")
    return found


def shared() -> dict[str, list[str]]:
    """The names that more than one module defines."""
    found: dict[str, list[str]] = {}
    for name, module in definitions():
        found.setdefault(name, []).append(module)
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def test_a_public_name_is_defined_once() -> None:
    wrong = {
        name: modules
        for name, modules in shared().items()
        if name not in SAME_ROLE or not all(module.startswith(f"{SAME_ROLE[name][0]}.") for module in modules)
    }
    assert wrong == {}


def test_a_constant_that_is_lent_is_defined_once() -> None:
    found = lent()
    assert found["QUANTITIES"] == {"derive.quantities"}
    assert {name for name, modules in found.items() if len(modules) > 1} == set()


def test_every_exception_is_one() -> None:
    assert set(SAME_ROLE) <= set(shared())
