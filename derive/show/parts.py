"""Return the parts of one answer, or of several answers to the same givens, as lines. Every output chooses from these parts.

A part is the answers themselves, the warnings, the steps, the sensitivities, the inputs and assumptions, or what to cite.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose

from derive.answers import (
    BY_DEFAULT,
    BY_RULE,
    DECODE_ALONE,
    EITHER_BINDS,
    NOT_INCLUDED,
    OR,
    Answer,
    Result,
    RouteStep,
    Spans,
    Sweep,
    shown_end,
    values_of_steps,
    ways_to,
)
from derive.catalogue import equation, rules_among
from derive.quantities import QUANTITIES
from derive.roles import SIZE_OF_DEPLOYMENTS
from derive.show.layout import label_line, label_lines
from derive.show.words import answer_line, limit_in_words, plain_regime, text_of, value_in_words
from derive.units import show

_NAME = r"[a-z][a-z_]*"
_REPLACED_DEFAULT = " follows from the givens ("
"""Text in a warning that a default is another value, by the equation that follows."""
_MOVES = "+1 %: "
"""The beginning of the sensitivities of replicas among the lines of deployments."""
_LIMITED_BY, _IS_MET = "limited by ", r" (is|are) met\b"
"""Texts of remarks that name what limits an answer, and targets that it meets."""
_LEAST_MOVE, _DIGITS = 5e-4, 9
"""Smallest elasticity that is listed, and the decimals by which elasticities are put in order."""


def heads(solutions: Sequence[Result]) -> list[str]:
    """Return every answer with what limits it. A limit or a remark that several answers share is printed once."""
    found: list[str] = []
    for one in solutions:
        before = [*found]
        for line in head(one, limits=True):
            value, gap, bound = line.partition("   ")
            if line in before:
                continue
            known = any(other.partition("   ")[2].partition(":")[0] == bound.partition(":")[0] for other in before)
            found.append(value if gap and known else line)
    return found


def head(solution: Result, limits: bool = False) -> Iterator[str]:
    """Yield the answers with the inequality of their regime, or with what limits them, or the ends over ranges."""
    if solution.spans:
        yield from solution.lead
        yield from span_lines(solution.unknown, solution.spans, f"{OR[solution.answers[0].bound]}{_decode_words(solution)}")
        yield from remark_lines(solution.said)
        return
    found: list[str] = []
    exactly = "exactly so" if EITHER_BINDS in solution.kinds else ""
    alone = _decode_words(solution)
    for answer, steps in ways_to(solution):
        by = "".join(f", by {row.rule}" for row in rules_among(equations_of(solution, steps)) if row.rule)
        bound = limit_in_words(answer, values_of(solution, answer, steps), solution.equations) if limits else ""
        after = f"{alone}{'' if limits or not exactly else f'   {exactly}'}{by}"
        where = (f"   {exactly} if {bound}" if exactly else f"   {bound}") if bound else ""
        found.append(answer_line(solution.unknown, answer, regime=not limits, after=after) + where)
    is_limited = limits and not (solution.said or solution.lead) and any("   " in line for line in found)
    yield from found if is_limited else _below_replicas(solution, found)


def _below_replicas(solution: Result, answers: Sequence[str]) -> Iterator[str]:
    """Yield the deployments of a sizing question, the answers, and the remarks on both."""
    if not solution.lead:
        yield from [*answers, *remark_lines(_bound_reason(solution))]
        return
    deployments = [text for text in solution.lead if text.startswith(solution.unknown)]
    targets = [text for text in solution.said if re.search(_IS_MET, text)]
    yield from [*deployments, *remark_lines([*(text for text in solution.lead if text.startswith(_LIMITED_BY)), *targets])]
    batches = ", ".join(text for text in solution.said if text not in targets)
    label = "One replica" if solution.unknown == SIZE_OF_DEPLOYMENTS else "In total"
    yield from label_lines(label, [*answers, *filter(None, [batches])])


def remark_lines(remarks: Iterable[str]) -> list[str]:
    """Return remarks on an answer, each after its label: its limit, the targets that it meets, and its conditions.

    >>> remark_lines(["batch 57 to 109", "step_time <= 50 ms is met", "limited by step_time"])
    ['Limited by   step_time', 'Targets      step_time <= 50 ms is met', 'Where        batch 57 to 109']
    """
    found: dict[str, list[str]] = {"Limited by": [], "Targets": [], "Where": []}
    for text in remarks:
        label = "Limited by" if text.startswith(_LIMITED_BY) else "Targets" if re.search(_IS_MET, text) else "Where"
        found[label].append(text.removeprefix(_LIMITED_BY))
    return [line for label, texts in found.items() for line in label_lines(label, texts)]


def _decode_words(solution: Result) -> str:
    """Return that an answer is for decode alone, and the answer with prompts beside it."""
    return ", ".join([" for decode alone", *prompts_words(solution)]) if DECODE_ALONE in solution.kinds else ""


def prompts_words(solution: Result) -> list[str]:
    """Return the answer with prompts on the same chips, if there is one."""
    both = solution.with_prompts
    return [f"{value_in_words(solution.unknown, both)} with prompts on the same chips"] if both else []


def equations_of(solution: Result, steps: Sequence[RouteStep]) -> Sequence[str]:
    """Return the equations of one of the answers."""
    return tuple(dict.fromkeys(id for step in steps for id in step.equations)) if steps and solution.further else solution.equations


def _bound_reason(solution: Result) -> list[str]:
    """Return why an answer is not a point: the inequality that bounds it, or a note that the unknown has no effect."""
    if solution.said:
        return [*solution.said]
    last = equation(solution.equations[-1])
    if last.sense != "=":
        return [f"{_LIMITED_BY}{last.title[0].lower()}{last.title[1:]} ({last.id})"]
    loose = any(answer.kind in ("interval", "loose") and answer.regime for answer in solution.answers)
    return [f"{solution.unknown} has no effect there, so only its bounds are known"] if loose else []


def warning_lines(solutions: Sequence[Result], most: int | None = None) -> list[str]:
    """Return the warnings of all answers, each once and at most `most`, and one line with the givens that no answer needs."""
    found: dict[tuple[str, str], str] = {}
    left_out: set[str] = set()
    for one in solutions:
        kinds = dict(zip(one.warnings, one.kinds, strict=True))
        left_out |= {text for text, kind in kinds.items() if kind in NOT_INCLUDED}
        for text in warnings_of(one):
            # Two answers may give one warning in other words, which begin alike.
            kind = kinds.get(text, "") if len(solutions) > 1 else ""
            found.setdefault((kind, text.partition(",")[0] if kind else text), text)
    # The warnings of a sizing question are on one replica: what no deployment includes is more important.
    ranked = sorted(found.values(), key=lambda text: any(one.lead for one in solutions) and text not in left_out)
    shown = ranked[:most]
    more = [f"{len(found) - len(shown)} more: --full"] if len(found) > len(shown) else []
    missing = [text for text in shown if text in left_out]
    warned = [text for text in shown if text not in left_out]
    (warned or missing).extend(more)
    return [*label_lines("Not included", missing), *label_lines("Warning", warned), *label_line("Not used", unused_by_all(solutions))]


def warnings_of(solution: Result) -> list[str]:
    """Return the warnings of an answer. The first ones name the defaults that the givens replace."""
    # The rule that a single answer rests on is already behind its value, and the deployments are with and without prompts.
    in_head = () if solution.sweep or solution.spans else {BY_RULE, *([DECODE_ALONE] if solution.lead and solution.with_prompts else [])}
    others = [text for text, kind in zip(solution.warnings, solution.kinds, strict=True) if kind not in in_head]
    return [*(text for text in solution.assumptions if _REPLACED_DEFAULT in text), *others]


def unused_by_all(solutions: Sequence[Result]) -> list[str]:
    """Return the givens that no answer needs."""
    return [name for name in (solutions[0].unused if solutions else ()) if all(name in one.unused for one in solutions)]


def all_warnings(*solutions: Result) -> tuple[str, ...]:
    """Return all warnings of some answers, each once, and the givens that are not used."""
    warnings = dict.fromkeys(text for one in solutions for text in one.warnings)
    return (*warnings, *(f"{name} is given but not used" for name in unused_by_all(solutions)))


def values_of(solution: Result, answer: Answer, steps: Sequence[RouteStep]) -> dict[str, float]:
    """Return all numbers on the way to one of the answers: givens, results of steps, and the answer or the end of its bounds."""
    end = shown_end(answer)
    shown = solution.spans.shown if solution.spans else {} if end is None else {solution.unknown: end}
    return {**solution.given, **shown, **values_of_steps(steps)}


def numbers_of_steps(solutions: Sequence[Result]) -> list[tuple[str, list[str]]]:
    """Return the steps in numbers, each once. Each further answer of a question with several answers has a title."""
    found: list[tuple[str, list[str]]] = []
    known: set[str] = set()
    for one in solutions:
        for place, (answer, steps) in enumerate(ways_to(one) if one.further and len(solutions) == 1 else [(one.answers[0], one.route)]):
            values = values_of(one, answer, steps)
            lines = list(dict.fromkeys(line for step in steps for line in _step_in_numbers(step, values) if line not in known))
            known |= {*lines}
            found.append(("" if not place or answer.value is None else f"at {one.unknown} = {show(one.unknown, answer.value)}:", lines))
    return found if len(solutions) == 1 else [("", [line for _, lines in found for line in lines])]


def _step_in_numbers(step: RouteStep, values: Mapping[str, float]) -> list[str]:
    """Return a step in numbers. A name alone stays a name."""
    if step.formula is None:
        return [] if step.value is None else [f"{step.unknown} = {show(step.unknown, step.value)}"]
    if step.value is None:
        return [substitute_numbers(step.formula, values, keep=step.unknown)]
    numbers = step.formula if step.formula.isidentifier() else substitute_numbers(step.formula, values)
    return [" = ".join((step.unknown, *[numbers] * (numbers != "0"), show(step.unknown, step.value)))]


def route_lines(*solutions: Result) -> list[str]:
    """Return every step once: formula, formula with numbers, value, id, and the other equations for the same quantity."""
    lines: list[str] = []
    seen: set[RouteStep] = set()
    for one in solutions:
        for place, (answer, steps) in enumerate(ways_to(one)):
            own = _route_to(one, answer, [step for step in steps if step not in seen], steps)
            lines += ["", f"at {one.unknown} = {text_of(one.unknown, replace(answer, bound=None))}:"] if place and own else []
            lines += own
            seen |= {*steps}
    return lines


def _route_to(solution: Result, answer: Answer, shown: Sequence[RouteStep], steps: Sequence[RouteStep]) -> list[str]:
    """Return some of the steps to an answer, with the numbers of all of them."""
    values = values_of(solution, answer, steps)
    end = None if solution.spans else shown_end(answer)
    lines = []
    for step in shown:
        if step.formula and step.value is not None:
            numbers = substitute_numbers(step.formula, values)
            value = show(step.unknown, step.value)
            worked = value if numbers.strip("()") == value else f"{numbers} = {value}"
            lines += [f"{step.unknown} = {step.formula}", f"    = {worked}"] if numbers != "0" else [f"{step.unknown} = {value}"]
        elif step.formula:
            lines += [step.formula, f"    {substitute_numbers(step.formula, values, keep=step.unknown)}"]
        elif step.forwards:
            lines += [f"{step.unknown} = {show(step.unknown, values[step.unknown])}   (found numerically, by computing {step.forwards})"]
        elif step.value is not None:
            lines += [f"{step.unknown} = {show(step.unknown, step.value)}   (found numerically)"]
        others = f"   ({', '.join(step.alternatives)} would also do)" if step.alternatives else ""
        together = "   together" if len(step.equations) > 1 else ""
        lines += [f"    {step.equation}{together}{others}"]
        if step.value is None and end is not None and step is not shown[-1]:
            lines += [f"at {solution.unknown} = {show(solution.unknown, end)}:"]
    return lines


def point_of_route(spans: Spans) -> str:
    """Return the point of the ranges for which the route is shown."""
    if all(spans.shown[name] == (low + high) / 2 for name, (low, high) in spans.ranges.items()):
        return "at the middle of the ranges:"
    point = ", ".join(f"{name} = {show(name, value)}" for name, value in spans.shown.items())
    return f"at {point}, as the middle of the ranges has no answer:"


def substitute_numbers(formula: str, values: Mapping[str, float], keep: str = "") -> str:
    """Return a formula with the values of its known quantities, in the units that people use.

    >>> substitute_numbers("total_params/active_params", {"total_params": 671e9, "active_params": 37e9})
    '671B/37B'
    """

    def number(match: re.Match[str]) -> str:
        name = match.group()
        if name == keep or name not in values or name not in QUANTITIES:
            return name
        text = show(name, values[name])
        return f"({text})" if " " in text or "/" in text else text

    return re.sub(_NAME, number, formula)


def moves_of(solution: Result, most: int | None = None) -> list[str]:
    """Return the elasticities of the first answer, or only the `most` largest ones."""
    if told := [text.removeprefix(_MOVES) for text in solution.lead if text.startswith(_MOVES)]:
        return label_lines("+1 %", told)
    # Of a negative answer the signs are reversed, so that a larger loss is a smaller margin.
    sign = -1 if solution.answers[0].ends[0] < 0 else 1
    return moves_lines({name: sign * slope for name, slope in solution.answers[0].elasticities.items()}, most)


def moves_lines(elasticities: Mapping[str, float], most: int | None = None) -> list[str]:
    """Return the change of the answer [%] for 1 % more of each given, the largest first, without the givens that have no effect.

    >>> moves_lines({"chips": 0.0, "batch": 0.0968, "mbu": -1.0})
    ['+1 %         mbu -1 %, batch +0.0968 %']
    """
    # Equal moves differ in their last digit, as libraries compute them.
    ordered = sorted(elasticities.items(), key=lambda item: -round(abs(item[1]), _DIGITS))[:most]
    moves = [f"{name} {slope:+.3g} %" for name, slope in ordered if abs(slope) >= _LEAST_MOVE]
    return label_line("+1 %", moves)


def given_lines(solution: Result) -> list[str]:
    """Return the givens with where they come from, and the ranges."""
    ranges = solution.spans.ranges.items() if solution.spans else ()
    given = [(name, value) for name, value in solution.given.items() if solution.provenance.get(name) != "default"]
    found = [f"{name} = {show(name, value)}{origin_of(solution, name)}" for name, value in given]
    return found + [f"{name} = {show(name, low)} to {show(name, high)}{origin_of(solution, name)}" for name, (low, high) in ranges]


def origin_of(solution: Result, name: str, form: str = "   {}") -> str:
    """Return the origin of a given, without its source, which the table and JSON name."""
    origin = solution.provenance.get(name, "given").split(": ")[0]
    return "" if origin == "given" else form.format(origin)


def defaults_of(solution: Result) -> list[str]:
    """Return the assumptions that only state a default, such as "mfu = 1"."""
    return [text.removesuffix(BY_DEFAULT) for text in solution.assumptions if text.endswith(BY_DEFAULT)]


def assumptions_of(solution: Result) -> list[str]:
    """Return the assumptions without defaults and without warnings."""
    return [text for text in solution.assumptions if not text.endswith(BY_DEFAULT) and _REPLACED_DEFAULT not in text]


def cite_line(solutions: Iterable[Result]) -> list[str]:
    """Return the command that cites the equations which gave the answers: of the last step of each route, or of the whole block."""
    cited: list[str] = []
    for one in solutions:
        last = (step for steps in (one.route, *one.further) for step in steps if step.unknown == one.unknown)
        cited += [id for step in last for id in step.equations] or one.equations[-1:]
    ids = dict.fromkeys(id.split("@")[0] for id in cited)
    return [f"Cite         backsolve cite {' '.join(ids)}"] if ids else []


_METHODS = {
    "bounds": "exact ends",
    "sampled": "seen at {samples:,} points: the answer rises and falls, moves in steps, has gaps or has no closed form",
}


def span_lines(unknown: str, spans: Spans, after: str) -> list[str]:
    """Return the ends, the quantiles, both ends in every regime, and the ranges that change the answer most."""
    how = _METHODS[spans.method].format(samples=spans.samples)
    lines = [f"{unknown} = {show(unknown, spans.low)} to {show(unknown, spans.high)}{after.replace(' or', ', or')}   ({how})"]
    known = {name: value for name, value in spans.quantiles.items() if value is not None}
    quantiles = ", ".join(f"{show(unknown, value)} at {name.removeprefix('p').lstrip('0')} %" for name, value in known.items())
    lines += [f"  {quantiles}   (each range uniform and independent)"] if known else []
    for regime, low, high, share in spans.sides:
        if regime:
            lines.append(
                f"  where {plain_regime(regime)}: {show(unknown, low)} to {show(unknown, high)}, {100 * share:.3g} % of the ranges"
            )
    moving = [(name, show(unknown, low), show(unknown, high)) for name, low, high in spans.tornado if not isclose(low, high)]
    lines += [
        f"{'matters most' if not place else '':<14}{name} {show(name, spans.ranges[name][0])} to {show(name, spans.ranges[name][1])}:"
        f" {unknown} {low} to {high}"
        for place, (name, low, high) in enumerate(moving)
    ]
    idle = [name for name, low, high in spans.tornado if isclose(low, high)]
    return [*lines, *([f"{'no effect':<14}{', '.join(idle)}, the others are at their middle"] if idle else [])]


def sweep_head(unknown: str, table: Sweep) -> list[str]:
    """Return the names of the columns. If all answers are bounds, the column says so."""
    return [*table.given, unknown + bound_in_brackets(table.bound), *(name.replace("_", " ") for name in table.beside), "where"]


def bound_in_brackets(bound: str | None) -> str:
    """Return the bound that all answers of a column are, for its head, or "" if they are no bounds."""
    return f" ({OR[bound].strip()})" if bound else ""


def sweep_cells(unknown: str, table: Sweep) -> Iterator[list[str]]:
    """Yield the rows: the givens, the answers, what is beside them, and their regime or why there is no answer."""
    is_bound = table.bound is not None
    for place, (given, answers, reason) in enumerate(table.rows()):
        values = " or ".join(text_of(unknown, one, bound=not is_bound) for one in answers) or "-"
        beside = ["-" if number is None else show(unknown, number) for number in table.beside_at(place).values()]
        where = " or ".join(dict.fromkeys(plain_regime(one.regime) for one in answers if one.regime))
        told = where or (reason.message.splitlines()[0] if reason else "")
        yield [*(show(name, value) for name, value in given.items()), values, *beside, told]


def join_sweeps(tables: Sequence[tuple[str, Sweep]], labels: Sequence[str]) -> Iterator[list[str]]:
    """Yield the head and the rows of several sweeps over the same points: the columns that all share, the other columns of each, and why a
    point has no answer.
    """
    columns = [dict(zip(sweep_head(*one), zip(*sweep_cells(*one), strict=True), strict=True)) for one in tables]
    shared = [name for name in tables[0][1].given if all(columns[0][name] == one.get(name) for one in columns)]
    found = [(name, columns[0][name]) for name in shared]
    why: list[dict[str, None]] = [{} for _ in range(len(tables[0][1]))]
    for label, (unknown, table), cells in zip(labels, tables, columns, strict=True):
        *own, where = sweep_head(unknown, table)
        answer = own.pop(len(table.given))
        found += [(label, cells[answer]), *((f"{label.partition(' (')[0]} {name}", cells[name]) for name in own if name not in shared)]
        for reasons, value, told in zip(why, cells[answer], cells[where], strict=True):
            reasons.update({told: None} if value == "-" else {})
    found += [("where", tuple(map(", ".join, why)))] if any(why) else []
    yield [name for name, _ in found]
    yield from map(list, zip(*(texts for _, texts in found), strict=True))
