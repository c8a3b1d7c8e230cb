"""Neutral defaults: factors that are 1 and terms that are 0, until something that was given says otherwise."""

from collections.abc import Mapping

from derive.quantities import NEUTRAL_DEFAULTS

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


def standing(unknown: str, known: Mapping[str, float]) -> dict[str, float]:
    """The defaults in force where one quantity is asked for and these are known, by name.

    As many microbatches are in flight as there are stages, the fewest that leave none idle, unless the sequences in
    flight say how many.

    >>> standing("throughput", {"pipeline_stages": 4.0})["microbatches"], "tokens_per_step" in standing("throughput", {"draft_tokens": 3.0})
    (4.0, False)
    """
    at_hand = {*known, unknown}
    free = {name: value for name, value in NEUTRAL_DEFAULTS.items() if name not in at_hand}
    defaults = {name: value for name, value in free.items() if at_hand.isdisjoint(GOVERNED.get(name, ()))}
    if "sequences_in_flight" in known or unknown == "pipeline_stages":
        defaults.pop("microbatches", None)
    elif "microbatches" in defaults:
        defaults["microbatches"] = known.get("pipeline_stages", 1.0)
    return defaults
