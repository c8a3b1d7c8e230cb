"""A question as records: what is asked, what is known and from where, and which equations may be used."""

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import field, fields, replace
from functools import cached_property
from math import isclose
from typing import Any, TypeVar

from derive.answers import COUNTED, Interval
from derive.catalogue import equation
from derive.errors import WrongValue
from derive.immutable import immutable
from derive.layouts import LAID_OUT, layout_line, usual_layout_line
from derive.preset_record import (
    ARCHITECTURE_COUNTS,
    ATTENTION_DTYPE,
    BYTES_PER_WEIGHT,
    OF_MIXTURES,
    PARAMETERS,
    WIDTHS,
    Preset,
    Published,
    stored_bytes,
)
from derive.quantities import quantity
from derive.records import HOLDS, Equation, right_side_at
from derive.roles import OF_PRICE_SHEETS, READS_OF_WEIGHTS, UNDIVIDED, VANISH, Batch, Memory, Tokens, Widths
from derive.solving.question.conventions import USUAL_CONVENTIONS, USUAL_SWITCHES, Conventions, Switches
from derive.solving.question.defaults import DefaultValues, defaults_in_force, evaluate_defaults, list_repeated
from derive.solving.question.givens import as_typed, list_spreads, read_limits
from derive.solving.question.presets import complete_presets
from derive.solving.question.propagation import follow_values, list_made_of, list_reached, rows_behind
from derive.solving.question.rows import (
    check_variants,
    choose_variants,
    find_made_zeros,
    list_active,
    may_be_its_zero,
    rows_in_force,
    variants_that_read,
)
from derive.suppositions import USUAL_TYPES, Dense, OneSequence
from derive.units import DATA_TYPES, is_of_one_element, show

_T = TypeVar("_T")

_UNDIVIDED = (*ARCHITECTURE_COUNTS, *COUNTED, *UNDIVIDED)
"""What exists only in whole ones."""

OF_DENSE = "follows from a dense model"
"""Where a parameter count is from that nobody gave beside the other."""

NOT_GIVEN = "it is not given"
"""Where a value is from that an answer supposes because it leaves a quantity out."""

_WIDTH, _CHIPS = Widths.weights, Memory.bought

_FAR = 100.0
"""Factor from the value of a table above which the unit of a given may be a slip."""


@immutable
class Instead:
    """The value of a default that the givens contradict, the equation that gives it, its errors, and what it was found from."""

    name: str
    value: float
    causes: frozenset[tuple[str, str]]
    defaults: tuple[str, ...]
    given: frozenset[str]
    by: str
    elasticities: Mapping[str, float] = field(compare=False)

    @property
    def text(self) -> str:
        """The same in words."""
        return f"{self.name} = {show(self.name, self.value)} follows from the givens ({self.by})"


