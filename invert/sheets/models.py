"""What is known of the model of a sheet: its names across sellers, its facts, and the first day that names it.

The facts come from its row of models.csv, or else from the weights named by its seller. The first day is the earliest dated price. It
replaces an unknown release.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from derive.preset_rows import Architecture, OpenModel
from derive.tables.lines import Problem
from invert.data import Data, cache_with_data
from invert.sheets.assemble import models
from invert.sheets.read import book_of
from invert.sheets.rows import HostPrice, ModelRow, PriceBook, PriceRow, grouped
from invert.sheets.sheet import PriceSheet

MAKERS = frozenset(
    ("ai21", "alibaba", "amazon", "anthropic", "arcee", "cohere", "deepseek", "google", "inception", "meta", "minimax", "mistral",
     "moonshotai",
     "openai", "perplexity", "tencent", "voyageai", "x-ai", "xiaomi", "zai", "zhipu-bigmodel")
)  # fmt: skip
"""Providers that sell their own models. All others host models of other makers, or resell at the maker's prices."""
_VENDOR = re.compile(
    r"^(?:[a-z]{2,6}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshotai?|nvidia|openai|qwen|writer|zai)\."
)
_ENDINGS = re.compile(r"(?:[-@](?:latest|default|20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{2})|-v[0-9](?::[0-9])?|:[0-9])+$")


def bare_name(model: str) -> str:
    """Return the name of a model without its maker, date and version, which resellers add."""
    name = _VENDOR.sub("", model.lower().rpartition("/")[2].removeprefix("~"))
    return common_spelling(_ENDINGS.sub("", name))


def common_spelling(model: str) -> str:
    """Return the name of a model in small letters with hyphens for points, as databases differ in both."""
    return model.lower().replace(".", "-")


def asks_no_more(one: Mapping[Any, object], other: Mapping[Any, object]) -> bool:
    """Return whether every price of a sheet is also a price of the other. Places end with a lifetime. A blank one matches any lifetime."""
    return all(
        any(
            amount == asked and place[:-1] == at[:-1] and (place[-1] == at[-1] or None in (place[-1], at[-1]))
            for at, asked in other.items()
        )
        for place, amount in one.items()
    )


_OWNERS = {"alibaba": "qwen", "zhipu-bigmodel": "zai"}
"""The beginning of the names of a maker's weights, if it differs from the name of the maker."""
_POINT, _BETWEEN_DIGITS, _PARTING = (
    re.compile(r"(?<=\d)p(?=\d)"),
    re.compile(r"(?<=\d)[-_. ]+(?=\d)"),
    re.compile(r"(?<!\d)[-_. ]+|[-_. ]+(?!\d)"),
)
"""Characters that sellers use instead of a decimal point: between two digits, and elsewhere."""


def described(offered: Iterable[PriceSheet], data: Data) -> list[ModelRow]:
    """Return the rows of models.csv, and a row of each other model that a sheet here sells under a name of its weights."""
    known = models(data)
    listed = {(row.provider, row.model) for row in known}
    unlisted = {(sheet.provider, sheet.model): sheet for sheet in offered if (sheet.provider, sheet.model) not in listed}
    return [*known, *(row for sheet in unlisted.values() if (row := model_row_by_weights(sheet, data)))]


def model_row_by_weights(sheet: PriceSheet, data: Data) -> ModelRow | None:
    """Return the facts in architectures.csv about a model that is sold under a name of its weights, or None for any other name.

    The id of the weights, whole or without the owner, identifies them for certain, in any spelling of its numbers. For the last part of a
    longer name, and for the names in host_prices.csv, the match is assumed.
    """
    name, (ids, hosted) = spelling(sheet.model), _weights_by_spelling(data)
    exact = name in ids
    found = ids.get(name) or ids.get(name.rpartition("/")[2]) or hosted.get(name) or ()
    if len(found) != 1:
        return None
    (weights,), owner = found, _OWNERS.get(sheet.provider, sheet.provider)
    return data.tables.own_row(
        ModelRow,
        provider=sheet.provider,
        model=sheet.model,
        first_party="/" not in sheet.model and sheet.provider in MAKERS and weights.hf_id.casefold().startswith(owner),
        architecture=weights.model,
        architecture_grade="verified" if exact else "assumed",
        max_context=weights.max_context,
        total_params=weights.total_params,
        release_date=weights.release_date,
        release_grade=weights.release_grade if exact else "assumed",
    )


def spelling(name: str) -> str:
    """Return a name without differences between sellers: capitals, points of numbers, and separators of words."""
    return _PARTING.sub("", _BETWEEN_DIGITS.sub("-", _POINT.sub("-", name.casefold())))


@cache_with_data
def _weights_by_spelling(data: Data) -> tuple[Mapping[str, Sequence[Architecture]], Mapping[str, Sequence[Architecture]]]:
    """Return the weights by the spelling of their id, whole and without the owner, and of their names in host_prices.csv, whole and
    without the prefix of a host.
    """
    rows = {row.model: row for row in data.tables.rows_of(Architecture)}
    weights = {row.model: rows[row.architecture] for row in data.tables.rows_of(OpenModel) if row.architecture in rows}
    hosted = [(row.price_id, weights[row.model]) for row in data.tables.rows_of(HostPrice) if row.model in weights]
    by_id = ((name, row) for row in rows.values() for name in (row.hf_id, row.hf_id.rpartition("/")[2]))
    by_host = ((name, row) for price_id, row in hosted for name in (price_id, price_id.partition("/")[2]))
    both = (grouped((spelling(name), row) for name, row in names if name) for names in (by_id, by_host))
    ids, hosts = ({name: tuple({row.model: row for row in of}.values()) for name, of in found.items()} for found in both)
    return ids, hosts


_Name = tuple[str, str]


def context_below(model: ModelRow, threshold: int) -> Problem | None:
    """Return the problem of a row of models.csv with a longest context below the threshold of a band [token], if there is one."""
    if not model.place or not model.max_context or model.max_context >= threshold:
        return None
    lack = f"{model.max_context:,} tokens is below {threshold:,}, the threshold of the last band of {model.provider}/{model.model}"
    return model.problem_in("max_context", lack)


def first_days(offered: Iterable[PriceSheet], book: PriceBook, data: Data) -> dict[_Name, date]:
    """Return the earliest day of any price of each model with a sheet of unknown start."""
    open_start = {(sheet.provider, sheet.model) for sheet in offered if not sheet.start_known}
    rows = [row for row in (*book_of(data).rows, *book.rows) if (row.provider, row.model) in open_start] if open_start else []
    return _earliest_days(rows, book.newest_retrieved)


@cache_with_data
def first_shipped_days(data: Data) -> Mapping[_Name, date]:
    """Return the earliest day of the shipped prices of each model that has a price with a date."""
    return _earliest_days(book_of(data).rows, date.max)


def _earliest_days(rows: Iterable[PriceRow], last: date) -> dict[_Name, date]:
    """Return the earliest day of each model in price rows, up to a last day. A price is also as old as the day it was read."""
    dated = (((row.provider, row.model), day) for row in rows for day in (row.effective_date, row.retrieved_date) if day and day <= last)
    return {name: min(days) for name, days in grouped(dated).items()}
