"""`backsolve infer`: what it prints in a pipe, in a terminal and in documents, and what it saves."""

import csv
import io
import json
import os
import re
from hashlib import sha256
from pathlib import Path

import pytest

from derive.tables.shipped import read
from invert.inference import run_of
from invert.report.columns import WIDE_KEYS
from invert.report.table import glance
from tests.tools.commands import CONTROL, GEMINI, GOOD, OUTPUT, call, in_terminals, plain, price_file, refused, script
from tests.tools.inferred import current
from tests.tools.together import in_one_test


def test_a_refused_question_leaves_the_saved_file_as_it_was(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("mine")
    assert refused(*GEMINI, "--save", str(path), "--anchor", "overlap=2")
    assert path.read_text() == "mine" and os.listdir(tmp_path) == ["run.json"]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--prices", ("infer", "--prices", "own.csv", "--save")),
        ("--against", ("infer", "--against", "own.csv", "--save")),
        ("--like", ("infer", "--like", "own.csv", "--save")),
        ("--prices", ("plot", "size-price", "--prices", "own.csv", "--out")),
        ("--model", ("solve", "step_time", "--model", "own.csv", "--plot")),
    ],
)
def test_an_output_writes_over_no_file_that_is_asked_of(tmp_path, monkeypatch, option: str, words: tuple[str, ...]):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(own := price_file(*GOOD))
    assert f"{words[-1]} would write over ./own.csv, which is the file of {option}" in refused(*words, "./own.csv")
    assert Path("own.csv").read_bytes() == own


@pytest.mark.parametrize("place", ["no-such/run.json", ".", "file/run.json", "a" * 30_000, f"none{CONTROL}/x.json"])
def test_an_unwritable_path_exits_2_after_the_answer_and_leaves_nothing(tmp_path, monkeypatch, place: str):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    said = call(*GEMINI, "--save", place, color=True)
    assert said.status == 2 and "gemini-3.1-pro-preview" in said.out and "cannot be written" in said.err
    plain(said.err)
    assert os.listdir() == ["file"] and Path("file").read_text() == "mine"


@pytest.mark.slow
def test_nothing_is_saved_of_prices_with_a_bad_row(tmp_path):
    path = tmp_path / "run.json"
    said = call("infer", "--prices", "-", "--save", str(path), stdin=price_file(*GOOD, "acme,m,input,abc,,,,", OUTPUT))
    assert said.status == 2 and "abc" in said.err and not path.exists()


@pytest.mark.slow
def test_in_a_pipe_there_is_no_colour_and_nothing_is_cut():
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "PYTHONUTF8": "1"}
    done = script("infer", "--wide", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout and "…" not in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "gemini-3.1-pro-preview" in line]
    assert line.split()[:7] == ["google", "gemini-3.1-pro-preview", "2", "12", "200k", "2x", "1.5x"]
    assert "4 bands, first pair shown; architecture assumed; KV PRIOR-DOMINATED" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_a_terminal_is_as_wide_as_it_is_and_a_pipe_a_hundred_columns():
    table = current()
    in_terminal = in_terminals({"table": (60, ("infer",)), "wide": (60, ("infer", "--wide"))})
    said = {name: text.rstrip("\n") for name, text in in_terminal.items()}
    assert said == {"table": glance(run_of((), most_flagships=100)[2], 60), "wide": glance(table, 60, WIDE_KEYS)}
    assert call("infer").out.rstrip("\n") == glance(run_of((), most_flagships=100)[2], 100)


def test_a_change_by_hand_begins_with_what_it_moved_and_json_stays_the_list():
    said = call(*GEMINI, "--set", "output=15", "--full")
    assert said.status == 0 and said.err == ""
    assert said.out.startswith("prices of 2026-11-20 with output=15, against ")
    assert said.out.index("bandwidth-bound") < said.out.index("output_input_ratio = 7.5")
    assert len(json.loads(call(*GEMINI, "--set", "output=15", "--as", "json").out)) == 1


