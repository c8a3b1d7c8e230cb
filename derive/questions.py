"""A question as records: what is asked, what is known and from where, and which equations may be used."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Real

from derive import presets
from derive.catalogue import by_id, equation, variants_of
from derive.errors import UnknownName, WrongValue
from derive.presets import Preset
from derive.quantities import quantity
from derive.records import CHAINED_BY_ITSELF, Equation
from derive.units import parse, show


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, with everything that is known and everything that may be used."""

    unknown: str
    known: Mapping[str, float]
    active: tuple[Equation, ...]
    provenance: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    named: tuple[Equation, ...] = ()
    left_out: tuple[Equation, ...] = ()


@dataclass(frozen=True, slots=True)
class Leg:
    """One equation to be solved for one quantity on the way; the others would have given it too."""

    equation: Equation
    unknown: str
    alternatives: tuple[Equation, ...] = ()


def question(
    unknown: str,
    given: Mapping[str, float | str],
    hardware_name: str | None = None,
    model_name: str | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
) -> Question:
    """The question as records: names resolved, presets laid under the givens, variants chosen."""
    name = quantity(unknown).name
    typed = _typed(given)
    if name in typed:
        raise WrongValue(f"{name} is asked for and given ({show(name, typed[name])}): leave one of the two out")
    preset = _presets(hardware_name, model_name)
    known = {n: v for n, v in {**preset.givens, **typed}.items() if n != name}
    provenance = {n: "given" if n in typed else preset.provenance[n] for n in known}
    notes = tuple(
        f"{n} as given, not the {show(n, preset.givens[n])} of {preset.provenance[n]}"
        for n in typed
        if n in preset.givens and preset.givens[n] != typed[n]
    )
    chosen = {**preset.variants, **_checked(variants or {})}
    named = (using,) if isinstance(using, str) else tuple(using)
    active = _active(name, tuple(chosen.items()), named, preset.left_out)
    left_out = tuple(equation(id) for id in preset.left_out if id not in named)
    return Question(name, known, active, provenance, notes, tuple(equation(id) for id in named), left_out)


def _typed(given: Mapping[str, float | str]) -> dict[str, float]:
    """What was given, in SI by registry name; each quantity once."""
    typed: dict[str, float] = {}
    for spelled, value in given.items():
        row = quantity(spelled)
        if row.name in typed:
            raise WrongValue(f"{row.name} is given twice, once as {spelled}: leave one of the two out")
        if not isinstance(value, str | Real):
            raise WrongValue(f"{row.name} = {value!r}: must be a number [{row.unit}], or text such as '{show(row.name, row.high)}'")
        typed[row.name] = parse(row.name, value) if isinstance(value, str) else row.check(float(value))
    return typed


def _presets(hardware_name: str | None, model_name: str | None) -> Preset:
    found = [lookup(text) for lookup, text in ((presets.hardware, hardware_name), (presets.model, model_name)) if text is not None]
    merged = Preset({}, {}, {})
    for preset in found:
        merged = Preset(
            {**merged.givens, **preset.givens},
            {**merged.provenance, **preset.provenance},
            {**merged.variants, **preset.variants},
            merged.left_out + preset.left_out,
        )
    return merged


def _checked(asked: Mapping[str, str]) -> Mapping[str, str]:
    groups = {row.variant[0] for row in by_id().values() if row.variant}
    for group, name in asked.items():
        if group not in groups:
            raise UnknownName("variant group", group, sorted(groups))
        if name not in variants_of(group):
            raise UnknownName(group, name, variants_of(group))
    return asked


@lru_cache(maxsize=1024)
def _active(unknown: str, variants: tuple[tuple[str, str], ...], using: tuple[str, ...], left_out: tuple[str, ...]) -> tuple[Equation, ...]:
    """The equations a route may take: one variant of each group, and what was named; none that a preset leaves out."""
    chosen = dict(variants)
    named = [equation(id) for id in using]
    picked: dict[str, Equation] = {}
    for row in named:
        if row.variant and picked.setdefault(row.variant[0], row) is not row:
            raise WrongValue(f"{picked[row.variant[0]].id} and {row.id} are two variants of {row.variant[0]}: name one")

    def takes_part(row: Equation) -> bool:
        if row in named:
            return True
        if row.id in left_out or row.kind not in CHAINED_BY_ITSELF or (row.sense != "=" and unknown not in row.symbols):
            return False
        if row.variant is None:
            return True
        group, name, default = row.variant
        if group in picked:
            return picked[group] is row
        return chosen[group] == name if group in chosen else default

    return tuple(row for row in by_id().values() if takes_part(row))
