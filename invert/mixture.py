"""Where triangular weights cannot be trusted: more draws, then a mixture with a Student-t fitted to the posterior.

The heavy weights come from sheets whose posterior lies in the tails of the nuisances, where few triangular draws fall.
A Student-t about the weighted moments of the draws so far (population Monte Carlo) goes there; it is mixed
with the triangular proposal by the balance heuristic, so that no weight exceeds its triangular one over that share.
"""

from math import gamma, log, pi, sqrt
from typing import TYPE_CHECKING, Any

from invert import triangular
from invert.draws import MOST, SEED, normals, radii
from invert.evidence import Evidence
from invert.importance import RELIABLE, weights
from invert.likelihood import log_target
from invert.points import SIZE, Points, forward_points, kv_prior
from invert.posterior import Posterior, log_ratio, posterior, sizes
from invert.priors import NUISANCES, Beliefs

if TYPE_CHECKING:
    import numpy as np

ROUNDS = (8192, 16384)
"""Draws of each round; the last one is the answer."""
TEMPER, FLOOR = (0.5, 0.75), (0.02, 0.01)
"""Powers of the weights the moments of a round are taken with, and the variance added: a few heavy draws must not narrow the fit."""
DEGREES, WIDENED = 6, 1.1
"""Degrees of freedom and widening of the Student-t."""


def trusted(evidence: Evidence, held: Beliefs, found: Posterior, seed: int = SEED) -> Posterior:
    """The posterior of one sheet if its weights can be trusted; else with 65,536 draws if they do not settle, then the mixture.

    Weights that settle on too few draws go to the mixture at once. So does a perfect overlap that is given: a band bound
    by compute then has no memory ratio to solve for, and triangular draws never reach it.
    """
    overlap = held["overlap"]
    hidden = not overlap.spread and overlap.centre == 1
    if (found.weights.trusted and not hidden) or not found.weights.feasible_fraction[0]:
        return found
    if found.weights.pareto_k[0] > RELIABLE:
        found = posterior(evidence, held, MOST, seed)
    return found if found.weights.trusted and not hidden else mixed(evidence, held, seed, found)


def mixed(evidence: Evidence, held: Beliefs, seed: int = SEED, first: Posterior | None = None) -> Posterior:
    """The posterior of one sheet by the mixture, fitted first to triangular draws, by default to 65,536."""
    import numpy as np

    if first is None or first.log_weights.shape[1] < ROUNDS[-1] // 2:
        first = posterior(evidence, held, MOST, seed)
    with np.errstate(all="ignore"):
        frame, points, found = _Frame(evidence, held), first.points, first.weights
        for count, power, floor in zip(ROUNDS, TEMPER, FLOOR, strict=True):
            centre, root = _moments(frame.coordinates(points), found.values[0] ** power, floor)
            points, log_weights = _mixture(frame, first, normals(count, seed), radii(count, DEGREES, seed), centre, root)
            found = weights(log_weights)
        size = sizes(points, evidence, held, normals(ROUNDS[-1], seed)[:, SIZE])
        return Posterior(evidence, points, log_weights, found, size, f"mixture, {ROUNDS[-1]} draws, seed {seed}")


class _Frame:
    """One sheet's unknowns as whitened coordinates: the nuisances that are not held fixed, then the structural three."""

    def __init__(self, evidence: Evidence, held: Beliefs) -> None:
        self.evidence, self.held = evidence, held
        self.free = tuple(row.name for row in NUISANCES if held[row.name].spread)
        kv, spread = (float(end if isinstance(end, float) else end[0, 0]) for end in kv_prior(evidence, held))
        rows = [held[name] for name in ("attention_intensity", "weight_compute_ratio")]
        self.centres = {"kv_bytes_per_token": kv, **{row.name: log(row.centre) for row in rows}}
        self.spreads = {"kv_bytes_per_token": spread, **{row.name: row.spread for row in rows}}

    def coordinates(self, points: Points) -> "np.ndarray":
        """[draws, coordinates] of points of one sheet."""
        import numpy as np

        structure = [(points.logs[name][0] - centre) / self.spreads[name] for name, centre in self.centres.items()]
        return np.stack([*(points.drawn[name] for name in self.free), *structure], axis=-1)

    def points(self, coordinates: "np.ndarray") -> Points:
        """The points at coordinates [draws, coordinates], by the forward model."""
        import numpy as np

        columns = dict(zip((*self.free, *self.centres), coordinates.T, strict=True))
        nothing = np.zeros(len(coordinates))
        drawn = {row.name: columns.get(row.name, nothing) for row in NUISANCES}
        hidden = {name: np.exp(centre + self.spreads[name] * columns[name]) for name, centre in self.centres.items()}
        return forward_points(drawn, hidden, self.evidence, self.held)

    def log_scale(self) -> float:
        """ln of the volume of a whitened unit cube in nuisances and logs of the structure."""
        return sum(map(log, self.spreads.values()))


