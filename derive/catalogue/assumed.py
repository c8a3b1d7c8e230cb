"""What several equations of the catalogue take for granted, so that each is spelled once."""

COPIES = (
    "no copies of the cache over the chips unless kv_copies says so: under tensor parallelism, chips that share a KV head"
    " (all of them, where attention is latent) each hold and read it"
)
ONE_COPY = "no copies of the cache over the chips (kv_copies)"
