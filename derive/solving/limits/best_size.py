"""A size that is not given, such as the batch or the number of chips: it is found first, and the answer is the one at its better end.

The better end of what is bought is the fewest whole ones. The better end of all else is the most.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from derive.answers import BOUGHT, COUNTED, DECODE_ALONE, MEMORY_FITS, next_whole
from derive.immutable import immutable
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.records import LOWER, UPPER
from derive.roles import SIZES, Batch, Replica
from derive.solving.explain.assumptions import NOT_NEEDED
from derive.solving.limits.limits import FREE
from derive.solving.question.givens import is_limit, read_limits
from derive.solving.question.propagation import results_of
from derive.solving.result import Reason, RouteStep, Solution, chain_slopes
from derive.units import show

_WHICH = {LOWER: "fewest", UPPER: "largest"}
"""The better end of a size, by its side."""

Ask = Callable[[str, Mapping[str, Any]], Solution]
"""A question: the unknown, and the givens by name."""


@immutable
class End:
    """The better end of a size, the answer that it is an end of, and its side."""

    size: str
    value: float
    of: Solution
    side: str

    @property
    def memory_binds(self) -> bool:
        """Return whether memory ends it."""
        return self.side == UPPER and any(id.startswith(MEMORY_FITS) for id in self.of.equations)

    @property
    def told(self) -> str:
        """Return the end in words."""
        does = " that fits in memory" if self.memory_binds else ""
        return f"at {self.size} = {show(self.size, self.value)}, the {_WHICH[self.side]}{does}"


def best_end(solution: Solution) -> End | None:
    """Return the better end of a size that is only bounded, a whole one of what is counted, or None if it has no such end."""
    if solution.spans or len(solution.answers) != 1 or solution.answers[0].kind not in ("point", "interval"):
        return None
    (one,), name = solution.answers, solution.unknown
    side = LOWER if name in BOUGHT else UPPER
    value = one.ends[side == UPPER]
    if value is None or (one.kind == "point" and one.bound != side):
        return None
    value = next_whole(value, side) if name in COUNTED else value
    return End(size=name, value=value, of=solution, side=side) if value > 0 else None


def answer_at_end(ask: Ask, name: str, given: Mapping[str, Any], end: End) -> Solution:
    """Return the answer with a size at its better end. It says so if it rests on the size."""
    solution = ask(name, {**given, end.size: end.value})
    if end.size not in solution.given and solution.answers:
        return replace(solution, unused=tuple(one for one in solution.unused if one != end.size))
    reason = solution.reason and replace(solution.reason, message=f"{end.told}: {solution.why_not}")
    provenance = {**solution.provenance, **({end.size: end.told} if end.size in solution.provenance else {})}
    unused = tuple(one for one in solution.unused if one not in end.of.given)
    said = (end.told, *solution.said)
    return add_size(replace(solution, provenance=provenance, said=said, reason=reason, unused=unused), end, (DECODE_ALONE,))


def refuse_in_place(name: str, reason: Reason, beside: Solution) -> Solution:
    """Return a refusal of a question, in place of the answer to another one."""
    return replace(beside, unknown=name, unit=QUANTITIES[name].unit, answers=(), route=(), said=(), reason=reason)


def answer_at_largest_batch(ask: Ask, solution: Solution, given: Mapping[str, Any]) -> Solution | None:
    """Return a result at the largest batch that fits in memory, if only the batch is missing or memory bounds the result for any batch.
    Return None without an answer.

    Replicas need a number of chips that is given. The one chip by default is no replica.
    """
    reason, name = solution.reason, solution.unknown
    lacks_batch = reason is not None and (reason.code, reason.missing) == ("missing_givens", (FREE,))
    of_memory = {one.kind for one in solution.answers} == {"interval"} and any(id.startswith(MEMORY_FITS) for id in solution.equations)
    by_memory = of_memory and FREE not in given and not any(map(is_limit, given.values()))
    if not (lacks_batch or by_memory) or name not in Batch.best_full:
        return None
    sized = ask(FREE, drop_results(given, [name]))
    has_chips = sized.provenance.get(Replica.chips, "default") != "default"
    if lacks_batch and has_chips and sized.is_refused_for("requirement_violated"):
        # The weights alone do not fit.
        return refuse_in_place(name, sized.refusal, sized)
    counted = name not in (Replica.number, Replica.sequences) or has_chips
    end = best_end(sized) if counted else None
    found = answer_at_end(ask, name, given, end) if end and end.memory_binds else None
    return found if found and found.answers else None


def answer_together(ask: Ask, unknowns: Sequence[str], given: Mapping[str, Any], at_end: bool = False) -> tuple[Solution, ...]:
    """Return the answers to several questions, in order. Answers that depend on a size among them are for its better end.

    With limits, or `at_end`, that is always so, as they bound the size. Else it is so if there is no other answer, or only by a default.

    >>> from derive.solving.api import respond
    >>> given = {"hbm_bandwidth": "3.35TB/s", "kv_bytes_per_sequence": "1GB", "weight_bytes": "70GB", "chips": 8, "memory_time": "<=10ms"}
    >>> [round(one.answers[0].value, 4) for one in answer_together(respond, ["kv_time", "batch"], given)]
    [0.0074, 198.0]
    """
    limited = at_end or bool({*read_limits(given)[1]} - {*unknowns})
    found: dict[str, Solution] = {}
    end: End | None = None
    for size in sorted({*unknowns} & {*SIZES}, key=SIZES.index):
        found[size] = _answer_beside(ask, size, given, end, limited)
        end = end or best_end(found[size])
    others = {name: _answer_beside(ask, name, given, end, limited) for name in unknowns if name not in found}
    return tuple({**found, **others}[name] for name in unknowns)


def _answer_beside(ask: Ask, name: str, given: Mapping[str, Any], end: End | None, limited: bool) -> Solution:
    """Return the answer beside a size that is known by now."""
    if limited and end and name in results_of(end.size):
        return answer_at_end(ask, name, given, end)
    # What does not follow from the size has a best size of its own.
    solution = ask(name, given)
    if end is None or (limited and solution.answers):
        return solution
    # A size that is asked for is not its default.
    if solution.answers and solution.provenance.get(end.size) != "default":
        return solution
    again = answer_at_end(ask, name, given, end)
    return again if again.answers else solution


def add_size(found: Solution, end: End, left_out: Sequence[str] = ()) -> Solution:
    """Return the answer with all that its size rests on: its steps, its sensitivities, and its warnings of all kinds but some."""
    sized = end.of
    if not found.answers:
        return found
    slopes = sized.answers[0].elasticities
    follow = {step.unknown for step in found.route}
    steps = (_round_step(step, end) for step in sized.route if step.unknown not in follow)
    texts = dict.fromkeys((*found.assumptions, *sized.assumptions))
    # An equation that was named has a part in the answer if either uses it.
    assumptions = tuple(text for text in texts if not text.endswith(NOT_NEEDED) or text in {*found.assumptions} & {*sized.assumptions})
    return replace(
        found.with_doubts({**{kind: text for kind, text in sized.doubts.items() if kind not in left_out}, **found.doubts}),
        answers=tuple(replace(one, elasticities=chain_slopes(one.elasticities, end.size, slopes)) for one in found.answers),
        equations=tuple(dict.fromkeys((*found.equations, *sized.equations))),
        given={**found.given, **sized.given},
        provenance={**sized.provenance, **found.provenance},
        assumptions=assumptions,
        route=tuple(dict.fromkeys((*steps, *found.route))),
    )


def _round_step(step: RouteStep, end: End) -> RouteStep:
    """Return a step of the route with a size that is counted as a whole number."""
    if step.unknown != end.size or step.value in (None, end.value):
        return step
    formula = step.formula and f"{'ceiling' if end.side == LOWER else 'floor'}({step.formula})"
    return replace(step, value=end.value, formula=formula)


def drop_results(given: Mapping[str, Any], unknowns: Sequence[str]) -> Mapping[str, Any]:
    """Return the givens without results of unknowns that have a default. Otherwise a size would be computed with the default.

    Results of replicas go too if their number is not given. Of limits on them those on rates stay, unless the number is asked for.
    """
    results = {result for name in unknowns if name in NEUTRAL_DEFAULTS for result in results_of(name)}
    of_all = results_of(Replica.number) if Replica.number not in given else frozenset[str]()
    limited = of_all if Replica.number in unknowns else of_all.intersection(Replica.bought)
    return {name: value for name, value in given.items() if name not in (limited if is_limit(value) else {*results, *of_all})}
