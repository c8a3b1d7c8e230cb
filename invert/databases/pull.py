"""The combination of several databases into rows of prices: which one is believed if they disagree, and which offers are duplicates."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from io import BytesIO
from typing import TypeAlias

from derive.characters import hidden
from derive.errors import WrongData, shorten, suggest
from derive.immutable import immutable
from derive.tables.problems import Problem
from invert.assumptions import USUAL, Assumptions
from invert.databases.copies import repeated
from invert.databases.found import Listing
from invert.databases.records import (
    Database,
    Item,
    NoPrice,
    NotTaken,
    Offer,
    name_in_a_cell,
    price_rows,
    provider_of,
)
from invert.sheets.append import Rival, distinct, price_file
from invert.sheets.names import common_spelling
from invert.sheets.read import read_rows
from invert.sheets.rows import Fx, PriceBook, PriceRow, SheetKey, usd_amount
from invert.sheets.rules import check, rows_by_sheet
from invert.sheets.tables import ModelRow

TAKEN, KNOWN, COPY = "taken", "priced already", "copies"
"""Results of a readable offer: its rows are new, the shipped prices or an earlier source have it, or another offer has the same prices."""


@immutable
class Fate:
    """The result of one offer. Region and service tier are blank for an entry that makes no offer."""

    database: Database
    provider: str
    model: str
    region: str = ""
    service_tier: str = ""
    became: str


_OfferId: TypeAlias = tuple[int, int, tuple[str, ...]]
"""The index of a database among those read, the index of an entry in it, and the names of provider and model in the database.

