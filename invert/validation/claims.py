"""Check claims of the lecture and published problems: the value that equations and tables give, as rows of the scoreboard.

A row asks one question, or two for a quotient. Their answers are the value, and their commands reproduce it. A claim without equations is
read from the rows of tables that it names.
"""

import shlex
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from derive.answers import shown_end
from derive.catalogue import equation
from derive.errors import BacksolveError, NoSingleValue, UnknownName
from derive.immutable import immutable
from derive.preset_rows import MemoryTierFigure
from derive.presets import hardware, model
from derive.quantities import QUANTITIES
from derive.solving.api import solve
from derive.solving.result import Solution
from derive.tables.cells import read_number
from derive.tables.lines import Problem
from derive.tables.questions import Givens, command_of, read_givens, stated_range, unknown_names
from derive.tables.shipped import Tables, in_si
from invert.assumptions import Assumptions
from invert.sheets.observables import observables
from invert.sheets.rows import Disclosure, ModelRow
from invert.sheets.sheet import PriceSheet
from invert.validation.claim_rows import AGREES, AS_PUBLISHED, UNDECIDED, Claim, WorkedProblem

Facts = Mapping[str, float]
"""Values by registry name [SI]."""
Row = Claim | WorkedProblem
TABLES = {
    "hardware": "hardware.csv",
    "model": "architectures.csv",
    "sheet": "prices.csv",
    "device": "memory_tiers.csv",
    "disclosed": "disclosures.csv",
}
"""The table for each kind of given."""
PRESETS = ("hardware", "model")
"""Rows that `solve` accepts by name."""
_AGREEING = (*AGREES, *AS_PUBLISHED)
_SHOWN = {"claims": ("time", "source", "command"), "problems": ("arithmetic", "command", "source", "source_url")}
"""What a row of the scoreboard shows after the comparison, by table."""
_EXACT = 1e-5
"""Tolerance below which two values differ only by rounding."""
_DIGITS, _WHOLE = 4, 1e6
"""Digits of a computed value. Whole values below the second number are written without decimals."""


