"""The dollar-anchored estimator: the price of a sheet as a line in the context, and what its slope pays for at rental cost."""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from derive.catalogue import equation
from derive.errors import WrongData
from derive.presets import hardware
from derive.quantities import NEUTRAL_DEFAULTS
from derive.shipped import cell, once_a_reading, refuse_bad, table
from derive.solving import solve_equation
from derive.units import parse
from invert.records import Anchors, PriceBand, PriceSheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

CHIP = "H100-SXM:bf16"
"""The accelerator whose rent, bandwidth and arithmetic give a byte and a FLOP their prices."""

BASE_SHARE = 0.25
"""Context that stands for the base band, as a share of the first threshold."""

AT_COST = {"increment_markup": 1.0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.0}
"""What the estimator supposes: increments sold at cost, whole prompts new, prefill and decode at the same FLOP/s."""

ONE_TOKEN_MORE = {"long_context": 2.0, "short_context": 1.0}
"""Contexts a token apart: the increment over them is the slope."""


@dataclass(frozen=True, slots=True)
class PriceLine:
    """A price as a line in the context: at no context [USD/token], and more for each token of it [USD/token per token]."""

    at_none: float
    slope: float


@dataclass(frozen=True, slots=True)
class PriceLines:
    """The input and the output price of a sheet of several bands as lines through the contexts [token] its bands stand for."""

    contexts: tuple[float, ...]
    input: PriceLine
    output: PriceLine


def price_lines(sheet: PriceSheet, max_context: int | None) -> PriceLines | None:
    """Both prices of a sheet as lines in the context, from all of its bands; nothing where it has one band.

    `max_context` [token] is the top of the last band, by default twice the last threshold. An output slope that is not
    above zero bounds KV bytes and does not give them.
    """
    if len(sheet.bands) < 2:
        return None
    contexts = representatives(sheet.bands, max_context)
    lines = (weighted_line(contexts, [price.usd_per_token for price in prices]) for prices in zip(*map(_traded, sheet.bands), strict=True))
    return PriceLines(contexts, *(PriceLine(float(at_none), float(slope)) for at_none, slope in lines))


def _traded(band: PriceBand) -> tuple[Any, Any]:
    return band.input, band.output


def representatives(bands: "Sequence[PriceBand]", max_context: int | None) -> tuple[float, ...]:
    """The context [token] that stands for each band: a quarter of the first threshold, then the geometric mean of the ends.

    The rule of the truth test. The readings of a pair of bands take other means; whatever the rule, what is learned with
    it from known models may only be applied with it.
    """
    thresholds = [band.threshold_tokens for band in bands[1:]]
    top = max_context if max_context and max_context > thresholds[-1] else 2 * thresholds[-1]
    return (BASE_SHARE * thresholds[0], *(sqrt(low * high) for low, high in zip(thresholds, [*thresholds[1:], top], strict=True)))


def weighted_line(contexts: "ArrayLike", prices: "ArrayLike") -> tuple[Any, Any]:
    """The line through prices over contexts with the least squared relative error: its value at no context, and its slope.

    Bands run along the last axis, so that draws of either can go along others. Two bands are met exactly; equal prices
    have a slope of exactly zero. Relative error of the slope about 1e-16 times the price over its rise.

    >>> [float(round(number, 12)) for number in weighted_line([1000.0, 3000.0], [2.0, 3.0])]
    [1.5, 0.0005]
    """
    import numpy as np

    places, levels = np.asarray(contexts, dtype=float), np.asarray(prices, dtype=float)
    weights = levels**-2.0
    weights = weights / weights.sum(axis=-1, keepdims=True)
    centre = (weights * places).sum(axis=-1, keepdims=True)
    # Prices are taken from the first of them: what all of them share must not leave a rounding error in the slope.
    rises = levels - levels[..., :1]
    slope = (weights * (places - centre) * rises).sum(axis=-1) / (weights * (places - centre) ** 2).sum(axis=-1)
    return levels[..., 0] + (weights * rises).sum(axis=-1) - slope * centre[..., 0], slope


