"""Neutral defaults: factors that are 1 and terms that are 0, until something that was given says otherwise."""

from derive.quantities import NEUTRAL_DEFAULTS
from derive.questions import Question

ATTENTION = ("attention_flops_per_sequence", "attention_flops_per_pair", "query_heads", "indexer_heads")
DRAFTS = ("draft_tokens", "acceptance_rate")
TIMES = ("peak_flops", "hbm_bandwidth", "compute_time", "memory_time")

GOVERNED = {
    **dict.fromkeys(("attention_time", "attention_compute_ratio"), ATTENTION),
    **dict.fromkeys(("tokens_per_step", "positions_per_step", "drafting_time", "drafting_compute_ratio"), DRAFTS),
    "verification_ratio": TIMES,
}
"""What a default gives way to: where one of these is known or asked for, the quantity is what its definition makes of it."""

MAY_DIFFER = ("chips", "pipeline_stages", "mfu", "mbu", "replicas", "tokens_per_step", "transfers_per_hold")
"""Defaults that a measured result may contradict: it then says what they are."""


def standing(asked: Question) -> dict[str, float]:
    """The defaults a question leaves in force, by quantity name.

    As many microbatches are in flight as there are stages, the fewest that leave none idle, unless the sequences in
    flight say how many.
    """
    at_hand = {*asked.known, asked.unknown}
    free = {name: value for name, value in NEUTRAL_DEFAULTS.items() if name not in at_hand}
    defaults = {name: value for name, value in free.items() if at_hand.isdisjoint(GOVERNED.get(name, ()))}
    if "sequences_in_flight" in asked.known or asked.unknown == "pipeline_stages":
        defaults.pop("microbatches", None)
    elif "microbatches" in defaults:
        defaults["microbatches"] = asked.known.get("pipeline_stages", 1.0)
    return defaults