@immutable
class Question:
    """The unknown, the known quantities, the equations that may be used, the defaults in force, and the bounds.

    `nothing` maps quantities that are 0 to the given zero that makes them 0. `limits` are results that were given as at
    most ("upper") or at least ("lower") so much, `floors` the least of those that were given as both. `instead` are defaults that the
    givens contradict. `ranges` are the inputs for which presets have a range. Their middle is known here, and `record` is how often
    such ranges were right. `unsaid` names the data types that are supposed and how to give them. `supposed` has the reason of every
    other supposition. `doubtful` says why a given may be a slip. `in_parts` has the counted quantities that are no whole number. A
    `silent` question has no warnings. `listed` has the unknown itself in a table, and its place. With `any_stand_in`, stand-ins are used in
    every direction. `follows` are quantities that equal another one by a layout.
    """

    unknown: str
    known: Mapping[str, float]
    active: tuple[Equation, ...]
    provenance: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    named: tuple[Equation, ...] = ()
    left_out: tuple[Equation, ...] = ()
    conventions: Conventions = USUAL_CONVENTIONS
    anyway: bool = False
    defaults: DefaultValues = field(default_factory=dict)
    bounds: tuple[Equation, ...] = ()
    published: tuple[Published, ...] = ()
    nothing: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    variants: tuple[tuple[str, str], ...] = ()
    instead: tuple[Instead, ...] = ()
    parameters_only: tuple[str, ...] = ()
    ranges: Mapping[str, Interval] = field(default_factory=dict)
    record: str = ""
    unsaid: Mapping[str, str] = field(default_factory=dict)
    supposed: Mapping[str, str] = field(default_factory=dict)
    doubtful: Mapping[str, str] = field(default_factory=dict)
    in_parts: tuple[str, ...] = ()
    silent: bool = False
    listed: tuple[float, str] | None = None
    any_stand_in: bool = False
    follows: Mapping[str, str] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Return all values of the question. Mappings have an order, which answers print."""
        values = (getattr(self, one.name) for one in fields(self))
        return tuple(tuple(one.items()) if isinstance(one, Mapping) else one for one in values)

    @cached_property
    def equalities(self) -> tuple[Equation, ...]:
        """Return the equations that may be used, without inequalities."""
        return tuple(row for row in self.active if row.sense == "=")

    @cached_property
    def typed(self) -> tuple[str, ...]:
        """Return the quantities that were given, in order. Presets and suppositions give the others."""
        return tuple(name for name, source in self.provenance.items() if source == "given")


def resolve_price_word(unknown: str, using: Iterable[str]) -> str:
    """Return the quantity that a word of price sheets means in a question on a deployment. A named equation of sheets keeps the word.

    >>> resolve_price_word("max_context", []), resolve_price_word("max_context", ["bands.rule_upper_end"])
    ('context_length', 'max_context')
    """
    if unknown not in OF_PRICE_SHEETS or any(unknown in equation(id).symbols for id in using):
        return unknown
    return OF_PRICE_SHEETS[unknown]


def question(unknown: str, given: Mapping[str, float | str], switches: Switches = USUAL_SWITCHES) -> Question:
    """Return the question as records: names resolved, presets under the givens, variants chosen."""
    name, conventions = quantity(unknown).name, switches.conventions
    refuse_no_output(given)
    typed = _read_givens(name, given, conventions)
    preset, using, follows = complete_presets(name, typed, switches)
    remark = ""
    if conventions.dtype and _WIDTH in typed:
        typed[_WIDTH], remark = stored_bytes(preset.published, typed[_WIDTH])
    none = {made: n for n, value in typed.items() if value == 0 for made in VANISH.get(n, ()) if made not in (*typed, name)}
    known = {n: v for n, v in {**preset.givens, **typed, **dict.fromkeys(none, 0.0)}.items() if n != name}
    provenance = {n: "given" if n in typed else f"follows from {none[n]} = 0" if n in none else preset.provenance[n] for n in known}
    _refuse_impossible(known)
    named = tuple(map(equation, using))
    left_out = _rows_left_out(preset, typed.keys(), named, switches.variants)
    slips = dict.fromkeys([name] * bool(preset.notes), ". ".join(preset.notes))
    slips |= {n: why for n, value in typed.items() if (why := _slip(n, value, preset.givens.get(n), preset))}
    whole = Question(
        unknown=name,
        known=known,
        active=(),
        provenance=provenance,
        notes=tuple(_notes_on_presets(preset, typed, conventions, bool(switches.hardware), remark)),
        named=named,
        left_out=left_out,
        conventions=conventions,
        anyway=switches.anyway,
        published=preset.published,
        parameters_only=preset.parameters_only,
        ranges={n: Interval(*ends) for n, ends in preset.ranges.items() if n in known and n not in typed and ends[0] < ends[1]},
        record=preset.record,
        unsaid=_drop(preset.unsaid, typed.keys() | {name}),
        supposed={n: why for n, why in preset.supposed.items() if n in known and n not in typed},
        doubtful=slips | _count_dropped(name, preset),
        in_parts=list_fractions(typed),
        listed=_listed(name, preset),
        follows=follows,
    )
    return _with_nothing(replace(whole, variants=_all_variants(whole, preset.variants, switches.variants)))


def _read_givens(unknown: str, given: Mapping[str, float | str], conventions: Conventions) -> dict[str, float]:
    """Return the givens in SI."""
    typed = {name: conventions.read(name, value) for name, value in given.items()}
    if unknown in typed:
        raise WrongValue(f"{unknown} is asked for and given ({show(unknown, typed[unknown])}): remove one of them")
    return typed


def _notes_on_presets(preset: Preset, typed: Mapping[str, float], conventions: Conventions, has_chip: bool, remark: str) -> Iterator[str]:
    """Yield remarks on the presets, on givens that replace values of them, on the layout, and on a data type that was given."""
    known = {**preset.givens, **typed}
    for name, value in typed.items():
        if preset.givens.get(name, value) != value:
            yield f"{name} as given, not the {_show_preset(name, preset)}"
    if conventions.layouts:
        yield layout_line(conventions.layouts)
    elif preset.published and Batch.name in typed and known.get(_CHIPS, 1.0) > 1 and LAID_OUT.isdisjoint(known):
        yield usual_layout_line(preset.variants.get(Memory.copies, "heads"), not known.keys().isdisjoint(OF_MIXTURES))
    if conventions.dtype and "," not in conventions.dtype:
        computed = preset.supposed.get(Dense.beside, "")
        read_as = "weights and arithmetic" if has_chip and not computed else "weights"
        told = f"dtype = {conventions.dtype} is the data type of {read_as}, and kv_dtype is for the cache"
        yield "; ".join(filter(None, (told, computed, remark)))


def _rows_left_out(preset: Preset, typed: Set[str], named: tuple[Equation, ...], variants: Mapping[str, str]) -> tuple[Equation, ...]:
    """Return the equations that a preset rules out, or that would give again what is given as 0. Named ones stay."""
    reads = {**{row.variant.group: row.variant.name for row in named if row.variant}, **variants}.get(READS_OF_WEIGHTS, "resident")
    # Another read of the weights is named, which says nothing of what lies on a chip.
    resident = (Memory.resident_row,) if Memory.resident in typed and reads != "resident" else ()
    aside = (*preset.left_out, *resident)
    return tuple(row for row in map(equation, aside) if row not in named)


def _all_variants(asked: Question, of_preset: Mapping[str, str], chosen: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variant of each group by the presets, the givens, a given that only one variant uses, and the question itself."""
    unknown, known = asked.unknown, asked.known
    usual = {**of_preset, **choose_variants(unknown, known, asked.named, asked.follows)}
    rows = list_active(unknown, tuple(usual.items()), _ids(asked.named), _ids(asked.left_out), ())
    # What is untrue of a model is read by nothing on purpose.
    read = {symbol for row in rows for symbol in row.symbols} | {row.defines for row in asked.left_out}
    unread = {unknown, *asked.typed} - read
    return tuple({**usual, **variants_that_read(unread, {unknown, *known}), **check_variants(chosen)}.items())


