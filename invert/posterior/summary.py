"""Summaries of a posterior: intervals, the information from the prices, and whether the draws can be trusted."""

from collections.abc import Mapping, Sequence
from math import hypot

import numpy as np

from derive.immutable import immutable
from invert.assumptions import Assumptions
from invert.posterior.data import PriceData
from invert.posterior.mixture import trusted
from invert.posterior.parameters import SIZE, prior_points
from invert.posterior.sampler import Posterior, log_quantity, posterior
from invert.posterior.sobol import DEFAULT, normals
from invert.posterior.weights import quantiles

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
