"""Many cases in one test: every one is tried, and all that fail are reported together, each by its name.

A parameter of pytest is an item of its own, and ten thousands of those take longer to collect than to run. Where a case takes
milliseconds, `in_one_test` stands in the place of `pytest.mark.parametrize`, with the same arguments:

    @in_one_test("row", [pytest.param(row, id=row.id) for row in by_id().values()])
    def test_the_words_are_there(row):
        assert row.title

`pytest --case TEXT` tries only the cases whose name holds the text. Of cases that take seconds `some` leaves a few to every run,
and `pytest --whole` tries them all.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, wraps
from inspect import signature
from textwrap import shorten
from traceback import format_exception
from typing import Any
from zlib import crc32

import pytest

SHOWN = 5
"""Failures that are shown in full; of the rest the last line."""

LONGEST_NAME = 60

WHOLE = False
"""Whether tests with more cases than every run has time for try all of them (`--whole`), as `.ci/long` does."""

ONLY = ""
"""What the name of a case must hold to be tried (`--case`)."""

Failure = tuple[str, BaseException]


def some(cases: Iterable[Any], every: int, first: int = 0) -> list[Any]:
    """One case of so many; all with `--whole`.

    Cases that have an id or a name are drawn by its hash, so that a new row of the catalogue or of a table leaves the others as they
    were. All others are drawn by their place, from the first or a later one.
    """
    cases = list(cases)
    names = [case if isinstance(case, str) else getattr(case, "id", None) or getattr(case, "name", None) for case in cases]
    if WHOLE or not all(isinstance(name, str) for name in names):
        return cases if WHOLE else cases[first::every]
    drawn = [case for case, name in zip(cases, names, strict=True) if crc32(str(name).encode()) % every == first % every]
    return drawn or cases[:1]


def quick_part(cases: Iterable[Any], every: int) -> list[Any]:
    """All cases as parameters. Every run tries those of `some`, and `-m slow` the others."""
    cases = list(cases)
    drawn = some(cases, every)
    return [case if case in drawn else pytest.param(*case.values, id=case.id, marks=pytest.mark.slow) for case in cases]


def in_one_test(names: str | Sequence[str], cases: Iterable[Any], ids: Any = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test that tries all cases; arguments as of `pytest.mark.parametrize`. Fixtures are those of the test, one for all cases."""
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    tried = list(cases)
    assert tried, f"no cases of {names}"

    @cache
    def named() -> list[tuple[str, tuple[Any, ...]]]:
        return _named(tried, len(arguments), ids)

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def all_cases(**fixtures: Any) -> None:
            each((name, lambda values=values: test(**fixtures, **dict(zip(arguments, values, strict=True)))) for name, values in named())

        parameters = [one for one in signature(test).parameters.values() if one.name not in arguments]
        all_cases.__signature__ = signature(test).replace(parameters=parameters)  # type: ignore[attr-defined]
        return all_cases

    return decorated


def each(checks: Iterable[tuple[str, Callable[[], None]]]) -> None:
    """Make every check, and fail if one fails; skip if `--case` leaves none."""
    failures: list[Failure] = []
    tried = 0
    for name, check in checks:
        if ONLY not in name:
            continue
        tried += 1
        try:
            check()
        except pytest.skip.Exception:
            tried -= 1
        except (Exception, pytest.fail.Exception) as failure:
            failures.append((name, failure))
    if failures:
        raise _all_of(failures, tried)
    if not tried:
        pytest.skip("no case is left to try")


def _all_of(failures: list[Failure], tried: int) -> Exception:
    """One failure that tells all: an assertion if any of them is one, so that what merely crashes is told from what is wrong."""
    lines = [f"{len(failures)} of {tried} failed: {', '.join(name for name, _ in failures)}"]
    for place, (name, failure) in enumerate(failures):
        whole = "".join(format_exception(failure)) if place < SHOWN else _last_line(failure)
        lines += [f"-- {name}", whole.rstrip()]
    asserted = any(isinstance(failure, (AssertionError, pytest.fail.Exception)) for _, failure in failures)
    return (AssertionError if asserted else RuntimeError)("\n".join(lines))


def _last_line(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}".splitlines()[0]


def _named(cases: list[Any], width: int, ids: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Every case as its name and its values."""
    named = []
    for place, case in enumerate(cases):
        marked = hasattr(case, "values") and hasattr(case, "marks")
        assert not (marked and case.marks), "a mark is one of the whole test"
        values = tuple(case.values) if marked else (case,) if width == 1 else tuple(case)
        given = case.id if marked and case.id is not None else None if ids is None or callable(ids) else list(ids)[place]
        named.append((str(given) if given is not None else "-".join(_name(value, ids) for value in values), values))
    return named


def _name(value: Any, ids: Any) -> str:
    named = ids(value) if callable(ids) else None
    return shorten(str(value if named is None else named), LONGEST_NAME, placeholder="...")
