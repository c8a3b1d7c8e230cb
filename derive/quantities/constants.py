"""Numbers of equations that carry a unit: name, value, unit, meaning."""

ROWS = (
    ("flop_per_weight", 2, "FLOP", "a multiply and an add per weight, sequence and pass"),
    ("flop_per_mac", 2, "FLOP", "a multiply and an add"),
    ("flop_per_mac_and_token", 2, "FLOP/token", "a multiply and an add, once for every token"),
    ("keys_and_values", 2, "1/token", "a key and a value are stored for every token"),
    ("latent_per_token", 1, "1/token", "one latent is stored for every token"),
    ("entry_per_token", 1, "1/token", "one entry of a cache is stored for every token"),
    ("one_token", 1, "token", "one token"),
    ("one_flop_per_token", 1, "FLOP/token", "one FLOP for every parameter and token"),
    ("chinchilla_tokens_per_param", 20, "token", "tokens of pre-training for every parameter"),
    ("trained_bytes_per_param", 16, "byte", "bytes of a parameter, its gradient and its Adam states in mixed precision"),
    ("layer_activation_bytes", 34, "byte/token", "bytes a transformer layer keeps for a token and unit of its width, scores aside"),
    ("score_activation_bytes", 5, "byte/token**2", "bytes an attention head keeps for every pair of tokens"),
    ("layer_input_bytes", 2, "byte/token", "bytes of a layer's input for a token and unit of its width"),
    ("activation_per_token", 1, "1/token", "activations are held for every token"),
)
