"""The meanings of a word that depend on the other givens, one row for each. `derive.quantities.meant_beside` resolves words that name
several quantities before. These rows are for an exactly named quantity that does not fit the question.
"""

from derive.immutable import immutable


@immutable
class Meaning:
    """The quantity that people mean by another one, if all of some givens are present.

    It is answered if the requested quantity lacks an input. `why` is printed after its name. With `alone` it applies only if no chip and no
    model is named and no given belongs to the requested quantity. With `told` the meant quantity is always answered. The other one is also
    printed if the answer does not use one of these givens.
    """

    asked: str
    means: str
    beside: frozenset[str]
    why: str = ""
    alone: bool = False
    told: str = ""

    @property
    def warning(self) -> str:
        """Return the warning that another quantity was answered."""
        return f"{self.asked} is answered with {self.means}{self.why}"


REQUEST = Meaning(
    asked="cost_per_request",
    means="price_per_request",
    beside=frozenset(("input_price", "output_price")),
    why=", the price that its buyer pays. The cost of serving it depends on chips",
    alone=True,
)
"""Without chips, the cost of a request means its price."""

MEANINGS = {
    row.asked: row
    for row in (
        REQUEST,
        Meaning(
            asked="cost_per_token",
            means="fleet_cost_per_token",
            beside=frozenset(("fleet_utilisation",)),
            told="including the hours in which the chips are idle",
        ),
        Meaning(asked="throughput", means="fleet_throughput", beside=frozenset(("replicas",)), told="of all replicas together"),
        Meaning(
            asked="requests_per_second",
            means="fleet_requests_per_second",
            beside=frozenset(("replicas",)),
            told="of all replicas together",
        ),
        Meaning(
            asked="mfu",
            means="compute_utilisation",
            beside=frozenset(("throughput",)),
            why=", the share of peak that a throughput reaches. mfu is this share without idle time",
        ),
    )
}
"""The rows by the requested quantity."""


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
    token: str = "time_per_output_token"
    """The time of a token. It differs from the time of a step if prompts are computed between steps."""
    more_than_a_step: frozenset[str] = frozenset(
        ("tokens_per_step", "draft_tokens", "acceptance_rate", "pipeline_stages", "hop_latency", "token_latency"),
    )
    """With one of these the time of a token differs from the time of a step, with or without prompts."""


IMPLIED = {"data type": ("bytes_per_weight",), "model": ("layers",), "prompts": ("prompt_time_share",)}
"""Quantities that a question implies without naming them: by the data type of a chip, by a model, or by prompts on the same chips."""


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
_EXPERTS = ("active_experts", "experts")

CHOICES = (
    # A step of a mixture reads the experts that its tokens use.
    Choice(group="weight_time", variant="touched", known=_EXPERTS, less=_EXPERTS),
    Choice(
        group="weight_time",
        variant="resident",
        known=("resident_weight_bytes_per_chip",),
        absent=("attention_replicas",),
        unspoken=("attention_replicas",),
    ),
    *(
        Choice(group="gross_margin", variant="request", known=(price,))
        for price in ("cost_per_request", "price_per_request", "blended_price", "input_price")
    ),
    Choice(group="reserved_share", variant="usable", all=("usable_share",)),
    # Before its first output token a request has its prompt as context.
    Choice(group="context_length", variant="prompt", known=("prompt_tokens",), absent=("output_tokens",)),
    Choice(group="context_length", variant="prompt", all=("prompt_tokens", "kv_transfer_time"), absent=("output_tokens",)),
    Choice(group="context_length", variant="prompt", all=("prompt_tokens",), asked="kv_transfer_time"),
    # Chips add up what they make of prompts if no sequences are in decode.
    Choice(group="summed", variant="prompts", all=("new_tokens_per_pass",)),
    *(Choice(group="summed", variant="prompts", all=(name,), absent=("batch",)) for name in ("uncached_tokens", "prompt_tokens")),
    Choice(group="activation_bytes_per_chip", variant="interleaved", all=("virtual_stages",)),
    # Copies of a cache are counted by heads unless it is latent.
    Choice(group="attention_params_per_layer", variant="mla", all=("latent_dim",)),
    Choice(group="kv_bytes_per_token", variant="mla", known=("latent_dim",), absent=("kv_heads",)),
    Choice(group="kv_replication", variant="latents", all=("latent_dim",)),
)

OF_PRICE_SHEETS = {"max_context": "context_length"}
"""Quantities of a price sheet, with their meaning in a question about chips and a model."""
