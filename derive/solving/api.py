"""Any question, its givens single values, ranges, lists or sweeps."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Protocol

from derive.catalogue import equation, rules_among
from derive.errors import UnknownName, WrongValue, shorten
from derive.presets import LESS_IS_MORE, PARAMETERS
from derive.quantities import meant_beside, quantity, says_tensor_parallel
from derive.quantities.aliases import BESIDE, BESIDE_TRAINING, WHERE_ASKED, in_full
from derive.solving.answering import answer, reads_alone, weights_alone
from derive.solving.at_best import all_of, at_full_batch, at_largest_batch, full_batch, lacks_its_batch_alone, within_own_limits
from derive.solving.budgets import over_a_time
from derive.solving.by_rule import answered_by_rules
from derive.solving.conventions import USUAL_CONVENTIONS, Conventions
from derive.solving.fit import batch_is_left_to_a_rate
from derive.solving.fleets import (
    TAKEN_AS_OF_ALL,
    batch_that_does_not_fit,
    chips_meant,
    is_of_whole_replicas,
    names_beside,
    of_all_replicas,
    of_whole_replicas,
    with_what_is_paid,
)
from derive.solving.givens import spread
from derive.solving.limits import FREE, SIZED, is_limit, limited, limits, not_made_of, one_by_one, rests_on_unknown
from derive.solving.meant_instead import as_is_meant
from derive.solving.prompts import beside_prompts, unwritten
from derive.solving.propagation import leading_to
from derive.solving.questions import (
    IN_BF16,
    Question,
    as_dense,
    asked_for,
    copies_by_name,
    in_usual_types,
    of_one_sequence,
    posed,
    question,
    taken_as_known,
    with_other_stand_ins,
    without,
)
from derive.solving.refusals import by_equations, made_of, missing_givens
from derive.solving.result import Reason, Solution
from derive.solving.symbolic import is_symbolic, symbolic
from derive.solving.waiting_hours import with_waiting_paid
from derive.solving.whole_numbers import in_whole_ones
from derive.solving.without_part import refuse_named_for_nothing, refuse_without_part
from derive.solving.zero_givens import at_nothing
from derive.spreads import Interval, Series, Spread
from derive.units import data_type_named, of_word, word_of_type


class Expression(Protocol):
    """What SymPy's expressions have: the symbols in them."""

    @property
    def free_symbols(self) -> Any:
        """The symbols of an expression."""


Given = float | str | Collection[float] | Collection[str] | Collection[float | str] | Expression
"""A value in SI or as text, many of them (a list, a tuple, an array of numpy), or an expression of SymPy."""


