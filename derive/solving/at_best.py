"""Several unknowns, of which one says how large the others are: it is answered first, and the others at its best end."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

from derive.answers import BOUGHT, COUNTED, DECODE_ALONE, OR, SEQUENCES_FIT, Answer, WhenRead, next_whole
from derive.catalogue import by_id
from derive.errors import WrongValue
from derive.immutable import immutable
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES, quantity
from derive.records import CHAINED_BY_ITSELF, LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.givens import spread
from derive.solving.limits import FREE, IN_WORDS, SIZED, NotMadeOf, is_limit, limits
from derive.solving.result import Reason, Solution
from derive.solving.whole_numbers import BEST
from derive.spreads import Interval, Series
from derive.units import show

_COPIES, _OF_ALL = "replicas", "fleet_sequences_in_flight"
"""How many there are of what is sized, and what there is in all of them."""

_SAY_THE_BATCH = ("batch", "sequences_in_flight", "microbatch_size", "requests_per_second", "throughput")
_RATES_OF_ALL = ("fleet_requests_per_second", "fleet_throughput")
"""What says the batch of a replica, and beside replicas that are asked for only how many there are."""

_BEST_AT_FULL_BATCH = ("throughput", "requests_per_second", *_RATES_OF_ALL, "cost_per_token", "cost_per_request")
"""What is the better the larger the batch: asked for without one it is that of a full memory."""

_OF_COPIES_ALONE = ("fleet_chips", "fleet_cost", "fleet_power", "fleet_electricity_cost")
"""What follows from how many replicas there are."""

_Ask = Callable[..., Solution]
"""A question with what is given by name; limits on inputs bound the answer where `bounds_inputs`."""
_Read = Callable[[str, str | float], float]
"""What the text of a quantity comes to."""


@immutable
class End:
    """The better end of a size: the answer that it is an end of, and whether ranges were given of which it does all over."""

    size: str
    value: float
    of: Solution
    throughout: bool = False

    @property
    def by(self) -> Mapping[str, float]:
        """What was given that it was sized by."""
        return self.of.given

    @property
    def memory_binds(self) -> bool:
        """Whether it is memory that ends it."""
        return self.size not in BOUGHT and SEQUENCES_FIT in {id.split("@")[0] for id in self.of.equations}

    @property
    def told(self) -> str:
        """The end in words."""
        does = " that memory holds" if self.memory_binds else ""
        does += " that will do all over the ranges" if self.throughout else ""
        return f"at {self.size} = {show(self.size, self.value)}, the {self.which}{does}"

    @property
    def which(self) -> str:
        """Which end it is."""
        return "fewest" if self.size in BOUGHT else "largest"

    def met(self, said: str, limited: Mapping[str, Mapping[str, str]]) -> str:
        """What is said of a limit; of one by which it was sized, that it is the end which this leaves."""
        for name in () if self.memory_binds else self.by.keys() & limited.keys():
            for side in limited[name]:
                limit = f"{name} {IN_WORDS[side]} {show(name, self.by[name])}"
                if said.startswith(f"{limit} is met"):
                    return f"{limit} is met: {self.size} is the {self.which} that it {'takes' if self.size in BOUGHT else 'leaves'}"
        return said


def all_of(ask: _Ask, unknowns: Sequence[str], given: Mapping[str, Any]) -> tuple[Solution, ...]:
    """The answers to several questions with the same givens, in order; those that rest on a size that is asked for too are at its best end.

    Of a limit that is always so, as it bounds the size; without one only of those that have no answer else, or take a default for it.

    >>> from derive.solving.api import respond
    >>> given = {"hbm_bandwidth": "3.35TB/s", "kv_bytes_per_sequence": "1GB", "weight_bytes": "70GB", "chips": 8, "memory_time": "<=10ms"}
    >>> [round(one.answers[0].value, 4) for one in all_of(respond, ["kv_time", "batch"], given)]
    [0.0074, 198.0]
    """
    names = {name: quantity(name).name for name in unknowns}
    limited = {*limits(given)[1]} - {*names.values()}
    found: dict[str, Solution] = {}
    end: End | None = None
    for size in sorted({*names.values()} & {*SIZED}, key=SIZED.index):
        others = [name for name in names.values() if name not in SIZED]
        found[size] = _answered(ask, size, _that_size_it(given, others), end, at_once=bool(limited))
        end = end or best_end(found[size])
    sized = next((one for one in found.values() if one.sweep), None)

    def other(name: str) -> Solution:
        solution = _answered(ask, name, given, end, at_once=bool(limited))
        if end or sized is None or sized.sweep is None or solution.answers or solution.sweep:
            return solution
        from derive.solving.sweeps import each_by_itself

        # Each point of lists has a best end of its own.
        again = each_by_itself(name, sized.sweep.given, lambda at: all_of(ask, (name, *found), with_other(given, at))[0], sized.unknown)
        return again if again.answers else solution

    return tuple(found.get(name) or other(name) for name in names.values())


def within_limits(ask: _Ask, unknown: str, given: Mapping[str, Any], read: _Read, zipped: bool = False) -> Solution:
    """Return the answer within limits on results; else at the best batch that they leave; else as limits on its inputs bound it.

    A limit on a size is a bound of an input first: nobody has to look for the best one.
    """
    limited = limits(given)[1].keys()
    bounded = _within_inputs(ask, unknown, given) if limited and limited <= {*SIZED} else None
    if bounded and bounded.reason is None:
        return bounded
    try:
        found = _with_free_size(ask, unknown, given, read, zipped)
    except NotMadeOf:
        if bounded := bounded or _within_inputs(ask, unknown, given):
            return bounded
        raise
    lacks = limited and found.reason is not None and found.reason.code == "missing_givens"
    bounded = _within_inputs(ask, unknown, given) if lacks else None
    return bounded if bounded and not (bounded.reason and bounded.reason.code == "missing_givens") else found


def _within_inputs(ask: _Ask, unknown: str, given: Mapping[str, Any]) -> Solution | None:
    """Return the answer that limits on its inputs bound, or what it lacks; None if it has none or does not use them all.

    A limit from both sides is a range.
    """
    sides = limits(given)[1]
    ranges = {name: f"{texts[LOWER]}..{texts[UPPER]}" for name, texts in sides.items() if len(texts) > 1}
    rest = {spelled: value for spelled, value in given.items() if quantity(spelled).name not in ranges}
    try:
        found = ask(unknown, {**rest, **ranges}, bounds_inputs=True)
    except WrongValue:
        return None
    if found.reason:
        of_limits = found.reason.code == "not_identified" and {*found.reason.violated} <= sides.keys()
        return found if of_limits or (found.reason.code == "missing_givens" and FREE not in found.reason.missing) else None
    return found if sides.keys().isdisjoint(found.unused) else None


def _with_free_size(ask: _Ask, unknown: str, given: Mapping[str, Any], read: _Read, zipped: bool) -> Solution:
    """Return the answer at the best batch that limits leave, if they say nothing of the unknown itself and the batch is free.

    Each point of lists has a best batch of its own.
    """
    try:
        return ask(unknown, given)
    except NotMadeOf as error:
        refused = error
    name = quantity(unknown).name
    if name in SIZED or FREE in {quantity(spelled).name for spelled in given}:
        raise refused
    plain = ((quantity(spelled).name, value) for spelled, value in given.items() if not is_limit(value))
    spreads = {other: spread(other, value, read) for other, value in plain}
    if ranges := [other for other, one in spreads.items() if isinstance(one, Interval)]:
        raise WrongValue(f"each {ranges[0]} has a largest {FREE} of its own within the limits: give {FREE}, or a list of {ranges[0]}")
    if series := {other: one for other, one in spreads.items() if isinstance(one, Series)}:
        from derive.solving.sweeps import each_by_itself, points_of

        def at_point(at: Mapping[str, Any]) -> Solution:
            return _with_free_size(ask, unknown, with_other(given, at), read, zipped=False)

        return each_by_itself(name, points_of(series, zipped), at_point, FREE)
    try:
        sized = ask(FREE, _that_size_it(given, [name]))
    except NotMadeOf:
        raise refused from None
    if end := best_end(sized):
        return answered_at(ask, name, given, end)
    if sized.answers or sized.sweep or not sized.reason:
        raise refused
    message = f"{name} at the best {FREE} that the limits leave: {sized.why_not}"
    return _unanswered(name, replace(sized.reason, message=message), sized)


def full_batch(ask: _Ask, unknowns: Sequence[str], given: Mapping[str, Any], names: Set[str]) -> Solution | None:
    """The largest batch of replicas whose number follows from the sequences of all of them; None where it is no such question.

    >>> from derive.solving.api import respond
    >>> given = {"hbm_capacity": "80GB", "weight_bytes": "70GB", "kv_bytes_per_sequence": "1GB", "chips": 8}
    >>> full_batch(respond, ["replicas"], {**given, "fleet_sequences_in_flight": 1000}, {*given, "fleet_sequences_in_flight"})
    Solution(batch [1]: 0 to 570)
    """
    asked = {quantity(name).name for name in unknowns}
    of_rates = not names.isdisjoint(_RATES_OF_ALL)
    if of_rates and (_OF_ALL in names or asked - {_COPIES, *_OF_COPIES_ALONE} or any(map(is_limit, given.values()))):
        return None
    if not (of_rates or _OF_ALL in names | asked) or not names.isdisjoint(_SAY_THE_BATCH) or not asked.isdisjoint(SIZED):
        return None
    if _COPIES in names and (of_rates or _OF_ALL in names):
        return None
    sized = ask(FREE, _that_size_it(given, [_COPIES]))
    # One chip by default is no replica that anybody counts.
    counted = sized.provenance.get("chips", "default") != "default"
    return sized if counted and (sized.sweep or best_end(sized)) else None


def at_full_batch(ask: _Ask, unknown: str, given: Mapping[str, Any], sized: Solution) -> Solution:
    """The answer at the best end of a batch; of lists each point has a batch of its own."""
    name = quantity(unknown).name
    if sized.sweep:
        from derive.solving.sweeps import each_by_itself

        return each_by_itself(name, sized.sweep.given, lambda at: ask(name, with_other(given, at)), FREE)
    end = best_end(sized)
    return answered_at(ask, name, given, end) if end else sized


def lacks_its_batch_alone(solution: Solution) -> bool:
    """Whether it is a rate or a cost that is at its best at the largest batch, and only of that nothing is said."""
    reason = solution.reason
    return solution.unknown in _BEST_AT_FULL_BATCH and reason is not None and reason.code == "missing_givens" and reason.missing == (FREE,)


def at_largest_batch(ask: _Ask, unknown: str, given: Mapping[str, Any]) -> Solution | None:
    """A rate or a cost at the largest batch that memory holds; None where nothing says how large that is, or does not lead there."""
    sized = ask(FREE, given)
    end = best_end(sized)
    found = at_full_batch(ask, unknown, given, sized) if sized.sweep or (end and end.memory_binds) else None
    return found if found and (found.answers or found.sweep) else None


def _with_its_size(found: Solution, end: End) -> Solution:
    """The answer with all that its size rests on, which nobody gave: how it came about, what moves it, and what is doubtful of it."""
    sized = end.of
    if not found.answers:
        return found
    doubts = {kind: text for kind, text in zip(sized.kinds, sized.warnings, strict=True) if kind != DECODE_ALONE}
    doubts |= dict(zip(found.kinds, found.warnings, strict=True))
    follow = {step.unknown for step in found.route}
    steps = (step for step in sized.route if step.unknown not in follow)
    return replace(
        found,
        answers=tuple(replace(one, elasticities=moved_with(one, end.size, sized.answers[0])) for one in found.answers),
        equations=tuple(dict.fromkeys((*found.equations, *sized.equations))),
        given={**found.given, **sized.given},
        provenance={**sized.provenance, **found.provenance},
        assumptions=tuple(dict.fromkeys((*found.assumptions, *sized.assumptions))),
        warnings=tuple(doubts.values()),
        kinds=tuple(doubts),
        route=tuple(dict.fromkeys((*steps, *found.route))),
    )


def moved_with(found: Answer, name: str, size: Answer) -> Mapping[str, float]:
    """By how much an answer moves where a quantity of it is no given, but moves itself with what it follows from."""

    def moved() -> dict[str, float]:
        slopes = dict(found.elasticities)
        by = slopes.pop(name, 0.0)
        return {each: slopes.get(each, 0.0) + by * size.elasticities.get(each, 0.0) for each in {**slopes, **size.elasticities}}

    return WhenRead(moved)


def with_other(given: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What is given with other values by registry name, whatever they were called."""
    return {**{spelled: value for spelled, value in given.items() if quantity(spelled).name not in other}, **other}


