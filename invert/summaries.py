"""A posterior in the numbers people read: intervals, what the prices taught, and whether the draws can be trusted.

Any number of sheets go through in chunks, so that memory does not grow with their number; an executor of the standard
library, or one with its interface (Dask, mpi4py), takes the chunks in parallel.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from invert.draws import DEFAULT, SEED, normals
from invert.evidence import Evidence, by_shape
from invert.importance import quantiles
from invert.mixture import trusted
from invert.points import SIZE, prior_points
from invert.posterior import Posterior, posterior
from invert.priors import Beliefs
from invert.records import LEVEL

if TYPE_CHECKING:
    import numpy as np

QUANTITIES = (
    "kv_bytes_per_token", "balance_context", "attention_intensity", "weight_compute_ratio", "memory_time_share",
    "active_params_times_markup",
)  # fmt: skip
LEVEL_OF_PRICES = "active_params_times_markup"
CHUNK = 2**16
"""Draws of all sheets together that are worked on at once: few enough to stay in a processor's cache."""


@dataclass(frozen=True, slots=True)
class Marginal:
    """One quantity of one sheet, SI: median, ends of the central interval of LEVEL, one-sided bounds at LEVEL, spread of its log [nat]."""

    median: float
    low: float
    high: float
    at_least: float
    at_most: float
    spread: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What the draws of one sheet say, and how they were drawn; no marginals where no draw is feasible."""

    marginals: Mapping[str, Marginal]
    log_evidence: float
    ess: float
    pareto_k: float
    feasible_fraction: float
    sampler: str


def summarise(
    sheets: Sequence[Evidence],
    held: Beliefs,
    *,
    count: int = DEFAULT,
    seed: int = SEED,
    names: Sequence[str] = QUANTITIES,
    guarded: bool = True,
    executor: Executor | None = None,
) -> list[Summary]:
    """The posterior of every sheet, in their order, in chunks of one shape.

    `count` draws a sheet; `guarded` gives more of them, then the mixture, to a sheet whose weights cannot be trusted.
    """
    places, chunks = [], []
    for members, evidence in by_shape(sheets):
        step = max(1, CHUNK // count)
        for start in range(0, len(members), step):
            places.append(members[start : start + step])
            chunks.append(evidence.rows(slice(start, start + step)))
    work = partial(summaries, held=held, count=count, seed=seed, names=tuple(names), guarded=guarded)
    found: list[Summary | None] = [None] * len(sheets)
    for members, rows in zip(places, (executor.map if executor else map)(work, chunks), strict=True):
        for place, row in zip(members, rows, strict=True):
            found[place] = row
    return found


def summaries(evidence: Evidence, held: Beliefs, count: int, seed: int, names: Sequence[str], guarded: bool) -> list[Summary]:
    """The summaries of sheets of one shape."""
    found = posterior(evidence, held, count, seed)
    if not guarded:
        return summary(found, names)
    return [summary(trusted(evidence.rows(slice(place, place + 1)), held, one, seed), names)[0] for place, one in enumerate(found.sheets())]


def summary(found: Posterior, names: Sequence[str]) -> list[Summary]:
    """One summary a sheet."""
    marginals = {name: _marginals(found.logs(name), found.weights.values) for name in names}
    weights = found.weights
    return [
        Summary(
            {name: rows[place] for name, rows in marginals.items()} if weights.ess[place] else {},
            *(float(column[place]) for column in (weights.log_evidence, weights.ess, weights.pareto_k, weights.feasible_fraction)),
            found.sampler,
        )
        for place in range(len(weights.ess))
    ]


def _marginals(logs: "np.ndarray", weight: "np.ndarray") -> list[Marginal]:
    import numpy as np

    held = np.where(weight > 0, logs, 0.0)
    mean = np.einsum("ij,ij->i", weight, held)
    spread = np.sqrt(np.maximum(np.einsum("ij,ij,ij->i", weight, held, held) - mean**2, 0.0))
    ends = np.exp(quantiles(logs, weight, (0.5, (1 - LEVEL) / 2, (1 + LEVEL) / 2, 1 - LEVEL, LEVEL)))
    return [Marginal(*(float(end) for end in row), float(width)) for row, width in zip(ends, spread, strict=True)]


def prior_spreads(evidence: Evidence, held: Beliefs, names: Sequence[str], count: int = 2048) -> list[dict[str, float]]:
    """Spread of the log of each quantity before any price is seen [nat], a mapping a sheet."""
    import numpy as np

    normal = normals(count)
    size, width = (end[:, None] for end in evidence.log_active_params)
    points = prior_points(evidence, held, normal)
    free = Posterior(evidence, points, None, None, np.broadcast_to(size + width * normal[:, SIZE], (len(evidence), count)), "prior")
    spreads = {name: free.logs(name).std(axis=1) for name in names if name != LEVEL_OF_PRICES}
    # The level of prices is a fact of the market: before any price is seen it is as wide as size and mark-up together.
    spreads[LEVEL_OF_PRICES] = np.hypot(width[:, 0], held["price_per_parameter"].spread)
    return [{name: float(column[place]) for name, column in spreads.items()} for place in range(len(evidence))]
