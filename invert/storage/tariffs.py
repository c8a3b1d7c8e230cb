"""Storage on price sheets: tariffs of two lifetimes, and the scores of the tier rules."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from math import hypot, inf, log

from derive.catalogue import equation
from derive.errors import WrongData
from derive.immutable import immutable
from derive.units import show
from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.records import BandPair, Observable, Reading, RuleScore, SharedTariff, SoleSource, Tariff, WritePremium
from invert.sheets.assemble import models, sheets_that_ship
from invert.sheets.observables import observables, ratio, rounding_cell
from invert.sheets.rows import Disclosure, grouped
from invert.sheets.sheet import PriceSheet
from invert.storage import tiers as storage
from invert.storage.tiers import Probabilities

_UNIFORM = dict.fromkeys(storage.TIERS, 1 / len(storage.TIERS))


Offer = tuple[float | None, tuple[float, float] | None]
"""The inputs of the rules on a disclosed lifetime from one sheet: storage price [USD/token/s], and implied drain time with its spread."""


@immutable
class DisclosedCase:
    """A lifetime with a disclosed tier, and the price of each sheet of the vendor for this lifetime."""

    provider: str
    ttl_seconds: int
    disclosed: str
    offers: tuple[Offer, ...]


def tariffs(input_price: float, premiums: Iterable[WritePremium], assumptions: Assumptions = USUAL) -> tuple[Tariff, ...]:
    """Return a tariff for every two adjacent lifetimes [s], from the input price [USD/token] and write premiums (multiplier - 1).

    Vendors round the multiplier. So each range covers all corners of the rounding cells of both multipliers. With three lifetimes or more,
    tariffs get a problem if the ranges of their slopes have no common value.

    >>> found, = tariffs(3e-6, [WritePremium(ttl_seconds=300, premium=0.25), WritePremium(ttl_seconds=3600, premium=1.0)])
    >>> round(found.storage_price.value * 3600 / 3e-6, 3), round(found.write_charge.value / 3e-6, 3), round(found.drain_time.value)
    (0.818, 0.182, 800)
    """
    known = sorted((one.ttl_seconds, one.premium) for one in premiums if one.ttl_seconds)
    found = tuple(_tariff(input_price, shorter, longer, assumptions) for shorter, longer in pairwise(known))
    if found and max(one.storage_price.low for one in found) > min(one.storage_price.high for one in found):
        bent = f"{len(known)} lifetimes do not lie on one line"
        found = tuple(replace(one, problem="; ".join(filter(None, (one.problem, bent)))) for one in found)
    return found


def _tariff(input_price: float, shorter: tuple[int, float], longer: tuple[int, float], assumptions: Assumptions) -> Tariff:
    (ttl, premium), (longer_ttl, longer_premium) = shorter, longer
    multipliers = (1 + premium, 1 + longer_premium)
    # A free write was not rounded.
    corners = product(*(rounding_cell(one, assumptions) if one > 0 else (one,) for one in multipliers))
    lines = [_line(input_price, ttl, near - 1, longer_ttl, far - 1) for near, far in (multipliers, *corners)]
    prices, charges = zip(*lines, strict=True)
    price = Observable(name="storage_price", value=prices[0], low=min(prices), high=max(prices))
    charge = Observable(name="write_charge", value=charges[0], low=min(charges), high=max(charges))
    ratios = [above / slope for slope, above in zip(prices, charges, strict=True) if slope > 0]
    # If rounding may have changed the sign of the slope, the ratio has no upper end.
    top = inf if price.low <= 0 else max(ratios, default=inf)
    drain = Observable(name="drain_time", value=ratios[0], low=min(ratios), high=top) if price.value > 0 and charge.value > 0 else None
    return Tariff(
        shorter_ttl=ttl, longer_ttl=longer_ttl, storage_price=price, write_charge=charge, drain_time=drain, problem=_problem(price, charge)
    )


def _line(input_price: float, ttl: int, premium: float, longer_ttl: int, longer_premium: float) -> tuple[float, float]:
    """Return the storage price and the write charge of one pair of premiums."""
    values = {"input_price": input_price, "cache_write_premium": premium, "ttl": float(ttl)}
    values |= {"longer_cache_write_premium": longer_premium, "longer_ttl": float(longer_ttl)}
    values["storage_price"] = equation("cache.storage_price_from_lifetimes").right_side(values)
    return values["storage_price"], equation("cache.write_charge").right_side(values)


def _problem(price: Observable, charge: Observable) -> str | None:
    """Return the impossible value of a tariff as text, or None. The value is reported and not clipped."""
    for found, wrong, what in (
        (price, price.value <= 0, "a longer lifetime does not cost more"),
        (charge, charge.value < 0, "no tariff of a write price and a storage price fits"),
    ):
        if wrong:
            rounding = "rounding alone could do that" if found.high > 0 else "rounding cannot do that"
            return f"{found.name} is {show(found.name, found.value)}: {what}; {rounding}"
    return None


def implied_drain_time(pair: BandPair, output_price: float, storage_price: float, assumptions: Assumptions = USUAL) -> Reading:
    """Return the hold time [s] with the price of one read, from the output premium [USD/token] and the storage price [USD/token/s]."""
    given = {**pair.values, **assumptions.held, "output_price": output_price, "storage_price": storage_price}
    rule = equation("cache.implied_drain_time")
    values = {"implied_drain_time": float(rule.right_side(given))} if rule.applies(given) else {}
    return Reading(name="storage", steps=((rule.id, "implied_drain_time"),), given=given, values=values)


def drain_time_of(
    pair: BandPair, output_price: float, storage_price: Observable, assumptions: Assumptions = USUAL
) -> tuple[float, float] | None:
    """Return the implied drain time of a premium and a storage price: median [s] and spread [nat], or None without a premium.

    The spread combines the rounding cells of premium and storage price, as intervals of `range_level`, with the unknown band
    means.
    """
    reading = implied_drain_time(pair, output_price, storage_price.value, assumptions) if storage_price.value > 0 else None
    if reading is None or reading.problem:
        return None
    low, high = pair.premium_out.low - 1, pair.premium_out.high - 1
    ends = (log(high / low) / 2, log(storage_price.high / storage_price.value))
    spread = hypot(assumptions.band_means_spread, *(end / assumptions.range_reach for end in ends))
    return reading.values["implied_drain_time"], spread


# The sources of prices, and the number of sheets that share them.

_ONE_DATABASE = re.compile(r"([a-z][\w.-]*) \d[\w.]*(;|$)(?!.*\balso in\b)")
"""The start of the notes of a price from one database only."""


def sole_source(sheet: PriceSheet) -> SoleSource | None:
    """Return the only database that has the storage price, or a write price, of a sheet, or None if a page or a second one has it."""
    prices = [price for price in ((sheet.storage,) if sheet.storage else sheet.writes) if price.verification.startswith("db")]
    found = grouped((named[1], price.ttl_seconds) for price in prices if (named := _ONE_DATABASE.match(price.notes)))
    return SoleSource(" and ".join(sorted(found)), tuple(ttl for ttls in found.values() for ttl in ttls)) if found else None


def shared_tariffs(offered: Iterable[PriceSheet]) -> tuple[SharedTariff, ...]:
    """Return the tariffs that several models of a vendor share: each is one piece of evidence about a tier."""
    found = []
    for sheet in offered:
        base, asked = sheet.bands[0].input, sheet.storage
        writes = tuple((price.ttl_seconds, f"{ratio(price, base):.9g}") for price in sheet.writes if price.ttl_seconds)
        storage_price = (asked.amount, asked.currency) if asked and asked.amount else None
        if writes or storage_price:
            found.append(((sheet.provider, writes, storage_price), sheet.model))
    groups = ((provider, tuple(dict.fromkeys(models))) for (provider, *_), models in grouped(found).items())
    return tuple(SharedTariff(provider, models) for provider, models in groups if len(models) > 1)


# Disclosures, and the score of each rule on them.


def disclosed_tiers(data: Data, provider: str, model: str, ttls: Iterable[int | None]) -> dict[int | None, str]:
    """Return the tiers that a vendor disclosed, by lifetime.

    A disclosure without model or lifetime applies to all of them.
    """
    stated = [
        row for row in data.tables.rows_of(Disclosure) if row.disclosed_tier and row.provider == provider and row.model in ("", model)
    ]
    # The first row that applies to a lifetime is the last one here.
    return {ttl: row.disclosed_tier for ttl in ttls for row in reversed(stated) if row.ttl_seconds in (None, ttl)}


@cache_with_data
def disclosed_cases(data: Data, assumptions: Assumptions = USUAL) -> tuple[DisclosedCase, ...]:
    """Return the disclosures as cases, each with the prices of the provider's current sheets for exactly that lifetime."""
    assumptions = assumptions.without_facts(UNLESS_GIVEN)
    offered = sheets_that_ship(data)
    contexts = {(row.provider, row.model): row.max_context for row in models(data)}
    found = []
    for row in (row for row in data.tables.rows_of(Disclosure) if row.disclosed_tier):
        lifetime = int(assumptions.lifetime_not_stated) if row.ttl_seconds is None else row.ttl_seconds
        chosen = [sheet for sheet in offered if sheet.provider == row.provider and row.model in ("", sheet.model)]
        offers = [_priced(sheet, contexts.get((row.provider, sheet.model)), lifetime, assumptions) for sheet in chosen]
        # "Hard disk" and "disk array" do not say whether the disks spin: flash counts as right too.
        disclosed = "disk" if row.disclosed_tier == "hdd" else row.disclosed_tier
        found.append(DisclosedCase(provider=row.provider, ttl_seconds=lifetime, disclosed=disclosed, offers=tuple(filter(None, offers))))
    if not found:
        raise WrongData("disclosures.csv: has no disclosed cache tier to test a rule")
    return tuple(found)


