"""Calibration by simulation: what is simulated is what the priors and the forward model say, and the truth ranks evenly.

docs/explanation/inversion.md, "Is the computation right?": pooled over five seeds and 5,000 sheets or more, 90 % intervals hold
.885 to .915 of the truths, 50 % intervals .48 to .52, ranks are uniform at p > .01, and a run with a fault put in is rejected.
"""

import csv
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, kstest

from invert.assumptions import USUAL
from invert.posterior import inverse, simulation
from invert.posterior.simulation import (
    POOLED,
    RANKED,
    SHAPES,
    Ranking,
    calibration_run,
    cells_about,
    published,
    rankings_as_csv,
    ranks,
    simulate,
)
from invert.sheets.observables import rounding_cell

RECORD = Path(str(files("invert.posterior").joinpath("calibration_run.csv")))


# -- what is simulated --------------------------------------------------------------------------------------------------


def test_what_is_published_is_the_nearest_nice_number_by_ratio():
    values = np.exp(np.random.default_rng(0).uniform(-20, 20, 2000))
    lattice = np.array([number * 10.0**power for power in range(-11, 11) for number in USUAL.nice_numbers])
    nearest = lattice[np.abs(np.log(values[:, None] / lattice)).argmin(axis=1)]
    assert published(values) == pytest.approx(nearest, rel=1e-12)


def test_a_published_price_lies_in_the_cell_of_its_truth():
    values = np.exp(np.random.default_rng(1).uniform(-15, 15, 2000))
    low, high = cells_about(values)
    assert (low <= values).all() and (values <= high).all()
    assert (low[0], high[0]) == rounding_cell(float(published(values[:1])[0]))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_truths_are_draws_of_the_priors(shape):
    truth, evidence = simulate(shape, 4000, 2, USUAL)
    for name in ("attention_intensity", "weight_compute_ratio", "ridge_point", "active_params", "sweep_time"):
        centre, spread = USUAL.priors[name].normal
        assert kstest(np.log(truth[name]), "norm", (centre, spread)).pvalue > 1e-3, name
    per_parameter = np.log(truth["kv_bytes_per_token"] / truth["active_params"])
    assert kstest(per_parameter, "norm", USUAL.priors["kv_bytes_per_token"].normal).pvalue > 1e-3
    assert truth["kv_bytes_per_token"] * truth["balance_context"] * truth["ridge_point"] == pytest.approx(2 * truth["active_params"])
    assert ((truth["short_context"] > 0) & (truth["short_context"] < 0.6 * shape.edges[0])).all()
    assert ((truth["long_context"] > shape.edges[0]) & (truth["long_context"] < shape.edges[1])).all()
    assert set(evidence.cells) == set(shape.prices) and len(evidence) == 4000


def test_the_noise_of_a_price_is_that_of_the_priors():
    """The middle of a cell strays from the price at cost by the noise, and by a rounding of a tenth of a nat at most."""
    loud, quiet = (simulate(SHAPES[0], 4000, 3, USUAL.with_noise(dict.fromkeys(USUAL.noise, spread))) for spread in (0.6, 0.0))
    assert all(np.array_equal(loud[0][name], quiet[0][name]) for name in loud[0])
    for name, cells in loud[1].cells.items():
        away = np.ravel(sum(cells) - sum(quiet[1].cells[name])) / 2
        # The storage price is over the input price as published, whose noise it shares.
        assert away.std() == pytest.approx(0.6, rel=0.06), name
        assert abs(away.mean()) < 0.04, name


def test_one_seed_gives_the_same_sheets():
    one, other = (simulate(SHAPES[1], 20, (4, 1), USUAL) for _ in range(2))
    assert all(np.array_equal(one[0][name], other[0][name]) for name in one[0])
    assert not np.array_equal(one[0]["ridge_point"], simulate(SHAPES[1], 20, (5, 1), USUAL)[0]["ridge_point"])


# -- ranks --------------------------------------------------------------------------------------------------------------


def test_a_rank_is_the_share_of_the_posterior_below_the_truth():
    truth, evidence = simulate(SHAPES[2], 4, 5, USUAL)
    found = ranks(evidence, truth, USUAL, 1024, 1)
    assert found.shape == (4, len(RANKED)) and ((found >= 0) & (found <= 1)).all()
    far = {name: values * 1e30 for name, values in truth.items()}
    assert ranks(evidence, far, USUAL, 1024, 1) == pytest.approx(1)
    assert (ranks(evidence, {name: values * 1e-30 for name, values in truth.items()}, USUAL, 1024, 1) == 0).all()


