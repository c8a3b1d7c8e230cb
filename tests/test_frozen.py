"""What was answered when it was recorded, held against what is answered now: nothing moves that differences.csv does not name.

`frozen/` holds `infer` over all sheets, every question of validation/questions.csv, and `cite` of every equation in every
style, with the tables of tests/tables. A row of differences.csv allows a change and says why: with `became`, a part of a path has a
new name and the value must be the same; without, what the pattern matches may differ. A row is refused that allows nothing any more,
or more that stayed than moved. A text may be reworded if its
numbers stay. `tests/tools/renames.csv` has the names that changed, and `with_new_keys` the keys of `infer`: each is read as
its new one. A sheet, a question or an id that is only new passes. `python tests/test_frozen.py --write` records anew, at the
day that `DAY` then gives, and moves the rows of differences.csv to the end of history.csv: what has moved since the first record.
"""

import csv
import fnmatch
import gzip
import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from derive import cite, equations
from derive.show.citation import STYLES
from derive.tables import shipped
from invert.estimate_text import with_new_keys
from tests.tools.commands import call
from tests.tools.renames import with_new_names
from tests.tools.tables import FROZEN as TABLES

FROZEN = Path(__file__).parent / "frozen"
QUESTIONS = Path(__file__).parent / "validation" / "questions.csv"
DIGITS = {"infer": 2e-6, "questions": 1e-9, "cite": 0.0}
"""How far numbers may lie apart, relatively: what is sampled is printed with six digits."""
ROUNDING = 1e-15
"""What is no more than that is nothing but rounding: slopes that cancel."""
DAY = "2026-11-20"
"""The day whose prices are read, the newest when they were recorded: a price that holds from a later one moves nothing."""
RELEASE = re.compile(r"backsolve \d+\.\d+\.\d+")
"""A citation names the release, which no record depends on."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Leaves = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """A change that is allowed: of which record, where, what a part of the path is called now, and why."""

    record: str
    at: str
    became: str
    why: str


def answered(command: str) -> Any:
    """What a command prints as JSON, with its exit status where it is not 0."""
    said = call(*shlex.split(command), "--as", "json")
    return {"exit": said.status, "said": json.loads(said.out) if said.out else None}


def inferences() -> Any:
    sheets = answered(f"infer --as-of {DAY}")["said"]
    return {":".join(str(sheet[name]) for name in ("provider", "model", "region", "service_tier")): sheet for sheet in sheets}


def questions() -> Any:
    with QUESTIONS.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if not row["expected_from"]]
    return {row["id"]: {"command": row["command"], **answered(row["command"])} for row in rows}


def citations() -> Any:
    return {style: {row.id: RELEASE.sub("backsolve", cite(row.id, style)) for row in equations()} for style in STYLES}


NOW = {"infer": inferences, "questions": questions, "cite": citations}
DEPTH = {"infer": 1, "questions": 1, "cite": 2}
"""How many keys lead to a sheet, a question or an id; those of `cite` stand below a style."""


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a document, with the keys that lead to it."""
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            yield from leaves(value, f"{path}/{key}")
    elif isinstance(node, list) and node:
        for index, value in enumerate(node):
            yield from leaves(value, f"{path}/{index}")
    else:
        yield path, node


def recorded(record: str) -> Any:
    text = RELEASE.sub("backsolve", gzip.decompress((FROZEN / f"{record}.json.gz").read_bytes()).decode())
    return with_new_names(json.loads(text, object_hook=with_new_keys if record == "infer" else None))


