"""Where a cache lies, as prices tell it: tiers on two cost bases, write tariffs, the drain-time rule and its score."""

from collections.abc import Mapping, Sequence

from derive.units import show
from invert.records import TIER_NAMES, LeftOut, NegativeControl, Observable, Tariff, TierEvidence, TierReading
from invert.report.layout import aligned, left_out, title
from invert.result import Inference, Run


def tiers(one: Inference, table: Run) -> list[str]:
    """Probabilities by tier, tariffs, what weighs against reading them, and the lecture's rule as a panel of its own."""
    lines = title("Storage tier: what the prices are the prices of")
    if one.no_storage:
        return [*lines, f"left out: {one.no_storage}"]
    if not one.storage:
        return [*lines, "n/a: the sheet sells neither a cache lifetime nor storage"]
    rows = [_row(found) for found in one.storage]
    lines.append(aligned(tuple(rows[0]), rows))
    by_year = [row for found in one.storage for row in _by_year(found)]
    text = (
        "Rented takes HBM at what a whole replica rents for and the other tiers as owned hardware; owned takes all as owned hardware."
        " They disagree about HBM against DDR because HBM is dear to rent and not to own. A price near HBM's says that storage is"
        " priced as HBM, not that the bytes lie there."
    )
    lines.append(text + (" Each is the mean over hardware prices of two years:" if by_year else ""))
    lines += [aligned(tuple(by_year[0]), by_year)] if by_year else []
    lines += [_tariff(tariff) for tariff in one.tariffs]
    return [*lines, *_against(table.negative_controls), *_rule(one.tiers, table)]


def _against(controls: tuple[NegativeControl, ...] | LeftOut) -> list[str]:
    if isinstance(controls, LeftOut):
        return [left_out(controls)]
    said = caveat(controls)
    return [said[0].upper() + said[1:] + "."] if said else []


def caveat(controls: Sequence[NegativeControl]) -> str | None:
    """What the widest negative control says, for whoever would read bytes or a tier from a storage price."""
    if not controls or controls[0].ratio == 1:
        return None
    widest = controls[0]
    return (
        f"{widest.provider} asks {widest.amount:g} {widest.currency}/MTok/h for {len(widest.models)} open models whose KV differs "
        f"{widest.ratio:.3g} times: a storage price says little about bytes, and less about the tier"
    )


def _lifetime(found: TierEvidence) -> str:
    return show("ttl", found.ttl_seconds) if found.ttl_seconds else "per hour"


def _by_year(found: TierEvidence) -> list[dict[str, str]]:
    """A row for each cost basis, with the hardware prices of each year side by side."""
    return [
        {"lifetime": _lifetime(found), "cost basis": basis}
        | {f"prices of {case.year}": _shares(case.probabilities) for case in found.cases if case.basis == basis}
        for basis in dict.fromkeys(case.basis for case in found.cases)
    ]


def _row(found: TierEvidence) -> dict[str, str]:
    return {
        "lifetime": _lifetime(found),
        "rented": _shares(found.rented),
        "owned": _shares(found.owned),
        "prices alone": _shares(found.undisclosed),
        "from": ", ".join(found.evidence) or "nothing to go by",
        "vendor says": found.disclosed or "-",
        "answer": _shares(found.probabilities),
    }


def _shares(probabilities: Mapping[str, float] | None) -> str:
    """`HBM 98%, DDR 2%`: tiers of one percent and more."""
    if probabilities is None:
        return "-"
    return ", ".join(f"{TIER_NAMES[tier]} {share:.0%}" for tier, share in probabilities.items() if share >= 0.005)


def _tariff(tariff: Tariff) -> str:
    """Slope and intercept of two write prices."""
    slope, charge = (_ranged(part) for part in (tariff.storage_price, tariff.write_charge))
    ratio = f", intercept over slope {show('drain_time', tariff.drain_time.value, digits=3)}" if tariff.drain_time else ""
    problem = f"; {tariff.problem}" if tariff.problem else ""
    lifetimes = f"{show('ttl', tariff.shorter_ttl)} and {show('ttl', tariff.longer_ttl)}"
    return f"write prices of {lifetimes}: slope {slope}, intercept {charge}{ratio}{problem}"


def _ranged(part: Observable) -> str:
    low, value, high = (show(part.name, number, digits=3) for number in (part.low, part.value, part.high))
    return f"{value} ({low} to {high})"


def _rule(read: Sequence[TierReading], table: Run) -> list[str]:
    """The drain-time rule, and how every rule does where vendors disclosed the tier."""
    named, of_devices, rules = table.drain_times["lecture"], table.drain_times["range"], table.tier_rules
    if isinstance(named, LeftOut):
        return [left_out(named)]
    if isinstance(of_devices, LeftOut):
        return [left_out(of_devices)]
    if isinstance(rules, LeftOut):
        return [left_out(rules)]
    lines = title("Storage tier from the lifetime of a cache entry, as the lecture reads it (2:00:37)")
    for tier in read:
        said = f"; the provider says: {tier.disclosed}" if tier.disclosed else ""
        lines.append(
            f"{show('ttl', tier.ttl_seconds)}: {tier.lecture} by the lecture's drain times, {tier.devices} by those of real devices{said}"
        )
    if not read:
        lines.append("n/a: the sheet sells no cache lifetime")
    for label, times in (("lecture's drain times", named), ("real devices", of_devices)):
        lines.append(f"    {label}: " + ", ".join(f"{tier} {show('drain_time', time, digits=3)}" for tier, time in times.items()))
    rows = [
        {
            "rule": row.rule,
            "mean log score": f"{row.mean_log_score:.2f}",
            "right": f"{row.right} of {row.answered} answered, {row.cases} cases",
        }
        for row in rules.scores
    ]
    lines += [f"    {rules.equation}, a {rules.kind}: lifetimes are product choices as much as drain times"]
    return [*lines, "How each rule does on lifetimes whose tier the vendor disclosed:", aligned(tuple(rows[0]), rows)]
