"""Two price bands of one sheet, from ratios of their prices."""

from invert.records import BandPair
from invert.sheets.observables import observe


def pair(ratio: float, premium_in: float, premium_out: float, short: float = 1e5, long: float = 4e5, threshold: int = 200_000) -> BandPair:
    observed = {"output_input_ratio": ratio, "premium_in": premium_in, "premium_out": premium_out}
    return BandPair(
        long_context_threshold=threshold,
        short_context=short,
        long_context=long,
        **{name: observe(name, value) for name, value in observed.items()},
    )
