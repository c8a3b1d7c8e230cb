"""The package genai-prices: the snapshot of prices that is installed with it, read without asking any network."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, time
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from derive.errors import WrongData
from invert.databases.hours import A_DAY, between, hours_text
from invert.databases.records import (
    Database,
    Item,
    NotTaken,
    Offer,
    Rates,
    RawEntry,
    Sold,
    WrongField,
    context_faults,
    installed_database,
    items_of,
    per_mtok,
    refuse_unknown,
    token_count,
)  # fmt: skip
from invert.databases.renamed import Fields

NAME = "genai-prices"
_KNOWN = "0.2"
"""The version whose fields are read here."""
_SOLD: Mapping[str, Sold] = {
    "input_mtok": ("input", None),
    "output_mtok": ("output", None),
    "cache_read_mtok": ("cache_read", None),
    "cache_write_mtok": ("cache_write", None),
    "cache_write_5m_mtok": ("cache_write", 300),
    "cache_write_1h_mtok": ("cache_write", 3600),
}
_NO_TEXT = re.compile(r"audio|image|video|document|hours|kcount|kpages|mchars|reasoning|citation")
"""What the name of a price holds that is of something else than a prompt and its answer in text, or of a part of the answer."""
_CONTEXT, _VARIANTS = "context_window", "price_variants"
_FIELDS = Fields(
    usual=(_CONTEXT, _VARIANTS, "input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"),
    is_known=lambda name: bool(_NO_TEXT.search(name)) or name in (
        *_SOLD, "id", "match", "name", "description", _CONTEXT, "price_comments", "deprecated", "prices", _VARIANTS, "constraint", "when",
        "start_date", "start_time", "end_time", "base", "tiers", "start", "price",
    ),
)  # fmt: skip
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
"""Conditions of a variant that sells something else than tokens."""


def is_genai_installed() -> bool:
    """Return whether the package is installed."""
    return find_spec("genai_prices") is not None


def installed() -> tuple[Iterable[Any], Database] | None:
    """Return the providers of the installed snapshot, or None without the package.

    Raise WrongData if the snapshot is not as known here.
    """
    if not is_genai_installed():
        return None
    database = installed_database(NAME)
    try:
        return _list_field(import_module("genai_prices.data_snapshot").get_snapshot(), "providers"), database
    except Exception as error:
        raise WrongData(f"{database}: its snapshot cannot be read ({type(error).__name__}: {error}); {_KNOWN} is known here") from error


def offers(providers: Iterable[Any], database: Database) -> Iterator[Item]:
    """Yield everything that the snapshot lists: the prices of each model over time, and its variants by service tier or route."""
    entries = (
        RawEntry(
            provider=str(_field(provider, "id")),
            model=str(_field(model, "id")),
            record=model,
            read=partial(_offers_of_model, provider, model),
        )
        for provider in providers
        for model in _list_field(provider, "models")
    )
    yield from items_of(entries, database, _FIELDS)


def _offers_of_model(provider: Any, model: Any) -> Iterator[Offer | NotTaken | WrongField]:
    """Yield the offers of one model."""
    yield from context_faults(_CONTEXT, getattr(model, _CONTEXT, None))
    url = next(iter(getattr(provider, "pricing_urls", None) or ()), "")
    offer = partial(
        Offer,
        provider=str(provider.id),
        model=str(model.id),
        source_url=url,
        max_context=token_count(getattr(model, _CONTEXT, None)),
    )
    prices = _field(model, "prices")
    conditional = [(None, prices)] if not isinstance(prices, list) else [(one.constraint, _field(one, "prices")) for one in prices]
    if not conditional:
        yield NotTaken(provider=str(provider.id), model=str(model.id), because="no price")
        return
    dated = sorted(
        (
            (getattr(constraint, "start_date", None), one)
            for constraint, one in conditional
            if constraint is None or hasattr(constraint, "start_date")
        ),
        key=lambda pair: pair[0] or date.min,
    )
    by_hour = [(constraint, bands_of(one)) for constraint, one in conditional if hasattr(constraint, "start_time")]
    unknown = next(
        (one for one, _ in conditional if one is not None and not hasattr(one, "start_date") and not hasattr(one, "start_time")), None
    )
    if unknown is not None or not dated:
        raise WrongField("constraint", f"is {type(unknown).__name__} and neither a day nor hours")
    ends = [start for start, _ in dated[1:]]
    for (start, one), end in zip(dated, [*ends, None], strict=True):
        since = partial(offer, effective_date=start, date_kind="start" if start else "", valid_to=end)
        if end is None and by_hour:
            yield from _hourly_offers(since, bands_of(one), by_hour)
        else:
            yield since(bands=bands_of(one))
    yield from variants(offer, getattr(model, _VARIANTS, None) or ())


def variants(offer: Any, found: Iterable[Any]) -> Iterator[Offer | WrongField]:
    """Yield the offers of the newest variant of each kind. The days of variants are days of verification, not first days of validity."""
    newest: dict[tuple[str, str], Any] = {}
    for variant in sorted(found, key=lambda one: getattr(one.constraint, "start_date", None) or date.min):
        when = _field(variant, "when")
        if odd := unknown_condition(when):
            yield WrongField("when", f"has a condition that is not known: {odd}")
        else:
            newest[service_tier_and_region(when)] = variant
    for (tier, region), variant in newest.items():
        if not tier:
            continue
        day = getattr(variant.constraint, "start_date", None)
        yield offer(
            bands=bands_of(_field(variant, "prices")),
            service_tier=tier,
            region=region,
            effective_date=day,
            date_kind="verified" if day else "",
        )


def unknown_condition(when: Mapping[str, str]) -> str:
    """Return the unknown part of the condition of a variant, or "".

    Known are service tiers, regions and things other than tokens.

    >>> unknown_condition({"service_tier": "turbo"}), unknown_condition({"speed": "fast"}), unknown_condition({"search_type": "web"})
    ('service_tier=turbo', '', '')
    """
    told = [pair for pair in when.items() if pair not in _STANDARD and pair[0] not in ("route", *_SOLD_OTHERWISE)]
    unknown = [pair for pair in told if pair not in _TIERS] or told[1:]
    return ", ".join(f"{name}={value}" for name, value in unknown)


def service_tier_and_region(when: Mapping[str, str]) -> tuple[str, str]:
    """Return service tier and region of a variant. The tier is blank for the standard variant, and if something other than tokens is sold.

    >>> service_tier_and_region({"processing": "batch"}), service_tier_and_region({"route": "mistral/eu"})
    (('batch', ''), ('standard', 'eu'))
    >>> service_tier_and_region({"service_tier": "default"}), service_tier_and_region({"search_type": "web"})
    (('', ''), ('', ''))
    """
    region = when.get("route", "").rpartition("/")[2]
    told = [pair for pair in when.items() if pair[0] != "route" and pair not in _STANDARD]
    if not told:
        return ("standard" if region else ""), region
    return (_TIERS.get(told[0], "") if len(told) == 1 else ""), region


def bands_of(prices: Any) -> dict[int, Rates]:
    """Return rates by threshold. A tier of this database begins above its start."""
    priced = {name: value for name, value in vars(prices).items() if name.endswith("_mtok") and not _NO_TEXT.search(name)}
    refuse_unknown(priced, _SOLD)
    bands: dict[int, dict[Sold, float]] = {0: {}}
    for name, sold in _SOLD.items():
        price = getattr(prices, name, None)
        if price is None:
            continue
        bands[0][sold] = per_mtok(name, getattr(price, "base", price))
        for tier in _list_field(price, "tiers") if hasattr(price, "base") else ():
            start = token_count(tier.start)
            if start is None:
                raise WrongField(name, f"has a tier that starts at {tier.start!r}")
            bands.setdefault(start, {})[sold] = per_mtok(name, tier.price)
    return dict(bands)


def _hourly_offers(offer: Any, others: Mapping[int, Rates], by_hour: list[tuple[Any, dict[int, Rates]]]) -> Iterator[Offer]:
    """Yield the peak and the off-peak offer of a price that depends on the hour. The higher price is the peak, in its own hours."""
    if any(bands != by_hour[0][1] for _, bands in by_hour):
        raise WrongField("constraint", "has more than two prices a day")
    windows = sorted((_minutes(one.start_time), _minutes(one.end_time) or A_DAY) for one, _ in by_hour)
    within = by_hour[0][1]
    if any(start >= end for start, end in windows):
        raise WrongField("constraint", "has hours that run past midnight")
    dearer = within[0].get(("input", None), 0) >= others[0].get(("input", None), 0)
    peak, off_peak = (within, others) if dearer else (others, within)
    yield offer(bands=peak, service_tier="peak", utc_hours=hours_text(windows if dearer else between(windows)))
    yield offer(bands=off_peak, service_tier="off_peak")


def _minutes(moment: time) -> int:
    if moment.tzinfo is not None and moment.tzinfo is not UTC and moment.utcoffset():
        raise WrongField("constraint", f"has hours that are not in UTC: {moment}")
    return moment.hour * 60 + moment.minute


def _field(record: Any, name: str) -> Any:
    if not hasattr(record, name):
        raise WrongField(name, f"is not there in {type(record).__name__}")
    return getattr(record, name)


def _list_field(record: Any, name: str) -> Iterable[Any]:
    found = _field(record, name)
    if not isinstance(found, list | tuple):
        raise WrongField(name, f"is {type(found).__name__} and not list")
    return found
