"""Serving a request from prompt to answer, and what a chip costs that is owned."""

from derive.registry.domains import FRACTION, NONNEGATIVE, UNIT_INTERVAL

ROWS = (
    # -- prefill with attention -------------------------------------------------------------------------------------
    (
        "prefill_attention_flops_per_pair",
        "a_pre",
        r"a_{\mathrm{pre}}",
        "FLOP/token",
        "attention FLOPs of one prompt token against one token before it, all layers",
        1e4,
        1e8,
        NONNEGATIVE,
    ),
    ("cached_tokens", "L_0", "L_0", "token", "tokens of a sequence that are cached before a pass", 1, 1e7, NONNEGATIVE),
    ("forward_flops", "C_fwd", r"C_{\mathrm{fwd}}", "FLOP", "FLOPs of a pass over the new tokens of one sequence", 1e8, 1e20),
    (
        "prefill_attention_factor",
        "x_att",
        r"x_{\mathrm{att}}",
        "1",
        "compute time of a prompt over that of its matrix multiplications with the weights; 1 leaves attention out",
        1,
        100,
    ),
    ("cache_hit_share", "f_hit", r"f_{\mathrm{hit}}", "1", "share of a prompt that is found in the cache", 0.01, 0.99, UNIT_INTERVAL),
    # -- owned chips ------------------------------------------------------------------------------------------------
    ("chip_capex", "K_chip", r"K_{\mathrm{chip}}", "USD", "price of one chip, with its share of server, network and building", 100, 1e6),
    ("depreciation_time", "T_dpr", r"T_{\mathrm{dpr}}", "s", "time over which a chip is written off", 1e7, 1e9),
    ("fleet_utilisation", "u_fleet", r"u_{\mathrm{fleet}}", "1", "share of that time in which a chip is in use", 0.05, 1, FRACTION),
    (
        "fleet_cost_per_token",
        "c_fleet",
        r"c_{\mathrm{fleet}}",
        "USD/token",
        "cost of a decoded token, hours in which its chips wait for work included",
        1e-10,
        1e-3,
    ),
    ("chip_power", "P_chip", r"P_{\mathrm{chip}}", "J/s", "electric power of one chip under load", 10, 1e4),
    ("power_usage_effectiveness", "PUE", r"\mathrm{PUE}", "1", "power of the data centre over that of what computes in it", 1, 3),
    ("electricity_price", "p_el", r"p_{\mathrm{el}}", "USD/J", "price of electric energy", 1e-9, 3e-7),
)
