"""Price files of one's own, as `prices list`, `prices check` and `infer` read them."""

import json
import os
from pathlib import Path

import pytest

from tests.tools.commands import GOOD, OUTPUT, call, in_terminals, price_file, refused


@pytest.mark.parametrize("command", [("infer",), ("prices", "list"), ("prices", "check")], ids=" ".join)
def test_a_file_that_cannot_be_used_exits_2(tmp_path, monkeypatch, command: tuple[str, ...]):
    monkeypatch.chdir(tmp_path)
    for content, said in (
        (price_file(*GOOD).decode().encode("utf-16"), "own.csv row 1: this is UTF-16"),
        (b"x" * 3_000_000, "own.csv row 1: the line is longer than 64 kB"),
        (price_file("a,b,input,1", header="provider,model,component,ammount"), "did you mean 'amount'?"),
    ):
        Path("own.csv").write_bytes(content)
        assert said in refused(*command, "--prices", "own.csv")
        assert said.replace("own.csv", "standard input") in refused(*command, "--prices", "-", stdin=content)


@pytest.mark.parametrize("command", [("prices", "check"), ("prices", "list"), ("infer",)], ids=" ".join)
def test_what_only_follows_from_a_refused_row_is_not_said(tmp_path, monkeypatch, command: tuple[str, ...]):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file(*GOOD, "acme,m,input,abc,,,,", OUTPUT, "acme,n,input,2,,,,"))
    said = call(*command, "--prices", "own.csv").err
    assert "row 4, column amount" in said and "acme/m" not in said
    assert "own.csv row 6, column component: acme/n (standard) has input and no output" in said


@pytest.mark.parametrize("name", ["acme/m", "m"])
@pytest.mark.parametrize("row", ["acme,m,input,abc,,,,", "acme,m,input,1,,,,a\0b"])
def test_a_model_whose_row_is_bad_is_not_called_unknown_without_the_row(tmp_path, monkeypatch, name: str, row: str):
    """A wrong row never silently drops the sheet."""
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file(*GOOD, row, OUTPUT))
    said = call("infer", name, "--prices", "own.csv")
    assert said.status == 2 and "own.csv row 4, column" in said.err
    assert "own.csv row 4, column" in call("infer", "--provider", "acme", "--prices", "own.csv").err


def test_a_price_file_from_standard_input():
    said = call("infer", "other/n", "--prices", "-", "--as", "json", stdin=price_file(*GOOD))
    assert said.status == 0 and json.loads(said.out)[0]["observables"]["output_input_ratio"] == 5
    assert "other/n" in call("prices", "list", "--prices", "-", stdin=price_file(*GOOD)).out


def test_a_price_under_a_name_that_looks_like_a_shipped_one_is_said():
    file = price_file(*(f"google,gemini\u20113.1-pro-preview,{cells},,,," for cells in ("input,9", "output,60")))
    for command in (("prices", "check"), ("prices", "list"), ("infer", "gemini-3.1-pro-preview")):
        said = call(*command, "--prices", "-", stdin=file)
        assert said.status == 2 and "row 2, column model" in said.err and "U+2011 (non-breaking hyphen) where" in said.err, command


DATED = "provider,model,component,amount,effective_date,retrieved_date"


def test_many_rows_of_ones_own_do_not_move_the_day_by_decades():
    file = price_file(*(f"acme,m{at},{cells},,2062-11-20" for at in range(200) for cells in ("input,1", "output,5")), header=DATED)
    for command in (("prices", "check"), ("infer", "gemini-3.1-pro-preview")):
        said = call(*command, "--prices", "-", stdin=file)
        assert said.status == 2 and "2062-11-20 is more than a year after 2026-11-20" in said.err and "--as-of 2062-11-20" in said.err
    assert "prices of 2026-11-20" in said.out


