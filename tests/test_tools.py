"""The tests' own tool: all cases are tried, and each that fails is named."""

import pytest

from tests.tools import together
from tests.tools.together import each, in_one_test, some

TRIED: list[int] = []


@in_one_test("number", [1, 2, pytest.param(3, id="three"), 4])
def even(number: int) -> None:
    TRIED.append(number)
    assert number % 2 == 0, "is odd"


def test_every_case_is_tried_and_all_that_fail_are_named():
    TRIED.clear()
    with pytest.raises(AssertionError, match=r"^2 of 4 failed: 1, three\n-- 1\n(.*\n)+-- three\n(.*\n)*.*is odd") as caught:
        even()
    assert TRIED == [1, 2, 3, 4]
    assert "AssertionError: is odd" in str(caught.value)


def test_an_option_chooses_cases_by_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(together, "ONLY", "three")
    with pytest.raises(AssertionError, match=r"^1 of 1 failed: three"):
        even()
    monkeypatch.setattr(together, "ONLY", "four")
    with pytest.raises(pytest.skip.Exception):
        even()


def test_some_cases_are_tried_and_all_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(together, "WHOLE", False)
    assert some(range(7), every=3) == [0, 3, 6] and some("a", every=3) == ["a"]
    names = [f"chapter.equation_{number}" for number in range(60)]
    drawn = some(names, every=3)
    assert 10 < len(drawn) < 30 and [one for one in some(["chapter.new", *names], every=3) if one != "chapter.new"] == drawn
    monkeypatch.setattr(together, "WHOLE", True)
    assert some(range(7), every=3) == [*range(7)]


def test_what_only_crashes_is_no_assertion():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        each([("crash", lambda: 1 / 0), ("fine", lambda: None)])
    with pytest.raises(AssertionError, match=r"^2 of 2 failed: crash, fail"):
        each([("crash", lambda: 1 / 0), ("fail", lambda: pytest.fail("no"))])
