"""Test whether the cost of context or a convention of vendors explains the premiums of a sheet, by the same rounding cells."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import exp, isfinite

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.posterior import sampler
from invert.posterior.data import Pair, PriceData
from invert.records import BandPair, Convention, Premiums

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