def _that_size_it(given: Mapping[str, Any], unknowns: Sequence[str]) -> Mapping[str, Any]:
    """What is given without the results of what is asked for and has a default: by that they would size as if nobody asked for it.

    So with results of copies that nobody counts, and limits on them.
    """
    names = {spelled: quantity(spelled).name for spelled in given}
    results = {result for name in unknowns if name in NEUTRAL_DEFAULTS for result in results_of(name)}
    of_all = results_of(_COPIES) if _COPIES not in names.values() else frozenset()
    return {
        spelled: value
        for spelled, value in given.items()
        if names[spelled] not in (() if is_limit(value) else results) and names[spelled] not in of_all
    }


@cache
def results_of(name: str) -> frozenset[str]:
    """What is made of a quantity by the definitions that join by themselves.

    >>> {"fleet_cost", "fleet_throughput"} <= results_of("replicas")
    True
    """
    rows = [
        row for row in by_id().values() if row.defines and row.kind in CHAINED_BY_ITSELF and not (row.variant and not row.variant.default)
    ]
    found, wider = {name}, True
    while wider:
        new = {row.defines for row in rows if row.defines and not found.isdisjoint(row.symbols[1:])} - found
        found, wider = found | new, bool(new)
    return frozenset(found - {name})


def within_own_limits(ask: _Ask, unknown: str, given: Mapping[str, Any], read: _Read, zipped: bool = False) -> Solution:
    """The answer of which limits on the unknown itself leave a part, or why they leave none."""
    name = quantity(unknown).name
    of_it = {spelled: value for spelled, value in given.items() if is_limit(value) and quantity(spelled).name == name}
    if not of_it:
        return within_limits(ask, unknown, given, read, zipped)
    sides = {side: read(name, text) for side, text in limits(of_it)[1][name].items()}
    others = {spelled: value for spelled, value in given.items() if spelled not in of_it}
    solution = within_limits(ask, unknown, others, read, zipped)
    if solution.sweep or solution.spans:
        raise WrongValue(f"{name} is asked for over several values and limited: leave its own limit out")
    limit = " and ".join(f"{IN_WORDS[side]} {show(name, value)}" for side, value in sides.items())
    kept = [_part(name, one, sides.get(LOWER, 0.0), sides.get(UPPER, inf)) for one in solution.answers]
    answers = tuple(one for one in kept if one)
    if answers == solution.answers:
        return replace(solution, said=(*solution.said, f"{name} {limit} is met"))
    if answers:
        return replace(
            solution, answers=answers, said=(*(text for text in solution.said if not text.startswith(BEST)), f"{name} is limited: {limit}")
        )
    found = solution.answers[0]
    ends = show(name, found.point) + OR[found.bound] if found.kind == "point" else _between(name, found)
    message = f"{name} {limit} is not met: with what is given it is {ends}"
    return _unanswered(name, Reason(code="no_solution", violated=(name,), message=message), solution)


