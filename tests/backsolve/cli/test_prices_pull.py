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
        "backsolve: litellm: offers 12 = taken 8 + priced already 2 + copies 1 + left out 1 (1 not text to text, as image generation)",
        f"backsolve: genai-prices: prices: {by_source['genai-prices']} added, 0 changed, 0 ended, 0 unchanged; "
        "0 disagreeing, 0 agreeing with a firmer source",
        f"backsolve: litellm: prices: {by_source['litellm']} added, 0 changed, 0 ended, 0 unchanged; "
        "2 disagreeing, 9 agreeing with a firmer source",
    ]
    assert lines[4].startswith("backsolve: copies: 4 of resellers or with a second name")
    assert "disagreeing: google/gemini-test (standard) cache_read: 0.1 by genai-prices 9.9; 0.2 by" in lines[5]


def test_what_is_not_taken_is_named_with_the_reason_in_a_file(packages):
    said = call("prices", "pull", "--left-out", "rest.csv", *ON)
    left = rows(Path("rest.csv").read_text())
    assert Counter((one["database"], one["because"].partition(":")[0]) for one in left) == {
        ("genai-prices 9.9", "copies"): 3, ("genai-prices 9.9", "no price of output tokens"): 1, ("genai-prices 9.9", "free"): 1,
        ("litellm 9.9", "priced already"): 2, ("litellm 9.9", "copies"): 1, ("litellm 9.9", "not text to text"): 1,
    }  # fmt: skip
    assert "= taken 14 + priced already 0 + copies 3 + left out 2" in said.err
    assert {"provider": "openai", "model": "gpt-test-free", "because": "free"}.items() <= next(
        one for one in left if one["because"] == "free"
    ).items()
    assert "--left-out" in refused("prices", "pull", "--left-out", "", *ON)


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


def test_a_changed_price_is_counted_and_its_row_is_closed(packages):
    Path("a.json").write_text(json.dumps(LITELLM))
    Path("b.json").write_text(json.dumps(LITELLM | {"gpt-test-2": LITELLM["gpt-test-2"] | {"output_cost_per_token": 5e-06}}))
    call("prices", "pull", "a.json", "--into", "m.csv", *ON)
    said = call("prices", "pull", "b.json", "--into", "m.csv", "--on", "2026-12-01")
    total = len(rows(Path("m.csv").read_text()))
    assert said.status == 0 and f"m.csv: {total} rows: 0 added, 1 changed, 0 ended, {total - 2} unchanged" in said.out


@pytest.mark.parametrize(("content", "provider"), [(MODELS_DEV, "hostly"), (OPENROUTER, "openrouter"), (LITELLM, "openai")])
def test_a_file_of_a_database(packages, content, provider: str):
    Path("download").write_text(json.dumps(content))
    said = call("prices", "pull", "download", "--provider", provider, *ON)
    assert said.status == 0 and {row["provider"] for row in rows(said.out)} == {provider}


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
    for content, fault in ((b"{", "is not JSON ("), (b"{}", "is not a known database (openrouter"), (b"", "is not JSON (")):
        said = call("prices", "pull", "-", stdin=content)
        assert said.status == 2 and f"standard input: {fault}" in said.err and "allowed" not in said.err
    assert "standard input can be read once" in refused("prices", "pull", "-", "-", stdin=b"{}")
    assert call("prices", "pull", "-", "--left-out", "./-", *ON, stdin=json.dumps(MODELS_DEV).encode()).status == 0 and Path("-").exists()
