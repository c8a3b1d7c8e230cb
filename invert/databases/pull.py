"""The combination of several databases into rows of prices. It decides which source is used if they disagree, and which offers are
duplicates.

The available databases are installed packages, and JSON files that are recognised by their shape. The report counts every offer once.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from importlib import metadata
from importlib.util import find_spec
from io import BytesIO
from operator import attrgetter
from os.path import exists
from typing import TypeAlias

from derive.errors import WrongData, hidden, shorten, suggest, suggest_for_file
from derive.files import called, json_of
from derive.show.layout import csv_text
from derive.tables.lines import Problem
from invert.assumptions import USUAL, Assumptions
from invert.databases import genai, litellm, models_dev, openrouter
from invert.databases.records import OTHER_VERSION, Database, Item, Offer, items_of, name_in_a_cell, price_rows, provider_of
from invert.report.layout import several
from invert.sheets.append import Rival, Update, distinct, price_file
from invert.sheets.models import MAKERS, asks_no_more, bare_name, common_spelling
from invert.sheets.read import read_rows
from invert.sheets.rows import Fx, ModelRow, PriceBook, PriceRow, SheetKey, grouped, usd_amount
from invert.sheets.rules import check, is_traded, rows_by_sheet

Listing: TypeAlias = tuple[Database, Iterator[Item]]
_FILES = (openrouter.FORMAT, models_dev.FORMAT, litellm.FORMAT)
"""Formats of JSON files. They are recognised by their shape, not by the name of the file."""
_PACKAGES = {form.name: form for form in (genai.FORMAT, litellm.FORMAT)}
"""Formats of installed packages, by the name of the package."""


def listings(names: Sequence[str]) -> tuple[list[Listing], list[Problem]]:
    """Return the named databases (packages or files), or all installed packages if none is named, and a problem for each failure."""
    found: list[Listing] = []
    problems: list[Problem] = []
    for name in names or _PACKAGES:
        try:
            if listing := listing_of(name):
                found.append(listing)
            elif names:
                problems.append(Problem(origin=name, message=f"is not installed: {_how_to_get(name)}"))
        except WrongData as error:
            origin, _, fault = str(error).partition(": ")
            problems.append(Problem(origin=origin, message=fault))
    return found, problems


def _how_to_get(package: str) -> str:
    return f"pip install {'backsolve[prices]' if package == genai.FORMAT.name else package}"


def not_installed() -> list[str]:
    """Return a note for each package that is not installed, with the command that installs it."""
    return [f"{name}: is not installed, so not read: {_how_to_get(name)}" for name in _PACKAGES if not _is_installed(name)]


def _is_installed(package: str) -> bool:
    return find_spec(package.replace("-", "_")) is not None


def listing_of(name: str) -> Listing | None:
    """Return a database by the name of its package or of a JSON file (- is standard input), or None for a package that is not installed."""
    if package := _PACKAGES.get(name):
        if not _is_installed(name):
            return None
        version = ""
        # Without its metadata, the package has no version.
        with suppress(metadata.PackageNotFoundError):
            version = metadata.version(name)
        database = Database(name=name, version=version)
        return database, items_of(package, package.installed(database), database)
    try:
        content = json_of(name)
    except WrongData as error:
        if any(name == form.name for form in _FILES):
            raise WrongData(f"{name}: is not a package. Save the JSON that it serves, and give that file") from None
        raise WrongData(f"{error}{'' if name == '-' or exists(name) else suggest_for_file(name, _PACKAGES)}") from None
    # A JSON file is recognised by its shape.
    form = next((form for form in _FILES if form.is_shape(content)), None)
    if form is None:
        known = ", ".join(form.name for form in _FILES)
        raise WrongData(f"{called(name)}: is not a known database ({known}), or has a newer format")
    database = Database(name=form.name)
    return database, items_of(form, content, database)


TAKEN, KNOWN, COPY = "taken", "priced already", "copies"
"""Results of a readable offer: its rows are new, the shipped prices or an earlier source have it, or another offer has the same prices."""


@dataclass
class Pulled:
    """The rows of the databases that the curated prices lack, and the result of every offer. `pull` fills it in.

    `agreeing` counts prices that a more reliable source also has. `renamed` are the sheets under names that begin like a formula, as the
    database writes them. `listings` are the databases that were read, with their offers. The prices of one model over time are one offer.
    """

    rows: Sequence[PriceRow] = ()
    rivals: list[Rival] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    agreeing: Counter[str] = field(default_factory=Counter)
    renamed: dict[str, SheetKey] = field(default_factory=dict)
    listings: list[tuple[Database, list[Offer]]] = field(default_factory=list)

    @property
    def results(self) -> tuple[tuple[Database, Counter[str]], ...]:
        """How many offers of each database had each result."""
        return tuple((database, Counter(one.became for one in offers)) for database, offers in self.listings)

    @property
    def copies(self) -> Counter[str]:
        """The number of offers of each provider that repeat another offer, by a reseller or under a second name."""
        return Counter(provider_of(one.provider) for _, offers in self.listings for one in offers if one.became == COPY)


def pull(
    found: Iterable[Listing],
    book: PriceBook,
    described: Sequence[ModelRow],
    day: date,
    providers: Collection[str] = (),
    step: Callable[[str], object] = lambda _: None,
    assumptions: Assumptions = USUAL,
) -> Pulled:
    """Return the rows of these databases that the prices of `book` lack. If databases disagree, the earlier one is used.

    `providers` are patterns such as `open*`. `step` receives the progress as text.
    """
    names, sellers = _names_here(book.rows, described), set[str]()
    sheets, made = dict(rows_by_sheet(book.rows)), dict[SheetKey, Offer]()
    curated = set(sheets)
    work = Pulled()
    for database, items in found:
        step(f"reading {database}")
        offers, listed = _read_offers(database, items, names, day, providers, work)
        sellers |= listed
        for key, of_sheet in offers.items():
            for second, (offer, rows) in enumerate(of_sheet):
                believed = sheets.get(key) or rows_at_other_hours(key, sheets, day)
                if not believed:
                    made[key], sheets[key], offer.became = offer, rows, TAKEN
                    continue
                added, rivals, agreeing = laid_beside(believed, rows, book.fx, day, key not in sheets, assumptions)
                offer.became = COPY if second and not added and not rivals else KNOWN
                if added:
                    sheets[key] = [*sheets[key], *added]
                work.rivals += rivals
                work.agreeing[database.name] += 0 if second else agreeing
    for one in providers:
        if not any(fnmatchcase(name, one.lower()) for name in sellers):
            fault = f"{shorten(one)} has no listed price{suggest(one, sorted(sellers))}"
            work.problems.append(Problem(origin="--provider", message=fault))
    step("leaving out duplicates")
    own = {key: rows for key, rows in sheets.items() if key not in curated}
    for key in repeated(own, {key: [row for row in rows if row.valid_on(day)] for key, rows in sheets.items()}):
        made[key].became = COPY
        del sheets[key]
    step("checking")
    origins = {row.origin for row in book.rows}
    work.rows, faulty = sound([row for key in sorted(sheets) for row in sheets[key] if row.origin not in origins], book, described)
    for key, because in faulty.items():
        if key in made:
            made[key].became = because
    work.problems += _refused_whole(work.results, faulty.values())
    written = {row.sheet_key for row in work.rows}
    work.rivals = [*distinct(one for one in work.rivals if one.believed.sheet_key in written | curated)]
    work.renamed = {name: key for name, key in work.renamed.items() if key in written - curated}
    return work


def _names_here(rows: Iterable[PriceRow], described: Iterable[ModelRow]) -> dict[tuple[str, str], str]:
    """Return the names of models here, by provider and common spelling: the name or an alias in prices.csv."""
    said = [(row.provider, row.model, row.model) for row in rows]
    said += [(model.provider, name, model.model) for model in described for name in (model.model, *model.aliases)]
    return {(provider, common_spelling(name)): model for provider, name, model in reversed(said)}


def _read_offers(
    database: Database, items: Iterable[Item], names: dict[tuple[str, str], str], day: date, providers: Collection[str], work: Pulled
) -> tuple[dict[SheetKey, list[tuple[Offer, list[PriceRow]]]], set[str]]:
    """Return the offers of these providers in one database with their rows, by sheet, and the names of all sellers that it lists.

    The database and all its offers go to the listings of `work`. If a part of an entry makes a sheet, the entry counts by that part. An
    unreadable field is reported once. A model without a name here gets the name that came first.
    """
    offers: dict[tuple[SheetKey, int, str], tuple[Offer, list[PriceRow]]] = {}
    left: dict[tuple[int, str], Offer] = {}
    faults: dict[str | None, list[str]] = {}
    sellers, read = set[str](), 0
    try:
        for item in items:
            if isinstance(item, Problem):
                faults.setdefault(item.column, []).append(item.message)
                continue
            read += 1
            names_of = {item.provider.lower(), provider_of(item.provider)}
            sellers |= names_of
            if providers and not any(fnmatchcase(name, one.lower()) for one in providers for name in names_of):
                continue
            rows = price_rows(item, database, day)
            if isinstance(rows, str):
                left.setdefault((item.entry, item.model), replace(item, became=rows))
                continue
            model = names.setdefault((rows[0].provider, common_spelling(rows[0].model)), rows[0].model)
            rows = [row if row.model == model else replace(row, model=model) for row in rows]
            key = rows[0].sheet_key
            if name_in_a_cell(item.model) != item.model:
                work.renamed[f"{item.provider}/{item.model}"] = key
            offers.setdefault((key, item.entry, item.model), (replace(item), []))[1].extend(rows)
    except WrongData as error:
        faults[str(error)] = [f"{error}{OTHER_VERSION}"]
    messages = [f"{first}{f' (and {len(others)} more)' if others else ''}" for first, *others in faults.values()]
    if not offers and read and not providers:
        messages.append(f"none of its {read} entries has a price{OTHER_VERSION}")
    work.problems += [Problem(origin=str(database), message=message) for message in messages]
    priced = {(entry, model) for _, entry, model in offers}
    kept = [offer for offer, _ in offers.values()]
    work.listings.append((database, [*(one for name, one in left.items() if name not in priced), *kept]))
    return grouped((key, one) for (key, *_), one in offers.items()), sellers


def _refused_whole(offers: Iterable[tuple[Database, Mapping[str, int]]], refused: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for a database with every priced offer refused. Its prices are probably in another unit."""
    for database, became in offers:
        if not any(map(became.get, (TAKEN, KNOWN, COPY))) and (why := next(filter(became.get, refused), "")):
            yield Problem(origin=str(database), message=f"none of its {sum(became.values())} offers can be used: {why}")


