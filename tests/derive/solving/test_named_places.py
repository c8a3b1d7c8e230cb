"""The engine names no quantity and no equation: rows of other modules do."""

import ast
from pathlib import Path

import derive.solving
from derive.catalogue import by_id
from derive.quantities import QUANTITIES


def _docstrings(tree: ast.Module) -> set[int]:
    """Return the string constants of a module that stand as statements."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}


def test_no_place_of_the_engine_names_a_quantity():
    named, found = {*QUANTITIES, *by_id()}, []
    for path in sorted(Path(derive.solving.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = _docstrings(tree)
        constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in texts)
        found += [f"{path.name}:{node.lineno} {node.value}" for node in constants if isinstance(node.value, str) and node.value in named]
    assert not found
