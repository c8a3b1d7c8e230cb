"""What is below a document of sheets: the day, what was changed, and the outside facts that all rest on."""

from derive.units import show
from invert.result import Run

WIDEST = 100
"""Columns where there is no terminal."""


def footer(table: Run) -> list[str]:
    """Return the day, the prices that were set by hand, the outside facts, and the command that explains the columns."""
    return [
        f"{count(table)}, prices of {table.as_of.isoformat()}.{_what_if(table)}",
        f"Anchors: {_anchors(table)}{_mean_contexts(table)}.",
        "Columns: backsolve infer --explain.",
    ]


def _what_if(table: Run) -> str:
    """The prices that were set by hand, those in place of published ones first."""
    added = [place for place in table.changes if all(one.adds(place) for one in table.inferences)]
    kinds = {
        "in place of the published amounts": [place for place in table.changes if place not in added],
        "where none is published": added,
    }
    said = [f"{', '.join(f'{place} = {table.changes[place]}' for place in places)}, {kind}" for kind, places in kinds.items() if places]
    return f" What if: {'; '.join(said)}." if said else ""


def count(table: Run) -> str:
    """`34 sheets`."""
    return "1 sheet" if len(table) == 1 else f"{len(table)} sheets"


def _mean_contexts(table: Run) -> str:
    """The rule for what was not given, as shares."""
    shares = {
        "short_context": "{:.2g} of the first threshold",
        "long_context": "{:.2g} of the way through each band above it",
    }
    return "".join(f"; {name} {text.format(table.mean_contexts[name])}" for name, text in shares.items() if name in table.mean_contexts)


def _anchors(table: Run) -> str:
    values = table.anchors.values
    shared = [f"{name} {show(name, value)}" for name, value in values.items() if name != "active_params"]
    if "active_params" in values:
        size = f"active_params {show('active_params', values['active_params'])} (given)"
    else:
        assumed = show("active_params", table.assumptions.assumed_active_params)
        size = f"active_params of the architecture where it is public, else by price (KV from threshold: {assumed}, as the lecture has it)"
    return "; ".join([size, *shared])
