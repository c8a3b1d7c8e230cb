"""The fitted line of size against price: its models, its ranges, and its predictions."""

from math import exp

import numpy as np
from scipy.special import stdtrit

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators.market.by_price import PER_MTOK
from invert.estimators.market.panel import listed_models
from invert.estimators.market.regression import predict_left_out
from invert.estimators.market.size import ANY, BILLION, size_at, size_record, size_table
from invert.estimators.market.typical_kv import typical_kv
from invert.records import JudgedPrediction, SizedModel, SizeLine

_PLACES = 11
"""Number of prices on the line."""


def size_line(data: Data, assumptions: Assumptions = USUAL) -> SizeLine:
    """Return the open models at the prices of their makers, and the fit to all of them between the lowest and the highest price.

    >>> from invert.data import read_data
    >>> found = size_line(read_data())
    >>> len(found.models), f"{found.prices[-1] * 1e6:g} USD/MTok: {found.sizes[-1][1] / 1e9:.0f}B"
    (80, '3 USD/MTok: 84B')
    """
    rows = listed_models(data)
    asked = [row.input_price for row in rows]
    prices = np.geomspace(min(asked), max(asked), _PLACES).tolist()
    sizes = [size_at(data, ANY, price, "", False, assumptions) for price in prices]
    return SizeLine(
        models=tuple(SizedModel(model=row.model, input_price=row.input_price / PER_MTOK, active_params=row.active_params) for row in rows),
        prices=tuple(price / PER_MTOK for price in prices),
        sizes=tuple((one.low, one.median, one.high) for one in sizes),
        level=assumptions.level,
        record=size_record(data, ANY, assumptions=assumptions),
    )


def known_kv_bytes(data: Data, assumptions: Assumptions = USUAL) -> dict[str, float]:
    """Return the KV bytes that a step reads for each model with a known cache [byte/token], in bf16."""
    return {one.architecture: exp(one.ln_kv) for one in typical_kv(data, assumptions)["read"].caches}


def judged_sizes(data: Data, assumptions: Assumptions = USUAL) -> tuple[JudgedPrediction, ...]:
    """Return the active parameters that the price of each open model predicts, by a fit without its price family."""
    rows = listed_models(data)
    found, reach = predict_left_out(size_table(data, ANY, assumptions)), (1 + assumptions.level) / 2
    reaches = found.scale * float(stdtrit(found.freedom, reach))
    return tuple(
        JudgedPrediction(
            model=row.model,
            by=f"input at {row.input_price:g} USD/MTok",
            truth=row.active_params,
            low=BILLION * exp(centre - reach),
            median=BILLION * exp(centre),
            high=BILLION * exp(centre + reach),
            level=assumptions.level,
        )
        for row, centre, reach in zip(rows, found.centre, reaches, strict=True)
    )
