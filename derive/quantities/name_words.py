"""Words in the names of models and chips, and their effect: none, the data type of the weights, or the release."""

from collections.abc import Iterable

from derive.quantities.data_types import ROWS

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
    "int4-awq": "awq",
    "w4a16g128": "w4a16",
    "6bit": "fp6",
}
"""Words for how the weights are stored, and the data type that this is."""


def _words(patterns: Iterable[str]) -> str:
    """Return a pattern that matches any of these words in a name whose separators are "-"."""
    return rf"(?:^|-)({'|'.join(sorted(patterns, key=len, reverse=True))})(?=-|$)"


TYPES = {word.replace("_", "-"): dtype for word, dtype in _STORED_AS.items()}
LEFT_OUT, STORED, RELEASE = _words(_CHANGE_NOTHING), _words(TYPES), _words(_OF_A_RELEASE)
