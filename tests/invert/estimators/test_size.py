"""Size from price, compared with a study of 2026-11-21 and with other code that reads the shipped tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from derive.tables import shipped
from invert import infer
from invert.assumptions import USUAL
from invert.data import Data, read_data
from invert.estimators import size
from invert.estimators.panel import listed_models
from invert.estimators.prediction import fit, grouped
from invert.estimators.size import (
    ACTIVE,
    ANY,
    TOTAL,
    judged_sizes,
    record_of_size,
    shuffled_record,
    size_at,
    size_at_price,
    size_by_price,
    size_line,
    size_record,
    size_table,
)
from invert.estimators.typical_kv import known_kv_bytes
from tests.tools.data import shipped_data

TABLES = Path(shipped.FOLDER)
HOSTED_ACTIVE, HOSTED_TOTAL = (replace(form, hosts=True) for form in (ACTIVE, TOTAL))

FITS = (
    (ACTIVE, 3.579, 0.595, 0.603, 19, 42, 21),
    (ANY, 3.717, 0.641, 0.610, 30, 80, 32),
    (TOTAL, 6.515, 0.683, 0.793, 19, 42, 21),
    (HOSTED_ACTIVE, 3.790, 0.829, 0.521, 17, 43, 19),
    (HOSTED_TOTAL, 6.906, 1.129, 0.652, 17, 43, 19),
)
RECORDS = (
    (ANY, "family", 0.65, 0.95, 0.38, 0.55, 0.93),
    (ANY, "vendor", 0.65, 0.94, 0.37, 0.50, 0.90),
    (ACTIVE, "family", 0.64, 0.84, 0.25, 0.60, 0.90),
    (TOTAL, "family", 0.82, 1.03, 0.21, None, 0.90),
    (HOSTED_ACTIVE, "family", 0.53, 0.98, 0.60, None, 0.91),
    (HOSTED_TOTAL, "family", 0.64, 1.29, 0.70, None, 0.93),
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
    (rms, density), (rms_of_baseline, of_class) = (
        judged(np.column_stack(columns)) for columns in ((ones, np.log(frame["input_price"])), (ones,))
    )
    return rms, rms_of_baseline, density - of_class


@pytest.mark.parametrize(("form", "intercept", "slope", "scale", "freedom", "count", "families"), FITS)
def test_the_fits_have_these_coefficients(form, intercept, slope, scale, freedom, count, families):
    rows = size_table(shipped_data(), form)
    one = fit(rows)
    assert (*one.coefficients, one.scale) == pytest.approx((intercept, slope, scale), abs=0.005)
    assert (one.freedom, len(rows.target), len(rows.members)) == (freedom, count, families)


@pytest.mark.parametrize(("form", "by", "rms", "baseline", "gain", "half", "nine_tenths"), RECORDS)
def test_models_left_out_are_predicted_this_well(form, by, rms, baseline, gain, half, nine_tenths):
    one = size_record(shipped_data(), form, by)
    assert (one.rms, one.rms_of_baseline, one.gain) == pytest.approx((rms, baseline, gain), abs=0.0075)
    assert one.has_skill()
    assert half is None or one.coverage[0].share == pytest.approx(half, abs=0.0075)
    assert one.coverage[1].share == pytest.approx(nine_tenths, abs=0.0075)


@pytest.mark.parametrize(("left_out", "by"), [("family", "price_family"), ("vendor", "vendor")])
def test_other_code_gives_the_same_records(left_out, by):
    models = pd.read_csv(TABLES / "open_models.csv")
    frame = pd.read_csv(TABLES / "list_prices.csv").merge(models, on="model", validate="one_to_one")
    ours = size_record(shipped_data(), ANY, left_out)
    assert (ours.rms, ours.rms_of_baseline, ours.gain) == pytest.approx(reference(frame, "active_params", by), rel=1e-9)


def test_shuffled_prices_gain_nothing():
    gains = [shuffled_record(shipped_data(), ANY, seed).gain for seed in range(20)]
    assert abs(np.mean(gains)) < 0.02 and max(gains) < 0.1


def test_a_closed_model_at_two_dollars_has_this_size(monkeypatch):
    monkeypatch.setattr(size, "extra_price_cost_ratio", lambda *_: (0.3, 0.6))
    data = Data(shipped_data().tables)
    sizes = {price: size_at(data, ACTIVE, price, "", True, USUAL) for price in (0.1, 0.2, 1.0, 2.0, 10.0)}
    at_two = sizes[2.0]
    assert (at_two.low / 1e9, at_two.median / 1e9, at_two.high / 1e9) == pytest.approx((13.6, 45.3, 154), rel=0.03)
    assert sizes[0.1].median / 1e9 == pytest.approx(7.6, rel=0.03)
    for ends in zip(*((one.low, one.median, one.high) for one in sizes.values()), strict=True):
        assert list(ends) == sorted(ends)
    monkeypatch.setattr(size, "extra_price_cost_ratio", lambda *_: (0.3, 0.0))
    without = size_at(Data(shipped_data().tables), ACTIVE, 2.0, "", True, USUAL)
    factors = [np.sqrt(one.high / one.low) for one in (without, at_two)]
    assert factors == pytest.approx([2.9, 3.4], abs=0.05)


@pytest.mark.parametrize(("extra", "word"), [(-0.25, "lower"), (0.25, "higher")])
def test_the_reason_follows_the_fitted_price_cost_of_closed_models(monkeypatch, extra, word):
    monkeypatch.setattr(size, "extra_price_cost_ratio", lambda *_: (extra, 0.3))
    assert f"have a {word} price/cost than open ones" in size.closed_price_cost(shipped_data(), "active_params", USUAL)
    at_two = [size_at(Data(shipped_data().tables), ACTIVE, 2.0, "", closed, USUAL).median for closed in (True, False)]
    assert (at_two[0] > at_two[1]) == (extra < 0)


def test_ranges_hold_as_often_as_they_say_where_the_law_is_known():
    """Panels as large as the one for closed models, with levels of families that are drawn, judged on families they lack."""
    random = np.random.default_rng(7)
    members = np.bincount(size_table(shipped_data(), ACTIVE).groups)
    held = {0.5: 0, 0.9: 0}
    count = 0
    for _ in range(250):
        sizes = np.concatenate([members, np.ones(20, dtype=int)])
        groups = np.repeat(np.arange(len(sizes)), sizes)
        active = random.normal(3.5, 0.72, len(sizes))[groups] + random.normal(0, 0.42, len(groups))
        price = -2.9 + 0.75 * active + random.normal(0, 0.47, len(sizes))[groups] + random.normal(0, 0.48, len(groups))
        seen = groups < len(members)
        one = fit(grouped(active[seen], groups[seen], price[seen]))
        errors = np.abs(active[~seen] - one.coefficients[0] - one.coefficients[1] * price[~seen]) / one.scale
        count += len(errors)
        held = {level: n + (errors < stats.t.ppf((1 + level) / 2, one.freedom)).sum() for level, n in held.items()}
    assert count == 5000
    assert 0.47 < held[0.5] / count < 0.53 and 0.88 < held[0.9] / count < 0.93


def case(name):
    (one,) = infer([name]).inferences
    return one


def told(found):
    """The sizes of a price, and their records."""
    return [
        by(found, params, shipped_data(), USUAL) for by in (size_at_price, record_of_size) for params in ("active_params", "total_params")
    ]


def test_the_weights_of_an_open_model_are_nobody_elses_mark_up():
    """MiMo-V2.5-Pro is open: its price is read as a list price, without an extra price/cost and without its own family."""
    one = case("mimo-v2.5-pro")
    found = size_by_price(one.sheet, one.model, shipped_data(), USUAL)
    closed = size_by_price(one.sheet, None, shipped_data(), USUAL)
    assert not found.closed and closed.closed and told(found)[0].median < told(closed)[0].median


def test_the_input_price_is_heard_once():
    """Of a model whose size it tells it enters no likelihood; of one whose size is stated it does."""
    closed, stated = case("gpt-6-sol"), case("qwen3-coder-plus")
    assert closed.anchors.origin["active_params"] == "input price" and not closed.price_data.level_tells
    assert stated.anchors.origin["active_params"].startswith("models.csv") and stated.price_data.level_tells
    given = infer(["gpt-6-sol"], anchors={"active_params": "50B"}).inferences[0]
    assert given.anchors.values["active_params"] == 5e10 and given.price_data.level_tells


@pytest.mark.parametrize(("name", "tier"), [("gemini-3.1-pro", "batch"), ("deepseek/deepseek-v4-flash", "peak")])
def test_a_model_has_one_size_in_all_service_tiers(name: str, tier: str):
    """Its list price gives the size, and the fits for it leave out its own family."""
    other, usual = (infer([name], **more).inferences[0] for more in ({"tier": tier}, {}))
    assert other.sheet.service_tier == tier != usual.sheet.service_tier
    assert other.by_price["active_params"].median == usual.by_price["active_params"].median
    assert other.anchors.values["active_params"] == usual.anchors.values["active_params"]
    for by in ("total_params_by_knowledge", "total_params_by_price_and_knowledge"):
        assert (other.estimates[by].median, other.estimates[by].record) == (usual.estimates[by].median, usual.estimates[by].record)


def test_the_line_is_what_the_fit_says_at_its_prices():
    price, found = [*size_line(read_data()).items()][7]
    one = size.size_at(read_data(), size.ANY, price * 1e6, "", False, USUAL)
    assert (found.low, found.median, found.high) == pytest.approx((one.low, one.median, one.high))


def test_it_reaches_from_the_cheapest_model_to_the_dearest_and_rises():
    found, prices = size_line(read_data()), [*size_line(read_data())]
    asked = [one.input_price / 1e6 for one in listed_models(read_data())]
    assert (prices[0], prices[-1]) == pytest.approx((min(asked), max(asked)))
    assert all(one.low < one.median < one.high for one in found.values())
    medians = [one.median for one in found.values()]
    assert medians == sorted(medians)


def test_as_many_ranges_held_as_the_record_says():
    held, record = sum(one.right for one in judged_sizes(read_data())), size.size_record(read_data(), size.ANY).at(USUAL.level)
    assert record and (held, len(judged_sizes(read_data()))) == (record.right, record.count)


def test_known_kv_bytes():
    found = known_kv_bytes(read_data())
    assert min(found.values()) < 20000.0 < found["Llama-3.1-70B"]
