"""Architecture, continued: attention FLOPs of prefill, where they are not those of decode."""

from derive.catalogue.sources import MLA_PAPER, ours
from derive.records import Equation, Step, at

PREFILL_ATTENTION = (
    Equation(
        id="architecture.prefill_attention_flops",
        title="Attention FLOPs of prefill per query and context token, those of decode",
        defines="prefill_attention_flops_per_pair",
        variant=("prefill_attention_flops_per_pair", "same", True),
        relation=lambda prefill_attention_flops_per_pair, attention_flops_per_pair: (
            prefill_attention_flops_per_pair,
            attention_flops_per_pair,
        ),
        statement="Where keys and values are kept as attention takes them, a prompt token does what a decoded one does.",
        assumptions=("nothing is expanded in prefill: true of grouped queries, untrue of a latent cache",),
        sources=(ours("one product with keys and one with values in either phase"),),
    ),
    *(
        Equation(
            id=f"architecture.prefill_attention_flops_{name}",
            title=f"Attention FLOPs of prefill per query and context token, {words}",
            defines="prefill_attention_flops_per_pair",
            variant=("prefill_attention_flops_per_pair", name, False),
            relation=relation,
            statement="Prefill expands the latent into keys of nope_dim + rope_dim and values of value_dim for every head.",
            assumptions=("dense attention", "the latent is expanded, as in prefill", *more),
            steps=(
                Step(
                    operation="the expanded form, whatever decode does",
                    premises=(
                        at(f"architecture.attention_flops_{name}", attention_flops_per_pair="prefill_attention_flops_per_pair"),
                    ),
                ),
            ),
            sources=(MLA_PAPER,),
        )
        for name, words, more, relation in (
            (
                "mla",
                "latent attention",
                (),
                lambda prefill_attention_flops_per_pair, flop_per_mac_and_token, layers, query_heads, nope_dim, rope_dim, value_dim: (
                    prefill_attention_flops_per_pair,
                    flop_per_mac_and_token * layers * query_heads * (nope_dim + rope_dim + value_dim),
                ),
            ),
            (
                "mla_hybrid",
                "latent attention on only some layers",
                ("the slope at long context",),
                lambda prefill_attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, nope_dim, rope_dim, value_dim: (
                    prefill_attention_flops_per_pair,
                    flop_per_mac_and_token * kv_layers * query_heads * (nope_dim + rope_dim + value_dim),
                ),
            ),
        )
    ),
)
