"""Architecture, continued: parameters counted from the dimensions of a model, if their number is not published."""

from derive.catalogue.sources import LLAMA_REFERENCE, MIXTRAL_PAPER, MLA_PAPER, MOE_PAPER, ours
from derive.records import Equation, Step, Variant, at
from derive.requirements import Requirement

_SMALL_PARTS = "norms and biases left out: they are a ten-thousandth"
_GATED = "feed-forward parts are gated, of three matrices: of a plain one with two, give two thirds of its width"
_UNTIED = "the vocabulary has a matrix at the entrance and one at the exit: where they are one and the same, give half of its tokens"
_VOCABULARY = "the vocabulary is counted at both ends, though a token looks up one row at the entrance"
_MIXTURE = Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token uses a part of all experts")
_LAYERS = Requirement(holds=lambda moe_layers, layers: moe_layers <= layers, otherwise="layers with experts are a part of all layers")
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
        statement="Queries and the output have a matrix for every query head, keys and values one for every KV head.",
        assumptions=("keys and values are equally wide", _SMALL_PARTS),
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
        statement="Queries go through a latent, keys and values through another and the shared rotary key, and the heads to the output.",
        assumptions=(_SMALL_PARTS,),
        given={"model_dim": "7168", "query_latent_dim": "1536"},
        result="187.1M",
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.total_params_dense",
        title="Parameters of a dense model",
        variant=Variant(group="total_params", name="dense", default=True),
        stand_in=True,
        relation=lambda total_params, vocab_size, model_dim, layers, attention_params_per_layer, ffn_dim: (
            total_params,
            2 * vocab_size * model_dim + layers * (attention_params_per_layer + 3 * model_dim * ffn_dim),
        ),
        statement="The vocabulary at both ends, and in every layer attention and three matrices of the feed-forward part.",
        assumptions=("every layer is alike", _GATED, _UNTIED, _SMALL_PARTS),
        result="405.8B",
        sources=(LLAMA_REFERENCE,),
    ),
    Equation(
        id="architecture.total_params_moe",
        title="Parameters of a mixture of experts",
        variant=Variant(group="total_params", name="moe"),
        stand_in=True,
        relation=lambda total_params, vocab_size, model_dim, layers, attention_params_per_layer, moe_layers, ffn_dim, moe_ffn_dim,
            experts, shared_experts: (
            total_params,
            2 * vocab_size * model_dim
            + layers * attention_params_per_layer
            + (layers - moe_layers) * 3 * model_dim * ffn_dim
            + moe_layers * model_dim * (3 * moe_ffn_dim * (experts + shared_experts) + experts),
        ),
        requires=(_LAYERS,),
        statement="As for a dense model, but some layers have experts and their router instead of the feed-forward part.",
        assumptions=("experts are of one size, shared ones among them", _GATED, _UNTIED, _SMALL_PARTS),
        given=_OF_MIXTURE,
        result="235.7B",
        sources=(MOE_PAPER, ours("the matrices of a mixture, counted")),
    ),
    Equation(
        id="architecture.active_params_dense",
        title="Active parameters of a dense model",
        variant=Variant(group="active_params", name="dense", default=True),
        stand_in=True,
        relation=lambda active_params, vocab_size, model_dim, layers, attention_params_per_layer, ffn_dim: (
            active_params,
            2 * vocab_size * model_dim + layers * (attention_params_per_layer + 3 * model_dim * ffn_dim),
        ),
        statement="A token uses all of them.",
        assumptions=("no experts", _VOCABULARY, "every layer is alike", _GATED, _UNTIED, _SMALL_PARTS),
        result="405.8B",
        derivation=lambda: (
            Step(operation="all parameters", premises=(at("architecture.total_params_dense", total_params="active_params"),)),
        ),
        sources=(LLAMA_REFERENCE,),
    ),
    Equation(
        id="architecture.active_params_moe",
        title="Active parameters of a mixture of experts",
        variant=Variant(group="active_params", name="moe"),
        stand_in=True,
        relation=lambda active_params, vocab_size, model_dim, layers, attention_params_per_layer, moe_layers, ffn_dim, moe_ffn_dim,
            experts, active_experts, shared_experts: (
            active_params,
            2 * vocab_size * model_dim
            + layers * attention_params_per_layer
            + (layers - moe_layers) * 3 * model_dim * ffn_dim
            + moe_layers * model_dim * (3 * moe_ffn_dim * (active_experts + shared_experts) + experts),
        ),
        requires=(_MIXTURE, _LAYERS),
        statement="A token uses all parameters except the routed experts that it does not go to.",
        assumptions=(
            "experts are of one size, shared ones among them",
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
                        "architecture.total_params_moe",
                        total_params=lambda active_params, moe_layers, model_dim, moe_ffn_dim, experts, active_experts: (
                            active_params + moe_layers * model_dim * 3 * moe_ffn_dim * (experts - active_experts)
                        ),
                    ),
                ),
            ),
        ),
        sources=(MIXTRAL_PAPER,),
    ),
)
