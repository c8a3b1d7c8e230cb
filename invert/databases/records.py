"""The offers of a price database, in one form for all databases. An offer is a price sheet over one stretch of time.

Fields that a database no longer has are reported with their possible new names.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import groupby
from typing import Any, TypeAlias

from derive.errors import WrongData, hidden, shorten, suggest
from derive.immutable import immutable
from derive.tables.lines import Problem
from derive.tables.writing import begins_as_formula
from invert.sheets.models import MAKERS
from invert.sheets.rows import PriceRow

Sold: TypeAlias = tuple[str, int | None]
"""A component, and the lifetime [s] of a cache write if it has one."""
Rates: TypeAlias = Mapping[Sold, float]
"""Prices in USD per million tokens."""
PER_TOKEN = 6
"""Decimal places between a price per token and a price per million tokens."""

_OURS = {
    "zhipuai": "zhipu-bigmodel", "bigmodel": "zhipu-bigmodel", "zhipu": "zhipu-bigmodel",
    "gemini": "google", "xai": "x-ai", "moonshot": "moonshotai", "dashscope": "alibaba", "xiaomi_mimo": "xiaomi",
    "z-ai": "zai",
    "bedrock": "aws", "bedrock_converse": "aws", "bedrock_mantle": "aws", "amazon-bedrock": "aws", "azure_ai": "azure",
    "azure_text": "azure",
    "fireworks_ai": "fireworks", "fireworks-ai": "fireworks", "together_ai": "together", "togetherai": "together",
    "github_copilot": "github-copilot", "meta_llama": "meta", "cohere_chat": "cohere", "text-completion-openai": "openai",
    "text-completion-codestral": "mistral", "codestral": "mistral", "vertex_ai-language-models": "google", "vercel_ai_gateway": "vercel",
}  # fmt: skip
"""Providers that a database calls by another name than prices.csv, or by several."""
_FROM_THRESHOLD = ("x-ai", "zhipu-bigmodel")
"""Providers whose higher price begins at the threshold. For all others it begins above the threshold."""
_UNEXPECTED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors that occur if a value has an unexpected type and no field is checked for it."""
_CONDITIONED = re.compile(r"above|over|long|context|[0-9]")
"""Words in the name of a price that depends on the length of the prompt, or on a lifetime."""
_DAY, _MONTH = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), re.compile(r"[0-9]{4}(?:-(?:0[1-9]|1[0-2]))?")
"""The forms of a day, a month and a year."""
_LONGEST_LINK = 2_000
_FACTS_OF_ROWS = ("region", "service_tier", "utc_hours", "weekdays", "effective_date", "valid_to", "release_date")
"""The fields that each row of an offer repeats."""
OTHER_VERSION = ": its version is newer or older than the known ones"
"""The end of a message about a field or an entry with an unknown format."""
_TIERS_IN_NAMES = (
    re.compile(r"(?P<model>.+):(?P<tier>batch|fast|flex|priority)"),
    # At other makers, -fast is a model with its own weights, such as grok-4-fast.
    re.compile(r"(?P<model>(?:.*[/.])?claude-.+)-(?P<tier>fast)"),
)
"""Model names of OpenRouter and its resellers that mean another service tier of the same model."""


@immutable
class Database:
    """A database by name and version, which rows carry in their notes."""

    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()


@dataclass(kw_only=True)
class Offer:
    """The prices of one model in one service tier over one stretch of time, as rates by the threshold [token] at which they begin.

    A band without a rate has the rate of the band below. `became` is the reason why an entry makes no sheet, and in a pull the result of
    the offer. `entry` is the index of the entry in its database. One entry may make several offers of a model, and several entries may have
    one name. The reader of a format leaves out the names and the facts of an entry. `items_of` adds them.
    """

    bands: Mapping[int, Rates] = field(default_factory=dict)
    provider: str = ""
    model: str = ""
    service_tier: str = "standard"
    region: str = ""
    utc_hours: str = ""
    weekdays: str = ""
    effective_date: date | None = None
    date_kind: str = ""
    valid_to: date | None = None
    max_context: int | None = None
    release_date: date | None = None
    source_url: object = ""
    became: str = ""
    entry: int = field(default=0, compare=False)


Item: TypeAlias = Offer | Problem


@immutable
class Entry:
    """An entry of a database: its names, and its unchanged record or the fault of the record."""

    provider: str
    model: str
    record: Any
    source_url: object = ""


