"""Hidden quantities at draws: those of the inverse give the prices back by the forward model, and what is held is held."""

import numpy as np
import pytest

from invert.assumptions import NUISANCES, STRUCTURE, USUAL, Assumptions
from invert.estimators.cases import assumptions_of
from invert.forward_model import forward
from invert.posterior.draws import SEED, normals, uniforms
from invert.posterior.points import (
    LATENT,
    NOISY,
    RATIOS,
    WIDER,
    Points,
    PriceData,
    drawn_contexts,
    forward_points,
    prior_points,
    structure_priors,
    triangular_points,
    wider,
)
from invert.sheets.observables import mean_contexts, rounding_cell

COUNT = 64
NORMAL, UNIFORM = normals(COUNT), uniforms(COUNT)
CALM = USUAL.with_noise(dict.fromkeys(("output_input_ratio", "premium_in", "premium_out"), 1e-9))
"""Prices that are what cost makes of them."""
ALL = {"output_input_ratio": 6.0, "premium_in": 2.0, "premium_out": 1.5}


def price_data(kv: float | None = None, **prices: float) -> PriceData:
    cells = {name: (tuple(np.log(rounding_cell(value))),) for name, value in prices.items()}
    known = None if kv is None else (np.log(kv), 0.3)
    return PriceData(cells=cells, edges=(2e5, 1e6), log_active_params=(np.log(1e11), 0.5), log_kv_bytes=known)


def inverse_points(sheet: PriceData, held: Assumptions) -> Points:
    """Not a number where no hidden quantity gives the drawn ratios."""
    with np.errstate(all="ignore"):
        return triangular_points(sheet, held, COUNT, SEED)


@pytest.mark.parametrize("names", [("premium_in", "premium_out"), ()], ids=len)
def test_hidden_quantities_give_the_prices_back_that_they_were_made_of(names: tuple[str, ...]):
    """With premiums and without: the forward model at each draw has the prices, at its place in their rounding cells."""
    prices = {"output_input_ratio": 6.0, **{name: ALL[name] for name in names}}
    points = inverse_points(price_data(**prices), CALM)
    at = {name: np.broadcast_to(value, COUNT) for name, value in points.at.items()}
    whole = np.isfinite(sum(points.logs.values()))
    assert whole.sum() > COUNT / 4
    for draw in np.flatnonzero(whole):
        one = {name: float(values[draw]) for name, values in at.items()} | {
            "active_params": 1.0,
            "sweep_time": 0.02,
            "holding_cost_ratio": 1.0,
        }
        found = forward(one, (one["short_context"], one["long_context"]))
        for name, value in prices.items():
            price = found[name] if name == "output_input_ratio" else found[name][1]
            low, high = np.log(rounding_cell(value))
            place = UNIFORM[draw, LATENT + RATIOS.index(name)]
            assert np.log(price) == pytest.approx(low + (high - low) * place, abs=1e-6), (name, draw)


def test_a_missing_premium_draws_from_the_prior():
    """Of a sheet of one ratio KV bytes and attention are those of the priors, at the coordinates of the missing premiums' noise."""
    points = inverse_points(price_data(output_input_ratio=6.0), CALM)
    for name, place in (("kv_bytes_per_token", NOISY + 2), ("attention_intensity", NOISY + 1)):
        centre, spread = USUAL.priors[name].normal
        assert points.logs[name] == pytest.approx(centre + spread * NORMAL[:, place], rel=1e-12), name


def test_a_nuisance_is_drawn_wider_only_where_it_is_drawn():
    assert wider(USUAL) == WIDER
    given = assumptions_of({"short_context": 2e4, "long_context": 3e5})
    assert wider(given) == {}
    points = inverse_points(price_data(**ALL), given)
    assert np.ravel(points.at["short_context"]) == pytest.approx(2e4, rel=1e-12)
    usual = inverse_points(price_data(**ALL), USUAL)
    for place, name in enumerate(NUISANCES):
        np.testing.assert_array_equal(usual.drawn[name], WIDER.get(name, 1) * NORMAL[:, place], err_msg=name)


def test_known_kv_bytes_over_the_size_are_the_centre_and_both_spreads_add():
    (centre, spread), free = (structure_priors(price_data(kv=kv), USUAL)["kv_bytes_per_token"] for kv in (7e4, None))
    assert centre == pytest.approx(np.log(7e4 / 1e11), rel=1e-12) and spread == pytest.approx((0.3**2 + 0.5**2) ** 0.5, rel=1e-12)
    assert free == USUAL.priors["kv_bytes_per_token"].normal


def test_points_of_the_priors_are_forward_points_at_their_draws():
    sheet = price_data(**ALL)
    points = prior_points(sheet, USUAL, NORMAL)
    drawn = {name: NORMAL[:, place] for place, name in enumerate(NUISANCES)}
    structure = {name: NORMAL[:, NOISY + place] for place, name in enumerate(STRUCTURE)}
    again = forward_points({**drawn, **structure}, sheet, USUAL)
    for name in STRUCTURE:
        assert points.logs[name] == pytest.approx(again.logs[name], rel=1e-12)
        assert points.logs[name] == pytest.approx(np.log(USUAL.priors[name].at(structure[name])), rel=1e-9)


def test_contexts_of_bands_ascend_and_are_those_of_the_rule():
    sheet = PriceData(cells={}, edges=(3.2e4, 1.28e5, 2.56e5), log_active_params=(0.0, 1.0))
    found = drawn_contexts(sheet, USUAL, NORMAL)
    assert found.shape == (COUNT, 3) and (np.diff(found) > 0).all()
    places = [NUISANCES.index(name) for name in ("short_context", "long_context")]
    for draw in range(5):
        expected = mean_contexts(sheet.edges, USUAL, *(NORMAL[draw, place] for place in places))
        assert found[draw] == pytest.approx([float(one) for one in expected], rel=1e-12)
