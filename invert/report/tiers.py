"""What a report says of the memory tier of a cache: cells of columns, and the section of a full report."""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from derive.units import show
from invert.records import TIER_NAMES, Observable, Tariff, TierRules, TierShares
from invert.report.layout import NONE, aligned, title

if TYPE_CHECKING:
    from invert.result import Inference, Run

ABSENT = "none"
"""The text of a cell without a tier."""
_BASIS_NAMES = {"rented": "rented HBM, owned rest", "owned": "all owned"}
DRAIN_TIMES_OF_LECTURE = "drain match, the lecture's drain times"
"""The name of the lecture's rule in the scores."""
_BY_PRICE = ("implied drain time", "storage price")
"""Rules of the cache tier that use a price. Other rules are named in the cell."""
_ABOUT = (
    "The answer is the smallest set of tiers with at least {level:.0%} probability in every case. The likeliest tier follows, with its"
    " range over the cases. Rented HBM, owned rest: HBM costs its share of a rented replica, and the other tiers cost what hardware costs"
    " its owner, because no table has their rent. The bases disagree about HBM against DDR because HBM is expensive to rent but not to own."
    " A price like HBM means that storage costs as much as HBM, not that the cache is in HBM."
)
_CASES = "Before the prices all cases are equally probable."


def lifetime(ttl: int | None) -> str:
    """Return `5 min`, or `per hour` for hourly storage."""
    return show("ttl", ttl) if ttl else "per hour"


def join_tiers(tiers: Sequence[str]) -> str:
    """Return `HBM, DDR or flash`.

    >>> join_tiers(("hbm", "ddr", "flash")), join_tiers(("hdd",))
    ('HBM, DDR or flash', 'disk')
    """
    *others, last = (TIER_NAMES[tier] for tier in tiers)
    return f"{', '.join(others)} or {last}" if others else last


def tiers_in_short(tiers: Sequence[str], of: Sequence[str]) -> str:
    """Return some of the memory tiers in a word or two.

    >>> of = ("hbm", "ddr", "flash", "hdd")
    >>> tiers_in_short(of[:2], of), tiers_in_short(of[1:], of), tiers_in_short(of, of)
    ('HBM/DDR', 'no HBM', 'any')
    """
    lacking = [tier for tier in of if tier not in tiers]
    if len(lacking) > 1:
        return "/".join(TIER_NAMES[tier] for tier in tiers)
    return f"no {TIER_NAMES[lacking[0]]}" if lacking else "any"


def _agreed(found: TierShares) -> str:
    """Return the tiers with the level of the run: `HBM or DDR`, or `any`."""
    return "any" if len(found.agreed) == len(found.probabilities) else join_tiers(found.agreed)


def tiers_over_cases(found: TierShares | None) -> str:
    """Return `HBM or DDR (98%); HBM alone 47 to 99%`."""
    if found is None:
        return NONE
    tier, (low, high) = TIER_NAMES[found.likeliest], (f"{share:.0%}" for share in found.ranges[found.likeliest])
    share = high if low == high else f"{low[:-1]} to {high}"
    return f"{_agreed(found)} ({found.agreed_share:.0%}); {tier} alone {share}" if len(found.agreed) > 1 else f"{tier} {share}"


def tier_cell(one: "Inference") -> str:
    """Return the tiers by price, or that the vendor states the tier."""
    said = [tiers_in_short(of.answer.agreed, [*of.answer.probabilities]) for of in one.storage if of.answer and not of.disclosed]
    stated = ["stated"] if any(of.disclosed for of in one.storage) else []
    return ", ".join(dict.fromkeys(stated + said)) or ABSENT


def likely_tiers(one: "Inference") -> list[str]:
    """Return the stated tiers, else the likeliest by price."""
    answers = [(of.answer.agreed if of.disclosed else (of.answer.likeliest,)) for of in one.storage if of.answer]
    return [*dict.fromkeys("/".join(TIER_NAMES[tier] for tier in tiers) for tiers in answers)] or [NONE]


def tiers_by_price(one: "Inference") -> str:
    """Return the tiers with the level of the run: `HBM or DDR`, or `5 min HBM, 1 h flash`."""
    return _together({of.ttl_seconds: _agreed(of.by_price) for of in one.storage if of.by_price})


def likelihood_by_price(one: "Inference") -> str:
    """Return `98 % likely` for a tier by price, or the name of the rule by duration."""
    rules = [term.partition(" (")[0] for of in one.storage for term in of.evidence if term not in _BY_PRICE]
    shares = [f"{100 * of.by_price.agreed_share:.0f} % likely" for of in one.storage if of.by_price and _agreed(of.by_price) != "any"]
    return ", ".join(filter(None, (" and ".join(dict.fromkeys(rules)), " and ".join(dict.fromkeys(shares))))) or NONE


def tiers_by_duration(one: "Inference") -> str:
    """Return the tiers by the drain times of the lecture."""
    return _together({tier.ttl_seconds: tier.lecture for tier in one.tiers})


def stated_tiers(one: "Inference") -> str:
    """Return the tiers that the vendor states."""
    return _together({of.ttl_seconds: join_tiers(of.answer.agreed) for of in one.storage if of.answer and of.disclosed})


