"""The sheets that are valid on a day, the sheets with a name, and their prices by place."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase
from operator import itemgetter

from derive.errors import NotCovered, UnknownName, WrongValue, hidden, is_hidden, is_same, mistaken, shorten, skeleton, trimmed, unseen
from derive.tables.lines import BadRow, Problem
from invert.data import Data, cache_with_data
from invert.sheets.read import book_of
from invert.sheets.rows import Fx, ModelRow, PriceBook, PriceRow, SheetKey, description_of, grouped, is_typed_sheet, usd_amount
from invert.sheets.rules import broken, descriptions_at_odds, is_traded, rows_by_sheet, strays
from invert.sheets.sheet import LIST_TIERS, TOKEN_SECONDS, Price, PriceSheet

_ALL = "all"
_MOST_NAMED = 3
"""Maximum number of models that a note names."""
_RELEASED_LATER = "{sheets} left out: released after {day} ({models})"
_SEEN_LATER = "{sheets} left out: first seen after {day}, and without a known release ({models}). Name a model to show it"
_NAMED = "{sheets} shown: first seen after {day}, and without a known release ({models})"
_FIELDS = tuple(field.name for field in fields(PriceRow))
_WORD = re.compile("[^-/. ]{3,}")
"""A word of a name: gemini and pro of gemini-3.1-pro."""
_RELEASE = re.compile("(preview|latest|exp|v?[0-9][-0-9.]*)(-[0-9][-0-9]*)?")
"""The end of a name that tells only which release of a model it is."""
_Name = tuple[str, str]


def sheets(book: PriceBook, as_of: date | None = None, tier: str = "", everything: bool = False) -> list[PriceSheet]:
    """Return the sheets valid on a day, by default the newest retrieval day in the book. Raise BadRow with every fault of their rows.

    Without a tier, there is one sheet of each (provider, model, region): `standard`, else `off_peak`. `tier="all"`, like `everything`,
    gives every tier with the batch sheets. Raise UnknownName for a tier that no sheet has on any day.
    """
    day = as_of or book.newest_retrieved
    tiers = {row.service_tier for row in book.rows}
    if tier not in ("", _ALL, *tiers):
        raise UnknownName("service tier", tier, sorted({_ALL, *tiers}))
    offers: dict[tuple[str, str, str], dict[str, tuple[PriceSheet | None, list[Problem]]]] = {}
    for (provider, model, region, name), rows in rows_by_sheet(book.rows).items():
        sheet, faults = assembled(rows, day, book.fx)
        if sheet and day >= book.newest_retrieved:
            # Closed rows describe the model at their time.
            faults = [*descriptions_at_odds(sheet.rows)]
        if sheet or faults:
            offers.setdefault((provider, model, region), {})[name] = sheet, faults
    chosen = [(key, *offered[name]) for key, offered in offers.items() for name in wanted(list(offered), _ALL if everything else tier)]
    if wrong := [(key[:2], fault) for key, _, faults in chosen for fault in faults]:
        (pair, first), sold = wrong[0], [*dict.fromkeys((row.provider, row.model) for row in book.rows if row.ships)]
        near = [] if pair in sold else candidates("/".join(pair), sold, {})
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        raise BadRow(replace(first, message=f"{first.message}{meant}"), *(fault for _, fault in wrong[1:]))
    return with_list_prices([sheet for _, sheet, _ in chosen if sheet], book, day)


def base_inputs(book: PriceBook, day: date) -> dict[SheetKey, float]:
    """Return the input price [USD/token] below any threshold of each sheet on a day, in every service tier."""
    base = (row for row in book.rows if row.component == "input" and not row.threshold_tokens and row.valid_on(day))
    return {row.sheet_key: usd_amount(row, book.fx, day) / TOKEN_SECONDS[row.per] for row in base}


def with_list_prices(found: list[PriceSheet], book: PriceBook, day: date) -> list[PriceSheet]:
    """Return the sheets of a day, those of other service tiers with the list price of their model."""
    if all(sheet.service_tier in LIST_TIERS for sheet in found):
        return found
    listed = {key[:3]: price for tier in reversed(LIST_TIERS) for key, price in base_inputs(book, day).items() if key[3] == tier}
    return [sheet if sheet.service_tier in LIST_TIERS else replace(sheet, list_input=listed.get(sheet.key[:3])) for sheet in found]


def prices_to_come(rows: Iterable[PriceRow], book: PriceBook, day: date) -> dict[_Name, str]:
    """Return a note for each (provider, model) of these rows with a price that begins after a day."""
    begun, found = {(row.provider, row.model) for row in book.rows if row.valid_on(day)}, dict[_Name, str]()
    ended = {(row.provider, row.model): row.end for row in sorted(book.rows, key=lambda row: row.end) if row.end <= day}
    for row in sorted((row for row in rows if row.start > day), key=lambda row: row.start):
        pair = row.provider, row.model
        gap = f"its prices ended on {ended[pair]}, and others" if pair in ended else "its prices"
        which = "some of its prices" if pair in begun else gap
        found.setdefault(pair, f"{'/'.join(pair)}: {which} begin on {row.start}, after {day}; --as-of {row.start}")
    return found


def join_notes(said: Sequence[str]) -> str:
    """Shorten notes on prices of several models to the first one and a count."""
    return said[0] + (f" (and {len(said) - 1} more model{'s' if len(said) > 2 else ''} with prices that begin later)" if said[1:] else "")


def absence(book: PriceBook, day: date, name: str, pairs: Collection[_Name]) -> ValueError:
    """Return the reason why the models of a name have no sheet on a day: their prices begin later, have ended, or are in another service
    tier.
    """
    later = prices_to_come(book.rows, book, day)
    sold = {(row.provider, row.model) for row in book.rows if row.valid_on(day)}
    if said := [later[pair] for pair in pairs if pair in later and pair not in sold]:
        return WrongValue(join_notes(said))
    # The option that shows the sheets of these models on a day or before it.
    traded = (row for row in book.rows if is_traded(row) and row.valid_on(day) and (row.provider, row.model) in pairs)
    tiers = sorted({row.service_tier for row in traded})
    ends = [row.end for row in book.rows if (row.provider, row.model) in pairs and date.min < row.end <= day]
    hint = f"--all shows {' and '.join(tiers)}" if tiers[1:] else "".join(f"--tier {tier} has one" for tier in tiers)
    if ends and not tiers:
        hint = f"its prices end on {max(ends)}; --as-of {max(ends) - timedelta(days=1)}"
    return UnknownModel(name, "has no sheet in this service tier on this day", [], hint)


def _pairs_of(book: PriceBook) -> list[_Name]:
    """Return each provider and model with a price on any day."""
    return list(dict.fromkeys((row.provider, row.model) for row in book.rows))


def released_later(offered: Iterable[PriceSheet], known: Iterable[ModelRow]) -> dict[_Name, date]:
    """Return the day of release of each model with a sheet of an earlier day. It was not on sale on that earlier day."""
    released = {(row.provider, row.model): row.release_date for row in known}
    days = ((sheet, sheet.release_date or released.get((sheet.provider, sheet.model))) for sheet in offered)
    return {(sheet.provider, sheet.model): day for sheet, day in days if day and day > sheet.as_of}


def released_sheets(
    offered: Iterable[PriceSheet], known: Iterable[ModelRow], first: Mapping[_Name, date] | None = None, named: bool = False
) -> tuple[list[PriceSheet], list[str]]:
    """Return the sheets of models that were released by their day, and notes that count the others and name some.

    With `first`, the earliest day of each model in any table, a model of unknown release counts as released from that day on. If it was
    `named`, its sheet is shown, with a note.
    """
    offered, known, first = list(offered), list(known), first or {}
    later, released = released_later(offered, known), {(row.provider, row.model) for row in known if row.release_date}
    undated = {(sheet.provider, sheet.model): sheet.as_of for sheet in offered if not sheet.release_date}
    unsaid = {pair: first[pair] for pair, day in undated.items() if pair not in released and first.get(pair, day) > day}
    notes = [*_late_note(_RELEASED_LATER, offered, later), *_late_note(_NAMED if named else _SEEN_LATER, offered, unsaid)]
    gone = later if named else {**later, **unsaid}
    return [sheet for sheet in offered if (sheet.provider, sheet.model) not in gone], notes


def _late_note(text: str, offered: Iterable[PriceSheet], days: Mapping[_Name, date]) -> list[str]:
    """Return a note that counts the sheets of these models and names some of the models with their days."""
    late = [sheet for sheet in offered if (sheet.provider, sheet.model) in days]
    names = list(dict.fromkeys(f"{sheet.model} {days[sheet.provider, sheet.model]}" for sheet in late))
    listed = ", ".join([*names[:_MOST_NAMED], *(["..."] if names[_MOST_NAMED:] else [])])
    counted = "1 sheet" if len(late) == 1 else f"{len(late)} sheets"
    return [text.format(sheets=counted, day=late[0].as_of, models=listed)] if late else []


@cache_with_data
def sheets_that_ship(data: Data, day: date | None = None) -> tuple[PriceSheet, ...]:
    """Return the sheets of the shipped prices on a day, by default the newest, of released models. Records are computed on these sheets."""
    return tuple(released_sheets(sheets(book_of(data), day), models(data))[0])


def wanted(offered: Sequence[str], tier: str) -> list[str]:
    """Return the chosen tiers among those on offer."""
    if tier == _ALL:
        return list(offered)
    return [name for name in ([tier] if tier else LIST_TIERS) if name in offered][:1]


def assembled(rows: list[PriceRow], day: date, fx: Fx) -> tuple[PriceSheet | None, list[Problem]]:
    """Return the sheet from the rows of one sheet key on a day, and its faults. Return None and no fault if no row holds on that day."""
    valid = [row for row in rows if row.valid_on(day)]
    faults = broken(valid, any(map(is_traded, rows)), day) or strays(valid)
    if faults or not any(map(is_traded, valid)):
        return None, faults
    first = rows[0]
    sheet = PriceSheet(
        provider=first.provider,
        model=first.model,
        region=first.region,
        service_tier=first.service_tier,
        as_of=day,
        rows=tuple(price(row, day, fx) for row in valid),
        **description_of(valid),
        start_known=all(row.start > date.min or row.retrieved_date is None or row.retrieved_date <= day for row in valid),
    )
    return sheet, []


def price(row: PriceRow, day: date, fx: Fx) -> Price:
    """Return a row as a price of a day, at the exchange rate of the day."""
    return Price(**{name: getattr(row, name) for name in _FIELDS}, usd_per_token=usd_amount(row, fx, day) / TOKEN_SECONDS[row.per])


def models(data: Data) -> list[ModelRow]:
    """Return the rows of models.csv."""
    return list(data.tables.rows_of(ModelRow))


def is_provider(name: str, wanted: str) -> bool:
    """Return whether a provider matches a name in any case, or a pattern like those for file names."""
    return is_same(name, wanted) or fnmatchcase(name.lower(), trimmed(wanted).lower())


TAKES_ONE = "; provider/model takes one"
"""The end of a note that tells a user with several sheets of one name how to choose one."""


def find(
    names: Iterable[str], offered: Sequence[PriceSheet], known: Sequence[ModelRow], book: PriceBook, day: date, several: bool = False
) -> tuple[list[PriceSheet], list[str]]:
    """Return the sheets that these names mean, in the order of the names, and a note for each choice among providers.

    A name is provider/model, a model id, an alias, or the beginning of an id up to a "-", tried in this order, or a pattern like those for
    file names. Among several providers, the only first-party one is chosen, or else all of them. Raise UnknownName for any other name, with
    up to five candidates, and the reason of `absence` for a model without a sheet on the day. With `several`, a name that begins several
    ids means all these models. Otherwise it is refused.
    """
    aliases = {(row.provider, row.model): row.aliases for row in known}
    first_party = {(row.provider, row.model) for row in known if row.first_party}
    priced = list(dict.fromkeys((sheet.provider, sheet.model) for sheet in offered))
    every = list(dict.fromkeys((*priced, *aliases, *_pairs_of(book))))
    chosen: dict[_Name, None] = {}
    notes = []
    for name in names:
        # The name of a model without a price is not the beginning of another's.
        named = matches(name, every, aliases)
        meant = [pair for pair in named if pair in priced]
        own = [pair for pair in meant if pair in first_party]
        if len(meant) > 1 and len(own) == 1 and not is_pattern(name):
            others = ", ".join(pair[0] for pair in meant if pair not in own)
            notes.append(f"{name}: taken from {'/'.join(own[0])}, the first party; also sold by {others}")
            meant = own
        if len(meant) > 1 and len({model.lower() for _, model in meant}) == 1:
            notes.append(f"{name}: sold by {' and '.join(provider for provider, _ in meant)}{TAKES_ONE}")
        elif len(meant) > 1 and not is_pattern(name) and not several:
            raise UnknownModel(name, "means more than one model", [f"{provider}/{model}" for provider, model in meant[:5]])
        if named and not meant:
            raise absence(book, day, name, named)
        if not meant:
            if any(name.strip().lower() == provider.lower() for provider, _ in priced):
                raise UnknownModel(name, "is a provider", [f"--provider {name.strip().lower()}"])
            if like := [] if hidden(name) else drawn_like(name, every, aliases):
                raise UnknownModel(name, f"is not a model here: {mistaken(name, like[0][1])}", ["/".join(pair) for pair, _ in like[:5]])
            priced_by_it = name.endswith(".csv") or is_typed_sheet(name)
            what = "is not a model: give prices with --prices" if priced_by_it else "is not a model here"
            raise UnknownModel(name, what, candidates(name, priced, aliases) or candidates(name, every, aliases))
        if len(meant) == 1 and _is_beginning(name, meant[0], aliases):
            notes.append(f"{name}: taken from {'/'.join(meant[0])}, the only one here with a name that begins like this")
        chosen |= dict.fromkeys(meant)
    return [sheet for pair in chosen for sheet in offered if (sheet.provider, sheet.model) == pair], notes


def _is_beginning(name: str, pair: _Name, aliases: Mapping[_Name, tuple[str, ...]]) -> bool:
    """Return whether a typed name leaves out more of a model's name than its release: a stage, a date or a version."""
    given = trimmed(name).lower()
    begun = next((text for text in ("/".join(pair).lower(), pair[1].lower()) if text.startswith(f"{given}-")), None)
    if begun is None or given in map(str.lower, also_called(pair, aliases)):
        return False
    return not _RELEASE.fullmatch(begun.removeprefix(f"{given}-"))


