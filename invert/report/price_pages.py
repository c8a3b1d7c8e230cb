"""The price rows that a result used, or that a sheet is made of, as something to cite: their pages, the sheet, one of the prices."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any
from urllib.parse import quote

from derive.errors import WrongData, shorten
from derive.immutable import immutable
from derive.show.citation import address_of, slug
from derive.show.references import Reference
from derive.units import show

GRADES = {
    "official": "the page was read",
    "quoted": "its text as others quote it",
    "db": "a price database",
    "db_host": "a database entry of a host",
    "user": "a file of one's own",
}
"""What the grade of a price says of how it was read."""
_CELLS = ("provider", "model", "source_url", "verification", "origin")
PER = {"mtok": "MTok", "mtok_hour": "MTok and hour"}

SavedRow = Mapping[str, Any]


@immutable
class PricePage:
    """Source page of the prices of one provider: an address or a file name, its models, grade and days."""

    provider: str
    place: str
    models: tuple[str, ...]
    grades: tuple[str, ...]
    days: tuple[date, ...]

    @property
    def reference(self) -> Reference:
        """It as something to cite."""
        return Reference(
            key=f"prices:{slug(self.provider)}:{slug(self.place.partition('://')[2] or self.place)}",
            title=f"Prices of {self.provider}",
            author=self.provider,
            places=(self.place,),
            which=self.read,
            said=", ".join(self.models),
            day=self.days[-1] if self.days else None,
            why=f"the prices of {several(self.models)}",
        )

    @property
    def read(self) -> str:
        """Grade of the prices, and the days on which they were read."""
        grades = " and ".join(f"{grade} ({GRADES[grade]})" if grade in GRADES else grade for grade in self.grades)
        days = f", read on {' and '.join(map(str, self.days))}" if self.days else ""
        return f"grade {grades}{days}"


def several(names: Sequence[str], between: str = ", ") -> str:
    """Return the first three names, and the number of others.

    >>> several(["a", "b", "c", "d"]), several(["a"])
    ('a, b, c and 1 more', 'a')
    """
    return between.join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def rows_in(result: object) -> list[SavedRow]:
    """Return the price rows of a saved result of `infer`, empty if it has no rows. Raises WrongData for other documents."""
    run = result.get("run") if isinstance(result, dict) else None
    rows = run.get("rows", []) if isinstance(run, dict) else []
    if not isinstance(rows, list):
        raise _no_row(rows)
    for row in rows:
        _cells(row)
        _day(row)
    return rows


def pages_of(rows: Iterable[SavedRow]) -> tuple[PricePage, ...]:
    """Return the pages of these price rows, each once.

    >>> row = {"provider": "acme", "model": "m", "source_url": "https://acme.example", "verification": "db", "origin": "prices.csv:2"}
    >>> (page,) = pages_of([{**row, "retrieved_date": "2026-11-20"}])
    >>> page.place, page.read
    ('https://acme.example', 'grade db (a price database), read on 2026-11-20')
    """
    found: dict[tuple[str, str], list[tuple[str, str, date | None]]] = {}
    for row in rows:
        provider, model, url, grade, origin = _cells(row)
        found.setdefault((provider, url or origin.rpartition(":")[0] or origin), []).append((model, grade, _day(row)))
    return tuple(
        PricePage(
            provider=provider,
            place=place,
            models=tuple(dict.fromkeys(model for model, _, _ in read)),
            grades=tuple(dict.fromkeys(grade for _, grade, _ in read)),
            days=tuple(sorted({day for _, _, day in read if day})),
        )
        for (provider, place), read in found.items()
    )


def sheet_reference(rows: Sequence[SavedRow], as_of: str, html_base: str = "", why: str = "") -> Reference:
    """Cite the price sheet that these rows form on a day: its prices, pages, grades and days.

    >>> row = {"provider": "acme", "model": "m", "source_url": "https://acme.example", "verification": "db", "origin": "prices.csv:2"}
    >>> price = {"component": "input", "amount": 2.5, "currency": "USD", "per": "mtok", "threshold_tokens": 200000, "ttl_seconds": None}
    >>> sheet = sheet_reference([{**row, **price, "service_tier": "standard", "region": ""}], "2026-11-20")
    >>> sheet.key, sheet.which, sheet.said
    ('sheet:acme:m:standard:2026-11-20', 'standard, prices of 2026-11-20, grade db (a price database)', 'input@200000 2.5 USD/MTok')
    """
    name, tier, pages = _named(rows)
    return Reference(
        key=f"sheet:{':'.join(map(slug, name))}:{slug(tier)}:{slug(as_of)}",
        title=f"Price sheet of {' '.join(name)}",
        author=name[0],
        places=(*_places(rows), *sheet_pages(html_base, *name)),
        which=f"{tier}, prices of {as_of}, {'; '.join(dict.fromkeys(page.read for page in pages))}",
        said=", ".join(map(_priced, rows)),
        day=max((day for page in pages for day in page.days), default=day_named(as_of)),
        why=why,
    )


def day_named(text: str) -> date | None:
    """Return the day of a text, or None for another text.

    >>> day_named("2026-11-20"), day_named("today")
    (datetime.date(2026, 11, 20), None)
    """
    with suppress(ValueError):
        return date.fromisoformat(text)
    return None


def sheet_pages(html_base: str, provider: str, model: str) -> tuple[str, ...]:
    """Return the site's page of a sheet, or an empty tuple without a site."""
    address = address_of(html_base, "sheet", quote(provider, safe=""), quote(model, safe=""))
    return (address,) if address else ()


