"""Summaries of a posterior: intervals, the information from the prices, and whether the draws can be trusted.

Sheets are processed in chunks, so that memory does not grow with their number. An executor of the standard library, or one
with its interface (Dask, mpi4py), processes the chunks in parallel.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TypedDict, TypeVar, Unpack

import numpy as np

from derive.immutable import immutable
from invert.arrays import Array
from invert.assumptions import Assumptions
from invert.posterior.data import PriceData, by_shape
from invert.posterior.mixture import trusted
from invert.posterior.parameters import SIZE, prior_points
from invert.posterior.sampler import OF_THE_MODEL, Posterior, log_quantity, posterior
from invert.posterior.sobol import DEFAULT, SEED, normals
from invert.posterior.weights import RELIABLE, quantiles

_T = TypeVar("_T")

SUMMARISED = (
    "kv_bytes_per_token", "balance_context", "attention_intensity", "weight_compute_ratio", "memory_time_share",
    "active_params_times_markup",
)  # fmt: skip
LEVEL_OF_PRICES = "active_params_times_markup"
_OF_SIZE_AND_PRICE = (*OF_THE_MODEL, LEVEL_OF_PRICES)
"""Quantities that depend on the size and the price of a sheet, and not on its weights alone."""
_CHUNK = 2**17
"""Number of draws in a chunk of sheets: few enough for arrays of a megabyte."""


@immutable
class Marginal:
    """One quantity of one sheet, SI: median, ends of the central interval, one-sided bounds at its level, spread of its log [nat]."""

    median: float
    low: float
    high: float
    at_least: float
    at_most: float
    spread: float


@immutable
class Summary:
    """The results from the draws of one sheet, and the method of drawing. There are no marginals if no draw is feasible."""

    marginals: Mapping[str, Marginal]
    log_evidence: float
    ess: float
    pareto_k: float
    feasible_fraction: float
    sampler: str

    @property
    def trusted_below(self) -> float:
        """Return the Pareto-k up to which the weights of draws can be trusted."""
        return RELIABLE


class HowDrawn(TypedDict, total=False):
    """Options of drawing that differ from the defaults.

    `names` are by default all quantities. The price level is among them only if the rent of a FLOP [USD] is known. `count` is
    the number of draws per sheet. `guarded` gives more draws, then the mixture, to a sheet with untrustworthy weights.
    """

    count: int
    seed: int
    names: Sequence[str] | None
    guarded: bool


def summarise(
    sheets: Sequence[PriceData],
    assumptions: Assumptions,
    price_per_flop: float | None = None,
    *,
    executor: Executor | None = None,
    **how: Unpack[HowDrawn],
) -> list[Summary]:
    """Return the summary of every sheet, in their order, in chunks of one shape."""
    found = dict(as_summaries_come(sheets, assumptions, price_per_flop, mapped=executor.map if executor else map, **how))
    return [found[place] for place in range(len(sheets))]


def as_summaries_come(
    sheets: Sequence[PriceData],
    assumptions: Assumptions,
    price_per_flop: float | None = None,
    *,
    mapped: Callable[..., Iterable[list[Summary]]] = map,
    **how: Unpack[HowDrawn],
) -> Iterator[tuple[int, Summary]]:
    """Yield the place of each sheet and its summary, as soon as its chunk is drawn.

    `mapped` gets all chunks at once.

    Sheets with the same weights of draws share them.
    """
    count, names = how.get("count", DEFAULT), how.get("names")
    alike: dict[Hashable, list[int]] = {}
    for place, one in enumerate(sheets):
        alike.setdefault(one.key_of_weights, []).append(place)
    groups = [*alike.values()]
    chunks = chunks_of([sheets[group[0]] for group in groups], count)
    others = [[[sheets[place] for place in groups[member][1:]] for member in members] for members, _ in chunks]
    work = partial(
        summaries,
        assumptions=assumptions,
        price_per_flop=price_per_flop,
        count=count,
        seed=how.get("seed", SEED),
        names=tuple(names or (name for name in SUMMARISED if name != LEVEL_OF_PRICES or price_per_flop)),
        guarded=how.get("guarded", True),
    )
    found = mapped(work, [price_data for _, price_data in chunks], others)
    places = (place for members, _ in chunks for member in members for place in groups[member])
    return zip(places, chain.from_iterable(found), strict=True)


def chunks_of(sheets: Sequence[PriceData], count: int) -> list[tuple[list[int], PriceData]]:
    """Return the places of sheets of one shape and their price data, in chunks that fit in memory at `count` draws per sheet."""
    step = max(1, _CHUNK // count)
    return [
        (members[start : start + step], price_data.rows(slice(start, start + step)))
        for members, price_data in by_shape(sheets)
        for start in range(0, len(members), step)
    ]


def in_chunks(work: Callable[[PriceData], list[_T]], sheets: Sequence[PriceData], count: int) -> list[_T]:
    """Return the result of `work` for each sheet, in their order."""
    chunks = chunks_of(sheets, count)
    places = chain.from_iterable(members for members, _ in chunks)
    found = dict(zip(places, chain.from_iterable(work(chunk) for _, chunk in chunks), strict=True))
    return [found[place] for place in range(len(sheets))]


def summaries(
    price_data: PriceData,
    others: Sequence[Sequence[PriceData]],
    assumptions: Assumptions,
    price_per_flop: float | None,
    count: int,
    seed: int,
    names: Sequence[str],
    guarded: bool,
) -> list[Summary]:
    """Return the summaries of sheets of one shape, each followed by the others with the same weights of draws."""
    assumptions, found = _applicable_priors(assumptions, price_data), []
    drawn = posterior(price_data, assumptions, count, seed)
    each: Iterable[tuple[Posterior, Summary]] = _guarded(drawn, names, price_per_flop, seed)
    if not guarded:
        each = zip(drawn.sheets(), summarised(drawn, names, price_per_flop), strict=True)
    for (one, summary), alike in zip(each, others, strict=True):
        found += [summary, *(_summary_of_another(summary, one.of(other, seed), price_per_flop) for other in alike)]
    return found


def _guarded(drawn: Posterior, names: Sequence[str], price_per_flop: float | None, seed: int) -> Iterator[tuple[Posterior, Summary]]:
    """Yield the sheets one by one, at the number of draws that each needs."""
    for sheet in drawn.sheets():
        one = trusted(sheet.price_data, sheet.assumptions, sheet, seed)
        (summary,) = summarised(one, names, price_per_flop)
        yield one, summary


def _applicable_priors(assumptions: Assumptions, price_data: PriceData) -> Assumptions:
    """Return the priors that apply to these sheets: a given mean of a long band is no fact about a sheet without a long band."""
    return assumptions if "premium_out" in price_data.cells else assumptions.without_facts(("long_context",))


def summarised(found: Posterior, names: Sequence[str], price_per_flop: float | None = None) -> list[Summary]:
    """Return one summary per sheet."""
    logs, weights = _logs(found, names, price_per_flop), found.weights
    return [
        Summary(
            marginals=_marginals({name: rows[place] for name, rows in logs.items()}, found, place) if weights.ess[place] else {},
            log_evidence=float(weights.log_evidence[place]),
            ess=float(weights.ess[place]),
            pareto_k=float(weights.pareto_k[place]),
            feasible_fraction=float(weights.feasible_fraction[place]),
            sampler=found.sampler,
        )
        for place in range(len(weights.ess))
    ]


def _summary_of_another(summary: Summary, found: Posterior, price_per_flop: float | None) -> Summary:
    """Return the summary of a sheet with the same weights of draws: it differs in what depends on its size and its price."""
    logs = _logs(found, [name for name in summary.marginals if name in _OF_SIZE_AND_PRICE], price_per_flop)
    own = _marginals({name: rows[0] for name, rows in logs.items()}, found, 0) if logs else {}
    return replace(summary, marginals={**summary.marginals, **own})


def _logs(found: Posterior, names: Sequence[str], price_per_flop: float | None) -> dict[str, Array]:
    return {name: found.logs(name, price_per_flop) for name in names}


def _marginals(logs: Mapping[str, Array], found: Posterior, place: int) -> dict[str, Marginal]:
    """Return the marginals from the draws of one sheet."""
    weight, level = found.weights.values[place], found.assumptions.level
    held = np.flatnonzero(weight)
    share, values = weight[held], np.stack([row[held] for row in logs.values()])
    means = values @ share
    spreads = np.sqrt(np.maximum(values**2 @ share - means**2, 0.0))
    levels = (0.5, (1 - level) / 2, (1 + level) / 2, 1 - level, level)
    ends = np.exp(quantiles(values, np.broadcast_to(share, values.shape), levels))
    return {
        name: Marginal(median=median, low=low, high=high, at_least=at_least, at_most=at_most, spread=spread)
        for name, (median, low, high, at_least, at_most), spread in zip(logs, ends.tolist(), spreads.tolist(), strict=True)
    }


def contracted(spread: float, prior_spread: float) -> float:
    """Return 1 - posterior variance / prior variance.

    >>> contracted(0.5, 1.0)
    0.75
    """
    return 1 - (spread / prior_spread) ** 2 if prior_spread else 0.0


def prior_spreads(sheets: Sequence[PriceData], assumptions: Assumptions, names: Sequence[str], count: int = 2048) -> list[dict[str, float]]:
    """Return for each sheet the spread of the log of each quantity before any price is seen [nat]."""
    return in_chunks(partial(_prior_spreads, assumptions=assumptions, names=names, count=count), sheets, count)


def _prior_spreads(price_data: PriceData, assumptions: Assumptions, names: Sequence[str], count: int) -> list[dict[str, float]]:
    normal = normals(count)
    size, width = (end[:, None] for end in price_data.log_active_params)
    points = prior_points(price_data, assumptions, normal)
    sizes = np.broadcast_to(size + width * normal[:, SIZE], (len(price_data), count))
    spreads = {name: log_quantity(name, points, sizes, price_data).std(axis=1) for name in names if name != LEVEL_OF_PRICES}
    # The level of prices is a fact of the market: before any price is seen it is as wide as size and mark-up together.
    spreads[LEVEL_OF_PRICES] = np.hypot(width[:, 0], assumptions.priors["price_per_parameter"].spread)
    return [{name: float(column[place]) for name, column in spreads.items()} for place in range(len(price_data))]
