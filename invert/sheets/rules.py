"""The rules of price files beyond their description: cells of a row, rows of a key, rows of a sheet."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from math import inf

from derive.errors import WrongData, WrongValue, is_same, mistaken, shorten, skeleton, suggest
from derive.tables.cells import read_number
from derive.tables.lines import Problem, first_of_each_place
from invert.sheets.rows import Fx, PriceBook, PriceRow, RowKey, SheetKey, grouped, telling_row, units_per_usd, usd_amount

LEAST_THRESHOLD = 1_000
"""Smallest plausible threshold [token]: `input@200` is a typing error for `input@200k`."""
BAND_LIMIT, PRICE_LIMIT = 64, 256
"""Maximum number of bands and prices of a sheet on one day: ten times the largest published sheet, and still read in seconds."""
COMPONENTS = ("input", "output", "cache_read", "cache_write", "cache_storage")
OTHER_COMPONENTS = {
    **dict.fromkeys(("cache", "cached", "cache_hit", "cached_input", "input_cached", "input_cache_hit", "input_cache_read"), "cache_read"),
    **dict.fromkeys(("cache_creation", "cache_miss", "input_cache_write"), "cache_write"),
    **{"prompt": "input", "completion": "output", "storage": "cache_storage"},
}
"""Names of other price lists for our components."""
_SMALLEST = dict.fromkeys(COMPONENTS, 1e-4) | {"output": 1e-3, "cache_read": 1e-5}
_LARGEST = dict.fromkeys(COMPONENTS, 1e5) | {"cache_storage": 1e3}
"""The limits of a price, in USD per million tokens (and hour): tens of times beyond the published prices on either side.

