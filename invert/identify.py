"""What the prices of a sheet determine: their rank and null space, the facts that are missing, and what moves KV bytes most.

The Jacobian has the derivatives of the log prices by the logs of twenty hidden primitives. Prices determine a product of primitives if its
gradient is in the row space of this Jacobian. Outside facts add rows to it. Every gradient combines catalogue equations. FLOP/s and byte/s
are sustained rates, so utilisations are 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import exp, inf, isfinite

import numpy as np
from scipy.linalg import null_space
from scipy.special import stdtrit

from derive.catalogue import equation
from derive.expressions.branches import regimes_of
from derive.quantities import NEUTRAL_DEFAULTS
from derive.trees import Tree, names, put_into, slopes, tree_of, value_of
from invert.arrays import Array
from invert.assumptions import NUISANCES, Assumptions
from invert.estimators.prediction import Student
from invert.estimators.premium import DRAWS, weighted_line
from invert.forward_model import closed_form
from invert.posterior.draws import normals
from invert.posterior.points import RATIOS, PriceData, drawn_contexts, nuisances, solve_ratios
from invert.records import Identifiability, Swing

_DECODE = "bands.decode_cost"
SPAN = "(long_context - short_context)"
TYPICAL = {
    **{"active_params": 1e11, "weight_bytes": 1e12, "kv_bytes_per_token": 7e3, "attention_flops_per_pair": 2e6, "batch": 256.0},
    **{"peak_flops": 1e15, "prefill_decode_flops_ratio": 1.0, "hbm_bandwidth": 3e12, "chip_price": 5e-4, "hbm_capacity": 8e10},
    **{"input_price_cost_ratio": 1.0, "output_price_cost_ratio": 1.0, "storage_price_cost_ratio": 1.0},
    **{"cache_read_price_cost_ratio": 1.0, "holding_cost_ratio": 1.0},
    **{"short_context": 2e4, "long_context": 3e5, "prompt_position": 0.5, "suffix_tokens": 1e3, "tier_read_cost_ratio": 1.0},
}
PRIMITIVES = tuple(TYPICAL)
"""Registry names, except `output_price_cost_ratio` and `storage_price_cost_ratio`, which are like `input_price_cost_ratio`.