def _priced(sheet: PriceSheet, max_context: int | None, ttl: int, assumptions: Assumptions) -> Offer | None:
    """Return the price of a lifetime by the sheet's own tariff, or None if the sheet does not sell it."""
    seen = observables(sheet, max_context, assumptions)
    tariff = next((one for one in tariffs(sheet.bands[0].input.usd_per_token, seen.cache_write_premiums, assumptions)
                   if ttl in (one.shorter_ttl, one.longer_ttl)), None)  # fmt: skip
    if tariff is None or tariff.problem:
        return None
    drain = drain_time_of(seen.pairs[0], sheet.bands[0].output.usd_per_token, tariff.storage_price, assumptions) if seen.pairs else None
    return tariff.storage_price.value, drain


@cache_with_data
def scoreboard(data: Data, kv_bytes: tuple[float, float], assumptions: Assumptions = USUAL) -> tuple[RuleScore, ...]:
    """Return the score of every tier rule and of a uniform guess on the disclosed cases.

    KV bytes are median [byte/token] and spread [nat].

    The score of a case is ln of the probability of the disclosed tiers. A rule without an answer scores as a uniform guess. A
    provider that discloses one tier for all its models is one case. The rule is averaged over its sheets. A rule is right if its likeliest
    tier is a disclosed one.
    """

    def by_term(term: str, basis: str, ttl: int, offer: Offer) -> Probabilities | None:
        rule = storage.terms(data, ttl, *offer, kv_bytes, assumptions).get(term)
        return rule and storage.one_posterior(rule(basis, year) for year in assumptions.price_years)

    rules: dict[str, Callable[[int, Offer], Probabilities | None]] = {
        "uniform guess": lambda ttl, offer: None,
        "drain match, the lecture's drain times": lambda ttl, offer: storage.drain_match(data, ttl, "lecture", assumptions),
        "drain match, devices": lambda ttl, offer: storage.drain_match(data, ttl, "range", assumptions),
    }
    terms = (storage.cost_term(assumptions), storage.STORAGE_PRICE, storage.IMPLIED_DRAIN_TIME)
    rules |= {f"{term}, {basis}": partial(by_term, term, basis) for term in terms for basis in storage.BASES}

    def shipped(ttl: int, offer: Offer) -> Probabilities | None:
        price, drain = offer
        (found,) = storage.storage_evidence(
            data, [ttl], storage_price=price, implied_drain_time=drain, kv_bytes=kv_bytes, assumptions=assumptions
        )
        return found.by_price.probabilities if found.by_price else None

    rules["shipped"] = shipped
    cases = disclosed_cases(data, assumptions)
    return tuple(_score(name, rule, cases) for name, rule in rules.items())


def _score(name: str, rule: Callable[[int, Offer], Probabilities | None], cases: Sequence[DisclosedCase]) -> RuleScore:
    scores, right, answered, vendors = [], 0, 0, set()
    for case in cases:
        said = storage.mean(found for offer in case.offers or ((None, None),) if (found := rule(case.ttl_seconds, offer)))
        answered += said is not None
        vendors |= {case.provider} if said else set()
        right += said is not None and max(said, key=said.__getitem__) in storage.TIERS_OF[case.disclosed]
        probability = sum((said or _UNIFORM)[tier] for tier in storage.TIERS_OF[case.disclosed])
        scores.append(log(probability) if probability > 0 else -inf)
    return RuleScore(
        rule=name, mean_log_score=sum(scores) / len(scores), right=right, answered=answered, cases=len(cases), vendors=len(vendors)
    )