def _ids(rows: Iterable[Equation]) -> tuple[str, ...]:
    return tuple(row.id for row in rows)


def list_fractions(values: Mapping[str, float]) -> tuple[str, ...]:
    """Return the counted quantities whose value is not a whole number.

    >>> list_fractions({"batch": 2.5, "chips": 8.0, "mfu": 0.4})
    ('batch',)
    """
    return tuple(name for name, value in values.items() if name in _UNDIVIDED and value != round(value))


def _slip(name: str, value: float, published: float | None, preset: Preset) -> str:
    """Return why a given may be a slip: bits for bytes, or so far from the table that its unit may be wrong."""
    if is_of_one_element(name) and value >= max(DATA_TYPES["fp64"], quantity(name).high):
        return f"{name} = {show(name, value)} is as wide as fp64 or wider: for {value:g} bits write {name}={value / 8:g}"
    if not published or not value or max(value / published, published / value) < _FAR:
        return ""
    times = f"{published / value:,.0f} times less than" if value < published else f"{value / published:,.0f} times"
    place = preset.provenance[name].split(": ")[0]
    return f"{name} = {show(name, value)} is {times} the {show(name, published)} of {place}: is its unit right?"


def _listed(unknown: str, preset: Preset) -> tuple[float, str] | None:
    """Return the value of the unknown itself in the presets, and its place. A question for it does not use it."""
    place = preset.provenance.get(unknown, "--").split(": ")[0]
    return None if place.startswith("--") or unknown in preset.ranges else (preset.givens[unknown], place)


