"""The values of quantities that are not given: one row for each default. Factors are 1 and terms are 0, unless given."""

from typing import NamedTuple


class Default(NamedTuple):
    """A default, and the givens that replace it.

    It is `value`, or the first of `follows` that is known or asked for. With `about`, it is `value` only if one of these is known or asked
    for. If one of `beside` is, it only follows. If one of each of `gives_way` is, the quantity has the value of its definition, unless one
    of `stays` is too. Any set of `said_by`, given together, determines the number. `worked_out_by` is the same for the first of `follows`:
    if one of each is known, the quantity equals it. `together` also puts the quantity that it follows into the equations.

    `ideal` is the better side: a share of a peak is at most 1, a duration is at least 0. A default that is `measured` stays in the
    equations, because a measured result may contradict it. A `found` default is put into the equations. A result that no measured default
    explains may contradict it. With `spoken`, only a question that mentions one of these changes it. `waits` is a time that does not depend
    on the efficiency of chips. A default that follows `always` is also replaced by a quantity that is not given, which is then reported as
    missing. A `plain` default is a part that a model does not have, or an equal width. It is not an assumption.
    """

    quantity: str
    value: float | None = None
    follows: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    gives_way: tuple[tuple[str, ...], ...] = ()
    stays: tuple[str, ...] = ()
    said_by: tuple[tuple[str, ...], ...] = ()
    worked_out_by: tuple[tuple[str, ...], ...] = ()
    together: bool = False
    ideal: str = ""
    measured: bool = False
    found: bool = False
    spoken: tuple[str, ...] = ()
    waits: bool = False
    always: bool = False
    plain: bool = False


_ATTENTION = ("attention_flops_per_sequence", "attention_flops_per_pair", "query_heads", "indexer_heads")
_PREFILL_ATTENTION = ("prefill_attention_flops_per_token", "prefill_attention_flops_per_pair", *_ATTENTION)
_PROMPTS = ("prompt_tokens", "uncached_tokens", "new_tokens_per_pass", "context_length")
_WEIGHTS = ("total_params", "routed_params", "resident_weight_bytes_per_chip")
_DRAFTS = ("draft_tokens", "acceptance_rate")
_TIMES = ("peak_flops", "hbm_bandwidth", "compute_time", "memory_time")
_WINDOWS = ("window_layers", "window_kv_heads", "window_key_dim")
_STATES = ("linear_layers", "state_heads")
_SELECTIONS = ("sparse_layers", "selected_entries")
_INDEXERS = (*_SELECTIONS, "indexer_layers", "indexer_heads")
_OF_EXPERTS = ("experts", "active_experts", "expert_parallel", "reached_chips", "sequences_per_chip", "all_to_all_time")
_HITS = ("cached_tokens", "cache_hit_share")

