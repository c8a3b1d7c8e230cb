"""Serving, continued: requests a second, how long each takes, how many there are at once, and what they cost and are sold for."""

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
from derive.records import Equation, Example, Step, Variant, at
from derive.requirements import Requirement

REQUESTS = (
    Equation(
        id="serving.tokens_per_second_per_user",
        title="Tokens a second for one user",
        defines="tokens_per_second_per_user",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda tokens_per_second_per_user, tokens_per_step, token_latency: (
            tokens_per_second_per_user,
            tokens_per_step / token_latency,
        ),
        statement="What a step yields for one sequence, over the time from one step to its next; without stages that is the step time.",
        assumptions=("no step is delayed by a prompt that is computed between",),
        example=Example(given={"tokens_per_step": "2.952", "token_latency": "28.63 ms"}, result="103.1 token/s"),
        sources=(INFERENCEX, ours("the throughput of a replica over the sequences that share it")),
    ),
    Equation(
        id="serving.time_per_output_token",
        title="Time per output token",
        defines="time_per_output_token",
        relation=lambda time_per_output_token, tokens_per_second_per_user: (time_per_output_token, 1 / tokens_per_second_per_user),
        statement="The seconds to a token are one over the tokens to a second: a step, less where drafts are accepted, more with stages.",
        assumptions=("the mean over the output of a request, its first token left out",),
        example=Example(given={"tokens_per_second_per_user": "103.1 token/s"}, result="9.699 ms/token"),
        sources=(INFERENCEX, ours("the speed of a user turned round")),
    ),
    Equation(
        id="serving.tokens_per_second_per_user_with_prompts",
        title="Tokens a second for one user, prompts on the same chips",
        defines="tokens_per_second_per_user",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        relation=lambda tokens_per_second_per_user, tokens_per_step, token_latency, prompt_time_share: (
            tokens_per_second_per_user,
            tokens_per_step * (1 - prompt_time_share) / token_latency,
        ),
        requires=(Requirement(holds=lambda prompt_time_share: prompt_time_share < 1, otherwise="prompts leave nothing of the time"),),
        statement="What a step yields for one sequence, in the share of the time that prompts on the same chips leave to steps.",
        assumptions=("prompts and decode steps take turns on the same chips, and neither hides behind the other",),
        example=Example(
            given={"tokens_per_step": "2.952", "token_latency": "28.63 ms", "prompt_time_share": "57.79%"}, result="43.52 token/s"
        ),
        derivation=lambda: (
            Step(
                operation="decode has what prompts leave of the time",
                premises=(
                    at(
                        "serving.tokens_per_second_per_user",
                        token_latency=lambda token_latency, prompt_time_share: token_latency / (1 - prompt_time_share),
                    ),
                ),
            ),
        ),
        sources=(DISTSERVE_PAPER, ours("the mean over a request: between its tokens, prompts of others are computed")),
    ),
    Equation(
        id="serving.requests_per_second",
        title="Requests a second",
        defines="requests_per_second",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda requests_per_second, throughput, output_tokens: (requests_per_second, throughput / output_tokens),
        statement="A replica finishes a request whenever it has decoded as many tokens as one asks for.",
        assumptions=(
            "requests alike, or their mean, and always enough of them to fill the batch",
            "prompts are computed on chips of their own, or take no time from decode",
        ),
        example=Example(given={"throughput": "13.2k token/s", "output_tokens": "500"}, result="26.4 request/s"),
        sources=(ours("tokens a second over tokens a request"),),
    ),
    Equation(
        id="serving.prompt_time_share",
        title="Share of a replica's time that prompts take",
        version=2,
        changes=("of the rate while decode runs: the throughput with prompts on the same chips has its share taken off",),
        defines="prompt_time_share",
        relation=lambda prompt_time_share, prefill_time, prefill_batch, pipeline_stages, output_tokens, decode_only_throughput: (
            prompt_time_share,
            prefill_time / (prefill_time + prefill_batch * pipeline_stages * output_tokens / decode_only_throughput),
        ),
        statement="Of the time that a request takes of all chips, prompt and output in turn: that of its prompt.",
        assumptions=(
            "prompts and decode steps take turns on the same chips, and neither hides behind the other",
            "decode has its whole batch whenever it runs",
            "pipeline stages that do not compute this prompt compute another",
        ),
        example=Example(
            given={
                "prefill_time": "207.4 ms",
                "prefill_batch": "2",
                "pipeline_stages": "2",
                "output_tokens": "500",
                "decode_only_throughput": "13.2k token/s",
            },
            result="0.5779",
        ),
        derivation=lambda: (
            Step(
                operation="what it means: a prompt's share of all stages, over that and the time in which a request is decoded",
                relation=lambda prompt_time_share, prefill_time, prefill_batch, pipeline_stages, requests_per_second: (
                    prompt_time_share,
                    prefill_time / (prefill_batch * pipeline_stages)
                    / (prefill_time / (prefill_batch * pipeline_stages) + 1 / requests_per_second),
                ),
            ),
            Step(
                operation="a request whenever as many tokens are decoded as it asks for, while decode runs",
                premises=(at("#1"), at("serving.requests_per_second", throughput="decode_only_throughput")),
                eliminated=("requests_per_second",),
            ),
        ),
        sources=(DISTSERVE_PAPER, ours("what it costs to compute both phases on the same chips, one after the other")),
    ),
    Equation(
        id="serving.requests_per_second_with_prompts",
        title="Requests a second, prompts on the same chips",
        defines="requests_per_second",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        version=2,
        changes=("of the rate while decode runs: the throughput with prompts on the same chips has their time taken off",),
        relation=lambda requests_per_second, output_tokens, decode_only_throughput, prefill_time, prefill_batch, pipeline_stages: (
            requests_per_second,
            1 / (output_tokens / decode_only_throughput + prefill_time / (prefill_batch * pipeline_stages)),
        ),
        statement="A replica finishes a request whenever it has computed a prompt and decoded as many tokens as one asks for.",
        assumptions=(
            "requests alike, or their mean, and always enough of them to fill the batch",
            "prompts and decode steps take turns on the same chips, and neither hides behind the other",
            "pipeline stages that do not compute this prompt compute another",
        ),
        example=Example(
            given={
                "output_tokens": "500",
                "decode_only_throughput": "13.2k token/s",
                "prefill_time": "207.4 ms",
                "prefill_batch": "2",
                "pipeline_stages": "2",
            },
            result="11.14 request/s",
        ),
        derivation=lambda: (
            Step(
                operation="decode has what prompts leave of the time: one part beside the time of a prompt over that of an output",
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
        sources=(DISTSERVE_PAPER, ours("the chips of both phases together, which serving.cost_per_request pays for")),
    ),
    Equation(
        id="serving.request_latency",
        version=2,
        changes=("the first output token is that of the prompt, and takes no step of decode: as engines publish it",),
        title="Time a request takes",
        defines="request_latency",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda request_latency, time_to_first_token, output_tokens, one_token, token_latency, tokens_per_step: (
            request_latency,
            time_to_first_token + (output_tokens - one_token) * token_latency / tokens_per_step,
        ),
        requires=(
            Requirement(
                holds=lambda request_latency, time_to_first_token: request_latency >= time_to_first_token,
                otherwise="it takes no less than its first token",
            ),
        ),
        statement="The prompt yields the first output token, and every further one takes a step, or as many as a step yields.",
        assumptions=(
            "steps take as long from the first output token to the last as at the mean context",
            "no step waits for the prompt of another request",
        ),
        example=Example(
            given={"time_to_first_token": "1.5 s", "output_tokens": "500", "token_latency": "28.63 ms", "tokens_per_step": "2.952"},
            result="6.34 s",
        ),
        sources=(NIM_METRICS,),
    ),
    Equation(
        id="serving.request_latency_with_prompts",
        version=2,
        changes=("the first output token is that of the prompt, and takes no step of decode: as engines publish it",),
        title="Time a request takes, prompts on the same chips",
        defines="request_latency",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        relation=lambda request_latency, queue_time, output_tokens, prompt_time_share, one_token, token_latency, tokens_per_step: (
            request_latency,
            queue_time + (output_tokens / (1 - prompt_time_share) - one_token) * token_latency / tokens_per_step,
        ),
        requires=(
            Requirement(holds=lambda prompt_time_share: prompt_time_share < 1, otherwise="prompts leave nothing of the time"),
            Requirement(
                holds=lambda request_latency, queue_time: request_latency >= queue_time, otherwise="it waits no longer than it takes"
            ),
        ),
        statement="The steps of its output but the first, between which the prompts of all sequences are computed, its own among them.",
        assumptions=(
            "rates of requests count a decode step for the first output token too, and latencies none",
            "steps take as long from the first output token to the last as at the mean context",
            "prompts and decode steps take turns on the same chips, and neither hides behind the other",
            "a sequence that is finished makes room for one whose prompt comes next",
        ),
        example=Example(
            given={
                "queue_time": "50 ms",
                "output_tokens": "500",
                "prompt_time_share": "57.79%",
                "token_latency": "28.63 ms",
                "tokens_per_step": "2.952",
            },
            result="11.53 s",
        ),
        derivation=lambda: (
            Step(
                operation="before its first token, and between the others, it waits for prompts in their share to that of decode",
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
        sources=(DISTSERVE_PAPER, ours("by Little's law the sequences that are at once on the chips, over the requests a second")),
    ),
    Equation(
        id="serving.littles_law",
        title="Requests at once, by Little's law",
        defines="concurrent_requests",
        relation=lambda concurrent_requests, requests_per_second, request_latency: (
            concurrent_requests,
            requests_per_second * request_latency,
        ),
        statement="As many requests are on a replica at once as arrive while one of them is served.",
        assumptions=("a steady state: as many requests arrive as are finished", "means over a long time; the law says nothing of peaks"),
        example=Example(given={"requests_per_second": "26.4", "request_latency": "6.34 s"}, result="167.4"),
        sources=(LITTLE_CHAPTER,),
    ),
    Equation(
        id="serving.cost_per_request",
        title="Cost of a request",
        defines="cost_per_request",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda cost_per_request, uncached_tokens, prefill_cost_per_token, output_tokens, cost_per_token: (
            cost_per_request,
            uncached_tokens * prefill_cost_per_token + output_tokens * cost_per_token,
        ),
        statement="The chips are paid for what is not cached of the prompt, and for every output token.",
        assumptions=("keeping and reading what is cached costs nothing", "prefill and decode on chips of one kind and price"),
        example=Example(
            given={
                "uncached_tokens": "2400",
                "prefill_cost_per_token": "0.3841 USD/MTok",
                "output_tokens": "500",
                "cost_per_token": "1.347 USD/MTok",
            },
            result="0.001595 USD",
        ),
        sources=(talk("0:12:40", "0:15:29", "cost per token is time over batch, at about two dollars an hour a GPU"), ours("both phases")),
    ),
    Equation(
        id="serving.cost_per_request_with_prompts",
        title="Cost of a request, prompts on the same chips",
        defines="cost_per_request",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        relation=lambda cost_per_request, output_tokens, cost_per_token: (cost_per_request, output_tokens * cost_per_token),
        statement="Where output tokens pay for the prompts between them, they pay for all of a request.",
        assumptions=("keeping and reading what is cached costs nothing",),
        example=Example(given={"output_tokens": "500", "cost_per_token": "3.191 USD/MTok"}, result="0.001596 USD"),
        sources=(ours("cost_per_token counts the time of prompts, which are not charged twice"),),
    ),
    Equation(
        id="serving.blended_price",
        title="Mean price of a token over prompt and output",
        defines="blended_price",
        relation=lambda blended_price, prompt_tokens, cache_hit_share, input_price, cache_read_price, output_tokens, output_price: (
            blended_price,
            (
                prompt_tokens * ((1 - cache_hit_share) * input_price + cache_hit_share * cache_read_price)
                + output_tokens * output_price
            )
            / (prompt_tokens + output_tokens),
        ),
        statement="What a request is charged, over its tokens: prompt, cached prompt and output each at its price.",
        assumptions=("no charge for writing to the cache or keeping in it", "one price band: no token is past a long-context threshold"),
        example=Example(
            given={
                "prompt_tokens": "6000",
                "cache_hit_share": "60%",
                "input_price": "3 USD/MTok",
                "cache_read_price": "0.3 USD/MTok",
                "output_tokens": "500",
                "output_price": "15 USD/MTok",
            },
            result="2.428 USD/MTok",
        ),
        sources=(ARTIFICIAL_ANALYSIS,),
    ),
    Equation(
        id="serving.prompt_share",
        title="Share of a request's tokens that are prompt",
        defines="prompt_share",
        stand_in=True,
        relation=lambda prompt_share, prompt_tokens, output_tokens: (prompt_share, prompt_tokens / (prompt_tokens + output_tokens)),
        statement="Three prompt tokens for one of output are three quarters.",
        assumptions=("requests alike, or their mean",),
        example=Example(given={"prompt_tokens": "6000", "output_tokens": "500"}, result="0.9231"),
        sources=(ours("the prompt over all of it"),),
    ),
    Equation(
        id="serving.mean_input_price",
        title="Mean price of a prompt token over cached and new ones",
        defines="mean_input_price",
        relation=lambda mean_input_price, cache_hit_share, input_price, cache_read_price: (
            mean_input_price,
            (1 - cache_hit_share) * input_price + cache_hit_share * cache_read_price,
        ),
        statement="The tokens found in the cache at the price of a hit, the others at the input price.",
        assumptions=("no charge for writing to the cache or keeping in it", "one price band: no token is past a long-context threshold"),
        example=Example(
            given={"cache_hit_share": "60%", "input_price": "3 USD/MTok", "cache_read_price": "0.3 USD/MTok"}, result="1.38 USD/MTok"
        ),
        sources=(ours("the share of each, at its price"),),
    ),
    Equation(
        id="serving.blended_price_of_share",
        title="Mean price of a token from the share that is prompt",
        relation=lambda blended_price, prompt_share, mean_input_price, output_price: (
            blended_price,
            prompt_share * mean_input_price + (1 - prompt_share) * output_price,
        ),
        statement="A blend of three to one is a share of three quarters: no request has to be named.",
        example=Example(
            given={"prompt_share": "75%", "mean_input_price": "1.38 USD/MTok", "output_price": "15 USD/MTok"}, result="4.785 USD/MTok"
        ),
        derivation=lambda: (
            Step(
                operation="the tokens of a request enter only by their share, and the prices of the prompt by their mean",
                premises=(at("serving.blended_price"), at("serving.prompt_share"), at("serving.mean_input_price")),
                eliminated=("prompt_tokens", "input_price"),
            ),
        ),
        sources=(ARTIFICIAL_ANALYSIS,),
    ),
    Equation(
        id="serving.price_per_request",
        title="Price of a request",
        defines="price_per_request",
        relation=lambda price_per_request, blended_price, prompt_tokens, output_tokens: (
            price_per_request,
            blended_price * (prompt_tokens + output_tokens),
        ),
        statement="The mean price of its tokens, times how many there are.",
        example=Example(given={"blended_price": "2.428 USD/MTok", "prompt_tokens": "6000", "output_tokens": "500"}, result="0.01578 USD"),
        sources=(ours("the mean price, times the tokens that it is the mean over"),),
    ),
    Equation(
        id="serving.gross_margin",
        version=2,
        changes=("below cost too: a loss is a negative margin",),
        title="Gross margin of decoded tokens",
        defines="gross_margin",
        variant=Variant(group="gross_margin", name="output", default=True),
        relation=lambda gross_margin, cost_per_token, output_price: (gross_margin, 1 - cost_per_token / output_price),
        statement="The share of the output price that is left after the chips that decode are paid.",
        assumptions=("of output tokens alone", "chips are the only cost, at their price: no staff, research or sales"),
        example=Example(given={"cost_per_token": "1.347 USD/MTok", "output_price": "15 USD/MTok"}, result="0.9102"),
        sources=(ours("price less cost, over price"),),
    ),
    Equation(
        id="serving.gross_margin_of_requests",
        version=2,
        changes=("below cost too: a loss is a negative margin",),
        title="Gross margin of requests",
        defines="gross_margin",
        variant=Variant(group="gross_margin", name="request"),
        relation=lambda gross_margin, cost_per_request, price_per_request: (gross_margin, 1 - cost_per_request / price_per_request),
        statement="The share of what requests are sold for that is left after the chips of both phases are paid.",
        assumptions=("chips are the only cost, at their price: no staff, research or sales",),
        example=Example(given={"cost_per_request": "0.001595 USD", "price_per_request": "0.01578 USD"}, result="0.8989"),
        sources=(DEEPSEEK_OVERVIEW,),
    ),
    Equation(
        id="serving.fleet_cost",
        version=2,
        title="Cost of a fleet",
        defines="fleet_cost",
        relation=lambda fleet_cost, fleet_chips, chip_price, deployment_time: (fleet_cost, fleet_chips * chip_price * deployment_time),
        statement="All chips of all replicas, for as long as the model is served.",
        assumptions=("every chip is paid all the time at the same price, in use or not",),
        changes=("of the chips of a fleet, which a definition of their own counts: a budget says how many there are without replicas",),
        example=Example(given={"fleet_chips": "1600", "chip_price": "2 USD/h", "deployment_time": "30 d"}, result="2304000 USD"),
        sources=(DEEPSEEK_OVERVIEW,),
    ),
    Equation(
        id="serving.tokens_per_dollar",
        title="Decoded tokens of a dollar",
        defines="tokens_per_dollar",
        relation=lambda tokens_per_dollar, cost_per_token: (tokens_per_dollar, 1 / cost_per_token),
        statement="The tokens to a dollar are one over the dollars to a token.",
        assumptions=("what the chips cost, and no more",),
        example=Example(given={"cost_per_token": "0.4 USD/MTok"}, result="2500000 token/USD"),
        sources=(ours("the cost of a token turned round"),),
    ),
    Equation(
        id="serving.flops_per_dollar",
        title="FLOPs that a dollar buys",
        defines="flops_per_dollar",
        relation=lambda flops_per_dollar, peak_flops, mfu, chip_price: (flops_per_dollar, peak_flops * mfu / chip_price),
        statement="What a chip sustains in a second over what it costs in it.",
        assumptions=("the chip is busy with arithmetic alone",),
        example=Example(given={"peak_flops": "1979 TFLOP/s", "mfu": "50%", "chip_price": "2 USD/h"}, result="1.781e+18 FLOP/USD"),
        derivation=lambda: (
            Step(
                operation="the other way up",
                premises=(at("serving.price_per_flop", price_per_flop=lambda flops_per_dollar: 1 / flops_per_dollar),),
            ),
        ),
        sources=(ours("the price of a FLOP, the other way up"),),
    ),
)
