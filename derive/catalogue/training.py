"""Training: how pre-training, reinforcement learning and inference share the FLOPs (lecture, 1:18:50 to 1:32:50)."""

from derive.catalogue.sources import (
    CHINCHILLA_TABLE,
    DEEPSEEK_V3_BUDGET,
    KAPLAN_ON_TRAINING,
    PALM_ON_TRAINING,
    ZERO_PAPER,
    flashcard,
    ours,
    scaling_book_applied_training,
    scaling_book_training,
    talk,
)
from derive.catalogue.training_memory import MEMORY
from derive.catalogue.training_optima import OPTIMA
from derive.records import CONDITION, HEURISTIC, Equation, Requirement, Step, Variant, at

_RING = "there are many copies. With two links, each link sends half of this"
_OWN_LINK = "every chip has its own link. If groups of chips first add their values, fewer bytes go over it"

NETWORK = (
    Equation(
        id="training.data_parallel_time",
        title="All-reduce time of the gradients of all copies",
        variant=Variant(group="data_parallel_time", name="all_reduce", default=True),
        relation=lambda data_parallel_time, total_params, exchange_bytes_per_param, chips, pipeline_stages, link_bandwidth: (
            data_parallel_time,
            2 * total_params * exchange_bytes_per_param / (chips * pipeline_stages * link_bandwidth),
        ),
        statement="Once per training step a reduce-scatter adds the gradients and an all-gather distributes them. ZeRO-1 sends the"
                  " same bytes.",
        assumptions=(_RING, _OWN_LINK, "every copy stores all weights. FSDP sends more"),
        given={"chips": "8", "pipeline_stages": "16"},
        result="253.1 ms",
        sources=(scaling_book_training("an all-reduce of the gradients in the backward pass"), ZERO_PAPER),
    ),
    Equation(
        id="training.data_parallel_time_sharded",
        title="Time to gather weights and to reduce gradients, fully sharded",
        variant=Variant(group="data_parallel_time", name="sharded"),
        relation=lambda data_parallel_time, total_params, exchange_bytes_per_param, chips, pipeline_stages, link_bandwidth: (
            data_parallel_time,
            3 * total_params * exchange_bytes_per_param / (chips * pipeline_stages * link_bandwidth),
        ),
        statement="FSDP, or ZeRO-3: an all-gather of the weights for the forward pass, another for the backward pass, and a"
                  " reduce-scatter of the gradients.",
        assumptions=(_RING, _OWN_LINK, "one microbatch per training step, because weights are gathered for each microbatch"),
        given={"chips": "8", "pipeline_stages": "16"},
        result="379.7 ms",
        sources=(scaling_book_training("all-gathers of the weights, a reduce-scatter of the gradients"), ZERO_PAPER),
    ),
    Equation(
        id="training.balance_tokens_per_chip",
        title="Tokens per chip at which communication and arithmetic need the same time",
        relation=lambda balance_tokens_per_chip, peak_flops, mfu, exchange_bytes_per_param, total_params, one_flop_per_token,
            active_params, chips, pipeline_stages, link_bandwidth: (
            balance_tokens_per_chip,
            peak_flops
            * mfu
            * exchange_bytes_per_param
            * total_params
            / (2 * one_flop_per_token * active_params * chips * pipeline_stages * link_bandwidth),
        ),
        statement=(
            "For a dense model with two bytes per value it is FLOP/s over link bandwidth. It is the same for a whole fully sharded step"
            " and for only the gradients in the backward pass."
        ),
        assumptions=(_RING, _OWN_LINK, "attention FLOPs are left out"),
        given={"peak_flops": "989 TFLOP/s", "mfu": "40%", "chips": "8", "pipeline_stages": "16"},
        result="61.81 tokens",
        derivation=lambda: (
            Step(
                operation="communication needs the same time as computation",
                premises=(
                    at("training.data_parallel_time_sharded"),
                    at(
                        "training.rate_per_chip",
                        training_rate_per_chip=lambda balance_tokens_per_chip, data_parallel_time: (
                            balance_tokens_per_chip / data_parallel_time
                        ),
                    ),
                ),
                eliminated=("data_parallel_time",),
            ),
        ),
        sources=(scaling_book_training("compute-bound if tokens per chip exceed FLOP/s over bandwidth", "bytes per value are an input"),),
    ),
    Equation(
        id="training.exchange_hidden",
        title="Enough tokens per chip to hide communication",
        kind=CONDITION,
        relation=lambda training_tokens_per_chip, balance_tokens_per_chip: (training_tokens_per_chip, balance_tokens_per_chip),
        sense=">=",
        statement="With fewer tokens per chip, the network determines the time of a training step.",
        assumptions=("a condition: training need not be compute-bound", "communication overlaps with arithmetic all the time"),
        given={"balance_tokens_per_chip": "61.81"},
        result="61.81 tokens",
        sources=(scaling_book_training("more chips for the same batch end up waiting for the network"),),
    ),
)


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