def solve(
    unknown: str,
    *,
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    count: str = "flop",
    bytes: str = "decimal",
    efficiency: str = "ideal",
    price: str = "given",
    tier: str = "",
    anyway: bool = False,
    strict: bool = False,
    given: Mapping[str, Given] | None = None,
    **values: Given,
) -> Solution:
    """Any quantity from what is given, through as many equations as it takes, forwards or backwards.

    Values are SI numbers or text as typed on the command line, ranges ("80B..120B", "0.4±0.1"), lists, sweeps
    ("1..4096:log") and limits ("<=30ms") included; symbols of SymPy make the answer a formula. They are keywords, or a mapping by
    name as `given`. `variants` picks the equation of a group that is not the default, as {"overlap": "sum"};
    `using` joins conditions, heuristics and variants by id; `count`, `bytes` and `efficiency` are conventions, `price` is
    "rent" for the rent of the chip in the table, `tier` names a storage tier or a device of memory_tiers.csv, and
    `anyway` answers where memory is short. Where definitions and bounds lead to no answer, a reading of prices or a rule of thumb
    gives it, and `basis` says so, unless `using` names one or the question is `strict`.
    The answers are points, intervals, or none with a reason; `sweep` holds those
    of a list or sweep, `spans` what a range comes to. Raises `UnknownName`, `WrongUnit` or `WrongValue` for what cannot
    be read.

    >>> solution = solve("balance_batch", machine_balance_ratio=300, sparsity=8)
    >>> solution.value, solution.equations
    (2400.0, ('batching.balance_batch@1',))
    >>> from derive import symbols
    >>> solve("balance_batch", machine_balance_ratio=symbols.machine_balance_ratio, sparsity=8).answers[0].expr
    8*machine_balance_ratio
    >>> solve("kv_bytes_per_token", using=["readings.threshold_is_crossover"], active_params="100B",
    ...       bytes_per_weight=1, machine_balance_ratio=300, long_context_threshold="200k").value
    1666.6666666666667
    >>> spans = solve("balance_batch", machine_balance_ratio="280..320", sparsity=8).spans
    >>> spans.method, spans.low, spans.high
    ('bounds', 2240.0, 2560.0)
    """
    if not isinstance(unknown, str):
        raise WrongValue(f"one quantity is asked for, by its name as text, not {shorten(repr(unknown))}")
    if given and (twice := given.keys() & values.keys()):
        raise WrongValue(f"{min(twice)} is given twice: leave one of the two out")
    _refuse_misspelt(values)
    values = {**(given or {}), **values}
    conventions = Conventions(
        count=count, bytes=bytes, efficiency=efficiency, price=price, tier=tier, tensor_parallel=says_tensor_parallel(values),
        dtype="".join(data_type_named([word], value) for word, value in values.items()),
    )  # fmt: skip
    typed = [(word_of_type(spelled, value), of_word(spelled, value)) for spelled, value in values.items()]
    using = (using,) if isinstance(using, str) else tuple(using)
    word = unknown
    unknown, *names = _as_beside((unknown, *(name for name, _ in typed)), unwritten(using, variants or {}, hardware, model))
    if len({*names}) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise WrongValue(f"{again} is given twice: leave one of the two out")
    named = over_a_time((word,), dict(zip(names, (value for _, value in typed), strict=True)))
    solution = respond(unknown, named, hardware, model, using, variants, conventions, anyway)
    refuse_named_for_nothing((solution,), using, named)
    return by_any_rule(solution, named, hardware, model, using, variants, conventions, anyway, strict=strict)


def by_any_rule(
    solution: Solution,
    given: Mapping[str, Given],
    hardware: str | Iterable[str] | None,
    model: str | Iterable[str] | None,
    using: Collection[str],
    variants: Mapping[str, str] | None,
    conventions: Conventions,
    anyway: bool,
    zipped: bool = False,
    strict: bool = False,
    alone: bool = True,
) -> Solution:
    """The answer, or in place of a refusal what a reading, a condition or a rule of thumb gives, unless one is named or none wanted."""
    if strict and (named := rules_among(using)):
        raise WrongValue(f"strict leaves out {named[0].id}, which is a {named[0].kind}: leave one of the two out")
    reason, unknown = solution.reason, solution.unknown
    if strict or using or not reason or reason.code != "missing_givens" or any(map(is_symbolic, given.values())):
        return solution

    def ask(rule: str) -> Solution:
        return respond(unknown, given, hardware, model, (rule,), variants, conventions, anyway, zipped)

    plain, spans = _apart(limits(given)[0], conventions)
    asked = question(unknown, plain, hardware, model, using, variants, conventions, anyway, spans)
    return answered_by_rules(asked, reason.missing, ask, alone) or solution


def _refuse_misspelt(names: Iterable[str]) -> None:
    """Refuses a keyword that is no quantity and nearly one of the switches, which Python takes for the name of a value."""
    for name in names:
        if near := get_close_matches(name, solve.__kwdefaults__ or (), cutoff=0.75):
            try:
                quantity(name)
            except UnknownName:
                raise UnknownName("keyword", name, near) from None


def _as_beside(names: Sequence[str], beside: Sequence[str]) -> list[str]:
    """Names as they were called, but words that mean another thing beside some of the others."""
    settled = {*BESIDE_TRAINING, *BESIDE, *WHERE_ASKED}
    return [meant_beside(name, (*names, *beside), names[:1]) if in_full(name) in settled else name for name in names]


