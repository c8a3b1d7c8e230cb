"""The exact inverse at arrays: there and back again, its Jacobian against differences, and what a mean context costs.

Method: docs/explanation/inversion.md, "From prices to a model".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from derive.catalogue import equation
from invert.assumptions import USUAL
from invert.forward_model import forward
from invert.posterior import points as triangular

ONE = triangular.PER_PARAMETER
HIDDEN = ("attention_flops_per_pair", "balance_context", "weight_compute_ratio")
RATIOS = ("output_input_ratio", "premium_in", "premium_out")
THRESHOLD, TOP = 200e3, 1e6


def truths(count: int, seed: int, weight: float = 1.0, attention: float = 2e-5) -> dict[str, np.ndarray]:
    """Hidden quantities per active parameter; every tenth overlap is 0 and every tenth 1."""
    generator = np.random.default_rng(seed)

    def spread(centre: float, width: float) -> np.ndarray:
        return centre * np.exp(width * generator.standard_normal(count))

    overlap = generator.uniform(0, 1, count)
    overlap[::10], overlap[1::10] = 0.0, 1.0
    return {
        "attention_flops_per_pair": spread(attention, 1.0),
        "balance_context": spread(5e4, 1.2),
        "weight_compute_ratio": spread(weight, 0.8),
        "prefill_decode_flops_ratio": spread(1.1, 0.3),
        "overlap": overlap,
        "prompt_position": generator.uniform(0.5, 1, count),
        "short_context": generator.uniform(0.02, 0.5, count) * THRESHOLD,
        "long_context": generator.uniform(1.1, 4, count) * THRESHOLD,
        **{name: np.full(count, value) for name, value in {**USUAL.held, "ridge_point": 600.0}.items()},
    }


def ratios_of(at: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The three ratios by the forward model."""
    prices = forward({**ONE, **at, "sweep_time": 0.024, "holding_cost_ratio": 1.0}, (at["short_context"], at["long_context"]))
    return {
        "output_input_ratio": prices["output_input_ratio"],
        "premium_in": prices["premium_in"][1],
        "premium_out": prices["premium_out"][1],
    }


def inverse(ratios: Mapping[str, np.ndarray], at: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The three hidden quantities from the ratios, the nuisances known."""
    known = {name: values for name, values in at.items() if name not in HIDDEN}
    with np.errstate(all="ignore"):
        found = triangular.solve_ratios(ratios, {**ONE, **known})
    return {name: found[name] for name in HIDDEN}


def bound_by_memory(at: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Whether memory binds, in the base band and in the long one."""

    def binds(context: np.ndarray) -> np.ndarray:
        return at["weight_compute_ratio"] + context / at["balance_context"] >= 1 + at["attention_flops_per_pair"] * context / 2

    return binds(at["short_context"]), binds(at["long_context"])


# -- there and back again -----------------------------------------------------------------------------------------------


def test_twenty_thousand_truths_come_back():
    """12.1: at most 1e-9. Where compute hides all of memory, at overlap 1, no price tells of it: those are left out."""
    at = truths(30_000, 1)
    short, long = bound_by_memory(at)
    told = np.flatnonzero((at["overlap"] < 1) | (short & long))[:20_000]
    at = {name: values[told] for name, values in at.items()}
    short, long = short[told], long[told]
    assert len(told) == 20_000
    for regime in (short & long, ~short & long, short & ~long, ~short & ~long):
        assert regime.sum() >= 500
    assert (at["overlap"] == 0).sum() > 1000 and (at["overlap"] == 1).sum() > 1000
    found = inverse(ratios_of(at), at)
    for name in HIDDEN:
        error = np.abs(found[name] / at[name] - 1)
        assert error.max() <= 1e-9 and np.median(error) <= 1e-15, name


def test_predicted_prices_are_those_of_the_forward_model():
    at = truths(200, 2)
    ratios, share = ratios_of(at), (at["long_context"] - THRESHOLD) / (TOP - THRESHOLD)
    prefill = equation("bands.prefill_cost").right_side({**ONE, **at, "context_length": at["short_context"]})
    whole = {**ONE, **at, "band_share": share, "prefill_cost_ratio": prefill}
    for name in RATIOS:
        assert triangular.predict_price(name, 0, whole, (THRESHOLD, TOP)) == pytest.approx(ratios[name], rel=1e-12)


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"premium_in": 1.0}, HIDDEN),
        ({"premium_in": 0.8}, HIDDEN),
        ({"premium_in": 40.0}, HIDDEN),  # dearer than the ratio of the contexts
        ({"output_input_ratio": 0.5}, HIDDEN[1:]),  # cheaper than its own compute
    ],
)
def test_what_no_hidden_quantity_gives_is_not_a_number(changed: dict[str, float], missing: tuple[str, ...]):
    at = {name: np.array([value]) for name, value in NUISANCES.items()}
    ratios = {"output_input_ratio": 6.0, "premium_in": 2.0, "premium_out": 1.5} | changed
    found = inverse({name: np.array([value]) for name, value in ratios.items()}, at)
    assert all(np.isnan(found[name][0]) for name in missing)
    assert all(np.isfinite(found[name][0]) for name in set(HIDDEN) - set(missing))


