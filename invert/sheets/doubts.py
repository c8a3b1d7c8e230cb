"""Readable prices that are probably mistakes. Each one is a question to the author of the file, not a fault."""

import re
import unicodedata
from calendar import month_abbr
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, timedelta
from difflib import get_close_matches
from itertools import pairwise
from math import inf, log10
from operator import attrgetter
from statistics import median_high
from typing import Any

from derive.errors import mark_in_words, shorten, skeleton
from derive.tables.lines import Problem, first_of_each_place
from invert.assumptions import USUAL, Assumptions
from invert.data import read_data
from invert.sheets.read import prices_that_ship
from invert.sheets.rows import Fx, ModelRow, PriceBook, PriceRow, RowKey, SheetKey, grouped, usd_amount
from invert.sheets.rules import LEAST_THRESHOLD, NAMES, SAME_PRICE, broken, days, is_traded, rows_by_sheet, sheet_name

_NEARLY = 0.75
"""The least similarity of two words for one to be a typing error of the other: bacth and batch, and not fast and flash."""
_LEAST_NAME = 5
"""The least number of letters of a provider in which one letter may be a typing error. A shorter name is another word."""
_QUOTES = " \t\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
_DAYS_OF_YEAR = 365.25
_MONTHS = "|".join(month_abbr[1:])
_DATE_AS_SHOWN = re.compile(
    rf"[0-9]{{1,2}}[- ](?:{_MONTHS})(?:[- ][0-9]{{2,4}})?|(?:{_MONTHS})[- ][0-9]{{2,4}}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}"
    r"|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}",
    re.IGNORECASE,
)
"""A day as spreadsheets write it, or a text that they read as a day."""
_LONG_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?E[+-]?[0-9]+")
"""A number as spreadsheets write one of many digits."""
_DECIMAL_K, _BINARY_K = 1000, 1024
"""The two meanings of k for lengths of prompts: 1000 and 1024 tokens."""
_BELOW_INPUT = {"cache_write": "amounts are full prices, not surcharges on the input price", "output": "are the two exchanged?"}
"""Doubts about prices below the input price."""
_DATES = ("effective_date", "valid_to", "retrieved_date")


def doubtful_prices(book: PriceBook, assumptions: Assumptions = USUAL) -> list[Problem]:
    """Return all doubts about a book, each place once. It reads the rows once, on the days on which one begins or ends.

    >>> from io import BytesIO
    >>> from invert.sheets.read import load
    >>> own = b"provider,model,component,amount\\nacme,m,input,2\\nacme,m,output,8\\nacme,m,cache_read,3"
    >>> str(doubtful_prices(load(BytesIO(own)))[0])
    'standard input row 4, column amount: cache_read 3 is not below input 2: a cache read is cheaper than a new prompt'
    """
    book = replace(book, rows=_with_shipped_rows(book.rows))
    shipped, own = (tuple(row for row in book.rows if row.ships == ships) for ships in (True, False))
    found = [
        *_doubtful_amounts(book.rows, book.fx, assumptions),
        *_far_dates(book, shipped, own, assumptions),
        *_blank_currencies(book.rows),
        *_doubtful_releases(own, book.newest_retrieved, assumptions),
        *_far_from_before(book, assumptions),
        *_sheet_doubts(book, assumptions),
        *_far_from_neighbours(book, assumptions),
        *(_doubts_beside_shipped(shipped, own, book.fx, assumptions) if shipped else ()),
        *_odd_names(book.rows),
    ]
    return sorted(dict.fromkeys(map(_doubt_about_sheet, first_of_each_place(found))), key=lambda one: (one.origin, one.row or 0))


def _with_shipped_rows(rows: tuple[PriceRow, ...]) -> tuple[PriceRow, ...]:
    """Return the rows, with the shipped row in place of each copy of it, because shipped rows were checked."""
    if all(row.ships for row in rows):
        return rows
    _, shipped = prices_that_ship(read_data())
    said = attrgetter("key", "start", "end", "amount", "currency")
    same = {said(row): row for row in shipped}
    return tuple(same.get(said(row), row) for row in rows)


def _doubt_about_sheet(doubt: Problem) -> Problem:
    """Return a doubt about a fact of a typed sheet under the name of the sheet, because all its rows have the same fact."""
    if doubt.row is None and doubt.origin.startswith("'") and doubt.column not in (None, "component", "threshold_tokens", "ttl_seconds"):
        return replace(doubt, origin=doubt.origin.rpartition(" ")[0])
    return doubt