def respond(
    unknown: str,
    given: Mapping[str, Given],
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    conventions: Conventions = USUAL_CONVENTIONS,
    anyway: bool = False,
    zipped: bool = False,
    beside: Collection[str] = (),
) -> Solution:
    """`solve` as the command line has it: what is given by name, the switches as a record, lists all with all or zipped.

    What is asked for `beside` it is no other word for what is asked for here.
    """
    using = (using,) if isinstance(using, str) else tuple(using)
    unknown = chips_meant(unknown, names_beside(given, hardware))
    taken = of_all_replicas([unknown], given)
    names = names_beside(taken, hardware)

    def anew(name: str, values: Mapping[str, Given], conventions: Conventions = conventions) -> Solution:
        return respond(name, values, hardware, model, using, variants, conventions, anyway, zipped)

    def at_no_other_price(name: str, values: Mapping[str, Given]) -> Solution:
        return anew(name, values, replace(conventions, price=USUAL_CONVENTIONS.price))

    def by(named: tuple[str, ...], given: Mapping[str, Given]) -> Solution:
        def ask(name: str, values: Mapping[str, Given], bounds_inputs: bool = False) -> Solution:
            return _respond(name, values, hardware, model, named, variants, conventions, anyway, zipped, bounds_inputs)

        return within_own_limits(ask, asked_for(unknown, named), given, conventions.read, zipped)

    if short := batch_that_does_not_fit(anew, unknown, taken, names):
        solution = short
    elif batch := full_batch(anew, [unknown], taken, names):
        solution = at_full_batch(anew, unknown, taken, batch)
    elif is_of_whole_replicas(unknown, taken, names):
        solution = of_whole_replicas(anew, unknown, taken)
    else:
        solution = beside_prompts(by, taken, using, variants or {})
        if lacks_its_batch_alone(solution):
            solution = at_largest_batch(anew, unknown, taken) or solution
    if solution.reason and solution.reason.code == "missing_givens" and not any(map(is_symbolic, given.values())):

        def pose(values: Mapping[str, Given]) -> Question:
            plain, spans = _apart(limits(values)[0], conventions)
            asked = question(asked_for(unknown, using), plain, hardware, model, using, variants, conventions, anyway, spans)
            return _supposed(asked, (*IN_BF16, *PARAMETERS), spans) or asked

        shorter = _without_one_given(solution, lambda values: beside_prompts(by, values, using, variants or {}), taken, pose)
        solution = next(shorter, solution)
    solution = with_what_is_paid(as_is_meant(solution, given, bool(hardware or model), anew, beside), anew, given, names)
    solution = with_waiting_paid(solution, given, anew, at_no_other_price)
    return _warned(solution) if taken is not given else solution


def respond_all(
    unknowns: Sequence[str],
    given: Mapping[str, Given],
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    conventions: Conventions = USUAL_CONVENTIONS,
    anyway: bool = False,
    zipped: bool = False,
    strict: bool = False,
) -> tuple[Solution, ...]:
    """`solve` for several questions: a size that is asked for comes first, and the others are answered at its best end.

    Raises `WrongValue` for a list or sweep that has no part in any of the answers.
    """
    using = (using,) if isinstance(using, str) else tuple(using)
    unknowns = tuple(dict.fromkeys(asked_for(chips_meant(name, names_beside(given, hardware)), using) for name in unknowns))

    def ask(name: str, values: Mapping[str, Given]) -> Solution:
        return respond(name, values, hardware, model, using, variants, conventions, anyway, zipped, unknowns)

    def by_rules(one: Solution) -> Solution:
        return by_any_rule(one, given, hardware, model, using, variants, conventions, anyway, zipped, strict, len(unknowns) == 1)

    if len(unknowns) == 1:
        alone = by_rules(respond(unknowns[0], given, hardware, model, using, variants, conventions, anyway, zipped))
        refuse_without_part((alone,), given)
        refuse_named_for_nothing((alone,), using, given)
        return (alone,)
    taken = of_all_replicas(unknowns, given)
    batch = full_batch(ask, unknowns, taken, names_beside(taken, hardware))
    found = (at_full_batch(ask, name, taken, batch) for name in unknowns) if batch else all_of(ask, unknowns, taken)
    solutions = tuple(map(by_rules, found))
    refuse_without_part(solutions, taken)
    refuse_named_for_nothing(solutions, using, taken)
    return tuple(map(_warned, solutions)) if taken is not given else solutions


