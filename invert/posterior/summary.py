"""What the draws of a sheet say: intervals, the information from the prices, and whether cost or a convention explains the premiums."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import exp, hypot, isfinite

import numpy as np

from derive.immutable import immutable
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.posterior import sampler
from invert.posterior.draws import DEFAULT, normals, quantiles
from invert.posterior.points import SIZE, Pair, PriceData, prior_points
from invert.posterior.sampler import Posterior, log_quantity, posterior, trusted
from invert.records import BandPair, Convention, Premiums

SUMMARISED = (
    "kv_bytes_per_token", "balance_context", "attention_intensity", "weight_compute_ratio", "memory_time_share",
    "active_params_times_price_cost_ratio",
)  # fmt: skip
LEVEL_OF_PRICES = "active_params_times_price_cost_ratio"
_PRIOR_DRAWS = 2048


@immutable
class Marginal:
    """One quantity of one sheet, SI: median, ends of the central interval, one-sided bounds at its level, spread of its log [nat]."""

    median: float
    low: float
    high: float
    at_most: float
    spread: float


@immutable
class Summary:
    """The results from the draws of one sheet, and the sampling method. There are no marginals if no draw is feasible."""

    marginals: Mapping[str, Marginal]
    log_evidence: float
    ess: float
    pareto_k: float
    feasible_fraction: float
    sampler: str


def summarise(price_data: PriceData, assumptions: Assumptions, price_per_flop: float | None = None, count: int = DEFAULT) -> Summary:
    """Return the summary of a sheet, at `count` draws or at as many more as its weights need."""
    if "premium_out" not in price_data.cells:
        # A given mean of a long band is not a fact about a sheet without a long band.
        assumptions = assumptions.without_facts(("long_context",))
    return summary_of(trusted(posterior(price_data, assumptions, count)), price_per_flop)


def summary_of(found: Posterior, price_per_flop: float | None = None) -> Summary:
    """Return the summary of a posterior."""
    weights = found.weights
    names = [name for name in SUMMARISED if name != LEVEL_OF_PRICES or price_per_flop]
    return Summary(
        marginals=_marginals(found, names, price_per_flop) if weights.ess else {},
        log_evidence=weights.log_evidence,
        ess=weights.ess,
        pareto_k=weights.pareto_k,
        feasible_fraction=weights.feasible_fraction,
        sampler=found.sampler,
    )


def _marginals(found: Posterior, names: Sequence[str], price_per_flop: float | None) -> dict[str, Marginal]:
    level, held = found.assumptions.level, np.flatnonzero(found.weights.values)
    share, values = found.weights.values[held], np.stack([found.logs(name, price_per_flop)[held] for name in names])
    means = values @ share
    spreads = np.sqrt(np.maximum(values**2 @ share - means**2, 0.0))
    levels = (0.5, (1 - level) / 2, (1 + level) / 2, level)
    ends = np.exp(quantiles(values, share, levels))
    return {
        name: Marginal(median=median, low=low, high=high, at_most=at_most, spread=spread)
        for name, (median, low, high, at_most), spread in zip(names, ends.tolist(), spreads.tolist(), strict=True)
    }


def contracted(spread: float, prior_spread: float) -> float:
    """Return 1 - posterior variance / prior variance."""
    return 1 - (spread / prior_spread) ** 2 if prior_spread else 0.0


def prior_spreads(price_data: PriceData, assumptions: Assumptions) -> Mapping[str, float]:
    """Return the spread of the log of each quantity of a sheet before any price is seen [nat]."""
    normal = normals(_PRIOR_DRAWS)
    size, width = price_data.log_active_params
    points, sizes = prior_points(price_data, assumptions, normal), size + width * normal[:, SIZE]
    names = (name for name in SUMMARISED if name != LEVEL_OF_PRICES)
    spreads = {name: float(log_quantity(name, points, sizes, price_data).std()) for name in names}
    # The level of prices is a fact of the market: before any price is seen it is as wide as size and price/cost together.
    return {**spreads, LEVEL_OF_PRICES: hypot(width, assumptions.priors["price_per_parameter"].spread)}


_PREMIUMS = ("premium_in", "premium_out")


def probability_by_cost(of: PriceData, log_evidence: float, data: Data, assumptions: Assumptions) -> float | None:
    """Return the probability by the cost model that the premiums above the first threshold are in their rounding cells, given the base
    prices.

    It is None if the base prices are infeasible. `log_evidence` is the log marginal likelihood of all prices of the sheet,
    which is used for a sheet with one threshold: the difference to the base prices is the log probability of the premiums.
    """

    def evidence(cells: Mapping[str, tuple[Pair, ...]]) -> float:
        one = replace(of, cells=cells, edges=of.edges[:2])
        return data.once((probability_by_cost, one.key_of_weights, assumptions), partial(sampler.log_evidence, one, assumptions))

    # Only the premiums over the first threshold are judged: bands above it are left out.
    first = {name: cells[:1] for name, cells in of.cells.items()}
    whole = evidence(first) if len(of.edges) > 2 else log_evidence
    base = evidence({name: cells for name, cells in first.items() if name not in _PREMIUMS})
    return exp(whole - base) if isfinite(base) else None


def convention(pair: BandPair, by_cost: float, others: Iterable[Premiums], assumptions: Assumptions = USUAL) -> Convention:
    """Return the probabilities of the premiums as a cost (`by_cost`) and as a habit of vendors with premiums in the same cells.

    The cells are the rounding cells of the published premiums. `others` are the premiums of other vendors' sheets. A vendor
    counts once, for any number of sheets. The habit's probability is the share of vendors, with `convention_count` added for
    these cells and for any other.

    >>> from invert.sheets.observables import observe
    >>> ratios = {name: observe(name, value) for name, value in (("output_input_ratio", 6.0), ("premium_in", 2.0), ("premium_out", 1.5))}
    >>> pair = BandPair(long_context_threshold=200_000, short_context=2e4, long_context=3e5, **ratios)
    >>> asked = [("a", 2.0, 1.5), ("a", 2.0, 2.0), ("b", 2.0, 1.4), ("c", 1.5, 1.5)]
    >>> others = [Premiums(provider=one, premium_in=over, premium_out=beyond) for one, over, beyond in asked]
    >>> found = convention(pair, 0.01, others)
    >>> found.same, found.others, found.probability_by_habit, round(found.bayes_factor)
    (2, 3, 0.6, 60)
    """
    cells = (pair.premium_in.low, pair.premium_in.high), (pair.premium_out.low, pair.premium_out.high)
    asked: dict[str, bool] = {}
    for one in others:
        inside = all(low <= asks <= high for (low, high), asks in zip(cells, (one.premium_in, one.premium_out), strict=True))
        asked[one.provider] = asked.get(one.provider, False) or inside
    same, each = sum(asked.values()), assumptions.convention_count
    return Convention(
        premium_in=pair.premium_in,
        premium_out=pair.premium_out,
        probability_by_cost=by_cost,
        probability_by_habit=(same + each) / (len(asked) + 2 * each),
        same=same,
        others=len(asked),
    )
