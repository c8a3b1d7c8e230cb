"""The data types of weights and caches: the bytes of one element, and the type whose rate is that of their arithmetic."""

from typing import NamedTuple

_BLOCK_SCALE = 2 / 32
"""Bytes per element of a 16-bit scale for each 32 elements, as GGUF has them."""


class DataType(NamedTuple):
    """The bytes of one element, and the type that a chip computes it in, blank for the type itself.

    The bytes leave scales out, except for formats whose definition has them.
    """

    size: float
    computed_in: str = ""


_BF16 = "bf16"
ROWS: dict[str, DataType] = {
    "fp64": DataType(8.0),
    "fp32": DataType(4.0),
    "f32": DataType(4.0, "fp32"),
    "float32": DataType(4.0, "fp32"),
    "tf32": DataType(4.0),
    "bf16": DataType(2.0),
    "bfloat16": DataType(2.0, _BF16),
    "fp16": DataType(2.0, _BF16),
    "f16": DataType(2.0, _BF16),
    "half": DataType(2.0, _BF16),
    "float16": DataType(2.0, _BF16),
    "fp8": DataType(1.0),
    "fp8_e4m3": DataType(1.0, "fp8"),
    "fp8_e4m3fn": DataType(1.0, "fp8"),
    "fp8_e5m2": DataType(1.0, "fp8"),
    "e4m3": DataType(1.0, "fp8"),
    "e5m2": DataType(1.0, "fp8"),
    "mxfp8": DataType(1 + 1 / 32, "fp8"),
    "int8": DataType(1.0),
    "w8a8": DataType(1.0, "int8"),
    "w8a16": DataType(1.0, _BF16),
    "fp6": DataType(0.75, _BF16),
    "fp4": DataType(0.5),
    "nvfp4": DataType(0.5 + 1 / 16, "fp4"),
    "mxfp4": DataType(0.5 + 1 / 32, "fp4"),
    "int4": DataType(0.5, _BF16),
    "w4a16": DataType(0.5, _BF16),
    "awq": DataType(0.5, _BF16),
    "gptq": DataType(0.5, _BF16),
    "nf4": DataType(0.5, _BF16),
    "q8_0": DataType(1 + _BLOCK_SCALE, _BF16),
    "q6_k": DataType(6.5625 / 8, _BF16),
    "q5_1": DataType(5 / 8 + 2 * _BLOCK_SCALE, _BF16),
    "q5_0": DataType(5 / 8 + _BLOCK_SCALE, _BF16),
    "q4_1": DataType(4 / 8 + 2 * _BLOCK_SCALE, _BF16),
    "q4_0": DataType(4 / 8 + _BLOCK_SCALE, _BF16),
    "iq4_nl": DataType(4 / 8 + _BLOCK_SCALE, _BF16),
    "iq4_xs": DataType(4.25 / 8, _BF16),
    # These mix widths over the tensors of a model: the averages that llama.cpp prints for Llama models of 7B to 8B.
    "q5_k_m": DataType(5.69 / 8, _BF16),
    "q5_k_s": DataType(5.54 / 8, _BF16),
    "q4_k_m": DataType(4.85 / 8, _BF16),
    "q4_k_s": DataType(4.58 / 8, _BF16),
    "q3_k_m": DataType(3.91 / 8, _BF16),
}
"""By the name that engines and model files use. A type of weights alone is computed in bf16, as engines do."""

BYTES_OF_ONE = {name: row.size for name, row in ROWS.items()}
"""Bytes of one element."""