def choose_sheets(
    names: tuple[str, ...], wanted: tuple[str, ...], offered: list[PriceSheet], known: Sequence[ModelRow], book: PriceBook, day: date
) -> tuple[list[PriceSheet], list[str]]:
    """Return the sheets of these names and providers (by default all), with notes on choices and on prices that begin later.

    Raise `UnknownName` for a name or provider without a sheet, and `NotReleased` if all its models were released after the day.
    """
    for one in wanted:
        if not any(is_provider(sheet.provider, one) for sheet in offered):
            if pairs := [pair for pair in _pairs_of(book) if is_provider(pair[0], one)]:
                raise absence(book, day, one, pairs)
            raise UnknownName("provider", one, sorted({sheet.provider for sheet in offered}), "backsolve prices list shows all")
    offered = [sheet for sheet in offered if not wanted or any(is_provider(sheet.provider, one) for one in wanted)]
    chosen, notes = find(names, offered, known, book, day, several=True) if names else (offered, [])
    if released_later(chosen, known):
        meant_by = {name: find([name], offered, known, book, day, several=True)[0] for name in names}
        for name, meant in (meant_by or {one: [sheet for sheet in offered if is_provider(sheet.provider, one)] for one in wanted}).items():
            later = released_later(meant, known)
            if meant and all((sheet.provider, sheet.model) in later for sheet in meant):
                pair, released = min(later.items(), key=itemgetter(1))
                others = f" (the first of {len(later)})" if len(later) > 1 else ""
                said = f"{'/'.join(pair)} was released on {released}{others}, after {meant[0].as_of}; --as-of {released}"
                raise NotReleased(f"{shorten(name)}: {said}")
    asked = {pair for pair in _pairs_of(book) if not wanted or any(is_provider(pair[0], one) for one in wanted)}
    if names:
        asked = {(sheet.provider, sheet.model) for sheet in chosen}
    to_come = [said for pair, said in prices_to_come(book.own, book, day).items() if pair in asked]
    return chosen, [*notes, *([join_notes(to_come)] if to_come else [])]


