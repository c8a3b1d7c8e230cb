"""Size from price, held against figures that were worked out from the same collection of prices by a program of its own.

The figures are of a study of 2026-11-21, as printed there, to two digits; `reference` is a second way to them that imports
nothing of ours and reads the shipped tables.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from derive.preset_rows import OpenModel
from derive.tables import shipped
from derive.tables.shipped import rows_of
from invert.estimators.market import panel, record, size
from invert.estimators.market.regression import fit, grouped
from invert.estimators.market.size import ANY, CLOSED, TOTAL
from invert.sheets.tables import HostPrice, ListPrice

TABLES = Path(shipped.FOLDER)
LISTED = panel.by_list_price(rows_of(OpenModel), rows_of(ListPrice))
HOSTED = panel.by_host_price(rows_of(OpenModel), rows_of(HostPrice), 3)
EXTRA_MARKUP = (0.3, 0.6)

FITS = (
    (CLOSED, LISTED, 3.579, 0.595, 0.603, 19, 42, 21),
    (ANY, LISTED, 3.717, 0.641, 0.610, 30, 80, 32),
    (TOTAL, LISTED, 6.515, 0.683, 0.793, 19, 42, 21),
    (CLOSED, HOSTED, 3.790, 0.829, 0.521, 17, 43, 19),
    (TOTAL, HOSTED, 6.906, 1.129, 0.652, 17, 43, 19),
)
RECORDS = (
    (ANY, LISTED, "price_family", 0.65, 0.95, 0.38, 0.55, 0.93),
    (ANY, LISTED, "vendor", 0.65, 0.94, 0.37, 0.50, 0.90),
    (CLOSED, LISTED, "price_family", 0.64, 0.84, 0.25, 0.60, 0.90),
    (TOTAL, LISTED, "price_family", 0.82, 1.03, 0.21, None, 0.90),
    (CLOSED, HOSTED, "price_family", 0.53, 0.98, 0.60, None, 0.91),
    (TOTAL, HOSTED, "price_family", 0.64, 1.29, 0.70, None, 0.93),
)


def reference(frame: pd.DataFrame, target: str, group: str) -> tuple[float, float, float]:
    """Root mean square, with and without the price, and the gain in log density, each group of rows foretold by the others."""
    y, codes = np.log(frame[target] / 1e9).to_numpy(), pd.factorize(frame[group])[0]
    weights = 1 / np.sqrt(np.bincount(codes)[codes])

    def coefficients(a, keep):
        ridge = np.diag([0.0] + [1e-3] * (a.shape[1] - 1))
        scaled = a[keep] * weights[keep, None]
        return np.linalg.solve(scaled.T @ a[keep] + ridge, scaled.T @ y[keep])

    def judged(a):
        errors, density, groups = np.empty(len(y)), np.empty(len(y)), np.unique(codes)
        for one in groups:
            rest, total, weight = codes != one, 0.0, 0.0
            for other in groups[groups != one]:
                inside = rest & (codes == other)
                wrong = y[inside] - a[inside] @ coefficients(a, rest & ~inside)
                total, weight = total + (weights[inside] * wrong**2).sum(), weight + weights[inside].sum()
            out, scale = ~rest, np.sqrt(total / weight)
            errors[out] = y[out] - a[out] @ coefficients(a, rest)
            density[out] = stats.t.logpdf(errors[out], max(len(groups) - a.shape[1], 3), scale=scale)
        return np.sqrt((errors**2).mean()), density.mean()

    ones = np.ones(len(y))
    (rms, density), (rms_of_class, of_class) = (
        judged(np.column_stack(columns)) for columns in ((ones, np.log(frame["input_price"])), (ones,))
    )
    return rms, rms_of_class, density - of_class


@pytest.mark.parametrize(("use", "priced", "intercept", "slope", "scale", "freedom", "count", "families"), FITS)
def test_the_fits_have_these_coefficients(use, priced, intercept, slope, scale, freedom, count, families):
    one = size.fitted(use, size.rows_for(use, priced))
    assert (one.intercept, *one.slopes, one.scale) == pytest.approx((intercept, slope, scale), abs=0.005)
    assert (one.freedom, one.count, one.groups) == (freedom, count, families)


@pytest.mark.parametrize(("use", "priced", "by", "rms", "of_class", "gain", "half", "nine_tenths"), RECORDS)
def test_what_was_not_seen_is_foretold_as_well_as_this(use, priced, by, rms, of_class, gain, half, nine_tenths):
    one = record.record(*size.predict_left_out(use, size.rows_for(use, priced), by))
    assert (one.rms, one.rms_of_class, one.gain) == pytest.approx((rms, of_class, gain), abs=0.0075)
    assert one.has_skill()
    assert half is None or one.held[0].share == pytest.approx(half, abs=0.0075)
    assert one.held[1].share == pytest.approx(nine_tenths, abs=0.0075)


@pytest.mark.parametrize("by", ["price_family", "vendor"])
def test_a_second_program_comes_to_the_same_records(by):
    models = pd.read_csv(TABLES / "open_models.csv")
    frame = pd.read_csv(TABLES / "list_prices.csv").merge(models, on="model", validate="one_to_one")
    ours = record.record(*size.predict_left_out(ANY, size.rows_for(ANY, LISTED), by))
    assert (ours.rms, ours.rms_of_class, ours.gain) == pytest.approx(reference(frame, "active_params", by), rel=1e-9)


def test_shuffled_prices_say_nothing_of_size():
    random = np.random.default_rng(20261122)
    gains = []
    for _ in range(20):
        prices = random.permutation([row.input_price for row in LISTED])
        rows = [replace(row, input_price=float(price)) for row, price in zip(LISTED, prices, strict=True)]
        gains.append(record.record(*size.predict_left_out(ANY, rows)).gain)
    assert abs(np.mean(gains)) < 0.02 and max(gains) < 0.1


WESTERN = {"mistral", "cohere", "ai21", "xai", "databricks", "microsoft", "meta", "reka", "thinkingmachines", "arcee"}


@pytest.mark.parametrize(
    ("seen", "rms", "bias", "nine_tenths"),
    [
        (lambda row: row.vendor not in WESTERN, 0.66, 0.01, 0.91),
        (lambda row: row.vendor in WESTERN, 0.60, -0.09, 0.93),
        (lambda row: row.released.year < 2026, 0.55, -0.18, 0.96),
        (lambda row: row.input_price < 0.6, 0.44, -0.11, 1.0),
        (lambda row: row.total_params <= 1.05 * row.active_params, 0.74, -0.39, 0.90),
    ],
    ids=["west", "the rest", "2026", "dear", "sparse"],
)
def test_what_one_half_teaches_holds_in_the_other(seen, rms, bias, nine_tenths):
    one = size.fitted(ANY, [row for row in LISTED if seen(row)])
    errors = np.array([_error(one, row.active_params, row.input_price) for row in LISTED if not seen(row)])
    inside = np.abs(errors) < stats.t.ppf(0.95, one.freedom) * one.scale
    assert (np.sqrt((errors**2).mean()), errors.mean(), inside.mean()) == pytest.approx((rms, bias, nine_tenths), abs=0.006)


def _error(one, active_params, price):
    return np.log(active_params / 1e9) - one.intercept - one.slopes[0] * np.log(price)


def test_a_closed_model_at_two_dollars_has_this_size():
    rows = size.rows_for(CLOSED, LISTED)
    found = size.drawn_sizes(CLOSED, rows, EXTRA_MARKUP)
    sizes = {price: found.size(price, 0.9) for price in (0.1, 0.2, 1.0, 2.0, 10.0)}
    at_two = sizes[2.0]
    assert (at_two.low / 1e9, at_two.median / 1e9, at_two.high / 1e9) == pytest.approx((13.6, 45.3, 154), rel=0.03)
    assert sizes[0.1].median / 1e9 == pytest.approx(7.6, rel=0.03)
    for ends in zip(*((one.low, one.median, one.high) for one in sizes.values()), strict=True):
        assert list(ends) == sorted(ends)
    without = size.drawn_sizes(CLOSED, rows, (0.3, 0.0)).size(2.0, 0.9)
    factors = [np.sqrt(one.high / one.low) for one in (without, at_two)]
    assert factors == pytest.approx([2.9, 3.4], abs=0.05)


def test_ranges_hold_as_often_as_they_say_where_the_law_is_known():
    """Panels as large as the one for closed models, with levels of families that are drawn, judged on families they lack."""
    random = np.random.default_rng(7)
    rows = size.rows_for(CLOSED, LISTED)
    members = np.bincount(size.grouped_for(CLOSED, rows).groups)
    held = {0.5: 0, 0.9: 0}
    count = 0
    for _ in range(250):
        sizes = np.concatenate([members, np.ones(20, dtype=int)])
        groups = np.repeat(np.arange(len(sizes)), sizes)
        active = random.normal(3.5, 0.72, len(sizes))[groups] + random.normal(0, 0.42, len(groups))
        price = -2.9 + 0.75 * active + random.normal(0, 0.47, len(sizes))[groups] + random.normal(0, 0.48, len(groups))
        seen = groups < len(members)
        one = fit(grouped(active[seen], groups[seen], price[seen]))
        errors = np.abs(active[~seen] - one.intercept - one.slopes[0] * price[~seen]) / one.scale
        count += len(errors)
        held = {level: n + (errors < stats.t.ppf((1 + level) / 2, one.freedom)).sum() for level, n in held.items()}
    assert count == 5000
    assert 0.47 < held[0.5] / count < 0.53 and 0.88 < held[0.9] / count < 0.93
