"""Questions on all replicas: a rate of requests is the rate of all of them.

Replicas are whole numbers, and the chips of one divide its attention heads.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from derive.answers import Part, next_whole
from derive.catalogue import by_id, equation
from derive.errors import WrongValue
from derive.layouts import LAID_OUT, USUAL_LAYOUTS
from derive.preset_record import OF_MIXTURES, names_count
from derive.quantities import quantity
from derive.records import LOWER, UPPER
from derive.roles import Batch, Memory, Prompts, Replica, Tokens, Waiting, undivided_heads
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.checks.targets import find_targets
from derive.solving.deployments.prompts import given_with_prompts
from derive.solving.engine.directions import rated_quantities
from derive.solving.limits.best_size import Ask, End, add_size, refuse_in_place
from derive.solving.limits.limits import add_limits
from derive.solving.one_question import suppose_usual
from derive.solving.question.conventions import Switches, variant_of_prompts
from derive.solving.question.givens import is_limit, read_limits
from derive.solving.question.propagation import results_of
from derive.solving.question.questions import Question, pose_question
from derive.solving.result import Reason, Solution
from derive.units import show

if TYPE_CHECKING:
    from derive.solving.limits.sizing import Replicas


_T = TypeVar("_T")


class Deployment(NamedTuple):
    """A deployment in words: its chips and replicas, what limits them, and their sensitivities. The parts are its replicas as data."""

    text: str
    limits: str
    moves: tuple[str, ...]
    parts: tuple[Part, ...]

    def amounts(self, name: str, of_a_chip: float) -> str:
        """Return a quantity of each part as text: its replicas, or what is bought for all its chips."""
        counts = (one.replicas * (1 if name == Replica.number else of_a_chip * one.chips_per_replica) for one in self.parts)
        return " + ".join(show(name, count) for count in counts)

    @property
    def sizes(self) -> str:
        """Return the chips of one replica of each part as text."""
        return " and ".join(f"{one.chips_per_replica:.0f}" for one in self.parts)


TOGETHER = "prefill and decode together"
"""The phase of replicas that do both."""
_MOST_MOVES, _LEAST_MOVE = 6, 0.05
"""Largest number of sensitivities, and the smallest one, that are shown."""

TAKEN_AS_OF_ALL = f"{Replica.rate} is assumed to be for all replicas together: {Replica.rate_of_all}"


def rates_of_all(unknowns: Iterable[str], given: Mapping[str, _T]) -> Mapping[str, _T]:
    """Return the givens with a rate of requests as the rate of all replicas, if it determines or shares the number of replicas.

    >>> rates_of_all(["replicas"], {"requests_per_second": 50, "batch": 64})
    {'fleet_requests_per_second': 50, 'batch': 64}
    >>> rates_of_all(["replicas"], {"requests_per_second": 5, "fleet_throughput": "1M token/s"})
    {'requests_per_second': 5, 'fleet_throughput': '1M token/s'}
    """
    if not given.keys().isdisjoint((Replica.number, Replica.all_chips)):
        meant = results_of(Replica.number).isdisjoint(unknowns)
    else:
        meant = not {*unknowns}.isdisjoint((Replica.number, *Replica.bought))
    return _rate_as_of_all(given) if meant else given


def _rate_as_of_all(given: Mapping[str, _T]) -> Mapping[str, _T]:
    """Return the givens with a rate of requests as the rate of all replicas, unless another rate or cost of all replicas is given."""
    if Replica.rate not in given or not given.keys().isdisjoint(results_of(Replica.number) - {Replica.all_chips}):
        return given
    return {Replica.rate_of_all if name == Replica.rate else name: value for name, value in given.items()}


def names_beside(given: Iterable[str], hardware: str | Iterable[str] | None) -> frozenset[str]:
    """Return the names of the givens, with the chips of a replica if they are named with a count.

    >>> sorted(names_beside(["requests_per_second"], "8xH100:fp8"))
    ['chips', 'requests_per_second']
    """
    chips = (hardware,) if isinstance(hardware, str) else hardware or ()
    return frozenset((*given, *((Replica.chips,) if any(map(names_count, chips)) else ())))


def chips_meant(unknown: str, names: Set[str]) -> str:
    """Return the unknown. Beside the chips of one replica and the number of replicas or a rate of all, chips means all chips.

    >>> chips_meant("chips", {"fleet_throughput", "chips"}), chips_meant("chips", {"fleet_throughput", "batch"})
    ('fleet_chips', 'chips')
    """
    both = unknown == Replica.chips and Replica.chips in names
    return Replica.all_chips if both and not names.isdisjoint((Replica.number, *Replica.sized_by)) else unknown


def warn_of_budget(solution: Solution, ask: Ask, given: Mapping[str, Any], beside: Set[str]) -> Solution:
    """Return an answer for one chip or replica by default, with how many a limit on the cost of all pays."""
    within = [name for name, value in given.items() if name in Replica.bought and is_limit(value)]
    counted = {Replica.number, Replica.all_chips, Replica.chips}
    if len(within) != 1 or solution.unknown in counted or Replica.number in {*beside, *solution.given} or Replica.all_chips in beside:
        return solution
    of_one = Replica.chips not in beside and solution.provenance.get(Replica.chips, "default") == "default"
    told = {name: value for name, value in given.items() if name in (*within, *paid_with(within[0]))}
    found = ask(Replica.all_chips if of_one else Replica.number, told)
    if [one.bound for one in found.answers] != [UPPER] or not found.answers[0].value or found.value <= 1:
        return solution
    one, more = ("one chip, because none is given", Replica.chips) if of_one else ("one replica, because none is given", Replica.number)
    pays = f"this is for {one}: the limit on {within[0]} pays for {found.value:.0f}, give {more}={found.value:.0f}"
    if solution.reason is None:
        return solution.warn(warn_of_budget.__name__, pays)
    return replace(solution, reason=replace(solution.reason, message=f"{solution.why_not}\n{pays}"))


def is_of_whole_replicas(unknown: str, given: Mapping[str, Any], names: Set[str]) -> bool:
    """Return whether a result of all replicas needs their number as a whole number, which is not given.

    The number is the fewest replicas that a rate needs, or the most that a limit or a budget allows.

    >>> is_of_whole_replicas("fleet_chips", {"chips": 8}, {"fleet_requests_per_second", "chips"})
    True
    >>> is_of_whole_replicas("fleet_throughput", {"fleet_power": "<=5MW"}, {"fleet_power"})
    True
    """
    results = results_of(Replica.number)
    if Replica.number in names or unknown not in results:
        return False
    if unknown in Replica.bought:
        return not names.isdisjoint(Replica.sized_by) or (Replica.chips in names and not names.isdisjoint(Replica.bought))
    limited = {name for name, value in given.items() if is_limit(value)}
    return not names.isdisjoint(Replica.bought) or not limited.isdisjoint(results)


def answer_for_replicas(ask: Ask, name: str, given: Mapping[str, Any]) -> Solution:
    """Return the result of the whole replicas that a rate needs or a budget pays."""
    sized = ask(Replica.number, given)
    if sized.reason:
        return refuse_in_place(name, sized.reason, sized)
    one, *others = sized.answers
    by_a_rate = name in Replica.bought and not given.keys().isdisjoint(Replica.sized_by)
    side = LOWER if by_a_rate or one.bound == LOWER or one.ends[1] is None else UPPER
    if others:
        raise WrongValue(f"{name} is of one number of {Replica.number}, and here it is several: ask for {Replica.number}")
    count = max(next_whole(one.ends[side == UPPER] or 0.0, side), side == LOWER)
    if count < 1:
        budgets = " and ".join(name for name in given if name in Replica.bought)
        short = f"no whole replica: {budgets} pays {show(Replica.number, one.ends[1] or 0.0)} of one"
        return refuse_in_place(name, Reason(code="no_solution", message=short), sized)
    found = _answer_for_count(ask, name, given, count)
    if not found.answers:
        return found
    end = End(size=Replica.number, value=count, of=sized, side=side)
    both = sized.with_prompts and name in Replica.bought and sized.with_prompts.ends[side == UPPER]
    more = _with_replicas(_answer_for_count(ask, name, given, next_whole(both, side)), end, given) if both else None
    return replace(_with_replicas(found, end, given), with_prompts=more.answers[0] if more else found.with_prompts)


def _answer_for_count(ask: Ask, name: str, given: Mapping[str, Any], replicas: float) -> Solution:
    """Return the result of a number of replicas: by price alone if replicas are bought for it, else by all givens within the budgets."""
    if name not in Replica.bought:
        within = {bought: f"<={value}" for bought, value in given.items() if bought in Replica.bought and not is_limit(value)}
        return ask(name, {**given, **within, Replica.number: replicas})
    paid = {other: value for other, value in given.items() if other in paid_with(name)}
    waits = not paid.keys().isdisjoint(Replica.prices)
    return ask(name, {**paid, **({Replica.used_share: 1.0} if waits else {}), Replica.number: replicas})


def _with_replicas(found: Solution, end: End, given: Mapping[str, Any]) -> Solution:
    """Return the result of whole replicas, with all that their number rests on. A value that a table has as rated gives no bound."""
    sized, merged = end.of, add_size(found, end)
    one = sized.answers[0]
    bound = None if rated_quantities(found.provenance) else one.bound if one.kind == "point" else end.side
    which = "fewest whole ones" if end.side == LOWER else f"most whole ones within {_limits_in_words(given)}"
    told = f"at {end.size} = {end.value:.0f}, the {which}"
    base = sized if found.unknown in Replica.bought else found
    return replace(
        merged,
        answers=tuple(replace(each, regime=one.regime or each.regime, bound=bound or each.bound) for each in merged.answers),
        unused=tuple(name for name in sized.unused if name not in found.given),
        provenance={**merged.provenance, Replica.number: told},
        said=(told, *base.said),
    )


def _limits_in_words(given: Mapping[str, Any]) -> str:
    """Return the budgets and limits on results of all replicas in words."""
    within = {name: value for name, value in given.items() if name in results_of(Replica.number)}
    texts = {name: value if is_limit(value) else f"={value}" for name, value in within.items() if is_limit(value) or name in Replica.bought}
    return " and ".join(f"{name}{text}" for name, text in texts.items())


@cache
def paid_with(name: str) -> frozenset[str]:
    """Return the inputs of a result of replicas and of the chip price that do not determine the number of replicas."""
    of_use = {Waiting.price, Replica.used_share}
    rows = (row for row in by_id().values() if row.defines in (Replica.all_chips, name) or of_use <= {*row.symbols})
    return frozenset(symbol for row in rows for symbol in row.symbols) - {*Replica.bought, Replica.number, Replica.used_share}


def lead_with(solution: Solution, found: Sequence[Deployment], given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return an answer that leads with these deployments, at least as many chips as of the first, or what is paid for them."""
    counted, first = solution.unknown in (Replica.chips, Replica.all_chips), solution.with_prompts or solution.answers[0]
    by_heads = switches.conventions.tensor_parallel and solution.unknown == Replica.chips
    of_a_chip = 1.0 if counted else (first.ends[0] or 0.0) / sum(one.replicas * one.chips_per_replica for one in found[0].parts)
    sign = ">=" if counted or first.bound == LOWER else "="
    amounts = [one.sizes if by_heads else one.amounts(solution.unknown, of_a_chip) for one in found]
    lead = (
        *(f"{solution.unknown} {sign} {amount}   {one.text}" for amount, one in zip(amounts, found, strict=True)),
        f"limited by {found[0].limits}",
        *(found[0].moves if counted else ()),
    )
    if Replica.rate in given:
        lead = tuple(text.replace(Replica.rate_of_all, Replica.rate) for text in lead)
    unused = tuple(name for name in solution.unused if name not in (Replica.number, Replica.used_share))
    return replace(solution, lead=lead, deployments=tuple(one.parts for one in found if counted), unused=unused)


