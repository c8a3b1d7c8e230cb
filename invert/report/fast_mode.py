"""A fast mode in words: its price and speed, the batches behind them, and the floor of a slow mode."""

from invert.estimate_text import two_digits
from invert.records import FastMode
from invert.report.layout import NONE
from invert.result import Inference, Run

_BATCH = "batch"
"""The service tier that is sold as a slow mode."""


def fast_mode_in_brief(found: FastMode | None) -> str:
    """Return `2x/2.5x`: price and speed of a fast mode over standard."""
    if found is None:
        return NONE
    return f"{found.price_ratio:.3g}x" + (f"/{found.speed_ratio:.3g}x" if found.speed_ratio else "")


def fast_mode_line(one: Inference, run: Run) -> str:
    """Describe the batches of a fast mode and a slow mode in a sentence or two, or return an empty text."""
    found = one.fast_mode
    if found is None:
        return ""
    price = f"Fast mode: {found.price_ratio:.3g}x the price"
    if not (found.speed_ratio and found.batch_ratio and found.slow_mode_floor):
        given = f"fast_price_ratio={found.price_ratio:.6g} fast_speed_ratio=2.5"
        return f"{price}, at an unknown speed: backsolve solve fast_batch_ratio {given}"
    sold = next((of.times for of in run.also_sold(one) if of.service_tier == _BATCH), None)
    at_batch = f"; {_BATCH} is sold at {100 * sold:.0f} %" if sold else ""
    return (
        f"{price} at up to {found.speed_ratio:.3g}x the speed. If price follows cost, its batch is {two_digits(found.batch_ratio)} times"
        f" smaller. A slow mode would then cost at least {100 * found.slow_mode_floor:.0f} % of standard{at_batch}."
    )
