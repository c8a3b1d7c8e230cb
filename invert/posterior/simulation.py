"""Simulation-based calibration: sheets drawn from the priors, published like a vendor's, read by the shipped inference.

If the sampler draws from the posterior of the model it claims, the rank of the truth among the draws is uniform, whatever
the priors (Talts et al., 2018). Truths come from the priors, prices from the forward model plus noise, and are published
on the vendors' numbers. A sheet is dropped only for what its published prices do to the sampler, never for its truth:
no draw feasible, or weights not to be trusted even by the mixture. It tests the computation, not the model: prices of
models of known architecture do that.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, fields
from functools import partial

import numpy as np

from derive.catalogue import equation
from invert.arrays import Array, Values
from invert.assumptions import USUAL, Assumptions
from invert.forward_model import forward
from invert.posterior.data import Evidence, Pair
from invert.posterior.mixture import trusted
from invert.posterior.sampler import Posterior, posterior
from invert.posterior.weights import RELIABLE
from invert.sheets.observables import DECADE, rounding_cell

RANKED = (
    "kv_bytes_per_token", "balance_context", "attention_intensity", "weight_compute_ratio", "ridge_point", "memory_time_share",
    "active_params",
)  # fmt: skip
"""Quantities whose truth is ranked."""

POOLED = "pooled"
PREMIUMS = ("premium_in", "premium_out")
MILLION = 1e6
"""Tokens of a published price."""
HOUR = 3600.0
CHUNK = 2**15
"""Draws of all sheets together that are worked on at once."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the sheets of one kind publish, and where their bands end [token]: a threshold, nominal for one band, and the top."""

    name: str
    edges: tuple[float, float]
    prices: tuple[str, ...]


SHAPES = (
    Shape("two bands, cache, storage", (200e3, 1e6), ("input_price", "output_input_ratio", *PREMIUMS, "cache_read_ratio", "storage_ratio")),
    Shape("two bands", (128e3, 256e3), ("input_price", "output_input_ratio", *PREMIUMS)),
    Shape("one band", (64e3, 128e3), ("input_price", "output_input_ratio", "cache_read_ratio")),
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """How the truth of one quantity ranked among the draws.

    run: what was inferred with what noise. simulations: sheets kept, of `sheets` drawn. coverage_50, coverage_90: share of
    truths inside the central intervals. ks_p: p-value of the ranks being uniform, by Kolmogorov and Smirnov.
    """

    run: str
    quantity: str
    shape: str
    sheets: int
    simulations: int
    coverage_50: float
    coverage_90: float
    ks_p: float
    seeds: int
    draws: int


def calibration_run(
    sheets_per_shape: int, seeds: Sequence[int], draws: int, noise_factor: float = 1.0, executor: Executor | None = None
) -> tuple[Ranking, ...]:
    """Ranks of simulated truths, by quantity, for each shape and pooled over shapes and seeds.

    `sheets_per_shape` sheets are drawn for every seed and shape; each seed has its own points. `draws` a sheet is a power
    of two. A `noise_factor` other than 1 multiplies the noise of both premiums in the inference, not in the simulation: a
    run that must fail. The tasks of an executor are one seed and shape each; the numbers do not depend on it.

    >>> rows = calibration_run(4, (1,), 512)
    >>> len(rows), rows[-1].shape, rows[-1].sheets, rows[-1].simulations <= 12
    (28, 'pooled', 12, True)
    """
    tasks = [(seed, place) for place in range(len(SHAPES)) for seed in seeds]
    work = partial(_ranks_of_task, sheets=sheets_per_shape, draws=draws, noise_factor=noise_factor)
    found = dict(zip(tasks, (executor.map if executor else map)(work, tasks), strict=True))
    run = "calibrated" if noise_factor == 1 else f"premium noise x {noise_factor:g}"
    groups = {shape.name: [found[seed, place] for seed in seeds] for place, shape in enumerate(SHAPES)}
    groups[POOLED] = list(found.values())
    return tuple(
        _row(run, quantity, shape, np.concatenate([ranks[:, column] for ranks in parts]), len(seeds), draws)
        for shape, parts in groups.items()
        for column, quantity in enumerate(RANKED)
    )


def rankings_as_csv(rows: Iterable[Ranking]) -> str:
    """Rows under a header, shares to four decimals and p-values to three digits.

    >>> print(rankings_as_csv([Ranking("calibrated", "active_params", "pooled", 6, 5, 0.5, 0.9, 0.25, 1, 512)]), end="")
    run,quantity,shape,sheets,simulations,coverage_50,coverage_90,ks_p,seeds,draws
    calibrated,active_params,pooled,6,5,0.5000,0.9000,0.25,1,512
    """
    import csv
    from io import StringIO

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Ranking))
    for row in rows:
        told = {"coverage_50": f"{row.coverage_50:.4f}", "coverage_90": f"{row.coverage_90:.4f}", "ks_p": f"{row.ks_p:.3g}"}
        writer.writerow((asdict(row) | told).values())
    return text.getvalue()


def _row(run: str, quantity: str, shape: str, ranks: Array, seeds: int, draws: int) -> Ranking:
    from scipy.stats import kstest

    kept = ranks[np.isfinite(ranks)]
    half, most = (float(np.mean(np.abs(kept - 0.5) < level / 2)) for level in (0.5, 0.9))
    return Ranking(run, quantity, shape, len(ranks), len(kept), half, most, float(kstest(kept, "uniform").pvalue), seeds, draws)