def find_deployments(given: Mapping[str, Any], switches: Switches, size: float | None = None) -> list[Deployment]:
    """Return the deployments with the fewest chips: prefill and decode together, and on separate chips, or one if no prompts count."""
    asked, sizes = pose_limits(given, switches, size)
    if asked is None:
        return []
    rated = not asked.known.keys().isdisjoint({*Replica.sized_by} - {Replica.sequences})
    if not rated or Tokens.prompt not in asked.known:
        return [*filter(None, [_show_one_group(asked, sizes, "")])]
    named, groups = variant_of_prompts(switches.using, switches.variants), list[Deployment | None]()
    together = equation(Prompts.together)
    if (with_prompts := given_with_prompts(given)) and named in (None, together.variant and together.variant.name):
        both, _ = pose_limits(with_prompts, switches.join(*switches.using, together.id), size)
        groups.append(_show_one_group(both, sizes, TOGETHER) if both else None)
    if Replica.number not in given and not (named and groups):
        groups.append(_show_two_groups(asked, sizes) or _show_one_group(asked, sizes, "decode alone"))
    return [*filter(None, groups)]


def lay_out(given: Mapping[str, Any], switches: Switches) -> Switches:
    """Return the switches with the layout that engines use for a model, unless the question says how the model is laid out."""
    conventions = switches.conventions
    if not switches.model or conventions.layouts or conventions.tensor_parallel:
        return switches
    asked = pose_question(Replica.chips, given, switches)
    if not asked.published or not LAID_OUT.isdisjoint(asked.known):
        return switches
    usual = USUAL_LAYOUTS[dict(asked.variants).get(Memory.copies, "heads"), not asked.known.keys().isdisjoint(OF_MIXTURES)]
    return replace(switches, conventions=replace(conventions, layouts=usual))


