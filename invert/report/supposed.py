"""Predict the prices of a sheet from a supposed model, and print them beside the published prices, as text and as JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from derive.catalogue import equations
from derive.errors import NotCovered, WrongValue, suggest
from derive.immutable import immutable
from derive.units import named_texts, parse, show
from invert.assumptions import ANCHORS, ASSUMED, OBSERVED
from invert.encoder import Codec, Through
from invert.estimators.lecture import check_forward, weight_of_output, with_balance_context
from invert.forward_model import predict_output_input_ratio
from invert.records import Check
from invert.report.prices import PLACE, Prediction, predicted_prices, predictions
from invert.report.sheet import heading
from invert.result import Inference, Run

_HIDDEN = ("kv_bytes_per_token", "bandwidth_bound_fraction", "attention_flops_per_pair")
_LISTED = tuple(dict.fromkeys((*_HIDDEN, *ANCHORS)))
SUPPOSABLE = (*_LISTED, *ASSUMED, "mfu", "mbu")
"""Quantities that may be supposed: what a sheet hides, the facts of a run, and its shares of the peak rates."""

_OF_MODEL = ("active_params", "kv_bytes_per_token")

_PUBLISHED = (*OBSERVED, "long_context_threshold")
"""Quantities that a price sheet has."""


def supposed_values(items: Iterable[str]) -> dict[str, float]:
    """Return typed suppositions `name=value` in SI. Raise WrongValue for a quantity that the forward model does not use.

    For a published number, the error suggests the quantity that a reading solves from it.
    """
    texts = named_texts(items, _LISTED)
    for name in texts:
        if name not in SUPPOSABLE:
            readings = equations("readings", name) if name in _PUBLISHED else ()
            read = [hidden for row in readings for hidden in _HIDDEN if hidden in row.symbols][:1]
            near = f"; did you mean {read[0]!r}?" if read else suggest(name, SUPPOSABLE, lists=False)
            why = "a sheet has it, and --set changes it" if name in _PUBLISHED else "no predicted price depends on it"
            raise WrongValue(f"{name} cannot be supposed: {why}{near}\nallowed: {', '.join(SUPPOSABLE)}")
    return {name: parse(name, text) for name, text in texts.items()}


@immutable
class SupposedSheet:
    """The prices of a sheet that follow from the supposed values and from the assumed size and KV bytes [SI]."""

    one: Inference
    supposed: Mapping[str, float]
    assumed: Mapping[str, float]
    prices: tuple[Prediction, ...]


def supposed_sheet(one: Inference, supposed: Mapping[str, float]) -> SupposedSheet:
    """Return every price of a sheet with the prediction of the forward model at `supposed` values [SI].

    The input price sets the scale of all prices. The output price sets the weight reads, unless a bandwidth-bound fraction is supposed.
    Raises `NotCovered` if the KV reads alone cost more than the output price, or without KV bytes per token.
    """
    completed, seen, uses_output = _completed(one, supposed), one.observables, "bandwidth_bound_fraction" not in supposed
    values, ratio = with_balance_context(completed), seen.output_input_ratio.value
    if not uses_output:
        if supposed["bandwidth_bound_fraction"] == 1:
            raise WrongValue("bandwidth_bound_fraction = 1: decode would compute nothing. Write less than 1, such as 0.99")
        ratio = predict_output_input_ratio(supposed["bandwidth_bound_fraction"])
    found = weight_of_output(values, (seen.contexts or (0.0,))[0], ratio)
    if found is None:
        kv = show("kv_bytes_per_token", values["kv_bytes_per_token"])
        raise NotCovered(
            f"{one.name}: at {kv} arithmetic and KV reads alone cost more than the output price, {ratio:.3g} times input. Suppose fewer KV"
            " bytes"
        )
    used = ("output_input_ratio",) if uses_output else ()
    checks = check_forward(one, 0, {**values, "weight_compute_ratio": found}, used)
    return SupposedSheet(
        one=one,
        supposed=supposed,
        assumed={name: value for name, value in completed.items() if name in _OF_MODEL and name not in supposed},
        prices=tuple(row if uses_output else _with_output(row, checks[0]) for row in predictions(one, checks)),
    )


def _completed(one: Inference, supposed: Mapping[str, float]) -> dict[str, float]:
    """Return the supposed values with the anchors of a sheet, and the KV bytes of its architecture, or else the typical ones."""
    kv_bytes = one.known.read if one.known else one.kv_bytes["typical"].median
    values = {"kv_bytes_per_token": kv_bytes, **one.anchors.values, **supposed}
    if values["kv_bytes_per_token"] is None:
        raise NotCovered(f"{one.name}: its typical KV is not known. Suppose one, e.g. --suppose kv_bytes_per_token=49kB")
    return {name: value for name, value in values.items() if value is not None}


def _with_output(found: Prediction, ratio: Check) -> Prediction:
    """Return an output price above a threshold with the prediction of a supposition, which determines the base output price."""
    if found.price.component != "output" or found.predicted is None or not found.price.threshold_tokens:
        return found
    return replace(found, predicted=found.predicted * ratio.predicted / ratio.published, met=ratio.inside_rounding_cell)


def supposed_parts(one: Inference, table: Run, supposed: Mapping[str, float]) -> list[str]:
    """Return the heading, the suppositions, and the table of prices with their residuals."""
    found = supposed_sheet(one, supposed)
    told, assumed = (", ".join(f"{name} = {show(name, value)}" for name, value in of.items()) for of in (supposed, found.assumed))
    said = [f"Supposed: {told}", *([f"Assumed: {assumed}"] if assumed else []), "", predicted_prices(one, found.prices)]
    said.append("Residual: predicted over published price, minus 1.")
    if not one.pairs:
        said.append("The sheet has one price for all lengths. Its mean context is not known, so KV bytes change only the cache prices.")
    return [*heading(one, table), *said]


SUPPOSED = Codec(
    keys={
        SupposedSheet: {
            **{name: f"one.sheet.{name}" for name in ("provider", "model", "as_of")},
            **{name: name for name in ("supposed", "assumed", "prices")},
        },
        Prediction: {
            **PLACE, "published": "price.amount",
            "predicted": Through("", lambda found: found.price.amount if found.used else found.predicted, float | None),
            **{name: name for name in ("residual", "used", "bound")}, "currency": "price.currency", "per": "price.per",
        },
    },
)  # fmt: skip
"""How a supposed sheet is written for programs: the supposed values [SI], and every price with its residual."""
