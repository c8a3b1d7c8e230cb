"""A price sheet, the quantities derived from it, and the tiers of a cache."""

from derive.quantities.row import FRACTION, NONNEGATIVE, UNIT_INTERVAL, Quantity

ROWS = (
    # -- price sheets ---------------------------------------------------------------------------------------------
    Quantity(
        name="input_price",
        symbol="p_in",
        unit="USD/token",
        meaning="price of a prompt token in the base band",
        low=1e-9,
        high=1e-3,
        unlike="mean_input_price also counts cached tokens",
    ),
    Quantity(
        name="output_price", symbol="p_out", unit="USD/token", meaning="price of an output token in the base band", low=1e-9, high=1e-3
    ),
    Quantity(
        name="cache_read_price",
        symbol="p_hit",
        unit="USD/token",
        meaning="price of a prompt token that is in the cache",
        low=1e-11,
        high=1e-3,
        domain=NONNEGATIVE,
    ),
    Quantity(name="storage_price", symbol="S", unit="USD/token/s", meaning="price of keeping one token in the cache", low=1e-14, high=1e-7),
    Quantity(name="output_input_ratio", symbol="R", meaning="output price over input price", low=1.01, high=20),
    Quantity(
        name="bandwidth_bound_fraction",
        symbol="f_bw",
        meaning="idle share of compute in decode, 1 - 1/R. R is the output price over the input price",
        low=0.01,
        high=0.99,
        domain=UNIT_INTERVAL,
    ),
    Quantity(
        name="long_context_threshold",
        symbol="L_thr",
        unit="token",
        meaning="prompt length above which the long-context price applies",
        low=1e3,
        high=1e7,
    ),
    Quantity(name="premium_in", symbol="pi_in", meaning="long-context input price over base input price", low=1, high=10),
    Quantity(name="premium_out", symbol="pi_out", meaning="long-context output price over base output price", low=1, high=10),
    Quantity(
        name="short_context", symbol="L_lo", unit="token", meaning="mean context of the requests below the threshold", low=100, high=1e6
    ),
    Quantity(
        name="long_context", symbol="L_hi", unit="token", meaning="mean context of the requests above the threshold", low=1e3, high=1e8
    ),
    Quantity(
        name="max_context", symbol="L_max", tex=r"L_{\max}", unit="token", meaning="longest context on the price sheet", low=1e3, high=1e8
    ),
    Quantity(
        name="covered_context",
        symbol="L_cov",
        unit="token",
        meaning="context up to which the long-context price covers the cost",
        low=1e3,
        high=1e9,
    ),
    Quantity(name="cache_read_ratio", symbol="h", meaning="cache read price over input price", low=0.001, high=0.99),
    Quantity(
        name="cache_write_premium",
        symbol="phi",
        meaning="cache write price over input price, minus 1",
        low=0.01,
        high=10,
        domain=NONNEGATIVE,
    ),
    Quantity(name="input_price_cost_ratio", symbol="mu_in", meaning="input price over compute cost of a token", low=0.1, high=1e4),
    Quantity(
        name="input_increment",
        symbol="dp_in",
        tex=r"\Delta p_{\mathrm{in}}",
        unit="USD/token",
        meaning="long-context input price minus base input price",
        low=1e-10,
        high=1e-3,
    ),
    Quantity(
        name="output_increment",
        symbol="dp_out",
        tex=r"\Delta p_{\mathrm{out}}",
        unit="USD/token",
        meaning="long-context output price minus base output price",
        low=1e-10,
        high=1e-3,
    ),
    Quantity(
        name="increment_price_cost_ratio",
        symbol="mu_inc",
        tex=r"\mu_{\Delta}",
        meaning="price/cost of the additional context",
        low=0.01,
        high=100,
    ),
    Quantity(
        name="active_params_times_price_cost_ratio",
        symbol="N_mu",
        tex=r"N_a\mu",
        meaning="active parameters times the price/cost of input",
        low=1e8,
        high=1e14,
    ),
    Quantity(
        name="price_per_flop",
        symbol="p_flop",
        tex=r"p_{\mathrm{FLOP}}",
        unit="USD/FLOP",
        meaning="price of one sustained FLOP",
        low=1e-20,
        high=1e-16,
    ),
    Quantity(
        name="price_per_hbm_byte", symbol="p_byte", unit="USD/byte", meaning="price of reading one byte of HBM", low=1e-18, high=1e-14
    ),
    Quantity(
        name="cache_read_price_cost_ratio", symbol="mu_hit", meaning="price/cost of cache hits over price/cost of input", low=0.05, high=50
    ),
    Quantity(
        name="tier_read_cost_ratio",
        symbol="zeta",
        meaning="cost of reading a byte from its tier over the cost of reading it from HBM",
        low=0.1,
        high=1e3,
    ),
    Quantity(name="suffix_tokens", symbol="n_suf", unit="token", meaning="new tokens that attend to a cached token", low=1, high=1e5),
    # -- the two-band inverse -------------------------------------------------------------------------------------
    Quantity(
        name="prompt_position", symbol="alpha", meaning="mean relative position of a billed prompt token", low=0.5, high=1, domain=FRACTION
    ),
    Quantity(
        name="prefill_decode_flops_ratio", symbol="rho_pd", meaning="sustained FLOP/s of prefill over those of decode", low=0.3, high=3
    ),
    Quantity(
        name="overlap",
        symbol="o",
        meaning="share of the shorter of compute and memory time that is hidden: 1 gives the maximum, 0 gives the sum",
        low=0,
        high=1,
        domain=UNIT_INTERVAL,
    ),
    Quantity(name="holding_cost_ratio", symbol="eta_h", meaning="cost times price/cost of storage, relative to HBM", low=0.01, high=100),
    Quantity(name="weight_compute_ratio", symbol="w", meaning="weight time over linear compute time, B_star/B", low=0.01, high=1000),
    Quantity(name="prefill_cost_ratio", symbol="c_pre", meaning="cost of a prompt token over its linear compute cost", low=1, high=100),
    Quantity(
        name="decode_cost_ratio",
        symbol="c_dec",
        meaning="cost of a decoded token over the linear compute cost of a prompt token",
        low=0.1,
        high=1e4,
    ),
    Quantity(name="cost_ratio", symbol="c_x", meaning="cost of a token over the linear compute cost of a prompt token", low=0.1, high=1e4),
    Quantity(name="band_price", symbol="p_x", unit="USD/token", meaning="price of a token in a band", low=1e-9, high=1e-3),
    Quantity(
        name="compute_ratio", symbol="c_ratio", tex="c_t", meaning="compute time with attention over linear compute time", low=1, high=100
    ),
    Quantity(name="memory_ratio", symbol="m_ratio", tex="m_t", meaning="memory time over linear compute time", low=0.01, high=1e4),
    Quantity(name="decode_cost_short", symbol="c_lo", meaning="decode_cost_ratio at the short context", low=0.1, high=1e4),
    Quantity(name="decode_cost_long", symbol="c_hi", meaning="decode_cost_ratio at the long context", low=0.1, high=1e5),
    Quantity(
        name="memory_ratio_short", symbol="m_lo", meaning="memory time over linear compute time at the short context", low=0.01, high=1e4
    ),
    Quantity(
        name="memory_ratio_long", symbol="m_hi", meaning="memory time over linear compute time at the long context", low=0.01, high=1e5
    ),
    Quantity(
        name="cost_context_scale", symbol="L_c", unit="token", meaning="context at which the cost of a band has doubled", low=100, high=1e9
    ),
    Quantity(name="base_cost", symbol="w_eff", meaning="decode cost at no context over the linear compute cost", low=0.5, high=100),
    # -- cache tiers ----------------------------------------------------------------------------------------------
    Quantity(name="ttl", symbol="T_hold", unit="s", meaning="time for which a cache entry is kept", low=1, high=1e7),
    Quantity(name="drain_time", symbol="tau_tier", unit="s", meaning="time to read the whole tier once", low=1e-3, high=1e6),
    Quantity(name="tier_capacity", symbol="C_t", unit="byte", meaning="capacity of one device of the tier", low=1e9, high=1e15),
    Quantity(name="tier_bandwidth", symbol="W_t", unit="byte/s", meaning="read bandwidth of one device of the tier", low=1e8, high=1e14),
    Quantity(name="tier_price", symbol="g_t", unit="USD/s", meaning="price of one device of the tier", low=1e-8, high=1e-1),
    Quantity(
        name="cold_tier_capacity", symbol="C_c", unit="byte", meaning="capacity of one device of the cheaper tier", low=1e9, high=1e15
    ),
    Quantity(
        name="cold_tier_bandwidth",
        symbol="W_c",
        unit="byte/s",
        meaning="read bandwidth of one device of the cheaper tier",
        low=1e8,
        high=1e14,
    ),
    Quantity(name="cold_tier_price", symbol="g_c", unit="USD/s", meaning="price of one device of the cheaper tier", low=1e-8, high=1e-1),
    Quantity(
        name="tier_switch_time",
        symbol="T_switch",
        unit="s",
        meaning="hold time beyond which the cheaper tier costs less",
        low=1e-3,
        high=1e7,
    ),
    Quantity(
        name="transfers_per_hold",
        symbol="n_tr",
        meaning="transfers of a cache entry over the tier's bus per hold: a write and a read are 2",
        low=1,
        high=10,
    ),
    Quantity(
        name="rematerialisation_cost",
        symbol="c_remat",
        unit="USD/token",
        meaning="compute cost of recomputing one token of KV",
        low=1e-10,
        high=1e-4,
    ),
    Quantity(
        name="hold_cost",
        symbol="c_hold",
        unit="USD/token",
        meaning="cost of keeping one token of KV for its lifetime",
        low=1e-13,
        high=1e-3,
    ),
    Quantity(
        name="retrieve_cost", symbol="c_fetch", unit="USD/token", meaning="cost of reading one token of KV back", low=1e-13, high=1e-3
    ),
    Quantity(
        name="cache_cost",
        symbol="c_cache",
        unit="USD/token",
        meaning="cost of holding and reading back one token of KV",
        low=1e-13,
        high=1e-3,
    ),
    Quantity(
        name="break_even_time",
        symbol="T_even",
        unit="s",
        meaning="hold time at which holding costs as much as recomputing",
        low=1e-3,
        high=1e7,
    ),
    Quantity(name="break_even_reads", symbol="n_even", meaning="re-reads at which caching saves the user money", low=0.001, high=100),
    Quantity(name="longer_ttl", symbol="T_long", unit="s", meaning="the longer of two cache lifetimes", low=2, high=1e8),
    Quantity(
        name="longer_cache_write_premium",
        symbol="phi_long",
        meaning="cache_write_premium of the longer lifetime",
        low=0.01,
        high=20,
        domain=NONNEGATIVE,
    ),
    Quantity(
        name="write_charge", symbol="p_write", unit="USD/token", meaning="charge for a cache write beyond storage", low=1e-10, high=1e-3
    ),
    Quantity(
        name="hbm_holding_price",
        symbol="g_hbm",
        tex=r"g_{\mathrm{HBM}}",
        unit="USD/byte/s",
        meaning="price of holding a byte in HBM",
        low=1e-18,
        high=1e-13,
    ),
    Quantity(
        name="holding_price", symbol="g_hold", unit="USD/byte/s", meaning="price of holding a byte in the tier", low=1e-20, high=1e-13
    ),
    Quantity(
        name="output_storage_price_cost_ratio", symbol="mu_os", meaning="output price/cost over storage price/cost", low=0.01, high=100
    ),
    Quantity(
        name="implied_drain_time",
        symbol="T_imp",
        unit="s",
        meaning="time for which storing a token costs as much as reading it once, from prices alone",
        low=1e-5,
        high=1e5,
    ),
)
