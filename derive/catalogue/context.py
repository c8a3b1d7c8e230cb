"""Context: the length above which context costs more (lecture, 0:10:34 to 0:12:36 and 1:51:13 to 1:54:53)."""

from derive.catalogue.arithmetic import power
from derive.catalogue.assumed import COPIES
from derive.catalogue.sources import ours, talk
from derive.records import Equation, Requirement, Step, Variant, at

EQUATIONS = (
    Equation(
        id="context.balance_context",
        changes=("includes the copies of a cache on the chips, because each chip reads its own copy",),
        title="Balance context",
        relation=lambda balance_context, flop_per_weight, active_params, mbu, ridge_point, kv_bytes_per_token, kv_replication, mfu: (
            balance_context,
            flop_per_weight * active_params * mbu / (ridge_point * kv_bytes_per_token * kv_replication * mfu),
        ),
        statement="The context at which the KV read of a sequence needs the same time as its arithmetic. Bytes per weight cancel.",
        assumptions=("dense attention", "attention FLOPs are left out", COPIES),
        given={"kv_bytes_per_token": "516.1 kB/token"},
        result="1860 tokens",
        derivation=lambda: (
            Step(
                operation="at the balance context the KV read of the batch needs the same time as its arithmetic",
                premises=(
                    at("roofline.compute_time", compute_time="kv_time"),
                    at("roofline.kv_time", context_length="balance_context"),
                    at("batching.ridge_point"),
                ),
                eliminated=("kv_time", "peak_flops"),
            ),
        ),
        sources=(
            talk(
                "0:11:40", "0:12:04",
                "the two slopes over the batch are equal: KV bytes times context over bandwidth, and parameters over FLOPs",
                "in FLOP and bytes, so bytes per weight are not needed",
            ),
        ),
    ),
    Equation(
        id="context.balance_context_with_attention",
        title="Balance context, attention included",
        relation=lambda balance_context_with_attention, balance_context, attention_intensity, mbu, attention_rate_ratio, ridge_point,
            kv_replication, mfu: (
            balance_context_with_attention,
            balance_context / (1 - attention_intensity * mbu / (attention_rate_ratio * ridge_point * kv_replication * mfu)),
        ),
        requires=(
            Requirement(
                holds=lambda attention_intensity, mbu, attention_rate_ratio, ridge_point, kv_replication, mfu: (
                    attention_intensity * mbu < attention_rate_ratio * kv_replication * mfu * ridge_point
                ),
                otherwise="attention needs the same time as its reads at any context, so there is no balance",
            ),
        ),
        statement=(
            "The context at which the KV read of a sequence needs the same time as all its arithmetic. If attention needs more FLOPs per"
            " byte than the chip can do at the rate of attention, there is no such context, and decode stays compute-bound."
        ),
        assumptions=("dense attention", "attention runs after the multiplications with the weights, without overlap", COPIES),
        given={"balance_context": "1860", "attention_intensity": "16 FLOP/byte"},
        result="1933 tokens",
        derivation=lambda: (
            Step(
                operation="read and arithmetic need the same time. Attention counts as additional weights at its own rate",
                premises=(
                    at("roofline.kv_time", context_length="balance_context_with_attention"),
                    at(
                        "roofline.compute_time",
                        compute_time="kv_time",
                        active_params=lambda active_params, attention_flops_per_sequence, attention_rate_ratio, flop_per_weight: (
                            active_params + attention_flops_per_sequence / (attention_rate_ratio * flop_per_weight)
                        ),
                    ),
                    at(
                        "architecture.attention_flops_of_context",
                        context_length="balance_context_with_attention",
                        window_flops_per_token=0,
                        selected_flops_per_entry=0,
                    ),
                    at("batching.ridge_point"),
                ),
                eliminated=("kv_time", "attention_flops_per_sequence", "peak_flops"),
                relation=lambda balance_context_with_attention, mbu, flop_per_weight, active_params, attention_flops_per_pair,
                    attention_rate_ratio, ridge_point, kv_bytes_per_token, kv_replication, mfu: (
                    balance_context_with_attention,
                    mbu
                    * (flop_per_weight * active_params + attention_flops_per_pair * balance_context_with_attention / attention_rate_ratio)
                    / (ridge_point * kv_bytes_per_token * kv_replication * mfu),
                ),
            ),
            Step(
                operation="the balance context without attention, and the intensity of attention",
                premises=(at("#1"), at("context.balance_context"), at("architecture.attention_intensity")),
                eliminated=("kv_bytes_per_token", "attention_flops_per_pair"),
            ),
        ),
        sources=(
            ours("a latent cache with one byte per value and arithmetic in bf16 has no balance context. With grouped-query attention the"
                 " balance context changes little"),
        ),
    ),
    Equation(
        id="context.kv_compute_ratio_of_times",
        title="KV time over compute time",
        relation=lambda kv_compute_ratio, kv_time, compute_time: (kv_compute_ratio, kv_time / compute_time),
        statement="The ratio of KV-read time to linear compute time, for any part of the cache that a step reads.",
        result="4.304",
        sources=(ours("what the ratio means, for any attention"),),
    ),
    Equation(
        id="context.kv_compute_ratio",
        defined_elsewhere=True,
        title="KV time over compute time by the balance context",
        variant=Variant(group="kv_time", name="dense", default=True),
        relation=lambda kv_compute_ratio, context_length, balance_context: (kv_compute_ratio, context_length / balance_context),
        statement="With dense attention it is the context over the balance context, at any batch.",
        assumptions=("dense attention", "attention FLOPs are left out"),
        given={"balance_context": "1860"},
        result="4.301",
        derivation=lambda: (
            Step(
                operation="the definition",
                premises=(at("context.kv_compute_ratio_of_times"),),
                relation=lambda kv_compute_ratio, kv_time, compute_time: (kv_compute_ratio, kv_time / compute_time),
            ),
            Step(
                operation="the balance context contains all factors that both times share",
                premises=(
                    at("#1"),
                    at("roofline.kv_time"),
                    at("roofline.compute_time"),
                    at("context.balance_context"),
                    at("batching.ridge_point"),
                ),
                eliminated=("kv_time", "compute_time", "ridge_point", "kv_bytes_per_token"),
            ),
        ),
        sources=(ours("in every ratio of a step, the context is only in this number"),),
    ),
    Equation(
        id="context.attention_compute_ratio",
        title="Attention time over compute time",
        relation=lambda attention_compute_ratio, attention_flops_per_sequence, flop_per_weight, active_params, attention_rate_ratio: (
            attention_compute_ratio,
            attention_flops_per_sequence / (flop_per_weight * active_params * attention_rate_ratio),
        ),
        statement="The ratio of the time for attention FLOPs to the time for weight FLOPs, at any batch.",
        assumptions=("attention and weights sustain the same share of their peak rates",),
        result="0.1631",
        derivation=lambda: (
            Step(
                operation="the definition",
                relation=lambda attention_compute_ratio, attention_time, compute_time: (
                    attention_compute_ratio,
                    attention_time / compute_time,
                ),
            ),
            Step(
                operation="batch and chips cancel",
                premises=(at("#1"), at("roofline.attention_time"), at("roofline.compute_time")),
                eliminated=("attention_time", "compute_time"),
            ),
        ),
        sources=(
            talk("1:51:24", "1:52:20", "the quadratic term is left out as small", "we keep it, as a multiple of the linear term"),
            ours("latent attention with one byte per value needs more FLOPs per byte than chips have, so it is always compute-bound"),
        ),
    ),
    Equation(
        id="context.sparse_attention",
        changes=("includes the copies of a cache on the chips, because each chip reads its own copy",),
        title="KV-read time with sparse attention",
        variant=Variant(group="kv_time", name="sparse"),
        relation=lambda kv_time, batch, sparse_attention_coefficient, context_length, one_token,
            sparse_attention_exponent, kv_bytes_per_token, kv_replication, chips, hbm_bandwidth, mbu: (
            kv_time,
            batch
            * sparse_attention_coefficient
            * one_token
            * (context_length / one_token) ** sparse_attention_exponent
            * kv_bytes_per_token
            * kv_replication
            / (chips * hbm_bandwidth * mbu),
        ),
        statement="A sparse attention reads c L^p tokens of the context instead of L. The lecture's square root is p = 1/2.",
        assumptions=("the same law c L^p for all contexts", "L is counted in tokens", COPIES),
        given={"sparse_attention_coefficient": "20", "sparse_attention_exponent": "0.5", "kv_bytes_per_token": "516.1 kB/token"},
        result="3.15 ms",
        sources=(
            talk(
                "0:12:31",
                "0:12:36",
                "sparse attention puts a square root in this term",
                "the lecture gives no constant, so c is an input. DeepSeek reads 2,048 tokens and an index that grows linearly",
            ),
        ),
    ),
    Equation(
        id="context.kv_time_fixed",
        changes=("includes the copies of a cache on the chips, because each chip reads its own copy",),
        title="KV-read time with windows, states and selections",
        variant=Variant(group="kv_time", name="fixed"),
        relation=lambda kv_time, batch, kv_read_bytes_per_sequence, kv_replication, chips, hbm_bandwidth, mbu: (
            kv_time,
            batch * kv_read_bytes_per_sequence * kv_replication / (chips * hbm_bandwidth * mbu),
        ),
        statement="Every sequence reads the KV bytes that grow with its context, and its windows, states and selected entries."
                  " States are also written back.",
        assumptions=("no prefix shared inside the batch", "equal context lengths, or their mean", COPIES),
        given={"kv_read_bytes_per_sequence": "4.129 GB"},
        result="14.09 ms",
        sources=(ours("roofline.kv_time over the bytes a step reads, for models with reads that do not grow with the context"),),
    ),
    Equation(
        id="context.compress_select",
        title="Entries that a sparse attention of summaries and chosen blocks reads",
        relation=lambda attention_reads, context_length, block_size, one_token, selected_blocks: (
            attention_reads,
            context_length * one_token / block_size + selected_blocks * block_size,
        ),
        statement="It reads one summary for every block, and then every token of the selected blocks.",
        assumptions=("a summary costs as much to read as a token", "the number of selected blocks is the same at any context"),
        given={"block_size": "64"},
        result="1149 tokens",
        sources=(ours("the simplest scheme that compresses, selects and reads"),),
    ),
    Equation(
        id="context.compress_select_minimum",
        title="Fewest reads of a sparse attention of summaries and chosen blocks",
        relation=lambda least_attention_reads, context_length, one_token, selected_blocks: (
            least_attention_reads,
            2 * power(context_length * one_token * selected_blocks, 1, 2),
        ),
        statement="At the best block size the number of reads grows with the square root of the context. This may be the source of the"
                  " lecture's law.",
        assumptions=("the block size is chosen for each context", "the assumptions of context.compress_select"),
        result="715.5 tokens",
        derivation=lambda: (
            Step(
                operation="the best size of a block",
                premises=(at("context.compress_select"),),
                stationary=("block_size",),
                relation=lambda block_size, context_length, one_token, selected_blocks: (
                    block_size,
                    power(context_length * one_token / selected_blocks, 1, 2),
                ),
            ),
            Step(
                operation="the reads at this block size",
                premises=(at("#1"), at("context.compress_select", attention_reads="least_attention_reads")),
                eliminated=("block_size",),
            ),
        ),
        sources=(
            ours("the lecture gives the square root without a derivation"),
            talk("1:53:36", "1:53:46", "sparse attention goes with the square root"),
        ),
    ),
    Equation(
        id="context.attention_context",
        title="Context at which attention FLOPs equal weight FLOPs",
        relation=lambda attention_context, flop_per_weight, active_params, attention_flops_per_pair: (
            attention_context,
            flop_per_weight * active_params / attention_flops_per_pair,
        ),
        requires=(Requirement(holds=lambda attention_flops_per_pair: attention_flops_per_pair > 0),),
        statement="Above this context, the attention of a token needs more FLOPs than its weights.",
        assumptions=("dense attention",),
        given={"attention_flops_per_pair": "8.258 MFLOP/token"},
        result="98.09k tokens",
        sources=(
            talk(
                "1:51:24",
                "1:52:20",
                "the quadratic term is noticeable up in the millions of tokens",
                "true for the lecture's small cache (7.5 M). It is 54 k for Llama-3-70B, and 14.8 k in prefill and 4.4 k in decode for"
                " DeepSeek-V3",
            ),
        ),
    ),
)
