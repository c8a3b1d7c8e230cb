"""The estimators of KV bytes per token that give a range and are scored on models of known cache, in the order of the tables.

A key is the name of an estimator in JSON and in CSV, and its words are the name in all other outputs.
"""

import re
from collections.abc import Mapping

from derive.quantities.aliases import with_new_names

KV_NAMES: Mapping[str, str] = {
    "from_all_prices": "that explain all prices, also the long-context premium, at one price/cost",
    "from_premium_at_cost": "whose reads at rental cost explain the long-context premium",
    "from_premium": "whose reads explain the long-context premium, at the price/cost of models with known architecture",
    "typical": "of models that were released before. Newer models count more",
}
"""For each estimator what it assumes, in the words of an explanation."""
RENAMED: Mapping[str, str] = {
    "one_markup": "from_all_prices", "at_rent": "from_premium_at_cost", "increment": "from_premium", "headline": "typical",
    "market": "by_price", "votes": "families", "cast": "weights", "worth": "reliability", "rms_of_class": "rms_of_baseline",
    "by_class": "by_baseline", "held_at_one_byte": "right_at_one_byte", "class_horizons": "typical_kv_horizons",
    "markup_of_lists": "price_cost_of_lists", "extra_markup_prior": "extra_price_cost_ratio_prior",
    "storage_markup_prior": "storage_price_cost_ratio_prior", "cache_read_markup_prior": "cache_read_price_cost_ratio_prior",
    "output_storage_markup_ratio_prior": "output_storage_price_cost_ratio_prior",
    "class_spread": "typical_kv_spread", "class_votes": "typical_kv_prior_families",
}  # fmt: skip
"""Old keys of saved results, with their present names."""
_COLUMN_PARTS = {
    **{name: RENAMED[name] for name in ("one_markup", "at_rent", "increment", "headline", "market")},
    "per_token_lecture": "per_token_from_threshold", "token_known": "token_of_architecture", "held": "right",
    "token_storage_price": "token_by_storage_price", "markup": "price_cost_ratio",
}  # fmt: skip


def kv_heading(estimator: str) -> str:
    """Return the name of KV bytes per token by an estimator."""
    words = estimator.replace("_", " ")
    return f"KV {words}" if words.startswith("from ") else f"{words} KV"


def with_new_keys(record: Mapping[str, object]) -> dict[str, object]:
    """Return an object of a saved result with the present names as keys."""
    found = {_new_key(key, value): value for key, value in with_new_names(record).items()}
    return found | {"origin": "input price"} if found.get("origin") == "market" else found


def _new_key(key: str, value: object) -> str:
    if key == "held":
        return "coverage" if isinstance(value, list) else "right"
    if key == "storage_price" and isinstance(value, Mapping) and "kind" in value:
        return "by_storage_price"
    return RENAMED.get(key, key)


def new_column_key(key: str) -> str:
    """Return the present key of a column of CSV."""
    for old, new in _COLUMN_PARTS.items():
        key = re.sub(rf"_{old}(?=_|$)", f"_{new}", key)
    return key
