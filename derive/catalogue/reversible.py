"""Reversible: Feistel ciphers, RevNets, and memory bought with compute (lecture, 2:03:50 to the end)."""

from derive.catalogue.sources import CHECKPOINT_PAPER, REVNET_PAPER, ours, talk
from derive.records import Equation, Step, Variant, at

EQUATIONS = (
    Equation(
        id="reversible.feistel",
        title="A round of a Feistel network, or a RevNet layer",
        relation=lambda mixed_half, right_half, round_function: (mixed_half, right_half + round_function),
        statement="(x, y) becomes (x, y + f(x)). Since x is unchanged, f(x) can be subtracted again, for any f. A RevNet layer swaps the"
                  " halves: x' = y + f(x), and back y = x' - f(y').",
        assumptions=("quantities here are positive, but the identity is also true for other numbers",),
        given={"right_half": "0.75", "round_function": "0.4"},
        result="1.15",
        sources=(
            talk("2:08:41", "2:10:01", "the inverse subtracts the same function of the half that was kept"),
            REVNET_PAPER,
            talk("2:11:08", "2:11:56", "y is x' minus f of y', so the backward pass can compute its inputs again"),
        ),
    ),
    Equation(
        id="reversible.activation_memory",
        title="Activations stored for the backward pass",
        variant=Variant(group="activation_bytes", name="stored", default=True),
        relation=lambda activation_bytes, activation_per_token, layers, tokens_in_training_batch, model_dim,
            activations_per_width, bytes_per_activation: (
            activation_bytes,
            activation_per_token * layers * tokens_in_training_batch * model_dim * activations_per_width * bytes_per_activation,
        ),
        statement="Every layer stores its inputs until the backward pass. It is proportional to the depth, and can be most of the memory.",
        assumptions=("no activations are recomputed",),
        given={"layers": "48", "model_dim": "4096"},
        result="54.76 GB",
        sources=(
            talk(
                "2:12:05", "2:12:46", "training memory is linear in layers and can be the largest footprint",
                "the usual formula. The activations of a layer are an input",
            ),
        ),
    ),
    Equation(
        id="reversible.activation_memory_reversible",
        title="Activations stored by a reversible network",
        variant=Variant(group="activation_bytes", name="reversible"),
        relation=lambda activation_bytes, activation_per_token, tokens_in_training_batch, model_dim, activations_per_width,
            bytes_per_activation: (
            activation_bytes,
            activation_per_token * tokens_in_training_batch * model_dim * activations_per_width * bytes_per_activation,
        ),
        statement="Only the activations of one layer are stored. All others are recomputed backwards from the output, at any depth.",
        assumptions=("every layer is reversible",),
        given={"model_dim": "4096"},
        result="1.141 GB",
        derivation=lambda: (
            Step(
                operation="the same as for a model with one layer",
                premises=(at("reversible.activation_memory", layers=1),),
            ),
        ),
        sources=(REVNET_PAPER, talk("2:12:05", "2:12:46", "a reversible network need not store them")),
    ),
    Equation(
        id="reversible.training_cost",
        title="FLOPs of pre-training if every layer is computed twice, reversible or recomputed",
        variant=Variant(group="pretrain_flops", name="reversible", holds_for=("recomputed",)),
        relation=lambda pretrain_flops, one_flop_per_token, active_params, pretrain_tokens: (
            pretrain_flops,
            8 * one_flop_per_token * active_params * pretrain_tokens,
        ),
        statement="The backward pass recomputes the forward pass layer by layer. This uses compute to save memory. A KV cache does the"
                  " opposite.",
        assumptions=("attention FLOPs are left out", "every layer is reversible"),
        given={"active_params": "7B", "pretrain_tokens": "2T"},
        result="1.12e+23 FLOP",
        derivation=lambda: (
            Step(
                operation="without the pass that recomputes the activations, the cost equals that of training with stored activations",
                premises=(
                    at(
                        "training.pretrain_cost",
                        pretrain_flops=lambda pretrain_flops, flop_per_mac_and_token, active_params, pretrain_tokens: (
                            pretrain_flops - flop_per_mac_and_token * active_params * pretrain_tokens
                        ),
                    ),
                ),
            ),
        ),
        sources=(
            CHECKPOINT_PAPER,
            REVNET_PAPER,
            ours("two more FLOPs per parameter and token. The lecture ends: the KV cache, the opposite trade, is usually profitable"),
        ),
    ),
)
