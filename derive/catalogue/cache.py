"""Cache: storing KV or recomputing it, in each tier (lecture, 1:48:52 to 2:03:33)."""

from derive.catalogue.sources import ours, talk
from derive.records import CONDITION, HEURISTIC, Equation, Requirement, Step, at

TARIFFS = (
    Equation(
        id="cache.implied_drain_time_of_tier",
        changes=("the sweep is at the sustained bandwidth, as in decode. Before, it was too short by the factor mbu",),
        title="Implied drain time of a tier",
        kind=CONDITION,
        rule="the condition of one price/cost for output and storage",
        relation=lambda implied_drain_time, sweep_time, mbu, output_storage_price_cost_ratio, hbm_holding_price, holding_price: (
            implied_drain_time,
            sweep_time * output_storage_price_cost_ratio * hbm_holding_price / (mbu * holding_price),
        ),
        statement="If storage costs as much as a tier, the implied drain time is the sweep time of HBM at the sustained bandwidth, times"
                  " the ratio of holding prices.",
        assumptions=("decode is memory-bound in both bands", "each band is priced at its mean context"),
        given={"output_storage_price_cost_ratio": "1.5", "hbm_holding_price": "0.025 USD/GB/h", "holding_price": "6.5e-6 USD/GB/h"},
        result="3.28 min",
        derivation=lambda: (
            Step(
                operation="the claim: the increment covers the time to read its bytes, and the storage price covers its share of the tier",
                relation=lambda implied_drain_time, output_storage_price_cost_ratio, hbm_holding_price, hbm_capacity, kv_bytes_per_token,
                    hbm_bandwidth, mbu, holding_price: (
                    implied_drain_time,
                    output_storage_price_cost_ratio
                    * (hbm_holding_price * hbm_capacity)
                    * (kv_bytes_per_token / (hbm_bandwidth * mbu))
                    / (holding_price * kv_bytes_per_token),
                ),
            ),
            Step(
                operation="the KV bytes cancel, and the chip is only in its sweep time",
                premises=(at("#1"), at("scheduling.sweep_time")),
                eliminated=("hbm_capacity",),
            ),
        ),
        sources=(ours("KV bytes cancel. So prices alone can separate two tiers with different holding prices"),),
    ),
    Equation(
        id="cache.storage_price_from_lifetimes",
        title="Storage price from two cache lifetimes",
        kind=CONDITION,
        rule="the reading of two cache-write prices as one tariff",
        relation=lambda storage_price, input_price, longer_cache_write_premium, cache_write_premium, longer_ttl, ttl: (
            storage_price,
            input_price * (longer_cache_write_premium - cache_write_premium) / (longer_ttl - ttl),
        ),
        requires=(Requirement(holds=lambda longer_ttl, ttl: longer_ttl > ttl),),
        statement="The difference of two write prices pays for the time between their two lifetimes.",
        assumptions=("a write price is a fixed part plus storage for the lifetime", "hits do not extend the lifetime"),
        given={"input_price": "3 USD/MTok", "longer_cache_write_premium": "1", "longer_ttl": "1 h"},
        result="2.455 USD/MTok/h",
        derivation=lambda: (
            Step(
                operation="the charge for a write is the same at both lifetimes",
                premises=(
                    at("cache.write_charge"),
                    at("cache.write_charge", cache_write_premium="longer_cache_write_premium", ttl="longer_ttl"),
                ),
                eliminated=("write_charge",),
            ),
        ),
        sources=(ours("the slope of the write price over the lifetime. It is too high if hits extend the lifetime for free"),),
    ),
    Equation(
        id="cache.write_charge",
        title="Charge of a cache write beyond storage",
        kind=CONDITION,
        rule="the reading of a cache-write price as a charge and storage",
        relation=lambda write_charge, input_price, cache_write_premium, storage_price, ttl: (
            write_charge,
            cache_write_premium * input_price - storage_price * ttl,
        ),
        statement="The intercept of the write price as a function of the lifetime. Divided by the slope it is the drain time of a write.",
        assumptions=("a write price is a fixed part plus storage for the lifetime",),
        given={"input_price": "3 USD/MTok", "storage_price": "2.455 USD/MTok/h"},
        result="0.5454 USD/MTok",
        derivation=lambda: (
            Step(
                operation="the claim: the write premium covers the write itself and the storage during the lifetime",
                relation=lambda cache_write_premium, write_charge, storage_price, ttl, input_price: (
                    cache_write_premium,
                    (write_charge + storage_price * ttl) / input_price,
                ),
            ),
            Step(operation="solved for the charge", premises=(at("#1"),)),
        ),
        sources=(ours("if the charge is negative, the tariff has another form"),),
    ),
)


