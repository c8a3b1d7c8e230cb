"""The price changes since a day, the estimates that they moved, and the estimates of new models: a page for a newsletter."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from operator import attrgetter
from typing import NamedTuple

from derive.show.citation import ADDRESS, markdown_cell
from invert.comparison_records import Comparison, SheetChange
from invert.estimate_text import estimate_text
from invert.records import Name
from invert.report.changes import CHANGES, KEY, inferences, moved_table, price_in_words, sheet_as_seen
from invert.report.columns import name_of
from invert.report.layout import aligned, infer_against_day, laid_out, title
from invert.report.table import report_document
from invert.result import Inference, Run
from invert.sheets.rows import PriceRow, SheetKey
from invert.sheets.sheet import sheet_in_words

_SCHEMA = "prices-news-1"
_OF_SHEET: tuple[Name, ...] = (
    ("active_params", "by_price"), ("bandwidth_bound_fraction", ""), ("input_price_cost_ratio", "by_price"),
    ("kv_bytes_per_token", "from_threshold"), ("kv_bytes_per_token", "from_premium"),
)  # fmt: skip
"""The estimates that the page shows, beside memory tiers. JSON has all that moved."""
_OF_NEW = _OF_SHEET[:2]
_NEW_COLUMNS = ("model", "since", "in/out", *(name_of(*name) for name in _OF_NEW))


@dataclass(frozen=True, kw_only=True)
class News:
    """A run, its differences from an earlier day, and all price rows. Rows of ended prices have their last day."""

    run: Run
    found: Comparison
    since: date
    rows: Sequence[PriceRow]


class Origins(NamedTuple):
    """The day on which each price changed, where that is known, and the pages or files that have the prices."""

    days: dict[str, str]
    sources: list[str]


def news_text(news: News, width: int) -> str:
    """Return the page as text in this width."""
    return laid_out(list(_parts(news)), width)


def news_markdown(news: News) -> str:
    """Return the page in Markdown, in which only the addresses of sources are links."""
    text = report_document([*_parts(news)], "markdown")
    for source in dict.fromkeys(source for sheet in news.found.sheets for source in _origins(sheet, news).sources):
        text = text.replace(f"({markdown_cell(source)})", f"(<{source}>)") if ADDRESS.fullmatch(source) else text
    return text


def news_json(news: News) -> str:
    """Return the changes and the new sheets as strict JSON: estimates in SI units, amounts as published."""
    new, seen_first = _new_sheets(news)
    document = {
        "schema": _SCHEMA,
        "since": news.since.isoformat(),
        "until": news.run.as_of.isoformat(),
        "changed": [{**CHANGES.encode(sheet), **_origins(sheet, news)._asdict()} for sheet in news.found.sheets if sheet.prices],
        "new": [_new_record(one, day) for one, day in new],
        "first_seen": [dict(zip(KEY, key, strict=True)) for key in seen_first],
        "gone": [dict(zip(KEY, key, strict=True)) for key in news.found.gone],
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _parts(news: News) -> Iterator[str]:
    """Yield the title, a paragraph and a table for each sheet with a price change, new models, and removed ones."""
    found = news.found
    yield f"API prices from {news.since} to {news.run.as_of}"
    changed = [sheet_as_seen(sheet) for sheet in found.sheets if sheet.prices]
    yield from title("Changed prices and the estimates that they moved") if changed else ["", "No price changed."]
    for sheet in changed:
        yield from _changed_parts(sheet, news)
    new, seen_first = _new_sheets(news)
    if new:
        yield from title("New models")
        yield aligned(_NEW_COLUMNS, [_new_row(one, day) for one, day in new])
        yield "Prices in and out are in USD per million tokens. Ranges in brackets are 90 % ranges."
    if seen_first or found.gone:
        yield ""
    if seen_first:
        yield f"New in the tables, first day not known: {', '.join(map(sheet_in_words, seen_first))}."
    if found.gone:
        yield f"No longer sold: {', '.join(map(sheet_in_words, found.gone))}."


def _changed_parts(sheet: SheetChange, news: News) -> Iterator[str]:
    origins = _origins(sheet, news)
    days = " and ".join(sorted(set(origins.days.values())))
    yield ""
    yield f"{days}: {sheet_in_words(sheet.key)}" if days else sheet_in_words(sheet.key)
    yield "; ".join(map(price_in_words, sheet.prices)) + "".join(f" ({source})" for source in origins.sources)
    moved = [one for one in sheet.moved if one.prices]
    shown = [one for one in moved if (one.quantity, one.estimator) in _OF_SHEET or one.quantity.startswith("probability_")]
    if shown:
        yield moved_table(shown, sheet)
    if hidden := len(sheet.moved) - len(shown):
        yield f"{hidden} other estimate{'s' * (hidden > 1)} moved: {infer_against_day(sheet.key, news.run, news.since)}"
    elif not shown:
        yield "No estimate moved."


def _origins(sheet: SheetChange, news: News) -> Origins:
    days: dict[str, str] = {}
    sources: dict[str, None] = {}
    for price in sheet.prices:
        of = [row for row in news.rows if row.sheet_key == sheet.key and row.place == price.place]
        # The row of a price that is sold no longer is the one that ended last.
        held = [row for row in of if row.valid_on(news.run.as_of)] or sorted(of, key=attrgetter("end"))[-1:]
        for row in held[:1]:
            sources[row.source_url or row.origin] = None
            if day := row.effective_date if price.new else row.valid_to:
                days[price.spelled] = day.isoformat()
    return Origins(days, [*sources])


def _new_sheets(news: News) -> tuple[list[tuple[Inference, date]], list[SheetKey]]:
    """Return the sheets that began after a day, the newest first, and the sheets of unknown beginning."""
    by_key = {one.key: one for one in news.run}
    dated = {key: _began(by_key[key], news) for key in news.found.added}
    new = [(by_key[key], day) for key, day in dated.items() if day and day > news.since]
    return sorted(new, key=lambda pair: (-pair[1].toordinal(), pair[0].name)), [key for key in dated if not dated[key]]


def _began(one: Inference, news: News) -> date | None:
    """Return the day on which a sheet began: the first day of its input price, or the later release of its model."""
    days = [row.start for row in news.run.rows if row.sheet_key == one.key and row.component == "input" and row.start > date.min]
    days += [one.model.release_date] if one.model and one.model.release_date else []
    return max(days, default=None)


def _new_row(one: Inference, day: date) -> tuple[str, ...]:
    base = one.sheet.bands[0]
    currency = "" if base.input.currency == "USD" else f" {base.input.currency}"
    said = [estimate_text(name[0], one.named_estimates.get(name)) for name in _OF_NEW]
    return sheet_in_words(one.key), str(day), f"{base.input.amount:g}/{base.output.amount:g}{currency}", *said


def _new_record(one: Inference, day: date) -> dict[str, object]:
    base = one.sheet.bands[0]
    shown = {name: found for name in _OF_SHEET if (found := one.named_estimates.get(name))}
    return {
        **dict(zip(KEY, one.key, strict=True)),
        "since": day.isoformat(),
        "input": base.input.amount,
        "output": base.output.amount,
        "currency": base.input.currency,
        "estimates": inferences(shown),
    }