EQUATIONS = (
    Equation(
        id="training.pretrain_cost",
        title="FLOPs of pre-training",
        variant=Variant(group="pretrain_flops", name="stored", default=True),
        relation=lambda pretrain_flops, one_flop_per_token, active_params, pretrain_tokens: (
            pretrain_flops,
            6 * one_flop_per_token * active_params * pretrain_tokens,
        ),
        statement="Two FLOPs per parameter and token in the forward pass, and four in the backward pass.",
        assumptions=("attention FLOPs are left out", "activations are stored, not recomputed"),
        result="3.791e+25 FLOP",
        sources=(talk("1:21:58", "1:22:18", "six times active parameters times tokens"),),
    ),
    Equation(
        id="training.pretrain_cost_attention",
        title="FLOPs of pre-training, causal attention included",
        variant=Variant(group="pretrain_flops", name="attention"),
        relation=lambda pretrain_flops, pretrain_tokens, one_token, one_flop_per_token, active_params, attention_flops_per_pair,
            training_sequence_length: (
            pretrain_flops,
            pretrain_tokens
            / one_token
            * (6 * one_flop_per_token * one_token * active_params + 3 * attention_flops_per_pair * training_sequence_length / 2),
        ),
        statement="On average a token attends to half of its sequence. The backward pass needs twice the FLOPs of the forward pass.",
        assumptions=(
            "dense attention, of which only the causal half is computed",
            "every sequence is one document. In packed sequences each token attends to fewer tokens",
            "activations are stored, not recomputed",
        ),
        given={"attention_flops_per_pair": "8.258 MFLOP/token"},
        result="3.949e+25 FLOP",
        derivation=lambda: (
            Step(
                operation="without attention, which is three times half the sequence for every token, the costs are equal",
                premises=(
                    at(
                        "training.pretrain_cost",
                        pretrain_flops=lambda pretrain_flops, attention_flops_per_pair, training_sequence_length, pretrain_tokens,
                            one_token: (
                            pretrain_flops - 3 * attention_flops_per_pair * training_sequence_length * pretrain_tokens / (2 * one_token)
                        ),
                    ),
                ),
            ),
        ),
        sources=(KAPLAN_ON_TRAINING, PALM_ON_TRAINING),
    ),
    Equation(
        id="training.rl_cost",
        title="FLOPs of reinforcement learning, all at the slow rate of decode",
        kind=HEURISTIC,
        variant=Variant(group="rl_flops", name="lecture"),
        relation=lambda rl_flops, one_flop_per_token, rl_multiplier, active_params, rl_tokens, decode_efficiency: (
            rl_flops,
            one_flop_per_token * rl_multiplier * active_params * rl_tokens / decode_efficiency,
        ),
        statement="Two FLOPs per parameter and token for the roll-out, up to four more for training, all at the slow rate of decode.",
        assumptions=(
            "everything runs at the efficiency of decode, also training. With training it is more expensive than training.rl_cost_split",
        ),
        result="1.62e+25 FLOP",
        sources=(
            talk(
                "1:22:18", "1:23:18", "somewhere between two and six, over an efficiency of about 30 percent",
                "the equation divides by the sustained efficiency. Some notes understand this share as the loss",
            ),
            flashcard("card 4", "three times the inefficiency", "a division by the efficiency: slow decode costs more FLOPs, not fewer"),
        ),
    ),
    Equation(
        id="training.rl_cost_split",
        title="FLOPs of reinforcement learning, training at full rate",
        variant=Variant(group="rl_flops", name="split", default=True),
        relation=lambda rl_flops, one_flop_per_token, decode_efficiency, rl_multiplier, active_params, rl_tokens: (
            rl_flops,
            one_flop_per_token * (2 / decode_efficiency + rl_multiplier - 2) * active_params * rl_tokens,
        ),
        requires=(Requirement(holds=lambda rl_multiplier: rl_multiplier >= 2),),
        statement="Only the roll-out is slow. Training passes, and passes that score with another policy, run at the rate of pre-training.",
        assumptions=("passes over existing tokens have the efficiency of pre-training", "attention FLOPs are left out"),
        result="8.64e+24 FLOP",
        sources=(ours("the lecture also divides the training passes by the efficiency of decode"),),
    ),
    Equation(
        id="training.inference_cost",
        title="FLOPs of inference",
        relation=lambda inference_flops, flop_per_mac_and_token, active_params, inference_tokens, prompt_share, decode_efficiency: (
            inference_flops,
            flop_per_mac_and_token * active_params * inference_tokens * (prompt_share + (1 - prompt_share) / decode_efficiency),
        ),
        changes=("prompt tokens run at the rate of training. Only output tokens are slow, and most served tokens are prompt tokens",),
        statement="Two FLOPs per parameter and token. Prompt tokens run at the rate of training, output tokens at the slow rate of decode.",
        assumptions=(
            "attention FLOPs are left out",
            "cached prompt tokens are free and are not counted as served",
        ),
        result="3.079e+26 FLOP",
        sources=(
            talk("1:23:20", "1:23:40", "two times active parameters times inference tokens"),
            ours("the lecture also divides the prompt tokens by the efficiency of decode"),
        ),
    ),
    Equation(
        id="training.equal_cost_rl",
        title="Pre-training and reinforcement learning cost the same",
        kind=HEURISTIC,
        rule="the rule of thumb of equal cost (pre-training and reinforcement learning)",
        relation=lambda pretrain_tokens, rl_multiplier, rl_tokens, decode_efficiency: (
            pretrain_tokens,
            rl_multiplier * rl_tokens / (6 * decode_efficiency),
        ),
        statement="Model size cancels. A token of RL is more expensive than a token of pre-training, because decode is slow.",
        assumptions=(
            "equal costs are assumed to be the optimum, which is exact only if both costs change with the same power",
            "all of reinforcement learning runs at the efficiency of decode. In training.equal_cost_rl_split only the roll-out does",
        ),
        result="6.667T tokens",
        derivation=lambda: (
            Step(
                operation="equal FLOPs",
                premises=(at("training.pretrain_cost", pretrain_flops="rl_flops"), at("training.rl_cost")),
                eliminated=("rl_flops",),
            ),
        ),
        sources=(
            talk(
                "1:25:28", "1:27:53", "the lecture first says the inverse, then corrects it to one and a half",
                "uses the corrected form. Some notes still have the inverse",
            ),
            flashcard("card 4", "RL tokens are two thirds of pre-training tokens"),
        ),
    ),
    Equation(
        id="training.equal_cost_rl_split",
        title="Pre-training and reinforcement learning cost the same, training at full rate",
        kind=HEURISTIC,
        rule="the rule of thumb of equal cost (pre-training and reinforcement learning, training at full rate)",
        relation=lambda pretrain_tokens, decode_efficiency, rl_multiplier, rl_tokens: (
            pretrain_tokens,
            (2 / decode_efficiency + rl_multiplier - 2) * rl_tokens / 6,
        ),
        requires=(Requirement(holds=lambda rl_multiplier: rl_multiplier >= 2),),
        statement="The lecture's rule, but only the roll-out is slow.",
        assumptions=("equal costs are assumed to be the optimum, which is exact only if both costs change with the same power",),
        result="3.556T tokens",
        derivation=lambda: (
            Step(
                operation="equal FLOPs",
                premises=(at("training.pretrain_cost", pretrain_flops="rl_flops"), at("training.rl_cost_split")),
                eliminated=("rl_flops",),
            ),
        ),
        sources=(ours("equal costs as in the lecture, with the cost of training.rl_cost_split"),),
    ),
    Equation(
        id="training.equal_cost_inference",
        title="Pre-training and inference cost the same",
        kind=HEURISTIC,
        rule="the rule of thumb of equal cost (pre-training and inference)",
        relation=lambda pretrain_tokens, inference_tokens, prompt_share, decode_efficiency: (
            pretrain_tokens,
            inference_tokens * (prompt_share + (1 - prompt_share) / decode_efficiency) / 3,
        ),
        unsaid=("prompt_share",),
        changes=("prompt tokens may run at the rate of training. Without a share of prompts it is the lecture's rule",),
        statement="Model size cancels. At an efficiency of one third, a model should have as many training tokens as it will serve. With a"
                  " larger share of prompts, it may serve more tokens.",
        assumptions=("equal costs are assumed to be the optimum, which is exact only if both costs change with the same power",),
        result="126.7T tokens",
        derivation=lambda: (
            Step(
                operation="equal FLOPs",
                premises=(at("training.pretrain_cost", pretrain_flops="inference_flops"), at("training.inference_cost")),
                eliminated=("inference_flops",),
            ),
        ),
        sources=(talk("1:25:28", "1:27:53", "as many inference tokens as pre-training tokens"), flashcard("card 4", "beta is one")),
    ),
    Equation(
        id="training.equal_cost_train_and_serve",
        title="All training and inference cost the same",
        kind=HEURISTIC,
        rule="the rule of thumb of equal cost (all training and inference)",
        relation=lambda inference_flops, pretrain_flops, rl_flops: (inference_flops, pretrain_flops + rl_flops),
        statement="The other split: half of the cost for both kinds of training, and half for inference.",
        assumptions=("equal costs are assumed to be the optimum",),
        given={"rl_flops": "8.64e+24 FLOP"},
        result="4.655e+25 FLOP",
        sources=(talk("1:24:09", "1:24:36", "that would also be valid, it is a small factor"),),
    ),
    Equation(
        id="training.tokens_served",
        title="Tokens served over the life of a model",
        relation=lambda inference_tokens, fleet_throughput, deployment_time: (inference_tokens, fleet_throughput * deployment_time),
        statement="The rate of the fleet times the time in which the model is served.",
        assumptions=("a constant rate, or its mean",),
        given={"fleet_throughput": "50M token/s", "deployment_time": "60 d"},
        result="259.2T tokens",
        sources=(
            talk(
                "1:29:46", "1:30:46", "500 million tokens per second for two months. A tenth, for one model, is around 200 trillion",
                "a tenth for two months is 259 T, which the lecture rounds down",
            ),
        ),
    ),
    Equation(
        id="training.expected_inference_tokens",
        title="Expected tokens served, with the chance of staying in use",
        relation=lambda expected_inference_tokens, inference_tokens, frontier_probability: (
            expected_inference_tokens,
            inference_tokens * frontier_probability,
        ),
        statement="A model that a better one replaces serves no more tokens. So the expected number of tokens is used.",
        assumptions=("a model serves all tokens or none",),
        given={"frontier_probability": "40%"},
        result="103.7T tokens",
        sources=(talk("1:29:06", "1:29:28", "multiply by the probability that the model stays at the frontier", "no number is given"),),
    ),
    Equation(
        id="training.chinchilla",
        title="Chinchilla tokens",
        kind=HEURISTIC,
        rule="the Chinchilla rule of thumb (20 tokens per parameter)",
        relation=lambda chinchilla_tokens, chinchilla_tokens_per_param, active_params: (
            chinchilla_tokens,
            chinchilla_tokens_per_param * active_params,
        ),
        statement="Twenty tokens per parameter. By convention this is the optimum if only pre-training costs.",
        assumptions=(
            "a convention. The ratio depends on the budget and on the fit, see training.compute_optimal_size",
            "active parameters replace the parameters of a dense model",
        ),
        result="8.1T tokens",
        sources=(CHINCHILLA_TABLE, talk("1:31:31", "1:31:43", "twenty tokens per parameter: two trillion for 100 billion")),
    ),
    Equation(
        id="training.overtraining",
        title="Over-training",
        relation=lambda overtraining_ratio, pretrain_tokens, chinchilla_tokens: (overtraining_ratio, pretrain_tokens / chinchilla_tokens),
        statement="The training tokens of a model over the Chinchilla tokens of its size.",
        given={"chinchilla_tokens": "8.1T"},
        result="1.926",
        sources=(
            talk(
                "1:31:43", "1:32:12", "a hundred times",
                "50 to 130 by the published token counts. The talk once says parameters instead of tokens",
            ),
        ),
    ),
    *MEMORY,
    *NETWORK,
    *OPTIMA,
    *BUDGET,
)