The lower limit is also above the highest price per token, so a price per token cannot pass for a price per million.
"""
CURRENCY = "[A-Z]{3}"
"""The code of a currency, as a pattern."""
_YUAN = ("RMB", "CNH", "YUAN")
"""Other names of the currency of China."""
_RATES_APART = 3
"""The largest ratio of an exchange rate to its rate in fx.csv. Above it, the rate is inverted or belongs to another currency."""
SAME_PRICE = 1e-9
"""Two prices nearer than this, relatively, are one: they went through decimal text or a rate of exchange."""
NAMES = ("provider", "model", "region", "service_tier", "component")
"""Columns that identify a sheet. Two names that look the same would split its rows into two sheets."""
_SHAPES_KEPT = 4096
_Shape = tuple[bool, tuple[tuple[str, int, bool, int | None], ...]]
"""The prices and places in the rows of a sheet on a day, without amounts. Sheets of one shape are all sound, or all unsound."""


def check(book: PriceBook) -> list[Problem]:
    """Return everything that is wrong with the rows of a book together, on any day."""
    problems, now = list[Problem](), book.newest_retrieved
    sound: set[_Shape] = set()
    for rows in rows_by_sheet(book.rows).values():
        traded = any(map(is_traded, rows))
        # The present first, because a fault on many days names this day.
        present = [row for row in rows if row.start <= now < row.end]
        for day, valid in chain([(now, present)], (one for one in days(rows) if one[1] != present)):
            # Closed rows describe the model at their time.
            problems += descriptions_at_odds(valid) if day >= now else ()
            shape = traded, tuple([(row.component, row.threshold_tokens, row.threshold_inclusive, row.ttl_seconds) for row in valid])
            if shape in sound:
                continue
            faults = broken(valid, traded, day) or strays(valid)
            problems += faults
            if not faults and len(sound) < _SHAPES_KEPT:
                sound.add(shape)
    return first_of_each_place(problems)


def days(rows: Sequence[PriceRow]) -> Iterator[tuple[date, list[PriceRow]]]:
    """Yield every day on which a row of a sheet begins or ends, with the rows valid on that day, in their order."""
    first = rows[0].start
    if all(row.start == first and row.valid_to is None for row in rows):
        yield first, list(rows)
        return
    begins = grouped((row.start, place) for place, row in enumerate(rows))
    ends = grouped((row.valid_to, place) for place, row in enumerate(rows) if row.valid_to)
    valid: dict[int, PriceRow] = {}
    for day in sorted({*begins, *ends}):
        valid |= {place: rows[place] for place in begins.get(day, ())}
        for place in ends.get(day, ()):
            valid.pop(place, None)
        yield day, [valid[place] for place in sorted(valid)]
        if len(valid) > PRICE_LIMIT:
            return


# Across rows.


def rows_by_sheet(rows: Iterable[PriceRow]) -> dict[SheetKey, list[PriceRow]]:
    """Return the rows of each sheet. Sheets are in alphabetical order."""
    sheets = grouped((row.sheet_key, row) for row in rows)
    return {key: sheets[key] for key in sorted(sheets)}


def hold(held: dict[RowKey, list[PriceRow]], row: PriceRow) -> Problem | None:
    """Insert a row among the rows of its key, sorted by start. Return a problem instead if it overlaps one of them."""
    rivals = held.setdefault(row.key, [])
    place = bisect_right(rivals, row.start, key=lambda rival: rival.start)
    for rival in rivals[max(place - 1, 0) : place + 1]:
        if rival.start < row.end and row.start < rival.end:
            said = f"overlaps {rival.origin}: the older price must end (valid_to) before the newer one begins"
            if rival.effective_date == row.effective_date:
                both = f"the same price on the same day, {rival.amount:g} and {row.amount:g}"
                said = f"repeats the key of {rival.origin}: {both}. Remove one of them"
            elif row.date_kind == "verified":
                why = "a price with date_kind verified has no first day. Write start if the price begins on its effective_date"
                said = f"overlaps {rival.origin}: {why}"
            return row.problem("effective_date", said)
    rivals.insert(place, row)
    return None


def unsaid_currencies(rows: Sequence[PriceRow], beside: Iterable[PriceRow]) -> dict[str, Problem]:
    """Return, by origin, the rows without a currency whose model has prices in a currency other than US dollars."""
    foreign = {(row.provider, row.model): row for row in reversed([*rows, *beside]) if row.currency != "USD"}
    return {
        row.origin: row.problem("currency", f"is blank, and {other.origin} is in {other.currency}. Write {other.currency} or USD")
        for row in (rows if foreign else ())
        if row.currency_assumed and (other := foreign.get((row.provider, row.model)))
    }


def look_alikes(rows: Sequence[PriceRow], known: Mapping[str, Iterable[str]]) -> dict[str, list[Problem]]:
    """Return, by origin, the rows with a name that only looks like another name. `known` are the names in use by column.

    A name in other capitals is not a fault. If both names are new, the one in plain letters is right, or else the first.
    """
    found: dict[str, list[Problem]] = {}
    for column in NAMES:
        right = grouped((skeleton(name), name) for name in dict.fromkeys(known.get(column, ())))
        here = {name: skeleton(name) for name in dict.fromkeys(getattr(row, column) for row in rows)}
        for name in sorted(here, key=lambda name: not is_same(name, here[name])):
            right.setdefault(here[name], [name])
        wrong = {name: right[drawn][0] for name, drawn in here.items() if not any(is_same(name, one) for one in right[drawn])}
        for row in rows if wrong else ():
            name = getattr(row, column)
            if name in wrong:
                fault = f"{shorten(name)} looks like {shorten(wrong[name])} and is not: {mistaken(name, wrong[name])}"
                found.setdefault(row.origin, []).append(row.problem(column, fault))
    return found


def broken(valid: list[PriceRow], ever_traded: bool, day: date) -> list[Problem]:
    """Return why the rows of a day do not make a sheet. `ever_traded` tells whether the sheet has an input or output price on any day.

    Cache rows alone are no fault if input and output are valid on another day.
    """
    bands = grouped((row.threshold_tokens, row) for row in filter(is_traded, valid))
    if len(bands) > BAND_LIMIT:
        first = bands[sorted(bands)[BAND_LIMIT]][0]
        return [_fault(first, "threshold_tokens", f" has {len(bands)} bands{day_text(day)}, and at most {BAND_LIMIT} are read")]
    if len(valid) > PRICE_LIMIT:
        return [_fault(valid[PRICE_LIMIT], "component", f" has {len(valid)} prices{day_text(day)}, and at most {PRICE_LIMIT} are read")]
    if not bands:
        return [_fault(valid[0], "component", " has neither an input nor an output price")] if valid and not ever_traded else []
    problems = []
    advice = "Add its row, or correct the name or tier of one that was meant for this sheet"
    for threshold, rows in sorted(bands.items()):
        first = rows[0]
        said, lacking = f"at threshold {threshold}{day_text(day)}", {"input", "output"} - {row.component for row in rows}
        problems += [_fault(first, "component", f" has {first.component} and no {component} {said}. {advice}") for component in lacking]
        if other := next((row for row in rows if row.threshold_inclusive != first.threshold_inclusive), None):
            # A base band begins at no threshold.
            swapped = first.threshold_inclusive and not threshold
            problems.append(_other_threshold(first, other) if swapped else _other_threshold(other, first))
    if 0 not in bands:
        lack = f" has no base row (threshold 0){day_text(day)}. Add the prices of short prompts"
        problems.append(_fault(bands[min(bands)][0], "threshold_tokens", lack))
    # Rows of files can differ only in their hours, and price the same place of a sheet on one day.
    seen: dict[tuple[str, int, int | None], PriceRow] = {}
    twice = [(row, other) for row in valid if (other := seen.setdefault(row.place, row)) is not row]
    said = "prices the same item. Other hours need another service tier"
    return problems + [_fault(row, "utc_hours", f": {other.origin} {said}") for row, other in twice]


def _fault(row: PriceRow, column: str, message: str) -> Problem:
    return row.problem(column, f"{sheet_name(row)}{message}")


def _other_threshold(row: PriceRow, other: PriceRow) -> Problem:
    said = f": {other.origin} has {str(other.threshold_inclusive).lower()} for this band. Write one of the two"
    return _fault(row, "threshold_inclusive", said)


def strays(valid: list[PriceRow]) -> list[Problem]:
    """Return a problem for each cache row without a band or a base row, or with another kind of threshold than its band."""
    bands = {row.threshold_tokens: row for row in valid if row.component == "input"}
    base = {(row.component, row.ttl_seconds) for row in valid if row.threshold_tokens == 0}
    found = []
    for row in (row for row in valid if bands and not is_traded(row)):
        band, column = bands.get(row.threshold_tokens), "threshold_tokens"
        if band is None:
            lack = f" has no input and output price at threshold {row.threshold_tokens}, so this {row.component} has no band"
            found.append(_fault(row, column, lack))
        elif (row.component, row.ttl_seconds) not in base:
            found.append(_fault(row, column, f": {row.component} has no base row (threshold 0)"))
        elif row.threshold_inclusive != band.threshold_inclusive:
            found.append(_other_threshold(row, band))
    return found


def descriptions_at_odds(valid: Sequence[PriceRow]) -> Iterator[Problem]:
    """Yield the rows of a sheet on a day with another context, release or exchange rate than the first row, or with a threshold above the
    context.
    """
    for column, text, of in (
        ("max_context", "{:,} tokens, and {} says {:,}", "model"),
        ("release_date", "{}, and {} says {}", "model"),
        ("usd_rate", "{:g} US dollars, and {} says {:g}", "currency"),
    ):
        told = [row for row in valid if getattr(row, column)]
        for row in told:
            first = next(one for one in told if getattr(one, of) == getattr(row, of))
            value, usual = getattr(row, column), getattr(first, column)
            if value != usual:
                yield row.problem(column, f"{sheet_name(row)}: {text.format(value, first.origin, usual)} of the same {of}")
    teller = telling_row(valid, "max_context")
    longest = (teller and teller.max_context) or inf
    for row in valid:
        if row.component == "input" and row.threshold_tokens > longest:
            lack = f"above {row.threshold_tokens:,} tokens, which is more than the longest context {longest:,}"
            named, column = (teller, "max_context") if teller and row.ships else (row, "threshold_tokens")
            yield named.problem(column, f"{sheet_name(row)}: {row.component} {lack}")


def is_traded(row: PriceRow) -> bool:
    """Return whether a row prices input or output. A sheet needs both."""
    return row.component in ("input", "output")


def sheet_name(row: PriceRow) -> str:
    """Return the name of the sheet of a row in messages: `google/gemini-3.1-pro-preview (standard)`."""
    place = f"{row.region}, {row.service_tier}" if row.region else row.service_tier
    return f"{row.provider}/{row.model} ({place})"


def day_text(day: date) -> str:
    """Return a day as messages name it. Rows without a beginning are valid before any date."""
    return " before the first row with a date" if day == date.min else f" on {day}"


# In one row.


def contradictions(row: PriceRow, fx: Fx) -> Iterator[tuple[str, str]]:
    """Yield (column, message) for cells that are right alone but contradict each other."""
    component, currency = row.component, row.currency
    if row.ttl_seconds is not None and component != "cache_write":
        yield "ttl_seconds", f"only cache_write has a lifetime, not {component}"
    if (row.per == "mtok_hour") != (component == "cache_storage"):
        yield "per", f"{component} is not priced per {row.per}. Write {'mtok_hour' if component == 'cache_storage' else 'mtok'}"
    if row.effective_date and row.valid_to and row.valid_to <= row.effective_date:
        yield "valid_to", f"{row.valid_to} is not after effective_date {row.effective_date}. Write a later day, or leave it blank"
    hours = re.split("[-;]", row.utc_hours)
    # Hours in their order fall once, at midnight.
    if sum(before > after for before, after in zip(hours, (*hours[1:], hours[0]), strict=True)) > 1:
        yield "utc_hours", f"{row.utc_hours} has hours that overlap, or that are not in the order of the day"
    numbers = re.findall("[1-7]", row.weekdays)
    if numbers != sorted(set(numbers)):
        yield "weekdays", f"{row.weekdays} has days that overlap, or that are not in the order of the week"
    if not row.usd_rate and currency != "USD" and currency not in fx:
        more = "; for another currency write the US dollars for one unit as usd_rate"
        meant = "; did you mean 'CNY'?" if currency in _YUAN else suggest(currency, ["USD", *fx])
        yield "currency", f"unknown currency {shorten(currency)}{meant}{more}"
    elif fault := _wrong_rate(row, fx):
        yield "usd_rate", fault
    elif fault := absurd_price(row.amount, usd_amount(row, fx, date.max), component):
        yield "amount", fault


def _wrong_rate(row: PriceRow, fx: Fx) -> str:
    """Return why the rate of a row is implausible (it is inverted or belongs to another currency), or ""."""
    known = row.currency == "USD" or row.currency in fx
    if not (row.usd_rate and known):
        return ""
    usual = 1 / units_per_usd(fx, row.currency, date.max)
    if row.currency == "USD" and row.usd_rate != usual:
        return f"{row.usd_rate:g} US dollars for one US dollar. Fill the column currency"
    if usual / _RATES_APART <= row.usd_rate <= usual * _RATES_APART:
        return ""
    return f"{row.usd_rate:g} US dollars for one {row.currency}, but {usual:.3g} in fx.csv. A rate is in US dollars for one unit"


def absurd_price(amount: float, usd: float, component: str) -> str:
    """Return the fault of a price of zero (cache items may be free) or far from all published prices, or ""."""
    if amount == 0 and component in ("input", "output"):
        return f"the price of {component} is zero. Only cache items may be free"
    least, most = _SMALLEST[component], _LARGEST[component]
    if amount == 0 or least <= usd <= most:
        return ""
    hint = f". Is it per token? Write {amount * 1e6:g}" if least <= usd * 1e6 <= most else ""
    told = f"{amount:g}" if amount == usd else f"{amount:g}, which is {usd:.3g} USD,"
    return f"{told} is absurd: {component} costs between {least:g} and {most:g} USD per million tokens{hint}"


def missing_dates(row: PriceRow) -> Iterator[tuple[str, str]]:
    """Yield (column, message) for a shipped row with an effective date and no date_kind, or the reverse. A user file may have them."""
    if bool(row.effective_date) != bool(row.date_kind):
        missing, filled = ("date_kind", "effective_date") if row.effective_date else ("effective_date", "date_kind")
        yield missing, f"must be filled if {filled} is"


def typed_number(text: str) -> float:
    """Return a number that a person types. Raise WrongValue with the correct form."""
    try:
        return read_number(text)
    except WrongData as error:
        raise WrongValue(str(error)) from None


def usd_rate(currency: str, text: str) -> float:
    """Return the US dollars for one unit of a currency, as `--rate EUR=1.08` gives them."""
    if currency == "USD":
        raise WrongValue("USD is the currency of all results, and has no rate. Leave it out")
    if not re.fullmatch(CURRENCY, currency):
        raise WrongValue(f"{shorten(currency)} is not the code of a currency, such as EUR")
    try:
        found = typed_number(text)
    except WrongValue as error:
        raise WrongValue(f"{currency}: {error}") from None
    if not found:
        raise WrongValue(f"{currency}: the rate is zero. A rate is in US dollars for one unit of the currency, such as 1.08")
    return found
