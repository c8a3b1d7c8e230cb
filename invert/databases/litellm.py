"""Read the price file of litellm. It has one entry per model in USD per token, with a field for every band, lifetime and service tier.

If the package is installed, the file is in its folder. The package itself is never imported.
"""

import re
from collections.abc import Container, Iterator, Mapping
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from derive.errors import WrongData, shorten
from derive.files import json_of
from invert.databases import records

_FILE = "model_prices_and_context_window_backup.json"
_MODES = ("chat", "responses", "completion")
"""Kinds of entries that answer text with text."""
_OTHER_MODES = frozenset(
    {
        "audio_speech", "audio_transcription", "decisions", "embedding", "evaluation", "extraction", "guardrail", "image_edit",
        "image_generation", "moderation", "ocr", "realtime", "rerank", "search", "vector_store", "video_generation",
    }
)  # fmt: skip
"""The other known modes. An unknown mode with prices of input and output tokens may be text for text under another name."""
_COSTS: Mapping[str, str] = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
}
_COST = re.compile(
    rf"({'|'.join(_COSTS)})(?:_above_([0-9]+)hr)?(?:_above_([0-9]+)k_tokens)?(?:_(batches|flex|priority|fast|ultrafast|balanced))?"
)
_TIERED, _BY_HOUR = "tiered_pricing", "off_peak_pricing"
_LISTS = (_TIERED, _BY_HOUR)
"""Fields that contain prices in the same form as an entry."""
_SPEEDS = "provider_specific_entry"
_OTHERWISE = ("_cache_hit", "_decisions")
"""Ends of fields that price something other than a prompt or its answer, or that repeat another field."""
_TIERS = {"": "standard", "batches": "batch"}
_OFF_PEAK, _WINDOW = ("windows", "weekday_timezone"), ("hours_utc", "weekdays")
"""Fields for the hours of an off-peak price, and the fields of each of its windows."""
_WEEK = range(1, 8)
"""The days of a week. 1 is Monday."""
_SHANGHAI = 16 * 60
"""The minute of a UTC day at which the next day begins in Shanghai."""


def _installed(database: records.Database) -> Any:
    """Return the content of the price file in the installed package. Raise WrongData if the package has no such file."""
    found = find_spec(FORMAT.name)
    place = Path(found.origin).with_name(_FILE) if found and found.origin else None
    if place is None or not place.is_file():
        raise WrongData(f"{database}: has no file {_FILE}, so its version is newer or older than the known ones")
    return json_of(str(place))


def _is_shape(content: Any) -> bool:
    """Return whether the content of a JSON file has the shape of litellm: entries that name their provider and a cost per token."""
    return isinstance(content, dict) and any(
        isinstance(one, dict) and "litellm_provider" in one and any(map(_COST.fullmatch, one)) for one in content.values()
    )


def _entries(content: Mapping[str, Any]) -> Iterator[records.Entry]:
    for name, one in content.items():
        if name not in ("sample_spec", "fallback_generalizations"):
            provider = records.named_in(one, "litellm_provider")
            yield records.Entry(
                provider=_family(provider), model=model_of(name, provider), record=one, source_url=records.named_in(one, "source")
            )


def _read(entry: Mapping[str, Any]) -> Iterator[records.Offer]:
    """Yield the offers of one entry, one for each service tier."""
    provider, mode = records.part(entry, "litellm_provider", str) or "", records.part(entry, "mode", str) or ""
    if not provider and mode in _MODES:
        raise records.WrongField("litellm_provider", "is not there")
    if mode not in {"", *_MODES} | _OTHER_MODES and {"input_cost_per_token", "output_cost_per_token"} <= entry.keys():
        raise records.WrongField("mode", f"is {shorten(mode)}, an unknown kind of entry")
    if mode not in _MODES:
        yield records.Offer(became=f"not text to text: {mode.replace('_', ' ') or 'no mode'}")
        return
    tiers = bands_by_tier(entry)
    if tiered := records.part(entry, _TIERED, list):
        tiers["standard"] = _tiered(tiered)
    off_peak = records.part(entry, _BY_HOUR, dict)
    if off_peak and "standard" in tiers:
        # The price at the top level of the entry is the price outside the windows.
        hours, days = peak_hours(off_peak)
        base = tiers.pop("standard")
        lower = {0: {**base.get(0, {}), **bands_by_tier(off_peak).get("standard", {}).get(0, {})}}
        yield from records.offers_by_hour(lower, [base], hours, _BY_HOUR, days)
    if not tiers and not off_peak:
        yield records.Offer(became="no price of input and output tokens")
    for tier, bands in tiers.items():
        # A discount on one item is not a sheet.
        if tier == "standard" or {("input", None), ("output", None)} <= bands.get(0, {}).keys():
            yield records.Offer(bands=bands, service_tier=tier)
    speeds = records.part(entry, _SPEEDS, dict) or {}
    if "fast" in speeds and "standard" in tiers and "fast" not in tiers:
        factor, standard = records.per_mtok(_SPEEDS, speeds["fast"]), tiers["standard"]
        fast = {at: {sold: float(f"{amount * factor:.10g}") for sold, amount in rates.items()} for at, rates in standard.items()}
        yield records.Offer(bands=fast, service_tier="fast")