def price_reference(row: SavedRow, as_of: str) -> Reference:
    """Cite one price of a sheet: its file and line, first day, page, grade and reading day."""
    name, tier, (page,) = _named([row])
    _, _, _, _, origin = _cells(row)
    start, place = row.get("effective_date"), _place_of(row)
    since = f", since {shorten(start)[1:-1]}" if isinstance(start, str) and start else ""
    return Reference(
        key=f"price:{':'.join(map(slug, name))}:{slug(tier)}:{slug(place)}:{slug(as_of)}",
        title=f"Price of {place} of {' '.join(name)}",
        author=name[0],
        places=tuple(_places([row])),
        which=f"{_priced(row)}, {tier}{since}, {page.read}",
        said=f"row {origin} of the table of prices, as of {as_of}",
        day=page.days[-1] if page.days else None,
    )


def _named(rows: Sequence[SavedRow]) -> tuple[tuple[str, str], str, tuple[PricePage, ...]]:
    """Return provider and model of a sheet, its service tier with the region, and its pages."""
    provider, model, *_ = _cells(rows[0])
    tier = " ".join(filter(None, (_text(rows[0], "service_tier"), _text(rows[0], "region"))))
    return (provider, model), tier, pages_of(rows)


def _places(rows: Iterable[SavedRow]) -> list[str]:
    return [page.place for page in pages_of(rows)]


def _place_of(row: SavedRow) -> str:
    """Return the place of a row as a user types it."""
    threshold, lifetime = row.get("threshold_tokens"), row.get("ttl_seconds")
    at = f"@{threshold}" if isinstance(threshold, int) and threshold else ""
    return _text(row, "component") + at + (f":{show('ttl', lifetime)}".replace(" ", "") if isinstance(lifetime, int) and lifetime else "")


def _priced(row: SavedRow) -> str:
    amount = row.get("amount")
    if not isinstance(amount, int | float):
        raise _no_row(row)
    per = _text(row, "per")
    return f"{_place_of(row)} {amount:g} {_text(row, 'currency')}/{PER.get(per, per)}"


def _text(row: SavedRow, name: str) -> str:
    cell = row.get(name)
    if not isinstance(cell, str) or not cell.isprintable():
        raise _no_row(row)
    return cell


def _cells(row: object) -> tuple[str, ...]:
    cells = [row.get(name) for name in _CELLS] if isinstance(row, dict) else []
    texts = tuple(cell for cell in cells if isinstance(cell, str) and cell.isprintable())
    if len(texts) < len(_CELLS):
        raise _no_row(row)
    return texts


def _day(row: SavedRow) -> date | None:
    text = row.get("retrieved_date")
    try:
        return None if text is None else date.fromisoformat(text)
    except (ValueError, TypeError):
        raise _no_row(row) from None


def _no_row(found: object) -> WrongData:
    return WrongData(f"'rows' holds {shorten(str(found), 200)}, not price rows as infer --save writes them")
