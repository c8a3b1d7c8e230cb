"""Architecture, continued: attention FLOPs of prefill, the mean over the new tokens of a prompt.

A new token attends to the tokens before it: all cached ones, and on average half of the new ones. Means are integrals over the
place in the prompt, not sums over whole tokens: a token attends to half of itself.
"""

from typing import Any

from derive.catalogue.arithmetic import maximum, minimum
from derive.catalogue.decode_attention import DECODE_ATTENTION_EQUATIONS
from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, KAPLAN_PAPER, MLA_PAPER, MSA_CONFIG, WINDOW_PAPER, ours
from derive.records import Equation, Example, Premise, Step, Variant, at, in_place
from derive.requirements import Requirement

_GROUP = "attention_flops_per_sequence"
_LATENT_EXPANDED = "Prefill expands the latent into keys of nope_dim + rope_dim and values of value_dim for every head."
_PLACES = ("a mean over places in the prompt, not a sum over whole tokens", "every prompt is as long, and as much of it is cached")
_WINDOW = {
    "window_attention_flops": "prefill_window_flops",
    # The lesser of a mean window and a mean context is the mean too.
    **dict.fromkeys(("window_tokens", "context_length"), "prefill_window_tokens"),
}
_SELECTED = {"selected_attention_flops": "prefill_selected_flops", "read_entries": "prefill_read_entries"}
_DECODED = {row.id.split(".")[1]: row for row in DECODE_ATTENTION_EQUATIONS}


def mean_met(limit: Any, cached_tokens: Any, uncached_tokens: Any) -> Any:
    """Return the mean number of tokens that a new token attends to: the tokens before it, up to a limit.

    >>> mean_met(100, 0, 50), mean_met(100, 0, 200), mean_met(100, 80, 40), mean_met(100, 300, 50)
    (25.0, 75.0, 95.0, 100.0)
    """
    before_it = minimum(maximum(limit, cached_tokens) - cached_tokens, uncached_tokens)
    return (before_it * (cached_tokens + before_it / 2) + (uncached_tokens - before_it) * limit) / uncached_tokens


def _premise_at_mean(decoded: str, **point: Any) -> Premise:
    """Return the FLOPs of a decoded token at the mean context of a prompt's tokens. They are linear in it."""
    return at(
        f"architecture.{decoded}",
        attention_flops_per_sequence="prefill_attention_flops_per_token",
        context_length=lambda cached_tokens, uncached_tokens: cached_tokens + uncached_tokens / 2,
        **point,
    )


def _prefill_equation(decoded: str, *, id: str, title: str, names: dict[str, str], example: Example) -> Equation:
    """Return the equation of a decoded token for a token of a prompt, over its mean context."""
    row = _DECODED[decoded]
    renamed = {row.symbols[0]: names[row.symbols[0]], **{old: new for old, new in names.items() if old in row.symbols}}
    return Equation(
        id=f"architecture.{id}",
        title=title,
        defines=renamed[row.symbols[0]],
        variant=row.variant,
        relation=in_place(row.relation, renamed),
        statement=f"{row.statement} In prefill, the mean over the new tokens of a prompt.",
        assumptions=(*row.assumptions, "prefill does what decode does"),
        example=example,
        derivation=lambda: (
            Step(operation="the FLOPs are proportional to the number of attended tokens, so the mean is"
                           " enough", premises=(at(row.id, **renamed),)),
        ),
        sources=row.sources,
    )


