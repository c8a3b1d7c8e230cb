"""Exchanges between chips: the link and the default bytes of each. `derive/solving/question/presets.py` reads the rows."""

from collections.abc import Mapping

from derive.immutable import immutable


class Links:
    """The links of a chip, and the link of an exchange derived from them."""

    taken: str = "link_bandwidth"
    inside: str = "scale_up_link_bandwidth"
    """The bandwidth of a link in a scale-up domain."""
    out: str = "scale_out_link_bandwidth"
    """The bandwidth of a link out of the domain."""


@immutable
class Exchange:
    """An exchange: its time, or its bytes.

    `widths` are inputs of `WIDTHS` with a supposed value, which is not used if `unless` is known. It is used in a question for it, in a
    question with its `overlap`, and in a question for a quantity of `asked_by`. If `dense`, it is used only for dense models over several
    chips, and without any of `absent`. With `apart` it goes to chips outside the domain. A given time constrains the link, unless one of
    `lengths` is known. With `rings` it uses the links of all chips. `spread` is the number of participating chips, at most `at_most`, if
    they are not all chips. `variants` are the variants of its equation within a domain and over several domains.
    """

    quantity: str
    widths: tuple[str, ...] = ()
    unless: str = ""
    overlap: str = ""
    asked_by: tuple[str, ...] = ()
    dense: bool = False
    absent: tuple[str, ...] = ()
    apart: bool = False
    lengths: tuple[str, ...] = ()
    rings: bool = False
    spread: str = ""
    at_most: str = ""
    variants: tuple[str, str] | tuple[()] = ()


EXCHANGES = (
    Exchange(quantity="kv_transfer_time", apart=True, lengths=("prompt_tokens", "context_length", "kv_bytes_per_sequence")),
    Exchange(
        quantity="tensor_parallel_time",
        widths=("allreduces_per_layer", "bytes_per_activation"),
        overlap="exposed",
        asked_by=("exposed_communication_share",),
        dense=True,
        absent=("exposed_communication_share", "prefill_chunk"),
        rings=True,
    ),
    Exchange(quantity="all_reduce_time", widths=("bytes_per_activation",), unless="all_reduce_bytes", rings=True),
    Exchange(quantity="all_reduce_bytes", widths=("bytes_per_activation",)),
    Exchange(quantity="weight_stationary_time", widths=("bytes_per_activation",)),
    Exchange(
        quantity="all_to_all_time",
        widths=("dispatch_bytes_per_element", "combine_bytes_per_element"),
        overlap="network",
        spread="expert_parallel",
        at_most="experts",
        variants=("one_copy_a_chip", "over_racks"),
    ),
)

WIDTHS: Mapping[str, tuple[float, str]] = {
    "allreduces_per_layer": (2.0, "after attention and after the feed-forward layer"),
    "bytes_per_activation": (2.0, "activations in bf16"),
    "dispatch_bytes_per_element": (1.0, "in fp8, as DeepSeek-V3 was served"),
    "combine_bytes_per_element": (2.0, "in bf16, as DeepSeek-V3 was served"),
}
"""The default width of an exchange, and the reason."""
