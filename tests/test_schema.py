"""What `--as json` prints and `--save` writes against the JSON Schemas of docs/reference/schema, and those against the contract."""

import copy
import json
import runpy
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from derive.quantities.formula import symbols
from derive.show.text import render
from derive.solving.api import solve
from derive.solving.result import Answer
from invert.inference import infer
from invert.report.contract import run_as_json as inferred
from invert.report.contract import saved
from invert.report.overview import OVERVIEW, OVERVIEW_SCHEMA, overview
from invert.result import Shown
from invert.sheets.rows import FileText
from tests.tools.commands import call
from tests.tools.inferred import current
from tests.tools.inferred import everything_with_tiered_sonnet as everything
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

DOCS = Path(__file__).parents[1] / "docs"
SCHEMAS = DOCS / "reference" / "schema"


@cache
def validator(name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not strict JSON")


def strict(text: str) -> Any:
    return json.loads(text, parse_constant=refuse)


def faults(name: str, document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(document)]


# -- solve ----------------------------------------------------------------------------------------------------------

H100 = {"hardware": "H100-SXM:fp8"}
BANDS = ("premium_in", "output_input_ratio", "premium_out", "decode_cost_short", "decode_cost_long", "balance_context")
SOLVED = {  # what is asked; what comes of it: kinds of the answers, or the code of the reason
    "one point": ({"unknown": "balance_batch", "machine_balance_ratio": 300, "sparsity": 8}, ["point"]),
    "presets and defaults": ({"unknown": "step_time", "model": "DeepSeek-V3", "batch": 88, "context_length": 4989, "bytes_per_element": 1,
        "chips": 16, **H100}, ["point"]),
    "interval with an upper end": ({"unknown": "memory_time", "step_time": 0.02, "compute_time": 0.02}, ["interval"]),
    "interval with an upper end, by closed form": (
        {"unknown": "context_length", "compute_utilisation": 1, "batch": 1e4, "balance_batch": 5e3, "balance_context": 1e5}, ["interval"],
    ),
    "interval without an upper end": ({"unknown": "concurrent_sequences", "using": ["batching.users_needed"], "balance_batch": 2400},
        ["interval"]),
    "a condition by name": (
        {"unknown": "kv_bytes_per_token", "using": ["readings.threshold_is_crossover"], "active_params": 1e11, "bytes_per_weight": 1,
         "machine_balance_ratio": 300, "long_context_threshold": 2e5}, ["point"],
    ),
    "missing givens": ({"unknown": "balance_batch", "machine_balance_ratio": 300}, "missing_givens"),
    "contradiction": (
        {"unknown": "balance_batch", "machine_balance_ratio": 300, "sparsity": 8, "total_params": 6e11, "active_params": 3e10},
        "contradiction",
    ),
    "no solution": ({"unknown": "memory_time", "step_time": 0.02, "compute_time": 0.03}, "no_solution"),
    "requirement violated": (
        {"unknown": "bandwidth_bound_fraction", "using": ["readings.bandwidth_bound_fraction"], "output_input_ratio": 0.5},
        "requirement_violated",
    ),
    "not identified": (
        {"unknown": "balance_context", "using": [f"bands.{name}" for name in BANDS], "premium_in": 1, "premium_out": 2,
         "output_input_ratio": 1, "short_context": 1e5, "long_context": 4e5, "prompt_position": 0.5, "overlap": 1,
         "prefill_decode_flops_ratio": 1, "active_params": 1e11}, "not_identified",
    ),
    "does not fit": (
        {"unknown": "step_time", "hardware": "H100:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "chips": 7, "batch": 1,
         "context_length": 1000}, "does_not_fit",
    ),
    "list": ({"unknown": "step_time", "compute_time": 0.02, "memory_time": "10ms,30ms"}, ["interval"]),
    "range": ({"unknown": "step_time", "compute_time": 0.02, "memory_time": "10ms..30ms"}, ["interval"]),
    "bounds over a range": ({"unknown": "concurrent_sequences", "using": ["batching.users_needed"], "balance_batch": "2400..4800"},
        ["interval"]),
    "ranges in a list": (
        {"unknown": "context_length", "compute_utilisation": "0.2,1", "batch": "1e4..1e5", "balance_batch": 5e3, "balance_context": 1e5},
        ["interval"],
    ),
}  # fmt: skip


@in_one_test(("asked", "expected"), SOLVED.values(), ids=SOLVED)
def test_solve_prints_what_its_schema_says(asked: dict, expected: list[str] | str):
    document = strict(render(solve(**asked), "json"))
    assert faults("solve", document) == []
    found = [answer["kind"] for answer in document["answers"]] or document["reason"]["code"]
    assert found == expected


def test_a_bound_that_does_not_exist_is_null():
    for name, bounds in (("interval without an upper end", None), ("interval with an upper end", 0.02)):
        (answer,) = strict(render(solve(**SOLVED[name][0]), "json"))["answers"]
        assert answer["high"] == bounds and "value" not in answer, name


def test_bounds_over_ranges_have_both_ends_and_those_with_nothing_in_common_are_of_their_own_kind():
    solution = solve("concurrent_sequences", using=["batching.users_needed"], balance_batch="2400..4800")
    (bound,) = strict(render(solution, "json"))["answers"]
    assert (bound["low"], bound["high"], bound["loose_low"], bound["loose_high"]) == (4800, None, 2400, None)
    apart = strict(render(replace(solution, answers=(Answer(kind="loose", loose_low=1.0, loose_high=4.0),)), "json"))
    assert faults("solve", apart) == [] and (apart["answers"][0]["low"], apart["answers"][0]["loose_high"]) == (None, 4.0)
    for spoiled in ({"low": 1.0}, {"loose_low": None}, {"kind": "interval"}):
        assert faults("solve", {**apart, "answers": [apart["answers"][0] | spoiled]})


def test_a_formula_of_symbols_is_an_answer_of_its_own_kind():
    found = strict(render(solve("balance_batch", machine_balance_ratio=symbols.machine_balance_ratio, sparsity=8), "json"))
    assert faults("solve", found) == [] and found["answers"][0]["formula"] == "8*machine_balance_ratio"
    for spoiled in ({"low": 1.0}, {"formula": None}, {"kind": "loose"}, {"value": 8.0}):
        assert faults("solve", {**found, "answers": [found["answers"][0] | spoiled]})


# -- infer ----------------------------------------------------------------------------------------------------------


BROKEN = {"overlap": 0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.3}


@cache
def all_sheets() -> list[dict[str, Any]]:
    return strict(inferred(everything()))


@pytest.mark.slow
def test_every_sheet_of_every_tier_prints_what_the_schema_says():
    document = all_sheets()
    assert len(document) == len(everything().inferences) > 33
    assert faults("infer", document) == []


@pytest.mark.slow
@in_one_test(
    "asked",
    [
        {"names": ["claude-sonnet-4-5"], "anchors": {"overlap": 0, "prefill_decode_flops_ratio": 1.3}},  # no joint reading
        {"names": ["gemini-3.1-pro"], "changes": {"output": "2", "output@200k": "2"}},  # R = 1 and no premium
        {"names": ["gemini-3.1-pro"], "changes": {"cache_storage": "0", "cache_read": "0"}},  # free items
        {"anchors": {"active_params": "60B", "short_context": "10k", "long_context": "900k"}},
        {"anchors": {"overlap": 0.5}, "as_of": None, "tier": "batch"},
        {"names": ["claude-sonnet-4-5"], "anchors": BROKEN},  # a contradiction
        {"names": ["gemini-3.1-pro"], "changes": {"input@200k": "0.5"}},  # no draw fits
        {"names": ["kimi-k3"], "anchors": {"kv_bytes_per_token": "70kB"}, "changes": {"cache_write:1h": "3"}},  # a tariff without a slope
        {"names": ["gemini-3.1-pro"], "anchors": {"kv_bytes_per_token": "70kB"}},
        {"names": ["claude-sonnet-4-5"], "anchors": {**BROKEN, "kv_bytes_per_token": "70kB"}},  # a contradiction, KV given
    ],
)
def test_sheets_under_other_anchors_and_prices_keep_to_the_schema(asked: dict):
    assert faults("infer", strict(inferred(infer(**asked)))) == []


def test_a_sheet_of_one_s_own_keeps_to_the_schema(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("provider,model,region,component,amount,currency\nacme,m,eu,input,7,CNY\nacme,m,eu,output,14,CNY\n")
    document = strict(inferred(infer(["acme/m"], prices=path)))
    assert faults("infer", document) == [] and [sheet["region"] for sheet in document] == ["eu"]


@pytest.mark.slow
def test_a_saved_run_keeps_to_the_schema_and_holds_the_same_list():
    document = strict(saved(everything()))
    assert faults("infer", document) == []
    assert document["sheets"] == all_sheets()
    assert (document["schema"], document["run"]["as_of"]) == ("infer-2", "2026-11-20")
    assert document["run"]["anchors"]["ridge_point"] == 600
    own, old = FileText("own.csv", b"provider,model,component,amount\nacme,m,input,7\nacme,m,output,14\n"), FileText("old.csv", b"\xff")
    for against in ("shipped", "2026-03-12", old):
        document = strict(saved(infer(["acme/m"], prices=own), Shown(against=against, columns="model")))
        assert faults("infer", document) == [] and document["run"]["asked"]["prices"]["place"] == "own.csv"
    for name, value in (("day_given", None), ("against", "old.csv"), ("prices", {"place": "own.csv"}), ("more", 1)):
        asked = {**document["run"]["asked"], name: value}
        assert not validator("infer").is_valid({**document, "run": {**document["run"], "asked": asked}}), name


def estimates_of(sheet: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All estimates of a sheet by name, those of KV bytes by anchor, those of the market by quantity."""
    estimates = dict(sheet["estimates"])
    market = {name: estimates.pop(name)["by_price"] for name in ("active_params", "total_params", "input_price_cost_ratio")}
    stored = {f"stored_{name}": one for name, one in estimates.pop("kv_bytes_stored_per_token").items()}
    return {**estimates.pop("kv_bytes_per_token"), **stored, **estimates, **market}


def test_a_contradiction_is_a_sentence_and_its_estimates_are_null():
    (sheet,) = strict(inferred(infer(["claude-sonnet-4-5"], anchors=BROKEN)))
    assert sheet["contradiction"].startswith("inconsistent: ")
    kinds = {name: estimate["kind"] for name, estimate in estimates_of(sheet).items()}
    assert kinds["from_all_prices"] == kinds["balance_context"] == "undetermined" and kinds["typical"] == "interval"


# -- the schemas themselves -----------------------------------------------------------------------------------------

# The keys that the project promises; further ones may be added, none may go.
CONTRACT = {
    "solve": {"unknown", "unit", "answers", "equations", "given", "assumptions", "provenance", "reason"},
    "infer": {
        "provider", "model", "as_of", "service_tier", "observables", "anchors", "equations", "readings", "estimates", "storage",
        "identifiability", "forward_check", "diagnostics", "flags",
    },
}  # fmt: skip


def test_the_schemas_ask_for_every_key_of_the_contract():
    assert CONTRACT["solve"] == set(validator("solve").schema["required"])
    sheet = validator("infer").schema["$defs"]["sheet"]
    assert set(sheet["required"]) - CONTRACT["infer"] == {
        "region", "prices", "also_sold", "apart", "tariffs", "reliability", "swings", "convention", "contradiction", "left_out",
        "before", "of_run", "fast_mode",
    }  # fmt: skip
    assert set(sheet["required"]) >= CONTRACT["infer"]
    assert {"lecture", "joint"} <= set(sheet["properties"]["readings"]["required"])
    assert set(sheet["properties"]["observables"]["required"]) >= {
        "long_context_threshold", "premium_in", "premium_out", "output_input_ratio", "cache_read_ratio",
    }  # fmt: skip
    check = validator("infer").schema["$defs"]["check"]
    assert set(check["required"]) == {"published", "predicted", "used_by_reading", "inside_rounding_cell", "bound_met"}


def parts(node: Any, path: str = "$") -> Iterator[tuple[str, dict]]:
    if isinstance(node, dict):
        yield path, node
        for key, child in node.items():
            yield from parts(child, f"{path}.{key}")
    elif isinstance(node, list):
        for place, child in enumerate(node):
            yield from parts(child, f"{path}[{place}]")


@pytest.mark.parametrize("name", ["solve", "infer"])
def test_every_key_is_described_and_every_object_is_closed(name: str):
    schema = validator(name).schema
    for path, node in parts(schema):
        if ".if" in path or ".then" in path or ".else" in path or ".allOf[" in path:
            continue  # narrows what is described and closed elsewhere
        if isinstance(node.get("properties"), dict):
            assert "additionalProperties" in node or node is schema, path
            for key, child in node["properties"].items():
                described = child if "description" in child else schema["$defs"][child["$ref"].rsplit("/", 1)[1]]
                assert described.get("description"), f"{path}.{key}"


@in_one_test(
    ("name", "changed"),
    [
        ("solve", {"answers": []}),  # nothing found and no reason
        ("solve", {"reason": {"code": "missing_givens", "missing": [], "violated": []}}),  # an answer and a reason
        ("solve", {"equations": ["batching.balance_batch"]}),  # no version
        ("solve", {"unknown": "Balance Batch"}),
    ],
)
def test_a_contradictory_document_is_refused(name: str, changed: dict):
    document = strict(render(solve(**SOLVED["one point"][0]), "json"))
    assert validator(name).is_valid(document) and not validator(name).is_valid(document | changed)


INTERVAL = {"kind": "interval", "median": 2.0, "low": 1.0, "high": 3.0}
NOTHING = {"median": None, "low": None, "high": None}
KV = ("estimates", "kv_bytes_per_token")
SPOILED = [  # where in the record of Claude Sonnet 4.5, and what is put there
    ((*KV, "typical"), INTERVAL | {"low": None}),
    ((*KV, "typical"), INTERVAL | {"high": "Infinity"}),
    ((*KV, "typical"), {"kind": "upper", **NOTHING, "low": 1.0}),
    ((*KV, "from_all_prices"), {"kind": "undetermined", **NOTHING}),  # with a contraction
    ((*KV, "from_premium_at_cost"), {"kind": "given", "median": 1.0, "low": 1.0, "high": 1.0}),  # what rent pays for is never given
    ((*KV, "typical"), {"anchors": ["ridge_point"]}),
    ((*KV, "from_all_prices"), {"record": None}),  # at a level all the same
    ((*KV, "from_all_prices"), {"equations": ["bands.price"]}),
    (("estimates", "memory_time_share"), INTERVAL),  # a share of 3
    (("storage", 0, "probabilities"), {"hbm": 1.1}),
    (("storage", 0), {"disclosed_tier": "tape"}),
    (("tariffs", 0, "storage_price"), {"high": None}),
    (("diagnostics",), {"sampler": "guess"}),
    ((), {"contradiction": "inconsistent: so"}),  # and still an interval
    ((), {"estimates": None}),
]  # fmt: skip


@pytest.mark.slow
@in_one_test(("path", "changed"), SPOILED)
def test_a_record_that_contradicts_itself_is_refused(path: tuple, changed: dict):
    document = copy.deepcopy([next(sheet for sheet in all_sheets() if sheet["model"] == "claude-sonnet-4-5")])
    assert validator("infer").is_valid(document)
    holder = document[0]
    for step in path:
        holder = holder[step]
    holder.update(changed)
    assert not validator("infer").is_valid(document)


def test_the_page_of_all_sheets_is_what_its_schema_says():
    document = strict(OVERVIEW.text(overview(current()), OVERVIEW_SCHEMA))
    assert faults("overview", document) == []
    spoiled = ({"schema": "infer-overview-1"}, {"offers": -1}, {"counts": [{}]}, {"counts": None}, {"as_of": "today"}, {"sheets": "1"})
    assert [faults("overview", document | one) != [] for one in spoiled] == [True] * len(spoiled)


@in_one_test(
    ("name", "command"),
    [
        ("against", "infer gemini-3.1-pro --set output=20 --set input@400k=20 --against 2026-03-12"),
        ("history", "infer gemini-3.1-pro claude-opus-4-6 --history"),
        ("supposed", "infer gemini-3.1-pro gpt-5.4 --suppose kv_bytes_per_token=20kB"),
        ("news", "prices news --since 2026-09-01"),
        ("prices_list", "prices list --all"),
        ("prices_diff", "prices diff 2026-03-12 2026-11-20"),
    ],
)
def test_every_other_output_is_what_its_schema_says(name: str, command: str):
    document = strict(call(*command.split(), "--as", "json").out)
    assert document and faults(name, document) == []
    first = document[0] if isinstance(document, list) else document
    assert faults(name, [{**first, "more": 1}] if isinstance(document, list) else {**first, "more": 1})


def test_the_schemas_of_infer_are_what_the_records_make(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(DOCS))
    made = runpy.run_path(str(DOCS / "generate_schemas.py"))
    for name in ("infer", *made["OTHERS"]):
        assert (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8") == made["page"](name), "run python docs/generate_schemas.py"
