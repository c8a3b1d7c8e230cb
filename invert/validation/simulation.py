"""Simulation-based calibration: sheets drawn from the priors, published like real ones, and used by the shipped inference.

If the sampler draws from the posterior of the model it claims, the rank of the truth among the draws is uniform, whatever the priors (Talts
et al., 2018). Truths come from the priors, prices from the forward model plus noise, and are published on the vendors' numbers. A sheet is
dropped only if the sampler fails on its published prices, never because of its truth: no draw is feasible, or even the mixture cannot be
trusted. It tests the computation, not the model: prices of models with a known architecture do that.

Pooled ranks of single quantities do not show all errors. A posterior that uses a price twice may be too narrow, without effect on a printed
quantity. The log likelihood of all prices is ranked like a quantity, and shows it (Modrák et al., 2023, Simulation-based calibration
checking for Bayesian computation: the choice of test quantities shapes sensitivity).
"""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Literal

import numpy as np

from derive.catalogue import equation
from derive.immutable import immutable
from invert.arrays import Array, Values
from invert.assumptions import COLLAPSED, USUAL, Assumptions
from invert.posterior import sampler
from invert.posterior.points import PER_PARAMETER, PriceData, forward_points, log_cells, points_at, predict_price
from invert.sheets.observables import rounding_cell

LOG_LIKELIHOOD = "log_likelihood"
RANKED = (*sampler.SUMMARISED, "ridge_point", "active_params", LOG_LIKELIHOOD)
"""The ranked quantities: all printed quantities of a posterior, the nuisance that prices change most, and the log likelihood of all prices.
"""

POOLED = "pooled"
_BASE = ("input_price", "output_input_ratio")
_PREMIUMS = ("premium_in", "premium_out")
_MILLION = 1e6
"""Number of tokens in the unit of a published price."""
_HOUR = 3600.0
PRICE_PER_FLOP = 1.0
"""Rental price of a FLOP [USD]. It multiplies the truth and every draw, so ranks do not depend on it."""

_SizeKnown = Literal["prior", "stated", "price"]
"""The knowledge of the size of a model: only the prior, a statement with `known_size_spread`, or the input price, which then gives no other
information.
"""


@immutable
class Shape:
    """The published prices of one kind of sheet, and the ends of its bands [token]: thresholds (nominal for one band) and the top."""

    name: str
    edges: tuple[float, ...]
    prices: tuple[str, ...]
    size: _SizeKnown = "prior"


_SHAPES = (
    Shape(name="two bands, cache, storage", edges=(200e3, 1e6), prices=(*_BASE, *_PREMIUMS, "cache_read_ratio", "storage_ratio")),
    Shape(name="two bands", edges=(128e3, 256e3), prices=(*_BASE, *_PREMIUMS)),
    Shape(name="one band", edges=(64e3, 128e3), prices=(*_BASE, "cache_read_ratio")),
    Shape(name="four bands", edges=(32e3, 128e3, 256e3, 1e6), prices=(*_BASE, *_PREMIUMS)),
    Shape(name="two bands, known size", edges=(128e3, 256e3), prices=(*_BASE, *_PREMIUMS), size="stated"),
    Shape(name="size by price", edges=(200e3, 1e6), prices=(*_BASE, *_PREMIUMS, "cache_read_ratio"), size="price"),
)
"""The purpose of each kind. Two bands, cache, storage: all prices. Two bands: only the prices that the exact inverse needs. One band:
without a premium, two coordinates are drawn from their priors. Four bands: the inverse does not use the upper bands, only the likelihood,
and their means have one common share. Known size: the input price informs only price/cost, and KV bytes use the stated size. Size by price:
the input price gives the size and is not used again.
"""

RankRow = dict[str, str]
"""The ranks of the truth of one quantity among the draws, as in calibration_run.csv. run: the estimate and its noise. simulations: sheets
kept, of `sheets` drawn. coverage_50, coverage_90: share of truths inside the central intervals. ks_p: p-value of the ranks being uniform
(Kolmogorov and Smirnov).
"""


