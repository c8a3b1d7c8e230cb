"""Sheets that say again what another one says: of resellers, and of a model under a second name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from invert.sheets.databases.records import MAKERS, one_spelling
from invert.sheets.rows import PriceRow, SheetKey


def repeated(own: Mapping[SheetKey, Sequence[PriceRow]], current: Mapping[SheetKey, Sequence[PriceRow]]) -> list[SheetKey]:
    """Sheets that say what another one says: of a reseller as the maker, of a second name of a model as the first, of priority as fast."""
    asked = {key: {_full_place(row): row.amount for row in rows} for key, rows in current.items() if rows}
    by_model: dict[tuple[str, str], list[SheetKey]] = {}
    for key in asked:
        by_model.setdefault((bare(key[1]), key[3]), []).append(key)
    found: list[SheetKey] = []
    for key in own:
        if key not in asked:
            continue
        provider, model, region, tier = key
        host = provider.removeprefix("huggingface_")
        kin = [one for one in by_model[bare(model), tier] if one != key]
        models_of = [one for one in kin if (one[0] in MAKERS and provider not in MAKERS) or (host != provider and one[0] == host)]
        names_of = [one for one in kin if one[0] == provider and one[2] == region and _is_plainer(one[1], model)]
        renamed = [(provider, model, region, "fast")] if tier == "priority" else []
        if any(
            one in asked and says_no_more(asked[key], asked[one]) and _bands(asked[key]) == _bands(asked[one])
            for one in (*models_of, *names_of, *renamed)
        ):
            found.append(key)
    return found


_Place = TypeVar("_Place", bound=tuple[object, ...])
"""What a price is of; the lifetime of a cache write stands last."""


def says_no_more(one: Mapping[_Place, object], other: Mapping[_Place, object]) -> bool:
    """Whether a sheet asks nothing that the other does not ask as well. A lifetime that is left blank may be any.

    >>> says_no_more({("cache_write", 0, None): 3.75}, {("input", 0, None): 3.0, ("cache_write", 0, 300): 3.75})
    True
    >>> says_no_more({("cache_write", 0, 3600): 3.75}, {("cache_write", 0, 300): 3.75})
    False
    """
    return all(any(amount == asked and _may_be_one(place, at) for at, asked in other.items()) for place, amount in one.items())


def _may_be_one(place: _Place, other: _Place) -> bool:
    return place[:-1] == other[:-1] and (place[-1] == other[-1] or None in (place[-1], other[-1]))


def _full_place(row: PriceRow) -> tuple[str, int, bool, int | None]:
    return row.component, row.threshold_tokens, row.threshold_inclusive, row.ttl_seconds


def _bands(asked: Iterable[tuple[str, int, bool, int | None]]) -> set[int]:
    return {threshold for component, threshold, _, _ in asked if component == "input"}


def _is_plainer(one: str, other: str) -> bool:
    """Whether of two names of one model this is the one without a date or a place in it."""
    return (len(one), one) < (len(other), other)


_VENDOR = re.compile(
    r"^(?:[a-z]{2,6}\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshotai?|nvidia|openai|qwen|writer|zai)\."
)
_ENDING = re.compile(r"(?:[-@](?:latest|default|20[0-9]{6}|20[0-9]{2}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{2})|-v[0-9](?::[0-9])?|:[0-9])$")


def bare(model: str) -> str:
    """A model's name without its maker, its day and the like, by which resellers call it otherwise than its maker.

    >>> bare("us.anthropic.claude-opus-4-20250514-v1:0"), bare("anthropic/claude-opus-4"), bare("gpt-5.4-2026-03-05")
    ('claude-opus-4', 'claude-opus-4', 'gpt-5-4')
    """
    name = _VENDOR.sub("", model.lower().rpartition("/")[2].removeprefix("~"))
    while (shorter := _ENDING.sub("", name)) != name:
        name = shorter
    return one_spelling(name)
