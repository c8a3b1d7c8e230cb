"""Show the memory tier of a cache by prices: tiers over cost bases and years, write tariffs, and the drain-time rule."""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from derive.units import show
from invert.records import TIER_NAMES, Observable, Tariff, TierEvidence, TierReading, TierRules, TierShares
from invert.report.layout import aligned, title
from invert.result import Inference, Run

_BASIS_NAMES = {"rented": "rented HBM, owned rest", "owned": "all owned"}
_BETWEEN = "by cost basis and year"
DRAIN_TIMES_OF_LECTURE = "drain match, the lecture's drain times"
"""The name of the lecture's rule in the scores."""


def tiers(one: Inference, table: Run) -> list[str]:
    """Show probabilities by tier, tariffs, caveats, and the lecture's rule separately."""
    lines = title("Storage tier: which tier do the prices match?")
    if not one.storage:
        return [*lines, "n/a: the sheet has no price for a cache lifetime or for storage"]
    rows = [_row(found) for found in one.storage]
    lines.append(aligned(tuple(rows[0]), rows))
    by_year = [row for found in one.storage for row in _rows_by_basis(found)]
    lines += [said for said in (deciding_source(one), counted_once(one, table)) if said]
    text = (
        f"The answer is the smallest set of tiers with at least {table.assumptions.level:.0%} probability in every case. The likeliest tier"
        " follows, with its range over the cases. Rented HBM, owned rest: HBM costs its share of a rented replica, and the other tiers"
        " cost what hardware costs its owner, because no table has their rent. The bases disagree about HBM against DDR because HBM is"
        " expensive to rent but not to own. A price like HBM means that storage costs as much as HBM, not that the cache is in HBM."
    )
    weighed = " Cases, with their probabilities in brackets (before the prices all cases are equally probable):" if by_year else ""
    lines.append(text + weighed)
    lines += [aligned(tuple(by_year[0]), by_year)] if by_year else []
    lines += [_tariff(tariff) for tariff in one.tariffs]
    return [*lines, *_rule(one.tiers, table)]


def deciding_source(one: Inference) -> str:
    """Name the only database with a deciding price, or return an empty text if a page or a second database confirms it."""
    found = next((found.sole_source for found in one.storage if found.sole_source), None)
    if found is None:
        return ""
    sold = " and ".join(f"a write for {show('ttl', ttl)}" if ttl else "storage" for ttl in found.ttls)
    return f"One source decides: the price of {sold} is {found.database}'s alone."


def counted_once(one: Inference, table: Run) -> str:
    """Say that other sheets of the vendor share the tariff and are not independent, or return an empty text."""
    models = next((of.models for of in table.shared_tariffs if of.provider == one.sheet.provider and one.sheet.model in of.models), ())
    return f"{one.sheet.provider} has one tariff for {len(models)} sheets ({', '.join(models)}), which count once." if models else ""


def worst_record(terms: Iterable[str], rules: TierRules) -> tuple[int, int] | None:
    """Return (right, all) of the worst of these rules on lifetimes with a disclosed tier, or None without a score."""
    if not rules.scores:
        return None
    found = []
    for term in dict.fromkeys(terms):
        of_term = ((row.right, row.answered) for row in rules.scores if row.rule.startswith(f"{term},") and row.answered)
        found.append(min(of_term, key=itemgetter(0), default=(0, 0)))
    return min(found, key=lambda one: one[0] / max(one[1], 1), default=None)


def lifetime(ttl: int | None) -> str:
    """Return `5 min`, or `per hour` for hourly storage."""
    return show("ttl", ttl) if ttl else "per hour"


def join_tiers(tiers: Sequence[str]) -> str:
    """Return `HBM, DDR or flash`."""
    *others, last = (TIER_NAMES[tier] for tier in tiers)
    return f"{', '.join(others)} or {last}" if others else last


def tiers_over_cases(found: TierShares | None) -> str:
    """Return `HBM or DDR (98%); HBM alone 47 to 99%`, or say that no tier can be excluded."""
    if found is None:
        return "-"
    tier, (low, high) = TIER_NAMES[found.likeliest], (f"{share:.0%}" for share in found.ranges[found.likeliest])
    share = high if low == high else f"{low[:-1]} to {high}"
    if len(found.agreed) == len(found.probabilities):
        return f"not identified; {tier} {share}"
    return f"{join_tiers(found.agreed)} ({found.agreed_share:.0%}); {tier} alone {share}" if len(found.agreed) > 1 else f"{tier} {share}"


def _rows_by_basis(found: TierEvidence) -> list[dict[str, str]]:
    """Return a row for each cost basis, with the hardware prices of each year side by side."""
    return [
        {"lifetime": lifetime(found.ttl_seconds), "cost basis": _BASIS_NAMES[basis]}
        | {f"prices of {case.year}": f"{_shares(case.probabilities)} ({case.weight:.0%})" for case in found.cases if case.basis == basis}
        for basis in dict.fromkeys(case.basis for case in found.cases)
    ]


def _row(found: TierEvidence) -> dict[str, str]:
    return {
        "lifetime": lifetime(found.ttl_seconds),
        "from": ", ".join(found.evidence) or "no evidence",
        f"prices alone, {_BETWEEN}": tiers_over_cases(found.by_price),
        "vendor says": found.disclosed or "-",
        "answer": tiers_over_cases(found.answer),
    }


def _shares(probabilities: Mapping[str, float]) -> str:
    """Return `HBM 98%, DDR 2%`: tiers of one per cent and more."""
    return ", ".join(f"{TIER_NAMES[tier]} {share:.0%}" for tier, share in probabilities.items() if share >= 0.005)


def _tariff(tariff: Tariff) -> str:
    """Describe slope and intercept of two write prices."""
    slope, charge = (_ranged(part) for part in (tariff.storage_price, tariff.write_charge))
    ratio = f", intercept over slope {show('drain_time', tariff.drain_time.value, digits=3)}" if tariff.drain_time else ""
    problem = f"; {tariff.problem}" if tariff.problem else ""
    lifetimes = f"{show('ttl', tariff.shorter_ttl)} and {show('ttl', tariff.longer_ttl)}"
    return f"write prices of {lifetimes}: slope {slope}, intercept {charge}{ratio}{problem}"


def _ranged(part: Observable) -> str:
    low, value, high = (show(part.name, number, digits=3) for number in (part.low, part.value, part.high))
    return f"{value} ({low} to {high})"


def _rule(read: Sequence[TierReading], table: Run) -> list[str]:
    """Describe the drain-time rule."""
    named, of_devices, rules = table.drain_times["lecture"], table.drain_times["range"], table.tier_rules
    lines = title("Storage tier from the lifetime of a cache entry, as the lecture reads it (2:00:37)")
    for tier in read:
        said = f". The provider says: {tier.disclosed}" if tier.disclosed else ""
        lines.append(f"{show('ttl', tier.ttl_seconds)}: {tier.lecture} by the lecture's drain times, {tier.devices} by real devices{said}")
    if not read:
        lines.append("n/a: the sheet has no price for a cache lifetime")
    for label, times in (("lecture's drain times", named), ("real devices", of_devices)):
        lines.append(f"    {label}: " + ", ".join(f"{tier} {show('drain_time', time, digits=3)}" for tier, time in times.items()))
    return [*lines, f"    {rules.equation}, a {rules.kind}: vendors also choose lifetimes for other reasons"]
