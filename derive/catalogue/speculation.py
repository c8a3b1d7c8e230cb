"""Serving, continued: drafts that a step verifies, their yield in tokens, and their cost in time."""

from derive.catalogue.arithmetic import maximum
from derive.catalogue.sources import SPECULATIVE_PAPER, ours
from derive.records import BOUND, LOWER, Equation, Requirement, Step, Variant, at

SPECULATION = (
    Equation(
        id="serving.speculative_tokens",
        title="Tokens per step with speculative decoding",
        relation=lambda tokens_per_step, one_token, acceptance_rate, draft_tokens: (
            tokens_per_step,
            one_token * (1 - acceptance_rate ** (draft_tokens + 1)) / (1 - acceptance_rate),
        ),
        requires=(
            Requirement(
                holds=lambda acceptance_rate: acceptance_rate < 1,
                otherwise="if every draft is accepted, give tokens_per_step instead of acceptance_rate. It is draft_tokens + 1",
            ),
        ),
        statement="One step verifies the drafted tokens. It accepts all before the first refused one, and adds one more token.",
        assumptions=(
            "each drafted token is accepted with the same probability, independently of the others",
            "verification of all drafted tokens needs one step",
        ),
        result="2.952 tokens",
        sources=(SPECULATIVE_PAPER,),
    ),
    Equation(
        id="serving.positions_per_step",
        title="Tokens that a step with drafts verifies",
        relation=lambda tokens_verified_per_step, draft_tokens: (tokens_verified_per_step, draft_tokens + 1),
        statement="A step verifies every drafted token and computes the next one. Each token adds arithmetic, and all share the reads.",
        result="4",
        sources=(SPECULATIVE_PAPER,),
    ),
    Equation(
        id="serving.most_tokens_per_step",
        title="Largest number of tokens per step",
        kind=BOUND,
        relation=lambda tokens_per_step, one_token, tokens_verified_per_step: (tokens_per_step, one_token * tokens_verified_per_step),
        sense="<=",
        statement="A step yields at most one token for each position that it computes.",
        assumptions=("the step that computes a position yields its token",),
        result="4 tokens",
        sources=(SPECULATIVE_PAPER,),
    ),
    Equation(
        id="serving.plain_step_time",
        changes=("adds the time for launches and all-reduces in every layer",),
        title="Time of a step without drafts",
        kind=BOUND,
        direction=LOWER,
        relation=lambda plain_step_time, overhead_time, compute_time, attention_time, plain_weight_time, kv_time: (
            plain_step_time,
            overhead_time + maximum(compute_time + attention_time, plain_weight_time + kv_time),
        ),
        statement="The step time of the same batch without speculative decoding, by the roofline.",
        assumptions=("arithmetic and memory traffic overlap perfectly", "no network"),
        given={"plain_weight_time": "10.79 ms"},
        result="37.48 ms",
        sources=(ours("roofline.step_time without drafts, with the weights that this step reads"),),
    ),
    Equation(
        id="serving.drafting_time",
        title="Time of drafting in a step",
        relation=lambda drafting_time, draft_tokens, draft_cost_ratio, plain_step_time: (
            drafting_time,
            draft_tokens * draft_cost_ratio * plain_step_time,
        ),
        statement="The draft model runs once for every drafted token, before verification.",
        assumptions=("drafts are made one after another, after the verification of the previous step",),
        result="3.732 ms",
        sources=(SPECULATIVE_PAPER,),
    ),
    Equation(
        id="serving.verification_ratio",
        title="Time of a step that verifies drafts over the time without drafts",
        variant=Variant(group="overlap", name="max", default=True),
        relation=lambda verification_ratio, step_time, drafting_time, plain_step_time: (
            verification_ratio,
            (step_time - drafting_time) / plain_step_time,
        ),
        requires=(
            Requirement(
                holds=lambda step_time, drafting_time: step_time > drafting_time,
                otherwise="the drafting time alone is longer than the step",
            ),
        ),
        statement="It is one if decode is memory-bound, and the number of verified tokens if decode is compute-bound.",
        given={"step_time": "31.5 ms"},
        result="1.116",
        sources=(ours("the time of a step without its drafting, over the time of a step without drafts"),),
    ),
    Equation(
        id="serving.speculative_speedup",
        title="Speed-up by speculative decoding",
        variant=Variant(group="overlap", name="max", default=True),
        relation=lambda speculative_speedup, acceptance_rate, draft_tokens, draft_cost_ratio, verification_ratio: (
            speculative_speedup,
            (1 - acceptance_rate ** (draft_tokens + 1)) / ((1 - acceptance_rate) * (draft_tokens * draft_cost_ratio + verification_ratio)),
        ),
        requires=(Requirement(holds=lambda acceptance_rate: acceptance_rate < 1),),
        statement=(
            "The tokens per step over the relative time of drafting and verification. It is below one if drafts are expensive or often"
            " refused, or if arithmetic is the bottleneck."
        ),
        assumptions=("the assumptions of serving.speculative_tokens",),
        changes=(
            "includes the additional arithmetic of verification. The earlier form was true only for memory-bound decode",
        ),
        given={"verification_ratio": "1.116"},
        result="2.332",
        derivation=lambda: (
            Step(
                operation="the definition: tokens over the time of a step with drafts, divided by one token over the time without drafts",
                relation=lambda speculative_speedup, tokens_per_step, plain_step_time, one_token, step_time: (
                    speculative_speedup,
                    tokens_per_step * plain_step_time / (one_token * step_time),
                ),
            ),
            Step(
                operation="the step consists of drafting and verification, each in units of the plain step",
                premises=(
                    at("#1"),
                    at("serving.drafting_time"),
                    at("serving.verification_ratio"),
                ),
                eliminated=("step_time", "drafting_time", "plain_step_time"),
                relation=lambda speculative_speedup, tokens_per_step, one_token, draft_tokens, draft_cost_ratio, verification_ratio: (
                    speculative_speedup,
                    tokens_per_step / (one_token * (draft_tokens * draft_cost_ratio + verification_ratio)),
                ),
            ),
            Step(
                operation="the expected number of tokens of a step",
                premises=(at("#2"), at("serving.speculative_tokens")),
                eliminated=("tokens_per_step",),
            ),
        ),
        sources=(SPECULATIVE_PAPER,),
    ),
    Equation(
        id="serving.speculative_operations",
        title="FLOPs of a token with drafts over FLOPs without drafts",
        relation=lambda speculative_operations, acceptance_rate, draft_tokens, draft_operations_ratio: (
            speculative_operations,
            (1 - acceptance_rate)
            * (draft_tokens * draft_operations_ratio + draft_tokens + 1)
            / (1 - acceptance_rate ** (draft_tokens + 1)),
        ),
        requires=(Requirement(holds=lambda acceptance_rate: acceptance_rate < 1),),
        statement="Refused drafts are wasted work. If arithmetic is the bottleneck, drafts make decode slower by this factor.",
        assumptions=("the assumptions of serving.speculative_tokens",),
        given={"draft_operations_ratio": "0.05"},
        result="1.406",
        derivation=lambda: (
            Step(
                operation="the definition: FLOPs of drafting and verification over the expected tokens",
                relation=lambda speculative_operations, draft_tokens, draft_operations_ratio, tokens_verified_per_step, one_token,
                    tokens_per_step: (
                    speculative_operations,
                    (draft_tokens * draft_operations_ratio + tokens_verified_per_step) * one_token / tokens_per_step,
                ),
            ),
            Step(
                operation="the positions that a step computes, and its expected tokens",
                premises=(at("#1"), at("serving.positions_per_step"), at("serving.speculative_tokens")),
                eliminated=("tokens_verified_per_step", "tokens_per_step"),
            ),
        ),
        sources=(SPECULATIVE_PAPER,),
    ),
    Equation(
        id="serving.speculative_balance_batch",
        title="Batch at which verification becomes compute-bound",
        relation=lambda speculative_balance_batch, balance_batch, tokens_verified_per_step: (
            speculative_balance_batch,
            balance_batch / tokens_verified_per_step,
        ),
        statement="Each position counts like a sequence, so drafts save time only up to a fraction of the balance batch.",
        assumptions=("KV reads and attention FLOPs are left out", "every weight is read"),
        given={"balance_batch": "211"},
        result="52.75",
        derivation=lambda: (
            Step(
                operation="the arithmetic of all positions needs the same time as the weight read",
                premises=(
                    at(
                        "batching.weight_compute_ratio",
                        batch="speculative_balance_batch",
                        weight_compute_ratio="tokens_verified_per_step",
                    ),
                ),
            ),
        ),
        sources=(ours("batching.weight_compute_ratio with this number of positions"),),
    ),
)
