"""The fitted line of size against price: its models, its ranges, and its predictions."""

from math import exp

import numpy as np
from scipy.special import stdtrit

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators.market.by_price import PER_MTOK
from invert.estimators.market.size import ANY, BILLION, Size, size_at, size_table
from invert.estimators.market.typical_kv import typical_kv
from invert.estimators.panel import listed_models
from invert.estimators.prediction import predict_left_out
from invert.records import JudgedPrediction

_PLACES = 11
"""Number of prices on the line."""


def size_line(data: Data, assumptions: Assumptions = USUAL) -> dict[float, Size]:
    """Return the size by the fit to all open models, at prices [USD/token] from the lowest to the highest of their makers.

    >>> from invert.data import read_data
    >>> price, size = [*size_line(read_data()).items()][-1]
    >>> f"{price * 1e6:g} USD/MTok: {size.median / 1e9:.0f}B"
    '3 USD/MTok: 84B'
    """
    asked = [row.input_price for row in listed_models(data)]
    prices = np.geomspace(min(asked), max(asked), _PLACES).tolist()
    return {price / PER_MTOK: size_at(data, ANY, price, "", False, assumptions) for price in prices}


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
