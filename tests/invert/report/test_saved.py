"""What a saved result rests on is cited, each with why: equations, pages, sheets, inferences and the run."""

import json
from copy import deepcopy

import pytest
from pybtex.database import parse_string

from derive.errors import WrongData
from derive.show.citation import STYLES, cite_all
from derive.show.references import cite_with_references
from invert.report.cited import references_in, uses_in
from tests.tools.commands import call
from tests.tools.together import in_one_test

ROW = {"provider": "acme", "model": "m", "region": "", "service_tier": "standard", "component": "input", "threshold_tokens": 0,
       "threshold_inclusive": False, "ttl_seconds": None, "utc_hours": "", "weekdays": "", "amount": 2.5, "currency": "USD", "per": "mtok",
       "effective_date": None, "date_kind": "", "valid_to": None, "retrieved_date": "2026-11-20", "source_url": "https://acme.example",
       "verification": "db", "notes": "", "origin": "prices.csv:2", "currency_assumed": False, "max_context": None, "release_date": None,
       "usd_rate": None}  # fmt: skip
HEADLINE = {"kind": "interval", "median": 43293.3, "low": 6930.0, "high": 270450.0, "because": "what models of its time have"}
SHEET = {"provider": "acme", "model": "m", "service_tier": "standard", "region": None, "as_of": "2026-11-20",
         "equations": ["bands.price@1"], "estimates": {"kv_bytes_per_token": {"typical": HEADLINE}}}  # fmt: skip
FORM = {"as": "table", "full": False, "wide": False, "summary": False, "history": False, "columns": None}
ASKED = {"models": [], "providers": [], "tier": None, "day_given": False, "all": False, "prices": None, "against": None, "where": [],
         "sort": None, "form": FORM}  # fmt: skip
RUN = {"versions": {"backsolve": "0.1.0", "numpy": "2.4"}, "seeds": {"draws": 7}, "tables": {"prices.csv": "4f3308fe9cd772fa02"},
       "as_of": "2026-11-20", "rows": [ROW], "changes": {}, "assumptions": {"given": []}, "asked": ASKED}  # fmt: skip
SAVED = {"schema": "infer-2", "run": RUN, "sheets": [SHEET]}
HOSTILE = r"100% of {A} & B_c #1 $x$ \input{z} <b> [g](https://h)"


def ids_of(result) -> list[str]:
    return list(uses_in(result))


def test_the_sheet_and_its_inference_have_the_address_of_their_page():
    _, sheet, inference, _ = references_in(SAVED, "https://example.org")
    assert inference.places == ("https://example.org/sheet/acme/m/",) == sheet.places[1:]


def test_what_infer_saves_is_cited_whole(tmp_path):
    path = tmp_path / "all.json"
    call("infer", "glm-5.1", "--save", str(path))
    saved = json.loads(path.read_text(encoding="utf-8"))
    kinds = [one.key.partition(":")[0] for one in references_in(saved)]
    count = len(saved["sheets"])
    assert [kinds.count(kind) for kind in ("sheet", "inference", "run")] == [count, count, 1] and kinds.count("prices") >= 1
    bibtex = call("cite", "--used-by", str(path), "--as", "bibtex")
    entries = parse_string(bibtex.out, "bibtex").entries
    assert bibtex.status == 0 and {one.key for one in references_in(saved)} <= set(entries)
    assert {f"backsolve:{id.replace('@', ':v')}" for one in saved["sheets"] for id in one["equations"]} <= set(entries)


def test_what_a_file_holds_cannot_break_a_style():
    result = deepcopy(SAVED)
    for place in (result["sheets"][0], result["run"]["rows"][0]):
        place["provider"] = HOSTILE
    result["run"]["versions"] = {"backsolve": HOSTILE, "n": "1"}
    for style in STYLES:
        text = cite_with_references([], references_in(result), style)
        assert (r"\input" in text) == (style in ("csl-json", "plain", "markdown", "myst"))
        if style == "bibtex":
            assert len(parse_string(text, "bibtex").entries) == 4


@pytest.mark.parametrize("change", [
    lambda found: found["sheets"][0]["estimates"]["kv_bytes_per_token"]["typical"].update(because="a\x1b[2J"),
    lambda found: found["run"]["versions"].update(n="\x1b"),
    lambda found: found["run"].update(rows=3),
    lambda found: found.update(schema="infer-1"),
])  # fmt: skip
def test_what_is_no_saved_result_of_this_version_is_refused(change):
    result = deepcopy(SAVED)
    change(result)
    with pytest.raises(WrongData, match="not a result of infer --save of this version"):
        references_in(result)


def test_ids_in_a_result_nested_deeper_than_python_recurses():
    result: dict = {"equations": ["cache.hold_cost@1"]}
    for _ in range(5000):
        result = {"sheets": [result]}
    assert ids_of(result) == ["cache.hold_cost@1"]


@in_one_test(
    "result",
    [
        {},
        None,
        "roofline.step_time@1",
        {"equations": "roofline.step_time@1"},
        {"equations": {"roofline.step_time": 1}},
        {"equations": ["roofline.step_time@1", 3]},
        [{"equations": [["roofline.step_time@1"]]}],
    ],
)
def test_what_is_not_a_result_is_refused(result: object):
    with pytest.raises(WrongData, match="equations"):
        ids_of(result)


@in_one_test("style", STYLES)
def test_every_style_says_why(style: str):
    text = cite_with_references([], references_in(SAVED), style)
    assert text.count("Cited for ") == 4
    why = uses_in({"unknown": "batch", "equations": ["batching.sparsity@1", "roofline.latency_floor@4"]})
    text = cite_all(why, style, why=why)
    assert all(f"Cited for {said}, on the way to batch." in text.replace(r"\_", "_") for said in ("sparsity", "latency_floor"))
