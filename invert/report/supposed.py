"""Published prices beside those that a supposed model would have, as text and as JSON."""

import json
from collections.abc import Mapping

from derive.units import show
from invert.report.layout import NONE, aligned
from invert.report.prices import amount_of, name_of_price, unit_of_prices
from invert.report.short import heading
from invert.result import Inference, Run
from invert.supposed import SupposedPrice, predict_prices


def supposed_parts(one: Inference, table: Run, supposed: Mapping[str, float]) -> list[str]:
    """Return the heading, what is supposed, and the table of prices with their residuals."""
    found = predict_prices(one, table, supposed)
    columns = (unit_of_prices(one), "published", "predicted", "residual")
    told = ", ".join(f"{name} = {show(name, value)}" for name, value in supposed.items())
    rows = [dict(zip(columns, _cells(one, row), strict=True)) for row in found]
    said = ["Residual: predicted over published, less 1."]
    if not one.pairs:
        said.append("One price for all lengths: its mean context is not known, so KV bytes move the cache prices alone.")
    return [*heading(one, table), f"Supposed: {told}", "", aligned(columns, rows, rule=False), *said]


def _cells(one: Inference, found: SupposedPrice) -> tuple[str, str, str, str]:
    row = found.prediction
    published = amount_of(row.price, one.sheet.bands[0].input.currency)
    if row.predicted is None or found.residual is None:
        return name_of_price(one, row), published, NONE, NONE
    predicted = f"{'at least ' * row.bound}{row.predicted:.3g}"
    told = "used" if row.used else "met" if row.bound and row.met else f"{found.residual:+.0%}"
    return name_of_price(one, row), published, predicted, told


def supposed_json(table: Run, supposed: Mapping[str, float]) -> str:
    """Return JSON with one object per sheet: the supposed values [SI], and every price with its residual."""
    return json.dumps([_record(one, table, supposed) for one in table.inferences], indent=2, allow_nan=False)


def _record(one: Inference, table: Run, supposed: Mapping[str, float]) -> dict[str, object]:
    prices = [
        {
            "component": found.prediction.component,
            "threshold_tokens": found.prediction.threshold_tokens,
            "ttl_seconds": found.prediction.ttl_seconds,
            "published": found.prediction.price.amount,
            "predicted": found.prediction.predicted,
            "residual": found.residual,
            "used": found.prediction.used,
            "bound": found.prediction.bound,
            "currency": found.prediction.price.currency,
            "per": found.prediction.price.per,
        }
        for found in predict_prices(one, table, supposed)
    ]
    return {"provider": one.sheet.provider, "model": one.sheet.model, "as_of": table.as_of.isoformat(), "supposed": dict(supposed),
            "prices": prices}  # fmt: skip
