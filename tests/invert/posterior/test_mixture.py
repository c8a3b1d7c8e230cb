"""The mixture gives what the triangular draws give where those can be trusted, and can be trusted where they cannot."""

from itertools import islice
from math import inf

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_t, norm

from invert.assumptions import NUISANCES, STRUCTURE, USUAL, Assumptions
from invert.estimators.cases import assumptions_of
from invert.posterior import sampler
from invert.posterior.draws import DIMENSIONS, MOST, RELIABLE, quantiles
from invert.posterior.points import PriceData, forward_points, prior_points
from invert.posterior.sampler import Posterior, log_likelihood, mixed, posterior, trusted
from invert.sheets.observables import rounding_cell
from invert.validation.simulation import _SHAPES, simulate

QUANTITIES = ("kv_bytes_per_token", "balance_context", "attention_intensity", "weight_compute_ratio", "active_params")


def sheets(place: int, count: int, seed: int) -> list[PriceData]:
    return simulate(_SHAPES[place], count, seed, USUAL)[1]


def middle(found: Posterior, name: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return quantiles(found.logs(name), found.weights.values, (0.25, 0.5, 0.75))[0]


def reliable(place: int, wanted: int) -> list[tuple[PriceData, Posterior]]:
    """Sheets whose 65,536 triangular draws are beyond doubt: the error of their log evidence is about one percent."""
    found = ((sheet, posterior(sheet, USUAL, MOST)) for sheet in sheets(place, 60, 11))
    return list(islice(((sheet, one) for sheet, one in found if one.weights.pareto_k < 0.3 and one.weights.ess > 8000), wanted))


FEW_BANDS = {shape.name: place for place, shape in enumerate(_SHAPES) if len(shape.edges) == 2}
"""Shapes that leave enough triangular draws with weight; prices of further bands leave few."""


@pytest.mark.slow
@pytest.mark.parametrize("place", FEW_BANDS.values(), ids=FEW_BANDS)
def test_both_give_the_same_where_both_are_reliable(place: int):
    checked = reliable(place, 4)
    assert len(checked) == 4
    for sheet, triangular in checked:
        found = mixed(posterior(sheet, USUAL), enough=inf)
        assert found.weights.pareto_k <= RELIABLE and found.weights.ess > 2000
        assert found.weights.log_evidence == pytest.approx(triangular.weights.log_evidence, abs=0.03)
        for name in QUANTITIES:
            assert middle(found, name) == pytest.approx(middle(triangular, name), abs=0.06), name


LOOSE = {"output_input_ratio": 1.0, "premium_in": 0.7, "premium_out": 0.9}
"""Noise at which a quarter of a million draws of the priors give the evidence to half a percent."""


def evidence_by_priors(sheet: PriceData, held: Assumptions) -> float:
    """The mean likelihood of draws of the priors."""
    points = prior_points(sheet, held, np.random.default_rng(0).standard_normal((2**18, DIMENSIONS)))
    with np.errstate(all="ignore"):
        likelihood = np.exp(log_likelihood(points, sheet, held))
    assert likelihood.std() / likelihood.mean() / 2**9 < 0.005
    return float(np.log(likelihood.mean()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"overlap": 1.0},
        {"prompt_position": 0.5, "prefill_decode_flops_ratio": 1.0},
        {"short_context": 2e4},
        {"long_context": 3e5},
    ],
)
def test_the_evidence_with_nuisances_that_are_given(given: dict[str, float]):
    """A coordinate that is held fixed is in both densities alike; at overlap 1 only the Student-t meets a compute-bound band."""
    sheet, held = two_bands(), assumptions_of(given).with_noise(LOOSE)
    found = mixed(posterior(sheet, held), enough=inf)
    assert found.weights.log_evidence == pytest.approx(evidence_by_priors(sheet, held), abs=0.01)


