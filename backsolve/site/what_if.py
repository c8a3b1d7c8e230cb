"""What a page needs to read a sheet again at other prices: the readings that have a closed form, as trees, and what they rest on."""

from typing import Any

from derive.trees import tree_of
from derive.units import scale
from invert.records import Reading
from invert.result import Inference
from invert.sheets.observables import PRICE_RATIOS, named_prices


def what_if(one: Inference) -> dict[str, Any]:
    """The prices of the first bands as fields, and the readings of them as legs, each with what it came to at the published prices.

    A leg is worked out after those before it. The prices are the only givens that move: mean contexts and outside facts stay.

    >>> from invert.inference import infer
    >>> found = what_if(infer("gemini-3.1-pro")[0])
    >>> [round(field["usd_per_token"] * 1e6, 9) for field in found["fields"]], [reading["words"] for reading in found["readings"]][0]
    ([2.0, 12.0, 4.0, 18.0], 'bandwidth-bound fraction, as the lecture reads it')
    """
    bands = one.sheet.bands[: 2 if one.pairs else 1]
    fields = [
        {
            **{"name": name, "words": _in_words(name, bands[-1].threshold_tokens), "quantity": f"{name.partition('_')[0]}_price"},
            "usd_per_token": price.usd_per_token,
        }
        for name, price in named_prices(*bands).items()
    ]
    wanted = [("bandwidth-bound fraction, as the lecture reads it", "bandwidth_bound_fraction", one.bandwidth_bound)]
    if one.pairs:
        pair = one.pairs[0]
        wanted += [
            ("KV bytes per token, as the lecture reads the threshold", "kv_bytes_per_token", pair.lecture),
            ("KV bytes per token, by both premiums at one mark-up", "kv_bytes_per_token", pair.joint),
            ("balance context, likewise", "balance_context", pair.joint),
        ]
    return {"fields": fields, "readings": [_reading(*row) for row in wanted if row[1] in row[2].values]}


def _in_words(name: str, threshold: int) -> str:
    """What a price is called beside its field.

    >>> _in_words("input_above", 200_000)
    'input price, above 200,000 tokens'
    """
    side, _, above = name.partition("_")
    return f"{side} price" + (f", above {threshold:,} tokens" if above else "")


def _reading(words: str, makes: str, reading: Reading) -> dict[str, Any]:
    solution = reading.solution
    ratios = [(name, ("/", *prices)) for name, prices in PRICE_RATIOS.items() if name in solution.given]
    legs = [(step.unknown, tree_of(step.formula)) for step in solution.route if step.formula]
    size, unit = scale(makes, reading.values[makes])
    return {
        "words": words,
        "makes": makes,
        "legs": [{"makes": name, "right": tree} for name, tree in (*ratios, *legs)],
        "given": {name: value for name, value in solution.given.items() if name not in PRICE_RATIOS},
        "value": reading.values[makes],
        "size": size,
        "unit": unit.strip(),
    }
