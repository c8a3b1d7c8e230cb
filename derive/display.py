"""Solutions and equations as people and programs read them: text, JSON, CSV, LaTeX, Markdown."""

import json
import re
from collections.abc import Mapping
from math import ceil
from typing import Any

from derive.quantities import QUANTITIES
from derive.records import Equation
from derive.solutions import Answer, Solution
from derive.tables import span_lines, spans_record, sweep_cells, sweep_lines, sweep_record, text_of
from derive.units import show

BOUGHT_WHOLE = ("chips", "replicas")
NAME = re.compile(r"[a-z][a-z_]*")


def rendered(solution: Solution, style: str) -> str:
    """A solution as table, json, csv, latex or markdown."""
    return {"table": as_text, "json": as_json, "csv": as_csv, "latex": as_latex, "markdown": as_markdown}[style](solution)


def as_record(solution: Solution) -> dict[str, Any]:
    """The stable contract of `--as json`: SI units, formulas as text, None for unbounded."""
    return {
        "unknown": solution.unknown,
        "unit": solution.unit,
        "answers": [_answer_record(answer) for answer in solution.answers],
        "equations": list(solution.equations),
        "given": dict(solution.given),
        "assumptions": [*solution.warnings, *(f"{name} was given and is not used" for name in solution.unused), *solution.assumptions],
        "provenance": dict(solution.provenance),
        "reason": solution.reason
        and {"code": solution.reason.code, "missing": list(solution.reason.missing), "violated": list(solution.reason.violated)},
        **({"sweep": sweep_record(solution.sweep, _answer_record)} if solution.sweep else {}),
        **({"quantiles": spans_record(solution.spans)} if solution.spans else {}),
    }


def _answer_record(answer: Answer) -> dict[str, Any]:
    found = {"value": answer.value} if answer.kind == "point" else {"low": answer.low, "high": answer.high}
    rest = {"regime": answer.regime, "formula": answer.formula, "elasticities": dict(answer.elasticities), "residual": answer.residual}
    return {"kind": answer.kind, **found, **rest}


def as_json(solution: Solution) -> str:
    """Strict JSON: neither NaN nor infinity."""
    return json.dumps(as_record(solution), indent=2, allow_nan=False)


def as_csv(solution: Solution) -> str:
    """One line an answer: what a sweep gave it, then unknown, unit, kind, value, low, high, regime, formula."""
    import csv
    import io

    swept = list(solution.sweep.given) if solution.sweep else []
    rows = ((given, answers) for given, answers, _ in solution.sweep.rows()) if solution.sweep else (({}, solution.answers),)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*swept, "unknown", "unit", "kind", "value", "low", "high", "regime", "formula"])
    for given, answers in rows:
        for answer in answers or (Answer("none"),):
            cells = [answer.kind, answer.value, answer.low, answer.high, answer.regime, answer.formula]
            writer.writerow([*given.values(), solution.unknown, solution.unit, *cells])
    return out.getvalue().rstrip("\n")


def as_text(solution: Solution) -> str:
    """The answer first, then the route with numbers, what it moves with, what it rests on and what to cite."""
    if not solution.answers and not solution.sweep:
        return f"{solution.unknown}: no answer"
    lines = [*_head(solution), *_wrapped("warning", list(solution.warnings)), *_wrapped("not used", _one_line(solution.unused)), ""]
    if solution.route:
        lines += [*(["at the middle of the ranges:"] if solution.spans else []), *route_lines(solution), ""]
    moves = moves_line(solution.answers[0].elasticities) if solution.answers else ""
    lines += [f"moves by    {moves}   (% per %)"] if moves else []
    ranges = solution.spans.ranges.items() if solution.spans else ()
    given = [(name, value) for name, value in solution.given.items() if solution.provenance.get(name) != "default"]
    lines += _wrapped(
        "given",
        [f"{name} = {show(name, value)}{_from(solution, name)}" for name, value in given]
        + [f"{name} = {show(name, low)} to {show(name, high)}" for name, (low, high) in ranges],
    )
    lines += _wrapped("assumes", list(solution.assumptions))
    lines += [f"cite        backsolve cite {' '.join(id.split('@')[0] for id in _to_cite(solution))}"]
    return "\n".join(lines)