NUISANCES = {
    "prefill_decode_flops_ratio": 1.0,
    "overlap": 0.5,
    "prompt_position": 0.5,
    "short_context": 2e4,
    "long_context": 3e5,
    "ridge_point": 600.0,
    **ONE,
    **USUAL.held,
}


# -- the Jacobian -------------------------------------------------------------------------------------------------------


def log_determinant(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> np.ndarray:
    """ln |det| of a map of logs [dimensions, points] by central differences of fourth order."""
    step, size = 1e-4, len(at)
    matrix = np.empty((at.shape[1], size, size))
    for column in range(size):
        moved = np.zeros((size, 1))
        moved[column] = step
        near, far = (function(at + times * moved) - function(at - times * moved) for times in (1, 2))
        matrix[:, :, column] = ((8 * near - far) / (12 * step)).T
    return np.linalg.slogdet(matrix)[1]


def away_from_the_knee(at: Mapping[str, np.ndarray]) -> np.ndarray:
    """Where a step of the differences stays in its regime, and keeps its digits."""
    clear = (at["overlap"] < 0.9) | np.logical_and(*bound_by_memory(at))
    for context in (at["short_context"], at["long_context"]):
        memory = at["weight_compute_ratio"] + context / at["balance_context"]
        clear &= np.abs(np.log(memory / (1 + at["attention_flops_per_pair"] * context / 2))) > 0.05
    return clear & (at["weight_compute_ratio"] > 0.1) & (at["balance_context"] < 5e5)


REGIMES = [(True, True), (False, True), (True, False), (False, False)]


@pytest.mark.parametrize("regime", REGIMES)
def test_the_jacobian_of_both_bands_is_that_of_differences(regime: tuple[bool, bool]):
    at = truths(20_000, 3, weight=0.8)
    short, long = bound_by_memory(at)
    chosen = np.flatnonzero((short == regime[0]) & (long == regime[1]) & away_from_the_knee(at))[:200]
    assert len(chosen) >= 100
    at = {name: values[chosen] for name, values in at.items()}
    ratios = ratios_of(at)
    logs = np.log([ratios[name] for name in RATIOS])

    def hidden(logs: np.ndarray) -> np.ndarray:
        found = inverse(dict(zip(RATIOS, np.exp(logs), strict=True)), at)
        return np.log([found[name] for name in HIDDEN])

    assert triangular.log_jacobian({**ONE, **at}, premiums=True) == pytest.approx(log_determinant(hidden, logs), abs=1e-6)


@pytest.mark.parametrize("memory", [True, False])
def test_the_jacobian_of_the_base_band_alone_is_that_of_differences(memory: bool):
    at = truths(4000, 4, weight=0.8)
    short, _ = bound_by_memory(at)
    chosen = np.flatnonzero((short == memory) & away_from_the_knee(at))[:200]
    assert len(chosen) >= 100
    at = {name: values[chosen] for name, values in at.items()}
    ratio = ratios_of(at)["output_input_ratio"]

    def weight(ratio: np.ndarray) -> np.ndarray:
        return triangular.solve_ratios({"output_input_ratio": ratio}, {**ONE, **at})["weight_compute_ratio"]

    assert weight(ratio) == pytest.approx(at["weight_compute_ratio"], rel=1e-9)
    by_differences = log_determinant(lambda logs: np.log(weight(np.exp(logs[0])))[None], np.log(ratio)[None])
    assert triangular.log_jacobian({**ONE, **at}, premiums=False) == pytest.approx(by_differences, abs=1e-6)


# -- a density of contexts instead of a mean ----------------------------------------------------------------------------

NODES, GAUSS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True)
class Band:
    """Contexts of a band [token] and the share of the tokens at each: log-normal, cut off at the ends of the band."""

    contexts: np.ndarray
    shares: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.shares @ self.contexts)

    def cost(self, id: str, at: Mapping[str, float]) -> float:
        """The mean of a cost over the band."""
        return float(self.shares @ equation(id).right_side({**ONE, **at, "context_length": self.contexts}))


def band(low: float, high: float, centre: float, width: float) -> Band:
    logs = np.log(low) + (NODES + 1) / 2 * np.log(high / low)
    shares = GAUSS * np.exp(-0.5 * ((logs - centre) / width) ** 2)
    return Band(np.exp(logs), shares / shares.sum())


def averaged(count: int, seed: int) -> list[tuple[dict[str, float], Band, Band]]:
    generator = np.random.default_rng(seed)
    at = truths(count, seed, weight=2.5)
    # At overlap 1 what compute hides is in no price, however it is averaged.
    at["overlap"] = generator.uniform(0, 0.9, count)
    for name in ("short_context", "long_context"):
        del at[name]
    found = []
    for place in range(count):
        centre, width = np.log(8e3) + 0.5 * generator.standard_normal(), generator.uniform(1.0, 1.8)
        truth = {name: float(values[place]) for name, values in at.items()}
        found.append((truth, band(100, THRESHOLD, centre, width), band(THRESHOLD, TOP, centre, width)))
    return found
