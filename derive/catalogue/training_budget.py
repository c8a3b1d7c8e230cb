"""Training, continued: the duration of a run on a number of chips, and its cost."""

from derive.catalogue.sources import DEEPSEEK_V3_BUDGET, PALM_ON_TRAINING, scaling_book_applied_training
from derive.records import Equation, Step, at

BUDGET = (
    Equation(
        id="training.chip_hours",
        title="Chip time of a training run",
        relation=lambda chip_hours, pretrain_flops, peak_flops, mfu: (chip_hours, pretrain_flops / (peak_flops * mfu)),
        statement="The FLOPs of the run over the sustained FLOP/s of one chip. One chip would need this time.",
        assumptions=("only pre-training: no restarts, trials, evaluation or later training",),
        given={"pretrain_flops": "3.791e25", "peak_flops": "989 TFLOP/s", "mfu": "40%"},
        result="26620000 h",
        sources=(DEEPSEEK_V3_BUDGET,),
    ),
    Equation(
        id="training.training_chips",
        title="Chips of a training run",
        relation=lambda training_chips, chips, pipeline_stages, data_parallel: (training_chips, chips * pipeline_stages * data_parallel),
        statement="The chips of one stage, times the stages, times the copies.",
        given={"chips": "8", "pipeline_stages": "16"},
        result="16.38k",
        sources=(
            scaling_book_applied_training(
                "a run uses data and tensor parallelism at the same time", page="section 6, how to shard LLaMA 3-70B for training"
            ),
        ),
    ),
    Equation(
        id="training.rate_per_chip",
        title="Training tokens per second of one chip",
        relation=lambda training_rate_per_chip, peak_flops, mfu, one_flop_per_token, active_params: (
            training_rate_per_chip,
            peak_flops * mfu / (6 * one_flop_per_token * active_params),
        ),
        statement="A chip needs six FLOPs per parameter for every token.",
        assumptions=("attention FLOPs are left out", "activations are stored, not recomputed"),
        given={"peak_flops": "989 TFLOP/s", "mfu": "40%", "active_params": "70B"},
        result="941.9 token/s",
        sources=(PALM_ON_TRAINING,),
    ),
    Equation(
        id="training.throughput",
        title="Tokens per second of a training run",
        relation=lambda training_throughput, training_rate_per_chip, training_chips: (
            training_throughput,
            training_rate_per_chip * training_chips,
        ),
        statement="All chips train at the same rate.",
        assumptions=("mfu is measured on this number of chips, idle time included",),
        given={"training_rate_per_chip": "941.9 token/s", "training_chips": "2048"},
        result="1.929M token/s",
        sources=(PALM_ON_TRAINING,),
    ),
    Equation(
        id="training.training_time",
        title="Time of a training run",
        relation=lambda training_time, chip_hours, training_chips: (training_time, chip_hours / training_chips),
        statement="The chips share the work of the run.",
        assumptions=("mfu is measured on this number of chips, idle time included", "no chip fails"),
        given={"training_chips": "16384"},
        result="1625 h",
        derivation=lambda: (
            Step(
                operation="the definition: FLOPs of the run over the sustained FLOP/s of all chips",
                relation=lambda training_time, pretrain_flops, training_chips, peak_flops, mfu: (
                    training_time,
                    pretrain_flops / (training_chips * peak_flops * mfu),
                ),
            ),
            Step(
                operation="the chip time of the run",
                premises=(at("#1"), at("training.chip_hours")),
                eliminated=("pretrain_flops",),
            ),
        ),
        sources=(scaling_book_applied_training("FLOPs over chips, peak and MFU: a model of 70B on 15T tokens takes 44 days"),),
    ),
    Equation(
        id="training.training_cost",
        title="Cost of a training run",
        relation=lambda training_cost, chip_price, chip_hours: (training_cost, chip_price * chip_hours),
        statement="Every chip is paid for the time of the run.",
        assumptions=("only chips: no research, trials, data or staff",),
        result="53240000 USD",
        sources=(DEEPSEEK_V3_BUDGET,),
    ),
)
