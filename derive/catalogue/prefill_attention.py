"""Architecture, continued: attention FLOPs of prefill, the mean over the new tokens of a prompt.

A new token attends to the tokens before it: all cached ones, and on average half of the new ones. Means are integrals over the
place in the prompt, not sums over whole tokens: a token attends to half of itself.
"""

from typing import Any

from derive.catalogue.arithmetic import maximum, minimum
from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, KAPLAN_PAPER, MLA_PAPER, WINDOW_PAPER, ours
from derive.records import Equation, Step, Variant, at

_PLACES = (
    "the mean is an integral over the positions in the prompt, not a sum over tokens",
    "all prompts have the same length and the same cached part",
)


def mean_met(limit: Any, cached_tokens: Any, uncached_tokens: Any) -> Any:
    """Return the mean number of tokens that a new token attends to: the tokens before it, up to a limit.

    >>> mean_met(100, 0, 50), mean_met(100, 0, 200), mean_met(100, 80, 40), mean_met(100, 300, 50)
    (25.0, 75.0, 95.0, 100.0)
    """
    before_it = minimum(maximum(limit, cached_tokens) - cached_tokens, uncached_tokens)
    return (before_it * (cached_tokens + before_it / 2) + (uncached_tokens - before_it) * limit) / uncached_tokens


PREFILL_ATTENTION = (
    Equation(
        id="architecture.prefill_attention_flops_mla",
        changes=("counts kv_layers, which are all layers unless given",),
        title="Attention FLOPs of prefill per query and context token, latent attention",
        variant=Variant(group="prefill_attention_flops_per_pair", name="mla", holds_for=("mla_hybrid",)),
        relation=lambda prefill_attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, nope_dim, rope_dim, value_dim: (
            prefill_attention_flops_per_pair,
            flop_per_mac_and_token * kv_layers * query_heads * (nope_dim + rope_dim + value_dim),
        ),
        statement="Prefill expands the latent for every head: keys are nope_dim + rope_dim wide, and values are value_dim wide.",
        assumptions=("dense attention", "the latent is expanded, as in prefill"),
        result="4.997 MFLOP/token",
        derivation=lambda: (
            Step(
                operation="the expanded form, even if decode uses another form",
                premises=(at("architecture.attention_flops_mla", attention_flops_per_pair="prefill_attention_flops_per_pair"),),
            ),
        ),
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.prefill_window_tokens",
        title="Window tokens that a new token of a prompt attends to",
        relation=lambda prefill_window_tokens, window_tokens, cached_tokens, uncached_tokens: (
            prefill_window_tokens,
            mean_met(window_tokens, cached_tokens, uncached_tokens),
        ),
        statement="A token attends to all tokens before it, at most as many as the window has.",
        assumptions=_PLACES,
        given={"window_tokens": "1024", "cached_tokens": "500", "uncached_tokens": "1000"},
        result="886.7 tokens",
        sources=(WINDOW_PAPER, ours("the mean of the smaller of window and position")),
    ),
    Equation(
        id="architecture.prefill_read_entries",
        changes=("an entry may stand for several tokens",),
        title="Entries a sparse layer reads for a new token of a prompt",
        relation=lambda prefill_read_entries, selected_entries, entry_per_token, sparse_compression_ratio, cached_tokens,
            uncached_tokens: (
            prefill_read_entries,
            entry_per_token
            * mean_met(selected_entries * sparse_compression_ratio / entry_per_token, cached_tokens, uncached_tokens)
            / sparse_compression_ratio,
        ),
        statement="A token reads all entries before it, at most as many as its selection.",
        assumptions=(*_PLACES, "tokens that are not yet compressed are left out"),
        given={"cached_tokens": "2000", "uncached_tokens": "6000"},
        result="932.5",
        sources=(DSA_PAPER, COMPRESSED_DOCS, ours("the mean of the smaller of selection and position")),
    ),
    Equation(
        id="architecture.prefill_attention_of_prompt",
        changes=("windows and selected entries are terms of one sum, and are 0 in models without them",),
        title="Attention FLOPs of one new token of a prompt",
        relation=lambda prefill_attention_flops_per_token, prefill_attention_flops_per_pair, cached_tokens, uncached_tokens,
            window_flops_per_token, prefill_window_tokens, selected_flops_per_entry, prefill_read_entries: (
            prefill_attention_flops_per_token,
            prefill_attention_flops_per_pair * (cached_tokens + uncached_tokens / 2)
            + window_flops_per_token * prefill_window_tokens
            + selected_flops_per_entry * prefill_read_entries,
        ),
        unsaid=("window_flops_per_token", "selected_flops_per_entry"),
        statement="A new token attends to all cached tokens and on average to half of the new tokens. It also attends to its window and"
                  " to its selected entries.",
        assumptions=("the FLOPs of linear layers with their states are left out", *_PLACES),
        given={
            "prefill_attention_flops_per_pair": "184.3 kFLOP/token", "cached_tokens": "12k", "uncached_tokens": "8000",
            "prefill_window_tokens": "128", "prefill_read_entries": "1024",
        },
        result="13.05 GFLOP",
        sources=(KAPLAN_PAPER, ours("the mean over the positions of a prompt. Chunks do not change it")),
    ),
)
