"""The suppositions of answers: one row for each, with an alternative and the conditions under which it matters.

A new row needs no code: `derive/solving/explain/caveats.py` asks the same question again with the alternative of every row.
"""

from collections.abc import Mapping
from dataclasses import field

from derive.immutable import immutable
from derive.roles import Phases

USUAL = "usual"
"""The alternative is the usual value in the shipped tables."""

Alternative = float | str | tuple[str, ...]
"""A number, another quantity, the id of an equation, `USUAL`, or the least of several quantities."""


@immutable
class Stopgap:
    """Values of quantities that are supposed because a question without them has no answer. A question for one of `unknowns` is answered
    with these `values` if no quantity or part of a layout in `absent` is given. If `lacking` is not empty, no other quantities may be
    missing. Values of 0 make the answer a bound, on the side to which it moves if they are more.
    """

    unknowns: tuple[str, ...]
    values: Mapping[str, float]
    text: str
    absent: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


USUAL_TYPES = {
    "bytes_per_element": "the KV cache is in bf16 (bytes_per_element=fp8 has half the bytes)",
    "bytes_per_weight": "weights are in bf16 (bytes_per_weight=fp8 has half the bytes)",
}
"""Widths that are bf16 unless given, with the text of the supposition."""


class OneSequence:
    """Results for one sequence, if no given says the number of sequences."""

    results: tuple[str, ...] = (
        *("kv_cache_bytes", "memory_demand", "hbm_capacity", "memory_capacity", "context_length"),
        *("step_time", "token_latency", "time_per_output_token", "tokens_per_second_per_user", "request_latency", "output_tokens"),
    )
    said_by: tuple[str, ...] = (
        *("requests_per_second", "throughput", "fleet_requests_per_second", "fleet_throughput", "replicas"),
        *("concurrent_requests", "fleet_sequences_in_flight", "decode_rate_per_chip", "cost_per_token"),
    )
    """Givens from which the number of sequences follows."""


class Dense:
    """A model without givens about experts: both parameter counts are equal."""

    ratio: str = "sparsity"
    results: tuple[str, ...] = ("balance_batch", "balance_tokens_per_chip")
    beside: str = "peak_flops"
    """Results that depend on a model only by the ratio of its parameter counts, if the peak of a chip is given."""


_OF_READS = (
    *("hbm_bandwidth", "mbu", "weight_bytes", "step_time", "time_per_output_token", "throughput", "tokens_per_second_per_user"),
    *("cost_per_token", "energy_per_token", "chip_price", "total_params", "chips", "bytes_per_weight", "batch"),
    *("requests_per_second", "fleet_throughput", "tokens_per_joule"),
)
_OF_OPTIMIZERS = ("gradient_bytes_per_param", "optimizer_bytes_per_param")
_OF_ONE = (
    *("chips", "total_params", "bytes_per_weight", "hbm_bandwidth"),
    *("step_time", "token_latency", "time_per_output_token", "tokens_per_second_per_user"),
)
_OF_ARITHMETIC = ("peak_flops", "active_params", "total_params")
_OF_RUNS = ("pretrain_flops", "chip_hours", "training_time", "training_cost")
_OF_CACHE = ("context_length", "layers", "kv_heads", "head_dim", "kv_bytes_per_token", "kv_bytes_per_sequence")
_UNKNOWN_CACHE = "context_length or the layers and heads"
_WEIGHTS_ALONE = "only the weights: the givens do not say how large the cache is"

