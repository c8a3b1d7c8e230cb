"""All presets of a question as one: chips, models, rents, storage tiers, and what published runs sustain."""

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import replace

from derive import presets, shipped
from derive.errors import WrongValue
from derive.preset_record import DECODE, MODEL_KINDS, OF_MIXTURES, PARAMETERS, PREFILL, Preset, merge, names_count
from derive.presets import as_published
from derive.solving.conventions import Conventions
from derive.units import show

_OF_PREFILL = ("time_to_first_token", "new_tokens_per_pass", "uncached_tokens", "rematerialisation_cost")
"""What is said of the arithmetic of prompts, beside what bears its name."""

_OF_TRAINING = ("training_time", "training_cost", "chip_hours", "training_chips")
"""What is of runs that no published serving time says anything of."""
_OF_BOTH_PHASES = ("request_latency", "cost_per_request", "price_per_request", "gross_margin", "concurrent_requests")
"""What a request comes to, prompt and output."""

_ONE_CHIP = {"chips": 1.0, "pipeline_stages": 1.0}
"""All that a step is divided over where nothing is exchanged."""


def combine_presets(
    unknown: str,
    typed: Mapping[str, float],
    hardware: str | Iterable[str] | None,
    model: str | Iterable[str] | None,
    conventions: Conventions,
    spans: Set[str],
) -> Preset:
    """Return all named presets as one, above what published runs of such a model sustain of the peaks in such a phase."""
    measured = conventions.efficiency == "calibrated"
    chips, models = ([texts] if isinstance(texts, str) else [*(texts or ())] for texts in (hardware, model))
    tables, settled = shipped.read(), typed.keys() | {unknown}
    if chips and "," in conventions.dtype:
        each = ",".join(f"{chips[0].partition(':')[0]}:{dtype}" for dtype in conventions.dtype.split(","))
        raise WrongValue(
            f"dtype = {conventions.dtype}: beside a chip it is one data type, as it sets the rate too; write --hardware {each}"
        )
    shapes = [(text, presets.model(text, tables)) for text in models]
    published = [one for _, shape in shapes for one in shape.published]
    named = [*((text, presets.hardware(text, tables, published, conventions.dtype)) for text in chips), *shapes]
    if conventions.price == "rent":
        if not chips:
            raise WrongValue("the rent is that of a chip: name one with --hardware, or give chip_price=...")
        named += [(f"the rent of {text}", presets.rent(text, tables)) for text in chips]
    if conventions.tier:
        from derive.tier_presets import tier

        named.append((f"--tier {conventions.tier}", tier(conventions.tier, tables)))
    preset = _apply_one_count(as_published(merge(named, settled), settled), {n: v for n, v in typed.items() if n not in spans}, unknown)
    if (counted := preset.givens.get("chips")) and "chips" in typed and counted != typed["chips"]:
        one = next(text for text in chips if names_count(text))
        both = f"{show('chips', counted)} by --hardware {one} and {show('chips', typed['chips'])} as given"
        raise WrongValue(f"chips is {both}: leave one of the two out")
    if not measured:
        return preset
    if not {unknown, *typed}.isdisjoint(_OF_TRAINING):
        return preset
    known = {**preset.givens, **typed}
    sustained = presets.calibrated(tables, _kinds(known), _phases(unknown, typed))
    if _is_one_chip(known, {unknown, *spans}):
        sustained = presets.on_one_chip(sustained)
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


def _is_one_chip(known: Mapping[str, float], open_: Set[str]) -> bool:
    """Return whether a step runs on one chip, as given or by default because a chip is named without a number.

    >>> _is_one_chip({"chips": 1.0}, {"step_time"}), _is_one_chip({"hbm_bandwidth": 3e12}, {"chips"})
    (True, False)
    """
    by_default = {} if known.keys().isdisjoint(("peak_flops", "hbm_bandwidth")) else {"chips": 1.0}
    return {"pipeline_stages": 1.0, **by_default, **known}.items() >= _ONE_CHIP.items() and open_.isdisjoint(_ONE_CHIP)


def _kinds(known: Mapping[str, float]) -> Collection[str]:
    """Return the possible kinds of the model: equal parameter counts or a single one mean a dense model."""
    total, active = (known.get(name) for name in PARAMETERS)
    if not known.keys().isdisjoint(OF_MIXTURES) or (total and active and total > active):
        return ("mixture",)
    return ("dense",) if total or active else tuple(MODEL_KINDS)


def _phases(unknown: str, typed: Collection[str]) -> Collection[str]:
    """Return the phases that a question mentions. A prompt alone may also be the context of a decode step."""
    if unknown == "prompt_tokens" or any(name in _OF_PREFILL or name.startswith("prefill_") for name in (unknown, *typed)):
        return (PREFILL,)
    return (DECODE, PREFILL) if unknown in _OF_BOTH_PHASES else (DECODE,)
