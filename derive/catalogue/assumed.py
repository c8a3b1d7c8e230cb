"""What several equations of the catalogue take for granted, so that each is spelled once."""

COPIES = (
    "kv_copies is 1 where the cache is sharded over the chips; latent attention, or fewer KV heads than chips, under tensor"
    " parallelism makes it up to the number of chips"
)
ONE_COPY = "the cache is sharded over the chips without copies (kv_copies = 1)"
