"""The switches of a question: presets, equations that join by name, variants and conventions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from derive.catalogue import equation
from derive.meanings import IMPLIED, Prompts
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import read_limits, spread
from derive.solving.question.questions import Question, question, resolve_price_word
from derive.spreads import Spread


def pose_question(unknown: str, given: Mapping[str, Any], switches: Switches) -> Question:
    """Return the question without the sides of its limits, at one value of each range, list and sweep."""
    plain = read_limits(given)[0]
    shown = {name: as_typed(name, one.shown, switches) for name, one in list_spreads(plain, switches).items()}
    asked = question(resolve_price_word(unknown, switches.using), {**plain, **shown}, switches)
    return _pose_at_switches(asked, switches) if switches.at or switches.silent else asked


def list_spreads(plain: Mapping[str, Any], switches: Switches) -> dict[str, Spread]:
    """Return the ranges, lists and sweeps among givens without limits."""
    return {name: one for name, value in plain.items() if (one := spread(name, value, switches.conventions.read))}


def as_typed(name: str, value: float, switches: Switches) -> float:
    """Return the number that is read as this value in the conventions of a question."""
    return value / (switches.conventions.read(name, value) / value) if value else value


def _pose_at_switches(asked: Question, switches: Switches) -> Question:
    """Return the question at one value of each input for which presets have a range, without warnings if it is silent."""
    known = {**asked.known, **{name: value for name, value in switches.at.items() if name in asked.ranges}}
    ranges = {name: one for name, one in asked.ranges.items() if name not in switches.at}
    fixed = [name for name in asked.ranges if name in switches.at]
    told = (f"{', '.join(fixed)}: from the least to the most of published runs",) if fixed else ()
    return replace(asked, known=known, ranges=ranges, notes=(*asked.notes, *told), silent=switches.silent)


def names_prompts(using: Iterable[str], variants: Mapping[str, str]) -> bool:
    """Return whether a question names a variant that counts prompts or leaves them out.

    >>> names_prompts([], {}), names_prompts(["serving.request_latency_with_prompts"], {})
    (False, True)
    """
    return _named_variant(using, variants) is not None


def implied_names(switches: Switches) -> tuple[str, ...]:
    """Return quantities that a question implies without naming them: the time of prompts on the same chips if it counts it, the width
    of weights if a chip is named with a data type, and the layers of a model.

    >>> with_prompts = ("serving.request_latency_with_prompts",)
    >>> implied_names(Switches()), implied_names(Switches("H100:fp8", "Llama-3.1-8B", using=with_prompts))
    ((), ('prompt_time_share', 'bytes_per_weight', 'layers'))
    """
    hardware = switches.hardware
    if not (switches.using or switches.variants or hardware or switches.model):
        return ()
    variant = equation(Prompts.together).variant
    chips = (hardware,) if isinstance(hardware, str) else tuple(hardware or ())
    said = {
        "prompts": variant is not None and _named_variant(switches.using, switches.variants) == variant.name,
        "data type": any(":" in chip for chip in chips),
        "model": bool(switches.model),
    }
    return tuple(name for what, is_said in said.items() if is_said for name in IMPLIED[what])


def _named_variant(using: Iterable[str], variants: Mapping[str, str]) -> str | None:
    """Return the named variant of those that say where prompts are computed."""
    of_prompts = equation(Prompts.together).variant
    group = of_prompts.group if of_prompts else ""
    named = [variant.name for id in using if (variant := equation(id).variant) and variant.group == group]
    return next(iter(named), variants.get(group))