PREFILL_ATTENTION = (
    Equation(
        id="architecture.prefill_attention_flops",
        title="Attention FLOPs of prefill per query and context token, same as decode",
        defines="prefill_attention_flops_per_pair",
        variant=Variant(group="prefill_attention_flops_per_pair", name="same", default=True),
        relation=lambda prefill_attention_flops_per_pair, attention_flops_per_pair: (
            prefill_attention_flops_per_pair,
            attention_flops_per_pair,
        ),
        statement="If keys and values are stored as attention uses them, a prompt token needs the same FLOPs as a decoded one.",
        assumptions=("prefill expands no keys or values: true for grouped queries, not for a latent cache",),
        example=Example(given={"attention_flops_per_pair": "8.258 MFLOP/token"}, result="8.258 MFLOP/token"),
        sources=(ours("one product with keys and one with values in either phase"),),
    ),
    Equation(
        id="architecture.prefill_attention_flops_mla",
        title="Attention FLOPs of prefill per query and context token, latent attention",
        defines="prefill_attention_flops_per_pair",
        variant=Variant(group="prefill_attention_flops_per_pair", name="mla"),
        relation=lambda prefill_attention_flops_per_pair, flop_per_mac_and_token, layers, query_heads, nope_dim, rope_dim, value_dim: (
            prefill_attention_flops_per_pair,
            flop_per_mac_and_token * layers * query_heads * (nope_dim + rope_dim + value_dim),
        ),
        statement=_LATENT_EXPANDED,
        assumptions=("dense attention", "the latent is expanded, as in prefill"),
        example=Example(
            given={"layers": "61", "query_heads": "128", "nope_dim": "128", "rope_dim": "64", "value_dim": "128"},
            result="4.997 MFLOP/token",
        ),
        derivation=lambda: (
            Step(
                operation="the expanded form, whatever decode does",
                premises=(at("architecture.attention_flops_mla", attention_flops_per_pair="prefill_attention_flops_per_pair"),),
            ),
        ),
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.prefill_attention_flops_mla_hybrid",
        title="Attention FLOPs of prefill per query and context token, latent attention on only some layers",
        defines="prefill_attention_flops_per_pair",
        variant=Variant(group="prefill_attention_flops_per_pair", name="mla_hybrid"),
        relation=lambda prefill_attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, nope_dim, rope_dim, value_dim: (
            prefill_attention_flops_per_pair,
            flop_per_mac_and_token * kv_layers * query_heads * (nope_dim + rope_dim + value_dim),
        ),
        statement=_LATENT_EXPANDED,
        assumptions=("dense attention", "the latent is expanded, as in prefill", "the slope at long context"),
        example=Example(
            given={"kv_layers": "24", "query_heads": "96", "nope_dim": "128", "rope_dim": "64", "value_dim": "128"},
            result="1.475 MFLOP/token",
        ),
        derivation=lambda: (
            Step(
                operation="the expanded form, whatever decode does",
                premises=(at("architecture.attention_flops_mla_hybrid", attention_flops_per_pair="prefill_attention_flops_per_pair"),),
            ),
        ),
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.prefill_window_tokens",
        title="Window tokens that a new token of a prompt attends to",
        defines="prefill_window_tokens",
        relation=lambda prefill_window_tokens, window_tokens, cached_tokens, uncached_tokens: (
            prefill_window_tokens,
            mean_met(window_tokens, cached_tokens, uncached_tokens),
        ),
        statement="A token attends to all tokens before it until the window is full, and then to the window.",
        assumptions=_PLACES,
        example=Example(given={"window_tokens": "1024", "cached_tokens": "500", "uncached_tokens": "1000"}, result="886.7 tokens"),
        sources=(WINDOW_PAPER, ours("the mean of the lesser of window and place")),
    ),
    _prefill_equation(
        "window_attention_flops",
        id="prefill_window_flops",
        title="Attention FLOPs of one new token of a prompt in windowed layers",
        names=_WINDOW,
        example=Example(
            given={
                "window_layers": "52",
                "query_heads": "32",
                "window_key_dim": "128",
                "window_value_dim": "128",
                "prefill_window_tokens": "886.7",
            },
            result="755.4 MFLOP",
        ),
    ),
    _prefill_equation(
        "window_attention_flops_shared",
        id="prefill_window_flops_shared",
        title="Attention FLOPs of one new token of a prompt in windowed layers, if the key is the value",
        names=_WINDOW,
        example=Example(
            given={"window_layers": "61", "query_heads": "128", "window_key_dim": "512", "prefill_window_tokens": "128"},
            result="2.047 GFLOP",
        ),
    ),
    Equation(
        id="architecture.prefill_read_entries",
        title="Entries a sparse layer reads for a new token of a prompt",
        defines="prefill_read_entries",
        variant=Variant(group="read_entries", name="tokens", default=True),
        relation=lambda prefill_read_entries, selected_entries, entry_per_token, cached_tokens, uncached_tokens: (
            prefill_read_entries,
            entry_per_token * mean_met(selected_entries / entry_per_token, cached_tokens, uncached_tokens),
        ),
        statement="A token reads all tokens before it while they are fewer than its selection, and then its selection.",
        assumptions=_PLACES,
        example=Example(given={"selected_entries": "2048", "cached_tokens": "1000", "uncached_tokens": "3000"}, result="1865"),
        sources=(DSA_PAPER, ours("the mean of the lesser of selection and place")),
    ),
    Equation(
        id="architecture.prefill_read_entries_compressed",
        title="Entries a sparse layer reads for a new token of a prompt, tokens compressed into shared entries",
        defines="prefill_read_entries",
        variant=Variant(group="read_entries", name="compressed"),
        relation=lambda prefill_read_entries, selected_entries, entry_per_token, sparse_compression_ratio, cached_tokens,
            uncached_tokens: (
            prefill_read_entries,
            entry_per_token
            * mean_met(selected_entries * sparse_compression_ratio / entry_per_token, cached_tokens, uncached_tokens)
            / sparse_compression_ratio,
        ),
        statement="A token reads all compressed entries before it while they are fewer than its selection, and then its selection.",
        assumptions=(*_PLACES, "tokens not yet compressed are left out"),
        example=Example(
            given={"selected_entries": "1024", "sparse_compression_ratio": "4", "cached_tokens": "2000", "uncached_tokens": "6000"},
            result="932.5",
        ),
        sources=(COMPRESSED_DOCS, ours("as for tokens, with one entry for every few of them")),
    ),
    _prefill_equation(
        "selected_attention_flops",
        id="prefill_selected_flops",
        title="Attention FLOPs of one new token of a prompt over selected entries, latent attention absorbed",
        names=_SELECTED,
        example=Example(
            given={"sparse_layers": "61", "query_heads": "128", "latent_dim": "512", "rope_dim": "64", "prefill_read_entries": "1948"},
            result="33.1 GFLOP",
        ),
    ),
    _prefill_equation(
        "selected_attention_flops_gqa_indexed",
        id="prefill_selected_flops_gqa_indexed",
        title="Attention FLOPs of one new token of a prompt over selected entries, grouped queries or compressed entries",
        names=_SELECTED,
        example=Example(
            given={"sparse_layers": "57", "query_heads": "64", "head_dim": "128", "prefill_read_entries": "1948"},
            result="3.638 GFLOP",
        ),
    ),
    Equation(
        id="architecture.prefill_attention_of_prompt",
        title="Attention FLOPs of one new token of a prompt, dense attention",
        defines="prefill_attention_flops_per_token",
        variant=Variant(group=_GROUP, name="dense", default=True),
        relation=lambda prefill_attention_flops_per_token, prefill_attention_flops_per_pair, cached_tokens, uncached_tokens: (
            prefill_attention_flops_per_token,
            prefill_attention_flops_per_pair * (cached_tokens + uncached_tokens / 2),
        ),
        statement="A new token attends to all cached tokens, and on average to half of the new tokens.",
        assumptions=("dense attention in every layer that attends", *_PLACES),
        example=Example(
            given={"prefill_attention_flops_per_pair": "8.258 MFLOP/token", "cached_tokens": "3600", "uncached_tokens": "2400"},
            result="39.64 GFLOP",
        ),
        derivation=lambda: (
            Step(
                operation="a decoded token meets its context, a new one the mean place in the prompt",
                premises=(
                    _premise_at_mean("attention_flops_of_context", attention_flops_per_pair="prefill_attention_flops_per_pair"),
                ),
            ),
        ),
        sources=(KAPLAN_PAPER, ours("the mean over the places of a prompt. Chunks do not change it")),
    ),
    Equation(
        id="architecture.prefill_attention_with_windows",
        title="Attention FLOPs of one new token of a prompt, windows in some layers",
        defines="prefill_attention_flops_per_token",
        variant=Variant(group=_GROUP, name="windowed"),
        relation=lambda prefill_attention_flops_per_token, prefill_attention_flops_per_pair, cached_tokens, uncached_tokens,
            prefill_window_flops: (
            prefill_attention_flops_per_token,
            prefill_attention_flops_per_pair * (cached_tokens + uncached_tokens / 2) + prefill_window_flops,
        ),
        statement="Full layers attend to all cached tokens and half of the new ones, windowed layers to their window.",
        assumptions=("what linear layers do with their states is left out", *_PLACES),
        example=Example(
            given={
                "prefill_attention_flops_per_pair": "163.8 kFLOP/token",
                "cached_tokens": "12k",
                "uncached_tokens": "8000",
                "prefill_window_flops": "872.4 MFLOP",
            },
            result="3.493 GFLOP",
        ),
        derivation=lambda: (
            Step(
                operation="a decoded token meets its context, a new one the mean place in the prompt and the mean of what a window holds",
                premises=(
                    _premise_at_mean(
                        "attention_flops_with_windows",
                        attention_flops_per_pair="prefill_attention_flops_per_pair",
                        window_attention_flops="prefill_window_flops",
                    ),
                ),
            ),
        ),
        sources=(WINDOW_PAPER, ours("full layers and windows, added")),
    ),
    Equation(
        id="architecture.prefill_attention_mla_indexed",
        title="Attention FLOPs of one new token of a prompt, every layer selects",
        defines="prefill_attention_flops_per_token",
        variant=Variant(group=_GROUP, name="mla_indexed"),
        relation=lambda prefill_attention_flops_per_token, indexer_flops_per_pair, cached_tokens, uncached_tokens,
            prefill_selected_flops: (
            prefill_attention_flops_per_token,
            indexer_flops_per_pair * (cached_tokens + uncached_tokens / 2) + prefill_selected_flops,
        ),
        statement="The indexers score every pair of a token and an earlier one, and attention uses the selection of each token.",
        assumptions=(
            "every layer selects what it reads",
            "the indexer's arithmetic runs at the rate of attention",
            "selected latents are met as in decode, absorbed. Short prompts need less if all of them are expanded, behind a mask",
            *_PLACES,
        ),
        example=Example(
            given={
                "indexer_flops_per_pair": "999.4 kFLOP/token",
                "cached_tokens": "12k",
                "uncached_tokens": "8000",
                "prefill_selected_flops": "34.8 GFLOP",
            },
            result="50.79 GFLOP",
        ),
        derivation=lambda: (
            Step(
                operation="a decoded token's indexers score its context, a new one's the mean place in the prompt",
                premises=(
                    _premise_at_mean("attention_flops_mla_indexed", selected_attention_flops="prefill_selected_flops"),
                ),
            ),
        ),
        sources=(DSA_PAPER, ours("scores over all pairs and attention over the selections, added")),
    ),
    Equation(
        id="architecture.prefill_attention_gqa_indexed",
        title="Attention FLOPs of one new token of a prompt, all but a few layers select",
        defines="prefill_attention_flops_per_token",
        variant=Variant(group=_GROUP, name="gqa_indexed"),
        relation=lambda prefill_attention_flops_per_token, indexer_flops_per_pair, flop_per_mac_and_token, layers, sparse_layers,
            query_heads, head_dim, cached_tokens, uncached_tokens, prefill_selected_flops: (
            prefill_attention_flops_per_token,
            (indexer_flops_per_pair + flop_per_mac_and_token * (layers - sparse_layers) * query_heads * 2 * head_dim)
            * (cached_tokens + uncached_tokens / 2)
            + prefill_selected_flops,
        ),
        requires=(Requirement(holds=lambda layers, sparse_layers: layers >= sparse_layers),),
        statement="Dense layers and indexers process every earlier token, sparse layers the selection of each token.",
        assumptions=("the indexer's arithmetic runs at the rate of attention", *_PLACES),
        example=Example(
            given={
                "indexer_flops_per_pair": "58.37 kFLOP/token",
                "layers": "60",
                "sparse_layers": "57",
                "query_heads": "64",
                "head_dim": "128",
                "cached_tokens": "12k",
                "uncached_tokens": "8000",
                "prefill_selected_flops": "3.825 GFLOP",
            },
            result="6.332 GFLOP",
        ),
        derivation=lambda: (
            Step(
                operation="a decoded token's indexers and dense layers meet its context, a new one's the mean place in the prompt",
                premises=(
                    _premise_at_mean("attention_flops_gqa_indexed", selected_attention_flops="prefill_selected_flops"),
                ),
            ),
        ),
        sources=(MSA_CONFIG, ours("scores and dense layers over all pairs, and selections, added")),
    ),
    Equation(
        id="architecture.prefill_attention_compressed",
        title="Attention FLOPs of one new token of a prompt, tokens compressed into shared entries",
        defines="prefill_attention_flops_per_token",
        variant=Variant(group=_GROUP, name="compressed"),
        relation=lambda prefill_attention_flops_per_token, indexer_flops_per_pair, flop_per_mac_and_token, heavily_compressed_layers,
            query_heads, head_dim, heavy_compression_ratio, cached_tokens, uncached_tokens, prefill_selected_flops,
            prefill_window_flops: (
            prefill_attention_flops_per_token,
            (
                indexer_flops_per_pair
                + flop_per_mac_and_token * heavily_compressed_layers * query_heads * 2 * head_dim / heavy_compression_ratio
            )
            * (cached_tokens + uncached_tokens / 2)
            + prefill_selected_flops
            + prefill_window_flops,
        ),
        statement="Indexers and heavily compressed layers process one entry for every few earlier tokens. Selections and windows"
                  " stop growing.",
        assumptions=("tokens not yet compressed are left out", "the indexer's arithmetic runs at the rate of attention", *_PLACES),
        example=Example(
            given={
                "indexer_flops_per_pair": "122.9 kFLOP/token",
                "heavily_compressed_layers": "31",
                "query_heads": "128",
                "head_dim": "512",
                "heavy_compression_ratio": "128",
                "cached_tokens": "12k",
                "uncached_tokens": "8000",
                "prefill_selected_flops": "8.053 GFLOP",
                "prefill_window_flops": "2.047 GFLOP",
            },
            result="13.08 GFLOP",
        ),
        derivation=lambda: (
            Step(
                operation="a decoded token attends to the entries of its context, a new one to the entries of the mean position in the"
                          " prompt",
                premises=(
                    _premise_at_mean(
                        "attention_flops_compressed",
                        selected_attention_flops="prefill_selected_flops",
                        window_attention_flops="prefill_window_flops",
                    ),
                ),
            ),
        ),
        sources=(COMPRESSED_DOCS, ours("scores, heavily compressed layers, selections and windows, added")),
    ),
)
