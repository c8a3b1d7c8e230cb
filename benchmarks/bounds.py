"""What bounds a posterior: the operations on arrays that a draw takes, and the bytes that they touch."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from tabulate import tabulate

from benchmarks.bulk import DRAWS, least, posteriors, price_data
from invert.arrays import Array
from invert.assumptions import USUAL
from invert.posterior import points
from invert.posterior.draws import SEED, normals, uniforms
from invert.posterior.sampler import log_ratio

STREAMED = 2**24
"""Numbers that no cache holds."""
_ROUNDS = 20
"""How often one operation is timed."""


class Counted(np.ndarray):
    """Numbers that count what is done with them: elements by operation, and bytes read and written."""

    done: ClassVar[Counter[str]] = Counter()
    touched: ClassVar[int] = 0

    def __array_ufunc__(self, operation: Any, method: str, *inputs: Any, **more: Any) -> Any:
        plain = [one.view(np.ndarray) if isinstance(one, Counted) else one for one in inputs]
        found = np.asarray(getattr(operation, method)(*plain, **more))
        size = max(np.size(one) for one in (*plain, found))
        if size >= DRAWS:
            Counted.done[operation.__name__] += size
            Counted.touched += sum(np.asarray(one).nbytes for one in (*plain, found))
        return found.view(Counted)


def counted() -> tuple[dict[str, float], float]:
    """Operations a draw by name, of those on every draw of every sheet, and the bytes that they touch; what is not counted is sorting."""
    Counted.done.clear()
    Counted.touched = 0
    sheet, views = price_data(), {one.__name__: partial(_viewed, one) for one in (normals, uniforms)}
    with np.errstate(all="ignore"), patch.multiple(points, **views):
        log_ratio(points.triangular_points(sheet, USUAL, DRAWS, SEED), sheet, USUAL)
    return {name: count / DRAWS for name, count in Counted.done.most_common()}, Counted.touched / DRAWS


def _viewed(points: Callable[[int, int], Array], count: int, seed: int) -> Array:
    return points(count, seed).view(Counted)


def in_cache(operation: str) -> float:
    """Seconds a number of an operation on arrays as large as those of a chunk."""
    one, other = np.random.default_rng(1).uniform(0.5, 2.0, (2, DRAWS))
    work: Any = getattr(np, operation)
    return least(partial(work, *(one, other)[: work.nin]), _ROUNDS) / DRAWS


def bandwidth() -> float:
    """Bytes a second that a sum reads and writes where no cache holds them."""
    numbers = np.ones(STREAMED)
    return 16 * STREAMED / least(partial(np.add, numbers, 1.0, out=np.empty_like(numbers)), _ROUNDS)


def sorting() -> float:
    """Seconds a number of finding the order of the draws of a sheet."""
    return least(np.random.default_rng(1).uniform(size=DRAWS).argsort, _ROUNDS) / DRAWS


def bounds_table(rounds: int) -> str:
    """What a draw would take if nothing but its arithmetic, or nothing but its memory, took time, and what it takes."""
    operations, touched = counted()
    run = posteriors(1)
    run()
    rows = [
        ["operations on arrays, at least", f"{sum(operations.values()):.0f}"],
        ["bytes that they touch, at least", f"{touched:,.0f}"],
        ["ns of these operations on arrays in the cache", f"{1e9 * sum(count * in_cache(name) for name, count in operations.items()):.0f}"],
        ["ns of these bytes at the bandwidth of the memory", f"{1e9 * touched / (speed := bandwidth()):.0f}, at {speed / 1e9:.3g} GB/s"],
        ["ns of ordering six quantities", f"{6e9 * sorting():.0f}"],
        ["ns it takes", f"{1e9 * least(run, max(rounds, 5)) / DRAWS:.0f}"],
    ]
    return tabulate(rows, ["what", "a draw"], tablefmt="github", disable_numparse=True)
