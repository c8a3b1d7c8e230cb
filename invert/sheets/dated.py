"""The earliest dated row of any table that names a model, for models of unknown release."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from invert.data import Data, cache_with_data
from invert.sheets.read import book_of
from invert.sheets.rows import PriceBook
from invert.sheets.sheet import PriceSheet
from invert.sheets.tables import DisclosedSize, Disclosure, HostPrice, ListPrice, ModelRow

_Name = tuple[str, str]
"""Provider and model in small letters. The provider is blank in tables that name only a model."""


def first_mention(model: ModelRow, data: Data) -> date | None:
    """Return the earliest day of any row that names a model, or None if no row has a date."""
    first = _first_days(data)
    names = [name.casefold() for name in (model.model, *model.aliases)]
    days = [day for name in names for provider in (model.provider.casefold(), "") if (day := first.get((provider, name)))]
    return min(days, default=None)


def first_days(offered: Iterable[PriceSheet], book: PriceBook, data: Data) -> dict[_Name, date]:
    """Return the earliest day in any table, for each model with a sheet of unknown start."""
    open_start = {(sheet.provider, sheet.model) for sheet in offered if not sheet.start_known}
    if not open_start:
        return {}
    said = [((row.provider, row.model), day) for row in book.rows for day in (row.effective_date, row.retrieved_date) if day]
    said += [((model.provider, model.model), day) for model in data.tables.rows_of(ModelRow) if (day := first_mention(model, data))]
    first: dict[_Name, date] = {}
    for pair, day in said:
        if pair in open_start:
            first[pair] = min(day, first.get(pair, day))
    return first


@cache_with_data
def _first_days(data: Data) -> Mapping[_Name, date]:
    """Return the earliest day in the shipped tables, by name."""
    first: dict[_Name, date] = {}
    for provider, model, day in _dated_rows(data):
        name = provider.casefold(), model.casefold()
        first[name] = min(day, first.get(name, day))
    return first


def _dated_rows(data: Data) -> Iterator[tuple[str, str, date]]:
    """Yield provider, model and day of every sound row that has all of them. A price is also as old as the day it was read."""
    for row in book_of(data).rows:
        yield from ((row.provider, row.model, day) for day in (row.effective_date, row.retrieved_date) if day)
    for said in data.tables.rows_of(Disclosure):
        if said.model and said.date:
            yield said.provider, said.model, said.date
    yield from (("", row.model, row.date) for row in data.tables.rows_of(ListPrice))
    yield from (("", row.model, row.date) for row in data.tables.rows_of(HostPrice))
    yield from (("", row.model, row.date) for row in data.tables.rows_of(DisclosedSize))
