"""The roles of quantities in a deployment: rows that `derive/solving` reads. That package names none of these quantities itself."""

from typing import NamedTuple


class Replica(NamedTuple):
    """The parts of a deployment: whole replicas, each of some chips, whose number divides the attention heads."""

    number: str
    chips: str
    all_chips: str
    heads: str
    domain: str
    """The number of chips in a scale-up domain: a replica fits in one."""
    usual_domain: float
    largest_domain: float
    """The chips of the largest racks of GPUs: no GPU reaches another rack as it reaches its own."""
    rate: str
    rate_of_all: str
    """A rate of one replica, and the same rate of all: people give the second by the name of the first."""
    sequences: str
    """The sequences in all replicas."""
    needs_room: str
    """A time of a replica that exists only if its chips hold its sequences."""
    sized_by: tuple[str, ...]
    """Results that say how many replicas there are: one of them is given in a sizing question."""
    bought: tuple[str, ...]
    """Results of whole replicas alone: parts of a replica cannot be bought."""
    used_share: str
    """The share of the time in which chips are in use. It is in the number of replicas already, and every second of these is paid."""
    price: str
    prices: tuple[str, ...]
    """The price of a second of a chip, and the inputs that give the price of a second in use."""
    apart: str
    """The chips of prefill over those of decode, if each has chips of its own."""


REPLICA = Replica(
    number="replicas",
    chips="chips",
    all_chips="fleet_chips",
    heads="query_heads",
    domain="scale_up_size",
    usual_domain=8.0,
    largest_domain=72.0,
    rate="requests_per_second",
    rate_of_all="fleet_requests_per_second",
    sequences="fleet_sequences_in_flight",
    needs_room="kv_time",
    sized_by=("requests_per_second", "fleet_requests_per_second", "fleet_throughput", "fleet_sequences_in_flight"),
    bought=("fleet_chips", "fleet_cost", "fleet_power", "fleet_electricity_cost"),
    used_share="fleet_utilisation",
    price="chip_price",
    prices=("chip_capex", "rented_chip_price"),
    apart="prefill_decode_chip_ratio",
)


class Batch(NamedTuple):
    """The size that a question finds without asking for it, if limits or memory bound it."""

    name: str
    passes: str
    """How many batches are in flight at once."""
    also: tuple[str, ...]
    """Other quantities that say how many sequences there are."""
    rates: tuple[str, ...]
    """Rates of one replica: the batch follows from them."""
    best_full: tuple[str, ...]
    """Results that are better with a larger batch. Without a batch they are answered for a full memory."""


BATCH = Batch(
    name="batch",
    passes="microbatches",
    also=("sequences_in_flight",),
    rates=("requests_per_second", "throughput"),
    best_full=(
        *("throughput", "requests_per_second", "fleet_requests_per_second", "fleet_throughput"),
        *("cost_per_token", "cost_per_request", "replicas", "fleet_sequences_in_flight"),
    ),
)


class Memory(NamedTuple):
    """The constraint that the stored bytes fit in the memory of the chips: `needed` <= `room`."""

    needed: str
    room: str
    bought: str
    """More of this gives more room."""
    of_a_chip: str
    groups: str
    """How many groups of chips hold it together."""
    parts: dict[str, str]
    """The bytes that are held, and how a message calls them."""
    cache: str
    copies: str
    """How often the cache is held."""
    divided_by: str
    """Over as many chips the cache divides before it is copied. A latent does not divide."""
    attention_groups: str
    """How many groups of chips hold weights of attention of their own."""
    resident: str
    """The bytes of weights on a chip, copies included."""
    sizes: tuple[str, ...]
    """Sizes that inequalities of memory bound. They use the copies as they are, at one number of chips alone."""
    sequences: str
    """The sequences whose caches are held."""
    counted_by: tuple[str, ...]
    """What says how many sequences are held. Without them only the weights are compared."""
    smaller: tuple[str, ...]
    """With less of one of these the cache is smaller."""
    defaults: tuple[str, ...]
    """Inputs of the constraint that have their neutral default, whether the route to an answer uses them or not."""


MEMORY = Memory(
    needed="memory_demand",
    room="memory_capacity",
    bought="chips",
    of_a_chip="hbm_capacity",
    groups="pipeline_stages",
    parts={"weight_bytes": "weights of", "kv_cache_bytes": "a KV cache of"},
    cache="kv_cache_bytes",
    copies="kv_replication",
    divided_by="kv_heads",
    attention_groups="attention_replicas",
    resident="resident_weight_bytes_per_chip",
    sizes=("batch", "sequences_in_flight", "context_length"),
    sequences="sequences_in_flight",
    counted_by=("batch", "microbatches", "sequences_in_flight"),
    smaller=("sequences_in_flight", "batch", "context_length", "kv_bytes_per_sequence", "kv_bytes_per_token", "bytes_per_element"),
    defaults=("pipeline_stages", "kv_replication", "reserved_share"),
)


