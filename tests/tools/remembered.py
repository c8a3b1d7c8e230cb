"""What takes long and comes to the same for whoever asks, worked out once a process: draws of sheets, and the tables that ship.

The draws of a sheet are half the time of an inference, and hang on nothing but what it publishes, with the sheets that are drawn in one
chunk with it, and on what is assumed: a hundred tests draw the same hundred sheets. `tests/invert/posterior/test_summary.py` tries the
drawing itself, which nothing is put before.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from derive.tables.shipped import Tables
from invert import data
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import cases
from invert.posterior import convention
from invert.posterior.data import PriceData
from invert.posterior.summary import Summary, as_summaries_come

_summaries: dict[Hashable, list[Summary]] = {}
_shipped: list[Data] = []
_evidence: dict[Hashable, list[float]] = {}
_data_of, _log_evidence = data._cache_of, convention._of_one_shape


def remember() -> None:
    """From here on nobody in this process draws a sheet twice, or learns twice from the tables that ship."""
    cases.as_summaries_come = _drawn_once
    convention._of_one_shape = _weighed_once
    data._cache_of = _kept_if_shipped


@contextmanager
def drawing_anew() -> Iterator[None]:
    """Sheets are drawn as often as they are asked for."""
    held, cases.as_summaries_come = cases.as_summaries_come, as_summaries_come
    try:
        yield
    finally:
        cases.as_summaries_come = held


def _drawn_once(
    sheets: Sequence[PriceData], assumptions: Assumptions, price_per_flop: float | None = None
) -> Iterator[tuple[int, Summary]]:
    return as_summaries_come(sheets, assumptions, price_per_flop, mapped=partial(_remembering, (assumptions, price_per_flop)))


def _remembering(
    asked: Hashable,
    work: Callable[[PriceData, Sequence[Sequence[PriceData]]], list[Summary]],
    chunks: Iterable[PriceData],
    others: Iterable[Sequence[Sequence[PriceData]]],
) -> Iterator[list[Summary]]:
    """Works here and now, on what was not worked on before: the sheets of a chunk together, whose last digits hang on one another."""
    for chunk, beside in zip(chunks, others, strict=True):
        of_chunk = chunk.key, tuple(tuple(one.key for one in alike) for alike in beside), asked
        if of_chunk not in _summaries:
            _summaries[of_chunk] = work(chunk, beside)
        yield _summaries[of_chunk]


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
