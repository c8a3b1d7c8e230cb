"""Many chips: the experts of a model over them, their memory, and pipeline stages."""

from derive.quantities.domains import AT_LEAST_ONE, NONNEGATIVE, UNIT_INTERVAL
from derive.quantities.row import Quantity

ROWS = (
    # -- network ------------------------------------------------------------------------------------------------
    Quantity(
        name="all_to_all_time",
        symbol="t_a2a",
        unit="s",
        meaning="time a step spends sending tokens to their experts and back",
        low=1e-6,
        high=100,
    ),
    Quantity(
        name="tensor_parallel_time",
        symbol="t_tp",
        unit="s",
        meaning="time a step spends adding up, over the chips of every layer, what each of them makes",
        unlike="all_reduce_time is one of its sums",
        low=1e-6,
        high=100,
    ),
    Quantity(
        name="all_reduce_bytes",
        symbol="M_ar",
        unit="byte",
        meaning="bytes that every chip holds a part of the sum of, and has whole after an all-reduce",
        low=1e3,
        high=1e12,
    ),
    Quantity(
        name="all_reduce_time",
        symbol="t_ar",
        unit="s",
        meaning="time to add up what all chips hold, so that each has the sum",
        unlike="tensor_parallel_time is all of them in a step of a model",
        low=1e-7,
        high=1e4,
    ),
    Quantity(
        name="weight_stationary_time",
        symbol="t_ws",
        unit="s",
        meaning="time a step spends on the exchanges of its feed-forward parts, whose weights are cut along both sides",
        low=1e-6,
        high=100,
    ),
    Quantity(
        name="model_dim_parts",
        symbol="X_model",
        meaning="parts that the width of the model is cut into, where weights are cut along both sides",
        low=1,
        high=1e4,
    ),
    Quantity(
        name="kv_transfer_time",
        symbol="t_send",
        unit="s",
        meaning="time to send the cache of a prompt from the chips that computed it to those that decode",
        low=1e-6,
        high=1e4,
    ),
    Quantity(
        name="exposed_communication_share",
        symbol="f_comm",
        meaning="share of a step in which only communication or launches run",
        low=0.01,
        high=0.9,
        domain=UNIT_INTERVAL,
    ),
    Quantity(
        name="hop_latency",
        symbol="t_hop",
        unit="s",
        meaning="latency of one hop between chips or between racks",
        low=1e-7,
        high=0.1,
        domain=NONNEGATIVE,
    ),
    Quantity(
        name="allreduces_per_layer",
        symbol="n_sync",
        meaning="all-reduces of a layer. Its chips wait for each other at each of them",
        low=1,
        high=16,
    ),
    Quantity(
        name="grid_latency",
        symbol="t_grid",
        unit="s",
        meaning="weight read and hops of one token on a square grid of chips",
        low=1e-6,
        high=100,
    ),
    Quantity(name="minimum_latency", symbol="t_least", unit="s", meaning="grid latency at the best number of chips", low=1e-6, high=100),
    # -- experts ------------------------------------------------------------------------------------------------
    Quantity(name="experts", symbol="E_x", meaning="routed experts of a layer", low=2, high=1024),
    Quantity(
        name="active_experts", symbol="n_act", meaning="routed experts that one token uses in a layer", low=1, high=64, whole="experts"
    ),
    Quantity(name="activated_experts", symbol="E_hit", meaning="routed experts of a layer that a batch uses, on average", low=1, high=1024),
    Quantity(
        name="expert_parallel",
        symbol="E",
        meaning="chips over which the experts of a layer are spread",
        low=1,
        high=1024,
        domain=AT_LEAST_ONE,
    ),
    Quantity(name="experts_per_chip", symbol="e_chip", meaning="experts of a layer that lie on one chip", low=0.1, high=256),
    Quantity(
        name="expert_imbalance",
        symbol="x_hot",
        meaning="activated experts on the busiest chip over the mean of all chips",
        low=1,
        high=64,
        domain=AT_LEAST_ONE,
    ),
    Quantity(name="capacity_factor", symbol="f_cap", meaning="tokens an expert takes over the mean of all experts", low=1, high=8),
    Quantity(name="expert_capacity", symbol="c_exp", meaning="largest number of tokens of one expert in a pass", low=0.01, high=1e6),
    Quantity(
        name="routed_params", symbol="N_ro", tex=r"N_{\mathrm{routed}}", meaning="parameters of the routed experts", low=1e8, high=1e13
    ),
    Quantity(
        name="shared_params", symbol="N_sh", tex=r"N_{\mathrm{shared}}", meaning="parameters that every token uses", low=1e8, high=1e12
    ),
    Quantity(name="fetched_params", symbol="N_hit", meaning="parameters a step reads", low=1e8, high=1e13),
    Quantity(
        name="expert_bytes_per_weight",
        symbol="b_ex",
        unit="byte",
        meaning="bytes that store one weight of the routed experts",
        low=0.5,
        high=4,
    ),
    Quantity(
        name="shared_bytes_per_weight",
        symbol="b_sh",
        unit="byte",
        meaning="bytes that store one weight that every token uses",
        low=0.5,
        high=4,
    ),
    Quantity(name="sequences_per_chip", symbol="B_g", meaning="sequences of a pass for each chip of the stage", low=0.01, high=1e4),
    Quantity(name="moe_layers", symbol="n_moe", meaning="layers with routed experts", low=1, high=200),
    Quantity(
        name="dispatch_bytes_per_element",
        symbol="b_out",
        unit="byte",
        meaning="bytes of an activation on its way to the experts",
        low=0.5,
        high=4,
    ),
    Quantity(
        name="combine_bytes_per_element", symbol="b_back", unit="byte", meaning="bytes of an activation on its way back", low=0.5, high=4
    ),
    Quantity(
        name="link_bandwidth", symbol="W_link", unit="byte/s", meaning="bandwidth of one chip into the network, one way", low=1e9, high=1e13
    ),
    Quantity(
        name="scale_up_link_bandwidth",
        symbol="W_in",
        unit="byte/s",
        meaning="bandwidth of one chip to the others of its scale-up domain, one way",
        low=1e9,
        high=1e13,
    ),
    Quantity(
        name="scale_out_link_bandwidth",
        symbol="W_out",
        unit="byte/s",
        meaning="bandwidth of one chip out of its scale-up domain, one way",
        low=1e9,
        high=1e13,
    ),
    Quantity(
        name="racks", symbol="n_r", meaning="scale-up domains that a layer's experts are spread over", low=1, high=64, domain=AT_LEAST_ONE
    ),
    Quantity(name="scale_out_bandwidth_ratio", symbol="kappa", meaning="scale-up over scale-out bandwidth of one chip", low=1, high=64),
    Quantity(name="reached_chips", symbol="n_reach", meaning="other chips that the experts of one token lie on", low=0.1, high=64),
    Quantity(name="reached_racks", symbol="n_rr", meaning="racks that the experts of one token lie in", low=1, high=64),
    Quantity(
        name="rack_limit", symbol="n_rmax", tex=r"n_{\mathrm{r,max}}", meaning="racks that a router may send one token to", low=1, high=64
    ),
    Quantity(
        name="leaving_copies",
        symbol="n_out_r",
        tex=r"n_{\mathrm{r,out}}",
        meaning="copies of a token that leave its rack, one a rack",
        low=0.1,
        high=64,
        domain=NONNEGATIVE,
    ),
    Quantity(
        name="leaving_share",
        symbol="f_out",
        meaning="share of the all-to-all traffic that leaves the rack",
        low=0.01,
        high=1,
        domain=UNIT_INTERVAL,
    ),
    Quantity(
        name="scale_out_slowdown", symbol="x_out", meaning="all-to-all time over several racks against within one", low=0.01, high=100
    ),
    # -- memory -------------------------------------------------------------------------------------------------
    Quantity(name="weight_bytes", symbol="M_wt", tex=r"M_{\mathrm{w}}", unit="byte", meaning="bytes of all weights", low=1e8, high=1e14),
    Quantity(
        name="sequences_in_flight",
        symbol="B_fl",
        meaning="sequences whose cache is held, over all stages",
        low=1,
        high=1e7,
        unlike="batch is one pass of them, all where there are no pipeline stages. concurrent_requests may hold no cache yet."
        " fleet_sequences_in_flight is all replicas",
    ),
    Quantity(name="kv_cache_bytes", symbol="M_kv", unit="byte", meaning="KV cache, all sequences", low=1e6, high=1e16, domain=NONNEGATIVE),
    Quantity(
        name="kv_cache_tokens",
        symbol="N_kv",
        unit="token",
        meaning="tokens whose cache fits beside the weights, over all sequences",
        low=1e3,
        high=1e10,
        unlike="cached_tokens are the tokens of one sequence that are already in the cache",
    ),
    Quantity(name="memory_demand", symbol="M", unit="byte", meaning="weights and KV cache together", low=1e8, high=1e16),
    Quantity(
        name="reserved_share",
        symbol="f_res",
        meaning="share of a chip's memory that an engine holds back for activations and buffers. A tenth is usual",
        low=0.01,
        high=0.5,
        domain=UNIT_INTERVAL,
        unlike="reserved_bytes_per_chip is the same in bytes, usable_share the rest",
    ),
    Quantity(
        name="usable_share",
        symbol="f_use",
        meaning="share of a chip's memory that an engine may fill with weights and KV cache. Nine tenths are usual",
        low=0.5,
        high=0.99,
        domain=UNIT_INTERVAL,
        unlike="reserved_share is what it holds back",
    ),
    Quantity(
        name="reserved_bytes_per_chip",
        symbol="M_res",
        unit="byte",
        meaning="memory of one chip that an engine holds back for activations and buffers",
        low=1e8,
        high=1e11,
        unlike="reserved_share is the same as a share of the memory",
    ),
    Quantity(name="memory_capacity", symbol="C_all", unit="byte", meaning="memory of all chips of all stages", low=1e10, high=1e17),
    Quantity(
        name="memory_per_chip", symbol="M_chip", unit="byte", meaning="weights and KV cache that fall on one chip", low=1e6, high=1e13
    ),
    Quantity(name="scale_up_size", symbol="S_up", meaning="chips that reach each other at full bandwidth", low=1, high=1024),
    Quantity(
        name="scale_up_bandwidth",
        symbol="W_up",
        unit="byte/s",
        meaning="memory bandwidth of all chips of a scale-up domain",
        low=1e11,
        high=1e17,
    ),
    # -- pipeline -----------------------------------------------------------------------------------------------
    Quantity(
        name="pipeline_stages",
        symbol="P",
        meaning="stages that the layers are cut into, one after another",
        low=1,
        high=64,
        domain=AT_LEAST_ONE,
        whole="layers",
    ),
    Quantity(
        name="microbatches",
        symbol="n_mu",
        tex=r"n_{\mu}",
        meaning="batches on their way through the stages at once",
        low=1,
        high=256,
        domain=AT_LEAST_ONE,
    ),
    Quantity(
        name="training_microbatches", symbol="n_mb", meaning="microbatches that a training step sends through the stages", low=1, high=1024
    ),
    Quantity(
        name="virtual_stages", symbol="v_st", meaning="runs of layers that one device of an interleaved schedule holds", low=1, high=16
    ),
    Quantity(name="layers_per_stage", symbol="l_st", tex=r"\ell_{\mathrm{st}}", meaning="layers of one stage", low=1, high=200),
    Quantity(
        name="idle_fraction",
        symbol="f_idle",
        meaning="share of the time a stage waits, in decode",
        low=0.01,
        high=0.99,
        domain=UNIT_INTERVAL,
    ),
    Quantity(
        name="bubble_fraction",
        symbol="f_bub",
        meaning="share of a training schedule a stage waits",
        low=0.01,
        high=0.99,
        domain=UNIT_INTERVAL,
    ),
    Quantity(
        name="token_latency",
        symbol="t_tok",
        unit="s",
        meaning="time from one step of a sequence to its next, through all stages: per step, not per token."
        " The mean time per output token is token_latency / tokens_per_step, which is less with drafts",
        low=1e-6,
        high=100,
        unlike="step_time is the pass through all layers without hops and waits",
    ),
    Quantity(name="rack_hop_ratio", symbol="r_hop", meaning="scale-up time over scale-out time of a stage", low=0.01, high=1e4),
)
