"""The switches of a question: presets, equations that join by name, variants and conventions."""

from collections.abc import Iterable, Mapping
from typing import Any

from derive.catalogue import equation
from derive.meanings import IMPLIED, PROMPTS
from derive.quantities import quantity
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import read_limits, spread
from derive.solving.question.questions import Question, question, resolve_price_word
from derive.spreads import Spread


def pose_question(unknown: str, given: Mapping[str, Any], switches: Switches) -> tuple[Question, dict[str, Spread]]:
    """Return the question without the sides of its limits, at one value of each range, list and sweep, and these by registry name."""
    plain = read_limits(given)[0]
    read = ((spelled, spread(quantity(spelled).name, value, switches.conventions.read)) for spelled, value in plain.items())
    spans = {spelled: one for spelled, one in read if one}
    single = {spelled: value for spelled, value in plain.items() if spelled not in spans}
    by_name = {quantity(spelled).name: one for spelled, one in spans.items()}
    return question(resolve_price_word(unknown, switches.using), single, switches, by_name), by_name


def names_prompts(using: Iterable[str], variants: Mapping[str, str]) -> bool:
    """Return whether a question names a variant that counts prompts or leaves them out.

    >>> names_prompts([], {}), names_prompts(["serving.request_latency_with_prompts"], {})
    (False, True)
    """
    return _named_variant(using, variants) is not None


def implied_names(
    using: Iterable[str],
    variants: Mapping[str, str],
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
) -> tuple[str, ...]:
    """Return quantities that a question implies without naming them: the time of prompts on the same chips if it counts it, the width
    of weights if a chip is named with a data type, and the layers of a model.

    >>> implied_names([], {}), implied_names(["serving.request_latency_with_prompts"], {}, "H100:fp8", "Llama-3.1-8B")
    ((), ('prompt_time_share', 'bytes_per_weight', 'layers'))
    """
    if not (using or variants or hardware or model):
        return ()
    variant = equation(PROMPTS.together).variant
    chips = (hardware,) if isinstance(hardware, str) else tuple(hardware or ())
    said = {
        "prompts": variant is not None and _named_variant(using, variants) == variant.name,
        "data type": any(":" in chip for chip in chips),
        "model": bool(model),
    }
    return tuple(name for what, is_said in said.items() if is_said for name in IMPLIED[what])


def _named_variant(using: Iterable[str], variants: Mapping[str, str]) -> str | None:
    """Return the named variant of those that say where prompts are computed."""
    of_prompts = equation(PROMPTS.together).variant
    group = of_prompts.group if of_prompts else ""
    named = [variant.name for id in using if (variant := equation(id).variant) and variant.group == group]
    return next(iter(named), variants.get(group))