def vendor_words(one: "Inference") -> str:
    """Return the vendor's words."""
    said = ", ".join(dict.fromkeys(tier.disclosed for tier in one.tiers if tier.disclosed))
    return f"stated as {said}" if said else NONE


def _together(said: Mapping[int | None, str]) -> str:
    """Return one answer if all lifetimes have the same, else `5 min flash, 1 h disk`."""
    if len(set(said.values())) <= 1:
        return next(iter(said.values()), ABSENT)
    return ", ".join(f"{lifetime(ttl)} {text}" for ttl, text in said.items())


def tier_codes(one: "Inference") -> str | None:
    """Return `300:hbm:0.46-0.9`: lifetime [s] or `hour`, the likeliest tier by prices, and its least and greatest probability."""
    found = [(of.ttl_seconds or "hour", of.by_price.likeliest, of.by_price.ranges) for of in one.storage if of.by_price]
    return " ".join("{}:{}:{:.2g}-{:.2g}".format(ttl, tier, *ranges[tier]) for ttl, tier, ranges in found) or None


def worst_record(terms: Iterable[str], rules: TierRules) -> tuple[int, int]:
    """Return (right, all) of the worst of these rules on lifetimes with a disclosed tier."""
    found = []
    for term in dict.fromkeys(terms):
        of_term = ((row.right, row.answered) for row in rules.scores if row.rule.startswith(f"{term},") and row.answered)
        found.append(min(of_term, key=itemgetter(0), default=(0, 0)))
    return min(found, key=lambda one: one[0] / max(one[1], 1))


def deciding_source(one: "Inference") -> str:
    """Name the only database with a deciding price, or return an empty text if a page or a second database confirms it."""
    found = next((found.sole_source for found in one.storage if found.sole_source), None)
    if found is None:
        return ""
    sold = " and ".join(f"a write for {show('ttl', ttl)}" if ttl else "storage" for ttl in found.ttls)
    return f"One source decides: the price of {sold} is {found.database}'s alone."


def tier_section(one: "Inference", run: "Run") -> list[str]:
    """Show probabilities by tier, tariffs, caveats, and the lecture's rule separately."""
    lines = title("Storage tier: which tier do the prices match?")
    if not one.storage:
        return [*lines, "n/a: the sheet has no price for a cache lifetime or for storage"]
    columns = ("lifetime", "from", "prices alone, by cost basis and year", "vendor says", "answer")
    rows = [
        (lifetime(of.ttl_seconds), ", ".join(of.evidence) or "no evidence", tiers_over_cases(of.by_price), of.disclosed or NONE,
         tiers_over_cases(of.answer)) for of in one.storage
    ]  # fmt: skip
    cases = [
        # Of tiers with one per cent and more.
        (
            lifetime(of.ttl_seconds), _BASIS_NAMES[case.basis], str(case.year),
            ", ".join(f"{TIER_NAMES[tier]} {share:.0%}" for tier, share in case.probabilities.items() if share >= 0.005),
            f"{case.weight:.0%}",
        )
        for of in one.storage
        for case in of.cases
    ]  # fmt: skip
    shared = [of.models for of in run.shared_tariffs if of.provider == one.sheet.provider and one.sheet.model in of.models]
    vendor = [f"{one.sheet.provider} has one tariff for {len(of)} sheets ({', '.join(of)}), which count once." for of in shared]
    lines += [aligned(columns, rows), *filter(None, [deciding_source(one)]), *vendor, _ABOUT.format(level=run.assumptions.level)]
    lines += [aligned(("lifetime", "cost basis", "prices of", "tiers", "probability of the case"), cases), _CASES] if cases else []
    return [*lines, *_tariffs(one.tariffs), *_by_rule(one, run)]


def _tariffs(found: Sequence[Tariff]) -> list[str]:
    """Return the slope and the intercept of every two write prices."""
    rows = [
        (
            f"{show('ttl', of.shorter_ttl)} and {show('ttl', of.longer_ttl)}", _ranged(of.storage_price), _ranged(of.write_charge),
            show("drain_time", of.drain_time.value, digits=3) if of.drain_time else NONE, of.problem or "",
        )
        for of in found
    ]  # fmt: skip
    return [aligned(("write prices of", "slope", "intercept", "intercept over slope", ""), rows)] if rows else []


def _ranged(part: Observable) -> str:
    low, value, high = (show(part.name, number, digits=3) for number in (part.low, part.value, part.high))
    return f"{value} ({low} to {high})"


def _by_rule(one: "Inference", run: "Run") -> list[str]:
    """Describe the drain-time rule."""
    rows = [(show("ttl", tier.ttl_seconds), tier.lecture, tier.devices, tier.disclosed or NONE) for tier in one.tiers]
    columns = ("lifetime", "by the lecture's drain times", "by real devices", "vendor says")
    times = {"lecture's drain times": run.drain_times["lecture"], "real devices": run.drain_times["range"]}
    return [
        *title("Storage tier from the lifetime of a cache entry, as the lecture reads it (2:00:37)"),
        aligned(columns, rows) if rows else "n/a: the sheet has no price for a cache lifetime",
        *(
            f"{of}: " + ", ".join(f"{tier} {show('drain_time', time, digits=3)}" for tier, time in found.items())
            for of, found in times.items()
        ),
        f"{run.tier_rules.equation}, a {run.tier_rules.kind}: vendors also choose lifetimes for other reasons",
    ]
