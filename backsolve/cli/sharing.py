"""Work that is shared among processes where it has many parts, and done here where it has few."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import Any, TypeVar

_T = TypeVar("_T")

_MANY = 25
"""Parts from which on processes are started: with fewer it pays little to start them. `infer` has sixteen sheets in one."""
_MOST = 4
"""Processes at most, if nobody says how many: each holds the tables and its draws."""


class ForManyParts(Executor):
    """Maps few parts here and many in a pool, which is started when it is first needed."""

    def __init__(self, start: Callable[[int], Executor]):
        self.start = start
        self.pool: Executor | None = None

    def map(self, work: Callable[..., _T], *parts: Iterable[Any], timeout: float | None = None, chunksize: int = 1) -> Iterator[_T]:
        """What `work` makes of the parts, in their order."""
        taken = [*zip(*parts, strict=False)]
        if len(taken) < _MANY or processors() == 1:
            return (work(*one) for one in taken)
        self.pool = self.pool or self.start(min(processors(), _MOST))
        return self.pool.map(work, *zip(*taken, strict=True), timeout=timeout, chunksize=chunksize)


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
