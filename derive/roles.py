"""The roles of quantities in a deployment: rows that `derive/solving` reads. That package names none of these quantities itself."""

from collections.abc import Mapping
from types import MappingProxyType

from derive.immutable import immutable


class Replica:
    """The parts of a deployment: whole replicas, each of some chips, whose number divides the attention heads."""

    number: str = "replicas"
    chips: str = "chips"
    all_chips: str = "fleet_chips"
    heads: str = "query_heads"
    domain: str = "scale_up_size"
    """The number of chips in a scale-up domain. A replica fits into one domain."""
    usual_domain: float = 8.0
    largest_domain: float = 72.0
    """The chips of the largest GPU racks. Links to another rack are slower than links inside a rack."""
    rate: str = "requests_per_second"
    rate_of_all: str = "fleet_requests_per_second"
    """A rate of one replica, and the same rate of all replicas. People often use the first name for the second."""
    sequences: str = "fleet_sequences_in_flight"
    """The sequences in all replicas."""
    needs_room: str = "kv_time"
    """A time of a replica, which exists only if its sequences fit in the memory of its chips."""
    sized_by: tuple[str, ...] = ("requests_per_second", "fleet_requests_per_second", "fleet_throughput", "fleet_sequences_in_flight")
    """Results that determine the number of replicas. A sizing question gives one of them."""
    bought: tuple[str, ...] = ("fleet_chips", "fleet_cost", "fleet_power", "fleet_electricity_cost")
    """Results of whole replicas, because a part of a replica cannot be bought."""
    used_share: str = "fleet_utilisation"
    """The share of the time in which chips are in use. The number of replicas already includes it, and every second of them is paid."""
    prices: tuple[str, ...] = ("chip_capex", "rented_chip_price")
    """The inputs that give the price of a second in use."""
    apart: str = "prefill_decode_chip_ratio"
    """The chips of prefill over the chips of decode, if they have separate chips."""


class Batch:
    """The size that a question finds without asking for it, if limits or memory bound it."""

    name: str = "batch"
    passes: str = "microbatches"
    """Number of batches in flight at the same time."""
    also: tuple[str, ...] = ("sequences_in_flight",)
    """Other quantities that determine the number of sequences."""
    best_full: tuple[str, ...] = (
        *("throughput", "requests_per_second", "fleet_requests_per_second", "fleet_throughput"),
        *("cost_per_token", "cost_per_request", "replicas", "fleet_sequences_in_flight"),
    )
    """Results that are better with a larger batch. Without a batch they are answered for a full memory."""


class Memory:
    """The constraint that the stored bytes fit in the memory of the chips: `needed` <= `room`."""

    needed: str = "memory_demand"
    room: str = "memory_capacity"
    bought: str = "chips"
    """The quantity that gives more memory if it is larger."""
    of_a_chip: str = "hbm_capacity"
    groups: str = "pipeline_stages"
    """Number of groups of chips that share the memory."""
    parts: Mapping[str, str] = MappingProxyType({"weight_bytes": "weights of", "kv_cache_bytes": "a KV cache of"})
    """The stored bytes, and their name in a message."""
    cache: str = "kv_cache_bytes"
    copies: str = "kv_replication"
    """Number of copies of the cache."""
    divided_by: str = "kv_heads"
    """Number of chips over which the cache is divided before it is copied. A latent is not divided."""
    attention_groups: str = "attention_replicas"
    """Number of groups of chips with their own attention weights."""
    weights: str = "weight_bytes"
    resident: str = "resident_weight_bytes_per_chip"
    """The bytes of weights on a chip, copies included."""
    sequences: str = "sequences_in_flight"
    """The sequences with a stored cache."""
    counted_by: tuple[str, ...] = ("batch", "microbatches", "sequences_in_flight")
    """Quantities that determine the number of stored sequences. Without them only the weights are compared with the memory."""
    smaller: tuple[str, ...] = (
        *("sequences_in_flight", "batch", "context_length"),
        *("kv_bytes_per_sequence", "kv_bytes_per_token", "bytes_per_element"),
    )
    """With less of one of these the cache is smaller."""
    defaults: tuple[str, ...] = ("pipeline_stages", "kv_replication", "reserved_share")
    """Inputs of the constraint with a neutral default, also if the route to an answer does not use them."""


@immutable
class Held:
    """The bytes that must fit in memory for some quantities: the weights, and with `cache` also the caches. With `told` too little memory
    is a warning and not a refusal. With `itself` this applies only to a requested quantity with known chips.
    """

    names: tuple[str, ...]
    cache: bool = False
    told: bool = False
    itself: bool = False


