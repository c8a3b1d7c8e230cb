"""Warnings of an answer: suppositions whose alternative moves it (rows of `derive/suppositions.py`), and what is no supposition."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from derive.answers import BOUGHT, COUNTED, DECODE_ALONE, NO_WHOLE_ONE, Answer, next_whole, shown_end
from derive.catalogue import by_id, equation
from derive.layouts import Links
from derive.preset_record import ATTENTION_DTYPE, HARDWARE
from derive.quantities import NEUTRAL_DEFAULTS
from derive.records import CONDITION, HOLDS, LOWER, UPPER, Equation
from derive.roles import EXPERTS, Batch, DecodeStep, Memory, Prompts, Replica, Tokens, Training, Widths, undivided_heads
from derive.solving.checks.fit import fewest_with_copies
from derive.solving.checks.targets import warn_beyond_domain
from derive.solving.explain.answer_with import Solve, Values, inputs_of, result_with, values_with
from derive.solving.question.defaults import FOLLOWS, evaluate_defaults
from derive.solving.question.presets import links
from derive.solving.question.questions import Question, pose_again
from derive.solving.question.rows import copies_condition
from derive.suppositions import SUPPOSITIONS, USUAL, Alternative, Supposition
from derive.units import show

_MEMORY = (Memory.needed, Memory.room)
_FIRST = math.inf
"""The factor of a warning that the answer may be wrong altogether."""
_SEQUENCES = (Batch.name, *Batch.also)
_MATTERS = 1.1
"""The factor from which on a data type that nobody gave is worth a warning."""


class Caveat(NamedTuple):
    """A warning, the further quantities behind it, and the factor by which the answer may change."""

    text: str
    rests: frozenset[str] = frozenset()
    factor: float = 1.0


_Rule = Callable[[Question, Values, Sequence[Equation]], Caveat | str | None]
"""A warning that is no supposition: from the question, all values on the way to its answer, and the equations that were used."""


def list_caveats(asked: Question, values: Values, used: Sequence[Equation], solve: Solve) -> dict[str, Caveat]:
    """Return all warnings of an answer by their kind, those first that move it most. `solve` answers the question with a change."""
    values = {**evaluate_defaults({name: value for name, value in asked.defaults.items() if name in FOLLOWS}, values), **values}
    if asked.limits and asked.unknown in BOUGHT:
        values[asked.unknown] = next_whole(values[asked.unknown], LOWER)
    found: dict[str, Caveat] = {}
    for kind, caveat in (*_list_rules(asked, values, used), *_list_suppositions(asked, values, used, solve)):
        if kind not in found or caveat.factor > found[kind].factor:
            found[kind] = caveat
    return dict(sorted(found.items(), key=lambda item: -item[1].factor))


def _list_rows(asked: Question, values: Values, used: Sequence[Equation]) -> list[Supposition]:
    """Return the suppositions on which an answer rests, by what each row says of that."""
    known = {asked.unknown, *asked.known}
    spoken = {name for one in used for name in (*one.symbols, one.id)}
    put_in = {name for one in used for name in one.put_in}
    active = {one.id for one in asked.active}
    at = {**evaluate_defaults(asked.defaults, values), **values}
    return [
        row
        for row in SUPPOSITIONS
        if (row.default or row.about or row.only_memory or row.quantity in spoken)
        and (not row.default or not put_in.isdisjoint(row.default))
        and (not row.uses or not spoken.isdisjoint(row.uses))
        and (not row.about or not known.isdisjoint(row.about))
        and {*row.known} <= values.keys()
        and known.isdisjoint(row.absent)
        and (not row.equation or row.equation in active)
        and row.alternative not in spoken - {row.quantity}
        and _is_from(row, asked)
        and all(_is_at_least(at, *pair) for pair in row.at_least)
        and not (row.more and _is_at_least(at, *reversed(row.more)))
    ]


def _is_at_least(values: Values, name: str, least: str | float) -> bool:
    other = values.get(least) if isinstance(least, str) else least
    return name in values and other is not None and values[name] >= other


def _is_from(row: Supposition, asked: Question) -> bool:
    """Return whether the value that is supposed is from where the row says."""
    given = asked.provenance.get(row.quantity, "default")
    if row.source == "table":
        return given.startswith(f"{HARDWARE}.csv")
    if row.source == "rule":
        return row.quantity in asked.supposed
    return given in ("default", "supposed") or row.quantity not in asked.known or bool(row.added)


class _Moves:
    """The changes of an answer, or of the given results behind it, with changed quantities."""

    def __init__(self, asked: Question, values: Values, solve: Solve):
        self.asked, self.values, self.solve = asked, values, solve
        self.inputs, self.results = inputs_of(asked, values)
        self.before = values_with(asked, self.inputs, {}, (*self.results, *_MEMORY))

    def answer(self, changed: Values) -> tuple[str, float, float] | None:
        """Return the unknown as it is, and as it is if it is solved for again, or None if it then has no single value."""
        asked, known = self.asked, {**self.asked.known, **changed}
        again = replace(asked, provenance={name: asked.provenance.get(name, "supposed") for name in known}, silent=True)
        found = self.solve(pose_again(again, asked.unknown, known))
        end = shown_end(found[0]) if len(found) == 1 else None
        return None if end is None else (asked.unknown, self.values[asked.unknown], end)

    def largest(self, changed: Values) -> tuple[str, float, float] | None:
        """Return what moves most with the changed quantities, as it is and as it then is."""
        if not self.results:
            return self.answer(changed)
        after = values_with(self.asked, self.inputs, changed, self.results)
        both = [(name, self.before[name], after[name]) for name in self.results if name in self.before and name in after]
        return max(both, key=lambda one: _factor(*one[1:]), default=None)

    def short(self, changed: Values) -> str:
        """Return that the memory does not suffice with the changed quantities, if it does without, and how many sequences fit."""
        after = values_with(self.asked, self.inputs, changed, _MEMORY)
        if not self.results or len(after) < len(_MEMORY) or _is_short(after) <= _is_short(self.before):
            return ""
        told = f"it does not fit in memory: {' in '.join(show(name, after[name]) for name in _MEMORY)}"
        fewer = self._batch_that_fits(changed, after)
        batches = [_show_value(Batch.name, batch) for batch in (fewer, self.asked.known[Batch.name])] if fewer else []
        return f"{told}, and {' of '.join(batches)} sequences fit" if fewer else told

    def _batch_that_fits(self, changed: Values, after: Mapping[str, float]) -> float | None:
        """Return the batch that fits with the changed quantities. The bytes that it needs are linear in it."""
        if Batch.name not in self.asked.known:
            return None
        batch, (needed, room) = self.asked.known[Batch.name], (after[name] for name in _MEMORY)
        half = values_with(self.asked, {**self.inputs, Batch.name: batch / 2}, changed, _MEMORY).get(_MEMORY[0], needed)
        of_one = 2 * (needed - half) / batch
        return max(0.0, batch - (needed - room) / of_one) if of_one > 0 else None


def _is_short(values: Values) -> bool:
    """Return whether the memory does not suffice, or is not known."""
    demand, capacity = (values.get(name, 0.0) for name in _MEMORY)
    return not capacity or demand > capacity * (1 + HOLDS)


def _list_suppositions(asked: Question, values: Values, used: Sequence[Equation], solve: Solve) -> Iterator[tuple[str, Caveat]]:
    """Yield the warnings on suppositions that can be evaluated at these numbers."""
    rows = _list_rows(asked, values, used)
    if not rows and not asked.unsaid:
        return
    moves = _Moves(asked, values, solve)
    yield from _data_types(moves, used)
    for row in rows:
        with suppress(ArithmeticError, ValueError):
            if caveat := _test_supposition(row, moves):
                yield row.kind, caveat


def _test_supposition(row: Supposition, moves: _Moves) -> Caveat | None:
    """Return the warning on a supposition: by how much the alternative moves the answer, or that memory does not suffice then."""
    asked, values, inputs = moves.asked, moves.values, moves.inputs
    if not moves.results and asked.unknown in _inputs_of_row(row):
        return None
    here = inputs.get(row.quantity) or values_with(asked, inputs, {}, (row.quantity,)).get(row.quantity, 0.0)
    beside = _values_beside(row, asked, inputs)
    other = None if beside is None else _alternative(row, row.added or row.quantity, row.alternative, asked, {**inputs, **beside})
    if beside is None or other is None or other == here or (row.longer and other < here) or (row.added and not here):
        return None
    changed = {row.quantity: other + here if row.added else other}
    derived = row.added or row.compared or row.quantity in values.keys() - inputs.keys() - asked.defaults.keys()
    supposed = {**beside, **({} if derived else changed)}
    shown = ", ".join(f"{name} = {show(name, value)}" for name, value in supposed.items() if name not in inputs or name in changed)
    text = re.sub(r"{(\w+)}", lambda named: show(named[1], values[named[1]]), row.text)
    told = f"{text}. {f'With {shown}, ' if shown else 'Then '}"
    rests = frozenset((row.quantity, row.added, *beside, *_inputs_of_row(row))) - {""}
    if (row.fills_memory or (row.only_memory and not asked.anyway)) and (short := moves.short(changed)):
        return Caveat(f"{told}{short}", rests, _FIRST)
    itself = row.quantity, here, other
    moved = itself if row.compared else None if row.only_memory else moves.largest(changed)
    if moved is None and row.fills_memory and not moves.results:
        return Caveat(f"{told}nothing fits", rests, _FIRST)
    if moved is None or _factor(*moved[1:]) < row.threshold:
        return None
    return Caveat(f"{told}{_moved_in_words(*moved)}{f' ({row.advice})' if row.advice else ''}", rests, _factor(*moved[1:]))


def _moved_in_words(name: str, before: float, after: float) -> str:
    """Return what a quantity then is, and the factor."""
    return f"{name} is {_show_value(name, after)}{f': {after / before:.3g}x' if before else ''}"


def _values_beside(row: Supposition, asked: Question, inputs: Values) -> dict[str, float] | None:
    """Return the other values that a row supposes, and the time of an exchange between chips, or None if one cannot be found."""
    found: dict[str, float] = {}
    for name, alternative in row.beside.items():
        if name in inputs and not isinstance(alternative, tuple):
            continue
        value = _alternative(row, name, alternative, asked, {**inputs, **found})
        if value is None:
            return None
        found[name] = value
    return found


def _alternative(row: Supposition, name: str, alternative: Alternative, asked: Question, inputs: Values) -> float | None:
    """Return the value of an alternative."""
    if isinstance(alternative, float):
        return alternative
    if isinstance(alternative, tuple):
        values = {**evaluate_defaults(asked.defaults, inputs), **inputs}
        known = [values[one] for one in alternative if one in values]
        # A quantity with a default that has no value here follows from the givens.
        return None if name in NEUTRAL_DEFAULTS.keys() - values.keys() else min(known, default=None)
    if alternative == USUAL:
        return _usual_value(name, asked)
    if row.added:
        # Another exchange may have another link.
        inputs = {one: value for one, value in inputs.items() if one != Links.taken or asked.provenance.get(one) == "given"}
        exchange = links(row.added, inputs, {"": "supposed"})
        asked = replace(asked, variants=tuple({**dict(asked.variants), **exchange.variants}.items()))
        inputs = {**inputs, **exchange.givens}
    if "." not in alternative:
        given = inputs.get(alternative) if alternative != name else None
        return values_with(asked, inputs, {}, (alternative,)).get(alternative) if given is None else given
    one = equation(alternative)
    if one.kind == CONDITION and one.variant and dict(asked.variants).get(one.variant.group, "heads") != one.variant.name:
        return None
    wanted = row.added or one.symbols[0]
    return values_with(asked, inputs, {}, (wanted,), (alternative,)).get(wanted)


def _usual_value(name: str, asked: Question) -> float | None:
    """Return the usual value of a quantity in the tables that ship."""
    from derive.presets import usual_value
    from derive.solving.question.named_presets import deployment_of, kinds_of

    place = asked.provenance.get(Widths.rate, "").partition(": ")[0].split()
    dtype = place[-1] if place[:1] == [f"{HARDWARE}.csv"] else ATTENTION_DTYPE
    return usual_value(name, kinds_of(asked.known), deployment_of(asked.known, {asked.unknown}), dtype)


def _inputs_of_row(row: Supposition) -> frozenset[str]:
    """Return the quantities that the alternative of a row is made of."""
    id = row.alternative if isinstance(row.alternative, str) else ""
    return equation(id).inputs if "." in id else frozenset()


def _factor(before: float, after: float) -> float:
    """Return by how much one value is another, up or down."""
    return max(before / after, after / before) if before > 0 and after > 0 else 1.0 if before == after else _FIRST


def _show_value(name: str, value: float) -> str:
    """Return a value as text, a counted one as a whole number."""
    return show(name, next_whole(value, LOWER if name in BOUGHT else UPPER) if name in COUNTED and value >= 1 else value)


def _data_types(moves: _Moves, used: Sequence[Equation]) -> Iterator[tuple[str, Caveat]]:
    """Yield the warning on each supposed data type, if the answer moves at half its width and twice the FLOP/s.

    Weights of a byte or less are published like that, and a chip computes in their type.
    """
    spoken, names_of = {name for row in used for name in row.symbols}, dict[str, list[str]]()
    for name, text in ((name, text) for name, text in moves.asked.unsaid.items() if name in moves.values):
        names_of.setdefault(text, []).append(name)
    for text, names in names_of.items():
        changed = {name: moves.values[name] * (2.0 if name == Widths.rate else 0.5) for name in names}
        is_wide = all(moves.values[name] > 1.0 for name in names if name != Widths.rate)
        # Within limits an unknown may move to either side, so that the limited results say more.
        move = moves.largest if moves.asked.limits else moves.answer
        found = move(changed) if is_wide and not spoken.isdisjoint(changed) else None
        if found and (factor := _factor(*found[1:])) > _MATTERS:
            yield f"type_unsaid {min(names)}", Caveat(f"{text}. At half the width, {_moved_in_words(*found)}", factor=factor)


def left_to_assumptions(asked: Question, touched: Set[str], doubts: Mapping[str, Caveat]) -> Iterator[str]:
    """Yield the supposed data types that hardly move an answer that rests on them."""
    texts = dict.fromkeys(text for name, text in asked.unsaid.items() if name in touched)
    yield from (text for text in texts if not any(one.text.startswith(text) for one in doubts.values()))


def _list_rules(asked: Question, values: Values, used: Sequence[Equation]) -> Iterator[tuple[str, Caveat]]:
    """Yield the other warnings that can be evaluated at these numbers."""
    for rule in _RULES:
        with suppress(ArithmeticError, ValueError):
            if told := rule(asked, values, used):
                factor = _FIRST if rule is warn_beyond_domain else 1.0
                yield rule.__name__, told if isinstance(told, Caveat) else Caveat(told, factor=factor)


def warn_below_one(unknown: str, answers: Sequence[Answer]) -> dict[str, str]:
    """Return the warning that memory has no room for one sequence, if no answer has."""
    most = max(math.inf if one.bound == LOWER or one.ends[1] is None else one.ends[1] for one in answers)
    return {NO_WHOLE_ONE: "there is no room for one whole sequence"} if unknown in _SEQUENCES and most < 1 else {}


def may_be_a_slip(asked: Question, values: Values, used: Sequence[Equation]) -> Caveat | None:
    """Return why given values may be slips, if the answer rests on them."""
    spoken = {name for row in used for name in row.symbols}
    text = ". ".join(text for name, text in asked.doubtful.items() if name in spoken)
    return Caveat(text, factor=_FIRST) if text else None


def counted_in_parts(asked: Question, values: Values, used: Sequence[Equation]) -> str | None:
    """Return which given counts are no whole numbers, if the answer rests on them."""
    spoken = {name for row in used for name in row.symbols}
    parts = [f"{name} = {asked.known[name]:.12g}" for name in asked.in_parts if name in spoken and name in asked.known]
    return "; ".join(f"{part} is not a whole number, and is used unchanged" for part in parts) or None


def prompts_elsewhere(asked: Question, values: Values, used: Sequence[Equation]) -> Caveat | None:
    """Return that a rate of requests is for decode alone, and how much more chips it needs with prompts on the same ones."""
    apart, together = equation(Prompts.apart), equation(Prompts.together)
    rests = apart in used or apart.symbols[0] in asked.known or _leaves_prompts_out(asked, used)
    if Tokens.prompt not in (*asked.known, asked.unknown) or not rests or not any(row.id == apart.id for row in asked.active):
        return None
    told = "prompts need additional chips"
    share = values_with(asked, inputs_of(asked, values)[0], {}, (Prompts.time_share,)).get(Prompts.time_share)
    if share is None or not 0 <= share < 1:
        return Caveat(f"{told}. On the same chips: --using {together.id}")
    single = "" if Prompts.in_one_pass in asked.known else " with one prompt per pass"
    takes = f"On the same chips they need {share:.0%} of the time{single}"
    return Caveat(f"{told}. {takes} (--using {together.id})", factor=1 / (1 - share))


def _leaves_prompts_out(asked: Question, used: Sequence[Equation]) -> bool:
    """Return whether an answer for requests leaves out their prompts, and is another with prompts on the same chips."""
    elsewhere = equation(Prompts.apart).variant
    rests = any(row.variant == elsewhere for row in used if row.id not in Prompts.seen_by_one)
    counted = any(name.startswith(Prompts.part) for row in used for name in row.symbols)
    return rests and Tokens.output in asked.known and asked.unknown != DecodeStep.time and not counted


def prompts_unsaid(asked: Question, values: Values, used: Sequence[Equation]) -> str | None:
    """Return that prompts of unknown length are not counted in a number of chips for a rate of requests."""
    rests = asked.unknown in BOUGHT and any(row.id == Prompts.apart for row in used)
    told = f"prompts are not counted, because their length is unknown: give {Tokens.prompt}"
    return told if rests and Tokens.prompt not in asked.known else None


def either_may_bind(asked: Question, values: Values, used: Sequence[Equation]) -> str | None:
    """Return what the other share of a peak is, if at both peaks the time of that one binds."""
    other = DecodeStep.other_share.get(asked.unknown, "")
    if other not in asked.defaults or _overlap(used) != DecodeStep.all_hidden or DecodeStep.time not in values:
        return None
    peaks = {asked.unknown: 1.0, other: 1.0}
    step, slower = (result_with(asked, DecodeStep.time, {**peaks, **more}) for more in ({}, {other: 0.5}))
    if not step or not slower or slower <= step * (1 + HOLDS):
        return None
    bound = "memory-bound" if other == DecodeStep.memory_share else "compute-bound"
    share = f"{other} = {show(other, step / values[DecodeStep.time])}"
    least = f"{asked.unknown} is at least {show(asked.unknown, values[asked.unknown])}"
    return f"at both peaks this step is {bound}. If so, {share} and {least}: give {other}"


def _overlap(used: Sequence[Equation]) -> str | None:
    """Return how the parts of the step are added up, or None if no equation adds them up."""
    return next((row.variant.name for row in used if row.variant and row.variant.group == DecodeStep.overlap), None)


def cache_copied(asked: Question, values: Values, used: Sequence[Equation]) -> Caveat | None:
    """Return how many chips hold the copies of a cache that tensor parallelism makes, if memory alone says how many chips there are."""
    values = {**evaluate_defaults(asked.defaults, values), **values}
    row, heads = copies_condition(dict(asked.variants)), values.get(Replica.heads, math.inf)
    needed = {Memory.room, *Memory.parts, *row.inputs}
    stands = any(Memory.copies in one.put_in for one in used)
    if asked.unknown != Memory.bought or not stands or _overlap(used) or not needed <= values.keys():
        return None
    least, most = next_whole(values[Memory.bought], LOWER), fewest_with_copies(values, row, heads)
    if most == least:
        return None
    among = "" if heads == math.inf else f" (up to {heads:.0f})"
    takes = f"chips is {most}: {most / least:.3g}x" if most else f"it fits on no number of chips{among}"
    told = "the cache is sharded by sequences. With the copies of tensor parallelism"
    return Caveat(f"{told}, {takes} (give {Memory.copies})", row.inputs | {Replica.heads}, most / least if most else _FIRST)


def chips_of_one_part(asked: Question, values: Values, used: Sequence[Equation]) -> Caveat | None:
    """Return how many chips all pipeline stages, all copies in training, or all replicas of a box of chips have together."""
    if Memory.bought not in values or not any(Memory.bought in row.symbols for row in used):
        return None
    stages = 1.0 if asked.unknown == Memory.groups else values.get(Memory.groups, 1.0)
    counted = asked.unknown in (Training.copies, Training.chips) or Training.chips in values
    parts = {} if counted else {Training.copies: ("copy of the model", "copies")}
    if Memory.bought in asked.known and Memory.bought not in asked.typed:
        parts |= {Replica.number: ("replica", Replica.number)}
    name = next((name for name in parts if asked.known.get(name, 1.0) > 1), "")
    chips = int(next_whole(values[Memory.bought], LOWER))
    if name:
        copies, (one, several) = asked.known[name], parts[name]
        fewer = "" if chips % copies else f". For {chips} in total, give chips={chips / copies:.4g}"
        told = f"chips is for {'a stage of ' if stages > 1 else ''}one {one}: {copies:.4g} {several} of {stages * chips:.4g} have"
        return Caveat(f"{told} {copies * stages * chips:.4g}{fewer}", frozenset((name,)), copies * stages)
    if stages <= 1:
        return None
    told = f"chips is for one pipeline stage: {stages:.4g} stages of {chips} have {stages * chips:.4g} in all"
    return Caveat(told, frozenset((Memory.groups,)), stages)


def heads_undivided(asked: Question, values: Values, used: Sequence[Equation]) -> Caveat | None:
    """Return that the chips do not divide the heads, or the copies of attention the chips, and the next number that does."""
    known = {**asked.known, **values}
    chips, copies = known.get(Memory.bought, 1.0), known.get(Memory.attention_groups, 1.0)
    if asked.unknown == Memory.bought:
        chips = float(next_whole(chips, LOWER))
    if copies < chips and chips % copies and (chips, copies) == (round(chips), round(copies)):
        following = next(count for count in range(int(copies) + 1, int(chips) + 1) if chips % count == 0)
        told = f"{copies:.0f} copies of attention cannot share {chips:.0f} chips evenly. {following} can"
        return Caveat(told, frozenset((Memory.attention_groups,)))
    # The chips of one copy of attention share its heads.
    chips = chips / copies if chips % copies == 0 else chips
    name, most = undivided_heads(chips, known), known.get(Replica.heads, chips)
    heads = known.get(name, 1.0)
    # More chips than heads, and the experts of a mixture, may share by other parts, unless somebody says tensor parallelism.
    by_heads = (EXPERTS[1] not in known and chips <= most) or asked.conventions.tensor_parallel
    if not name or (chips, heads) != (round(chips), round(heads)) or not by_heads or not any(Memory.bought in row.symbols for row in used):
        return None
    able = (count for count in (*range(int(chips) + 1, int(most) + 1), int(most)) if not undivided_heads(count, known))
    what = f"{heads:.0f} {'KV ' * (name == Memory.divided_by)}heads"
    told = f"{what} cannot be divided evenly by {chips:.0f} chips with tensor parallelism. {next(able)} can"
    return Caveat(told, frozenset((name,)), factor=_FIRST if asked.conventions.tensor_parallel else 1.0)


def another_variant(asked: Question, values: Values, used: Sequence[Equation]) -> str | None:
    """Return which other variant uses a given quantity that the default variant does not use."""
    taken = {name for row in used for name in (*row.symbols, *row.put_in)}
    left = {name for name in asked.typed if name not in taken}
    found: dict[tuple[str, str], list[str]] = {}
    usual = [(row, row.variant.name) for row in used if left and row.variant and row.variant.default]
    for other, variant in ((other, other.variant) for other in by_id().values() if usual and other.variant):
        if other.inputs <= values.keys() and (would := [name for name in asked.provenance if name in left & other.inputs]):
            for row in (row for row, name in usual if row.defines == other.defines and name != variant.name):
                found.setdefault((row.id, " and ".join(would)), []).append(other.id)
    return "; ".join(f"{id} was used. {names} is for {', '.join(others)} (--using)" for (id, names), others in found.items()) or None


def longer_than_the_model(asked: Question, values: Values, used: Sequence[Equation]) -> str | None:
    """Return that a sequence is longer than the context that the model was published with."""
    # The tokens of a job are those of many sequences.
    spoken = {name for row in used if row.defines not in Tokens.of_jobs for name in row.symbols}
    longest = max(sum(values.get(name, 0.0) for name in names if name in spoken) for names in Tokens.lengths)
    for one in asked.published:
        if longest > one.max_context:
            limit = f"{one.model} was published for {show(Tokens.context, one.max_context)}"
            return f"longer than the model's context: {show(Tokens.context, longest)}, and {limit}"
    return None


_RULES: tuple[_Rule, ...] = (
    *(may_be_a_slip, prompts_elsewhere, either_may_bind, warn_beyond_domain, cache_copied, chips_of_one_part, heads_undivided),
    *(counted_in_parts, prompts_unsaid, another_variant, longer_than_the_model),
)
assert prompts_elsewhere.__name__ == DECODE_ALONE, "the kind by which other modules know it"
