"""What quantities are called elsewhere, taken for the name itself; a word that could mean several is refused with all of them."""

ALIASES: dict[str, tuple[str, ...]] = {
    "ttft": ("time_to_first_token",),
    **dict.fromkeys(("tpot", "itl"), ("step_time",)),
    **dict.fromkeys(("qps", "rps"), ("requests_per_second",)),
    "e2e": ("request_latency",),
    "interactivity": ("tokens_per_second_per_user",),
    "isl": ("prompt_tokens",),
    "osl": ("output_tokens",),
    "ctx": ("context_length",),
    "batch_size": ("batch",),
    "concurrent_sequences": ("sequences_in_flight",),
    **dict.fromkeys(("gpus", "tp"), ("chips",)),
    "pp": ("pipeline_stages",),
    "ep": ("expert_parallel",),
    "bw": ("hbm_bandwidth",),
    "kv": ("kv_bytes_per_token",),
    "gpu_hours": ("chip_hours",),
    "dp": ("data_parallel", "replicas"),
    "dtype": ("bytes_per_weight", "bytes_per_element"),
    "tps": ("throughput", "tokens_per_second_per_user"),
    "concurrency": ("concurrent_requests", "sequences_in_flight", "batch"),
}
"""In lower case; they are read in any."""
