"""The one registry: what every quantity is called, its symbol, its unit and the domain it lives in.

SI inside: s, byte, FLOP, token, USD are the base units, and sequences, parameters, chips, layers and experts are
counts of unit 1. 1 MAC = 2 FLOP; `peak_flops` is the dense data-sheet figure.
"""

from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from typing import TYPE_CHECKING

from derive.errors import UnknownName, WrongValue

if TYPE_CHECKING:
    from sympy import Symbol

POSITIVE, NONNEGATIVE, FRACTION, UNIT_INTERVAL = "> 0", ">= 0", "in (0, 1]", "in [0, 1]"
ABSURD = 100


@dataclass(frozen=True, slots=True)
class Quantity:
    """A row of the registry: `low` and `high` bound the values met in practice, from which the tests draw."""

    name: str
    symbol: str
    latex: str
    unit: str
    meaning: str
    low: float
    high: float
    domain: str = POSITIVE

    @property
    def may_be_zero(self) -> bool:
        """Whether 0 is a value and not a mistake.

        >>> QUANTITIES["overlap"].may_be_zero, QUANTITIES["batch"].may_be_zero
        (True, False)
        """
        return self.domain in (NONNEGATIVE, UNIT_INTERVAL)

    @property
    def ceiling(self) -> float:
        """The value no answer can exceed: 1 for shares, infinity for the rest."""
        return 1.0 if self.domain in (FRACTION, UNIT_INTERVAL) else inf

    def limits(self) -> tuple[float, float]:
        """The interval of values accepted from outside [in the quantity's unit]; beyond it a number is a slip.

        >>> QUANTITIES["mfu"].limits(), QUANTITIES["batch"].limits()
        ((0.0, 1.0), (0.01, 100000000.0))
        """
        if self.ceiling == 1.0:
            return 0.0, 1.0
        return (0.0 if self.may_be_zero else self.low / ABSURD), self.high * ABSURD

    def check(self, value: float) -> float:
        """The value itself, or `WrongValue` naming the quantity, what was given and what is allowed."""
        if not isfinite(value):
            raise WrongValue(f"{self.name} = {value:g}: must be a finite number {self.domain}")
        if value < 0 or (value == 0 and not self.may_be_zero):
            raise WrongValue(f"{self.name} = {value:g}: must be {self.domain}")
        if value > self.ceiling:
            raise WrongValue(f"{self.name} = {value:g}: must be {self.domain}")
        low, high = self.limits()
        if value and not low <= value <= high:
            raise WrongValue(
                f"{self.name} = {value:g}{'' if self.unit == '1' else ' ' + self.unit}: absurd; values met in practice run"
                f" from {self.low:g} to {self.high:g}, is a suffix wrong?"
            )
        return value


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of an equation that carries a unit, so that the dimension check can see it."""

    name: str
    value: int
    unit: str
    meaning: str


_ROWS = (
    # -- the step -----------------------------------------------------------------------------------------------
    Quantity("batch", "B", "B", "1", "sequences that each get one new token in one pass", 1, 1e6),
    Quantity("context_length", "L", "L", "token", "tokens of context a sequence reads", 10, 1e7),
    Quantity("active_params", "N_a", "N_a", "1", "parameters used for one token", 1e8, 1e12),
    Quantity("total_params", "N_t", "N_t", "1", "parameters held in memory", 1e8, 1e13),
    Quantity("sparsity", "s", "s", "1", "total over active parameters", 1, 100),
    Quantity("bytes_per_weight", "b_w", "b_w", "byte", "bytes that store one weight", 0.5, 4),
    Quantity("kv_bytes_per_token", "b_kv", r"b_{\mathrm{kv}}", "byte/token", "KV cache of one token of context, all layers", 100, 1e6),
    Quantity("chips", "n", "n", "1", "accelerators that hold one pipeline stage", 1, 1e4),
    Quantity("resident_weight_bytes_per_chip", "M_w", "M_w", "byte", "weight bytes that lie on one chip, replicas included", 1e9, 3e11),
    Quantity("peak_flops", "F", "F", "FLOP/s", "dense data-sheet rate of one chip", 1e13, 1e17),
    Quantity("hbm_bandwidth", "W", "W", "byte/s", "memory bandwidth of one chip", 1e11, 1e14),
    Quantity("hbm_capacity", "C", "C", "byte", "high-bandwidth memory of one chip", 1e10, 1e12),
    Quantity("mfu", "mfu", r"\mathrm{mfu}", "1", "share of the peak FLOP/s that is sustained", 0.01, 1, FRACTION),
    Quantity("mbu", "mbu", r"\mathrm{mbu}", "1", "share of the memory bandwidth that is sustained", 0.01, 1, FRACTION),
    Quantity("step_time", "t", "t", "s", "time of one decode step", 1e-6, 100),
    Quantity("compute_time", "t_c", "t_c", "s", "time the arithmetic of a step takes", 1e-6, 100),
    Quantity("weight_time", "t_w", "t_w", "s", "time to read the weights once", 1e-6, 100),
    Quantity("kv_time", "t_kv", r"t_{\mathrm{kv}}", "s", "time to read the KV cache of the batch once", 1e-6, 100),
    Quantity("memory_time", "t_m", "t_m", "s", "time the memory traffic of a step takes", 1e-6, 100),
    Quantity("memory_time_share", "f_mem", r"f_{\mathrm{mem}}", "1", "memory time over memory plus compute time", 0.01, 0.99, FRACTION),
    Quantity("latency_floor", "t_min", r"t_{\min}", "s", "step time as the batch goes to nothing", 1e-6, 100),
    # -- batching -----------------------------------------------------------------------------------------------
    Quantity("machine_balance_ratio", "rho", r"\rho", "1", "multiplies done while one weight is read", 10, 1e4),
    Quantity("ridge_point", "beta", r"\beta", "FLOP/byte", "peak FLOP/s over memory bandwidth", 10, 1e4),
    Quantity("balance_batch", "B_star", r"B^{\star}", "1", "batch at which compute time equals weight time", 1, 1e6),
    Quantity("balance_batch_with_kv", "B_star_kv", r"B^{\star}_{\mathrm{kv}}", "1", "balance batch with KV reads counted", 1, 1e7),
    Quantity("batch_multiple", "m", "m", "1", "batch over balance batch", 0.1, 100),
    Quantity("compute_utilisation", "U", "U", "1", "compute time over step time", 0.001, 1, FRACTION),
    Quantity("concurrent_sequences", "N_seq", r"N_{\mathrm{seq}}", "1", "sequences decoding at once on one replica", 1, 1e7),
    Quantity("fast_speed_ratio", "sigma", r"\sigma", "1", "token rate of fast mode over normal mode", 1.01, 10),
    Quantity("fast_price_ratio", "pi_fast", r"\pi_{\mathrm{fast}}", "1", "token price of fast mode over normal mode", 1.01, 100),
    Quantity("normal_batch", "B_norm", r"B_{\mathrm{norm}}", "1", "batch of the normal mode", 1, 1e6),
    Quantity("fast_batch", "B_fast", r"B_{\mathrm{fast}}", "1", "batch of the fast mode", 0.1, 1e6),
    # -- scheduling and serving ---------------------------------------------------------------------------------
    Quantity("sweep_time", "T_sweep", r"T_{\mathrm{sweep}}", "s", "time to read a whole HBM once", 1e-4, 10),
    Quantity("train_period", "t_period", r"t_{\mathrm{period}}", "s", "time between two departures of the batch", 1e-4, 10),
    Quantity("worst_latency", "t_worst", r"t_{\mathrm{worst}}", "s", "longest wait for one token", 1e-4, 100),
    Quantity("mean_latency", "t_mean", r"t_{\mathrm{mean}}", "s", "mean wait for one token, arrivals at random", 1e-4, 100),
    Quantity("tokens_per_step", "n_tok", r"n_{\mathrm{tok}}", "token", "tokens one sequence gets from one step", 1, 10),
    Quantity("throughput", "theta", r"\theta", "token/s", "tokens one replica makes in a second", 1, 1e8),
    Quantity("fleet_throughput", "Theta", r"\Theta", "token/s", "tokens all replicas make in a second", 1, 1e12),
    Quantity("replicas", "n_rep", r"n_{\mathrm{rep}}", "1", "copies of the serving system", 1, 1e6),
    Quantity("chip_price", "g", "g", "USD/s", "price of one chip", 1e-5, 0.01),
    Quantity("cost_per_token", "c", "c", "USD/token", "chip time that one decoded token costs", 1e-10, 1e-3),
    Quantity("normalised_cost", "tau", r"\tau", "1", "cost of a decoded token over its compute floor", 1, 1e5),
    Quantity(
        "prefill_normalised_cost",
        "tau_pre",
        r"\tau_{\mathrm{pre}}",
        "1",
        "cost of a token of a pass with many new tokens, over its compute floor",
        1,
        1e5,
    ),
    Quantity("new_tokens_per_pass", "l_new", r"\ell", "token", "new tokens of each sequence in one pass; 1 is decode", 1, 1e5),
    # -- context ------------------------------------------------------------------------------------------------
    Quantity("balance_context", "L_star", r"L^{\star}", "token", "context at which KV time equals compute time", 10, 1e8),
    Quantity("attention_context", "L_a", "L_a", "token", "context at which attention FLOPs equal weight FLOPs", 10, 1e9),
    Quantity(
        "sparse_attention_coefficient",
        "c_att",
        r"c_{\mathrm{att}}",
        "1",
        "factor c of a sparse attention that reads c L^p tokens",
        0.1,
        1000,
    ),
    Quantity(
        "sparse_attention_exponent",
        "p_att",
        r"p_{\mathrm{att}}",
        "1",
        "exponent p of a sparse attention that reads c L^p tokens",
        0.1,
        1,
        FRACTION,
    ),
    # -- architecture -------------------------------------------------------------------------------------------
    Quantity("layers", "n_l", r"n_{\ell}", "1", "layers of the model", 1, 200),
    Quantity("kv_layers", "n_kvl", r"n_{\mathrm{kv},\ell}", "1", "layers whose KV cache grows with the context", 1, 200),
    Quantity("kv_heads", "n_kv", r"n_{\mathrm{kv}}", "1", "key and value heads of a layer", 1, 128),
    Quantity("query_heads", "n_q", "n_q", "1", "query heads of a layer", 1, 256),
    Quantity("head_dim", "d_h", "d_h", "1", "width of one head", 16, 1024),
    Quantity("latent_dim", "d_c", "d_c", "1", "width of the compressed KV latent (MLA)", 64, 2048),
    Quantity("rope_dim", "d_r", "d_r", "1", "width of the shared rotary key (MLA)", 8, 256),
    Quantity("nope_dim", "d_n", "d_n", "1", "width of a head's key without position (MLA)", 16, 512),
    Quantity("value_dim", "d_v", "d_v", "1", "width of a head's value (MLA)", 16, 512),
    Quantity("bytes_per_element", "b_e", "b_e", "byte", "bytes that store one cached value: 2 in bf16, 1 in fp8", 0.5, 4),
    Quantity(
        "attention_flops_per_pair",
        "a",
        "a",
        "FLOP/token",
        "attention FLOPs of one query against one token of context, all layers",
        1e4,
        1e8,
        NONNEGATIVE,
    ),
    Quantity("attention_intensity", "AI", "I_a", "FLOP/byte", "attention FLOPs per byte of KV read", 0.1, 1e4),
    # -- price sheets -------------------------------------------------------------------------------------------
    Quantity("input_price", "p_in", r"p_{\mathrm{in}}", "USD/token", "price of a prompt token in the base band", 1e-9, 1e-3),
    Quantity("output_price", "p_out", r"p_{\mathrm{out}}", "USD/token", "price of an output token in the base band", 1e-9, 1e-3),
    Quantity("cache_read_price", "p_hit", r"p_{\mathrm{hit}}", "USD/token", "price of a prompt token found in the cache", 1e-11, 1e-3),
    Quantity("storage_price", "S", "S", "USD/token/s", "price of keeping one token in the cache", 1e-14, 1e-7),
    Quantity("output_input_ratio", "R", "R", "1", "output price over input price", 1.01, 20),
    Quantity("bandwidth_bound_fraction", "f_bw", r"f_{\mathrm{bw}}", "1", "idle share of compute in decode, 1 - 1/R", 0.01, 0.99, FRACTION),
    Quantity(
        "long_context_threshold", "L_thr", r"L_{\mathrm{thr}}", "token", "prompt length above which the long-context price holds", 1e3, 1e7
    ),
    Quantity("premium_in", "pi_in", r"\pi_{\mathrm{in}}", "1", "long-context over base input price", 1, 10),
    Quantity("premium_out", "pi_out", r"\pi_{\mathrm{out}}", "1", "long-context over base output price", 1, 10),
    Quantity("short_context", "L_lo", r"L_{\mathrm{lo}}", "token", "mean context of the requests below the threshold", 100, 1e6),
    Quantity("long_context", "L_hi", r"L_{\mathrm{hi}}", "token", "mean context of the requests above the threshold", 1e3, 1e8),
    Quantity("max_context", "L_max", r"L_{\max}", "token", "longest context the sheet sells", 1e3, 1e8),
    Quantity(
        "covered_context", "L_cov", r"L_{\mathrm{cov}}", "token", "context up to which the long-context price covers the cost", 1e3, 1e9
    ),
    Quantity("cache_read_ratio", "h", "h", "1", "cache read price over input price", 0.001, 0.99),
    Quantity("cache_write_premium", "phi", r"\phi", "1", "cache write price over input price, minus 1", 0.01, 10, NONNEGATIVE),
    Quantity("input_markup", "mu_in", r"\mu_{\mathrm{in}}", "1", "input price over the compute cost of one token", 0.1, 1e4),
    # -- the two-band inverse -----------------------------------------------------------------------------------
    Quantity("prompt_position", "alpha", r"\alpha", "1", "mean relative position of a billed prompt token", 0.5, 1, FRACTION),
    Quantity("prefill_decode_flops_ratio", "rho_pd", r"\rho_{\mathrm{pd}}", "1", "sustained FLOP/s of prefill over decode", 0.3, 3),
    Quantity(
        "overlap", "o", "o", "1", "share of the smaller of compute and memory time that is hidden; max = 1, sum = 0", 0, 1, UNIT_INTERVAL
    ),
    Quantity("holding_cost_ratio", "eta_h", r"\eta_h", "1", "storage cost and mark-up over those of HBM", 0.01, 100),
    Quantity("weight_compute_ratio", "w", "w", "1", "weight time over linear compute time, B_star/B", 0.01, 1000),
    Quantity("prefill_cost_ratio", "c_pre", r"c_{\mathrm{pre}}", "1", "cost of a prompt token over its linear compute cost", 1, 100),
    Quantity(
        "decode_cost_ratio",
        "c_dec",
        r"c_{\mathrm{dec}}",
        "1",
        "cost of a decoded token over the linear compute cost of a prompt token",
        0.1,
        1e4,
    ),
    Quantity("cost_ratio", "c_x", "c_x", "1", "cost of a token over the linear compute cost of a prompt token", 0.1, 1e4),
    Quantity("band_price", "p_x", "p_x", "USD/token", "price of a token in a band", 1e-9, 1e-3),
    Quantity("decode_cost_short", "c_lo", r"c_{\mathrm{lo}}", "1", "decode_cost_ratio at the short context", 0.1, 1e4),
    Quantity("decode_cost_long", "c_hi", r"c_{\mathrm{hi}}", "1", "decode_cost_ratio at the long context", 0.1, 1e5),
    Quantity("memory_ratio_short", "m_lo", r"m_{\mathrm{lo}}", "1", "memory time over linear compute time at the short context", 0.01, 1e4),
    Quantity("memory_ratio_long", "m_hi", r"m_{\mathrm{hi}}", "1", "memory time over linear compute time at the long context", 0.01, 1e5),
    Quantity("cost_context_scale", "L_c", "L_c", "token", "context at which the cost of a band has doubled", 100, 1e9),
    Quantity("base_cost", "w_eff", r"w_{\mathrm{eff}}", "1", "decode cost at no context over linear compute cost", 0.5, 100),
    # -- cache tiers --------------------------------------------------------------------------------------------
    Quantity("ttl", "T_hold", r"T_{\mathrm{hold}}", "s", "time a cache entry is kept", 1, 1e7),
    Quantity("drain_time", "tau_tier", r"\tau_{\mathrm{tier}}", "s", "time to read a whole tier once", 1e-3, 1e6),
    Quantity("tier_capacity", "C_t", "C_t", "byte", "capacity of one device of the tier", 1e9, 1e15),
    Quantity("tier_bandwidth", "W_t", "W_t", "byte/s", "read bandwidth of one device of the tier", 1e8, 1e14),
    Quantity("tier_price", "g_t", "g_t", "USD/s", "price of one device of the tier", 1e-8, 1e-1),
    Quantity("cold_tier_capacity", "C_c", "C_c", "byte", "capacity of one device of the cheaper tier", 1e9, 1e15),
    Quantity("cold_tier_bandwidth", "W_c", "W_c", "byte/s", "read bandwidth of one device of the cheaper tier", 1e8, 1e14),
    Quantity("cold_tier_price", "g_c", "g_c", "USD/s", "price of one device of the cheaper tier", 1e-8, 1e-1),
    Quantity("tier_switch_time", "T_switch", r"T_{\mathrm{switch}}", "s", "hold time beyond which the cheaper tier costs less", 1e-3, 1e7),
    Quantity("transfers_per_hold", "n_tr", r"n_{\mathrm{tr}}", "1", "times a cache entry crosses the tier's bus per hold", 1, 10),
    Quantity(
        "rematerialisation_cost", "c_remat", r"c_{\mathrm{remat}}", "USD/token", "compute cost of recomputing one token of KV", 1e-10, 1e-4
    ),
    Quantity("hold_cost", "c_hold", r"c_{\mathrm{hold}}", "USD/token", "cost of keeping one token of KV for its lifetime", 1e-13, 1e-3),
    Quantity("retrieve_cost", "c_fetch", r"c_{\mathrm{fetch}}", "USD/token", "cost of reading one token of KV back", 1e-13, 1e-3),
    Quantity("cache_cost", "c_cache", r"c_{\mathrm{cache}}", "USD/token", "cost of holding and reading back one token of KV", 1e-13, 1e-3),
    Quantity("break_even_time", "T_even", r"T_{\mathrm{even}}", "s", "hold time at which keeping costs as much as recomputing", 1e-3, 1e7),
    Quantity("break_even_reads", "n_even", r"n_{\mathrm{even}}", "1", "re-reads from which caching costs the user less", 0.001, 100),
    Quantity(
        "implied_drain_time", "T_imp", r"T_{\mathrm{imp}}", "s", "hold time that costs as much as one read, from prices alone", 1e-5, 1e5
    ),
)

_CONSTANT_ROWS = (
    Constant("flop_per_weight", 2, "FLOP", "a multiply and an add per weight, sequence and pass"),
    Constant("flop_per_mac_and_token", 2, "FLOP/token", "a multiply and an add, once for every token"),
    Constant("keys_and_values", 2, "1/token", "a key and a value are stored for every token"),
    Constant("latent_per_token", 1, "1/token", "one latent is stored for every token"),
    Constant("one_token", 1, "token", "one token"),
)

QUANTITIES = {row.name: row for row in _ROWS}
CONSTANTS = {row.name: row for row in _CONSTANT_ROWS}
NAME_OF_SYMBOL = {row.symbol: row.name for row in _ROWS}

NEUTRAL_DEFAULTS = {"chips": 1.0, "mfu": 1.0, "mbu": 1.0, "replicas": 1.0, "tokens_per_step": 1.0, "transfers_per_hold": 1.0}
"""Nothing else has a default; those that an answer used are listed among its assumptions."""


def quantity(name: str) -> Quantity:
    """The registry row of a name or of its symbol.

    >>> quantity("B_star").name
    'balance_batch'
    """
    row = QUANTITIES.get(name) or QUANTITIES.get(NAME_OF_SYMBOL.get(name, ""))
    if row is None:
        raise UnknownName("quantity", name, [*QUANTITIES, *NAME_OF_SYMBOL], "backsolve list --quantities names them")
    return row


@cache
def symbol(name: str) -> "Symbol":
    """The one SymPy symbol of a quantity or constant, made when first asked for.

    >>> symbol("overlap").is_positive is None, symbol("batch").is_positive
    (True, True)
    """
    from sympy import Symbol

    if name in CONSTANTS:
        return Symbol(name, positive=True)
    row = quantity(name)
    return Symbol(row.name, nonnegative=True) if row.may_be_zero else Symbol(row.name, positive=True)
