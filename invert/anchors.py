"""Outside facts from the user, and their printed form with the source of each."""

from collections.abc import Mapping
from numbers import Real

from derive.errors import UnknownName, WrongValue, shorten
from derive.quantities import NAME_OF_SYMBOL, QUANTITIES, quantity
from derive.units import parse, show
from invert.assumptions import ANCHORS, ASSUMED, RIDGE_POINT, USUAL, Assumptions
from invert.records import Anchors
from invert.sheets.tables import ModelRow


def given_anchors(anchors: Mapping[str, float | str], assumptions: Assumptions = USUAL) -> dict[str, float]:
    """Convert anchors as typed to SI. Only anchors that a reading uses are allowed."""
    read = {}
    for name, value in anchors.items():
        if name not in QUANTITIES and name not in NAME_OF_SYMBOL:
            raise UnknownName("anchor", name, ANCHORS)  # the nearest name is one that may be given
        row = quantity(name)
        if row.name in ASSUMED:
            held = show(row.name, assumptions.held[row.name])
            raise WrongValue(f"{row.name} cannot be given: it is held at {held} in every reading and estimate")
        if row.name not in ANCHORS:
            raise UnknownName("anchor", name, ANCHORS)
        if not isinstance(value, str | Real):
            raise WrongValue(f"anchor {row.name} = {shorten(str(value))}: one number, or a text with its unit")
        read[row.name] = parse(row.name, value) if isinstance(value, str) else row.check(float(value))
    return read


def assumptions_of(given: Mapping[str, float], assumptions: Assumptions = USUAL) -> Assumptions:
    """Return the assumptions of a run with these outside facts [SI] in place of its own."""
    return assumptions.with_fields({**given, "given": tuple(dict.fromkeys([*assumptions.given, *given]))})


def common_anchors(assumptions: Assumptions) -> Anchors:
    """Return the anchors that all sheets of a run share. They include active_params only if it was given."""
    values = {**assumptions.facts, "ridge_point": assumptions.ridge_point}
    origin = {name: "given" if name in assumptions.given else "assumed" if name in ASSUMED else "default" for name in values}
    return Anchors(values, {**origin, "ridge_point": RIDGE_POINT})


BY_PRICE, ASSUMED_SIZE = "input price", "assumed"
UNKNOWN = (BY_PRICE, ASSUMED_SIZE)
"""Sources of active_params that no table states: the input price, or else the lecture's assumption."""


def anchors_of(model: ModelRow | None, assumptions: Assumptions, stated: tuple[float, str] | None = None) -> Anchors:
    """Return the anchors of one sheet. If active_params is not given, use the parameters of its model, else assumed ones."""
    common = common_anchors(assumptions)
    if "active_params" in common.values:
        return common
    if model is not None and model.active_params:
        value, origin = model.active_params, f"models.csv ({model.active_params_grade})"
    elif stated:
        value, origin = stated
    else:
        value, origin = assumptions.assumed_active_params, ASSUMED_SIZE
    return with_size(common, value, origin)


def with_size(anchors: Anchors, active_params: float, origin: str) -> Anchors:
    """Return the anchors with the active parameters from a table or a price."""
    return Anchors({**anchors.values, "active_params": active_params}, {**anchors.origin, "active_params": origin})


def lecture_anchors(anchors: Anchors, assumptions: Assumptions) -> dict[str, float]:
    """Return the anchors of the lecture's reading. A model of unstated size gets the size that the lecture assumes."""
    size = assumptions.assumed_active_params if anchors.origin["active_params"] in UNKNOWN else anchors.values["active_params"]
    return {**anchors.values, "active_params": size}
