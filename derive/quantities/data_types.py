"""The data types of weights and caches: the bytes of one element, and the type that their arithmetic runs in.

Also the words in the names of models and chips, with their effect: none, the data type of the weights, or the release.
"""

from collections.abc import Iterable
from typing import NamedTuple

_BLOCK_SCALE = 2 / 32
"""Bytes per element of a 16-bit scale for each 32 elements, as in GGUF."""
_GROUP_SCALE, _GROUP_ZERO = 2 / 128, 0.5 / 128
"""Bytes per element of a 16-bit scale and of a 4-bit zero for each 128 elements, as in AWQ and GPTQ."""
_NF4_SCALE = 4 / 64
"""Bytes per element of a 32-bit scale for each 64 elements, as in bitsandbytes without double quantization."""


class DataType(NamedTuple):
    """The bytes of one element, and the type in which a chip computes. A blank means the same type.

    The bytes leave scales out, except for formats whose definition has them.
    """

    size: float
    computed_in: str = ""


_BF16 = "bf16"
_BITS_OF_MIXTURES = {
    **{"iq1_s": 2.0042, "iq1_m": 2.1460, "iq2_xxs": 2.3824, "iq2_xs": 2.5882, "iq2_s": 2.7403, "iq2_m": 2.9294, "iq3_xxs": 3.2548},
    **{"iq3_xs": 3.4977, "iq3_s": 3.6606, "iq3_m": 3.7628, "q2_k_s": 2.9697, "q2_k": 3.1593, "q3_k_s": 3.6429, "q3_k_m": 3.91},
    **{"q3_k_l": 4.2979, "q4_k_s": 4.6672, "q4_k_m": 4.8944, "q5_k_s": 5.5704, "q5_k_m": 5.7036},
}
"""Bits of a weight on average in GGUF formats that mix widths over the tensors of a model.

They are those of Llama-3.1-8B, from tools/quantize/README.md of llama.cpp (2026). For q3_k_m it is the value of Llama-2-7B, from an older
version.
"""
ROWS: dict[str, DataType] = {
    "fp64": DataType(8.0),
    "fp32": DataType(4.0),
    **dict.fromkeys(("f32", "float32"), DataType(4.0, "fp32")),
    "tf32": DataType(4.0),
    "bf16": DataType(2.0),
    **dict.fromkeys(("bfloat16", "fp16", "f16", "half", "float16"), DataType(2.0, _BF16)),
    "fp8": DataType(1.0),
    **dict.fromkeys(("fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "e4m3", "e5m2", "float8", "float8_e4m3fn", "float8_e5m2"), DataType(1.0, "fp8")),
    "mxfp8": DataType(1 + 1 / 32, "fp8"),
    "int8": DataType(1.0),
    "w8a8": DataType(1.0, "int8"),
    "w8a16": DataType(1.0, _BF16),
    "fp6": DataType(0.75, _BF16),
    "fp4": DataType(0.5),
    "nvfp4": DataType(0.5 + 1 / 16, "fp4"),
    "mxfp4": DataType(0.5 + 1 / 32, "fp4"),
    "int4": DataType(0.5, _BF16),
    "w4a16": DataType(0.5 + _GROUP_SCALE, _BF16),
    **dict.fromkeys(("awq", "gptq"), DataType(0.5 + _GROUP_SCALE + _GROUP_ZERO, _BF16)),
    "nf4": DataType(0.5 + _NF4_SCALE, _BF16),
    "q8_0": DataType(1 + _BLOCK_SCALE, _BF16),
    "q6_k": DataType(6.5625 / 8, _BF16),
    "q5_1": DataType(5 / 8 + 2 * _BLOCK_SCALE, _BF16),
    "q5_0": DataType(5 / 8 + _BLOCK_SCALE, _BF16),
    "q4_1": DataType(4 / 8 + 2 * _BLOCK_SCALE, _BF16),
    **dict.fromkeys(("q4_0", "iq4_nl"), DataType(4 / 8 + _BLOCK_SCALE, _BF16)),
    "iq4_xs": DataType(4.25 / 8, _BF16),
    **{name: DataType(bits / 8, _BF16) for name, bits in _BITS_OF_MIXTURES.items()},
}
"""By the name that engines and model files use. If a type is only for weights, the arithmetic is in bf16, as in engines."""

BYTES_OF_ONE = {name: row.size for name, row in ROWS.items()}
"""Bytes of one element."""

_CHANGE_NOTHING = (
    # The training of a model, and the file that it is in.
    *("instruct", "chat", "it", "hf", "base", "pt", "original", "meta", "c4ai", "latest", "text"),
    *("gguf", "ggml", "mlx", "bnb", "exl2", "quantized", "quant", "dynamic", "block", "ud", "unsloth"),
    # The vendor of a chip, its socket and its memory.
    *("nvidia", "amd", "intel", "google", "aws", "amazon", "huawei", "habana", "apple", "cloud"),
    *("instinct", "tesla", "geforce", "quadro", "ascend", "tpu", "gpu", "accelerator", "tensor-core", "rubin", "grace", "hopper"),
    *("ampere", "ada-lovelace", "blackwell", "generation", "edition", "ac"),
    *("sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "oam", "hbm2", "hbm2e", "hbm3", "hbm3e", "hbm4", "gddr6", "gddr6x", "gddr7"),
)
"""Words that may be left out of a name: the shape of the model and the figures of the chip are the same."""

_OF_A_RELEASE = ("thinking", "reasoning", "preview", "exp", r"\d{4}", r"\d{6}", r"\d{8}")
"""Patterns of words for a later release of the same model, such as 0528 and 2507. A model may have them in its own name."""

_STORED_AS = {
    **{name: name for name in ROWS},
    "4bit": "int4",
    "8bit": "int8",
    "qat": "q4_0",
    "bnb-4bit": "nf4",
    "w4a16g128": "w4a16",
    "6bit": "fp6",
}
"""Words for how the weights are stored, and the data type that this is."""


def _words(patterns: Iterable[str]) -> str:
    """Return a pattern that matches any of these words in a name whose separators are "-"."""
    return rf"(?:^|-)({'|'.join(sorted(patterns, key=len, reverse=True))})(?=-|$)"


TYPES = {word.replace("_", "-"): dtype for word, dtype in _STORED_AS.items()}
LEFT_OUT, STORED, RELEASE = _words(_CHANGE_NOTHING), _words(TYPES), _words(_OF_A_RELEASE)