def _between(name: str, one: Answer) -> str:
    low, high = (end and show(name, end) for end in one.ends)
    return f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"


def _part(name: str, one: Answer, least: float, most: float) -> Answer | None:
    """What limits leave of an answer; None where that is nothing. Of what is no size a point is held against them."""
    if one.kind not in ("point", "interval"):
        return one
    if one.kind == "point" and (name not in SIZED or one.bound is None):
        return one if least * (1 - HOLDS) <= one.point <= most * (1 + HOLDS) else None
    start, end = one.ends
    low = 0.0 if start is None or one.bound == UPPER else start
    high = inf if end is None or one.bound == LOWER else end
    if least <= low and most >= high:
        return one
    bottom, top = max(low, least), min(high, most)
    if name in COUNTED:
        bottom, top = next_whole(bottom, LOWER), top if top == inf else next_whole(top, UPPER)
    if bottom > top * (1 + HOLDS) or top < least:
        return None
    if bottom == top:
        return Answer(kind="point", value=top)
    return Answer(kind="interval", low=bottom, high=None if top == inf else top)


def _answered(ask: _Ask, name: str, given: Mapping[str, Any], end: End | None, at_once: bool) -> Solution:
    """The answer at the end of a size that is known by now: of a limit at once, and else where there is none without it but by default."""
    if end is None:
        return ask(name, given)
    if not at_once:
        solution = ask(name, given)
        # A size that is asked for is not what it is by default.
        if (solution.answers or solution.sweep) and solution.provenance.get(end.size) != "default":
            return solution
        again = answered_at(ask, name, given, end)
        return again if again.answers else solution
    return answered_at(ask, name, given, end)


