"""Which memory tier a cache lifetime or a storage price points to: a range over cost bases and years, disclosures first.

What goes in is a storage price measured against the sheet's own output increment (the implied drain time), or where no
premium is sold, against KV bytes and holding prices (the price level); where there is no price, what each tier would
cost. Never two of them: both price terms read the same storage price, and KV bytes that were calibrated on the premium
make the price level the implied drain time over again. All of it is normal in logarithms and integrated exactly, but
for the cost term, a softmax that is sampled. A price tells what storage is priced as, not where the bytes lie.

No price says on which cost basis a vendor reckons, nor at the hardware prices of which year: each pair of them is a case, as
likely as another beforehand. What is averaged over cases is how likely each makes what is seen, and never a posterior; what
is said of a tier is its range over them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import exp, hypot, inf, log
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from derive.catalogue import equation
from derive.errors import WrongData, WrongValue
from derive.immutable import immutable
from derive.preset_rows import MemoryTierFigure
from derive.tables.problems import BadRow, Problem
from derive.tables.rows import in_si
from derive.tables.shipped import Tables
from invert.arrays import Values
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.posterior.sobol import SEED, normals
from invert.records import PricedCase, TierEvidence
from invert.sheets.read import cached_beside_prices

TIERS = ("hbm", "ddr", "flash", "hdd")
BASES = ("rented", "owned")
TIERS_OF = MappingProxyType({tier: (tier,) for tier in TIERS} | {"memory": ("hbm", "ddr"), "disk": ("flash", "hdd")})
"""What a disclosure may name, and the tiers that it leaves open."""

_DRAWS = 4096  # of the cost term, the only one that is sampled

IMPLIED_DRAIN_TIME, PRICE_LEVEL, _COST_OPTIMALITY = "implied drain time", "price level", "cost optimality"
_ANCHORS_OF = MappingProxyType({IMPLIED_DRAIN_TIME: ("short_context", "long_context"), PRICE_LEVEL: ("kv_bytes_per_token",)})
"""The outside facts that each term rests on; the cost term rests on none."""

_K = TypeVar("_K")
Probabilities = Mapping[str, float]
_LogLikelihood = Mapping[str, float]
"""By tier, up to a constant that all cases of one sheet share."""
_Term = tuple[str, Callable[[str, int], _LogLikelihood]]
_Seen = tuple[float, float] | None  # a median [SI] and its spread [nat]


@immutable(kw_only=False)
class LogSpread:
    """A lognormal quantity: median [SI] and standard deviation [nat]."""

    median: float
    sd: float


@immutable(kw_only=False)
class TierParameters:
    """A tier's drain time [s] and what holding a byte in it costs [USD/byte/s]."""

    drain_time: LogSpread
    holding_price: LogSpread


def storage_evidence(
    data: Data, ttls: Sequence[int | None], *, storage_price: float | None = None, implied_drain_time: _Seen = None, kv_bytes: _Seen = None,
    disclosed: Mapping[int | None, str] = MappingProxyType({}), assumptions: Assumptions = USUAL,
) -> tuple[TierEvidence, ...]:  # fmt: skip
    """The tiers each lifetime [s] points to, on every cost basis in every year. A lifetime of None is a storage price per hour.

    storage_price [USD/token/s]; implied_drain_time as median [s] and spread [nat]; kv_bytes stored, as median
    [byte/token] and spread [nat]; disclosed tiers by lifetime. A storage price that is not above 0 is none: free storage,
    or a tariff that does not hold, tells no level. One without a premium or KV bytes beside it tells nothing. Raises
    `WrongValue` for a median or spread that is not one, `WrongData` for an unknown disclosed tier.

    >>> from invert.data import read_data
    >>> found, = storage_evidence(read_data(), [None], storage_price=1.25e-9, implied_drain_time=(0.0171, 0.4))
    >>> found.evidence, found.agreed, [round(end, 2) for end in found.ranges["hbm"]], round(found.owned["ddr"], 2)
    (('implied drain time',), ('hbm', 'ddr'), [0.47, 1.0], 0.41)
    """
    for name, given in (("implied_drain_time", implied_drain_time), ("kv_bytes", kv_bytes)):
        if given is not None and not (0 < given[0] < inf and 0 <= given[1] < inf):
            raise WrongValue(f"{name} is {given}; allowed: a median above 0 and a spread of 0 nats or more")
    priced = storage_price if storage_price is not None and 0 < storage_price < inf else None
    found = []
    for ttl in ttls:
        term = _term(data, ttl, priced, implied_drain_time, kv_bytes, assumptions)
        name, rule = term or ("", None)
        likely = {(basis, year): rule(basis, year) for basis in BASES for year in assumptions.price_years} if rule else {}
        cases, undisclosed = _cases(likely), one_posterior(likely.values())
        rented, owned = (one_posterior(logs for (of, _), logs in likely.items() if of == basis) for basis in BASES)
        said, by_case = disclosed.get(ttl), [case.probabilities for case in cases]
        told = [disclosed_probabilities(said, one) for one in by_case or (None,)] if said else by_case
        found.append(TierEvidence(
            ttl_seconds=ttl, rented=rented, owned=owned, evidence=(name,) if name else (),
            implied_drain_time=implied_drain_time[0] if implied_drain_time else None,
            lecture=drain_match(data, ttl, "lecture", assumptions) if ttl else None,
            devices=drain_match(data, ttl, "range", assumptions) if ttl else None,
            disclosed=said, undisclosed=undisclosed, cases=cases,
            probabilities=disclosed_probabilities(said, undisclosed) if said else undisclosed, anchors=_ANCHORS_OF.get(name, ()),
            ranges=ranges(told), agreed=agreed(told, assumptions.level), likely=_likely(told, assumptions),
            undisclosed_ranges=ranges(by_case), undisclosed_agreed=agreed(by_case, assumptions.level),
        ))  # fmt: skip
    return tuple(found)