def test_against_shows_what_moved_in_every_form(tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes(price_file("google,gemini-2.5-pro,output,12,,,,"))
    asked = ("infer", "--provider", "google", "--prices", str(own), "--against", "shipped")
    text = call(*asked)
    assert text.status == 0 and "google/gemini-2.5-pro: output 10 -> 12 USD/MTok" in text.out
    assert "8 whole sheets" in text.out
    document = json.loads(call(*asked, "--as", "json").out)
    assert [sheet["model"] for sheet in document["sheets"] if sheet["prices"]] == ["gemini-2.5-pro"]
    assert call(*asked, "--as", "csv").out.startswith("provider,model,")
    most = max(len(sheet["moved"]) for sheet in document["sheets"])
    for style, row, heads in (("markdown", "\n|", 2), ("latex", r" \\", 1), ("html", "<tr>", 1)):
        said = call(*asked, "--as", style).out
        assert said.count(row) == most + heads and "google/gemini-2.5-pro" in said.replace("\\", ""), style
    piped = call(*asked[:3], "--prices", "-", "--against", "2026-11-20", stdin=own.read_bytes())
    assert piped.status == 0 and "No price changed." in piped.out


def test_the_history_of_a_model_has_forms_for_programs():
    assert len(json.loads(call("infer", "mistral-large-4", "--history", "--as", "json").out)[0]["days"]) == 3
    assert call("infer", "mistral-large-4", "--history", "--as", "csv").out.startswith("provider,model,")


def test_full_has_a_report_of_each_model_and_wide_a_table_of_one():
    assert call("infer", "gpt-5.4", "gemini-3.1-pro", "--full").out.count("All estimates, and why") == 2
    assert call("infer", "gpt-5.4", "--wide").out.startswith("What API prices imply")


@in_one_test(
    "asked",
    [
        ("gemini-3.1-pro",),
        ("gemini-3.1-pro", "--set", "output=20", "--full"),
        ("--provider", "google", "--sort", "price", "--where", "flag=release*", "--columns", "model,price"),
        ("--prices", "own.csv", "--provider", "acme", "--as", "csv", "--anchor", "active_params=60B"),
        ("--prices", "-", "acme/*", "--as", "html"),
        ("--prices", "own.csv", "--provider", "acme", "--against", "old.csv", "--as", "json"),
        ("gpt-5.4", "o3", "--as-of", "2026-03-12", "--against", "2026-03-04"),
        ("gpt-5.4", "--against", "saved.json"),
    ],
    ids=" ".join,
)
def test_a_saved_result_is_shown_and_saved_again_to_the_byte(tmp_path_factory, asked: tuple[str, ...]):
    own = price_file("acme,m,input,1,,,,", OUTPUT)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("saved"))
        Path("own.csv").write_bytes(own)
        Path("old.csv").write_bytes(price_file("acme,m,output,9,,,,", "acme,m,input,1,,,,"))
        if "saved.json" in asked:
            assert call("infer", "gpt-5.4", "--anchor", "overlap=0", "--save", "saved.json").status == 0
        first = call("infer", *asked, "--save", "F", stdin=own)
        assert (first.status, bool(first.out)) == (0, True)
        for gone in {"own.csv", "old.csv", "saved.json"} & set(os.listdir()):
            os.unlink(gone)
        assert call("infer", "--like", "F", "--save", "G") == first
        assert Path("G").read_bytes() == Path("F").read_bytes()


def test_a_saved_result_is_shown_in_another_form_and_stays_what_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(*GEMINI, "o3", "--columns", "model", "--save", "F").status == 0
    said = call("infer", "--like", "F", "--as", "csv", "--columns", "model,provider", "--workers", "2", "--save", "G")
    assert said == call(*GEMINI, "o3", "--as", "csv", "--columns", "model,provider") and said.out.startswith("model,provider\n")
    assert call("infer", "--like", "F", "--as", "json").out == call(*GEMINI, "o3", "--as", "json").out
    assert Path("G").read_bytes() == Path("F").read_bytes()
    document = json.loads(Path("F").read_text())
    document["run"]["tables"]["prices.csv"] = "0" * 64
    Path("F").write_text(json.dumps(document))
    said = call("infer", "--like", "F")
    now = sha256(read().content("prices.csv")).hexdigest()[:8]
    assert (said.status, said.err) == (0, f"backsolve: F: was made with other inputs: prices.csv, 00000000 -> {now}\n"), "the same answer"
    document["sheets"][0]["estimates"]["active_params"]["by_price"]["median"] *= 2
    Path("F").write_text(json.dumps(document))
    said = call("infer", "--like", "F")
    assert (said.status, bool(said.out)) == (3, True)
    assert "F: does not reproduce: the answer now differs from the saved one" in said.err.splitlines()[-1]
    document["run"]["asked"]["against"] = "shipped"
    Path("F").write_text(json.dumps(document))
    assert call("infer", "--like", "F").status == 3, "what it was held against is not in the file"