def answered_at(ask: _Ask, name: str, given: Mapping[str, Any], end: End) -> Solution:
    """The answer with a size at its best end, which is said where it rests on that."""
    solution = ask(name, with_other(given, {end.size: end.value}))
    if end.size not in solution.given and solution.answers:
        return replace(solution, unused=tuple(one for one in solution.unused if one != end.size))
    reason = solution.reason and replace(solution.reason, message=f"{end.told}: {solution.why_not}")
    provenance = {**solution.provenance, **({end.size: end.told} if end.size in solution.provenance else {})}
    unused = tuple(one for one in solution.unused if one not in end.by)
    limited = limits(given)[1]
    said = (end.told, *(end.met(text, limited) for text in solution.said))
    return _with_its_size(replace(solution, provenance=provenance, said=said, reason=reason, unused=unused), end)


def best_end(solution: Solution) -> End | None:
    """The better end of a size of which only bounds are known: the fewest whole ones of what is bought, the most of all else."""
    if solution.sweep or len(solution.answers) != 1:
        return None
    (one,), name = solution.answers, solution.unknown
    side = LOWER if name in BOUGHT else UPPER
    if solution.spans and one.bound != side:
        return None
    low, high = one.ends if one.kind in ("point", "interval") else (None, None)
    # Over ranges each point has an end of its own: the worst of them does at all.
    value = low if (side == LOWER) != bool(solution.spans) else high
    if over_bounds := one.kind == "interval" and (one.loose_low, one.loose_high) != (None, None):
        value = one.low if side == LOWER else one.high
    if value is None or (one.kind == "point" and one.bound != side):
        return None
    value = next_whole(value, side) if name in COUNTED else value
    if value <= 0:
        return None
    return End(size=name, value=value, of=solution, throughout=over_bounds or bool(solution.spans))


def _unanswered(name: str, reason: Reason, beside: Solution) -> Solution:
    return replace(beside, unknown=name, unit=QUANTITIES[name].unit, answers=(), route=(), said=(), reason=reason)
