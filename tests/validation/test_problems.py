"""Published problems with published answers: every row of problems.csv is one command, and its verdict stands where the answer is."""

import json
import shlex
from collections import Counter

import pytest

from derive.tables.questions import command_of, read_givens
from derive.tables.shipped import read, rows_of
from invert.validation.claim_rows import AS_PUBLISHED, WorkedProblem
from invert.validation.claims import finding
from tests.tools.commands import call
from tests.tools.together import in_one_test, some
from tests.tools.worked import worked

PROBLEMS = rows_of(WorkedProblem)
MARKED = [pytest.param(row, id=row.id) for row in PROBLEMS]
DIGITS = 1e-3
"""How far arithmetic with the rounded figures of a source may lie from our answer, relatively."""
LEAST = {"reproduced": 60, "convention": 8, "loose": 8, "contradicted": 15}


@in_one_test("problem", MARKED)
def test_a_verdict_is_where_the_answer_is(problem: WorkedProblem):
    """An answer as published lies within its rounding, all others outside. Arithmetic that a row has leads to our answer."""
    found = finding(problem, {}, read())
    assert found and found.agrees is (problem.verdict in AS_PUBLISHED), (found.in_unit, problem.stated)
    assert not problem.arithmetic or found.in_unit == pytest.approx(worked(problem.arithmetic), rel=DIGITS)


@in_one_test("problem", some(MARKED, 8))
def test_the_command_that_is_shown_gives_the_answer(problem: WorkedProblem):
    asked = shlex.split(command_of(problem.unknown, read_givens(problem.givens)))
    said = call(*asked[1:], "--as", "json")
    assert said.status == 0, said.err
    answers = json.loads(said.out)["answers"]
    ends = {end for answer in answers for end in (answer.get("value"), answer.get("low"), answer.get("high")) if end}
    found = finding(problem, {}, read())
    assert asked[0] == "backsolve" and found and found.found == pytest.approx(next(iter(ends)), rel=1e-12) and len(ends) == 1


def test_no_answer_is_stretched_to_fit():
    """A tolerance is the rounding of what was published: a tenth at the most, and no range is wider than what someone said."""
    assert max(row.tolerance for row in PROBLEMS) <= 0.1
    assert {row.id for row in PROBLEMS if ".." in row.stated} == {"wes-weeks", "deepseek-speed"}


def test_there_are_problems_enough_of_every_kind_and_each_says_where_it_stands():
    count = Counter(row.verdict for row in PROBLEMS)
    assert all(count[verdict] >= least for verdict, least in LEAST.items()), count
    assert len({row.source_url for row in PROBLEMS}) >= 30
    assert all(row.source_url.startswith("https://") for row in PROBLEMS)
    assert len({row.unknown for row in PROBLEMS}) >= 35
