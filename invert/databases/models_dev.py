"""The file api.json of models.dev: providers with their models, USD per million tokens."""

from collections.abc import Iterator, Mapping
from typing import Any

from invert.databases import records

_SOLD: Mapping[str, records.Sold] = {name: (name, None) for name in ("input", "output", "cache_read", "cache_write")}


def _is_shape(content: Any) -> bool:
    """Return whether the content of a JSON file has the shape of models.dev: providers by name, at least one with models by name."""
    return isinstance(content, dict) and any(isinstance(one, dict) and isinstance(one.get("models"), dict) for one in content.values())


def _entries(content: Mapping[str, Any]) -> Iterator[records.Entry]:
    """Yield the models of each provider, or the provider itself if its models cannot be read."""
    for provider, one in content.items():
        models = one.get("models") if isinstance(one, dict) else None
        if isinstance(models, dict):
            for model, record in models.items():
                yield records.Entry(provider=provider, model=model, record=record, source_url=one.get("doc"))
        else:
            fault = records.WrongField("models", "is missing, or is not a record of models")
            yield records.Entry(provider=provider, model="", record=fault)


def _read(entry: Mapping[str, Any]) -> Iterator[records.Offer]:
    """Yield the offer of one model."""
    cost = records.part(entry, "cost", dict)
    if not cost:
        yield records.Offer(became="no price")
        return
    records.refuse_unknown(cost, ("tiers", "context_over_200k"))
    bands = {0: records.rates_of(cost, _SOLD)}
    # The older field always means 200k. Entries also have it beside a newer field with another threshold.
    if tiers := records.part(cost, "tiers", list):
        for one in tiers:
            place = records.part(one, "tier", dict) or {} if isinstance(one, dict) else {}
            at = records.token_count(place.get("size"))
            if at is None or place.get("type", "context") != "context":
                raise records.WrongField("tiers", "has a tier without a context size")
            bands[at] = records.rates_of(one, _SOLD)
    elif above := records.part(cost, "context_over_200k", dict):
        bands[200_000] = records.rates_of(above, _SOLD)
    yield records.Offer(bands=bands)


FORMAT = records.Format(
    name="models.dev",
    entries=_entries,
    read=_read,
    facts={"max_context": "limit.context", "release_date": "release_date"},
    is_shape=_is_shape,
    usual=("cost", "input", "output", "limit", "context"),
    rare=("cache_read", "cache_write", "release_date"),
    is_known=lambda name: name in (*_SOLD, "tiers", "tier", "size") or name.startswith("context_over"),
)
