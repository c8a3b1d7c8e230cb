"""Write a generated page, or with --check only compare it with the file."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from derive.errors import INPUT_IS_WRONG

REFERENCE = Path(__file__).with_name("reference")
"""The folder of the pages that are generated as a whole."""


def main(script: str, file: Path, page: Callable[[], str], arguments: list[str]) -> int:
    """Write the page, or with --check exit 1 if the file differs from it."""
    if arguments not in ([], ["--check"]):
        print(f"usage: python docs/{script} [--check]", file=sys.stderr)
        return INPUT_IS_WRONG
    if not arguments:
        file.write_text(page(), encoding="utf-8")
        return 0
    written = file.read_text(encoding="utf-8") if file.exists() else ""
    if written == page():
        return 0
    print(f"{file.name} is out of date: run python docs/{script}", file=sys.stderr)
    return 1


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows of cells as a Markdown table, with bars inside a cell escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