def calibration_run(
    sheets_per_shape: int, seeds: Sequence[int], draws: int, noise_factor: float = 1.0, executor: Executor | None = None
) -> list[RankRow]:
    """Return ranks of simulated truths, by quantity, for each shape and pooled over shapes and seeds.

    Every seed and shape has `sheets_per_shape` sheets, and each seed has its own points. `draws` per sheet is a power of two. If
    `noise_factor` is not 1, it multiplies the noise of both premiums in the inference but not in the simulation, so the run must fail. Each
    task of an executor is one seed and shape. The numbers do not depend on it.

    >>> rows = calibration_run(4, (1,), 512)
    >>> len(rows), rows[-1]["quantity"], rows[-1]["shape"], rows[-1]["sheets"], int(rows[-1]["simulations"]) <= 24
    (63, 'log_likelihood', 'pooled', '24', True)
    """
    tasks = [(seed, place) for place in range(len(_SHAPES)) for seed in seeds]
    work = partial(_ranks_of_task, sheets=sheets_per_shape, draws=draws, noise_factor=noise_factor)
    found = dict(zip(tasks, (executor.map if executor else map)(work, tasks), strict=True))
    run = "calibrated" if noise_factor == 1 else f"premium noise x {noise_factor:g}"
    groups = {shape.name: [found[seed, place] for seed in seeds] for place, shape in enumerate(_SHAPES)}
    groups[POOLED] = list(found.values())
    return [
        _row(run, quantity, shape, np.concatenate([ranks[:, column] for ranks in parts]), len(seeds), draws)
        for shape, parts in groups.items()
        for column, quantity in enumerate(RANKED)
    ]


def _row(run: str, quantity: str, shape: str, ranks: Array, seeds: int, draws: int) -> RankRow:
    from scipy.stats import kstest

    kept = ranks[np.isfinite(ranks)]
    half, most, uniform = math.nan, math.nan, math.nan
    if len(kept):
        half, most = (float(np.mean(np.abs(kept - 0.5) < level / 2)) for level in (0.5, 0.9))
        uniform = float(kstest(kept, "uniform").pvalue)
    return {
        **{"run": run, "quantity": quantity, "shape": shape, "sheets": str(len(ranks)), "simulations": str(len(kept))},
        **{"coverage_50": f"{half:.4f}", "coverage_90": f"{most:.4f}", "ks_p": f"{uniform:.3g}", "seeds": str(seeds), "draws": str(draws)},
    }


def _ranks_of_task(task: tuple[int, int], sheets: int, draws: int, noise_factor: float) -> Array:
    seed, place = task
    truth, simulated = simulate(_SHAPES[place], sheets, (seed, place), USUAL)
    assumptions = USUAL.with_noise({name: noise_factor * USUAL.noise[name] for name in _PREMIUMS})
    return ranks(simulated, truth, assumptions, draws, seed)


def simulate(shape: Shape, count: int, seed: int | Sequence[int], assumptions: Assumptions) -> tuple[dict[str, Array], list[PriceData]]:
    """Draw hidden quantities [sheets] from the priors, and compute the sheets that vendors would publish."""
    truth, size, numbers = published_sheets(shape, count, seed, assumptions)
    simulated = price_data_of_numbers(shape, size, numbers, assumptions)
    low, high = np.transpose([one.cells["input_price"][0] for one in simulated])
    level = {"input_price": np.exp((low + high) / 2), "price_per_flop": PRICE_PER_FLOP}
    truth[sampler.LEVEL_OF_PRICES] = equation("bands.active_params_times_price_cost_ratio").right_side({**truth, **level})
    return truth, simulated


def published_sheets(
    shape: Shape, count: int, seed: int | Sequence[int], assumptions: Assumptions
) -> tuple[dict[str, Array], tuple[Array, Array], dict[str, Array]]:
    """Return hidden quantities [sheets], stated ln active_params, and the published numbers [sheets, bands].

    These are the input price [USD/Mtoken], the storage price [USD/Mtoken/h], and multipliers.
    """
    generator, noise = np.random.default_rng(seed), assumptions.noise
    normal = {name: generator.standard_normal(count) for name in assumptions.priors}
    market = {name: assumptions.priors[name].at(normal[name]) for name in COLLAPSED}
    size = _stated_size(shape.size, market, assumptions)
    if shape.size != "prior":
        market["active_params"] = np.exp(size[0] + size[1] * generator.standard_normal(count))
    nothing_known = PriceData(cells={}, edges=shape.edges, log_active_params=assumptions.priors["active_params"].normal)
    drawn = forward_points(normal, nothing_known, assumptions).at
    input_price = market["price_per_parameter"] * market["active_params"] * drawn["prefill_cost_ratio"]
    if shape.size == "price":
        # The price came first: it is published, and the size was read off it.
        input_price, noise = np.exp(size[0]) * assumptions.priors["price_per_parameter"].centre, {**noise, "input_price": 0.0}
    numbers: dict[str, Array] = {}
    for name in shape.prices:
        places = range(len(shape.edges) - 1 if name in _PREMIUMS else 1)
        costs = [input_price if name == "input_price" else predict_price(name, place, {**market, **drawn}, shape.edges) for place in places]
        price = np.stack(costs, axis=-1) * np.exp(noise[name] * generator.standard_normal((count, len(costs))))
        if name == "input_price":
            price = price * _MILLION
        elif name == "storage_ratio":
            price = price * numbers["input_price"] * _HOUR
        numbers[name] = published(price, assumptions)
    truth = sampler.of_whole_model({**drawn, **market}, market["active_params"])
    return {name: np.broadcast_to(value, count) for name, value in truth.items()}, size, numbers


