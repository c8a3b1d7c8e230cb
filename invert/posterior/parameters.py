"""Hidden quantities and nuisances at draws, by the exact inverse from un-rounded ratios or given."""

from collections.abc import Mapping

import numpy as np

from derive.catalogue import equation
from derive.immutable import immutable
from invert.arrays import Array, Values
from invert.assumptions import Assumptions
from invert.posterior import inverse
from invert.posterior.data import PriceData, column
from invert.posterior.inverse import PER_PARAMETER, Costs
from invert.priors import NUISANCES, STRUCTURE
from invert.sheets.contexts import mean_contexts

RATIOS = ("output_input_ratio", "premium_in", "premium_out")
WIDER = {"short_context": 1.75, "long_context": 1.1}
"""Factors on the priors of nuisances in draws, for posteriors in the tail of the prior."""

LATENT, NOISY, SIZE = len(NUISANCES), len(NUISANCES) + len(RATIOS), len(NUISANCES) + 2 * len(RATIOS)
"""The coordinates of the draws: nuisances, then places in the cells, their noise, and the size of the model."""


@immutable
class Points:
    """Hidden quantities and nuisances at draws, per active parameter, and derived quantities [sheets, draws].

    `drawn` are the standard normals of the nuisances, `logs` the logs of the three structural quantities.
    """

    drawn: Mapping[str, Array]
    at: Mapping[str, Values]
    costs: Costs
    logs: Mapping[str, Array]

    def rows(self, place: slice) -> "Points":
        """Return the points of some of the sheets. Values that all sheets share stay shared."""

        def part(values: Values) -> Values:
            return values[place] if isinstance(values, np.ndarray) and values.ndim == 2 else values

        at, logs = {name: part(values) for name, values in self.at.items()}, {name: logs[place] for name, logs in self.logs.items()}
        return Points(drawn=self.drawn, at=at, costs=Costs(*map(part, self.costs)), logs=logs)


def wider(assumptions: Assumptions) -> dict[str, float]:
    """Return the nuisances that are drawn wider than their priors, with the factor. A nuisance with a fixed value is left out."""
    return {name: factor for name, factor in WIDER.items() if assumptions.priors[name].spread}


def triangular_points(price_data: PriceData, assumptions: Assumptions, normal: Array, uniform: Array) -> Points:
    """Return the nuisances and un-rounded ratios at draws [draws, 16], and the hidden quantities they determine."""
    drawn = {name: normal[:, place] for place, name in enumerate(NUISANCES)}
    drawn |= {name: factor * drawn[name] for name, factor in wider(assumptions).items()}
    ratios, spare = {}, {}
    for place, name in enumerate(RATIOS):
        noise = spare[name] = normal[:, NOISY + place]
        if name in price_data.cells:
            low, high = (column(end)[:, None] for end in price_data.cells[name])
            ratios[name] = np.exp(low + (high - low) * uniform[:, LATENT + place] + assumptions.noise[name] * noise)
    return inverted(ratios, nuisances(drawn, price_data, assumptions), spare, drawn, price_data, assumptions)


def inverted(
    ratios: Mapping[str, Values],
    at: dict[str, Values],
    spare: Mapping[str, Values],
    drawn: Mapping[str, Array],
    price_data: PriceData,
    assumptions: Assumptions,
) -> Points:
    """Return hidden quantities from the ratios. The coordinate of a missing premium draws from the prior instead."""
    kv, intensity = kv_prior(price_data, assumptions), assumptions.priors["attention_intensity"].normal
    if "premium_out" not in ratios:
        at["kv_bytes_per_token"] = np.exp(kv[0] + kv[1] * spare["premium_out"])
        at["balance_context"] = equation("context.balance_context").right_side({**PER_PARAMETER, **at})
    if "premium_in" in ratios:
        at["attention_flops_per_pair"] = inverse.attention_from_premium(ratios["premium_in"], at)
    elif "premium_out" in ratios:
        centre, spread = attention_prior(kv, intensity)
        at["attention_flops_per_pair"] = np.exp(centre + spread * spare["premium_in"])
    else:
        at["attention_flops_per_pair"] = at["kv_bytes_per_token"] * np.exp(intensity[0] + intensity[1] * spare["premium_in"])
    costs = inverse.costs_of_ratios(ratios["output_input_ratio"], ratios.get("premium_out"), at)
    if "premium_out" in ratios:
        at["balance_context"], at["weight_compute_ratio"] = inverse.structure_of_costs(costs, at)
        at["kv_bytes_per_token"] = inverse.solved("context.balance_context", "kv_bytes_per_token", at)
    else:
        at["weight_compute_ratio"] = inverse.weight_of_cost(costs, at)
    return with_logs(drawn, at, costs, len(price_data))


