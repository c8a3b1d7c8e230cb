"""What takes long and comes to the same for whoever asks, worked out once a process: draws of sheets, and the tables that ship.

The draws of a sheet are half the time of an inference, and hang on nothing but what it publishes, with the sheets that are drawn in one
chunk with it, and on what is assumed: a hundred tests draw the same hundred sheets. `tests/invert/posterior/test_summary.py` tries the
drawing itself, which nothing is put before.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager

from derive.shipped import Tables
from invert import data
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import cases
from invert.posterior import convention
from invert.posterior.data import PriceData
from invert.posterior.summary import Summary, summarise

_summaries: dict[Hashable, list[Summary]] = {}
_shipped: list[Data] = []
_evidence: dict[Hashable, list[float]] = {}
_data_of, _log_evidence = data._of, convention._log_evidence


def remember() -> None:
    """From here on nobody in this process draws a sheet twice, or learns twice from the tables that ship."""
    cases.summarise = _drawn_once
    convention._log_evidence = _weighed_once
    data._of = _kept_if_shipped


@contextmanager
def drawing_anew() -> Iterator[None]:
    """Sheets are drawn as often as they are asked for."""
    held, cases.summarise = cases.summarise, summarise
    try:
        yield
    finally:
        cases.summarise = held


def _drawn_once(
    sheets: Sequence[PriceData], assumptions: Assumptions, price_per_flop: float | None = None, *, executor: Executor | None = None
) -> list[Summary]:
    return summarise(sheets, assumptions, price_per_flop, executor=executor or _Remembering((assumptions, price_per_flop)))


class _Remembering(Executor):
    """Works here and now, on what was not worked on before: the sheets of a chunk together, whose last digits hang on one another."""

    def __init__(self, asked: Hashable):
        self.asked = asked

    def map(self, work: Callable[[PriceData], list[Summary]], chunks: Iterable[PriceData]) -> Iterator[list[Summary]]:  # type: ignore[override]
        for chunk in chunks:
            asked = chunk.key, self.asked
            if asked not in _summaries:
                _summaries[asked] = work(chunk)
            yield _summaries[asked]


def _weighed_once(sheets: PriceData, assumptions: Assumptions) -> list[float]:
    """What the premiums of a chunk are worth, which is drawn as its posterior is."""
    asked = sheets.key, assumptions
    if asked not in _evidence:
        _evidence[asked] = _log_evidence(sheets, assumptions)
    return _evidence[asked]


def _kept_if_shipped(tables: Tables) -> Data:
    """The data of a run; those of the first tables, which are the ones that ship, are not given up for others."""
    if not _shipped:
        _shipped.append(_data_of(tables))
    (first,) = _shipped
    return first if tables.files == first.tables.files else _data_of(tables)