def rows_at_other_hours(key: SheetKey, sheets: Mapping[SheetKey, Sequence[PriceRow]], day: date) -> list[PriceRow]:
    """Return the hourly rows of the same model for a sheet of all hours, or its rows of all hours for an hourly sheet."""
    tiers = {"standard": ("peak", "off_peak"), "peak": ("standard",), "off_peak": ("standard",)}.get(key[3], ())
    return [row for tier in tiers for row in sheets.get((*key[:3], tier), ()) if row.valid_on(day)]


def laid_beside(
    believed: Sequence[PriceRow], rows: Sequence[PriceRow], fx: Fx, day: date, other_hours: bool, assumptions: Assumptions
) -> tuple[list[PriceRow], list[Rival], int]:
    """Return the rows that an offer adds to a sheet of a more reliable source, the prices that differ, and the number of equal prices.

    It adds lifetimes of cache writes, and cache reads that the sheet lacks, in the bands of the sheet. It adds no bands, because the vendor
    may have dropped a band since then. It adds nothing to a sheet of the same model at `other_hours`.
    """
    current = [row for row in believed if row.valid_on(day)]
    now = {row.place: row for row in current}
    bands = {row.threshold_tokens: row for row in current if row.component == "input"}
    added, rivals, agreeing = [], [], 0
    for row in (row for row in rows if row.valid_on(day)):
        alike = [one for one in current if (one.component, one.threshold_tokens) == (row.component, row.threshold_tokens)]
        equal = [one for one in alike if same(one, row, fx, day, assumptions)]
        other, band = now.get(row.place), bands.get(row.threshold_tokens)
        if other_hours:
            other = next(iter((*equal, *alike)), None)
        elif other is None and row.component == "cache_write" and row.ttl_seconds is None and equal:
            # Another source gives the lifetime.
            other = equal[0]
        elif other is None and band is None and is_traded(row):
            base = now.get((row.component, 0, None))
            rivals += [Rival(row=row, believed=base)] if base and not same(base, row, fx, day, assumptions) else []
        if other:
            agreeing += other in equal
            rivals += [] if other in equal else [Rival(row=row, believed=other)]
        elif band and not other_hours and (row.component == "cache_write" or (row.component == "cache_read" and not alike)):
            taken_over = ("threshold_inclusive", "utc_hours", "weekdays", "max_context", "release_date")
            added.append(replace(row, **{name: getattr(band, name) for name in taken_over}))
    places = {one.place for one in (*added, *current)}
    complete = [row for row in added if row.threshold_tokens == 0 or (row.component, 0, row.ttl_seconds) in places]
    return complete, rivals, agreeing


