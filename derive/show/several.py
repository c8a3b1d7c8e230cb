"""Several answers to the same givens: one below the other, or column by column of a sweep, over one route that is printed once."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from derive.answers import BY_DEFAULT, Result, RouteStep
from derive.show.cells import in_columns
from derive.show.short import (
    MOST_ASSUMED,
    MOST_LINES,
    SCREEN_WIDTH,
    at_once,
    foremost,
    heads,
    height,
    last_lines,
    moving_defaults,
    on_a_screen,
    step_line,
)
from derive.show.tables import sweep_cells, sweep_head
from derive.show.text import given_lines, ids_to_cite, json_list, labelled, lines, route_to, unused_by_all, values_of, warnings_of

_SHORTEST_END = "what it rests on, by which steps, where the numbers are from, and what to cite: --full"


def several_lines(solutions: Sequence[Result], style: str, full: bool = False, columns: int = SCREEN_WIDTH) -> Iterator[str]:
    """All of them in one of the forms of an answer; of JSON a list of their documents."""
    if style == "json":
        yield from json_list([lines(one, style) for one in solutions])
    elif style == "csv":
        yield from _csv(solutions)
    elif style == "table":
        yield from _text(solutions, full, columns)
    else:
        yield from chain.from_iterable(chain(lines(one, style), ("",)) for one in solutions)


def _csv(solutions: Sequence[Result]) -> Iterator[str]:
    """The lines of each; a head that is the same again is left out."""
    head = None
    for one in solutions:
        rows = lines(one, "csv")
        first = next(rows, "")
        yield from rows if first == head else chain([first], rows)
        head = first


def _text(solutions: Sequence[Result], full: bool, columns: int) -> Iterator[str]:
    answered = [one for one in solutions if one.answers or one.sweep]
    swept = [one.sweep for one in answered if one.sweep]
    end = _end(answered, full)
    said = [f"{one.unknown}: no answer: {one.why_not.splitlines()[0]}" for one in solutions if one not in answered and one.reason]
    said += _doubts(answered)
    if swept and len(swept) == len(answered) and not full:
        yield from on_a_screen(_columns(answered), len(swept[0]), said, [["", *end], ["", *_end(answered, full, brief=True)]])
        return
    top = [*(_columns(answered) if swept and len(swept) == len(answered) else _heads(answered)), *said]

    def steps() -> list[str]:
        room = MOST_LINES - height([*top, "", "", *end], columns)
        return last_lines(_route(answered), room, [one.unknown for one in answered], columns)

    route = _whole_route(answered) if full else steps()
    if not full and height([*top, "", *route, "", *end], columns) > MOST_LINES:
        end = _end(answered, full, brief=True)
        route = steps()
    if not full and height([*top, "", *route, "", *end], columns) > MOST_LINES:
        end, route = labelled("assumes", [_SHORTEST_END]), []
    yield from [*top, *(["", *route] if route else []), "", *end]


def _heads(solutions: Sequence[Result]) -> list[str]:
    """The answers, what binds in the first of those in which the same does; what is said below several is said once."""
    found: list[str] = []
    for one in solutions:
        for line in heads(one):
            if line.startswith(" ") and line in found:
                continue
            value, gap, bound = line.partition("   ")
            said = any(other.partition("   ")[2].partition(":")[0] == bound.partition(":")[0] for other in found)
            found.append(value if gap and said else line)
    return found


def _columns(solutions: Sequence[Result]) -> list[str]:
    """The sweeps side by side, a column an answer."""
    tables = [(one.unknown, one.sweep) for one in solutions if one.sweep]
    first = tables[0][1]
    names = len(first.given)
    heads_of = [sweep_head(unknown, table) for unknown, table in tables]
    points = zip(*(sweep_cells(unknown, table) for unknown, table in tables), strict=True)
    rows = [[*cells[0][:names], *(row[names] for row in cells)] for cells in (heads_of, *points)]
    return in_columns(rows)


def _doubts(solutions: Sequence[Result]) -> list[str]:
    """What is doubtful of any of them, once; and what none of them needs."""
    said: dict[tuple[str, str], str] = {}
    for one in solutions:
        kinds = dict(zip(one.warnings, one.kinds, strict=False))
        for text in warnings_of(one):
            # What is said of one in other words than of the next is the same where it begins alike.
            kind = kinds.get(text, "")
            said.setdefault((kind, text.partition(",")[0] if kind else text), text)
    warnings = [*said.values()]
    unused = unused_by_all(solutions)
    return [*labelled("warning", at_once(warnings)), *labelled("not used", [", ".join(unused)] if unused else [])]


def _route(solutions: Sequence[Result]) -> list[str]:
    """The steps of all in numbers, each once."""
    found: dict[str, None] = {}
    for one in solutions:
        values = values_of(one, one.answers[0] if one.answers else None, one.route)
        found |= dict.fromkeys(line for step in one.route for line in step_line(step, values))
    return list(found)


def _whole_route(solutions: Sequence[Result]) -> list[str]:
    """The steps of all with formulas and ids, each once."""
    seen: set[RouteStep] = set()
    found: list[str] = []
    for one in solutions:
        answer = one.answers[0] if one.answers else None
        found += route_to(one, answer, [step for step in one.route if step not in seen], one.route)
        seen |= {*one.route}
    return found


def _end(solutions: Sequence[Result], full: bool, brief: bool = False) -> list[str]:
    """What they rest on, in brief how much that is, and what to cite."""
    others = list(dict.fromkeys(text for one in solutions for text in one.assumptions if not text.endswith(BY_DEFAULT)))
    defaults = list(dict.fromkeys(text for one in solutions for text in one.assumptions if text.endswith(BY_DEFAULT)))
    of_each = [] if brief else [text for one in solutions for text in moving_defaults(one)]
    # A default is said as the first of the answers has it.
    moving = [text for place, text in enumerate(of_each) if text.split(" = ")[0] not in {one.split(" = ")[0] for one in of_each[:place]}]
    shown = [text.removesuffix(BY_DEFAULT) for text in defaults] if full else moving
    kept = others if full else [] if brief else foremost_of(solutions)
    left = len(others) - len(kept) + len(defaults) - len({*shown})
    counted = f"{left} {'' if brief else 'more '}assumptions, and " if left else ""
    more = [] if full else [f"{counted}where the numbers are from: --full"]
    ids = dict.fromkeys(id for one in solutions for id in ids_to_cite(one))
    given = list(dict.fromkeys(line for one in solutions for line in given_lines(one))) if full else []
    return [
        *labelled("given", given),
        *labelled("defaults", [", ".join(dict.fromkeys(shown))] if shown else []),
        *labelled("assumes", [*kept, *more]),
        *([f"cite        backsolve cite {' '.join(ids)}"] if ids else []),
    ]


def foremost_of(solutions: Sequence[Result]) -> list[str]:
    """The assumptions that matter most of each in turn."""
    ranked = [foremost(one, [text for text in one.assumptions if not text.endswith(BY_DEFAULT)]) for one in solutions]
    mixed = dict.fromkeys(text for texts in zip_longest(*ranked) for text in texts if text)
    return list(mixed)[:MOST_ASSUMED]
