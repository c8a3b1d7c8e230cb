"""Hours of a day, and those between them."""

from hypothesis import given
from hypothesis import strategies as st

from invert.databases.records import A_DAY, between

WINDOWS = (
    st.lists(st.integers(0, A_DAY), max_size=8, unique=True).map(sorted).map(lambda ends: list(zip(ends[::2], ends[1::2], strict=False)))
)


@given(WINDOWS)
def test_what_is_between_is_every_other_minute_of_the_day(windows: list[tuple[int, int]]):
    inside = {minute for start, end in windows for minute in range(start, end)}
    outside = {minute for start, end in between(windows) for minute in range(start, end)}
    assert inside | outside == set(range(A_DAY)) and not inside & outside
    assert between(between(windows)) == windows