def same(one: PriceRow, other: PriceRow, fx: Fx, day: date, assumptions: Assumptions) -> bool:
    """Return whether two rows have the same price, or about the same price after a currency conversion."""
    if one.currency == other.currency:
        return abs(one.amount - other.amount) <= assumptions.same_price_within * max(one.amount, other.amount)
    low, high = sorted(usd_amount(row, fx, day) for row in (one, other))
    return high - low <= assumptions.same_converted_within * high


def repeated(own: Mapping[SheetKey, Sequence[PriceRow]], current: Mapping[SheetKey, Sequence[PriceRow]]) -> list[SheetKey]:
    """Return sheets that repeat another one: the sheet of the maker, of the first name of the model, or of the fast tier."""
    asked = {
        key: {(row.component, row.threshold_tokens, row.threshold_inclusive, row.ttl_seconds): row.amount for row in rows}
        for key, rows in current.items()
        if rows
    }
    bands = {key: {row.threshold_tokens for row in rows if row.component == "input"} for key, rows in current.items()}
    by_model = grouped(((bare_name(key[1]), key[3]), key) for key in asked)
    found: list[SheetKey] = []
    for key in own:
        if key not in asked:
            continue
        provider, model, region, tier = key
        host = provider.removeprefix("huggingface_")
        kin = [one for one in by_model[bare_name(model), tier] if one != key]
        models_of = [one for one in kin if (one[0] in MAKERS and provider not in MAKERS) or (host != provider and one[0] == host)]
        # Of two names of one model, the shorter one has no date or place.
        names_of = [one for one in kin if one[0] == provider and one[2] == region and (len(one[1]), one[1]) < (len(model), model)]
        renamed = [(provider, model, region, "fast")] if tier == "priority" else []
        if any(
            one in asked and asks_no_more(asked[key], asked[one]) and bands[key] == bands[one] for one in (*models_of, *names_of, *renamed)
        ):
            found.append(key)
    return found