def _cases(likely: Mapping[tuple[str, int], _LogLikelihood]) -> tuple[PricedCase, ...]:
    """Every cost basis in every year, with its share of how likely all of them make what is seen."""
    by_case = {case: _marginal(logs) for case, logs in likely.items()}
    shares = normalised(by_case) if by_case else {}
    return tuple(
        PricedCase(basis=basis, year=year, probabilities=normalised(logs), weight=shares[basis, year])
        for (basis, year), logs in likely.items()
    )


def _likely(cases: Sequence[Probabilities], assumptions: Assumptions) -> bool:
    """Whether one tier is likely in every case."""
    return bool(cases) and any(min(one[tier] for one in cases) >= assumptions.likely_tier for tier in TIERS)


def ranges(cases: Sequence[Probabilities]) -> Mapping[str, tuple[float, float]] | None:
    """The least and the most of every tier over the cases; None of none.

    >>> ranges([{"hbm": 1.0, "ddr": 0.0, "flash": 0.0, "hdd": 0.0}, {"hbm": 0.5, "ddr": 0.25, "flash": 0.25, "hdd": 0.0}])["hbm"]
    (0.5, 1.0)
    """
    return {tier: (min(one[tier] for one in cases), max(one[tier] for one in cases)) for tier in TIERS} if cases else None


def agreed(cases: Sequence[Probabilities], level: float) -> tuple[str, ...]:
    """The fewest tiers that hold at least `level` together in every case; all of them where no tier may be left out.

    >>> agreed([{"hbm": 1.0, "ddr": 0.0, "flash": 0.0, "hdd": 0.0}, {"hbm": 0.5, "ddr": 0.45, "flash": 0.05, "hdd": 0.0}], 0.9)
    ('hbm', 'ddr')
    """
    if not cases:
        return ()

    def least(tiers: tuple[str, ...]) -> float:
        return min(sum(one[tier] for tier in tiers) for one in cases)

    for count in range(1, len(TIERS)):
        best = max(combinations(TIERS, count), key=least)
        if least(best) >= level:
            return best
    return TIERS


def _term(
    data: Data, ttl: int | None, storage_price: float | None, drain_time: _Seen, kv_bytes: _Seen, assumptions: Assumptions
) -> _Term | None:
    """The one term that speaks, by name: the price against the premium, else against KV bytes, else no price at all."""
    if drain_time:
        return IMPLIED_DRAIN_TIME, lambda basis, year: implied_drain_time_match(data, drain_time, basis, year, assumptions)
    if storage_price and kv_bytes:
        return PRICE_LEVEL, lambda basis, year: price_level(data, storage_price, kv_bytes, basis, year, assumptions)
    if ttl and not storage_price:
        name = f"{_COST_OPTIMALITY} (temperature {assumptions.cost_temperature:g})"
        return name, lambda basis, year: cost_optimality(data, ttl, basis, year, assumptions)
    return None


# Terms: how likely each tier makes what is seen.


