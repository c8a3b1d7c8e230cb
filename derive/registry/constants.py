"""Numbers of equations that carry a unit: name, value, unit, meaning."""

ROWS = (
    ("flop_per_weight", 2, "FLOP", "a multiply and an add per weight, sequence and pass"),
    ("flop_per_mac_and_token", 2, "FLOP/token", "a multiply and an add, once for every token"),
    ("keys_and_values", 2, "1/token", "a key and a value are stored for every token"),
    ("latent_per_token", 1, "1/token", "one latent is stored for every token"),
    ("one_token", 1, "token", "one token"),
)
