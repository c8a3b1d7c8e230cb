"""Training and reinforcement learning: tokens, FLOPs, loss, and the savings of a reversible network."""

from derive.quantities.domains import FRACTION, NONNEGATIVE, UNIT_INTERVAL
from derive.quantities.row import Quantity

ROWS = (
    # -- tokens and FLOPs -----------------------------------------------------------------------------------------
    Quantity(name="pretrain_tokens", symbol="D_PT", unit="token", meaning="tokens of pre-training", low=1e3, high=1e16),
    Quantity(name="rl_tokens", symbol="D_RL", unit="token", meaning="tokens of reinforcement learning", low=1e9, high=1e16),
    Quantity(
        name="inference_tokens",
        symbol="D_inf",
        unit="token",
        meaning="tokens served over the life of the model, prompt and output",
        low=1e9,
        high=1e18,
    ),
    Quantity(
        name="prompt_share", symbol="f_in", meaning="share of the tokens served that are prompt", low=0.01, high=0.99, domain=UNIT_INTERVAL
    ),
    Quantity(name="pretrain_flops", symbol="C_PT", unit="FLOP", meaning="FLOPs of pre-training", low=1e18, high=1e29),
    Quantity(
        name="rl_flops",
        symbol="C_RL",
        unit="FLOP",
        meaning="FLOPs of reinforcement learning, slow decode counted as FLOPs",
        low=1e18,
        high=1e29,
    ),
    Quantity(
        name="inference_flops", symbol="C_inf", unit="FLOP", meaning="FLOPs of serving, slow decode counted as FLOPs", low=1e18, high=1e30
    ),
    Quantity(
        name="rl_multiplier",
        symbol="k_rl",
        tex=r"k_{\mathrm{RL}}",
        meaning="FLOPs per parameter and RL token: 2 rolls out, 6 trains on all, a policy that scores adds 2",
        low=2,
        high=10,
    ),
    Quantity(
        name="decode_efficiency", symbol="eta", meaning="FLOP/s of decode over the FLOP/s of training", low=0.05, high=1, domain=FRACTION
    ),
    Quantity(name="deployment_time", symbol="T_dep", unit="s", meaning="time a model is served", low=1e5, high=1e9),
    Quantity(
        name="frontier_probability", symbol="p_front", meaning="chance that the model stays in use", low=0.05, high=1, domain=FRACTION
    ),
    Quantity(
        name="expected_inference_tokens", symbol="D_exp", unit="token", meaning="tokens served, derated by that chance", low=1e8, high=1e18
    ),
    Quantity(
        name="chinchilla_tokens",
        symbol="D_ch",
        unit="token",
        meaning="pre-training tokens that suit the model's size by convention",
        low=1e9,
        high=1e14,
    ),
    Quantity(
        name="dense_equivalent_params",
        symbol="N_eq",
        meaning="parameters of a dense model that is as good as a sparse one",
        low=1e6,
        high=1e13,
    ),
    Quantity(name="overtraining_ratio", symbol="O", meaning="pre-training tokens over chinchilla_tokens", low=0.1, high=1e4),
    Quantity(
        name="tokens_per_param",
        symbol="r_DN",
        tex=r"r_{D/N}",
        unit="token",
        meaning="tokens of pre-training for every active parameter",
        low=0.1,
        high=1e5,
    ),
    Quantity(name="training_sequence_length", symbol="L_tr", unit="token", meaning="tokens of one sequence of training", low=128, high=1e6),
    # -- memory of training ---------------------------------------------------------------------------------------
    Quantity(name="data_parallel", symbol="n_dp", meaning="copies of the model that train on different data", low=1, high=1e5),
    Quantity(
        name="gradient_bytes_per_param",
        symbol="b_grad",
        unit="byte",
        meaning="bytes of one gradient: 2 in bf16",
        low=0,
        high=4,
        domain=NONNEGATIVE,
    ),
    Quantity(
        name="optimizer_bytes_per_param",
        symbol="b_opt",
        unit="byte",
        meaning="bytes the optimizer keeps of a parameter: 12 for Adam with weights, mean and variance in fp32",
        low=1,
        high=16,
    ),
    Quantity(
        name="training_state_bytes_per_chip",
        symbol="M_state",
        unit="byte",
        meaning="parameters, gradients and optimizer states on one chip",
        low=1e5,
        high=1e14,
        unlike="checkpoint_bytes are of the whole model, and without gradients",
    ),
    Quantity(
        name="checkpoint_bytes",
        symbol="M_ckpt",
        unit="byte",
        meaning="weights and optimizer states that are written, so that training can go on from them",
        low=1e6,
        high=1e15,
        unlike="training_state_bytes_per_chip are what one chip holds, gradients too",
    ),
    Quantity(name="checkpoint_time", symbol="t_ckpt", unit="s", meaning="time to write a checkpoint to storage", low=1e-2, high=1e5),
    Quantity(
        name="activation_bytes_per_chip",
        symbol="M_actc",
        tex=r"M_{\mathrm{act,chip}}",
        unit="byte",
        meaning="activations held on the fullest chip",
        low=1,
        high=1e16,
        domain=NONNEGATIVE,
    ),
    Quantity(
        name="training_memory_per_chip", symbol="M_train", unit="byte", meaning="memory of training on the fullest chip", low=1e6, high=1e15
    ),
    # -- time and money of a training run --------------------------------------------------------------------------
    Quantity(
        name="training_chips",
        symbol="n_train",
        meaning="chips that train one model, over all its copies and stages",
        low=1,
        high=1e6,
        unlike="chips is for one stage of one copy",
    ),
    Quantity(
        name="chip_hours",
        symbol="T_chips",
        unit="s",
        meaning="chip time of a training run, summed over its chips: one chip for an hour is one hour",
        low=1e3,
        high=1e13,
    ),
    Quantity(
        name="training_rate_per_chip",
        symbol="R_chip_train",
        tex=r"R_{\mathrm{chip,train}}",
        unit="token/s",
        meaning="tokens that one chip trains on in a second",
        low=1,
        high=1e7,
    ),
    Quantity(
        name="training_throughput",
        symbol="R_train",
        unit="token/s",
        meaning="tokens that all chips of a training run train on in a second",
        low=1,
        high=1e10,
    ),
    Quantity(
        name="training_time", symbol="T_train", unit="s", meaning="time from the first to the last step of pre-training", low=1e2, high=1e9
    ),
    Quantity(
        name="training_cost",
        symbol="K_train",
        unit="USD",
        meaning="what the chips of pre-training cost",
        unlike="training_electricity_cost is what their electricity costs",
        low=1,
        high=1e12,
    ),
    Quantity(
        name="training_energy",
        symbol="E_train",
        unit="J",
        meaning="electric energy of a training run, building included",
        low=1000000.0,
        high=1e16,
        unlike="energy_per_token is of a decoded token, and of the chips alone",
    ),
    Quantity(
        name="training_electricity_cost",
        symbol="K_el_train",
        tex=r"K_{\mathrm{el,train}}",
        unit="USD",
        meaning="cost of the electricity of a training run, building included",
        low=1,
        high=10000000000.0,
        unlike="training_cost pays for chips, and in a rent for their electricity too. "
        "fleet_electricity_cost is of serving, electricity_price of a kWh",
    ),
    # -- network of training --------------------------------------------------------------------------------------
    Quantity(
        name="training_tokens_per_chip", symbol="T_chip", unit="token", meaning="tokens of a training step for each chip", low=1, high=1e7
    ),
    Quantity(
        name="exchange_bytes_per_param",
        symbol="b_exch",
        unit="byte",
        meaning="bytes of a weight or gradient as it is sent",
        low=0.5,
        high=4,
    ),
    Quantity(
        name="data_parallel_time",
        symbol="t_dp",
        unit="s",
        meaning="time in which copies exchange weights and gradients in a step",
        low=1e-6,
        high=1e5,
    ),
    Quantity(
        name="balance_tokens_per_chip",
        symbol="T_star",
        unit="token",
        meaning="tokens per chip at which communication and arithmetic need the same time",
        low=0.01,
        high=1e8,
    ),
    # -- optima ---------------------------------------------------------------------------------------------------
    Quantity(name="tradeoff_cost", symbol="A_tot", meaning="sum of a falling and a rising cost", low=0.1, high=1e4),
    Quantity(
        name="tradeoff_variable",
        symbol="x_var",
        tex="x",
        meaning="what is chosen, in units of where both costs are given",
        low=0.1,
        high=10,
    ),
    Quantity(name="falling_cost", symbol="A_fall", meaning="the falling cost at 1", low=0.1, high=100),
    Quantity(name="rising_cost", symbol="A_rise", meaning="the rising cost at 1", low=0.1, high=100),
    Quantity(name="falling_exponent", symbol="p_fall", meaning="power with which the one cost falls", low=0.1, high=4),
    Quantity(name="rising_exponent", symbol="p_rise", meaning="power with which the other cost rises", low=0.1, high=4),
    Quantity(name="falling_rising_ratio", symbol="r_cost", meaning="falling over rising cost where their sum is least", low=0.02, high=50),
    Quantity(name="loss", symbol="ell", tex=r"\mathcal{L}", meaning="loss of the trained model [nat a token]", low=1.5, high=10),
    Quantity(
        name="irreducible_loss", symbol="ell_0", tex=r"\mathcal{L}_0", meaning="loss that neither size nor data removes", low=1, high=2
    ),
    Quantity(name="size_loss_coefficient", symbol="A_N", meaning="coefficient of the loss due to size", low=100, high=1000),
    Quantity(name="size_loss_exponent", symbol="a_N", meaning="exponent of the loss due to size", low=0.2, high=0.5),
    Quantity(name="data_loss_coefficient", symbol="A_D", meaning="coefficient of the loss due to data", low=100, high=5000),
    Quantity(name="data_loss_exponent", symbol="a_D", meaning="exponent of the loss due to data", low=0.2, high=0.5),
    Quantity(name="inference_pretrain_ratio", symbol="r_inf", meaning="inference over pre-training FLOPs", low=1e-3, high=1e3),
    Quantity(
        name="training_lagrangian",
        symbol="F_lag",
        tex=r"\Lambda",
        unit="FLOP",
        meaning="FLOPs and the price of the loss together",
        low=1e18,
        high=1e30,
    ),
    Quantity(
        name="flops_per_loss",
        symbol="lambda_ell",
        tex=r"\lambda",
        unit="FLOP",
        meaning="FLOPs that one unit of loss is worth",
        low=1e18,
        high=1e29,
    ),
    Quantity(
        name="lifetime_flops_per_param",
        symbol="q_inf",
        tex="q",
        unit="FLOP",
        meaning="FLOPs of serving for each active parameter",
        low=1e9,
        high=1e18,
    ),
    # -- reversible networks --------------------------------------------------------------------------------------
    Quantity(name="right_half", symbol="y_r", tex="y", meaning="the half that is changed", low=1e-3, high=1e3),
    Quantity(
        name="round_function",
        symbol="f_x",
        tex="f",
        meaning="the layer's function of the half that is kept, any function at all",
        low=1e-3,
        high=1e3,
    ),
    Quantity(name="mixed_half", symbol="z_m", tex="z", meaning="the half that leaves changed", low=1e-3, high=1e3),
    Quantity(
        name="tokens_in_training_batch", symbol="T_bat", unit="token", meaning="tokens whose activations are held at once", low=1, high=1e8
    ),
    Quantity(
        name="activations_per_width",
        symbol="c_act",
        meaning="activations a layer keeps for a token, in units of its width",
        low=1,
        high=100,
    ),
    Quantity(name="bytes_per_activation", symbol="b_act", unit="byte", meaning="bytes that store one activation", low=0.5, high=4),
    Quantity(name="activation_bytes", symbol="M_act", unit="byte", meaning="activations stored for the backward pass", low=1, high=1e16),
)
