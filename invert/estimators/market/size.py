"""The size of a model from the price of its input: ln N = a + b (ln P - d) + s t, learnt from open models.

N in 1e9 parameters, P the base list price of input [USD/Mtoken], d the extra price/cost of a vendor with closed weights,
which is fitted on closed models of known size. Every model is left out of its own fit, with all models priced by the same
decision.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from math import log
from typing import Literal

import numpy as np

from derive.immutable import immutable
from invert.assumptions import USUAL, Assumptions
from invert.estimators.market.panel import Priced
from invert.estimators.market.regression import Fit, GroupedRows, Predictions, fit, foretold, grouped, predict_in_order
from invert.estimators.market.student import Floats, student_quantiles
from invert.posterior.sobol import DEFAULT, SEED, normals, uniforms
from invert.sheets.tables import DisclosedSize

BILLION = 1e9
SIZES_JUDGED_SINCE = date(2026, 1, 1)
"""Models released from this day on judge fits to earlier ones."""
_RESAMPLES = 1024

Params = Literal["active_params", "total_params"]


@immutable
class Use:
    """A fit: the quantity it predicts, and whether from sparse models of today alone or from all."""

    params: Params
    sparse: bool


CLOSED = Use(params="active_params", sparse=True)
"""Active parameters of a model with closed weights: sparse, as all of today's large models are."""
ANY = Use(params="active_params", sparse=False)
"""Active parameters of any model that its maker sells."""
TOTAL = Use(params="total_params", sparse=True)


@immutable
class Size:
    """Parameters of a model, as quantiles given its price, and the spread of their logarithm [nat]."""

    low: float
    median: float
    high: float
    spread: float


def rows_for(use: Use, priced: Iterable[Priced], without: str = "", assumptions: Assumptions = USUAL) -> tuple[Priced, ...]:
    """Return the rows that a use learns from, without a price family."""

    def is_used(row: Priced) -> bool:
        return not use.sparse or is_sparse_of_today(row.total_params, row.active_params, row.released, assumptions)

    return tuple(row for row in priced if is_used(row) and row.price_family != without)


def is_sparse_of_today(total_params: float, active_params: float, released: date, assumptions: Assumptions = USUAL) -> bool:
    """Return whether a model is sparse and new enough to be like the closed models of today."""
    return total_params > assumptions.sparse_ratio * active_params and released.year >= assumptions.sparse_since


def grouped_for(
    use: Use, rows: Sequence[Priced], by: str = "price_family", *predictors: Sequence[float], assumptions: Assumptions = USUAL
) -> GroupedRows:
    """Return the rows for a regression: ln parameters [1e9] in groups, on predictors, by default ln of the input price."""
    target = [log(getattr(row, use.params) / BILLION) for row in rows]
    chosen = predictors or ([log(row.input_price) for row in rows],)
    return grouped(target, [getattr(row, by) for row in rows], *chosen, assumptions=assumptions)


def fitted(use: Use, rows: Sequence[Priced], assumptions: Assumptions = USUAL) -> Fit:
    """Return the fit of a use to these rows."""
    return fit(grouped_for(use, rows, assumptions=assumptions))


def predict_left_out(
    use: Use, rows: Sequence[Priced], by: str = "price_family", assumptions: Assumptions = USUAL
) -> tuple[Predictions, Predictions]:
    """Return predictions of every row with its group left out, by the price and by the baseline without a price."""
    found = grouped_for(use, rows, by, assumptions=assumptions)
    return foretold(found), foretold(replace(found, predictors=found.predictors[:, :1]))


def predict_later(use: Use, rows: Sequence[Priced], assumptions: Assumptions = USUAL) -> tuple[Predictions, Predictions]:
    """Return predictions of models released since `SIZES_JUDGED_SINCE` by earlier models of other families, with and without a price."""
    found, days = grouped_for(use, rows, assumptions=assumptions), [row.released for row in rows]
    without_price = replace(found, predictors=found.predictors[:, :1])
    with_price, without = (predict_in_order(one, days, SIZES_JUDGED_SINCE, assumptions.least_to_learn) for one in (found, without_price))
    return with_price, without


def fitted_extra_markup(
    use: Use, rows: Sequence[Priced], sizes: Sequence[DisclosedSize], assumptions: Assumptions = USUAL
) -> tuple[float, float]:
    """Return mean and spread [nat] of the extra price/cost d of closed vendors, from closed models of known size.

    The residuals of these models from the fit to open ones are -b d plus the error of the fit, and the prior of d is normal. Vendors
    are groups.
    """
    prior = assumptions.extra_markup_prior
    mean, precision = log(prior.centre), prior.spread**-2
    if not sizes:
        return mean, prior.spread
    one, found = fitted(use, rows, assumptions), _grouped_closed(use, sizes, assumptions)
    residuals = found.target - found.predictors @ np.array([one.intercept, *one.slopes])
    slope = sum(one.slopes) / one.scale
    fitted_precision = precision + slope**2 * found.weights.sum()
    fitted_mean = (mean * precision - slope * (found.weights * residuals).sum() / one.scale) / fitted_precision
    return float(fitted_mean), float(fitted_precision**-0.5)


