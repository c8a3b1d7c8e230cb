"""Outside facts of a run: their defaults, what a user replaces, the size of each model. Which of them an estimate rests on, it says."""

from collections.abc import Mapping

from derive.catalogue import equation
from derive.errors import UnknownName, WrongValue
from derive.quantities import quantity
from derive.solving.one_equation import solve_equation
from derive.units import parse, show
from invert.priors import ASSUMED, SUSTAINED_MBU, Beliefs, beliefs
from invert.records import Anchors
from invert.sheets.rows import ModelRow

ASSUMED_ACTIVE_PARAMS = 1e11
DEFAULTS = {
    "machine_balance_ratio": 300.0,
    "bytes_per_weight": 1.0,
    "prompt_position": 0.5,
    "prefill_decode_flops_ratio": 1.0,
    "overlap": 1.0,
    "sweep_time": 0.024 / SUSTAINED_MBU,
    "holding_cost_ratio": 1.0,
}
ALLOWED = ("active_params", *DEFAULTS, "short_context", "long_context", "kv_bytes_per_token")
"""Every outside fact that may be given."""
HELD_FIXED = (
    "prefill_decode_flops_ratio",
    "overlap",
    "short_context",
    "long_context",
    "prompt_position",
    "sweep_time",
    "holding_cost_ratio",
)
"""Anchors that, if given, the posterior takes as known; by default they vary over their priors."""


def given_anchors(anchors: Mapping[str, float | str]) -> dict[str, float]:
    """Anchors as typed, to SI; only those that a reading uses are allowed."""
    read = {}
    for name, value in anchors.items():
        row = quantity(name)
        if row.name in ASSUMED:
            held = show(row.name, ASSUMED[row.name])
            raise WrongValue(f"{row.name} cannot be given: it is held at {held} in every reading and estimate")
        if row.name not in ALLOWED:
            raise UnknownName("anchor", name, ALLOWED)
        read[row.name] = parse(row.name, value) if isinstance(value, str) else row.check(float(value))
    return read


def common_anchors(given: Mapping[str, float]) -> Anchors:
    """The anchors all sheets of a run share; active_params is among them only if given."""
    values = {**DEFAULTS, **ASSUMED, **given}
    origin = {name: "given" if name in given else "assumed" if name in ASSUMED else "default" for name in values}
    ridge, _ = solve_equation(equation("batching.balance_ratio_from_ridge"), "ridge_point", values)
    return Anchors({**values, "ridge_point": ridge[0].value}, {**origin, "ridge_point": "batching.balance_ratio_from_ridge"})


def held_beliefs(common: Anchors, given: Mapping[str, float]) -> Beliefs:
    """The priors of a run: the ridge point of its anchors is the centre of one, what is given holds others fixed."""
    return beliefs({"ridge_point": common.values["ridge_point"]} | {name: given[name] for name in HELD_FIXED if name in given})


def anchors_of(model: ModelRow | None, common: Anchors) -> Anchors:
    """Those of one sheet: with the active parameters of its model, or assumed ones, if none are given."""
    if "active_params" in common.values:
        return common
    if model is not None and model.active_params:
        value, origin = model.active_params, f"models.csv ({model.active_params_grade})"
    else:
        value, origin = ASSUMED_ACTIVE_PARAMS, "assumed"
    return Anchors({**common.values, "active_params": value}, {**common.origin, "active_params": origin})
