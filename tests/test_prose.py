"""Prose stays readable: habits that make text hard to read stay within a budget, in docs, docstrings, messages and names.

`python -m tests.test_prose [docs|docstrings|messages|names] [FOLDER]` prints each sentence with a habit. A budget may only go down.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.tools.parsed import tree_of

ROOT = Path(__file__).parent.parent
BUDGETS = {"docs": 40.0, "docstrings": 50.0, "messages": 40.0, "names": 3.0}
"""Habits per 1,000 sentences, and names per 100 functions."""

HABITS = [
    re.compile(pattern)
    for pattern in (
        r"^(?:What|Whatever|Whoever) (?!is new|is this|'s|you|the )[^?]*$",
        r"^Of (?!course)",
        r"^Where (?!to\b|the rest)[^?]*,",
        r";(?!`)",
        r"\b(?:is|are|be|was|were) (?:said|told|spoken)\b",
        r"\bstands?\b(?! (?:for|out|by itself|alone))",
        r"\b(?:held|holds?) (?:against|of|to|for|where|(?:in )?\d)|\bsuch held\b",
        r"\b(?:takes?|taken) (?!time|place|advantage|care|into|about|out|over|effect|an? (?:argument|list|path|string)|\d)",
        r"\bcomes? (?:to|of)\b",
        r"\basks? (?:for )?(?:of|a price|more|less|one|what|such|\d|that)\b",
        r"\b(?:nobody|somebody|whoever|nothing)\b",
        r"\bof (?:which|whom)\b",
        r"\b(?:that|those) of\b",
        r"\b(?:foret(?:ell|old)|reckon|heed)\w*|\b(?:anew|dear|dearer|besides|beforehand|likewise|aught|betters|wherein|thereof|mends?|mended)\b",
        r"\b(?:so much|so many|so long|as many as|as much as|such ranges|so it is)\b",
        r"\b(?:a|one) (?:line|row|sheet|number|vote|page|module|name|class|column|object|function|idea|family|table|step|prompt|chip|file"
        r"|day|band)s? (?:a|an|one) \w+",
        r"\b(?:has|have|is|are) none\b",
        r"\bbut for\b|\bfor want of\b",
    )
]
PARTICLES = frozenset(
    re.findall(
        r"\w+",
        "of as at by in on after along beside apart behind under over between beyond across around against before within through anew again"
        " alone alike instead where what whose which who how why all any both each other others more less so such than that there once"
        " aside anywhere always back enough elsewhere otherwise near past upon since until but no not if or",
    )
)
PARTICIPLES = frozenset(
    re.findall(
        r"\w+",
        "told held said led found made kept drawn sold meant known given taken put met left sent shown seen bought stood written built",
    )
)

Place = tuple[str, str]


def sentences_of(text: str) -> Iterator[str]:
    """Return the sentences of Markdown or of a docstring that have four words or more, without code, tables and headings."""
    text = re.sub(r"```.*?```|<!--.*?-->", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"^\s*\|.*\|\s*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)", text):
        line = re.sub(r"^(?:[-*]|\d+\.) ", "", " ".join(block.split()))
        if not line.startswith(("#", ">>>", "$")):
            yield from (one for one in re.split(r"(?<=[.!?:])\s+(?=[A-Z`\"*\[])", line) if len(one.split()) >= 4)


@cache
def parts() -> list[tuple[str, ast.AST]]:
    """Return the modules, classes, functions and texts of all packages, each with its file; docstrings are no texts."""
    found: list[tuple[str, ast.AST]] = []
    for package in ("derive", "invert", "backsolve"):
        for path in sorted((ROOT / package).rglob("*.py")):
            nodes = [*ast.walk(tree_of(path))]
            documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            kept = (one for one in nodes if isinstance(one, ast.Module | ast.ClassDef | ast.FunctionDef | ast.Constant))
            found += ((str(path.relative_to(ROOT)), one) for one in kept if id(one) not in documentation)
    return found


def docs() -> Iterator[Place]:
    named = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pricing_data/README.md")]
    for path in [*named, *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "reference")]:
        yield from ((str(path.relative_to(ROOT)), one) for one in sentences_of(path.read_text(encoding="utf-8")))


def docstrings() -> Iterator[Place]:
    for path, node in parts():
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield from ((f"{path}:{getattr(node, 'lineno', 1)}", one) for one in sentences_of(text.partition(">>>")[0]))


def messages() -> Iterator[Place]:
    """Strings of four words and more that are no docstrings: titles, statements, errors, warnings and headings."""
    for path, node in parts():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((f"{path}:{node.lineno}", one) for one in sentences_of(node.value))


def names() -> Iterator[Place]:
    for path, node in parts():
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            yield f"{path}:{node.lineno}", node.name


def is_poor_name(name: str) -> bool:
    """Return whether a function's name begins with a preposition, or has neither a noun nor a verb.

    >>> [name for name in ("solve_equation", "of_what", "_held", "no_root") if is_poor_name(name)]
    ['of_what', '_held']
    """
    words = name.strip("_").split("_")
    return words[0] in PARTICLES - {"all", "any", "no", "not"} or all(word in PARTICLES | PARTICIPLES for word in words)


def habits_in(kind: str) -> tuple[float, list[Place]]:
    """Return the number of habits per 1,000 sentences, or of poor names per 100, and each place that has one."""
    found = [*{"docs": docs, "docstrings": docstrings, "messages": messages, "names": names}[kind]()]
    if kind == "names":
        hits = [place for place in found if is_poor_name(place[1])]
        return 100 * len(hits) / len(found), hits
    hits = [place for habit in HABITS for place in found if habit.search(place[1])]
    return 1000 * len(hits) / len(found), hits


@pytest.mark.parametrize("kind", BUDGETS)
def test_prose_keeps_its_budget(kind: str):
    count, _ = habits_in(kind)
    assert count <= BUDGETS[kind], f"python -m tests.test_prose {kind} lists the sentences"


def test_a_habit_is_found_and_plain_text_has_none():
    plain = "Return the largest batch that fits in memory [1]. The answer is a bound."
    odd = "What chips send each other goes over the link that the table has of them; nobody is told."
    assert [habit for habit in HABITS if habit.search(plain)] == [] and sum(bool(habit.search(odd)) for habit in HABITS) == 4


if __name__ == "__main__":
    for wanted in sys.argv[1:2] or BUDGETS:
        rate, places = habits_in(wanted)
        shown = [f"{where}: {text}" for where, text in dict.fromkeys(places) if where.startswith("".join(sys.argv[2:3]))]
        print("\n".join([*shown, f"{wanted}: {rate:.1f}, budget {BUDGETS[wanted]:g}"]))