def _count_dropped(unknown: str, preset: Preset) -> dict[str, str]:
    """Return that chips counted by a preset are not used if they are asked for."""
    if unknown != _CHIPS or unknown not in preset.givens:
        return {}
    return {unknown: f"the {preset.givens[unknown]:.0f} chips of {preset.provenance[unknown]} are not used: chips is asked for"}


def _show_preset(name: str, preset: Preset) -> str:
    """Return the value that a preset would have set, with its source."""
    value, origin = show(name, preset.givens[name]), preset.provenance[name]
    if name not in preset.ranges:
        return f"{value} of {origin}"
    least, most = (show(name, end) for end in preset.ranges[name])
    return f"{least} to {most} of {origin.split(': ')[0]}"


def _with_nothing(asked: Question) -> Question:
    """Return the question with all that follows from givens of 0, in place of all that did."""
    asked = drop_knowns(asked, asked.nothing.keys())
    zeros = [n for n, value in asked.known.items() if value == 0 and asked.provenance[n] in ("given", NOT_GIVEN)]
    rows = list_active(asked.unknown, asked.variants, _ids(asked.named), _ids(asked.left_out), ())
    defaults = defaults_in_force(asked.unknown, asked.known.keys()) if zeros else {}
    usual = {name for name, value in defaults.items() if defaults.get(str(value), value) == 0}
    posed = _know_zeros(asked, find_made_zeros(rows, zeros, {asked.unknown, *asked.known} - {*zeros}, usual))
    while zeros and (made := _made_zeros(posed)):
        posed = _know_zeros(posed, {**posed.nothing, **made})
    return posed


def _know_zeros(asked: Question, nothing: Mapping[str, str]) -> Question:
    """Return the question in which these quantities are known to be 0, each with the given that makes it 0."""
    known = {**asked.known, **dict.fromkeys(nothing, 0.0)}
    provenance = {**asked.provenance, **{n: f"follows from {source} = 0" for n, source in nothing.items()}}
    return pose_again(replace(asked, provenance=provenance, nothing=nothing), asked.unknown, known)


def _made_zeros(asked: Question) -> dict[str, str]:
    """Return the quantities that equations make 0 at the zeros that are known, each with the given that makes it 0."""
    rows = (row for row in asked.active if len(row.symbols) == 1 and row.trees[1] == 0)
    made = {row.symbols[0]: row.put_in for row in rows if row.symbols[0] not in {*asked.known, asked.unknown}}
    causes = ((name, cause) for name, put_in in made.items() for cause in put_in if asked.known.get(cause) == 0)
    return {name: asked.nothing.get(cause, cause) for name, cause in causes}


def pose_again(asked: Question, unknown: str, known: Mapping[str, float]) -> Question:
    """Return the question with other known values or another unknown, and with the defaults that apply then.

    >>> asked = question("throughput", {"batch": 8, "step_time": 0.02, "pipeline_stages": 4})
    >>> again = pose_again(asked, "throughput", {**asked.known, "hop_latency": 0.01})
    >>> [("hop_latency" in one.defaults) for one in (asked, again)]
    [True, False]
    """
    zeros = frozenset(n for n, value in known.items() if value == 0 and not quantity(n).floor < 0 and not may_be_its_zero(unknown, n))
    defaults, active, named, limits = rows_in_force(
        unknown,
        frozenset(known),
        zeros,
        list_repeated(known),
        asked.variants,
        _ids(asked.named),
        _ids(asked.left_out),
        asked.any_stand_in,
        tuple((name, other) for name, other in asked.follows.items() if name not in (unknown, *known)),
    )
    return replace(asked, unknown=unknown, known=known, active=active, named=named, defaults=defaults, bounds=limits)


