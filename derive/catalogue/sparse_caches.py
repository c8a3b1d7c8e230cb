"""Architecture: caches of models that choose what to read, so that a step reads less than is stored.

An indexer scores every token by a small key of its own, and attention then reads a fixed number of entries. The data that
grow with the context are stored and read separately: keys and values are stored, the indexer's keys are read.
"""

from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, GQA_PAPER, MLA_PAPER, MSA_CONFIG, ours
from derive.records import Equation, Example, Variant
from derive.requirements import Requirement

INDEXED = (
    Equation(
        id="architecture.kv_bytes_mla_indexed",
        version=2,
        changes=("indexer keys have a data type of their own: fp8 with a scale beside a cache of bf16",),
        title="KV bytes per token, latent attention with an indexer",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="mla_indexed"),
        relation=lambda kv_bytes_per_token, latent_per_token, layers, latent_dim, rope_dim, entry_per_token, indexer_layers,
            indexer_dim, bytes_per_element, indexer_bytes_per_element: (
            kv_bytes_per_token,
            latent_per_token * layers * (latent_dim + rope_dim) * bytes_per_element
            + entry_per_token * indexer_layers * indexer_dim * indexer_bytes_per_element,
        ),
        statement="The latent cache, and one key of indexer_dim in every layer with its own indexer.",
        assumptions=("every layer has its own latent over the whole context",),
        example=Example(
            given={
                "layers": "61",
                "latent_dim": "512",
                "rope_dim": "64",
                "indexer_layers": "61",
                "indexer_dim": "128",
                "bytes_per_element": "1",
                "indexer_bytes_per_element": "1.03125",
            },
            result="43.19 kB/token",
        ),
        sources=(DSA_PAPER, MLA_PAPER),
    ),
    Equation(
        id="architecture.kv_bytes_gqa_indexed",
        version=2,
        changes=("indexer keys have a data type of their own: fp8 with a scale beside a cache of bf16",),
        title="KV bytes per token, grouped-query attention with an indexer",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="gqa_indexed"),
        relation=lambda kv_bytes_per_token, keys_and_values, layers, kv_heads, head_dim, entry_per_token, indexer_layers,
            indexer_dim, bytes_per_element, indexer_bytes_per_element: (
            kv_bytes_per_token,
            keys_and_values * layers * kv_heads * head_dim * bytes_per_element
            + entry_per_token * indexer_layers * indexer_dim * indexer_bytes_per_element,
        ),
        statement="The grouped-query cache, and one key of indexer_dim in every layer with an indexer.",
        assumptions=("every layer has its own cache over the whole context",),
        example=Example(
            given={
                "layers": "60",
                "kv_heads": "4",
                "head_dim": "128",
                "indexer_layers": "57",
                "indexer_dim": "128",
                "bytes_per_element": "2",
                "indexer_bytes_per_element": "2",
            },
            result="137.5 kB/token",
        ),
        sources=(MSA_CONFIG, GQA_PAPER),
    ),
    Equation(
        id="architecture.kv_bytes_compressed",
        version=2,
        changes=("indexer keys have a data type of their own: fp8 with a scale beside a cache of bf16",),
        title="KV bytes per token, tokens compressed into shared entries",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="compressed"),
        relation=lambda kv_bytes_per_token, entry_per_token, sparse_layers, head_dim, indexer_dim, sparse_compression_ratio,
            heavily_compressed_layers, heavy_compression_ratio, bytes_per_element, indexer_bytes_per_element: (
            kv_bytes_per_token,
            entry_per_token
            * (
                sparse_layers * (head_dim * bytes_per_element + indexer_dim * indexer_bytes_per_element) / sparse_compression_ratio
                + heavily_compressed_layers * head_dim * bytes_per_element / heavy_compression_ratio
            ),
        ),
        statement="One entry, key and value at once, for every few tokens: with an indexer key in sparse layers, for many more without.",
        assumptions=(
            "one KV head, whose key is also its value",
            "what grows with the context alone: windows are counted apart, tokens not yet compressed left out",
        ),
        example=Example(
            given={
                "sparse_layers": "30",
                "head_dim": "512",
                "indexer_dim": "128",
                "sparse_compression_ratio": "4",
                "heavily_compressed_layers": "31",
                "heavy_compression_ratio": "128",
                "bytes_per_element": "1",
                "indexer_bytes_per_element": "1.03125",
            },
            result="4.954 kB/token",
        ),
        sources=(COMPRESSED_DOCS,),
    ),
    Equation(
        id="architecture.kv_read_bytes",
        title="KV bytes read per token of context",
        defines="kv_read_bytes_per_token",
        variant=Variant(group="kv_read_bytes_per_token", name="dense", default=True),
        relation=lambda kv_read_bytes_per_token, kv_bytes_per_token: (kv_read_bytes_per_token, kv_bytes_per_token),
        statement="Attention that looks at the whole context reads every byte that grows with it, once per step.",
        assumptions=("dense attention in every layer whose cache grows with the context",),
        example=Example(given={"kv_bytes_per_token": "516.1 kB/token"}, result="516.1 kB/token"),
        sources=(ours("an assumption of roofline.kv_time, as a separate quantity"),),
    ),
    Equation(
        id="architecture.kv_read_bytes_mla_indexed",
        version=2,
        changes=("indexer keys have a data type of their own: fp8 with a scale beside a cache of bf16",),
        title="KV bytes read per token of context, every layer selects",
        defines="kv_read_bytes_per_token",
        variant=Variant(group="kv_read_bytes_per_token", name="mla_indexed"),
        relation=lambda kv_read_bytes_per_token, entry_per_token, indexer_layers, indexer_dim, indexer_bytes_per_element: (
            kv_read_bytes_per_token,
            entry_per_token * indexer_layers * indexer_dim * indexer_bytes_per_element,
        ),
        statement="Only the indexer keys are read for every token. Layers without an indexer reuse the choice of a layer below.",
        assumptions=("the slope beyond the selection: what attention itself reads no longer grows",),
        example=Example(
            given={"indexer_layers": "61", "indexer_dim": "128", "indexer_bytes_per_element": "1.03125"},
            result="8.052 kB/token",
        ),
        sources=(DSA_PAPER,),
    ),
    Equation(
        id="architecture.kv_read_bytes_gqa_indexed",
        version=2,
        changes=("indexer keys have a data type of their own: fp8 with a scale beside a cache of bf16",),
        title="KV bytes read per token of context, all but a few layers select",
        defines="kv_read_bytes_per_token",
        variant=Variant(group="kv_read_bytes_per_token", name="gqa_indexed"),
        relation=lambda kv_read_bytes_per_token, keys_and_values, layers, sparse_layers, kv_heads, head_dim, entry_per_token,
            indexer_layers, indexer_dim, bytes_per_element, indexer_bytes_per_element: (
            kv_read_bytes_per_token,
            keys_and_values * (layers - sparse_layers) * kv_heads * head_dim * bytes_per_element
            + entry_per_token * indexer_layers * indexer_dim * indexer_bytes_per_element,
        ),
        requires=(Requirement(holds=lambda layers, sparse_layers: layers >= sparse_layers),),
        statement="Dense layers read their keys and values of every token, sparse layers only the keys of their indexer.",
        assumptions=("the slope beyond the selection: what sparse layers read of keys and values no longer grows",),
        example=Example(
            given={
                "layers": "60",
                "sparse_layers": "57",
                "kv_heads": "4",
                "head_dim": "128",
                "indexer_layers": "57",
                "indexer_dim": "128",
                "bytes_per_element": "2",
                "indexer_bytes_per_element": "2",
            },
            result="20.74 kB/token",
        ),
        sources=(MSA_CONFIG,),
    ),
    Equation(
        id="architecture.kv_read_bytes_compressed",
        version=2,
        changes=("indexer keys have a data type of their own: fp8 with a scale beside a cache of bf16",),
        title="KV bytes read per token of context, tokens compressed into shared entries",
        defines="kv_read_bytes_per_token",
        variant=Variant(group="kv_read_bytes_per_token", name="compressed"),
        relation=lambda kv_read_bytes_per_token, entry_per_token, sparse_layers, indexer_dim, sparse_compression_ratio,
            heavily_compressed_layers, head_dim, heavy_compression_ratio, bytes_per_element, indexer_bytes_per_element: (
            kv_read_bytes_per_token,
            entry_per_token
            * (
                sparse_layers * indexer_dim * indexer_bytes_per_element / sparse_compression_ratio
                + heavily_compressed_layers * head_dim * bytes_per_element / heavy_compression_ratio
            ),
        ),
        statement="Sparse layers read every indexer key, heavily compressed layers every entry.",
        assumptions=("the slope beyond window and selection: what sparse layers read of their entries no longer grows",),
        example=Example(
            given={
                "sparse_layers": "30",
                "indexer_dim": "128",
                "sparse_compression_ratio": "4",
                "heavily_compressed_layers": "31",
                "head_dim": "512",
                "heavy_compression_ratio": "128",
                "bytes_per_element": "1",
                "indexer_bytes_per_element": "1.03125",
            },
            result="1.114 kB/token",
        ),
        sources=(COMPRESSED_DOCS,),
    ),
)
