"""An inference as one flat row of numbers, for CSV and for frames."""

from invert.estimators import KV_ESTIMATORS
from invert.records import Estimate, verdict
from invert.result import Inference

PARTS = {"": "median", "_low": "low", "_high": "high", "_kind": "kind"}
"""What there is of an estimate, by what the name of its column ends in."""
KV_COLUMNS = tuple(f"kv_bytes_per_token_{estimator}{suffix}" for estimator in KV_ESTIMATORS for suffix in PARTS)
_STORED_COLUMNS = tuple(f"kv_bytes_stored_per_token_headline{suffix}" for suffix in PARTS)
_SIZES = ("active_params", "total_params", "input_markup")
_MARKET_COLUMNS = tuple(f"{name}_market{part}" for name in _SIZES for part in ("", "_low", "_high"))
COLUMNS = (
    "provider", "model", "service_tier", "as_of", "currency", "input_price", "output_price", "long_context_threshold",
    "premium_in", "premium_out", "output_input_ratio", "cache_read_ratio", "active_params", "kv_bytes_per_token_lecture",
    "kv_bytes_per_token_joint", "kv_bytes_per_token_known", *KV_COLUMNS, *_STORED_COLUMNS, *_MARKET_COLUMNS,
    "bandwidth_bound_fraction", "memory_time_share",
    "balance_context", "implied_drain_time_s", "tiers", "check_lecture", "check_joint", "flags",
)  # fmt: skip


def flat(one: Inference) -> dict[str, object]:
    """One sheet as a flat row: SI units, prices in USD/token, the first pair of bands; what does not exist is None."""
    first, base = one.pairs[0] if one.pairs else None, one.sheet.bands[0]
    joint = first.joint.values if first else {}
    return {
        "provider": one.sheet.provider,
        "model": one.sheet.model,
        "service_tier": one.sheet.service_tier,
        "as_of": one.sheet.as_of.isoformat(),
        "currency": base.input.currency,
        "input_price": base.input.usd_per_token,
        "output_price": base.output.usd_per_token,
        "long_context_threshold": first and first.pair.long_context_threshold,
        "premium_in": first and first.pair.premium_in.value,
        "premium_out": first and first.pair.premium_out.value,
        "output_input_ratio": one.observables.output_input_ratio.value,
        "cache_read_ratio": one.observables.cache_read_ratio and one.observables.cache_read_ratio.value,
        "active_params": one.anchors.values["active_params"],
        "kv_bytes_per_token_lecture": first and first.lecture.values.get("kv_bytes_per_token"),
        "kv_bytes_per_token_joint": joint.get("kv_bytes_per_token"),
        "kv_bytes_per_token_known": one.known and one.known.read,
        **_kv(one),
        **_parts("kv_bytes_stored_per_token_headline", one.kv_bytes_stored["headline"]),
        **_market(one),
        "bandwidth_bound_fraction": one.bandwidth_bound.values.get("bandwidth_bound_fraction"),
        "memory_time_share": joint.get("memory_time_share"),
        "balance_context": joint.get("balance_context"),
        "implied_drain_time_s": one.implied_drain_time and one.implied_drain_time.values.get("implied_drain_time"),
        "tiers": " ".join(f"{tier.ttl_seconds}:{tier.lecture}" for tier in one.tiers) or None,
        "check_lecture": first and verdict(first.lecture_checks),
        "check_joint": first and verdict(first.joint_checks),
        "flags": "; ".join(one.flags) or None,
    }


def _kv(one: Inference) -> dict[str, object]:
    """Median, ends and kind of KV bytes by each estimator."""
    return {
        column: value
        for estimator, estimate in one.kv_bytes.items()
        for column, value in _parts(f"kv_bytes_per_token_{estimator}", estimate).items()
    }


def _parts(name: str, estimate: Estimate) -> dict[str, object]:
    return {f"{name}{suffix}": six_digits(getattr(estimate, part)) for suffix, part in PARTS.items()}


def _market(one: Inference) -> dict[str, object]:
    """Median and ends of size and mark-up by price."""
    parts = {"": "median", "_low": "low", "_high": "high"}
    return {f"{name}_market{suffix}": six_digits(getattr(one.market[name], part)) for name in _SIZES for suffix, part in parts.items()}


def six_digits(value: object) -> object:
    """An estimate to six digits: more of them are those of the draws, and of the machine.

    >>> six_digits(154712.3456), six_digits("upper"), six_digits(None)
    (154712.0, 'upper', None)
    """
    return float(f"{value:.6g}") if isinstance(value, float) else value