def _one_line(names: tuple[str, ...]) -> list[str]:
    return [", ".join(names)] if names else []


def _head(solution: Solution) -> list[str]:
    if solution.sweep:
        return sweep_lines(solution.unknown, solution.sweep)
    if solution.spans:
        return span_lines(solution.unknown, solution.spans)
    return [*(line for answer in solution.answers for line in answer_lines(solution.unknown, answer)), *_bound_by(solution)]


def _bound_by(solution: Solution) -> list[str]:
    """Of an answer to an inequality: which one."""
    from derive.catalogue import equation

    last = equation(solution.equations[-1])
    return [f"  {last.title} ({last.id})"] if last.sense != "=" else []


def _to_cite(solution: Solution) -> tuple[str, ...]:
    """The equations that gave the answer itself: the last of the route, or the block it was solved from."""
    for step in solution.route:
        if step.unknown == solution.unknown:
            return step.equations
    return solution.equations[-1:]


def answer_lines(unknown: str, answer: Answer) -> list[str]:
    """One answer in words a newcomer follows."""
    regime = f"   where {answer.regime}" if answer.regime else ""
    if answer.kind == "point":
        whole = ceil(answer.value * (1 - 1e-9))
        buy = f" (so {whole} whole ones)" if unknown in BOUGHT_WHOLE and abs(answer.value - whole) > 1e-9 * whole else ""
        return [f"{unknown} = {show(unknown, answer.value)}{buy}{regime}"]
    low = show(unknown, answer.low) if answer.low else None
    high = show(unknown, answer.high) if answer.high is not None else None
    bounds = {(True, True): f"between {low} and {high}", (True, False): f"at least {low}", (False, True): f"at most {high}"}
    text = f"{unknown}: {bounds.get((low is not None, high is not None), 'any value')}{regime}"
    return [text, "  It does not bind there, so only its bounds are known."] if answer.regime else [text]


def route_lines(solution: Solution) -> list[str]:
    """Every equation of the route: formula, numbers put in, value, id; and which other equations would do."""
    middles = {name: (low + high) / 2 for name, (low, high) in solution.spans.ranges.items()} if solution.spans else {}
    values = {**solution.given, **middles, **{step.unknown: step.value for step in solution.route if step.value is not None}}
    lines = []
    for step in solution.route:
        if step.formula and step.value is not None:
            lines += [f"{step.unknown} = {step.formula}", f"    = {with_numbers(step.formula, values)} = {show(step.unknown, step.value)}"]
        elif step.formula:
            lines += [step.formula, f"    {with_numbers(step.formula, values, keep=step.unknown)}"]
        elif step.value is not None:
            lines += [f"{step.unknown} = {show(step.unknown, step.value)}   (found numerically)"]
        others = f"   ({', '.join(step.alternatives)} would also do)" if step.alternatives else ""
        together = "   together" if len(step.equations) > 1 else ""
        lines += [f"    {step.equation}{together}{others}"]
    return lines


def with_numbers(formula: str, values: Mapping[str, float], keep: str = "") -> str:
    """The formula with every known quantity replaced by its value in the units people use.

    >>> with_numbers("total_params/active_params", {"total_params": 671e9, "active_params": 37e9})
    '671B/37B'
    """

    def number(match: re.Match[str]) -> str:
        name = match.group()
        if name == keep or name not in values or name not in QUANTITIES:
            return name
        text = show(name, values[name])
        return f"({text})" if " " in text or "/" in text else text

    return NAME.sub(number, formula)


