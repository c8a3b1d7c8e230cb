"""The answer to the quantity that people mean, if what was given does not settle the one that they ask for."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from derive.meanings import MEANINGS, Meaning
from derive.solving.engine.one_equation import value_inside
from derive.solving.question.propagation import quantities_behind, usual_definitions
from derive.solving.result import OR, Solution
from derive.units import show


def answer_meaning(
    solution: Solution,
    given: Mapping[str, Any],
    named: bool,
    ask: Callable[[str, Mapping[str, Any]], Solution],
    beside: Collection[str] = (),
) -> Solution:
    """Return the answer to the quantity that is meant, in place of a refusal or beside an answer that does not use a given.

    `named` says that a chip or a model is named. A quantity that is asked for `beside` it is not meant by it.
    """
    meaning = MEANINGS.get(solution.unknown)
    if not meaning or meaning.means in (*beside, *given) or not given.keys() >= meaning.beside or (meaning.alone and named):
        return solution
    lacks = bool(solution.reason and solution.reason.missing)
    if lacks == bool(meaning.told) or (meaning.told and meaning.beside.isdisjoint(solution.unused)):
        return solution
    found = ask(meaning.means, given)
    own = quantities_behind(meaning.asked, usual_definitions()) if meaning.alone else meaning.beside
    if not found.answers or not own.isdisjoint(found.unused):
        return solution
    if meaning.told:
        return _tell_beside(solution, meaning, found)
    return found.warn(answer_meaning.__name__, meaning.warning)


def _tell_beside(solution: Solution, meaning: Meaning, found: Solution) -> Solution:
    """Return the answer to what was asked for, with a line on what may be meant."""
    value = f"{show(meaning.means, value_inside(found.answers[0]))}{OR[found.answers[0].bound]}"
    unused = tuple(name for name in solution.unused if name in found.unused)
    return replace(solution, said=(*solution.said, f"{meaning.told}: {meaning.means} = {value}"), unused=unused)
