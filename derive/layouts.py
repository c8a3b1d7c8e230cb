"""The layouts of a deployment, and the exchanges between its chips, one row for each.

A layout is the meaning of `attention=tp`, `attention=dp`, `experts=tp` or `experts=ep`. An exchange has a link and default bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from derive.errors import WrongValue, shorten
from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.quantities.aliases import ALIASES, TENSOR_PARALLEL, in_full


@immutable
class Layout:
    """The effect of a layout: numbers, or another quantity that one is equal to.

    `using` names further rules. A dense model reads its weights by the variant `dense`. Only a layout of attention has one. In such a
    layout the chips of one copy of attention share it by its heads. `variants` are those of other groups. `copied` is the number of
    copies that data parallelism beside the layout means, and `counted` what a word such as gpus means if it is not chips.
    """

    part: str
    name: str
    text: str
    given: Mapping[str, float | str] = field(default_factory=dict)
    using: tuple[str, ...] = ()
    dense: str = ""
    variants: Mapping[str, str] = field(default_factory=dict)
    copied: str = "attention_replicas"
    counted: str = ""


Key = tuple[str, str]

LAYOUTS: dict[Key, Layout] = {
    (row.part, row.name): row
    for row in (
        Layout(
            part="attention",
            name="tp",
            text="attention is divided by heads over all chips. A cache with fewer KV heads than chips is copied",
            dense="sharded",
        ),
        Layout(
            part="attention",
            name="dp",
            text="every chip computes attention of its own sequences, and stores all weights outside the experts",
            given={"attention_replicas": "chips"},
            dense="replicated",
        ),
        Layout(
            part="experts", name="tp", text="every expert is divided over all chips, so loads are equal", given={"expert_imbalance": 1.0}
        ),
        Layout(
            part="experts",
            name="ep",
            text="each expert is on one chip, and a step waits for the busiest chip",
            given={"expert_parallel": "chips"},
            using=("experts.busiest_chip",),
        ),
        *(
            Layout(
                part="zero",
                name=stage,
                text=f"copies of the model that train on different data share {shared}",
                variants={"training_state_bytes_per_chip": f"zero_{stage}", "data_parallel_time": sent},
                copied="data_parallel",
                counted="training_chips",
            )
            for stage, shared, sent in (
                ("1", "optimizer states", "all_reduce"),
                ("2", "optimizer states and gradients", "all_reduce"),
                ("3", "optimizer states, gradients and weights", "sharded"),
            )
        ),
    )
}
"""Layouts by part of the model and by name."""
LAID_OUT = frozenset(("attention_replicas", "kv_replication", "resident_weight_bytes_per_chip", "expert_parallel"))
"""Quantities that say how a deployment is laid out."""

USUAL_LAYOUTS: Mapping[tuple[str, bool], tuple[Key, ...]] = {
    # Tensor parallelism copies a latent cache to every chip. vLLM and SGLang advise against it where a model has experts.
    ("latents", True): (("attention", "dp"), ("experts", "ep")),
    ("latents", False): (("attention", "tp"),),
    ("heads", True): (("attention", "tp"), ("experts", "tp")),
    ("heads", False): (("attention", "tp"),),
}
"""The layouts that engines use: by the variant of the copies of a cache, and for models with and without experts."""
_COPIES = ("data_parallel", *(word for word, meant in ALIASES.items() if "attention_replicas" in meant))
_CHIPS = {"chips", *(word for word, meant in ALIASES.items() if meant == ("chips",))} - {*TENSOR_PARALLEL}
_PARTS = {part for part, _ in LAYOUTS}


def split_layout(pairs: Iterable[tuple[str, Any]]) -> tuple[tuple[Key, ...], list[tuple[str, Any]]]:
    """Return the keys of the layouts among givens, and the other givens. Beside a layout of attention or experts, dp is data parallelism
    of attention, and beside a stage of ZeRO it is of training.

    Raises WrongValue for an unknown layout of attention, or an unknown stage.

    >>> split_layout([("attention", "dp"), ("experts", "ep"), ("chips", 8)])
    ((('attention', 'dp'), ('experts', 'ep')), [('chips', 8)])
    >>> split_layout([("experts", "tp"), ("dp", 4)])[1], split_layout([("experts", 256)])[1]
    ([('attention_replicas', 4)], [('experts', 256)])
    """
    read = [((spelled.strip().lower(), str(value).strip().lower()), spelled, value) for spelled, value in pairs]
    unknown = (key for key, _, _ in read if key[0] in _PARTS and key not in LAYOUTS)
    if wrong := next(((part, name) for part, name in unknown if part not in QUANTITIES or ("attention", name) in LAYOUTS), None):
        choices = " or ".join(f"{part}={name}" for part, name in LAYOUTS if part == wrong[0])
        raise WrongValue(f"{wrong[0]} = {shorten(wrong[1])}: use {choices}")
    found = tuple(key for key, _, _ in read if key in LAYOUTS)
    others = [(spelled, value) for key, spelled, value in read if key not in LAYOUTS]
    return found, [(word_beside(found, spelled), value) for spelled, value in others]


def word_beside(layouts: Sequence[Key], word: str) -> str:
    """Return the quantity that a word for data parallelism or for chips means beside layouts, and any other word as it is."""
    if not layouts or word == "chips":
        return word
    first, name = LAYOUTS[layouts[0]], in_full(word)
    return (first.copied if name in _COPIES else first.counted if name in _CHIPS else "") or word


def layout_line(keys: Iterable[Key]) -> str:
    """Return the layout of a deployment in one line."""
    return "layout: " + "; ".join(f"{part}={name}, {LAYOUTS[part, name].text}" for part, name in keys)


def usual_layout_line(copies: str, mixture: bool) -> str:
    """Return the default layout of a deployment, and the layout that engines use for this kind of model."""
    told = " ".join(f"{part}={name}" for part, name in USUAL_LAYOUTS[copies, mixture])
    return f"layout: not given, so nothing is stored twice. Engines run this kind of model with {told}"


# -- exchanges --------------------------------------------------------------------------------------------------------


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

    It is used in a question for it, in a question with its `overlap`, and in a question for a quantity of `asked_by`. If `dense`, it is
    used only for dense models over several chips, and without any of `absent`. If it goes to chips outside the domain, `apart` says from
    where to where. With `rings` it uses the links of all chips. `spread` is the number of participating chips, if they are not all chips,
    and what limits it. `variants` are the variants of its equation within a domain and over several domains.
    """

    quantity: str
    overlap: str = ""
    asked_by: tuple[str, ...] = ()
    dense: bool = False
    absent: tuple[str, ...] = ()
    apart: str = ""
    rings: bool = False
    spread: tuple[str, str] | tuple[()] = ()
    variants: tuple[str, str] | tuple[()] = ()