EQUATIONS = (
    Equation(
        id="cache.read_ratio_of_prices",
        title="Cache read price over input price",
        relation=lambda cache_read_ratio, cache_read_price, input_price: (cache_read_ratio, cache_read_price / input_price),
        statement="The price of a cached prompt token over the price of an uncached one.",
        given={"input_price": "3 USD/MTok"},
        result="0.1",
        sources=(ours("the ratio of two prices of a sheet"),),
    ),
    Equation(
        id="cache.rematerialisation_cost",
        changes=(
            "attention is a factor, which may be large in long contexts",
            "computed from the prefill rate, because a memory-bound prompt costs more than its arithmetic",
        ),
        title="Cost of recomputing a token of KV",
        relation=lambda rematerialisation_cost, chip_price, prefill_rate_per_chip: (
            rematerialisation_cost,
            chip_price / prefill_rate_per_chip,
        ),
        statement="A token that is not kept is prefilled again. Its cost is the price of a chip over its prefill rate.",
        assumptions=("the chips do no other work while they prefill",),
        given={"prefill_rate_per_chip": "4513 token/s"},
        result="0.1231 USD/MTok",
        sources=(talk("1:50:54", "1:51:13", "rematerialisation costs parameters over FLOPs, holding is free"),),
    ),
    Equation(
        id="cache.hold_cost",
        title="Cost of holding a token of KV",
        relation=lambda hold_cost, tier_price, kv_bytes_per_token, ttl, tier_capacity: (
            hold_cost,
            tier_price * kv_bytes_per_token * ttl / tier_capacity,
        ),
        statement="A token costs its share of the price of the device, by capacity, for the time in storage.",
        assumptions=("the device is full", "the price of the device is charged to its capacity"),
        given={"ttl": "1 h"},
        result="0.008 USD/MTok",
        sources=(talk("1:55:05", "1:59:24", "holding costs bytes over capacity, times the price of the device"),),
    ),
    Equation(
        id="cache.retrieve_cost",
        title="Cost of reading a token of KV back",
        relation=lambda retrieve_cost, transfers_per_hold, tier_price, kv_bytes_per_token, tier_bandwidth: (
            retrieve_cost,
            transfers_per_hold * tier_price * kv_bytes_per_token / tier_bandwidth,
        ),
        statement="A read occupies the device for a time: bytes over bandwidth. Write and read need twice this time. For HBM itself the"
                  " cost is almost zero.",
        assumptions=("the price of the device is charged to its bandwidth while it transfers",),
        result="0.00001111 USD/MTok",
        sources=(
            talk(
                "1:55:05",
                "1:59:24",
                "retrieving costs bytes over bandwidth, times a price per second",
                "the lecture does not say which device has this price, so tier_price is an input. transfers_per_hold counts the writes",
            ),
        ),
    ),
    Equation(
        id="cache.cache_cost",
        title="Cost of a cached token of KV",
        relation=lambda cache_cost, hold_cost, retrieve_cost: (cache_cost, hold_cost + retrieve_cost),
        statement="The cost of holding a token and reading it back. Outside HBM it is also written: two transfers per hold at least.",
        assumptions=("capacity and bandwidth each cost the whole device, so up to twice too much if it is full and busy",),
        given={"hold_cost": "0.008 USD/MTok", "retrieve_cost": "0.00001111 USD/MTok"},
        result="0.008011 USD/MTok",
        sources=(talk("1:55:05", "1:59:24", "each tier has a cost to retrieve and a cost to hold"),),
    ),
    Equation(
        id="cache.drain_time",
        title="Drain time of a tier",
        relation=lambda drain_time, tier_capacity, tier_bandwidth: (drain_time, tier_capacity / tier_bandwidth),
        statement="The time to read the whole device once. At this hold time, holding costs as much as one read.",
        given={"tier_capacity": "7.68 TB", "tier_bandwidth": "28 GB/s"},
        result="4.571 min",
        sources=(
            talk(
                "2:00:37",
                "2:01:16",
                "capacity over bandwidth is the drain time of a memory",
                "20 ms for HBM agrees with real devices. Today's flash needs minutes to hours, and a disk most of a day",
            ),
        ),
    ),
    Equation(
        id="cache.drain_time_rule",
        title="Lifetime as the drain time of the tier",
        kind=HEURISTIC,
        rule="the drain-time rule (the lifetime of a cache is the time to read its tier once)",
        relation=lambda ttl, drain_time: (ttl, drain_time),
        statement="A cache is kept in the tier whose drain time equals the lifetime. In this tier holding and reading cost the same.",
        assumptions=("equal costs are assumed to be the optimum", "one read per hold"),
        given={"drain_time": "4.571 min"},
        result="4.571 min",
        derivation=lambda: (
            Step(
                operation="holding for the lifetime costs as much as reading back once",
                premises=(
                    at("cache.hold_cost", hold_cost="retrieve_cost"),
                    at("cache.retrieve_cost", transfers_per_hold=1),
                    at("cache.drain_time"),
                ),
                eliminated=("retrieve_cost", "tier_capacity"),
            ),
        ),
        sources=(
            talk(
                "2:00:37",
                "2:03:33",
                "hold time about equal to drain time, so five minutes is flash and an hour is spinning disk",
                "it is right for few tiers that vendors disclose: Anthropic keeps caches of five minutes and of one hour in memory",
            ),
        ),
    ),
    Equation(
        id="cache.break_even",
        title="Hold time at which keeping costs as much as recomputing",
        relation=lambda break_even_time, rematerialisation_cost, tier_capacity, tier_price, kv_bytes_per_token: (
            break_even_time,
            rematerialisation_cost * tier_capacity / (tier_price * kv_bytes_per_token),
        ),
        statement="Below this hold time, holding a token is cheaper than prefilling it again.",
        assumptions=("reading back is free, as from HBM",),
        result="15.39 h",
        derivation=lambda: (
            Step(
                operation="holding for this time costs as much as recomputing",
                premises=(at("cache.hold_cost", ttl="break_even_time", hold_cost="rematerialisation_cost"),),
            ),
        ),
        sources=(ours("hold_cost = rematerialisation_cost. 81 minutes for 1,667 bytes and 100 B on a full H100 in fp8"),),
    ),
    Equation(
        id="cache.tier_switch_time",
        title="Hold time beyond which a cheaper tier costs less",
        relation=lambda tier_switch_time, transfers_per_hold, cold_tier_price, cold_tier_bandwidth,
            tier_price, tier_bandwidth, tier_capacity, cold_tier_capacity: (
            tier_switch_time,
            transfers_per_hold
            * (cold_tier_price / cold_tier_bandwidth - tier_price / tier_bandwidth)
            / (tier_price / tier_capacity - cold_tier_price / cold_tier_capacity),
        ),
        requires=(
            Requirement(
                holds=lambda tier_price, tier_capacity, cold_tier_price, cold_tier_capacity: (
                    cold_tier_price / cold_tier_capacity < tier_price / tier_capacity
                ),
            ),
            Requirement(
                holds=lambda tier_price, tier_bandwidth, cold_tier_price, cold_tier_bandwidth: (
                    cold_tier_price / cold_tier_bandwidth > tier_price / tier_bandwidth
                ),
            ),
        ),
        statement="The cheaper tier has a lower holding cost and a higher read cost. Above this hold time it costs less. KV bytes cancel.",
        assumptions=(
            "each tier's device is full",
            "the number of writes and reads is the same in both tiers",
            "capacity and bandwidth each cost the whole device",
        ),
        given={"cold_tier_price": "0.05 USD/h", "cold_tier_bandwidth": "28 GB/s", "cold_tier_capacity": "7.68 TB"},
        result="3.994 s",
        derivation=lambda: (
            Step(
                operation="the cost of a cached token in one tier",
                premises=(at("cache.cache_cost"), at("cache.hold_cost"), at("cache.retrieve_cost")),
                eliminated=("hold_cost", "retrieve_cost"),
                relation=lambda cache_cost, tier_price, kv_bytes_per_token, ttl, tier_capacity, transfers_per_hold, tier_bandwidth: (
                    cache_cost,
                    tier_price * kv_bytes_per_token * (ttl / tier_capacity + transfers_per_hold / tier_bandwidth),
                ),
            ),
            Step(
                operation="the cost is the same in both tiers",
                premises=(
                    at("#1", ttl="tier_switch_time"),
                    at(
                        "#1",
                        ttl="tier_switch_time",
                        tier_price="cold_tier_price",
                        tier_capacity="cold_tier_capacity",
                        tier_bandwidth="cold_tier_bandwidth",
                    ),
                ),
                eliminated=("cache_cost",),
            ),
        ),
        sources=(ours("cache.cache_cost of the two tiers, set equal"),),
    ),
    Equation(
        id="cache.read_price_is_retrieve_cost",
        title="KV bytes from the cache-read price",
        kind=CONDITION,
        rule="the reading of the cache-read price as the cost to retrieve",
        relation=lambda cache_read_ratio, retrieve_cost, rematerialisation_cost: (
            cache_read_ratio,
            retrieve_cost / rematerialisation_cost,
        ),
        statement="If input is priced at the cost of recomputing and a hit at the cost of reading back, the ratio of the prices is the"
                  " ratio of the two costs.",
        assumptions=("one price/cost for input and cache reads",),
        given={"retrieve_cost": "0.02 USD/MTok", "rematerialisation_cost": "0.2 USD/MTok"},
        result="0.1",
        sources=(
            talk(
                "1:59:50",
                "2:00:21",
                "cache hits are ten times cheaper",
                "a published read price is an upper bound of the cost, because it also contains the attention of the suffix",
            ),
        ),
    ),
    Equation(
        id="cache.write_premium_is_hold_cost",
        title="KV bytes from the cache-write premium",
        kind=CONDITION,
        rule="the reading of the cache-write premium as the cost to hold",
        relation=lambda cache_write_premium, hold_cost, rematerialisation_cost: (
            cache_write_premium,
            hold_cost / rematerialisation_cost,
        ),
        statement="If input is priced at the cost of recomputing, the extra price of a cache write pays for holding.",
        assumptions=("one price/cost for input and storage",),
        given={"hold_cost": "0.05 USD/MTok", "rematerialisation_cost": "0.2 USD/MTok"},
        result="0.25",
        sources=(
            ours("in HBM, a premium of 1 for an hour gives 2.2 kB at 100 B parameters on an H100 in fp8 at full utilisation. The lecture's"
                 " 2 kB comes from another calculation"),
        ),
    ),
    Equation(
        id="cache.storage_price_is_hold_cost",
        title="KV bytes from the storage price",
        kind=CONDITION,
        rule="the reading of the storage price as the cost to hold",
        relation=lambda storage_price, tier_price, kv_bytes_per_token, tier_capacity: (
            storage_price,
            tier_price * kv_bytes_per_token / tier_capacity,
        ),
        statement="If storage is sold at cost, its price per token and second is the token's share of the price of the device.",
        assumptions=("storage is sold at cost", "the device is full"),
        result="0.008 USD/MTok/h",
        derivation=lambda: (
            Step(
                operation="the claim: the storage price times the lifetime is the cost of holding",
                premises=(at("cache.hold_cost", hold_cost=lambda storage_price, ttl: storage_price * ttl),),
                eliminated=("ttl",),
            ),
        ),
        sources=(
            ours(
                "the storage price of Gemini's Pro sheets gives 72 to 277 kB in rented HBM. Evidence against this reading: some vendors"
                " charge one price for models whose KV differs by a factor of 55"
            ),
        ),
    ),
    Equation(
        id="cache.implied_drain_time",
        title="Implied drain time",
        kind=CONDITION,
        rule="the reading of output premium and storage price with one price/cost",
        relation=lambda implied_drain_time, output_price, premium_out, tokens_per_step, long_context,
            short_context, storage_price: (
            implied_drain_time,
            output_price * (premium_out - 1) * tokens_per_step / ((long_context - short_context) * storage_price),
        ),
        requires=(
            Requirement(holds=lambda premium_out: premium_out > 1),
            Requirement(holds=lambda long_context, short_context: long_context > short_context),
        ),
        statement="The hold time that costs as much as one read. If storage costs as much as HBM, it is sweep_time/mbu, the drain time of"
                  " HBM at the sustained bandwidth.",
        assumptions=(
            "decode is memory-bound in both bands",
            "each band is priced at its mean context",
            "one price/cost for output and storage",
            "for another tier than HBM it is not the drain time of the tier, because it is proportional to the holding costs",
        ),
        given={"output_price": "12 USD/MTok", "storage_price": "4.5 USD/MTok/h"},
        result="30.86 ms",
        sources=(ours("KV bytes, active parameters and base margins cancel. Gemini's Pro sheets come near the drain time of HBM"),),
    ),
    Equation(
        id="cache.break_even_reads",
        title="Number of re-reads from which caching saves money",
        relation=lambda break_even_reads, cache_write_premium, cache_read_ratio: (
            break_even_reads,
            cache_write_premium / (1 - cache_read_ratio),
        ),
        requires=(
            Requirement(holds=lambda cache_read_ratio: cache_read_ratio < 1),
            Requirement(holds=lambda cache_write_premium: cache_write_premium > 0),
        ),
        statement="After n re-reads, one write and n reads at the cache prices cost as much as n + 1 inputs at the plain price.",
        assumptions=("every re-read falls within the lifetime",),
        given={"cache_read_ratio": "0.1"},
        result="0.2778",
        sources=(ours("(1 + phi) + h n < 1 + n"),),
    ),
    *TARIFFS,
)