@immutable
class Finding:
    """A stated value, the value found for it [SI], and its sources: equations by id, tables by file."""

    row: Row
    found: float
    rests_on: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Return whether the found value is in the stated range, with the tolerance of the row."""
        low, high = stated_range(self.row.unknown, self.row.stated, self.row.unit)
        tolerance = self.row.tolerance or 0.0
        return low * (1 - tolerance) <= self.found <= high * (1 + tolerance)

    @property
    def in_unit(self) -> float:
        """Return the found value in the unit of the row."""
        low, _, _ = self.row.stated.partition("..")
        return self.found * read_number(low) / stated_range(self.row.unknown, low, self.row.unit)[0]


def checked_rows(rows: Iterable[Row], sheets: Mapping[str, Facts], tables: Tables) -> list[dict[str, object]]:
    """Return a row for each claim or problem: the stated and the found value in the same unit, the verdict, and the command."""
    return [
        {
            "id": row.id,
            row.TABLE.removesuffix("s"): row.claim if isinstance(row, Claim) else row.problem,
            **_compare_value(row, sheets, tables),
            **{name: _command(row, sheets, tables) if name == "command" else getattr(row, name) for name in _SHOWN[row.TABLE]},
        }
        for row in rows
    ]


def _compare_value(row: Row, sheets: Mapping[str, Facts], tables: Tables) -> dict[str, object]:
    """Return the stated and the found value and whether they agree, or the reason if there is no value or the tables changed."""
    found, by, agrees, verdict, reason = None, "", None, row.verdict, row.reason
    try:
        if one := finding(row, sheets, tables):
            found, by, agrees = float(f"{one.in_unit:.{_DIGITS}g}"), "; ".join(one.rests_on), one.agrees
            # The usual reason is how near the computed value is to the stated one.
            apart = row.tolerance or 0.0
            near = f"the computed value is within {100 * apart:.3g} % of the stated one" if apart >= _EXACT else "both values are equal"
            usual = "the computed value lies in the stated range" if ".." in row.stated else near
            reason = reason or (usual if agrees else "")
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


def finding(row: Row, sheets: Mapping[str, Facts], tables: Tables) -> Finding | None:
    """Return the value that equations and tables give for a row, or None if it is not decidable. `sheets` are by `provider/model@day`."""
    if row.verdict == UNDECIDED:
        return None
    rows = read_givens(row.givens).rows
    if asked := questions(row, sheets, tables):
        answers = [_answer(name, how, row) for name, how in asked.items()]
    else:
        known = ChainMap(*({**_facts(source, name, sheets, tables)} for source, name in rows.items()))
        if lacking := [name for name in unknown_names(row.unknown) if name not in known]:
            raise NoSingleValue(f"{row.TABLE.removesuffix('s')} {row.id}: none of its rows has {lacking[0]}")
        answers = [(known[name], ()) for name in unknown_names(row.unknown)]
    equations = row.equations if isinstance(row, Claim) else answers[0][1]
    values = [value for value, _ in answers]
    found = values[0] / values[1] if len(values) > 1 else values[0]
    return Finding(row=row, found=found, rests_on=(*equations, *(TABLES[source] for source in rows)))


def questions(row: Row, sheets: Mapping[str, Facts], tables: Tables) -> dict[str, Givens]:
    """Return the question about each unknown of a row, or no question for a claim that is read from tables."""
    given = read_givens(row.givens)
    if isinstance(row, WorkedProblem):
        return {row.unknown: given}
    names, presets = unknown_names(row.unknown), {source: name for source, name in given.rows.items() if source in PRESETS}
    facts: dict[str, float] = {}
    for source in given.rows.keys() - presets if row.equations else ():
        facts |= _facts(source, given.rows[source], sheets, tables)
    found = {}
    for name in names if row.equations else ():
        # A list or a device states more than the equations of a claim need.
        wanted = {symbol for id in row.equations for symbol in equation(id).symbols} - {name, *given.texts}
        beside = {one: f"{value:.12g} {QUANTITIES[one].unit}".removesuffix(" 1") for one, value in facts.items() if one in wanted}
        # What defines the other quantity of a quotient has no part in this one.
        using = tuple(id for id in row.equations if equation(id).defines not in {*names} - {name})
        found[name] = replace(given, rows=presets, texts={**given.texts, **beside}, using=using)
    return found


def _command(row: Row, sheets: Mapping[str, Facts], tables: Tables) -> str:
    """Return a shell command that computes a row or shows its table rows, or an empty text if a needed row is missing."""
    try:
        asked = questions(row, sheets, tables)
    except BacksolveError:
        return ""
    shown = [] if asked else [_showing(source, name, tables) for source, name in read_givens(row.givens).rows.items()]
    return " && ".join([*(command_of(name, how) for name, how in asked.items()), *filter(None, shown)])


def _showing(source: str, name: str, tables: Tables) -> str:
    """Return the command that prints a row of a table, or an empty text if no command does."""
    model, _, day = name.partition("@")
    if source == "sheet":
        return shlex.join(["backsolve", "prices", "list", model, "--as-of", day])
    days = [str(row.date) for row in tables.rows_of(Disclosure) if name == f"{row.provider}/{row.model}"] if source == "disclosed" else []
    if days:
        return shlex.join(["backsolve", "infer", name, "--as-of", days[0]])
    return shlex.join(["backsolve", "show", name]) if source in PRESETS else ""


def solve_asked(unknown: str, how: Givens) -> Solution:
    """Return the solution of a question of a table."""
    return solve(
        unknown,
        using=how.using,
        given=how.texts,
        hardware=how.rows.get("hardware"),
        model=how.rows.get("model"),
        variants={"overlap": how.switches["overlap"]} if "overlap" in how.switches else None,
        count=how.switches.get("count", "flop"),
        bytes=how.switches.get("bytes", "decimal"),
        efficiency=how.switches.get("efficiency", "ideal"),
        anyway="anyway" in how.switches,
    )


def _answer(name: str, how: Givens, row: Row) -> tuple[float, tuple[str, ...]]:
    """Return the single value of a question (the end of a bound), and the equations of its route by id."""
    solution = solve_asked(name, how)
    ends = {shown_end(answer) for answer in solution.answers}
    found = ends.pop() if len(ends) == 1 else None
    if found is None:
        why = solution.reason.message if solution.reason else "there is no one answer"
        raise NoSingleValue(f"{row.TABLE.removesuffix('s')} {row.id}: {why}")
    return found, tuple(reference.partition("@")[0] for reference in solution.equations)


def _facts(source: str, name: str, sheets: Mapping[str, Facts], tables: Tables) -> Facts:
    """Return the facts of the rows of one name, by registry name [SI]."""
    if source in PRESETS:
        return (hardware if source == "hardware" else model)(name, tables).givens
    if source == "sheet":
        if name not in sheets:
            raise UnknownName("price list", name, sheets)
        return sheets[name]
    rows: list[MemoryTierFigure | Disclosure] = (
        [row for row in tables.rows_of(MemoryTierFigure) if row.device == name]
        if source == "device"
        else [row for row in tables.rows_of(Disclosure) if name in (row.provider, f"{row.provider}/{row.model}")]
    )
    found = {row.quantity: in_si(row.quantity, row.value, row.unit) for row in rows if row.value is not None and row.quantity in QUANTITIES}
    if not found:
        raise UnknownName(source, name, ())
    return found


def not_borne(rows: Iterable[Claim | WorkedProblem], found: Iterable[Mapping[str, object]]) -> Iterator[Problem]:
    """List every verdict that the value `found` for its row contradicts, except rows on tables, which may have been corrected."""
    for row, one in zip(rows, found, strict=True):
        if one["agrees"] is not None and one["agrees"] is not (row.verdict in _AGREEING) and not read_givens(row.givens).rows:
            lies = "within" if one["agrees"] else "outside"
            said = f"{row.stated} {row.unit}".rstrip()
            fault = f"{row.id} is {row.verdict!r}, and {one['found']} lies {lies} the tolerance of {said}, {row.tolerance:g} of it"
            yield row.problem_in("verdict", fault)


def price_facts(sheets: Iterable[PriceSheet], models: Iterable[ModelRow], assumptions: Assumptions) -> Mapping[str, Facts]:
    """Return the facts of each price list by `provider/model@day`: base band, first step and shortest cache lifetime."""
    longest = {(row.provider, row.model): row.max_context for row in models}
    return {
        f"{one.provider}/{one.model}@{one.as_of}": _facts_of_sheet(one, longest.get((one.provider, one.model)), assumptions)
        for one in sheets
    }


def _facts_of_sheet(sheet: PriceSheet, max_context: int | None, assumptions: Assumptions) -> Facts:
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
