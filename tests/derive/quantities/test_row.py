"""Which numbers a quantity takes: by its domain, and by what is met in practice."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import WrongValue
from derive.quantities import QUANTITIES
from derive.quantities.row import AT_LEAST_ONE, FRACTION, NONNEGATIVE, POSITIVE, UNIT_INTERVAL, Quantity
from tests.tools.together import in_one_test

DOMAINS = (POSITIVE, NONNEGATIVE, FRACTION, UNIT_INTERVAL, AT_LEAST_ONE)


def of(domain: str, low: float = 2.0, high: float = 50.0) -> Quantity:
    return Quantity(name="made_up", symbol="x", unit="s", meaning="made up", low=low, high=high, domain=domain)


@in_one_test(
    ("domain", "taken", "refused"),
    [
        (POSITIVE, (0.02, 1, 5000), (0, -0.0, -1, 0.0199, 5001)),
        (NONNEGATIVE, (0, 0.0, 1, 5000), (-1e-300, 5001)),
        (FRACTION, (1e-9, 0.5, 1), (0, 1 + 1e-12, -0.5, 50)),
        (UNIT_INTERVAL, (0, 1e-9, 1), (1 + 1e-12, -1e-9)),
        (AT_LEAST_ONE, (1, 1.5, 5000), (0, 1 - 1e-12, -1, 5001)),
    ],
)
def test_a_number_is_taken_up_to_the_ends_of_its_domain_and_of_what_is_met_in_practice(domain, taken, refused):
    row = of(domain)
    for value in taken:
        assert row.check(value) == value
    for value in (*refused, nan, inf, -inf):
        with pytest.raises(WrongValue, match=r"^made_up = "):
            row.check(value)


@given(st.sampled_from(sorted(QUANTITIES)), st.floats(0, 1))
def test_what_is_met_in_practice_is_accepted(name: str, share: float):
    row = QUANTITIES[name]
    value = row.at(share)
    assert row.low * (1 - 1e-12) <= value <= row.high * (1 + 1e-12)
    assert row.check(min(value, row.ceiling)) <= row.ceiling


def test_the_way_from_the_least_to_the_greatest_is_by_ratios_unless_the_least_is_nothing():
    row = of(POSITIVE, low=1.0, high=100.0)
    assert [row.at(share) for share in (0, 0.5, 1)] == pytest.approx([1, 10, 100], rel=1e-14)
    assert [of(UNIT_INTERVAL, low=0.0, high=0.8).at(share) for share in (0, 0.5, 1)] == [0, 0.4, 0.8]


@in_one_test("domain", DOMAINS)
def test_the_limits_of_a_domain_lie_within_it(domain: str):
    row = of(domain)
    low, high = row.limits()
    assert row.floor <= low < high <= row.ceiling
    assert (low == 0) == (row.may_be_zero or row.ceiling == 1), "a share may be as small as it likes"
    assert row.may_be_zero == (domain in (NONNEGATIVE, UNIT_INTERVAL))