@immutable
class Format:
    """The format of a database.

    `read` yields the offers of a record. A yielded WrongField is a fault in a field that the offers do not need. If it is raised, the entry
    is left out. `facts` are the paths of the longest context and the release in a record, with points between the names. Of the fields that
    are read from an entry, `usual` are in nearly every entry and `rare` in some. `is_known` returns whether the database has always had a
    name, because such a name is not a new name of another field. `is_shape` recognises the content of a JSON file. `installed` returns the
    content of an installed package.
    """

    name: str
    entries: Callable[[Any], Iterator[Entry]]
    read: Callable[[Mapping[str, Any]], Iterator["Offer | WrongField"]]
    facts: Mapping[str, str]
    usual: tuple[str, ...]
    rare: tuple[str, ...] = ()
    is_known: Callable[[str], bool] = lambda _name: False
    is_shape: Callable[[Any], bool] = lambda _content: False
    installed: Callable[[Database], Any] = lambda _database: None


def provider_of(name: str) -> str:
    """Return the name of a provider in prices.csv."""
    return _OURS.get(name, name)


def name_in_a_cell(model: str) -> str:
    """Return the name of a model without leading characters that a spreadsheet reads as a formula."""
    while begins_as_formula(model):
        model = model[1:]
    return model


def split_route(name: str) -> tuple[str, str]:
    """Split a name into its model and its service tier. The tier is blank if the name contains no tier."""
    found = next((form for route in _TIERS_IN_NAMES if (form := route.fullmatch(name))), None)
    return (found["model"], found["tier"]) if found else (name, "")


def price_rows(offer: Offer, database: Database, day: date) -> list[PriceRow] | str:
    """Return the rows of an offer as read on a day, or the reason why it makes no rows."""
    if offer.became:
        return offer.became
    provider, model = provider_of(offer.provider), name_in_a_cell(offer.model)
    said, rows = without_nothing(offer.bands), []
    base = said.get(0, {})
    lacking = [name for name in ("input", "output") if (name, None) not in base]
    if lacking:
        free = all(amount == 0 for rates in offer.bands.values() for amount in rates.values()) and any(offer.bands.values())
        return "free" if free else f"no price of {' and '.join(lacking)} tokens"
    current: dict[Sold, float] = {}
    # A longest context below the threshold of a band must mean something else.
    max_context = offer.max_context if offer.max_context and offer.max_context >= max(said) else None
    shared: dict[str, Any] = {name: getattr(offer, name) for name in _FACTS_OF_ROWS}
    for threshold, rates in sorted(said.items()):
        current |= rates
        at, inclusive = threshold_of(threshold, provider in _FROM_THRESHOLD)
        for (component, ttl), amount in current.items():
            if threshold and (component, ttl) not in base:
                continue
            inherited = threshold and not offer.bands[threshold].get((component, ttl))
            # No database names the lifetime of a cache write of Claude. At every seller it is five minutes.
            lifetime = 300 if component == "cache_write" and ttl is None and "claude" in model.lower() else ttl
            rows.append(
                PriceRow(
                    **shared,
                    provider=provider,
                    model=model,
                    component=component,
                    threshold_tokens=at,
                    threshold_inclusive=inclusive,
                    ttl_seconds=lifetime,
                    amount=amount,
                    currency="USD",
                    per="mtok",
                    date_kind=offer.date_kind if offer.effective_date else "",
                    retrieved_date=day,
                    source_url=link(offer.source_url),
                    verification="db" if provider in MAKERS else "db_host",
                    notes=f"{database}" + (f"; not stated above {threshold:,} tokens, so the lower price" if inherited else ""),
                    origin=f"{database}: {provider}/{model}",
                    max_context=max_context,
                )
            )
    return rows


def link(text: object) -> str:
    """Return an address that may be in a cell, or "" for anything else."""
    sound = isinstance(text, str) and text.startswith(("https://", "http://")) and len(text) < _LONGEST_LINK and not hidden(text)
    return str(text) if sound else ""


def without_nothing(bands: Mapping[int, Rates]) -> dict[int, dict[Sold, float]]:
    """Return the bands without prices of zero (the item is not sold) and without bands that change no price."""
    found: dict[int, dict[Sold, float]] = {}
    current: dict[Sold, float] = {}
    for threshold, rates in sorted(bands.items()):
        changed = {sold: amount for sold, amount in rates.items() if amount != 0 and current.get(sold) != amount}
        current |= changed
        if changed or not threshold:
            found[threshold] = changed
    return found