def write(record: str) -> None:
    text = json.dumps(NOW[record](), indent=0, sort_keys=True)
    (FROZEN / f"{record}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def put_by() -> None:
    """The rows of differences.csv at the end of history.csv, and none left but the head."""
    head, *rows = (FROZEN / "differences.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    with (FROZEN / "history.csv").open("a", encoding="utf-8") as history:
        history.writelines(rows)
    (FROZEN / "differences.csv").write_text(head, encoding="utf-8")


def allowed(record: str) -> list[Difference]:
    with (FROZEN / "differences.csv").open(encoding="utf-8", newline="") as stream:
        return [row for row in (Difference(**cells) for cells in csv.DictReader(stream)) if row.record == record]


def renamed(before: Leaves, differences: list[Difference]) -> Leaves:
    for row in (row for row in differences if row.became):
        before = {path.replace(row.at, row.became): value for path, value in before.items()}
    return before


def without_new(now: Any, before: Any, depth: int) -> Any:
    """What is answered now, without the sheets, questions or ids that nothing was recorded of."""
    if depth == 0:
        return now
    return {key: without_new(value, before[key], depth - 1) for key, value in now.items() if key in before}


def same(before: Any, now: Any, digits: float) -> bool:
    if isinstance(before, float) and isinstance(now, float | int):
        return math.isclose(before, now, rel_tol=digits, abs_tol=ROUNDING)
    return type(before) is type(now) and before == now


def is_reworded(before: Any, now: Any) -> bool:
    """Whether both are texts of several words with the same numbers: wording is free."""
    return all(isinstance(text, str) and " " in text for text in (before, now)) and NUMBER.findall(before) == NUMBER.findall(now)


def moved(before: Leaves, now: Leaves, digits: float) -> list[str]:
    """The paths whose values are not the same, one side's missing ones included."""
    nothing = object()
    return [path for path in sorted(before.keys() | now.keys()) if not same(before.get(path, nothing), now.get(path, nothing), digits)]


def matching(paths: Iterable[str], pattern: str) -> list[str]:
    """Return the paths that a pattern matches. Most of them lack its longest part, which is looked for first."""
    part = max(re.split(r"\*|\?|\[[^]]*\]", pattern), key=len)
    return fnmatch.filter([path for path in paths if part in path], pattern)


def is_too_wide(pattern: str, paths: Iterable[str], found: Iterable[str]) -> bool:
    """Whether most of what a pattern allows to move did not, or nothing did."""
    return 2 * len(matching(found, pattern)) <= len(matching(paths, pattern))


@pytest.mark.parametrize("record", ["infer", pytest.param("questions", marks=pytest.mark.slow), "cite"])
def test_nothing_moved_that_is_not_named(record: str):
    differences = allowed(record)
    kept = recorded(record)
    before, now = dict(leaves(kept)), dict(leaves(without_new(NOW[record](), kept, DEPTH[record])))
    unused = [row.at for row in differences if row.became and not any(row.at in path for path in before)]
    kept_at = renamed(before, differences)
    found = moved(kept_at, now, DIGITS[record])
    patterns = [row.at for row in differences if not row.became]
    changed = [path for path in found if not is_reworded(kept_at.get(path), now.get(path))]
    explained = {path for pattern in patterns for path in matching(changed, pattern)}
    unexplained = [path for path in changed if path not in explained]
    paths = before.keys() | now.keys()
    unused += [pattern for pattern in patterns if is_too_wide(pattern, paths, found)]
    assert not unexplained, f"{len(unexplained)} values moved; the first: {unexplained[:10]}"
    assert not unused, f"differences.csv allows what did not change: {unused}"


@pytest.mark.slow
def test_no_answer_hangs_on_the_order_of_a_set():
    """Which is another in every process, unless it is chosen."""
    code = "import json; from tests.test_frozen import NOW; print(json.dumps({name: one() for name, one in NOW.items()}))"
    runs = [
        subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True)
        for seed in ("1", "3")
    ]
    first, second = (dict(leaves(json.loads(run.communicate()[0]))) for run in runs)
    assert moved(first, second, 0.0) == []


def test_every_difference_has_its_reason():
    """A sentence, which is more than twenty characters."""
    assert [row for record in NOW for row in allowed(record) if len(row.why) <= 20] == []


def test_a_change_is_seen():
    before = dict(leaves({"a": {"b": [1.0, 2.0]}, "gone": None}))
    now = dict(leaves({"a": {"b": [1.0, 2.1]}, "new": "x"}))
    assert moved(before, now, 1e-9) == ["/a/b/1", "/gone", "/new"]
    assert renamed(before, [Difference("infer", "/a/b", "/a/c", "why")]) == {"/a/c/0": 1.0, "/a/c/1": 2.0, "/gone": None}
    assert matching(before, "/a/*/[0-1]") == ["/a/b/0", "/a/b/1"] and matching(before, "/a/*/2") == []
    assert not moved(before, before, 0) and not same(1.0, "1.0", 1e-3) and not same(None, 0, 1e-3)
    assert is_reworded("at least 3 chips", "3 chips or more")
    assert not is_reworded("at least 3 chips", "4 chips or more") and not is_reworded("met", "missed")


def test_what_is_only_new_passes_and_a_new_part_of_what_is_not_does_not():
    sheets = {"old": {"price": 1.0}}
    assert without_new({"old": {"price": 1.0}, "new": {"price": 2.0}}, sheets, DEPTH["infer"]) == sheets
    grown = {"old": {"price": 1.0, "band": 2.0}}
    assert without_new(grown, sheets, DEPTH["infer"]) == grown
    cited = {"text": {"old": "x"}}
    assert without_new({"text": {"old": "x", "new": "y"}}, cited, DEPTH["cite"]) == cited
    assert without_new({}, sheets, DEPTH["infer"]) == {}


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    shipped.FOLDER = str(TABLES)
    for name in NOW:
        write(name)
    put_by()
