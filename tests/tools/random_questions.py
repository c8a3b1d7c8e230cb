"""Questions nobody would ask, at random: shared by the tests of whatever must answer any of them."""

from derive.quantities import QUANTITIES

ASKED = (
    *("batch", "context_length", "chips", "active_params", "total_params", "step_time", "cost_per_token", "throughput", "chip_price"),
    *("kv_bytes_per_token", "bytes_per_weight", "peak_flops", "hbm_bandwidth", "mfu", "mbu", "compute_time", "memory_time"),
    *("weight_time", "kv_time", "memory_time_share", "normalised_cost", "balance_batch", "fleet_throughput", "hbm_capacity"),
    *("bytes_per_element", "sparsity", "ridge_point", "machine_balance_ratio", "compute_utilisation", "latency_floor"),
)
PRESETS = ({}, {"hardware": "H100:fp8"}, {"model": "DeepSeek-V3"}, {"hardware": "B200:fp8", "model": "Llama-3-70B"})


def at_random(random):
    """A question nobody would ask: any unknown, any presets, up to nine other quantities anywhere in their range."""
    unknown = random.choice(ASKED if random.random() < 0.7 else tuple(QUANTITIES))
    drawn = (QUANTITIES[name] for name in random.sample(ASKED, random.randint(0, 9)) if name != unknown)
    return unknown, random.choice(PRESETS) | {row.name: row.low * (row.high / row.low) ** random.random() for row in drawn}
