"""Cache, continued: the storage tier behind a price, and tariffs of two lifetimes."""

from derive.catalogue.sources import ours
from derive.records import CONDITION, Equation, Requirement, Step, at

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
