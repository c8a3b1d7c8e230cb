"""The memory tier behind a cache lifetime or a storage price: a range over cost bases and years. Disclosures have priority.

The evidence is a storage price compared with the sheet's own output increment (the implied drain time). If no premium is
sold, it is compared with KV bytes and holding prices (the storage price). Without a storage price, the evidence is the cost of
each tier. Two of them are never combined: both price terms use the same storage price. KV bytes calibrated on the premium
would make this term repeat the implied drain time. All terms are normal in logarithms and integrated exactly, except
the cost term: a softmax that is sampled. A price shows the tier with this cost, not where the bytes are.

Prices do not show the vendor's cost basis or the year of its hardware prices. Each pair of them is a case, and all cases are equally likely
a priori. The likelihoods of the cases are averaged, and never their posteriors. The result for a tier is its range over the cases.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import hypot, log
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import logsumexp, softmax

from derive.catalogue import equation
from derive.errors import WrongValue
from derive.preset_rows import MemoryTierFigure
from derive.tables.lines import BadRow, Problem
from derive.tables.shipped import Tables, in_si
from invert.arrays import Values
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.posterior.draws import SEED, normals
from invert.records import PricedCase, TierEvidence, TierShares

TIERS = ("hbm", "ddr", "flash", "hdd")
BASES = ("rented", "owned")
TIERS_OF = MappingProxyType({tier: (tier,) for tier in TIERS} | {"memory": ("hbm", "ddr"), "disk": ("flash", "hdd")})
"""The names that a disclosure may use, and the tiers that each leaves open."""

_DRAWS = 4096  # for the cost term, the only one that is sampled

IMPLIED_DRAIN_TIME, STORAGE_PRICE = "implied drain time", "storage price"
_ANCHORS_OF = MappingProxyType({IMPLIED_DRAIN_TIME: ("short_context", "long_context"), STORAGE_PRICE: ("kv_bytes_per_token",)})
"""The outside facts that each term uses. The cost term uses no such fact."""

_K = TypeVar("_K")
Probabilities = Mapping[str, float]
_LogLikelihood = Mapping[str, float]
"""By tier, up to a constant that all cases of one sheet share."""
_Seen = tuple[float, float] | None  # a median [SI] and its spread [nat]


class LogSpread(NamedTuple):
    """A lognormal quantity: median [SI] and standard deviation [nat]."""

    median: float
    sd: float


class TierParameters(NamedTuple):
    """The drain time of a tier [s] and the price of holding a byte in it [USD/byte/s]."""

    drain_time: LogSpread
    holding_price: LogSpread


def storage_evidence(
    data: Data, ttls: Sequence[int | None], *, storage_price: float | None = None, implied_drain_time: _Seen = None, kv_bytes: _Seen = None,
    disclosed: Mapping[int | None, str] = MappingProxyType({}), assumptions: Assumptions = USUAL,
) -> tuple[TierEvidence, ...]:  # fmt: skip
    """Return the tiers that each lifetime [s] points to, on every cost basis in every year.

    A lifetime of None is a storage price per hour.

    storage_price [USD/token/s], implied_drain_time as median [s] and spread [nat], kv_bytes stored as median [byte/token] and spread [nat],
    disclosed tiers by lifetime. Free storage and inconsistent tariffs give no information, so they are no storage price. A storage price
    without a premium or KV bytes is no evidence.
    """
    found = []
    for ttl in ttls:
        allowed = terms(data, ttl, storage_price, implied_drain_time, kv_bytes, assumptions)
        # A storage price is stronger evidence than the cost: without a premium or KV bytes beside it, there is none.
        weak = cost_term(assumptions) if storage_price else ""
        name, rule = next(((name, rule) for name, rule in allowed.items() if name != weak), ("", None))
        likely = {(basis, year): rule(basis, year) for basis in BASES for year in assumptions.price_years} if rule else {}
        shares = normalised({case: float(logsumexp([*logs.values()])) for case, logs in likely.items()}) if likely else {}
        cases = tuple(
            PricedCase(basis=basis, year=year, probabilities=normalised(logs), weight=shares[basis, year])
            for (basis, year), logs in likely.items()
        )
        pooled = one_posterior(likely.values())
        rented, owned = (one_posterior(logs for (of, _), logs in likely.items() if of == basis) for basis in BASES)
        said, by_case = disclosed.get(ttl), [case.probabilities for case in cases]
        by_price = answer = shares_over_cases(pooled, by_case, assumptions.level) if pooled else None
        if said:
            told = [disclosed_probabilities(said, one) for one in by_case or (None,)]
            answer = shares_over_cases(disclosed_probabilities(said, pooled), told, assumptions.level)
        found.append(TierEvidence(
            ttl_seconds=ttl, rented=rented, owned=owned, evidence=(name,) if name else (),
            implied_drain_time=implied_drain_time[0] if implied_drain_time else None,
            lecture=drain_match(data, ttl, "lecture", assumptions) if ttl else None,
            disclosed=said, cases=cases, by_price=by_price, answer=answer, anchors=_ANCHORS_OF.get(name, ()),
        ))  # fmt: skip
    return tuple(found)


def shares_over_cases(probabilities: Probabilities, cases: Sequence[Probabilities], level: float) -> TierShares:
    """Return probabilities with their ranges over the cases, and the fewest tiers with at least `level` in every case, or all tiers."""

    def least(tiers: tuple[str, ...]) -> float:
        return min(sum(one[tier] for tier in tiers) for one in cases)

    likeliest = (max(combinations(TIERS, count), key=least) for count in range(1, len(TIERS)))
    agreed = next((tiers for tiers in likeliest if least(tiers) >= level), TIERS)
    ranges = {tier: (min(one[tier] for one in cases), max(one[tier] for one in cases)) for tier in TIERS}
    return TierShares(probabilities=probabilities, ranges=ranges, agreed=agreed)


def terms(
    data: Data, ttl: int | None, storage_price: float | None, drain_time: _Seen, kv_bytes: _Seen, assumptions: Assumptions
) -> dict[str, Callable[[str, int], _LogLikelihood]]:
    """Return by name every term that these inputs allow: ln likelihood by tier, on a cost basis in a year."""
    found: dict[str, Callable[[str, int], _LogLikelihood]] = {}
    if drain_time:
        found[IMPLIED_DRAIN_TIME] = partial(implied_drain_time_match, data, drain_time, assumptions=assumptions)
    if storage_price and kv_bytes:
        found[STORAGE_PRICE] = partial(price_level, data, storage_price, kv_bytes, assumptions=assumptions)
    if ttl:
        found[cost_term(assumptions)] = partial(cost_optimality, data, ttl, assumptions=assumptions)
    return found


def cost_term(assumptions: Assumptions) -> str:
    """Return the name of the term without a price."""
    return f"cost optimality (temperature {assumptions.cost_temperature:g})"


# Terms: how likely each tier makes what is seen.


def _log_density(distance: float, *spreads: float) -> float:
    """Return ln of a normal density with combined spreads, up to a constant. It includes the width, because tiers have different widths."""
    return -0.5 * (distance / hypot(*spreads)) ** 2 - log(hypot(*spreads))


def implied_drain_time_match(
    data: Data, seen: tuple[float, float], basis: str, year: int, assumptions: Assumptions = USUAL
) -> _LogLikelihood:
    """Return ln likelihood by tier of the implied drain time, a median [s] and its spread [nat], with KV bytes and margins cancelled.

    ln T_imp ~ N(ln of the prediction for the tier), with the prior of the price/cost of output over the price/cost of storage. For HBM
    itself the two holding prices are one, so their spread cancels.

    >>> from invert.data import read_data
    >>> likely = implied_drain_time_match(read_data(), (0.0171, 0.4), "owned", 2026)
    >>> {tier: round(p, 2) for tier, p in normalised(likely).items()}
    {'hbm': 0.47, 'ddr': 0.48, 'flash': 0.05, 'hdd': 0.0}
    """
    tiers, price_cost_ratio = tier_parameters(data, basis, year, assumptions), assumptions.output_storage_price_cost_ratio_prior
    hbm = tiers["hbm"]
    values = {"mbu": assumptions.sustained_mbu, "sweep_time": hbm.drain_time.median, "hbm_holding_price": hbm.holding_price.median}
    values["output_storage_price_cost_ratio"] = price_cost_ratio.centre
    logs = {}
    for tier, own in tiers.items():
        predicted = equation("cache.implied_drain_time_of_tier").right_side(values | {"holding_price": own.holding_price.median})
        prices = () if tier == "hbm" else (hbm.holding_price.sd, own.holding_price.sd)
        logs[tier] = _log_density(log(seen[0] / predicted), seen[1], hbm.drain_time.sd, price_cost_ratio.spread, *prices)
    return logs


def price_level(
    data: Data, storage_price: float, kv_bytes: tuple[float, float], basis: str, year: int, assumptions: Assumptions = USUAL
) -> _LogLikelihood:
    """Return ln likelihood by tier of the storage price [USD/token/s], from KV bytes, a median [byte/token] and its spread [nat].

    ln S = ln(holding price x KV bytes) + ln of price/cost. The prior of price/cost is wide: storage is sometimes free.

    >>> from invert.data import read_data
    >>> likely = price_level(read_data(), 1.25e-9, (60e3, 1.0), "rented", 2026)
    >>> {tier: round(p, 2) for tier, p in normalised(likely).items()}
    {'hbm': 0.78, 'ddr': 0.21, 'flash': 0.01, 'hdd': 0.0}
    """
    logs, prior = {}, assumptions.storage_price_cost_ratio_prior
    for tier, own in tier_parameters(data, basis, year, assumptions).items():
        # A device of one byte: its price is the holding price.
        values = {"tier_price": own.holding_price.median, "tier_capacity": 1.0, "kv_bytes_per_token": kv_bytes[0]}
        cost = equation("cache.storage_price_is_hold_cost").right_side(values)
        logs[tier] = _log_density(log(storage_price / (prior.centre * cost)), kv_bytes[1], own.holding_price.sd, prior.spread)
    return logs


@cache_with_data
def cost_optimality(data: Data, ttl: float, basis: str, year: int, assumptions: Assumptions = USUAL, seed: int = SEED) -> _LogLikelihood:
    """Return ln probabilities by tier without a price. A tier is likelier if a lifetime [s] with one write and one read costs less.

    They are logarithms of shares: without observations, no case is likelier than another. A share is the mean of cost^(-1/temperature),
    normalised, over the tier parameters. Vendors keep caches in idle hardware, so cost decides little. Raise `WrongValue` for a temperature
    below the usual one.

    >>> from invert.data import read_data
    >>> {tier: round(p, 2) for tier, p in normalised(cost_optimality(read_data(), 300, "rented", 2026)).items()}
    {'hbm': 0.08, 'ddr': 0.29, 'flash': 0.4, 'hdd': 0.23}
    """

    temperature, least = assumptions.cost_temperature, USUAL.cost_temperature
    if not temperature >= least:
        raise WrongValue(f"the temperature of cost optimality is {temperature:g}; allowed: {least:g} or more")
    coordinates, weights = iter(normals(_DRAWS, seed).T), []
    for own in tier_parameters(data, basis, year, assumptions).values():
        drain, holding = (item.median * np.exp(item.sd * next(coordinates)) for item in (own.drain_time, own.holding_price))
        # KV bytes are the same in all tiers.
        weights.append(cost_of_keeping(drain, holding, ttl, 1.0, assumptions) ** (-1 / temperature))
    shares = (np.array(weights) / sum(weights)).mean(axis=1)
    return dict(zip(TIERS, map(float, np.log(shares)), strict=True))


def cost_of_keeping(drain_time: Values, holding_price: Values, hold_time: float, kv_bytes: float, assumptions: Assumptions) -> Values:
    """Return the cost of keeping a token of `kv_bytes` for a time [s] and of moving it there and back [USD/token].

    >>> float(cost_of_keeping(600.0, 1e-17, 3600.0, 20e3, USUAL))
    9.6e-10
    """
    # A device of one byte a second: its capacity is the drain time.
    values = {"tier_price": holding_price * drain_time, "tier_capacity": drain_time, "tier_bandwidth": 1.0, "kv_bytes_per_token": kv_bytes}
    values |= {"ttl": hold_time, "transfers_per_hold": assumptions.transfers_per_hold}
    values |= {name: equation(f"cache.{name}").right_side(values) for name in ("hold_cost", "retrieve_cost")}
    cost: Values = equation("cache.cache_cost").right_side(values)
    return cost


def drain_match(data: Data, ttl: float, device: str, assumptions: Assumptions = USUAL) -> Probabilities:
    """Return the lecture's rule as probabilities: ln of the lifetime [s] about ln of the drain time.

    It is shown in a panel only.

    `device` is `lecture` for the drain times that the lecture names, without spread, or `range` for real devices, with their
    spread. Lecture 2:00:37 to 2:03:33.

    >>> from invert.data import read_data
    >>> asked = (300, "lecture"), (3600, "lecture"), (3600, "range")
    >>> [max(found, key=found.get) for found in (drain_match(read_data(), *one) for one in asked)]
    ['flash', 'hdd', 'flash']
    """
    sd, times = assumptions.drain_match_spread, drain_times(data, device, assumptions)
    return normalised({tier: _log_density(log(ttl / time.median), sd, time.sd) for tier, time in times.items()})


def disclosed_probabilities(disclosed: str, undisclosed: Probabilities | None) -> Probabilities:
    """Return probability 1 for the tier that the vendor disclosed. Two tiers share it by the evidence, or evenly without evidence."""
    named = TIERS_OF[disclosed]
    held = {tier: undisclosed[tier] for tier in named} if undisclosed else {}
    total = sum(held.values())
    shares = {tier: held[tier] / total if total else 1 / len(named) for tier in named}
    return {tier: shares.get(tier, 0.0) for tier in TIERS}


@cache_with_data
def drain_times(data: Data, device: str, assumptions: Assumptions) -> Mapping[str, LogSpread]:
    """Return the drain time of every tier from memory_tiers.csv, by the lecture or by real devices."""
    return MappingProxyType({tier: _spread(data.tables, tier, "drain_time", device, assumptions) for tier in TIERS})


@cache_with_data
def tier_parameters(data: Data, basis: str, year: int, assumptions: Assumptions = USUAL) -> Mapping[str, TierParameters]:
    """Return drain time and holding price of every tier from memory_tiers.csv, on a cost basis and at the prices of a year.

    `owned` charges all tiers the price of owned hardware. `rented` charges HBM the rent of the whole replica, and the other tiers owned
    hardware, because the table has no rent for them. A tier without a price for the year has its price for all years. A spread reads low to
    high as an interval of `range_level`. The ends differ from the median by a factor of at least `tier_range_factor`.
    """
    if basis not in BASES or year not in assumptions.price_years:
        raise WrongValue(f"basis {basis!r} of {year}; allowed: {', '.join(BASES)}, of {', '.join(map(str, assumptions.price_years))}")
    drains, rows = drain_times(data, "range", assumptions), data.tables.rows_of(MemoryTierFigure)
    priced = {row.tier for row in rows if (row.quantity, row.basis) == ("holding_price", basis)}
    prices = {tier: _spread(data.tables, tier, "holding_price", basis if tier in priced else "owned", assumptions, year) for tier in TIERS}
    return MappingProxyType({tier: TierParameters(drains[tier], prices[tier]) for tier in TIERS})


def _spread(tables: Tables, tier: str, quantity: str, wanted: str, assumptions: Assumptions, year: int | None = None) -> LogSpread:
    """Return the row of a tier for a device or a cost basis as a lognormal, with the row of the year if the table has one."""
    of_tier = (row for row in tables.rows_of(MemoryTierFigure) if (row.tier, row.quantity) == (tier, quantity))
    found = [row for row in of_tier if wanted in (row.device, row.basis)]
    rows = [row for row in found if year and row.year == year] or [row for row in found if row.year is None]
    if len(rows) != 1:
        lack = f"has {len(rows)} rows of {tier} {quantity} for {wanted}, but one is needed"
        raise BadRow(Problem(origin="memory_tiers.csv", message=lack))
    (row,) = rows
    value = in_si(quantity, row.value, row.unit)
    if wanted == "lecture":
        return LogSpread(value, 0.0)
    if row.low is None or row.high is None:
        raise BadRow(row.problem_in("low" if row.low is None else "high", "is blank, and a spread needs it"))
    half = max(log(row.high / row.low) / 2, log(assumptions.tier_range_factor))
    return LogSpread(value, half / assumptions.range_reach)


def normalised(logs: Mapping[_K, float]) -> dict[_K, float]:
    """Return probabilities from log weights, with every tier or case equally likely a priori."""
    return dict(zip(logs, softmax([*logs.values()]).tolist(), strict=True))


def one_posterior(cases: Iterable[_LogLikelihood]) -> Probabilities | None:
    """Return one posterior over tiers from the likelihoods of some cases, or None without cases.

    Likelihoods are averaged, not posteriors: a case with a lower likelihood counts for less.
    """
    found = [[one[tier] for tier in TIERS] for one in cases]
    return normalised(dict(zip(TIERS, logsumexp(found, axis=0).tolist(), strict=True))) if found else None


def mean(found: Iterable[Probabilities]) -> Probabilities | None:
    """Return the mean by tier over sheets that count as one, or None without any."""
    found = list(found)
    return {tier: sum(one[tier] for one in found) / len(found) for tier in TIERS} if found else None


HOLD_TIMES = tuple(np.geomspace(1e-2, 1e6, 25).tolist())
"""Hold times [s] from a step of decode to more than a week."""


def hold_costs(data: Data, kv_bytes: float, assumptions: Assumptions = USUAL) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the cost [USD/token] of keeping a token of `kv_bytes` for each of HOLD_TIMES and of reading it once, by tier and cost basis.

    The hardware prices are those of the last year.

    >>> from invert.data import read_data
    >>> found = hold_costs(read_data(), 44e3)
    >>> [*found], found["hbm", "rented"][-1] > found["hbm", "owned"][-1]
    ([('hbm', 'rented'), ('hbm', 'owned'), ('ddr', 'owned'), ('flash', 'owned'), ('hdd', 'owned')], True)
    """
    costs = {}
    by_basis = {basis: tier_parameters(data, basis, assumptions.price_years[-1], assumptions) for basis in BASES}
    for tier in by_basis["owned"]:
        for basis, tiers in by_basis.items():
            own = tiers[tier]
            # A tier without a rent in the table has the owned price on both bases.
            if basis == "owned" or own.holding_price != by_basis["owned"][tier].holding_price:
                medians = own.drain_time.median, own.holding_price.median
                costs[tier, basis] = tuple(float(cost_of_keeping(*medians, time, kv_bytes, assumptions)) for time in HOLD_TIMES)
    return costs