HELD = (
    # The reads of weights do not depend on the caches.
    Held(names=("weight_time", "plain_weight_time", "latency_floor", "prefill_weight_time", "prefill_time", "prefill_throughput")),
    # Arithmetic depends on the chips alone, and a transfer on the number of links.
    Held(names=("compute_time", "attention_time", "prefill_compute_time"), cache=True, told=True),
    Held(names=("kv_transfer_time",), told=True),
    Held(names=("memory_demand", "memory_per_chip"), cache=True, told=True, itself=True),
    Held(
        names=(
            *("kv_time", "memory_time", "step_time", "plain_step_time", "mixed_step_time", "token_latency"),
            *("weight_compute_ratio", "kv_compute_ratio", "compute_utilisation", "throughput", "decode_rate_per_chip"),
        ),
        cache=True,
    ),
)

SIZES = ("chips", "sequences_in_flight", "batch", "context_length")
"""Sizes in the order in which they are found, if several are requested. Other answers are at their better end."""

FASTER = {"s": -1, "s/token": -1, "token/s": 1, "1/s": 1}
"""Units of times and rates: their quantities are better lower, or higher. If they are given in a question for a size, they are targets."""


class DecodeStep:
    """A decode step: its parts, its upper bound, and the results that give its duration."""

    time: str = "step_time"
    times: tuple[str, ...] = ("step_time", "token_latency")
    """Times that are at least as long as the parts of a step. With stages a token needs at least a step."""
    parts: Mapping[str, str] = MappingProxyType(
        {"compute_time": "compute_time", "weight_time": "weight_time", "kv_time": "kv_time", "latency_floor": "weight_time"}
    )
    """The minimum time of a step, and the part with this time."""
    floor: str = "latency_floor"
    """A bound on the part `weights`. It counts only if that part is unknown."""
    weights: str = "weight_time"
    verified: str = "tokens_verified_per_step"
    """The tokens that one sequence computes in a step."""
    roof: str = "roofline.step_time"
    reads_roof: str = "roofline.memory_time"
    """The equations that make a step of arithmetic and reads, and the reads of weights and caches."""
    reads: str = "memory_time"
    claims: tuple[tuple[str, str], ...] = (
        ("serving.fleet_cost_per_token", "cost_per_token"),
        ("scheduling.fleet_throughput", "throughput"),
        ("serving.decode_rate_per_chip", "throughput"),
        ("serving.cost_per_token", "throughput"),
        ("scheduling.throughput", "token_latency"),
    )
    """Definitions that are used backwards: a given result leads to a rate or a time, which is compared with the bound."""
    other_share: Mapping[str, str] = MappingProxyType({"mfu": "mbu", "mbu": "mfu"})
    """The two shares of a peak, each with the other one."""
    memory_share: str = "mbu"
    all_hidden: str = "max"
    """The overlap with which the time of a step is its longest part."""


class Training:
    """The chips of a training run: copies of the model, and all chips."""

    copies: str = "data_parallel"
    chips: str = "training_chips"


class Tokens:
    """The tokens of one sequence."""

    context: str = "context_length"
    lengths: tuple[tuple[str, ...], ...] = (
        ("context_length",),
        ("prompt_tokens", "output_tokens"),
        ("cached_tokens", "new_tokens_per_pass"),
    )
    """Tokens that form one sequence together."""
    prompt: str = "prompt_tokens"
    output: str = "output_tokens"
    of_jobs: tuple[str, ...] = ("output_energy",)
    """Results of many sequences."""
    without_output: tuple[str, ...] = ("time_to_first_token", "prefill_time", "prefill_cost_per_token")
    """Results of a request without output: prefill alone."""


class Phases:
    """The phases of serving, and their quantities."""

    of_prompts: tuple[str, ...] = ("time_to_first_token", "new_tokens_per_pass", "uncached_tokens", "rematerialisation_cost")
    """Quantities of the arithmetic of prompts whose names do not begin like their part."""
    lengths_of_prompts: tuple[str, ...] = ("prompt_tokens", "uncached_tokens", "new_tokens_per_pass", "context_length")
    """If none of these is given, a prompt counts as so long that the time per layer does not matter."""
    of_training: tuple[str, ...] = ("training_time", "training_cost", "chip_hours", "training_chips")
    """Results of runs for which published serving times give no information."""
    of_requests: tuple[str, ...] = ("request_latency", "cost_per_request", "price_per_request", "gross_margin", "concurrent_requests")
    """Results of a whole request, prompt and output."""
    layers: str = "layers"
    layer_time: str = "layer_time"
    chip: tuple[str, ...] = ("peak_flops", "hbm_bandwidth")
    """Figures of a chip: with one of them the answer is for one chip by default."""


UNDIVIDED = ("expert_parallel", "draft_tokens", "prefill_passes")
"""Quantities that are whole numbers, besides counted quantities and the counts of an architecture."""


VANISH = dict.fromkeys(("kv_bytes_per_token", "kv_cache_bytes", "kv_time"), ("kv_time", "kv_cache_bytes", "attention_time"))
"""Quantities of the cache, and what is 0 with each of them: a model without a cache has no attention."""
