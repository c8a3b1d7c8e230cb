"""`prices pull`, with small databases in the place of the real ones."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from derive import files
from derive.errors import WrongData
from invert.databases import genai, litellm
from invert.sheets import append
from tests.tools.commands import call, refused
from tests.tools.databases import LITELLM, MODELS_DEV, OPENROUTER, installed

ON = ("--on", "2026-11-22")


@pytest.fixture
def packages(tmp_path, monkeypatch) -> Path:
    """Both packages as installed, in a folder of one's own."""
    (site := tmp_path / "site").mkdir()
    installed(site, monkeypatch, "genai_prices", "litellm")
    (work := tmp_path / "work").mkdir()
    monkeypatch.chdir(work)
    return work


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_every_source_that_is_found_goes_to_standard_output(packages):
    said = call("prices", "pull", *ON)
    assert said.status == 0 and {row["notes"].partition(" ")[0] for row in rows(said.out)} == {"genai-prices", "litellm"}
    assert {row["retrieved_date"] for row in rows(said.out)} == {"2026-11-22"} and os.listdir() == []
    lines = said.err.splitlines()
    by_source = Counter(row["notes"].partition(" ")[0] for row in rows(said.out))
    assert lines[:4] == [
        "backsolve: genai-prices: offers 19 = taken 14 + priced already 0 + copies 3 + left out 2 (1 no price of output tokens; 1 free)",
        "backsolve: litellm: offers 12 = taken 8 + priced already 2 + copies 1 + left out 1 (1 no text for text, as image generation)",
        f"backsolve: genai-prices: prices: {by_source['genai-prices']} added, 0 changed, 0 ended, 0 unchanged; "
        "0 disagreeing, 0 agreeing with a firmer source",
        f"backsolve: litellm: prices: {by_source['litellm']} added, 0 changed, 0 ended, 0 unchanged; "
        "2 disagreeing, 9 agreeing with a firmer source",
    ]
    assert lines[4].startswith("backsolve: copies: 4 by resellers and under second names")
    assert lines[5] == "backsolve: context: 11 sheets without a longest one in any database"
    assert "disagreeing: google/gemini-test (standard) cache_read: 0.1 by genai-prices 9.9; 0.2 by" in lines[6]


def test_what_is_not_taken_is_named_with_the_reason_in_a_file(packages):
    said = call("prices", "pull", "--left-out", "rest.csv", *ON)
    left = rows(Path("rest.csv").read_text())
    assert Counter((one["database"], one["because"].partition(":")[0]) for one in left) == {
        ("genai-prices 9.9", "copies"): 3, ("genai-prices 9.9", "no price of output tokens"): 1, ("genai-prices 9.9", "free"): 1,
        ("litellm 9.9", "priced already"): 2, ("litellm 9.9", "copies"): 1, ("litellm 9.9", "no text for text"): 1,
    }  # fmt: skip
    assert "= taken 14 + priced already 0 + copies 3 + left out 2" in said.err
    assert {"provider": "openai", "model": "gpt-test-free", "because": "free"}.items() <= next(
        one for one in left if one["because"] == "free"
    ).items()
    assert "--left-out" in refused("prices", "pull", "--left-out", "", *ON)


@pytest.mark.parametrize(("place", "of"), [("./m.csv", "--into"), ("m_rivals.csv", "the rivals of --into"), ("api.json", "SOURCE")])
def test_what_is_left_out_is_written_over_no_file_of_the_pull(tmp_path, monkeypatch, place: str, of: str):
    monkeypatch.chdir(tmp_path)
    for name in ("m.csv", "m_rivals.csv", "api.json"):
        Path(name).write_text("mine")
    said = refused("prices", "pull", "api.json", "--into", "m.csv", "--left-out", place)
    assert f"--left-out would write over {place}, which is the file of {of}. Name another file" in said
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}


def test_a_name_that_is_taken_without_its_first_marks_is_said(packages):
    pricing = {"prompt": "0.000001", "completion": "0.000002"}
    Path("odd.json").write_text(json.dumps({"data": [{"id": name, "pricing": pricing} for name in ("=cmd|x", "@cf/m", "plain")]}))
    said = call("prices", "pull", "odd.json", *ON)
    assert {row["model"] for row in rows(said.out)} == {"cmd|x", "cf/m", "plain"}
    (line,) = [line for line in said.err.splitlines() if "names:" in line]
    assert line == ("backsolve: names: 2 that a spreadsheet would read as a formula, written without their first mark"
                    " ('openrouter/=cmd|x', 'openrouter/@cf/m')")  # fmt: skip


