"""Modules of ours as trees, each parsed once a process however many tests look at it."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """A file of Python, taken apart; whoever gets it only looks at it."""
    return ast.parse(path.read_text(encoding="utf-8"))
