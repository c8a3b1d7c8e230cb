"""One sheet on one screen: the readings, advice, its prices beside what the forward model predicts, and the next commands."""

from collections.abc import Iterator
from decimal import Decimal

from derive.units import show
from invert.records import Check, count_missed
from invert.report.columns import short_kv
from invert.report.commands import cite_sheet
from invert.report.layout import NONE, Table, aligned, laid_out, two_digits
from invert.report.prices import grades_and_page, unit_of_prices
from invert.report.readings import readings_table
from invert.report.sheet import heading
from invert.report.tiers import deciding_source
from invert.result import EXTRAPOLATED, Inference, Run
from invert.sheets.sheet import Price

_SAID = ("one band", "architecture known", "KV PRIOR-DOMINATED", EXTRAPOLATED)
"""Flags that other lines of the screen put into words."""


def short_report(one: Inference, table: Run, width: int = 100) -> str:
    """The sheet on one screen of so many columns."""
    return laid_out(short_parts(one, table), width)


def short_parts(one: Inference, table: Run) -> list[str]:
    """The same as paragraphs and tables."""
    sold = "".join(f"; {of.service_tier.replace('_', '-')}: {of.times:.3g}x" for of in table.also_sold(one))
    source = f"Source, {grades_and_page(one)}{sold}"
    lines = [*heading(one, table), "", readings_table(one, table), "", *advice(one, table), ""]
    return [*lines, predicted_prices(one), source, _next(one, table)]


def after_change(one: Inference, table: Run) -> list[str]:
    """What a sheet implies beside what moved, which takes most of a screen."""
    return [*heading(one, table), "", readings_table(one, table), "", _next(one, table)]


def _next(one: Inference, table: Run) -> str:
    return f"Next: --full, --set output=+10%, {cite_sheet(one, table, ())}"


def advice(one: Inference, table: Run) -> Iterator[str]:
    """Which estimate to use, and what speaks against the readings, a sentence a line."""
    verdict, checks = table.premium_verdict.value, count_missed(one.pairs[0].lecture_checks) if one.pairs else None
    if one.contradiction:
        yield one.contradiction
    if one.known:
        yield f"Use {short_kv(one.known.read)}: the architecture is public."
    elif not one.pairs:
        yield "Use the typical KV: one price for all lengths says nothing of KV."
    elif verdict and not verdict.enters:
        how = f"{abs(verdict.gain_of_price):.2g} nats {'worse' if verdict.gain_of_price < 0 else 'better'}"
        yield f"Use the typical KV: on {verdict.count} known models the premium predicted KV {how}."
    if checks and checks[0]:
        yield f"One model cannot have both readings: they miss {checks[0]} of {checks[1]} other prices."
    if (found := one.convention) and (found.bayes_factor or 0.0) > 1:
        yield f"The long-context premium looks like a convention (Bayes factor {two_digits(found.bayes_factor or 0.0)})."
    if source := deciding_source(one):
        yield source
    if flags := [flag for flag in one.flags if flag not in _SAID]:
        yield f"Flags: {'; '.join(flags)}."


# Prices beside what the forward model predicts.


def predicted_prices(one: Inference) -> Table:
    """Every price as published, and what the forward model predicts at the lecture's readings, if there is a threshold."""
    checks = {check.component: check for check in one.pairs[0].lecture_checks} if one.pairs else {}
    rows = [_row(one, place, price, checks) for place, price in _prices(one)]
    label = unit_of_prices(one)
    columns = (label, "published", "forward model") if checks else (label, "published")
    return aligned(columns, [dict(zip((label, "published", "forward model"), row, strict=True)) for row in rows], rule=False)


_Place = tuple[str, int, str]
"""What is priced, above how many tokens, and how it is called."""


def _prices(one: Inference) -> Iterator[tuple[_Place, Price]]:
    for band in one.sheet.bands:
        above = show("long_context_threshold", band.threshold_tokens).removesuffix(" tokens")
        where = f" {'from' if band.threshold_inclusive else 'above'} {above}" if band.threshold_tokens else ""
        for component, price in (("input", band.input), ("output", band.output), ("cache_read", band.cache_read)):
            if price:
                yield (component, band.threshold_tokens, component.replace("_", " ") + where), price
    for offer in (*one.sheet.writes, *([one.sheet.storage] if one.sheet.storage else [])):
        for of in offer.prices:
            above = f" above {show('long_context_threshold', of.threshold_tokens).removesuffix(' tokens')}" if of.threshold_tokens else ""
            kept = f", kept {show('ttl', offer.ttl_seconds)}" if offer.ttl_seconds else ""
            yield (offer.component, of.threshold_tokens, offer.component.replace("_", " ") + kept + above), of.price


def _row(one: Inference, place: _Place, price: Price, checks: dict[str, Check]) -> tuple[str, str, str]:
    component, threshold, name = place
    unit = "/h" if price.per == "mtok_hour" else ""
    currency = f" {price.currency}" if price.currency != one.sheet.bands[0].input.currency else ""
    return name, f"{price.amount:g}{unit}{currency}", _predicted(one, component, threshold, price, checks)


def _predicted(one: Inference, component: str, threshold: int, price: Price, checks: dict[str, Check]) -> str:
    """`2, missed`: the price that the forward model predicts, in the unit of the published one; `used` if the readings rest on it."""
    base = one.sheet.bands[0]
    if component in ("input", "output") and not threshold:
        return "used"
    if component in ("input", "output"):
        first = threshold == one.sheet.bands[1].threshold_tokens
        check = checks.get(f"premium_{component[:-3]}{'' if first else f'@{threshold}'}")
        scale: float = getattr(base, component).usd_per_token
    else:
        name = {"cache_read": "cache_read_price", "cache_storage": "storage_price"}.get(component, "")
        check = None if threshold else checks.get(name)
        scale = 1.0
    if check is None or not price.usd_per_token:
        return NONE
    amount = f"{Decimal(f'{check.predicted * scale * price.amount / price.usd_per_token:.3g}'):f}"
    return f"{'at least ' * check.bound}{amount}, {'met' if check.inside_rounding_cell else 'missed'}"