def _grouped_closed(use: Use, sizes: Sequence[DisclosedSize], assumptions: Assumptions) -> GroupedRows:
    known = [(log((one.exactly(use.params) or 0.0) / BILLION), one.vendor, log(one.input_price)) for one in sizes]
    return grouped(*zip(*known, strict=True), assumptions=assumptions)


def predict_closed(
    use: Use, rows: Sequence[Priced], sizes: Sequence[DisclosedSize], assumptions: Assumptions = USUAL
) -> tuple[Predictions, Predictions]:
    """Return predictions of the sizes of closed models by their prices and without a price.

    Vendors are groups.

    The fit is to open models, and the extra price/cost comes from the other closed vendors.
    """
    one, found = fitted(use, rows, assumptions), _grouped_closed(use, sizes, assumptions)
    extra = [fitted_extra_markup(use, rows, [other for other in sizes if other.vendor != row.vendor], assumptions) for row in sizes]
    means, spreads = np.array(extra).T
    by_price = Predictions(
        centre=one.intercept + sum(one.slopes) * (found.predictors[:, 1] - means),
        scale=np.hypot(one.scale, sum(one.slopes) * spreads),
        freedom=one.freedom,
        target=found.target,
        groups=found.groups,
    )
    seen = grouped_for(use, rows, assumptions=assumptions)
    alone = fit(replace(seen, predictors=seen.predictors[:, :1]))
    of_each = np.ones(len(sizes))
    without_price = replace(by_price, centre=alone.intercept * of_each, scale=alone.scale * of_each, freedom=alone.freedom)
    return by_price, without_price


def drawn_sizes(
    use: Use, rows: Sequence[Priced], extra_markup: tuple[float, float], seed: int = SEED, assumptions: Assumptions = USUAL
) -> "Draws":
    """Return draws of coefficients over resampled vendors, of the extra mark-up [nat: mean, sd] and of the error of a new family."""
    one, (mean, spread) = fitted(use, rows, assumptions), extra_markup
    coefficients = _resampled(use, rows, seed, assumptions)[(_RESAMPLES * uniforms(DEFAULT, seed)[:, 0]).astype(int)]
    return Draws(coefficients, mean + spread * normals(DEFAULT, seed)[:, 1], one.scale * _drawn_errors(one.freedom, seed))


@cache
def _drawn_errors(freedom: int, seed: int) -> Floats:
    """Return Student's t of these degrees of freedom at the points of the error of a new family.

    It is the same for a few rows more or less.
    """
    return student_quantiles(freedom, uniforms(DEFAULT, seed)[:, 2])


@immutable(eq=False, kw_only=False)
class Draws:
    """Draws of all the unknowns between a price and a size.

    They are the same for all prices, so that a higher price means a larger size.
    """

    coefficients: Floats
    extra_markup: Floats
    errors: Floats

    def ln_params(self, input_price: float) -> Floats:
        """Return ln of the parameters [1e9] at a price [USD/Mtoken]."""
        intercept, slope = self.coefficients.T
        return np.asarray(intercept + slope * (log(input_price) - self.extra_markup) + self.errors)

    def size(self, input_price: float, level: float) -> Size:
        """Return the median, and the ends of the central range with this share of the draws."""
        drawn = self.ln_params(input_price)
        ends = np.quantile(drawn, [(1 - level) / 2, 0.5, (1 + level) / 2])
        low, median, high = (float(end) for end in BILLION * np.exp(ends))
        return Size(low=low, median=median, high=high, spread=float(drawn.std()))


def _resampled(use: Use, rows: Sequence[Priced], seed: int, assumptions: Assumptions) -> Floats:
    """Return intercept and slope over vendors drawn with replacement (resamples, 2).

    A vendor drawn k times counts its families' rows k times, each with a weight of one over the square root of their number.
    """
    found = grouped_for(use, rows, assumptions=assumptions)
    names = sorted({row.vendor for row in rows})
    of_vendor = np.array([[row.vendor == name for row in rows] for name in names], dtype=float)
    outer = np.einsum("i,ij,ik->ijk", found.weights, found.predictors, found.predictors)
    grams = np.einsum("vi,ijk->vjk", of_vendor, outer)
    crosses = of_vendor @ (found.weights[:, None] * found.predictors * found.target[:, None])
    times = np.sqrt(_times_drawn(len(names), seed))
    ridge = found.slope_ridge * np.diag([0.0, 1.0])
    return np.asarray(np.linalg.solve(np.einsum("sv,vjk->sjk", times, grams) + ridge, (times @ crosses)[..., None])[..., 0])


@cache
def _times_drawn(count: int, seed: int) -> Floats:
    """Return the number of times that each of `count` is drawn with replacement (resamples, count)."""
    return np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=_RESAMPLES).astype(float)
