"""Words in the names of models and chips that people use, and what they change: nothing, the data type of the weights, or the release."""

import re
from collections.abc import Iterable

from derive.quantities.data_types import ROWS

_CHANGE_NOTHING = (
    # The training of a model, and the file that it is in.
    *("instruct", "chat", "it", "hf", "base", "pt", "qat", "original", "meta", "c4ai", "latest", "text"),
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

_STORED_AS = {**{name: name for name in ROWS}, "4bit": "int4", "8bit": "int8", "int4-awq": "awq", "w4a16g128": "w4a16", "6bit": "fp6"}
"""Words for how the weights are stored, and the data type that this is."""

CHIPS_CALLED = {
    "A100-80GB-PCIe": "A100-PCIe-80GB",
    "V100": "V100-SXM2-32GB",
    "A6000": "RTX-A6000",
    "6000-Ada": "RTX-6000-Ada",
    "GH200": "GH200-96GB",
    "GH200-480GB": "GH200-96GB",
    "Trainium": "Trainium1",
    "Trn1": "Trainium1",
    "Inf2": "Inferentia2",
    "VR200-NVL72": "Rubin-VR200",
    "VR200-NVL144": "Rubin-VR200",
    "Ironwood": "TPU7x",
    "TPU-v7": "TPU7x",
    "TPU-v7x": "TPU7x",
    "Trillium": "TPU-v6e",
    "Trn2": "Trainium2",
    "Trn3": "Trainium3",
    "910B": "Ascend-910B",
    "910C": "Ascend-910C",
    "RTX-PRO-6000": "RTX-PRO-6000-Server",
}
"""What chips are called elsewhere. It holds for the chips that are in the table."""

MODELS_CALLED = {
    "DeepSeek-V3-671B": "DeepSeek-V3",
    "DeepSeek-R1-671B": "DeepSeek-R1",
    "Mistral-7B-v0.2": "Mistral-7B",
    "Command-R-08-2024": "Command-R-08",
    "Command-R-Plus": "Command-R+",
}
"""What models are called elsewhere. It holds for the models that are in a table."""


def _words(patterns: Iterable[str]) -> re.Pattern[str]:
    """Any of these words in a name whose separators are "-"."""
    return re.compile(rf"(?:^|-)({'|'.join(sorted(patterns, key=len, reverse=True))})(?=-|$)")


TYPES = {word.replace("_", "-"): dtype for word, dtype in _STORED_AS.items()}
LEFT_OUT, STORED, RELEASE = _words(_CHANGE_NOTHING), _words(TYPES), _words(_OF_A_RELEASE)