`holding_cost_ratio` is here without price/cost, which is separate. `cache_read_price_cost_ratio` is relative to the price/cost of input.
"""


_PLACE = {name: place for place, name in enumerate(PRIMITIVES)}
_HAIR = 1e-12
"""Attention FLOPs of 0 have no logarithm, so they are counted in units of this share of compute."""

_DEFINED_BY = {
    **{"prefill_cost_ratio": "bands.prefill_cost", "band_price": "bands.price"},
    "input_price": "bands.active_params_times_price_cost_ratio",
    **{"storage_price": "bands.storage_price", "cache_read_ratio": "bands.cache_read_ratio", "sweep_time": "scheduling.sweep_time"},
    **{"balance_context": "context.balance_context", "attention_context": "context.attention_context"},
    **{"attention_intensity": "architecture.attention_intensity", "ridge_point": "batching.ridge_point"},
    **{"machine_balance_ratio": "batching.machine_balance_ratio", "sparsity": "batching.sparsity"},
    **{"balance_batch": "batching.balance_batch", "weight_compute_ratio": "batching.weight_compute_ratio"},
    **{"total_params": "memory.weight_bytes", "price_per_flop": "serving.price_per_flop", "decode_cost_ratio": _DECODE},
    "price_per_hbm_byte": "serving.price_per_hbm_byte",
}
GIVEN_AS = {
    "ridge_point": "hbm_bandwidth", "sweep_time": "hbm_capacity", "balance_context": "kv_bytes_per_token",
    "attention_context": "attention_flops_per_pair", "weight_compute_ratio": "weight_bytes",
}  # fmt: skip
"""Quantities that may replace a primitive at a point, and the primitive that follows from each."""
_SHORT, _LONG = {"context_length": "short_context"}, {"context_length": "long_context"}
_OUTPUT = {"input_price_cost_ratio": "output_price_cost_ratio"}
_PRICES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "input": ("input_price", _SHORT),
    "output": ("band_price", _SHORT | _OUTPUT),
    "long_input": ("input_price", _LONG),
    "long_output": ("band_price", _LONG | _OUTPUT),
    "cache_read": ("input_price*cache_read_ratio", _SHORT),
    "storage": ("storage_price", _SHORT | {"input_price_cost_ratio": "storage_price_cost_ratio"}),
}
"""For each component: its price, its context and its price/cost in the equations."""

# The price/cost of more context is that of output, whatever is read or multiplied for it.
_ALSO = {
    **{"kv_bytes_per_token_in_dollars": "kv_bytes_per_token", "cost_ratio": "decode_cost_ratio"},
    "increment_price_cost_ratio": "output_price_cost_ratio",
    "active_params_times_price_cost_ratio": "active_params*input_price_cost_ratio",
}


def primitives_at(values: Mapping[str, float], overlap: float) -> dict[str, float]:
    """Return all primitives [SI] and the overlap. Each is given, derived from given values, or typical."""
    # The width of a weight cancels in formulas: weights are counted in bytes.
    at = {name: float(values.get(name, usual)) for name, usual in TYPICAL.items()} | {"bytes_per_weight": 1.0, "overlap": overlap}
    if "long_context" not in values:
        at["long_context"] *= at["short_context"] / TYPICAL["short_context"]
    no_attention = at["attention_flops_per_pair"] == 0
    at["attention_flops_per_pair"] = at["attention_flops_per_pair"] or 1.0
    given = {name: values[name] for name in GIVEN_AS if name in values}
    if no_attention:
        given["attention_context"] = at["long_context"] / _HAIR
    for name, value in given.items():
        # Each is a product of powers of primitives.
        usual, powers = gradient(formula(name), {**at, "no_attention": False})
        at[GIVEN_AS[name]] *= (value / usual) ** (1 / powers[_PLACE[GIVEN_AS[name]]])
    return {**at, "no_attention": no_attention}


def gradient(tree: Tree, at: Mapping[str, float]) -> tuple[float, Array]:
    """Return the value of a formula of primitives, and its d ln(value)/d ln(primitive).

    If attention_flops_per_pair is 0, its column is not logarithmic but in units of _HAIR of compute at the long context.
    """
    value, found = slopes(tree, {**NEUTRAL_DEFAULTS, **at})
    row = np.array([found.get(name, 0.0) * at[name] / value for name in PRIMITIVES])
    row[_PLACE["attention_flops_per_pair"]] /= _HAIR if at["no_attention"] else 1.0
    return value, row


@cache
def formula(name: str, own: tuple[tuple[str, str], ...] = ()) -> Tree:
    """Return a quantity, or a product of names, as a formula of primitives. Names in `own` count for the primitive that they replace."""
    name = _ALSO.get(name, name)
    name = dict(own).get(name, name)
    tree = tree_of(name)
    if name in _DEFINED_BY:
        left, right = equation(_DEFINED_BY[name]).trees
        tree = right if left == name else closed_form(_DEFINED_BY[name], name)
    return tree if tree == name else put_into(tree, {one: formula(one, own) for one in names(tree)})


def price(component: str) -> Tree:
    """Return the price of a component, at its own context and price/cost, as a formula of primitives."""
    name, own = _PRICES[component]
    return formula(name, tuple(own.items()))


def gradients(prices: tuple[str, ...], at: Mapping[str, float]) -> Array:
    """Return the exact d ln(price)/d ln(primitive), with shape (prices, primitives)."""
    return np.array([gradient(price(name), at)[1] for name in prices])


def regime_in_words(prices: tuple[str, ...], at: Mapping[str, float]) -> str:
    # Of the two times of decode, the weight read is part of that of memory.
    times, limits = regimes_of(equation(_DECODE))[0].wins[0], []
    for component in ("output", "long_output"):
        own = tuple(_PRICES[component][1].items())
        known = {one: gradient(formula(one, own), at)[0] for time in times for one in names(time)}
        _, longer = max((value_of(time, known), "weight_compute_ratio" in names(time)) for time in times)
        limits.append("memory-bound" if longer else "compute-bound")
    if not {"long_input", "long_output"} & set(prices):
        return limits[0]
    return f"{limits[0]} in both bands" if len({*limits}) == 1 else f"{limits[0]} in the base band, {limits[1]} in the long one"


@cache
def _drain_time() -> Tree:
    """Return the implied drain time of the prices of a sheet as a formula of primitives."""
    output, long_output, storage = map(price, ("output", "long_output", "storage"))
    inside = {"output_price": output, "premium_out": ("/", long_output, output), "storage_price": storage}
    return put_into(equation("cache.implied_drain_time").trees[1], inside)


_TOLERANCE = 1e-9
"""Tolerance of linear algebra: a row of unit length nearer than this to a span is in it, and smaller relative singular values are 0.
Rounding is 1e-15.
"""

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


def identify(prices: tuple[str, ...], *, overlap: float, values: Mapping[str, float]) -> Identifiability:
    """Return rank and null space of prices by component, the determined quantities, and the facts that determine the others.

    values: the point [SI], by primitive or by a name in `GIVEN_AS` (ridge_point, balance_context, weight_compute_ratio, ...), each finite
    and above 0. Only attention_flops_per_pair may be 0. Missing values are typical ones, other names are ignored. The point decides whether
    compute or memory limits each band. overlap is a known convention in [0, 1].

    >>> bands = ("input", "output", "long_input", "long_output")
    >>> found = identify(bands, overlap=1.0, values={"balance_context": 1e5, "weight_compute_ratio": 5.0})
    >>> found.regime, found.rank, found.nullity, found.verdict("attention_context")
    ('memory-bound in both bands', 4, 16, 'needs prompt_position, short_context, long_context')
    >>> lecture = identify(bands, overlap=1.0, values={"weight_compute_ratio": 0.3, "attention_context": 1e6})
    >>> lecture.regime, lecture.verdict("kv_bytes_per_token")
    ('compute-bound in the base band, memory-bound in the long one', 'not determined: cannot be separated from weight_bytes/batch')
    """
    at = primitives_at(values, overlap)
    jacobian = gradients(prices, at)
    _, singular, turned = np.linalg.svd(jacobian)
    rank = int((singular > _TOLERANCE * singular[0]).sum())
    basis, known = turned[:rank], jacobian[[name != "cache_read" for name in prices]]
    names = dict.fromkeys(name for names in (FACTS_OF, *FACTS_OF.values(), _GROUPED) for name in names if name != "implied_drain_time")
    spoken = {name: gradient(formula(name), at)[1] for name in names}
    if {"output", "long_output", "storage"} <= set(prices):
        spoken["implied_drain_time"] = gradient(_drain_time(), at)[1]
    apart = {name: _residual(row, basis) for name, row in spoken.items()}
    missing: dict[str, tuple[str, ...] | None] = {}
    tied: dict[str, str] = {}
    for target in (name for name in FACTS_OF if name in spoken):
        missing[target] = _fewest(apart[target], {name: apart[name] for name in FACTS_OF[target]})
        if missing[target] is None:
            # The price of a hit has its own price/cost. No fact is known about it, so it determines no quantity.
            tied[target] = _moves_with(spoken[target], np.array([*known, *(spoken[name] for name in FACTS_OF[target])]))
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


_COMPONENTS_OF_SHEET = {
    "input_price": "input", "output_input_ratio": "output", "premium_in": "long_input", "premium_out": "long_output",
    "cache_read_ratio": "cache_read", "storage_ratio": "storage",
}  # fmt: skip
"""The prices by the observable that carries each."""


def identified(
    observed: Iterable[str], contexts: Sequence[float], anchors: Mapping[str, float], joint: Mapping[str, float]
) -> Identifiability:
    """Return the quantities that the published prices of a sheet determine, at its joint reading if there is one.

    contexts: the mean of every band [token]. Anchors and the values of the reading are in SI, by name.
    """
    means = dict(zip(("short_context", "long_context"), contexts, strict=False))
    # A given mean of a long band says nothing of a sheet that has none.
    known = {**{name: value for name, value in anchors.items() if name != "long_context"}, **means, **joint}
    # A model without a cache has an infinite balance context.
    values = {name: value for name, value in known.items() if 0 < value < inf or name == "attention_flops_per_pair"}
    return identify(tuple(_COMPONENTS_OF_SHEET[name] for name in observed), overlap=anchors["overlap"], values=values)


def _fewest(target: Array, facts: Mapping[str, Array]) -> tuple[str, ...] | None:
    """Return the smallest set of facts that, with the prices, spans the target. The first set in the order of the list is used."""
    if _small(target):
        return ()
    useful = [name for name, row in facts.items() if not _small(row)]

    def span(some: Sequence[str]) -> bool:
        columns = np.array([facts[name] for name in some]).T
        return _small(columns @ np.linalg.lstsq(columns, target, rcond=_TOLERANCE)[0] - target)

    if not useful or not span(useful):
        return None
    return next(some for size in range(1, len(useful) + 1) for some in combinations(useful, size) if span(some))


def _residual(row: Array, basis: Array) -> Array:
    """Return the residual of a unit row after projection on the basis (orthonormal rows)."""
    unit = row / (row @ row) ** 0.5
    return unit - (basis @ unit) @ basis


def _small(row: Array) -> bool:
    return bool(row @ row <= _TOLERANCE**2)


def _moves_with(target: Array, known: Array) -> str:
    """Return the smallest group of primitives that changes with the target along the null space of the known rows."""
    own = np.flatnonzero(target).tolist()
    unit = target / np.linalg.norm(target)
    others = [left for group in _groups(known) if (left := {n: sign for n, sign in group.items() if n not in own})]
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
    free = null_space(known, rcond=_TOLERANCE)
    left = np.flatnonzero(known.any(axis=0) & ((free**2).sum(axis=1) > _TOLERANCE**2)).tolist()
    gaps = [np.abs(known[:, :, None] - sign * known[:, None]).max(axis=0) for sign in (1, -1)]
    equal, opposite = (gap <= _TOLERANCE * np.abs(known).max() for gap in gaps)
    found = []
    while left:
        first = left[0]
        found.append({n: "*" if equal[first, n] else "/" for n in left if equal[first, n] or opposite[first, n]})
        left = [n for n in left if n not in found[-1]]
    return found


_OF_A_HIT = ("tier_read_cost_ratio", "suffix_tokens")
"""Nuisances of the price of a cache hit, which the joint reading does not use."""


def swings_of_all_prices(price_data: PriceData, assumptions: Assumptions) -> tuple[Swing, ...]:
    """Solve the joint reading of a two-band sheet with each nuisance at both tails of its prior, and with each price at both ends of its
    cell.
    """
    free = [name for name in NUISANCES if name not in _OF_A_HIT and assumptions.priors[name].spread]
    moved = [*free, *RATIOS]
    # The first row is at the centre of everything. After it each input is at its lower end, then each at its upper end.
    signs = dict(zip(moved, np.vstack([np.zeros(len(moved)), -np.eye(len(moved)), np.eye(len(moved))]).T, strict=True))
    drawn = {name: assumptions.reach * signs.get(name, np.zeros(2 * len(moved) + 1)) for name in NUISANCES}
    cells = {name: price_data.cells[name][0] for name in RATIOS}
    ratios = {name: np.exp((low + high) / 2 + (high - low) / 2 * signs[name]) for name, (low, high) in cells.items()}
    with np.errstate(all="ignore"):
        logs = np.log(solve_ratios(ratios, nuisances(drawn, price_data, assumptions))["kv_bytes_per_token"])
        lows, highs = np.split(np.exp(logs[1:] - logs[0]), 2)
    found = [Swing(name, _number(low), _number(high)) for name, low, high in zip(moved, lows, highs, strict=True)]
    spread = price_data.log_active_params[1]
    found.append(Swing("active_params", exp(-assumptions.reach * spread), exp(assumptions.reach * spread)))
    return tuple(sorted(found, key=lambda swing: -swing.width))


def swings_of_premium(price_data: PriceData, learnt: Student, assumptions: Assumptions) -> tuple[Swing, ...]:
    """Return the swings of the increment reading: each factor of bands.kv_bytes_from_increment over its range, each with elasticity 1."""
    tails = assumptions.tails
    price_cost = exp(learnt.scale * float(stdtrit(learnt.freedom, tails[1])))
    rent = exp(assumptions.reach * assumptions.rent_spread)
    low, high = np.exp(np.transpose(price_data.cells["premium_out"]))
    prices = np.column_stack([np.ones(3), [low, np.sqrt(low * high), high]])
    contexts = drawn_contexts(price_data, assumptions, normals(DRAWS))
    least, base, most = np.asarray(weighted_line(np.median(contexts, axis=0), prices)[1]).tolist()
    by_contexts = np.quantile(weighted_line(contexts, np.broadcast_to(prices[1], contexts.shape))[1] / base, tails)
    found = [
        Swing("increment_price_cost_ratio", 1 / price_cost, price_cost),
        Swing("price_per_hbm_byte", 1 / rent, rent),
        Swing("premium_out", least / base, most / base),
        Swing("band means", *by_contexts.tolist()),
    ]
    return tuple(sorted(found, key=lambda swing: -swing.width))


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None