def implied_drain_time_match(
    data: Data, seen: tuple[float, float], basis: str, year: int, assumptions: Assumptions = USUAL
) -> _LogLikelihood:
    """ln likelihood by tier of the implied drain time, a median [s] and its spread [nat], with KV bytes and margins cancelled.

    ln T_imp ~ N(ln of what the tier would show), with the prior of the mark-up of output over that of storage. For HBM
    itself the two holding prices are one, so their spread cancels with them.

    >>> from invert.data import read_data
    >>> likely = implied_drain_time_match(read_data(), (0.0171, 0.4), "owned", 2026)
    >>> {tier: round(p, 2) for tier, p in normalised(likely).items()}
    {'hbm': 0.47, 'ddr': 0.48, 'flash': 0.05, 'hdd': 0.0}
    """
    tiers, markups = tier_parameters(data, basis, year, assumptions), assumptions.output_storage_markup_ratio_prior
    hbm = tiers["hbm"]
    values = {"mbu": assumptions.sustained_mbu, "sweep_time": hbm.drain_time.median, "hbm_holding_price": hbm.holding_price.median}
    values["output_storage_markup_ratio"] = markups.centre
    logs = {}
    for tier, own in tiers.items():
        predicted = equation("cache.implied_drain_time_of_tier").right_side(values | {"holding_price": own.holding_price.median})
        prices = () if tier == "hbm" else (hbm.holding_price.sd, own.holding_price.sd)
        logs[tier] = _log_density(log(seen[0] / predicted), hypot(seen[1], hbm.drain_time.sd, markups.spread, *prices))
    return logs


def price_level(
    data: Data, storage_price: float, kv_bytes: tuple[float, float], basis: str, year: int, assumptions: Assumptions = USUAL
) -> _LogLikelihood:
    """ln likelihood by tier of the storage price [USD/token/s], from KV bytes, a median [byte/token] and its spread [nat].

    ln S = ln(holding price x KV bytes) + ln of the mark-up, whose prior is wide: storage is sometimes free.

    >>> from invert.data import read_data
    >>> likely = price_level(read_data(), 1.25e-9, (60e3, 1.0), "rented", 2026)
    >>> {tier: round(p, 2) for tier, p in normalised(likely).items()}
    {'hbm': 0.78, 'ddr': 0.21, 'flash': 0.01, 'hdd': 0.0}
    """
    logs, markup = {}, assumptions.storage_markup_prior
    for tier, own in tier_parameters(data, basis, year, assumptions).items():
        # A device of one byte: its price is the holding price.
        values = {"tier_price": own.holding_price.median, "tier_capacity": 1.0, "kv_bytes_per_token": kv_bytes[0]}
        cost = equation("cache.storage_price_is_hold_cost").right_side(values)
        logs[tier] = _log_density(log(storage_price / (markup.centre * cost)), hypot(kv_bytes[1], own.holding_price.sd, markup.spread))
    return logs


@cached_beside_prices
def cost_optimality(data: Data, ttl: float, basis: str, year: int, assumptions: Assumptions = USUAL, seed: int = SEED) -> _LogLikelihood:
    """What stands in where there is no price: the cheaper a tier is for a lifetime [s], one write and one read, the likelier.

    Logarithms of shares: as nothing is seen, no case is likelier for them. A share is the mean of cost^(-1/temperature),
    normalised, over the tier parameters. Vendors keep caches in what is idle, so that cost decides little, and a temperature
    below the usual one is refused with `WrongValue`.

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
    """What it costs to keep a token of so many bytes for a time [s], and to move it there and back [USD/token].

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
    """The lecture's rule made probabilistic: ln of the lifetime [s] about ln of the drain time. A panel only.

    `device` is `lecture` for the drain times it names, taken as said, or `range` for real devices, with their spread.
    Lecture 2:00:37 to 2:03:33.

    >>> from invert.data import read_data
    >>> asked = (300, "lecture"), (3600, "lecture"), (3600, "range")
    >>> [max(found, key=found.get) for found in (drain_match(read_data(), *one) for one in asked)]
    ['flash', 'hdd', 'flash']
    """
    sd, times = assumptions.drain_match_spread, _drain_times(data, device, assumptions)
    return normalised({tier: _log_density(log(ttl / time.median), hypot(sd, time.sd)) for tier, time in times.items()})


def disclosed_probabilities(disclosed: str, undisclosed: Probabilities | None) -> Probabilities:
    """All of the probability on what the vendor said, shared as the evidence shares it, or evenly, where that names two tiers.

    >>> dict(disclosed_probabilities("memory", {"hbm": 0.375, "ddr": 0.125, "flash": 0.5, "hdd": 0.0}))
    {'hbm': 0.75, 'ddr': 0.25, 'flash': 0.0, 'hdd': 0.0}
    """
    if disclosed not in TIERS_OF:
        raise WrongData(f"disclosures.csv, column disclosed_tier: unknown tier {disclosed!r}; allowed: {', '.join(TIERS_OF)}")
    named = TIERS_OF[disclosed]
    held = {tier: undisclosed[tier] for tier in named} if undisclosed else {}
    total = sum(held.values())
    shares = {tier: held[tier] / total if total else 1 / len(named) for tier in named}
    return {tier: shares.get(tier, 0.0) for tier in TIERS}


# Tier parameters.


@cached_beside_prices
def _drain_times(data: Data, device: str, assumptions: Assumptions) -> Mapping[str, LogSpread]:
    """The drain time of every tier from memory_tiers.csv: those of the lecture, or of real devices."""
    return MappingProxyType({tier: _spread(data.tables, tier, "drain_time", "device", device, assumptions) for tier in TIERS})


