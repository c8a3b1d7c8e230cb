"""Inferences for programs: the JSON contract and CSV, in SI units."""

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from math import isfinite
from typing import Any, TypeVar

from derive.show.cells import csv_text
from derive.solving.result import Solution
from invert.assumptions import assumptions_as_record
from invert.records import (
    AlsoSold,
    Check,
    Convention,
    Estimate,
    HeldHere,
    Identifiability,
    NegativeControl,
    Observable,
    PairInference,
    Part,
    PricingRules,
    Reading,
    Record,
    Swing,
    Tariff,
    TierEvidence,
    TierRules,
    Verdict,
    Votes,
    Worth,
    verdict,
    why_not,
)  # fmt: skip
from invert.report.columns import csv_names
from invert.report.flat import flat, flat_before, six_digits
from invert.report.prices import Prediction, predictions
from invert.result import AS_TABLE, Inference, Run, Shown
from invert.sheets.sheet import FileText, Price, PriceSheet

_T = TypeVar("_T")
_R = TypeVar("_R")

SCHEMA = "infer-2"
UTF_8, BASE_64 = "utf-8", "base64"
"""How a saved result holds the content of a file."""
_RESIDUAL_DECIMALS = 12
"""Of the residual of a price: what lies below is rounding, which differs between machines."""
_BEFORE = "_before"
_OBSERVED = (
    "input_price_usd_per_token", "output_price_usd_per_token", "long_context_threshold", "premium_in", "premium_out",
    "output_input_ratio", "cache_read_ratio",
)  # fmt: skip


def as_records(table: Run) -> list[dict[str, object]]:
    """The list that `--as json` prints, one object a sheet."""
    of_run = _of_run(table)
    return [
        {**_record(one, [_also_sold(of) for of in table.also_sold(one)]), "before": flat_before(one, table), "of_run": of_run}
        for one in table.inferences
    ]


def _of_run(table: Run) -> dict[str, object]:
    """What a full report of a sheet says of the tables, which all sheets of a run share."""
    return {
        "premium_verdict": _or_none(table.premium_verdict, _verdict),
        "drain_times": {device: _or_none(times, dict) for device, times in table.drain_times.items()},
        "tier_rules": _or_none(table.tier_rules, _tier_rules),
        "lecture_error": table.lecture_error and _six(asdict(table.lecture_error)),
        "negative_controls": _or_none(table.negative_controls, _negative_controls),
        "left_out": _left_out({
            **{f"drain_times.{device}": times for device, times in table.drain_times.items()},
            "tier_rules": table.tier_rules, "negative_controls": table.negative_controls, "premium_verdict": table.premium_verdict,
        }),
    }  # fmt: skip


def _also_sold(of: AlsoSold) -> dict[str, object]:
    return {
        "service_tier": of.service_tier,
        "region": of.region or None,
        "input_price_usd_per_token": six_digits(of.input_price),
        "times_input_price": six_digits(of.times),
    }


def run_as_json(table: Run) -> str:
    """Strict JSON: neither NaN nor infinity."""
    return json.dumps(as_records(table), indent=2, allow_nan=False)


def saved(table: Run, shown: Shown = AS_TABLE) -> str:
    """The document `--save` writes: schema, what was asked, how the run was made, and the sheets."""
    run = {
        "versions": dict(table.made.versions),
        "seeds": dict(table.made.seeds),
        "tables": dict(table.made.tables),
        "asked": _asked(table, shown),
        "as_of": table.as_of.isoformat(),
        "anchors": dict(table.anchors.values),
        "assumptions": assumptions_as_record(table.assumptions),
        "changes": dict(table.changes),
        "markup_of_lists": six_digits(table.markup_of_lists),
        "held_here": _held_here(table.held_here),
        "typical_output_input_ratio": six_digits(table.typical_ratio),
        "mean_contexts": dict(table.mean_contexts),
        **_of_run(table),
        "shared_tariffs": [{"provider": one.provider, "models": list(one.models)} for one in table.shared_tariffs],
        "notes": list(table.notes),
        "problems": [str(problem) for problem in table.problems],
        "rows": _rows(table),
    }
    head = json.dumps({"schema": SCHEMA, "run": run}, indent=2, allow_nan=False).removesuffix("\n}")
    # A line a sheet: half of what a market takes would be the spaces before its lines.
    sheets = ",\n".join(json.dumps(one, allow_nan=False) for one in as_records(table))
    return f'{head},\n  "sheets": [\n{sheets}\n]}}\n'


