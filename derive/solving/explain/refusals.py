"""The missing facts of a question: the fewest that would settle it."""

from collections.abc import Mapping
from math import isclose

from derive.catalogue import by_id
from derive.preset_record import OF_CONFIGURATION, OPEN_MODELS, PARAMETERS, ROUTER
from derive.quantities import QUANTITIES, quantity
from derive.records import HOLDS
from derive.roles import Waiting, meaning_of
from derive.solving.explain.lacking import OF_A_CHIP, OF_A_MODEL, Lack, find_lacking
from derive.solving.question.propagation import follow_values, rows_behind
from derive.solving.question.questions import Question, results_made_of
from derive.solving.result import Reason
from derive.units import show

_OF_ROUTERS = frozenset(ROUTER)
"""What no dense model has."""

_OTHERS = 2
"""How many other lists are named."""

_SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Shares of the usual range of a quantity at which a result is compared."""


def find_result_without_influence(asked: Question, known: Mapping[str, float]) -> Reason | None:
    """Return why a given result does not determine the unknown: it is made of it, and has one value for all values of it."""
    unknown, row = asked.unknown, quantity(asked.unknown)
    results = results_made_of(asked, unknown)
    # One of them may say of another what it is, whatever both are made of.
    rest = {name: value for name, value in known.items() if name not in results}
    places = [*([0.0] if row.may_be_zero else []), *map(row.at, _SHARES)]
    for name in results:
        there = (follow_values(rows_behind((name,), asked.active), {**rest, unknown: place}).get(name) for place in places)
        found = [value for value in there if value is not None]
        if len(found) < len(places) or not all(isclose(one, found[0], rel_tol=HOLDS) for one in found):
            continue
        told = f"{name} does not depend on {unknown}"
        if isclose(found[0], known[name], rel_tol=HOLDS):
            return Reason(code="not_identified", violated=(name,), message=f"{told}: it is {show(name, found[0])} with any {unknown}")
        message = f"{told}: it is {show(name, found[0])} with any {unknown}, and {show(name, known[name])} is given"
        return Reason(code="no_solution", violated=(name,), message=message)
    return None


def missing_givens(asked: Question) -> Reason:
    """Return the reason that facts are missing. They are looked up when they are read."""
    return Reason(code="missing_givens", look_up=lambda: _find_missing(asked))


def _find_missing(asked: Question) -> tuple[tuple[str, ...], str]:
    """Return the facts that would settle the question, the fewest with the most of what was given, and the message that names them."""
    unknown, subject = asked.unknown, asked.unknown
    if asked.listed:
        value, place = asked.listed
        subject = f"{unknown} is {show(unknown, value)} in {place}; to compute it, the question"
    if not any(unknown in row.symbols for row in asked.equalities):
        joinable = ", ".join(row.id for row in by_id().values() if unknown in row.symbols)
        message = f"{subject} is only in equations that must be named with --using: {joinable}"
        return (), message + _left_out(asked, (unknown,))
    if not (lacking := find_lacking(asked)):
        return (), f"{unknown} is not determined: its equations hold for any value, or are the same"
    return _name_missing(asked, subject, *lacking)


def nearest_givens(asked: Question, refused: Reason) -> Reason:
    """Return the reason with the facts that would settle the question by a rule, if that is better than a way that leaves a given out."""
    ways, is_unknown_model = find_lacking(asked), asked.parameters_only and not OF_A_MODEL.isdisjoint(refused.missing)
    if refused.missing and (is_unknown_model or not (ways and ways[0].idle > 1 and ways[0].names == refused.missing)):
        return refused
    near = {asked.unknown, *(name for way in ways[:1] for name in way.names)}
    is_joined = any(asked.unknown in row.symbols for row in asked.equalities)
    rows = (row for row in by_id().values() if row.sense == "=" and not near.isdisjoint(row.symbols))
    found = find_lacking(asked, [row for row in rows if row.rule or not is_joined])
    if not found or (ways and found[0].cost >= ways[0].cost):
        return refused
    missing, message = _name_missing(asked, asked.unknown, found[0])
    return Reason(code="missing_givens", missing=missing, message=message)


def _name_missing(asked: Question, subject: str, first: Lack, *others: Lack) -> tuple[tuple[str, ...], str]:
    """Return what is missing, and the message that names it and other lists that are as short."""
    unknown, missing, by = asked.unknown, first.names, f", by {first.rule.rule}" if first.rule and first.rule.rule else ""
    needed = _join_names(tuple(map(_explain_input, missing)) if len(missing) <= 2 else missing)
    message = f"{subject} also needs {needed}{by}{_mention_dense(missing, asked)}{_mention_presets(missing, asked)}"
    message += _left_out(asked, (unknown, *missing))
    meaning = meaning_of(unknown, asked.known)
    short = [_join_names(one.names) for one in others if len(one.names) <= len(missing)]
    if meaning and meaning.alone and Waiting.margin not in asked.known:
        message = f"the buyer pays {meaning.means}: ask for that\nthe cost of the chips: {message}"
    elif short:
        message += ". Instead you can give " + ", or ".join(short[:_OTHERS])
    return missing, message


def _mention_dense(missing: tuple[str, ...], asked: Question) -> str:
    """Return the end of a sentence: the named model is dense, without experts."""
    counts = [asked.known.get(name) for name in PARAMETERS if asked.provenance.get(name) != "given"]
    dense = len(counts) == len(PARAMETERS) and counts[0] is not None and len({*counts}) == 1
    names = " and ".join(one.model for one in asked.published) or "the model"
    return f"; {names} is dense and has no experts" if dense and not _OF_ROUTERS.isdisjoint(missing) else ""


def _mention_presets(missing: tuple[str, ...], asked: Question) -> str:
    """Return the end of a sentence: which options would give some of it, or that a named model cannot."""
    from_model = OF_A_MODEL | {*OF_CONFIGURATION}
    if asked.parameters_only and not from_model.isdisjoint(missing):
        return f"; of {_join_names(asked.parameters_only)} only the parameters are known ({OPEN_MODELS}.csv)"
    options = {"--hardware": OF_A_CHIP, "--model": OF_A_MODEL}
    helpful = [option for option, names in options.items() if not names.isdisjoint(missing)]
    return f" ({' and '.join(helpful)} would give some of these)" if helpful and len(missing) > 2 else ""


def _left_out(asked: Question, names: tuple[str, ...]) -> str:
    """Return the end of a sentence: the definitions of these quantities that the model rules out."""
    untrue = ", ".join(row.id for row in asked.left_out if row.defines in names)
    return f"; not used, because this model has reads that do not grow with its context: {untrue}" if untrue else ""


def _explain_input(name: str) -> str:
    """Return a name with its meaning and its unit."""
    row = QUANTITIES[name]
    return f"{name} ({row.meaning}{'' if row.unit == '1' else f', in {row.unit}'})"


def _join_names(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