def _warned(solution: Solution) -> Solution:
    """An answer for which a rate of requests was taken as that of all replicas."""
    return replace(solution, warnings=(TAKEN_AS_OF_ALL, *solution.warnings), kinds=(of_all_replicas.__name__, *solution.kinds))


def may_have_answer(
    unknown: str,
    given: Mapping[str, Given],
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    conventions: Conventions = USUAL_CONVENTIONS,
    anyway: bool = False,
) -> bool:
    """Whether equations lead to a quantity from what is given and usual, or an inequality speaks of it: seen without solving any.

    >>> served = {"chips": 8, "batch": 32, "context_length": "4k"}, "H100-SXM:fp8", "Llama-3.1-70B"
    >>> may_have_answer("step_time", *served), may_have_answer("cost_per_token", *served)
    (True, False)
    """
    name = asked_for(unknown, using)
    plain, spans = _apart(limits(given)[0], conventions)
    asked = question(name, plain, hardware, model, using, variants, conventions, anyway, spans)
    rows = (*asked.bounds, *(row for row in asked.active if row.sense != "="))
    usual = _supposed(asked, (*IN_BF16, *PARAMETERS), spans) or asked
    return by_equations(usual) or any(asked.unknown in row.symbols for row in rows)


def _without_one_given(
    refused: Solution, ask: Callable[[Mapping[str, Given]], Solution], given: Mapping[str, Given], pose: Callable[..., Question]
) -> Iterator[Solution]:
    """Answers without one of the givens, where none that is left aside is a limit or speaks of the unknown, a default or a variant."""
    whole = pose(given)
    for spelled in (spelled for spelled, value in given.items() if len(given) > 1 and not is_limit(value)):
        name, fewer = quantity(spelled).name, {other: value for other, value in given.items() if other != spelled}
        asked = pose(fewer)
        if asked.variants != whole.variants or not asked.known.items() <= whole.known.items() or not by_equations(asked):
            # A preset or a supposition in its place is another question.
            continue
        found = ask(fewer)
        taken = asked.defaults.keys() & {symbol for id in found.equations for symbol in equation(id.split("@")[0]).symbols}
        speaking = {result for one in (whole.unknown, *taken) for result in made_of(whole, one)}
        if found.answers and taken <= whole.defaults.keys() and speaking.isdisjoint((name, *found.unused)):
            told = f"{name} is not used: with it, {refused.why_not.splitlines()[0]}"
            yield replace(found, unused=(*found.unused, name), warnings=(told, *found.warnings), kinds=("not used", *found.kinds))


def _apart(given: Mapping[str, Any], conventions: Conventions) -> tuple[dict[str, Any], dict[str, Spread]]:
    """Single values as they were called, and by registry name what stands for many: ranges, lists and sweeps."""
    found = ((spelled, spread(quantity(spelled).name, value, conventions.read)) for spelled, value in given.items())
    spreads = {spelled: one for spelled, one in found if one}
    plain = {spelled: value for spelled, value in given.items() if spelled not in spreads}
    return plain, {quantity(spelled).name: one for spelled, one in spreads.items()}