def test_a_file_is_made_and_what_is_in_it_can_be_checked_and_inferred(packages):
    said = call("prices", "pull", "--into", "market.csv", *ON)
    pulled = rows(Path("market.csv").read_text())
    assert (
        said.status == 0
        and said.err == ""
        and f"market.csv: {len(pulled)} rows: {len(pulled)} added, 0 changed, 0 ended, 0 unchanged\n" in said.out
    )
    assert sorted(os.listdir()) == ["market.csv", "market_rivals.csv"] and len(rows(Path("market_rivals.csv").read_text())) == 2
    assert call("prices", "check", "--prices", "market.csv").status == 0
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    again = call("prices", "pull", "--into", "market.csv", "--on", "2026-11-23")
    assert f"market.csv: {len(pulled)} rows: 0 added, 0 changed, 0 ended, {len(pulled)} unchanged\n" in again.out
    kept = re.findall(r"prices: 0 added, 0 changed, 0 ended, ([0-9]+) unchanged;", " ".join(again.out.split()))
    assert len(kept) == 2 and sum(map(int, kept)) == len(pulled), "each price of a source is one of the rows that stand there"
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before
    found = call("infer", "grok-test", "--prices", "market.csv", "--as", "json")
    (sheet,) = json.loads(found.out)
    assert found.status == 0 and sheet["observables"]["long_context_threshold"] == 200_000 and "context assumed" not in sheet["flags"]


def test_a_changed_price_is_closed_and_opened(packages):
    changed = json.loads(json.dumps(LITELLM))
    Path("a.json").write_text(json.dumps(LITELLM))
    changed["gpt-test-2"]["output_cost_per_token"] = 5e-06
    Path("b.json").write_text(json.dumps(changed))
    call("prices", "pull", "a.json", "--into", "m.csv", *ON)
    said = call("prices", "pull", "b.json", "--into", "m.csv", "--on", "2026-12-01")
    assert said.status == 0 and ": 0 added, 1 changed, 0 ended" in said.out
    total = len(rows(Path("m.csv").read_text()))
    assert f"m.csv: {total} rows: 0 added, 1 changed, 0 ended, {total - 2} unchanged" in said.out, "one row is closed, one is new"
    found = [
        row
        for row in rows(Path("m.csv").read_text())
        if (row["model"], row["service_tier"], row["component"]) == ("gpt-test-2", "standard", "output")
    ]
    assert [(row["amount"], row["effective_date"], row["date_kind"], row["valid_to"]) for row in found] == [
        ("4", "", "", "2026-12-01"), ("5", "2026-12-01", "first_seen", "")
    ]  # fmt: skip


@pytest.mark.parametrize(("content", "provider"), [(MODELS_DEV, "hostly"), (OPENROUTER, "openrouter"), (LITELLM, "openai")])
def test_a_file_of_a_database(packages, content, provider: str):
    Path("download").write_text(json.dumps(content))
    said = call("prices", "pull", "download", "--provider", provider, *ON)
    assert said.status == 0 and {row["provider"] for row in rows(said.out)} == {provider}


def test_a_source_that_is_not_there_is_one_line_and_the_others_go_on(packages):
    Path("odd.json").write_text('{"a": 1}')
    said = call("prices", "pull", "odd.json", "genai-prices", "none.json", *ON)
    assert said.status == 2 and len(rows(said.out)) > 30
    assert "backsolve: odd.json: is of no known database (openrouter, models.dev, litellm), or newer than known here\n" in said.err
    assert "backsolve: none.json: cannot be read: No such file or directory\n" in said.err


def test_a_field_that_is_another_one_names_package_version_and_field(packages):
    changed = json.loads(json.dumps(LITELLM))
    changed["gpt-test-2"]["input_cost_per_token"] = {"usd": 1}
    (Path(litellm.find_spec("litellm").origin).with_name(litellm._FILE)).write_text(json.dumps(changed))
    said = call("prices", "pull", *ON)
    assert said.status == 2 and "gpt-test-2" not in {row["model"] for row in rows(said.out)}
    line = "litellm 9.9: field input_cost_per_token is dict, not a number, of 'openai/gpt-test-2': newer or older than known here"
    assert said.err.splitlines()[-1] == f"backsolve: {line}"