def _asked(table: Run, shown: Shown) -> dict[str, object]:
    """What was asked, but for anchors and changes, which the run holds."""
    request = table.request
    return {
        "models": list(request.names),
        "providers": list(request.providers),
        "tier": request.tier,
        "day_given": request.as_of is not None,
        "all": request.everything,
        "prices": request.prices and _file(request.prices),
        "against": _file(shown.against) if isinstance(shown.against, FileText) else shown.against,
        "where": list(shown.wanted),
        "sort": shown.by,
        "form": {
            "as": shown.style,
            "full": shown.full,
            "wide": shown.wide,
            "summary": shown.summary,
            "history": shown.history,
            "columns": shown.columns,
        },
    }


def _file(file: FileText) -> dict[str, object]:
    """A file with what is in it, as text where it is text."""
    try:
        return {"place": file.place, "encoding": UTF_8, "content": file.content.decode(UTF_8)}
    except UnicodeDecodeError:
        return {"place": file.place, "encoding": BASE_64, "content": b64encode(file.content).decode()}


def _rows(table: Run) -> list[dict[str, object]]:
    """The price rows that the sheets are made of, as they stand in their files."""
    sheets = {(one.sheet.provider, one.sheet.model, one.sheet.region, one.sheet.service_tier) for one in table}
    return [{name: _cell(cell) for name, cell in asdict(row).items()} for row in table.rows if row.sheet_key in sheets]


