"""Architecture, continued: parameters counted from the dimensions of a model, if their number is not published."""

from derive.catalogue.sources import LLAMA_REFERENCE, MIXTRAL_PAPER, MLA_PAPER, MOE_PAPER, ours
from derive.records import Equation, Requirement, Step, Variant, at

_SMALL_PARTS = "norms and biases are left out: about one parameter in ten thousand"
_GATED = "feed-forward layers are gated and have three matrices. For a plain layer with two matrices, give two thirds of its width"
_UNTIED = (
    "the vocabulary has two matrices, one at the input and one at the output. If both are the same matrix, give half of the vocabulary"
)
_ALIKE = "layers are equal, apart from their experts. All experts have the same size, shared experts included"
_VOCABULARY = "both vocabulary matrices count, although a token reads only one row at the input"
_MIXTURE = Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token never uses all experts")
_LAYERS = Requirement(holds=lambda moe_layers, layers: moe_layers <= layers, otherwise="more layers with experts than layers")
_OF_MIXTURE = {
    "vocab_size": "102400", "model_dim": "5120", "layers": "60", "attention_params_per_layer": "149.2M", "moe_layers": "59",
    "ffn_dim": "12288", "experts": "160",
}

COUNTS = (
    Equation(
        id="architecture.attention_params",
        title="Parameters of a layer's attention, grouped queries",
        variant=Variant(group="attention_params_per_layer", name="gqa", default=True),
        relation=lambda attention_params_per_layer, model_dim, head_dim, query_heads, kv_heads: (
            attention_params_per_layer,
            2 * model_dim * head_dim * (query_heads + kv_heads),
        ),
        statement="Queries and the output have one matrix for each query head. Keys and values have one for each KV head.",
        assumptions=("keys and values have the same width", _SMALL_PARTS),
        given={"head_dim": "128", "kv_heads": "8"},
        result="570.4M",
        sources=(LLAMA_REFERENCE,),
    ),
    Equation(
        id="architecture.attention_params_mla",
        title="Parameters of a layer's attention, latents of keys, values and queries",
        variant=Variant(group="attention_params_per_layer", name="mla"),
        relation=lambda attention_params_per_layer, model_dim, query_latent_dim, query_heads, nope_dim, rope_dim, latent_dim, value_dim: (
            attention_params_per_layer,
            model_dim * query_latent_dim
            + query_latent_dim * query_heads * (nope_dim + rope_dim)
            + model_dim * (latent_dim + rope_dim)
            + latent_dim * query_heads * (nope_dim + value_dim)
            + query_heads * value_dim * model_dim,
        ),
        statement="Queries have a latent. Keys and values have another latent and the shared rotary key. The heads have an output matrix.",
        assumptions=(_SMALL_PARTS,),
        given={"model_dim": "7168", "query_latent_dim": "1536"},
        result="187.1M",
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.total_params",
        title="Parameters of a model",
        stand_in=True,
        relation=lambda total_params, vocab_size, model_dim, layers, attention_params_per_layer, moe_layers, ffn_dim, moe_ffn_dim,
            experts, shared_experts: (
            total_params,
            2 * vocab_size * model_dim
            + layers * attention_params_per_layer
            + (layers - moe_layers) * 3 * model_dim * ffn_dim
            + moe_layers * model_dim * (3 * moe_ffn_dim * (experts + shared_experts) + experts),
        ),
        unsaid=("moe_layers",),
        requires=(_LAYERS,),
        statement="The vocabulary at input and output. Every layer adds attention and three matrices of a feed-forward layer, or experts"
                  " and a router.",
        assumptions=(_ALIKE, _GATED, _UNTIED, _SMALL_PARTS),
        given=_OF_MIXTURE,
        result="235.7B",
        sources=(LLAMA_REFERENCE, MOE_PAPER, ours("the count of all matrices of a mixture of experts")),
    ),
    Equation(
        id="architecture.active_params",
        title="Active parameters of a model",
        stand_in=True,
        relation=lambda active_params, vocab_size, model_dim, layers, attention_params_per_layer, moe_layers, ffn_dim, moe_ffn_dim,
            experts, active_experts, shared_experts: (
            active_params,
            2 * vocab_size * model_dim
            + layers * attention_params_per_layer
            + (layers - moe_layers) * 3 * model_dim * ffn_dim
            + moe_layers * model_dim * (3 * moe_ffn_dim * (active_experts + shared_experts) + experts),
        ),
        unsaid=("moe_layers",),
        requires=(_MIXTURE, _LAYERS),
        statement="A token uses all parameters except the routed experts to which it is not sent.",
        assumptions=(
            _ALIKE,
            _VOCABULARY,
            _GATED,
            _UNTIED,
            _SMALL_PARTS,
        ),
        given={**_OF_MIXTURE, "active_experts": "6"},
        result="21.37B",
        derivation=lambda: (
            Step(
                operation="all parameters except unused experts",
                premises=(
                    at(
                        "architecture.total_params",
                        total_params=lambda active_params, moe_layers, model_dim, moe_ffn_dim, experts, active_experts: (
                            active_params + moe_layers * model_dim * 3 * moe_ffn_dim * (experts - active_experts)
                        ),
                    ),
                ),
            ),
        ),
        sources=(LLAMA_REFERENCE, MIXTRAL_PAPER),
    ),
)
