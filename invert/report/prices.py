"""The prices of a sheet as a table, with the page they are on and how they are known."""

from collections.abc import Iterator

from derive.units import show
from invert.report.commands import infer_all
from invert.report.layout import Table, aligned, title
from invert.result import Inference, Run
from invert.sheets.sheet import Price

_COLUMNS = ("band", "input", "output", "cache read")


def all_prices(one: Inference, table: Run) -> list[str]:
    """All prices under a heading, with their grades, their page and every note."""
    notes = dict.fromkeys(price.notes for price in _all_prices(one) if price.notes)
    lines = [price_table(one), grades_and_page(one), *(f"  {note}" for note in notes), also_sold(one, table)]
    return [*title(f"Prices ({unit_of_prices(one)})"), *filter(None, lines)]


def price_table(one: Inference, label: str = _COLUMNS[0], most: int | None = None) -> Table:
    """Prices by band, then writes and storage under input; at most so many rows, the others counted."""
    rows = [*_bands(one), *_offers(one)]
    if most and len(rows) > most:
        more = {"band": f"{len(rows) - most + 1} more, as in --full", **dict.fromkeys(_COLUMNS[1:], "")}
        rows = [*rows[: most - 1], more]
    return aligned((label, *_COLUMNS[1:]), [{label if name == "band" else name: cell for name, cell in row.items()} for row in rows])


def unit_of_prices(one: Inference) -> str:
    """The unit of the table."""
    return f"{one.sheet.bands[0].input.currency} per million tokens"


def grades_and_page(one: Inference) -> str:
    """How the prices are known, and the page they are on."""
    source = one.sheet.bands[0].input.source_url
    grades = sorted({price.verification for price in _all_prices(one)})
    return f"grade {', '.join(grades)}{f': {source}' if source else ''}"


def also_sold(one: Inference, table: Run) -> str:
    """`Also sold: batch at 0.5, fast at 2 times its input price.`; nothing where it is sold in no other way."""
    found = table.also_sold(one)
    if not found:
        return ""
    of_each = (f"{' in '.join(filter(None, (of.service_tier.replace('_', '-'), of.region)))} at {of.times:.3g}" for of in found)
    return f"Also sold: {', '.join(of_each)} times its input price ({infer_all(table)})."


def _all_prices(one: Inference) -> list[Price]:
    found = [price for band in one.sheet.bands for price in (band.input, band.output, band.cache_read) if price]
    offers = [*one.sheet.writes, *([one.sheet.storage] if one.sheet.storage else [])]
    return [*found, *(of_band.price for offer in offers for of_band in offer.prices)]


def _bands(one: Inference) -> Iterator[dict[str, str]]:
    currency = one.sheet.bands[0].input.currency
    for band in one.sheet.bands:
        start = show("long_context_threshold", band.threshold_tokens) if band.threshold_tokens else ""
        label = f"{'from' if band.threshold_inclusive else 'above'} {start}" if start else "base"
        columns = {"input": band.input, "output": band.output, "cache read": band.cache_read}
        yield {"band": label} | {name: _amount(price, currency) for name, price in columns.items()}


def _offers(one: Inference) -> Iterator[dict[str, str]]:
    currency = one.sheet.bands[0].input.currency
    for offer in (*one.sheet.writes, *([one.sheet.storage] if one.sheet.storage else [])):
        for of_band in offer.prices:
            threshold, price = of_band.threshold_tokens, of_band.price
            where = f" above {show('long_context_threshold', threshold)}" if threshold else ""
            what = f"write kept {show('ttl', offer.ttl_seconds)}" if offer.ttl_seconds else offer.component.replace("_", " ")
            yield {"band": what + where, "input": _amount(price, currency), "output": "", "cache read": ""}


def _amount(price: Price | None, currency: str) -> str:
    if price is None:
        return "-"
    return f"{price.amount:g}" + (f" {price.currency}" if price.currency != currency else "") + ("/h" if price.per == "mtok_hour" else "")