def with_other_stand_ins(asked: Question, code: str) -> Iterator[Question]:
    """Yield the question with other stand-ins, after a refusal. It gives way to givens that contradict it, as a supposition does."""
    if code == "missing_givens":
        yield pose_again(replace(asked, any_stand_in=True), asked.unknown, asked.known)
    if code != "contradiction":
        return
    rows = tuple(row for row in asked.active if row.stand_in)
    for aside in (rows, *((row,) for row in rows if rows[1:])) if rows else ():
        yield _leave_out(asked, aside, f"{' and '.join(row.id for row in aside)} is not used, because the givens contradict it")
    if given_anew := [*_list_given_anew(asked)]:
        doubted = replace(asked, doubtful={**asked.doubtful, **{row.symbols[0]: text for row, _, text in given_anew}})
        yield _leave_out(doubted, tuple(row for row, _, _ in given_anew))
        fewer = drop_knowns(doubted, set[str]().union(*(supposed for _, supposed, _ in given_anew)))
        yield pose_again(fewer, asked.unknown, fewer.known)


def _leave_out(asked: Question, rows: tuple[Equation, ...], *notes: str) -> Question:
    return pose_again(replace(asked, left_out=(*asked.left_out, *rows), notes=(*asked.notes, *notes)), asked.unknown, asked.known)


def _list_given_anew(asked: Question) -> Iterator[tuple[Equation, Set[str], str]]:
    """Yield the definitions that presets and suppositions fill, and that contradict a given, with the suppositions, and both values in
    words.
    """
    typed, made = asked.typed, {row.defines: row for row in asked.active}
    presets = {name: value for name, value in asked.known.items() if name not in (*typed, asked.unknown)}
    for name, row in ((name, made[name]) for name in typed if name in made and made[name] not in asked.named):
        behind = tuple(one for one in rows_behind(row.symbols[1:], asked.active) if one.defines not in (*typed, asked.unknown))
        inputs = {part for one in (row, *behind) for part in one.inputs}.difference(typed)
        # Bytes of a file may have another width than the arithmetic of a chip.
        widths = asked.unsaid.keys() | (USUAL_TYPES.keys() if name in Memory.parts else ())
        found, supposed = follow_values(behind, presets), widths & inputs
        if supposed and row.inputs <= found.keys() and not isclose(value := right_side_at(row, found), asked.known[name], rel_tol=HOLDS):
            yield row, supposed, f"{name} as given, not the {show(name, value)} of {row.id} with {' and '.join(sorted(supposed))} as usual"


def suppose_dense(asked: Question, missing: Iterable[str]) -> Question:
    """Return the question, of a dense model if one parameter count is given and the other missing, or one is asked for and none given,
    and no given is about experts.

    >>> suppose_dense(question("step_time", {"total_params": 7e10}), ["active_params"]).known["active_params"]
    70000000000.0
    >>> suppose_dense(question("total_params", {"pretrain_flops": 1e24}), ["sparsity"]).notes
    ('sparsity = 1: no experts are given, and a dense model is assumed',)
    """
    if (
        (asked.unknown in PARAMETERS or (asked.unknown in Dense.results and Dense.beside in asked.known))
        and {*missing} - {*USUAL_TYPES}
        and not asked.published
        and asked.known.keys().isdisjoint((*OF_MIXTURES, *PARAMETERS))
    ):
        told = f"{Dense.ratio} = 1: no experts are given, and a dense model is assumed"
        return _know_too(asked, {Dense.ratio: 1.0}, OF_DENSE, told)
    lacking = [name for name in PARAMETERS if name in missing and name not in (asked.unknown, *asked.known)]
    said = [name for name in PARAMETERS if name in asked.typed]
    if len(lacking) != 1 or len(said) != 1 or not asked.known.keys().isdisjoint(OF_MIXTURES):
        return asked
    (other,), (one,) = lacking, said
    text = f"{other} = {show(other, asked.known[one])} follows from the givens: one parameter count means a dense model"
    return _with_nothing(_know_too(asked, {other: asked.known[one]}, OF_DENSE, text))


