"""What a page needs to read a sheet again at other prices: the estimates that have a closed form, as trees, and what they rest on."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log2
from typing import Any

from derive.trees import tree_of
from derive.units import scale, show
from invert.data import read_data
from invert.estimators.market.by_price import size_by_price, told_size
from invert.records import Reading
from invert.result import Inference
from invert.sheets.observables import PRICE_RATIOS, named_prices
from invert.sheets.sheet import Price, PriceBand


def what_if(one: Inference) -> dict[str, Any]:
    """Return the prices of the first bands as fields, and what follows from them as legs, with its value at the published prices.

    A leg is worked out after those before it. The prices are the only givens that move: mean contexts and outside facts stay.

    >>> from invert.inference import infer
    >>> found = what_if(infer("gemini-3.1-pro")[0])
    >>> [round(field["usd_per_token"] * 1e6, 9) for field in found["fields"]], [reading["words"] for reading in found["readings"]][0]
    ([2.0, 12.0, 0.2, 4.0, 18.0], 'active parameters by input price')
    """
    bands = one.sheet.bands[: 2 if one.pairs else 1]
    fields = [
        {
            **{"name": name, "words": _in_words(name, bands[-1].threshold_tokens), "quantity": f"{name.removesuffix('_above')}_price"},
            "usd_per_token": price.usd_per_token,
        }
        for name, price in _prices(bands).items()
    ]
    wanted = [("bandwidth-bound fraction, by output/input", "bandwidth_bound_fraction", one.bandwidth_bound)]
    if one.pairs:
        pair = one.pairs[0]
        wanted += [
            ("KV from threshold (the lecture's formula)", "kv_bytes_per_token", pair.lecture),
            ("KV by both premiums at one price/cost", "kv_bytes_per_token", pair.joint),
            ("balance context, by the same", "balance_context", pair.joint),
        ]
    readings = [_reading(*row) for row in wanted if row[1] in row[2].values]
    return {"fields": fields, "readings": [*_moving(one, fields), *readings]}


def _prices(bands: Sequence[PriceBand]) -> dict[str, Price]:
    """Return the prices that move, by name: input, output, a hit in the cache, and both above the threshold."""
    first, *others = named_prices(*bands).items()
    base = [first, *others[:1], *([("cache_read", bands[0].cache_read)] if bands[0].cache_read else [])]
    return dict([*base, *others[1:]])


def _moving(one: Inference, fields: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the estimates that move with a price by a formula: size and price/cost, KV bytes by the premium, the price of a hit."""
    published = {field["name"]: field["usd_per_token"] for field in fields}
    moved = ("/", "input", published["input"])
    if (power := _power_of_price(one)) and (size := one.market["active_params"].median) and (ratio := one.market["input_markup"].median):
        sized = {"makes": "active_params", "right": ("*", size, ("**", moved, power))}
        yield _leading("active parameters by input price", [sized], size)
        priced = {"makes": "input_markup", "right": ("*", ratio, moved, ("/", size, "active_params"))}
        yield _leading("price/cost", [sized, priced], ratio)
    kv = one.kv_bytes["at_rent"].median if "at_rent" in one.kv_bytes else None
    if kv and one.pairs and (rise := published["output_above"] - published["output"]) > 0:
        right = ("*", kv, ("/", ("+", "output_above", ("-", "output")), rise))
        yield _leading("KV from premium at cost, with unchanged contexts", [{"makes": "kv_bytes_per_token", "right": right}], kv)
    if "cache_read" in published:
        leg = {"makes": "cache_read_ratio", "right": ("/", "cache_read", "input")}
        yield _leading("a cache hit over input", [leg], published["cache_read"] / published["input"])


def _power_of_price(one: Inference) -> float | None:
    """Return by how many per cent the size rises with one per cent of the list price, or None if no list price tells the size."""
    data = read_data()
    found = size_by_price(one.sheet, one.model, data, one.assumptions).value
    if found is None or found.hosts:
        return None
    sizes = [told_size(replace(found, price=found.price * times), "active_params", data, one.assumptions).median for times in (1, 2)]
    return log2(sizes[1] / sizes[0])


def _leading(words: str, legs: list[dict[str, Any]], value: float, makes: str = "") -> dict[str, Any]:
    """Return a reading that legs lead to, of the last of them unless another is named."""
    makes = makes or legs[-1]["makes"]
    size, unit = scale(makes, value)
    return {"words": words, "makes": makes, "legs": legs, "given": {}, "value": value, "size": size, "unit": unit.strip()}


def _in_words(name: str, threshold: int) -> str:
    """What a price is called beside its field.

    >>> _in_words("input_above", 200_000)
    'input price above 200k'
    """
    price = f"{name.removesuffix('_above').replace('_', ' ')} price"
    return f"{price} above {show('long_context_threshold', threshold).removesuffix(' tokens')}" if name.endswith("_above") else price


def _reading(words: str, makes: str, reading: Reading) -> dict[str, Any]:
    solution = reading.solution
    ratios = [(name, ("/", *prices)) for name, prices in PRICE_RATIOS.items() if name in solution.given]
    legs = [(step.unknown, tree_of(step.formula)) for step in solution.route if step.formula]
    given = {name: value for name, value in solution.given.items() if name not in PRICE_RATIOS}
    return _leading(words, [{"makes": name, "right": tree} for name, tree in (*ratios, *legs)], reading.values[makes], makes) | {
        "given": given
    }
