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
    """The number of chips in a scale-up domain: a replica fits in one."""
    usual_domain: float = 8.0
    largest_domain: float = 72.0
    """The chips of the largest racks of GPUs: no GPU reaches another rack as it reaches its own."""
    rate: str = "requests_per_second"
    rate_of_all: str = "fleet_requests_per_second"
    """A rate of one replica, and the same rate of all: people give the second by the name of the first."""
    sequences: str = "fleet_sequences_in_flight"
    """The sequences in all replicas."""
    needs_room: str = "kv_time"
    """A time of a replica that exists only if its chips hold its sequences."""
    sized_by: tuple[str, ...] = ("requests_per_second", "fleet_requests_per_second", "fleet_throughput", "fleet_sequences_in_flight")
    """Results that say how many replicas there are: one of them is given in a sizing question."""
    bought: tuple[str, ...] = ("fleet_chips", "fleet_cost", "fleet_power", "fleet_electricity_cost")
    """Results of whole replicas alone: parts of a replica cannot be bought."""
    used_share: str = "fleet_utilisation"
    """The share of the time in which chips are in use. It is in the number of replicas already, and every second of these is paid."""
    price: str = "chip_price"
    prices: tuple[str, ...] = ("chip_capex", "rented_chip_price")
    """The price of a second of a chip, and the inputs that give the price of a second in use."""
    apart: str = "prefill_decode_chip_ratio"
    """The chips of prefill over those of decode, if each has chips of its own."""


class Batch:
    """The size that a question finds without asking for it, if limits or memory bound it."""

    name: str = "batch"
    passes: str = "microbatches"
    """How many batches are in flight at once."""
    also: tuple[str, ...] = ("sequences_in_flight",)
    """Other quantities that say how many sequences there are."""
    rates: tuple[str, ...] = ("requests_per_second", "throughput")
    """Rates of one replica: the batch follows from them."""
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
    """More of this gives more room."""
    of_a_chip: str = "hbm_capacity"
    groups: str = "pipeline_stages"
    """How many groups of chips hold it together."""
    parts: Mapping[str, str] = MappingProxyType({"weight_bytes": "weights of", "kv_cache_bytes": "a KV cache of"})
    """The bytes that are held, and how a message calls them."""
    cache: str = "kv_cache_bytes"
    copies: str = "kv_replication"
    """How often the cache is held."""
    divided_by: str = "kv_heads"
    """Over as many chips the cache divides before it is copied. A latent does not divide."""
    attention_groups: str = "attention_replicas"
    """How many groups of chips hold weights of attention of their own."""
    weights: str = "weight_bytes"
    resident: str = "resident_weight_bytes_per_chip"
    """The bytes of weights on a chip, copies included."""
    sizes: tuple[str, ...] = ("batch", "sequences_in_flight", "context_length")
    """Sizes that inequalities of memory bound. They use the copies as they are, at one number of chips alone."""
    sequences: str = "sequences_in_flight"
    """The sequences whose caches are held."""
    counted_by: tuple[str, ...] = ("batch", "microbatches", "sequences_in_flight")
    """What says how many sequences are held. Without them only the weights are compared."""
    smaller: tuple[str, ...] = (
        *("sequences_in_flight", "batch", "context_length"),
        *("kv_bytes_per_sequence", "kv_bytes_per_token", "bytes_per_element"),
    )
    """With less of one of these the cache is smaller."""
    defaults: tuple[str, ...] = ("pipeline_stages", "kv_replication", "reserved_share")
    """Inputs of the constraint that have their neutral default, whether the route to an answer uses them or not."""


@immutable
class Held:
    """The bytes that memory must store for some quantities to be possible: the weights, and with `cache` the caches too.

    With `told` short memory is a warning and no refusal. With `itself` a quantity needs it only if it is asked for, with known chips.
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
"""Sizes in the order in which they are found, if several are asked for. Other answers are at their better end."""

FASTER = {"s": -1, "s/token": -1, "token/s": 1, "1/s": 1}
"""Units of times and rates: their quantities are better lower, or higher. If they are given for a size they are targets."""


class DecodeStep:
    """A step of decode: its parts, its roof, and the results that give its duration."""

    time: str = "step_time"
    times: tuple[str, ...] = ("step_time", "token_latency")
    """Times that are no shorter than the parts of a step. Through stages a token needs a step or longer."""
    parts: Mapping[str, str] = MappingProxyType(
        {"compute_time": "compute_time", "weight_time": "weight_time", "kv_time": "kv_time", "latency_floor": "weight_time"}
    )
    """What a step lasts at least, and the part of it that this is."""
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
    """Definitions that are read backwards: the rate or the time that a claimed result leads to, which is compared with the roof."""
    other_share: Mapping[str, str] = MappingProxyType({"mfu": "mbu", "mbu": "mfu"})
    """The two shares of a peak: each with the other one."""
    memory_share: str = "mbu"
    all_hidden: str = "max"
    """The overlap in which a step lasts as long as its longest part."""


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
    """Tokens that one sequence has together."""
    of_jobs: tuple[str, ...] = ("output_energy",)
    """Results of many sequences."""


class Phases:
    """The phases of serving, and their quantities."""

    of_prompts: tuple[str, ...] = ("time_to_first_token", "new_tokens_per_pass", "uncached_tokens", "rematerialisation_cost")
    """What is said of the arithmetic of prompts, beside names that begin with that of their part."""
    lengths_of_prompts: tuple[str, ...] = ("prompt_tokens", "uncached_tokens", "new_tokens_per_pass", "context_length")
    """Without any of these a prompt is so long that the time of its layers does not matter."""
    of_training: tuple[str, ...] = ("training_time", "training_cost", "chip_hours", "training_chips")
    """Results of runs about which published serving times say nothing."""
    of_requests: tuple[str, ...] = ("request_latency", "cost_per_request", "price_per_request", "gross_margin", "concurrent_requests")
    """Results of a whole request, prompt and output."""
    prompt: str = "prompt_tokens"
    output: str = "output_tokens"
    layers: str = "layers"
    layer_time: str = "layer_time"
    chip: tuple[str, ...] = ("peak_flops", "hbm_bandwidth")
    """Figures of a chip: with one of them the answer is for one chip by default."""


UNDIVIDED = ("expert_parallel", "draft_tokens", "prefill_passes")
"""Quantities that exist only in whole ones, besides those that are counted and the counts of an architecture."""


VANISH = dict.fromkeys(("kv_bytes_per_token", "kv_cache_bytes", "kv_time"), ("kv_time", "kv_cache_bytes", "attention_time"))
"""Quantities of the cache, and what is 0 with each of them: a model without a cache has no attention."""


class Output:
    """The output of a request, and the results of a request without output: prefill alone."""

    tokens: str = "output_tokens"
    without: tuple[str, ...] = ("time_to_first_token", "prefill_time", "prefill_cost_per_token")
