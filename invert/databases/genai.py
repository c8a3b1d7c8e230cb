"""The package genai-prices: its installed snapshot of prices, read without a network."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, time
from importlib import import_module
from itertools import chain
from typing import Any

from derive.errors import WrongData
from invert.databases import records

_KNOWN = "0.2"
"""The version whose fields are read here."""
_SOLD: Mapping[str, records.Sold] = {
    "input_mtok": ("input", None),
    "output_mtok": ("output", None),
    "cache_read_mtok": ("cache_read", None),
    "cache_write_mtok": ("cache_write", None),
    "cache_write_5m_mtok": ("cache_write", 300),
    "cache_write_1h_mtok": ("cache_write", 3600),
}
_NO_TEXT = re.compile(r"audio|image|video|document|hours|kcount|kpages|mchars|reasoning|citation")
"""Words in the name of a price that is not for a text prompt or a text answer, or only for a part of the answer."""
_VARIANTS = "price_variants"
_TIERS = {
    ("processing", "batch"): "batch",
    ("service_tier", "flex"): "flex",
    ("service_tier", "priority"): "priority",
    ("service_tier", "fast"): "fast",
    ("service_tier", "ultrafast"): "ultrafast",
    ("speed", "fast"): "fast",
}
"""Service tiers by the variant of the database. The default variant is always the standard tier."""
_STANDARD = (("service_tier", "default"), ("service_tier", "standard"))
_SOLD_OTHERWISE = ("search_type",)
"""Conditions of a variant that does not sell tokens."""


def _installed(database: records.Database) -> Iterable[Any]:
    """Return the providers of the installed snapshot."""
    try:
        found: Iterable[Any] = import_module("genai_prices.data_snapshot").get_snapshot().providers
    except Exception as error:
        raise WrongData(f"{database}: its snapshot cannot be read ({type(error).__name__}: {error}); {_KNOWN} is known here") from error
    return found


def _entries(providers: Iterable[Any]) -> Iterator[records.Entry]:
    for provider in map(plain_record, providers):
        models = records.part(provider, "models", list) if isinstance(provider, dict) else None
        if models is None:
            raise records.WrongField("models", "is not there")
        urls = provider.get("pricing_urls")
        url = urls[0] if urls and isinstance(urls, list) else ""
        for model in models:
            name = records.named_in(model, "id")
            yield records.Entry(provider=records.named_in(provider, "id"), model=name, record=model, source_url=url)


def plain_record(value: Any) -> Any:
    """Return objects as records of their fields, as JSON would have them. The patterns of names that a model matches are left out."""
    if isinstance(value, list | tuple):
        return [*map(plain_record, value)]
    fields = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    return value if fields is None else {name: plain_record(one) for name, one in fields.items() if name != "match"}


def _read(model: Mapping[str, Any]) -> Iterator[records.Offer | records.WrongField]:
    """Yield the offers of one model: its prices over time, and its variants by service tier or route."""
    prices = model.get("prices")
    conditional = prices if isinstance(prices, list) else [{"constraint": None, "prices": records.part(model, "prices", dict)}]
    if prices is None:
        raise records.WrongField("prices", "is not there")
    if not conditional:
        yield records.Offer(became="no price")
        return
    dated: list[tuple[date | None, Mapping[int, records.Rates]]] = []
    hours: list[tuple[Mapping[str, Any], Mapping[int, records.Rates]]] = []
    for one in conditional:
        constraint, priced = records.part(one, "constraint", dict) or {}, bands_of(one["prices"])
        if "start_time" in constraint:
            hours.append((constraint, priced))
        elif constraint and "start_date" not in constraint:
            raise records.WrongField("constraint", f"has {', '.join(map(str, constraint))} and neither a day nor hours")
        else:
            dated.append((constraint.get("start_date"), priced))
    if not dated:
        raise records.WrongField("constraint", "has hours at every price")
    dated.sort(key=lambda pair: pair[0] or date.min)
    for place, (start, bands) in enumerate(dated):
        end = dated[place + 1][0] if dated[place + 1 :] else None
        made = [records.Offer(bands=bands)]
        if hours and end is None:
            spans = (records.minutes_between(_minutes(one["start_time"]), _minutes(one["end_time"])) for one, _ in hours)
            inside = frozenset(chain.from_iterable(spans))
            made = [*records.offers_by_hour(bands, [priced for _, priced in hours], inside, "constraint")]
        for offer in made:
            yield replace(offer, effective_date=start, date_kind="start" if start else "", valid_to=end)
    yield from _variants(records.part(model, _VARIANTS, list) or ())


def _variants(found: Iterable[Mapping[str, Any]]) -> Iterator[records.Offer | records.WrongField]:
    """Yield the offers of the newest variant of each kind. The days of variants are days of verification, not first days of validity."""
    newest: dict[tuple[str, str], tuple[date | None, Any]] = {}
    dated = [((records.part(one, "constraint", dict) or {}).get("start_date"), one) for one in found]
    for day, variant in sorted(dated, key=lambda pair: pair[0] or date.min):
        when = records.part(variant, "when", dict)
        if when is None:
            raise records.WrongField("when", "is not there")
        region = when.get("route", "").rpartition("/")[2]
        told = [pair for pair in when.items() if pair not in _STANDARD and pair[0] not in ("route", *_SOLD_OTHERWISE)]
        if unknown := [pair for pair in told if pair not in _TIERS] or told[1:]:
            odd = ", ".join(f"{name}={value}" for name, value in unknown)
            yield records.WrongField("when", f"has a condition that is not known: {odd}")
        elif when.keys().isdisjoint(_SOLD_OTHERWISE) and (told or region):
            # A route has its own standard prices. Other variants are of the standard tier, or sell something other than tokens.
            newest[_TIERS[told[0]] if told else "standard", region] = day, variant["prices"]
    for (tier, region), (day, prices) in newest.items():
        kind = "verified" if day else ""
        yield records.Offer(bands=bands_of(prices), service_tier=tier, region=region, effective_date=day, date_kind=kind)


def bands_of(prices: Mapping[str, Any]) -> dict[int, records.Rates]:
    """Return rates by threshold. A tier of this database begins above its start."""
    priced = {name: value for name, value in prices.items() if name.endswith("_mtok") and not _NO_TEXT.search(name)}
    records.refuse_unknown(priced, _SOLD)
    bands: dict[int, dict[records.Sold, float]] = {0: {}}
    for name, sold in _SOLD.items():
        price = prices.get(name)
        if price is None:
            continue
        tiered = price if isinstance(price, dict) else {"base": price}
        bands[0][sold] = records.per_mtok(name, tiered["base"])
        for tier in records.part(tiered, "tiers", list) or ():
            start = records.token_count(tier["start"])
            if start is None:
                raise records.WrongField(name, f"has a tier that starts at {tier['start']!r}")
            bands.setdefault(start, {})[sold] = records.per_mtok(name, tier["price"])
    return dict(bands)


def _minutes(moment: time) -> int:
    if moment.utcoffset():
        raise records.WrongField("constraint", f"has hours that are not in UTC: {moment}")
    return moment.hour * 60 + moment.minute


FORMAT = records.Format(
    name="genai-prices",
    entries=_entries,
    read=_read,
    installed=_installed,
    facts={"max_context": "context_window"},
    usual=("context_window", _VARIANTS, "input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"),
    is_known=lambda name: bool(_NO_TEXT.search(name)) or name in (
        *_SOLD, "id", "name", "description", "price_comments", "deprecated", "prices", "constraint", "when",
        "start_date", "start_time", "end_time", "base", "tiers", "start", "price",
    ),
)  # fmt: skip
