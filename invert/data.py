"""The data of a run: the tables, read once and passed down, and what was worked out from them on the way."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from derive import shipped
from derive.shipped import Tables

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Data:
    """All tables as read at one time, and what functions `once_a_run` made of them; both end with the run.

    >>> from derive.shipped_rows import FxRate
    >>> read_data().tables.rows_of(FxRate)[0].units_per_usd
    7.2
    """

    tables: Tables
    known: dict[Any, Any] = field(default_factory=dict, repr=False)


def read_data() -> Data:
    """The data of a new run, from the tables as they are now."""
    return Data(shipped.read())


def once_a_run(function: Callable[Concatenate[Data, P], R]) -> Callable[Concatenate[Data, P], R]:
    """The function worked out once for the same data and arguments: what it found is kept with the data.

    >>> found = once_a_run(lambda data, name: [name])
    >>> data = read_data()
    >>> found(data, "fx") is found(data, "fx"), found(data, "fx") is found(read_data(), "fx")
    (True, False)
    """

    @wraps(function)
    def within(data: Data, /, *args: P.args, **kwargs: P.kwargs) -> R:
        asked = function, args, tuple(kwargs.items())
        if asked not in data.known:
            # setdefault and not an assignment: two threads must share one.
            data.known.setdefault(asked, function(data, *args, **kwargs))
        found: R = data.known[asked]
        return found

    return within
