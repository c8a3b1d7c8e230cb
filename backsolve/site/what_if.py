"""Compute the data for the readings of a sheet at other prices: fields of prices, and trees of the estimates with a closed form."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import log2, prod, sqrt
from typing import Any

from derive.trees import Tree, tree_of, value_of
from derive.units import scale, show
from invert.data import read_data
from invert.estimators.size import size_at_price, size_by_price
from invert.records import TIER_NAMES
from invert.result import Inference
from invert.sheets.observables import rounding_cell
from invert.storage.tiers import tier_parameters

BANDS = 2
"""Bands whose prices move: up to the first threshold, and above it."""
PREMIUM = "rounded_premium"
"""The output price above the threshold over the price below, as the middle of its rounding cell."""
_RATIOS: dict[str, Tree] = {
    "output_input_ratio": ("/", "output", "input"),
    "premium_in": ("/", "input_above", "input"),
    "premium_out": ("/", "output_above", "output"),
}
"""The ratios of prices that readings use."""

ESTIMATE_DIGITS, DIGITS = 2, {"cache_read_ratio": 3}
"""Digits of an estimate, and of a ratio that is not an estimate."""


def what_if(one: Inference) -> dict[str, Any]:
    """Return the prices of a sheet as fields, and the readings that follow, as legs with their values at the published prices.

    A leg is computed after the legs before it. Only prices move: mean contexts and outside facts stay. `nice` are the numbers that
    prices are rounded to, from the decade below to the decade above.

    >>> from invert.inference import infer
    >>> found = what_if(infer("gemini-3.1-pro")[0])
    >>> [(field["name"], round(field["price"] * 1e6, 9)) for field in found["fields"]][:3], found["readings"][0]["words"]
    ([('input', 2.0), ('output', 12.0), ('cache_read', 0.2)], 'active parameters by input price')
    """
    fields = [*_fields(one)]
    published = {field["name"]: field["price"] for field in fields}
    nice = one.assumptions.nice_numbers
    lattice = [nice[-2] / 10, *nice, nice[1] * 10]
    return {"fields": fields, "nice": lattice, "readings": [*_proportional(one, published), *_solved(one)]}


def middle_of_cell(value: float) -> float:
    """Return the geometric middle of the values that round to this published number.

    >>> round(middle_of_cell(1.5), 2)
    1.54
    """
    return sqrt(prod(rounding_cell(value)))


def _fields(one: Inference) -> Iterator[dict[str, Any]]:
    """Yield the prices that move: input, output, cache hits, cache writes, storage, and both prices above the threshold."""
    bands = one.sheet.bands[: BANDS if one.pairs else 1]
    yield from (_field(name, f"{name} price", getattr(bands[0], name).usd_per_token) for name in ("input", "output"))
    if hit := bands[0].cache_read:
        yield _field("cache_read", "cache hit price", hit.usd_per_token, "cache_read_price")
    for write in one.sheet.writes:
        if write.ttl_seconds:
            yield _field(f"write_{write.ttl_seconds:g}", f"cache write, kept {show('ttl', write.ttl_seconds)}", write.usd_per_token)
    if storage := one.observables.storage_price:
        yield _field("cache_storage", "cache storage price", storage.value, "storage_price")
    for band in bands[1:]:
        above = f"price above {show('long_context_threshold', band.threshold_tokens).removesuffix(' tokens')}"
        yield from (_field(f"{name}_above", f"{name} {above}", getattr(band, name).usd_per_token) for name in ("input", "output"))


def _field(name: str, words: str, price: float, quantity: str = "input_price") -> dict[str, Any]:
    return {"name": name, "words": words, "quantity": quantity, "price": price}


def _proportional(one: Inference, published: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """Yield the estimates that are proportional to an expression of prices, with their values at the published prices."""
    storage, power = _storage_price([*published]), _power_of_price(one)
    # The increment is read from the premium as vendors round it, and from all bands of a sheet.
    has_rise = one.pairs and len(one.sheet.bands) == BANDS
    rise: Tree | None = ("+", "output_above", ("-", "output")) if has_rise else None
    rounded: Tree | None = ("*", "output", ("+", PREMIUM, -1)) if has_rise else None
    prices = {**published, PREMIUM: middle_of_cell(published["output_above"] / published["output"])} if has_rise else published
    size, price_cost = ((one.by_price[name].median if power is not None else None) for name in ("active_params", "input_price_cost_ratio"))
    kv = one.kv_bytes["from_premium"].median if "from_premium" in one.kv_bytes else None
    hit = published["cache_read"] / published["input"] if "cache_read" in published else None
    drain = next((found.implied_drain_time for found in one.storage or () if found.implied_drain_time), None)
    tiers = tier_parameters(read_data(), "owned", one.assumptions.price_years[-1], one.assumptions)
    stored = one.known.stored if one.known else one.kv_bytes_stored["typical"].median
    over_hbm = value_of(storage, published) / (stored * tiers["hbm"].holding_price.median) if storage and stored else None
    near = [[TIER_NAMES[tier], found.drain_time.median] for tier, found in tiers.items()]
    rows: list[tuple[str, str, float | None, Tree | None]] = [
        ("active parameters by input price", "active_params", size, ("**", "input", power or 0.0)),
        ("price/cost", "input_price_cost_ratio", price_cost, ("**", "input", 1 - (power or 0.0))),
        ("KV from premium", "kv_bytes_per_token", kv, rounded),
        ("cache hit price over input price", "cache_read_ratio", hit, ("/", "cache_read", "input")),
        (
            "drain time from storage price and premium, nearest memory",
            "drain_time",
            drain,
            ("/", rise, storage) if rise and storage else None,
        ),
        ("storage price over the cost of HBM, with typical KV bytes", "input_price_cost_ratio", over_hbm, storage),
    ]
    for words, makes, value, tree in rows:
        if value and tree and (now := value_of(tree, prices)) > 0:
            reading = _reading(words, makes, {makes: ("*", value / now, tree)}, value, {})
            yield reading | ({"tiers": near} if makes == "drain_time" else {})


def _storage_price(names: list[str]) -> Tree | None:
    """Return the storage price [USD/token/s]: the field, or the slope between two cache writes."""
    if "cache_storage" in names:
        return "cache_storage"
    lives = sorted(float(name.removeprefix("write_")) for name in names if name.startswith("write_"))[:2]
    if len(lives) < 2:
        return None
    short, long = lives
    return ("/", ("+", f"write_{long:g}", ("-", f"write_{short:g}")), long - short)


def _power_of_price(one: Inference) -> float | None:
    """Return the change of the size in per cent for one per cent more of the list price, or None if no list price gives the size."""
    data = read_data()
    found = size_by_price(one.sheet, one.model, data, one.assumptions)
    if isinstance(found, str) or found.hosts or one.sheet.list_input:
        return None
    sizes = [size_at_price(replace(found, price=found.price * times), "active_params", data, one.assumptions).median for times in (1, 2)]
    return log2(sizes[1] / sizes[0])


def _solved(one: Inference) -> Iterator[dict[str, Any]]:
    """Yield the readings that equations give, with the ratios of prices and the formulas on the way to them."""
    wanted = [("bandwidth-bound fraction by output/input", "bandwidth_bound_fraction", one.bandwidth_bound)]
    if one.pairs:
        pair = one.pairs[0]
        wanted += [
            ("KV from threshold (the lecture's formula)", "kv_bytes_per_token", pair.lecture),
            ("KV by both premiums at one price/cost", "kv_bytes_per_token", pair.joint),
            ("balance context by both premiums", "balance_context", pair.joint),
        ]
    for words, makes, reading in wanted:
        if makes in reading.values:
            given = reading.solution.given
            ratios = {name: ratio for name, ratio in _RATIOS.items() if name in given}
            formulas = {step.unknown: tree_of(step.formula) for step in reading.solution.route if step.formula}
            facts = {name: value for name, value in given.items() if name not in _RATIOS}
            yield _reading(words, makes, ratios | formulas, reading.values[makes], facts)


def _reading(words: str, makes: str, trees: Mapping[str, Tree], value: float, given: Mapping[str, float]) -> dict[str, Any]:
    """Return a reading with its legs, its value at the published prices and its unit."""
    size, unit = scale(makes, value)
    legs = [{"makes": name, "right": tree} for name, tree in trees.items()]
    digits = DIGITS.get(makes, ESTIMATE_DIGITS)
    shown = {"value": value, "size": size, "unit": unit.strip(), "digits": digits}
    return {"words": words, "makes": makes, "legs": legs, "given": {**given}, **shown}
