"""Any question, its givens single values, ranges, lists or sweeps."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import SupportsFloat

from derive.catalogue import rules_among
from derive.errors import UnknownName, WrongValue, shorten
from derive.layouts import split_layout, word_beside
from derive.preset_record import SEVERAL
from derive.quantities import meant_beside, quantity, says_tensor_parallel
from derive.quantities.aliases import CHIP_WORDS, TENSOR_PARALLEL
from derive.roles import OF_DEPLOYMENTS, SIZE_OF_DEPLOYMENTS, SIZES_OF_DEPLOYMENTS, Batch, Replica
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.explain.refusals import nearest_givens
from derive.solving.one_question import answer_question, suppose_usual
from derive.solving.question.conventions import USUAL_SWITCHES, Conventions, Switches, implied_names
from derive.solving.question.givens import is_limit, is_symbolic, list_spreads, read_limits, split_money_rates
from derive.solving.question.questions import pose_question, resolve_price_word
from derive.solving.result import Answers, Solution
from derive.units import add_unit_to_value, data_type_named, join_values, word_of_type

Given = float | str | Collection[float] | Collection[str] | Collection[float | str] | SupportsFloat
"""A value in SI or as text, several of them (a list, a tuple, an array of numpy), or an expression of SymPy."""


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
    """Return any quantity that follows from the inputs, through any number of equations, forwards or backwards.

    Values are SI numbers, or text as on the command line: also ranges ("80B..120B", "0.4±0.1"), lists, sweeps ("1..4096:log") and limits
    ("<=30ms"). Symbols of SymPy make the answer a formula. Inputs are keywords, or a mapping by name as `given`. `variants` chooses another
    equation of a group than the default, as {"overlap": "sum"}. `using` joins conditions, heuristics and variants by id. `count`, `bytes`
    and `efficiency` are conventions. `price` is "rent" for the rent of the chip in the table. `tier` names a storage tier or a device of
    memory_tiers.csv. `anyway` answers although memory is short. If definitions and bounds lead to no answer, a reading of prices or a rule
    of thumb gives it, and `basis` says so, unless `using` names one or the question is `strict`.

    The answers are points or intervals, or there is a reason for no answer. `sweep` has the answers of a list or sweep, `spans` the result
    over ranges. Raises `UnknownName`, `WrongUnit` or `WrongValue` for inputs that cannot be read, and for a list that has no part in it.

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
        raise WrongValue(f"the unknown must be the name of one quantity, not {shorten(repr(unknown))}")
    _refuse_misspelt(values)
    layouts, pairs = split_layout((*(given or {}).items(), *values.items()))
    unknown = word_beside(layouts, unknown)
    conventions = Conventions(
        count=count, bytes=bytes, efficiency=efficiency, price=price, tier=tier, layouts=layouts,
        tensor_parallel=says_tensor_parallel((unknown, *(word for word, _ in pairs))),
        dtype="".join(data_type_named([word], value) for word, value in pairs),
    )  # fmt: skip
    typed = [(word_of_type(spelled, value), add_unit_to_value(spelled, value)) for spelled, value in pairs]
    joined = (using,) if isinstance(using, str) else tuple(using)
    switches = Switches(hardware, model, joined, variants or {}, conventions, anyway)
    words = (unknown, *(word for word, _ in typed))
    beside = implied_names(switches)
    name, *names = (meant_beside(word, (*words, *beside), words[:1]) for word in words)
    named: dict[str, Given] = {}
    for other, (_, value) in zip(names, typed, strict=True):
        named[other] = join_values(other, named.get(other, value), value)
    return respond_all((name,), split_money_rates((unknown,), named), switches, strict)[0]


def respond(unknown: str, given: Mapping[str, Given], switches: Switches = USUAL_SWITCHES, leading: bool = False) -> Solution:
    """Return the answer to a question, over all of its lists and ranges. The quantities have their names in the registry.

    `leading` adds the whole replicas to the size of a deployment.
    """
    unknown = resolve_price_word(unknown, switches.using)
    alone = not list_spreads(read_limits(given)[0], switches)

    def ask(values: Mapping[str, Given], switches: Switches) -> Answers:
        if leading and (fleet := _answer_fleet(unknown, values, switches)):
            return (fleet,)
        found = _respond_alone(unknown, values, switches)
        return (_lead_with_replicas(found, values, switches, alone) if leading else found,)

    return answer_everywhere(ask, given, switches)[0]


