"""What is known of the model of a sheet: its row of models.csv, else that of the weights by whose id its seller calls it."""

from collections.abc import Iterable, Mapping

from derive.errors import WrongData
from derive.preset_rows import Architecture
from derive.price_rows import ModelRow
from invert.data import Data, once_a_run
from invert.sheets.assemble import models
from invert.sheets.databases.records import MAKERS
from invert.sheets.sheet import PriceSheet


def described(offered: Iterable[PriceSheet], data: Data) -> list[ModelRow]:
    """The rows of models.csv, and one of each other model that a sheet here sells by the id of its weights.

    >>> from invert.data import read_data
    >>> len(described([], read_data())) == len(models(read_data()))
    True
    """
    known = models(data)
    listed = {(row.provider, row.model) for row in known}
    unlisted = {(sheet.provider, sheet.model): sheet for sheet in offered if (sheet.provider, sheet.model) not in listed}
    return [*known, *(row for sheet in unlisted.values() if (row := by_weights(sheet, data)))]


def by_weights(sheet: PriceSheet, data: Data) -> ModelRow | None:
    """What architectures.csv has of a model whose name is the id of its weights, whole or without their owner; None for any other name."""
    weights = _by_id(data).get(sheet.model.casefold())
    if weights is None:
        return None
    return ModelRow(
        provider=sheet.provider,
        model=sheet.model,
        aliases=(),
        first_party=sheet.provider in MAKERS and "/" not in sheet.model,
        architecture=weights.model,
        architecture_grade="verified",
        max_context=weights.max_context,
        active_params=None,
        active_params_grade="",
        total_params=weights.total_params,
        weights_until=None,
        release_date=weights.release_date,
        release_grade=weights.release_grade,
        source="architectures.csv",
        notes="",
    )


@once_a_run
def _by_id(data: Data) -> Mapping[str, Architecture]:
    """The weights that an id typed small names; none where it names several."""
    named: dict[str, dict[str, Architecture]] = {}
    try:
        rows = data.tables.rows_of(Architecture)
    except WrongData:
        return {}
    for row in rows:
        for name in {row.hf_id.casefold(), row.hf_id.rpartition("/")[2].casefold()} - {""}:
            named.setdefault(name, {})[row.model] = row
    return {name: next(iter(found.values())) for name, found in named.items() if len(found) == 1}
