"""`backsolve list`, `show` and `cite`."""

import json
import os
from pathlib import Path

import pytest

import derive
from derive.files import LARGEST_RESULT
from tests.tools.commands import STAR, call, refused
from tests.tools.together import some


@pytest.mark.parametrize(
    ("content", "holds"),
    [
        (b"", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"{}", "equations"),
        (b"[1]", "r.json: not a result of solve or infer: it has no 'equations'"),
        (b'{"equations": "roofline.step_time@3"}', "equations"),
        (b'{"equations": ["roofline.step_time@3", "first, of my own"]}', "has 'first, of my own', but must be a list such as"),
        (b'{"equations": ["roofline.nothing@1"]}', "unknown equation"),
        (b'{"equations": ["roofline.step_time@99"]}', "version"),
        (b'{"equations": []}', "cite"),
    ],
)
def test_a_result_that_cannot_be_cited_from_exits_2(tmp_path, monkeypatch, content: bytes, holds: str):
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_bytes(content)
    assert holds in refused("cite", "--used-by", "r.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_only_a_file_of_bounded_size_can_be_cited_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with open("large", "wb") as large:
        large.truncate(LARGEST_RESULT + 1)
    for place, why in (("pipe", "standard input"), ("/dev/zero", "it is not a file"), ("large", "larger than 64 MiB"), (".", "not a file")):
        assert why in refused("cite", "--used-by", place)
    assert "larger than 64 MiB" in refused("cite", "--used-by", "-", stdin=bytes(LARGEST_RESULT + 1))


def test_a_result_can_be_cited_from_standard_input():
    result = call(*STAR, "rho=300", "s=8", "--as", "json").out
    assert "batching.balance_batch, version 1" in call("cite", "--used-by", "-", stdin=result.encode()).out


def test_every_equation_can_be_shown_and_cited():
    ids = [row["id"] for row in json.loads(call("list", "--as", "json").out)["equations"]]
    assert len(ids) > 60
    for id in some(ids, every=6):
        assert call("show", id).out.startswith(f"{id}@")
    cited = call("cite", *ids)
    assert cited.status == 0 and all(id in cited.out for id in ids)


def test_a_derivation_is_shown_step_by_step_in_text_and_in_latex():
    shown = call("show", "batching.balance_batch").out
    for part in ("Derivation", "1. At the balance batch", "weight_time eliminated; chips cancels:", "Leads to", "step 1"):
        assert part in shown
    latex = call("show", "batching.balance_batch", "--as", "latex")
    assert latex.status == 0 and latex.out.count(r"\item") == 2
    assert r"B^{\star} = \frac{\rho \, \mathrm{mfu} \, s}{\mathrm{mbu}}" in latex.out


def test_an_equation_is_shown_as_json_with_its_example():
    shown = call("show", "scheduling.sweep_time", "--as", "json")
    assert shown.status == 0 and json.loads(shown.out)["example"]["result"] == "14.4 ms"
    assert "only equations have the form JSON" in refused("show", "batch", "--as", "json")


@pytest.mark.parametrize(("lack", "field"), [("source", "sources"), ("derivation", "steps")])
def test_list_without_names_what_lacks_one(lack: str, field: str):
    listed = [line.split()[0] for line in call("list", "--without", lack).out.splitlines() if line[0] != " "]
    assert listed == [row.id for row in derive.equations() if not getattr(row, field)]


def test_a_word_lists_quantities_and_equations_and_shows_them_where_it_is_no_id():
    listed = call("list", "kv").out
    assert listed.startswith("kv_bytes_per_token ") and "\nroofline.kv_time " in listed
    assert call("list", "bands").out == call("show", "bands").out != ""
    assert call("show", "roofline").out.endswith("backsolve list roofline\n")
    assert call("show", "kv").out == call("show", "kv_bytes_per_token").out, "a word that means one quantity is that"
    assert call("list", "balance", "batch").out.splitlines()[0].startswith("balance_batch ")
    assert all(
        line.startswith("memory.") for line in call("list", "--chapter", "memory", "capacity").out.splitlines() if "." in line.split()[0]
    )


def test_lists_have_a_form_for_programs():
    both = json.loads(call("list", "--hardware", "--models", "--as", "json").out)
    assert both["equations"] is None and {one["name"] for one in both["models"]} >= {"Llama-2-7B", "DeepSeek-V3"}
    assert [one["name"] for one in both["hardware"]][1] == "H100-SXM"
    found = json.loads(call("list", "kv", "--as", "json").out)
    assert [one["id"] for one in found["equations"]] == [
        line.split()[0] for line in call("list", "kv").out.splitlines() if "." in line.split()[0]
    ]
    assert "kv_time" in [one["name"] for one in found["quantities"]] and found["models"] is None
    assert json.loads(call("list", "--quantities", "--as", "json").out)["equations"] is None
    assert json.loads(call("list", "entropy", "--as", "json").out) == {
        **dict.fromkeys(("hardware", "models")),
        "equations": [],
        "quantities": [],
    }


def test_a_tier_shows_its_devices_and_a_price_sheet_what_to_type():
    assert call("show", "nvme").out == call("show", "flash").out and "solve ... --tier" in call("show", "nvme").out
    assert call("show", "gemini-3.1-pro").out == "gemini-3.1-pro is a price sheet: backsolve infer gemini-3.1-pro\n"
