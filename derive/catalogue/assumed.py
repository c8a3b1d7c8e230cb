"""Assumptions, requirements and terms that several equations of the catalogue share."""

from typing import Any

from derive.catalogue.arithmetic import maximum, minimum
from derive.records import Requirement

COPIES = (
    "one copy of the cache, unless kv_replication is given. Under tensor parallelism, all chips that share a KV head (with latent"
    " attention all chips) store and read a copy"
)
ONE_COPY = "one copy of the cache (kv_replication)"
EVERY_EXPERT_READ = (
    "every expert is read, as in a dense model. This is too long for a mixture of experts at small batches. If experts and active_experts"
    " are known, experts.weight_time_touched is used"
)
EVERY_EXPERT_IN_USE = "every weight is read, because a batch of this size uses every expert"
OF_MIXTURES = (EVERY_EXPERT_READ, EVERY_EXPERT_IN_USE)
"""What is true of a model without experts."""


def compute(context: Any, attention_flops_per_pair: Any, active_params: Any, flop_per_weight: Any) -> Any:
    """Return the compute of a token at a context with attention, over its compute without attention."""
    return 1 + attention_flops_per_pair * context / (flop_per_weight * active_params)


def decode(ratio: Any, compute: Any, memory: Any, overlap: Any) -> Any:
    """Return the cost of a decoded token from its compute and its reads. The overlapping part of the shorter one costs no time."""
    return ratio * (maximum(compute, memory) + (1 - overlap) * minimum(compute, memory))


def shared(memory_ratio: Any, tokens_per_step: Any, one_token: Any) -> Any:
    """Return the memory ratio of one token: a step reads once for all the tokens it yields, and computes for each of them."""
    return memory_ratio * one_token / tokens_per_step


BAND_MEANS = ("each band is priced at its mean context", "one price/cost for all prices")
ONE_ATTENTION = "attention FLOPs of prefill and decode are equal. This is not true for latent attention"
ATTENTION_LEFT_OUT = "attention is only in prefill_attention_factor"
DENSE = "dense attention"
NOTHING_IN_VAIN = "no FLOPs for drafting or for refused drafts"
PART_OF_A_STEP = Requirement(
    holds=lambda exposed_communication_share: exposed_communication_share < 1, otherwise="communication needs the whole step"
)