class NotReleased(NotCovered):
    """Error for a day before the release of a model. The message names the release."""


class UnknownModel(UnknownName):
    """Error for a name without a sheet, or with several sheets. The message lists all candidates."""

    def __init__(self, name: str, fault: str, candidates: Sequence[str], hint: str = ""):
        meant = f"; did you mean {' or '.join(candidates)}?" if candidates else f"; {hint or '`backsolve prices list` shows all'}"
        ValueError.__init__(self, f"{shorten(name)} {fault}{unseen(name)}{meant}")


def is_pattern(name: str) -> bool:
    """Return whether a name is a pattern like those for file names."""
    return any(mark in name for mark in "*?[")


def matches(name: str, pairs: Sequence[_Name], aliases: Mapping[_Name, tuple[str, ...]]) -> list[_Name]:
    """Return the (provider, model) pairs of a name, by the first rule that finds any."""
    given = trimmed(name).lower()
    spellings: tuple[Callable[[_Name], list[str]], ...] = (
        lambda pair: ["/".join(pair)],
        lambda pair: [pair[1]],
        lambda pair: also_called(pair, aliases),
    )
    for spelling in spellings:
        if found := [pair for pair in pairs if given in map(str.lower, spelling(pair))]:
            exact = {pair for pair in found if trimmed(name) in spelling(pair)}
            otherwise = {"/".join(pair).lower() for pair in exact}
            return [pair for pair in found if pair in exact or "/".join(pair).lower() not in otherwise]
    # After the names themselves, which may hold the marks of a pattern: m[1m].
    if is_pattern(given):
        return [pair for pair in pairs if fnmatchcase(pair[1].lower(), given) or fnmatchcase("/".join(pair).lower(), given)]
    return [pair for pair in pairs if any(text.lower().startswith(f"{given}-") for text in (pair[1], "/".join(pair)))]


