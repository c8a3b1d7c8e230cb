"""Scheduling: trains of batches and what a replica delivers (lecture, 0:20:13 to 0:27:49)."""

from derive.catalogue.sources import DISTSERVE_PAPER, flashcard, ours, talk
from derive.records import HEURISTIC, Equation, Step, Variant, at
from derive.requirements import Requirement

EQUATIONS = (
    Equation(
        id="scheduling.sweep_time",
        title="HBM sweep time",
        relation=lambda sweep_time, hbm_capacity, hbm_bandwidth: (sweep_time, hbm_capacity / hbm_bandwidth),
        statement="Time to read the whole of a chip's memory once: 13 to 81 ms on the chips in use.",
        given={"hbm_capacity": "288 GB", "hbm_bandwidth": "20 TB/s"},
        result="14.4 ms",
        sources=(
            talk(
                "0:23:36",
                "0:25:38",
                "capacity over bandwidth, 288 GB at 20 TB/s is about 15 ms. 20 ms on many generations",
                "those are Rubin's figures. 22 TB/s shipped",
            ),
        ),
    ),
    Equation(
        id="scheduling.train_period",
        defined_elsewhere=True,
        title="Time between two departures",
        relation=lambda train_period, token_latency, microbatches: (train_period, token_latency / microbatches),
        statement="A pass departs when the one before it leaves the first stage. Without stages that is one step after the other.",
        assumptions=("passes follow each other without a break",),
        result="14.31 ms",
        derivation=lambda: (
            Step(
                operation="what it means: each departure carries one batch, and the replica delivers its tokens once a period",
                relation=lambda train_period, batch, tokens_per_step, throughput: (train_period, batch * tokens_per_step / throughput),
            ),
            Step(
                operation="with what a replica delivers",
                premises=(at("#1"), at("scheduling.throughput")),
                eliminated=("throughput",),
            ),
        ),
        sources=(
            talk("0:22:43", "0:23:25", "trains leave every 20 ms", "with pipeline stages, several trains are on their way"),
        ),
    ),
    Equation(
        id="scheduling.train_period_rule",
        title="A departure per memory sweep",
        kind=HEURISTIC,
        rule="the rule of thumb that a batch departs once per memory sweep",
        relation=lambda train_period, sweep_time: (train_period, sweep_time),
        statement="Fill the memory with weights and KV and read all of it once per pass.",
        assumptions=("memory is full", "reading anything twice per pass is pointless"),
        result="23.88 ms",
        sources=(
            talk(
                "0:23:36",
                "0:25:38",
                "the batch leaves once per sweep of the memory",
                "a design rule, not a bound: a pass reads only what it needs and can be shorter",
            ),
            flashcard("card 9", "faster than 20 ms is impossible", "false where memory is not full"),
        ),
    ),
    Equation(
        id="scheduling.worst_latency",
        title="Worst wait for a token",
        relation=lambda worst_latency, train_period: (worst_latency, 2 * train_period),
        statement="A request that just missed a departure waits one period and computes for one period.",
        assumptions=("a pass needs one period", "the next batch has room"),
        result="48 ms",
        sources=(talk("0:22:43", "0:23:25", "trains leave every 20 ms, so the worst case is 40 ms"),),
    ),
    Equation(
        id="scheduling.mean_latency",
        title="Mean wait for a token",
        relation=lambda mean_latency, train_period: (mean_latency, 3 * train_period / 2),
        statement="Random arrivals wait half a period on average and compute for one period.",
        assumptions=("a pass needs one period", "the next batch has room"),
        result="36 ms",
        sources=(ours("the mean of a uniform wait between 0 and one period, plus the pass"),),
    ),
    Equation(
        id="scheduling.throughput",
        title="Throughput of a replica",
        variant=Variant(group="requests_per_second", name="prompts_elsewhere", default=True),
        relation=lambda throughput, microbatches, batch, tokens_per_step, token_latency: (
            throughput,
            microbatches * batch * tokens_per_step / token_latency,
        ),
        statement="All sequences in flight over the time in which each gets its tokens. Without pipeline stages this time is a step.",
        changes=("of the whole replica: with pipeline stages, of all microbatches in flight and not of one",),
        given={"tokens_per_step": "2.952"},
        result="13.2k token/s",
        sources=(
            talk(
                "0:26:25",
                "0:27:49",
                "2,000 sequences 64 times a second is 128,000 tokens per second",
                "64 a second is a step of 15.6 ms. Per replica, the lecture does not say rack",
            ),
        ),
    ),
    Equation(
        id="scheduling.throughput_with_prompts",
        title="Throughput of a replica, prompts on the same chips",
        variant=Variant(group="requests_per_second", name="with_prompts"),
        relation=lambda throughput, decode_only_throughput, prompt_time_share: (
            throughput,
            decode_only_throughput * (1 - prompt_time_share),
        ),
        requires=(Requirement(holds=lambda prompt_time_share: prompt_time_share < 1, otherwise="prompts need all the time"),),
        statement="Output tokens are made in the share of the time that prompts leave for decode.",
        assumptions=("prompts and decode steps alternate on the same chips and do not overlap",),
        result="5572 token/s",
        sources=(DISTSERVE_PAPER, ours("what benchmarks of engines publish: the prompts of their requests are computed too")),
    ),
    Equation(
        id="scheduling.decode_only_throughput",
        title="Throughput while only decode runs",
        changes=("from the batch and the time of a token, so that it also holds with prompts on the same chips",),
        relation=lambda decode_only_throughput, microbatches, batch, tokens_per_step, token_latency: (
            decode_only_throughput,
            microbatches * batch * tokens_per_step / token_latency,
        ),
        statement="All sequences in flight over the time in which each gets its tokens, between two prompts.",
        assumptions=("decode has its whole batch whenever it runs",),
        given={"tokens_per_step": "2.952"},
        result="13.2k token/s",
        derivation=lambda: (
            Step(
                operation="the throughput of a replica that does no other work",
                premises=(at("scheduling.throughput", throughput="decode_only_throughput"),),
            ),
        ),
        sources=(ours("scheduling.throughput while no prompt runs"),),
    ),
    Equation(
        id="scheduling.fleet_throughput",
        title="Throughput of a fleet",
        relation=lambda fleet_throughput, replicas, throughput, fleet_utilisation: (
            fleet_throughput,
            replicas * throughput * fleet_utilisation,
        ),
        statement="Replicas work side by side, each for its share of the time in use.",
        changes=("counts the share of the time in which a chip is in use",),
        result="396k token/s",
        sources=(talk("0:26:25", "0:27:49", "Gemini makes hundreds of millions of tokens a second: a thousand such systems"),),
    ),
    Equation(
        id="scheduling.fleet_requests_per_second",
        title="Requests per second of a fleet",
        relation=lambda fleet_requests_per_second, replicas, requests_per_second, fleet_utilisation: (
            fleet_requests_per_second,
            replicas * requests_per_second * fleet_utilisation,
        ),
        statement="Replicas work side by side, each for its share of the time in use.",
        assumptions=("requests are spread evenly over the replicas",),
        result="792 request/s",
        sources=(ours("the throughput of a fleet, in requests"),),
    ),
    Equation(
        id="scheduling.fleet_sequences_in_flight",
        title="Sequences that a fleet decodes at once",
        relation=lambda fleet_sequences_in_flight, replicas, sequences_in_flight: (
            fleet_sequences_in_flight,
            replicas * sequences_in_flight,
        ),
        statement="Every replica decodes the sequences of its batches.",
        assumptions=("sequences are spread evenly over the replicas, and every replica is full",),
        given={"replicas": "16", "sequences_in_flight": "64"},
        result="1024",
        sources=(ours("the users of all replicas together"),),
    ),
    Equation(
        id="scheduling.fleet_chips",
        title="Chips of a fleet",
        relation=lambda fleet_chips, replicas, chips, pipeline_stages: (fleet_chips, replicas * chips * pipeline_stages),
        statement="Every replica has the chips of all its stages.",
        assumptions=("all replicas are alike",),
        given={"replicas": "5", "chips": "8"},
        result="80",
        sources=(ours("what is bought or rented for all replicas together"),),
    ),
)
