"""What can go wrong, one class a mistake: every message says what was given and what is allowed."""

from collections.abc import Iterable
from difflib import get_close_matches

INPUT_IS_WRONG = 2
NO_ANSWER = 3


class BacksolveError(ValueError):
    """Any mistake this project names; `exit_status` is what the command line returns for it."""

    exit_status = INPUT_IS_WRONG


class UnknownName(BacksolveError):
    """A quantity, equation, model, accelerator or option value that does not exist."""

    def __init__(self, kind: str, given: str, allowed: Iterable[str], hint: str = ""):
        super().__init__(f"unknown {kind} {shorten(given)}{suggest(given, allowed)}{hint and '; ' + hint}")


class RetiredName(BacksolveError):
    """The id of an equation that was replaced; the message names its successor."""

    def __init__(self, given: str, successor: str):
        super().__init__(f"equation {shorten(given)} was retired; its successor is {successor!r}: backsolve show {successor}")


class WrongUnit(BacksolveError):
    """A value that cannot be read as the quantity it is given for."""


class WrongValue(BacksolveError):
    """A number outside the domain of its quantity: zero, negative, not finite or absurd."""


class WrongData(BacksolveError):
    """A file or a row of data that cannot be used; the message names file, row and column."""


class NotCovered(BacksolveError):
    """A known thing that no equation or table of this version covers."""

    exit_status = NO_ANSWER


def suggest(given: str, allowed: Iterable[str]) -> str:
    """`; did you mean 'batch'?` for the nearest allowed names, or the whole list when it is short."""
    allowed = list(allowed)
    spelled = {name.lower(): name for name in allowed}
    near = (
        get_close_matches(given.lower(), spelled, n=3, cutoff=0.6)
        or [name for name in spelled if given and name.startswith(given.lower())][:3]
    )
    if near:
        return "; did you mean " + " or ".join(repr(spelled[name]) for name in near) + "?"
    if 0 < len(allowed) <= 12:
        return "; allowed: " + ", ".join(allowed)
    return ""


def shorten(text: str, length: int = 60) -> str:
    """The text quoted for a message: control characters escaped, long text cut."""
    quoted = repr(text)
    return quoted if len(quoted) <= length else quoted[: length - 4] + "...'"
