"""The default deployment of the desk and the figures. Inputs of the user replace its values."""

CHIP, DATA_TYPE, MODEL = "H100-SXM", "fp8", "DeepSeek-V3"
"""A chip, the data type of its arithmetic, and an open model."""

DEPLOYED = {
    **{"chips": 64.0, "batch": 256.0, "context_length": 8000.0},
    **{"bytes_per_element": 1.0, "kv_replication": 1.0, "mfu": 0.5, "mbu": 0.7},
}
"""Inputs of the deployment by registry name [SI]."""
