"""Inferences for programs: the JSON contract and CSV, in SI units."""

import csv
import io
import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from typing import Any

from invert.records import Check, Estimate, Identifiability, Observable, PairInference, Reading, Tariff, TierEvidence
from invert.report.flat import COLUMNS, flat, six_digits
from invert.result import Inference, Run

SCHEMA = "infer-1"
OBSERVED = (
    "input_price", "output_price", "long_context_threshold", "premium_in", "premium_out", "output_input_ratio", "cache_read_ratio",
)  # fmt: skip


def as_records(table: Run) -> list[dict[str, Any]]:
    """The list that `--as json` prints, one object a sheet."""
    return [_record(one) for one in table.inferences]


def as_json(table: Run) -> str:
    """Strict JSON: neither NaN nor infinity."""
    return json.dumps(as_records(table), indent=2, allow_nan=False)


def saved(table: Run) -> str:
    """The document `--save` writes: schema, how the run was made, and the sheets."""
    run = {
        "version": installed_version(),
        "as_of": table.as_of.isoformat(),
        "anchors": dict(table.anchors.values),
        "changes": dict(table.changes),
    }
    return json.dumps({"schema": SCHEMA, "run": run, "sheets": as_records(table)}, indent=2, allow_nan=False) + "\n"


def installed_version() -> str:
    """The version of backsolve that runs."""
    try:
        return version("backsolve")
    except PackageNotFoundError:
        return "0+unknown"


def as_csv(table: Run) -> str:
    """One line a sheet, the first pair of bands, SI units, numbers unrounded."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat(one) for one in table.inferences)
    return out.getvalue().rstrip("\n")


def _record(one: Inference) -> dict[str, Any]:
    row = flat(one)
    first = one.pairs[0] if one.pairs else None
    return {
        "provider": row["provider"],
        "model": row["model"],
        "as_of": row["as_of"],
        "service_tier": row["service_tier"],
        "region": one.sheet.region or None,
        "observables": {
            **{name: row[name] for name in OBSERVED},
            "cache_write_premiums": [{"ttl_seconds": ttl, "premium": premium} for ttl, premium in one.observables.cache_write_premiums],
            "storage_price": one.observables.storage_price and one.observables.storage_price.value,
        },
        "anchors": {name: {"value": value, "origin": one.anchors.origin[name]} for name, value in one.anchors.values.items()},
        "equations": list(one.equations),
        "readings": {
            "lecture": {
                "kv_bytes_per_token": row["kv_bytes_per_token_lecture"],
                "bandwidth_bound_fraction": row["bandwidth_bound_fraction"],
                "storage": [{"ttl_seconds": tier.ttl_seconds, "tier": tier.lecture, "device_tier": tier.devices} for tier in one.tiers],
                "forward_check": first and _forward_check(first.lecture_checks),
            },
            "joint": first and _reading(first.joint),
            "architecture": one.known
            and {
                "name": one.known.architecture,
                "grade": one.known.grade,
                "kv_bytes_per_token_stored": one.known.stored,
                "kv_bytes_per_token_read": one.known.read,
            },
            "pairs": [_pair(pair) for pair in one.pairs],
        },
        "estimates": {
            "kv_bytes_per_token": {anchor: _estimate(estimate) for anchor, estimate in one.kv_bytes.items()},
            **{name: _estimate(estimate) for name, estimate in one.estimates.items()},
        },
        "storage": [_storage(found) for found in one.storage],
        "tariffs": [_tariff(tariff) for tariff in one.tariffs],
        "identifiability": _identifiability(one.identifiability),
        "forward_check": first and _forward_check(first.joint_checks),
        "diagnostics": {
            "sampler": one.summary.sampler,
            "ess": six_digits(one.summary.ess),
            "pareto_k": six_digits(_finite(one.summary.pareto_k)),
            "feasible_fraction": six_digits(one.summary.feasible_fraction),
            "log_evidence": six_digits(_finite(one.summary.log_evidence)),
        },
        "contradiction": one.contradiction,
        "flags": list(one.flags),
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "kind": estimate.kind,
        "median": six_digits(estimate.median),
        "low": six_digits(estimate.low),
        "high": six_digits(estimate.high),
        "level": estimate.level,
        "because": estimate.because,
        "equations": list(estimate.equations),
        "contraction": six_digits(estimate.contraction),
        "anchors": list(estimate.anchors),
    }


def _storage(found: TierEvidence) -> dict[str, Any]:
    return {
        "ttl_seconds": found.ttl_seconds,
        "probabilities": _shares(found.probabilities),
        "undisclosed": _shares(found.undisclosed),
        "rented": _shares(found.rented),
        "owned": _shares(found.owned),
        "cases": [{"basis": case.basis, "year": case.year, "probabilities": _shares(case.probabilities)} for case in found.cases],
        "evidence": list(found.evidence),
        "implied_drain_time_s": found.implied_drain_time,
        "disclosed_tier": found.disclosed,
        "lecture": _shares(found.lecture),
    }


def _shares(probabilities: Mapping[str, float] | None) -> dict[str, float] | None:
    return probabilities and dict(probabilities)


def _tariff(tariff: Tariff) -> dict[str, Any]:
    def ends(part: Observable | None) -> dict[str, float | None] | None:
        return part and {"value": part.value, "low": part.low, "high": _finite(part.high)}

    return {
        "shorter_ttl": tariff.shorter_ttl,
        "longer_ttl": tariff.longer_ttl,
        "storage_price": ends(tariff.storage_price),
        "write_charge": ends(tariff.write_charge),
        "drain_time": ends(tariff.drain_time),
        "problem": tariff.problem,
    }


def _identifiability(found: Identifiability) -> dict[str, Any]:
    return {
        "regime": found.regime,
        "rank": found.rank,
        "nullity": found.nullity,
        "condition": found.condition,
        "pinned": list(found.pinned),
        "missing_facts": {name: facts if facts is None else list(facts) for name, facts in found.missing_facts.items()},
        "degenerate_with": dict(found.degenerate_with),
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _reading(reading: Reading) -> dict[str, Any]:
    wanted = ("kv_bytes_per_token", "balance_context", "attention_flops_per_pair", "weight_compute_ratio", "memory_time_share")
    return {**{name: reading.values.get(name) for name in wanted}, "problem": reading.problem}


def _pair(pair: PairInference) -> dict[str, Any]:
    seen = pair.pair
    return {
        "long_context_threshold": seen.long_context_threshold,
        "short_context": seen.short_context,
        "long_context": seen.long_context,
        "output_input_ratio": seen.output_input_ratio.value,
        "premium_in": seen.premium_in.value,
        "premium_out": seen.premium_out.value,
        "lecture": {"kv_bytes_per_token": pair.lecture.values.get("kv_bytes_per_token")},
        "joint": _reading(pair.joint),
    }


def _forward_check(checks: tuple[Check, ...]) -> dict[str, Any]:
    return {
        check.component: {
            "published": check.published,
            "predicted": check.predicted,
            "used_by_reading": check.used_by_reading,
            "inside_rounding_cell": None if check.bound else check.inside_rounding_cell,
            "bound_met": check.inside_rounding_cell if check.bound else None,
        }
        for check in checks
    }