@once_a_reading
def rental(chip_price: float | None = None, chip: str = CHIP) -> Anchors:
    """What a byte read from HBM [USD/byte] and a FLOP [USD] cost on a rented chip at its data-sheet peaks, and where that is from.

    `chip_price` [USD/s] is by default the lease DeepSeek assumed for its own service. serving.price_per_hbm_byte,
    serving.price_per_flop. `UnknownName` for a chip that hardware.csv does not hold.

    >>> f"{rental().values['price_per_hbm_byte']:.3g} {rental().values['price_per_flop']:.3g}"
    '1.66e-16 5.62e-19'
    """
    preset = hardware(chip)
    rent, said = (chip_price, "given") if chip_price is not None else _disclosed_rent()
    values = {name: float(value) for name, value in NEUTRAL_DEFAULTS.items()} | AT_COST | preset.givens | {"chip_price": rent}
    origin = {name: "default" for name in values} | dict(preset.provenance) | {"chip_price": said}
    for quantity, id in (("price_per_hbm_byte", "serving.price_per_hbm_byte"), ("price_per_flop", "serving.price_per_flop")):
        values[quantity], origin[quantity] = equation(id).right_side(values), id
    return Anchors(values, origin)


def _disclosed_rent() -> tuple[float, str]:
    """The price of a chip [USD/s] that a provider stated for its own production, and where."""
    for row in table("disclosures"):
        if cell("disclosures", row, "quantity") == "chip_price" and cell("disclosures", row, "topic") == "production":
            value = parse("chip_price", f"{cell('disclosures', row, 'value')} {cell('disclosures', row, 'unit')}")
            return value, f"disclosures.csv {cell('disclosures', row, 'provider')}: {cell('disclosures', row, 'source_url')}"
    refuse_bad("disclosures", topic="production", quantity="chip_price")
    raise WrongData("disclosures.csv: no chip_price of a production, and none was given")


def kv_bytes_at_cost(output_slope: Any, anchors: "Mapping[str, Any]") -> Any:
    """KV bytes per token of context [byte/token] that an output slope [USD/token per token] pays for at rental cost.

    bands.kv_bytes_from_increment at a mark-up of 1; numbers or arrays. The slope must be above zero.

    >>> f"{kv_bytes_at_cost(1.66e-11, rental().values):.0f}"
    '100098'
    """
    return equation("bands.kv_bytes_from_increment").right_side({**anchors, **ONE_TOKEN_MORE, "output_increment": output_slope})


def attention_flops_at_cost(input_slope: Any, anchors: "Mapping[str, Any]") -> Any:
    """Attention FLOPs per query and context token that an input slope [USD/token per token] pays for at rental cost.

    bands.attention_flops_from_increment at a mark-up of 1; numbers or arrays.
    """
    return equation("bands.attention_flops_from_increment").right_side({**anchors, **ONE_TOKEN_MORE, "input_increment": input_slope})


def kv_bytes_within_price(output_price: float, max_context: float, anchors: "Mapping[str, Any]") -> float:
    """The most KV bytes per token [byte/token] that one output price [USD/token] up to `max_context` [token] pays for at cost.

    bands.kv_read_within_price: what a sheet without a premium says, at a mark-up of 1.

    >>> f"{kv_bytes_within_price(1e-5, 1e6, rental().values):.0f}"
    '60300'
    """
    given = {**anchors, "output_price": output_price, "max_context": float(max_context)}
    answers, _ = solve_equation(equation("bands.kv_read_within_price"), "kv_bytes_per_token", given)
    return answers[0].high


def kv_bytes_common_markup(lines: PriceLines, active_params: float, ridge_point: float) -> float:
    """KV bytes per token [byte/token] if one mark-up covers base price and increment alike, both lines at rental cost.

    The cost of a token doubles over the context in which the output price rises by the input price at no context:
    bands.kv_bytes_from_scale on a compute-bound base.
    """
    scale = {"base_cost": 1.0, "cost_context_scale": lines.input.at_none / lines.output.slope}
    given = {**NEUTRAL_DEFAULTS, **scale, "active_params": active_params, "ridge_point": ridge_point}
    return equation("bands.kv_bytes_from_scale").right_side(given)


def base_markup(lines: PriceLines, active_params: float, anchors: "Mapping[str, Any]") -> float:
    """The input price at no context over what a prompt token costs at rental prices: bands.active_params_times_markup over N_a."""
    given = {**anchors, "input_price": lines.input.at_none, "prefill_cost_ratio": 1.0}
    return equation("bands.active_params_times_markup").right_side(given) / active_params
