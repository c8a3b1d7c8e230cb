"""Neutral defaults: factors that are 1 and terms that are 0, until something that was given says otherwise.

A default in force is put into the equations of a question, which then do not contain its quantity.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from derive.catalogue import equation
from derive.expressions.in_order import sort_terms
from derive.quantities import NEUTRAL_DEFAULTS
from derive.records import LOWER, UPPER, Equation, in_place
from derive.requirements import named
from derive.trees import names
from derive.written import as_it_is_written

_ATTENTION = ("attention_flops_per_sequence", "attention_flops_per_pair", "query_heads", "indexer_heads")
_PREFILL_ATTENTION = ("prefill_attention_flops_per_token", "prefill_attention_flops_per_pair", *_ATTENTION)
_PROMPTS = ("prompt_tokens", "uncached_tokens", "new_tokens_per_pass", "context_length")
_WEIGHTS = ("total_params", "routed_params", "resident_weight_bytes_per_chip")
DRAFTS = ("draft_tokens", "acceptance_rate")
_TIMES = ("peak_flops", "hbm_bandwidth", "compute_time", "memory_time")

GOVERNED = {
    "attention_time": ((*_ATTENTION, "attention_compute_ratio"),),
    "attention_compute_ratio": ((*_ATTENTION, "attention_time"),),
    **dict.fromkeys(("tokens_per_step", "tokens_verified_per_step"), (DRAFTS,)),
    "drafting_time": (DRAFTS,),
    "draft_cost_ratio": (("drafting_time",),),
    "overhead_time": (("layer_time",),),
    "verification_ratio": ((*_TIMES, "balance_batch"),),
    "hop_latency": (("grid_latency", "minimum_latency", "allreduces_per_layer"),),
    "idle_fraction": (("hop_latency", "microbatches", "sequences_in_flight"),),
    "prefill_attention_factor": (_PROMPTS, _PREFILL_ATTENTION),
    "uncached_tokens": (("prompt_tokens",),),
    "prefill_weight_time": (("hbm_bandwidth",), _WEIGHTS, ("bytes_per_weight", "resident_weight_bytes_per_chip"), _PROMPTS),
    "training_chips": (("pipeline_stages", "data_parallel"),),
    "ffn_dim": (("moe_layers",),),
    "reserved_share": (("reserved_bytes_per_chip", "usable_share"),),
    "cached_tokens": (("cache_hit_share",),),
    "cache_hit_share": (("cached_tokens",),),
}
"""What a default gives way to: where one of each of these is known or asked for, the quantity is what its definition makes of it."""

FOLLOWS = {
    "microbatches": ("pipeline_stages",),
    "tokens_verified_per_step": ("tokens_per_step",),
    "uncached_tokens": ("new_tokens_per_pass", "context_length"),
    "new_tokens_per_pass": ("uncached_tokens", "prompt_tokens"),
    "training_chips": ("chips",),
    "chips": ("expert_parallel",),
    "moe_layers": ("layers",),
    "moe_ffn_dim": ("ffn_dim",),
    "ffn_dim": ("moe_ffn_dim",),
}
"""Defaults that are what another quantity is: the first of these that is known or asked for.