_OWN_ROW = re.compile(r"\bpulled:[0-9]+")
"""The name of a row while it is checked against the rows of the same sheet."""


def sound(rows: Sequence[PriceRow], book: PriceBook, described: Sequence[ModelRow]) -> tuple[list[PriceRow], dict[SheetKey, str]]:
    """Return the rows that pass the checks of a price file together with the other rows, and each refused sheet with its first fault."""
    words_of = attrgetter("provider", "model", "region", "source_url", "notes")
    faulty = {row.sheet_key: "an invisible character" for row in rows if any(map(hidden, words_of(row)))}
    kept = [row for row in rows if row.sheet_key not in faulty]
    curated = {row.origin: row.sheet_key for row in book.rows}
    while kept:
        read, problems = read_rows(BytesIO(price_file(kept).encode()), "pulled", book.fx, True, book.rows, described)
        problems += check(replace(book, rows=(*book.rows, *read)))
        of = curated | {f"pulled:{place}": row.sheet_key for place, row in enumerate(kept, start=2)}
        bad = {of.get(f"{one.origin}:{one.row}"): one for one in reversed(problems)}
        left_out = {row.sheet_key: bad[row.sheet_key] for row in kept if row.sheet_key in bad}
        if not left_out:
            break
        faulty |= {key: f"refused {one.column}: {_OWN_ROW.sub('another row of it', one.message)}" for key, one in left_out.items()}
        kept = [row for row in kept if row.sheet_key not in left_out]
    return kept, faulty


