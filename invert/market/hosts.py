"""What hosts of one model ask for it: one set of weights, and prices that differ."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log, sqrt
from statistics import fmean

from derive.shipped_rows import HostPrice
from invert.market.panel import of_its_own


def spread_of_output_input_ratio(rows: Iterable[HostPrice]) -> float:
    """Standard deviation [nat] of ln(output/input) between hosts of one model on rented accelerators, pooled within models."""
    of_model: Mapping[str, list[float]] = defaultdict(list)
    for row in of_its_own(rows):
        of_model[row.model].append(log(row.output_price / row.input_price))
    squares = sum((ratio - fmean(ratios)) ** 2 for ratios in of_model.values() for ratio in ratios)
    return sqrt(squares / sum(len(ratios) - 1 for ratios in of_model.values()))
