"""Compute what a price sheet can identify: rank and null space of its prices, and the outside facts that determine a quantity.

The Jacobian has the derivatives of the log prices by the logs of twenty hidden primitives. Prices determine a product of primitives if its
gradient is in the row space of this Jacobian. Outside facts add rows to it. Every gradient combines catalogue equations. FLOP/s and byte/s
are sustained rates, so utilisations are 1.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import inf

import numpy as np

from invert.arrays import Array
from invert.identify.primitives import PRIMITIVES, SPAN, drain_time_gradient, gradient, gradients, ordered, primitives_at, regime_in_words
from invert.records import Identifiability

_TOLERANCE = 1e-9
"""Tolerance of linear algebra: a row of unit length nearer than this to a span is in it, and smaller relative singular values are 0.
Rounding is 1e-15.
"""
_KEPT = 4096
"""Maximum number of cached answers, more than a market needs."""

_COMMON = (
    "active_params", "ridge_point", "prefill_decode_flops_ratio", "output_price_cost_ratio/input_price_cost_ratio", "prompt_position",
    "short_context", "long_context", "sweep_time", "holding_cost_ratio*storage_price_cost_ratio/input_price_cost_ratio",
)  # fmt: skip
_DOLLARS = (
    "price_per_hbm_byte", "increment_price_cost_ratio", SPAN, "attention_flops_per_pair*price_per_flop",
    "chip_price/hbm_capacity", "storage_price_cost_ratio", "holding_cost_ratio",
)  # fmt: skip
_LEVEL = ("prompt_position", "short_context", "long_context")
FACTS_OF = {
    **dict.fromkeys(("attention_intensity/ridge_point", "attention_context", "balance_context", "attention_intensity"), _COMMON),
    **dict.fromkeys(("weight_compute_ratio", "kv_bytes_per_token"), _COMMON),
    "kv_bytes_per_token_in_dollars": _DOLLARS,
    "active_params_times_price_cost_ratio": ("price_per_flop", "prefill_decode_flops_ratio", *_LEVEL),
    "active_params": ("input_price_cost_ratio*price_per_flop/prefill_decode_flops_ratio", *_LEVEL),
    "implied_drain_time": (SPAN,),
}
"""Each target, and the facts from outside that could determine it. The name of a product gives its factors.