def doubts_about(sheets: Iterable[SheetKey], book: PriceBook, assumptions: Assumptions = USUAL) -> tuple[Problem, ...]:
    """Return the doubts about the prices of these sheets."""
    keys = frozenset(sheets)
    rows = (row.problem(column, "") for row in (*book.rows, *book.replaced) if row.sheet_key in keys for column in (None, "provider"))
    places = {(one.origin, one.row) for one in map(_doubt_about_sheet, rows)}
    return tuple(one for one in doubtful_prices(book, assumptions) if (one.origin, one.row) in places)


def _usd(row: PriceRow, fx: Fx) -> float:
    """Return USD per million tokens (and hour), at the newest rate."""
    return usd_amount(row, fx, date.max)


def _doubtful_cells(rows: Iterable[PriceRow], column: str, doubts: Mapping[Any, str], *by: str) -> Iterator[Problem]:
    """Yield the cells of a column with doubtful values, in this column or in the columns `by`."""
    value = attrgetter(*(by or (column,)))
    for row in rows if doubts else ():
        if said := doubts.get(value(row)):
            yield row.problem(column, said)


def _odd_names(rows: Sequence[PriceRow]) -> Iterator[Problem]:
    """Yield names that are doubtful in themselves."""
    for column in NAMES:
        doubts = {name: f"{shorten(name)} {said}" for name in _values(rows, column) if (said := _name_doubt(name))}
        yield from _doubtful_cells(rows, column, doubts)


def _values(rows: Iterable[PriceRow], column: str) -> set[str]:
    return {*map(attrgetter(column), rows)}


def _name_doubt(name: str) -> str:
    """Return a doubt about a name, or "": it has quotation marks that CSV does not remove, from a word processor or doubled, or a
    spreadsheet has changed it to a day or a number, or it has letters of another script that look Latin.

    Only scripts with capitals and small letters look like Latin. Names of Chinese and Latin letters are usual.
    """
    if (bare := name.strip(_QUOTES)) != name:
        return f"is in quotation marks, which are then part of the name: is {shorten(bare)} meant?"
    if taken := "a date" if _DATE_AS_SHOWN.fullmatch(name) else "a number" if _LONG_NUMBER.fullmatch(name) else "":
        return f"was changed by a spreadsheet, which read the name as {taken}: write it again, in a text column"
    if name.isascii():
        return ""
    cased = [mark for mark in name if mark.lower() != mark.upper() and "LETTER" in unicodedata.name(mark, "")]
    others = [mark for mark in cased if "LATIN" not in unicodedata.name(mark)]
    if others and len(others) < len(cased):
        return f"mixes Latin letters with {mark_in_words(others[0])}: is it meant, or typed from another keyboard?"
    drawn = skeleton(name)
    return f"looks like {shorten(drawn)} and begins with {mark_in_words(others[0])}: is that meant?" if others and drawn.isascii() else ""


def _doubtful_amounts(rows: Iterable[PriceRow], fx: Fx, assumptions: Assumptions) -> Iterator[Problem]:
    """Yield very small amounts, and the user's cache prices of zero, because a blank cell of a page is often copied as zero."""
    for row in rows:
        if 0 < (usd := _usd(row, fx)) < assumptions.least_usual_price:
            lack = f"{row.amount:g} is {usd:.2g} USD per million tokens: is it per thousand, or per token? Amounts here are per million"
            yield row.problem("amount", lack)
        elif not row.amount and row.component.startswith("cache_") and not row.ships:
            yield row.problem("amount", f"{row.component} is 0: is it free? If it is not sold, leave this row out")


def _far_dates(book: PriceBook, shipped: Sequence[PriceRow], own: Sequence[PriceRow], assumptions: Assumptions) -> Iterator[Problem]:
    """Yield days that are far from the median day of their file, and days of the user long after the shipped prices.

    Shipped rows that end at the start of a user's row are left out, because the author of the file did not write these ends.
    """
    laid_over = {row.key for row in book.own}
    far, usual = f"more than {assumptions.usual_years:g} years", timedelta(days=assumptions.usual_years * _DAYS_OF_YEAR)
    last = max((row.retrieved_date for row in shipped if row.retrieved_date), default=date.max)
    for rows, newest in (([row for row in shipped if row.key not in laid_over], date.max), (own, last)):
        # A million rows have few days.
        counts = Counter(day for column in _DATES for day in map(attrgetter(column), rows) if day)
        middle = median_high(counts.elements()) if counts else date.max
        after = {day: f"{far} after {newest}, the day of the newest shipped price" for day in counts if day - newest > usual}
        about = {day: f"{far} from {middle}, the median day of its file" for day in counts if abs(day - middle) > usual}
        for column in _DATES:
            # The book names the days of reading that are too late.
            far_off = about if column == "retrieved_date" else {**after, **about}
            yield from _doubtful_cells(rows, column, {day: f"{day} is {said}" for day, said in far_off.items()})


