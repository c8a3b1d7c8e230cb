"""Solutions and equations as people and programs read them: text, JSON, CSV, LaTeX, Markdown."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from derive.answers import (
    BOUGHT,
    BY_DEFAULT,
    BY_RULE,
    COUNTED,
    DECODE_ALONE,
    EITHER_BINDS,
    OR,
    Answer,
    Result,
    RouteStep,
    Spans,
    next_whole,
    shown_end,
    ways_to,
)
from derive.catalogue import basis_of, equation, rules_among
from derive.derivations import referenced_by
from derive.expressions.branches import sides_of
from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER, Equation
from derive.requirements import in_words_of_names
from derive.show.binding import COMPUTE_BOUND, MEMORY_BOUND, plain_regime
from derive.show.citation import FOR_DERIVATIONS, LATEX, MARKDOWN, Markup, key_of, latex_text, markdown_text
from derive.show.entry import worked
from derive.show.narration import derivation_lines
from derive.show.substituted import step_in_latex, value_in_latex
from derive.show.tables import (
    UNANSWERED,
    bound_side,
    csv_line,
    csv_points,
    json_points,
    one_end,
    span_lines,
    spans_record,
    sweep_cells,
    sweep_head,
    sweep_lines,
    sweep_records,
    text_of,
)
from derive.trees import text as printed
from derive.units import show

AS_LATEX = {LOWER: r"\geq", UPPER: r"\leq", None: "="}
_NAME = re.compile(r"[a-z][a-z_]*")


def rendered(solution: Result, style: str) -> str:
    """A solution as table, json, csv, latex or markdown."""
    return "\n".join(lines(solution, style))


def lines(solution: Result, style: str) -> Iterator[str]:
    """The same line by line (some of them several at once), so that a long sweep need not be held as text."""
    forms = {"table": _text_lines, "json": _json_lines, "csv": _csv_lines, "latex": _latex_lines, "markdown": _markdown_lines}
    return forms[style](solution)


IS_INSTEAD = " follows from the givens ("
"""What is said of a default that is something else, and by which equation."""


def warnings_of(solution: Result) -> list[str]:
    """What is doubtful; first the defaults that the givens make something else: a load that is given may have made the chips slow."""
    # By which rule a single answer is stands behind its value.
    on_top = () if solution.sweep or solution.spans else {BY_RULE}
    told = [text for text, kind in zip_longest(solution.warnings, solution.kinds[: len(solution.warnings)]) if kind not in on_top]
    return [*(text for text in solution.assumptions if IS_INSTEAD in text), *told]


def unused_by_all(solutions: Sequence[Result]) -> list[str]:
    """What was given and none of the answers needs."""
    return [name for name in (solutions[0].unused if solutions else ()) if all(name in one.unused for one in solutions)]


def beside(*solutions: Result) -> tuple[str, ...]:
    """What has to be said beside answers, once: all that is doubtful of any, and what was given for nothing."""
    warnings = dict.fromkeys(text for one in solutions for text in one.warnings)
    return (*warnings, *(f"{name} was given and is not used" for name in unused_by_all(solutions)))


def as_record(solution: Result) -> dict[str, Any]:
    """The stable contract of `--as json`: SI units, formulas as text, None for unbounded."""
    return {
        "unknown": solution.unknown,
        "unit": solution.unit,
        **({"basis": basis_of(solution.equations, solution.answers)} if solution.answers or solution.sweep else {}),
        "answers": [
            {**_answer_record(answer), **_basis_record(answer, _equations_of(solution, steps))} for answer, steps in ways_to(solution)
        ],
        "equations": list(solution.equations),
        "given": dict(solution.given),
        "assumptions": [
            *beside(solution),
            *(f"{solution.unknown} is {text}" for text in _with_prompts(solution)),
            *solution.said,
            *solution.assumptions,
        ],
        "warnings": [*beside(solution)],
        "provenance": dict(solution.provenance),
        "reason": solution.reason
        and {"code": solution.reason.code, "missing": list(solution.reason.missing), "violated": list(solution.reason.violated)},
        **({"sweep": list(sweep_records(solution.sweep, _answer_record))} if solution.sweep else {}),
        **({"quantiles": spans_record(solution.spans)} if solution.spans else {}),
        **({"with_prompts": _answer_record(solution.with_prompts)} if solution.with_prompts else {}),
    }


def _basis_record(answer: Answer, ids: Sequence[str]) -> dict[str, Any]:
    """What an answer rests on, and the readings, conditions and rules of thumb among its equations."""
    by = [row.reference for row in rules_among(ids)]
    return {"basis": basis_of(ids, [answer]), **({"by": by} if by else {})}


def _answer_record(answer: Answer) -> dict[str, Any]:
    found = {"value": answer.value} if answer.kind == "point" else {"low": answer.low, "high": answer.high}
    if answer.loose_low is not None:
        found |= {"loose_low": answer.loose_low, "loose_high": answer.loose_high}
    rest = {"regime": answer.regime, "formula": answer.formula, "elasticities": dict(answer.elasticities), "residual": answer.residual}
    return {"kind": answer.kind, **found, "bound": answer.bound, **rest}


def as_json(solution: Result) -> str:
    """Strict JSON: neither NaN nor infinity."""
    return rendered(solution, "json")


def _json_lines(solution: Result) -> Iterator[str]:
    if not solution.sweep:
        yield json.dumps(as_record(solution), indent=2, allow_nan=False)
        return
    yield json.dumps(as_record(replace(solution, sweep=None)), indent=2, allow_nan=False).removesuffix("\n}") + ","
    yield '  "sweep": ['
    yield from _with_commas(json_points(solution.sweep, _answer_record, indentation=4))
    yield "  ]\n}"


def _with_commas(texts: Iterator[str]) -> Iterator[str]:
    """Every text but the last with a comma."""
    text = next(texts, "")
    for following in texts:
        yield f"{text},"
        text = following
    yield text


def json_list(documents: Sequence[Iterator[str]]) -> Iterator[str]:
    """Texts of JSON as one list, each in its lines."""
    yield "["
    for document in documents:
        last = document is documents[-1]
        yield from ("  " + text.replace("\n", "\n  ") for text in _ending(document, "" if last else ","))
    yield "]"


def _ending(texts: Iterator[str], mark: str) -> Iterator[str]:
    """The texts, behind the last a mark."""
    text = next(texts, "")
    for following in texts:
        yield text
        text = following
    yield f"{text}{mark}"


def as_csv(solution: Result) -> str:
    """One line an answer: what a sweep gave it, then unknown, unit, kind, value, low, high, regime, formula, bound.

    Two columns more of bounds over ranges: loose_low and loose_high.
    """
    return rendered(solution, "csv")


def _csv_lines(solution: Result) -> Iterator[str]:
    answers = solution.sweep.others.values() if solution.sweep else ((solution.answers, None),)
    loose = ["loose_low", "loose_high"] if any(one.loose_low is not None for found, _ in answers for one in found) else []

    def cells(answer: Answer) -> dict[str, Any]:
        own = {name: getattr(answer, name) for name in ("kind", "value", "low", "high", "regime", "formula", "bound", *loose)}
        return {"unknown": solution.unknown, "unit": solution.unit, **own}

    yield csv_line([*(solution.sweep.given if solution.sweep else ()), *cells(UNANSWERED)])
    if solution.sweep:
        yield from csv_points(solution.sweep, cells)
    else:
        yield from (csv_line(cells(one).values()) for one in solution.answers or (UNANSWERED,))


def as_text(solution: Result) -> str:
    """The answer first, then the route with numbers, what it moves with, what it rests on and what to cite."""
    return rendered(solution, "table")


def _text_lines(solution: Result) -> Iterator[str]:
    if not solution.answers and not solution.sweep:
        yield f"{solution.unknown}: no answer"
        return
    yield from head(solution)
    lines = [*labelled("warning", warnings_of(solution)), *labelled("not used", _one_line(solution.unused)), ""]
    if solution.route:
        lines += [*([_where_shown(solution.spans)] if solution.spans else []), *route_lines(solution), ""]
    lines += moves_lines(signed_moves(solution.answers[0])) if solution.answers else []
    lines += labelled("given", given_lines(solution))
    defaults = [text.removesuffix(BY_DEFAULT) for text in solution.assumptions if text.endswith(BY_DEFAULT)]
    lines += labelled("defaults", _one_line(defaults))
    lines += labelled("assumes", [text for text in solution.assumptions if not text.endswith(BY_DEFAULT) and IS_INSTEAD not in text])
    yield from [*lines, cite_line(solution)]


def given_lines(solution: Result) -> list[str]:
    """What was given, with where it is from, and the ranges."""
    ranges = solution.spans.ranges.items() if solution.spans else ()
    given = [(name, value) for name, value in solution.given.items() if solution.provenance.get(name) != "default"]
    found = [f"{name} = {show(name, value)}{_from(solution, name)}" for name, value in given]
    return found + [f"{name} = {show(name, low)} to {show(name, high)}{_from(solution, name)}" for name, (low, high) in ranges]


def cite_line(solution: Result) -> str:
    """The command that cites an answer."""
    return f"cite        backsolve cite {' '.join(ids_to_cite(solution))}"


def ids_to_cite(solution: Result) -> list[str]:
    """The equations that gave the answer itself, without their versions."""
    return [id.split("@")[0] for id in _to_cite(solution)]


def _one_line(texts: Sequence[str]) -> list[str]:
    return [", ".join(texts)] if texts else []


def head(solution: Result) -> Iterable[str]:
    """The first lines: the answers, or what is spanned, or the table."""
    if solution.sweep:
        return sweep_lines(solution.unknown, solution.sweep)
    if solution.spans:
        return [*span_lines(solution.unknown, solution.spans, solution.answers[0].bound), *(f"  {text}" for text in solution.said)]
    after = for_decode_alone(solution) + ("   exactly so" if EITHER_BINDS in solution.kinds else "")
    ways = ways_to(solution)
    found = [line for answer, steps in ways for line in answer_lines(solution.unknown, answer, after=after + by_rule(solution, steps))]
    return [*found, *_why_bounded(solution)]


def for_decode_alone(solution: Result) -> str:
    """What stands behind an answer that leaves the prompts of its requests out, with what it is where they are on the same chips."""
    both = "".join(f", {text}" for text in _with_prompts(solution))
    return f" for decode alone{both}" if DECODE_ALONE in solution.kinds else ""


def by_rule(solution: Result, steps: Sequence[RouteStep]) -> str:
    """By which reading, condition or rule of thumb an answer is, to stand behind its value."""
    return "".join(f", by {row.rule}" for row in rules_among(_equations_of(solution, steps)) if row.rule)


def _equations_of(solution: Result, steps: Sequence[RouteStep]) -> Sequence[str]:
    """The equations of one of the answers."""
    return tuple(dict.fromkeys(id for step in steps for id in step.equations)) if steps and solution.further else solution.equations


def _with_prompts(solution: Result) -> list[str]:
    both = solution.with_prompts
    return [f"{_value_in_words(solution.unknown, both)} with prompts on the same chips"] if both else []


def _where_shown(spans: Spans) -> str:
    """Of which point the route is."""
    if all(spans.shown[name] == (low + high) / 2 for name, (low, high) in spans.ranges.items()):
        return "at the middle of the ranges:"
    point = ", ".join(f"{name} = {show(name, value)}" for name, value in spans.shown.items())
    return f"at {point}, as the middle of the ranges has no answer:"


def _why_bounded(solution: Result) -> list[str]:
    """Of an answer that is no point: the inequality it is of, or that the unknown does not bind."""
    if solution.said:
        return [f"  {text}" for text in solution.said]
    last = equation(solution.equations[-1])
    if last.sense != "=":
        return [f"  bounded by: {last.title} ({last.id})"]
    loose = any(answer.kind in ("interval", "loose") and answer.regime for answer in solution.answers)
    return ["  It does not bind there, so only its bounds are known."] if loose else []


def _to_cite(solution: Result) -> tuple[str, ...]:
    """The equations that gave the answers themselves: the last of each route, or the block it was solved from."""
    last = (step for steps in (solution.route, *solution.further) for step in steps if step.unknown == solution.unknown)
    return tuple(dict.fromkeys(id for step in last for id in step.equations)) or solution.equations[-1:]


def answer_lines(unknown: str, answer: Answer, regime: bool = True, after: str = "") -> list[str]:
    """One answer in words a newcomer follows, with what stands behind its value."""
    where = f"   where {_where(answer.regime)}" if answer.regime and regime else ""
    unit = f" [{QUANTITIES[unknown].unit}]" if answer.kind == "symbolic" and QUANTITIES[unknown].unit != "1" else ""
    spans = answer.kind in ("interval", "loose") and one_end(answer) is None
    return [f"{unknown}{unit}{':' if spans else ' ='} {_value_in_words(unknown, answer)}{after}{where}"]


def _value_in_words(unknown: str, answer: Answer) -> str:
    """What an answer comes to, of what is bought in whole ones too."""
    if answer.kind == "point":
        shown = show(unknown, answer.point)
        if unknown not in BOUGHT or answer.bound == UPPER or answer.point == round(answer.point):
            return f"{shown}{OR[answer.bound]}"
        if answer.bound:
            return _bound_in_words(unknown, answer.point, answer.bound)
        whole = answer.whole_ones or 0.0
        most = " at most" if whole < answer.point else ""
        return shown + (f" (so {whole:.0f} whole one{'s' * (whole != 1)}{most})" if f"{whole:.0f}" != shown else "")
    if answer.kind == "symbolic":
        return f"{answer.formula}{OR[answer.bound]}"
    if (end := one_end(answer)) is not None:
        return _bound_in_words(unknown, end, bound_side(answer))
    bounds = _within(unknown, answer.least, answer.high) if answer.loose_low is None else _over_ranges(unknown, answer)
    counted = _whole_ones(unknown, answer) if answer.loose_low is None else ""
    return f"{bounds}{OR[answer.bound]}{counted}"


def _bound_in_words(unknown: str, end: float, side: str) -> str:
    """So much or more, or less; of what is counted in whole ones, with what they are rounded from."""
    whole = next_whole(end, side)
    if unknown not in COUNTED or not whole or abs(end - whole) <= 1e-9 * whole:
        return f"{show(unknown, end)}{OR[side]}"
    return f"{whole:.0f}{OR[side]} (from {show(unknown, end)})"


def _whole_ones(unknown: str, answer: Answer) -> str:
    """Of bounds on what is counted the whole ones within them, where they are not whole themselves."""
    low, high = answer.least, answer.high
    ends = [next_whole(low, LOWER) if low else None, None if high is None else next_whole(high, UPPER)]
    pairs = [(end, count) for end, count in zip((low, high), ends, strict=True) if end and count]
    if unknown not in COUNTED or not any(abs(end - count) > 1e-9 * count for end, count in pairs):
        return ""
    return f" (so {' to '.join(f'{count:.0f}' for _, count in pairs)} whole one{'s' * (pairs[-1][1] != 1)})"


def _where(regime: str) -> str:
    """A regime in words, with its inequality where the words say less."""
    words = plain_regime(regime)
    return f"{words} ({regime})" if {*words.split(" and ")} & {MEMORY_BOUND, COMPUTE_BOUND} else words


def _within(unknown: str, low: float, high: float | None) -> str:
    """Bounds in words; 0 is the bound of the domain."""
    if high is None:
        return f"at least {show(unknown, low)}" if low else "any value"
    return f"between {show(unknown, low)} and {show(unknown, high)}" if low else f"at most {show(unknown, high)}"


def _over_ranges(unknown: str, answer: Answer) -> str:
    """What holds at all points of the ranges first, then between what the bound itself runs."""
    least, most = answer.ends
    if answer.kind == "loose":
        return f"no value holds over all of the ranges; {_within(unknown, least, most)} somewhere in them"
    within = _within(unknown, answer.least, answer.high)
    pairs = [(least, answer.least), *([] if answer.high is None else [(answer.high, most)])]
    moving = [pair for pair in pairs if pair[0] != pair[1]]
    if not moving:
        return within
    runs = [f"{show(unknown, low)} to {'unbounded' if high is None else show(unknown, high)}" for low, high in moving]
    return f"{within} is {'enough' if answer.high is None else 'safe'} everywhere ({' and '.join(runs)} over the ranges)"


def route_lines(solution: Result) -> list[str]:
    """Every equation of the route: formula, numbers put in, value, id; and which other equations would do.

    Of a further answer what it does not share with the first.
    """
    answer = solution.answers[0] if solution.answers else None
    lines = route_to(solution, answer, solution.route)
    further = zip(solution.answers[1:], solution.further, strict=False) if len(solution.further) == len(solution.answers) - 1 else ()
    for other, steps in further:
        apart = tuple(step for step in steps if step not in solution.route)
        lines += [
            "",
            f"at {solution.unknown} = {text_of(solution.unknown, replace(other, bound=None))}:",
            *route_to(solution, other, apart, steps),
        ]
    return lines


def values_of(solution: Result, answer: Answer | None, steps: Sequence[RouteStep]) -> dict[str, float]:
    """All numbers on the way to one of the answers: the givens, what was worked out, and the answer, of bounds their end."""
    shown = dict(solution.spans.shown) if solution.spans else {}
    bound = shown_end(answer) if answer and not solution.spans else None
    shown |= {} if bound is None else {solution.unknown: bound}
    return {**solution.given, **shown, **{step.unknown: step.value for step in steps if step.value is not None}}


def route_to(solution: Result, answer: Answer | None, route: Sequence[RouteStep], whole: Sequence[RouteStep] = ()) -> list[str]:
    """Some steps on the way to an answer, with the numbers of all of them."""
    values = values_of(solution, answer, whole or route)
    bound = shown_end(answer) if answer and not solution.spans else None
    lines = []
    for step in route:
        if step.formula and step.value is not None:
            lines += [f"{step.unknown} = {step.formula}", f"    = {with_numbers(step.formula, values)} = {show(step.unknown, step.value)}"]
        elif step.formula:
            lines += [step.formula, f"    {with_numbers(step.formula, values, keep=step.unknown)}"]
        elif step.forwards:
            found = step.unknown if step.value is None else f"{step.unknown} = {show(step.unknown, step.value)}"
            lines += [f"{found}   (found by going forwards to {step.forwards} at numbers)"]
        elif step.value is not None:
            lines += [f"{step.unknown} = {show(step.unknown, step.value)}   (found numerically)"]
        others = f"   ({', '.join(step.alternatives)} would also do)" if step.alternatives else ""
        together = "   together" if len(step.equations) > 1 else ""
        lines += [f"    {step.equation}{together}{others}"]
        if step.value is None and bound is not None and step is not route[-1]:
            lines += [f"at {solution.unknown} = {show(solution.unknown, bound)}:"]
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

    return _NAME.sub(number, formula)


def signed_moves(answer: Answer) -> dict[str, float]:
    """The elasticities of an answer, those of a negative one with the sign of its change: a larger loss is a smaller margin."""
    sign = -1 if answer.ends[0] < 0 else 1
    return {name: sign * slope for name, slope in answer.elasticities.items()}


def moves_lines(elasticities: Mapping[str, float]) -> list[str]:
    """By how many percent one percent more of each given moves the answer, largest first; what has no effect is left out.

    >>> moves_lines({"chips": 0.0, "batch": 0.0968, "mbu": -1.0})
    ['+1 %        of mbu moves it by -1 %, of batch by +0.0968 %']
    """
    ordered = sorted(elasticities.items(), key=lambda item: -abs(item[1]))
    said = [f"of {name} by {slope:+.3g} %" for name, slope in ordered if abs(slope) >= 5e-4]
    return labelled("+1 %", [", ".join(said).replace(" by ", " moves it by ", 1)] if said else [])


def as_markdown(solution: Result) -> str:
    """The answers as a Markdown table, with the equations used."""
    return rendered(solution, "markdown")


def _markdown_lines(solution: Result) -> Iterator[str]:
    unknown = solution.unknown
    rows: Iterable[list[str]]
    if solution.sweep:
        head = sweep_head(unknown, solution.sweep)
        rows = ([*values, markdown_text(where)] for *values, where in sweep_cells(unknown, solution.sweep))
    else:
        head = ["quantity", "value", "regime", "formula"]
        rows = [
            [unknown, text_of(unknown, one), markdown_text(plain_regime(one.regime or "")), f"`{one.formula or ''}`"]
            for one in solution.answers
        ]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
    for line, reference in _worked_out(solution):
        yield from [f"{markdown_text(equation(reference).title)} (`{reference}`):\n"] if reference else []
        yield f"$${line}$$\n"
    given = _given_in_latex(solution, MARKDOWN)
    yield from [f"{given}\n"] if given else []
    yield "Equations: " + ", ".join(f"`{id}`" for id in solution.equations)


def as_latex(solution: Result) -> str:
    r"""The route as a gather block, equations with their ids, then with numbers, and the answers; a sweep as a tabular.

    What it rests on is cited by the keys of `backsolve cite --as bibtex`, and a comment says of which ids those are.
    """
    return rendered(solution, "latex")


def _latex_lines(solution: Result) -> Iterator[str]:
    found = [*_worked_out(solution)] or [(equation(id).latex, id) for id in solution.equations]
    lines = [line + (rf" \tag{{{latex_text(reference)}}}" if reference else "") for line, reference in found]
    if not solution.sweep:
        answers = [_answer_latex(solution.unknown, answer) for answer in solution.answers]
        # The last step may have come to just that.
        lines += [
            said for said in answers if not (lines and lines[-1].endswith(said.partition(" ")[2]) and said.split(" ")[0] in lines[-1])
        ]
    yield FOR_DERIVATIONS
    if used := [equation(id) for id in solution.equations]:
        yield rf"% the entries that \cite names: backsolve cite {' '.join(row.id for row in used)} --as bibtex"
    yield r"\begin{gather*}"
    yield " \\\\\n".join(lines)
    yield r"\end{gather*}"
    given = _given_in_latex(solution, LATEX)
    yield from [given] if given else []
    if used:
        yield rf"Equations: \cite{{{','.join(map(key_of, used))}}}."
    if not solution.sweep:
        return
    yield rf"\begin{{tabular}}{{{'r' * (len(solution.sweep.given) + 1)}l}}"
    rows = chain([sweep_head(solution.unknown, solution.sweep)], sweep_cells(solution.unknown, solution.sweep))
    above = next(rows, "")
    for row in rows:
        yield " & ".join(map(latex_text, above)) + r" \\"
        above = row
    yield " & ".join(map(latex_text, above))
    yield r"\end{tabular}"


def _worked_out(solution: Result) -> Iterator[tuple[str, str]]:
    """The lines that lead to the first answer, each once, with the equation that a line is; of a sweep or a formula for an answer none."""
    answer = solution.answers[0] if solution.answers else None
    if solution.sweep or not answer or answer.kind == "symbolic":
        return
    values = values_of(solution, answer, solution.route)
    shown = solution.spans.shown if solution.spans else {}
    lines = {rf"\text{{at}} \quad {', '.join(_equal(name, value) for name, value in shown.items())}": ""} if shown else {}
    for step in solution.route:
        lines |= {line: lines.get(line, reference) for line, reference in step_in_latex(step, values)}
        if step.value is None and solution.unknown in values and step is not solution.route[-1]:
            lines[rf"\text{{at}} \quad {_equal(solution.unknown, values[solution.unknown])}"] = ""
    yield from lines.items()


def _equal(name: str, value: float, sign: str = "=") -> str:
    return f"{QUANTITIES[name].latex} {sign} {value_in_latex(name, value)}"


def _given_in_latex(solution: Result, markup: Markup) -> str:
    """What was given, in a sentence; a default is said to be one."""
    ranges = solution.spans.ranges.items() if solution.spans else ()
    spread = {name: rf"{_equal(name, low)} \text{{ to }} {value_in_latex(name, high)}" for name, (low, high) in ranges}
    points = {name: _equal(name, value) for name, value in solution.given.items()}
    found = [f"${said}${markup.text(_from(solution, name, ' ({})'))}" for name, said in (spread | points).items()]
    return f"Given: {', '.join(found)}." if found and (solution.answers or solution.sweep) else ""


def _answer_latex(unknown: str, answer: Answer) -> str:
    """An answer as LaTeX: a point that is a bound as an inequality, an interval between its ends."""
    where = rf" \quad \text{{({latex_text(plain_regime(answer.regime))})}}" if answer.regime else ""
    if answer.kind == "symbolic":
        return f"{QUANTITIES[unknown].latex} {AS_LATEX[answer.bound]} {answer.latex}"
    if answer.kind == "point":
        return _equal(unknown, answer.point, AS_LATEX[answer.bound]) + where
    if answer.kind == "interval" and answer.loose_low is None and (answer.low or answer.high is not None):
        above = "" if answer.high is None else rf" \leq {value_in_latex(unknown, answer.high)}"
        below = rf"{value_in_latex(unknown, answer.low)} \leq " if answer.low else ""
        errs = rf" \text{{{OR[answer.bound]}}}" if answer.bound else ""
        return f"{below}{QUANTITIES[unknown].latex}{above}{errs}{where}"
    return rf"{QUANTITIES[unknown].latex} \colon \text{{{latex_text(text_of(unknown, answer))}}}{where}"


def card(row: Equation) -> str:
    """An equation as `backsolve show` prints it: formula, quantities, derivation, what follows from it, sources."""
    left, right = map(printed, sides_of(row))
    lines = [f"{row.reference}   {row.title}   ({row.described})", "", f"    {left} {row.sense} {right}", "", row.statement, ""]
    width = max(len(name) for name in row.symbols)
    for name in row.symbols:
        quantity = QUANTITIES[name]
        lines.append(f"  {name:<{width}}  {quantity.symbol:<10} [{quantity.unit}]  {quantity.meaning}")
    lines.append("")
    if row.variant:
        names = " and ".join((row.variant.name, *row.variant.holds_for))
        lines.append(f"variant     {names} of {row.variant.group}{' (default)' if row.variant.default else ''}")
    lines += labelled("example", [worked(row)] if row.example else [])
    lines += labelled("requires", [*map(in_words_of_names, row.requires)])
    lines += labelled("assumes", list(row.assumptions))
    if row.steps:
        lines += ["", "derivation", *derivation_lines(row), ""]
    lines += labelled("changed", [f"version {at}: {said}" for at, said in enumerate(row.changes, 2)])
    lines += labelled("leads to", list(referenced_by(row.id)))
    for source in row.sources:
        place = f", {source.place}" if source.place else ""
        lines.append(f"source      {source.author}: {source.title}{place}. {source.said}")
        lines += [f"            here: {source.encoded}"] if source.encoded else []
        lines += [f"            {source.address}"] if source.address else []
    return "\n".join(lines)


def labelled(label: str, items: list[str]) -> list[str]:
    """Items one below the other, the first behind a label.

    >>> labelled("given", ["chips = 8", "batch = 1"])
    ['given       chips = 8', '            batch = 1']
    """
    return [f"{label if not place else '':<12}{item}" for place, item in enumerate(items)]


def _from(solution: Result, name: str, form: str = "   {}") -> str:
    """Where a given comes from, without the source: the table says the rest, and so does JSON."""
    origin = solution.provenance.get(name, "given").split(": ")[0]
    return "" if origin == "given" else form.format(origin)