def _ranks_of_task(task: tuple[int, int], sheets: int, draws: int, noise_factor: float) -> Array:
    seed, place = task
    truth, evidence = simulate(SHAPES[place], sheets, (seed, place), USUAL)
    assumptions = USUAL.with_noise({name: noise_factor * USUAL.noise[name] for name in PREMIUMS})
    return ranks(evidence, truth, assumptions, draws, seed)


def simulate(shape: Shape, count: int, seed: int | Sequence[int], assumptions: Assumptions) -> tuple[dict[str, Array], Evidence]:
    """Hidden quantities [sheets] drawn from the priors, and the sheets that would have been published of them."""
    generator = np.random.default_rng(seed)
    truth = _truths(shape, generator.standard_normal((len(assumptions.priors), count)), assumptions)
    costs = _cost_ratios(truth)
    cells: dict[str, Pair] = {}
    for name in shape.prices:
        price = costs[name] * np.exp(assumptions.noise[name] * generator.standard_normal(count))
        if name == "input_price":
            low, high = cells_about(price * MILLION, assumptions)
            amount, scale = published(price * MILLION, assumptions), np.full(count, 1 / MILLION)
        elif name == "storage_ratio":
            # Storage is published as a price, so its cell is that of the price over the input price as published.
            low, high = cells_about(price * amount * HOUR, assumptions)
            scale = 1 / (amount * HOUR)
        else:
            (low, high), scale = cells_about(price, assumptions), np.ones(count)
        bottom, top = np.log(low * scale), np.log(high * scale)
        cells[name] = (bottom[:, None], top[:, None]) if name in PREMIUMS else (bottom, top)
    size, spread = assumptions.priors["active_params"].normal
    edges = np.tile(shape.edges, (count, 1))
    return truth, Evidence(cells, edges, (np.full(count, size), np.full(count, spread)))


def _truths(shape: Shape, normal: Array, assumptions: Assumptions) -> dict[str, Array]:
    """Hidden quantities of the whole model, SI, at standard normals [priors, sheets]."""
    truth = {name: np.full(normal.shape[1], held) for name, held in {**assumptions.held, "mfu": 1.0, "mbu": 1.0}.items()}
    truth |= {name: prior.at(row) for (name, prior), row in zip(assumptions.priors.items(), normal, strict=True)}
    first, second = shape.edges
    truth["short_context"] = first * truth["short_context"]
    truth["long_context"] = first + (second - first) * truth["long_context"]
    truth["kv_bytes_per_token"] = truth["kv_bytes_per_token"] * truth["active_params"]
    truth["attention_flops_per_pair"] = truth["attention_intensity"] * truth["kv_bytes_per_token"]
    truth["balance_context"] = equation("context.balance_context").right_side(truth)
    memory = equation("bands.memory_ratio_short").right_side(truth)
    truth["memory_time_share"] = equation("bands.memory_time_share").right_side({**truth, "memory_ratio_short": memory})
    return truth


def _cost_ratios(truth: Mapping[str, Array]) -> dict[str, Values]:
    """What every price would be at a common mark-up on cost."""
    prefill = equation("bands.prefill_cost").right_side({**truth, "context_length": truth["short_context"]})
    prices = forward(truth, (truth["short_context"], truth["long_context"]))
    return {
        "input_price": truth["price_per_parameter"] * truth["active_params"] * prefill,
        "output_input_ratio": prices["output_input_ratio"],
        "premium_in": prices["premium_in"][1],
        "premium_out": prices["premium_out"][1],
        "cache_read_ratio": equation("bands.cache_read_ratio").right_side({**truth, "prefill_cost_ratio": prefill}),
        "storage_ratio": prices["storage_price"],
    }


def published(values: Array, assumptions: Assumptions = USUAL) -> Array:
    """The nice numbers nearest to values, by ratio.

    >>> import numpy as np
    >>> published(np.array([1.36, 1.38, 9.2e-5, 4400.0])).tolist()
    [1.25, 1.5, 0.0001, 4000.0]
    """
    nice = np.array(assumptions.nice_numbers)
    decade = np.floor(np.log10(values))
    nearest = np.searchsorted(np.sqrt(nice[1:] * nice[:-1]), values / DECADE**decade)
    # By way of text, a number is the same whichever decade it was rounded in.
    return np.array([float(f"{step:g}e{power:.0f}") for step, power in zip(nice[nearest], decade, strict=True)])


def cells_about(values: Array, assumptions: Assumptions = USUAL) -> tuple[Array, Array]:
    """Ends of the rounding cells of what would be published of values."""
    numbers, places = np.unique(published(values, assumptions), return_inverse=True)
    low, high = np.array([rounding_cell(float(number), assumptions) for number in numbers]).T
    return low[places], high[places]


def ranks(evidence: Evidence, truth: Mapping[str, Array], assumptions: Assumptions, draws: int, seed: int) -> Array:
    """Posterior share below the truth [sheets, quantities]; NaN where the shipped inference would not trust itself."""
    found = np.full((len(evidence), len(RANKED)), np.nan)
    step = max(1, CHUNK // draws)
    for start in range(0, len(evidence), step):
        part = evidence.rows(slice(start, start + step))
        for place, one in enumerate(posterior(part, assumptions, draws, seed).sheets()):
            chosen = trusted(part.rows(slice(place, place + 1)), assumptions, one, seed)
            if chosen.weights.feasible_fraction[0] and chosen.weights.pareto_k[0] <= RELIABLE:
                sheet = start + place
                found[sheet] = [_share_below(chosen, name, np.log(truth[name][sheet])) for name in RANKED]
    return found


def _share_below(found: Posterior, name: str, truth: float) -> float:
    with np.errstate(all="ignore"):
        logs = found.logs(name)[0]
    weight = found.weights.values[0]
    return float(weight[(weight > 0) & (logs < truth)].sum())
