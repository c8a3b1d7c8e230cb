"""The file api.json of models.dev: providers with their models, USD per million tokens."""

from collections.abc import Iterator, Mapping
from typing import Any

from invert.databases.records import Entry, Format, NotTaken, Offer, Sold, WrongField, part, rates_of, refuse_unknown, token_count

_SOLD: Mapping[str, Sold] = {name: (name, None) for name in ("input", "output", "cache_read", "cache_write")}


def _is_shape(content: Any) -> bool:
    """Return whether the content of a JSON file has the shape of models.dev: providers by name, at least one with models by name."""
    return isinstance(content, dict) and any(
        isinstance(one, dict)
        and isinstance(models := one.get("models"), dict)
        and (not models or any(isinstance(model, dict) for model in models.values()))
        for one in content.values()
    )


def _entries(content: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the models of each provider, or the provider itself if its models cannot be read."""
    for provider, one in content.items():
        models = one.get("models") if isinstance(one, dict) else None
        if isinstance(models, dict):
            for model, record in models.items():
                yield Entry(provider=provider, model=model, record=record, source_url=one.get("doc"))
        else:
            yield Entry(provider=provider, model="", record=WrongField("models", "is missing, or is not a record of models"))


def _read(entry: Mapping[str, Any]) -> Iterator[Offer | NotTaken]:
    """Yield the offer of one model."""
    cost = part(entry, "cost", dict)
    if not cost:
        yield NotTaken(because="no price")
        return
    refuse_unknown(cost, ("tiers", "context_over_200k"))
    bands = {0: rates_of(cost, _SOLD)}
    # The older field always means 200k. Entries also have it beside a newer field with another threshold.
    if tiers := part(cost, "tiers", list):
        for one in tiers:
            place = part(one, "tier", dict) if isinstance(one, dict) else None
            at = token_count(place.get("size")) if place else None
            if at is None or (place and place.get("type", "context") != "context"):
                raise WrongField("tiers", "has a tier without a context size")
            bands[at] = rates_of(one, _SOLD)
    elif above := part(cost, "context_over_200k", dict):
        bands[200_000] = rates_of(above, _SOLD)
    yield Offer(bands=bands)


FORMAT = Format(
    name="models.dev",
    entries=_entries,
    read=_read,
    context="limit.context",
    release="release_date",
    is_shape=_is_shape,
    usual=("cost", "input", "output", "limit", "context"),
    rare=("cache_read", "cache_write", "release_date"),
    is_known=lambda name: name in (*_SOLD, "tiers", "tier", "size") or name.startswith("context_over"),
)
