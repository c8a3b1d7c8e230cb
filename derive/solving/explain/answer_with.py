"""The same question with some quantities changed: what the answer, or a given result at the answer, is then."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from derive.answers import Answer
from derive.catalogue import equation
from derive.solving.question.propagation import follow_values, rows_behind
from derive.solving.question.questions import Question, default_values, pose_again, results_made_of

Values = Mapping[str, float]
Solve = Callable[[Question], tuple[Answer, ...]]
"""The answers to a question, without what it lacks."""


def inputs_of(asked: Question, values: Values) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the values from which an answer is computed forwards, and the results that change with them.

    That is the unknown, or the given results it was found from (it is then among the inputs), or no quantity if a bound alone gave it.
    """
    given = {name: value for name, value in values.items() if name in asked.known and name not in asked.defaults}
    if asked.unknown in values_with(asked, given, {}, (asked.unknown,)):
        return given, (asked.unknown,)
    results = tuple(results_made_of(asked, asked.unknown))
    inputs = {name: value for name, value in given.items() if name not in results} | {asked.unknown: values[asked.unknown]}
    if results and not values_with(asked, inputs, {}, results):
        # Something on the way was found from another result.
        made = {row.symbols[0] for row in asked.equalities}
        inputs |= {name: value for name, value in values.items() if name not in made and name not in asked.defaults}
    return inputs, results


def values_with(asked: Question, inputs: Values, changed: Values, names: Sequence[str], using: Sequence[str] = ()) -> dict[str, float]:
    """Return these quantities worked out forwards from the inputs with some of them changed, as far as they can be."""
    known = {name: value for name, value in {**inputs, **changed}.items() if name in changed or name not in names}
    again = pose_again(replace(asked, named=(*asked.named, *map(equation, using)), limits={}, floors={}), asked.unknown, known)
    found = follow_values(rows_behind(tuple(names), again.active), {**known, **default_values(again, known)})
    return {name: found[name] for name in names if name in found}


def result_with(asked: Question, name: str, more: Mapping[str, float]) -> float | None:
    """Return the value of a given result by the equations beside other values, without the results that were given."""
    results = {*results_made_of(asked, asked.unknown)}
    inputs = {other: value for other, value in asked.known.items() if other not in results}
    return values_with(replace(asked, unknown=name), inputs, more, (name,)).get(name)
