"""Roots of a smooth formula without a closed form: the zeros of its curve, each confirmed in 50 digits."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np

from derive.evaluate import evaluate_arrays, precise
from derive.expressions.curve import Floats, find_zeros, grid_of
from derive.expressions.digits import LAST_DIGITS, clamp, loses_digits, root_in_50_digits
from derive.trees import Tree, terms

_GRID, _SPARSE = 2000, 50
"""Number of points of the curve, and of points with many digits, which are slow."""
_NEARLY = 1e-3
"""Largest relative height at a zero that is to be confirmed. Next to the edge of its domain, a curve is steep."""
_MOST_ROOTS = 100
"""With more zeros than this, the formula is zero everywhere except for rounding, so there is no root."""


@lru_cache(maxsize=64)
def search_roots(difference: Tree, unknown: str, givens: tuple[tuple[str, float], ...]) -> tuple[float, ...]:
    """Return all roots of a smooth formula over the domain of the unknown, to the last digit.

    They are cached, because a question asks for them in each of its routes.
    """
    from scipy.optimize import brentq

    values, parts = dict(givens), terms(difference)

    def height(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            at = {**{name: np.float64(value) for name, value in givens}, unknown: x}
            heights = [np.broadcast_to(evaluate_arrays(part, at), x.shape) for part in parts]
            return np.asarray(sum(heights) / sum(map(abs, heights)), dtype=float)

    def precise_height(x: float) -> float:
        heights = [precise(part, {**values, unknown: x}) for part in parts]
        return float(sum(heights) / sum(map(abs, heights))) if any(heights) else 0.0

    zeros, _ = find_zeros(unknown, height, _GRID, _NEARLY)
    starts = {low for low, high in zeros if low is not None and low == high}
    is_level = len(starts) < len(zeros) or len(starts) > _MOST_ROOTS
    if is_level or (not zeros and any(map(loses_digits, parts))):
        # Where rounding leaves nothing of what moves, many digits still see it.
        grid = [(x, precise_height(x)) for x in grid_of(unknown, _SPARSE).tolist()]
        starts |= {brentq(precise_height, x, beyond) for (x, y), (beyond, after) in pairwise(grid) if y * after < 0}
    if len(starts) > _MOST_ROOTS:
        return ()
    return tuple(sorted({root for start in starts for root in _confirm_root(difference, unknown, {**values, unknown: start})}))


def _confirm_root(difference: Tree, unknown: str, at: Mapping[str, float]) -> list[float]:
    """Return the root near the present value, or an empty list if the curve is zero there by rounding alone."""
    exact = root_in_50_digits(difference, None, unknown, at)
    if exact is not None:
        return [clamp(unknown, float(exact))]
    scale = max(abs(precise(term, at)) for term in terms(difference))
    return [at[unknown]] if abs(precise(difference, at)) <= LAST_DIGITS * scale else []