Weight bytes and batch are not included, because they are never published. The price/cost, suffix and tier of a cache hit are not included
either, so the price of a hit is only a bound.
"""

_GROUPED = (
    f"kv_bytes_per_token*output_price_cost_ratio*price_per_hbm_byte*{SPAN}",
    f"attention_flops_per_pair*prompt_position*input_price_cost_ratio*price_per_flop/prefill_decode_flops_ratio*{SPAN}",
    "attention_intensity/ridge_point*prompt_position/prefill_decode_flops_ratio*input_price_cost_ratio/output_price_cost_ratio",
    "active_params*input_price_cost_ratio*price_per_flop/prefill_decode_flops_ratio",
    "kv_bytes_per_token*holding_cost_ratio*storage_price_cost_ratio*chip_price/hbm_capacity",
)
"""Products that prices alone can determine, besides the targets."""


def identify(components: Collection[str], *, overlap: float, values: Mapping[str, float]) -> Identifiability:
    """Return rank and null space of the prices of `components`, the determined quantities, and the facts that determine the others.

    values: the point [SI], by primitive or by a name in `GIVEN_AS` (ridge_point, balance_context, weight_compute_ratio, ...). Missing
    values are typical ones, other names are ignored. The point decides whether compute or memory limits each band. overlap is a known
    convention in [0, 1]. Raises `UnknownName` for a component and `WrongValue` for a number.

    >>> bands = ("input", "output", "long_input", "long_output")
    >>> found = identify(bands, overlap=1.0, values={"balance_context": 1e5, "weight_compute_ratio": 5.0})
    >>> found.regime, found.rank, found.nullity, found.verdict("attention_context")
    ('memory-bound in both bands', 4, 16, 'needs prompt_position, short_context, long_context')
    >>> lecture = identify(bands, overlap=1.0, values={"weight_compute_ratio": 0.3, "attention_context": 1e6})
    >>> lecture.regime, lecture.verdict("kv_bytes_per_token")
    ('compute-bound in the base band, memory-bound in the long one', 'not determined: cannot be separated from weight_bytes/batch')
    """
    at = primitives_at(values, overlap)
    prices = ordered(components)
    jacobian = gradients(prices, at)
    _, singular, turned = np.linalg.svd(jacobian)
    rank = int((singular > _TOLERANCE * singular[0]).sum())
    basis, known = turned[:rank], jacobian[[name != "cache_read" for name in prices]]
    names = dict.fromkeys(name for names in (FACTS_OF, *FACTS_OF.values(), _GROUPED) for name in names if name != "implied_drain_time")
    spoken = {name: gradient(name, at)[1] for name in names}
    if {"output", "long_output", "storage"} <= set(prices):
        spoken["implied_drain_time"] = drain_time_gradient(at)
    apart = {name: _residual(row, basis) for name, row in spoken.items()}
    missing: dict[str, tuple[str, ...] | None] = {}
    tied: dict[str, str] = {}
    together: dict[tuple[str, ...], list[dict[int, str]]] = {}
    for target in (name for name in FACTS_OF if name in spoken):
        missing[target] = _fewest(apart[target], {name: apart[name] for name in FACTS_OF[target]})
        if missing[target] is None:
            # The price of a hit has its own price/cost. No fact is known about it, so it determines no quantity.
            told = np.array([*known, *(spoken[name] for name in FACTS_OF[target])])
            groups = together.get(FACTS_OF[target]) or together.setdefault(FACTS_OF[target], _groups(told))
            tied[target] = _moves_with(spoken[target], told, groups)
    return Identifiability(
        regime=regime_in_words(prices, at),
        prices=prices,
        rank=rank,
        nullity=len(PRIMITIVES) - rank,
        condition=float(singular[0] / singular[rank - 1]),
        pinned=tuple(name for name in (*FACTS_OF, *_GROUPED) if name in spoken and _small(apart[name])),
        missing_facts=missing,
        degenerate_with=tied,
    )


_COMPONENTS = {
    "input_price": "input", "output_input_ratio": "output", "premium_in": "long_input", "premium_out": "long_output",
    "cache_read_ratio": "cache_read", "storage_ratio": "storage",
}  # fmt: skip
"""The prices by the observable that carries each."""


def identified(
    observed: Collection[str], contexts: Sequence[float], anchors: Mapping[str, float], joint: Mapping[str, float]
) -> Identifiability:
    """Return the quantities that the published prices of a sheet determine, at its joint reading if there is one.

    contexts: the mean of every band [token]. Anchors and the values of the reading are in SI, by name.
    """
    means = dict(zip(("short_context", "long_context"), contexts, strict=False))
    # A given mean of a long band says nothing of a sheet that has none.
    known = {**{name: value for name, value in anchors.items() if name != "long_context"}, **means, **joint}
    # A model without a cache has an infinite balance context.
    values = tuple((name, value) for name, value in known.items() if 0 < value < inf or name == "attention_flops_per_pair")
    return _identify_at(tuple(_COMPONENTS[name] for name in observed), anchors["overlap"], values)


@lru_cache(_KEPT)
def _identify_at(components: tuple[str, ...], overlap: float, values: tuple[tuple[str, float], ...]) -> Identifiability:
    """Cache `identify`, because most sheets of a market sell the same components at the same sizes and contexts."""
    return identify(components, overlap=overlap, values=dict(values))


def _fewest(target: Array, facts: Mapping[str, Array]) -> tuple[str, ...] | None:
    """Return the smallest set of facts that, with the prices, spans the target. The first set in the order of the list is used.

    The weights are unique up to dependences among facts. The smallest set has no dependence. So leave out one fact per dependence, in every
    combination.
    """
    if _small(target):
        return ()
    useful = [name for name, row in facts.items() if not _small(row)]
    if not useful:
        return None
    columns = np.array([facts[name] for name in useful]).T
    across, singular, along = np.linalg.svd(columns)
    rank = int((singular > _TOLERANCE).sum())
    weights, free = along[:rank].T @ (across[:, :rank].T @ target / singular[:rank]), along[rank:]
    if not _small(columns @ weights - target):
        return None
    found = []
    for out in combinations([n for n in range(len(useful)) if not _small(free[:, n])], len(free)):
        block = free[:, list(out)]
        if abs(np.linalg.det(block)) > _TOLERANCE:
            left = weights - weights[list(out)] @ np.linalg.inv(block) @ free
            found.append([n for n in range(len(useful)) if abs(left[n]) > _TOLERANCE])
    return tuple(useful[n] for n in min(found, key=lambda places: (len(places), places)))


def _residual(row: Array, basis: Array) -> Array:
    """Return the residual of a unit row after projection on the basis (orthonormal rows)."""
    unit = row / (row @ row) ** 0.5
    return unit - (basis @ unit) @ basis


def _small(row: Array) -> bool:
    return bool(row @ row <= _TOLERANCE**2)


def _moves_with(target: Array, known: Array, groups: list[dict[int, str]]) -> str:
    """Return the smallest group of primitives that changes with the target along the null space of the known rows."""
    own = np.flatnonzero(target).tolist()
    unit = target / np.linalg.norm(target)
    others = [left for group in groups if (left := {n: sign for n, sign in group.items() if n not in own})]
    for size in range(len(others) + 1):
        for some in combinations(others, size):
            columns = [*own, *(next(iter(group)) for group in some)]
            wanted, rows = unit[columns], known[:, columns].T
            if not _small(rows @ np.linalg.lstsq(rows, wanted, rcond=_TOLERANCE)[0] - wanted):
                return " and ".join("".join(sign + PRIMITIVES[n] for n, sign in group.items())[1:] for group in some)
    return ""


def _groups(known: Array) -> list[dict[int, str]]:
    """Group the primitives that the known rows leave free, by index.

    Primitives that occur only as a product form one group: their columns are equal, or opposite for a quotient.
    """
    _, singular, turned = np.linalg.svd(known)
    free = turned[int((singular > _TOLERANCE * singular[0]).sum()) :]
    left = np.flatnonzero(known.any(axis=0) & ((free**2).sum(axis=0) > _TOLERANCE**2)).tolist()
    gaps = [np.abs(known[:, :, None] - sign * known[:, None]).max(axis=0) for sign in (1, -1)]
    equal, opposite = (gap <= _TOLERANCE * np.abs(known).max() for gap in gaps)
    found = []
    while left:
        first = left[0]
        found.append({n: "*" if equal[first, n] else "/" for n in left if equal[first, n] or opposite[first, n]})
        left = [n for n in left if n not in found[-1]]
    return found
