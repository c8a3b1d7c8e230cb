"""The answer of OpenRouter to /api/v1/models: the prices of each model, in USD per token as text."""

from collections.abc import Iterator, Mapping
from typing import Any

from invert.databases import records

_SOLD: Mapping[str, records.Sold] = {
    "prompt": ("input", None),
    "completion": ("output", None),
    "input_cache_read": ("cache_read", None),
    "input_cache_write": ("cache_write", None),
    "input_cache_write_1h": ("cache_write", 3600),
}


def _is_shape(content: Any) -> bool:
    """Return whether the content of a JSON file has the shape of OpenRouter: `data`, a list of models with `pricing`."""
    found = content.get("data") if isinstance(content, dict) else None
    return isinstance(found, list) and any(isinstance(one, dict) and isinstance(one.get("pricing"), dict) for one in found)


def _entries(content: Mapping[str, Any]) -> Iterator[records.Entry]:
    for one in content["data"]:
        model = records.named_in(one, "id")
        yield records.Entry(provider="openrouter", model=model, record=one, source_url=f"https://openrouter.ai/{model}")


def _read(entry: Mapping[str, Any]) -> Iterator[records.Offer]:
    """Yield the offers of one model: its price, or its price by the hour."""
    model, pricing = records.part(entry, "id", str), records.part(entry, "pricing", dict)
    if not model or not pricing:
        raise records.WrongField("pricing" if model else "id", "is not there")
    if str(pricing.get("prompt", "")).startswith("-"):
        yield records.Offer(became="a router, with the price of the model that it chooses")
        return
    records.refuse_unknown(pricing, {*_SOLD, "overrides"})
    bands: dict[int, records.Rates] = {0: records.rates_of(pricing, _SOLD, records.PER_TOKEN)}
    by_hour: list[records.Rates] = []
    hours: records.Minutes = frozenset()
    for override in records.part(pricing, "overrides", list) or []:
        above, start, end = records.token_count(override.get("min_prompt_tokens")), override.get("utc_start"), override.get("utc_end")
        if above and start is None and end is None:
            bands[above] = {**bands.get(above, {}), **records.rates_of(override, _SOLD, records.PER_TOKEN)}
        elif not above and isinstance(start, str) and isinstance(end, str) and not override.get("utc_days"):
            by_hour.append(records.rates_of(override, _SOLD, records.PER_TOKEN))
            hours |= records.minutes_between(_minutes(start), _minutes(end))
        else:
            raise records.WrongField("overrides", "has a condition that is neither a length of the prompt nor hours of every day")
    if not by_hour:
        yield records.Offer(bands=bands)
        return
    if len(bands) > 1:
        raise records.WrongField("overrides", "has hours and prompt lengths, and does not give the price of a long prompt by hour")
    yield from records.offers_by_hour(bands, [{0: {**bands[0], **rates}} for rates in by_hour], hours, "overrides")


def _minutes(text: str) -> int:
    hours, _, minutes = text.partition(":")
    if not (hours.isdecimal() and minutes[:2].isdecimal() and int(hours) <= 24 and int(minutes[:2]) < 60):
        raise records.WrongField("overrides", f"has the hour {text[:20]!r}")
    return int(hours) * 60 + int(minutes[:2])


FORMAT = records.Format(
    name="openrouter",
    entries=_entries,
    read=_read,
    facts={"max_context": "context_length"},
    is_shape=_is_shape,
    usual=("context_length", "prompt", "completion"),
    rare=("input_cache_read", "input_cache_write", "overrides"),
    is_known=lambda name: name in _SOLD,
)