def threshold_of(threshold: int, from_it: bool) -> tuple[int, bool]:
    """Return the threshold in the form of prices.csv, and whether the price applies at the threshold itself: above 199,999 means from
    200,000 on, and a band that begins at 200,001 is above 200,000.
    """
    if threshold % 1000 == 999:
        return threshold + 1, True
    if threshold % 1000 == 1:
        return threshold - 1, False
    return threshold, from_it and threshold > 0


class WrongField(WrongData):
    """The error for a field of an entry that differs from the known format of the database."""

    def __init__(self, name: str, fault: str):
        self.field = shorten(name)[1:-1]
        super().__init__(f"field {self.field} {fault}")


class WrongPrice(WrongField):
    """The error for a value that cannot be a price, in a known field. The format of the database has not changed."""


def named_in(entry: object, name: str) -> str:
    """Return a text field that names an entry, or "" if it is missing or not a text."""
    found = entry.get(name) if isinstance(entry, dict) else None
    return found if isinstance(found, str) else ""


def per_mtok(name: str, amount: object, scale: int = 0) -> float:
    """Return the amount of a field as a number, times 10 to the power `scale`, exact in decimals."""
    if not isinstance(amount, int | float | str | Decimal):
        raise WrongField(name, f"is {type(amount).__name__}, not a number")
    try:
        found = float(Decimal(str(amount)[:100]).scaleb(scale))
    except ArithmeticError:
        raise WrongField(name, f"is {shorten(str(amount))}, not a number") from None
    if not 0 <= found < float("inf"):
        raise WrongPrice(name, f"is {shorten(str(amount))}, not a price")
    # Products that a database made in binary: 7.999999999999999e-07 is 0.8 per million.
    return float(f"{found:.10g}")


def rates_of(cost: Mapping[str, Any], sold: Mapping[str, Sold], scale: int = 0) -> Rates:
    """Return the rates of one band, from the fields that name them."""
    return {place: per_mtok(name, cost[name], scale) for name, place in sold.items() if cost.get(name) is not None}


def refuse_unknown(prices: Mapping[str, Any], known: Container[str]) -> None:
    """Raise WrongField at an unknown field that looks like the prices of a band, or like a known price with a condition in its name.

    The whole entry is left out. A part of its prices would give wrong rows, and end valid rows.
    """
    for name, value in prices.items():
        if name not in known and value and (isinstance(value, dict | list) or _CONDITIONED.search(name)):
            raise WrongField(name, "looks like a price but is unknown")


