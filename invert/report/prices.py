"""What a report says of prices: their table, the predicted prices, the fast mode, and the tier of a cache by its prices."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from operator import itemgetter

from derive.immutable import immutable
from derive.units import show
from invert.estimate_text import two_digits
from invert.records import TIER_NAMES, Check, FastMode, Observable, Tariff, TierEvidence, TierReading, TierRules, TierShares
from invert.report.layout import NONE, Table, aligned, infer_all, title
from invert.result import Inference, Run
from invert.sheets.sheet import Price


def all_prices(one: Inference, table: Run) -> list[str]:
    """Show all published and predicted prices under a heading, with their grades, page and notes."""
    notes = dict.fromkeys(price.notes for price in one.sheet.prices.values() if price.notes)
    lines = [f"Source {grades_and_page(one)}", *(f"  {note}" for note in notes), _also_sold(one, table), fast_mode_line(one, table)]
    return [*title("Prices"), predicted_prices(one), *filter(None, lines)]


def unit_of_prices(one: Inference) -> str:
    """Return the unit of the table."""
    return f"{one.sheet.bands[0].input.currency} per million tokens"


def grades_and_page(one: Inference) -> str:
    """Return the grade of the prices and their page."""
    source = one.sheet.bands[0].input.source_url
    grades = sorted({price.verification for price in one.sheet.rows})
    return f"({', '.join(grades)}){f' {source}' if source else ''}"


def _also_sold(one: Inference, table: Run) -> str:
    """Return `Also sold: batch at 0.5, fast at 2 times its input price.`, or an empty text without other offers."""
    found = table.also_sold(one)
    if not found:
        return ""
    of_each = (f"{' in '.join(filter(None, (of.service_tier.replace('_', '-'), of.region)))} at {of.times:.3g}" for of in found)
    return f"Other service tiers: {', '.join(of_each)} times the input price ({infer_all(table)})."


def amount_of(price: Price, currency: str) -> str:
    return f"{price.amount:g}" + (f" {price.currency}" if price.currency != currency else "") + ("/h" if price.per == "mtok_hour" else "")


# Prices beside what the forward model predicts.


PLACE = {name: f"price.{name}" for name in ("component", "threshold_tokens", "ttl_seconds")}
"""The place of a predicted price, by key."""


@immutable
class Prediction:
    """A published price and the forward model's prediction at the lecture's readings [as published], or None.

    `used`: the readings use the price. `bound`: the price may be higher. `met`: the prediction rounds to the price.
    """

    price: Price
    predicted: float | None = None
    used: bool = False
    bound: bool = False
    met: bool | None = None

    @property
    def residual(self) -> float | None:
        """Predicted over published price, minus 1. It is 0 for a price that the readings use, and None without a prediction."""
        if self.used:
            return 0.0
        return None if self.predicted is None else self.predicted / self.price.amount - 1


def predictions(one: Inference, checked: tuple[Check, ...] | None = None) -> Iterator[Prediction]:
    """Yield every price of a sheet with its check: band by band, then writes and storage. The default checks use the lecture's readings."""
    of_lecture = one.pairs[0].lecture_checks if one.pairs else ()
    checks = {check.component: check for check in (of_lecture if checked is None else checked)}
    for price in one.sheet.prices.values():
        found = Prediction(price=price)
        check, scale = _check_of(one, price, checks)
        if checks and price.component in ("input", "output") and not price.threshold_tokens:
            found = replace(found, used=True)
        elif check and price.usd_per_token:
            amount = check.predicted * scale * price.amount / price.usd_per_token
            found = replace(found, predicted=amount, bound=check.bound, met=check.inside_rounding_cell)
        yield found


