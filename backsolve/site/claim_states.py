"""Turn claims of the lecture into states of pages: the page of an equation with the numbers of the claim, or of the row with its number."""

import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from backsolve.site.formulas import example_values
from backsolve.site.lookups import claims_found
from backsolve.site.presets import SUSTAINED
from derive.answers import shown_end
from derive.catalogue import equation
from derive.errors import BacksolveError
from derive.immutable import immutable
from derive.presets import chip_name
from derive.quantities import NEUTRAL_DEFAULTS
from derive.records import Equation
from derive.show.parts import values_of
from derive.solving.api import solve
from derive.solving.question.defaults import FOLLOWS
from derive.units import show

_SOLVE = ["backsolve", "solve"]
_READABLE = "/:,$"
"""Signs that stay as they are behind the # of an address."""


@immutable
class ClaimState:
    """A claim as `validate --section claims` prints it, its equation, the values that the page opens with, and the result there [SI]."""

    claim: Mapping[str, Any]
    equation: str
    fragment: str
    value: float | None


@cache
def claim_states() -> Mapping[str, ClaimState]:
    """Return the state of each claim that an equation bears, by the id of the claim.

    >>> claim_states()["A13a"].equation, claim_states()["A13a"].fragment
    ('batching.balance_batch', 'for=balance_batch')
    """
    found = map(_state, claims_found()[0])
    return {state.claim["id"]: state for state in found if state}


def states_of(id: str) -> list[ClaimState]:
    """Return the claims that an equation bears."""
    return [state for state in claim_states().values() if state.equation == id]


@cache
def addresses_of_claims() -> dict[str, str]:
    """Return the address of the state of each claim by its id, or of the page with its row of a table."""
    states = {id: f"eq/{state.equation}/index.html#{state.fragment}" for id, state in claim_states().items()}
    pages = {row["id"]: page for row in claims_found()[0] if (page := page_of_row(row["command"]))}
    return pages | states


def page_of_row(command: str) -> str:
    """Return the page of the row that a command shows: a price sheet, or the desk with a model or a chip.

    >>> page_of_row("backsolve show H100:fp8"), page_of_row("backsolve show DeepSeek-V3"), page_of_row("")
    ('desk/index.html#hardware=H100-SXM:fp8', 'desk/index.html#model=DeepSeek-V3', '')
    """
    words = shlex.split(command)
    if words[:3] == ["backsolve", "prices", "list"]:
        return f"sheet/{words[3]}/index.html"
    if words[:2] != ["backsolve", "show"]:
        return ""
    chip, _, dtype = words[2].partition(":")
    return f"desk/index.html#hardware={chip_name(chip)}:{dtype}" if dtype else f"desk/index.html#model={chip}"


def _state(claim: Mapping[str, Any]) -> ClaimState | None:
    """Return the state of a claim from the command that computes it, or None for a claim that no equation bears."""
    words = shlex.split(claim["command"].split(" && ")[0])
    if words[:2] != _SOLVE:
        return None
    unknown, *items = words[2:]
    typed = dict(item.split("=", 1) for item in items if not item.startswith("--") and "=" in item)
    options = [(name, value) for name, value in pairwise(items) if name.startswith("--")]
    using = [value for name, value in options if name == "--using"]
    try:
        solution = solve(unknown, given=typed, using=using, hardware=dict(options).get("--hardware"), model=dict(options).get("--model"))
    except BacksolveError:
        return None
    values = dict(values_of(solution, solution.answers[0], solution.route))
    # A default that follows another quantity was put into the equation.
    values |= {name: values[other] for name, others in FOLLOWS.items() for other in others[:1] if name not in values and other in values}
    bearing = [
        row for row in map(equation, using) if unknown in row.symbols and (usual_values(row) | values).keys() >= {*row.symbols} - {unknown}
    ]
    if not bearing:
        return None
    row = bearing[-1]
    # Without a pair the link would be no state: it would leave the page as it is.
    fragment = "&".join(_pairs(row, unknown, typed, values)) or f"for={unknown}"
    return ClaimState(claim=claim, equation=row.id, fragment=fragment, value=shown_end(solution.answers[0]))


def _pairs(row: Equation, unknown: str, typed: Mapping[str, str], values: Mapping[str, float]) -> Iterator[str]:
    if unknown != row.symbols[0]:
        yield f"for={unknown}"
    usual = usual_values(row)
    known = {**NEUTRAL_DEFAULTS, **values}
    for name in row.symbols:
        if name != unknown and name in known and known[name] != usual.get(name):
            text = typed.get(name) or show(name, known[name], 12)
            yield f"{name}={quote(text, safe=_READABLE).replace('%20', '+')}"


def usual_values(row: Equation) -> dict[str, float]:
    """Return the values [SI] that the page of an equation opens with: its worked example at ideal rates, and neutral defaults."""
    defaults = {name: value for name, value in NEUTRAL_DEFAULTS.items() if name in row.symbols}
    return defaults | example_values(row) | {name: 1.0 for name in SUSTAINED if name in row.symbols}
