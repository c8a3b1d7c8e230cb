"""A public name means one thing: no two modules define a function, class, type or constant of the same name, but for roles listed here.

What a module keeps to itself begins with an underscore and may be called as elsewhere. And what a record of many fields is made of is
called by its name.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

from tests.tools.parsed import tree_of

ROOT = Path(__file__).parent.parent
PACKAGES = ("backsolve", "derive", "invert", "pricing_data")
USERS = (*PACKAGES, "benchmarks", "docs", "notebooks", "tests")
SAME_ROLE = {
    "EQUATIONS": ("derive.catalogue", "the entries of a chapter, by its own module"),
    "ROWS": ("derive.quantities", "the quantities of a theme, by its own module"),
    "NAME": ("invert.sheets.databases", "what a database is called, by the module that knows it"),
    "estimates": ("invert.estimators", "every estimator is a module with this one function, of one signature"),
    "offers": ("invert.sheets.databases", "what a database lists, by the module that knows its fields"),
    "is_shape": ("invert.sheets.databases", "whether a file is of a database, by the module that knows its fields"),
    "Inference": ("invert", "what one sheet implies: as a record of `result`, and as `table` hands it out, so that it shows itself"),
    "installed": ("invert.sheets.databases", "a database that is installed as a package, by the module that knows it"),
}
"""Names that several modules of a package define because they have the same part to play, and why."""

MANY = 4
"""Of so many fields nobody who reads a call remembers the order."""


@cache
def trees() -> dict[str, ast.Module]:
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): tree_of(path)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def constants(tree: ast.Module) -> Iterator[str]:
    """The names that are assigned at the top of a module: constants, and names of types."""
    for node in tree.body:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []:
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def definitions() -> Iterator[tuple[str, str]]:
    """Every public name that is defined at the top of a module, and the module."""
    for module, tree in trees().items():
        named = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        yield from ((name, module) for name in {*named, *constants(tree)} if not name.startswith("_"))


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


def test_every_exception_is_one() -> None:
    assert set(SAME_ROLE) <= set(shared())


def test_a_public_constant_is_used_by_another_module() -> None:
    files = {path: set(re.findall(r"\w+", path.read_text())) for place in USERS for path in sorted((ROOT / place).rglob("*.py"))}
    kept = [
        f"{module}.{name}"
        for module, tree in trees().items()
        for name in constants(tree)
        if not name.startswith("_")
        and not any(name in words and path.relative_to(ROOT).with_suffix("") not in homes(module) for path, words in files.items())
    ]
    assert kept == []


def records() -> Iterator[tuple[str, ast.Call, int]]:
    """Every frozen record, how it is declared, and how many fields it has of its own."""
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                fields = sum(isinstance(one, ast.AnnAssign) for one in node.body)
                yield from ((f"{module}.{node.name}", one, fields) for one in node.decorator_list if is_record(one))


def is_record(decorator: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "dataclass"


def test_a_record_of_many_fields_is_built_by_their_names() -> None:
    assert not [name for name, made, fields in records() if fields >= MANY and "kw_only" not in {one.arg for one in made.keywords}]


def homes(module: str) -> tuple[Path, Path]:
    """The file of a module, or of the package that bears its name, without the ending."""
    return Path(*module.split(".")), Path(*module.split("."), "__init__")


def _own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function, without those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield child
            yield from _own_parts(child)


def test_no_generator_asks_for_the_next_of_nothing():
    """Where there is none, Python ends the generator with a RuntimeError that says nothing of the question."""
    functions = ((module, node) for module, tree in trees().items() if module.startswith("derive") for node in ast.walk(tree))
    found = [
        f"{module}:{part.lineno}"
        for module, node in functions
        if isinstance(node, ast.FunctionDef | ast.GeneratorExp)
        for parts in [[*_own_parts(node)]]
        if isinstance(node, ast.GeneratorExp) or any(isinstance(part, ast.Yield | ast.YieldFrom) for part in parts)
        for part in parts
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "next" and len(part.args) == 1
    ]
    assert found == []