def _doubtful_releases(own: Sequence[PriceRow], newest: date, assumptions: Assumptions) -> Iterator[Problem]:
    """Yield releases after the day of the prices, because before its release a model has no sheet, and prices that begin long before the
    release of their model, in their row or in models.csv.
    """
    late = {row.release_date for row in own if row.release_date and row.release_date > newest}
    doubts = {day: f"{day} is after {newest}, the day of the prices: the model has no sheet before its release" for day in late}
    yield from _doubtful_cells(own, "release_date", doubts)
    described = read_data().tables.rows_of(ModelRow) if own else ()
    released = {(row.provider, row.model): row.release_date for row in described}
    ahead = timedelta(days=assumptions.days_sold_before_release)
    for row in own:
        release = row.release_date or released.get((row.provider, row.model))
        if release and row.effective_date and row.date_kind != "verified" and release - row.effective_date > ahead:
            lack = f"{row.effective_date} is more than {ahead.days} days before the release, on {release}: are both days right?"
            yield row.problem("effective_date", lack)


def _blank_currencies(rows: Sequence[PriceRow]) -> Iterator[Problem]:
    """Yield blank currencies of a provider with other prices in a foreign currency. For the same model, that is already a fault."""
    foreign = {row.provider: row for row in reversed(rows) if row.currency != "USD"}
    doubts = {
        provider: f"is blank and so means USD, but {provider} charges {row.currency} for {row.model} ({row.origin})"
        for provider, row in foreign.items()
    }
    yield from _doubtful_cells((row for row in rows if row.currency_assumed), "currency", doubts, "provider")


def _sheet_doubts(book: PriceBook, assumptions: Assumptions) -> Iterator[Problem]:
    """Yield doubts from the comparison of prices of one sheet on one day, if they form a sheet."""
    for rows in rows_by_sheet(book.rows).values():
        for day, valid in days(rows):
            if not broken(valid, True, day):
                yield from _doubts_of_day(valid, book.fx, assumptions)


def _doubts_of_day(valid: Sequence[PriceRow], fx: Fx, assumptions: Assumptions) -> Iterator[Problem]:
    """Yield doubts from the comparison of the rows of a sheet that are valid on one day."""
    inputs = {row.threshold_tokens: row for row in valid if row.component == "input"}
    for row in valid:
        after = row.threshold_tokens + 1
        if 0 < row.threshold_tokens < LEAST_THRESHOLD:
            yield row.problem("threshold_tokens", f"{row.threshold_tokens} tokens is a short prompt: is {row.threshold_tokens}k meant?")
        elif row.threshold_tokens and row.component == "input" and not row.ships and not (after % _DECIMAL_K and after % _BINARY_K):
            # Some price pages write the last token of the base band.
            yield row.problem("threshold_tokens", f"{row.threshold_tokens} is one token below {after}: is {after} meant?")
        base = inputs.get(0)
        if base and is_traded(row) and row.currency != base.currency:
            lack = f"{row.component} is in {row.currency} and input in {base.currency}: is one currency meant for both?"
            yield _own_of(row, base).problem("currency", lack)
        beside = inputs.get(row.threshold_tokens) or base
        if beside and beside is not row:
            yield from _doubts_beside_input(row, beside, fx, assumptions.usual_price_ratio)
    writes = sorted((row.threshold_tokens, row.ttl_seconds, row) for row in valid if row.ttl_seconds)
    for (_, _, shorter), (_, ttl, longer) in pairwise(writes):
        if longer.threshold_tokens == shorter.threshold_tokens and _usd(longer, fx) < _usd(shorter, fx) * (1 - SAME_PRICE):
            lack = f"cache_write {longer.amount:g} for {ttl} s is below the {shorter.amount:g} for {shorter.ttl_seconds} s"
            yield _own_of(longer, shorter).problem("amount", f"{lack}: are the two exchanged?")
    traded = {(row.component, row.threshold_tokens): row for row in filter(is_traded, valid)}
    for below, threshold in pairwise(sorted(inputs)):
        pairs = [(traded[component, threshold], traded[component, below]) for component in ("input", "output")]
        if all(abs(_usd(high, fx) - _usd(low, fx)) <= SAME_PRICE * _usd(low, fx) for high, low in pairs):
            lack = f"prices above {threshold} tokens equal the prices of the band before. Leave this band out if it has no premium"
            yield _own_of(*pairs[0]).problem("amount", lack)
        for high, low in pairs:
            if _usd(high, fx) < _usd(low, fx) * (1 - SAME_PRICE):
                lack = f"{high.component} above {threshold} tokens is {high.amount:g}, below the {low.amount:g} of the band before"
                yield _own_of(high, low).problem("amount", f"{lack}: are the two exchanged?")
            elif _usd(high, fx) >= _usd(low, fx) * assumptions.usual_price_ratio:
                lack = f"{high.component} above {threshold} tokens is {high.amount:g}, {_usd(high, fx) / _usd(low, fx):.3g} times"
                yield _own_of(high, low).problem("amount", f"{lack} the {low.amount:g} of the band before: is the decimal point right?")