def _respond_alone(unknown: str, given: Mapping[str, Given], switches: Switches, beside: Collection[str] = ()) -> Solution:
    """Return the answer to a question that means just what it says, else as people mean it of a deployment.

    If memory is short of a time that is given, a full memory may be faster.
    """
    found = _respond_as_typed(unknown, given, switches, beside)
    if not found.is_refused_for(SHORT_OF_MEMORY) or Batch.name in given:
        return found
    from derive.solving.deployments.meant import with_times_as_targets

    targets = with_times_as_targets(given)
    met = _respond_as_typed(unknown, targets, switches, beside) if targets != given else found
    # A target that the answer does not use may be one that no batch meets.
    uses_all = all(targets[name] == given[name] for name in met.unused if name in given)
    return met if met.answers and uses_all else found


def _respond_as_typed(unknown: str, given: Mapping[str, Given], switches: Switches, beside: Collection[str]) -> Solution:
    """Return the answer with every given as it is typed."""
    if not _is_of_deployment(unknown, given):
        return answer_question(unknown, given, switches)
    from derive.solving.deployments.meant import answer_as_meant

    return answer_as_meant(_respond_alone, unknown, given, switches, beside)


def respond_all(unknowns: Sequence[str], given: Mapping[str, Given], switches: Switches = USUAL_SWITCHES, strict: bool = False) -> Answers:
    """Return the answers to several questions. A size among them comes first, and the others are answered at its better end.

    Raises `WrongValue` for a list or sweep that has no part in any of the answers.
    """
    if strict and (named := rules_among(switches.using)):
        raise WrongValue(f"strict does not allow {named[0].id}, which is a {named[0].kind}: remove one of them")
    unknowns = tuple(dict.fromkeys(unknowns))
    typed, (given, switches) = given, _read_box(unknowns, given, switches)
    if {*unknowns} == {Replica.chips} and is_limit(given.get(Replica.chips)) and not given.keys().isdisjoint(Replica.sized_by):
        # At most so many chips are those of all replicas.
        given = {Replica.all_chips if name == Replica.chips else name: value for name, value in given.items()}
    if len(unknowns) == 1:
        found: Answers = (respond(unknowns[0], given, switches, leading=True),)
    else:
        from derive.solving.deployments.meant import answer_several

        def ask(values: Mapping[str, Given], at: Switches) -> Answers:
            several = answer_several(_respond_alone, unknowns, values, at)
            return tuple(_answer_fleet(one.unknown, values, at) or _lead_with_replicas(one, values, at, alone=True) for one in several)

        found = answer_everywhere(ask, given, switches)
    solutions = tuple(_answer_by_rule(one, given, switches, strict) for one in found)
    if given.keys() - typed.keys():
        # The chips of a box are not typed as an input.
        solutions = tuple(replace(one, unused=tuple(name for name in one.unused if name in typed)) for one in solutions)
    if switches.using or any(one.sweep for one in solutions):
        from derive.solving.explain.without_part import refuse_without_part

        refuse_without_part(solutions, switches.using, given)
    return solutions


def _read_box(unknowns: Sequence[str], given: Mapping[str, Given], switches: Switches) -> tuple[Mapping[str, Given], Switches]:
    """Return the question with the chips of a box as an input, if they are not those of one replica, as the word gpus would be."""
    named, layouts = switches.hardware, switches.conventions.layouts
    (box, *more) = (named,) if isinstance(named, str) else tuple(named or ("",))
    several = None if more else re.match(SEVERAL, box)
    shared = switches.conventions.tensor_parallel and Replica.number in given
    if not several or (Replica.chips in unknowns and not shared):
        return given, switches
    words = (*unknowns, *given, *(TENSOR_PARALLEL[:1] if switches.conventions.tensor_parallel else ()))
    meant = meant_beside(word_beside(layouts, CHIP_WORDS[0]), words)
    if given.get(meant) == several[1]:
        return given, replace(switches, hardware=(several[2],))
    if meant == Replica.chips or meant in given or (Replica.number in given and not shared):
        return given, switches
    return {**given, meant: int(several[1])}, replace(switches, hardware=(several[2],))


