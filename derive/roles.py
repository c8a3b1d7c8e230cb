"""What quantities are to a deployment: rows that `derive/solving` reads. It names none of these quantities itself."""

from typing import NamedTuple


class Replica(NamedTuple):
    """What a deployment is built of: whole replicas, each of some chips, whose number divides the attention heads."""

    number: str
    chips: str
    all_chips: str
    heads: str
    domain: str
    """The number of chips in a scale-up domain: a replica fits in one."""
    usual_domain: float
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
    """The size that is found without being asked for, if limits or memory bound it."""

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
    also=("sequences_in_flight", "microbatch_size"),
    rates=("requests_per_second", "throughput"),
    best_full=(
        *("throughput", "requests_per_second", "fleet_requests_per_second", "fleet_throughput"),
        *("cost_per_token", "cost_per_request"),
    ),
)
