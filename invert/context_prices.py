"""What the joint reading of a sheet makes of its prices at every context, beside the bands that they are sold in."""

import numpy as np

from invert.assumptions import USUAL, Assumptions
from invert.forward_model import forward
from invert.records import PricesByContext
from invert.result import Inference
from invert.sheets.contexts import longest_context

_FIRST, _PLACES = 1e3, 61
"""Context [token] that a curve begins at, and its points."""


def prices_by_context(one: Inference, assumptions: Assumptions = USUAL) -> PricesByContext:
    """Compute input and output prices by the joint reading from 1,000 tokens to the end of the last band.

    >>> from invert.inference import infer
    >>> found = prices_by_context(infer("gemini-3.1-pro")[0])
    >>> f"{1e6 * found.outputs[0]:.1f} to {1e6 * found.outputs[-1]:.1f} USD/MTok at {found.last:g} tokens"
    '11.7 to 29.6 USD/MTok at 1.04858e+06 tokens'
    """
    threshold = float(one.sheet.bands[-1].threshold_tokens)
    longest = longest_context(one.sheet, one.model)
    last = float(longest) if longest and longest > threshold else assumptions.open_top_ratio * max(threshold, _FIRST)
    joint = one.pairs[0].joint if one.pairs else None
    if joint is None or not joint.values:
        problem = (joint.problem or "") if joint else "one price for all lengths: no premium to read"
        return PricesByContext(contexts=(), inputs=(), outputs=(), first=_FIRST, last=last, problem=problem)
    contexts = np.geomspace(_FIRST, last, _PLACES).tolist()
    base = one.pairs[0].pair.short_context
    found = forward({**one.anchors.values, **joint.values}, (base, *contexts), one.sheet.bands[0].input.usd_per_token)
    inputs, outputs = (tuple(map(float, prices[1:])) for prices in (found["input"], found["output"]))
    return PricesByContext(contexts=tuple(contexts), inputs=inputs, outputs=outputs, first=_FIRST, last=last, problem="")