def moves_line(elasticities: Mapping[str, float]) -> str:
    """By how many percent the answer moves per percent of each given, largest first; what has no effect is left out.

    >>> moves_line({"chips": 0.0, "batch": 0.0968, "mbu": -1.0})
    'mbu -1, batch 0.0968'
    """
    ordered = sorted(elasticities.items(), key=lambda item: -abs(item[1]))
    return ", ".join(f"{name} {slope:.3g}" for name, slope in ordered if abs(slope) >= 5e-4)


def as_markdown(solution: Solution) -> str:
    """The answers as a Markdown table, with the equations used."""
    unknown = solution.unknown
    if solution.sweep:
        head, *rows = sweep_cells(unknown, solution.sweep)
    else:
        head = ["quantity", "value", "regime", "formula"]
        rows = [[unknown, text_of(unknown, one), one.regime or "", f"`{one.formula or ''}`"] for one in solution.answers]
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join(
        [lines[0], "|---" * len(head) + "|", *lines[1:], "", "Equations: " + ", ".join(f"`{id}`" for id in solution.equations)]
    )


def as_latex(solution: Solution) -> str:
    """The route as a gather block, one equation a line with its id, then the answers; a sweep as a tabular."""
    from derive.catalogue import equation
    from derive.citing import citable, latex_text

    used = [citable(equation(id)) for id in solution.equations]
    lines = [rf"{row.equation_latex} \tag{{{latex_text(row.id)}}}" for row in used]
    if not solution.sweep:
        values = (latex_text(text_of(solution.unknown, answer)) for answer in solution.answers)
        lines += [rf"{QUANTITIES[solution.unknown].latex} = \text{{{value}}}" for value in values]
    gathered = "\n".join([r"\begin{gather*}", " \\\\\n".join(lines), r"\end{gather*}"])
    if not solution.sweep:
        return gathered
    rows = [" & ".join(map(latex_text, row)) for row in sweep_cells(solution.unknown, solution.sweep)]
    columns = "r" * (len(solution.sweep.given) + 1) + "l"
    return "\n".join([gathered, rf"\begin{{tabular}}{{{columns}}}", " \\\\\n".join(rows), r"\end{tabular}"])


def card(row: Equation) -> str:
    """An equation as `backsolve show` prints it: formula, quantities, derivation, what follows from it, sources."""
    from derive.derivations import referenced_by

    left, right = row.sides
    lines = [f"{row.reference}   {row.title}   ({row.kind})", "", f"    {left} {row.sense} {right}", "", row.statement, ""]
    width = max(len(name) for name in row.symbols)
    for name in row.symbols:
        quantity = QUANTITIES[name]
        lines.append(f"  {name:<{width}}  {quantity.symbol:<10} [{quantity.unit}]  {quantity.meaning}")
    lines.append("")
    if row.variant:
        lines.append(f"variant     {row.variant[1]} of {row.variant[0]}{' (default)' if row.variant[2] else ''}")
    lines += _wrapped("requires", [str(needed) for needed in row.requirements()])
    lines += _wrapped("assumes", list(row.assumptions))
    if row.steps:
        from derive.narration import as_text as derivation

        lines += ["", "derivation", *derivation(row), ""]
    lines += _wrapped("leads to", list(referenced_by(row.id)))
    for source in row.sources:
        place = f", {source.place}" if source.place else ""
        lines.append(f"source      {source.author}: {source.title}{place}. {source.said}")
        lines += [f"            here: {source.encoded}"] if source.encoded else []
        lines += [f"            {source.url}"] if source.url else []
    return "\n".join(lines)


def _wrapped(label: str, items: list[str]) -> list[str]:
    return [f"{label if not place else '':<12}{item}" for place, item in enumerate(items)]


def _from(solution: Solution, name: str) -> str:
    """Where a given comes from, without the source: the table says the rest, and so does JSON."""
    origin = solution.provenance.get(name, "given").split(": ")[0]
    return "" if origin == "given" else f"   {origin}"