def answer_everywhere(ask: Callable[[Mapping[str, Given], Switches], Answers], given: Mapping[str, Given], switches: Switches) -> Answers:
    """Return the answers to one question or several, over all lists and ranges of their givens and of presets."""
    if not list_spreads(read_limits(given)[0], switches):
        found = ask(given, switches)
        if not any(one.along and one.along[0].ranges for one in found):
            return found
    from derive.solving.many.points import answer_many

    return answer_many(ask, given, switches)


def _answer_fleet(unknown: str, given: Mapping[str, Given], switches: Switches) -> Solution | None:
    """Return a result of the fewest chips that meet a rate, or the rate of chips that are given, or None for any other question."""
    if {unknown, *given}.isdisjoint(Replica.sized_by):
        return None
    from derive.solving.deployments.fleet import answer_fleet, answer_rate

    return answer_fleet(respond, unknown, given, switches) or answer_rate(respond, unknown, given, switches)


def _lead_with_replicas(solution: Solution, given: Mapping[str, Given], switches: Switches, alone: bool) -> Solution:
    """Return the answer to a question. If it sizes a deployment, it leads with whole replicas, several if one is not enough.

    Only `alone` it is then the answer for the chips of all replicas.
    """
    if solution.unknown not in SIZES_OF_DEPLOYMENTS or given.keys().isdisjoint(Replica.sized_by):
        return solution
    from derive.solving.deployments.fleet import lead_with_replicas
    from derive.solving.deployments.replicas import needs_several

    several = _answer_fleet(Replica.all_chips, given, switches) if needs_several(solution, given) else None
    sized = several and (several.answers or several.is_refused_for("no_solution"))
    found = several if several and sized else lead_with_replicas(respond, solution, given, switches)
    if alone or not solution.answers:
        return found if alone else replace(found, unknown=solution.unknown)
    return replace(solution, lead=found.lead, deployments=found.deployments)


def _is_of_deployment(unknown: str, given: Mapping[str, Given]) -> bool:
    """Return whether a question names a quantity whose meaning depends on the deployment, or a limit."""
    of_deployment = not OF_DEPLOYMENTS.isdisjoint((unknown, *given))
    return unknown == SIZE_OF_DEPLOYMENTS or of_deployment or any(map(is_limit, given.values()))


def _answer_by_rule(solution: Solution, given: Mapping[str, Given], switches: Switches, strict: bool) -> Solution:
    """Return the answer. If inputs are missing, use a table, a reading or a rule of thumb, unless one is named or `strict` forbids it."""
    if strict or switches.using or not solution.is_refused_for("missing_givens") or any(map(is_symbolic, given.values())):
        return solution
    from derive.solving.by_rule import answer_by_default, answer_by_rules, answer_from_table, answer_without_results

    unknown, (plain, sides) = solution.unknown, read_limits(given)
    asked = pose_question(unknown, given, switches)
    return (
        answer_from_table(asked)
        or answer_by_default(asked, {*list_spreads(plain, switches), *sides}, lambda other: respond(other, given, switches))
        or answer_by_rules(asked, solution.refusal.missing, lambda rule: respond(unknown, given, switches.join(rule)))
        or answer_without_results(asked, {*sides}, lambda others: respond(unknown, {n: given[n] for n in given if n in others}, switches))
        or replace(solution, reason=nearest_givens(suppose_usual(asked), solution.refusal))
    )


def _refuse_misspelt(names: Iterable[str]) -> None:
    """Raise UnknownName for a keyword that is not a quantity and similar to a switch. Python accepts it as the name of a value."""
    from difflib import get_close_matches

    for name in names:
        if near := get_close_matches(name, solve.__kwdefaults__ or (), cutoff=0.75):
            try:
                quantity(name)
            except UnknownName:
                raise UnknownName("keyword", name, near) from None
