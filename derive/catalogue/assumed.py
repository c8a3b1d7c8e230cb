"""Assumptions that several equations of the catalogue share."""

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