A prompt is what one pass computes of it, and else as long as the context; what is to be computed of one is computed in one pass.
The chips that train are those that are spoken of, unless copies or stages are. Where some layers are not said to be dense, all have
experts, and a width is that of experts as well.
"""

_HITS = ("cached_tokens", "cache_hit_share")
"""What says that not all of a prompt is to be computed."""

_SAID_BY = {
    "microbatches": (("sequences_in_flight", "batch"), ("sequences_in_flight", "microbatch_size"), ("idle_fraction",)),
    "uncached_tokens": (("prefill_attention_factor",), ("prefill_attention_flops_per_token",)),
    "replicas": (("fleet_throughput",), ("fleet_requests_per_second",)),
}
"""What, given together, says how many there are of a default: a fleet is as many replicas as make what it makes."""

MAY_DIFFER = ("chips", "pipeline_stages", "mfu", "mbu", "replicas", "tokens_per_step")
"""Defaults that a measured result may contradict: it then says what they are. The others are put into the equations."""

_COULD_BE = (
    *("cache_hit_share", "uncached_tokens", "fleet_utilisation"),
    *("microbatches", "hop_latency", "kv_replication", "expert_imbalance", "tokens_verified_per_step", "drafting_time"),
)
"""Defaults put into the equations that results may contradict where none of those can be it; of drafts, where drafts are spoken of."""

IDEALS = {
    **dict.fromkeys(("mfu", "mbu", "fleet_utilisation"), UPPER),
    **dict.fromkeys(("kv_replication", "attention_replicas", "expert_imbalance", "prefill_attention_factor", "verification_ratio"), LOWER),
    **dict.fromkeys(("hop_latency", "idle_fraction", "attention_time", "attention_compute_ratio"), LOWER),
    **dict.fromkeys(("prefill_weight_time", "queue_time", "reserved_share"), LOWER),
    **dict.fromkeys(("drafting_time", "draft_cost_ratio", "overhead_time"), LOWER),
}
"""Defaults that nothing real betters, as bounds: a share of a peak is that at most, what takes time is that at least.

The others say what is served, and err neither way.
"""

Standing = Mapping[str, float | str]
"""Defaults that stand: numbers, or the quantity that one follows, whatever that is."""

_Values = tuple[tuple[str, int | str], ...]
"""Quantities with what stands for them: a number, or another quantity."""


def standing(unknown: str, known: Set[str], claimed: Iterable[str] = ()) -> Standing:
    """Return the defaults in force beside the known quantities and the unknown. A quantity that is claimed by name has none.

    As many microbatches are in flight as there are stages, the fewest that leave none idle, unless something given says
    how many. A step computes at least as many positions as it yields tokens.

    >>> standing("throughput", {"pipeline_stages"})["microbatches"], "tokens_per_step" in standing("throughput", {"draft_tokens"})
    ('pipeline_stages', False)
    """
    at_hand = {*known, unknown}
    free: dict[str, float | str] = {name: value for name, value in NEUTRAL_DEFAULTS.items() if name not in at_hand and name not in claimed}
    led = {name: other for name in FOLLOWS if (other := leads(name, at_hand))}
    free |= {name: other for name, other in led.items() if name in free}
    others = [name for name in FOLLOWS if name not in NEUTRAL_DEFAULTS and name not in at_hand]
    free |= {name: led[name] for name in others if leads(name, at_hand.difference(claimed))}
    said = {name for name, names in _SAID_BY.items() if unknown not in FOLLOWS.get(name, ()) and any(known >= {*one} for one in names)}
    if unknown == "pipeline_stages":
        said |= {"microbatches"}
    return {name: value for name, value in free.items() if name not in said and not _gives_way(name, at_hand)}


def evaluate_defaults(defaults: Standing, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return defaults as numbers or arrays beside these values. One that follows an unknown quantity has none.

    >>> evaluate_defaults({"chips": 1.0, "microbatches": "pipeline_stages"}, {"pipeline_stages": 4.0})
    {'chips': 1.0, 'microbatches': 4.0}
    >>> evaluate_defaults({"chips": 1.0, "microbatches": "pipeline_stages"}, {})
    {'chips': 1.0}
    """
    found = {name: values.get(value) if isinstance(value, str) else value for name, value in defaults.items()}
    return {name: value for name, value in found.items() if value is not None}


def leads(name: str, at_hand: Set[str]) -> str | None:
    """Return the known quantity that a default follows.

    >>> leads("uncached_tokens", {"new_tokens_per_pass", "context_length"}), leads("microbatches", {"chips"})
    ('new_tokens_per_pass', None)
    """
    if name == "new_tokens_per_pass" and "prompt_tokens" in at_hand and not at_hand.isdisjoint(_HITS):
        return "uncached_tokens"
    return next((other for other in FOLLOWS[name] if other in at_hand), None)


def _gives_way(name: str, at_hand: Set[str]) -> bool:
    return name in GOVERNED and all(not at_hand.isdisjoint(names) for names in GOVERNED[name])


