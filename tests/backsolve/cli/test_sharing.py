"""Work of many parts goes to a pool that starts when it is needed, work of few stays here; what is printed is the same to the byte."""

from concurrent.futures import Executor, ThreadPoolExecutor
from signal import SIG_DFL, SIGINT, getsignal

import pytest

from backsolve.cli import sharing
from backsolve.cli.sharing import SharedWork
from invert.data import read_data
from tests.tools.commands import call


class Started(SharedWork):
    """One that writes down the pools that it starts."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        super().__init__()

    def start(self, workers: int) -> Executor:
        self.sizes.append(workers)
        return ThreadPoolExecutor(workers)


def sums(executor: Executor, parts: int) -> list[int]:
    return list(executor.map(lambda one, other: one + other, range(parts), range(parts)))


@pytest.mark.parametrize(("processors", "parts", "sizes"), [(2, 9, []), (2, 10, [2]), (64, 10, [sharing._MOST]), (1, 10, [])])
def test_a_pool_is_started_for_many_parts_on_several_processors(
    monkeypatch: pytest.MonkeyPatch, processors: int, parts: int, sizes: list[int]
):
    monkeypatch.setattr(sharing, "_MANY", 10)
    monkeypatch.setattr(sharing, "processors", lambda: processors)
    executor = Started()
    assert sums(executor, parts) == sums(executor, parts) == [2 * one for one in range(parts)]
    assert executor.sizes == sizes, "one pool for all work, and none that is not needed"


def test_an_interrupt_ends_a_worker_without_a_traceback():
    with SharedWork(2) as pool:
        assert [*pool.map(getsignal, [SIGINT])] == [SIG_DFL]


def test_the_number_of_processes_changes_no_byte(monkeypatch: pytest.MonkeyPatch):
    asked = ("infer", "gemini-3.1-pro", "kimi-k3", "qwen3-coder-plus", "--as", "json")
    monkeypatch.setattr("invert.inference._BATCH", 2)
    monkeypatch.setattr(sharing, "_MANY", 1)
    monkeypatch.setattr(sharing, "processors", lambda: 2)
    started: list[int] = []
    pool = sharing.SharedWork.map
    monkeypatch.setattr(sharing.SharedWork, "map", lambda self, *parts, **more: started.append(1) or pool(self, *parts, **more))
    alone = call(*asked, "--workers", "1").out
    read_data().known.clear()
    by_itself = call(*asked).out
    assert started, "without a number the work is offered to a pool"
    assert by_itself == alone
