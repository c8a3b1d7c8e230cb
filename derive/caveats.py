"""What has to be said before a number is read: of each doubt one function, which says it or nothing."""

from collections.abc import Callable, Mapping, Sequence

from derive.catalogue import equation
from derive.questions import Question
from derive.records import Equation

Caveat = Callable[[Question, Mapping[str, float], Sequence[Equation]], str | None]
"""A doubt: from the question, all values on the way to its answer, and the equations that were used."""

SPARSEST = 128
"""Experts of which a token uses one, in the sparsest router of architectures.csv."""
READ_TOO_MUCH, UNEVEN = 1.1, 1.3
"""From where on it is said that weights may be read in vain, or that chips wait for the busiest."""


def caveats(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> tuple[str, ...]:
    """All that is doubtful of an answer."""
    said = (doubt(asked, values, used) for doubt in CAVEATS)
    return tuple(text for text in said if text)


def experts_unknown(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """A mixture of experts of which all weights are read for want of its router: by how much that may be too long."""
    if not _reads("sharded", used) or values.keys() >= {"experts", "active_experts"}:
        return None
    if not values.keys() >= {"total_params", "active_params"}:
        return None
    total, active = values["total_params"], values["active_params"]
    if not total > active:
        return None
    # No router is sparser than the model as a whole; where no batch is said, it is one sequence.
    router = {"experts": min(SPARSEST, total / active), "active_experts": 1.0}
    known = {"batch": 1.0, "positions_per_step": 1.0, **values, **router}
    for name in ("routed_params", "shared_params", "touched_experts", "fetched_params"):
        known[name] = equation(f"experts.{name}").right_side(known)
    times = total / known["fetched_params"]
    if times <= READ_TOO_MUCH:
        return None
    return f"expert counts are unknown: the weight read may be up to {times:.3g} times too long; give experts and active_experts"


def busiest_chip(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Touched experts taken to lie evenly on the chips: how many more the busiest chip reads."""
    row = equation("experts.busiest_chip")
    if not _reads("touched", used) or "expert_imbalance" in (asked.unknown, *asked.known) or row in used:
        return None
    if not values.keys() >= {"touched_experts", "experts", "chips"}:
        return None
    chips = values.get("expert_parallel", min(values["chips"], values["experts"]))
    known = {**values, "expert_parallel": chips}
    if row.violated(known) or (times := row.right_side(known)) <= UNEVEN:
        return None
    reads = f"the busiest of {chips:.4g} chips reads about {times:.3g} times the mean of the touched experts, which is not counted"
    return f"{reads}; give expert_imbalance, or expert_parallel and --using {row.id}"


def _reads(variant: str, used: Sequence[Equation]) -> bool:
    """Whether the weight read was that of a variant."""
    return any(row.defines == "weight_time" and row.variant[1] == variant for row in used if row.variant)


CAVEATS: tuple[Caveat, ...] = (experts_unknown, busiest_chip)