def neutral(defaults: Standing) -> _Values:
    """Return the defaults in force that are put into the equations.

    A default that follows another quantity follows it too where that one is worked out.
    """
    values: dict[str, int | str] = {n: v if isinstance(v, str) else int(v) for n, v in defaults.items() if n not in MAY_DIFFER}
    values |= {n: first for n, (first, *_) in FOLLOWS.items() if isinstance(values.get(n), int) and first not in defaults}
    if "microbatches" in values and "pipeline_stages" in defaults:
        values["pipeline_stages"] = 1
    return tuple(sorted(values.items()))


@lru_cache(maxsize=4096)
def with_defaults(row: Equation, values: _Values) -> Equation:
    """Return an equation without the quantities that have these default values, and without what goes with them.

    >>> from derive.catalogue import equation
    >>> with_defaults(equation("scheduling.throughput"), (("microbatches", 1),)).symbols
    ('throughput', 'batch', 'tokens_per_step', 'token_latency')
    """
    spoken = tuple((name, value) for name, value in values if name in row.symbols[1:])
    return _with(row, spoken) if spoken else row


@cache
def _with(row: Equation, some: _Values) -> Equation:
    """Return an equation without some of its quantities, at these values, as one object for equal arguments."""
    spoken = dict(some)
    relation = in_place(row.relation, spoken)
    # A single stage takes its hops along. Any number may stand for what is gone.
    gone = dict.fromkeys(symbols_dropped(row, relation, spoken), 1)
    # A requirement on what is gone says nothing of what is left.
    kept = [needed for needed in row.requires if gone.keys().isdisjoint(named(needed))]
    return replace(
        row,
        relation=in_place(relation, gone) if gone else relation,
        requires=tuple(replace(needed, holds=in_place(needed.holds, spoken)) for needed in kept),
        put_in=spoken,
    )


@lru_cache(maxsize=4096)
def restore_default(row: Equation, name: str) -> Equation:
    """Return an equation in which one of the defaults that were put into it is a quantity again.

    >>> from derive.catalogue import equation
    >>> row = with_defaults(equation("scheduling.throughput"), (("microbatches", 1),))
    >>> restore_default(row, "microbatches").symbols == equation("scheduling.throughput").symbols
    True
    """
    others = tuple((other, value) for other, value in row.put_in.items() if other != name)
    return with_defaults(equation(row.id), others) if name in row.put_in else row


WAITED = ("queue_time",)
"""What a request that takes longer than its chips did: it waited for its turn. That says nothing of what they sustain."""


def defaults_behind(row: Equation, active: Iterable[Equation], at_hand: Set[str], among: Iterable[str] = _COULD_BE) -> tuple[str, ...]:
    """Return the defaults in an equation, or in what its right side is made of, that results may contradict.

    None of a bound: what misses it need not be anything else than supposed.

    >>> from derive.catalogue import equation
    >>> defaults_behind(with_defaults(equation("roofline.kv_time"), (("kv_replication", 1),)), (), set())
    ('kv_replication',)
    """
    if row.direction:
        return ()
    made = {one.defines: one for one in active if one.defines}
    rows, queue = {row.id: row}, [*row.symbols[1:]]
    while queue:
        one = made.get(queue.pop())
        if one and one.id not in rows:
            rows[one.id] = one
            queue += one.symbols[1:]
    spoken = {name for one in rows.values() for name in one.put_in}
    drafted = not at_hand.isdisjoint(("tokens_per_step", *DRAFTS))
    return tuple(name for name in among if name in spoken and (drafted or name not in ("tokens_verified_per_step", "drafting_time")))


def symbols_dropped(row: Equation, relation: Callable[..., Any], spoken: Mapping[str, int | str]) -> tuple[str, ...]:
    """Return the quantities that a term of 0, or a ratio of 1, takes out of the relation with it."""
    left, right = as_it_is_written(relation)
    ordered = sort_terms(right)
    held = names(ordered) | names(left) if ordered != left else frozenset()
    return tuple(name for name in row.symbols if name not in held and name not in spoken)
