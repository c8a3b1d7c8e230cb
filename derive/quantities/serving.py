"""Serving a request from prompt to answer, and the cost of an owned chip."""

from derive.quantities.row import FRACTION, NONNEGATIVE, UNIT_INTERVAL, Quantity

ROWS = (
    # -- prefill with attention -------------------------------------------------------------------------------------
    Quantity(
        name="prefill_attention_flops_per_pair",
        symbol="a_pre",
        unit="FLOP/token",
        meaning="attention FLOPs of one prompt token and one token before it, all layers",
        low=1e4,
        high=1e8,
        domain=NONNEGATIVE,
    ),
    Quantity(
        name="prefill_attention_flops_per_token",
        symbol="A_pre",
        unit="FLOP",
        meaning="attention FLOPs of one new token of a prompt and all tokens before it, all layers. Mean of the new tokens",
        low=1e6,
        high=1e14,
        domain=NONNEGATIVE,
    ),
    Quantity(
        name="prefill_window_tokens",
        symbol="L_prew",
        tex=r"L_{\mathrm{pre,win}}",
        unit="token",
        meaning="tokens of its window that a new token of a prompt attends to. Mean of the new tokens",
        low=1,
        high=32768,
    ),
    Quantity(
        name="prefill_read_entries",
        symbol="k_pre",
        meaning="entries that a sparse layer reads for a new token of a prompt. Mean of the new tokens",
        low=1,
        high=16384,
    ),
    Quantity(
        name="uncached_tokens",
        symbol="n_new",
        unit="token",
        meaning="tokens of a prompt that are not in the cache, in all its passes",
        low=1,
        high=1e11,
        unlike="prompt_tokens includes the cached tokens. new_tokens_per_pass is for one pass",
    ),
    Quantity(
        name="cached_tokens",
        symbol="L_0",
        unit="token",
        meaning="tokens of a sequence that are already in the cache",
        low=1,
        high=1e11,
        domain=NONNEGATIVE,
        whole="prompt_tokens",
        unlike="kv_cache_tokens is the number of tokens for which the memory has room",
    ),
    Quantity(
        name="forward_flops", symbol="C_fwd", unit="FLOP", meaning="FLOPs of a pass over the new tokens of one sequence", low=1e8, high=1e20
    ),
    Quantity(
        name="prefill_attention_factor",
        symbol="x_att",
        meaning="compute time of a prompt over the time of its multiplications with the weights. 1 means without attention",
        low=1,
        high=100,
    ),
    Quantity(
        name="cache_hit_share",
        symbol="f_hit",
        meaning="share of a prompt that is in the cache",
        low=0.01,
        high=0.99,
        domain=UNIT_INTERVAL,
    ),
    # -- owned chips ------------------------------------------------------------------------------------------------
    Quantity(
        name="chip_capex",
        symbol="K_chip",
        unit="USD",
        meaning="price of one chip, including its share of server, network and building",
        low=100,
        high=1e6,
    ),
    Quantity(name="depreciation_time", symbol="T_dpr", unit="s", meaning="time after which a chip is fully written off", low=1e7, high=1e9),
    Quantity(
        name="fleet_utilisation", symbol="u_fleet", meaning="share of the time in which a chip is in use", low=0.05, high=1, domain=FRACTION
    ),
    Quantity(
        name="rented_chip_price",
        symbol="g_rent",
        unit="USD/s",
        meaning="rent of one chip per second, in use or idle",
        unlike="chip_price may be for a second in use. It then includes the idle seconds",
        low=1e-5,
        high=0.01,
    ),
    Quantity(
        name="fleet_cost_per_token",
        symbol="c_fleet",
        unit="USD/token",
        meaning="cost of a decoded token, including the hours in which chips are idle",
        low=1e-10,
        high=1e-3,
        unlike="cost_per_token is for the hours in use",
    ),
    Quantity(
        name="chip_power",
        symbol="P_chip",
        unit="J/s",
        meaning="electric power of one chip under load",
        unlike="fleet_power is for all chips, data centre included",
        low=10,
        high=1e4,
        rated=True,
    ),
    Quantity(
        name="power_usage_effectiveness", symbol="PUE", meaning="power of the data centre over the power of its computers", low=1, high=3
    ),
    Quantity(
        name="electricity_price",
        symbol="p_el",
        unit="USD/J",
        meaning="price of electric energy",
        low=1e-9,
        high=3e-7,
        unlike="fleet_electricity_cost is the cost for a whole fleet, training_electricity_cost for a training run",
    ),
)
