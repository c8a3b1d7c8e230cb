"""Whether context costs or a habit of vendors explain the premiums of a sheet: one pair of cells for both."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from math import exp, isfinite

from invert.assumptions import USUAL, Assumptions
from invert.posterior import sampler
from invert.posterior.data import PriceData
from invert.records import BandPair, Convention, Premiums

_PREMIUMS = ("premium_in", "premium_out")


def probabilities_by_cost(sheets: Sequence[PriceData], log_evidence: Sequence[float], assumptions: Assumptions) -> list[float | None]:
    """Return the probability by the cost model that the premiums over the first threshold are in their cells, given the base prices.

    It is None if the base prices are infeasible. `log_evidence` is the log marginal likelihood of all prices of each sheet,
    which is used for sheets with one threshold: the difference to the base prices is the log probability of the premiums.
    """
    known: dict[Hashable, float] = {}

    def evidence(one: PriceData) -> float:
        if (key := one.key_of_weights) not in known:
            known[key] = sampler.log_evidence(one, assumptions)
        return known[key]

    found: list[float | None] = []
    for one, of_all in zip(sheets, log_evidence, strict=True):
        # Only the premiums over the first threshold are judged: bands above it are left out.
        first = {name: cells[:1] for name, cells in one.cells.items()}
        whole = evidence(replace(one, cells=first, edges=one.edges[:2])) if len(one.edges) > 2 else of_all
        base = evidence(replace(one, cells={name: cell for name, cell in first.items() if name not in _PREMIUMS}, edges=one.edges[:2]))
        found.append(exp(whole - base) if isfinite(base) else None)
    return found


def convention(pair: BandPair, by_cost: float, others: Iterable[Premiums], assumptions: Assumptions = USUAL) -> Convention:
    """Return the probabilities of the premiums as a cost (`by_cost`) and as a habit of vendors with premiums in the same cells.

    The cells are the rounding cells of the published premiums. `others` are the premiums of other vendors' sheets. A vendor
    counts once, for any number of sheets. The habit's probability is the share of vendors, with `convention_count` added for
    these cells and for any other.

    >>> from invert.sheets.observables import observe
    >>> ratios = {name: observe(name, value) for name, value in (("output_input_ratio", 6.0), ("premium_in", 2.0), ("premium_out", 1.5))}
    >>> pair = BandPair(long_context_threshold=200_000, threshold_inclusive=False, short_context=2e4, long_context=3e5, **ratios)
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