def _check_of(one: Inference, price: Price, checks: Mapping[str, Check]) -> tuple[Check | None, float]:
    """Return the check of a price, and the factor that converts its prediction to USD."""
    component, threshold, _ = price.place
    if component in ("input", "output") and threshold:
        suffix = "" if threshold == one.sheet.bands[1].threshold_tokens else f"@{threshold}"
        base = getattr(one.sheet.bands[0], component).usd_per_token
        return checks.get(f"premium_{component[:-3]}{suffix}"), base
    return (None if threshold else checks.get({"cache_read": "cache_read_price", "cache_storage": "storage_price"}.get(component, ""))), 1.0


def predicted_prices(one: Inference) -> Table:
    """Return every published price with the prediction of the forward model, if there is a threshold."""
    count, currency = 3 if one.pairs else 2, one.sheet.bands[0].input.currency
    rows = ((name_of_price(found.price), amount_of(found.price, currency), _outcome(found))[:count] for found in predictions(one))
    return aligned((unit_of_prices(one), "published", "forward model")[:count], rows, rule=False)


def name_of_price(price: Price) -> str:
    """Return `output above 200k`, and `cache write, kept 5 min`."""
    kept = f", kept {show('ttl', price.ttl_seconds)}" if price.ttl_seconds else ""
    at = show("long_context_threshold", price.threshold_tokens).removesuffix(" tokens")
    where = f" {'from' if price.threshold_inclusive else 'above'} {at}" if price.threshold_tokens else ""
    return price.component.replace("_", " ") + kept + where


def _outcome(found: Prediction) -> str:
    """Return `used`, `2, missed`, or `at least 0.00001`. A bound below a price says little, so it is not called met."""
    if found.predicted is None:
        return "used" if found.used else NONE
    amount = f"{Decimal(f'{found.predicted:.3g}'):f}"
    return f"{'at least ' * found.bound}{amount}" + ("" if found.bound and found.met else f", {'met' if found.met else 'missed'}")


# The fast mode.


def fast_mode_in_brief(found: FastMode | None) -> str:
    """Return `2x/2.5x`: price and speed of a fast mode over standard."""
    if found is None:
        return NONE
    return f"{found.price_ratio:.3g}x" + (f"/{found.speed_ratio:.3g}x" if found.speed_ratio else "")


def fast_mode_line(one: Inference, run: Run) -> str:
    """Describe the batches of a fast mode and a slow mode in a sentence or two, or return an empty text."""
    found = one.fast_mode
    if found is None:
        return ""
    price = f"Fast mode: {found.price_ratio:.3g}x the price"
    if not (found.speed_ratio and found.batch_ratio and found.slow_mode_floor):
        given = f"fast_price_ratio={found.price_ratio:.6g} fast_speed_ratio=2.5"
        return f"{price}, at an unknown speed: backsolve solve fast_batch_ratio {given}"
    sold = next((of.times for of in run.also_sold(one) if of.service_tier == "batch"), None)
    at_batch = f"; batch is sold at {100 * sold:.0f} %" if sold else ""
    return (
        f"{price} at up to {found.speed_ratio:.3g}x the speed. If price follows cost, its batch is {two_digits(found.batch_ratio)} times"
        f" smaller. A slow mode would then cost at least {100 * found.slow_mode_floor:.0f} % of standard{at_batch}."
    )


# The memory tier of a cache: tiers over cost bases and years, write tariffs, and the drain-time rule.

_BASIS_NAMES = {"rented": "rented HBM, owned rest", "owned": "all owned"}
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


def worst_record(terms: Iterable[str], rules: TierRules) -> tuple[int, int]:
    """Return (right, all) of the worst of these rules on lifetimes with a disclosed tier."""
    found = []
    for term in dict.fromkeys(terms):
        of_term = ((row.right, row.answered) for row in rules.scores if row.rule.startswith(f"{term},") and row.answered)
        found.append(min(of_term, key=itemgetter(0), default=(0, 0)))
    return min(found, key=lambda one: one[0] / max(one[1], 1))


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
        "prices alone, by cost basis and year": tiers_over_cases(found.by_price),
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
