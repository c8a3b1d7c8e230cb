"""Every number that is printed of a sheet or of a run stands in the document that is saved, to the digits that are shown.

A number of the text is found where one of the document, over what the unit behind it stands for, rounds to it. With two digits one
may be found by chance on one sheet, and hardly on all of them: what the document lacks is seen, as the last test holds.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import Any

from invert.inference import infer
from invert.report.contract import saved
from invert.report.layout import Table
from invert.report.sheet import full_parts, short_parts
from invert.report.table import footer
from invert.result import InferenceTable

SHEETS = (
    "gemini-3.1-pro", "qwen3-coder-plus", "claude-opus-5", "kimi-k3", "deepseek/deepseek-v4-pro", "volcengine/deepseek-v4-flash",
    "minimax/MiniMax-M3", "volcengine/glm-4.7", "gpt-5.4",
)  # fmt: skip
"""Two bands and storage, four bands, two lifetimes, another currency, caches that are known with a premium and without, one band."""
PREFIXES = {"": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
TIMES = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
MTOK = {"/MTok/h": 1e-6 / 3600, "/MTok": 1e-6}
UNIT = r"%|/MTok/h|/MTok|[kMGT]?(?:FLOP|B|tokens?)(?:/(?:token|byte|s))?|[kMBT](?: tokens?)?|ms|min|s|h|d"
NUMBER = re.compile(rf"(?<![\w.@/-])(\d[\d,]*\.?\d*(?:e[+-]?\d+)?)(?: to \d[\d.]*)?(?: ?({UNIT})(?![\w/]))?")
IN_WORDS = re.compile(r"\(\d+:\d\d:\d\d\)|\b[a-z_]+\.[a-z_]+@\d+|\d{4}-\d\d-\d\d")
"""Times of the lecture, equations, and days."""
RUN = ("rows", "asked", "versions", "seeds", "tables")
"""What a saved run has beside what was worked out."""


@cache
def table() -> InferenceTable:
    return infer(SHEETS)


def divisors(unit: str | None) -> tuple[float, ...]:
    """What a number may have been divided by before this unit was put behind it.

    >>> divisors("kB/token"), divisors("B"), divisors(None)
    ((1000.0,), (1.0, 1000000000.0), (1.0,))
    """
    if unit is None or unit in TIMES or unit in MTOK or unit == "%":
        return ({"%": 0.01, **TIMES, **MTOK}.get(unit or "", 1.0),)
    if unit == "B":  # bytes, and billions
        return 1.0, 1e9
    start = unit[0]
    scaled = start in "kMGT" or (start == "B" and unit.startswith("B tokens"))
    return (PREFIXES[start] if scaled else 1.0,)


def cell(text: str) -> tuple[float, float]:
    """What is shown so, by its size.

    >>> [cell(text) for text in ("49", "9.3e+02", "150")]
    [(48.5, 49.5), (925.0, 935.0), (145.0, 155.0)]
    """
    digits = text.replace(",", "")
    mantissa, _, exponent = digits.partition("e")
    _, point, decimals = mantissa.partition(".")
    places = -len(decimals) if point else len(mantissa) - len(mantissa.rstrip("0") or mantissa)
    half = 0.5 * 10.0 ** (places + int(exponent or 0))
    return float(digits) - half, float(digits) + half


def is_among(sizes: list[float], text: str, divisor: float) -> bool:
    """Whether one of these, in ascending order, is shown so once it is divided.

    >>> [is_among([value], text, 1.0) for value, text in ((48.94, "49"), (930.2, "9.3e+02"), (5.49, "5"), (146.0, "150"), (144.0, "150"))]
    [True, True, True, True, False]
    """
    low, high = (end * divisor for end in cell(text))
    hair = 0.5e-6 * (high - low)
    place = bisect_left(sizes, low - hair)
    return place < len(sizes) and sizes[place] <= high + hair


def leaves(node: Any) -> Iterator[Any]:
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for child in children:
        yield from leaves(child)
    if not isinstance(node, dict | list):
        yield node


def keys(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from keys(child)


def without_sentences(node: Any) -> Any:
    """The document without its reasons: a number that stands in a sentence alone stands nowhere."""
    if isinstance(node, dict):
        return {name: without_sentences(child) for name, child in node.items() if name != "because"}
    return [without_sentences(child) for child in node] if isinstance(node, list) else node


def lines(parts: list[str]) -> Iterator[str]:
    for part in parts:
        cells = [*part.columns, *(cell for row in part.rows for cell in row.values())] if isinstance(part, Table) else [part]
        yield from (line for cell in cells for line in cell.split("\n"))


def percent_of_percent(line: str) -> str:
    """A line of elasticities as these are recorded: percent over percent is a plain number.

    >>> percent_of_percent("+1 %        mbu -1.5 %, batch +0.1 %"), percent_of_percent("mbu 5 %")
    ('mbu -1.5, batch +0.1', 'mbu 5 %')
    """
    label, *rest = line.split("        ", 1)
    return rest[0].replace(" %", "") if rest and label == "+1 %" else line


def missing(parts: list[str], *documents: Any) -> list[str]:
    """Every number of a text that none of the documents has, in its line."""
    told = [without_sentences(document) for document in documents]
    values = {float(leaf) for leaf in leaves(told) if isinstance(leaf, int | float) and not isinstance(leaf, bool)}
    sizes = sorted(map(abs, values | set(table().assumptions.tails)))
    texts = {text for text in (*leaves(told), *keys(told)) if isinstance(text, str) and re.search(r"\d", text)}
    names = re.compile("|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)))
    found = []
    for line in lines(parts):
        said = IN_WORDS.sub("_", names.sub("_", percent_of_percent(line)))
        found += [
            f"{number[0]} in {line}"
            for number in re.finditer(rf"(?=({NUMBER.pattern}))", said)
            if not any(is_among(sizes, number[2].rstrip(",."), divisor) for divisor in divisors(number[3]))
        ]
    return found


@cache
def document() -> Any:
    return json.loads(saved(table()))


def of_run(whole: Any) -> Any:
    return {name: part for name, part in whole["run"].items() if name not in RUN}


def missing_of_all(whole: Any) -> list[str]:
    run = of_run(whole)
    pairs = zip(table(), whole["sheets"], strict=True)
    return [line for one, sheet in pairs for parts in (full_parts, short_parts) for line in missing(parts(one, table()), sheet, run)]


def test_every_number_of_a_report_is_in_the_record():
    assert missing_of_all(document()) == []


def test_every_number_of_the_full_report_of_a_sheet_is_in_its_own_record():
    for one, sheet in zip(table(), document()["sheets"], strict=True):
        assert missing(full_parts(one, table()), sheet) == []


def test_every_number_below_the_table_is_in_the_record():
    assert missing(footer(table()), of_run(document()), document()["sheets"]) == []