@cached_beside_prices
def tier_parameters(data: Data, basis: str, year: int, assumptions: Assumptions = USUAL) -> Mapping[str, TierParameters]:
    """Drain time and holding price of every tier from memory_tiers.csv, on a cost basis and at the prices of a year.

    `rented` charges HBM the rent of the whole replica, and the other tiers owned hardware all the same, because the table has
    no rent of theirs; `owned` charges all tiers owned hardware. A tier without a price of the year has that of all years. A
    spread takes low to high as an interval of `range_level`; its ends are never less than `tier_range_factor` off the median.
    """
    if basis not in BASES or year not in assumptions.price_years:
        raise WrongValue(f"basis {basis!r} of {year}; allowed: {', '.join(BASES)}, of {', '.join(map(str, assumptions.price_years))}")
    found = {}
    for tier in TIERS:
        column = basis if _rows(data.tables, tier, "holding_price", "basis", basis) else "owned"
        found[tier] = TierParameters(
            _drain_times(data, "range", assumptions)[tier],
            _spread(data.tables, tier, "holding_price", "basis", column, assumptions, year),
        )  # fmt: skip
    return MappingProxyType(found)


def _spread(
    tables: Tables, tier: str, quantity: str, column: str, wanted: str, assumptions: Assumptions, year: int | None = None
) -> LogSpread:
    """The row of a tier as a lognormal, that of the year if it has one. The drain times of the lecture have no spread."""
    # The row that cannot be used may be that of the year.
    tables.refuse_bad(MemoryTierFigure, tier=tier, quantity=quantity, **{column: wanted})
    found = _rows(tables, tier, quantity, column, wanted)
    rows = [row for row in found if year and row.year == year] or [row for row in found if row.year is None]
    if len(rows) != 1:
        raise WrongData(f"memory_tiers.csv {tier} {quantity}: {column} {wanted} stands in {len(rows)} rows; it must stand in one")
    (row,) = rows
    value = in_si(quantity, row.value, row.unit)
    if wanted == "lecture":
        return LogSpread(value, 0.0)
    if row.low is None or row.high is None:
        raise BadRow(
            Problem(
                origin="memory_tiers.csv",
                row=row.place,
                column="low" if row.low is None else "high",
                message="is blank, and a spread needs it",
            )
        )
    low, high = in_si(quantity, row.low, row.unit), in_si(quantity, row.high, row.unit)
    half = max(log(high / low) / 2, log(assumptions.tier_range_factor))
    return LogSpread(value, half / assumptions.range_reach)


def _rows(tables: Tables, tier: str, quantity: str, column: str, wanted: str) -> list[MemoryTierFigure]:
    """The rows of a quantity of a tier whose device, or basis, is the wanted one."""
    of_tier = (row for row in tables.rows_of(MemoryTierFigure) if (row.tier, row.quantity) == (tier, quantity))
    return [row for row in of_tier if getattr(row, column) == wanted]


# Statistics.


def _log_density(distance: float, sd: float) -> float:
    """ln of a normal density, up to a constant. The width stays in, because tiers differ in it."""
    return -0.5 * (distance / sd) ** 2 - log(sd)


def normalised(logs: Mapping[_K, float]) -> dict[_K, float]:
    """Probabilities from log weights, every tier, or case, as likely as another beforehand."""
    total = _marginal(logs)
    return {one: exp(value - total) for one, value in logs.items()}


def _marginal(logs: Mapping[Any, float]) -> float:
    """ln of the sum of what these are the logarithms of: how likely a case makes what is seen, up to a constant."""
    return float(np.logaddexp.reduce(list(logs.values())))


def one_posterior(cases: Iterable[_LogLikelihood]) -> Probabilities | None:
    """One posterior over tiers from what each of some cases makes likely; None of none.

    Likelihoods are averaged, not posteriors: a case that makes what is seen less likely counts for less.

    >>> even = {"hbm": log(0.02), "ddr": log(0.02), "flash": log(0.02), "hdd": log(0.02)}
    >>> sure = {"hbm": log(0.24), "ddr": log(0.24), "flash": log(0.24), "hdd": log(1e-9)}
    >>> {tier: round(p, 3) for tier, p in one_posterior([even, sure]).items()}
    {'hbm': 0.325, 'ddr': 0.325, 'flash': 0.325, 'hdd': 0.025}
    """
    found = list(cases)
    return normalised({tier: _marginal({at: one[tier] for at, one in enumerate(found)}) for tier in TIERS}) if found else None


def mean(found: Iterable[Probabilities]) -> Probabilities | None:
    """The mean by tier, of sheets that are counted as one; None of none."""
    found = list(found)
    return {tier: sum(one[tier] for one in found) / len(found) for tier in TIERS} if found else None
