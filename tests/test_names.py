"""One name per quantity: the table, JSON, CSV, the glossary, the site and the code call it the same.

`derive.glossary.INSTEAD` has the words of earlier versions. They are in no output, document, page or identifier.
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache

import pytest

from backsolve.site.sheets import pages_of_sheets
from backsolve.site.writing import write_page
from derive.glossary import INSTEAD, explain_term
from invert import infer
from invert.estimate_text import RENAMED
from invert.report.columns import CSV_KEYS, ESTIMATE_KEYS, REGISTRY, column_of
from invert.report.contract import sheet_records
from invert.result import InferenceTable
from tests.test_prose import ROOT, docs, docstrings, messages, parts
from tests.tools.commands import call
from tests.tools.html import parts_of

SHEETS = ("gemini-3.1-pro", "claude-opus-5", "qwen3-coder-plus")
COMMANDS = (
    ("infer",), ("infer", "--wide"), ("infer", "--explain"), ("infer", "gemini-3.1-pro", "--full"),
    ("infer", "gemini-3.1-pro", "--history"), ("prices", "news"), ("validate",), ("claims",),
    ("solve", "batch", "--model", "Llama-3.3-70B", "--hardware", "H100:bf16", "--full"),
)  # fmt: skip
SPELLINGS = {"kv_bytes_per_token": "KV", "kv_bytes_stored_per_token": "KV stored", "input_price_cost_ratio": "price/cost"}
"""Printed short names of quantities. All others are printed by their name."""
REJECTED = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, INSTEAD))})(?![\w-])", re.IGNORECASE)
WORDS = frozenset(word for word in INSTEAD if " " not in word and "-" not in word)
EVERYDAY = re.compile(r"\b(?:no record of models|be worth|are worth|is worth|what stands (?:for|in|at))\b", re.IGNORECASE)
"""Uses of these words in their everyday meaning."""


@cache
def run() -> InferenceTable:
    return infer(list(SHEETS))


@pytest.mark.parametrize("key", ESTIMATE_KEYS)
def test_an_estimate_has_one_name_in_csv_json_and_tables(key: str):
    """The CSV key is the path in JSON, and the printed words are the words of the key."""
    column = REGISTRY[key]
    quantity, estimator = column.of
    assert key == "_".join(filter(None, (quantity, estimator)))
    spoken = SPELLINGS.get(quantity, quantity.replace("_", " ").replace("price cost ratio", "price/cost").replace(" times ", " x "))
    words = re.findall(r"[\w/]+", column.heading)
    said = f"{spoken} {estimator.replace('_', ' ')}".split()
    assert set(map(str.lower, words)) <= {*map(str.lower, said), "bandwidth", "bound"}
    assert column_of(column.heading) is column is column_of(key)
    for one, record in zip(run(), sheet_records(run()), strict=True):
        by = record["estimates"].get(quantity, {})
        found = by.get(estimator) if estimator else by
        assert (found["median"] if found else None) == column.value(one)


def test_the_glossary_has_each_column_by_its_heading_and_key():
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    missing = [key for key, one in REGISTRY.items() if one.about and f"| {one.heading} | `{key}` |" not in page]
    assert missing == []


def test_a_rejected_word_is_explained_by_the_word_in_its_place():
    for word, instead in INSTEAD.items():
        assert call("explain", *word.split()).out == call("explain", *instead.split()).out != ""
    assert not any(explain_term(word) for word in INSTEAD)


def outputs() -> Iterator[tuple[str, str]]:
    for command in COMMANDS:
        yield " ".join(command), call(*command).out
    for page in pages_of_sheets(run()):
        yield page.address, parts_of(write_page(page).html).text
    for template in sorted((ROOT / "backsolve" / "site" / "templates").glob("*.html")):
        yield template.name, template.read_text(encoding="utf-8")
    for name in ("infer", "overview"):
        yield f"{name}.schema.json", (ROOT / "docs" / "reference" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs" / "reference").glob("*.md")):
        yield path.name, path.read_text(encoding="utf-8")


def test_no_output_or_document_has_a_rejected_word():
    texts = [*outputs(), *docs(), *docstrings(), *messages(), ("pricing_data", (ROOT / "pricing_data" / "datapackage.json").read_text())]
    allowed = {"derive/glossary.py", "invert/estimate_text.py"}
    found = [
        (place, match[0], text[max(match.start() - 30, 0) : match.end() + 30])
        for place, text in texts
        if place.partition(":")[0] not in allowed
        for match in REJECTED.finditer(EVERYDAY.sub("", text))
    ]
    assert found == []


def keys_in(document: object) -> Iterator[str]:
    if isinstance(document, dict):
        yield from document
        for value in document.values():
            yield from keys_in(value)
    elif isinstance(document, list):
        for value in document:
            yield from keys_in(value)


def test_no_key_column_or_identifier_has_a_rejected_word():
    keys = {*keys_in(json.loads(json.dumps(sheet_records(run())))), *CSV_KEYS}
    names = {
        *(name for _, node in parts() if isinstance(node, ast.ClassDef | ast.FunctionDef) for name in (node.name, *arguments_of(node))),
        *(target.id for _, node in parts() if isinstance(node, ast.ClassDef) for target in fields_of(node)),
    }
    words = {name: {*re.split(r"_|(?<=[a-z])(?=[A-Z])", name)} for name in keys | names}
    assert {name for name, of in words.items() if {word.lower() for word in of} & WORDS} == set()
    assert keys & {*RENAMED} == set()


def arguments_of(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    return [one.arg for one in (*node.args.args, *node.args.kwonlyargs)] if isinstance(node, ast.FunctionDef) else []


def fields_of(node: ast.ClassDef) -> list[ast.Name]:
    return [one.target for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
