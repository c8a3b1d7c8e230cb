"""Hours of a day, and those between them."""

from hypothesis import given
from hypothesis import strategies as st

from derive.tables import shipped
from invert.databases.hours import A_DAY, between, hours_text

WINDOWS = (
    st.lists(st.integers(0, A_DAY), max_size=8, unique=True).map(sorted).map(lambda ends: list(zip(ends[::2], ends[1::2], strict=False)))
)


@given(WINDOWS)
def test_what_is_between_is_every_other_minute_of_the_day(windows: list[tuple[int, int]]):
    inside = {minute for start, end in windows for minute in range(start, end)}
    outside = {minute for start, end in between(windows) for minute in range(start, end)}
    assert inside | outside == set(range(A_DAY)) and not inside & outside
    assert between(between(windows)) == windows


@given(WINDOWS)
def test_hours_are_written_as_price_files_have_them(windows: list[tuple[int, int]]):
    read = shipped.read().columns("prices")["utc_hours"].read
    assert read(hours_text(windows)) == (hours_text(windows), "")
