"""Lists and comparisons of price data: text, JSON and CSV."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import groupby
from operator import attrgetter

from derive.show.layout import csv_text, name_beside, name_column, widest_of
from invert.data import Data
from invert.encoder import Codec, Keys, Through
from invert.estimate_text import round_digits
from invert.sheets.assemble import find, released_sheets, sheets
from invert.sheets.diff import KINDS_OF_CHANGE, PLACE, Difference
from invert.sheets.models import described, first_days
from invert.sheets.rows import PRICE_COLUMNS, PriceBook, PriceRow
from invert.sheets.sheet import PriceSheet, money_unit, sheet_in_words

PUBLISHED: Keys = {name: name for name in PRICE_COLUMNS}
LISTED: Keys = {**PUBLISHED, "origin": "origin"}
"""The listed fields of a price: as published, with its grade (`verification`), dates and source, and its file and row."""
DIFFERENT: Keys = {
    "change": "kind",
    **{name: f"where.{name}" for name in PLACE},
    "old_amount": "values.0",
    "new_amount": "values.1",
    "times": Through("times", round_digits, float),
    **{name: f"where.{name}" for name in ("currency", "per")},
    **{f"{side}_{name}": f"{side}.{name}" for name in ("effective_date", "source_url", "origin") for side in ("old", "new")},
}
"""The fields of a price that differs. A fact about the model of a sheet has the name of its column in place of the component."""
PRICES = Codec({PriceRow: LISTED, Difference: DIFFERENT})
"""How prices, and prices that differ, are written for programs: numbers as published, and days as text."""


def listed_sheets(
    names: Sequence[str], data: Data, book: PriceBook, as_of: date | None, everything: bool
) -> tuple[list[PriceSheet], list[str]]:
    """Return the sheets on offer on a day, all or of some models and providers, with notes on others."""
    offered = sheets(book, as_of, everything=everything)
    known, sellers = described(offered, data), {row.provider.lower() for row in book.rows}
    wanted = [f"{name}/*" if name.lower() in sellers else name for name in names]
    found, notes = find(wanted, offered, known, book, as_of or book.newest_retrieved, several=True) if names else (offered, [])
    released, late = released_sheets(found, known, first_days(offered, book, data), named=bool(names))
    return released, [*notes, *late]


def listed_text(found: Sequence[PriceSheet], width: int) -> str:
    """Return one line for each sheet, with its base prices. A long name has a line of its own."""
    names = [f"{sheet.provider}/{sheet.model_and_region}" for sheet in found]
    rests = [f"  {sheet.service_tier:<9} {sheet.base_prices}" for sheet in found]
    room = min(name_column(names, width - widest_of(rests)), max(width - widest_of(rests), 0))
    return "\n".join(name_beside(name, rest, room, width) for name, rest in zip(names, rests, strict=True))


def csv_of(found: Iterable[object], keys: Keys) -> str:
    """Return prices, or prices that differ, as CSV. `--prices` reads the lines of prices."""
    return csv_text(tuple(keys), (PRICES.encode_keys(one, keys) for one in found))


def differences_text(
    found: Sequence[Difference], same: int, new: Mapping[tuple[str, str], date], unreleased: Mapping[tuple[str, str], date], day: date
) -> str:
    """Return a paragraph for each sheet, then the counts of prices that differ, of equal prices, and of changed contexts and releases.

    `new` are models without earlier prices, by the day of their release. `unreleased` are models without prices now, because the new state
    is of a `day` before their release. Each of these models has two lines.
    """
    lines = []
    for name, release in sorted({**new, **unreleased}.items()):
        rows = [one.row for one in found if one.kind in KINDS_OF_CHANGE and one.sheet_key[:2] == name]
        counted = f"{len(rows)} price{'' if len(rows) == 1 else 's'}"
        added = f"released {release}: {_first_prices(rows)}{counted} added"
        lines += ["/".join(name), f"  {added if name in new else f'not released yet on {day} (released {release}): {counted}'}"]
    others = sorted((one for one in found if one.sheet_key[:2] not in {**new, **unreleased}), key=attrgetter("sheet_key"))
    for key, ones in groupby(others, key=attrgetter("sheet_key")):
        lines += [sheet_in_words(key), *(f"  {one}" for one in ones)]
    counts = ", ".join(f"{sum(one.kind == kind for one in found)} {kind}" for kind in KINDS_OF_CHANGE)
    described = sum(one.kind not in KINDS_OF_CHANGE for one in found)
    more = f"; {described} described otherwise" if described else ""
    return "\n".join([*lines, f"{counts}, {same} the same{more}"])


def _first_prices(rows: Sequence[PriceRow]) -> str:
    """Return the first input and output price, in the standard tier if it is sold, or "" if there is neither."""
    standard = sorted(rows, key=lambda row: row.service_tier != "standard")
    first = (next((row for row in standard if row.component == component), None) for component in ("input", "output"))
    asked = [(f"{row.component} {row.amount:g}", money_unit(row.currency, row.per)) for row in first if row]
    following = [unit for _, unit in asked[1:]] + [""]
    # A unit shared with the next price is printed only after that one.
    return "".join(f"{price}{'' if unit == after else f' {unit}'}, " for (price, unit), after in zip(asked, following, strict=False))