def token_count(value: object) -> int | None:
    """Return a whole number above zero, or None."""
    try:
        found = int(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else 0
    except (ValueError, OverflowError):
        return None
    return found if 0 < found < 10**12 else None


def part(entry: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return a field of an entry, or None if it is missing. Raise WrongField if it has an unexpected type."""
    value = entry.get(name)
    if value is not None and not isinstance(value, kind):
        raise WrongField(name, f"is {type(value).__name__} and not {kind.__name__}")
    return value


def whole_day(text: object) -> date | None:
    """Return a day in the form of databases, or None for a month, a year, or any other value."""
    try:
        return date.fromisoformat(text) if isinstance(text, str) and _DAY.fullmatch(text) else None
    except ValueError:
        return None


def items_of(form: Format, content: Any, database: Database) -> Iterator[Item]:
    """Yield the offers and problems of each entry."""
    seen, place = Counter[str](), -1
    for place, entry in enumerate(form.entries(content)):
        seen.update({name for name, _ in fields_in(entry.record)})
        label = shorten("/".join(filter(None, (entry.provider, entry.model))))
        try:
            for item in _read_entry(form, entry):
                yield _field_problem(item, database, label) if isinstance(item, WrongField) else _named(item, entry, place)
        except WrongField as error:
            because = "a price that is not a number" if isinstance(error, WrongPrice) else "a field with an unknown form"
            yield _named(Offer(became=f"{because}: {error.field}"), entry, place)
            yield _field_problem(error, database, label)
        except _UNEXPECTED as error:
            yield _named(Offer(became="an unknown shape"), entry, place)
            fault = f"the entry {label} has an unknown shape ({type(error).__name__}: {error}){OTHER_VERSION}"
            yield Problem(origin=str(database), message=fault)
    for name, fault in gone(form, seen, place + 1):
        yield _field_problem(WrongField(name, fault), database)


def _read_entry(form: Format, entry: Entry) -> Iterator["Offer | WrongField"]:
    """Yield the offers of an entry with its longest context and release. An unreadable fact is reported, and the prices are kept."""
    if isinstance(entry.record, WrongField):
        raise entry.record
    if not isinstance(entry.record, dict):
        raise WrongField("(entry)", f"is {type(entry.record).__name__}, not a record")
    facts: dict[str, Any] = {}
    for item in form.read(entry.record):
        for column, path in form.facts.items() if isinstance(item, Offer) and item.bands and not facts else ():
            facts[column] = None
            try:
                facts[column] = _fact(entry.record, column, path)
            except WrongField as error:
                yield error
        yield replace(item, **facts) if isinstance(item, Offer) else item


def _fact(record: Mapping[str, Any], column: str, path: str) -> object:
    """Return the longest context or the release of an entry, or None. Some databases give a release as a month."""
    *outer, name = path.split(".")
    for one in outer:
        record = part(record, one, dict) or {}
    value = record.get(name)
    found, what = (token_count(value), "a number of tokens") if column == "max_context" else (whole_day(value), "a day")
    unsaid = value in (None, "", 0) or (column == "release_date" and isinstance(value, str) and _MONTH.fullmatch(value))
    if found is None and not unsaid:
        raise WrongField(name, f"is {shorten(str(value))}, not {what}")
    return found


def _named(item: Offer, entry: Entry, place: int) -> Offer:
    """Return an offer under the name of its model, with the service tier if the name contains it."""
    model, tier = split_route(entry.model)
    if not tier or item.service_tier != "standard":
        model, tier = entry.model, item.service_tier
    return replace(item, provider=entry.provider, model=model, service_tier=tier, source_url=entry.source_url, entry=place)


def _field_problem(error: WrongField, database: Database, label: str = "") -> Problem:
    version = "" if isinstance(error, WrongPrice) else OTHER_VERSION
    return Problem(origin=str(database), column=error.field, message=f"{error}{f', of {label}' if label else ''}{version}")


A_DAY = 24 * 60
"""Minutes."""
Minutes: TypeAlias = frozenset[int]
"""Minutes of a day in UTC, from 0."""
WHOLE_DAY: Minutes = frozenset(range(A_DAY))


def minutes_between(start: int, end: int) -> Minutes:
    """Return the minutes from one to another, which is on the next day if it is not later."""
    return frozenset(minute % A_DAY for minute in range(start, end if start < end else end + A_DAY))


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last number of each run of consecutive numbers.

    >>> runs({1, 2, 3, 5, 7, 8})
    [(1, 3), (5, 5), (7, 8)]
    """
    groups = groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])
    found = [[number for _, number in run] for _, run in groups]
    return [(run[0], run[-1]) for run in found]


def offers_by_hour(
    outside: Mapping[int, Rates], by_hour: Sequence[Mapping[int, Rates]], inside: Minutes, field: str, weekdays: str = ""
) -> Iterator[Offer]:
    """Yield the peak and the off-peak offer of prices outside and inside some minutes. The higher input price is the peak."""
    peak, hours = by_hour[0], inside
    if any(others != peak for others in by_hour):
        raise WrongField(field, "has more than two prices a day")
    if peak[0].get(("input", None), 0) < outside[0].get(("input", None), 0):
        if weekdays:
            raise WrongField(field, "has a lower price on some weekdays only")
        outside, peak, hours = peak, outside, WHOLE_DAY - inside
    spans = [(start, end + 1) for start, end in runs(hours)]
    written = ";".join(f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}" for start, end in spans)
    yield Offer(bands=peak, service_tier="peak", utc_hours=written, weekdays=weekdays)
    yield Offer(bands=outside, service_tier="off_peak")


_DEPTH = 6
"""The largest depth at which names are searched. The prices of variants of a model are at this depth."""
LEAST_ENTRIES = 10
"""The fewest entries from which a usual field should occur at least once."""


def fields_in(record: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield all fields of a record, and of the records in it, with their values."""
    if isinstance(record, dict):
        yield from record.items()
    if depth and isinstance(record, dict | list):
        for one in record.values() if isinstance(record, dict) else record:
            yield from fields_in(one, depth - 1)


def gone(form: Format, seen: Mapping[str, int], entries: int) -> Iterator[tuple[str, str]]:
    """Yield the fields that none of the entries has, with the fault. `seen` counts the entries that have a field.

    A field is reported if another name is similar, and a usual one also if there are enough entries to expect it.
    """
    others = sorted(name for name in seen if not form.is_known(name) and name not in (*form.usual, *form.rare))
    for name in (*form.usual, *form.rare):
        _, is_similar, alike = suggest(name, others).partition("did you mean ")
        if not seen.get(name) and (is_similar or (name in form.usual and entries >= LEAST_ENTRIES)):
            yield name, f"is in none of {entries} entries" + (f". It may now be {alike.rstrip('?')}" if is_similar else "")
