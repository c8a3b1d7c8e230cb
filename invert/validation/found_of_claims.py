"""Compute the values of claims and published problems from the equations and tables."""

import shlex
from collections.abc import Iterable, Mapping

from derive.answers import shown_end
from derive.catalogue import equation
from derive.errors import NoSingleValue, UnknownName
from derive.immutable import immutable
from derive.preset_rows import MemoryTierFigure
from derive.presets import hardware, model
from derive.quantities import QUANTITIES
from derive.solving.api import Given, solve
from derive.tables.cells import read_number
from derive.tables.questions import Givens, command_of, read_givens, stated_range, unknown_names
from derive.tables.rows import in_si
from derive.tables.shipped import Tables
from invert.sheets.tables import Disclosure
from invert.validation.claim_rows import UNDECIDED, Claim, WorkedProblem

Facts = Mapping[str, float]
"""Values by registry name [SI]."""
TABLES = {
    "hardware": "hardware.csv",
    "model": "architectures.csv",
    "sheet": "prices.csv",
    "device": "memory_tiers.csv",
    "disclosed": "disclosures.csv",
}
"""Where the rows that a given names stand."""
PRESETS = ("hardware", "model")
"""Rows that `solve` takes by name."""


@immutable
class Finding:
    """A stated value, the value found for it [SI], and its sources: equations by id, tables by file."""

    row: Claim | WorkedProblem
    found: float
    rests_on: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether the found value is in the stated range, with the tolerance of the row."""
        low, high = stated_range(self.row.unknown, self.row.stated, self.row.unit)
        tolerance = self.row.tolerance or 0.0
        return low * (1 - tolerance) <= self.found <= high * (1 + tolerance)

    @property
    def in_unit(self) -> float:
        """Found value in the unit of the claim."""
        low, _, _ = self.row.stated.partition("..")
        return self.found * read_number(low) / stated_range(self.row.unknown, low, self.row.unit)[0]


def finding(claim: Claim, sheets: Mapping[str, Facts], tables: Tables) -> Finding | None:
    """Return the value that equations and tables give for a claim, or None if it is not decidable. `sheets` are by `provider/model@day`.

    If the claim names equations, solve them for it, else read it from the given table rows. Raises UnknownName for a missing row, and
    NoSingleValue if there is more than one answer.

    >>> from derive.tables import shipped
    >>> row = next(row for row in shipped.rows_of(Claim) if row.id == "A13a")
    >>> found = finding(row, {}, shipped.read())
    >>> row.claim, found.found, found.agrees
    ('balance batch at 300 and a sparsity of 8', 2400.0, True)
    """
    if claim.verdict == UNDECIDED:
        return None
    given = read_givens(claim.givens)
    known = {source: _facts(source, name, sheets, tables) for source, name in given.rows.items()}
    values = [_value(name, claim, given, known) for name in unknown_names(claim.unknown)]
    files = tuple(TABLES[source] for source in given.rows)
    return Finding(row=claim, found=values[0] / values[1] if len(values) > 1 else values[0], rests_on=(*claim.equations, *files))


def finding_of_problem(problem: WorkedProblem) -> Finding:
    """Return the value of one published problem, asked as on the command line. Raises as `finding` does.

    >>> from derive.tables import shipped
    >>> row = next(row for row in shipped.rows_of(WorkedProblem) if row.id == "roofline-tpu")
    >>> round(finding_of_problem(row).in_unit, 1), finding_of_problem(row).agrees, finding_of_problem(row).rests_on
    (240.5, True, ('batching.ridge_point', 'hardware.csv'))
    """
    given = read_givens(problem.givens)
    found, equations = _answer(problem.unknown, given, given.texts, given.using, f"problem {problem.id}")
    return Finding(row=problem, found=found, rests_on=(*equations, *(TABLES[source] for source in given.rows)))


def _value(name: str, claim: Claim, given: Givens, known: Mapping[str, Facts]) -> float:
    if not claim.equations:
        return _read_off(name, claim, known)
    return _answer(name, given, *_question(name, claim, given, known), f"claim {claim.id}")[0]


def _question(name: str, claim: Claim, given: Givens, known: Mapping[str, Facts]) -> tuple[Mapping[str, Given], list[str]]:
    """Return the values and the equations from which one quantity of a claim is solved."""
    # A list or a device says more than the equations of a claim ask for.
    wanted = {symbol for id in claim.equations for symbol in equation(id).symbols} - {name, *given.texts}
    beside = {one: value for source, facts in known.items() if source not in PRESETS for one, value in facts.items() if one in wanted}
    # What defines the other quantity of a quotient has no part in this one.
    others = {*unknown_names(claim.unknown)} - {name}
    return {**given.texts, **beside}, [id for id in claim.equations if equation(id).defines not in others]


def commands_of_claim(claim: Claim, sheets: Mapping[str, Facts], tables: Tables) -> list[str]:
    """Return the commands that compute a claim, one for each quantity, or that show the chip, model or price list with its number.

    >>> from derive.tables import shipped
    >>> row = next(row for row in shipped.rows_of(Claim) if row.id == "A13a")
    >>> commands_of_claim(row, {}, shipped.read())
    ['backsolve solve balance_batch --using batching.balance_batch machine_balance_ratio=300 sparsity=8']
    """
    given = read_givens(claim.givens)
    if not claim.equations:
        return [_showing(source, name) for source, name in given.rows.items() if source in (*PRESETS, "sheet")]
    known = {source: _facts(source, name, sheets, tables) for source, name in given.rows.items() if source not in PRESETS}
    presets = {source: name for source, name in given.rows.items() if source in PRESETS}
    questions = ((name, *_question(name, claim, given, known)) for name in unknown_names(claim.unknown))
    return [
        command_of(name, Givens(rows=presets, texts={one: _typed(one, value) for one, value in texts.items()}, using=tuple(using)))
        for name, texts, using in questions
    ]


def _showing(source: str, name: str) -> str:
    model, _, day = name.partition("@")
    return shlex.join(["backsolve", *(("prices", "list", model, "--as-of", day) if source == "sheet" else ("show", name))])


def _typed(name: str, value: Given) -> str:
    """Return a value as a person types it: a number [SI] with the unit of its quantity."""
    unit = QUANTITIES[name].unit
    return f"{value:.12g}{'' if unit == '1' else f' {unit}'}" if isinstance(value, float) else str(value)


def _answer(name: str, how: Givens, given: Mapping[str, Given], using: Iterable[str], asker: str) -> tuple[float, tuple[str, ...]]:
    """Return the single value of a question (the end of a bound), and the equations of its route by id."""
    solution = solve(
        name,
        using=using,
        given=given,
        hardware=how.rows.get("hardware"),
        model=how.rows.get("model"),
        variants={"overlap": how.switches["overlap"]} if "overlap" in how.switches else None,
        count=how.switches.get("count", "flop"),
        bytes=how.switches.get("bytes", "decimal"),
        efficiency=how.switches.get("efficiency", "ideal"),
        anyway="anyway" in how.switches,
    )
    ends = {shown_end(answer) for answer in solution.answers}
    found = ends.pop() if len(ends) == 1 else None
    if found is None:
        raise NoSingleValue(f"{asker}: {solution.reason.message if solution.reason else 'there is no one answer'}")
    return found, tuple(reference.partition("@")[0] for reference in solution.equations)


def _read_off(name: str, claim: Claim, known: Mapping[str, Facts]) -> float:
    for facts in known.values():
        if name in facts:
            return facts[name]
    raise NoSingleValue(f"claim {claim.id}: none of its rows has {name}")


def _facts(source: str, name: str, sheets: Mapping[str, Facts], tables: Tables) -> Facts:
    """Return the facts of the rows of one name, by registry name [SI]."""
    if source == "sheet":
        if name not in sheets:
            raise UnknownName("price list", name, sheets)
        return sheets[name]
    if source == "hardware":
        return hardware(name, tables).givens
    if source == "model":
        return model(name, tables).givens
    found = _device_facts(name, tables) if source == "device" else _disclosed_facts(name, tables)
    if not found:
        raise UnknownName(source, name, ())
    return found


def _device_facts(name: str, tables: Tables) -> Facts:
    return {
        row.quantity: in_si(row.quantity, row.value, row.unit)
        for row in tables.rows_of(MemoryTierFigure)
        if row.device == name and row.quantity in QUANTITIES
    }


def _disclosed_facts(name: str, tables: Tables) -> Facts:
    return {
        row.quantity: in_si(row.quantity, row.value, row.unit)
        for row in tables.rows_of(Disclosure)
        if name in (row.provider, f"{row.provider}/{row.model}") and row.value is not None and row.quantity in QUANTITIES
    }
