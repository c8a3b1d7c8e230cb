"""Cite the price rows of a result or of a sheet: their pages, the sheet, or one of the prices."""

from collections.abc import Iterable, Sequence
from datetime import date
from urllib.parse import quote

from derive.show.citation import address_of, slug
from derive.show.references import Reference
from invert.data import Data
from invert.report.layout import several
from invert.sheets.assemble import find, models, rows_used, sheets
from invert.sheets.rows import PriceBook, PriceRow, SheetKey, grouped
from invert.sheets.sheet import money_unit, placed, spelled

GRADES = {
    "official": "the page was read",
    "quoted": "its text as others quote it",
    "db": "a price database",
    "db_host": "a database entry of a host",
    "user": "a file of one's own",
}
"""The meaning of the grade of a price."""


def pages_of(rows: Iterable[PriceRow]) -> list[Reference]:
    """Return the pages of these price rows as sources, each once: an address, else the file that has them."""
    found = grouped(((row.provider, _page(row)), row) for row in rows)
    return [
        Reference(
            key=f"prices:{slug(provider)}:{slug(place.partition('://')[2] or place)}",
            title=f"Prices of {provider}",
            author=provider,
            places=(place,),
            which=_read_as(read),
            said=", ".join(dict.fromkeys(row.model for row in read)),
            day=_last_read(read),
            why=f"the prices of {several([*dict.fromkeys(row.model for row in read)])}",
        )
        for (provider, place), read in found.items()
    ]


def _page(row: PriceRow) -> str:
    return row.source_url or row.origin.rpartition(":")[0] or row.origin


def _read_as(rows: Sequence[PriceRow]) -> str:
    """Return the grades of prices, and the days on which they were read."""
    grades = (f"{grade} ({GRADES[grade]})" if grade in GRADES else grade for grade in dict.fromkeys(row.verification for row in rows))
    days = sorted({str(row.retrieved_date) for row in rows if row.retrieved_date})
    return f"grade {' and '.join(grades)}" + (f", read on {' and '.join(days)}" if days else "")


def _last_read(rows: Sequence[PriceRow]) -> date | None:
    return max((row.retrieved_date for row in rows if row.retrieved_date), default=None)


def references_of(
    names: Iterable[str], data: Data, book: PriceBook, tier: str = "", as_of: date | None = None, html_base: str = ""
) -> tuple[list[Reference], set[SheetKey]]:
    """Return references for price sheets MODEL and single prices MODEL#PRICE, and the keys of these sheets."""
    known, found, keys = models(data), list[Reference](), set[SheetKey]()
    whole = {f"{row.provider}/{row.model}" for row in book.rows}
    for name in names:
        # The name of a model may contain the mark.
        model, mark, place = name.rpartition("#")
        model, place = (model, place) if mark and name not in whole else (name, "")
        for one in find([model], sheets(book, as_of, tier), known, book, as_of or book.newest_retrieved)[0]:
            rows, day = [row for row in rows_used([one], book) if not place or row.place == placed(place, one.prices)], str(one.as_of)
            keys.add(one.key)
            found.append(price_reference(rows[0], day) if place else sheet_reference(rows, day, html_base))
    return found, keys


def sheet_reference(rows: Sequence[PriceRow], as_of: str, html_base: str = "", why: str = "") -> Reference:
    """Cite the price sheet that these rows form on a day: its prices, pages, grades and days."""
    (provider, model, _, _), tier = rows[0].sheet_key, _tier(rows[0])
    pages = grouped((_page(row), row) for row in rows)
    return Reference(
        key=f"sheet:{slug(provider)}:{slug(model)}:{slug(tier)}:{slug(as_of)}",
        title=f"Price sheet of {provider} {model}",
        author=provider,
        places=(*pages, *sheet_pages(html_base, provider, model)),
        which=f"{tier}, prices of {as_of}, {'; '.join(dict.fromkeys(map(_read_as, pages.values())))}",
        said=", ".join(map(_priced, rows)),
        day=_last_read(rows) or date.fromisoformat(as_of),
        why=why,
    )


def sheet_pages(html_base: str, provider: str, model: str) -> tuple[str, ...]:
    """Return the site's page of a sheet, or an empty tuple without a site."""
    address = address_of(html_base, "sheet", quote(provider, safe=""), quote(model, safe=""))
    return (address,) if address else ()


def price_reference(row: PriceRow, as_of: str) -> Reference:
    """Cite one price of a sheet: its file and line, first day, page, grade and reading day."""
    place, tier = spelled(row.place), _tier(row)
    since = f", since {row.effective_date}" if row.effective_date else ""
    return Reference(
        key=f"price:{slug(row.provider)}:{slug(row.model)}:{slug(tier)}:{slug(place)}:{slug(as_of)}",
        title=f"Price of {place} of {row.provider} {row.model}",
        author=row.provider,
        places=(_page(row),),
        which=f"{_priced(row)}, {tier}{since}, {_read_as([row])}",
        said=f"row {row.origin} of the table of prices, as of {as_of}",
        day=row.retrieved_date,
    )


def _tier(row: PriceRow) -> str:
    """Return the service tier with the region."""
    return " ".join(filter(None, (row.service_tier, row.region)))


def _priced(row: PriceRow) -> str:
    return f"{spelled(row.place)} {row.amount:g} {money_unit(row.currency, row.per)}"
