"""Training, continued: the minimum of the sum of two costs, and the best size and data of a model that will be served.

The lecture assumes that equal costs are the lowest costs. This chapter has the condition for this, and a test without the assumption.
"""

from derive.catalogue.arithmetic import power
from derive.catalogue.sources import CHINCHILLA_LAW, CHINCHILLA_PAPER, CHINCHILLA_TABLE, REPLICATION_PAPER, ROUTED_PAPER, ours, talk
from derive.records import EMPIRICAL, HEURISTIC, Equation, Requirement, Step, at

OPTIMA = (
    Equation(
        id="training.tradeoff_cost",
        title="A falling and a rising cost",
        relation=lambda tradeoff_cost, falling_cost, tradeoff_variable, falling_exponent, rising_cost, rising_exponent: (
            tradeoff_cost,
            falling_cost * tradeoff_variable ** (-falling_exponent) + rising_cost * tradeoff_variable**rising_exponent,
        ),
        statement="The sum of both costs. The heuristic of equal costs tries to minimise it.",
        assumptions=("both costs are powers of the variable that is chosen",),
        given={"falling_cost": "3"},
        result="4.785",
        sources=(talk("1:20:19", "1:21:39", "the sum of 1/x and x. Power laws often behave like this"),),
    ),
    Equation(
        id="training.tradeoff_minimum",
        title="Falling over rising cost at the minimum of their sum",
        relation=lambda falling_rising_ratio, rising_exponent, falling_exponent: (
            falling_rising_ratio,
            rising_exponent / falling_exponent,
        ),
        statement="At the minimum the two costs are equal only if they fall and rise with the same power.",
        assumptions=("both costs are powers of the variable that is chosen",),
        result="3",
        derivation=lambda: (
            Step(
                operation="at the minimum the derivative of the sum is zero",
                premises=(at("training.tradeoff_cost"),),
                stationary=("tradeoff_variable",),
                relation=lambda falling_cost, rising_cost, tradeoff_variable, rising_exponent, falling_exponent: (
                    falling_cost,
                    rising_cost * tradeoff_variable ** (rising_exponent + falling_exponent) * rising_exponent / falling_exponent,
                ),
            ),
            Step(
                operation="the definition: the falling term over the rising term",
                relation=lambda falling_rising_ratio, falling_cost, tradeoff_variable, falling_exponent, rising_cost,
                    rising_exponent: (
                    falling_rising_ratio,
                    falling_cost * tradeoff_variable ** (-falling_exponent) / (rising_cost * tradeoff_variable**rising_exponent),
                ),
            ),
            Step(
                operation="coefficients and the variable cancel",
                premises=(at("#1"), at("#2")),
                eliminated=("falling_cost",),
            ),
        ),
        sources=(
            talk(
                "1:20:19", "1:21:39", "at the minimum of a sum its terms are equal",
                "true for equal powers. Otherwise their ratio is the ratio of the powers",
            ),
        ),
    ),
    Equation(
        id="training.equalisation",
        title="Equal costs as an approximation of lowest cost",
        kind=HEURISTIC,
        rule="the rule of thumb of equal cost (rising and falling cost)",
        relation=lambda falling_cost, rising_cost, tradeoff_variable, falling_exponent, rising_exponent: (
            falling_cost,
            rising_cost * tradeoff_variable ** (falling_exponent + rising_exponent),
        ),
        statement="If a falling and a rising cost are equal, their sum is near its minimum. This point is easy to find.",
        assumptions=("the minimum is at the ratio of training.tradeoff_minimum, which is assumed to be one",),
        result="1.28",
        derivation=lambda: (
            Step(
                operation="the ratio of the falling to the rising term is set to one",
                premises=(at("training.tradeoff_minimum#2", falling_rising_ratio=1),),
            ),
        ),
        sources=(
            talk(
                "1:20:19", "1:21:39", "a sum is smallest if its terms are equal",
                "a heuristic. It is exact if both powers are the same",
            ),
        ),
    ),
    Equation(
        id="training.loss_law",
        title="Loss from size and data",
        kind=EMPIRICAL,
        rule="the empirical loss law",
        relation=lambda loss, irreducible_loss, size_loss_coefficient, active_params, size_loss_exponent,
            data_loss_coefficient, pretrain_tokens, one_token, data_loss_exponent: (
            loss,
            irreducible_loss
            + size_loss_coefficient * active_params ** (-size_loss_exponent)
            + data_loss_coefficient * (pretrain_tokens / one_token) ** (-data_loss_exponent),
        ),
        statement="The loss is a constant, plus a power of the size, plus a power of the data.",
        assumptions=(
            "a fit to dense models that are much smaller than today's",
            "the two published fits differ. The first one also depends on the rounding of its exponents",
        ),
        given={"irreducible_loss": "1.69"},
        result="1.819",
        sources=(CHINCHILLA_PAPER, REPLICATION_PAPER),
    ),
    Equation(
        id="training.dense_equivalent",
        title="Dense model as good as a sparse one",
        kind=EMPIRICAL,
        rule="the empirical law of sparse models (a cube root of the sparsity)",
        relation=lambda dense_equivalent_params, active_params, total_params: (
            dense_equivalent_params,
            active_params * power(total_params / active_params, 1, 3),
        ),
        requires=(Requirement(holds=lambda active_params, total_params: active_params <= total_params, otherwise="too many are active"),),
        statement="With the same active parameters, quality grows with the cube root of the total parameters.",
        assumptions=(
            "both models are trained on the same tokens",
            "experts count as all parameters, although attention and the vocabulary have no experts",
            "a fit to models of up to a few billion active parameters. The gain becomes smaller with more experts",
        ),
        given={"active_params": "37B", "total_params": "671B"},
        result="97.21B",
        sources=(
            talk(
                "0:29:24", "0:30:11", "64 times the parameters for a model that is as good as one 4 times as large",
                "the sizes of the paper give somewhat less than that",
            ),
            ROUTED_PAPER,
        ),
    ),
    Equation(
        id="training.tokens_per_param",
        title="Tokens per parameter",
        relation=lambda tokens_per_param, pretrain_tokens, active_params: (tokens_per_param, pretrain_tokens / active_params),
        statement="The training tokens of a model over its size.",
        result="38.52 tokens",
        sources=(CHINCHILLA_TABLE,),
    ),
    Equation(
        id="training.compute_optimal_size",
        title="Size with the lowest loss for a budget of pre-training",
        kind=EMPIRICAL,
        rule="the empirical loss law (best size for a budget)",
        relation=lambda active_params, size_loss_exponent, size_loss_coefficient, data_loss_exponent, data_loss_coefficient,
            pretrain_flops, one_flop_per_token, one_token: (
            active_params,
            (size_loss_exponent * size_loss_coefficient / (data_loss_exponent * data_loss_coefficient))
            ** (1 / (size_loss_exponent + data_loss_exponent))
            * (pretrain_flops / (6 * one_flop_per_token * one_token)) ** (data_loss_exponent / (size_loss_exponent + data_loss_exponent)),
        ),
        statement="The budget and the size determine the number of tokens. The best size depends on the fit and on the budget.",
        assumptions=("the law of training.loss_law", "only pre-training costs. A model that will be served should be smaller"),
        result="213.3B",
        derivation=lambda: (
            Step(
                operation="the loss for a given budget. The budget gives the number of tokens for every size",
                premises=(at("training.loss_law"), at("training.pretrain_cost")),
                eliminated=("pretrain_tokens",),
                relation=lambda loss, irreducible_loss, size_loss_coefficient, active_params, size_loss_exponent,
                    data_loss_coefficient, pretrain_flops, one_flop_per_token, one_token, data_loss_exponent: (
                    loss,
                    irreducible_loss
                    + size_loss_coefficient * active_params ** (-size_loss_exponent)
                    + data_loss_coefficient
                    * (pretrain_flops / (6 * one_flop_per_token * one_token * active_params)) ** (-data_loss_exponent),
                ),
            ),
            Step(
                operation="at the lowest loss the derivative is zero",
                premises=(at("#1"),),
                stationary=("active_params",),
                relation=lambda size_loss_coefficient, data_loss_exponent, data_loss_coefficient, size_loss_exponent, active_params,
                    pretrain_flops, one_flop_per_token, one_token: (
                    size_loss_coefficient,
                    data_loss_exponent
                    * data_loss_coefficient
                    / size_loss_exponent
                    * active_params**size_loss_exponent
                    * (pretrain_flops / (6 * one_flop_per_token * one_token * active_params)) ** (-data_loss_exponent),
                ),
            ),
            Step(operation="solved for the size", premises=(at("#2"),)),
        ),
        sources=(CHINCHILLA_LAW, ours("the optimum in closed form. The paper prints it with a coefficient named G")),
    ),
    Equation(
        id="training.fixed_loss_optimum",
        title="Inference over pre-training FLOPs at the best size for a given loss",
        kind=EMPIRICAL,
        rule="the empirical loss law (best size for a given loss)",
        relation=lambda inference_pretrain_ratio, size_loss_exponent, size_loss_coefficient, active_params,
            data_loss_exponent, data_loss_coefficient, pretrain_tokens, one_token: (
            inference_pretrain_ratio,
            size_loss_exponent
            * size_loss_coefficient
            * active_params ** (-size_loss_exponent)
            / (data_loss_exponent * data_loss_coefficient * (pretrain_tokens / one_token) ** (-data_loss_exponent))
            - 1,
        ),
        statement="A test of the rule of equal costs by a loss law: at 100 B and 150 T tokens the ratio is 1.04 by the first fit and 4.0"
                  " by the second.",
        assumptions=(
            "the law of training.loss_law",
            "serving costs are proportional to size",
            "the exponents of 1.04 are rounded to two digits. With four digits they give 1.4",
        ),
        given={"active_params": "8B", "pretrain_tokens": "15T"},
        result="1.524",
        derivation=lambda: (
            Step(
                operation="the function to minimise: the FLOPs of training and serving, plus the loss times its price in FLOPs",
                relation=lambda training_lagrangian, one_flop_per_token, active_params, pretrain_tokens, lifetime_flops_per_param,
                    flops_per_loss, loss: (
                    training_lagrangian,
                    6 * one_flop_per_token * active_params * pretrain_tokens
                    + lifetime_flops_per_param * active_params
                    + flops_per_loss * loss,
                ),
            ),
            Step(
                operation="the loss from size and data",
                premises=(at("#1"), at("training.loss_law")),
                eliminated=("loss",),
                relation=lambda training_lagrangian, one_flop_per_token, active_params, pretrain_tokens, lifetime_flops_per_param,
                    flops_per_loss, irreducible_loss, size_loss_coefficient, size_loss_exponent, data_loss_coefficient, one_token,
                    data_loss_exponent: (
                    training_lagrangian,
                    6 * one_flop_per_token * active_params * pretrain_tokens
                    + lifetime_flops_per_param * active_params
                    + flops_per_loss
                    * (
                        irreducible_loss
                        + size_loss_coefficient * active_params ** (-size_loss_exponent)
                        + data_loss_coefficient * (pretrain_tokens / one_token) ** (-data_loss_exponent)
                    ),
                ),
            ),
            Step(
                operation="at the minimum the derivatives with respect to size and data are zero. The price of the loss is eliminated",
                premises=(at("#2"),),
                stationary=("active_params", "pretrain_tokens"),
                eliminated=("flops_per_loss",),
                relation=lambda lifetime_flops_per_param, one_flop_per_token, pretrain_tokens, size_loss_exponent,
                    size_loss_coefficient, active_params, data_loss_exponent, data_loss_coefficient, one_token: (
                    lifetime_flops_per_param,
                    6
                    * one_flop_per_token
                    * pretrain_tokens
                    * (
                        size_loss_exponent
                        * size_loss_coefficient
                        * active_params ** (-size_loss_exponent)
                        / (data_loss_exponent * data_loss_coefficient * (pretrain_tokens / one_token) ** (-data_loss_exponent))
                        - 1
                    ),
                ),
            ),
            Step(
                operation="the comparison: serving over pre-training FLOPs, each proportional to size",
                relation=lambda inference_pretrain_ratio, lifetime_flops_per_param, active_params, pretrain_flops: (
                    inference_pretrain_ratio,
                    lifetime_flops_per_param * active_params / pretrain_flops,
                ),
            ),
            Step(
                operation="size cancels",
                premises=(at("#3"), at("#4"), at("training.pretrain_cost")),
                eliminated=("lifetime_flops_per_param", "pretrain_flops"),
            ),
        ),
        sources=(
            ours("a Lagrange multiplier for the loss, instead of the lecture's equal costs"),
            CHINCHILLA_PAPER,
            REPLICATION_PAPER,
        ),
    ),
)
