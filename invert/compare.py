"""Two runs side by side: the inferences that changed, the change relative to the range, and the price that caused it.

`histories` infers the prices of a model on every day on which one of them changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from math import inf, log
from operator import attrgetter
from types import MappingProxyType
from typing import Unpack

from derive.errors import BacksolveError, WrongData, shorten
from derive.files import json_in
from derive.tables.lines import BadRow, Problem
from invert import comparison_records as recorded
from invert.assumptions import Assumptions
from invert.comparison_records import Comparison, Dated, History, Moved, PriceChange, SheetChange, Side
from invert.data import Data
from invert.encoder import WrongShape
from invert.estimate_text import with_new_keys
from invert.inference import RunOptions, complete_inferences, infer_sheets, note_on_unread_day, premiums_of, run_of
from invert.records import Name, Observable
from invert.report.contract import CODEC, read_question
from invert.result import Inference, Run
from invert.sheets.assemble import assembled, released_sheets, sheets, with_list_prices
from invert.sheets.diff import SHIPPED, date_of, file_of, is_whole, released_prices, whole_book
from invert.sheets.doubts import doubts_about
from invert.sheets.models import described, first_days
from invert.sheets.observables import observe
from invert.sheets.read import book_of, prices_that_ship
from invert.sheets.rows import RELEASED_PRICES, CalibrationModel, FileText, PriceBook, PriceRow, SheetKey, grouped
from invert.sheets.sheet import Asked, Place, PriceSheet, copies, spelled, with_amounts, without_places

_INPUT: Place = ("input", 0, None)
_REROUNDED = 0.1
"""A ratio is listed if the changes of its rounding cell and its value differ by more than this share of the change of the price, in logs.
"""
MOST_REVERTED = 12
"""Maximum number of prices that are reverted one by one, to find the cause of a change. Each one needs a posterior."""


def infer_against(
    against: str | FileText, names: Iterable[str] = (), *, changes: Mapping[str, str] | None = None, **asked: Unpack[RunOptions]
) -> tuple[Run, Comparison]:
    """Infer and compare with another day, other prices or a saved result.

    `against` is a date, `shipped` for the shipped prices, the name of a file, or a file that was already read. A file has prices as CSV or
    is a result of `--save`. A CSV with the columns of prices.csv replaces all prices. Any other CSV replaces and extends the shipped
    prices. If `against` is blank, compare with the published prices, without `changes`.

    >>> _, found = infer_against("", ["gemini-3.1-pro"], changes={"output": "+10%"})
    >>> moved = {(one.quantity, one.estimator): one for one in found.sheets[0].moved}
    >>> one = moved["bandwidth_bound_fraction", ""]
    >>> round(one.times, 3), round(one.elasticity, 2), spelled(one.prices[0].place)
    (1.018, 0.19, 'output')
    """
    day = date_of(against) if isinstance(against, str) else None
    if isinstance(against, str) and not day and against not in ("", SHIPPED):
        against = file_of(against)
    data, book, run = run_of(names, changes=changes, **asked)
    content = released_prices(data) if against == SHIPPED else None
    file = against if isinstance(against, FileText) else FileText(RELEASED_PRICES, content) if content else None
    if file and run.request.prices and not file.rates:
        file = replace(file, rates=run.request.prices.rates)
    said = f"prices of {day}" if day else "the shipped prices" if against == SHIPPED else file.place if file else "the unchanged prices"
    after = f"prices of {run.as_of}" + (f" with {', '.join(f'{name}={amount}' for name, amount in changes.items())}" if changes else "")
    found = Comparison(before=said, after=after, file=None if against == SHIPPED else file)
    of_day: dict[SheetKey, Side] = {}
    if file and file.content.lstrip()[:1] in (b"{", b"["):
        before, causes, recalibrated = _read_saved(file.content, said, run, data)
        found = replace(found, causes=causes, recalibrated=recalibrated)
    else:
        then, old_book = _read_prices(file, data) if file else (data, book_of(data) if against == SHIPPED else book)
        day = run.as_of if against == SHIPPED else day or run.request.as_of
        old, found = _infer_earlier(found, then, old_book, day, run, then is not data, asked.get("executor"))
        found = replace(found, doubts=doubts_about((one.key for one in old), old_book, run.assumptions) if file else ())
        before, sold = {one.key: recorded.side_of(one) for one in old}, {one.key: one.sheet.asked for one in run}
        # The earlier prices on the later day separate the effect of the day from the effect of the prices.
        changed = (one.sheet for one in old if one.sheet.as_of != run.as_of and one.sheet.asked != sold.get(one.key))
        later = _infer_again([replace(sheet, as_of=run.as_of) for sheet in changed], run, then)
        of_day = {one.key: recorded.side_of(one) for one in later.values()}
    now = {one.key for one in run}
    before = {key: side for key, side in before.items() if key in now or not run.request.selects}
    return run, replace(
        found,
        sheets=_compared(before, run, data, of_day, book.rows),
        added=tuple(one.key for one in run if one.key not in before),
        gone=tuple(key for key in before if key not in now),
    )


def _infer_earlier(
    found: Comparison, data: Data, book: PriceBook, day: date | None, run: Run, recalibrated: bool, executor: Executor | None
) -> tuple[Sequence[Inference], Comparison]:
    """Infer the sheets of the other side from other prices, or on another day, and add their notes to the comparison."""
    offered = sheets(book, day, run.request.tier or "", run.request.everything)
    known, now = described(offered, data), {one.key for one in run}
    asked_for = [one for one in offered if one.key in now or not run.request.selects]
    earlier, left_out = released_sheets(asked_for, known, {} if run.request.names else first_days(offered, book, data))
    old, unread = infer_sheets(earlier, data, run.assumptions, executor)
    return complete_inferences(old, premiums_of(released_sheets(offered, known)[0]), {}, data, run.assumptions), replace(
        found,
        notes=tuple(note for note in (*note_on_unread_day(book, day), *left_out) if note not in run.notes),
        problems=tuple(one for one in unread if one not in run.problems),
        causes=recorded.causes_of_runs(old, run, recalibrated),
        recalibrated=recalibrated,
    )


def _read_saved(content: bytes, place: str, run: Run, data: Data) -> tuple[dict[SheetKey, Side], tuple[str, ...], bool]:
    """Read the sheets of a result of `--save` or `--as json`, the causes of differences from this run, and whether the calibration may
    differ.
    """
    found = json_in(content, place, object_hook=with_new_keys)
    try:
        if not isinstance(found, list):
            read_question(found)
        records, saved = (found, {}) if isinstance(found, list) else (found["sheets"], found["run"])
        sheets = CODEC.decode(tuple[recorded.SavedSheet, ...], records, "sheets")
        sides = {sheet.key: recorded.side_of_record(record) for sheet, record in zip(sheets, records, strict=True)}
        return sides, *recorded.causes_of_saved((sheet.as_of for sheet in sheets), saved, run, data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        known = f"{error}" if isinstance(error, WrongShape) else shorten(str(error)) if isinstance(error, ValueError) else ""
        what = known or (f"no {error}" if isinstance(error, KeyError) else "another shape")
        raise WrongData(f"{place}: is not a result of infer --save or --as json ({what})") from None


def _read_prices(file: FileText, data: Data) -> tuple[Data, PriceBook]:
    """Return the tables and the prices of a price file: all prices if it is a copy of prices.csv, else an overlay of the shipped prices."""
    if not is_whole(file.content):
        return data, book_of(data, file)
    book, (_, shipped) = whole_book(file.content, file.place, data), prices_that_ship(data)
    if _calibrating(book.rows, data) == _calibrating(shipped, data):
        return data, book
    then = Data(data.tables.edited(prices=file.content.decode(errors="replace")))
    return then, book_of(then)


def calibrating_sheets(data: Data) -> frozenset[tuple[str, str]]:
    """Return provider and model of the sheets that the calibration is fitted to."""
    rows = data.tables.rows_of(CalibrationModel)
    return frozenset((provider, model) for row in rows for provider, _, model in [row.sheet.partition("/")])


def _calibrating(rows: Sequence[PriceRow], data: Data) -> set[tuple[object, ...]]:
    of = calibrating_sheets(data)
    return {
        (*row.key, row.amount, row.currency, row.effective_date, row.valid_to)
        for row in rows
        if (row.provider, row.model) in of and row.service_tier == "standard"
    }


def _compared(
    before: Mapping[SheetKey, Side], run: Run, data: Data, of_day: Mapping[SheetKey, Side], rows: Sequence[PriceRow]
) -> tuple[SheetChange, ...]:
    """Compare the sheets of two runs, in the order of the later one. `of_day` has the earlier prices evaluated on the later day. `rows` are
    the later prices, also ended ones.
    """
    assumptions = run.assumptions
    both = [one for one in run if one.key in before]
    sides = {one.key: (before[one.key], recorded.side_of(one)) for one in both}
    changes = {one.key: price_changes(before[one.key].prices, sides[one.key][1].prices, copies(one.sheet)) for one in both}
    reverted = _revert_prices([(one.sheet, changes[one.key]) for one in both], run, data)
    calibrating = calibrating_sheets(data)
    sold = grouped((row.sheet_key, row) for row in rows if changes.get(row.sheet_key))
    found = []
    for one in both:
        key, (old, new) = one.key, sides[one.key]
        every = {**new.said, **old.said}
        names = [name for name in every if old.said.get(name) != new.said.get(name) and _is_printed(name, old, new)]
        by_day = {name for name in names if key in of_day and of_day[key].said.get(name) == new.said.get(name)}
        rerounded, most = _rerounded(old, new, changes[key], assumptions)
        moved = [
            _moved(name, old, new, () if name in by_day else changes[key], reverted.get(key, {}), assumptions.dominant_price)
            for name in names
        ]
        if most > assumptions.rounding_of_change:
            # A point does not depend on the rounding of prices.
            moved = [one if one.after and one.after.kind == "point" else replace(one, slopes=()) for one in moved]
        found.append(
            SheetChange(
                key=key,
                prices=tuple(_with_source(change, sold.get(key, ()), run.as_of) for change in changes[key]),
                moved=tuple(moved),
                unmoved=tuple(name for name in every if name not in names),
                calibrates=key[:2] in calibrating,
                rerounded=rerounded,
            )
        )
    return tuple(found)


def _infer_again(again: Iterable[PriceSheet], run: Run, data: Data) -> dict[PriceSheet, Inference]:
    """Infer sheets in the market of a run."""
    found, _ = infer_sheets(again, data, run.assumptions)
    return {one.sheet: one for one in complete_inferences(found, run.premiums, {}, data, run.assumptions)}


def price_changes(
    old: Mapping[Place, Asked], new: Mapping[Place, Asked], copied: Mapping[Place, str] = MappingProxyType({})
) -> tuple[PriceChange, ...]:
    """List the places whose price differs. `copied` are the prices that a band copies from the band below it."""
    return tuple(
        PriceChange(place=place, old=old.get(place), new=new.get(place), copied_from=copied.get(place, ""))
        for place in {**old, **new}
        if not recorded.is_same(old.get(place), new.get(place))
    )


def _with_source(change: PriceChange, rows: Sequence[PriceRow], day: date) -> PriceChange:
    """Add the day and the source of a price change up to a day. A price that was set by hand has neither."""
    of = [row for row in rows if row.place == change.place and (not change.new or (row.valid_on(day) and row.amount == change.new[0]))]
    if not of:
        return change
    # The row of a price that is sold no longer is the one that ended last.
    row = max(of, key=attrgetter("end"))
    return replace(change, day=row.effective_date if change.new else row.valid_to, source=row.source_url or row.origin)


def _rerounded(
    old: Side, new: Side, changes: Sequence[PriceChange], assumptions: Assumptions
) -> tuple[tuple[tuple[Observable, Observable], ...], float]:
    """List the ratios whose rounding cell moved by another factor than their value, with the largest difference over the change of the
    price.
    """
    furthest = max((abs(log(one.times)) for one in changes if one.times), default=None)
    if furthest is None:
        return (), 0.0
    found, most = [], 0.0
    before, after = _rounded_values(old), _rounded_values(new)
    for name in (name for name in before if name in after):
        was, now = (observe(name, of[name], assumptions) for of in (before, after))
        share = abs(log(now.low * now.high / (was.low * was.high)) / 2 - log(now.value / was.value)) / furthest
        most = max(most, share)
        if share > _REROUNDED:
            found.append((was, now))
    return tuple(found), most


def _rounded_values(side: Side) -> dict[str, float]:
    """Return the values that a reading treats as rounded: the input price, and the ratios of other prices to it or to the band below."""
    amounts = {place: asked for place, asked in side.prices.items() if asked[0]}
    found = {"input": amounts[_INPUT][0]} if _INPUT in amounts else {}
    for place, (amount, currency, _) in amounts.items():
        component, threshold, _ttl = place
        base = amounts.get(_INPUT if component in ("output", "cache_read") and not threshold else (component, 0, None))
        if component in ("input", "output", "cache_read") and place != _INPUT and base and base[1] == currency:
            found[f"{spelled(place)} / {'input' if not threshold else component}"] = amount / base[0]
    return found


def _is_printed(name: Name, old: Side, new: Side) -> bool:
    """Return whether to show this difference. Memory tiers are shown if they were or are the likeliest. Factors of other vendors' prices
    are never shown.
    """
    quantity, lifetime = name
    if name == recorded.FACTOR:
        return old.prices != new.prices
    if not quantity.startswith("probability_"):
        return True
    tiers = [tier for tier in {**old.said, **new.said} if tier[0].startswith("probability_") and tier[1] == lifetime]
    of = [{tier: side.said[tier].median or 0.0 for tier in tiers if tier in side.said} for side in (old, new)]
    return any(shares and max(shares, key=shares.__getitem__) == name for shares in of)


def _revert_prices(
    changed: Sequence[tuple[PriceSheet, tuple[PriceChange, ...]]], run: Run, data: Data
) -> dict[SheetKey, dict[Place, Side]]:
    """Infer each sheet with several changed prices again with one price reverted, up to a maximum number of sheets."""
    count, backs = 0, list[tuple[tuple[PriceChange, ...], PriceSheet]]()
    for sheet, changes in changed:
        gone, come = (tuple(one for one in changes if side(one) is None) for side in (attrgetter("new"), attrgetter("old")))
        groups = [*((one,) for one in changes if one.times), *filter(None, (gone, come))]
        if len(groups) < 2 or _common_factor(changes) or count + len(groups) > MOST_REVERTED:
            continue
        count += len(groups)
        for group in groups:
            amounts = {spelled(one.place): repr(one.old[0]) for one in group if one.old}
            # Some of these prices may make no sheet.
            with suppress(BacksolveError):
                backs.append((group, with_amounts(sheet, amounts) if amounts else without_places(sheet, [one.place for one in group])))
    found = _infer_again([back for _, back in backs], run, data)
    sides: dict[SheetKey, dict[Place, Side]] = {}
    for group, back in backs:
        if back in found:
            sides.setdefault(found[back].key, {}).update(dict.fromkeys((one.place for one in group), recorded.side_of(found[back])))
    return sides


def _common_factor(changes: Sequence[PriceChange]) -> float | None:
    """Return the common factor of all price changes, or None if they differ."""
    factors = [one.times for one in changes]
    first = factors[0] if factors else None
    return first if first and all(one and abs(one / first - 1) < 1e-9 for one in factors) else None


def _moved(name: Name, old: Side, new: Side, changes: tuple[PriceChange, ...], reverted: Mapping[Place, Side], dominant: float) -> Moved:
    """Return one changed estimate with the prices that moved it, the largest effect first.

    After a common change these are all prices. Otherwise the effect of a price is the change if only this price is reverted. It is infinite
    if the kind of the estimate changes. An effect below the largest over `dominant` is left out. Without reversions all prices are named.
    """
    before, after = old.said.get(name), new.said.get(name)
    moved = Moved(quantity=name[0], estimator=name[1], before=before, after=after, prices=changes)
    whole, factor = recorded.log_change(before, after), _common_factor(changes)
    if factor and whole is not None:
        return replace(moved, slopes=(whole / log(factor),))
    effects = {}
    for one in changes:
        if side := reverted.get(one.place):
            back = side.said.get(name)
            effect = 0.0 if back == after else recorded.log_change(back, after)
            effects[one] = inf if effect is None else effect
    most = max(map(abs, effects.values()), default=0.0)
    if not most:
        return moved
    first = sorted((one for one in effects if abs(effects[one]) * dominant >= most), key=lambda one: -abs(effects[one]))
    slopes = [effects[one] / log(one.times) if one.times and effects[one] < inf else None for one in first]
    untried = [one for one in changes if one not in effects]
    slopes += [None] * len(untried)
    return replace(moved, prices=(*first, *untried), slopes=tuple(slopes) if any(slopes) else ())


def histories(names: Iterable[str], **asked: Unpack[RunOptions]) -> tuple[Run, tuple[History, ...]]:
    """Infer the sheets that names select, and each of them on every day of a price change up to the day of the prices.

    If no service tier is given, sheets of ended service tiers of the same model come first.

    >>> _, (found,) = histories(["claude-opus-4-6"])
    >>> [(str(one.since), len(one.changes)) for one in found.days][-1]
    ('2026-03-13', 5)
    """
    data, book, run = run_of(names, **asked)
    released = {(row.provider, row.model): row.release_date for row in described((one.sheet for one in run), data)}
    found = []
    keys = [one.sheet.key for one in run]
    for key in dict.fromkeys(key for now in keys for key in (*([] if run.request.tier else list_earlier_tiers(now, book.rows)), now)):
        rows = [row for row in book.rows if row.sheet_key == key]
        sheets, faults = list[PriceSheet](), list[Problem]()
        # A day before the release of the model is that of its release.
        first = released.get(key[:2]) or date.min
        for day in sorted({max(day, first) for day in days_of_change(rows, run.as_of)}):
            sheet, wrong = assembled(rows, day, book.fx)
            faults += wrong
            sheets += with_list_prices([sheet], book, day) if sheet else []
        if faults:
            raise BadRow(*dict.fromkeys(faults))
        inferences, problems = infer_sheets(sheets, data, run.assumptions, asked.get("executor"))
        until = None if key in keys else max(row.valid_to for row in rows if row.valid_to)
        days = _dated(inferences, rows)
        found.append(History(key=key, days=days, until=until, problems=tuple(problems)))
    return run, tuple(found)


def list_earlier_tiers(now: SheetKey, rows: Iterable[PriceRow]) -> list[SheetKey]:
    """Return the sheets of the same model in service tiers that ended when this one began."""
    of_model = [row for row in rows if row.sheet_key[:-1] == now[:-1]]
    begun = min(row.start for row in of_model if row.sheet_key == now)
    sold = {row.sheet_key for row in of_model if not row.valid_to or row.valid_to > begun}
    return [key for key in dict.fromkeys(row.sheet_key for row in of_model) if key not in sold]


def days_of_change(rows: Sequence[PriceRow], last: date) -> list[date]:
    """List the days up to the last on which a row begins or ends. A row without a first day begins before all others."""
    known = sorted({day for row in rows for day in (row.start, row.valid_to) if day and date.min < day <= last})
    open_start = any(row.start == date.min for row in rows)
    if not known:
        return [last]
    return [*([known[0] - timedelta(days=1)] if open_start else []), *known]


def _dated(inferences: Iterable[Inference], rows: Sequence[PriceRow]) -> tuple[Dated, ...]:
    """Build the dated inferences. Days on which no selected price changed are left out."""
    found: list[Dated] = []
    begun = {row.start for row in rows} | {row.valid_to for row in rows}
    for one in inferences:
        changes = price_changes(found[-1].one.sheet.asked if found else {}, one.sheet.asked)
        if changes:
            since = one.sheet.as_of if one.sheet.as_of in begun else None
            eve = since - timedelta(days=1) if since and found else None
            gap = max(row.end for row in rows if row.end <= eve) if eve and not any(row.valid_on(eve) for row in rows) else None
            found.append(Dated(since=since, one=one, changes=changes, unsold_from=gap))
    return tuple(found)