def _respond(
    unknown: str,
    given: Mapping[str, Given],
    hardware: str | Iterable[str] | None,
    model: str | Iterable[str] | None,
    using: Iterable[str],
    variants: Mapping[str, str] | None,
    conventions: Conventions,
    anyway: bool,
    zipped: bool,
    bounds_inputs: bool = False,
) -> Solution:
    """Return the answer to the question as it is asked; limits on inputs bound it where `bounds_inputs`."""
    whole = given
    formulas = {quantity(spelled).name: value for spelled, value in given.items() if is_symbolic(value)}
    given, sides = limits({spelled: value for spelled, value in given.items() if not is_symbolic(value)})
    plain, spans = _apart(given, conventions)
    asked = limited(question(unknown, plain, hardware, model, using, variants, conventions, anyway, spans), sides, bounds_inputs)
    if formulas:
        if spans or sides:
            raise WrongValue(f"{min({**spans, **sides})} is a range, a list or a limit: beside symbols each given is one number")
        return symbolic(asked, formulas)
    if asked.limits and not spans and _takes_a_batch(asked):
        if asked.unknown == "chips" and (sized := _with_fewest_chips(asked)):
            return sized
        if asked.unknown not in SIZED and not any(rests_on_unknown(alone) for alone in one_by_one(asked)):
            raise not_made_of(one_by_one(asked)[0])
    asked = _with_what_is_usual(asked, spans) or asked
    solution = _over_what_is_sustained(asked, spans, zipped)
    missing = _lacking(asked, solution)
    if solution.reason and "batch" in missing and "batch" in at_nothing(given):
        raise WrongValue(f"batch = 0: a batch is one sequence at least, and {asked.unknown} is of a pass")
    supposed = _supposed(asked, missing, spans) if missing else None
    again = _over_what_is_sustained(supposed, spans, zipped) if supposed else solution
    if supposed and (solution.answers or solution.sweep) and not (by_equations(supposed) or len(again.unused) < len(solution.unused)):
        # What is supposed leaves no less of it.
        supposed, again = None, solution
    if missing and not (again.answers or again.sweep) and (filled := _with_stages_filled(supposed or asked)):
        found = _over_what_is_sustained(filled, spans, zipped)
        again = again if found.reason and found.reason.code == "missing_givens" else found
    if missing and not (again.answers or again.sweep) and not spans:
        again = weights_alone(supposed or asked) or reads_alone(supposed or asked, again) or again
    sizes = asked.unknown in ("chips", FREE) or batch_is_left_to_a_rate(asked)
    if sizes and not (again.answers or again.sweep) and not spans and again.reason:
        from derive.solving.sizing import fewest_chips, with_enough_chips

        # What is short of memory for one target lacks nothing, and what another takes may be lacking.
        usual = supposed or in_usual_types(asked, IN_BF16.keys() - asked.known.keys()) or asked
        sized = fewest_chips(usual, again.reason)
        again = _with_ends(usual, sized, again.reason) if sized else with_enough_chips(usual, again)
    if (solution.answers or solution.sweep) and not (again.answers or again.sweep) and again.refusal.code == "missing_givens":
        again = solution
    if not (again.answers or again.sweep) and "chips" not in spans and (copied := copies_by_name(asked)):
        # Memory alone says how large a batch is by equations that take copies as they are.
        row, copies = copied
        others = [id for id in using if id != row.id]
        found = _respond(unknown, {**whole, "kv_replication": copies}, hardware, model, others, variants, conventions, anyway, zipped)
        joined = f"{row.id} is a {row.kind}, joined by name"
        return replace(found, assumptions=(joined, *found.assumptions)) if found.answers or found.sweep else again
    if again.reason and not (again.answers or again.sweep):
        posed_again = ((_with_what_is_usual(one, spans) or one) for one in with_other_stand_ins(supposed or asked, again.reason.code))
        again = next((found for found in (_over_what_is_sustained(one, spans, zipped) for one in posed_again) if found.answers), again)
    if not asked.limits:
        return again
    return in_whole_ones(supposed or asked, again)


def _with_stages_filled(asked: Question) -> Question | None:
    """The question of stages with as many microbatches on their way as there are, where nobody says how many; None for any other."""
    if asked.unknown != "pipeline_stages" or "microbatches" in asked.known:
        return None
    return posed(asked, asked.unknown, asked.known, {"microbatches": "pipeline_stages"})


def _takes_a_batch(asked: Question) -> bool:
    """Whether equations lead to what is asked for once a batch is known, and not before."""
    alone = asked if asked.unknown in SIZED else without(asked, {*asked.limits})
    supposed = {**dict.fromkeys(IN_BF16, 1.0), **alone.known}
    ways = (posed(alone, asked.unknown, {**supposed, **more}) for more in ({}, {FREE: 1.0}))
    return FREE not in asked.known and [by_equations(way) for way in ways] == [False, True]