def suppose_types(asked: Question, missing: Iterable[str]) -> Question | None:
    """Return the question with the usual data types of numbers whose width is not given.

    Weights of a model are as they were published.

    >>> usual = suppose_types(question("kv_bytes_per_token", {"layers": 80, "kv_heads": 8, "head_dim": 128}), ["bytes_per_element"])
    >>> usual and usual.unsaid
    {'bytes_per_element': 'the KV cache is in bf16 (bytes_per_element=fp8 has half the bytes)'}
    """
    lacking = [name for name in USUAL_TYPES if name != asked.unknown and (name in missing or _completes_definition(name, asked))]
    in_bf16 = BYTES_PER_WEIGHT[ATTENTION_DTYPE]
    found = {name: (in_bf16, USUAL_TYPES[name]) for name in lacking}
    spoken = {asked.unknown, *asked.known} & {*WIDTHS}
    one = next(iter(asked.published), None)
    if _WIDTH in found and (spoken or (one and one.dtype)):
        # A width of the experts or of the rest says with the other what the mean is.
        del found[_WIDTH]
        if one and one.dtype:
            together = dict.fromkeys(WIDTHS if spoken else (_WIDTH,), one.bytes_per_weight)
            text = f"weights are as published, in {one.dtype}. Give {_WIDTH} for others"
            found |= {name: (width, text) for name, width in (one.widths or together).items() if name not in spoken}
    if not found:
        return None
    known = _know_too(asked, {name: value for name, (value, _) in found.items()}, "supposed")
    chosen = dict(asked.variants)
    before, after = (choose_variants(asked.unknown, one.known, asked.named, asked.follows) for one in (asked, known))
    chosen |= {group: name for group, name in after.items() if chosen.get(group) == before.get(group)}
    unsaid = {**asked.unsaid, **{name: text for name, (_, text) in found.items()}}
    return _with_nothing(replace(known, variants=tuple(chosen.items()), unsaid=unsaid))


def suppose_one_sequence(asked: Question, missing: Iterable[str]) -> Question:
    """Return the question, of one sequence if it lacks only the batch and is about one sequence."""
    size = Batch.name
    lacks_only_size = {*missing} - {*USUAL_TYPES, *PARAMETERS} == {size} and asked.known.keys().isdisjoint(OneSequence.said_by)
    if asked.unknown not in OneSequence.results or not lacks_only_size:
        return asked
    return _with_nothing(_know_too(asked, {size: 1.0}, "supposed", f"{size} = 1 unless it is given: one sequence"))


def suppose_not_given(asked: Question, values: Mapping[str, float]) -> Question:
    """Return the question with these values, because none is given, and with all that is 0 with them."""
    return _with_nothing(_know_too(asked, values, NOT_GIVEN))


def _know_too(asked: Question, values: Mapping[str, float], source: str, *notes: str) -> Question:
    """Return the question with further known values of one source, and with remarks on them."""
    known, provenance = {**asked.known, **values}, {**asked.provenance, **dict.fromkeys(values, source)}
    return replace(asked, known=known, provenance=provenance, notes=(*asked.notes, *notes))


def _completes_definition(name: str, asked: Question) -> bool:
    """Return whether this quantity is all that a definition lacks."""
    defining = [row for row in asked.active if row.defines not in (None, asked.unknown, *asked.known) and name in row.symbols]
    return name not in asked.known and any(row.inputs > {name} and row.inputs - asked.known.keys() == {name} for row in defining)


