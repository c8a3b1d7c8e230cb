"""The facts known about the model of a sheet, from its row of models.csv or else from the weights named by its seller."""

import re
from collections.abc import Iterable, Mapping, Sequence

from derive.preset_rows import Architecture, OpenModel
from invert.data import Data, cache_with_data
from invert.sheets.assemble import models
from invert.sheets.names import MAKERS
from invert.sheets.sheet import PriceSheet
from invert.sheets.tables import HostPrice, ModelRow

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
    name, ids = spelling(sheet.model), _weights_by_id(data)
    exact = name in ids
    found = ids.get(name) or ids.get(name.rpartition("/")[2]) or _weights_by_host(data).get(name) or ()
    if len(found) != 1:
        return None
    (weights,), owner = found, _OWNERS.get(sheet.provider, sheet.provider)
    return ModelRow(
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
def _weights_by_id(data: Data) -> Mapping[str, Sequence[Architecture]]:
    """Return the weights by the spelling of their id, whole and without the owner."""
    rows = data.tables.rows_of(Architecture)
    return _weights_by_spelling((name, row) for row in rows for name in (row.hf_id, row.hf_id.rpartition("/")[2]))


@cache_with_data
def _weights_by_host(data: Data) -> Mapping[str, Sequence[Architecture]]:
    """Return the weights by their names in host_prices.csv, whole and without the prefix of a host."""
    rows = {row.model: row for row in data.tables.rows_of(Architecture)}
    weights = {row.model: rows[row.architecture] for row in data.tables.rows_of(OpenModel) if row.architecture in rows}
    known = ((row.price_id, weights[row.model]) for row in data.tables.rows_of(HostPrice) if row.model in weights)
    return _weights_by_spelling((name, row) for price_id, row in known for name in (price_id, price_id.partition("/")[2]))


def _weights_by_spelling(names: Iterable[tuple[str, Architecture]]) -> Mapping[str, Sequence[Architecture]]:
    """Return all weights with each name, by the spelling of the name."""
    found: dict[str, dict[str, Architecture]] = {}
    for name, row in names:
        if name:
            found.setdefault(spelling(name), {})[row.model] = row
    return {name: tuple(rows.values()) for name, rows in found.items()}
