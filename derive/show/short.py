"""An answer on one screen: value, what binds and by how much, the route in numbers, what it rests on most, and what to cite."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite

from derive.answers import BY_DEFAULT, COUNTED, EITHER_BINDS, KEPT_FREE, POINTS, Result, RouteStep, next_whole, ways_to
from derive.catalogue import equation
from derive.records import LOWER, UPPER
from derive.show.binding import binds
from derive.show.folding import folded
from derive.show.tables import sweep_lines
from derive.show.text import (
    IS_INSTEAD,
    answer_lines,
    as_text,
    by_rule,
    cite_line,
    for_decode_alone,
    head,
    labelled,
    moves_lines,
    signed_moves,
    values_of,
    warnings_of,
    with_numbers,
)
from derive.units import show

MOST_LINES, SCREEN_WIDTH, NARROW = 25, 100, 80
"""Lines of an answer, what they are folded to where nobody says, and the columns of a small terminal, on which sweeps still fit."""

_EVERY, _MANY = (1, 2, 3, 4, 6, 8, 12, 24), 3
"""Which points of a sweep are shown, so that the last is among them; and how many of these ways leave room for a line."""

_MOST_WARNINGS = 3
"""How many warnings are printed, those first that move the answer most."""
MOST_ASSUMED, _MOST_MOVES = 3, 6
"""How many assumptions are said, and quantities that the answer moves with."""

_MOVES = 0.05
"""Elasticity from which on a default is said."""

_CAPACITY, _NOTHING_KEPT = "hbm_capacity", "reserved_share = 0"
"""What memory bounds moves with, and the default that all of it is used."""

_STEP = 1e-6
"""Relative step of a quantity to see what it moves."""

_SUPPOSED = " unless it is given: "
_OF_THE_QUESTION = (
    *("follows from the givens", " as given, not ", "joined by name", "was named and is not needed", "it bounds nothing"),
    *("of published runs;", _SUPPOSED, " is the data type of "),
)
"""What is said of this very question, before what equations idealise."""

_OF_THE_WEIGHTS = "weights stored as published"


def short_lines(solution: Result, columns: int = SCREEN_WIDTH) -> Iterator[str]:
    """The lines of an answer that fit a screen of so many columns; all of them where the whole of it is no longer."""
    if solution.sweep:
        ends = [["", *_end(solution)], ["", *_end(solution, brief=True)]]
        yield from on_a_screen(sweep_lines(solution.unknown, solution.sweep), len(solution.sweep), doubts(solution), ends)
        return
    whole = as_text(solution)
    if not solution.answers or height([whole], columns) <= MOST_LINES:
        yield whole
        return
    top, end = [*heads(solution), *doubts(solution)], [*_end(solution)]
    moves = [*_moves(solution)]

    def fits(*parts: Sequence[str]) -> bool:
        return height(chain(*parts), columns) <= MOST_LINES

    routes = _routes(solution, MOST_LINES - height([*top, "", *end, *moves], columns), columns)
    if not fits(top, routes, [""], end):
        end = [*_end(solution, brief=True)]
        routes = routes if fits(top, routes, [""], end) else []
    yield from [*top, *routes, "", *(moves if fits(top, routes, [""], moves, end) else ()), *end]


def height(lines: Iterable[str], width: int = SCREEN_WIDTH) -> int:
    """Lines on the screen.

    >>> height(["step_time = 20 ms", "batch = 8\\nchips = 2"])
    3
    """
    return sum(folded(line, width).count("\n") + 1 for line in lines)


def on_a_screen(table: Iterable[str], points: int, doubts: Sequence[str], ends: Sequence[Sequence[str]]) -> Iterable[str]:
    """A sweep with what is said below it, as much of both as a small screen has room for; all of one in another number of points.

    Of as many points as one has where nobody says how many, those that are shown are evenly apart, the first and the last among
    them. `ends` are what it rests on, in full and in brief.

    >>> [*on_a_screen(["batch", *map(str, range(25))], 25, [""] * 15, [["in full"], ["in brief"]])][:9]
    ['batch', '0', '4', '8', '12', '16', '20', '24', '(18 points between: --full)']
    """
    if points != POINTS:
        return chain(table, doubts, ends[0])
    top, *rows = table
    ways = [(every, end) for end in ends for every in _EVERY[:_MANY]] + [(every, ends[-1]) for every in _EVERY[_MANY:]]
    shown = (_thinned(top, rows, every, [*doubts, *end]) for every, end in ways)
    return next((way for way in shown if height(way, NARROW) <= MOST_LINES), _thinned(top, rows, _EVERY[-1], [*doubts, *ends[-1]]))


def _thinned(top: str, rows: Sequence[str], every: int, rest: Sequence[str]) -> list[str]:
    kept = rows[::every]
    return [top, *kept, *([f"({len(rows) - len(kept)} points between: --full)"] if every > 1 else []), *rest]


def heads(solution: Result) -> Iterator[str]:
    """Every answer with what binds there."""
    if solution.spans:
        yield from head(solution)
        return
    for answer, steps in ways_to(solution):
        bound = binds(answer, values_of(solution, answer, steps), solution.equations)
        plain = answer_lines(solution.unknown, answer, regime=False, after=for_decode_alone(solution) + by_rule(solution, steps))
        where = f"exactly so if {bound}" if EITHER_BINDS in solution.kinds else bound
        yield from [f"{plain[0]}   {where}", *plain[1:]] if bound else plain
    yield from [*head(solution)][len(solution.answers) :]


def doubts(solution: Result) -> list[str]:
    """What is doubtful of an answer, and what was given for nothing."""
    unused = [", ".join(solution.unused)] if solution.unused else []
    warnings = at_once(warnings_of(solution))
    more = [f"{len(warnings) - _MOST_WARNINGS} more: --full"] if len(warnings) > _MOST_WARNINGS else []
    return [*labelled("warning", [*warnings[:_MOST_WARNINGS], *more]), *labelled("not used", unused)]


def at_once(warnings: Sequence[str]) -> list[str]:
    """Warnings, of which several of one point name it once.

    >>> at_once(["at mbu = 0.7: no data type is given", "at mbu = 0.7: it does not fit", "at mbu = 0.8: it does not fit"])
    ['at mbu = 0.7: no data type is given', 'there: it does not fit', 'at mbu = 0.8: it does not fit']
    """
    found, before = [], ""
    for text in warnings:
        point, colon, said = text.partition(": ")
        at = point if colon and text.startswith("at ") else ""
        found.append(f"there: {said}" if at and at == before else text)
        before = at
    return found


def _routes(solution: Result, room: int, columns: int) -> list[str]:
    """The steps in numbers, as many as there is room for: of each answer the last ones, as those lead to it."""
    routes = [steps for _, steps in ways_to(solution)] if solution.further else [solution.route]
    lines: list[str] = []
    shared: set[str] = set()
    for place, (answer, steps) in enumerate(zip(solution.answers, routes, strict=False)):
        values = values_of(solution, answer, steps)
        all_lines = dict.fromkeys(line for step in steps for line in step_line(step, values) if line not in shared)
        name = f"at {solution.unknown} = {show(solution.unknown, answer.value)}:" if place and answer.value is not None else ""
        kept = last_lines(list(all_lines), (room - 1) // len(routes) - (1 if name else 0), [solution.unknown], columns)
        lines += [name, *kept] if name else kept
        shared |= all_lines.keys()
    return ["", *lines] if lines else []


def last_lines(lines: list[str], room: int, wanted: Iterable[str] = (), columns: int = SCREEN_WIDTH) -> list[str]:
    """The lines that there is room for, those of what is wanted and then the last ones, and how many others there are.

    >>> last_lines(["weight_time = 1 s", "kv_time = 1 s", "step_time = 2 s", "batch = 2"], 3, ["step_time"])
    ['(2 steps more: --full)', 'step_time = 2 s', 'batch = 2']
    >>> last_lines([], -1)
    []
    """
    if not lines or height(lines, columns) <= room:
        return lines
    first = [line for line in lines if line.split(" ")[0] in {*wanted}]
    kept: set[str] = set()
    left = room - 1
    for line in (*first, *(line for line in reversed(lines) if line not in first)):
        left -= height([line], columns)
        if left < 0:
            break
        kept.add(line)
    return [f"({len(lines) - len(kept)} steps more: --full)", *(line for line in lines if line in kept)]


def step_line(step: RouteStep, values: Mapping[str, float]) -> list[str]:
    """A step in numbers; a name alone stays one."""
    if step.formula is None:
        return [] if step.value is None else [f"{step.unknown} = {show(step.unknown, step.value)}"]
    if step.value is None:
        return [with_numbers(step.formula, values, keep=step.unknown)]
    numbers = step.formula if step.formula.isidentifier() else with_numbers(step.formula, values)
    return [f"{step.unknown} = {numbers} = {show(step.unknown, step.value)}"]


def _moves(solution: Result) -> list[str]:
    if not solution.answers:
        return []
    slopes = sorted(signed_moves(solution.answers[0]).items(), key=lambda item: -abs(item[1]))
    return moves_lines(dict(slopes[:_MOST_MOVES]))


def _end(solution: Result, brief: bool = False) -> list[str]:
    """What it rests on most, in brief how much that is, and what to cite."""
    defaults = [text.removesuffix(BY_DEFAULT) for text in solution.assumptions if text.endswith(BY_DEFAULT)]
    moving = [] if brief else moving_defaults(solution)
    others = [text for text in solution.assumptions if not text.endswith(BY_DEFAULT) and IS_INSTEAD not in text]
    kept = [] if brief else foremost(solution, others)
    left = len(others) - len(kept) + len(defaults) - len(moving)
    more = (
        [f"{left} {'' if brief else 'more '}assumptions, and where the numbers are from: --full"]
        if left
        else ["where the numbers are from: --full"]
    )
    return [
        *labelled("defaults", [", ".join(moving)] if moving else []),
        *labelled("assumes", [*kept, *more]),
        cite_line(solution),
    ]


def moving_defaults(solution: Result) -> list[str]:
    """The defaults that the answer moves with; of a sweep all of them."""
    slopes = solution.answers[0].elasticities if solution.answers and not solution.sweep else {}
    defaults = [text.removesuffix(BY_DEFAULT) for text in solution.assumptions if text.endswith(BY_DEFAULT)]
    moving = [text for text in defaults if solution.sweep or abs(slopes.get(text.split(" ")[0], 0.0)) >= _MOVES]
    kept = _held_back(solution, slopes.get(_CAPACITY, 0.0)) if _NOTHING_KEPT in defaults else None
    return [*(text for text in moving if text != _NOTHING_KEPT or not kept), *([kept] if kept else [])]


def _held_back(solution: Result, slope: float) -> str | None:
    """That nothing of the memory is kept free, and about what a bound by it comes to with the tenth that engines hold back.

    A size grows with the memory in a straight line, and what it takes falls as one over it.
    """
    ends = {end for answer in solution.answers for end in answer.ends if end}
    if len(ends) != 1 or abs(slope) < _MOVES or {"memory_nearly_full", "little_room_left"} & {*solution.kinds}:
        return None
    if solution.provenance.get("replicas", "given") != "given":
        return f"{_NOTHING_KEPT} (engines hold back about a tenth: then there may be more replicas)"
    (end,) = ends
    less = end * (1 - KEPT_FREE * slope if slope > 0 else (1 - KEPT_FREE) ** slope)
    whole = next_whole(less, UPPER if slope > 0 else LOWER) if solution.unknown in COUNTED else less
    return f"{_NOTHING_KEPT} (engines hold back about a tenth: then {show(solution.unknown, max(whole, 0.0))})"


def foremost(solution: Result, texts: Iterable[str]) -> list[str]:
    """The assumptions that matter most: what is said of this question, then what idealises that on which the answer hangs most.

    Of an equation that counts by how much the answer moves with what it gives; of those alike the nearest to the answer is first.
    A quantity that was supposed, and that the answer does not move with, does not matter.
    """
    weights = _weights(solution)
    slopes = solution.answers[0].elasticities if solution.answers else {}
    texts = [text for text in texts if not slopes or _SUPPOSED not in text or text.split(" = ")[0] in slopes]
    ranked = sorted((text for text in texts if _weight(text, weights) > 0), key=lambda text: -_weight(text, weights))
    asked = sum(_weight(text, weights) > 1 for text in ranked)
    return ranked[: max(asked, MOST_ASSUMED)]


def _weight(text: str, weights: Mapping[str, float]) -> float:
    if any(part in text for part in _OF_THE_QUESTION):
        return 3.0
    return 2.0 if text.startswith(_OF_THE_WEIGHTS) else weights.get(text, 0.0)


def _weights(solution: Result) -> dict[str, float]:
    """How much the answer hangs on what each assumption idealises, 1 for the last equation; a little less the further it is away."""
    answer = solution.answers[0] if solution.answers else None
    values = values_of(solution, answer, solution.route) if answer and solution.route else {}
    hangs = {solution.unknown: 1.0}
    found: dict[str, float] = {}
    steps = [(step.unknown, step.equations) for step in reversed(solution.route)] or [
        (solution.unknown, (id,)) for id in solution.equations[::-1]
    ]
    for place, (unknown, ids) in enumerate(steps):
        here = hangs.get(unknown, 0.0)
        for row in map(equation, ids):
            for name in row.symbols:
                if name != unknown:
                    hangs[name] = hangs.get(name, 0.0) + here * _slope(row.id, unknown, name, values)
            for rank, text in enumerate(row.assumptions):
                found[text] = max(found.get(text, 0.0), min(abs(here), 1.0) * (1 - 1e-3 * place - 1e-5 * rank))
    return found


def _slope(id: str, unknown: str, name: str, values: Mapping[str, float]) -> float:
    """By how many percent the left side of an equation moves with one of its quantities; 1 where that cannot be told."""
    row = equation(id)
    if row.symbols[0] != unknown or not row.inputs <= values.keys():
        return 1.0
    below, above = (row.right_side({**values, name: values[name] * (1 + sign * _STEP)}) for sign in (-1, 1))
    slope = (above - below) / (above + below) / _STEP if above + below else 1.0
    return slope if isfinite(slope) else 1.0
