"""All presets of a question as one: chips, models, rents, storage tiers, and what published runs sustain."""

from collections.abc import Collection, Mapping, Set
from dataclasses import replace

from derive import presets
from derive.errors import WrongValue
from derive.preset_record import BOTH, DECODE, MODEL_KINDS, OF_MIXTURES, PARAMETERS, PREFILL, Preset, merge, names_count
from derive.presets import as_published
from derive.roles import Memory, Phases, Prompts, Replica, Tokens, Waiting
from derive.solving.question.conventions import Switches
from derive.tables import shipped
from derive.units import show

_CHIPS = Memory.bought


def combine_presets(unknown: str, typed: Mapping[str, float], switches: Switches) -> Preset:
    """Return all named presets as one, above what published runs of such a model sustain of the peaks in such a phase."""
    conventions = switches.conventions
    chips, models = ([texts] if isinstance(texts, str) else [*(texts or ())] for texts in (switches.hardware, switches.model))
    tables, settled = shipped.read(), typed.keys() | {unknown}
    if chips and "," in conventions.dtype:
        each = ",".join(f"{chips[0].partition(':')[0]}:{dtype}" for dtype in conventions.dtype.split(","))
        raise WrongValue(
            f"dtype = {conventions.dtype}: beside a chip it is one data type, as it sets the rate too. Write --hardware {each}"
        )
    shapes = [(text, presets.model(text, tables)) for text in models]
    published = [one for _, shape in shapes for one in shape.published]
    named = [*((text, presets.hardware(text, tables, published, conventions.dtype)) for text in chips), *shapes]
    if conventions.price == "rent":
        if not chips:
            instead = "leave out --price rent" if Waiting.price in typed else f"give {Waiting.price}=..."
            raise WrongValue(f"the rent needs a chip: name one with --hardware, or {instead}")
        named += [(f"the rent of {text}", presets.rent(text, tables)) for text in chips]
    if conventions.tier:
        from derive.tier_presets import tier_of_chip

        chip = named[0][1] if len(chips) == 1 else Preset()
        named.append((f"--tier {conventions.tier}", tier_of_chip(conventions.tier, chip, tables, typed.get(Waiting.price))))
    preset = _apply_one_count(as_published(merge(named, settled), settled), typed, unknown)
    # The count of a chip may be that of all replicas and stages.
    of_all = typed.get(_CHIPS, 0.0) * typed.get(Replica.number, 1.0) * typed.get(Memory.groups, 1.0)
    if (counted := preset.givens.get(_CHIPS)) and _CHIPS in typed and counted not in (typed[_CHIPS], of_all):
        one = next(text for text in chips if names_count(text))
        both = f"{show(_CHIPS, counted)} by --hardware {one} and {show(_CHIPS, typed[_CHIPS])} as given"
        raise WrongValue(f"{_CHIPS} is {both}: remove one of them")
    if conventions.efficiency != "calibrated" or not {unknown, *typed}.isdisjoint(Phases.of_training):
        return preset
    known = {**preset.givens, **typed}
    phases, said = _phases(unknown, typed), {unknown, *known}
    sustained = presets.calibrated(kinds_of(known), (deployment_of(known, {unknown}),), phases, tables)
    if Phases.layers not in said or (phases == (PREFILL,) and said.isdisjoint(Phases.lengths_of_prompts)):
        sustained = replace(sustained, givens={n: value for n, value in sustained.givens.items() if n != Phases.layer_time})
    return merge([("presets", preset), ("calibrated", sustained)], settled)


def _apply_one_count(preset: Preset, typed: Mapping[str, float], unknown: str) -> Preset:
    """Return the presets of a dense model with the one given parameter count in place of both."""
    total, active = (preset.givens.get(name) for name in PARAMETERS)
    one, *more = [name for name in PARAMETERS if name in typed] or [""]
    other = next(name for name in PARAMETERS if name != one)
    if total is None or total != active or more or not one or other == unknown:
        return preset
    givens, provenance = {**preset.givens, other: typed[one]}, {**preset.provenance, other: f"{one} as given, of a dense model"}
    return replace(preset, givens=givens, provenance=provenance)


def deployment_of(known: Mapping[str, float], open_: Set[str]) -> str:
    """Return on how many chips a model runs: as given, or the one chip of a default. If that is open, it is one node, as of most replicas.

    >>> deployment_of({"chips": 72.0}, {"step_time"}), deployment_of({"hbm_bandwidth": 3e12}, {"step_time"}), deployment_of({}, {"chips"})
    ('several nodes', 'one chip', 'one node')
    """
    by_default = {} if known.keys().isdisjoint(Phases.chip) else {_CHIPS: 1.0}
    chips = {**by_default, **known}.get(_CHIPS)
    return presets.ONE_NODE if chips is None or _CHIPS in open_ else presets.deployment_of(chips)


def kinds_of(known: Mapping[str, float]) -> Collection[str]:
    """Return the possible kinds of the model: equal parameter counts or a single one mean a dense model."""
    total, active = (known.get(name) for name in PARAMETERS)
    if not known.keys().isdisjoint(OF_MIXTURES) or (total and active and total > active):
        return ("mixture",)
    return ("dense",) if total or active else tuple(MODEL_KINDS)


def _phases(unknown: str, typed: Collection[str]) -> Collection[str]:
    """Return the phases that a question mentions. A prompt alone may also be the context of a decode step."""
    if {Tokens.prompt, Tokens.output} <= {*typed}:
        return (DECODE, PREFILL, BOTH)
    if unknown == Tokens.prompt or any(name in Phases.of_prompts or name.startswith(Prompts.part) for name in (unknown, *typed)):
        return (PREFILL,)
    return (DECODE, PREFILL, BOTH) if unknown in Phases.of_requests else (DECODE,)