def test_a_row_of_ones_own_that_moves_the_day_is_said_by_the_check_too():
    file = price_file("acme,m,input,1,,2027-02-03", "acme,m,output,5,,2027-02-03", header=DATED)
    for command in (("prices", "check"), ("prices", "list"), ("infer", "acme/m")):
        said = call(*command, "--prices", "-", stdin=file)
        assert said.status == 0 and "prices are of 2027-02-03, the retrieved_date of standard input row 2" in said.err, command


def test_prices_of_ones_own_that_begin_later_are_said_with_their_day():
    later = [f"acme,{name},{cells},2062-01-01,2026-11-20" for name in "ab" for cells in ("input,1", "output,5")]
    current = ["acme,c,input,1,2026-01-01,", "acme,c,output,5,2026-01-01,", "acme,c,cache_read,1,2027-01-01,"]
    file = price_file(*later, *current, header=DATED)
    begins = "acme/a: its prices begin on 2062-01-01, after 2026-11-20; --as-of 2062-01-01"
    said = call("infer", "acme/a", "--prices", "-", stdin=file)
    assert (said.status, said.out, said.err) == (2, "", f"backsolve: {begins}\n")
    assert call("infer", "acme/a", "--prices", "-", "--as-of", "2062-01-01", stdin=file).status == 0
    said = call("infer", "acme/c", "--prices", "-", stdin=file)
    assert said.status == 0
    begins_later, doubt = said.err.splitlines()
    assert begins_later == "backsolve: acme/c: some of its prices begin on 2027-01-01, after 2026-11-20; --as-of 2027-01-01"
    assert "1 doubtful price: standard input row 8" in doubt
    said = call("infer", "--provider", "acme", "--prices", "-", stdin=file)
    assert said.status == 0 and "begin on 2027-01-01" in said.err and "(and 2 more models with prices that begin later)" in said.err
    said = call("infer", "--provider", "acme", "--prices", "-", stdin=price_file(*later, header=DATED))
    assert (said.status, said.err) == (2, f"backsolve: {begins} (and 1 more model with prices that begin later)\n")


@pytest.mark.parametrize("name", [".", "no-such.csv", "no-such/x.csv"])
def test_what_is_no_file_is_refused(tmp_path, monkeypatch, name: str):
    monkeypatch.chdir(tmp_path)
    assert f"{name} cannot be read" in refused("infer", "--prices", name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    assert "standard input" in refused("infer", "--prices", "pipe")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file(*GOOD))
    Path("own.csv").chmod(0)
    assert "own.csv cannot be read: Permission denied" in refused("infer", "--prices", "own.csv")


def test_prices_of_two_days_are_compared():
    said = call("prices", "diff", "2026-03-12", "2026-11-20")
    assert said.status == 0 and "x-ai/grok-4.20\n  input 2 -> 1.25 USD/MTok" in said.out
    assert json.loads(call("prices", "diff", "shipped", "2026-11-20", "--as", "json").out) == []
    assert call("prices", "diff", "shipped", "2026-11-20", "--as", "csv").out.startswith("change,provider,model,")


def test_a_file_from_standard_input_is_a_state():
    own = price_file("google,gemini-2.5-pro,output,8,,,,")
    said = call("prices", "diff", "shipped", "-", stdin=own)
    assert said.status == 0 and said.out.startswith("google/gemini-2.5-pro\n  output 10 -> 8 USD/MTok\n0 added, 0 closed, 1 changed")
    assert "8 -> 10" in call("prices", "diff", "-", "shipped", stdin=own).out
    assert "standard input row 2" in call("prices", "diff", "-", "shipped", stdin=price_file("acme,m,input,abc,,,,")).err
    for twice in (("-", "-"), ("-", "2026-03-12", "--prices", "-")):
        assert "reads standard input once" in refused("prices", "diff", *twice, stdin=own)