The id of a priced offer also has region and service tier.
"""


@dataclass
class Pulled:
    """The rows of the databases that the curated prices lack, and the result of every other offer. `pull` fills it in.

    `agreeing` counts prices that a more reliable source also has. `copies` counts, by provider, the offers of resellers and of second names
    that repeat the first offer. `renamed` are the sheets under names that begin like a formula, as the database writes them.
    `without_context` are the sheets of `rows` without a longest context in any database. `refused_context` are the sheets with a longest
    context below one of their own bands. `databases` are those that were read, in order. `results` has the result of each offer: TAKEN,
    KNOWN, COPY or the reason why it is left out. An offer is a model of one provider in one region and service tier, or an entry that makes
    no offer. `made` has the offer that a new sheet is made of.
    """

    rows: Sequence[PriceRow] = ()
    rivals: list[Rival] = field(default_factory=list)
    not_taken: list[NotTaken] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    copies: Counter[str] = field(default_factory=Counter)
    agreeing: Counter[str] = field(default_factory=Counter)
    sellers: set[str] = field(default_factory=set)
    renamed: dict[str, SheetKey] = field(default_factory=dict)
    refused_context: set[SheetKey] = field(default_factory=set)
    without_context: set[SheetKey] = field(default_factory=set)
    databases: list[Database] = field(default_factory=list)
    results: dict[_OfferId, str] = field(default_factory=dict)
    made: dict[SheetKey, _OfferId] = field(default_factory=dict)

    def offered(self, entry: int, *names: str) -> _OfferId:
        """Return the id of an offer in the database that is being read."""
        return len(self.databases) - 1, entry, names

    def left_out(self, one: NotTaken) -> None:
        """Record an entry, or a part of one, that makes no sheet. If another part makes a sheet, that result counts."""
        self.not_taken.append(one)
        self.results.setdefault(self.offered(one.entry, one.provider, one.model), one.because)

    def became(self, key: SheetKey, result: str) -> None:
        """Record a result for the offer that a sheet was made from."""
        if key in self.made:
            self.results[self.made.pop(key)] = result

    @property
    def fates(self) -> list[Fate]:
        """The result of every offer. If a part of an entry makes a sheet, the entry counts by that part."""
        found = []
        for (place, _, names), became in self._counted():
            provider, model, region, tier = (*names, "", "")[:4]
            database = self.databases[place]
            found.append(Fate(database=database, provider=provider, model=model, region=region, service_tier=tier, became=became))
        return found

    @property
    def offers(self) -> tuple[tuple[Database, Counter[str]], ...]:
        """How many offers of each database had each result."""
        found = [Counter[str]() for _ in self.databases]
        for (place, _, _), became in self._counted():
            found[place][became] += 1
        return tuple(zip(self.databases, found, strict=True))

    def _counted(self) -> list[tuple[_OfferId, str]]:
        priced = {(place, entry, names[:2]) for place, entry, names in self.results if names[2:]}
        return [(offer, became) for offer, became in self.results.items() if offer not in priced]


def pull(
    found: Iterable[Listing],
    book: PriceBook,
    described: Sequence[ModelRow],
    day: date,
    providers: Collection[str] = (),
    step: Callable[[str], object] = lambda _: None,
    assumptions: Assumptions = USUAL,
) -> Pulled:
    """Return the rows of these databases that the prices of `book` lack. An earlier database is believed before a later one.

    `providers` are patterns such as `open*`. `step` receives the progress as text.
    """
    names = Names(described, book.rows)
    sheets = dict(rows_by_sheet(book.rows))
    curated = set(sheets)
    work = Pulled()
    for database, items in found:
        step(f"reading {database}")
        work.databases.append(database)
        _add_offers(database, items, names, sheets, book.fx, day, providers, work, assumptions)
    for one in providers:
        if not any(fnmatchcase(name, one.lower()) for name in work.sellers):
            fault = f"{shorten(one)} has no listed price{suggest(one, work.sellers)}"
            work.problems.append(Problem(origin="--provider", message=fault))
    step("leaving out duplicates")
    own = {key: rows for key, rows in sheets.items() if key not in curated}
    everything = {key: [row for row in rows if row.valid_on(day)] for key, rows in sheets.items()}
    for key in repeated(own, everything):
        work.became(key, COPY)
        work.copies[key[0]] += 1
        del sheets[key]
    origins = {row.origin for row in book.rows}
    rows = [row for key in sorted(sheets) for row in sheets[key] if row.origin not in origins]
    step("checking")
    rows, faulty = sound(rows, book, described)
    for key, refused in faulty.items():
        work.became(key, refused.because)
    work.not_taken += faulty.values()
    work.problems += _refused_whole(work.offers, [left_out.because for left_out in faulty.values()])
    kept = {row.sheet_key for row in rows}
    without = {key for key, of_sheet in rows_by_sheet(rows).items() if not any(row.max_context for row in of_sheet)}
    work.rows = rows
    work.rivals = [*distinct(one for one in work.rivals if one.believed.sheet_key in kept | curated)]
    work.renamed = {name: key for name, key in work.renamed.items() if key in kept - curated}
    work.without_context, work.refused_context = without - work.refused_context, without & work.refused_context
    return work


class Names:
    """The names of models here: the name or an alias in prices.csv, or else the name in the database that came first."""

    def __init__(self, described: Iterable[ModelRow], rows: Iterable[PriceRow]):
        self.known: dict[tuple[str, str], str] = {}
        for row in rows:
            self.known.setdefault((row.provider, common_spelling(row.model)), row.model)
        for model in described:
            for name in (model.model, *model.aliases):
                self.known.setdefault((model.provider, common_spelling(name)), model.model)

    def of(self, row: PriceRow) -> PriceRow:
        """Return the row under the name of its model here."""
        name = self.known.setdefault((row.provider, common_spelling(row.model)), row.model)
        return row if name == row.model else replace(row, model=name)


def _add_offers(
    database: Database, items: Iterator[Item], names: Names, sheets: dict[SheetKey, list[PriceRow]], fx: Fx, day: date,
    providers: Collection[str], work: Pulled, assumptions: Assumptions,
) -> None:  # fmt: skip
    """Compare the offers of one database with the sheets read so far, and add the new ones to `sheets`."""
    mine: dict[SheetKey, dict[tuple[int, str, str], list[PriceRow]]] = {}
    odd: dict[tuple[str | None, bool], list[Problem]] = {}
    read = 0
    try:
        for item in items:
            if isinstance(item, Problem):
                odd.setdefault((item.column, isinstance(item, NoPrice)), []).append(item)
                continue
            names_of = {item.provider.lower(), provider_of(item.provider)}
            wanted = not providers or any(fnmatchcase(name, one.lower()) for one in providers for name in names_of)
            read += 1
            work.sellers |= names_of
            if not wanted:
                continue
            rows = price_rows(item, database, day) if isinstance(item, Offer) else item
            if isinstance(rows, NotTaken):
                work.left_out(rows)
            elif rows:
                named = list(map(names.of, rows))
                if isinstance(item, Offer) and item.max_context and not named[0].max_context:
                    work.refused_context.add(named[0].sheet_key)
                if name_in_a_cell(item.model) != item.model:
                    work.renamed[f"{item.provider}/{item.model}"] = named[0].sheet_key
                mine.setdefault(named[0].sheet_key, {}).setdefault((item.entry, item.provider, item.model), []).extend(named)
    except WrongData as error:
        work.problems.append(Problem(origin=str(database), message=f"{error}: newer or older than known here"))
    for (_, no_price), found in odd.items():
        more = f" (and {len(found) - 1} more)" if found[1:] else ""
        said = f"{found[0].message}{more}{'' if no_price else ': newer or older than known here'}"
        work.problems.append(Problem(origin=str(database), message=said))
    if not mine and read and not providers:
        work.problems.append(
            Problem(
                origin=str(database),
                message=f"none of its {read} entries has a price: newer or older than known here",
            )
        )
    for key, by_entry in mine.items():
        for second, (entry, rows) in enumerate(by_entry.items()):
            offer = work.offered(*entry, *key[2:])
            before, otherwise = sheets.get(key), at_other_hours(key, sheets, day)
            if before is None and not otherwise:
                sheets[key], work.results[offer] = rows, TAKEN
                work.made[key] = offer
                continue
            if before:
                added, rivals, agreeing = laid_beside(before, rows, fx, day, assumptions)
            else:
                added, rivals, agreeing = compared_at_other_hours(otherwise, rows, fx, day, assumptions)
            if added:
                sheets[key] = [*(before or ()), *added]
            work.results[offer] = KNOWN
            if second and not added and not rivals:
                work.results[offer] = COPY
                work.copies[key[0]] += 1
            work.rivals += rivals
            work.agreeing[database.name] += 0 if second else agreeing


def _refused_whole(offers: Iterable[tuple[Database, Mapping[str, int]]], refused: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for a database with every priced offer refused. Its prices are probably in another unit."""
    for database, became in offers:
        if not any(map(became.get, (TAKEN, KNOWN, COPY))) and (why := next(filter(became.get, refused), "")):
            yield Problem(origin=str(database), message=f"none of its {sum(became.values())} offers can be taken: {why}")