def two_bands() -> PriceData:
    """5 times the input price for output, premiums of 2 and 1.5 above 200k tokens."""
    cells = {"output_input_ratio": rounding_cell(5.0), "premium_in": rounding_cell(2.0), "premium_out": rounding_cell(1.5)}
    ends = {name: (tuple(np.log(pair)),) for name, pair in cells.items()}
    return PriceData(cells=ends, edges=(2e5, 1e6), log_active_params=USUAL.priors["active_params"].normal)


def test_a_trusted_posterior_is_left_alone_and_another_one_replaced():
    first = ((sheet, posterior(sheet, USUAL)) for sheet in sheets(0, 40, 13))
    samplers = set()
    for doubtful in islice((found for _, found in first if found.weights.pareto_k > RELIABLE), 3):
        found = trusted(doubtful)
        samplers.add(found.sampler.split(",")[0])
        allowed = {"triangular": (MOST,), "mixture": sampler._ROUNDS[1:]}[found.sampler.split(",")[0]]
        count = len(found.log_weights)
        assert count in allowed and f" {count} draws" in found.sampler and found.points.logs["kv_bytes_per_token"].shape == (count,)
    assert "mixture" in samplers
    (sheet, _), *_ = reliable(0, 1)
    fine = posterior(sheet, USUAL)
    assert trusted(fine) is fine


@pytest.mark.parametrize("place", range(len(_SHAPES)), ids=lambda place: _SHAPES[place].name)
@pytest.mark.parametrize("given", [{}, {"overlap": 0.7, "short_context": 2e4}], ids=["nothing given", "two nuisances given"])
def test_the_coordinates_lead_back_to_the_triangular_draws_and_to_the_densities_that_they_had(place: int, given: dict[str, float]):
    """The target is prior times likelihood, and over the triangular density what the weight of a triangular draw is."""
    held = assumptions_of(given)
    (sheet,) = sheets(place, 1, 15)
    first = posterior(sheet, held, 1024)
    feasible = np.isfinite(first.log_weights)
    assert feasible.mean() > 0.2
    with np.errstate(all="ignore"):
        points = forward_points({name: first.points.drawn[name] for name in sampler.unknowns(held)}, sheet, held)
        target, by_triangular = sampler.log_densities(points, sheet, held)
        likelihood = log_likelihood(first.points, sheet, held)
    for name, values in first.points.logs.items():
        assert points.logs[name][feasible] == pytest.approx(values[feasible], abs=1e-9), name
    free = [first.points.drawn[name] for name in NUISANCES if held.priors[name].spread]
    structure = [(first.points.logs[name] - held.priors[name].normal[0]) / held.priors[name].normal[1] for name in STRUCTURE]
    prior = sum(norm.logpdf(one) for one in (*free, *structure))
    assert target[feasible] == pytest.approx((prior + likelihood)[feasible], abs=1e-6)
    assert (target - by_triangular)[feasible] == pytest.approx(first.log_weights[feasible], abs=1e-6)


# -- the Student-t ------------------------------------------------------------------------------------------------------


def test_the_student_density_is_that_of_scipy():
    random = np.random.default_rng(0)
    points, centre, root = random.standard_normal((11, 50)) * 2, random.standard_normal(11), np.tril(random.standard_normal((11, 11)), -1)
    root += np.diag(random.uniform(0.5, 2, 11))
    expected = multivariate_t(centre, root @ root.T, df=sampler.DEGREES).logpdf(points.T)
    away = np.linalg.solve(root, points - centre[:, None])
    assert sampler._log_student((away**2).sum(axis=0), root) == pytest.approx(expected, rel=1e-9)
    assert quad(lambda x: np.exp(sampler._log_student(x**2, np.eye(1))), -np.inf, np.inf)[0] == pytest.approx(1, rel=1e-8)


def test_moments_of_the_draws_that_have_weight():
    coordinates = np.array([[1.0, 3.0, np.nan], [0.0, 2.0, np.inf]])
    centre, root = sampler._moments(coordinates, np.array([1.0, 1.0, 0.0]), floor=0.5)
    assert centre.tolist() == [2.0, 1.0]
    assert root @ root.T == pytest.approx(sampler.WIDENED**2 * np.array([[1.5, 1.0], [1.0, 1.5]]))