def _moments(coordinates: "np.ndarray", weight: "np.ndarray", floor: float) -> "tuple[np.ndarray, np.ndarray]":
    """Weighted mean, and the widened Cholesky root of the covariance; draws without weight may be anything."""
    import numpy as np

    held = weight > 0
    kept, share = coordinates[held], weight[held] / weight[held].sum()
    centre = share @ kept
    away = kept - centre
    return centre, WIDENED * np.linalg.cholesky((away * share[:, None]).T @ away + floor * np.eye(len(centre)))


def _mixture(
    frame: _Frame, first: Posterior, normal: "np.ndarray", radius: "np.ndarray", centre: "np.ndarray", root: "np.ndarray"
) -> "tuple[Points, np.ndarray]":
    """Half of the points the first triangular ones, half drawn by the Student-t, with their log weights [1, draws]."""
    import numpy as np

    half = len(normal) // 2
    far = frame.points(centre + (normal[half:, : len(centre)] * radius[half:, None]) @ root.T)
    near = first.points.first(half)
    ratios = (first.log_weights[:, :half], log_ratio(far, frame.evidence, frame.held))
    logs = [_log_weights(frame, points, ratio[0], centre, root) for points, ratio in zip((near, far), ratios, strict=True)]
    return _joined(near, far), np.concatenate(logs)[None]


def _log_weights(frame: _Frame, points: Points, ratio: "np.ndarray", centre: "np.ndarray", root: "np.ndarray") -> "np.ndarray":
    """Target over the mean of the two proposal densities, the triangular one being the target over its own ratio."""
    import numpy as np

    target = log_target(points, frame.evidence, frame.held)[0]
    by_triangular = target - ratio
    away = np.linalg.inv(root) @ (frame.coordinates(points) - centre).T
    fixed = sum(-0.5 * points.drawn[row.name] ** 2 - 0.5 * log(2 * pi) for row in NUISANCES if row.name not in frame.free)
    by_student = _log_student((away**2).sum(axis=0), len(centre)) - np.log(np.diag(root)).sum() - frame.log_scale() + fixed
    total = target - np.logaddexp(np.where(np.isfinite(by_triangular), by_triangular, -np.inf), by_student) + log(2)
    return np.where(np.isfinite(total), total, -np.inf)


def _log_student(square: Any, dimensions: int) -> Any:
    """Log density of the multivariate Student-t at a squared radius."""
    import numpy as np

    scale = log(gamma((DEGREES + dimensions) / 2) / (gamma(DEGREES / 2) * sqrt(DEGREES * pi) ** dimensions))
    return scale - 0.5 * (DEGREES + dimensions) * np.log1p(square / DEGREES)


def _joined(first: Points, second: Points) -> Points:
    """Two sets of points of one sheet as one."""
    import numpy as np

    def both(one: Any, other: Any, lengths: tuple[int, int]) -> Any:
        return np.concatenate([np.broadcast_to(np.ravel(values), length) for values, length in zip((one, other), lengths, strict=True)])

    lengths = tuple(len(next(iter(part.drawn.values()))) for part in (first, second))
    join = lambda one, other: {name: both(values, other[name], lengths) for name, values in one.items() if name in other}  # noqa: E731
    costs = triangular.Costs(
        *(None if one is None else both(one, other, lengths) for one, other in zip(first.costs.all(), second.costs.all(), strict=True))
    )
    logs = {name: values[None] for name, values in join(first.logs, second.logs).items()}
    return Points(join(first.drawn, second.drawn), join(first.at, second.at), costs, logs)