STOPGAPS = (
    Stopgap(
        unknowns=("memory_demand", "memory_per_chip"),
        values={"kv_cache_bytes": 0.0},
        text=_WEIGHTS_ALONE,
    ),
    Stopgap(
        unknowns=("chips", "pipeline_stages", "total_params", "bytes_per_weight", "hbm_capacity", "memory_capacity"),
        values={"kv_cache_bytes": 0.0},
        text=_WEIGHTS_ALONE,
        absent=(*_OF_OPTIMIZERS, *_OF_RUNS, "training_chips", "data_parallel", "zero"),
    ),
    Stopgap(
        unknowns=("forward_flops",),
        values={"prefill_attention_flops_per_token": 0.0},
        text="attention is not counted: the heads of the model are not given",
    ),
    Stopgap(
        unknowns=("chip_price", "rented_chip_price", "cost_per_token", "cost_per_request"),
        values={"chip_power": 0.0, "electricity_price": 0.0},
        text="electricity is not counted: its price is not given",
        lacking=("chip_power", "electricity_price", "chip_price"),
    ),
    Stopgap(
        unknowns=("throughput", "requests_per_second", "pipeline_stages"),
        values={"replicas": 1.0},
        text="one replica: their number is not given",
        lacking=("replicas",),
    ),
    Stopgap(
        unknowns=_OF_READS,
        values={"compute_time": 0.0, "attention_time": 0.0},
        text="only the reads: arithmetic is not counted, because the givens do not say how long it takes",
        lacking=_OF_ARITHMETIC,
    ),
    Stopgap(
        unknowns=_OF_ONE,
        values={"batch": 1.0},
        text="one sequence: batch is not given",
        absent=OneSequence.said_by,
        lacking=("batch", *_OF_OPTIMIZERS),
    ),
    *(
        Stopgap(
            unknowns=unknowns,
            values={**values, "attention_time": 0.0, "kv_time": 0.0},
            text=text,
            absent=absent,
            lacking=(*_OF_CACHE, *_OF_OPTIMIZERS, *more),
        )
        for unknowns, values, absent, more, text in (
            (_OF_READS, {}, (), (), f"reads of the cache and attention are not counted: {_UNKNOWN_CACHE} are not given"),
            (
                _OF_ONE,
                {"batch": 1.0},
                OneSequence.said_by,
                ("batch",),
                f"one sequence without a context: batch, and {_UNKNOWN_CACHE}, are not given",
            ),
            (
                _OF_READS,
                {"compute_time": 0.0},
                ("context_length", "kv_bytes_per_sequence"),
                (*_OF_ARITHMETIC, "batch"),
                "only the reads of the weights: the givens do not say how long arithmetic and the reads of the cache take",
            ),
        )
    ),
    Stopgap(
        unknowns=(
            *("training_memory_per_chip", "training_state_bytes_per_chip", "hbm_capacity", "total_params"),
            *("training_chips", "chips", "pipeline_stages", "data_parallel"),
        ),
        values={"gradient_bytes_per_param": 2.0, "optimizer_bytes_per_param": 12.0},
        text="mixed precision with Adam is assumed: per parameter 2 bytes of gradients and 12 bytes of optimizer states, unless given",
        absent=_OF_RUNS,
        lacking=(*_OF_OPTIMIZERS, "data_parallel"),
    ),
    Stopgap(
        unknowns=(
            *("active_params", "total_params", "pretrain_tokens", "pretrain_flops", *Phases.of_training),
            *("training_chips", "mfu", "chip_price"),
        ),
        values={"overtraining_ratio": 1.0},
        text="training is compute-optimal (overtraining_ratio = 1), because its tokens are not given",
    ),
)


@immutable
class Supposition:
    """A supposed value of a quantity, and an alternative value.

    `beside` is supposed while the alternative is computed, unless it is known (the least of several replaces a known value). With `added`,
    the value of that quantity is added to the supposed value. `text` may contain names in braces. A row applies if one of `default` is a
    default of the answer, the answer `uses` one of these quantities or equations, it is `about` one of these quantities (asked for or
    given), all `known` have a value, none of `absent` has one, the first of each pair in `at_least` is no less than the second, the first
    of the pair `more` is more than the second, and `equation` takes part. `source` is the source of the value: "table" or "rule".
    `threshold` is the factor from which on the answer counts as another. With `fills_memory` memory is also checked, with `only_memory`
    only memory is checked. With `compared` the quantity itself is compared with its alternative, and not the answer. With `longer` only a
    larger alternative counts.
    """

    kind: str
    quantity: str
    alternative: Alternative
    text: str
    beside: Mapping[str, Alternative] = field(default_factory=dict)
    added: str = ""
    advice: str = ""
    default: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    at_least: tuple[tuple[str, str | float], ...] = ()
    more: tuple[str, str] | None = None
    equation: str = ""
    source: str = ""
    threshold: float = 1.1
    fills_memory: bool = False
    only_memory: bool = False
    compared: bool = False
    longer: bool = False


