"""A question as records: what is asked, what is known and from where, and which equations may be used."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from derive import presets, shipped
from derive.catalogue import ROOF_IDS, bounds, by_id, equation, stand_ins, variants_of
from derive.errors import UnknownName, WrongValue
from derive.presets import PARAMETERS, Preset, Published, as_published
from derive.quantities import quantity
from derive.records import CHAINED_BY_ITSELF, Equation
from derive.requirements import HOLDS
from derive.solving.conventions import USUAL_CONVENTIONS, Conventions
from derive.solving.defaults import Standing, in_numbers, neutral, standing, with_defaults
from derive.solving.givens import Spread
from derive.solving.nothing import made_of_nothing
from derive.units import show

T = TypeVar("T")

OF_REQUESTS = ("cost_per_request", "price_per_request", "blended_price", "input_price")
"""What says that a margin is that of whole requests, and not of decoded tokens alone."""

BEFORE_OUTPUT = ("kv_transfer_time",)
"""What there is of a request before its first output token."""


@dataclass(frozen=True, slots=True)
class Instead:
    """What a default is instead, as the givens contradict it by an equation: which way that errs, and the defaults it rests on in words."""

    name: str
    value: float
    causes: frozenset[tuple[str, str]]
    defaults: tuple[str, ...]
    by: str = ""

    @property
    def text(self) -> str:
        """The same in words."""
        return f"{self.name} = {show(self.name, self.value)} follows from the givens ({self.by})"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, with everything that is known, everything that may be used, the defaults that stand, and what
    bounds a quantity that nothing gives.

    `nothing` follows from something given as nothing, with what it follows from. `limits` are results that were given as at
    most ("upper") or at least ("lower") so much, `instead` defaults that the givens contradict.
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
    defaults: Standing = field(default_factory=dict)
    bounds: tuple[Equation, ...] = ()
    published: tuple[Published, ...] = ()
    nothing: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    variants: tuple[tuple[str, str], ...] = ()
    instead: tuple[Instead, ...] = ()
    parameters_only: tuple[str, ...] = ()


def question(
    unknown: str,
    given: Mapping[str, float | str],
    hardware_name: str | Iterable[str] | None = None,
    model_name: str | Iterable[str] | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    conventions: Conventions = USUAL_CONVENTIONS,
    anyway: bool = False,
    spans: Mapping[str, Spread] = MappingProxyType({}),
) -> Question:
    """The question as records: names resolved, presets laid under the givens, variants chosen.

    `spans` are givens that run over several values, by registry name: the question is posed at one of them.
    """
    name = quantity(unknown).name
    typed = _typed(given, conventions)
    if twice := typed.keys() & spans.keys():
        raise WrongValue(f"{min(twice)} is given twice: leave one of the two out")
    typed |= {n: found.shown for n, found in spans.items()}
    if name in typed:
        raise WrongValue(f"{name} is asked for and given ({show(name, typed[name])}): leave one of the two out")
    settled = typed.keys() | {name}
    preset = as_published(_merged(_presets(hardware_name, model_name, conventions), settled), settled)
    known = {n: v for n, v in {**preset.givens, **typed}.items() if n != name}
    provenance = {n: "given" if n in typed else preset.provenance[n] for n in known}
    notes = tuple(
        f"{n} as given, not the {show(n, preset.givens[n])} of {preset.provenance[n]}"
        for n in typed
        if n in preset.givens and preset.givens[n] != typed[n]
    )
    _refuse_impossible(known, spans)
    chosen = tuple({**preset.variants, **_variants_of_givens(name, known), **_checked(variants or {})}.items())
    using = (using,) if isinstance(using, str) else tuple(using)
    left_out = tuple(equation(id) for id in preset.left_out if id not in using)
    named = tuple(map(equation, using))
    whole = Question(
        *(name, known, (), provenance, notes, named, left_out, conventions, anyway),
        published=preset.published,
        variants=chosen,
        parameters_only=preset.parameters_only,
    )
    return _with_nothing(whole)


def at_values(asked: Question, values: Mapping[str, float]) -> Question:
    """The question at other values of what was given, as if these had been given alone: what is nothing there has its own equations.

    >>> asked = question("step_time", {"compute_time": 0.02, "memory_time": 0.01, "attention_time": 1e-3})
    >>> [any(row.defines == "attention_time" for row in at_values(asked, {"attention_time": time}).active) for time in (0.01, 0.0)]
    [True, False]
    """
    if all((value == 0) == (asked.known[name] == 0) for name, value in values.items()):
        return replace(asked, known={**asked.known, **values})
    plain = without(asked, asked.nothing.keys())
    return _with_nothing(replace(plain, known={**plain.known, **values}))


def _with_nothing(asked: Question) -> Question:
    """The question posed, with what follows from what was given as nothing."""
    using, left_out = (tuple(row.id for row in rows) for rows in (asked.named, asked.left_out))
    zeros = [n for n, value in asked.known.items() if value == 0 and asked.provenance[n] == "given"]
    nothing = made_of_nothing(_active(asked.unknown, asked.variants, using, left_out, ()), zeros, {asked.unknown, *asked.known} - {*zeros})
    known = {**asked.known, **dict.fromkeys(nothing, 0.0)}
    provenance = {**asked.provenance, **{n: f"follows from {source} = 0" for n, source in nothing.items()}}
    return posed(replace(asked, provenance=provenance, nothing=nothing), asked.unknown, known)


def posed(asked: Question, unknown: str, known: Mapping[str, float]) -> Question:
    """The question with something else known or asked, with the defaults that then stand.

    >>> asked = question("throughput", {"batch": 8, "step_time": 0.02, "pipeline_stages": 4})
    >>> again = posed(asked, "throughput", {**asked.known, "hop_latency": 0.01})
    >>> [("hop_latency" in one.defaults) for one in (asked, again)]
    [True, False]
    """
    using, left_out = (tuple(row.id for row in rows) for rows in (asked.named, asked.left_out))
    defaults = standing(unknown, known.keys(), [equation(id).symbols[0] for id in using])
    not_made_up = (*(n for n, value in known.items() if value == 0), *defaults)
    values = neutral(defaults)
    aside = (*left_out, *_set_aside(unknown, {*known, *defaults}))
    active = _telling(_active(unknown, asked.variants, using, aside, not_made_up), values)
    named = tuple(with_defaults(equation(id), values) for id in using)
    return replace(asked, unknown=unknown, known=known, active=active, named=named, defaults=defaults, bounds=_telling(bounds(), values))


def _set_aside(unknown: str, known: Set[str]) -> tuple[str, ...]:
    """Definitions that stand in for nothing here: what they define is known, or is not asked for and something they take is missing."""
    return tuple(
        row.id for row, needed in stand_ins().items() if row.defines in known or not (row.defines == unknown or needed <= known | {unknown})
    )


def without(asked: Question, names: Set[str]) -> Question:
    """The question with less known."""
    return replace(asked, known=_but(asked.known, names), provenance=_but(asked.provenance, names), limits=_but(asked.limits, names))


def _but(some: Mapping[str, T], names: Set[str]) -> dict[str, T]:
    return {name: one for name, one in some.items() if name not in names}


@lru_cache(maxsize=1024)
def _telling(rows: tuple[Equation, ...], values: tuple[tuple[str, int | str], ...]) -> tuple[Equation, ...]:
    """Equations with the defaults put in, but those of which these leave nothing."""
    return tuple(row for row in (with_defaults(one, values) for one in rows) if row.symbols)


def _typed(given: Mapping[str, float | str], conventions: Conventions) -> dict[str, float]:
    """What was given, in SI by registry name; each quantity once."""
    typed: dict[str, float] = {}
    for spelled, value in given.items():
        row = quantity(spelled)
        if row.name in typed:
            raise WrongValue(f"{row.name} is given twice, once as {spelled}: leave one of the two out")
        typed[row.name] = conventions.read(row.name, value)
    return typed


def _presets(hardware: str | Iterable[str] | None, model: str | Iterable[str] | None, conventions: Conventions) -> list[tuple[str, Preset]]:
    """Every preset that is asked for, with the name it was asked for by."""
    if not hardware and not model and conventions.efficiency == "ideal":
        return []
    lookups, tables = [(presets.hardware, hardware), (presets.model, model)], shipped.read()
    named = [(text, lookup(text, tables)) for lookup, texts in lookups for text in ([texts] if isinstance(texts, str) else texts or ())]
    return [*named, ("calibrated", presets.calibrated(tables))] if conventions.efficiency == "calibrated" else named


def _merged(named: Iterable[tuple[str, Preset]], settled: Set[str]) -> Preset:
    """All presets as one; two that set a quantity differently are refused, unless what is given settles it."""
    merged, owner = Preset({}, {}, {}), dict[str, str]()
    for label, preset in named:
        for name, value in preset.givens.items():
            if name not in settled and merged.givens.get(name, value) != value:
                both = f"{show(name, merged.givens[name])} by {owner[name]} and {show(name, value)} by {label}"
                raise WrongValue(f"{name} is {both}: give {name}=..., or leave one of the two out")
            owner[name] = label
        for group, variant in preset.variants.items():
            if merged.variants.get(group, variant) != variant:
                raise WrongValue(f"{group} is {merged.variants[group]} and {variant} by {label}: leave one of the two out")
        merged = Preset(
            {**merged.givens, **preset.givens},
            {**merged.provenance, **preset.provenance},
            {**merged.variants, **preset.variants},
            merged.left_out + preset.left_out,
            merged.published + preset.published,
            merged.parameters_only + preset.parameters_only,
        )
    return merged


def _variants_of_givens(unknown: str, known: Mapping[str, float]) -> Mapping[str, str]:
    """What a step reads of the weights, where it is known how many experts there are and how many of them a token uses; what a margin is
    of, where requests are spoken of; and which context a request has, where nothing is said of its output.
    """
    mixture = {"experts", "active_experts"} <= known.keys() and known["active_experts"] < known["experts"]
    whole = not known.keys().isdisjoint(OF_REQUESTS)
    before_output = "output_tokens" not in {*known, unknown} or unknown in BEFORE_OUTPUT
    return {
        **({"weight_time": "touched"} if mixture else {}),
        **({"gross_margin": "request"} if whole else {}),
        **({"context_length": "prompt"} if "prompt_tokens" in known and before_output else {}),
        **_counted(known),
    }


def _counted(known: Mapping[str, float]) -> Mapping[str, str]:
    """How parameters are counted from dimensions: with experts, and with the latents of attention, where those are known."""
    experts = dict.fromkeys(PARAMETERS, "moe") if "experts" in known else {}
    return experts | ({"attention_params_per_layer": "mla"} if "latent_dim" in known else {})


def _refuse_impossible(known: Mapping[str, float], spans: Mapping[str, Spread]) -> None:
    """Refuses more of a part than of its whole, and less than a sequence as a batch, anywhere in what is given."""
    ends = {name: (value, value) for name, value in known.items()} | {name: found.ends for name, found in spans.items()}
    for part, (_, most) in ends.items():
        whole = quantity(part).whole
        if whole in ends and most > ends[whole][0]:
            raise WrongValue(f"{part} = {show(part, most)}: no more than {whole} = {show(whole, ends[whole][0])}")
    least, _ = ends.get("batch", (1.0, 1.0))
    if least < 1 - HOLDS:
        raise WrongValue(f"batch = {least:.4g}: a batch is one sequence at least, as a pass in which nothing is decoded reads nothing")


def _checked(asked: Mapping[str, str]) -> Mapping[str, str]:
    groups = {row.variant.group for row in by_id().values() if row.variant}
    for group, name in asked.items():
        if group not in groups:
            raise UnknownName("variant group", group, sorted(groups))
        if name not in variants_of(group):
            raise UnknownName(group, name, variants_of(group))
    return asked


@lru_cache(maxsize=1024)
def _active(
    unknown: str, variants: tuple[tuple[str, str], ...], using: tuple[str, ...], left_out: tuple[str, ...], settled: tuple[str, ...]
) -> tuple[Equation, ...]:
    """The equations a route may take: of each group those of one variant, and what was named; none that a preset leaves out.

    What is given as none at all, or has a default that stands, is not made up of anything: its definition says nothing
    of the quantities in it.
    """
    chosen = dict(variants)
    named = [equation(id) for id in using]
    picked: dict[str, tuple[str, Equation]] = {}
    for row, variant in ((row, row.variant) for row in named if row.variant):
        name, first = picked.setdefault(variant.group, (variant.name, row))
        if name != variant.name:
            raise WrongValue(f"{first.id} and {row.id} are two variants of {variant.group}: name one")
    chosen |= {group: name for group, (name, _) in picked.items()}

    def takes_part(row: Equation) -> bool:
        if row in named:
            return True
        if row.id in (*left_out, *ROOF_IDS) or row.defines in settled or (row.sense != "=" and unknown not in row.symbols):
            return False
        if row.variant is None:
            return row.kind in CHAINED_BY_ITSELF
        return chosen[row.variant.group] == row.variant.name if row.variant.group in chosen else row.variant.default

    return tuple(row for row in by_id().values() if takes_part(row))


def taken_as_known(asked: Question) -> Iterator[dict[str, float]]:
    """What may be taken as known: the givens; defaults too, the number of chips last, as results may say what it is."""
    defaults = standing_beside(asked, asked.known)
    put_in = {name for row in (*asked.active, *asked.named) for name in row.put_in}
    yield {**asked.known, **{name: value for name, value in defaults.items() if name in put_in}}
    if "chips" in defaults:
        yield {**asked.known, **{name: value for name, value in defaults.items() if name != "chips"}}
    yield {**asked.known, **defaults}


def standing_beside(asked: Question, values: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults that are taken up beside numbers or arrays."""
    standing = in_numbers(asked.defaults, values)
    return {name: value for name, value in standing.items() if name not in values and name != asked.unknown}
