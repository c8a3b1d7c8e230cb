"""Memory: the bytes of weights and caches, over all chips and stages (lecture, 0:45:30 to 0:47:02 and 1:01:44 to 1:07:15).

Batch has two meanings: `sequences_in_flight` are all sequences with a cache in memory, over all stages. `batch`, in the other
chapters, is the sequences of one pass on the chips of one stage.
"""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.assumed import COPIES
from derive.catalogue.sources import GPT_OSS_CARD, SGLANG_DOCS, VLLM_DOCS, ours, scaling_book, talk
from derive.records import BOUND, CONDITION, UPPER, Equation, Requirement, Step, Variant, at

_SOME_IS_LEFT = Requirement(holds=lambda reserved_share: reserved_share < 1, otherwise="an engine must reserve less than all of the memory")
_ROOM_BESIDE_THE_WEIGHTS = (
    _SOME_IS_LEFT,
    Requirement(
        holds=lambda chips, pipeline_stages, hbm_capacity, reserved_share, weight_bytes: (
            chips * hbm_capacity * pipeline_stages * (1 - reserved_share) > weight_bytes
        ),
        otherwise="the weights alone do not fit",
    ),
)

EQUATIONS = (
    Equation(
        id="memory.weight_bytes",
        title="Bytes of the weights",
        variant=Variant(group="weight_time", name="sharded", default=True),
        relation=lambda weight_bytes, total_params, bytes_per_weight: (weight_bytes, total_params * bytes_per_weight),
        statement="Memory contains all parameters, active or not. So sparsity costs memory capacity.",
        assumptions=("no weight is stored twice",),
        result="405 GB",
        sources=(
            talk("0:30:44", "0:31:25", "doubling sparsity costs memory capacity"),
            talk("1:01:44", "1:01:58", "a trillion parameters is a terabyte", "bytes per weight are in the equation"),
        ),
    ),
    Equation(
        id="memory.weight_bytes_touched",
        changes=(
            "the weights that every token uses are stored once in each attention replica",
            "experts and other weights may have different data types",
        ),
        title="Bytes of the weights of a mixture of experts",
        variant=Variant(group="weight_time", name="touched", holds_for=("mixed",)),
        relation=lambda weight_bytes, total_params, bytes_per_weight, attention_replicas, shared_params, shared_bytes_per_weight: (
            weight_bytes,
            total_params * bytes_per_weight + (attention_replicas - 1) * shared_params * shared_bytes_per_weight,
        ),
        unsaid=("attention_replicas",),
        statement="All weights at their mean bytes, plus each further copy of the weights outside the experts at their own bytes.",
        assumptions=("no expert is stored twice", "all experts have one data type, and all other weights have one"),
        given={"total_params": "671B", "bytes_per_weight": "0.5369"},
        result="459.3 GB",
        sources=(talk("0:30:44", "0:31:25", "doubling sparsity costs memory capacity"), GPT_OSS_CARD, SGLANG_DOCS),
    ),
    Equation(
        id="memory.weight_bytes_replicated",
        title="Bytes of the weights of a dense model with copies of its attention",
        variant=Variant(group="weight_time", name="replicated"),
        relation=lambda weight_bytes, total_params, attention_replicas, layers, attention_params_per_layer, bytes_per_weight: (
            weight_bytes,
            (total_params + (attention_replicas - 1) * layers * attention_params_per_layer) * bytes_per_weight,
        ),
        unsaid=("attention_replicas",),
        statement="All weights, plus each further copy of the attention weights. Feed-forward layers are sharded over all chips.",
        assumptions=("attention has the same size in every layer", "vocabulary and norms are not copied"),
        given={"total_params": "70.55B", "attention_params_per_layer": "151M", "layers": "80", "bytes_per_weight": "1"},
        result="106.8 GB",
        sources=(SGLANG_DOCS,),
    ),
    Equation(
        id="memory.resident_weight_bytes",
        title="Weight bytes on each chip",
        relation=lambda resident_weight_bytes_per_chip, weight_bytes, chips, pipeline_stages: (
            resident_weight_bytes_per_chip,
            weight_bytes / (chips * pipeline_stages),
        ),
        statement="The weight bytes of all chips together, copies included, are the number of chips times the bytes of one chip.",
        assumptions=("every chip holds the same number of bytes",),
        given={"weight_bytes": "416 GB"},
        result="13 GB",
        sources=(scaling_book("DeepSeek-V3 in production holds about 22 GB of weights on each chip"),),
    ),
    Equation(
        id="memory.attention_on_every_chip",
        title="Copies of the weights outside the experts, with data-parallel attention",
        kind=CONDITION,
        relation=lambda attention_replicas, chips: (attention_replicas, chips),
        statement="Every chip computes attention for its own sequences. So it stores all weights outside the experts.",
        assumptions=("a condition: the attention of a sequence runs on one chip, and the experts are on all chips of a stage",),
        result="16",
        sources=(SGLANG_DOCS,),
    ),
    Equation(
        id="memory.kv_cache_bytes",
        changes=("counts the bytes of a sequence with windows and states, and the copies of a cache on the chips",),
        title="Bytes of the KV cache",
        relation=lambda kv_cache_bytes, sequences_in_flight, kv_bytes_per_sequence, kv_replication: (
            kv_cache_bytes,
            sequences_in_flight * kv_bytes_per_sequence * kv_replication,
        ),
        statement="Every sequence in flight has a cache. The total is for all stages.",
        assumptions=("sequences share no prefix", "equal context lengths, or their mean", COPIES),
        given={"sequences_in_flight": "128"},
        result="1.057 TB",
        sources=(talk("1:04:23", "1:07:15", "memory is total parameters plus batch times context times bytes per token"),),
    ),
    Equation(
        id="memory.most_kv_copies",
        changes=("not used for less than one chip, which also has one copy of a cache",),
        title="Largest number of copies of a cache",
        kind=BOUND,
        relation=lambda kv_replication, chips: (kv_replication, chips),
        sense="<=",
        requires=(Requirement(holds=lambda chips: chips >= 1, otherwise="a fraction of a chip stores one copy, like a whole chip"),),
        statement="A chip has at most one copy of a cache.",
        assumptions=("no chip holds two copies of the same cache",),
        result="16",
        sources=(ours("a second copy on one chip would never be read"),),
    ),
    Equation(
        id="memory.kv_copies_of_heads",
        changes=("the chips that share attention of a sequence are the chips of one copy of the weights outside the experts",),
        title="Copies of a cache under tensor parallelism",
        kind=CONDITION,
        variant=Variant(group="kv_replication", name="heads", default=True),
        relation=lambda kv_replication, chips, kv_heads, attention_replicas: (
            kv_replication,
            maximum(1, chips / (kv_heads * attention_replicas)),
        ),
        unsaid=("attention_replicas",),
        statement="The heads are divided over the chips. If there are fewer KV heads than chips, several chips store the same head.",
        assumptions=("a condition: attention of every sequence is divided by heads over all chips of a stage, and in no other way",),
        given={"attention_replicas": "2"},
        result="2",
        sources=(ours("chips per head: each of these chips stores and reads the head"),),
    ),
    Equation(
        id="memory.kv_copies_of_latents",
        changes=("the chips that share attention of a sequence are the chips of one copy of the weights outside the experts",),
        title="Copies of a latent cache under tensor parallelism",
        kind=CONDITION,
        variant=Variant(group="kv_replication", name="latents"),
        relation=lambda kv_replication, chips, attention_replicas: (kv_replication, chips / attention_replicas),
        unsaid=("attention_replicas",),
        requires=(Requirement(holds=lambda chips, attention_replicas: chips >= attention_replicas, otherwise="more copies than chips"),),
        statement="All heads use the same latent, so every chip with some of the heads stores it.",
        assumptions=("a condition: attention of every sequence is divided by heads over all chips of a stage, and in no other way",),
        given={"attention_replicas": "2"},
        result="8",
        derivation=lambda: (Step(operation="one KV head for all chips", premises=(at("memory.kv_copies_of_heads", kv_heads=1),)),),
        sources=(ours("a latent is a cache with one head"),),
    ),
    Equation(
        id="memory.demand",
        title="Memory demand",
        relation=lambda memory_demand, weight_bytes, kv_cache_bytes: (memory_demand, weight_bytes + kv_cache_bytes),
        statement="Weights and caches share the memory of all chips.",
        assumptions=("activations and buffers are left out",),
        given={"kv_cache_bytes": "1.057 TB"},
        result="1.462 TB",
        sources=(talk("1:04:23", "1:07:15", "memory is total parameters plus batch times context times bytes per token"),),
    ),
    Equation(
        id="memory.capacity",
        changes=("subtracts the reserved share, which is zero unless given",),
        title="Memory capacity",
        relation=lambda memory_capacity, chips, pipeline_stages, hbm_capacity, reserved_share: (
            memory_capacity,
            chips * pipeline_stages * hbm_capacity * (1 - reserved_share),
        ),
        requires=(_SOME_IS_LEFT,),
        statement="The memory of all chips of all stages, minus the reserved share.",
        result="2.304 TB",
        sources=(talk("1:01:44", "1:01:58", "a rack has tens of terabytes"),),
    ),
    Equation(
        id="memory.reserved_share",
        title="Reserved share of the memory",
        variant=Variant(group="reserved_share", name="in_bytes", default=True),
        relation=lambda reserved_share, reserved_bytes_per_chip, hbm_capacity: (reserved_share, reserved_bytes_per_chip / hbm_capacity),
        requires=(
            Requirement(
                holds=lambda reserved_bytes_per_chip, hbm_capacity: reserved_bytes_per_chip < hbm_capacity,
                otherwise="an engine must reserve less than all of the memory",
            ),
        ),
        statement="An engine reserves memory for activations, buffers and the runtime.",
        assumptions=("every chip reserves the same number of bytes",),
        given={"reserved_bytes_per_chip": "8 GB"},
        result="0.1",
        sources=(VLLM_DOCS,),
    ),
    Equation(
        id="memory.usable_share",
        title="Reserved share of the memory, from the usable share",
        variant=Variant(group="reserved_share", name="usable"),
        relation=lambda reserved_share, usable_share: (reserved_share, 1 - usable_share),
        statement="The engine reserves all memory above its setting (gpu_memory_utilization of vLLM, mem_fraction_static of SGLang).",
        assumptions=("the usable share is free for weights and KV cache. In vLLM it also contains the activations",),
        given={"usable_share": "90%"},
        result="0.1",
        sources=(VLLM_DOCS,),
    ),
    Equation(
        id="memory.per_chip",
        title="Memory demand of one chip",
        relation=lambda memory_per_chip, memory_demand, chips, pipeline_stages: (
            memory_per_chip,
            memory_demand / (chips * pipeline_stages),
        ),
        statement="All chips of all stages share the memory demand evenly.",
        assumptions=("weights are sharded perfectly, and caches evenly", "every stage has the same number of layers"),
        given={"memory_demand": "1.462 TB"},
        result="45.69 GB",
        sources=(
            talk(
                "1:04:23", "1:07:15", "divide by expert parallelism and by pipeline stages",
                "the talk does not explain how the cache is sharded over the chips",
            ),
        ),
    ),
    Equation(
        id="memory.fits",
        title="The demand fits",
        kind=BOUND,
        relation=lambda memory_demand, memory_capacity: (memory_demand, memory_capacity),
        sense="<=",
        statement="Weights and caches need at most the available memory.",
        assumptions=("all memory is free for weights and caches", "sharding is perfect"),
        given={"memory_capacity": "2.56 TB"},
        result="2.56 TB",
        sources=(
            talk("0:45:30", "0:45:49", "eight Hoppers have 640 GB, a Blackwell rack 10 to 20 TB"),
            talk("0:46:44", "0:47:02", "compute limits the active parameters, and scale-up memory limits the total parameters"),
        ),
    ),
    Equation(
        id="memory.sequences_that_fit",
        changes=(
            "counts the bytes of a sequence with windows and states, the copies of a cache, and the stored weight bytes",
            "subtracts the reserved share, which is zero unless given",
        ),
        title="Sequences that fit beside the weights",
        kind=BOUND,
        relation=lambda sequences_in_flight, chips, pipeline_stages, hbm_capacity, reserved_share, weight_bytes, kv_bytes_per_sequence,
            kv_replication: (
            sequences_in_flight,
            (chips * pipeline_stages * hbm_capacity * (1 - reserved_share) - weight_bytes) / (kv_bytes_per_sequence * kv_replication),
        ),
        sense="<=",
        requires=_ROOM_BESIDE_THE_WEIGHTS,
        statement="The memory minus the weights, over the cache of one sequence.",
        assumptions=("the assumptions of memory.fits",),
        result="230",
        derivation=lambda: (
            Step(
                operation="the memory demand equals the capacity",
                premises=(
                    at("memory.fits"),
                    at("memory.demand"),
                    at("memory.kv_cache_bytes"),
                    at("memory.capacity"),
                ),
                eliminated=("memory_demand", "kv_cache_bytes", "memory_capacity"),
            ),
        ),
        sources=(
            talk(
                "1:01:44", "1:01:58", "a rack has memory to spare",
                "true for the lecture's small cache. With the cache of DeepSeek-V3, memory is the limit at long contexts",
            ),
        ),
    ),
    Equation(
        id="memory.tokens_that_fit",
        changes=("is an upper bound, because activations and buffers also need memory",),
        kind=BOUND,
        direction=UPPER,
        title="Tokens whose cache fits in memory beside the weights",
        relation=lambda kv_cache_tokens, chips, pipeline_stages, hbm_capacity, reserved_share, weight_bytes, kv_bytes_per_token,
            kv_replication: (
            kv_cache_tokens,
            (chips * pipeline_stages * hbm_capacity * (1 - reserved_share) - weight_bytes) / (kv_bytes_per_token * kv_replication),
        ),
        requires=_ROOM_BESIDE_THE_WEIGHTS,
        statement="The memory minus the weights, over the cache of one token. Engines allocate it in blocks of tokens.",
        assumptions=(
            "the assumptions of memory.fits",
            "no windows and no linear states, because the fixed part of a sequence is left out",
        ),
        given={"kv_bytes_per_token": "516.1 kB"},
        result="1.84M tokens",
        sources=(VLLM_DOCS,),
    ),
    Equation(
        id="memory.scale_up_bandwidth",
        title="Memory bandwidth of a scale-up domain",
        relation=lambda scale_up_bandwidth, scale_up_size, hbm_bandwidth: (scale_up_bandwidth, scale_up_size * hbm_bandwidth),
        statement="All chips of the domain read at the same time. Pipeline stages read one after another, so they add no bandwidth.",
        given={"hbm_bandwidth": "8 TB/s"},
        result="576 TB/s",
        sources=(talk("1:17:06", "1:18:14", "a larger scale-up domain has more memory bandwidth, but pipelining adds only capacity"),),
    ),
)