EXCHANGES = (
    Exchange(quantity="kv_transfer_time", apart="from prefill chips to decode chips"),
    Exchange(quantity="data_parallel_time", apart="between copies of the model"),
    Exchange(quantity="balance_tokens_per_chip", apart="between copies of the model"),
    Exchange(
        quantity="tensor_parallel_time",
        overlap="exposed",
        asked_by=("exposed_communication_share",),
        dense=True,
        absent=("exposed_communication_share", "prefill_chunk"),
        rings=True,
    ),
    Exchange(quantity="all_reduce_time", rings=True),
    Exchange(quantity="all_reduce_bytes"),
    Exchange(quantity="weight_stationary_time"),
    Exchange(quantity="minimum_latency"),
    Exchange(
        quantity="all_to_all_time",
        overlap="network",
        spread=("expert_parallel", "experts"),
        variants=("one_copy_a_chip", "over_racks"),
    ),
)

WIDTHS: Mapping[str, tuple[float, str]] = {
    "allreduces_per_layer": (2.0, "after attention and after the feed-forward layer"),
    "bytes_per_activation": (2.0, "activations in bf16"),
    "exchange_bytes_per_param": (2.0, "weights and gradients in bf16"),
    "dispatch_bytes_per_element": (1.0, "in fp8, as DeepSeek-V3 was served"),
    "combine_bytes_per_element": (2.0, "in bf16, as DeepSeek-V3 was served"),
}
"""The default width of an exchange, and the reason."""