def _stated_size(known: _SizeKnown, drawn: Mapping[str, Array], assumptions: Assumptions) -> tuple[Array, Array]:
    """Return centre and spread of the stated ln active_params [sheets] of models drawn from the prior."""
    prior, level = assumptions.priors["active_params"], assumptions.priors["price_per_parameter"]
    if known == "stated":
        centre, spread = np.log(drawn["active_params"]), assumptions.known_size_spread
    elif known == "price":
        price = published(drawn["active_params"] * drawn["price_per_parameter"] * _MILLION, assumptions) / _MILLION
        centre, spread = np.log(price / level.centre), level.spread
    else:
        centre, spread = np.full(len(drawn["active_params"]), prior.normal[0]), prior.spread
    return centre, np.full(len(centre), spread)


def price_data_of_numbers(
    shape: Shape, size: tuple[Array, Array], numbers: Mapping[str, Array], assumptions: Assumptions
) -> list[PriceData]:
    """Convert sheets to the input of the inference: the log cells of their numbers, prices per token and ratios to the input price."""
    found = []
    for place, of_size in enumerate(zip(*(end.tolist() for end in size), strict=True)):
        # Storage is published as a price, so its cell is that of the price over the input price as published.
        scale = {"input_price": 1 / _MILLION, "storage_ratio": 1 / (numbers["input_price"][place, 0] * _HOUR)}
        ends = {name: [rounding_cell(float(number), assumptions) for number in values[place]] for name, values in numbers.items()}
        cells = {name: log_cells(of_name, scale.get(name, 1.0)) for name, of_name in ends.items()}
        by_price = shape.size == "price"
        found.append(PriceData(cells=cells, edges=shape.edges, log_active_params=of_size, size_by_price=by_price))
    return found


def published(values: Array, assumptions: Assumptions = USUAL) -> Array:
    """Round values to the nearest round numbers, by ratio.

    >>> import numpy as np
    >>> published(np.array([1.36, 1.38, 9.2e-5, 4400.0])).tolist()
    [1.25, 1.5, 0.0001, 4000.0]
    """
    nice = np.array(assumptions.nice_numbers)
    decade = np.floor(np.log10(values))
    nearest = np.searchsorted(np.sqrt(nice[1:] * nice[:-1]), values / 10.0**decade)
    # By way of text, a number is the same whichever decade it was rounded in.
    told = [float(f"{step:g}e{power:.0f}") for step, power in zip(nice[nearest].flat, decade.flat, strict=True)]
    return np.reshape(told, values.shape)


def ranks(simulated: Sequence[PriceData], truth: Mapping[str, Array], assumptions: Assumptions, draws: int, seed: int) -> Array:
    """Return the posterior share below the truth [sheets, quantities], or NaN if the inference does not trust its own sampler."""
    found = np.full((len(simulated), len(RANKED)), np.nan)
    for place, price_data in enumerate(simulated):
        of_sheet = {name: float(values[place]) for name, values in truth.items()}
        chosen = sampler.trusted(sampler.posterior(price_data, assumptions, draws, seed))
        if chosen.weights.feasible_fraction and chosen.weights.settled:
            found[place] = [_share_below(chosen, name, of_sheet) for name in RANKED]
    return found


def _share_below(found: sampler.Posterior, name: str, truth: Mapping[str, float]) -> float:
    with np.errstate(all="ignore"):
        if name == LOG_LIKELIHOOD:
            # The truth as one point, per active parameter, in the layout of draws.
            at: dict[str, Values] = {name: np.array([value]) for name, value in truth.items()}
            at |= {**{name: at[name] / at["active_params"] for name in sampler.OF_THE_MODEL}, **PER_PARAMETER}
            at_truth = points_at({}, at, found.price_data, found.assumptions)
            true, logs = (sampler.log_likelihood(points, found.price_data, found.assumptions) for points in (at_truth, found.points))
        else:
            true, logs = np.log(truth[name]), found.logs(name, price_per_flop=PRICE_PER_FLOP)[0]
    weight = found.weights.values
    return float(weight[(weight > 0) & (logs < true)].sum())