class Held(NamedTuple):
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


class Step(NamedTuple):
    """A step of decode: its parts, its roof, and the results that give its duration."""

    time: str
    times: tuple[str, ...]
    """Times that are no shorter than the parts of a step. Through stages a token needs a step or longer."""
    parts: dict[str, str]
    """What a step lasts at least, and the part of it that this is."""
    floor: str
    """A bound on the part `weights`. It counts only if that part is unknown."""
    weights: str
    verified: str
    """The tokens that one sequence computes in a step."""
    roof: str
    reads_roof: str
    """The equations that make a step of arithmetic and reads, and the reads of weights and caches."""
    reads: str
    claims: tuple[tuple[str, str], ...]
    """Definitions that are read backwards: the rate or the time that a claimed result leads to, which is compared with the roof."""
    other_share: dict[str, str]
    """The two shares of a peak: each with the other one."""
    memory_share: str
    all_hidden: str
    """The overlap in which a step lasts as long as its longest part."""


STEP = Step(
    time="step_time",
    times=("step_time", "token_latency"),
    parts={"compute_time": "compute_time", "weight_time": "weight_time", "kv_time": "kv_time", "latency_floor": "weight_time"},
    floor="latency_floor",
    weights="weight_time",
    verified="tokens_verified_per_step",
    roof="roofline.step_time",
    reads_roof="roofline.memory_time",
    reads="memory_time",
    claims=(
        ("serving.fleet_cost_per_token", "cost_per_token"),
        ("scheduling.fleet_throughput", "throughput"),
        ("serving.decode_rate_per_chip", "throughput"),
        ("serving.cost_per_token", "throughput"),
        ("scheduling.throughput", "token_latency"),
    ),
    other_share={"mfu": "mbu", "mbu": "mfu"},
    memory_share="mbu",
    all_hidden="max",
)


class Training(NamedTuple):
    """The chips of a training run: copies of the model, and all chips."""

    copies: str
    chips: str


TRAINING = Training(copies="data_parallel", chips="training_chips")


class Sequence(NamedTuple):
    """The tokens of one sequence."""

    context: str
    lengths: tuple[tuple[str, ...], ...]
    """Tokens that one sequence has together."""
    of_jobs: tuple[str, ...]
    """Results of many sequences."""


SEQUENCE = Sequence(
    context="context_length",
    lengths=(("context_length",), ("prompt_tokens", "output_tokens"), ("cached_tokens", "new_tokens_per_pass")),
    of_jobs=("output_energy",),
)


class Phases(NamedTuple):
    """The phases of serving, and their quantities."""

    of_prompts: tuple[str, ...]
    """What is said of the arithmetic of prompts, beside names that begin with that of their part."""
    lengths_of_prompts: tuple[str, ...]
    """Without any of these a prompt is so long that the time of its layers does not matter."""
    of_training: tuple[str, ...]
    """Results of runs about which published serving times say nothing."""
    of_requests: tuple[str, ...]
    """Results of a whole request, prompt and output."""
    prompt: str
    output: str
    layers: str
    layer_time: str
    chip: tuple[str, ...]
    """Figures of a chip: with one of them the answer is for one chip by default."""


PHASES = Phases(
    of_prompts=("time_to_first_token", "new_tokens_per_pass", "uncached_tokens", "rematerialisation_cost"),
    lengths_of_prompts=("prompt_tokens", "uncached_tokens", "new_tokens_per_pass", "context_length"),
    of_training=("training_time", "training_cost", "chip_hours", "training_chips"),
    of_requests=("request_latency", "cost_per_request", "price_per_request", "gross_margin", "concurrent_requests"),
    prompt="prompt_tokens",
    output="output_tokens",
    layers="layers",
    layer_time="layer_time",
    chip=("peak_flops", "hbm_bandwidth"),
)

UNDIVIDED = ("expert_parallel", "draft_tokens", "prefill_passes")
"""Quantities that exist only in whole ones, besides those that are counted and the counts of an architecture."""


VANISH = dict.fromkeys(("kv_bytes_per_token", "kv_cache_bytes", "kv_time"), ("kv_time", "kv_cache_bytes", "attention_time"))
"""Quantities of the cache, and what is 0 with each of them: a model without a cache has no attention."""


class Output(NamedTuple):
    """The output of a request, and the results of a request without output: prefill alone."""

    tokens: str
    without: tuple[str, ...]


OUTPUT = Output(tokens="output_tokens", without=("time_to_first_token", "prefill_time", "prefill_cost_per_token"))