def also_called(pair: _Name, aliases: Mapping[_Name, tuple[str, ...]]) -> list[str]:
    """Return the other names of a model, with and without its provider."""
    before = f"{pair[0]}/"
    return [text for alias in aliases.get(pair, ()) for text in (alias, before + alias.removeprefix(before))]


def drawn_like(name: str, pairs: Sequence[_Name], aliases: Mapping[_Name, tuple[str, ...]]) -> list[tuple[_Name, str]]:
    """Return the models with a name that looks like a given one but differs from it, each with that name. Whole names go first."""
    given = skeleton(name)
    spelled = [(pair, text) for pair in pairs for text in ("/".join(pair), pair[1], *also_called(pair, aliases))]
    whole = [(pair, text) for pair, text in spelled if skeleton(text) == given]
    begun = [(pair, text) for pair, text in spelled if skeleton(text).startswith(f"{given}-")]
    return list({pair: (pair, text) for pair, text in reversed(whole or begun)}.values())[::-1]


def candidates(name: str, priced: Sequence[_Name], aliases: Mapping[_Name, tuple[str, ...]]) -> list[str]:
    """Return up to five models that a mistyped name may mean."""
    given = "".join(mark for mark in trimmed(name).lower()[:200] if not is_hidden(mark) and mark not in "*?[]")
    containing = ["/".join(pair) for pair in priced if given and given in "/".join(pair).lower()]
    spelled = grouped((text.lower(), "/".join(pair)) for pair in priced for text in (pair[1], *aliases.get(pair, ())))
    words = grouped((word, "/".join(pair)) for pair in priced for word in (pair[0].lower(), *_WORD.findall(pair[1].lower())))
    found = containing
    for names, least in ((spelled, 0.6), (words, 0.8)):
        found = found or [one for text in get_close_matches(given, names, n=5, cutoff=least) for one in names[text]]
    return list(dict.fromkeys(found))[:5]


def rows_used(sheets: Iterable[PriceSheet], book: PriceBook) -> list[PriceRow]:
    """Return the rows of these sheets, in the order of the files. A price set by hand has no row."""
    origins = {row.origin for sheet in sheets for row in sheet.rows}
    return [row for row in book.rows if row.origin in origins]