def is_of_fleet(unknown: str, given: Mapping[str, Any], switches: Switches) -> bool:
    """Return whether a question is for a result of all replicas, or of money, and no given says how many chips there are."""
    counted = {Replica.chips, Replica.number, Replica.all_chips}
    of_all = is_paid(unknown) or unknown in (Replica.number, *results_of(Replica.number))
    said = [name for name, value in given.items() if not (name == Replica.all_chips and is_limit(value))]
    return of_all and counted.isdisjoint(names_beside(said, switches.hardware))


def is_paid(name: str) -> bool:
    """Return whether a quantity is paid or used for all chips: money, energy, or a result that they share."""
    unit = quantity(name).unit
    of_all = "USD" in unit or unit.startswith("J") or unit.endswith("/J")
    return name in Replica.paid or (of_all and name in results_of(Replica.chips))


def needs_several(solution: Solution, given: Mapping[str, Any]) -> bool:
    """Return whether the chips of one replica do not meet a rate that several may meet."""
    unmet = solution.is_refused_for("missing_givens", "no_solution", "contradiction", SHORT_OF_MEMORY)
    unmet = unmet or not {*Replica.sized_by}.isdisjoint(solution.unused)
    return solution.unknown == Replica.chips and Replica.chips not in given and unmet


def _show_one_group(asked: Question, sizes: Sequence[int], phase: str) -> Deployment | None:
    """Return the fewest chips of whole replicas as text, their limits and their sensitivities, or None if no replicas meet the targets."""
    from derive.solving.limits.sizing import fewest_of_replicas, moves_of_replicas

    if not (found := fewest_of_replicas(asked, sizes)):
        return None
    moves = sorted(moves_of_replicas(asked, found.part).items(), key=lambda one: -abs(one[1]))
    text = ", ".join(f"{name} {slope:+.2g} %" for name, slope in moves[:_MOST_MOVES] if abs(slope) >= _LEAST_MOVE)
    part = replace(found.part, phase=phase or found.part.phase)
    told = f"{part.replicas:.0f} replica{'s' * (part.replicas != 1)} of {_size_in_words(asked, part)}"
    told += f"{', ' * bool(phase)}{phase}, batch {_show_batches(part)}{_layout_in_words(asked)}"
    return Deployment(told, _show_limits(found), (f"+1 %: {text}",), (part,))


