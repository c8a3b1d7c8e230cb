"""The roles and the meanings of quantities in a question: rows for `derive/solving`, which names none of these quantities itself.

A meaning depends on the other givens. `derive.quantities.meant_beside` resolves words that name several quantities before. The rows here
are for an exactly named quantity that does not fit the question.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from derive.immutable import immutable

# -- roles ------------------------------------------------------------------------------------------------------------


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
    sized_by: tuple[str, ...] = ("requests_per_second", "fleet_requests_per_second", "fleet_throughput", "fleet_sequences_in_flight")
    """Results that determine the number of replicas. A sizing question gives one of them."""
    bought: tuple[str, ...] = ("fleet_chips", "fleet_cost", "fleet_power", "fleet_electricity_cost")
    """Results of whole replicas, because a part of a replica cannot be bought."""
    paid: tuple[str, ...] = ("gross_margin", "decode_rate_per_chip")
    """Results of all chips together, besides money and energy."""
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
    demands: tuple[str, ...] = ("memory_demand", "memory_per_chip", "training_memory_per_chip")
    """What has to fit. That it fits says nothing of how much it is."""
    bought: str = "chips"
    """The quantity that gives more memory if it is larger."""
    of_a_chip: str = "hbm_capacity"
    rooms: tuple[str, ...] = ("memory_capacity", "hbm_capacity")
    """The bytes of a memory. Of all other bytes, fewer are better."""
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
    resident_row: str = "memory.resident_weight_bytes"
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
    Held(names=("replicas", "fleet_chips", "fleet_cost", "fleet_power"), cache=True, itself=True),
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
"""Units of times and rates: their quantities are better lower, or higher."""

BETTER = {
    **FASTER,
    **dict.fromkeys(("byte", "byte/token", "USD", "USD/token", "USD/s", "J", "J/token", "J/s"), -1),
    **dict.fromkeys(("token/USD", "token/J", "FLOP/USD", "gross_margin"), 1),
}
"""The better side by unit, or by name without a unit. Given results of a size with a better side are targets."""


def undivided_heads(chips: float, known: Mapping[str, float]) -> str:
    """Return the heads that so many chips cannot share by tensor parallelism, or "" if they can.

    They divide the query heads. They also divide the KV heads, or are a multiple of them, so that each KV head has as many copies.

    >>> undivided_heads(8, {"query_heads": 64, "kv_heads": 8}), undivided_heads(7, {"query_heads": 28, "kv_heads": 4})
    ('', 'kv_heads')
    """
    heads, shared = known.get(Replica.heads, chips), known.get(Memory.divided_by, chips)
    return Replica.heads if heads % chips else Memory.divided_by if shared % chips and chips % shared else ""


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
    all_weights: tuple[str, ...] = ("roofline.weight_time", "batching.weight_compute_ratio")
    """Equations in which a step reads all weights: an upper bound if it reads a few experts whose number is not known."""
    overlap: str = "overlap"
    """The group of variants that add up the parts of a step."""
    all_hidden: str = "max"
    """The overlap with which the time of a step is its longest part."""


class Widths:
    """The bytes of one number, and the rate of a chip that doubles at half of them."""

    weights: str = "bytes_per_weight"
    cache: str = "bytes_per_element"
    rate: str = "peak_flops"


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
    efficiencies: frozenset[str] = frozenset(("mfu", "mbu", "layer_time"))
    """What is fitted to published runs."""
    chip: tuple[str, ...] = ("peak_flops", "hbm_bandwidth")
    """Figures of a chip: with one of them the answer is for one chip by default."""


UNDIVIDED = ("expert_parallel", "draft_tokens", "prefill_passes")
"""Quantities that are whole numbers, besides counted quantities and the counts of an architecture."""

VANISH = dict.fromkeys(("kv_bytes_per_token", "kv_cache_bytes", "kv_time"), ("kv_time", "kv_cache_bytes", "attention_time"))
"""Quantities of the cache, and what is 0 with each of them: a model without a cache has no attention."""


# -- meanings ---------------------------------------------------------------------------------------------------------


@immutable
class Meaning:
    """The quantity that people mean by another one, if all of some givens are present.

    It is answered, with a warning, if the requested quantity lacks an input. `why` is printed after its name. With `alone` it applies only
    if no chip and no model is named and no given belongs to the requested quantity. With `told` the requested quantity is answered, and the
    meant one is printed after it if it has another value.
    """

    asked: str
    means: str
    beside: frozenset[str]
    why: str = ""
    alone: bool = False
    told: str = ""


MEANINGS = (
    # Without chips, the cost of a request means its price.
    Meaning(
        asked="cost_per_request",
        means="price_per_request",
        beside=frozenset(("input_price", "output_price")),
        why=", the price that its buyer pays. The cost of serving it depends on chips",
        alone=True,
    ),
    Meaning(
        asked="cost_per_token",
        means="fleet_cost_per_token",
        beside=frozenset(("fleet_utilisation",)),
        told="including the hours in which the chips are idle",
    ),
    *(
        Meaning(asked=of_one, means=of_all, beside=frozenset((counted,)), told="of all replicas together")
        for of_one, of_all in (("throughput", "fleet_throughput"), ("requests_per_second", "fleet_requests_per_second"))
        for counted in ("replicas", "fleet_chips")
    ),
    Meaning(
        asked="mfu",
        means="compute_utilisation",
        beside=frozenset(("throughput",)),
        why=", the share of peak that a throughput reaches. mfu is this share without idle time",
    ),
)
"""The rows in order: the first that fits is meant."""


def meaning_of(asked: str, given: Collection[str]) -> Meaning | None:
    """Return the quantity that people mean by another one beside some givens, or None if they mean the quantity itself."""
    return next((row for row in MEANINGS if row.asked == asked and row.beside <= {*given}), None)


class Waiting:
    """The hours in which chips wait: a cost includes them once, if the share of time in use is given."""

    price: str = "chip_price"
    """The price of a chip in use. If a cost has no share of time in use, this price means `rent`, which is also paid for an idle chip."""
    rent: str = "rented_chip_price"
    of_use: str = "cost_per_token"
    of_all_hours: str = "fleet_cost_per_token"
    """A cost of chips in use, and the same cost over all hours. They are equal if the price of a second in use includes idle time."""
    paid_for_by: frozenset[str] = frozenset(("serving.chip_price_from_capex", "serving.rented_chip_price"))
    """Equations in which the price of a second in use includes idle seconds."""
    costs: frozenset[str] = frozenset(("cost_per_token", "prefill_cost_per_token"))
    """Costs of chips in use. Costs of requests and margins are made of them."""
    made_of_use: frozenset[str] = frozenset(("cost_per_token", "prefill_cost_per_token", "cost_per_request"))
    """Costs that are given for chips in use. Costs over all hours are these divided by the share of time in use."""
    margin: str = "gross_margin"


class Prompts:
    """Prompts on the chips that decode: the equation that counts them, and times that are equal only for decode alone."""

    apart: str = "serving.requests_per_second"
    together: str = "serving.requests_per_second_with_prompts"
    """The equations of a rate of requests for decode alone, and with prompts on the same chips."""
    seen_by_one: tuple[str, ...] = ("serving.request_latency", "serving.tokens_per_second_per_user")
    """Equations for a single request. They do not mean that a rate of requests is for decode alone."""
    time_share: str = "prompt_time_share"
    in_one_pass: str = "prefill_batch"
    """The share of the time of prompts, and the prompts in one pass."""
    part: str = "prefill_"
    """The beginning of the names of prompt quantities."""
    paid: str = "prefill_cost_per_token"
    token: str = "time_per_output_token"
    """The time of a token. It differs from the time of a step if prompts are computed between steps."""
    more_than_a_step: frozenset[str] = frozenset(
        ("tokens_per_step", "draft_tokens", "acceptance_rate", "pipeline_stages", "hop_latency", "token_latency"),
    )
    """With one of these the time of a token differs from the time of a step, with or without prompts."""


IMPLIED = {
    **{"count": ("chips",), "data type": ("bytes_per_weight",), "model": ("layers",), "prompts": ("prompt_time_share",)},
    "training run": ("training_chips",),
}
"""Quantities that a question implies without naming them: by a count or the data type of a chip, by a model, by prompts on the same
chips, or by a stage of ZeRO.
"""


class Accrued:
    """Money of a fleet that adds up over a time: money per hour is money over one hour."""

    time: str = "deployment_time"
    money: tuple[str, ...] = ("fleet_cost", "fleet_electricity_cost")


OF_DEPLOYMENTS = frozenset(
    (
        *("replicas", "fleet_chips", "fleet_cost", "fleet_power", "fleet_electricity_cost", "fleet_utilisation", "fleet_cost_per_token"),
        *("fleet_throughput", "fleet_requests_per_second", "fleet_sequences_in_flight", "requests_per_second", "throughput"),
        *("cost_per_token", "cost_per_request", "prompt_tokens"),
    )
)
"""Quantities that mean something else, or need more inputs, in some deployments: one replica or all, with or without prompts, with or
without idle hours. Other questions are used as typed.
"""
SIZE_OF_DEPLOYMENTS = "chips"
"""A quantity of the same kind, if it is requested."""
SIZES_OF_DEPLOYMENTS = (SIZE_OF_DEPLOYMENTS, "fleet_chips")
"""Answers that lead with whole replicas."""


@immutable
class Choice:
    """A variant of a group that the givens choose.

    A row applies if all of `known` are given, all of `all` are given or asked for, none of `absent` is given or asked for, none of
    `unspoken` is given or in a named equation, and the unknown is `asked`. The first value of the pair `less` is below the second. A later
    row goes before an earlier one.
    """

    group: str
    variant: str
    known: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unspoken: tuple[str, ...] = ()
    asked: str = ""
    less: tuple[str, ...] = ()


READS_OF_WEIGHTS = "weight_time"
"""The group of variants that read weights."""
EXPERTS = ("active_experts", "experts")
"""The experts that a token uses, and all."""

IN_DECODE = ("batch", "step_time", "time_per_output_token", "throughput", "requests_per_second", "fleet_requests_per_second")
"""Quantities that say that sequences are in decode."""

_OF_DECODE = ("request_latency", *(name for name in IN_DECODE if name != "batch"))
"""Results that read the mean context of decode, and not the cache that is sent before it."""

CHOICES = (
    # A step of a mixture reads the experts that its tokens use.
    Choice(group="weight_time", variant="touched", known=EXPERTS, less=EXPERTS),
    Choice(
        group="weight_time",
        variant="resident",
        known=("resident_weight_bytes_per_chip",),
        absent=("attention_replicas",),
        unspoken=("attention_replicas",),
    ),
    *(
        Choice(group="gross_margin", variant="request", known=(price,))
        for price in ("cost_per_request", "price_per_request", "blended_price")
    ),
    *(
        Choice(group="gross_margin", variant="request", known=(price,), all=("prompt_tokens",))
        for price in ("input_price", "mean_input_price")
    ),
    Choice(group="gross_margin", variant="request", known=("gross_margin",), asked="price_per_request"),
    Choice(group="reserved_share", variant="usable", all=("usable_share",)),
    # Before its first output token a request has its prompt as context.
    Choice(group="context_length", variant="prompt", known=("prompt_tokens",), absent=("output_tokens",), unspoken=("context_length",)),
    Choice(group="context_length", variant="prompt", all=("prompt_tokens", "kv_transfer_time"), absent=_OF_DECODE),
    Choice(group="context_length", variant="prompt", all=("prompt_tokens",), asked="kv_transfer_time"),
    # Chips add up what they make of prompts if no sequences are in decode.
    Choice(group="summed", variant="prompts", all=("new_tokens_per_pass",)),
    *(Choice(group="summed", variant="prompts", all=(name,), absent=IN_DECODE) for name in ("uncached_tokens", "prompt_tokens")),
    Choice(group="activation_bytes_per_chip", variant="interleaved", all=("virtual_stages",)),
    # Copies of a cache are counted by heads unless it is latent.
    Choice(group="attention_params_per_layer", variant="mla", all=("latent_dim",)),
    *(Choice(group="kv_bytes_per_token", variant="mla", known=(width,), absent=("kv_heads",)) for width in ("latent_dim", "rope_dim")),
    Choice(group="kv_replication", variant="latents", all=("latent_dim",)),
)

OF_PRICE_SHEETS = {"max_context": "context_length"}
"""Quantities of a price sheet, with their meaning in a question about chips and a model."""