def test_a_sheet_is_dropped_for_its_prices_and_never_for_its_truth():
    truth, evidence = simulate(SHAPES[0], 40, 6, USUAL)
    other = {name: values[::-1] if np.ndim(values) else values for name, values in truth.items()}
    kept = np.isfinite(ranks(evidence, truth, USUAL, 512, 1))
    assert np.array_equal(kept, np.isfinite(ranks(evidence, other, USUAL, 512, 1)))
    assert np.array_equal(kept.all(axis=1), kept.any(axis=1))


def test_the_table_as_text_has_a_row_a_quantity_and_shape():
    rows = calibration_run(3, (1, 2), 512)
    assert [(row.shape, row.quantity) for row in rows] == [
        (shape, quantity) for shape in (*(shape.name for shape in SHAPES), POOLED) for quantity in RANKED
    ]
    assert {(row.run, row.seeds, row.draws) for row in rows} == {("calibrated", 2, 512)}
    assert [row.sheets for row in rows if row.shape == POOLED] == [18] * len(RANKED)
    told = list(csv.DictReader(rankings_as_csv(rows).splitlines()))
    assert len(told) == len(rows) and told[0]["quantity"] == RANKED[0]
    assert float(told[-1]["coverage_90"]) == pytest.approx(rows[-1].coverage_90, abs=1e-4)


def inside(row: Ranking, level: float, covered: float) -> bool:
    """Whether a coverage is within the binomial error of its level, one false alarm in a hundred thousand."""
    low, high = binom.ppf([5e-6, 1 - 5e-6], row.simulations, level) / row.simulations
    return low <= covered <= high


@pytest.mark.slow
def test_truths_rank_evenly():
    """The short version of the record: 225 sheets of three seeds."""
    with ProcessPoolExecutor(2) as pool:
        rows = [row for row in calibration_run(25, (21, 22, 23), 4096, executor=pool) if row.shape == POOLED]
    for row in rows:
        assert row.simulations >= 0.98 * row.sheets
        assert inside(row, 0.5, row.coverage_50) and inside(row, 0.9, row.coverage_90), row
        assert row.ks_p > 1e-4, row


@pytest.mark.slow
def test_weights_without_their_jacobian_are_seen(monkeypatch: pytest.MonkeyPatch):
    """The short version of a fault: believing the premiums quieter, as the record does, shows in thousands of sheets alone."""
    monkeypatch.setattr(simulation, "trusted", lambda evidence, held, found, seed: found)  # few draws do here
    truth, evidence = simulate(SHAPES[1], 250, 31, USUAL)
    column = RANKED.index("weight_compute_ratio")
    assert kstest(ranks(evidence, truth, USUAL, 2048, 1)[:, column], "uniform", nan_policy="omit").pvalue > 0.01
    monkeypatch.setattr(inverse, "log_jacobian_of_both", lambda costs, at: 0.0)
    assert kstest(ranks(evidence, truth, USUAL, 2048, 1)[:, column], "uniform", nan_policy="omit").pvalue < 1e-6


# -- the record ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record() -> dict[tuple[str, str], dict[str, str]]:
    with RECORD.open(newline="") as file:
        return {(row["run"], row["quantity"]): row for row in csv.DictReader(file) if row["shape"] == POOLED}


@pytest.mark.parametrize("quantity", RANKED)
def test_the_recorded_run_meets_what_is_asked(record: dict, quantity: str):
    row = record["calibrated", quantity]
    assert int(row["seeds"]) >= 5 and int(row["simulations"]) >= 5000
    assert 0.885 <= float(row["coverage_90"]) <= 0.915
    assert 0.48 <= float(row["coverage_50"]) <= 0.52
    assert float(row["ks_p"]) > 0.01


def test_the_recorded_run_dropped_few(record: dict):
    """Under 2 percent had no draws that can be trusted, even from the mixture."""
    assert {quantity for run, quantity in record if run == "calibrated"} == set(RANKED)
    for row in record.values():
        assert 0.98 * int(row["sheets"]) <= int(row["simulations"]) <= int(row["sheets"])


def test_the_recorded_fault_is_rejected(record: dict):
    """Premiums believed to be 0.3 as noisy as they are, in as many simulations."""
    rows = [row for (run, _), row in record.items() if run == "premium noise x 0.3"]
    assert len(rows) == len(RANKED) and all(int(row["simulations"]) >= 5000 for row in rows)
    assert sum(float(row["ks_p"]) < 0.001 for row in rows) >= 2
    (intensity,) = [row for row in rows if row["quantity"] == "attention_intensity"]
    assert float(intensity["coverage_90"]) < 0.885 and float(intensity["coverage_50"]) < 0.48
