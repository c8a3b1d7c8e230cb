"""What would change a reading of KV bytes, and whether a premium is a cost or a convention."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isfinite, log
from sys import float_info
from typing import Any

from invert.assumptions import Assumptions
from invert.estimators.at_rent import DRAWS, weighted_line
from invert.estimators.calibration import learn
from invert.identifiability import Identifiability, identify
from invert.posterior.data import Evidence
from invert.posterior.parameters import RATIOS, drawn_contexts, inverted, nuisances
from invert.posterior.sampler import posterior
from invert.posterior.sobol import normals
from invert.priors import NUISANCES
from invert.result import Inference


@dataclass(frozen=True, slots=True)
class Swing:
    """KV bytes over their central value with one input at either end of its 90 % range; None where prices then contradict the model."""

    name: str
    low: float | None
    high: float | None

    @property
    def width(self) -> float:
        """Of the swing, for the order of a tornado; an end that contradicts the model is the widest."""
        return abs(log(self.high / self.low)) if self.low and self.high and min(self.low, self.high) > 0 else inf


OF_A_HIT = ("tier_read_cost_ratio", "suffix_tokens")
"""Nuisances of the price of a cache hit, which the joint reading does not use."""


def swings_of_one_markup(evidence: Evidence, assumptions: Assumptions) -> tuple[Swing, ...]:
    """The joint reading of a two-band sheet with each nuisance at 5 and 95 % of its prior and each price at the ends of its cell."""
    import numpy as np

    free = [name for name in NUISANCES if name not in OF_A_HIT and assumptions.priors[name].spread]
    moved = [*free, *RATIOS]
    rows = 2 * len(moved) + 1
    drawn = {name: np.zeros(rows) for name in NUISANCES}
    ratios = {name: np.tile(np.mean([end[0, 0] if end.ndim == 2 else end[0] for end in evidence.cells[name]]), rows) for name in RATIOS}
    for place, name in enumerate(moved):
        for side, sign in ((1, -1), (2, 1)):
            row = 2 * place + side
            if name in drawn:
                drawn[name][row] = sign * assumptions.reach
            else:
                end = evidence.cells[name][side - 1]
                ratios[name][row] = end[0, 0] if end.ndim == 2 else end[0]
    with np.errstate(all="ignore"):
        at = nuisances(drawn, evidence, assumptions)
        points = inverted({name: np.exp(logs)[None] for name, logs in ratios.items()}, at, {}, drawn, evidence, assumptions)
        factors = np.exp(points.logs["kv_bytes_per_token"][0] - points.logs["kv_bytes_per_token"][0, 0])
    found = [Swing(name, _number(factors[2 * place + 1]), _number(factors[2 * place + 2])) for place, name in enumerate(moved)]
    spread = evidence.log_active_params[1][0]
    found.append(Swing("active_params", exp(-assumptions.reach * spread), exp(assumptions.reach * spread)))
    return tuple(sorted(found, key=lambda swing: -swing.width))


def swings_of_headline(evidence: Evidence, assumptions: Assumptions, architecture: str | None) -> tuple[Swing, ...]:
    """What moves the increments' reading: each factor of bands.kv_bytes_from_increment over its 90 % range, all of elasticity one."""
    import numpy as np
    from scipy.special import stdtrit

    learnt = learn(architecture, assumptions).increments
    tails = ((1 - assumptions.level) / 2, (1 + assumptions.level) / 2)
    markup = exp(float(stdtrit(learnt.degrees_of_freedom, tails[1])) * learnt.predictive_sd)
    rent = exp(assumptions.reach * assumptions.rent_spread)
    low, high = (np.exp(end[0]) for end in evidence.cells["premium_out"])
    middle = np.sqrt(low * high)
    contexts = drawn_contexts(evidence, assumptions, normals(DRAWS))

    def slope(places: Any, premiums: Any) -> Any:
        return weighted_line(places, np.concatenate([[1.0], premiums]))[1]

    central = np.median(contexts, axis=0)
    base = slope(central, middle)
    by_contexts = np.quantile(weighted_line(contexts, np.broadcast_to(np.concatenate([[1.0], middle]), contexts.shape))[1] / base, tails)
    found = [
        Swing("increment_markup", 1 / markup, markup),
        Swing("price_per_hbm_byte", 1 / rent, rent),
        Swing("premium_out", float(slope(central, low) / base), float(slope(central, high) / base)),
        Swing("band means", *(float(end) for end in by_contexts)),
    ]
    return tuple(sorted(found, key=lambda swing: -swing.width))


def _number(value: Any) -> float | None:
    return float(value) if isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Convention:
    """How likely the premiums are as a cost, how likely as a habit of vendors, and the Bayes factor for the habit."""

    premium_in: float
    premium_out: float
    probability_by_cost: float
    probability_by_habit: float
    same: int
    others: int

    @property
    def bayes_factor(self) -> float:
        """Of habit against cost; a floor where the probability by cost is less than a float can say."""
        return self.probability_by_habit / max(self.probability_by_cost, float_info.min)


def convention(
    evidence: Evidence, assumptions: Assumptions, log_evidence: float, pair: tuple[float, float], others: Sequence[tuple[float, float]]
) -> Convention:
    """The premiums of a sheet under the cost model, all other prices known, against how often other vendors ask the same pair.

    `others` are the pairs of other providers' sheets, one a provider and pair; the habit's probability is a count with
    `convention_count` added for this pair and for any other.
    """
    without = {name: ends for name, ends in evidence.cells.items() if not name.startswith("premium")}
    rest = Evidence(without, evidence.edges, evidence.log_active_params, evidence.log_kv_bytes)
    by_cost = exp(log_evidence - float(posterior(rest, assumptions).weights.log_evidence[0]))
    same = sum(all(abs(a - b) < assumptions.same_premium_within for a, b in zip(one, pair, strict=True)) for one in others)
    each = assumptions.convention_count
    return Convention(*pair, by_cost, (same + each) / (len(others) + 2 * each), same, len(others))


COMPONENTS = {
    "input_price": "input", "output_input_ratio": "output", "premium_in": "long_input", "premium_out": "long_output",
    "cache_read_ratio": "cache_read", "storage_ratio": "storage",
}  # fmt: skip
"""The prices of the identifiability by the observable that carries each."""


def identified(one: Inference) -> Identifiability:
    """What the prices of a sheet pin, at its joint reading where there is one."""
    values = one.pairs[0].joint.values if one.pairs else {}
    means = dict(zip(("short_context", "long_context"), one.observables.contexts, strict=False))
    # A given mean of a long band says nothing of a sheet that has none.
    known = {**{name: value for name, value in one.anchors.values.items() if name != "long_context"}, **means, **values}
    point = {name: value for name, value in known.items() if value > 0 or name == "attention_flops_per_pair"}
    return identify([COMPONENTS[name] for name in one.evidence.cells], overlap=one.anchors.values["overlap"], values=point)
