"""A public constant is used by another module, a record of many fields is built by their names, and no generator ends by mistake."""

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
