"""Predict the prices of a sheet from a supposed model, and compare them with the published prices."""

from collections.abc import Mapping
from dataclasses import replace

from derive.errors import NotCovered, WrongValue
from derive.units import show
from invert.assumptions import ANCHORS
from invert.estimators.readings import check_forward, weight_of_output, with_balance_context
from invert.forward_model import predict_output_input_ratio
from invert.records import Check
from invert.report.prices import Prediction, predictions
from invert.result import Inference, Run

HIDDEN = ("kv_bytes_per_token", "bandwidth_bound_fraction", "attention_flops_per_pair")
SUPPOSABLE = tuple(dict.fromkeys((*HIDDEN, *ANCHORS)))
"""Quantities that may be supposed: what a sheet hides, and the outside facts of a run."""


def predict_prices(one: Inference, table: Run, supposed: Mapping[str, float]) -> list[Prediction]:
    """Return every price of a sheet with the prediction of the forward model at `supposed` values [SI].

    The input price sets the scale of all prices. The output price sets the weight reads, unless a bandwidth-bound fraction is supposed.
    Raises `WrongValue` without KV bytes per token, and `NotCovered` if the KV reads alone cost more than the output price.
    """
    if "kv_bytes_per_token" not in supposed:
        raise WrongValue("--suppose needs kv_bytes_per_token, e.g. --suppose kv_bytes_per_token=49kB")
    seen = one.observables
    values = with_balance_context({**one.anchors.values, **supposed})
    ratio = seen.output_input_ratio.value
    uses_output = "bandwidth_bound_fraction" not in supposed
    if not uses_output:
        if supposed["bandwidth_bound_fraction"] == 1:
            raise WrongValue("bandwidth_bound_fraction = 1: decode would compute nothing. Write less than 1, such as 0.99")
        ratio = predict_output_input_ratio(supposed["bandwidth_bound_fraction"])
    found = weight_of_output(values, (seen.contexts or (0.0,))[0], ratio)
    if found is None:
        kv = show("kv_bytes_per_token", supposed["kv_bytes_per_token"])
        raise NotCovered(
            f"{one.name}: at {kv} arithmetic and KV reads alone cost more than the output price, {ratio:.3g} times input. Suppose fewer KV"
            " bytes"
        )
    used = ("output_input_ratio",) if uses_output else ()
    checks = check_forward(one.sheet, seen, 0, values, {"weight_compute_ratio": found}, used, table.assumptions)
    return [row if uses_output else _with_output(row, checks[0]) for row in predictions(one, checks)]


def _with_output(found: Prediction, ratio: Check) -> Prediction:
    """Return an output price with the prediction of a supposition, which determines the base output price and all above it."""
    if found.price.component != "output":
        return found
    amount = (found.predicted or found.price.amount) * ratio.predicted / ratio.published
    return replace(found, used=False, predicted=amount, met=ratio.inside_rounding_cell)