def bands_by_tier(entry: Mapping[str, Any]) -> dict[str, dict[int, records.Rates]]:
    """Return rates by service tier and threshold, read from the names of the fields."""
    tiers: dict[str, dict[int, dict[records.Sold, float]]] = {}
    records.refuse_unknown({
        name: value
        for name, value in entry.items()
        if isinstance(value, dict | list) and any(_COST.match(inside) for inside, _ in records.fields_in(value))
    }, _LISTS)  # fmt: skip
    for name, amount in entry.items():
        form = _COST.fullmatch(name)
        if not form and amount and name.startswith(tuple(_COSTS)) and not name.endswith(_OTHERWISE):
            raise records.WrongField(name, "looks like a price but is unknown")
        if not form or amount is None:
            continue
        cost, lasts, above, tier = form.groups()
        sold = _COSTS[cost], int(lasts) * 3600 if lasts else None
        if lasts and _COSTS[cost] != "cache_write":
            raise records.WrongField(name, "names a lifetime of an item without one")
        bands = tiers.setdefault(_TIERS.get(tier or "", tier or ""), {})
        bands.setdefault(int(above or 0) * 1000, {})[sold] = records.per_mtok(name, amount, records.PER_TOKEN)
    return {tier: dict(bands) for tier, bands in tiers.items()}


def model_of(name: str, provider: str) -> str:
    """Return the model of an entry: its name without the provider before it."""
    first, slash, rest = name.partition("/")
    return rest if slash and rest and first in (provider, _family(provider), provider.replace("_", "-")) else name


def peak_hours(off_peak: Mapping[str, Any]) -> tuple[records.Minutes, str]:
    """Return the minutes of a day and the weekdays in UTC outside the windows of an off-peak price."""
    _refuse_other_times(off_peak, (*_OFF_PEAK, *_WINDOW))
    alone = [{name: off_peak[name] for name in _WINDOW if name in off_peak}] if off_peak.get("hours_utc") else []
    free: dict[int, set[int]] = {}
    for window in [*alone, *(records.part(off_peak, "windows", list) or [])]:
        if not isinstance(window, dict):
            raise records.WrongField("windows", f"is {type(window).__name__} and not dict")
        _refuse_other_times(window, _WINDOW)
        written = window.get("hours_utc") or []
        lower = {minute for text in (written if isinstance(written, list) else [written]) for minute in _span(text)}
        for day in _weekdays(window.get("weekdays")) or ([*_WEEK] if alone else [one for one in _WEEK if one not in free]):
            free.setdefault(day, set()).update(lower)
    busy = {day: minutes for day in _WEEK if (minutes := records.WHOLE_DAY - free.get(day, set()))}
    if not free or len({*busy.values()}) != 1:
        raise records.WrongField(_BY_HOUR, "has different hours on some days, or no hours")
    peak, zone = next(iter(busy.values())), off_peak.get("weekday_timezone", "UTC")
    if zone not in ("UTC", "Asia/Shanghai") or (zone != "UTC" and max(peak) >= _SHANGHAI):
        raise records.WrongField("weekday_timezone", "names days that are not in UTC")
    days = ";".join(str(first) if first == last else f"{first}-{last}" for first, last in records.runs(busy))
    return peak, "" if len(busy) == len(_WEEK) else days


def _refuse_other_times(fields: Mapping[str, Any], known: Container[str]) -> None:
    """Raise WrongField for an unknown field that may contain the hours of an off-peak price, because the peak hours would be wrong."""
    for name, value in fields.items():
        if name not in known and "_cost" not in name and value:
            raise records.WrongField(name, "is unknown and may be the hours of an off-peak price")


def _weekdays(days: Any) -> list[int]:
    if days and not (isinstance(days, list) and all(one in _WEEK for one in days)):
        raise records.WrongField("weekdays", f"is {days!r}, not a list of days from 1 to 7")
    return days or []


def _span(text: Any) -> range:
    """Return the minutes of a window of a day."""
    form = re.fullmatch(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})", text) if isinstance(text, str) else None
    if not form:
        raise records.WrongField("hours_utc", f"is {text!r} and not hours")
    start, end = int(form[1]) * 60 + int(form[2]), int(form[3]) * 60 + int(form[4])
    if end and end < start:
        raise records.WrongField("hours_utc", f"is {text!r}, past midnight")
    return range(start, end or records.A_DAY)


def _tiered(ranges: list[Any]) -> dict[int, records.Rates]:
    """Return the bands of a list of ranges of prompt lengths."""
    bands: dict[int, records.Rates] = {}
    ends: dict[int, object] = {}
    for one in ranges:
        span = records.part(one, "range", list) if isinstance(one, dict) else None
        if not span or isinstance(span[0], bool) or not isinstance(span[0], int | float) or not 0 <= span[0] < 10**12:
            raise records.WrongField(_TIERED, "has a range that does not begin at a number of tokens")
        bands[int(span[0])] = bands_by_tier(one).get("standard", {}).get(0, {})
        ends[int(span[0])] = span[1] if span[1:] else None
    for below, above in pairwise(sorted(ends)):
        # Some ranges begin with the token after the end of the range below.
        if (end := records.token_count(ends[below])) and end not in (above, above - 1):
            raise records.WrongField(_TIERED, f"has a range that ends at {end} and another that begins at {above}")
    return bands


def _family(provider: str) -> str:
    """Return the provider without the kind of its models: vertex_ai-mistral_models is vertex_ai."""
    return "vertex_ai" if provider.startswith("vertex_ai") and provider != "vertex_ai-language-models" else provider


FORMAT = records.Format(
    name="litellm",
    entries=_entries,
    read=_read,
    installed=_installed,
    # An entry may also have max_tokens. That is its longest answer.
    facts={"max_context": "max_input_tokens"},
    is_shape=_is_shape,
    usual=("mode", "max_input_tokens"),
    rare=(*_COSTS, *_LISTS, _SPEEDS),
    is_known=lambda name: bool(_COST.match(name)) or name in ("max_tokens", "max_output_tokens"),
)
