"""An inference as one flat row of numbers, for CSV and for frames."""

from invert.encoder import six_digits
from invert.estimators.names import KV_NAMES
from invert.records import Estimate, TierEvidence, count_missed, verdict
from invert.result import Inference, Run

_PARTS = ("", "_low", "_high", "_kind", "_level", "_held", "_of")
"""What the name of a column of an estimate ends in: median, ends, kind, level, and how many of how many ranges like it held."""
_KV_COLUMNS = tuple(f"kv_bytes_per_token_{estimator}{suffix}" for estimator in KV_NAMES for suffix in _PARTS)
_STORED_COLUMNS = tuple(
    f"kv_bytes_stored_per_token_{estimator}{suffix}" for estimator in ("headline", "storage_price") for suffix in _PARTS
)
_SIZES = ("active_params", "total_params", "input_markup")
_MARKET_COLUMNS = tuple(f"{name}_market{suffix}" for name in _SIZES for suffix in _PARTS)
_BESIDE = ("bandwidth_bound_fraction", "memory_time_share", "balance_context")
_BESIDE_COLUMNS = tuple(f"{name}{suffix}" for name in _BESIDE for suffix in _PARTS)
COLUMNS = (
    "provider", "model", "region", "service_tier", "as_of", "currency", "input_price_usd_per_token", "output_price_usd_per_token",
    "long_context_threshold", "premium_in", "premium_out", "output_input_ratio", "cache_read_ratio", "active_params",
    "active_params_origin", "kv_bytes_per_token_lecture",
    "kv_bytes_per_token_joint", "kv_bytes_per_token_known", *_KV_COLUMNS, *_STORED_COLUMNS, *_MARKET_COLUMNS,
    *_BESIDE_COLUMNS, "memory_time_share_joint", "balance_context_joint", "implied_drain_time_s_point", "tiers_lecture", "tiers_by_price",
    "check_lecture", "check_joint", "prices_missed", "prices_checked", "fast_price_ratio", "fast_speed_ratio", "fast_batch_ratio", "flags",
)  # fmt: skip


def flat(one: Inference) -> dict[str, object]:
    """One sheet as a flat row: SI units, the first pair of bands; what does not exist is None.

    `currency` is that of the price list; prices are converted, and named so.

    An estimate has the name that it has in JSON, and its level where ranges like it were held against the truth; readings of a
    point end in `_lecture`, `_joint` and `_point`.
    """
    first, base = one.pairs[0] if one.pairs else None, one.sheet.bands[0]
    joint = first.joint.values if first else {}
    missed = count_missed(first.lecture_checks) if first else None
    return {
        "provider": one.sheet.provider,
        "model": one.sheet.model,
        "region": one.sheet.region,
        "service_tier": one.sheet.service_tier,
        "as_of": one.sheet.as_of.isoformat(),
        "currency": base.input.currency,
        "input_price_usd_per_token": base.input.usd_per_token,
        "output_price_usd_per_token": base.output.usd_per_token,
        "long_context_threshold": first and first.pair.long_context_threshold,
        "premium_in": first and first.pair.premium_in.value,
        "premium_out": first and first.pair.premium_out.value,
        "output_input_ratio": one.observables.output_input_ratio.value,
        "cache_read_ratio": one.observables.cache_read_ratio and one.observables.cache_read_ratio.value,
        "active_params": one.anchors.values["active_params"],
        "active_params_origin": one.anchors.origin["active_params"],
        "kv_bytes_per_token_lecture": first and first.lecture.values.get("kv_bytes_per_token"),
        "kv_bytes_per_token_joint": joint.get("kv_bytes_per_token"),
        "kv_bytes_per_token_known": one.known and one.known.read,
        **_kv(one),
        **_stored(one),
        **_market(one),
        **{column: value for name in _BESIDE for column, value in _parts(name, one.estimates[name]).items()},
        "memory_time_share_joint": joint.get("memory_time_share"),
        "balance_context_joint": joint.get("balance_context"),
        "implied_drain_time_s_point": one.implied_drain_time and one.implied_drain_time.values.get("implied_drain_time"),
        "tiers_lecture": " ".join(f"{tier.ttl_seconds}:{tier.lecture}" for tier in one.tiers) or None,
        "tiers_by_price": " ".join(_tier(found) for found in one.storage if found.undisclosed) or None,
        "check_lecture": first and verdict(first.lecture_checks),
        "check_joint": first and verdict(first.joint_checks),
        "prices_missed": missed and missed[0],
        "prices_checked": missed and missed[1],
        "fast_price_ratio": one.fast_mode and one.fast_mode.price_ratio,
        "fast_speed_ratio": one.fast_mode and one.fast_mode.speed_ratio,
        "fast_batch_ratio": one.fast_mode and one.fast_mode.batch_ratio,
        "flags": "; ".join(one.flags) or None,
    }


def flat_before(one: Inference, run: Run) -> dict[str, object] | None:
    """What was otherwise in the row of a sheet before prices were set by hand, or None where none were."""
    if not run.changes:
        return None
    before, after = flat(run.before[one.key]) if one.key in run.before else {}, flat(one)
    return {name: value for name, value in before.items() if value != after[name]}


def _kv(one: Inference) -> dict[str, object]:
    """Median, ends and kind of KV bytes by each estimator."""
    return {
        column: value
        for estimator, estimate in one.kv_bytes.items()
        for column, value in _parts(f"kv_bytes_per_token_{estimator}", estimate).items()
    }


def _parts(name: str, estimate: Estimate) -> dict[str, object]:
    held, of = estimate.kept or (None, None)
    numbers = (estimate.median, estimate.low, estimate.high, estimate.kind, estimate.level, held, of)
    return {f"{name}{suffix}": six_digits(number) for suffix, number in zip(_PARTS, numbers, strict=True)}


def _stored(one: Inference) -> dict[str, object]:
    """Of KV bytes left in memory, by the class of the time and by a price of storage where one is sold."""
    found = {
        column: value
        for estimator, estimate in one.kv_bytes_stored.items()
        for column, value in _parts(f"kv_bytes_stored_per_token_{estimator}", estimate).items()
    }
    return {**dict.fromkeys(_STORED_COLUMNS), **found}


def _tier(found: TierEvidence) -> str:
    """`300:hbm:0.46-0.9`: a lifetime [s], or `hour` of storage sold so, and the likeliest tier by prices with its least and its most."""
    shares, ranges = found.undisclosed or {}, found.undisclosed_ranges or {}
    tier = max(shares, key=shares.__getitem__)
    low, high = ranges[tier]
    return f"{found.ttl_seconds or 'hour'}:{tier}:{low:.2g}-{high:.2g}"


def _market(one: Inference) -> dict[str, object]:
    """Size and mark-up by price."""
    return {column: value for name in _SIZES for column, value in _parts(f"{name}_market", one.market[name]).items()}
