"""Serving, continued: requests per second, their duration, the number at once, their cost, and their price."""

from derive.catalogue.sources import (
    ARTIFICIAL_ANALYSIS,
    DEEPSEEK_OVERVIEW,
    DISTSERVE_PAPER,
    INFERENCEX,
    LITTLE_CHAPTER,
    NIM_METRICS,
    ours,
    talk,
)
from derive.records import Equation, Requirement, Step, Variant, at

REQUESTS = (
    Equation(
        id="serving.tokens_per_second_per_user",
        title="Tokens per second of one user",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda tokens_per_second_per_user, tokens_per_step, token_latency: (
            tokens_per_second_per_user,
            tokens_per_step / token_latency,
        ),
        statement="The tokens of a step for one sequence, over the time between two steps of the sequence. Without pipeline stages this"
                  " time is the step time.",
        assumptions=("no prompt is computed between two steps",),
        given={"tokens_per_step": "2.952"},
        result="103.1 token/s",
        sources=(INFERENCEX, ours("the throughput of a replica over the number of its sequences")),
    ),
    Equation(
        id="serving.time_per_output_token",
        title="Time per output token",
        relation=lambda time_per_output_token, tokens_per_second_per_user: (time_per_output_token, 1 / tokens_per_second_per_user),
        statement="The inverse of tokens per second. It is a step time, shorter with accepted drafts and longer with pipeline stages.",
        assumptions=("the mean over the output of a request, without its first token",),
        given={"tokens_per_second_per_user": "103.1 token/s"},
        result="9.699 ms/token",
        sources=(INFERENCEX, ours("the inverse of the speed of a user")),
    ),
    Equation(
        id="serving.tokens_per_second_per_user_with_prompts",
        title="Tokens per second of one user, prompts on the same chips",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        relation=lambda tokens_per_second_per_user, tokens_per_step, token_latency, prompt_time_share: (
            tokens_per_second_per_user,
            tokens_per_step * (1 - prompt_time_share) / token_latency,
        ),
        requires=(Requirement(holds=lambda prompt_time_share: prompt_time_share < 1, otherwise="prompts need all the time"),),
        statement="The tokens of a step for one sequence over the time between two of its steps. Prompts need a part of this time.",
        assumptions=("prompts and decode steps alternate on the same chips and do not overlap",),
        given={"tokens_per_step": "2.952"},
        result="43.52 token/s",
        derivation=lambda: (
            Step(
                operation="decode runs in the time that is not used for prompts",
                premises=(
                    at(
                        "serving.tokens_per_second_per_user",
                        token_latency=lambda token_latency, prompt_time_share: token_latency / (1 - prompt_time_share),
                    ),
                ),
            ),
        ),
        sources=(DISTSERVE_PAPER, ours("the mean over a request. Between its tokens, prompts of other requests are computed")),
    ),
    Equation(
        id="serving.requests_per_second",
        title="Requests per second",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda requests_per_second, throughput, output_tokens: (requests_per_second, throughput / output_tokens),
        statement="The output tokens per second of a replica over the output tokens of a request.",
        assumptions=(
            "all requests are equal, or the mean is used, and there are always enough requests to fill the batch",
            "prompts run on other chips, or need no time on the decode chips",
        ),
        result="26.4 request/s",
        sources=(ours("tokens per second over tokens per request"),),
    ),
    Equation(
        id="serving.prompt_time_share",
        title="Share of a replica's time for prompts",
        changes=("uses the rate while decode runs, because the throughput with prompts already excludes the time of prompts",),
        relation=lambda prompt_time_share, prefill_time, prefill_batch, pipeline_stages, output_tokens, decode_only_throughput: (
            prompt_time_share,
            prefill_time / (prefill_time + prefill_batch * pipeline_stages * output_tokens / decode_only_throughput),
        ),
        statement="The chip time of a request's prompt over the chip time of its prompt and output together.",
        assumptions=(
            "prompts and decode steps alternate on the same chips and do not overlap",
            "the batch is full whenever decode runs",
            "pipeline stages without this prompt compute another prompt prompt",
        ),
        result="0.5779",
        derivation=lambda: (
            Step(
                operation="the definition: the time of a prompt on all stages, over the sum of this time and the decode time of a request",
                relation=lambda prompt_time_share, prefill_time, prefill_batch, pipeline_stages, requests_per_second: (
                    prompt_time_share,
                    prefill_time / (prefill_batch * pipeline_stages)
                    / (prefill_time / (prefill_batch * pipeline_stages) + 1 / requests_per_second),
                ),
            ),
            Step(
                operation="while decode runs, a request finishes each time its number of output tokens is decoded",
                premises=(at("#1"), at("serving.requests_per_second", throughput="decode_only_throughput")),
                eliminated=("requests_per_second",),
            ),
        ),
        sources=(DISTSERVE_PAPER, ours("the cost of computing both phases on the same chips, one after the other")),
    ),
    Equation(
        id="serving.requests_per_second_with_prompts",
        title="Requests per second, prompts on the same chips",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        changes=("uses the rate while decode runs, because the throughput with prompts already excludes the time of prompts",),
        relation=lambda requests_per_second, output_tokens, decode_only_throughput, prefill_time, prefill_batch, pipeline_stages: (
            requests_per_second,
            1 / (output_tokens / decode_only_throughput + prefill_time / (prefill_batch * pipeline_stages)),
        ),
        statement="A replica finishes a request when it has computed the prompt and decoded all output tokens.",
        assumptions=(
            "all requests are equal, or the mean is used, and there are always enough requests to fill the batch",
            "prompts and decode steps alternate on the same chips and do not overlap",
            "pipeline stages without this prompt compute another prompt prompt",
        ),
        result="11.14 request/s",
        derivation=lambda: (
            Step(
                operation="decode has a share of the time: the time of an output over the time of prompt and output",
                premises=(
                    at("serving.requests_per_second"),
                    at(
                        "scheduling.throughput_with_prompts",
                        prompt_time_share=lambda prefill_time, decode_only_throughput, prefill_batch, pipeline_stages, output_tokens: (
                            1
                            - 1 / (1 + prefill_time * decode_only_throughput / (prefill_batch * pipeline_stages * output_tokens))
                        ),
                    ),
                ),
                eliminated=("throughput",),
            ),
        ),
        sources=(DISTSERVE_PAPER, ours("the chips of both phases together, which serving.cost_per_request charges")),
    ),
    Equation(
        id="serving.request_latency",
        changes=("the prompt yields the first output token without a decode step, as in the definition of engines",),
        title="Time of a request",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda request_latency, time_to_first_token, output_tokens, one_token, token_latency, tokens_per_step: (
            request_latency,
            time_to_first_token + (output_tokens - one_token) * token_latency / tokens_per_step,
        ),
        requires=(
            Requirement(
                holds=lambda request_latency, time_to_first_token: request_latency >= time_to_first_token,
                otherwise="the latency is at least the time to the first token",
            ),
        ),
        statement="The prompt yields the first output token. Every further token needs a step, or less if a step yields several tokens.",
        assumptions=(
            "all steps need the time of the mean context",
            "no step waits for the prompt of another request",
        ),
        given={"time_to_first_token": "1.5 s", "tokens_per_step": "2.952"},
        result="6.34 s",
        sources=(NIM_METRICS,),
    ),
    Equation(
        id="serving.request_latency_with_prompts",
        changes=("the prompt yields the first output token without a decode step, as in the definition of engines",),
        title="Time of a request, prompts on the same chips",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        relation=lambda request_latency, queue_time, output_tokens, prompt_time_share, one_token, token_latency, tokens_per_step: (
            request_latency,
            queue_time + (output_tokens / (1 - prompt_time_share) - one_token) * token_latency / tokens_per_step,
        ),
        requires=(
            Requirement(holds=lambda prompt_time_share: prompt_time_share < 1, otherwise="prompts need all the time"),
            Requirement(
                holds=lambda request_latency, queue_time: request_latency >= queue_time, otherwise="it includes the queue time"
            ),
        ),
        statement="The steps of all output tokens except the first, and the prompts that run between them, its own prompt included.",
        assumptions=(
            "request rates also count a decode step for the first output token, but latencies do not",
            "all steps need the time of the mean context",
            "prompts and decode steps alternate on the same chips and do not overlap",
            "when a sequence is finished, the prompt of a new one starts",
        ),
        given={"tokens_per_step": "2.952"},
        result="11.53 s",
        derivation=lambda: (
            Step(
                operation="it waits for prompts before its first token and between the others, in proportion to their share of the time",
                premises=(
                    at(
                        "serving.request_latency",
                        time_to_first_token=lambda queue_time, prompt_time_share, output_tokens, token_latency, tokens_per_step: (
                            queue_time + prompt_time_share / (1 - prompt_time_share) * output_tokens * token_latency / tokens_per_step
                        ),
                    ),
                ),
            ),
        ),
        sources=(DISTSERVE_PAPER, ours("by Little's law: the sequences on the chips over the requests per second")),
    ),
    Equation(
        id="serving.littles_law",
        title="Requests at once, by Little's law",
        relation=lambda concurrent_requests, requests_per_second, request_latency: (
            concurrent_requests,
            requests_per_second * request_latency,
        ),
        statement="The requests on a replica are its arrivals per second times the time of a request.",
        assumptions=("a steady state: requests arrive and finish at one rate", "valid for means over a long time, not for peaks"),
        given={"request_latency": "6.34 s"},
        result="167.4",
        sources=(LITTLE_CHAPTER,),
    ),
    Equation(
        id="serving.cost_per_request",
        title="Cost of a request",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda cost_per_request, uncached_tokens, prefill_cost_per_token, output_tokens, cost_per_token: (
            cost_per_request,
            uncached_tokens * prefill_cost_per_token + output_tokens * cost_per_token,
        ),
        statement="The cost of the chips for the uncached part of the prompt and for every output token.",
        assumptions=("storing and reading cached tokens is free", "prefill and decode run on the same type of chip at the same price"),
        given={"prefill_cost_per_token": "0.3841 USD/MTok"},
        result="0.001595 USD",
        sources=(talk("0:12:40", "0:15:29", "cost per token is time over batch, at about two dollars per GPU hour"), ours("both phases")),
    ),
    Equation(
        id="serving.cost_per_request_with_prompts",
        title="Cost of a request, prompts on the same chips",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        relation=lambda cost_per_request, output_tokens, cost_per_token: (cost_per_request, output_tokens * cost_per_token),
        statement="The cost of the output tokens, which includes the time of the prompts between them.",
        assumptions=("storing and reading cached tokens is free",),
        given={"cost_per_token": "3.191 USD/MTok"},
        result="0.001596 USD",
        sources=(ours("cost_per_token contains the time of prompts, so prompts are not charged again"),),
    ),
    Equation(
        id="serving.blended_price",
        title="Mean price of a token over prompt and output",
        changes=("uses the share of prompt tokens and the mean price of the prompt, so it needs no request",),
        relation=lambda blended_price, prompt_share, mean_input_price, output_price: (
            blended_price,
            prompt_share * mean_input_price + (1 - prompt_share) * output_price,
        ),
        statement="The mean of the mean prompt price and the output price, weighted by the share of prompt and output tokens. A blend of"
                  " three to one means a prompt share of three quarters.",
        assumptions=("no charge for writing to the cache or storing in it", "one price band: no token is above a long-context threshold"),
        given={"prompt_share": "75%", "mean_input_price": "1.38 USD/MTok"},
        result="4.785 USD/MTok",
        sources=(ARTIFICIAL_ANALYSIS,),
    ),
    Equation(
        id="serving.prompt_share",
        title="Share of a request's tokens that are prompt tokens",
        relation=lambda prompt_share, prompt_tokens, output_tokens: (prompt_share, prompt_tokens / (prompt_tokens + output_tokens)),
        statement="The prompt tokens over all tokens of a request. With three prompt tokens for one output token it is three quarters.",
        assumptions=("all requests are equal, or the mean is used",),
        result="0.9231",
        sources=(ours("the prompt over prompt and output"),),
    ),
    Equation(
        id="serving.mean_input_price",
        title="Mean price of a prompt token over cached and new ones",
        relation=lambda mean_input_price, cache_hit_share, input_price, cache_read_price: (
            mean_input_price,
            (1 - cache_hit_share) * input_price + cache_hit_share * cache_read_price,
        ),
        statement="Cached tokens at the price of a hit, all others at the input price.",
        assumptions=("no charge for writing to the cache or storing in it", "one price band: no token is above a long-context threshold"),
        given={"input_price": "3 USD/MTok"},
        result="1.38 USD/MTok",
        sources=(ours("the share of each, times its price"),),
    ),
    Equation(
        id="serving.price_per_request",
        title="Price of a request",
        relation=lambda price_per_request, blended_price, prompt_tokens, output_tokens: (
            price_per_request,
            blended_price * (prompt_tokens + output_tokens),
        ),
        statement="The mean price of its tokens times the number of tokens.",
        given={"blended_price": "2.428 USD/MTok"},
        result="0.01578 USD",
        sources=(ours("the mean price times the number of all tokens"),),
    ),
    Equation(
        id="serving.gross_margin",
        changes=("valid also below cost: a loss is a negative margin", "the cost includes the hours in which chips are idle"),
        title="Gross margin of decoded tokens",
        variant=Variant(group="gross_margin", name="output", default=True),
        relation=lambda gross_margin, fleet_cost_per_token, output_price: (gross_margin, 1 - fleet_cost_per_token / output_price),
        statement="The share of the output price that remains after the decode chips are paid, also while they are idle.",
        assumptions=("only output tokens", "chips are the only cost, at their price: no staff, research or sales"),
        result="0.9102",
        sources=(ours("price minus cost, over price"),),
    ),
    Equation(
        id="serving.gross_margin_of_requests",
        changes=("valid also below cost: a loss is a negative margin",),
        title="Gross margin of requests",
        variant=Variant(group="gross_margin", name="request"),
        relation=lambda gross_margin, cost_per_request, price_per_request: (gross_margin, 1 - cost_per_request / price_per_request),
        statement="The share of the revenue from requests that remains after the chips of both phases are paid.",
        assumptions=("chips are the only cost, at their price: no staff, research or sales",),
        given={"cost_per_request": "0.001595 USD", "price_per_request": "0.01578 USD"},
        result="0.8989",
        sources=(DEEPSEEK_OVERVIEW,),
    ),
    Equation(
        id="serving.fleet_cost",
        title="Cost of a fleet",
        relation=lambda fleet_cost, fleet_chips, chip_price, deployment_time: (fleet_cost, fleet_chips * chip_price * deployment_time),
        statement="The cost of all chips of all replicas during the time in which the model is served.",
        assumptions=("every chip is paid all the time at the same price, in use or not",),
        changes=("uses fleet_chips, which has its own definition. A budget gives fleet_chips without replicas",),
        result="2304000 USD",
        sources=(DEEPSEEK_OVERVIEW,),
    ),
    Equation(
        id="serving.tokens_per_dollar",
        title="Decoded tokens per dollar",
        changes=("the cost includes the hours in which chips are idle",),
        relation=lambda tokens_per_dollar, fleet_cost_per_token: (tokens_per_dollar, 1 / fleet_cost_per_token),
        statement="The inverse of the cost per token over all hours.",
        assumptions=("only the cost of the chips",),
        given={"fleet_cost_per_token": "0.4 USD/MTok"},
        result="2500000 token/USD",
        sources=(ours("the inverse of the cost of a token"),),
    ),
    Equation(
        id="serving.flops_per_dollar",
        title="FLOPs per dollar",
        relation=lambda flops_per_dollar, peak_flops, mfu, chip_price: (flops_per_dollar, peak_flops * mfu / chip_price),
        statement="The FLOPs that a chip sustains per second over its price per second.",
        assumptions=("the chip does only arithmetic",),
        result="1.781e+18 FLOP/USD",
        derivation=lambda: (
            Step(
                operation="the inverse",
                premises=(at("serving.price_per_flop", price_per_flop=lambda flops_per_dollar: 1 / flops_per_dollar),),
            ),
        ),
        sources=(ours("the inverse of the price of a FLOP"),),
    ),
)