def _doubts_beside_input(row: PriceRow, beside: PriceRow, fx: Fx, far: float) -> Iterator[Problem]:
    """Yield doubts from the comparison of a price with the input price of its band."""
    times = _usd(row, fx) / _usd(beside, fx)
    if row.component == "cache_read" and times >= 1 - SAME_PRICE:
        lack = f"is not below input {beside.amount:g}: a cache read is cheaper than a new prompt"
    elif times > far * (1 + SAME_PRICE):
        lack = f"is more than {far:g} times input {beside.amount:g}: does one of the two have another unit?"
    elif row.component in _BELOW_INPUT and 0 < times < 1 - SAME_PRICE:
        lack = f"is below input {beside.amount:g}: {_BELOW_INPUT[row.component]}"
    else:
        return
    yield _own_of(row, beside).problem("amount", f"{row.component} {row.amount:g} {lack}")


def _own_of(row: PriceRow, beside: PriceRow) -> PriceRow:
    """Return the row to name of two rows that contradict each other: the user's row if the other ships, else the first."""
    return beside if row.ships and not beside.ships else row


def _far_from_before(book: PriceBook, assumptions: Assumptions) -> Iterator[Problem]:
    """Yield prices far from the price that they follow or replace. Shipped prices were checked."""
    far, replaced = assumptions.usual_price_ratio, {row.key: row for row in sorted(book.replaced, key=attrgetter("start"))}
    last: dict[RowKey, PriceRow] = {}
    # A replaced row goes before the row that replaces it.
    for row in sorted((*book.replaced, *book.rows), key=attrgetter("start")):
        before, last[row.key] = last.get(row.key) or replaced.get(row.key), row
        if before is None or before is row or row.ships or not (row.amount and before.amount):
            continue
        times = _usd(row, book.fx) / _usd(before, book.fx)
        if max(times, 1 / times) >= far * (1 - SAME_PRICE):
            way, how = "above" if times > 1 else "below", "replaces" if before.end > row.start else "follows"
            lack = f"{row.component} {row.amount:g} is {max(times, 1 / times):.3g} times {way} the {before.amount:g} that it {how}"
            yield row.problem("amount", f"{lack} ({before.origin}): is the decimal point right?")


