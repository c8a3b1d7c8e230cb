"""Compare claims of the lecture and of publications with equations and tables, including price lists, as rows of the scoreboard."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from derive.errors import BacksolveError
from derive.tables.problems import Problem
from derive.tables.questions import command_of, read_givens
from derive.tables.shipped import Tables
from invert.assumptions import Assumptions
from invert.sheets.observables import observables
from invert.sheets.sheet import PriceSheet
from invert.sheets.tables import ModelRow
from invert.validation.claim_rows import AGREES, AS_PUBLISHED, UNDECIDED, Claim, WorkedProblem
from invert.validation.found_of_claims import Facts, Finding, commands_of_claim, finding, finding_of_problem

_AGREEING = (*AGREES, *AS_PUBLISHED)
_DIGITS, _WHOLE = 4, 1e6
"""Digits of what is found; below the other it is written as a whole number where it is one."""


def claim_rows(claims: Iterable[Claim], sheets: Mapping[str, Facts], tables: Tables) -> list[dict[str, object]]:
    """Return a row per claim: the stated and the found value in the same unit, and the verdict. `sheets` are by `provider/model@day`.

    A claim that needs a bad table row says so, and the other claims are still checked.
    """
    return [
        {
            "id": claim.id,
            "claim": claim.claim,
            **_compare_value(claim, partial(finding, claim, sheets, tables)),
            "time": claim.time,
            "source": claim.source,
            "command": _command(claim, sheets, tables),
        }
        for claim in claims
    ]


def _command(claim: Claim, sheets: Mapping[str, Facts], tables: Tables) -> str:
    """Return one line for a shell that computes a claim, or an empty text if a row that it needs is missing."""
    try:
        return " && ".join(commands_of_claim(claim, sheets, tables))
    except BacksolveError:
        return ""


def problem_rows(problems: Iterable[WorkedProblem]) -> list[dict[str, object]]:
    """Return a row per published problem: the published and the found value in the same unit, the verdict, and the command."""
    return [
        {
            "id": problem.id,
            "problem": problem.problem,
            **_compare_value(problem, partial(finding_of_problem, problem)),
            "arithmetic": problem.arithmetic,
            "command": command_of(problem.unknown, read_givens(problem.givens)),
            "source": problem.source,
            "source_url": problem.source_url,
        }
        for problem in problems
    ]


def _compare_value(row: Claim | WorkedProblem, find: Callable[[], Finding | None]) -> dict[str, object]:
    """Return the stated and the found value and whether they agree, or the reason if there is no value or the tables changed."""
    found, by, agrees, verdict, reason = None, "", None, row.verdict, row.reason
    try:
        if one := find():
            found, by, agrees = float(f"{one.in_unit:.{_DIGITS}g}"), "; ".join(one.rests_on), one.agrees
            if agrees is not (row.verdict in _AGREEING) and read_givens(row.givens).rows:
                verdict, reason = UNDECIDED, f"the tables have changed since the verdict was {row.verdict!r}"
    except BacksolveError as error:
        verdict, reason = UNDECIDED, f"left out: {error}"
    return {
        "said": row.stated or None,
        "unit": row.unit,
        "found": int(found) if found is not None and found < _WHOLE and found.is_integer() else found,
        "verdict": verdict,
        "reason": reason,
        "by": by,
        "tolerance": row.tolerance,
        "agrees": agrees,
    }


def not_borne(rows: Iterable[Claim | WorkedProblem], found: Iterable[Mapping[str, object]]) -> Iterator[Problem]:
    """List every verdict that the value `found` for its row contradicts, except rows on tables, which may have been corrected."""
    for row, one in zip(rows, found, strict=True):
        if one["agrees"] is not None and one["agrees"] is not (row.verdict in _AGREEING) and not read_givens(row.givens).rows:
            lies = "within" if one["agrees"] else "outside"
            said = f"{row.stated} {row.unit}".rstrip()
            fault = f"{row.id} is {row.verdict!r}, and {one['found']} lies {lies} the tolerance of {said}, {row.tolerance:g} of it"
            yield Problem(origin=f"{row.TABLE}.csv", row=row.place, column="verdict", message=fault)


def price_facts(sheets: Iterable[PriceSheet], models: Iterable[ModelRow], assumptions: Assumptions) -> Mapping[str, Facts]:
    """Return the facts of each price list by `provider/model@day`: base band, first step and shortest cache lifetime."""
    longest = {(row.provider, row.model): row.max_context for row in models}
    return {f"{one.provider}/{one.model}@{one.as_of}": _facts(one, longest.get((one.provider, one.model)), assumptions) for one in sheets}


def _facts(sheet: PriceSheet, max_context: int | None, assumptions: Assumptions) -> Facts:
    base, seen = sheet.bands[0], observables(sheet, max_context, assumptions)
    found: dict[str, float | None] = {
        "input_price": base.input.usd_per_token,
        "output_price": base.output.usd_per_token,
        "output_input_ratio": seen.output_input_ratio.value,
        "max_context": max_context,
    }
    if base.cache_read and seen.cache_read_ratio:
        found |= {"cache_read_price": base.cache_read.usd_per_token, "cache_read_ratio": seen.cache_read_ratio.value}
    if seen.cache_write_premiums:
        found["cache_write_premium"] = min(seen.cache_write_premiums, key=lambda one: one.ttl_seconds or 0).premium
    for step in seen.pairs[:1]:
        found["long_context_threshold"] = step.long_context_threshold
        found |= {"premium_in": step.premium_in.value, "premium_out": step.premium_out.value}
    return {name: float(value) for name, value in found.items() if value is not None}
