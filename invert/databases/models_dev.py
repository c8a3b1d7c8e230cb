"""The file api.json of models.dev: providers with their models, USD per million tokens."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NoReturn

from invert.databases.records import (
    Database,
    Item,
    NotTaken,
    Offer,
    RawEntry,
    Sold,
    WrongField,
    context_faults,
    items_of,
    part,
    rates_of,
    refuse_no_record,
    refuse_unknown,
    release_faults,
    token_count,
    whole_day,
)
from invert.databases.renamed import Fields

NAME = "models.dev"
_SOLD: Mapping[str, Sold] = {name: (name, None) for name in ("input", "output", "cache_read", "cache_write")}

_RELEASE = "release_date"
_FIELDS = Fields(
    usual=("cost", "input", "output", "limit", "context"),
    rare=("cache_read", "cache_write", _RELEASE),
    is_known=lambda name: (
        name in (*_SOLD, "cost", "tiers", "tier", "size", "limit", "context", _RELEASE) or name.startswith("context_over")
    ),
)
_BANDS = ("tiers", "context_over_200k")


def is_shape(content: Any) -> bool:
    """Return whether the content of a JSON file has the shape of models.dev: providers by name, at least one with models by name."""
    return isinstance(content, dict) and any(
        isinstance(one, dict) and isinstance(models := one.get("models"), dict) and (not models or any(map(_is_record, models.values())))
        for one in content.values()
    )


def _is_record(model: object) -> bool:
    return isinstance(model, dict)


def offers(content: Mapping[str, Any], database: Database) -> Iterator[Item]:
    """Yield everything that the file lists."""
    return items_of((entry for provider, one in content.items() for entry in _entries(provider, one)), database, _FIELDS)


def _entries(provider: str, one: Any) -> Iterator[RawEntry]:
    """Yield the models of a provider, or the provider itself if its models cannot be read."""
    models = one.get("models") if isinstance(one, dict) else None
    if not isinstance(models, dict):
        yield RawEntry(provider=provider, model="", record=one, read=partial(_no_models, one))
        return
    for model, entry in models.items():
        yield RawEntry(provider=provider, model=model, record=entry, read=partial(_offer_of_model, provider, one.get("doc"), model, entry))


def _no_models(one: Any) -> NoReturn:
    refuse_no_record(one)
    part(one, "models", dict)
    raise WrongField("models", "is not there")


def _offer_of_model(provider: str, url: object, model: str, entry: Mapping[str, Any]) -> Iterator[Offer | NotTaken | WrongField]:
    """Yield the offer of one model."""
    refuse_no_record(entry)
    cost = part(entry, "cost", dict)
    if not cost:
        yield NotTaken(provider=provider, model=model, because="no price")
        return
    refuse_unknown(cost, _BANDS)
    bands = {0: rates_of(cost, _SOLD)}
    # The older field always means 200k. Entries also have it beside a newer field with another threshold.
    if tiers := part(cost, "tiers", list):
        for one in tiers:
            place = part(one, "tier", dict) if isinstance(one, dict) else None
            at = token_count(place.get("size")) if place else None
            if at is None or (place and place.get("type", "context") != "context"):
                raise WrongField("tiers", "has a tier without a size of context")
            bands[at] = rates_of(one, _SOLD)
    elif above := part(cost, "context_over_200k", dict):
        bands[200_000] = rates_of(above, _SOLD)
    limit = entry.get("limit")
    if limit is not None and not isinstance(limit, dict):
        yield WrongField("limit", f"is {type(limit).__name__} and not dict")
    context = limit.get("context") if isinstance(limit, dict) else None
    yield from context_faults("context", context)
    yield from release_faults(_RELEASE, released := entry.get(_RELEASE))
    yield Offer(
        provider=provider,
        model=model,
        bands=bands,
        max_context=token_count(context),
        release_date=whole_day(released),
        source_url=url,
    )