def _with_fewest_chips(asked: Question) -> Solution | None:
    """The fewest chips for targets that a batch is lacking for; None where that is no such question."""
    from derive.solving.sizing import fewest_chips

    usual = in_usual_types(asked, IN_BF16.keys() - asked.known.keys()) or asked
    refused = Reason(code="missing_givens", missing=(FREE,), message=f"{asked.unknown} needs also {FREE}")
    found = fewest_chips(usual, refused)
    return in_whole_ones(usual, _with_ends(usual, found, refused)) if found else None


def _with_ends(asked: Question, found: Solution, refused: Reason) -> Solution:
    """The fewest chips, with how many they are where as much is sustained as in any published run, and where as little is."""
    used = {name: one for name, one in asked.ranges.items() if name in found.given}
    if not found.answers or not used:
        return found
    from derive.solving.sizing import fewest_chips

    most = {name: one.low if name in LESS_IS_MORE else one.high for name, one in used.items()}
    least = {name: one.high if name in LESS_IS_MORE else one.low for name, one in used.items()}
    ends = [fewest_chips(replace(asked, known={**asked.known, **end}), refused) for end in (most, least)]
    chips = [f"{one.answers[0].ends[0]:.0f}" if one and one.answers else "none" for one in ends]
    told = f"with what published runs sustained: {asked.unknown} = {' to '.join(dict.fromkeys(chips))}"
    rests = f"{', '.join(used)}: the middle of published runs{asked.record and f'; {asked.record}'}"
    return replace(found, said=(*found.said, told), assumptions=(rests, *found.assumptions))


def _with_what_is_usual(asked: Question, spans: Mapping[str, Spread]) -> Question | None:
    """The question with as little of what is usual of it as equations need to lead to what is asked for; None where they need none."""
    lacking = [name for name in (*IN_BF16, *PARAMETERS) if name not in asked.known]
    if not lacking or by_equations(asked):
        return None
    ways = (_supposed(asked, names, spans) for names in (*((name,) for name in lacking), lacking))
    return next((way for way in ways if way and by_equations(way)), None)


def _lacking(asked: Question, solution: Solution) -> Collection[str]:
    """What a refusal says is missing; where inequalities alone lead to what is asked for, and only bound it, what equations would need."""
    if solution.reason and solution.reason.code == "missing_givens":
        return solution.reason.missing
    if asked.limits or by_equations(asked):
        return ()
    return missing_givens(asked, [*taken_as_known(asked)][-1]).missing


def _supposed(asked: Question, missing: Collection[str], spans: Mapping[str, Spread]) -> Question | None:
    """The question with what is usual of what it lacks: numbers in bf16, one sequence, and a dense model; None where none is lacking."""
    one = of_one_sequence(asked, missing)
    usual = in_usual_types(one or asked, missing) or one
    dense = None if {*spans} & {*PARAMETERS} else as_dense(usual or asked, missing)
    return dense or usual


def _over_what_is_sustained(asked: Question, spans: Mapping[str, Spread], zipped: bool) -> Solution:
    """The answer, over the ranges of presets too where it rests on them: those are said with how often such ranges held.

    So does one of limits of which another binds: at an end of these ranges the one that rests on them may.
    """
    solution = _at(asked, spans, zipped)
    behind = {name for row in leading_to((*asked.limits,), asked.active) for name in row.inputs}
    used = {name: found for name, found in asked.ranges.items() if name in solution.given or name in behind}
    if not used:
        return solution
    told = f"{', '.join(used)}: from the least to the most of published runs{asked.record and f'; {asked.record}'}"
    over = _at(replace(asked, notes=(*asked.notes, told)), {**spans, **used}, zipped)
    if over.spans and over.spans.low == over.spans.high:
        return replace(solution, assumptions=(f"the same all over {told}", *solution.assumptions))
    return over if over.answers or over.sweep else solution


def _at(asked: Question, spans: Mapping[str, Spread], zipped: bool) -> Solution:
    """The answer at one point, over ranges, or point by point."""
    intervals = {name: found for name, found in spans.items() if isinstance(found, Interval)}
    series = {name: found for name, found in spans.items() if isinstance(found, Series)}
    if series:
        from derive.solving.sweeps import swept

        return swept(asked, series, intervals, zipped)
    if intervals:
        from derive.solving.intervals import spanned

        return spanned(asked, intervals)
    return answer(asked)