def with_logs(drawn: Mapping[str, Array], at: dict[str, Values], costs: Costs, sheets: int) -> Points:
    """Return points with the attention intensity and the logs of quantities with a prior, or NaN if a quantity is not positive."""
    at["attention_intensity"] = equation("architecture.attention_intensity").right_side(at)
    shape = (sheets, len(next(iter(drawn.values())).T))
    names = ("kv_bytes_per_token", "attention_intensity", "weight_compute_ratio")
    return Points(drawn=drawn, at=at, costs=costs, logs={name: np.broadcast_to(np.log(at[name]), shape) for name in names})


def nuisances(drawn: Mapping[str, Array], price_data: PriceData, assumptions: Assumptions) -> dict[str, Values]:
    """Return the nuisances at standard normal draws, with the fixed ones.

    Contexts, unless given, are shares of the sheets' own bands.
    """
    at: dict[str, Values] = assumptions.held | {name: assumptions.priors[name].at(normal) for name, normal in drawn.items()}
    first, second = price_data.edges[:, 0, None], price_data.edges[:, 1, None]
    at["short_context"], at["long_context"] = mean_contexts((first, second), assumptions, drawn["short_context"], drawn["long_context"])
    at["band_share"] = (at["long_context"] - first) / (second - first)
    return at


def kv_prior(price_data: PriceData, assumptions: Assumptions) -> tuple[Values, Values]:
    """Return centre and spread of ln KV bytes per active parameter [sheets, 1], by the prior, or by known KV bytes over the size."""
    if price_data.log_kv_bytes is None:
        return assumptions.priors["kv_bytes_per_token"].normal
    (kv, spread), (size, size_spread) = price_data.log_kv_bytes, price_data.log_active_params
    return (kv - size)[:, None], np.hypot(spread, size_spread)[:, None]


def attention_prior(kv: tuple[Values, Values], intensity: tuple[float, float]) -> tuple[Values, Values]:
    """Return centre and spread of ln attention FLOPs per pair and parameter, the product of the two."""
    return kv[0] + intensity[0], np.hypot(kv[1], intensity[1])


def forward_points(drawn: Mapping[str, Array], hidden: Mapping[str, Values], price_data: PriceData, assumptions: Assumptions) -> Points:
    """Return points at given nuisances and structural quantities, by the forward model."""
    at = {**nuisances(drawn, price_data, assumptions), **hidden}
    at["attention_flops_per_pair"] = hidden["attention_intensity"] * hidden["kv_bytes_per_token"]
    at["balance_context"] = equation("context.balance_context").right_side({**PER_PARAMETER, **at})
    return with_logs(drawn, at, inverse.costs_of_structure(at), len(price_data))


def prior_points(price_data: PriceData, assumptions: Assumptions, normal: Array) -> Points:
    """Return points with everything drawn from its prior. No price is used."""
    drawn = {name: normal[:, place] for place, name in enumerate(NUISANCES)}
    kv, spread = kv_prior(price_data, assumptions)
    hidden = {"kv_bytes_per_token": np.exp(kv + spread * normal[:, NOISY])}
    for place, name in enumerate(STRUCTURE[1:], start=1):
        hidden[name] = assumptions.priors[name].at(normal[:, NOISY + place])
    return forward_points(drawn, hidden, price_data, assumptions)


def drawn_contexts(price_data: PriceData, assumptions: Assumptions, normal: Array) -> Array:
    """Return the mean context of every band of one sheet at draws of the nuisances alone [draws, bands], in tokens."""
    drawn = {name: normal[:, place] for place, name in enumerate(NUISANCES)}
    means = mean_contexts(price_data.edges[0], assumptions, drawn["short_context"], drawn["long_context"])
    return np.column_stack([np.broadcast_to(one, len(normal)) for one in means])