def drop_knowns(asked: Question, names: Set[str]) -> Question:
    """Return the question with fewer knowns."""
    known, provenance = _drop(asked.known, names), _drop(asked.provenance, names)
    return replace(asked, known=known, provenance=provenance, limits=_drop(asked.limits, names), floors=_drop(asked.floors, names))


def _drop(some: Mapping[str, _T], names: Set[str]) -> dict[str, _T]:
    return {name: one for name, one in some.items() if name not in names}


def _refuse_impossible(known: Mapping[str, float]) -> None:
    """Raise WrongValue for a part larger than its whole, or a batch below one sequence."""
    for part, value in known.items():
        whole = quantity(part).whole
        if whole in known and value > known[whole]:
            raise WrongValue(f"{part} = {show(part, value)}: no more than {whole} = {show(whole, known[whole])}")
    least = known.get(Batch.name, 1.0)
    if least < 1 - HOLDS:
        raise WrongValue(f"{Batch.name} = {least:.4g}: a batch has at least one sequence")


def results_made_of(asked: Question, unknown: str) -> list[str]:
    """Return the given results whose definitions lead back to a quantity, or to a default."""
    made = list_made_of(asked.active)
    found = list_reached([unknown], lambda name: made.get(name, ()) if name == unknown or name not in asked.known else ())
    return [name for name in asked.typed if name in found]


def known_values(asked: Question) -> Iterator[dict[str, float]]:
    """Yield what may count as known: the givens with all defaults.

    If a given result may determine a default, first the givens alone, and then with all defaults but the number of chips.
    """
    defaults = default_values(asked, asked.known)
    put_in = {name for row in (*asked.active, *asked.named) for name in row.put_in}
    if any(results_made_of(asked, name) for name in defaults.keys() - put_in):
        yield {**asked.known, **{name: value for name, value in defaults.items() if name in put_in}}
        if _CHIPS in defaults:
            yield {**asked.known, **{name: value for name, value in defaults.items() if name != _CHIPS}}
    yield {**asked.known, **defaults}


def default_values(asked: Question, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults in force beside numbers or arrays."""
    standing = evaluate_defaults(asked.defaults, values)
    return {name: value for name, value in standing.items() if name not in values and name != asked.unknown}


def refuse_no_output(given: Mapping[str, Any]) -> None:
    """Raise WrongValue for requests without output tokens, with the question that fits prefill alone.

    >>> refuse_no_output({"output_tokens": 0})
    Traceback (most recent call last):
        ...
    derive.errors.WrongValue: output_tokens = 0 means only prefill: remove it and ask for time_to_first_token, prefill_time or \
prefill_cost_per_token
    """
    if _is_zero(given.get(Tokens.output)):
        *others, last = Tokens.without_output
        raise WrongValue(f"{Tokens.output} = 0 means only prefill: remove it and ask for {', '.join(others)} or {last}")


def _is_zero(value: Any) -> bool:
    with suppress(ValueError, OverflowError):
        return isinstance(value, str | int | float) and float(str(value).strip().split(" ")[0]) == 0
    return False


def pose_question(unknown: str, given: Mapping[str, Any], switches: Switches) -> Question:
    """Return the question without the sides of its limits, at one value of each range, list and sweep, also of those of presets."""
    plain = read_limits(given)[0]
    shown = {name: as_typed(name, one.shown, switches) for name, one in list_spreads(plain, switches).items()}
    asked = question(resolve_price_word(unknown, switches.using), {**plain, **shown}, switches)
    fixed = {name: switches.at[name] for name in asked.ranges if name in switches.at}
    known, ranges = {**asked.known, **fixed}, _drop(asked.ranges, fixed.keys())
    told = (f"{', '.join(fixed)}: from the least to the most of published runs",) if fixed else ()
    return replace(asked, known=known, ranges=ranges, notes=(*asked.notes, *told), silent=switches.silent)