def _doubts_beside_shipped(shipped: Sequence[PriceRow], own: Sequence[PriceRow], fx: Fx, assumptions: Assumptions) -> Iterator[Problem]:
    """Yield doubts about the user's rows: names and words similar to shipped ones, and amounts far from all shipped ones."""
    known = {(row.provider, row.model) for row in shipped}
    described = read_data().tables.rows_of(ModelRow)
    named = {(row.provider, _plain_name(name)): row.model for row in described for name in row.aliases}
    named |= {(provider, _plain_name(model)): model for provider, model in known}
    meant_by = _intended_providers(_values(own, "provider"), _values(shipped, "provider"))
    models = {
        (provider, model): _another("model", model, meant)
        for provider, model in {(row.provider, row.model) for row in own}
        if (meant_by[provider], model) not in known and (meant := named.get((meant_by[provider], _plain_name(model))))
    }
    yield from _doubtful_cells(own, "model", models, "provider", "model")
    providers = {name: _another("provider", name, meant) for name, meant in meant_by.items() if name != meant}
    yield from _doubtful_cells(own, "provider", providers)
    for column in ("service_tier", "verification"):
        words: Set[str] = _values(shipped, column)
        # The grade of a price of the user without a source is user.
        if new := _values(own, column) - words - {"user"}:
            fields = read_data().tables.schema("prices")["fields"]
            words = {word for field in fields if field["name"] == column for word in field["constraints"]["enum"]}
            new -= words
        near = {word: get_close_matches(word, words, n=1, cutoff=_NEARLY) for word in new}
        doubts = {word: _another("word", word, *meant) for word, meant in near.items() if meant}
        others = {word: f"{shorten(word)} is not one of the words of the tables: {', '.join(sorted(words))}" for word in new}
        yield from _doubtful_cells(own, column, others | doubts)
    far = assumptions.usual_price_ratio
    for component in ("input", "output"):
        amounts = [_usd(row, fx) for row in shipped if row.component == component and _is_list_price(row)]
        least, most = min(amounts, default=0.0), max(amounts, default=inf)
        for row in own:
            if row.component == component and _is_list_price(row) and not least / far <= (usd := _usd(row, fx)) <= most * far:
                side, unit = ("below", "per thousand tokens") if usd < least else ("above", "in cents")
                lack = f"{component} {row.amount:g} {row.currency} is {far:g} times {side} every one that ships"
                yield row.problem("amount", f"{lack} ({least:g} to {most:g} USD): is it {unit}? Amounts here are per million")


def _another(kind: str, word: str, meant: str) -> str:
    return f"{shorten(word)} is another {kind} than {shorten(meant)}: is that one meant?"


def _intended_providers(names: Set[str], known: Set[str]) -> dict[str, str]:
    """Return the known provider that each name may be a typing error of: other capitals or quotes, or one wrong letter.

    A name without such a provider maps to itself. Two names are close if they are equal after one letter is left out of both. So not every
    pair is compared.
    """
    called = {_plain_name(name): name for name in known}
    near = {text: name for plain, name in called.items() if len(plain) >= _LEAST_NAME for text in _one_letter_less(plain)}
    longest = max(map(len, called), default=0) + 1
    found = {name: name for name in names}
    for name in names - known:
        plain = _plain_name(name)
        slips = (near.get(text) for text in _one_letter_less(plain)) if _LEAST_NAME <= len(plain) <= longest else ()
        found[name] = called.get(plain) or next(filter(None, slips), name)
    return found


def _one_letter_less(name: str) -> list[str]:
    """Return a name, and the name without each of its letters."""
    return [name, *(name[:place] + name[place + 1 :] for place in range(len(name)))]


def _is_list_price(row: PriceRow) -> bool:
    return is_traded(row) and not row.threshold_tokens and row.service_tier == "standard"


def _plain_name(name: str) -> str:
    """Return a name without differences that a spreadsheet or a keyboard makes: capitals, quotes and spaces."""
    return name.casefold().strip(_QUOTES)


def _far_from_neighbours(book: PriceBook, assumptions: Assumptions) -> Iterator[Problem]:
    """Yield base prices that are far from all others of their provider on the newest day. Shipped prices were checked."""
    now, far = book.newest_retrieved, assumptions.usual_price_ratio
    listed = [row for row in book.rows if _is_list_price(row) and row.valid_on(now)]
    groups = grouped(((row.provider, row.component), (log10(_usd(row, book.fx)), row)) for row in listed)
    for (provider, component), group in groups.items():
        ordered = sorted(group, key=lambda pair: pair[0])
        if len({row.model for _, row in ordered}) < assumptions.least_neighbours:
            continue
        below = [inf, *(high - low for (low, _), (high, _) in pairwise(ordered))]
        gaps = map(min, below, [*below[1:], inf])
        for place, (gap, (_, row)) in enumerate(zip(gaps, ordered, strict=True)):
            if gap > log10(far) and not row.ships:
                dearer = "dearer" if place else "cheaper"
                lack = f"{component} {row.amount:g} {row.currency} is more than {far:g} times {dearer} than any other of {provider}"
                yield row.problem("amount", f"{lack}: {sheet_name(row)}")
