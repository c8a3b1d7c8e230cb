"""Scheduling: trains of batches and what a replica delivers (lecture, 0:20:13 to 0:27:49)."""

from derive.catalogue.sources import DISTSERVE_PAPER, flashcard, ours, talk
from derive.records import HEURISTIC, Equation, Requirement, Step, Variant, at

EQUATIONS = (
    Equation(
        id="scheduling.sweep_time",
        title="HBM sweep time",
        relation=lambda sweep_time, hbm_capacity, hbm_bandwidth: (sweep_time, hbm_capacity / hbm_bandwidth),
        statement="The time to read the whole memory of a chip once: 13 to 81 ms on the chips in use.",
        given={"hbm_capacity": "288 GB", "hbm_bandwidth": "20 TB/s"},
        result="14.4 ms",
        sources=(
            talk(
                "0:23:36",
                "0:25:38",
                "capacity over bandwidth, 288 GB at 20 TB/s is about 15 ms. 20 ms on many generations",
                "these are Rubin's figures. 22 TB/s shipped",
            ),
        ),
    ),
    Equation(
        id="scheduling.train_period",
        defined_elsewhere=True,
        title="Time between two departures",
        relation=lambda train_period, token_latency, microbatches: (train_period, token_latency / microbatches),
        statement="A pass departs when the pass before it leaves the first stage. Without stages, one step follows the other.",
        assumptions=("passes follow each other without a break",),
        result="14.31 ms",
        derivation=lambda: (
            Step(
                operation="the definition: each departure carries one batch, and the replica delivers its tokens once per period",
                relation=lambda train_period, batch, tokens_per_step, throughput: (train_period, batch * tokens_per_step / throughput),
            ),
            Step(
                operation="the throughput of a replica substituted",
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
        statement="The memory is full of weights and KV, and one pass reads all of it once.",
        assumptions=("memory is full", "no byte is read twice per pass"),
        result="23.88 ms",
        sources=(
            talk(
                "0:23:36",
                "0:25:38",
                "the batch leaves once per sweep of the memory",
                "a design rule, not a bound: a pass reads only what it needs and can be shorter",
            ),
            flashcard("card 9", "faster than 20 ms is impossible", "false if memory is not full"),
        ),
    ),
    Equation(
        id="scheduling.worst_latency",
        title="Worst wait for a token",
        relation=lambda worst_latency, train_period: (worst_latency, 2 * train_period),
        statement="In the worst case a request waits one period for the next departure. Its pass then needs one period.",
        assumptions=("a pass needs one period", "the next batch has a free place"),
        result="48 ms",
        sources=(talk("0:22:43", "0:23:25", "trains leave every 20 ms, so the worst case is 40 ms"),),
    ),
    Equation(
        id="scheduling.mean_latency",
        title="Mean wait for a token",
        relation=lambda mean_latency, train_period: (mean_latency, 3 * train_period / 2),
        statement="With random arrivals a request waits half a period on average. Its pass then needs one period.",
        assumptions=("a pass needs one period", "the next batch has a free place"),
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
        statement="The tokens of all sequences in flight, over the time between two of their steps. Without stages this is the step time.",
        changes=("for the whole replica: with pipeline stages it counts all microbatches in flight, not one",),
        given={"tokens_per_step": "2.952"},
        result="13.2k token/s",
        sources=(
            talk(
                "0:26:25",
                "0:27:49",
                "2,000 sequences 64 times a second is 128,000 tokens per second",
                "64 per second is a step of 15.6 ms. The number is per replica, and the lecture does not say rack",
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
        statement="Decode runs in the time that is not used for prompts.",
        assumptions=("prompts and decode steps alternate on the same chips and do not overlap",),
        result="5572 token/s",
        sources=(DISTSERVE_PAPER, ours("benchmarks of engines publish this number: they also compute the prompts of their requests")),
    ),
    Equation(
        id="scheduling.decode_only_throughput",
        title="Throughput while only decode runs",
        changes=("uses the batch and the time of a token, so it is also valid with prompts on the same chips",),
        relation=lambda decode_only_throughput, microbatches, batch, tokens_per_step, token_latency: (
            decode_only_throughput,
            microbatches * batch * tokens_per_step / token_latency,
        ),
        statement="The tokens of all sequences in flight, over the time between two steps of a sequence, while no prompt runs.",
        assumptions=("the batch is full whenever decode runs",),
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
        statement="The throughput of all replicas together. Each replica counts for its share of the time in use.",
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
        statement="The requests per second of all replicas together. Each replica counts for its share of the time in use.",
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
        statement="The sequences in flight of one replica times the number of replicas.",
        assumptions=("sequences are spread evenly over the replicas, and every replica is full",),
        given={"replicas": "16", "sequences_in_flight": "64"},
        result="1024",
        sources=(ours("the users of all replicas together"),),
    ),
    Equation(
        id="scheduling.fleet_chips",
        title="Chips of a fleet",
        relation=lambda fleet_chips, replicas, chips, pipeline_stages: (fleet_chips, replicas * chips * pipeline_stages),
        statement="The chips of all stages of one replica times the number of replicas.",
        assumptions=("all replicas are equal",),
        given={"replicas": "5", "chips": "8"},
        result="80",
        sources=(ours("the chips that are bought or rented for all replicas together"),),
    ),
)
