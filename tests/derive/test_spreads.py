"""Many values of one given: what they span, and the one a question is posed with."""

from derive.spreads import Series


def test_a_series_has_the_values_it_was_given_or_as_many_as_it_counts():
    assert Series(values=(3.0, 1.0)).array().tolist() == [3.0, 1.0] and len(Series(values=(3.0, 1.0))) == 2
    evenly = Series(low=1.0, high=64.0, count=7, spacing="log")
    assert evenly.array().tolist() == [1, 2, 4, 8, 16, 32, 64] and len(evenly) == 7
