"""Training, continued: the memory of a chip during training, and the cost of computing activations again.

`activation_bytes` are the bytes of one microbatch through all layers. The schedule of the pipeline determines the number of
microbatches that a chip stores at once, and the number of their layers.
"""

from derive.catalogue.sources import MEGATRON_PAPER, RECOMPUTATION_PAPER, ZERO_PAPER, ours
from derive.records import BOUND, Equation, Requirement, Step, Variant, at

_MODEL_PARALLEL = "the chips and stages of one copy of the model share its parameters evenly"
_HALF_PRECISION = (
    "bf16 activations with dropout masks, an MLP four times as wide as the model, and as many key and value heads as query heads"
)
_ALL_SHARDED = "the chips of a stage share all activations. This needs sequence parallelism in addition to tensor parallelism"

MEMORY = (
    Equation(
        id="training.state_bytes",
        title="Bytes of parameters, gradients and optimizer states on one chip",
        variant=Variant(group="training_state_bytes_per_chip", name="replicated", default=True),
        relation=lambda training_state_bytes_per_chip, total_params, bytes_per_weight, gradient_bytes_per_param,
            optimizer_bytes_per_param, chips, pipeline_stages: (
            training_state_bytes_per_chip,
            total_params * (bytes_per_weight + gradient_bytes_per_param + optimizer_bytes_per_param) / (chips * pipeline_stages),
        ),
        statement="Every copy of the model stores its weights, their gradients and the optimizer states.",
        assumptions=(_MODEL_PARALLEL, "copies that train on different data share no states: no ZeRO, no FSDP"),
        given={"bytes_per_weight": "2", "chips": "8", "pipeline_stages": "16"},
        result="50.62 GB",
        sources=(ZERO_PAPER,),
    ),
    Equation(
        id="training.state_bytes_zero_1",
        title="State bytes on one chip, optimizer states shared between copies",
        variant=Variant(group="training_state_bytes_per_chip", name="zero_1"),
        relation=lambda training_state_bytes_per_chip, total_params, bytes_per_weight, gradient_bytes_per_param,
            optimizer_bytes_per_param, data_parallel, chips, pipeline_stages: (
            training_state_bytes_per_chip,
            total_params
            * (bytes_per_weight + gradient_bytes_per_param + optimizer_bytes_per_param / data_parallel)
            / (chips * pipeline_stages),
        ),
        requires=(Requirement(holds=lambda data_parallel: data_parallel >= 1),),
        statement="ZeRO-1: each copy stores and updates its own part of the optimizer states.",
        assumptions=(_MODEL_PARALLEL,),
        given={"bytes_per_weight": "2", "chips": "8", "pipeline_stages": "16"},
        result="12.95 GB",
        derivation=lambda: (
            Step(
                operation="a copy stores its part of the optimizer states",
                premises=(
                    at(
                        "training.state_bytes",
                        optimizer_bytes_per_param=lambda optimizer_bytes_per_param, data_parallel: (
                            optimizer_bytes_per_param / data_parallel
                        ),
                    ),
                ),
            ),
        ),
        sources=(ZERO_PAPER,),
    ),
    Equation(
        id="training.state_bytes_zero_2",
        title="State bytes on one chip, gradients shared between copies as well",
        variant=Variant(group="training_state_bytes_per_chip", name="zero_2"),
        relation=lambda training_state_bytes_per_chip, total_params, bytes_per_weight, gradient_bytes_per_param,
            optimizer_bytes_per_param, data_parallel, chips, pipeline_stages: (
            training_state_bytes_per_chip,
            total_params
            * (bytes_per_weight + (gradient_bytes_per_param + optimizer_bytes_per_param) / data_parallel)
            / (chips * pipeline_stages),
        ),
        requires=(Requirement(holds=lambda data_parallel: data_parallel >= 1),),
        statement="ZeRO-2: each copy also stores only its part of the gradients, where the update needs them.",
        assumptions=(_MODEL_PARALLEL,),
        given={"bytes_per_weight": "2", "chips": "8", "pipeline_stages": "16"},
        result="6.674 GB",
        derivation=lambda: (
            Step(
                operation="a copy stores its part of the gradients",
                premises=(
                    at(
                        "training.state_bytes_zero_1",
                        gradient_bytes_per_param=lambda gradient_bytes_per_param, data_parallel: gradient_bytes_per_param / data_parallel,
                    ),
                ),
            ),
        ),
        sources=(ZERO_PAPER,),
    ),
    Equation(
        id="training.state_bytes_zero_3",
        title="State bytes on one chip, weights shared between copies as well",
        variant=Variant(group="training_state_bytes_per_chip", name="zero_3"),
        relation=lambda training_state_bytes_per_chip, total_params, bytes_per_weight, gradient_bytes_per_param,
            optimizer_bytes_per_param, data_parallel, chips, pipeline_stages: (
            training_state_bytes_per_chip,
            total_params
            * (bytes_per_weight + gradient_bytes_per_param + optimizer_bytes_per_param)
            / (data_parallel * chips * pipeline_stages),
        ),
        requires=(Requirement(holds=lambda data_parallel: data_parallel >= 1),),
        statement="ZeRO-3, or FSDP: each copy also stores only its part of the weights. When a layer is used, its weights are gathered.",
        assumptions=(_MODEL_PARALLEL, "the memory of the gathered layer is left out"),
        given={"bytes_per_weight": "2", "chips": "8", "pipeline_stages": "16"},
        result="395.5 MB",
        derivation=lambda: (
            Step(
                operation="a copy stores its part of the weights",
                premises=(
                    at(
                        "training.state_bytes_zero_2",
                        bytes_per_weight=lambda bytes_per_weight, data_parallel: bytes_per_weight / data_parallel,
                    ),
                ),
            ),
        ),
        sources=(ZERO_PAPER,),
    ),
    Equation(
        id="training.checkpoint_bytes",
        title="Bytes of a checkpoint from which training continues",
        relation=lambda checkpoint_bytes, total_params, bytes_per_weight, optimizer_bytes_per_param: (
            checkpoint_bytes,
            total_params * (bytes_per_weight + optimizer_bytes_per_param),
        ),
        statement="A checkpoint contains weights and optimizer states. Gradients are recomputed.",
        assumptions=("one copy of the model is written, even if other chips have further copies",),
        given={"bytes_per_weight": "2"},
        result="5.67 TB",
        sources=(ZERO_PAPER, ours("the part of a run that cannot be recomputed from its data")),
    ),
    Equation(
        id="training.checkpoint_time",
        title="Time to write a checkpoint",
        relation=lambda checkpoint_time, checkpoint_bytes, tier_bandwidth: (checkpoint_time, checkpoint_bytes / tier_bandwidth),
        statement="The bytes of a checkpoint over the write bandwidth of the storage, all writers together.",
        assumptions=("writing to the storage is as fast as reading, and chips and network are not slower",),
        given={"checkpoint_bytes": "5.67 TB", "tier_bandwidth": "200 GB/s"},
        result="28.35 s",
        sources=(ours("bytes over bytes per second"),),
    ),
    Equation(
        id="training.activation_memory_transformer",
        title="Activations of transformer layers, attention scores kept",
        variant=Variant(group="activation_bytes", name="transformer"),
        relation=lambda activation_bytes, layers, tokens_in_training_batch, layer_activation_bytes, model_dim,
            score_activation_bytes, query_heads, training_sequence_length: (
            activation_bytes,
            layers
            * tokens_in_training_batch
            * (layer_activation_bytes * model_dim + score_activation_bytes * query_heads * training_sequence_length),
        ),
        statement="Every head stores a score, its softmax and a mask for each pair of tokens. It is quadratic in the length of a sequence.",
        assumptions=(_HALF_PRECISION, "embeddings and the output layer are left out", "scores are stored for all pairs, masked or not"),
        result="5.987 TB",
        derivation=lambda: (
            Step(
                operation="without the scores, the activations of a layer that recomputes them",
                premises=(
                    at(
                        "reversible.activation_memory",
                        activations_per_width=34,
                        bytes_per_activation=1,
                        activation_bytes=lambda activation_bytes, score_activation_bytes, layers, tokens_in_training_batch,
                            query_heads, training_sequence_length: (
                            activation_bytes
                            - score_activation_bytes * layers * tokens_in_training_batch * query_heads * training_sequence_length
                        ),
                    ),
                ),
            ),
        ),
        sources=(RECOMPUTATION_PAPER,),
    ),
    Equation(
        id="training.activation_bytes_per_chip_gpipe",
        title="Activations on one chip under GPipe",
        variant=Variant(group="activation_bytes_per_chip", name="gpipe"),
        relation=lambda activation_bytes_per_chip, activation_bytes, training_microbatches, chips, pipeline_stages: (
            activation_bytes_per_chip,
            activation_bytes * training_microbatches / (chips * pipeline_stages),
        ),
        requires=(Requirement(holds=lambda training_microbatches: training_microbatches >= 1),),
        statement="Every stage stores the activations of its layers for all microbatches before the first backward pass.",
        assumptions=("activation_bytes is for one microbatch, in all layers", _ALL_SHARDED),
        given={"chips": "8", "pipeline_stages": "16"},
        result="16.91 GB",
        sources=(ours("the microbatches that the schedule stores at once, each for the layers of one stage"),),
    ),
    Equation(
        id="training.activation_bytes_per_chip",
        title="Activations on one chip of the first stage under 1F1B",
        variant=Variant(group="activation_bytes_per_chip", name="1f1b", default=True),
        relation=lambda activation_bytes_per_chip, activation_bytes, chips: (activation_bytes_per_chip, activation_bytes / chips),
        statement="With more stages, a stage has fewer layers but stores more microbatches. So the stages cancel, as for the KV cache.",
        assumptions=(
            "activation_bytes is for one microbatch, in all layers",
            "a training step has at least as many microbatches as stages. The first stage stores one per stage, later stages store fewer",
            _ALL_SHARDED,
        ),
        given={"chips": "8"},
        result="4.228 GB",
        derivation=lambda: (
            Step(
                operation="the first stage stores one microbatch per stage",
                premises=(at("training.activation_bytes_per_chip_gpipe", training_microbatches="pipeline_stages"),),
            ),
        ),
        sources=(RECOMPUTATION_PAPER,),
    ),
    Equation(
        id="training.activation_bytes_per_chip_interleaved",
        title="Activations on one chip of the first stage under interleaved 1F1B",
        variant=Variant(group="activation_bytes_per_chip", name="interleaved"),
        relation=lambda activation_bytes_per_chip, activation_bytes, pipeline_stages, virtual_stages, chips: (
            activation_bytes_per_chip,
            activation_bytes * (1 + (pipeline_stages - 1) / (pipeline_stages * virtual_stages)) / chips,
        ),
        requires=(
            Requirement(holds=lambda pipeline_stages: pipeline_stages > 1),
            Requirement(holds=lambda virtual_stages: virtual_stages >= 1),
        ),
        statement="More passes are in flight, so more activations are stored. The bubble is shorter in return.",
        assumptions=(
            "activation_bytes is for one microbatch, in all layers",
            "a training step has at least twice as many microbatches as stages",
            "the schedule of Megatron, in which even a single virtual stage runs further ahead than plain 1F1B",
            _ALL_SHARDED,
        ),
        given={"pipeline_stages": "16", "chips": "8"},
        result="5.218 GB",
        derivation=lambda: (
            Step(
                operation="stores one microbatch per stage, and all short passes except one in addition",
                premises=(
                    at(
                        "training.activation_bytes_per_chip_gpipe",
                        training_microbatches=lambda pipeline_stages, virtual_stages: (
                            pipeline_stages + (pipeline_stages - 1) / virtual_stages
                        ),
                    ),
                ),
            ),
        ),
        sources=(RECOMPUTATION_PAPER, MEGATRON_PAPER),
    ),
    Equation(
        id="training.memory_per_chip",
        title="Memory demand of one chip in training",
        relation=lambda training_memory_per_chip, training_state_bytes_per_chip, activation_bytes_per_chip: (
            training_memory_per_chip,
            training_state_bytes_per_chip + activation_bytes_per_chip,
        ),
        statement="The training states, plus the activations that are stored for the backward pass.",
        assumptions=("communication buffers and fragmentation are left out",),
        given={"training_state_bytes_per_chip": "12.95 GB", "activation_bytes_per_chip": "4.228 GB"},
        result="17.18 GB",
        sources=(ZERO_PAPER, RECOMPUTATION_PAPER),
    ),
    Equation(
        id="training.memory_fits",
        title="The memory demand of training fits",
        kind=BOUND,
        relation=lambda training_memory_per_chip, hbm_capacity: (training_memory_per_chip, hbm_capacity),
        sense="<=",
        statement="A chip stores at most as many bytes as it has memory.",
        assumptions=("no state is moved to the memory of the host",),
        result="80 GB",
        sources=(ZERO_PAPER,),
    ),
)