def test_without_any_database_it_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(genai, "find_spec", lambda _: None)
    monkeypatch.setattr(litellm, "find_spec", lambda _: None)
    assert "no database of prices is installed: pip install 'backsolve[prices]'" in refused("prices", "pull")
    said = call("prices", "pull", "genai-prices")
    assert "genai-prices: is not installed: pip install backsolve[prices]" in said.err and (said.out, said.status) == ("", 2)


def test_a_file_that_cannot_be_written_or_read_is_left_alone(packages):
    Path("own.csv").write_text("provider,model\na,b\n")
    said = call("prices", "pull", "--into", "own.csv", *ON)
    assert said.status == 2 and "own.csv row 1: there is no column component, amount" in said.err
    assert Path("own.csv").read_text() == "provider,model\na,b\n" and os.listdir() == ["own.csv"]
    assert "cannot be written" in call("prices", "pull", "--into", "none/own.csv", *ON).err


def test_where_the_prices_cannot_be_written_no_rivals_are(packages, monkeypatch):
    really = files.write

    def full(place: str, content: str | bytes) -> None:
        if place == "full.csv":
            raise WrongData(f"{place}: cannot be written (File too large)")
        really(place, content)

    monkeypatch.setattr(append, "write", full)
    said = call("prices", "pull", "--into", "full.csv", *ON)
    assert said.status == 2 and "full.csv: cannot be written" in said.err and os.listdir() == []


def test_a_file_of_rivals_that_cannot_be_read_stops_the_pull_before_it_writes(packages):
    Path("own_rivals.csv").write_text("a,b\n1,2\n")
    said = call("prices", "pull", "--into", "own.csv", *ON)
    assert said.status == 2 and "own_rivals.csv row 1" in said.err and os.listdir() == ["own_rivals.csv"]


def test_a_file_that_no_row_goes_to_is_not_said_to_have_any(packages):
    """All that the database asks is priced already, so that it only contradicts."""
    Path("again.json").write_text(
        json.dumps({"claude-opus-5": {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 4e-06,
                                      "output_cost_per_token": 2e-05}})
    )  # fmt: skip
    said = call("prices", "pull", "again.json", "--into", "riv.csv", *ON)
    assert said.out.endswith("riv.csv: no rows to write\n") and sorted(os.listdir()) == ["again.json", "riv_rivals.csv"]


def test_a_package_that_is_not_there_is_said_where_none_is_named(packages, monkeypatch):
    monkeypatch.setattr(litellm, "find_spec", lambda _: None)
    said = call("prices", "pull", *ON)
    assert said.status == 0 and said.err.splitlines()[0] == "backsolve: litellm: is not installed, so not read: pip install litellm"
    assert "litellm: is not" not in call("prices", "pull", "genai-prices", *ON).err


STOPPED = """
import os, signal, sys
import derive.files
from backsolve.__main__ import main
def fsync(number, really=os.fsync):
    really(number)
    os.kill(os.getpid(), signal.SIGTERM)
os.fsync = fsync
sys.argv = ["backsolve", "prices", "pull", "new.json", "--into", "m.csv", "--on", "2026-12-01"]
main()
"""


def test_a_signal_while_it_writes_leaves_a_whole_file(packages):
    Path("old.json").write_text(json.dumps(LITELLM))
    call("prices", "pull", "old.json", "--into", "m.csv", *ON)
    before = rows(Path("m.csv").read_text())
    Path("new.json").write_text(json.dumps(LITELLM | {"gpt-test-3": LITELLM["gpt-test-2"]}))
    done = subprocess.run([sys.executable, "-c", STOPPED], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGTERM
    after = rows(Path("m.csv").read_text())
    assert after[: len(before)] == before and sorted(os.listdir()) == ["m.csv", "new.json", "old.json"]


def test_a_database_comes_from_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("api.json").write_text(json.dumps(MODELS_DEV))
    assert call("prices", "pull", "-", *ON, stdin=json.dumps(MODELS_DEV).encode()) == call("prices", "pull", "api.json", *ON)
    for content, fault in ((b"{", "is not JSON ("), (b"{}", "is of no known database (openrouter"), (b"", "is not JSON (")):
        said = call("prices", "pull", "-", stdin=content)
        assert said.status == 2 and f"standard input: {fault}" in said.err and "allowed" not in said.err
    assert "prices pull reads standard input once" in refused("prices", "pull", "-", "-", stdin=b"{}")
    assert call("prices", "pull", "-", "--left-out", "./-", *ON, stdin=json.dumps(MODELS_DEV).encode()).status == 0 and Path("-").exists()
