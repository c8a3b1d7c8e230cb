"""The answer of OpenRouter to /api/v1/models: the prices of each model, in USD per token as text."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from invert.databases.hours import A_DAY, hours_text
from invert.databases.records import (
    PER_TOKEN,
    Database,
    Item,
    NotTaken,
    Offer,
    Rates,
    RawEntry,
    Sold,
    WrongField,
    context_faults,
    items_of,
    named_in,
    part,
    rates_of,
    refuse_no_record,
    refuse_unknown,
    token_count,
)
from invert.databases.renamed import Fields

NAME = "openrouter"
_SOLD: Mapping[str, Sold] = {
    "prompt": ("input", None),
    "completion": ("output", None),
    "input_cache_read": ("cache_read", None),
    "input_cache_write": ("cache_write", None),
    "input_cache_write_1h": ("cache_write", 3600),
}
_CONTEXT = "context_length"
_FIELDS = Fields(
    usual=(_CONTEXT, "prompt", "completion"),
    rare=("input_cache_read", "input_cache_write", "overrides"),
    is_known=lambda name: name in (*_SOLD, _CONTEXT, "overrides"),
)


def is_shape(content: Any) -> bool:
    """Return whether the content of a JSON file has the shape of OpenRouter: `data`, a list of models with `pricing`."""
    found = content.get("data") if isinstance(content, dict) else None
    return isinstance(found, list) and any(isinstance(one, dict) and isinstance(one.get("pricing"), dict) for one in found)


def offers(content: Mapping[str, Any], database: Database) -> Iterator[Item]:
    """Yield everything that the answer lists."""
    entries = (
        RawEntry(provider=NAME, model=named_in(one, "id"), record=one, read=partial(_offers_of_model, one)) for one in content["data"]
    )
    return items_of(entries, database, _FIELDS)


def _offers_of_model(entry: Mapping[str, Any]) -> Iterator[Offer | NotTaken | WrongField]:
    """Yield the offers of one model: its price, or its price by the hour."""
    refuse_no_record(entry)
    model, pricing = part(entry, "id", str), part(entry, "pricing", dict)
    if not model or not pricing:
        raise WrongField("pricing" if model else "id", "is not there")
    if str(pricing.get("prompt", "")).startswith("-"):
        yield NotTaken(provider=NAME, model=model, because="a router: it has the price of the model that it chooses")
        return
    refuse_unknown(pricing, {*_SOLD, "overrides"})
    bands: dict[int, Rates] = {0: rates_of(pricing, _SOLD, PER_TOKEN)}
    by_hour: list[tuple[str, Rates]] = []
    for override in part(pricing, "overrides", list) or []:
        above, start, end = token_count(override.get("min_prompt_tokens")), override.get("utc_start"), override.get("utc_end")
        if above and start is None and end is None:
            bands[above] = {**bands.get(above, {}), **rates_of(override, _SOLD, PER_TOKEN)}
        elif not above and isinstance(start, str) and isinstance(end, str) and not override.get("utc_days"):
            by_hour.append((hours_text([(_minutes(start), _minutes(end) or A_DAY)]), rates_of(override, _SOLD, PER_TOKEN)))
        else:
            raise WrongField("overrides", "has a condition that is neither a length of the prompt nor hours of every day")
    yield from context_faults(_CONTEXT, entry.get(_CONTEXT))
    offer = partial(
        Offer, provider=NAME, model=model, max_context=token_count(entry.get(_CONTEXT)), source_url=f"https://openrouter.ai/{model}"
    )
    if not by_hour:
        yield offer(bands=bands, from_threshold=frozenset(one for one in bands if one % 1000 == 1))
        return
    if len(bands) > 1:
        raise WrongField("overrides", "has hours beside lengths of the prompt, and does not say what a long one costs at which hours")
    if any(rates != by_hour[0][1] for _, rates in by_hour):
        raise WrongField("overrides", "has more than two prices a day")
    within = {0: {**bands[0], **by_hour[0][1]}}
    if within[0].get(_SOLD["prompt"], 0) < bands[0].get(_SOLD["prompt"], 0):
        raise WrongField("overrides", "names the hours of the lower price")
    yield offer(bands=within, service_tier="peak", utc_hours=";".join(sorted(hours for hours, _ in by_hour)))
    yield offer(bands=bands, service_tier="off_peak")


def _minutes(text: str) -> int:
    hours, _, minutes = text.partition(":")
    if not (hours.isdecimal() and minutes[:2].isdecimal() and int(hours) <= 24 and int(minutes[:2]) < 60):
        raise WrongField("overrides", f"has the hour {text[:20]!r}")
    return int(hours) * 60 + int(minutes[:2])