_RIVALS_SHOWN = 10


def left_out_csv(pulled: Pulled) -> str:
    """Return a CSV of the offers without a row, with the reason: priced already, a copy, or not readable."""
    columns = ("database", "provider", "model", "region", "service_tier", "because")
    left = [(database, one) for database, offers in pulled.listings for one in offers if one.became != TAKEN]
    return csv_text(columns, ({**vars(one), "database": database, "because": one.became} for database, one in left)) + "\n"


_BECAME = {"added": "added", "changed": "changed", "ended": "ended", "kept": "unchanged"}


def _reasons_text(became: Mapping[str, int]) -> str:
    """Return the most common reasons why offers are left out: ` (216 no price of output tokens; 3 refused amount, as ...)`."""
    counts: Counter[str] = Counter()
    for why, count in became.items():
        counts[why.partition(":")[0]] += count
    # A refused field is a reason only with its first example.
    first = {why.partition(":")[0]: why.partition(": ")[2] for why in reversed([*became])}
    told = [f"{count} {why}{f', as {first[why]}' if first[why] else ''}" for why, count in counts.most_common()]
    return f" ({several(told, 4, '; ')})" if told else ""


def pull_lines(pulled: Pulled, rivals: Sequence[Rival], into: str | None, update: Update) -> Iterator[str]:
    """Yield the results for the offers of the databases. Every offer is counted once. `update` is the change of the file `into`."""
    by_source = Counter(one.row.notes.partition(" ")[0] for one in rivals)
    for database, became in pulled.results:
        left_out = {why: count for why, count in became.items() if why not in (TAKEN, KNOWN, COPY)}
        fates = {**{fate: became.get(fate, 0) for fate in (TAKEN, KNOWN, COPY)}, "left out": sum(left_out.values())}
        parts = " + ".join(f"{fate} {count}" for fate, count in fates.items())
        yield f"{database.name}: offers {sum(became.values())} = {parts}{_reasons_text(left_out)}"
    for name in dict.fromkeys(database.name for database, _ in pulled.results):
        counts = {word: update.counts.get((name, what), 0) for what, word in (*_BECAME.items(), ("other_day", "of other days"))}
        prices = ", ".join(f"{count} {word}" for word, count in counts.items() if count or word != "of other days")
        yield f"{name}: prices: {prices}; {by_source[name]} disagreeing, {pulled.agreeing.get(name, 0)} agreeing with a firmer source"
    counted: dict[str, tuple[int, list[str]]] = {
        "copies: {} of resellers or with a second name, with the same prices as another sheet of the model": (
            pulled.copies.total(), [f"{name} {count}" for name, count in pulled.copies.most_common()],
        ),
        "names: {} that a spreadsheet would read as a formula, written without the first character": (
            len(pulled.renamed), [*map(shorten, pulled.renamed)],
        ),
        "not found again: {} sheets of an earlier pull, with unchanged prices": (
            len(update.not_met), ["/".join(key[:2]) for key in update.not_met],
        ),
    }  # fmt: skip
    for text, (count, names) in counted.items():
        if count:
            yield f"{text.format(count)} ({several(names)})"
    rest = " (all are in the file of rivals in the same folder)" if into else " (--into lists them all in a file)"
    changes = [f"{'/'.join(change.sheet_key[:2])}: {change}" for change in update.redescribed]
    for head, found, more in (("changed", changes, ""), ("disagreeing", [*map(str, rivals)], rest)):
        for one in found[:_RIVALS_SHOWN]:
            yield f"{head}: {one}"
        if found[_RIVALS_SHOWN:]:
            yield f"{head}: {len(found) - _RIVALS_SHOWN} more{more}"
    if into is not None and not update.held and not update.opened:
        yield f"{into}: no rows to write"
    elif into is not None:
        counts = {what: update.count(what) for what in ("added", "changed", "ended")}
        counts["unchanged"] = update.held - counts["changed"] - counts["ended"]
        rows = update.held + counts["added"] + counts["changed"]
        yield f"{into}: {rows} rows: " + ", ".join(f"{count} {word}" for word, count in counts.items())