def test_a_file_that_is_no_saved_result_is_not_asked_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "--like needs the name of a file" in refused("infer", "--like", "")
    assert "F: cannot be read" in refused("infer", "--like", "F")
    assert "standard input: is not a saved result" in refused("infer", "--like", "-", stdin=b"{}")
    Path("F").write_text(call(*GEMINI, "--as", "json").out)
    assert "is not a saved result that can be repeated" in refused("infer", "--like", "F")
    assert call(*GEMINI, "--save", "F").status == 0
    document = json.loads(Path("F").read_text())
    asked = document["run"]["asked"]
    for name, value, why in (
        ("form", {**asked["form"], "as": "png"}, "no answer has the form 'png'"),
        ("models", ["gemini-3.1-prow"], "is not a model here"),
        ("tier", "nothing", "unknown service tier"),
    ):
        Path("F").write_text(json.dumps({**document, "run": {**document["run"], "asked": {**asked, name: value}}}))
        assert why in refused("infer", "--like", "F")


def providers(*asked: str) -> set[str]:
    return {one["provider"] for one in json.loads(call("infer", *asked, "--as", "json").out)}


def test_providers_are_picked_by_patterns_and_several_of_them():
    assert providers("--provider", "OPEN*") == {"openai"} and providers("--provider", "open*", "--provider", "goo?le") == {
        "openai",
        "google",
    }
    by_name, by_pattern = (json.loads(call("infer", "--provider", one, "--as", "json").out) for one in ("openai", "open*"))
    assert by_name == by_pattern, "what is sold beside each sheet too"


def test_last_digits_of_a_saved_result_are_reproduced(tmp_path, monkeypatch):
    """Another version of a library, or another machine, may find others."""
    monkeypatch.chdir(tmp_path)
    assert call(*GEMINI, "--save", "F").status == 0
    found = Path("F").read_text(encoding="utf-8")
    number = max(re.findall(r"\d\.\d{14,}", found), key=len)
    for factor, status in ((1 + 1e-14, 0), (1 + 1e-6, 3)):
        Path("F").write_text(found.replace(number, repr(float(number) * factor)), encoding="utf-8")
        assert call("infer", "--like", "F").status == status


def test_the_longest_context_can_be_given_and_may_be_written_short(tmp_path):
    usual, longer = (
        json.loads(call("infer", "claude-opus-5", *more, "--as", "json").out)[0] for more in ((), ("--anchor", "max_context=2M"))
    )
    bounds = [one["estimates"]["kv_bytes_per_token"]["from_premium_at_cost"]["high"] for one in (usual, longer)]
    assert bounds[0] == pytest.approx(2 * bounds[1], rel=1e-5), "the same price for twice the context"
    assert longer["anchors"]["max_context"] == {"value": 2e6, "origin": "given"} and "max_context" not in usual["anchors"]
    assert "max_context 100k tokens is not above 200k tokens" in refused(*GEMINI, "--anchor", "max_context=100k")
    own, bounds = tmp_path / "own.csv", []
    for cell in ("1M", "1000k", "1000000", ""):
        own.write_text(f"provider,model,component,amount,max_context\nacme,m,input,1,{cell}\nacme,m,output,4,{cell}\n")
        (sheet,) = json.loads(call("infer", "acme/m", "--prices", str(own), "--as", "json").out)
        assert ("context assumed" in sheet["flags"]) == (not cell)
        bounds.append(sheet["estimates"]["kv_bytes_per_token"]["from_premium_at_cost"]["high"])
    assert bounds[0] == bounds[1] == bounds[2] < bounds[3]
    own.write_text("provider,model,component,amount,max_context\nacme,m,input,1,1 M\nacme,m,output,4,\n")
    assert "'1 M' is not a whole number of tokens such as 131072, 200k or 1M" in call("prices", "check", str(own)).err


def test_records_of_a_what_if_have_the_values_before_beside_those_after():
    names = ("infer", "gemini-3.1-pro", "glm-4.7")
    published, changed = ([*csv.DictReader(io.StringIO(call(*names, *more, "--as", "csv").out))] for more in ((), ("--set", "input=+50%")))
    moved = {name for then, now in zip(published, changed, strict=True) for name in then if then[name] != now[name]}
    assert {"input_price_usd_per_token", "premium_in", "active_params_by_price", "bandwidth_bound_fraction_low"} < moved
    one, other = json.loads(call(*names, "--set", "input=+50%", "--as", "json").out)
    assert one["before"]["premium_in"] == 2 and one["observables"]["premium_in"] < 1.4 and {*one["before"]} | {*other["before"]} == moved
    assert json.loads(call(*GEMINI, "--as", "json").out)[0]["before"] is None
    rows = [*csv.DictReader(io.StringIO(call(*names, "--set", "input=+50%", "--as", "csv").out))]
    assert {name.removesuffix("_before") for name in rows[0] if name.endswith("_before")} == moved
    for then, row in zip(published, rows, strict=True):
        assert all(then[name] == row[f"{name}_before" if name in moved else name] for name in then)


def test_the_list_of_columns_has_one_form():
    assert "--explain and --as do not go together" in refused("infer", "--explain", "--as", "json")
