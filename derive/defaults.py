"""Neutral defaults: factors that are 1 and terms that are 0, until something that was given says otherwise.

Where a default stands, its quantity is put into the equations of a question, which then do not speak of it any more.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from functools import lru_cache
from inspect import Parameter, Signature, signature
from math import isclose
from random import Random
from typing import Any

from derive.quantities import CONSTANTS, NEUTRAL_DEFAULTS
from derive.records import Equation, in_sympy

ATTENTION = ("attention_flops_per_sequence", "attention_flops_per_pair", "query_heads", "indexer_heads")
PROMPTS = ("prompt_tokens",)
DRAFTS = ("draft_tokens", "acceptance_rate")
TIMES = ("peak_flops", "hbm_bandwidth", "compute_time", "memory_time")

GOVERNED = {
    **dict.fromkeys(("attention_time", "attention_compute_ratio"), (ATTENTION,)),
    **dict.fromkeys(("tokens_per_step", "positions_per_step", "drafting_time", "drafting_compute_ratio"), (DRAFTS,)),
    "draft_cost_ratio": (("drafting_time", "drafting_compute_ratio"),),
    "verification_ratio": (TIMES,),
    "hop_latency": (("grid_latency", "minimum_latency", "synchronisations_per_layer"),),
    "idle_fraction": (("hop_latency", "microbatches", "sequences_in_flight"),),
    "prefill_attention_factor": (PROMPTS, ("prefill_attention_flops_per_pair", "attention_flops_per_pair", "query_heads")),
}
"""What a default gives way to: where one of each of these is known or asked for, the quantity is what its definition makes of it."""

FOLLOWS = {"microbatches": "pipeline_stages", "positions_per_step": "tokens_per_step"}
"""Defaults that are what another quantity is, where that is known or asked for, and else one."""

SAY_HOW_MANY = ("sequences_in_flight", "idle_fraction")
"""What, given, says how many microbatches there are."""

MAY_DIFFER = ("chips", "pipeline_stages", "mfu", "mbu", "replicas", "tokens_per_step")
"""Defaults that a measured result may contradict: it then says what they are. The others are put into the equations."""

DRAWS = 8
"""At how many draws it is looked whether a quantity moves anything."""

Values = tuple[tuple[str, int | str], ...]
"""Quantities with what stands for them: a number, or another quantity."""


def standing(unknown: str, known: Mapping[str, float], claimed: Iterable[str] = ()) -> dict[str, float]:
    """The defaults in force where one quantity is asked for and these are known, by name; what is claimed by name has none.

    As many microbatches are in flight as there are stages, the fewest that leave none idle, unless something given says
    how many. A step computes at least as many positions as it yields tokens.

    >>> standing("throughput", {"pipeline_stages": 4.0})["microbatches"], "tokens_per_step" in standing("throughput", {"draft_tokens": 3.0})
    (4.0, False)
    """
    at_hand = {*known, unknown}
    free = {name: value for name, value in NEUTRAL_DEFAULTS.items() if name not in at_hand and name not in claimed}
    defaults = {name: value for name, value in free.items() if not _gives_way(name, at_hand)}
    if not known.keys().isdisjoint(SAY_HOW_MANY) or unknown == "pipeline_stages":
        defaults.pop("microbatches", None)
    return defaults | following(defaults, known)


def following(defaults: Mapping[str, float], known: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults that are what another quantity is known to be, numbers or arrays."""
    return {name: known[other] for name, other in FOLLOWS.items() if name in defaults and other in known}


def _gives_way(name: str, at_hand: Set[str]) -> bool:
    return name in GOVERNED and all(not at_hand.isdisjoint(names) for names in GOVERNED[name])


def neutral(defaults: Mapping[str, float]) -> Values:
    """What is put into the equations, of the defaults that stand."""
    values: dict[str, int | str] = {name: int(value) for name, value in defaults.items() if name not in MAY_DIFFER}
    values |= {name: other for name, other in FOLLOWS.items() if name in values and other not in defaults}
    if "microbatches" in values and "pipeline_stages" in defaults:
        values["pipeline_stages"] = 1
    return tuple(sorted(values.items()))


@lru_cache(maxsize=4096)
def with_defaults(row: Equation, values: Values) -> Equation:
    """An equation without the quantities that stand at these values, and without what they take with them.

    >>> from derive.catalogue import equation
    >>> with_defaults(equation("scheduling.throughput"), (("microbatches", 1),)).symbols
    ('throughput', 'batch', 'tokens_per_step', 'token_latency')
    """
    spoken = {name: value for name, value in values if name in row.symbols[1:]}
    if not spoken:
        return row
    relation = _without(row.relation, spoken)
    gone = _gone(row, relation, spoken) if any(value != 1 for value in spoken.values()) else {}
    return replace(
        row,
        relation=_without(relation, gone) if gone else relation,
        requires=tuple(_without(needed, spoken) for needed in row.requires),
        put_in=tuple(spoken),
    )


def _gone(row: Equation, relation: Callable[..., Any], spoken: Mapping[str, int | str]) -> dict[str, int]:
    """Quantities that a term of nothing, or a ratio of one, takes with it; SymPy is asked only where some move nothing at numbers."""
    if all(_moves(relation, name) for name in row.symbols if name not in spoken):
        return {}
    left, right = in_sympy(relation)
    held = {part.name for part in (left - right).free_symbols}
    return {name: 1 for name in row.symbols if name not in held and name not in spoken}


def _moves(relation: Callable[..., Any], name: str) -> bool:
    """Whether left less right moves with a quantity at one of a few draws at least."""
    names, random = tuple(signature(relation).parameters), Random(0)
    for _ in range(DRAWS if name in names else 0):
        values = {one: CONSTANTS[one].value if one in CONSTANTS else 1 + random.random() for one in names}
        try:
            sides = [relation(*{**values, name: value}.values()) for value in (values[name], 2 * values[name])]
        except (ArithmeticError, ValueError, TypeError):
            continue
        heights = [left - right for left, right in sides]
        if not any(isinstance(one, complex) for one in heights) and not isclose(*heights, rel_tol=1e-9, abs_tol=1e-9):
            return True
    return False


def _without(function: Callable[..., Any], values: Mapping[str, int | str]) -> Callable[..., Any]:
    """A function of fewer parameters: the others are these numbers, or follow another parameter."""
    stand = [values.get(name, name) for name in signature(function).parameters]
    left = tuple(dict.fromkeys(name for name in stand if isinstance(name, str)))

    places = [left.index(one) if isinstance(one, str) else None for one in stand]

    def reduced(*arguments: Any) -> Any:
        return function(*[one if place is None else arguments[place] for one, place in zip(stand, places, strict=True)])

    reduced.__wrapped__ = function  # type: ignore[attr-defined]
    reduced.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in left])  # type: ignore[attr-defined]
    return reduced
