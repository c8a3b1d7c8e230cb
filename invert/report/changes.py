"""Report what changed, in text, documents, JSON and CSV: two runs and why they differ, the history of a model, and the news of a page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import inf
from typing import Any

from derive.show.citation import ADDRESS, markdown_cell
from derive.show.layout import csv_text
from invert.comparison_records import TAKEN_HOME, Comparison, Dated, History, Moved, News, NewSheet, PriceChange, SheetChange, side_of
from invert.encoder import Codec, Keys, Through
from invert.estimate_text import estimate_text, round_digits
from invert.records import Estimate, Name, Observable
from invert.report.columns import HISTORY_KEYS, REGISTRY, name_of, size_grade
from invert.report.layout import GAP, NONE, Table, aligned, billions, many, several, title
from invert.report.table import report_document
from invert.report.tiers import ABSENT
from invert.result import Run
from invert.sheets.rows import SheetKey, grouped
from invert.sheets.sheet import money_unit, sheet_in_words

CHANGES_SCHEMA = "infer-against-1"
MOST_LINES = 40
"""Maximum number of changed inferences in text, the largest changes first. Other forms have all of them."""
_MOST_SHEETS = 8
"""Maximum number of sheets that a line names."""
_COLUMNS = ("inference", "before", "after", "range", "per 1%")
_HOW_TO_READ = (
    "range: change over the width of the earlier range, on a log scale. per 1%: average change for a 1% higher price (both, all: of these"
    " prices together, a name alone: its part is not known)."
)
_HARDLY = (NONE, "+0.00", "-0.00")
"""Text of no range, and of a change by less than a hundredth of the range."""
_Changed = Mapping[SheetKey, Sequence[Moved]]
"""The changed inferences of each sheet that are shown."""


def changes_parts(found: Comparison, only_main: bool = False, most: int | None = None) -> list[str]:
    """Return the changed inferences: a table for each sheet, then a line each for unchanged parts and notes. With `most`, only the largest
    changes are listed. With `only_main`, only the main results are, if one of them changed.
    """

    def distance(pair: tuple[SheetKey, Moved]) -> float:
        # By its part of the range: changes of kind first, factors and values without a range last.
        one = pair[1]
        return -inf if one.times is None and one.quantity != "bayes_factor" else -abs(one.share_of_range or 0.0)

    seen = sorted(((key, one) for key, moved in _seen(found).items() for one in moved), key=distance)
    main = [pair for pair in seen if pair[1].name in TAKEN_HOME] if only_main else []
    shown = main or seen[:most]
    left = len(seen) - len(shown)
    more = [f"{left} more changed: {'--full' if main else '--as markdown'} lists them."] if left else []
    return [*_parts(found, grouped(shown)), "", *more, *_below(found)]


def _seen(found: Comparison) -> _Changed:
    """Return the changes that printed digits show, by sheet."""
    return {sheet.key: [one for one in sheet.moved if _is_seen(one)] for sheet in found.sheets}


def _is_seen(one: Moved) -> bool:
    """Return whether a printed number of its row changed, in either direction: a value, the factor, or the share of the range."""
    before, after = (estimate_text(one.quantity, told) for told in (one.before, one.after))
    there_or_back = max(one.times, 1 / one.times) if one.times else 1.0
    return before != after or f"{there_or_back:.3g}" != "1" or _share_of_range(one) not in _HARDLY


def _parts(found: Comparison, shown: _Changed) -> Iterator[str]:
    """Yield the title, the changed prices and inferences of each sheet, and the inferences that moved without a price."""
    yield f"{found.after}, against {found.before}"
    others = []
    for sheet in found.sheets:
        others += [row_of(one, sheet) for one in shown.get(sheet.key, ()) if not one.prices]
        yield from _sheet_parts(sheet, [one for one in shown.get(sheet.key, ()) if one.prices])
    if others:
        # Sheets with the same changes have one row, under the first one and the number of others.
        alike = grouped((tuple(text for column, text in row.items() if column != "sheet"), row) for row in others)
        rows = [{**of[0], "sheet": several([row["sheet"] for row in of], 1)} for of in alike.values()]
        used = _calibrating(found) if found.recalibrated else []
        causes = [*found.causes, *([f"prices of {_names(used)} that the calibration uses"] if used else [])]
        said = f"Changed by other causes than their own prices: {'; '.join(causes)}"
        if not causes:
            said = "Changed, but the results show no cause. One of them may have been edited"
        yield from ("", said, _table(("sheet", *_COLUMNS), rows))


def _sheet_parts(sheet: SheetChange, listed: Sequence[Moved]) -> Iterator[str]:
    """Yield the changed prices of a sheet with their days and sources, and the inferences that they moved."""
    if sheet.prices:
        days = " and ".join(map(str, sorted({*sheet.days.values()})))
        unseen = sum(not _is_seen(one) for one in sheet.moved)
        less = f" ({unseen} changed, by less than the printed digits)" if unseen and not listed else ""
        named, sources = sheet_in_words(sheet.key), "".join(f" ({source})" for source in sheet.sources)
        yield from ("", f"{f'{days}, {named}' if days else named}: {'; '.join(map(price_in_words, sheet.prices))}{sources}{less}")
    if listed:
        yield _table(_COLUMNS, [row_of(one, sheet) for one in listed])
    if sheet.rerounded:
        # A part of the change is due to the rounding of prices.
        cells = [
            f"{pair[0].name} {' -> '.join(f'{one.value:.4g} (of {one.low:.3g} to {one.high:.3g})' for one in pair)}"
            for pair in sheet.rerounded
        ]
        yield f"Published prices are rounded. Estimates use the range of a ratio, not its value: {'; '.join(cells)}."


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> Table:
    """Return a table without the columns that no row has."""
    return aligned([column for column in columns if any(row[column] != NONE for row in rows)], rows, GAP - 1)


def _calibrating(found: Comparison) -> list[SheetKey]:
    """Return the sheets with changed prices that the calibration uses."""
    return [one.key for one in found.sheets if one.calibrates and one.prices]


def changes_csv(found: Comparison) -> str:
    """Return CSV with a line for each changed inference and the price with the largest effect."""
    rows = ({"sheet": sheet, "moved": one, "price": one.prices[0] if one.prices else None} for sheet in found.sheets for one in sheet.moved)
    return csv_text([*_CSV], (CHANGES.encode_keys(row, _CSV, rounded=False) for row in rows))


def _share_of_range(one: Moved) -> str:
    return f"{one.share_of_range:+.2f}" if one.share_of_range is not None else NONE


def row_of(one: Moved, sheet: SheetChange) -> dict[str, str]:
    """Return the cells of one changed inference by column."""
    return {
        "sheet": sheet_in_words(sheet.key),
        "inference": name_of(one.quantity, one.estimator),
        "before": estimate_text(one.quantity, one.before),
        "after": estimate_text(one.quantity, one.after),
        "range": _share_of_range(one),
        "per 1%": _per_percent(one, sheet),
    }


def _per_percent(one: Moved, sheet: SheetChange) -> str:
    """Return the change for 1 % more of each price that moved an inference: `input +0.59%`. A single price of a sheet is not named."""
    together = len(one.prices) > 1 and not one.elasticities and len(one.prices) == len(sheet.prices)
    names = ["both" if len(one.prices) == 2 else f"all {len(one.prices)}"] if together else [price.spelled for price in one.prices]
    slopes = [f"{slope:+.2f}%" if slope is not None else "" for slope in one.slopes] or [""] * len(names)
    if len(sheet.prices) == 1:
        return slopes[0] or NONE
    return "; ".join(f"{name} {slope}".rstrip() for name, slope in zip(names, slopes, strict=False)) or NONE


def price_in_words(price: PriceChange) -> str:
    """Describe a price change: `output 12 -> 20 USD/MTok`, or `input@500k 6 USD/MTok added`."""
    old, new = price.old, price.new
    named, (amount, currency, per) = price.spelled, price.published
    unit = money_unit(currency, per)
    if not old or not new:
        how = f"copied from {price.copied_from}" if price.copied_from else "added" if new else "dropped"
        return f"{named} {amount:g} {unit} {how}"
    was = "" if old[1:] == new[1:] else f" {old[1]}"
    return f"{named} {old[0]:g}{was} -> {new[0]:g} {unit}"


def _below(found: Comparison) -> list[str]:
    """List unchanged estimates, changes without a price change, sheets of only one side, and notes."""
    seen = _seen(found)
    moving = [one for one in found.sheets if seen[one.key]]
    unmoved = [name for one in moving for name in (*one.unmoved, *(each.name for each in one.moved if each not in seen[one.key]))]
    lines = []
    if not moving and not (found.gone or found.added):
        asked = any(one.prices for one in found.sheets)
        lines.append("Nothing moved." if asked or found.causes else "No price changed.")
    if len(moving) == 1 and (stayed := [name_of(*name) for name in TAKEN_HOME if name in unmoved]):
        lines.append(f"Main results that did not change: {', '.join(stayed)}.")
    same = [many(len(unmoved), "other estimate")] * bool(moving)
    same += [many(len(found.sheets) - len(moving), "whole sheet")] * (len(moving) < len(found.sheets))
    lines += [f"{' and '.join(same)} did not change."] if same else []
    lines += [_HOW_TO_READ] if moving else []
    if (unused := _calibrating(found)) and not found.recalibrated:
        lines.append(f"The calibration uses {_names(unused)}, at the shipped prices, which are unchanged.")
    # Of a saved result nobody knows whether the others were there: it may have been asked of one model.
    lines += [f"{'New' if found.file is None else f'Not in {found.before}'}: {_names(found.added)}."] if found.added else []
    lines += [f"Not there any more: {_names(found.gone)}."] if found.gone else []
    return [*lines, *(f"Note: {note}." for note in found.notes)]


def _names(keys: Sequence[SheetKey]) -> str:
    return several([sheet_in_words(key) for key in keys], _MOST_SHEETS)


def _by_column(keys: Iterable[SheetKey]) -> list[dict[str, str]]:
    """Return the keys of sheets, each by column."""
    return [dict(zip(KEY, key, strict=True)) for key in keys]


def inferences(said: Mapping[Name, Estimate]) -> list[dict[str, Any]]:
    """Return estimates as a list, with their quantity and estimator."""
    return [{"quantity": quantity, "estimator": by, **CHANGES.encode(found)} for (quantity, by), found in said.items()]


KEY = {"provider": "key.0", "model": "key.1", "region": "key.2", "service_tier": "key.3"}
"""The key of a sheet by column."""
_PRICE = {
    "component": "place.0", "threshold_tokens": "place.1", "ttl_seconds": "place.2", "old_amount": "old.0", "new_amount": "new.0",
    "currency": "published.1", "per": "published.2",
}  # fmt: skip
CHANGES = Codec(
    keys={
        Comparison: {
            **{name: name for name in ("before", "after", "recalibrated", "causes", "sheets")},
            **{name: Through(name, _by_column, list[dict[str, str]]) for name in ("added", "gone")}, "notes": "notes",
        },
        SheetChange: {
            **KEY, **{name: name for name in ("calibrates", "prices", "moved", "days", "sources")}, "unmoved": Through("unmoved", len, int),
            "rerounded": Through(
                "rerounded", lambda pairs: [{"name": old.name, "old": old, "new": new} for old, new in pairs], list[dict[str, Any]]
            ),
        },
        PriceChange: {"place": "spelled", **_PRICE, "copied_from": Through("copied_from", lambda text: text or None, str | None)},
        Moved: {
            **{name: name for name in ("quantity", "estimator", "before", "after", "times", "share_of_range", "elasticity")},
            "elasticities": Through("", lambda one: {
                price.spelled: round_digits(slope) for price, slope in zip(one.prices, one.elasticities, strict=False)
            }, dict[str, float | None]),
            "prices": Through("prices", lambda prices: [price.spelled for price in prices], list[str]),
        },
        Observable: {name: name for name in ("value", "low", "high")},
        Estimate: {name: name for name in ("kind", "median", "low", "high")},
        Dated: {
            "since": "since", "as_of": "one.sheet.as_of", "changes": "changes",
            "inferences": Through("one", lambda one: inferences(side_of(one).said), list[dict[str, Any]]),
        },
        History: {**KEY, "until": "until", "days": "days"},
        News: {
            **{name: name for name in ("since", "until", "changed", "new")},
            **{name: Through(name, _by_column, list[dict[str, str]]) for name in ("first_seen", "gone")},
        },
        NewSheet: {
            **{name: f"one.{path}" for name, path in KEY.items()},
            "since": "since", "input": "one.sheet.bands.0.input.amount", "output": "one.sheet.bands.0.output.amount",
            "currency": "one.sheet.bands.0.input.currency",
            "estimates": Through("one", lambda one: [
                found for found in inferences(side_of(one).said) if (found["quantity"], found["estimator"]) in _OF_SHEET
            ], list[dict[str, Any]]),
        },
    },
    rounded=frozenset([Moved, Observable]),
)  # fmt: skip
"""How changes are written for programs: estimates in SI units, amounts as published."""
_CSV: Keys = {
    **{name: f"sheet.{path}" for name, path in KEY.items()},
    "quantity": "moved.quantity", "estimator": "moved.estimator",
    **{f"{side}{end}": f"moved.{side}.{field}" for side in ("before", "after")
       for end, field in (("_kind", "kind"), ("", "median"), ("_low", "low"), ("_high", "high"))},
    "times": Through("moved.times", round_digits), "share_of_range": Through("moved.share_of_range", round_digits),
    **{name: f"price.{path}" for name, path in _PRICE.items()},
    "elasticity": Through("moved.elasticity", round_digits),
}  # fmt: skip


_HISTORY_COLUMNS = tuple(REGISTRY[key] for key in HISTORY_KEYS)
_PRICE_COST = REGISTRY["input_price_cost_ratio_by_price"].heading
DATED_COLUMNS = (
    "provider", "model", "region", "service_tier", "since", "as_of", "changes", "quantity", "estimator", "kind", "median", "low", "high",
)  # fmt: skip


def histories_parts(found: Sequence[History]) -> list[str]:
    """Return a table for each sheet with a row for each day, and the price changes below."""
    return [part for one in found for part in ("", sheet_in_words(one.key), *history_parts(one))][1:]


def history_parts(one: History) -> list[str]:
    """Return the days of one sheet as a table, and the price changes of each day."""
    columns = ("since", "in / out per MTok", *(column.heading for column in _HISTORY_COLUMNS))
    rows = []
    for dated, after in zip(one.days, [*one.days[1:], None], strict=True):
        since = str(dated.since or (f"before {after.one.sheet.as_of}" if after else "not known"))
        base = dated.one.sheet.bands[0]
        prices = f"{base.input.amount:g} / {base.output.amount:g} {base.input.currency}"
        cells = (since, prices, *(column.whole_text(dated.one) for column in _HISTORY_COLUMNS))
        rows.append(dict(zip(columns, cells, strict=True)))
    kept = [column for column in columns if any(row[column] != ABSENT for row in rows)]
    last, said = one.days[-1].one, []
    if last.size_stated and _PRICE_COST in kept:
        size, grade = last.anchors.values["active_params"], size_grade(last.anchors.origin["active_params"])
        said.append(f"price/cost is by {billions(size)} active as {grade}, not by the price.")
    for dated in one.days[1:]:
        unsold = f" Not sold from {dated.unsold_from} until then." if dated.unsold_from else ""
        said.append(f"{dated.one.sheet.as_of}: {'; '.join(map(price_in_words, dated.changes))}.{unsold}")
    ended = [f"Sold so until {one.until}."] if one.until else [] if one.days[1:] else ["No price has changed since then."]
    return [aligned(kept, rows), *said, *ended]


def history_csv(found: Sequence[History]) -> str:
    """Return CSV with a line for each inference and day."""
    return csv_text(DATED_COLUMNS, (
        {
            **CHANGES.encode_keys(one, KEY), "since": dated.since, "as_of": dated.one.sheet.as_of,
            "changes": "; ".join(map(price_in_words, dated.changes)), **estimate,
        }
        for one in found for dated in one.days for estimate in inferences(side_of(dated.one).said)
    ))  # fmt: skip


# News: the price changes since a day, the estimates that they moved, and the estimates of new models, on a page.

NEWS_SCHEMA = "prices-news-1"
_OF_SHEET: tuple[Name, ...] = (
    ("active_params", "by_price"), ("bandwidth_bound_fraction", ""), ("input_price_cost_ratio", "by_price"),
    ("kv_bytes_per_token", "from_threshold"), ("kv_bytes_per_token", "from_premium"),
)  # fmt: skip
"""The estimates that the page shows, beside memory tiers. JSON has all that moved."""
_OF_NEW = [REGISTRY[key] for key in ("active_params_by_price", "bandwidth_bound_fraction")]
"""The columns of a new model."""


def news_of(run: Run, found: Comparison, since: date) -> News:
    """Return what changed after a day, from the comparison of a run with that day."""
    by_key, dated = {one.key: one for one in run}, dict[SheetKey, date | None]()
    for key in found.added:
        # A sheet begins with its input price, or later with the release of its model.
        days = [row.start for row in run.rows if row.sheet_key == key and row.component == "input" and row.start > date.min]
        days += [model.release_date] if (model := by_key[key].model) and model.release_date else []
        dated[key] = max(days, default=None)
    new = [NewSheet(one=by_key[key], since=day) for key, day in dated.items() if day and day > since]
    return News(
        since=since,
        until=run.as_of,
        changed=tuple(sheet for sheet in found.sheets if sheet.prices),
        new=tuple(sorted(new, key=lambda sheet: (-sheet.since.toordinal(), sheet.one.name))),
        first_seen=tuple(key for key in dated if not dated[key]),
        gone=found.gone,
    )


def news_markdown(news: News) -> str:
    """Return the page in Markdown, in which only the addresses of sources are links."""
    text = report_document([*news_parts(news)], "markdown")
    for source in dict.fromkeys(source for sheet in news.changed for source in sheet.sources):
        text = text.replace(f"({markdown_cell(source)})", f"(<{source}>)") if ADDRESS.fullmatch(source) else text
    return text


def news_parts(news: News) -> Iterator[str]:
    """Yield the title, a paragraph and a table for each sheet with a price change, new models, and removed ones."""
    yield f"API prices from {news.since} to {news.until}"
    yield from title("Changed prices and the estimates that they moved") if news.changed else ["", "No price changed."]
    for sheet in news.changed:
        main = [one for one in sheet.moved if one.name in _OF_SHEET or one.quantity.startswith("probability_")]
        yield from _sheet_parts(sheet, [one for one in main if one.prices and _is_seen(one)])
    if news.changed:
        yield from ("", f"Every estimate that moved: backsolve infer --against {news.since} --as markdown")
    if news.new:
        yield from title("New models")
        yield aligned(
            ("model", "since", "in/out, USD/MTok", *(column.heading for column in _OF_NEW)),
            [
                (sheet_in_words(sheet.one.key), str(sheet.since), *(of.whole_text(sheet.one) for of in (REGISTRY["price"], *_OF_NEW)))
                for sheet in news.new
            ],
        )
        yield "Ranges in brackets are 90 % ranges."
    for said, keys in (("New in the tables, first day not known", news.first_seen), ("No longer sold", news.gone)):
        if keys:
            yield from ("", f"{said}: {', '.join(map(sheet_in_words, keys))}.")
