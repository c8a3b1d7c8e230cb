"""Many chips: the experts of a model over them, their memory, and pipeline stages."""

from derive.registry.domains import UNIT_INTERVAL

ROWS = (
    # -- network ------------------------------------------------------------------------------------------------
    ("all_to_all_time", "t_a2a", r"t_{\mathrm{a2a}}", "s", "time a step spends sending tokens to their experts and back", 1e-6, 100),
    ("attention_time", "t_att", r"t_{\mathrm{att}}", "s", "time the attention FLOPs of a step take", 1e-6, 100),
    (
        "exposed_communication_share",
        "f_comm",
        r"f_{\mathrm{comm}}",
        "1",
        "share of a step in which communication or launches run and nothing else does",
        0.01,
        0.9,
        UNIT_INTERVAL,
    ),
    ("hop_latency", "t_hop", r"t_{\mathrm{hop}}", "s", "latency of one hop between chips or between racks", 1e-7, 0.1),
    ("synchronisations_per_layer", "n_sync", r"n_{\mathrm{sync}}", "1", "times the chips of a layer wait for each other", 1, 16),
    ("grid_latency", "t_grid", r"t_{\mathrm{grid}}", "s", "weight read and hops of one token on a square grid of chips", 1e-6, 100),
    ("minimum_latency", "t_least", r"t_{\mathrm{least}}", "s", "grid latency at the best number of chips", 1e-6, 100),
    # -- experts ------------------------------------------------------------------------------------------------
    ("experts", "E_x", "E_x", "1", "routed experts of a layer", 2, 1024),
    ("active_experts", "n_act", r"n_{\mathrm{act}}", "1", "routed experts that one token uses in a layer", 1, 64),
    ("touched_experts", "E_hit", r"E_{\mathrm{hit}}", "1", "routed experts of a layer that a batch uses, on average", 1, 1024),
    ("expert_parallel", "E", "E", "1", "chips over which the experts of a layer are spread", 1, 1024),
    ("experts_per_chip", "e_chip", r"e_{\mathrm{chip}}", "1", "experts of a layer that lie on one chip", 0.1, 256),
    ("routed_params", "N_ro", r"N_{\mathrm{routed}}", "1", "parameters of the routed experts", 1e8, 1e13),
    ("shared_params", "N_sh", r"N_{\mathrm{shared}}", "1", "parameters that every token uses", 1e8, 1e12),
    ("fetched_params", "N_hit", r"N_{\mathrm{hit}}", "1", "parameters a step reads", 1e8, 1e13),
    ("sequences_per_chip", "B_g", "B_g", "1", "sequences of a pass for each chip of the stage", 0.01, 1e4),
    ("moe_layers", "n_moe", r"n_{\mathrm{moe}}", "1", "layers with routed experts", 1, 200),
    ("dispatch_bytes_per_element", "b_out", r"b_{\mathrm{out}}", "byte", "bytes of an activation on its way to the experts", 0.5, 4),
    ("combine_bytes_per_element", "b_back", r"b_{\mathrm{back}}", "byte", "bytes of an activation on its way back", 0.5, 4),
    ("link_bandwidth", "W_link", r"W_{\mathrm{link}}", "byte/s", "bandwidth of one chip into the network, one way", 1e9, 1e13),
    ("racks", "n_r", "n_r", "1", "scale-up domains that a layer's experts are spread over", 1, 64),
    ("scale_out_bandwidth_ratio", "kappa", r"\kappa", "1", "scale-up over scale-out bandwidth of one chip", 1, 64),
    ("leaving_share", "f_out", r"f_{\mathrm{out}}", "1", "share of the all-to-all traffic that leaves the rack", 0.01, 1, UNIT_INTERVAL),
    ("scale_out_slowdown", "x_out", r"x_{\mathrm{out}}", "1", "all-to-all time over several racks against within one", 0.01, 100),
    # -- memory -------------------------------------------------------------------------------------------------
    ("weight_bytes", "M_wt", r"M_{\mathrm{w}}", "byte", "bytes of all weights", 1e8, 1e14),
    ("sequences_in_flight", "B_fl", r"B_{\mathrm{fl}}", "1", "sequences whose cache is held, over all stages", 1, 1e7),
    ("kv_cache_bytes", "M_kv", r"M_{\mathrm{kv}}", "byte", "KV cache of all sequences in flight", 1e6, 1e16),
    ("memory_demand", "M", "M", "byte", "weights and KV cache together", 1e8, 1e16),
    ("memory_capacity", "C_all", r"C_{\mathrm{all}}", "byte", "memory of all chips of all stages", 1e10, 1e17),
    ("memory_per_chip", "M_chip", r"M_{\mathrm{chip}}", "byte", "weights and KV cache that fall on one chip", 1e6, 1e13),
    ("scale_up_size", "S_up", r"S_{\mathrm{up}}", "1", "chips that reach each other at full bandwidth", 1, 1024),
    ("scale_up_bandwidth", "W_up", r"W_{\mathrm{up}}", "byte/s", "memory bandwidth of all chips of a scale-up domain", 1e11, 1e17),
    # -- pipeline -----------------------------------------------------------------------------------------------
    ("pipeline_stages", "P", "P", "1", "stages that the layers are cut into, one after another", 1, 64),
    ("microbatches", "n_mu", r"n_{\mu}", "1", "batches on their way through the stages at once", 1, 256),
    ("microbatch_size", "b_mu", r"b_{\mu}", "1", "sequences of one microbatch: the batch of one pass", 1, 1e6),
    ("layers_per_stage", "l_st", r"\ell_{\mathrm{st}}", "1", "layers of one stage", 0.1, 200),
    ("idle_fraction", "f_idle", r"f_{\mathrm{idle}}", "1", "share of the time a stage waits, in decode", 0.01, 0.99, UNIT_INTERVAL),
    ("bubble_fraction", "f_bub", r"f_{\mathrm{bub}}", "1", "share of a training schedule a stage waits", 0.01, 0.99, UNIT_INTERVAL),
    ("token_latency", "t_tok", r"t_{\mathrm{tok}}", "s", "time from one token of a sequence to its next", 1e-6, 100),
    ("rack_hop_ratio", "r_hop", r"r_{\mathrm{hop}}", "1", "scale-up time over scale-out time of a stage", 0.01, 1e4),
)