def at_other_hours(key: SheetKey, sheets: Mapping[SheetKey, Sequence[PriceRow]], day: date) -> list[PriceRow]:
    """Return the hourly rows of the same model for a sheet of all hours, or its rows of all hours for an hourly sheet."""
    tiers = {"standard": ("peak", "off_peak"), "peak": ("standard",), "off_peak": ("standard",)}.get(key[3], ())
    return [row for tier in tiers for row in sheets.get((*key[:3], tier), ()) if row.valid_on(day)]


def compared_at_other_hours(
    believed: Sequence[PriceRow], rows: Sequence[PriceRow], fx: Fx, day: date, assumptions: Assumptions = USUAL
) -> tuple[list[PriceRow], list[Rival], int]:
    """Compare an offer with a sheet that a more reliable source has at other hours.

    Return no new rows, the prices that differ, and the number of equal prices.
    """
    rivals, agreeing = [], 0
    for row in (row for row in rows if row.valid_on(day)):
        others = [one for one in believed if (one.component, one.threshold_tokens) == (row.component, row.threshold_tokens)]
        if any(same(one, row, fx, day, assumptions) for one in others):
            agreeing += 1
        elif others:
            rivals.append(Rival(row=row, believed=others[0]))
    return [], rivals, agreeing


def laid_beside(
    believed: Sequence[PriceRow], rows: Sequence[PriceRow], fx: Fx, day: date, assumptions: Assumptions = USUAL
) -> tuple[list[PriceRow], list[Rival], int]:
    """Return the rows that another database adds to an existing sheet, the prices that differ, and the number of equal prices.

    It adds lifetimes of cache writes, and cache reads that the sheet lacks, in the bands of the sheet. It adds no bands, because such a
    band may have been dropped since.
    """
    now = {row.place: row for row in believed if row.valid_on(day)}
    bands = {row.threshold_tokens: row for row in now.values() if row.component == "input"}
    added, rivals, agreeing = [], [], 0
    for row in (row for row in rows if row.valid_on(day)):
        other, band = now.get(row.place), bands.get(row.threshold_tokens)
        alike = [one for one in now.values() if (one.component, one.threshold_tokens) == (row.component, row.threshold_tokens)]
        if other is None and row.component == "cache_write" and row.ttl_seconds is None and alike:
            # Another source gives the lifetime.
            other = next((one for one in alike if same(one, row, fx, day, assumptions)), None)
        if other is not None:
            agreeing += same(other, row, fx, day, assumptions)
            if not same(other, row, fx, day, assumptions):
                rivals.append(Rival(row=row, believed=other))
        elif band is None:
            if (
                row.component in ("input", "output")
                and (base := now.get((row.component, 0, None)))
                and not same(base, row, fx, day, assumptions)
            ):
                rivals.append(Rival(row=row, believed=base))
        elif row.component == "cache_write" or (row.component == "cache_read" and not alike):
            taken_over = ("threshold_inclusive", "utc_hours", "weekdays", "max_context", "release_date")
            added.append(replace(row, **{name: getattr(band, name) for name in taken_over}))
    places = {one.place for one in (*added, *now.values())}
    complete = [row for row in added if row.threshold_tokens == 0 or (row.component, 0, row.ttl_seconds) in places]
    return complete, rivals, agreeing


