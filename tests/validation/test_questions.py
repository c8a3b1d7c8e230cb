"""Questions that a reader of the lecture or somebody sizing a deployment asks, each put to one command.

questions.csv was worked by hand, without the code that it tests: `expected` is the answer in SI, `worked` the arithmetic that
leads to it, `kind` what sort of question it is. A `block` has two unknowns that two targets determine together, and
asks for one of them. A row with `expected_from` waits for the issue of that letter: its command is skipped until then.
"""

import csv
import json
import shlex
from collections import Counter
from cProfile import Profile
from io import StringIO
from pathlib import Path
from time import process_time

import pytest

from tests.tools.commands import call
from tests.tools.together import in_one_test, quick_part
from tests.tools.worked import worked

ROWS = list(csv.DictReader(StringIO(Path(__file__).with_name("questions.csv").read_text(encoding="utf-8"))))
MARKED = [pytest.param(row, id=row["id"]) for row in ROWS if not row["expected_from"]]
WORKED = [pytest.param(row, id=row["id"]) for row in ROWS if row["kind"] != "refused"]
LEAST = {"backward": 10, "block": 6, "refused": 6, "range": 6, "bound": 3}
REL = 1e-5
AT_MOST = 10
"""Seconds of processor time that a question may take; most take a few hundredths, one that is put backwards some seconds."""
MOST_CALLS = 3_500_000
"""Calls of functions in a question, which no other process makes more of: of so many the longest takes half a second of processor time."""


def figures(expected: str) -> list[float]:
    """The numbers of the column, in its order: `table 1; 2`, `range 1 to 2`, `at most 1`, `deploy 8`, `1; 2`."""
    words = expected.replace(";", " ").split()
    return [float(word) for word in words if word not in ("table", "range", "deploy", "between", "at", "least", "most", "to", "and")]


def points(answers: list[dict]) -> list[float]:
    assert {answer["kind"] for answer in answers} == {"point"}, answers
    return sorted(answer["value"] for answer in answers)


def ends(answers: list[dict]) -> tuple[float, float | None]:
    (answer,) = answers
    assert answer["kind"] == "interval", answer
    return answer["low"], answer["high"]


def compare(expected: str, found: dict | list[dict]) -> None:
    """Compare the JSON of a command with the column: the answers to several unknowns together."""
    if isinstance(found, list):
        found = {"answers": [answer for one in found for answer in one["answers"]]}
    wanted = pytest.approx(figures(expected), rel=REL)
    if expected.startswith("table"):
        assert [value for point in found["sweep"] for value in points(point["answers"])] == wanted
    elif expected.startswith("range"):
        assert [found["quantiles"]["low"], found["quantiles"]["high"]] == wanted
        assert found["quantiles"]["method"] == "bounds"
    elif expected.startswith("deploy"):
        assert [found["deployments"][0]["chips"]] == wanted
    elif expected.startswith("between"):
        assert list(ends(found["answers"])) == wanted
    elif expected.startswith("at least"):
        low, high = ends(found["answers"])
        assert ([low], high) == (wanted, None)
    elif expected.startswith("at most"):
        low, high = ends(found["answers"])
        assert (low, [high]) == (0, wanted)
    else:
        assert points(found["answers"]) == pytest.approx(sorted(figures(expected)), rel=REL)


@pytest.mark.parametrize("row", quick_part(MARKED, 3))
def test_a_question_is_answered_by_one_command(row: dict[str, str]):
    begun = process_time()
    said = call(*shlex.split(row["command"]), "--as", "json")
    assert process_time() - begun < AT_MOST
    head, _, words = row["expected"].partition(":")
    status, code = (int(head.split()[1]), head.split()[2:]) if head.startswith("exit") else (0, [])
    assert said.status == status, said.err
    if code:
        found = json.loads(said.out)
        assert ([found["reason"]["code"]], found["answers"]) == (code, [])
    if status:
        assert all(word.strip() in said.err for word in words.split(",")), said.err
    else:
        compare(row["expected"], json.loads(said.out))


@pytest.mark.slow
@pytest.mark.parametrize("row", MARKED)
def test_a_question_takes_no_more_calls_than_are_made_in_half_a_second(row: dict[str, str]):
    # What a process loads once is no question's.
    call(*shlex.split(ROWS[0]["command"]))
    profile = Profile()
    profile.runcall(call, *shlex.split(row["command"]))
    assert sum(entry.callcount for entry in profile.getstats()) <= MOST_CALLS


@in_one_test("row", WORKED)
def test_the_working_comes_to_the_figure(row: dict[str, str]):
    found = [worked(text) for text in row["worked"].split(";")]
    assert found == pytest.approx(figures(row["expected"]), rel=REL)


def test_there_are_enough_of_every_kind():
    counts = Counter(row["kind"] for row in ROWS)
    assert counts.keys() == {"forward", *LEAST} and len(ROWS) >= 40
    assert all(counts[kind] >= least for kind, least in LEAST.items()), counts
    for column in ("id", "command", "question"):
        assert len({row[column] for row in ROWS}) == len(ROWS), column
