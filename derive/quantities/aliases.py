"""Words for quantities in other programs, accepted instead of the name. A word with several meanings is refused as an input."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from derive.quantities import training


def _by_word(rows: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    """Return the quantities by each word. A row has the quantities, then the words."""
    return {word: tuple(names.split()) for names, words in rows for word in words.split()}


_BY_TIME = (
    *(("hour", "hourly", "h"), ("day", "daily", "day"), ("week", "weekly", "week"), ("month", "monthly", "month")),
    *(("year", "yearly", "year"), ("year", "annual", "year")),
)

_IN_UNITS = (
    ("cost_per_token", "USD/MTok", "cost_per_mtok cost_per_million cost_per_million_tokens cost_per_1m cost_per_1m_tokens"),
    ("cost_per_token", "USD/MTok", "cost_per_million_output_tokens cost_per_1m_output_tokens cost_per_output_mtok usd_per_mtok"),
    ("cost_per_token", "USD/MTok", "usd_per_million_tokens dollars_per_mtok dollars_per_million_tokens cost_per_mtok_out"),
    ("cost_per_token", "USD/MTok", "cost_per_million_generated_tokens"),
    ("prefill_cost_per_token", "USD/MTok", "cost_per_million_input_tokens cost_per_million_prompt_tokens cost_per_mtok_in"),
    ("output_price", "USD/MTok", "price_per_million_output_tokens output_price_per_mtok output_price_per_million price_per_mtok_out"),
    ("input_price", "USD/MTok", "price_per_million_input_tokens input_price_per_mtok input_price_per_million price_per_mtok_in"),
    ("chip_price", "USD/h", "chip_hour_price price_per_hour price_per_chip_hour cost_per_chip_hour usd_per_chip_hour hourly_rate"),
    ("chip_price", "USD/h", "hourly_price chip_hourly_price chip_hourly_cost chip_hourly_rate chip_hour_cost chip_hour_rate"),
    ("chip_price", "USD/h", "rate_per_chip_hour hourly_chip_cost hourly_chip_price chip_cost_per_hour chip_price_per_hour"),
    ("chip_price", "USD/h", "price_per_hour_per_chip cost_per_hour_per_chip dollars_per_chip_hour rent_per_hour"),
    ("electricity_price", "USD/kWh", "price_per_kwh cost_per_kwh kwh_price kwh_cost usd_per_kwh"),
    *(("training_time", unit, f"training_{time}s train_{time}s pretraining_{time}s") for time, _, unit in _BY_TIME[:4]),
    *(("chip_hours", unit, f"chip_{time}s") for time, _, unit in _BY_TIME[1:]),
    ("requests_per_second", "request/min", "requests_per_minute qpm rpm"),
    *(("requests_per_second", f"request/{unit}", f"requests_per_{time} {adverb}_requests") for time, adverb, unit in _BY_TIME),
    ("peak_flops", "TFLOP/s", "tflops peak_tflops"),
    ("bytes_per_weight", "bit", "bits weight_bits bits_per_weight bits_per_param quantization_bits"),
    ("bytes_per_element", "bit", "kv_bits kv_cache_bits"),
    ("chip_power", "W", "watts watts_per_chip"),
    ("tokens_per_joule", "token/kWh", "tokens_per_kwh"),
)
"""Quantities, units, and words that contain the unit: a bare number after them is in this unit."""

_PRICES_OF_A_MILLION = ("price_per_mtok", "price_per_million", "price_per_million_tokens", "price_per_1m_tokens", "price_per_1m")
_TOKENS_OF_A_TIME = {"tokens_per_minute": "token/min", **{f"tokens_per_{time}": f"token/{unit}" for time, _, unit in _BY_TIME}}

IN_A_TYPE = {
    **dict.fromkeys(("kv", "kv_cache", "cache", "kv_bytes_per_token", "kv_cache_bytes"), "kv_dtype"),
    **dict.fromkeys(("weights", "weight", "weight_bytes"), "weight_dtype"),
}
"""Words for stored bytes. With a data type as their value they mean the width: kv=fp8."""

_COPIES = ("dp", "dp_size", "dp_degree", "data_parallel_size", "data_parallelism")
_DURATIONS = {"days": "day", "weeks": "week", "months": "month", "years": "year"}
SEVERAL = {one: several for several, one in _DURATIONS.items()}
"""The plural of each word for a time."""

TENSOR_PARALLEL = ("tp", "tp_size", "tp_degree", "tensor_parallel", "tensor_parallel_size", "tensor_parallelism")
"""Words for the chips of a replica that share a layer by the heads of attention."""

CHIP_WORDS = (
    *("gpus", "gpu", "ngpu", "ngpus", "chip", "num_chips", "n_chips", "n_chip", "chip_count", "devices"),
    *("accelerators", "chips_needed"),
)
"""Words for chips that mean those of one replica, of all replicas or of a training run, by the words beside them."""

OF_WEIGHTS_AND_ARITHMETIC = (
    *("dtype", "data_type", "datatype", "model_dtype", "torch_dtype", "precision"),
    *("quant", "quantization", "quantisation"),
)
"""Words for the data type of weights and their arithmetic. The data type of the cache has another word, kv_dtype."""

_BUDGETS = ("budget", "cost_budget")
_BUDGETS_OF_A_TIME = {word: f"USD/{unit}" for time, adverb, unit in _BY_TIME for word in (f"budget_per_{time}", f"{adverb}_budget")}
_COSTS_OF_A_TIME = {
    **_BUDGETS_OF_A_TIME,
    **{word: f"USD/{unit}" for time, adverb, unit in _BY_TIME for word in (f"cost_per_{time}", f"{adverb}_cost")},
    **{f"fleet_cost_per_{time}": f"USD/{unit}" for time, _, unit in _BY_TIME},
}
_BY_THE_HOUR = ("cost_per_hour", "hourly_cost")
_ALL_OR_ONE = ("tps", "tokens_per_second", "tokens_s")
_RATES_OF_A_CHIP = ("throughput_per_chip", "tokens_per_second_per_chip", "tps_per_chip", "tgs")
_TIMES_OF_A_TOKEN = ("tpot", "itl", "tbt", "time_between_tokens", "inter_token_latency")
_RATES_OF_REQUESTS = ("qps", "rps", "request_rate", "arrival_rate", "request_throughput")
_MEMORY_IN_USE = (
    *("memory_used", "memory_required", "vram_required", "memory_footprint", "memory_usage", "vram_usage", "hbm_usage", "hbm_used"),
    *("memory_needed", "vram_needed", "footprint"),
)
_IN_FLIGHT = ("concurrency", "max_concurrency", "users", "max_users", "concurrent_users", "active_users", "sessions")

OF_A_TOKEN = dict.fromkeys(_TIMES_OF_A_TOKEN, "time_per_output_token")
"""Words for a time that may be of a step. With "/token" in their value they mean the time of a token."""

OWN_UNITS = {
    **{word: unit for _, unit, words in _IN_UNITS for word in words.split()},
    **dict.fromkeys(_PRICES_OF_A_MILLION, "USD/MTok"),
    **_TOKENS_OF_A_TIME,
    **_COSTS_OF_A_TIME,
    "chip_hours": "h",
    **_DURATIONS,
    # A bare number beside a word for a data type is its width.
    **dict.fromkeys((*OF_WEIGHTS_AND_ARITHMETIC, "weight_dtype", "kv_dtype", "kv_cache_dtype", "cache_dtype"), "bit"),
}

RENAMED = {
    **{"touched_experts": "activated_experts", "kv_copies": "kv_replication"},
    **{"synchronisations_per_layer": "allreduces_per_layer", "positions_per_step": "tokens_verified_per_step"},
    **{"input_markup": "input_price_cost_ratio", "increment_markup": "increment_price_cost_ratio"},
    **{"cache_read_markup": "cache_read_price_cost_ratio", "output_storage_markup_ratio": "output_storage_price_cost_ratio"},
    **{"active_params_times_markup": "active_params_times_price_cost_ratio"},
}
"""The names of earlier versions, each with the name that it has now. Old commands and saved files still use them."""

_CALLED = (
    ("time_to_first_token", "ttft"),
    ("requests_per_second", " ".join(_RATES_OF_REQUESTS)),
    ("fleet_requests_per_second", "fleet_qps fleet_rps total_qps total_rps total_requests_per_second"),
    ("step_time time_to_first_token request_latency", "latency"),
    ("request_latency", "e2e e2el e2e_latency end_to_end_latency response_time time_to_last_token end_to_end_request_latency"),
    ("tokens_per_second_per_user", "throughput_per_user interactivity speed_per_user user_speed tps_per_user"),
    ("throughput", "decode_throughput output_throughput output_token_throughput output_tokens_per_second output_tps"),
    ("decode_rate_per_chip", " ".join(_RATES_OF_A_CHIP)),
    ("prefill_time", "prefill_latency"),
    ("prefill_throughput", "prefill_tokens_per_second prefill_tps prompt_throughput input_throughput prompt_tokens_per_second"),
    ("prefill_throughput", "input_tokens_per_second prompt_tps input_tps"),
    ("prefill_rate_per_chip", "prefill_throughput_per_chip prefill_tps_per_chip"),
    ("queue_time", "queueing_time queue_delay queueing_delay waiting_time wait_time wait"),
    ("prompt_tokens", "isl input_tokens input_length prompt_length tokens_in prefill_tokens prompt_size max_input_length"),
    ("prompt_tokens", "random_input_length input_seq_length input_sequence_length"),
    ("output_tokens", "osl output_length max_new_tokens generated_tokens completion_tokens generation_length response_length"),
    ("output_tokens", "decode_length decode_tokens tokens_out response_tokens max_output_length random_output_length output_seq_length"),
    ("output_tokens", "output_sequence_length"),
    ("context_length", "ctx context context_window sequence_length seq_length seqlen ctx_length max_model_length max_seq_length"),
    ("context_length", "max_context_length max_ctx context_size"),
    ("batch", "bs batch_size max_batch max_batch_size max_num_seqs max_seqs seqs max_running_requests decode_batch microbatch_size"),
    ("batch", "micro_batch micro_batch_size mbs"),
    ("sequences_in_flight", "concurrent_sequences"),
    ("prefill_chunk", "chunk_size prefill_chunk_size chunked_prefill_size"),
    ("chips", "chips_per_replica min_chips"),
    ("chips", " ".join(CHIP_WORDS)),
    ("virtual_stages", "vpp vpp_size virtual_pipeline_stages"),
    ("pipeline_stages", "pp pp_size pp_degree pipeline_parallel pipeline_parallel_size pipeline_parallelism"),
    ("expert_parallel", "ep ep_size ep_degree expert_parallelism expert_parallel_size"),
    ("hbm_bandwidth", "memory_bandwidth dram_bandwidth bandwidth bw"),
    ("mfu", "model_flops_utilisation"),
    ("mbu", "model_bandwidth_utilisation memory_bandwidth_utilisation bandwidth_utilisation"),
    ("scale_up_link_bandwidth", "nvlink_bandwidth"),
    ("chip_price", "rent chip_cost chip_rent chip_rate rental_price chip_rental_price chip_rental_cost"),
    ("total_params", "params parameters num_params n_params param_count total_parameters"),
    ("active_params", "active_parameters"),
    ("weight_bytes", "weights weight_size weight_memory weights_memory model_bytes"),
    # Names in config.json.
    *(("model_dim", "hidden_size hidden_dim embedding_dim n_embd"), ("head_dim", "head_size d_head"), ("ffn_dim", "intermediate_size")),
    *(("latent_dim", "kv_lora_rank"), ("query_latent_dim", "q_lora_rank"), ("rope_dim", "qk_rope_head_dim")),
    ("window_tokens", "sliding_window window_size attention_window"),
    *(("moe_ffn_dim", "moe_intermediate_size"), ("layers", "num_hidden_layers n_layers")),
    *(("query_heads", "num_attention_heads attention_heads n_heads num_heads heads"), ("kv_heads", "num_key_value_heads")),
    ("vocab_size", "vocab vocabulary_size"),
    ("experts", "num_local_experts n_routed_experts"),
    ("active_experts", "num_experts_per_tok experts_per_token top_k topk moe_top_k moe_topk n_activated_experts"),
    ("pretrain_tokens", "training_tokens train_tokens tokens_trained dataset_tokens dataset_size token_budget"),
    ("pretrain_flops", "training_flops training_compute pretrain_compute compute_budget train_flops"),
    ("training_time", "train_time training_duration"),
    ("training_cost", "train_cost pretraining_cost"),
    ("checkpoint_bytes", "checkpoint_size checkpoint"),
    ("checkpoint_time", "checkpoint_write_time checkpoint_save_time checkpointing_time"),
    ("tier_bandwidth", "storage_bandwidth write_bandwidth checkpoint_bandwidth"),
    ("tokens_per_param", "tokens_per_parameter"),
    ("dense_equivalent_params", "effective_params effective_parameter_count equivalent_params quality_params"),
    ("chinchilla_tokens", "chinchilla optimal_tokens chinchilla_optimal_tokens compute_optimal_tokens"),
    ("overtraining_ratio", "overtraining"),
    ("bubble_fraction", "bubble pipeline_bubble"),
    ("balance_batch", "critical_batch critical_batch_size optimal_batch crossover_batch crossover_batch_size"),
    ("ridge_point", "ridge ops_per_byte ops_to_byte_ratio ops_byte_ratio flops_to_byte_ratio critical_intensity"),
    ("ridge_point", "critical_arithmetic_intensity hardware_intensity ridge_intensity"),
    ("ridge_point machine_balance_ratio", "machine_balance"),
    ("arithmetic_intensity", "operational_intensity computational_intensity flops_per_byte"),
    ("attainable_flops", "attainable_performance attainable_flops_per_second achievable_flops roofline_flops"),
    ("attainable_flops compute_utilisation mfu", "achieved_flops attained_flops"),
    ("balance_context", "crossover_context"),
    ("kv_bytes_per_token", "kv kv_per_token kv_cache_per_token"),
    (
        "kv_bytes_per_sequence",
        "kv_per_sequence kv_per_user kv_cache_per_user kv_per_request kv_cache_per_sequence kv_cache_per_request kv_bytes_per_request",
    ),
    ("kv_cache_bytes", "kv_cache kvcache kv_cache_size kv_size kv_memory kv_cache_memory"),
    ("hbm_capacity", "vram chip_memory hbm_size"),
    ("cache_hit_share", "hit_rate cache_hit_rate prefix_hit_rate prefix_cache_hit_rate prefix_caching_hit_rate kv_cache_hit_rate"),
    ("activated_experts", "experts_touched experts_hit"),
    ("speculative_speedup", "speedup speculative_speed_up speculation_speedup spec_speedup"),
    ("acceptance_rate", "acceptance draft_acceptance_rate spec_acceptance_rate"),
    ("draft_tokens", "draft_length speculative_tokens num_speculative_tokens spec_tokens speculation_length speculative_length"),
    ("tokens_per_step", "acceptance_length accept_length mean_acceptance_length average_acceptance_length"),
    ("draft_cost_ratio", "draft_cost"),
    ("all_reduce_bytes", "message_bytes message_size"),
    ("all_reduce_time", "allreduce allreduce_time all_reduce"),
    ("all_to_all_time", "alltoall all2all all_to_all alltoall_time all2all_time"),
    ("kv_transfer_time", "kv_transfer kv_migration_time kv_transfer_latency kv_cache_transfer_time cache_transfer_time"),
    ("bytes_per_element", "kv_dtype kv_cache_dtype cache_dtype kv_precision kv_cache_precision bytes_per_kv bytes_per_kv_element"),
    ("bytes_per_element", "kv_bytes_per_element kv_element_bytes"),
    ("kv_cache_tokens", "max_total_num_tokens max_kv_tokens max_kv_cache_tokens kv_tokens"),
    ("kv_bytes_per_token kv_cache_bytes bytes_per_element", "kv_bytes"),
    ("bytes_per_weight", "weight_dtype weights_dtype bytes_per_param bytes_per_parameter"),
    ("reserved_share", "memory_reserve reserved_memory headroom memory_headroom"),
    ("usable_share", "chip_memory_utilisation memory_fraction_static"),
    ("power_usage_effectiveness", "pue"),
    ("electricity_cost_per_token", "energy_cost_per_token power_cost_per_token"),
    ("fleet_electricity_cost", "energy_bill electricity_bill power_bill fleet_energy_cost"),
    ("fleet_electricity_cost electricity_cost_per_token electricity_price", "electricity_cost energy_cost power_cost"),
    ("electricity_price", "electricity_rate power_price energy_price electricity_tariff"),
    ("energy_per_token", "joules_per_token"),
    ("tokens_per_joule", "tokens_per_watt tokens_per_second_per_watt"),
    ("chip_power", "power_draw tdp power_per_chip chip_tdp chip_power_draw chip_watts"),
    ("gross_margin", "margin"),
    ("cost_per_request", "request_cost cost_per_query query_cost"),
    ("price_per_request", "price_per_query"),
    ("chip_capex", "capex capex_per_chip chip_purchase_price chip_purchase_cost purchase_price_per_chip"),
    ("depreciation_time", "depreciation depreciation_period amortization_time amortization_period amortisation_time amortisation_period"),
    ("depreciation_time", "amortisation amortization useful_life service_life chip_lifetime payback_period payback_time"),
    ("depreciation_time deployment_time ttl", "lifetime"),
    ("ttl", "cache_ttl cache_lifetime"),
    ("cost_per_token", "cost_per_output_token cost_per_decoded_token"),
    ("prefill_cost_per_token", "cost_per_input_token cost_per_prompt_token"),
    ("input_price", "price_in prompt_price input_token_price price_per_input_token"),
    ("output_price", "price_out completion_price output_token_price price_per_output_token"),
    ("mean_input_price", "effective_input_price blended_input_price average_input_price"),
    ("cache_read_price", "cached_input_price cached_price cache_hit_price"),
    ("storage_price", "cache_storage_price"),
    ("fleet_chips", "total_chips chips_in_all chips_in_total"),
    ("memory_demand", " ".join(_MEMORY_IN_USE)),
    ("training_memory_per_chip", "training_memory"),
    ("hbm_capacity memory_capacity memory_demand", "memory"),
    ("prompt_tokens output_tokens pretrain_tokens", "tokens"),
    ("hbm_capacity memory_per_chip", "memory_per_gpu"),
    ("total_params weight_bytes", "model_size"),
    ("output_price input_price chip_price", "price"),
    ("link_bandwidth scale_up_link_bandwidth", "interconnect_bandwidth"),
    ("link_bandwidth scale_out_link_bandwidth", "network_bandwidth"),
    ("active_experts activated_experts", "experts_activated"),
    ("fleet_sequences_in_flight", "fleet_concurrency total_concurrency fleet_users total_users"),
    ("fleet_power", "site_power facility_power total_power power_budget datacenter_power"),
    ("training_energy", "training_electricity energy_of_training"),
    ("training_electricity_cost", "training_energy_cost training_power_cost"),
    ("output_energy", "energy_per_request request_energy job_energy"),
    ("cost_per_token cost_per_request fleet_cost training_cost", "cost"),
    ("cost_per_token output_price", "price_per_token token_cost output_cost"),
    ("prefill_cost_per_token input_price", "input_cost"),
    ("request_latency training_time", "wall_clock_time"),
    ("time_per_output_token step_time", "time_per_token latency_per_token"),
    ("step_time time_per_output_token", "decode_time decode_latency"),
    ("request_latency", "generation_time total_latency total_time"),
    ("concurrent_requests sequences_in_flight batch", "max_concurrent_requests num_prompts"),
    ("tokens_per_second_per_user throughput", "speed decode_speed generation_speed"),
    ("forward_flops pretrain_flops peak_flops", "flops"),
    ("peak_flops", "compute_power flops_per_chip chip_flops peak_performance"),
    ("memory_per_chip memory_demand", "chip_memory_required"),
    ("hbm_capacity memory_per_chip", "vram_per_chip"),
    ("batch concurrent_requests", "max_requests"),
    ("kv_cache_tokens kv_cache_bytes", "kv_cache_capacity kv_capacity"),
    ("fleet_utilisation mfu mbu compute_utilisation", "utilisation"),
    ("output_price input_price blended_price", "api_price selling_price list_price"),
    ("deployment_time training_time step_time", "time duration period"),
    ("balance_batch balance_context", "crossover"),
    ("chip_price fleet_cost", "dollars_per_hour usd_per_hour"),
    ("training_throughput", "training_tokens_per_second training_tps training_rate"),
    ("training_rate_per_chip", "training_tokens_per_second_per_chip training_throughput_per_chip"),
    ("all_reduce_time tensor_parallel_time all_to_all_time", "comm_time communication_time"),
    ("prefill_throughput prefill_rate_per_chip", "prefill_speed prompt_speed"),
    ("cost_per_token cost_per_request", "inference_cost"),
    ("mfu compute_utilisation", "flops_utilisation"),
    ("cached_tokens", "cached_prompt_tokens"),
    ("forward_flops pretrain_flops", "model_flops"),
    ("chip_power fleet_power", "power"),
    ("energy_per_token output_energy training_energy", "energy"),
    ("scale_up_link_bandwidth link_bandwidth", "nvlink interconnect"),
    ("link_bandwidth scale_out_link_bandwidth", "pcie_bandwidth infiniband ib_bandwidth rdma_bandwidth nic_bandwidth"),
    ("model_dim", "hidden"),
    ("hbm_capacity", "hbm"),
    ("total_params weight_bytes", "size"),
)
"""Quantities and their words. A word for several quantities is refused as an input, unless other words decide."""

ALIASES: dict[str, tuple[str, ...]] = {
    **{old: (new,) for old, new in RENAMED.items()},
    **_by_word(tuple((name, words) for name, _, words in _IN_UNITS)),
    **_by_word(_CALLED),
    **dict.fromkeys(_TIMES_OF_A_TOKEN, ("step_time",)),
    **dict.fromkeys(TENSOR_PARALLEL, ("chips",)),
    **dict.fromkeys(_PRICES_OF_A_MILLION, ("output_price", "input_price", "cost_per_token")),
    **dict.fromkeys(_TOKENS_OF_A_TIME, ("throughput", "fleet_throughput")),
    **dict.fromkeys(_COPIES, ("data_parallel", "replicas", "attention_replicas")),
    **dict.fromkeys(OF_WEIGHTS_AND_ARITHMETIC, ("bytes_per_weight",)),
    **dict.fromkeys(_ALL_OR_ONE, ("throughput", "tokens_per_second_per_user")),
    **dict.fromkeys((*_BUDGETS, *_COSTS_OF_A_TIME), ("fleet_cost",)),
    **dict.fromkeys(_BY_THE_HOUR, ("chip_price", "fleet_cost")),
    **dict.fromkeys(_DURATIONS, ("training_time", "deployment_time")),
    **dict.fromkeys(_IN_FLIGHT, ("concurrent_requests", "sequences_in_flight", "batch")),
}
"""Words in lower case, in the form of `in_full`. They are read in any case."""

SAYS_AT_MOST = (*_BUDGETS, *_BUDGETS_OF_A_TIME)
"""Words that mark a value as an upper limit."""

_BESIDE_FLEETS = ("replicas", "fleet_chips", "fleet_throughput", "fleet_requests_per_second", "fleet_cost_per_token", "chip_capex")
_BESIDE_RATES = {
    "fleet_throughput": "throughput",
    **dict.fromkeys(("replicas", "fleet_chips", "fleet_cost", "fleet_electricity_cost", "fleet_power"), "fleet_throughput"),
    "throughput": "fleet_throughput",
    # For one replica both are the same.
    **dict.fromkeys(("layers", "requests_per_second"), "throughput"),
}

_SEVERAL_A_STEP = ("draft_tokens", "acceptance_rate", "tokens_per_step", "step_time", "token_latency", "hop_latency")
_PROMPTS_BETWEEN = "prompt_time_share"
REQUESTED = "requested"
"""Marks a word that is asked for, among the other names of a question."""
"""The meanings of quantities if prompts are computed between the steps of decode."""
_BETWEEN_REQUESTED = tuple(f"{REQUESTED} prompt_tokens {rate}" for rate in ("requests_per_second", "fleet_requests_per_second"))
"""Prompts of these requests may be computed between the steps. A time that is given is then that of a step or of a token."""
_OF_REQUESTS = {f"{rate} request_latency": "concurrent_requests" for rate in ("requests_per_second", "fleet_requests_per_second")}

_FLEETS = ("replicas", "fleet_chips", "fleet_cost", "fleet_power", "fleet_electricity_cost")
_OF_STEPS = ("step_time", "token_latency", "time_per_output_token", "throughput", "tokens_per_second_per_user", "decode_rate_per_chip")
_IN_FLIGHT_BESIDE = {
    **_OF_REQUESTS,
    **{
        f"{of_all} {rate}": "batch"
        for of_all in _FLEETS
        for rate in ("requests_per_second", "fleet_requests_per_second", "fleet_throughput")
    },
    **dict.fromkeys(_FLEETS, "fleet_sequences_in_flight"),
    **dict.fromkeys(("pipeline_stages", "microbatches"), "sequences_in_flight"),
    **dict.fromkeys(("context_length", "prompt_tokens"), "batch"),
    "requests_per_second time_to_first_token": "concurrent_requests",
    **dict.fromkeys((*_OF_STEPS, "layers"), "sequences_in_flight"),
}
"""Rates of one replica mean all replicas if replicas are asked for or given, and no rate of all replicas is given. Sequences of a pass mean
all stages if there are stages.
"""
_OF_TRAINING = ("chip_hours", "pretrain_tokens", "training_time", "training_chips")
_OF_RUNS = (
    *("chip_hours", "pretrain_tokens", "training_time", "training_throughput", "training_cost", "training_energy"),
    *("training_electricity_cost", "data_parallel_time", "training_state_bytes_per_chip", "training_memory_per_chip"),
)
_MEMORY_OF_TRAINING = {
    f"{REQUESTED} {kept}": "training_memory_per_chip" for kept in ("optimizer_bytes_per_param", "gradient_bytes_per_param", *_OF_TRAINING)
}
_CHIPS_OF_RUNS = {f"{shared} {of}": "training_chips" for shared in ("chips", "pipeline_stages", "data_parallel") for of in _OF_RUNS}
"""Beside the chips of one copy or stage, other words for chips mean those of a whole training run."""
_OF_ALL_OR_ONE = {
    **dict.fromkeys(_OF_TRAINING, "training_throughput"),
    **{"tokens_per_second_per_user": "throughput", "throughput": "tokens_per_second_per_user"},
    "fleet_throughput": "tokens_per_second_per_user",
    **dict.fromkeys(("batch", "sequences_in_flight", "layers"), ""),
    **dict.fromkeys(("step_time", "time_per_output_token", "request_latency"), "tokens_per_second_per_user"),
    **dict.fromkeys(("cost_per_token", "energy_per_token", "tokens_per_dollar", "requests_per_second", "chip_price"), "throughput"),
}
"""A rate of all sequences or of one sequence. Beside a batch or a model both meanings are possible, with different values."""
_OF_BATCHES = ("batch", "chips", "context_length", "layers", "requests_per_second", "prompt_tokens", "output_tokens")
_UTILISATION = {
    **dict.fromkeys((*_BESIDE_FLEETS, *_FLEETS, "cost_per_token", "requests_per_second"), "fleet_utilisation"),
    **dict.fromkeys((*_OF_TRAINING, "training_cost"), "mfu"),
}
_COPIES_BESIDE = {
    **dict.fromkeys((*_OF_RUNS, "training_chips"), "data_parallel"),
    "expert_parallel": "attention_replicas",
    **dict.fromkeys((*_OF_STEPS, *_FLEETS, *_OF_BATCHES), "replicas"),
}
_COST_OF_AN_HOUR = dict.fromkeys(("chip_price", "rented_chip_price", "chip_capex", "requests_per_second", *_FLEETS), "fleet_cost")
_TIMES = {
    **dict.fromkeys((*_OF_TRAINING, "training_cost"), "training_time"),
    **dict.fromkeys(("fleet_cost", "fleet_electricity_cost"), "deployment_time"),
    "mfu": "training_time",
}
_COST = {
    **{"gross_margin": "cost_per_token", **dict.fromkeys(_OF_TRAINING, "training_cost"), "deployment_time": "fleet_cost"},
    "prompt_tokens output_tokens": "cost_per_request",
}
_ENERGY = {"output_tokens": "output_energy", **dict.fromkeys(_OF_TRAINING, "training_energy")}
_ELECTRICITY = {
    "deployment_time": "fleet_electricity_cost",
    "output_tokens": "electricity_cost_per_token",
    **dict.fromkeys(_OF_TRAINING, "training_electricity_cost"),
}
_NETWORKS = dict.fromkeys(
    ("network_bandwidth", "interconnect_bandwidth", "bandwidth"),
    dict.fromkeys(("kv_transfer_time", "all_reduce_time", "all_to_all_time"), "link_bandwidth"),
)

BESIDE: dict[str, dict[str, str]] = {
    **_NETWORKS,
    **dict.fromkeys(("tokens", "num_tokens"), dict.fromkeys((row.name for row in training.ROWS), "pretrain_tokens")),
    "drain_time": {
        **dict.fromkeys(("tier_capacity", "tier_bandwidth"), "drain_time"),
        **dict.fromkeys(("hbm_capacity", "hbm_bandwidth"), "sweep_time"),
    },
    **{word: dict.fromkeys(("gross_margin", "cost_per_token"), "output_price") for word in (*_PRICES_OF_A_MILLION, "price_per_token")},
    **{word: {**_BESIDE_RATES} for word in _TOKENS_OF_A_TIME},
    **{word: {"requests_per_second": "fleet_requests_per_second"} for word in OWN_UNITS if word.startswith("requests_per_")},
    **dict.fromkeys(("utilisation", "chip_utilisation"), _UTILISATION),
    **dict.fromkeys(_BY_THE_HOUR, _COST_OF_AN_HOUR),
    "lifetime": {"chip_capex": "depreciation_time", "fleet_cost": "deployment_time"},
    "power": {"chip_capex": "chip_power", **{f"{REQUESTED} {counted}": "fleet_power" for counted in ("chips", "replicas", "fleet_chips")}},
    **dict.fromkeys(("cost", "total_cost"), _COST),
    **dict.fromkeys(("time", *_DURATIONS), _TIMES),
    "price": dict.fromkeys(("gross_margin", "cost_per_token"), "output_price"),
    "model_size": {"bytes_per_weight": "weight_bytes"},
    **dict.fromkeys(_COPIES, _COPIES_BESIDE),
    **dict.fromkeys(("electricity_cost", "energy_cost", "power_cost"), _ELECTRICITY),
    "energy": _ENERGY,
    "microbatches": {"bubble_fraction": "training_microbatches"},
    # The cache of one sequence is sent, unless the number of sequences is given.
    "kv_cache_bytes": {"kv_transfer_time batch": "kv_cache_bytes", "kv_transfer_time": "kv_bytes_per_sequence"},
    **dict.fromkeys(_TIMES_OF_A_TOKEN, dict.fromkeys((*_SEVERAL_A_STEP, _PROMPTS_BETWEEN, *_BETWEEN_REQUESTED), "time_per_output_token")),
    **{word: {f"{REQUESTED} fleet_chips": "fleet_requests_per_second"} for word in _RATES_OF_REQUESTS},
    **dict.fromkeys(CHIP_WORDS, _CHIPS_OF_RUNS),
    "memory_per_chip": _MEMORY_OF_TRAINING,
    **dict.fromkeys(("memory", *_MEMORY_IN_USE), _MEMORY_OF_TRAINING | {REQUESTED: "memory_demand"}),
    **dict.fromkeys(_IN_FLIGHT, _IN_FLIGHT_BESIDE),
    **dict.fromkeys(_ALL_OR_ONE, _OF_ALL_OR_ONE),
    **dict.fromkeys(_RATES_OF_A_CHIP, dict.fromkeys(_OF_TRAINING, "training_rate_per_chip")),
    **dict.fromkeys(_BUDGETS, dict.fromkeys((*_OF_TRAINING, "training_cost"), "training_cost")),
    "experts_activated": {"active_experts": "activated_experts"},
}
"""Words whose meaning depends on other words: the meaning by the first of these words that is present. Otherwise it stays open.
"""

WHERE_ASKED: dict[str, dict[str, str]] = {
    **_NETWORKS,
    "num_microbatches": {"bubble_fraction": "training_microbatches"},
    "power": {
        **dict.fromkeys(("fleet_chips", "chips", "replicas"), "fleet_power"),
        **dict.fromkeys(("energy_per_token", "tokens_per_joule", "output_energy", "training_energy"), "chip_power"),
        **dict.fromkeys(("fleet_electricity_cost", "electricity_cost_per_token", "training_electricity_cost"), "chip_power"),
    },
}
"""Words with several meanings, of which only one belongs to the requested quantity."""

UNIT_ENDINGS = {
    **dict.fromkeys(("s", "second", "seconds"), ("s", "s")),
    **{word: (word, "s") for word in ("ms", "us")},
    **{word.lower(): (word, "byte") for word in ("kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB")},
    **{word.lower(): (word, "J") for word in ("J", "kJ", "Wh", "kWh")},
}
"""Ends of names that give a unit, as in tpot_ms, by kind of quantity: times, sizes, or energies."""

_OF_MANY = ("mean", "median", "p50", "p90", "p95", "p99", "max")
"""Statistics of times over many requests in benchmarks. Times here are for one request."""

_ALSO_CALLED = (
    ("fleet_utilisation mfu compute_utilisation", "chip_utilisation"),
    ("step_time", "time_to_second_token"),
    ("time_to_first_token step_time request_latency", "slo sla p50 p99"),
    ("prefill_rate_per_chip prefill_time", "prefill_time_per_token"),
    ("throughput fleet_throughput", "token_throughput total_token_throughput system_throughput total_system_throughput tpm daily_tokens"),
    ("throughput fleet_throughput", "monthly_tokens total_throughput total_tokens_per_second total_tps"),
    ("forward_flops active_params", "flops_per_token"),
    ("memory_demand", "fits"),
    ("usable_share", "memory_utilisation memory_fraction"),
    ("reserved_share usable_share", "free_chip_memory_fraction kv_cache_free_chip_memory_fraction"),
    ("tokens_per_second_per_user", "tokens_per_user"),
    ("kv_cache_tokens", "num_chip_blocks num_kv_blocks kv_blocks"),
    ("prefill_chunk", "max_num_batched_tokens"),
    ("arithmetic_intensity ridge_point attainable_flops", "intensity roofline"),
    ("prompt_share prompt_tokens output_tokens", "input_output_ratio input_to_output_ratio prompt_output_ratio isl_osl_ratio"),
    ("batch cost_per_token balance_batch", "break_even_batch breakeven_batch"),
    ("throughput", "break_even_throughput break_even_tokens break_even_tokens_per_month break_even_volume"),
    ("chip_capex", "capital_cost purchase_price server_price"),
    ("mean_input_price cache_read_ratio", "cache_savings caching_savings cache_discount"),
    ("energy_per_token fleet_electricity_cost", "energy_per_year annual_energy kwh mwh"),
    ("fleet_cost fleet_electricity_cost deployment_time", "month monthly bill invoice"),
    ("training_time training_cost training_memory_per_chip", "finetune finetuning fine_tune fine_tuning"),
    ("memory_time memory_time_share", "memory_bound"),
    ("chip_price", "on_demand_price spot_price node_price instance_price"),
    ("fleet_cost fleet_cost_per_token chip_capex", "tco total_cost_of_ownership"),
    ("prefill_decode_chip_ratio prefill_rate_per_chip decode_rate_per_chip", "prefill_chips decode_chips"),
    ("tokens_in_training_batch", "global_batch global_batch_size train_batch_size"),
    ("training_microbatches", "gradient_accumulation_steps"),
    ("optimizer_bytes_per_param training_state_bytes_per_chip", "optimizer_state optimizer_states"),
    ("mfu", "hfu hardware_flops_utilisation"),
    ("output_tokens new_tokens_per_pass", "max_tokens new_tokens"),
    ("gross_margin", "profit revenue revenue_per_chip_hour profit_per_chip_hour"),
    ("tokens_per_step", "tokens_per_verification tokens_per_check accepted_tokens accepted_length"),
    ("draft_tokens tokens_per_step", "mtp speculation"),
    ("all_to_all_time", "dispatch_time combine_time"),
    ("chip_price chip_hours", "chip_hour"),
    ("prefill_decode_chip_ratio", "pd_ratio prefill_decode_ratio prefill_to_decode_ratio"),
    ("fleet_throughput inference_tokens", "yearly_tokens annual_tokens token_volume"),
    ("fleet_cost", "total_cost"),
    ("chips replicas", "nodes nnodes servers hosts machines world_size"),
    ("chips scale_up_size", "chips_per_node node_size"),
    ("replicas", "fleet_size instances copies"),
    ("mfu mbu", "efficiency"),
    ("fleet_utilisation", "uptime availability load_factor occupancy"),
    ("tokens_in_training_batch training_microbatches", "gbs grad_accum"),
    ("decode_rate_per_chip sequences_per_chip training_tokens_per_chip", "tokens_per_chip"),
    ("cache_hit_share cache_read_price", "caching prompt_caching prefix_caching context_caching"),
    ("kv_heads", "gqa mqa kv_groups"),
    ("prefill_decode_chip_ratio kv_transfer_time", "disaggregation disaggregated_serving pd_disaggregation"),
    ("training_state_bytes_per_chip", "fsdp"),
    ("bytes_per_weight", "group_size quantization_group_size"),
    ("output_price input_price", "batch_price batch_discount"),
    ("activation_bytes", "activations"),
    ("peak_flops compute_time", "compute compute_bound"),
    ("energy_per_token", "kwh_per_token"),
    ("all_reduce_time tensor_parallel_time data_parallel_time", "all_gather_time reduce_scatter_time"),
    ("cache_write_premium", "cache_write_price"),
    ("throughput requests_per_second", "goodput"),
)

ALSO_CALLED: dict[str, tuple[str, ...]] = {
    **_by_word(_ALSO_CALLED),
    **{f"{of}_{time}": ("time_to_first_token",) for of in _OF_MANY for time in ("ttft", "time_to_first_token")},
    **{f"{of}_{time}": ("step_time",) for of in _OF_MANY for time in ("tpot", "itl")},
    **{f"{of}_{time}": ("request_latency",) for of in _OF_MANY for time in ("e2e", "e2el")},
}
"""Possible meanings of a word that is not a name, for the hint, in the form of `in_full`."""

_PARTS = {
    **{"gpu": "chip", "gpus": "chips", "accelerator": "chip", "tok": "tokens", "toks": "tokens", "req": "requests", "reqs": "requests"},
    **{"hr": "hour", "hrs": "hours", "mtokens": "mtok", "mtoken": "mtok", "mtoks": "mtok"},
    **{"sec": "second", "secs": "second", "bw": "bandwidth", "mem": "memory", "len": "length", "util": "utilisation"},
    "utilization": "utilisation",
}
"""Other spellings of parts of names."""

_BEST = "largest|biggest|longest|highest|fewest|smallest|shortest|cheapest|lowest|least|greatest"
FILLERS = rf"(?:num|n|number_of|no_of|{_BEST})_(?P<first>.+)|(?P<last>.+)_(?:count|needed|required)"
"""Words for "number of", for what is needed, and for the best end of a quantity. They have no effect, because an answer is the best end."""


@lru_cache(maxsize=1024)
def in_full(word: str) -> str:
    """Return a word in the form of a name: in small letters, with "per" for a slash, and abbreviated parts in full.

    >>> in_full("tok/s/GPU"), in_full("Requests per sec"), in_full("hbm-bw")
    ('tokens_per_second_per_chip', 'requests_per_second', 'hbm_bandwidth')
    """
    name = re.sub(r"[ -]+", "_", word.strip().lower().replace("/", "_per_"))
    return "_".join(_PARTS.get(part, part) for part in re.sub(r"_per_s(?=_|$)", "_per_second", name).split("_"))


def with_new_names(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of a saved file with the present names as keys, also in its lists of names.

    >>> with_new_names({"kv_copies": 1.0, "given": ["kv_copies", "ttl"]})
    {'kv_replication': 1.0, 'given': ['kv_replication', 'ttl']}
    """
    lists = {key: [RENAMED.get(str(one), one) for one in value] for key, value in record.items() if isinstance(value, list)}
    return {RENAMED.get(key, key): value for key, value in {**record, **lists}.items()}