def _show_two_groups(asked: Question, sizes: Sequence[int]) -> Deployment | None:
    """Return the fewest chips of replicas for decode and of replicas for prompts, or None if either has none."""
    from derive.solving.limits.sizing import fewest_of_replicas, split_phases

    decode, prompts = split_phases(asked)
    first, second = fewest_of_replicas(decode, sizes), fewest_of_replicas(prompts, sizes, of_prompts=True)
    if not first or not second:
        return None
    parts = first.part, second.part
    each = [f"{one.replicas:.0f} of {_size_in_words(asked, one)}" for one in parts]
    text = f"decode and prefill on separate GPUs: {each[0]}, batch {_show_batches(first.part)}, and {each[1]}{_layout_in_words(asked)}"
    return Deployment(text, " and ".join(dict.fromkeys((_show_limits(first), _show_limits(second)))), (), parts)


def pose_limits(given: Mapping[str, Any], switches: Switches, size: float | None) -> tuple[Question | None, list[int]]:
    """Return the question with its targets as limits and the possible sizes of a replica, or no question if it sizes no deployment."""
    given = _rate_as_of_all(given)
    asked = pose_question(Replica.chips, given, switches)
    heads, domain = asked.known.get(Replica.heads), asked.known.get(Replica.domain, Replica.usual_domain)
    sized = not asked.known.keys().isdisjoint(Replica.sized_by) and asked.known.keys().isdisjoint(Batch.also)
    if not heads or not sized:
        return None, []
    try:
        limited = add_limits(suppose_usual(asked), read_limits(given)[1])
        sized_by = {name: LOWER for name in Replica.sized_by if name in limited.known}
        limited = replace(limited, limits={**sized_by, **find_targets(limited)})
    except WrongValue:
        return None, []
    return limited, [int(size)] if size else [tp for tp in range(1, int(min(heads, domain)) + 1) if not undivided_heads(tp, asked.known)]


def _show_limits(group: "Replicas") -> str:
    """Return what limits replicas. If it is memory, also the share of each part."""
    held = ", ".join(
        f"{label.removeprefix('a ').removesuffix(' of')} {100 * group.held.get(name, 0.0):.0f} %" for name, label in Memory.parts.items()
    )
    return " and ".join(f"memory: {held}" if name == Memory.room else name for name in group.limited_by)


def _size_in_words(asked: Question, group: Part) -> str:
    """Return the chips of a replica, which share all by tensor parallelism unless every chip computes attention of its own sequences."""
    return f"{group.chips_per_replica} chips" if _layout_in_words(asked) else f"tp={group.chips_per_replica}"


def _layout_in_words(asked: Question) -> str:
    """Return a layout behind a comma, or an empty text for tensor parallelism."""
    keys = asked.conventions.layouts
    return ", " + " ".join(f"{part}={name}" for part, name in keys) if ("attention", "dp") in keys else ""


def _show_batches(group: Part) -> str:
    low, high = group.batch
    return f"{low:.0f}-{high:.0f}" if low < high else f"{low:.0f}"
