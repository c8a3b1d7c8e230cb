"""Share work among processes if it has many parts. Do it in this process if it has few."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from multiprocessing import parent_process
from signal import SIG_DFL, SIGINT, signal
from threading import Thread
from typing import Any, TypeVar

from backsolve.streams import progress, say

_T = TypeVar("_T")

_MANY = 4
"""The least number of parts that starts processes. For fewer parts the start costs too much. A part of `infer` is 64 sheets."""
_MOST = 4
"""The most processes without a given number: each has the tables and its draws in memory."""


class SharedWork(Executor):
    """Map parts in a pool that starts when it is first needed. If no number of workers is given and the parts are few, this process does
    the work.

    A terminal shows the number of finished parts of `what`. If a worker is killed, this process does the rest of the work.
    """

    def __init__(self, workers: int | None = None, what: str = "work"):
        self.workers, self.what = workers, what
        self.pool: Executor | None = None
        self.broken = False

    def start(self, workers: int) -> Executor:
        """Return a pool of processes."""
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(workers, initializer=end_with_parent)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the pool."""
        if self.pool:
            self.pool.shutdown(wait, cancel_futures=cancel_futures)

    def map(self, work: Callable[..., _T], *parts: Iterable[Any], timeout: float | None = None, chunksize: int = 1) -> Iterator[_T]:
        """Yield the results of `work` for the parts, in their order. A terminal shows the progress."""
        taken = [*zip(*parts, strict=False)]
        several = self.workers > 1 if self.workers else len(taken) >= _MANY and processors() > 1
        done = 0
        with progress(self.what, len(taken)) as starting:
            try:
                if taken and several and not self.broken:
                    self.pool = self.pool or self.start(self.workers or min(processors(), _MOST))
                    for one in self.pool.map(work, *zip(*taken, strict=True), timeout=timeout, chunksize=chunksize):
                        starting("")
                        yield one
                        done += 1
            except BrokenExecutor:
                say("a worker process was killed, perhaps because memory ran out. The work continues in this process")
                self.broken = True
            for part in taken[done:]:
                starting("")
                yield work(*part)


def end_with_parent() -> None:
    """End this process at an interrupt, without a traceback, and when its parent ends: it would wait for ever, with open pipes."""
    signal(SIGINT, SIG_DFL)

    def watch() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
