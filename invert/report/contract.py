"""Inferences for programs: JSON and CSV, in SI units. `_KEYS` is the table of keys, by which results are encoded and questions decoded."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from math import log
from typing import Any

from derive.errors import shorten
from derive.files import label
from derive.immutable import immutable
from derive.show.layout import csv_text
from derive.solving.result import Solution
from invert import records
from invert.data import Made
from invert.encoder import Codec, Keys, Leaf, Nested, Through, WrongShape, names_of
from invert.estimate_text import round_digits
from invert.estimators.lecture import PairInference
from invert.posterior.draws import RELIABLE
from invert.posterior.sampler import Marginal
from invert.report.columns import csv_names, flat, flat_before
from invert.report.prices import PLACE, Prediction, predictions
from invert.result import AS_TABLE, Inference, Request, Run, Shown
from invert.sheets.rows import FileText, PriceRow, is_typed_sheet
from invert.sheets.sheet import Price, PriceSheet

SCHEMA = "infer-2"
_UTF_8 = "utf-8"
"""The encoding of a file in a saved result."""
_RESIDUAL_DECIMALS = 12
"""Decimals of the residual of a price. Smaller parts are rounding, which differs between machines."""


@immutable
class Question:
    """Question of a saved run, its display options, and its provenance. `as_of` is the day of its prices."""

    request: Request
    shown: Shown
    as_of: date
    day_given: bool
    changes: Mapping[str, str]
    assumptions: Mapping[str, Any]
    made: Made


# What no field holds under a key of its own.


def _cache_prices(sheet: PriceSheet) -> list[dict[str, Any]]:
    return [
        {"component": price.component, "ttl_seconds": price.ttl_seconds, "threshold_tokens": price.threshold_tokens, "price": price}
        for price in sheet.prices.values()
        if price.component in ("cache_write", "cache_storage")
    ]


def _estimates(one: Inference) -> dict[str, records.Estimate | Mapping[str, records.Estimate]]:
    return {
        "kv_bytes_per_token": one.kv_bytes,
        "kv_bytes_stored_per_token": one.kv_bytes_stored,
        **one.estimates,
        **{name: {"by_price": estimate} for name, estimate in one.by_price.items()},
    }


def _cells(found: records.Convention) -> dict[str, Any]:
    return _ends({one.name: (round_digits(one.low), round_digits(one.high)) for one in (found.premium_in, found.premium_out)})


def _ends(ranges: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    return {name: {"low": low, "high": high} for name, (low, high) in ranges.items()}


def _rows(table: Run) -> list[PriceRow]:
    """Return the price rows of the sheets, as in their files."""
    sheets = {one.key for one in table}
    return [row for row in table.rows if row.sheet_key in sheets]


def _checks_at(path: str) -> Through:
    """Return the checks at a path by component."""
    return Through(path, lambda checks: {check.component: check for check in checks}, dict[str, records.Check])


_NOTHING_LEFT_OUT = Through("", lambda _: {}, dict[str, str])
"""An empty object: a wrong row of a table stops the run. Earlier versions listed here what they left out."""


def _with(kind: type, *computed: str, without: Sequence[str] = (), **renamed: str) -> dict[str, Any]:
    """Return the keys of a record: its fields, fields with another key (`key="field"`), and computed values."""
    keys = {name: name for name in names_of(kind) if name not in (*without, *renamed.values())}
    return {**keys, **{name: name for name in computed}, **renamed}


SHEET: Keys = {
    "provider": "sheet.provider",
    "model": "sheet.model",
    "as_of": "sheet.as_of",
    "service_tier": "sheet.service_tier",
    "region": Through("sheet.region", lambda text: text or None, str | None),
    "prices": "sheet",
    "observables": Nested({
        "input_price_usd_per_token": "sheet.bands.0.input.usd_per_token",
        "output_price_usd_per_token": "sheet.bands.0.output.usd_per_token",
        "long_context_threshold": "first_pair.pair.long_context_threshold",
        **{name: f"first_pair.pair.{name}.value" for name in ("premium_in", "premium_out")},
        "output_input_ratio": "observables.output_input_ratio.value",
        "cache_read_ratio": "observables.cache_read_ratio.value",
        "cache_write_premiums": "observables.cache_write_premiums",
        "storage_price_usd_per_token_second": "observables.storage_price.value",
    }),
    "anchors": Through(
        "", lambda one: {name: {"value": value, "origin": one.anchors.origin[name]} for name, value in one.anchors.values.items()},
        dict[str, dict[str, Any]],
    ),
    "equations": "equations",
    "readings": Nested({
        "lecture": Nested({
            "kv_bytes_per_token": "first_pair.lecture.values.kv_bytes_per_token",
            "anchors": Through("", lambda one: one.first_pair.lecture.anchors if one.first_pair else (), list[str]),
            "elasticities": Through("", lambda one: one.first_pair.lecture.elasticities if one.first_pair else {}, dict[str, float]),
            "output_input_ratio_claimed": "first_pair.claimed_ratio",
            "bandwidth_bound_fraction": "bandwidth_bound.values.bandwidth_bound_fraction",
            "bandwidth_bound_problem": "bandwidth_bound.problem",
            "bandwidth_bound_elasticities": "bandwidth_bound.elasticities",
            "storage": "tiers",
            "forward_check": _checks_at("first_pair.lecture_checks"),
            "inversion": Nested({
                "residuals": Through("inversion.residuals", lambda left: {name: round(left[name], _RESIDUAL_DECIMALS) for name in left},
                                     dict[str, float]),
                "undetermined": Through("inversion", lambda found: [
                    {"quantities": list(names), "meaning": meaning}
                    for names, meaning in zip(found.undetermined, found.meanings, strict=True)
                ], list[dict[str, Any]]),
            }),
            "predicted_prices": Through("", lambda one: list(predictions(one)) if one.first_pair else [], list[Prediction]),
        }),
        "joint": "first_pair.joint",
        "architecture": Nested({
            "name": "known.architecture",
            "grade": "known.grade",
            "kv_bytes_stored_per_token": "known.stored",
            "kv_bytes_per_token_read": "known.read",
            "times_reading": Nested(
                {name: f"times_reading.{name}" for name in ("lecture", "joint")}, unless_none="times_reading", rounded=True
            ),
        }, unless_none="known"),
        "implied_drain_time": Nested({
            "implied_drain_time_s": "implied_drain_time.values.implied_drain_time",
            "anchors": "implied_drain_time.anchors",
            "elasticities": "implied_drain_time.elasticities",
            "problem": "implied_drain_time.problem",
        }, unless_none="implied_drain_time"),
        "pairs": "pairs",
        "pricing_rules": "rules",
    }),
    "estimates": Through("", _estimates, dict[str, records.Estimate | Mapping[str, records.Estimate]]),
    "apart": Nested({"factor": "apart", "nats": Through("apart", log, float)}, unless_none="apart", rounded=True),
    "storage": "storage",
    "tariffs": "tariffs",
    "reliability": "reliability",
    "swings": "swings",
    "convention": "convention",
    "identifiability": "identifiability",
    "forward_check": _checks_at("first_pair.joint_checks"),
    "diagnostics": Nested({
        "sampler": "summary.sampler",
        "ess": "summary.ess",
        "pareto_k": "summary.pareto_k",
        "pareto_k_trusted_below": Through("summary", lambda _: RELIABLE, float),
        "feasible_fraction": "summary.feasible_fraction",
        "log_evidence": "summary.log_evidence",
        "contractions": "contractions",
    }, rounded=True),
    "fast_mode": "fast_mode",
    "contradiction": "contradiction",
    "flags": "flags",
    "left_out": _NOTHING_LEFT_OUT,
}  # fmt: skip
OF_RUN: Keys = {
    "premium_verdict": "premium_verdict",
    "drain_times": "drain_times",
    "tier_rules": "tier_rules",
    "lecture_error": "lecture_error",
    "negative_controls": "negative_controls",
    "left_out": _NOTHING_LEFT_OUT,
}
"""Results from the tables in a full report, shared by all sheets of a run."""
FOUND: Keys = {
    "anchors": "anchors.values",
    "price_cost_of_lists": Through("price_cost_of_lists", round_digits, float),
    "mean_contexts": "mean_contexts",
    **OF_RUN,
    "shared_tariffs": "shared_tariffs",
    "notes": "notes",
    "problems": Through("problems", lambda found: [*map(str, found)], list[str]),
    "rows": Through("", _rows, list[PriceRow]),
}
"""Results of a saved run except its question and its sheets."""
_KEYS: dict[type, Keys] = {
    Question: {
        "versions": "made.versions",
        "seeds": "made.seeds",
        "tables": "made.tables",
        "asked": Nested({
            "models": "request.names",
            "providers": "request.providers",
            "tier": "request.tier",
            "day_given": "day_given",
            "all": "request.everything",
            "prices": "request.prices",
            "knowledge": "request.knowledge",
            "against": "shown.against",
            "where": "shown.wanted",
            "sort": "shown.by",
            "form": Nested({
                "as": "shown.style",
                **{name: f"shown.{name}" for name in ("full", "wide", "summary", "history", "columns")},
            }),
        }),
        "as_of": "as_of",
        "assumptions": "assumptions",
        "changes": "changes",
    },
    Inference: SHEET,
    PriceSheet: {"bands": "bands", "cache": Through("", _cache_prices, list[dict[str, Any]])},
    Price: {name: name for name in ("amount", "currency", "per", "verification", "source_url", "notes")},
    records.AlsoSold: {
        "service_tier": "service_tier", "region": Through("region", lambda text: text or None, str | None),
        "input_price_usd_per_token": "input_price", "times_input_price": "times",
    },
    records.TierReading: {"ttl_seconds": "ttl_seconds", "tier": "lecture", "device_tier": "devices"},
    PairInference: {
        **{name: f"pair.{name}" for name in ("long_context_threshold", "short_context", "long_context")},
        **{name: f"pair.{name}.value" for name in ("output_input_ratio", "premium_in", "premium_out")},
        "lecture": Nested({
            "kv_bytes_per_token": "lecture.values.kv_bytes_per_token",
            "anchors": "lecture.anchors",
            "elasticities": "lecture.elasticities",
        }),
        "joint": "joint",
        "forward_check": Nested({
            "lecture": _checks_at("lecture_checks"), "joint": _checks_at("joint_checks"),
        }),
        "joint_over_lecture": Through("joint_over_lecture", round_digits, float),
        "verdict": Nested({
            "lecture": Through("lecture_checks", records.verdict, str), "joint": Through("joint_checks", records.verdict, str),
        }),
    },
    records.Check: {
        **{name: name for name in ("published", "predicted", "used_by_reading")},
        "inside_rounding_cell": Through("", lambda check: None if check.bound else check.inside_rounding_cell, bool | None),
        "bound_met": Through("", lambda check: check.inside_rounding_cell if check.bound else None, bool | None),
    },
    records.Reading: {
        **{name: f"values.{name}" for name in ("kv_bytes_per_token", "balance_context", "attention_flops_per_pair",
                                               "weight_compute_ratio", "memory_time_share")},
        "steps": Through(
            "", lambda one: [{"quantity": step.unknown, "value": step.value} for step in one.solution.route if one.values],
            list[dict[str, Any]],
        ),
        "anchors": "anchors", "elasticities": "elasticities", "problem": "problem",
    },
    Prediction: {
        **PLACE, **_with(Prediction, without=["price"]), "published": "price.amount", "currency": "price.currency", "per": "price.per",
    },
    records.PricingRules: {"kv_bytes_per_token": "solutions", "memory_bound_base_cost": "memory_bound_base_cost"},
    Solution: {
        # An end of 0 is no end.
        "low": Through("", lambda found: (found.answers[0].ends[0] or None) if found.answers else None, float | None),
        "high": Through("", lambda found: found.answers[0].ends[1] if found.answers else None, float | None),
        "equations": "equations", "problem": "reason.message",
    },
    records.Estimate: _with(records.Estimate, without=["quantity"]),
    records.FamilyWeights: {"families": Through("weights", len, int), "effective_families": "effective", "weights": "weights"},
    records.FamilyWeight: _with(records.FamilyWeight, kv_bytes_per_token="kv_bytes"),
    records.TierEvidence: {
        "ttl_seconds": "ttl_seconds", "probabilities": "answer.probabilities", "range": Through("answer.ranges", _ends, dict[str, Any]),
        "agreed": Through("", lambda found: found.answer.agreed if found.answer else (), list[str]), "agreed_share": "answer.agreed_share",
        "undisclosed": "by_price.probabilities", "undisclosed_range": Through("by_price.ranges", _ends, dict[str, Any]),
        "undisclosed_agreed": Through("", lambda found: found.by_price.agreed if found.by_price else (), list[str]),
        "undisclosed_agreed_share": "by_price.agreed_share", "rented": "rented", "owned": "owned", "cases": "cases",
        "evidence": "evidence", "implied_drain_time_s": "implied_drain_time", "disclosed_tier": "disclosed", "lecture": "lecture",
        "anchors": "anchors", "sole_source": "sole_source",
    },
    records.SoleSource: {"database": "database", "ttl_seconds": "ttls"},
    Marginal: {name: name for name in ("prior_spread", "spread", "contraction", "prior_dominated")},
    records.Observable: {"value": "value", "low": "low", "high": "high"},
    records.Misreading: _with(records.Misreading, "share"),
    records.Verdict: _with(records.Verdict, "gain_of_price", "weight"),
    records.NegativeControl: _with(records.NegativeControl, "ratio"),
    records.Identifiability: _with(records.Identifiability, "hidden", without=["prices"]),
    records.Convention: {
        "premium_in": "premium_in.value", "premium_out": "premium_out.value", "cells": Through("", _cells, dict[str, Any]),
        **{name: name for name in ("probability_by_cost", "probability_by_habit", "same", "others", "bayes_factor")},
    },
}  # fmt: skip
_ROUNDED = frozenset([
    Prediction, records.AlsoSold, records.Bounds, Marginal, records.Convention, records.Coverage, records.Estimate,
    records.FamilyWeight, records.FamilyWeights, records.Misreading, records.Record, records.RuleScore, records.Span, records.Swing,
    records.Verdict,
])  # fmt: skip


def _write_file(file: FileText) -> dict[str, object]:
    """Encode a file with its content as text."""
    content = file.content.decode(_UTF_8, errors="replace")
    return {"place": file.place, "encoding": _UTF_8, "content": content, **({"rates": dict(file.rates)} if file.rates else {})}


def _read_file(found: Mapping[str, Any]) -> FileText:
    """Decode the content of a file. Its place is only a name and is never opened."""
    place, encoding, content = (found.get(name) for name in ("place", "encoding", "content"))
    try:
        if isinstance(place, str) and place.isprintable() and label(place) == place and isinstance(content, str) and encoding == _UTF_8:
            rates = CODEC.decode(dict[str, float], found.get("rates", {}))
            return FileText(place, content.encode(_UTF_8), tuple(rates.items()), (place, 2) if is_typed_sheet(place) else None)
    except ValueError:
        pass
    raise ValueError(f"but must be a file: place, encoding ({_UTF_8}), content and rates")


def _read_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("but must be a day, such as 2026-11-20") from None


CODEC = Codec(
    keys=_KEYS, leaves={date: Leaf(str, date.isoformat, _read_day), FileText: Leaf(dict, _write_file, _read_file)}, rounded=_ROUNDED
)


def read_question(document: object) -> Question:
    """Return the question of a document of `--save`. Raises `WrongShape` for any other document."""
    if isinstance(document, list):
        raise WrongShape("a list, as --as json prints it, does not contain the question")
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise WrongShape("it names no schema")
    if document["schema"] != SCHEMA:
        raise WrongShape(f"its schema is {shorten(document['schema'])}, and this version reads {SCHEMA!r}")
    if "run" not in document:
        raise WrongShape("it lacks run")
    if isinstance(document["run"], dict) and isinstance(typed := document["run"].get("asked"), dict):
        typed.setdefault("knowledge", None)  # A result of an earlier version has no scores.
    found: Question = CODEC.decode(Question, document["run"], "run")
    return found


def anchors_given(question: Question) -> dict[str, float]:
    """Return the anchors that the user gave [SI], by name."""
    assumed, at = question.assumptions, "run.assumptions"
    names = CODEC.decode(tuple[str, ...], assumed.get("given"), f"{at}.given")
    return {name: CODEC.decode(float, assumed.get(name), f"{at}.{name}") for name in names}


def sheet_records(table: Run) -> list[dict[str, Any]]:
    """Return the list of `--as json`, one object per sheet."""
    of_run = CODEC.encode_keys(table, OF_RUN)
    return [
        {**CODEC.encode(one), "also_sold": CODEC.encode(table.also_sold(one)), "before": flat_before(one, table), "of_run": of_run}
        for one in table.inferences
    ]


def run_as_json(table: Run) -> str:
    """Return strict JSON, without NaN and infinity."""
    return json.dumps(sheet_records(table), indent=2, allow_nan=False)


def saved(table: Run, shown: Shown = AS_TABLE) -> str:
    """Return the document of `--save`: schema, question, provenance, and the sheets."""
    run = {**CODEC.encode(question_of(table, shown)), **CODEC.encode_keys(table, FOUND)}
    head = json.dumps({"schema": SCHEMA, "run": run}, indent=2, allow_nan=False).removesuffix("\n}")
    # A line a sheet: half of what a market takes would be the spaces before its lines.
    sheets = ",\n".join(json.dumps(one, allow_nan=False) for one in sheet_records(table))
    return f'{head},\n  "sheets": [\n{sheets}\n]}}\n'


def question_of(table: Run, shown: Shown) -> Question:
    """Return the question and the provenance of a run, as `--save` writes them."""
    return Question(
        request=table.request,
        shown=shown,
        as_of=table.as_of,
        day_given=table.request.as_of is not None,
        changes=table.changes,
        assumptions=CODEC.encode(table.assumptions),
        made=table.made,
    )


def run_as_csv(table: Run, columns: Sequence[str] = ()) -> str:
    """Return CSV with one line per sheet: the first pair of bands, SI units, unrounded numbers, some columns or all.

    If a price that was set by hand moved a column, a second column named with `_before` has the published value.
    """
    names = csv_names(columns)
    before = [flat_before(one, table) or {} for one in table.inferences]
    moved = [name for name in names if any(name in of for of in before)]
    rows = []
    for one, of in zip(table.inferences, before, strict=True):
        row = flat(one, names)
        rows.append({**row, **{f"{name}_before": of.get(name, row[name]) for name in moved}})
    return csv_text([said for name in names for said in ((name, f"{name}_before") if name in moved else (name,))], rows)