def same(one: PriceRow, other: PriceRow, fx: Fx, day: date, assumptions: Assumptions = USUAL) -> bool:
    """Return whether two rows have the same price, or about the same price after a currency conversion."""
    if one.currency == other.currency:
        return abs(one.amount - other.amount) <= assumptions.same_price_within * max(one.amount, other.amount)
    low, high = sorted(usd_amount(row, fx, day) for row in (one, other))
    return high - low <= assumptions.same_converted_within * high


_OWN_ROW = re.compile(r"\bpulled:[0-9]+")
"""The name of a row while it is checked. A row that it contradicts is a row of the same sheet."""


def sound(rows: Sequence[PriceRow], book: PriceBook, described: Sequence[ModelRow]) -> tuple[list[PriceRow], dict[SheetKey, NotTaken]]:
    """Return the rows that pass the checks of a price file, beside the other rows, and each refused sheet with the first reason."""
    unseen = {row.sheet_key: "a character that does not show" for row in rows if any(map(hidden, texts(row)))}
    faulty = {key: NotTaken(provider=key[0], model=key[1], because=because) for key, because in unseen.items()}
    kept = [row for row in rows if row.sheet_key not in unseen]
    curated = {row.origin: row.sheet_key for row in book.rows}
    while kept:
        read, problems = read_rows(BytesIO(price_file(kept).encode()), "pulled", book.fx, True, book.rows, described)
        problems += check(replace(book, rows=(*book.rows, *read), problems=(), far_off=()))
        of = curated | {f"pulled:{place}": row.sheet_key for place, row in enumerate(kept, start=2)}
        bad = {of.get(f"{one.origin}:{one.row}"): one for one in reversed(problems)}
        left_out = {row.sheet_key: bad[row.sheet_key] for row in kept if row.sheet_key in bad}
        if not left_out:
            break
        faulty |= {
            key: NotTaken(provider=key[0], model=key[1], because=f"refused {one.column}: {_OWN_ROW.sub('another row of it', one.message)}")
            for key, one in left_out.items()
        }
        kept = [row for row in kept if row.sheet_key not in left_out]
    return kept, faulty


def texts(row: PriceRow) -> tuple[str, ...]:
    """Return the cells of a row that have the words of a database."""
    return row.provider, row.model, row.region, row.source_url, row.notes
