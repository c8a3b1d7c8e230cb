"""Training and reinforcement learning: tokens, FLOPs and loss; and what a reversible network saves."""

from derive.registry.domains import FRACTION

ROWS = (
    # -- tokens and FLOPs -----------------------------------------------------------------------------------------
    ("pretrain_tokens", "D_PT", r"D_{\mathrm{PT}}", "token", "tokens of pre-training", 1e9, 1e16),
    ("rl_tokens", "D_RL", r"D_{\mathrm{RL}}", "token", "tokens of reinforcement learning", 1e9, 1e16),
    ("inference_tokens", "D_inf", r"D_{\mathrm{inf}}", "token", "tokens served over the life of the model", 1e9, 1e18),
    ("pretrain_flops", "C_PT", r"C_{\mathrm{PT}}", "FLOP", "FLOPs of pre-training", 1e18, 1e29),
    ("rl_flops", "C_RL", r"C_{\mathrm{RL}}", "FLOP", "FLOPs of reinforcement learning, slow decode counted as FLOPs", 1e18, 1e29),
    ("inference_flops", "C_inf", r"C_{\mathrm{inf}}", "FLOP", "FLOPs of serving, slow decode counted as FLOPs", 1e18, 1e30),
    ("rl_multiplier", "k_rl", r"k_{\mathrm{RL}}", "1", "FLOPs per parameter and RL token: 2 only rolls out, 6 trains on all", 2, 6),
    ("decode_efficiency", "eta", r"\eta", "1", "FLOP/s of decode over those of training", 0.05, 1, FRACTION),
    ("deployment_time", "T_dep", r"T_{\mathrm{dep}}", "s", "time a model is served", 1e5, 1e9),
    ("frontier_probability", "p_front", r"p_{\mathrm{front}}", "1", "chance that the model stays in use", 0.05, 1, FRACTION),
    ("expected_inference_tokens", "D_exp", r"D_{\mathrm{exp}}", "token", "tokens served, derated by that chance", 1e8, 1e18),
    ("chinchilla_tokens", "D_ch", r"D_{\mathrm{ch}}", "token", "pre-training tokens that suit the model's size", 1e9, 1e14),
    ("overtraining_ratio", "O", "O", "1", "pre-training tokens over chinchilla_tokens", 0.1, 1e4),
    # -- optima ---------------------------------------------------------------------------------------------------
    ("tradeoff_cost", "A_tot", r"A_{\mathrm{tot}}", "1", "sum of a falling and a rising cost", 0.1, 1e4),
    ("tradeoff_variable", "x_var", "x", "1", "what is chosen, in units of where both costs are given", 0.1, 10),
    ("falling_cost", "A_fall", r"A_{\mathrm{fall}}", "1", "the falling cost at 1", 0.1, 100),
    ("rising_cost", "A_rise", r"A_{\mathrm{rise}}", "1", "the rising cost at 1", 0.1, 100),
    ("falling_exponent", "p_fall", r"p_{\mathrm{fall}}", "1", "power with which the one cost falls", 0.1, 4),
    ("rising_exponent", "p_rise", r"p_{\mathrm{rise}}", "1", "power with which the other cost rises", 0.1, 4),
    ("falling_rising_ratio", "r_cost", r"r_{\mathrm{cost}}", "1", "falling over rising cost where their sum is least", 0.02, 50),
    ("loss", "ell", r"\mathcal{L}", "1", "loss of the trained model [nat a token]", 1.5, 10),
    ("irreducible_loss", "ell_0", r"\mathcal{L}_0", "1", "loss that neither size nor data removes", 1, 2),
    ("size_loss_coefficient", "A_N", "A_N", "1", "coefficient of the loss due to size", 100, 1000),
    ("size_loss_exponent", "a_N", "a_N", "1", "exponent of the loss due to size", 0.2, 0.5),
    ("data_loss_coefficient", "A_D", "A_D", "1", "coefficient of the loss due to data", 100, 5000),
    ("data_loss_exponent", "a_D", "a_D", "1", "exponent of the loss due to data", 0.2, 0.5),
    ("inference_pretrain_ratio", "r_inf", r"r_{\mathrm{inf}}", "1", "inference over pre-training FLOPs", 1e-3, 1e3),
    ("training_lagrangian", "F_lag", r"\Lambda", "FLOP", "FLOPs and the price of the loss together", 1e18, 1e30),
    ("flops_per_loss", "lambda_ell", r"\lambda", "FLOP", "FLOPs that one unit of loss is worth", 1e18, 1e29),
    ("lifetime_flops_per_param", "q_inf", "q", "FLOP", "FLOPs of serving for each active parameter", 1e9, 1e18),
    # -- reversible networks --------------------------------------------------------------------------------------
    ("left_half", "x_l", "x", "1", "the half of what enters a reversible layer that is kept", 1e-3, 1e3),
    ("right_half", "y_r", "y", "1", "the half that is changed", 1e-3, 1e3),
    ("round_function", "f_x", "f", "1", "the layer's function of the half that is kept, any function at all", 1e-3, 1e3),
    ("mixed_half", "z_m", "z", "1", "the half that leaves changed", 1e-3, 1e3),
    ("revnet_left", "x_next", "x'", "1", "first half of what leaves a RevNet layer", 1e-3, 1e3),
    ("revnet_right", "y_next", "y'", "1", "second half of what leaves a RevNet layer", 1e-3, 1e3),
    ("tokens_in_training_batch", "T_bat", r"T_{\mathrm{bat}}", "token", "tokens whose activations are held at once", 1, 1e8),
    ("activations_per_width", "c_act", r"c_{\mathrm{act}}", "1", "activations a layer keeps for a token, in units of its width", 1, 100),
    ("bytes_per_activation", "b_act", r"b_{\mathrm{act}}", "byte", "bytes that store one activation", 0.5, 4),
    ("activation_bytes", "M_act", r"M_{\mathrm{act}}", "byte", "activations held for the backward pass", 1, 1e16),
)
