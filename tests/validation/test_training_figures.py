"""Figures that others published on training, or that follow from the lecture's by hand: one row of training.csv each.

`working` is the arithmetic done by hand, which the catalogue must come to exactly; `published` is the figure as it is
printed, with its own rounding, in the work that `source` names; where that is none, as it was worked out for the project.
"""

import csv
from io import StringIO
from pathlib import Path

import pytest

from derive.solving.api import solve
from tests.tools.asked import value_of
from tests.tools.together import in_one_test
from tests.tools.worked import worked

ROWS = list(csv.DictReader(StringIO(Path(__file__).with_name("training.csv").read_text(encoding="utf-8"))))
MARKED = [pytest.param(row, id=f"{number} {row['unknown']}") for number, row in enumerate(ROWS, 2)]


@in_one_test("row", MARKED)
def test_the_catalogue_comes_to_what_was_worked_by_hand(row):
    pairs = dict(item.split("=", 1) for item in row["givens"].split(";"))
    solution = solve(row["unknown"], using=row["equations"].split(";"), **pairs)
    assert solution.reason is None, solution.reason
    assert {reference.split("@")[0] for reference in solution.equations} == set(row["equations"].split(";"))
    (answer,) = solution.answers
    assert answer.value == pytest.approx(worked(row["working"]), rel=1e-9)


@in_one_test("row", MARKED)
def test_what_was_worked_by_hand_rounds_to_what_was_published(row):
    digits, _, power = row["published"].partition("e")
    half_a_unit = 0.5 * 10 ** (int(power or 0) - len(digits.partition(".")[2]))
    assert abs(worked(row["working"]) - float(row["published"])) <= half_a_unit * (1 + 1e-9)


def test_the_budget_of_chinchilla_is_within_the_rounding_of_its_size_and_tokens():
    """Trained for the budget of Gopher, 5.76e23. 70 B may be 69.5 B and 1.4 T may be 1.35 T."""
    least, most = (value_of("pretrain_flops", active_params=n, pretrain_tokens=d) for n, d in ((69.5e9, 1.35e12), (70e9, 1.4e12)))
    assert least < 5.76e23 < most