_ATTENTION_TIMES = ("attention_time", "attention_compute_ratio")
_STEPS = ("roofline.step_time", "roofline.step_time_serial", "roofline.step_time_kv_plus_max", "serving.normalised_cost")
"""Overlaps whose step time does not include the network."""
_SEVERAL_CHIPS = ("chips", 1.001)
_SPARSEST: dict[str, Alternative] = {"experts": USUAL, "active_experts": 1.0}
_BATCHES: tuple[tuple[dict[str, Alternative], tuple[str, ...], tuple[str, ...]], ...] = (
    ({}, ("batch",), ()),
    ({"batch": 1.0}, (), ("batch",)),
)
_COPIES = "the cache is sharded by sequences"

SUPPOSITIONS: tuple[Supposition, ...] = (
    # -- the cache and the memory
    *(
        Supposition(
            kind="cache_copied",
            quantity="kv_replication",
            alternative=f"memory.kv_copies_of_{shared}",
            beside={"chips": ("chips", "query_heads")},
            text=f"{_COPIES}. Tensor parallelism copies it",
            default=("kv_replication",),
            absent=("attention_replicas",),
            fills_memory=True,
        )
        for shared in ("heads", "latents")
    ),
    Supposition(
        kind="cache_cut_by_heads",
        quantity="kv_replication",
        alternative=1.0,
        text="tensor parallelism over {chips} chips copies the cache {kv_replication} times. Sharding it by sequences does not",
        uses=("kv_replication",),
        source="rule",
    ),
    Supposition(
        kind="memory_nearly_full",
        quantity="reserved_share",
        alternative=0.1,
        text="weights and caches fill the memory. Engines reserve a tenth for activations and buffers",
        default=("reserved_share",),
        uses=("memory.sequences_that_fit",),
        threshold=1.3,
        fills_memory=True,
    ),
    Supposition(
        kind="little_room_left",
        quantity="reserved_share",
        alternative=0.05,
        text="weights and caches nearly fill the memory. Engines reserve a part for activations and buffers",
        uses=("hbm_bandwidth", "peak_flops"),
        absent=("reserved_share", "usable_share", "reserved_bytes_per_chip"),
        only_memory=True,
    ),
    *(
        Supposition(
            kind="attention_everywhere",
            quantity="attention_replicas",
            alternative="memory.attention_on_every_chip",
            text="all weights are sharded. With a latent cache, every chip stores all weights outside the experts",
            advice="attention=dp",
            default=("attention_replicas",),
            known=("experts", of_latents),
            absent=("kv_replication",),
            at_least=(_SEVERAL_CHIPS,),
            fills_memory=True,
        )
        for of_latents in ("latent_dim", "heavily_compressed_layers")
    ),
    # -- experts
    *(
        Supposition(
            kind="experts_unknown",
            quantity="weight_time",
            alternative="experts.weight_time_touched",
            beside={**_SPARSEST, **batch},
            text="the experts are unknown, so every step reads all weights. With the sparsest known router it reads fewer",
            advice="give experts and active_experts",
            uses=("roofline.weight_time",),
            known=("total_params", "active_params", *present),
            absent=("experts", *absent),
            more=("total_params", "active_params"),
        )
        for batch, present, absent in _BATCHES
    ),
    Supposition(
        kind="busiest_chip",
        quantity="expert_imbalance",
        alternative="experts.busiest_chip",
        beside={"expert_parallel": ("expert_parallel", "chips", "experts")},
        text="every chip reads the mean number of experts. The busiest chip reads more",
        advice="give expert_imbalance, or expert_parallel and --using experts.busiest_chip",
        default=("expert_imbalance",),
        threshold=1.3,
    ),
    Supposition(
        kind="chunk_not_free",
        quantity="memory_time",
        alternative="serving.mixed_memory_time_touched",
        beside={"prefill_chunk": "free_prefill_chunk"},
        text="only the arithmetic of the chunk is free. The chunk also reads its own experts",
        uses=("serving.free_prefill_chunk_touched",),
        threshold=1.3,
        compared=True,
    ),
    # -- attention
    Supposition(
        kind="attention_in_bf16",
        quantity="attention_rate_ratio",
        alternative=1.0,
        text="attention runs in bf16, at {attention_rate_ratio} of the rate of the weights. It may run in their data type",
        source="table",
    ),
    Supposition(
        kind="attention_rate_unknown",
        quantity="attention_rate_ratio",
        alternative=USUAL,
        text="the table has no bf16 rate of this chip, so attention runs at the rate of the weights. On most chips it is slower",
        default=("attention_rate_ratio",),
        threshold=1.3,
    ),
    Supposition(
        kind="latent_attention_left_out",
        quantity="query_heads",
        alternative=128.0,
        text="the FLOPs of latent attention are not counted, because query_heads is unknown",
        default=_ATTENTION_TIMES,
        known=("latent_dim",),
    ),
    Supposition(
        kind="prefill_attention_left_out",
        quantity="prompt_tokens",
        alternative=32_768.0,
        text="attention over the prompt is not counted, because its length is unknown",
        default=("prefill_attention_factor",),
        known=("query_heads",),
    ),
    Supposition(
        kind="prefill_attention_left_out",
        quantity="query_heads",
        alternative=64.0,
        text="attention over the prompt is not counted, because query_heads is unknown",
        default=("prefill_attention_factor",),
        absent=("query_heads",),
    ),
    Supposition(
        kind="prefill_attention_left_out",
        quantity="prefill_attention_factor",
        alternative="prefill_attention_factor",
        beside={"uncached_tokens": "new_tokens_per_pass", "cached_tokens": "context_length"},
        text="the pass is a whole prompt. With a context before it, it attends to more tokens",
        advice="give cached_tokens or prompt_tokens",
        default=("uncached_tokens",),
        at_least=(("context_length", "new_tokens_per_pass"),),
        threshold=1.3,
    ),
    Supposition(
        kind="reads_outlast_prefill",
        quantity="prefill_compute_time",
        alternative="prefill_weight_time",
        text="this is only the arithmetic. The reads of the weights take longer",
        uses=("serving.prefill_compute_time",),
        longer=True,
        threshold=1.3,
    ),
    # -- prompts beside decode
    *(
        Supposition(
            kind="prompts_of_others_elsewhere",
            quantity=seen,
            alternative=f"serving.{seen}_with_prompts",
            text="other chips compute the prompts of other requests. On the same chips these prompts run between the steps",
            advice=f"--using serving.{seen}_with_prompts",
            uses=(f"serving.{seen}",),
            known=("prompt_tokens",),
            threshold=1.3,
        )
        for seen in ("request_latency", "tokens_per_second_per_user")
    ),
    Supposition(
        kind="step_of_decode_alone",
        quantity="step_time",
        alternative="time_per_output_token",
        text="step_time is for decode alone. With prompts between the steps a user waits longer for a token",
        advice="limit time_per_output_token",
        about=("step_time",),
        equation="serving.tokens_per_second_per_user_with_prompts",
        threshold=1.02,
    ),
    # -- every layer, and what chips send each other
    Supposition(
        kind="no_time_per_layer",
        quantity="overhead_time",
        alternative="roofline.overhead_time",
        beside={"layer_time": USUAL},
        text="launches and all-reduces cost no time",
        advice="--efficiency calibrated",
        default=("overhead_time",),
        known=("layers",),
        threshold=1.3,
    ),
    Supposition(
        kind="exchange_left_out",
        quantity="step_time",
        alternative="all_to_all_time",
        added="all_to_all_time",
        beside={"scale_up_size": USUAL, "scale_out_link_bandwidth": USUAL},
        text="expert dispatch and combine are not counted",
        advice="--overlap network",
        uses=_STEPS,
        known=("experts",),
        at_least=(_SEVERAL_CHIPS,),
        threshold=1.3,
    ),
    Supposition(
        kind="sums_left_out",
        quantity="step_time",
        alternative="network.all_reduce_bytes",
        added="tensor_parallel_time",
        beside={"scale_up_size": USUAL, "scale_out_link_bandwidth": USUAL},
        text="the all-reduce of every layer is not counted",
        advice="--overlap exposed",
        uses=_STEPS,
        known=("scale_up_link_bandwidth",),
        absent=("experts",),
        at_least=(_SEVERAL_CHIPS, ("active_params", "total_params")),
        threshold=1.3,
    ),
    *(
        Supposition(
            kind="sums_left_out",
            quantity=time,
            alternative="network.all_reduce_bytes_of_prompts",
            added="tensor_parallel_time",
            beside={"scale_up_size": USUAL, "scale_out_link_bandwidth": USUAL},
            text="the all-reduce of every layer of the prefill pass is not counted",
            advice="give a measured mfu",
            uses=(equation,),
            known=("scale_up_link_bandwidth",),
            absent=("experts", "mfu"),
            at_least=(_SEVERAL_CHIPS, ("active_params", "total_params")),
        )
        for time, equation in (("prefill_time", "prefill.time"), ("prefill_compute_time", "serving.prefill_compute_time"))
    ),
    Supposition(
        kind="hops_left_out",
        quantity="hop_latency",
        alternative=10e-6,
        text="hops between {pipeline_stages} pipeline stages cost no time",
        default=("hop_latency", "idle_fraction"),
        at_least=(("pipeline_stages", 2.0),),
        threshold=1.02,
    ),
    # -- drafts, chips in use, whole runs
    Supposition(
        kind="drafts_for_nothing",
        quantity="draft_cost_ratio",
        alternative=0.05,
        text="drafting costs no time",
        default=("draft_cost_ratio",),
        known=("draft_tokens",),
        threshold=1.02,
    ),
    *(
        Supposition(
            kind="drafts_for_nothing",
            quantity="step_time",
            alternative="step_time",
            beside={"draft_tokens": 7.0, "draft_cost_ratio": 0.05},
            text="drafting costs no time, and every drafted token is accepted",
            advice="give draft_tokens and draft_cost_ratio",
            default=(default,),
            absent=("draft_tokens",),
            at_least=(("tokens_per_step", 1.001),),
            threshold=1.02,
        )
        for default in ("drafting_time", "tokens_verified_per_step")
    ),
    Supposition(
        kind="one_of_a_rack",
        quantity="chips",
        alternative="scale_up_size",
        text="chips is not given, so this is one chip. A rack has {scale_up_size}",
        uses=("chips",),
        absent=("chips",),
        at_least=(("scale_up_size", 9.0),),
    ),
    Supposition(
        kind="at_the_peak",
        quantity="mfu",
        alternative=0.4,
        text="mfu is not given. No training run reaches the peak of its chips (--efficiency calibrated is only for serving)",
        about=Phases.of_training,
        uses=("mfu",),
        absent=("mfu", "training_rate_per_chip"),
    ),
    Supposition(
        kind="chip_always_in_use",
        quantity="fleet_utilisation",
        alternative=0.5,
        text="the chip is always in use",
        default=("fleet_utilisation",),
        uses=("serving.chip_price_from_capex",),
    ),
    Supposition(
        kind="power_of_chips_alone",
        quantity="power_usage_effectiveness",
        alternative=1.2,
        text="only the chips use power. Cooling and power supply need more",
        default=("power_usage_effectiveness",),
        threshold=1.02,
    ),
)
