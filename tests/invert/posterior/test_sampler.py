"""The joint inference: its weights are prior times likelihood over what was drawn from, and what is known stays known.

Method: docs/explanation/inversion.md, "Sampler". Against other samplers: tests/validation/test_samplers.py.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import hypot, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from derive.catalogue import equation
from invert.assumptions import COLLAPSED, NUISANCES, STRUCTURE, USUAL, Assumptions
from invert.estimators.cases import assumptions_of
from invert.forward_model import forward
from invert.posterior.draws import MOST, normals, quantiles
from invert.posterior.points import PriceData, prior_points, structure_priors
from invert.posterior.sampler import log_likelihood, log_mass, posterior
from invert.sheets.observables import rounding_cell

SIZE = USUAL.priors["active_params"].normal
TWO, THREE, ONE = (2e5, 1e6), (3.2e4, 1.28e5, 2.56e5), (3.2e4, 6.4e4)
Ends = tuple[float, float]
SCALES = {"input_price": 1e-6, "storage_ratio": 1 / 3600}


def price_data(edges: Sequence[float] = TWO, size: Ends = SIZE, kv: Ends | None = None, **prices: float | Sequence[float]) -> PriceData:
    """One sheet: premiums above each threshold, input price per million tokens, storage per hour over the input price."""
    cells = {}
    for name, value in prices.items():
        ends = np.log([rounding_cell(one) for one in np.atleast_1d(value)]) + log(SCALES.get(name, 1.0))
        cells[name] = tuple(map(tuple, ends))
    return PriceData(cells=cells, edges=tuple(edges), log_active_params=size, log_kv_bytes=kv)


# Storage at 4.50 USD an hour is 2.25 times the input price.
GEMINI = price_data(input_price=2, output_input_ratio=6, premium_in=2, premium_out=1.5, cache_read_ratio=0.1, storage_ratio=2.25)
SHEETS = {
    "all prices": GEMINI,
    "two bands": price_data(input_price=3, output_input_ratio=5, premium_in=2, premium_out=1.5),
    "three bands": price_data(THREE, input_price=1, output_input_ratio=5, premium_in=(1.8, 3.0), premium_out=(1.8, 3.0)),
    "one band": price_data(ONE, input_price=0.27, output_input_ratio=4, cache_read_ratio=0.25),
    "known KV bytes": price_data(kv=(log(7e4), 0.05), input_price=2, output_input_ratio=6, premium_in=2, premium_out=1.5),
}
LOOSE = USUAL.with_noise({"output_input_ratio": 1.0, "premium_in": 0.7, "premium_out": 0.9, "cache_read_ratio": 1.0})
"""So noisy that many draws of the priors have weight."""


# -- the density it samples ---------------------------------------------------------------------------------------------


def independent_likelihood(sheet: PriceData, held: Assumptions, count: int) -> np.ndarray:
    """The likelihood of every price at draws of the priors, by the forward model at the mean of every band."""
    normal = dict(zip((name for name in NUISANCES), normals(count).T, strict=False))
    at = {name: held.priors[name].at(values) for name, values in normal.items()}
    share, (first, *_) = at["long_context"], sheet.edges
    contexts = [first * at["short_context"], *(low + (high - low) * share for low, high in pairwise(sheet.edges))]
    at |= {"short_context": contexts[0], "active_params": 1.0, "mfu": 1.0, "mbu": 1.0, "kv_replication": 1.0}
    for place, name in enumerate(STRUCTURE):
        centre, spread = structure_priors(sheet, held)[name]
        at[name] = np.exp(np.ravel(centre + spread * normals(count)[:, len(NUISANCES) + 3 + place]))
    at["attention_flops_per_pair"] = at["attention_intensity"] * at["kv_bytes_per_token"]
    at["balance_context"] = equation("context.balance_context").right_side(at)
    at |= {name: held.priors[name].centre for name in COLLAPSED if name not in ("active_params", "price_per_parameter")}
    prices = forward(at, contexts)
    prefill = equation("bands.prefill_cost").right_side({**at, "context_length": contexts[0]})
    size, spread = sheet.log_active_params
    if sheet.log_kv_bytes is not None:
        # Two facts of the size, weighed by their precisions.
        kv, kv_spread = sheet.log_kv_bytes
        by_size, by_kv = spread**-2, kv_spread**-2
        size = (by_size * size + by_kv * (kv - np.log(at["kv_bytes_per_token"]))) / (by_size + by_kv)
        spread = (by_size + by_kv) ** -0.5
    expected = {
        "input_price": [held.priors["price_per_parameter"].centre * np.exp(size) * prefill],
        "output_input_ratio": [prices["output_input_ratio"]],
        "premium_in": prices["premium_in"][1:],
        "premium_out": prices["premium_out"][1:],
        "cache_read_ratio": [equation("bands.cache_read_ratio").right_side({**at, "prefill_cost_ratio": prefill})],
        "storage_ratio": [prices["storage_price"]],
    }
    spreads = {"input_price": (spread, 1.0), "cache_read_ratio": (1.0,), "storage_ratio": (0.25, 1.3)}
    total = 0.0
    for name, cells in sheet.cells.items():
        for (low, high), price in zip(cells, expected[name], strict=True):
            law = norm(np.log(price), hypot(held.noise[name], *spreads.get(name, ())))
            total = total + np.log(law.cdf(high) - law.cdf(low))
    return total


def likelihood_at_priors(sheet: PriceData, held: Assumptions, count: int) -> np.ndarray:
    """Its log at draws of the priors [draws]."""
    with np.errstate(all="ignore"):
        return log_likelihood(prior_points(sheet, held, normals(count)), sheet, held)


@pytest.mark.parametrize("name", SHEETS)
def test_the_likelihood_is_that_of_the_forward_model(name: str):
    found = likelihood_at_priors(SHEETS[name], LOOSE, 4096)
    with np.errstate(divide="ignore"):
        expected = independent_likelihood(SHEETS[name], LOOSE, 4096)
    likely = expected > -25  # beyond, a difference of two numbers near one has no digits
    assert likely.mean() > 0.5
    assert found[likely] == pytest.approx(expected[likely], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_two_routes_to_the_evidence(name: str):
    """The mean weight of triangular draws is the mean likelihood of draws of the priors: no Jacobian or width is missing."""
    weight = np.exp(likelihood_at_priors(SHEETS[name], LOOSE, MOST))
    expected, effective = log(weight.mean()), weight.sum() ** 2 / (weight**2).sum()
    found = posterior(SHEETS[name], LOOSE, MOST).weights
    error = hypot(effective**-0.5, found.ess**-0.5)
    assert error < 0.07
    assert found.log_evidence == pytest.approx(expected, abs=3 * error)


def test_wider_nuisances_are_weighed_back():
    """The prior of a nuisance that no price tells of comes out again, though it was drawn wider."""
    found = posterior(price_data(ONE, output_input_ratio=4), LOOSE, MOST)
    for name in ("long_context", "tier_read_cost_ratio"):
        weight, drawn = found.weights.values, found.points.drawn[name]
        assert weight @ drawn == pytest.approx(0, abs=0.06)
        assert weight @ drawn**2 == pytest.approx(1, abs=0.1)


# -- what is known stays known --------------------------------------------------------------------------------------------


def interval(found, name: str, ends: Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.exp(quantiles(found.logs(name), found.weights.values, tuple(ends))[0])


def test_known_kv_bytes_tell_the_size():
    """At a given KV per parameter the size is proportional to known KV bytes, up to what the input price says of it."""
    sheets = [price_data(kv=(log(kv), 1e-3), output_input_ratio=6, premium_in=2, premium_out=1.5) for kv in (2e4, 2e5)]
    sizes = [interval(posterior(sheet, USUAL, MOST), "active_params")[1] for sheet in sheets]
    assert sizes[1] > 1.5 * sizes[0]


def test_the_input_price_halves_the_spread_of_size_and_price_level_alike():
    """ln price = ln size + ln level: two priors of one nat each, so that the size keeps 1/sqrt 2 of its own."""
    sheet = price_data(ONE, input_price=2, output_input_ratio=6)
    found = posterior(sheet, USUAL, MOST)
    weight, logs = found.weights.values, found.log_active_params
    held = weight > 0
    mean = weight[held] @ logs[held]
    cost = weight[held] @ np.log(found.points.at["prefill_cost_ratio"][held])
    expected = SIZE[0] + (log(2e-6) - cost - SIZE[0] - log(USUAL.priors["price_per_parameter"].centre)) / 2
    assert mean == pytest.approx(expected, abs=0.03)
    assert np.sqrt(weight[held] @ (logs[held] - mean) ** 2) == pytest.approx(2**-0.5, abs=0.05)


def test_quantities_of_one_draw_belong_together():
    found = posterior(GEMINI, USUAL, 2048)
    held = found.weights.values > 0
    with np.errstate(all="ignore"):
        names = ("kv_bytes_per_token", "balance_context", "ridge_point", "active_params", "attention_flops_per_pair", "attention_intensity")
        kv, balance, ridge, size, flops, intensity = (np.exp(found.logs(name)[0, held]) for name in names)
        share = np.exp(found.logs("memory_time_share")[0, held])
    assert kv * balance * ridge == pytest.approx(2 * size, rel=1e-10)
    assert flops == pytest.approx(kv * intensity, rel=1e-10)
    assert (share > 0).all() and (share < 1).all()


@pytest.mark.parametrize(("premium_in", "premium_out"), [(0.5, 1.5), (2, 0.1), (60, 1.5)])
def test_a_sheet_that_no_hidden_quantity_gives_has_no_weight(premium_in: float, premium_out: float):
    held = assumptions_of({"long_context": 1e6, "short_context": 5e4}).with_noise({"premium_in": 0.01, "premium_out": 0.01})
    found = posterior(price_data(output_input_ratio=6, premium_in=premium_in, premium_out=premium_out), held, 4096)
    assert found.weights.feasible_fraction == 0 and not found.weights.values.any()
    assert found.weights.log_evidence == -np.inf and found.weights.ess == 0


@given(low=st.floats(-3, 3), width=st.floats(0.02, 3), centre=st.floats(-4, 4), spread=st.floats(0.1, 3))
def test_the_mass_of_a_cell_is_that_of_scipy(low: float, width: float, centre: float, spread: float):
    with np.errstate(divide="ignore"):  # beyond 38 spreads there is no mass a double can hold
        found = np.exp(log_mass((low, low + width), centre, spread))
    ends = norm.cdf([(low - centre) / spread, (low + width - centre) / spread])
    assert found == pytest.approx(ends[1] - ends[0], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("away", [1.0, 8.0, 20.0, 35.0])
def test_a_cell_far_in_the_tail_keeps_its_digits_on_both_sides(away: float):
    """The mass of [a, a + .2] is that of a normal's tails by their own logs."""
    expected = norm.logsf(away) + np.log1p(-np.exp(norm.logsf(away + 0.2) - norm.logsf(away)))
    for low in (away, -away - 0.2):
        found = log_mass((low, low + 0.2), 0.0, 1.0)
        assert found == pytest.approx(expected, rel=1e-12)


def test_cells_that_share_their_ends_share_the_mass():
    ends = np.linspace(-12, 12, 49)
    masses = np.exp([log_mass(cell, 0.3, 1.0) for cell in pairwise(ends)])
    assert masses.sum() == pytest.approx(1, abs=1e-12)
