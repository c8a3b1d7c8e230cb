"""Work that is shared among processes where it has many parts, and done here where it has few."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from multiprocessing import parent_process
from threading import Thread
from typing import Any, TypeVar

from backsolve.streams import progress, say

_T = TypeVar("_T")

_MANY = 4
"""Parts from which on processes are started: with fewer it pays little to start them. `infer` has 64 sheets in one."""
_MOST = 4
"""Processes at most, if nobody says how many: each holds the tables and its draws."""


class SharedWork(Executor):
    """Map parts in a pool, which is started when it is first needed. Without a number of workers, few parts are mapped here.

    A terminal shows how many parts are done. When a worker is killed, the rest of the work is done here.
    """

    def __init__(self, start: Callable[[int], Executor], workers: int | None = None, what: str = "work"):
        self.start, self.workers, self.what = start, workers, what
        self.pool: Executor | None = None
        self.broken = False

    def map(self, work: Callable[..., _T], *parts: Iterable[Any], timeout: float | None = None, chunksize: int = 1) -> Iterator[_T]:
        """Return what `work` makes of the parts, in their order."""
        taken = [*zip(*parts, strict=False)]
        few = self.workers == 1 or (self.workers is None and (len(taken) < _MANY or processors() == 1))
        if few or self.broken or not taken:
            return self._report((work(*one) for one in taken), len(taken))
        self.pool = self.pool or self.start(self.workers or min(processors(), _MOST))
        found = self.pool.map(work, *zip(*taken, strict=True), timeout=timeout, chunksize=chunksize)
        return self._report(self._finish(work, taken, found), len(taken))

    def _report(self, found: Iterator[_T], count: int) -> Iterator[_T]:
        """Yield what is found, and tell a person at a terminal how far it is."""
        with progress(self.what, count) as starting:
            for _ in range(count):
                starting("")
                yield next(found)

    def _finish(self, work: Callable[..., _T], taken: Sequence[tuple[Any, ...]], found: Iterator[_T]) -> Iterator[_T]:
        """Yield what the pool finds, and work out here what it does not."""
        done = 0
        try:
            for one in found:
                yield one
                done += 1
        except BrokenExecutor:
            if not self.broken:
                say("a worker process was killed, perhaps because memory ran out; the work goes on in this process")
            self.broken = True
            yield from (work(*one) for one in taken[done:])


def end_with_parent() -> None:
    """End this process when its parent ends, however that is: it would hold the parent's pipes open and wait for work for ever."""

    def watch() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
