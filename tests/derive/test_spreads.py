"""Many values of one given: what they span, and the one a question is posed with."""

import pytest

from derive.spreads import Interval, Series


@pytest.mark.parametrize(
    ("found", "shown", "ends"),
    [
        (Interval(2.0, 6.0), 4.0, (2.0, 6.0)),
        (Series(values=(3.0, 1.0, 2.0)), 3.0, (1.0, 3.0)),
        (Series(values=(0.0, 5.0)), 5.0, (0.0, 5.0)),
        (Series(low=1.0, high=8.0, count=4, spacing="log"), 1.0, (1.0, 8.0)),
        (Series(low=0.0, high=1.0, count=3, spacing="lin"), 1.0, (0.0, 1.0)),
    ],
)
def test_a_question_is_posed_with_a_value_in_between_that_is_not_nothing(found: Interval | Series, shown: float, ends: tuple[float, float]):
    assert found.shown == shown and found.ends == ends and ends[0] <= shown <= ends[1]


def test_a_series_has_the_values_it_was_given_or_as_many_as_it_counts():
    assert Series(values=(3.0, 1.0)).array().tolist() == [3.0, 1.0] and len(Series(values=(3.0, 1.0))) == 2
    evenly = Series(low=1.0, high=64.0, count=7, spacing="log")
    assert evenly.array().tolist() == [1, 2, 4, 8, 16, 32, 64] and len(evenly) == 7
