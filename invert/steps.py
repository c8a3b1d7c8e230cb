"""Readings by steps of the catalogue, which show how a reading gets its number: formulas, elasticities, and the reason of a refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from derive.answers import Answer, Reason, RouteStep
from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.show.words import text_of
from derive.solving.engine.one_equation import solve_equation
from derive.solving.result import Solution


def solve_steps(steps: Sequence[tuple[str, str]], given: Mapping[str, float]) -> Solution:
    """Solve each equation (id, unknown) with the given values and the results of the steps before.

    The last unknown may be an interval, the others are points. Elasticities are with respect to the given values.
    """
    found = {unknown for _, unknown in steps}
    known = {**NEUTRAL_DEFAULTS, **given}
    symbols = dict.fromkeys(name for id, _ in steps for name in equation(id).symbols)
    used = {name: float(known[name]) for name in {**given, **symbols} if name in known and name in symbols and name not in found}
    values, elasticities = dict(used), {name: {name: 1.0} for name in used}
    solution = Solution(
        unknown=steps[-1][1],
        unit=QUANTITIES[steps[-1][1]].unit,
        answers=(),
        given=used,
        provenance={name: "given" if name in given else "default" for name in used},
    )
    for place, (id, unknown) in enumerate(steps):
        row = equation(id)
        if missing := tuple(name for name in row.symbols if name != unknown and name not in values):
            message = f"{unknown} also needs {', '.join(missing)}"
            return replace(solution, answers=(), reason=Reason(code="missing_givens", missing=missing, message=message))
        answers, reason = solve_equation(row, unknown, values)
        if not answers:
            return replace(solution, answers=(), reason=reason)
        chained = [_chain_elasticities(one.elasticities, elasticities) for one in answers]
        answers = tuple(replace(one, elasticities=by) for one, by in zip(answers, chained, strict=True))
        step = RouteStep(equations=(row.reference,), unknown=unknown, value=answers[0].value, formula=answers[0].formula)
        solution = replace(solution, answers=answers, equations=(*solution.equations, row.reference), route=(*solution.route, step))
        if unknown == solution.unknown:
            break
        if len(answers) > 1 or answers[0].value is None:
            return _with_bounds(solution, answers, steps[place + 1 :], values)
        values[unknown], elasticities[unknown] = answers[0].value, chained[0]
    return solution


def _with_bounds(solution: Solution, answers: Sequence[Answer], left: Sequence[tuple[str, str]], values: Mapping[str, float]) -> Solution:
    """Return the interval of the last unknown, if the unknown before it is an interval. Refuse if more steps follow."""
    name, one = solution.route[-1].unknown, answers[0]
    if len(answers) > 1 or len(left) > 1:
        message = f"{name} is not determined: only its bounds are known, {' or '.join(text_of(name, found) for found in answers)}"
        return replace(solution, answers=(), reason=Reason(code="not_identified", message=message))
    ((id, unknown),) = left
    row = equation(id)
    ends = [solve_equation(row, unknown, {**values, name: end})[0][0] for end in (one.low, one.high) if end]
    falls = ends[0].elasticities[name] < 0
    bounds = [ends.pop(0).value if end else None for end in (one.low, one.high)]
    low, high = reversed(bounds) if falls else bounds
    interval = Answer(kind="interval", low=low, high=high, formula=one.formula, regime=one.regime)
    step = RouteStep(equations=(row.reference,), unknown=unknown, value=None, formula=None)
    return replace(solution, answers=(interval,), equations=(*solution.equations, row.reference), route=(*solution.route, step))


def _chain_elasticities(of_step: Mapping[str, float], before: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return elasticities with respect to the given values, by the chain rule."""
    sums: dict[str, float] = {}
    for name, outer in of_step.items():
        for base, inner in before.get(name, {}).items():
            sums[base] = sums.get(base, 0.0) + outer * inner
    return sums
