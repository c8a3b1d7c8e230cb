"""Published prices and the predicted prices of a supposed model, as text and as JSON."""

import json
from collections.abc import Mapping

from derive.units import show
from invert.encoder import Keys, Through
from invert.report.contract import CODEC
from invert.report.layout import NONE, aligned
from invert.report.prices import PLACE, Prediction, amount_of, name_of_price, unit_of_prices
from invert.report.short import heading
from invert.result import Inference, Run
from invert.supposed import predict_prices


def supposed_parts(one: Inference, table: Run, supposed: Mapping[str, float]) -> list[str]:
    """Return the heading, the suppositions, and the table of prices with their residuals."""
    found = predict_prices(one, table, supposed)
    columns = (unit_of_prices(one), "published", "predicted", "residual")
    told = ", ".join(f"{name} = {show(name, value)}" for name, value in supposed.items())
    size = show("active_params", one.anchors.values["active_params"])
    assumed = [f"Assumed: active_params = {size}"] if "active_params" not in supposed else []
    rows = [dict(zip(columns, _cells(row, one.sheet.bands[0].input.currency), strict=True)) for row in found]
    said = ["Residual: predicted over published price, minus 1."]
    if not one.pairs:
        said.append("The sheet has one price for all lengths. Its mean context is not known, so KV bytes change only the cache prices.")
    return [*heading(one, table), f"Supposed: {told}", *assumed, "", aligned(columns, rows, rule=False), *said]


def _cells(found: Prediction, currency: str) -> tuple[str, str, str, str]:
    name, published = name_of_price(found.price), amount_of(found.price, currency)
    if found.residual is None:
        return name, published, NONE, NONE
    predicted = _predicted(found)
    told = "used" if found.used else "met" if found.bound and found.met else f"{found.residual:+.0%}"
    return name, published, f"{'at least ' * found.bound}{predicted:.3g}", told


def supposed_json(table: Run, supposed: Mapping[str, float]) -> str:
    """Return JSON with one object per sheet: the supposed values [SI], and every price with its residual."""
    sheets = [
        {
            "provider": one.sheet.provider,
            "model": one.sheet.model,
            "as_of": table.as_of.isoformat(),
            "supposed": dict(supposed),
            "prices": [CODEC.encode_keys(found, _PRICE_KEYS) for found in predict_prices(one, table, supposed)],
        }
        for one in table
    ]
    return json.dumps(sheets, indent=2, allow_nan=False)


def _predicted(found: Prediction) -> float | None:
    return found.price.amount if found.used else found.predicted


_PRICE_KEYS: Keys = {
    **PLACE,
    "published": "price.amount",
    "predicted": Through("", _predicted),
    **{name: name for name in ("residual", "used", "bound")},
    "currency": "price.currency",
    "per": "price.per",
}