DEFAULTS = (
    Default("chips", 1.0, follows=("expert_parallel", "fleet_chips"), said_by=(("fleet_chips", "replicas"),), measured=True),
    Default("pipeline_stages", 1.0, said_by=(("training_chips", "chips", "data_parallel"),), measured=True),
    Default("mfu", 1.0, ideal="upper", measured=True),
    Default("mbu", 1.0, ideal="upper", measured=True),
    # The throughput of a fleet determines its number of replicas.
    Default("replicas", 1.0, said_by=(("fleet_throughput",), ("fleet_requests_per_second",), ("fleet_chips", "chips")), measured=True),
    Default("tokens_per_step", 1.0, gives_way=(_DRAFTS,), measured=True, spoken=_DRAFTS),
    Default(
        "fleet_utilisation",
        1.0,
        said_by=tuple(
            (rate, of_all, *number)
            for rate, of_all in (("throughput", "fleet_throughput"), ("requests_per_second", "fleet_requests_per_second"))
            for number in (("replicas",), ("fleet_chips", "chips"))
        ),
        ideal="upper",
        found=True,
    ),
    Default(
        "microbatches",
        1.0,
        follows=("pipeline_stages",),
        said_by=(("sequences_in_flight", "batch"), ("idle_fraction",)),
        together=True,
        found=True,
    ),
    Default("hop_latency", 0.0, gives_way=(("grid_latency", "minimum_latency"),), ideal="lower", found=True),
    Default("idle_fraction", 0.0, gives_way=(("hop_latency", "microbatches", "sequences_in_flight"),), ideal="lower"),
    Default(
        "tokens_verified_per_step",
        1.0,
        follows=("tokens_per_step",),
        gives_way=(_DRAFTS,),
        found=True,
        spoken=("tokens_per_step", *_DRAFTS),
    ),
    Default("kv_replication", 1.0, ideal="lower", found=True),
    Default("attention_replicas", 1.0, ideal="lower"),
    # All weights have one width, until experts or the rest have their own.
    Default("expert_bytes_per_weight", follows=("bytes_per_weight",), always=True, plain=True),
    Default("shared_bytes_per_weight", follows=("bytes_per_weight",), always=True, plain=True),
    Default("rack_limit", follows=("racks",), always=True, plain=True),
    # A pass reads all weights for any number of tokens, until a variant says otherwise.
    Default("plain_weight_time", follows=("weight_time",), always=True, plain=True),
    Default("mixed_memory_time", follows=("memory_time",), always=True, plain=True),
    Default("prefill_weight_compute_ratio", follows=("weight_compute_ratio",), always=True, plain=True),
    # A prompt token needs the same FLOPs as a decoded token, unless prefill expands a latent.
    Default("prefill_attention_flops_per_pair", follows=("attention_flops_per_pair",), always=True, plain=True),
    Default("expert_imbalance", 1.0, ideal="lower", found=True),
    Default("attention_time", 0.0, gives_way=((*_ATTENTION, "attention_compute_ratio"),), ideal="lower"),
    Default("attention_compute_ratio", 0.0, gives_way=((*_ATTENTION, "attention_time"),), ideal="lower"),
    Default("attention_rate_ratio", 1.0),
    # All layers attend to the whole context, until windows, states or selections are given.
    Default("kv_layers", follows=("layers",), always=True, plain=True),
    Default("key_dim", follows=("head_dim",), always=True, plain=True),
    Default("value_dim", follows=("head_dim",), always=True, plain=True),
    Default("sparse_layers", 0.0, gives_way=(("selected_flops_per_entry", "selected_kv_bytes"),), plain=True),
    Default("sparse_compression_ratio", 1.0, plain=True),
    Default("indexer_layers", 0.0, follows=("sparse_layers",), gives_way=(("indexer_flops_per_pair",),), plain=True),
    Default("indexer_flops_per_pair", 0.0, gives_way=(_INDEXERS,), plain=True),
    Default("window_flops_per_token", 0.0, gives_way=(_WINDOWS,), plain=True),
    Default("window_kv_bytes", 0.0, gives_way=(_WINDOWS,), said_by=(("fixed_kv_bytes_per_sequence",),), plain=True),
    Default("linear_state_bytes", 0.0, gives_way=(_STATES,), plain=True),
    Default("selected_flops_per_entry", 0.0, gives_way=(_SELECTIONS,), plain=True),
    Default("selected_kv_bytes", 0.0, gives_way=(_SELECTIONS,), said_by=(("fixed_kv_bytes_per_sequence",),), plain=True),
    Default("draft_cost_ratio", 0.0, gives_way=(("drafting_time",),), ideal="lower"),
    Default(
        "drafting_time",
        0.0,
        gives_way=(_DRAFTS,),
        ideal="lower",
        found=True,
        spoken=("tokens_per_step", *_DRAFTS),
    ),
    Default("overhead_time", 0.0, gives_way=(("layer_time",),), ideal="lower"),
    Default("verification_ratio", 1.0, gives_way=((*_TIMES, "balance_batch"),), ideal="lower"),
    Default("prefill_attention_factor", 1.0, gives_way=(_PROMPTS, _PREFILL_ATTENTION), ideal="lower"),
    Default("prefill_decode_flops_ratio", 1.0),
    Default(
        "cache_hit_share",
        0.0,
        gives_way=(("cached_tokens",),),
        said_by=(("uncached_tokens", "prompt_share", "output_tokens"),),
        found=True,
    ),
    Default("cached_tokens", 0.0, gives_way=(("cache_hit_share",),)),
    Default("prefill_batch", 1.0),
    Default("prefill_passes", 1.0),
    Default(
        "prefill_weight_time",
        0.0,
        gives_way=(("hbm_bandwidth",), _WEIGHTS, ("bytes_per_weight", "resident_weight_bytes_per_chip"), _PROMPTS),
        ideal="lower",
    ),
    # All served tokens count as output, until prompts or their prices are given.
    Default(
        "prompt_share",
        0.0,
        gives_way=(("prompt_tokens", "mean_input_price", "input_price", "blended_price", "price_per_request"),),
    ),
    # The price of a second in use of a chip that is rented or owned already pays for idle seconds.
    Default(
        "fleet_cost_per_token",
        follows=("cost_per_token",),
        gives_way=(("fleet_utilisation", "fleet_throughput", "fleet_requests_per_second"),),
        stays=("rented_chip_price", "chip_capex"),
        always=True,
        plain=True,
    ),
    Default("power_usage_effectiveness", 1.0, ideal="lower"),
    Default("virtual_stages", 1.0),
    Default("queue_time", 0.0, ideal="lower", waits=True),
    Default("shared_experts", 0.0),
    Default("activation_bytes_per_chip", 0.0, gives_way=(("activation_bytes", "tokens_in_training_batch"),), ideal="lower"),
    Default("reserved_share", 0.0, gives_way=(("reserved_bytes_per_chip", "usable_share"),), ideal="lower"),
    # A prompt has the tokens that one pass computes, or else the length of the context.
    Default(
        "uncached_tokens",
        follows=("new_tokens_per_pass", "context_length"),
        gives_way=(("prompt_tokens",),),
        said_by=(("prefill_attention_factor",), ("prefill_attention_flops_per_token",)),
        found=True,
    ),
    # One pass computes all uncached tokens of a prompt.
    Default("new_tokens_per_pass", follows=("uncached_tokens", "prompt_tokens"), worked_out_by=(("prompt_tokens",), _HITS)),
    # The training chips are the given chips, unless copies or stages are given.
    Default("training_chips", follows=("chips",), gives_way=(("pipeline_stages", "data_parallel"),)),
    # A model with experts has them in all layers, unless dense layers are given. A given width is the width of experts too.
    Default("moe_layers", 0.0, follows=("layers",), about=("vocab_size",), beside=_OF_EXPERTS),
    Default("moe_ffn_dim", follows=("ffn_dim",)),
    Default("ffn_dim", follows=("moe_ffn_dim",), gives_way=(("moe_layers",),)),
)

NEUTRAL_DEFAULTS = {row.quantity: row.value for row in DEFAULTS if row.value is not None}
"""All defaults. The defaults of an answer are listed among its assumptions."""
