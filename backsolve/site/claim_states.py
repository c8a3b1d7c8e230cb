"""Turn claims of the lecture into states of pages: an equation page with the numbers of the claim, or the page of a table row."""

import shlex
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from backsolve.site.formulas import NEUTRAL, start_values
from backsolve.site.lookups import claims, claims_found
from derive.catalogue import equation, equations
from derive.catalogue.searching import TALK
from derive.immutable import immutable
from derive.presets import chip_name
from derive.quantities import QUANTITIES
from derive.records import Equation
from derive.show.parts import values_of
from derive.solving.api import solve
from derive.solving.question.defaults import FOLLOWS
from derive.tables.questions import read_givens, stated_range
from derive.units import show
from invert.validation.claim_rows import Claim
from invert.validation.claims import TABLES

_READABLE = "/:,$"
"""Signs that stay as they are behind the # of an address."""


@immutable
class ClaimState:
    """A claim as `validate --section claims` prints it, its equation, and the values that the page opens with."""

    claim: Mapping[str, Any]
    equation: str
    fragment: str


@cache
def claim_states() -> Mapping[str, ClaimState]:
    """Return the state of each claim with a number, by the id of the claim.

    >>> claim_states()["A13a"].equation, claim_states()["A13a"].fragment
    ('batching.balance_batch', 'for=balance_batch')
    """
    found = ((row["id"], _solved(row) or _given(row, claims()[row["id"]])) for row in claims_found()[0])
    return {id: state for id, state in found if state}


def states_of(id: str) -> list[ClaimState]:
    """Return the claims that are a state of an equation."""
    return [state for state in claim_states().values() if state.equation == id]


@cache
def addresses_of_claims() -> dict[str, str]:
    """Return the address of the state of each claim by its id. A claim without a number has its row, which says why."""
    rows = {row["id"]: f"book/claims/index.html#{row['id']}" for row in claims_found()[0]}
    return rows | {id: f"eq/{state.equation}/index.html#{state.fragment}" for id, state in claim_states().items()}


def pages_of_rows(id: str) -> dict[str, str]:
    """Return the pages of the rows that a claim needs, by table: the desk with a chip or a model, or a price sheet.

    >>> pages_of_rows("A12j"), pages_of_rows("A13a")
    ({'hardware.csv': 'desk/index.html#hardware=H100-SXM:fp8'}, {})
    """
    pages = {}
    for source, named in read_givens(claims()[id].givens).rows.items():
        name, mark, more = named.replace("@", ":").partition(":")
        row = chip_name(name) if source == "hardware" else name
        pages[TABLES[source]] = f"sheet/{row}/index.html" if source == "sheet" else f"desk/index.html#{source}={row}{mark}{more}"
    return {table: page for table, page in pages.items() if table in ("hardware.csv", "architectures.csv", "prices.csv")}


def _given(found: Mapping[str, Any], claim: Claim) -> ClaimState | None:
    """Return the state of a claim about a number of a table: an equation of the lecture, or another one, with the number as an input."""
    name = claim.unknown
    rows = equations(symbol=name) if name in QUANTITIES else []
    row = min(rows, key=lambda one: (one.symbols[0] == name, TALK not in {source.kind for source in one.sources}), default=None)
    if row is None:
        return None
    _, stated = stated_range(name, claim.stated, claim.unit)
    return ClaimState(claim=found, equation=row.id, fragment=_fragment(row, row.symbols[row.symbols[0] == name], {}, {name: stated}))


def _solved(claim: Mapping[str, Any]) -> ClaimState | None:
    """Return the state of a claim from the command that computes it, or None for a claim without an equation."""
    words = shlex.split(claim["command"].split(" && ")[0])
    if words[:2] != ["backsolve", "solve"] or claim["found"] is None:
        return None
    unknown, *items = words[2:]
    typed = dict(item.split("=", 1) for item in items if not item.startswith("--") and "=" in item)
    options = [(name, value) for name, value in pairwise(items) if name.startswith("--")]
    using = [value for name, value in options if name == "--using"]
    solution = solve(unknown, given=typed, using=using, hardware=dict(options).get("--hardware"), model=dict(options).get("--model"))
    values = dict(values_of(solution, solution.answers[0], solution.route))
    # A default that follows another quantity was put into the equation.
    values |= {name: values[other] for name, others in FOLLOWS.items() for other in others[:1] if name not in values and other in values}
    bearing = [
        row for row in map(equation, using) if unknown in row.symbols and (start_values(row) | values).keys() >= {*row.symbols} - {unknown}
    ]
    if not bearing:
        return None
    row = bearing[-1]
    return ClaimState(claim=claim, equation=row.id, fragment=_fragment(row, unknown, typed, {**NEUTRAL, **values}))


def _fragment(row: Equation, unknown: str, typed: Mapping[str, str], values: Mapping[str, float]) -> str:
    """Return the text behind the # of an address: the unknown and the values that differ from the defaults."""
    usual, asked = start_values(row), {"for": unknown} if unknown != row.symbols[0] else {}
    for name in row.symbols:
        if name != unknown and name in values and values[name] != usual.get(name):
            asked[name] = typed.get(name) or show(name, values[name], 12)
    # Without a pair the link would be no state: it would leave the page as it is.
    return urlencode(asked or {"for": unknown}, safe=_READABLE)
