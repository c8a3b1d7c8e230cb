"""Equations that were published and are no more: their last mathematics, for readers of a citation, and their successors."""

from collections.abc import Callable
from typing import Any

from derive.catalogue.sources import ours
from derive.records import Equation
from derive.requirements import Requirement


def retire(
    reference: str, successor: str, title: str, relation: Callable[..., tuple[Any, Any]], requires: tuple[Requirement, ...] = ()
) -> tuple[str, tuple[str, Equation]]:
    """Return an entry of `RETIRED`: the id, its successor and the equation in its last version, `reference`."""
    id, _, version = reference.partition("@")
    row = Equation(
        id=id,
        version=int(version),
        title=title,
        relation=relation,
        requires=requires,
        statement=f"Retired. Use {successor}.",
        sources=(ours(f"retired in favour of {successor}"),),
    )
    return id, (successor, row)


RETIRED: dict[str, tuple[str, Equation]] = dict(
    (
        retire(
            "roofline.tensor_parallel_time@1",
            "network.tensor_parallel_time",
            "Time to add up what the chips of a layer make",
            lambda tensor_parallel_time, layers, allreduces_per_layer, batch, tokens_verified_per_step, model_dim, bytes_per_activation,
                chips, link_bandwidth: (
                tensor_parallel_time,
                layers
                * allreduces_per_layer
                * batch
                * tokens_verified_per_step
                * model_dim
                * bytes_per_activation
                * 2
                * (chips - 1)
                / (chips * link_bandwidth),
            ),
            requires=(Requirement(holds=lambda chips: chips > 1, otherwise="one chip waits for no other"),),
        ),
        retire(
            "memory.weight_bytes_resident@1",
            "memory.resident_weight_bytes",
            "Bytes of the weights, from those resident on each chip",
            lambda weight_bytes, resident_weight_bytes_per_chip, chips, pipeline_stages: (
                weight_bytes,
                resident_weight_bytes_per_chip * chips * pipeline_stages,
            ),
        ),
        retire(
            "serving.drafting_compute_ratio@1",
            "serving.drafting_time",
            "Drafting time over compute time",
            lambda drafting_compute_ratio, drafting_time, compute_time: (drafting_compute_ratio, drafting_time / compute_time),
        ),
    )
)
"""By id: the successor, and the equation in its last version. An id is never used again for something else."""
