"""Numbers of equations that carry a unit: name, value, unit, meaning."""

from derive.quantities.row import Constant

ROWS = (
    Constant(name="flop_per_weight", value=2, unit="FLOP", meaning="a multiply and an add per weight, sequence and pass"),
    Constant(name="flop_per_mac", value=2, unit="FLOP", meaning="a multiply and an add"),
    Constant(name="flop_per_mac_and_token", value=2, unit="FLOP/token", meaning="a multiply and an add for each token"),
    Constant(name="keys_and_values", value=2, unit="1/token", meaning="a key and a value are stored for every token"),
    Constant(name="latent_per_token", value=1, unit="1/token", meaning="one latent is stored for every token"),
    Constant(name="entry_per_token", value=1, unit="1/token", meaning="one entry of a cache is stored for every token"),
    Constant(name="one_token", value=1, unit="token", meaning="one token"),
    Constant(name="one_flop_per_token", value=1, unit="FLOP/token", meaning="one FLOP per parameter and token"),
    Constant(name="chinchilla_tokens_per_param", value=20, unit="token", meaning="tokens of pre-training per parameter"),
    Constant(
        name="trained_bytes_per_param",
        value=16,
        unit="byte",
        meaning="bytes of a parameter, its gradient and its Adam states in mixed precision",
    ),
    Constant(
        name="layer_activation_bytes",
        value=34,
        unit="byte/token",
        meaning="bytes of activations that a transformer layer stores per token and unit of its width, without attention scores",
    ),
    Constant(
        name="score_activation_bytes", value=5, unit="byte/token**2", meaning="bytes that an attention head stores for each pair of tokens"
    ),
    Constant(name="layer_input_bytes", value=2, unit="byte/token", meaning="bytes of a layer's input per token and unit of its width"),
    Constant(name="activation_per_token", value=1, unit="1/token", meaning="activations are stored for every token"),
)