def test_own_prices_are_refused_beside_two_states_over_which_they_are_not_laid(tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes(price_file("google,gemini-2.5-pro,output,8,,,,"))
    for states in (("shipped", "shipped"), ("shipped", str(own))):
        assert "give a day such as 2026-11-20" in refused("prices", "diff", *states, "--prices", str(own))
    assert "output 10 -> 8 USD/MTok" in call("prices", "diff", "shipped", "2026-11-20", "--prices", str(own)).out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_what_is_no_file_is_not_written(tmp_path: Path):
    entry = {"litellm_provider": "acme", "mode": "chat", "input_cost_per_token": 2e-6, "output_cost_per_token": 1e-5}
    (tmp_path / "litellm.json").write_text(json.dumps({"m": entry}), encoding="utf-8")
    for typed in (("add", "acme/x", "input=2", "output=10"), ("pull", str(tmp_path / "litellm.json"))):
        assert "/dev/full: cannot be written (it is not a file)" in refused("prices", *typed, "--into", "/dev/full")


def test_every_price_is_listed_for_programs():
    assert call("prices", "list", "--as", "csv").out.startswith("provider,model,region,service_tier,component,")
    listed = json.loads(call("prices", "list", "--as", "json", "--all").out)
    assert {one["service_tier"] for one in listed} > {"standard", "batch"}


def test_a_warning_is_no_fault(tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes(price_file("acme,m,input,1,,,,", OUTPUT, "acme,m,cache_read,3,,,,"))
    said = call("prices", "check", str(own))
    assert said.status == 0 and "no problem found, 1 warning" in said.out
    assert "own.csv row 4, column amount: cache_read 3 is not below input 1" in said.out and said.err == ""
    own.write_bytes(price_file("acme,m,input,1,,,,", OUTPUT, "acme,m,cache_read,3,,,,", "acme,n,input,abc,,,,"))
    said = call("prices", "check", "--prices", str(own))
    assert said.status == 2 and "warning: " in said.out and "'abc' is not a number" in said.err


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\ufeff"])
def test_a_name_with_a_character_that_does_not_show_is_a_fault(tmp_path, mark: str):
    own = tmp_path / "own.csv"
    own.write_bytes(price_file(*GOOD, f"ac{mark}me,m,input,1,,,,"))
    said = call("prices", "check", "--prices", str(own))
    assert said.status == 2 and "which does not show" in said.err


def test_a_price_of_a_day_to_come_is_shown_as_of_that_day_and_ends_the_older_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("add.csv").write_bytes(b"provider,model,component,amount\nacme,lm-a,input,2\nacme,lm-a,output,8\n")
    said = call("prices", "add", "acme/lm-a", "input=3", "output=10", "effective_date=2026-12-01", "--into", "add.csv")
    assert (said.status, said.err) == (0, "") and "acme/lm-a (standard) on 2026-12-01: 3 in, 10 out" in said.out
    assert said.out.endswith(
        "2 rows added to add.csv.\nClosed on 2026-12-01, where these begin: input 2 (add.csv:2), output 8 (add.csv:3).\n"
    )
    assert "add.csv row 2" not in call("prices", "check", "add.csv").out
    new = call("prices", "add", "acme/lm-b", "input=3", "output=10", "effective_date=2026-12-01")
    assert new.status == 0 and "on 2026-12-01: 3 in, 10 out" in new.out and "Nothing is written" in new.out


def test_a_price_that_has_ended_is_shown_as_of_its_last_day_and_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = ("prices", "add", "acme/lm-a", "input=3", "output=30", "effective_date=2025-01-01", "valid_to=2026-01-01")
    said = call(*ended, "--into", "past.csv")
    assert (said.status, said.err) == (0, "") and said.out.startswith("acme/lm-a (standard) on 2025-12-31: 3 in, 30 out")
    assert said.out.endswith("2 rows added to past.csv.\n") and Path("past.csv").read_text().count(",2026-01-01") == 2
    read_later = call("prices", "add", "acme/lm-b", "input=3", "output=30", "valid_to=2026-11-25", "retrieved_date=2026-11-26")
    assert read_later.status == 0 and "on 2026-11-24: 3 in, 30 out" in read_later.out


def test_a_sheet_is_added_with_what_it_implies(tmp_path):
    own = tmp_path / "own.csv"
    typed = ("prices", "add", "acme/perm", "input=2", "output=10", "input@200k=4", "output@200k=15", "cache_read=0.2", "max_context=1M")
    shown = call(*typed)
    assert shown.status == 0 and "Nothing is written" in shown.out and not own.exists()
    added = call(*typed, "--into", str(own))
    assert added.status == 0 and "5 rows added" in added.out
    assert "active parameters" in added.out and "typical KV" in added.out
    assert call("infer", "acme/perm", "--prices", str(own)).status == 0
    assert "\n1 row added to " in call("prices", "add", "acme/perm", "cache_write:5min=2.5", "--into", str(own)).out
    before = own.read_bytes()
    assert "repeats the key" in refused(*typed, "--into", str(own))
    unwritten = call(*typed, "--into", str(tmp_path / "none" / "own.csv"))
    assert unwritten.status == 2 and "cannot be written" in unwritten.err
    assert own.read_bytes() == before and os.listdir(tmp_path) == ["own.csv"]


def test_of_many_warnings_the_first_thousand_are_listed(tmp_path):
    own = tmp_path / "own.csv"
    lines = [f"acme,m{number},{what},{2 if what == 'input' else 1}" for number in range(1_002) for what in ("input", "output")]
    own.write_text("\n".join(["provider,model,component,amount", *lines]), encoding="utf-8")
    said = call("prices", "check", str(own)).out.splitlines()
    assert sum(line.startswith("warning: ") for line in said) == 1_001 and said[-2] == "warning: 2 more like these"
    assert said[-1].endswith("no problem found, 1002 warnings")


def test_a_price_in_another_unit_is_left_out_and_said_why(tmp_path):
    entry = '"litellm_provider": "x", "mode": "chat", "input_cost_per_token": {}, "output_cost_per_token": {}'
    file = tmp_path / "l.json"
    file.write_text(f'{{"x/m": {{{entry.format(2.5, 10)}}}, "x/n": {{{entry.format(2.5e-6, 1e-5)}}}}}', encoding="utf-8")
    said = " ".join(call("prices", "pull", str(file), "--into", str(tmp_path / "x.csv")).out.split())
    assert "taken 1" in said
    assert "left out 1 (1 refused amount, as 2.5e+06 is absurd: input costs between" in said


@pytest.mark.parametrize("style", ["table", "csv", "json"])
def test_a_sheet_older_than_its_model_is_not_listed(style: str):
    """By its blank start glm-5.1 would hold on every day; it was released in 2026."""
    then, now = call("prices", "list", "--as-of", "2025-01-01", "--as", style), call("prices", "list", "--as", style)
    assert then.status == now.status == 0 and "glm-5.1" not in then.out and "glm-5.1" in now.out and now.err == ""
    assert "nova-micro" in then.out and "their models were released after 2025-01-01" in then.err


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_warnings_and_lists_fit_a_terminal_and_are_a_line_each_in_a_pipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file("acme,m,input,1,,,,", OUTPUT, "acme,m,cache_read,3,,,,"))
    added = ("prices", "add", "acme/m", "input=1", "output=10", "cache_read=3", "source_url=https://acme.example/prices")
    commands = (("prices", "check", "own.csv"), added, ("prices", "list", "--all"))
    for arguments, text in in_terminals({arguments: (80, arguments) for arguments in commands}).items():
        assert max(map(len, text.splitlines())) <= 80, text
        piped = call(*arguments).out.splitlines()
        assert "".join(text.split())[:150] in "".join("".join(piped).split())
        assert sum(line.startswith("warning: ") for line in piped) == text.count("warning: ")


def test_a_file_that_is_compared_takes_a_rate(tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("provider,model,component,amount,currency\nacme,m,input,1,EUR\nacme,m,output,9.5,EUR\n")
    said = call("prices", "diff", "shipped", str(own), "--rate", "EUR=1.08")
    assert (said.status, said.err) == (0, "") and "2 added" in said.out
    assert "as --rate EUR=1.08" in call("prices", "diff", "shipped", str(own)).err
