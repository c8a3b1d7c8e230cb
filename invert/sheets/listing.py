"""Price data as it is listed and compared: text, JSON and CSV."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import groupby
from types import MappingProxyType

from derive.characters import padded
from derive.show.cells import csv_text
from derive.show.folding import name_beside, name_column, widest_of
from invert.sheets.assemble import Place, find, placed, prices_by_place, rows_used, sheets
from invert.sheets.diff import KINDS_OF_CHANGE, Difference
from invert.sheets.redescribed import Redescribed
from invert.sheets.rows import PRICE_COLUMNS, PriceBook, PriceRow, SheetKey
from invert.sheets.sheet import PriceSheet, money_unit
from invert.sheets.tables import ModelRow
from invert.sheets.what_if import sheet_key

_PLACE = ("provider", "model", "region", "service_tier", "component", "threshold_tokens", "threshold_inclusive", "ttl_seconds", "utc_hours",
         "weekdays")  # fmt: skip
LISTED = (*PRICE_COLUMNS, "origin")
"""What is listed of a price: as published, with its grade (`verification`), dates and source, and the file and row it is of."""
DIFFERENT = ("change", *_PLACE, "old_amount", "new_amount", "times", "currency", "per", "old_effective_date", "new_effective_date",
             "old_source_url", "new_source_url", "old_origin", "new_origin")  # fmt: skip


def rows_listed(sheets: Iterable[PriceSheet], book: PriceBook) -> list[PriceRow]:
    """Every row that one of these sheets is made of, in the order of the files."""
    days = {sheet_key(sheet): sheet.as_of for sheet in sheets}
    return [row for row in book.rows if row.sheet_key in days and row.valid_on(days[row.sheet_key])]


def sheets_cited(
    name: str, spec: str, book: PriceBook, known: Sequence[ModelRow], as_of: date | None, tier: str = ""
) -> list[tuple[date, list[PriceRow]]]:
    """The sheets that a name means, each with its day and its rows, or with the one row that `component[@threshold][:lifetime]` names."""
    chosen, _ = find([name], sheets(book, as_of, tier)[0], known)
    return [
        (one.as_of, [row for row in rows_used([one], book) if not spec or place_of(row) == placed(spec, prices_by_place(one))])
        for one in chosen
    ]


def place_of(row: PriceRow) -> Place:
    """Where in its sheet a row stands."""
    return row.component, row.threshold_tokens, row.ttl_seconds


def price_record(row: PriceRow) -> dict[str, object]:
    """A price as it stands in its file, days as text."""
    return {name: _plain(getattr(row, name)) for name in LISTED}


def _plain(value: object) -> object:
    """A cell as the files have it, in which numbers are numbers."""
    return value.isoformat() if isinstance(value, date) else value


def listed_text(found: Sequence[PriceSheet], width: int, in_terminal: bool) -> str:
    """A sheet a line with its base prices; in a terminal a name too long for its column stands above, elsewhere its line is longer."""
    names = [f"{sheet.provider}/{sheet.model_and_region}" for sheet in found]
    rests = [f"  {sheet.service_tier:<9} {sheet.base_prices}" for sheet in found]
    room = name_column(names, width - widest_of(rests))
    each = zip(names, rests, strict=True)
    return "\n".join(name_beside(name, rest, room, width) if in_terminal else f"{padded(name, room)}{rest}" for name, rest in each)


def listed_json(rows: Sequence[PriceRow]) -> str:
    """Every price as an object."""
    return json.dumps([price_record(row) for row in rows], indent=2, allow_nan=False)


def listed_csv(rows: Sequence[PriceRow]) -> str:
    """Every price as a line of a price file, which `--prices` reads."""
    return csv_text(tuple(PRICE_COLUMNS), map(price_record, rows))


def difference_record(one: Difference | Redescribed) -> dict[str, object]:
    """A price that differs, old and new; what is said of the model of a sheet stands under the name of its column."""
    if isinstance(one, Redescribed):
        place = dict(zip(_PLACE, (*one.sheet_key, one.column), strict=False))
        return {**dict.fromkeys(DIFFERENT), "change": one.kind, **place, "old_amount": _plain(one.old), "new_amount": _plain(one.new)}
    sides: Mapping[str, PriceRow | None] = {"old": one.old, "new": one.new}
    return {
        "change": one.kind,
        **{name: _plain(getattr(one.row, name)) for name in _PLACE},
        **{f"{side}_amount": row and row.amount for side, row in sides.items()},
        "times": one.times and float(f"{one.times:.6g}"),
        "currency": one.row.currency,
        "per": one.row.per,
        **{
            f"{side}_{name}": row and _plain(getattr(row, name))
            for name in ("effective_date", "source_url", "origin")
            for side, row in sides.items()
        },
    }


def differences_json(found: Sequence[Difference | Redescribed]) -> str:
    """Every price that differs as an object."""
    return json.dumps([difference_record(one) for one in found], indent=2, allow_nan=False)


def differences_csv(found: Sequence[Difference | Redescribed]) -> str:
    """Every price that differs as a line."""
    return csv_text(DIFFERENT, map(difference_record, found))


def differences_text(
    found: Sequence[Difference | Redescribed],
    same: int,
    new: Mapping[tuple[str, str], date] = MappingProxyType({}),
    unreleased: Mapping[tuple[str, str], date] = MappingProxyType({}),
    day: date = date.max,
) -> str:
    """A paragraph a sheet, then how many prices differ, how many are the same, and how many contexts and releases are others.

    `new` are models by the day of their release, of which there was no price before, `unreleased` those of which there is none any
    more because the new state is of a `day` before their release: each takes two lines.
    """
    lines = []
    for name, release in sorted({**new, **unreleased}.items()):
        rows = [one.row for one in found if isinstance(one, Difference) and one.sheet_key[:2] == name]
        counted = f"{len(rows)} price{'' if len(rows) == 1 else 's'}"
        added = f"released {release}: {_first_prices(rows)}{counted} added"
        lines += ["/".join(name), f"  {added if name in new else f'not released yet on {day} (released {release}): {counted}'}"]
    others = sorted((one for one in found if one.sheet_key[:2] not in {**new, **unreleased}), key=_sheet_of)
    for (provider, model, region, tier), ones in groupby(others, key=_sheet_of):
        place = ", ".join(part for part in (region, "" if tier == "standard" else tier) if part)
        lines += [f"{provider}/{model}" + (f" ({place})" if place else ""), *(f"  {one}" for one in ones)]
    counts = ", ".join(f"{sum(one.kind == kind for one in found)} {kind}" for kind in KINDS_OF_CHANGE)
    described = sum(isinstance(one, Redescribed) for one in found)
    more = f"; {described} described otherwise" if described else ""
    return "\n".join([*lines, f"{counts}, {same} the same{more}"])


def _first_prices(rows: Sequence[PriceRow]) -> str:
    """What is first asked of a token in and of one out, in the standard tier if that is sold, or nothing where no token has a price."""
    standard = sorted(rows, key=lambda row: row.service_tier != "standard")
    first = (next((row for row in standard if row.component == component), None) for component in ("input", "output"))
    asked = [(f"{row.component} {row.amount:g}", money_unit(row.currency, row.per)) for row in first if row]
    following = [unit for _, unit in asked[1:]] + [""]
    # A unit that follows for the next price as well stands behind that alone.
    return "".join(f"{price}{'' if unit == after else f' {unit}'}, " for (price, unit), after in zip(asked, following, strict=False))


def _sheet_of(one: Difference | Redescribed) -> SheetKey:
    return one.sheet_key
