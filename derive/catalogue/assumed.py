"""Assumptions that several equations of the catalogue share."""

COPIES = (
    "no copies of the cache over the chips unless kv_replication says so: under tensor parallelism, chips that share a KV head"
    " (all of them, where attention is latent) each hold and read it"
)
ONE_COPY = "no copies of the cache over the chips (kv_replication)"
EVERY_EXPERT_READ = (
    "every expert is read, as in a dense model: too long for a mixture of experts at small batches"
    " (experts.weight_time_touched is used if experts and active_experts are known)"
)
EVERY_EXPERT_IN_USE = "every weight is read: at this batch every expert is in use"
OF_MIXTURES = (EVERY_EXPERT_READ, EVERY_EXPERT_IN_USE)
"""What is true of a model without experts."""