def _cell(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def run_as_csv(table: Run, columns: Sequence[str] = ()) -> str:
    """One line a sheet, the first pair of bands, SI units, numbers unrounded; some of its columns, or all.

    Behind a column in which a price that was set by hand moved anything, one with `_before` has what stood there as published.
    """
    before = [flat_before(one, table) or {} for one in table.inferences]
    moved = {name for of in before for name in of}
    head = [said for name in csv_names(columns) for said in ([name, name + _BEFORE] if name in moved else [name])]
    rows = []
    for one, of in zip(table.inferences, before, strict=True):
        row = flat(one)
        rows.append({**row, **{name + _BEFORE: of.get(name, row[name]) for name in moved}})
    return csv_text(head, rows)


def _record(one: Inference, also_sold: Sequence[Mapping[str, object]]) -> dict[str, object]:
    row = flat(one)
    first = one.pairs[0] if one.pairs else None
    return {
        "provider": row["provider"],
        "model": row["model"],
        "as_of": row["as_of"],
        "service_tier": row["service_tier"],
        "region": one.sheet.region or None,
        "prices": _prices(one.sheet),
        "also_sold": list(also_sold),
        "observables": {
            **{name: row[name] for name in _OBSERVED},
            "cache_write_premiums": [{"ttl_seconds": of.ttl_seconds, "premium": of.premium} for of in one.observables.cache_write_premiums],
            "storage_price_usd_per_token_second": one.observables.storage_price and one.observables.storage_price.value,
        },
        "anchors": {name: {"value": value, "origin": one.anchors.origin[name]} for name, value in one.anchors.values.items()},
        "equations": list(one.equations),
        "readings": {
            "lecture": {
                "kv_bytes_per_token": row["kv_bytes_per_token_lecture"],
                **_moves(first.lecture if first else None),
                "output_input_ratio_claimed": first and first.claimed_ratio,
                "bandwidth_bound_fraction": one.bandwidth_bound.values.get("bandwidth_bound_fraction"),
                "bandwidth_bound_problem": one.bandwidth_bound.problem,
                "bandwidth_bound_elasticities": _moves(one.bandwidth_bound)["elasticities"],
                "storage": [{"ttl_seconds": tier.ttl_seconds, "tier": tier.lecture, "device_tier": tier.devices} for tier in one.tiers],
                "forward_check": first and _forward_check(first.lecture_checks),
                "inversion": {
                    "residuals": {name: round(left, _RESIDUAL_DECIMALS) for name, left in one.inversion.residuals.items()},
                    "undetermined": [
                        {"quantities": list(names), "meaning": meaning}
                        for names, meaning in zip(one.inversion.undetermined, one.inversion.meanings, strict=True)
                    ],
                },
                "predicted_prices": [_prediction(found) for found in predictions(one)] if first else [],
            },
            "joint": first and _reading(first.joint),
            "architecture": one.known
            and {
                "name": one.known.architecture,
                "grade": one.known.grade,
                "kv_bytes_stored_per_token": one.known.stored,
                "kv_bytes_per_token_read": one.known.read,
                "times_reading": one.times_reading and _six(asdict(one.times_reading)),
            },
            "implied_drain_time": one.implied_drain_time
            and {
                "implied_drain_time_s": one.implied_drain_time.values.get("implied_drain_time"),
                **_moves(one.implied_drain_time),
                "problem": one.implied_drain_time.problem,
            },
            "pairs": [_pair(pair) for pair in one.pairs],
            "pricing_rules": one.rules and _rules(one.rules),
        },
        "estimates": {
            "kv_bytes_per_token": {anchor: _estimate(estimate) for anchor, estimate in one.kv_bytes.items()},
            "kv_bytes_stored_per_token": {estimator: _estimate(estimate) for estimator, estimate in one.kv_bytes_stored.items()},
            **{name: _estimate(estimate) for name, estimate in one.estimates.items()},
            **{name: {"market": _estimate(estimate)} for name, estimate in one.market.items()},
        },
        "apart": one.apart and _six({"factor": one.apart.factor, "nats": one.apart.nats}),
        "storage": [_storage(found) for found in one.storage],
        "tariffs": [_tariff(tariff) for tariff in one.tariffs],
        "worth": _or_none(one.worth, _worth),
        "swings": one.swings and {estimator: _or_none(swings, _swings) for estimator, swings in one.swings.items()},
        "convention": one.convention and _convention(one.convention),
        "identifiability": _identifiability(one.identifiability),
        "forward_check": first and _forward_check(first.joint_checks),
        "diagnostics": {
            "sampler": one.summary.sampler,
            "ess": six_digits(one.summary.ess),
            "pareto_k": six_digits(_finite(one.summary.pareto_k)),
            "pareto_k_trusted_below": one.summary.trusted_below,
            "feasible_fraction": six_digits(one.summary.feasible_fraction),
            "log_evidence": six_digits(_finite(one.summary.log_evidence)),
            "contractions": {name: _six(asdict(found)) for name, found in one.contractions.items()},
        },
        "contradiction": one.contradiction,
        "flags": list(one.flags),
        "left_out": _left_out({
            "worth": one.worth, **{f"swings.{estimator}": swings for estimator, swings in (one.swings or {}).items()},
            "storage": Part(left_out=one.no_storage or ""),
        }),
    }  # fmt: skip


def _prediction(found: Prediction) -> dict[str, object]:
    """A price as published beside the one that the forward model predicts, in its currency and unit."""
    said = {name: value for name, value in asdict(found).items() if name != "price"}
    return _six({**said, "published": found.price.amount, "currency": found.price.currency, "per": found.price.per})


def _left_out(parts: Mapping[str, Part[Any]]) -> dict[str, str]:
    """The parts that are not there, and which row of the tables they rest on cannot be used."""
    return {name: part.left_out for name, part in parts.items() if part.left_out}


def _or_none(part: Part[_T], record: Callable[[_T], _R]) -> _R | None:
    return None if part.value is None else record(part.value)


def _six(numbers: Mapping[str, object]) -> dict[str, object]:
    return {name: six_digits(value) for name, value in numbers.items()}


def _prices(sheet: PriceSheet) -> dict[str, object]:
    return {
        "bands": [
            {
                "threshold_tokens": band.threshold_tokens,
                "threshold_inclusive": band.threshold_inclusive,
                "input": _price(band.input),
                "output": _price(band.output),
                "cache_read": band.cache_read and _price(band.cache_read),
            }
            for band in sheet.bands
        ],
        "cache": [
            {
                "component": offer.component,
                "ttl_seconds": offer.ttl_seconds,
                "threshold_tokens": of_band.threshold_tokens,
                "price": _price(of_band.price),
            }
            for offer in (*sheet.writes, *([sheet.storage] if sheet.storage else []))
            for of_band in offer.prices
        ],
    }


def _price(price: Price) -> dict[str, object]:
    wanted = ("amount", "currency", "per", "verification", "source_url", "notes")
    return {name: getattr(price, name) for name in wanted}


def _rules(found: PricingRules) -> dict[str, object]:
    return {
        "kv_bytes_per_token": {rule: _bounds(solution) for rule, solution in found.solutions.items()},
        "memory_bound_base_cost": found.memory_bound_base_cost,
    }


def _bounds(solution: Solution) -> dict[str, object]:
    """What a rule comes to: a point, where both ends are one, a bound, or neither and why."""
    answer = solution.answers[0] if solution.answers else None
    low, high = answer.ends if answer else (None, None)
    because = why_not(solution.reason) or None
    return {"low": low or None, "high": high, "equations": list(solution.equations), "problem": because}


def _worth(worth: Worth) -> dict[str, object]:
    return {
        "models": list(worth.models),
        "left_out": list(worth.left_out),
        "misreadings": {estimator: _six({**asdict(found), "share": found.share}) for estimator, found in worth.misreadings.items()},
        "records": {estimator: _foretold(found) for estimator, found in worth.records.items()},
        "beside": {quantity: _foretold(found) for quantity, found in worth.beside.items()},
    }


def _verdict(found: Verdict) -> dict[str, object]:
    return _six({**asdict(found), "gain_of_price": found.gain_of_price, "weight": found.weight})


def _held_here(found: HeldHere) -> dict[str, object]:
    times = found.times_lecture and _six(asdict(found.times_lecture))
    counts = {name: {one: asdict(of) for one, of in getattr(found, name).items()} for name in ("ranges", "bounds")}
    return {"sheets": found.sheets, "unsure": found.unsure, "times_lecture": times, **counts}


def _swings(swings: tuple[Swing, ...]) -> list[dict[str, object]]:
    return [_six(asdict(swing)) for swing in swings]


def _convention(found: Convention) -> dict[str, object]:
    seen = (found.premium_in, found.premium_out)
    counted = ("probability_by_cost", "probability_by_habit", "same", "others", "bayes_factor")
    return {
        **{one.name: six_digits(one.value) for one in seen},
        "cells": {one.name: {"low": six_digits(one.low), "high": six_digits(one.high)} for one in seen},
        **{name: six_digits(getattr(found, name)) for name in counted},
    }


def _tier_rules(rules: TierRules) -> dict[str, object]:
    scores = [{**_six(asdict(score)), "mean_log_score": six_digits(_finite(score.mean_log_score))} for score in rules.scores]
    return {"equation": rules.equation, "kind": rules.kind, "scores": scores}


def _estimate(estimate: Estimate) -> dict[str, object]:
    return {
        "kind": estimate.kind,
        "median": six_digits(estimate.median),
        "low": six_digits(estimate.low),
        "high": six_digits(estimate.high),
        "level": estimate.level,
        "because": estimate.because,
        "equations": list(estimate.equations),
        "contraction": six_digits(estimate.contraction),
        "prior_dominated": estimate.prior_dominated,
        "anchors": list(estimate.anchors),
        "record": _foretold(estimate.record) if estimate.record else None,
        "bounds": estimate.bounds and _six(asdict(estimate.bounds)),
        "votes": estimate.votes and _votes(estimate.votes),
    }


def _votes(votes: Votes) -> dict[str, object]:
    cast = [
        {
            "family": one.family,
            "released": one.released.isoformat(),
            "kv_bytes_per_token": six_digits(one.kv_bytes),
            "weight": six_digits(one.weight),
        }
        for one in votes.cast
    ]
    return {"families": len(votes.cast), "effective_families": six_digits(votes.effective), "cast": cast}


def _negative_controls(found: Sequence[NegativeControl]) -> list[dict[str, object]]:
    return [{**asdict(one), "models": list(one.models), "ratio": one.ratio} for one in found]


def _foretold(record: Record) -> dict[str, object]:
    return {
        "of": record.of,
        "count": record.count,
        "groups": record.groups,
        **_six({name: getattr(record, name) for name in ("rms", "rms_of_class", "gain", "standard_error")}),
        "interval": [six_digits(end) for end in record.interval],
        "held": [asdict(one) | {"low": six_digits(one.low), "high": six_digits(one.high)} for one in record.held],
    }


def _storage(found: TierEvidence) -> dict[str, object]:
    return {
        "ttl_seconds": found.ttl_seconds,
        "probabilities": _shares(found.probabilities),
        "range": _ends(found.ranges),
        "agreed": list(found.agreed),
        "agreed_share": found.agreed_share,
        "undisclosed": _shares(found.undisclosed),
        "undisclosed_range": _ends(found.undisclosed_ranges),
        "undisclosed_agreed": list(found.undisclosed_agreed),
        "undisclosed_agreed_share": found.undisclosed_agreed_share,
        "rented": _shares(found.rented),
        "owned": _shares(found.owned),
        "cases": [
            {"basis": case.basis, "year": case.year, "weight": case.weight, "probabilities": _shares(case.probabilities)}
            for case in found.cases
        ],
        "evidence": list(found.evidence),
        "implied_drain_time_s": found.implied_drain_time,
        "disclosed_tier": found.disclosed,
        "lecture": _shares(found.lecture),
        "anchors": list(found.anchors),
        "sole_source": found.sole_source and {"database": found.sole_source.database, "ttl_seconds": list(found.sole_source.ttls)},
    }


def _shares(probabilities: Mapping[str, float] | None) -> dict[str, float] | None:
    return None if probabilities is None else dict(probabilities)


def _ends(ranges: Mapping[str, tuple[float, float]] | None) -> dict[str, dict[str, float]] | None:
    return None if ranges is None else {tier: {"low": low, "high": high} for tier, (low, high) in ranges.items()}


def _tariff(tariff: Tariff) -> dict[str, object]:
    def ends(part: Observable | None) -> dict[str, float | None] | None:
        return None if part is None else {"value": part.value, "low": part.low, "high": _finite(part.high)}

    return {
        "shorter_ttl": tariff.shorter_ttl,
        "longer_ttl": tariff.longer_ttl,
        "storage_price": ends(tariff.storage_price),
        "write_charge": ends(tariff.write_charge),
        "drain_time": ends(tariff.drain_time),
        "problem": tariff.problem,
    }


def _identifiability(found: Identifiability) -> dict[str, object]:
    return {
        "regime": found.regime,
        "rank": found.rank,
        "nullity": found.nullity,
        "hidden": found.hidden,
        "condition": found.condition,
        "pinned": list(found.pinned),
        "missing_facts": {name: facts if facts is None else list(facts) for name, facts in found.missing_facts.items()},
        "degenerate_with": dict(found.degenerate_with),
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _reading(reading: Reading) -> dict[str, object]:
    wanted = ("kv_bytes_per_token", "balance_context", "attention_flops_per_pair", "weight_compute_ratio", "memory_time_share")
    steps = [{"quantity": step.unknown, "value": step.value} for step in reading.solution.route if reading.values]
    return {**{name: reading.values.get(name) for name in wanted}, "steps": steps, **_moves(reading), "problem": reading.problem}


def _moves(reading: Reading | None) -> dict[str, object]:
    """The outside facts that a reading of KV bytes rests on, and per cent of it per cent of each number that goes in."""
    if reading is None or not reading.values:
        return {"anchors": [], "elasticities": {}}
    return {"anchors": list(reading.anchors), "elasticities": _six(reading.solution.answers[0].elasticities)}


def _pair(pair: PairInference) -> dict[str, object]:
    seen = pair.pair
    return {
        "long_context_threshold": seen.long_context_threshold,
        "short_context": seen.short_context,
        "long_context": seen.long_context,
        "output_input_ratio": seen.output_input_ratio.value,
        "premium_in": seen.premium_in.value,
        "premium_out": seen.premium_out.value,
        "lecture": {"kv_bytes_per_token": pair.lecture.values.get("kv_bytes_per_token"), **_moves(pair.lecture)},
        "joint": _reading(pair.joint),
        "forward_check": {"lecture": _forward_check(pair.lecture_checks), "joint": _forward_check(pair.joint_checks)},
        "joint_over_lecture": six_digits(pair.joint_over_lecture),
        "verdict": {"lecture": verdict(pair.lecture_checks), "joint": verdict(pair.joint_checks)},
    }


def _forward_check(checks: tuple[Check, ...]) -> dict[str, object]:
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
