"""The command line as a stranger uses it: exit statuses, one or two plain lines for every mistake, nothing else.

Exit status 0: answered; 2: the input is wrong; 3: the question has no answer. Errors on stderr, never a traceback;
what was fine is printed first.
"""

import ast
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import sysconfig
import threading
from importlib import import_module
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

import derive
import invert
from backsolve.cli.catalogue import LARGEST_RESULT
from backsolve.cli.main import backsolve
from backsolve.streams import width
from derive import shipped
from derive.errors import WrongData
from derive.files import write
from invert.report.table import COLUMNS as ALL_COLUMNS
from invert.report.table import summary

SCRIPT = Path(sysconfig.get_path("scripts")) / ("backsolve.exe" if os.name == "nt" else "backsolve")
CONTROL = "\x1b[2J\x07"
SEPARATE = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}


class Said(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


def call(*arguments: str, stdin: bytes | None = None, color: bool = False) -> Said:
    done = CliRunner(**SEPARATE).invoke(backsolve, list(arguments), input=stdin and BytesIO(stdin), color=color)
    assert done.exception is None or isinstance(done.exception, SystemExit), f"{arguments}: {done.exception!r}"
    return Said(done.exit_code, done.stdout, done.stderr)


def script(*arguments: str, **more: Any) -> subprocess.CompletedProcess:
    return subprocess.run([str(SCRIPT), *arguments], capture_output=True, text=True, timeout=60, **more)


def refused(*arguments: str, status: int = 2, stdin: bytes | None = None) -> str:
    """The message of a command that prints nothing but a line or two of plain text on stderr."""
    said = call(*arguments, stdin=stdin, color=True)
    assert said.status == status, said
    assert said.out == ""
    plain(said.err)
    return said.err


def plain(message: str) -> None:
    assert message.endswith("\n") and 1 <= message.count("\n") <= 2, message[:500]
    assert all(line.startswith("backsolve: ") and len(line) < 400 for line in message.splitlines()), message[:500]
    assert message.replace("\n", "").isprintable(), repr(message[:500])
    assert "Traceback" not in message


# -- mistakes -------------------------------------------------------------------------------------------------------

STEP = ("solve", "step_time")
STAR = ("solve", "balance_batch")
GEMINI = ("infer", "gemini-3.1-pro")
DEPLOYED = ("--hardware", "H100-SXM:fp8", "--model", "DeepSeek-V3", "bytes_per_element=1")

WRONG = [  # arguments, what the message must hold
    # unknown names, the nearest offered
    (("infr",), "'infer'"),
    (("nothing-of-the-kind",), "No such command"),
    (("solve", "balance_bach", "sparsity=8"), "'balance_batch'"),
    ((*STAR, "machine_balance_ratoi=300", "sparsity=8"), "'machine_balance_ratio'"),
    ((*STAR, "sparsity=8", "rhoo=300"), "'rho'"),
    ((*STEP, "--using", "roofline.steptime"), "'roofline.step_time'"),
    ((*STEP, "--hardware", "H10"), "H100"),
    ((*STEP, "--hardware", "H100-SXM:fp9"), "'fp8'"),
    ((*STEP, "--model", "DeepSek-V3"), "'DeepSeek-V3'"),
    ((*STEP, "--overlap", "sim"), "'sum'"),
    ((*STEP, "--as", "jsn"), "'json'"),
    ((*STEP, "--asx", "json"), "--as"),
    (("list", "--chapter", "roofine"), "'roofline'"),
    (("list", "--symbol", "batc"), "'batch'"),
    (("list", "--without", "nothing"), "'derivation'"),
    (("show", "roofline.step_tim"), "'roofline.step_time'"),
    (("show", "batc"), "'batch'"),
    (("cite", "roofline.step_tim"), "'roofline.step_time'"),
    (("cite", "roofline.step_time@99"), "roofline.step_time@2"),
    (("cite", "roofline.step_time", "--as", "bib"), "'bibtex'"),
    (("infer", "gemini-3.1-prow"), "google/gemini-3.1-pro-preview"),
    (("infer", "gemini"), "google/gemini-2.5-pro"),
    (("infer", "nothing-of-the-kind"), "backsolve prices list"),
    (("infer", "--provider", "gogle"), "'google'"),
    (("infer", "--tier", "batsh"), "'batch'"),
    (("infer", "--as", "xml"), "'json'"),
    (("infer", "--anchor", "active_param=60B"), "'active_params'"),
    (("infer", "--anchor", "batch=60"), "active_params"),
    ((*GEMINI, "--set", "outptu=20"), "'output'"),
    ((*GEMINI, "--set", "output@300k=20"), "output@200000"),
    (("prices", "lst"), "'list'"),
    # units
    ((*STAR, "machine_balance_ratio=300 tokens", "sparsity=8"), "is in token"),
    (("solve", "sweep_time", "hbm_capacity=80GB", "hbm_bandwidth=3.35TB"), "is in byte"),
    (("solve", "sweep_time", "hbm_capacity=80 GX", "hbm_bandwidth=3.35TB/s"), "unknown unit 'GX'"),
    (("solve", "worst_latency", "train_period=5m"), "min or M?"),
    (("solve", "cost_per_token", "chip_price=/h"), "shell"),
    (("infer", "--anchor", "active_params=60 tokens"), "is in token"),
    # numbers
    *(((*STAR, f"sparsity={text}", "machine_balance_ratio=300"), why) for text, why in (
        ("-8", "must be > 0"), ("0", "must be > 0"), ("nan", "finite"), ("inf", "finite"), ("-inf", "finite"), ("1e999", "finite"),
        ("1e30", "absurd"), ("9" * 190, "absurd"), ("8,000", "comma"), ("16..4", "below"), ("8-16", "low..high"), ("", "empty"),
        ("eight", "begin with a number"), ("__import__('os')", "begin with a number"), ("8+1", "unknown unit"),
    )),
    (("solve", "compute_utilisation", "mfu=1.5"), "in (0, 1]"),
    (("infer", "--anchor", "overlap=2"), "in [0, 1]"),
    (("infer", "--anchor", "active_params=-1"), "must be > 0"),
    ((*GEMINI, "--set", "output=-3"), "negative"),
    ((*GEMINI, "--set", "output=nan"), "not a number"),
    ((*GEMINI, "--set", "output=1e9"), "absurd"),
    ((*GEMINI, "--set", "input=0"), "zero"),
    # ranges, lists and sweeps
    (("solve", "step_time", "compute_time=1ms", "memory_time=1ms..9ms:lin:1e12"), "at most 10,000,000"),
    (("solve", "step_time", "compute_time=1ms", "memory_time=9ms..1ms"), "write 1ms..9ms"),
    (("solve", "step_time", "compute_time=1ms", "memory_time=1ms..9ms:cubic"), ":log or :lin"),
    # presets and conventions
    (("solve", "sweep_time", "--hardware", "H100:fp8", "--hardware", "B200:fp8"), "by H100:fp8 and"),
    (("solve", "step_time", "--overlap", "mx"), "'max'"),
    (("solve", "step_time", "--count", "macs"), "'mac'"),
    (("solve", "step_time", "--bytes", "binry"), "'binary'"),
    (("solve", "step_time", "--efficiency", "best"), "ideal, calibrated"),
    # forms
    ((*STAR, "sparsity"), "name=value"),
    ((*STAR, "sparsity=8", "s=9", "machine_balance_ratio=300"), "given twice"),
    ((*STAR, "balance_batch=3", "sparsity=8"), "asked for and given"),
    ((*GEMINI, "--set", "output"), "name=value"),
    ((*GEMINI, "--anchor", "active_params"), "name=value"),
    ((*GEMINI, "--anchor", "active_params=1B", "--anchor", "N_a=2B"), "given twice"),
    (("infer", "--as-of", "2026-02-30"), "2026-11-20"),
    (("infer", "--as-of", "yesterday"), "2026-11-20"),
    (("solve",), "UNKNOWN"),
    (("show",), "ID"),
    (("cite",), "backsolve list"),
    # nothing at all
    (("solve", ""), "unknown quantity ''"),
    ((*STAR, ""), "name=value"),
    ((*STAR, "="), "unknown quantity ''"),
    (("show", ""), "''"),
    (("cite", ""), "''"),
    (("infer", ""), "''"),
    (("list", "--chapter", ""), "''"),
    (("list", "--symbol", ""), "unknown quantity ''"),
    (("infer", "--provider", ""), "''"),
    ((*GEMINI, "--anchor", ""), "name=value"),
    ((*GEMINI, "--set", ""), "name=value"),
    ((*STEP, "--using", ""), "''"),
    ((*STEP, "--hardware", ""), "''"),
    ((*STEP, "--model", ""), "''"),
    (("infer", "--prices", ""), "''"),
    ((*GEMINI, "--save", ""), "''"),
    ((*STEP, "--overlap", ""), "allowed: max, sum, kv_plus_max"),
    # a provider where a model is meant
    (("infer", "google"), "--provider google"),
    (("infer", "Google"), "--provider google"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "holds"), WRONG, ids=[" ".join(row[0])[:60] for row in WRONG])
def test_wrong_input_exits_2_with_a_plain_line(arguments: tuple[str, ...], holds: str):
    assert holds in refused(*arguments)


NO_ANSWER = [
    ((*STAR, "machine_balance_ratio=300"), "needs also total_params and active_params"),
    (STAR, "needs also"),
    (("solve", "L", "B=3"), "context_length"),
    ((*STAR, "machine_balance_ratio=300", "sparsity=8", "total_params=600B", "active_params=37B"), "contradiction: sparsity = 8"),
    (("solve", "memory_time", "step_time=20ms", "compute_time=30ms"), "no memory_time > 0 satisfies roofline.step_time"),
    (
        ("solve", "bandwidth_bound_fraction", "output_input_ratio=1", "--using", "readings.bandwidth_bound_fraction"),
        "output_input_ratio > 1",
    ),
    (("solve", "cost_context_scale"), "--using"),
    (("solve", "step_time", "batch=1", "context_length=4k", "chips=16", "ridge_point=600", *DEPLOYED), "contradiction: ridge_point = 600"),
    (("solve", "batch", "step_time=500us", "context_length=4k", "chips=16", *DEPLOYED), "requires batch >= 1, but batch would be 0.49"),
    (("solve", "step_time", "batch=1", "context_length=4k", "chips=8", *DEPLOYED), "31.14 GB short"),
    (("solve", "hbm_bandwidth", "ridge_point=600", "machine_balance_ratio=300", "bytes_per_weight=1"), "needs also peak_flops"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "holds"), NO_ANSWER, ids=[" ".join(row[0])[:60] for row in NO_ANSWER])
def test_a_question_without_an_answer_exits_3(arguments: tuple[str, ...], holds: str):
    assert holds in refused(*arguments, status=3)
    said = call(*arguments, "--as", "json")
    document = json.loads(said.out)
    assert (said.status, document["answers"]) == (3, []) and document["reason"]["code"]
    plain(said.err)


def test_what_is_missing_is_named_in_json_too():
    document = json.loads(call(*STAR, "machine_balance_ratio=300", "--as", "json").out)
    assert document["reason"]["code"] == "missing_givens" and document["reason"]["missing"] == ["total_params", "active_params"]


@pytest.mark.parametrize("style", ["csv", "markdown", "latex", "json"])
def test_what_is_said_beside_an_answer_is_on_stderr_where_the_answer_is_for_a_file(style):
    said = call("solve", "token_latency", "pipeline_stages=4", "step_time=20ms", "experts=8", "--as", style)
    warning, *others = said.err.splitlines()
    assert warning.startswith("backsolve: hops between 4 stages are taken to take no time") and "backsolve:" not in said.out
    assert others == ["backsolve: experts was given and is not used"]


def test_a_unit_or_name_mistake_prints_no_json():
    assert "is in token" in refused(*STAR, "machine_balance_ratio=300 tokens", "--as", "json")


LONG = "a" * 30_000
LONGEST = [
    ("solve", LONG), (*STAR, f"{LONG}=3"), (*STAR, f"sparsity={'9' * 100_000}"), (*STAR, LONG), (*STEP, "--hardware", LONG),
    (*STEP, "--model", LONG),
    (*STEP, "--using", LONG), (*STEP, "--overlap", LONG), ("show", LONG), ("show", f"a.{LONG}"), ("cite", LONG), ("list", "--symbol", LONG),
    ("list", "--chapter", LONG), ("infer", LONG), ("infer", "--provider", LONG), ("infer", "--tier", LONG), ("infer", "--prices", LONG),
    ("infer", "--anchor", f"{LONG}=1"), (*GEMINI, "--set", f"{LONG}=1"), (*GEMINI, "--set", f"output={LONG}"), (*GEMINI, "--set", LONG),
    (LONG,), (*STEP, "--as", LONG), ("infer", "--as-of", LONG), (*STEP, f"--{LONG}"), ("cite", "--used-by", LONG),
]  # fmt: skip


@pytest.mark.parametrize("arguments", LONGEST, ids=[" ".join(row)[:30] for row in LONGEST])
def test_a_very_long_argument_is_cut_in_the_message(arguments: tuple[str, ...]):
    refused(*arguments)


def test_a_very_long_name_to_save_under_is_cut_too(tmp_path):
    said = call(*GEMINI, "--save", str(tmp_path / LONG), color=True)
    assert said.status == 2 and said.out
    plain(said.err.replace(str(tmp_path), ""))


HOSTILE = [
    ("solve", CONTROL), (*STAR, f"bat{CONTROL}ch=3"), (*STAR, f"sparsity={CONTROL}3"), (*STAR, f"sparsity=3{CONTROL}"), (*STAR, CONTROL),
    (*STEP, "--hardware", f"H100{CONTROL}"), (*STEP, "--hardware", f"H100-SXM:{CONTROL}"), (*STEP, "--model", CONTROL),
    (*STEP, "--using", CONTROL),
    (*STEP, "--overlap", CONTROL), (*STEP, "--as", CONTROL), (*STEP, f"--{CONTROL}"), (CONTROL,), ("show", CONTROL),
    ("show", f"a.{CONTROL}"),
    ("cite", CONTROL), ("cite", "--used-by", CONTROL), ("list", "--chapter", CONTROL), ("list", "--symbol", CONTROL),
    ("list", "--without", CONTROL),
    ("infer", CONTROL), ("infer", "--provider", CONTROL), ("infer", "--tier", CONTROL), ("infer", "--as-of", CONTROL),
    ("infer", "--prices", CONTROL),
    ("infer", "--anchor", CONTROL), ("infer", "--anchor", f"{CONTROL}=3"), (*GEMINI, "--set", CONTROL), (*GEMINI, "--set", f"{CONTROL}=3"),
    (*GEMINI, "--set", f"output={CONTROL}"), ("prices", CONTROL), ("prices", "list", "--prices", CONTROL),
    ("prices", "check", "--prices", CONTROL),
    ("solve", "a\nb\nc\nd"), ("infer", "a\r\nb\u202ec"), ("infer", "--prices", "a\nb\nc\nd"), ("cite", "--used-by", "a\nb\nc"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", HOSTILE, ids=[ascii(" ".join(row))[:50] for row in HOSTILE])
def test_control_characters_never_reach_the_terminal_raw(arguments: tuple[str, ...]):
    refused(*arguments)


def test_a_path_to_save_under_never_reaches_the_terminal_raw(tmp_path):
    said = call(*GEMINI, "--save", f"{tmp_path}/none{CONTROL}/x.json", color=True)
    assert said.status == 2
    plain(said.err)


def test_a_file_to_cite_from_with_a_hostile_name_is_named_plainly(tmp_path):
    path = tmp_path / f"r{CONTROL}.json"
    path.write_text("no json")
    assert "not JSON" in refused("cite", "--used-by", str(path))


# -- price files ----------------------------------------------------------------------------------------------------

COLUMNS = "provider,model,component,amount,threshold_tokens,effective_date,valid_to,notes"
GOOD = ("other,n,input,1,,,,", "other,n,output,5,,,,")
OUTPUT = "acme,m,output,10,,,,"


def price_file(*rows: str, header: str = COLUMNS) -> bytes:
    return "\n".join([header, *rows, ""]).encode()


UNUSABLE = [  # content of the file, what the message holds
    ("empty", b"", "own.csv is empty"),
    ("header only", price_file(), "own.csv has a header and no rows"),
    ("missing column", price_file("acme,m,input", header="provider,model,component"), "own.csv row 1: there is no column amount"),
    ("misspelt column", price_file("a,b,input,1", header="provider,model,component,ammount"), "did you mean 'amount'?"),
    ("UTF-16", price_file(*GOOD).decode().encode("utf-16"), "own.csv row 1: this is UTF-16"),
    ("NUL bytes", b"\0" * 4096, "own.csv row 1: this is UTF-16 or no text"),
    ("no text", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "own.csv row 1"),
    ("endless line", b"x" * 3_000_000, "own.csv row 1: the line is longer than 64 kB"),
]


@pytest.mark.parametrize(("what", "content", "holds"), UNUSABLE, ids=[row[0] for row in UNUSABLE])
@pytest.mark.parametrize("command", [("infer",), ("prices", "list"), ("prices", "check")], ids=" ".join)
def test_a_file_that_cannot_be_used_exits_2(tmp_path, monkeypatch, command: tuple[str, ...], what: str, content: bytes, holds: str):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(content)
    assert holds in refused(*command, "--prices", "own.csv")
    piped = refused(*command, "--prices", "-", stdin=content)
    assert holds.replace("own.csv", "standard input") in piped


BAD_ROWS = [  # rows, the place that is named, what is said of it
    ("broken number", ("acme,m,input,abc,,,,", OUTPUT), "row 4, column amount", "'abc' is not a number"),
    ("formula", ("acme,m,input,=1+1,,,,", OUTPUT), "row 4, column amount", "spreadsheet formula"),
    ("formula in notes", ("acme,m,input,1,,,,=cmd|'/c calc'!A0", OUTPUT), "row 4, column notes", "spreadsheet formula"),
    ("NUL", ("acme,m,input,1,,,,a\0b", OUTPUT), "row 4, column notes", "NUL"),
    ("escape", (f"acme,m,input,1,,,,{CONTROL}", OUTPUT), "row 4, column notes", "control character"),
    ("negative", ("acme,m,input,-1,,,,", OUTPUT), "row 4, column amount", "negative"),
    ("absurd", ("acme,m,input,1e9,,,,", OUTPUT), "row 4, column amount", "absurd"),
    ("duplicate key", ("acme,m,input,1,,,,", "acme,m,input,2,,,,", OUTPUT), "row 5, column effective_date", "repeats the key of own.csv:4"),
    (
        "overlap",
        ("acme,m,input,1,,2026-01-01,,", "acme,m,input,2,,2026-05-01,,", OUTPUT),
        "row 5, column effective_date",
        "overlaps own.csv:4",
    ),
    ("no base", ("acme,m,input,1,200000,,,", "acme,m,output,5,200000,,,"), "row 4, column threshold_tokens", "no base row"),
    (
        "half a premium",
        ("acme,m,input,1,,,,", OUTPUT, "acme,m,output,5,200000,,,"),
        "row 6, column component",
        "no input at threshold 200000",
    ),
    ("long line", ("acme,m,input,1,,,," + "x" * 70_000, OUTPUT), "row 4", "longer than 64 kB"),
    ("open quote", ('acme,m,input,1,,,,"never closed', OUTPUT), "row 4", "is not CSV"),
    ("too many cells", ("acme,m,input,1,,,,,,", OUTPUT), "row 4", "has 10 cells where the header has 8"),
    ("bad date", ("acme,m,input,1,,2026-02-30,,", OUTPUT), "row 4, column effective_date", "not an ISO date"),
]


ASKED = ("infer", "other/n", "gemini-3.1-pro", "--as", "json")


@pytest.mark.parametrize(("what", "rows", "place", "why"), BAD_ROWS, ids=[row[0] for row in BAD_ROWS])
def test_a_bad_row_is_named_and_the_rest_is_printed(tmp_path, monkeypatch, what: str, rows: tuple[str, ...], place: str, why: str):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file(*GOOD, *rows))
    found = {command: call(*command, "--prices", "own.csv", color=True) for command in (ASKED, ("prices", "list"))}
    for said in found.values():
        assert said.status == 2
        plain(said.err)
        assert f"own.csv {place}" in said.err and why in said.err
    assert [sheet["model"] for sheet in json.loads(found[ASKED].out)] == ["n", "gemini-3.1-pro-preview"]
    assert "other/n" in found["prices", "list"].out and "google/gemini-3.1-pro-preview" in found["prices", "list"].out
    assert why in refused("prices", "check", "--prices", "own.csv")


@pytest.mark.parametrize("name", ["acme/m", "m"])
@pytest.mark.parametrize("row", ["acme,m,input,abc,,,,", "acme,m,input,1,,,,a\0b"])
def test_a_model_whose_row_is_bad_is_not_called_unknown_without_the_row(tmp_path, monkeypatch, name: str, row: str):
    """A wrong row never silently drops the sheet."""
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file(*GOOD, row, OUTPUT))
    said = call("infer", name, "--prices", "own.csv")
    assert said.status == 2 and "own.csv row 4, column" in said.err
    assert "own.csv row 4, column" in call("infer", "--provider", "acme", "--prices", "own.csv").err


def test_bom_crlf_and_capitals_of_a_spreadsheet_are_fine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(b"\xef\xbb\xbf" + price_file(*GOOD).replace(b"\n", b"\r\n"))
    said = call("infer", "other/n", "--prices", "own.csv")
    assert (said.status, said.err) == (0, "") and "other n (standard)" in said.out


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
    assert said.err == "backsolve: acme/c: some of its prices begin on 2027-01-01, after 2026-11-20; --as-of 2027-01-01\n"
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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("[x](javascript:alert(1))", r"\[x](javascript:alert(1))"),
        ("a`b`c", r"a\`b\`c"),
        ("*b* _c_ __d__ e_f ~~g~~", r"\*b\* \_c\_ \_\_d\_\_ e_f \~\~g\~\~"),
        ("a&lt;b|$c$", r"a\&lt;b\|\$c\$"),
        ("<b>", "&lt;b>"),
    ],
)
def test_names_out_of_a_file_are_no_marks_in_markdown(name: str, shown: str):
    rows = [f'acme,"{name}",{component},{amount},,,,' for component, amount in (("input", 2), ("output", 10))]
    said = call("infer", "--provider", "acme", "--prices", "-", "--as", "markdown", stdin=price_file(*rows))
    assert said.status == 0 and f"| {shown} " in said.out
    assert len({line.replace(r"\|", "").count("|") for line in said.out.splitlines() if line.startswith("|")}) == 1


@pytest.mark.parametrize(
    ("style", "raw", "escaped"),
    [
        ("html", ("<script>", "b&_"), "&lt;script&gt;"),
        ("latex", ("b&_", "_%#"), r"\&\_\%\#"),
        ("markdown", ("a|b", "<script>"), "script"),
    ],
)
def test_names_out_of_a_file_are_escaped_in_documents(style: str, raw: tuple[str, ...], escaped: str):
    rows = [f'acme,"a|b&_%#<script>",{component},{amount},,,,' for component, amount in (("input", 2), ("output", 10))]
    said = call("infer", "--provider", "acme", "--prices", "-", "--as", style, stdin=price_file(*rows))
    assert said.status == 0 and escaped in said.out
    assert [text for text in raw if text in said.out] == []


# -- saving ---------------------------------------------------------------------------------------------------------


def test_a_saved_run_can_be_cited_from(tmp_path):
    path = tmp_path / "run.json"
    said = call(*GEMINI, "--save", str(path))
    assert said.status == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["schema"] == "infer-1" and len(document["sheets"]) == 1
    assert os.listdir(tmp_path) == ["run.json"]
    cited = call("cite", "--used-by", str(path), "--as", "bibtex")
    assert cited.status == 0
    assert all(f"backsolve:{id.split('@')[0]}:v" in cited.out for id in document["sheets"][0]["equations"])


def test_saving_replaces_the_whole_file_or_nothing(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("older and longer " * 10_000)
    assert call(*GEMINI, "--save", str(path)).status == 0
    before = path.read_text()
    json.loads(before)
    assert refused(*GEMINI, "--save", str(path), "--anchor", "overlap=2")
    assert path.read_text() == before and os.listdir(tmp_path) == ["run.json"]


def test_saving_touches_no_other_file(tmp_path):
    (tmp_path / "run.json.part").write_text("mine")
    assert call(*GEMINI, "--save", str(tmp_path / "run.json")).status == 0
    assert (tmp_path / "run.json.part").read_text() == "mine"


def test_saving_through_a_link_writes_what_it_points_to(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    assert call(*GEMINI, "--save", str(tmp_path / "link.json")).status == 0
    assert (tmp_path / "link.json").is_symlink() and (tmp_path / "real.json").read_text().startswith("{")


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_saving_keeps_the_permissions_of_a_file_that_was_there(tmp_path, mode: int):
    path = tmp_path / "run.json"
    path.write_text("old")
    path.chmod(mode)
    assert call(*GEMINI, "--save", str(path)).status == 0
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_text().startswith("{")


@pytest.mark.parametrize("kind", ["read-only", "loop", "device", "pipe", "the answer itself"])
def test_what_may_not_be_replaced_is_named_and_kept(tmp_path, monkeypatch, kind: str):
    monkeypatch.chdir(tmp_path)
    path = Path("run\n.json")
    if kind == "loop":
        path.symlink_to(path.name)
    elif kind == "device":
        path.symlink_to(os.devnull)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_text("mine")
    if kind == "read-only":
        path.chmod(0o444)
    before, kept = os.lstat(path), os.dup(1)
    with open(path, "a") if kind == "the answer itself" else open(os.devnull) as output:
        os.dup2(output.fileno() if kind == "the answer itself" else kept, 1)
        try:
            with pytest.raises(WrongData, match="cannot be written") as caught:
                write(str(path), "new")
        finally:
            os.dup2(kept, 1)
            os.close(kept)
    assert str(caught.value).startswith(r"'run\n.json': cannot be written (")
    assert os.listdir() == [path.name] and os.path.samestat(before, os.lstat(path))
    assert kind in ("loop", "device", "pipe") or path.read_text() == "mine"


ENDED = """
import os, signal, derive.files
synced = []
def fsync(number, really=os.fsync):
    really(number)
    synced.append(number)
    os.kill(os.getpid(), {signal})
os.fsync = fsync
derive.files.write("run.json", "whole")
print("it went on")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_file_is_saved_ends_the_command_and_leaves_the_file_whole(tmp_path, number: signal.Signals):
    code = ENDED.format(signal=int(number))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")
    assert os.listdir(tmp_path) == ["run.json"] and (tmp_path / "run.json").read_text() == "whole"


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_is_saved_with_the_permissions_of_any_new_file(tmp_path, mask: int, mode: int):
    before = os.umask(mask)
    try:
        assert call(*GEMINI, "--save", str(tmp_path / "run.json")).status == 0
        assert os.umask(mask) == mask, "saving leaves the mask as it was"
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == mode


def test_a_sheet_with_an_absurd_ratio_is_named_and_the_others_are_printed():
    rows = ("acme,m,input,0.0001,,,,", "acme,m,output,4,,,,")
    said = call("infer", "--prices", "-", "--as", "csv", stdin=price_file(*rows), color=True)
    assert said.status == 2 and "acme/m: " in said.err
    plain(said.err)
    assert said.out == call("infer", "--as", "csv").out


def test_a_day_before_anyone_read_the_prices_is_flagged():
    said = call("infer", "--as-of", "2020-01-01", "--as", "json")
    assert said.status == 0 and all("start not known" in sheet["flags"] for sheet in json.loads(said.out))


def test_a_change_that_a_sheet_cannot_take_names_the_sheet():
    said = call("infer", "--set", "output@200k=20")
    assert said.status == 2 and "alibaba/qwen3-coder-flash" in said.err
    plain(said.err)


def test_a_component_changed_twice_is_refused():
    said = call(*GEMINI, "--set", "output=20", "--set", "output=30")
    assert said.status == 2 and "given more than once" in said.err


@pytest.mark.parametrize("place", ["no-such/run.json", ".", "file/run.json"])
def test_an_unwritable_path_exits_2_after_the_answer_and_leaves_nothing(tmp_path, monkeypatch, place: str):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    said = call(*GEMINI, "--save", place, color=True)
    assert said.status == 2 and "gemini-3.1-pro-preview" in said.out
    plain(said.err)
    assert f"{place}: cannot be written" in said.err
    assert os.listdir() == ["file"] and Path("file").read_text() == "mine"


def test_a_bad_row_does_not_keep_the_rest_from_being_saved(tmp_path):
    path = tmp_path / "run.json"
    said = call("infer", "--prices", "-", "--save", str(path), stdin=price_file(*GOOD, "acme,m,input,abc,,,,", OUTPUT))
    assert said.status == 2
    assert "n" in {sheet["model"] for sheet in json.loads(path.read_text())["sheets"]}


@pytest.mark.parametrize(
    ("content", "holds"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe\0", "not JSON"),
        (b"\0", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"9" * 10_000, "not JSON"),
        (b"{}", "equations"),
        (b"3", "equations"),
        (b'{"equations": "roofline.step_time@2"}', "equations"),
        (b'{"equations": ["../../etc/passwd"]}', "equations"),
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
    for place, why in (("pipe", "standard input"), ("/dev/zero", "standard input"), ("large", "larger than 64 MiB"), (".", "not a file")):
        assert why in refused("cite", "--used-by", place)
    assert "larger than 64 MiB" in refused("cite", "--used-by", "-", stdin=bytes(LARGEST_RESULT + 1))


def test_a_result_can_be_cited_from_standard_input():
    result = call(*STAR, "rho=300", "s=8", "--as", "json").out
    assert "batching.balance_batch, version 1" in call("cite", "--used-by", "-", stdin=result.encode()).out


# -- what works -----------------------------------------------------------------------------------------------------

FINE = [
    ((*STAR, "machine_balance_ratio=300", "sparsity=8"), "balance_batch = 2400"),
    (("solve", "B_star", "rho=300", "s=8"), "balance_batch = 2400"),
    ((*STAR, "rho=300", "s=8", "--as", "csv"), "balance_batch,1,point,2400.0"),
    ((*STAR, "rho=300", "s=8", "--as", "latex"), r"\begin{gather*}"),
    ((*STAR, "rho=300", "s=8", "--as", "markdown"), "| balance_batch | 2400 |"),
    (("solve", "kv_bytes_per_token", "--using", "readings.threshold_is_crossover", "N_a=100B", "b_w=1", "rho=300", "L_thr=200k"),
        "1.667 kB/token"),
    (("solve", "memory_time", "step_time=20ms", "compute_time=20ms"), "at most 20 ms"),
    (("solve", "step_time", "--hardware", "H100-SXM:fp8", "--model", "DeepSeek-V3", "B=88", "L=4989", "b_e=1", "n=16"), "step_time = "),
    (("list",), "roofline.step_time"),
    (("list", "--chapter", "bands"), "bands.premium_in"),
    (("list", "--symbol", "batch_multiple"), "batching.practical_batch"),
    (("list", "--hardware"), "H100-SXM"),
    (("list", "--models"), "DeepSeek-V3"),
    (("show", "roofline.step_time"), "step_time = drafting_time + Max(memory_time, positions_per_step*(attention_time + compute_time))"),
    (("show", "batch"), "[1]"),
    (("show", "L_star"), "balance_context"),
    (("cite", "roofline.step_time"), "backsolve roofline.step_time, version 2"),
    *((("cite", "roofline.step_time", "batching.balance_batch", "--as", style), mark) for style, mark in (
        ("bibtex", "@misc{backsolve:roofline.step_time:v2"), ("csl-json", '"id": "backsolve:roofline.step_time:v2"'),
        ("latex", r"\begin{equation}"),
        ("myst", "```{math}"), ("markdown", "[^roofline-step-time]"), ("plain", "version 1"),
    )),
    (("infer",), "gemini-3.1-pro-preview"),
    (GEMINI, "1.667 kB/token"),
    ((*GEMINI, "--as", "json"), '"kv_bytes_per_token": 1666.6'),
    ((*GEMINI, "--as", "csv"), "google,gemini-3.1-pro-preview,standard,2026-11-20,USD,"),
    ((*GEMINI, "--as", "markdown"), "| google"),
    ((*GEMINI, "--as", "latex"), r"\begin{tabular}"),
    ((*GEMINI, "--as", "html"), "<table>"),
    (("infer", "--all"), "(batch)"),
    (("infer", "--tier", "fast"), "(fast)"),
    (("infer", "--provider", "google"), "gemini-2.5-pro"),
    (("infer", "--provider", "Google"), "gemini-2.5-pro"),
    (("infer", "claude-opus-4-6", "--as-of", "2026-03-12"), "above 200k tokens"),
    ((*GEMINI, "--anchor", "active_params=60B"), "= 1 kB/token"),
    ((*GEMINI, "--set", "output=20"), "output_input_ratio = 10"),
    (("prices", "list"), "google/gemini-3.1-pro-preview"),
    (("prices", "list", "--all"), "batch"),
    (("prices", "list", "--as-of", "2026-03-12"), "anthropic/claude-opus-4-6"),
    (("prices", "check"), "no problem found"),
    (("--version",), "backsolve 0.1.0"),
    (("--help",), "Commands:"),
    (("solve", "--help"), "UNKNOWN"),
    (("infer", "-h"), "--prices"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "holds"), FINE, ids=[" ".join(row[0])[:60] for row in FINE])
def test_what_works_exits_0_and_says_nothing_on_stderr(arguments: tuple[str, ...], holds: str):
    said = call(*arguments)
    assert (said.status, said.err) == (0, "")
    assert holds in said.out


def test_a_choice_among_providers_is_said_on_stderr():
    said = call("infer", "deepseek-v4-pro", "--as", "json")
    assert said.status == 0 and said.err.startswith("backsolve: deepseek-v4-pro: taken from deepseek/")
    assert [sheet["provider"] for sheet in json.loads(said.out)] == ["deepseek"]


def test_every_equation_can_be_shown_and_cited():
    ids = [line.split()[0] for line in call("list").out.splitlines()]
    assert len(ids) > 60
    for id in ids:
        assert call("show", id).out.startswith(f"{id}@")
    cited = call("cite", *ids)
    assert cited.status == 0 and all(id in cited.out for id in ids)


def test_a_derivation_is_shown_step_by_step_in_text_and_in_latex():
    shown = call("show", "batching.balance_batch").out
    for part in ("derivation", "1. At the balance batch", "weight_time eliminated; chips cancels:", "leads to", "step 1"):
        assert part in shown
    latex = call("show", "batching.balance_batch", "--as", "latex")
    assert latex.status == 0 and latex.out.count(r"\item") == 2
    assert r"B^{\star} = \frac{\rho \mathrm{mfu} s}{\mathrm{mbu}}" in latex.out
    refused = call("show", "batch", "--as", "latex")
    assert refused.status == 2 and "'batch' is no equation's id" in refused.err
    misspelled = call("show", "roofline.step_tim", "--as", "latex")
    assert misspelled.status == 2 and "'roofline.step_time'" in misspelled.err


@pytest.mark.parametrize(("lack", "field"), [("source", "sources"), ("derivation", "steps")])
def test_list_without_names_what_lacks_one(lack: str, field: str):
    listed = [line.split()[0] for line in call("list", "--without", lack).out.splitlines()]
    assert listed == [row.id for row in derive.equations() if not getattr(row, field)]


@pytest.mark.parametrize("arguments", [("--chapter", "roofline", "--symbol", "block_size"), ("--without", "source")], ids=" ".join)
def test_a_list_of_nothing_says_so(arguments: tuple[str, ...]):
    said = call("list", *arguments)
    assert (said.status, said.out) == (0, "") and "no equation" in said.err
    plain(said.err)


@pytest.mark.parametrize("group", [(), ("prices",)])
def test_a_command_group_alone_shows_its_help(group: tuple[str, ...]):
    said = call(*group)
    text = said.out + said.err
    assert said.status in (0, 2) and "Commands:" in text
    assert not text.startswith("backsolve: Usage")


# -- pipes ----------------------------------------------------------------------------------------------------------


def test_in_a_pipe_there_is_no_colour_and_nothing_is_cut():
    environment = {**os.environ, "COLUMNS": "40", "FORCE_COLOR": "1", "TERM": "xterm-256color", "PYTHONUTF8": "1"}
    done = script("infer", "--wide", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout and "…" not in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "gemini-3.1-pro-preview" in line]
    assert line.split()[:8] == ["google", "gemini-3.1-pro-preview", "200k", "x2", "x1.5", "6", "1.67", "kB"]
    assert line.endswith("active_params assumed")
    (line,) = [line for line in done.stdout.splitlines() if "qwen3-coder-plus" in line]
    assert line.endswith("4 bands, first pair shown; architecture assumed; KV PRIOR-DOMINATED")


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
@pytest.mark.parametrize("arguments", [("infer", "--all", "--as", "json"), ("list",)], ids=" ".join)
def test_a_reader_that_leaves_early_hears_no_complaint(arguments: tuple[str, ...]):
    """`backsolve infer | head -1`, with a reader that is gone before the first byte: nothing on stderr."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([str(SCRIPT), *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize("arguments", [("infer",), ("list",)], ids=" ".join)
def test_a_full_disk_is_no_traceback(arguments: tuple[str, ...]):
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(SCRIPT), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode != 0 and "Traceback" not in done.stderr and done.stderr.count("\n") <= 2


CLOSED = [  # what a shell is asked, exit status, what is said
    ('"$0" list >&-', 1, "standard output is closed"),
    ('"$0" list >&- 2>&- <&-', 1, ""),
    ('"$0" solve balance_bach 2>&-', 2, ""),
    ('"$0" solve balance_bach 2>/dev/full', 2, ""),
    *((f'"$0" {command} - <&-', 2, "standard input, and that is closed")
      for command in ("infer --prices", "prices list --prices", "prices check --prices", "cite --used-by")),
]  # fmt: skip


@pytest.mark.skipif(os.name == "nt" or not os.path.exists("/dev/full"), reason="a shell of its own there")
@pytest.mark.parametrize(("asked", "status", "said"), CLOSED, ids=[row[0][5:] for row in CLOSED])
def test_a_closed_stream_is_no_traceback(asked: str, status: int, said: str):
    done = subprocess.run(["sh", "-c", asked, str(SCRIPT)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status and said in done.stderr
    assert not done.stderr if not said else plain(done.stderr) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no limit on what a process writes there")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_cut_short_is_an_error(tmp_path, unbuffered: str):
    """A disk that is full after the first kilobyte: Python's own unbuffered streams lose the rest without a word."""
    import resource

    def one_kilobyte() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    with open(tmp_path / "out", "w") as out:
        done = subprocess.run(
            [str(SCRIPT), *GEMINI], stdout=out, stderr=subprocess.PIPE, text=True, timeout=60, preexec_fn=one_kilobyte,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 1 and "the output cannot be written (File too large)" in done.stderr
    plain(done.stderr)


def test_the_installed_command_maps_mistakes_as_the_function_does():
    for arguments, status in (((*STAR, "rho=300", "s=8"), 0), (("solve", "balance_bach"), 2), ((*STAR, "rho=300"), 3)):
        done, said = script(*arguments), call(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (status, said.out, said.err)


NO_UTF8 = [  # encoding, command, what it prints
    ("ascii", ("solve", "--help"), "mfu=0.4+/-0.1"),
    ("ascii", ("infer",), "gemini-3.1-pro-preview"),
    ("cp1252", GEMINI, "1.667 kB/token"),
    ("cp932", (*STEP, "compute_time=20us", "memory_time=10us"), "step_time = 20 us"),
    ("koi8-r", (*STEP, "compute_time=20us", "memory_time=10us"), "step_time = 20 us"),
    ("latin-1", (*STEP, "compute_time=20us", "memory_time=10us"), "step_time = 20 µs"),
]


@pytest.mark.parametrize(("encoding", "arguments", "holds"), NO_UTF8, ids=[f"{row[0]} {row[1][0]}" for row in NO_UTF8])
def test_what_an_encoding_lacks_is_written_as_what_looks_like_it(encoding: str, arguments: tuple[str, ...], holds: str):
    done = subprocess.run([str(SCRIPT), *arguments], capture_output=True, timeout=60, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, b"")
    assert holds in done.stdout.decode(encoding)


# -- terminals ------------------------------------------------------------------------------------------------------

WIDTHS = (60, 80, 100, 120, 200, 400)
NARROWEST = 74
"""What the columns that always stay take up with the sheets that ship."""


def in_terminals(commands: dict[Any, tuple[int, tuple[str, ...]]]) -> dict[Any, str]:
    """What each command prints in a terminal of so many columns; all run at once."""
    import fcntl
    import pty
    import termios

    printed: dict[Any, str] = {}
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

    def run_in_terminal(name: Any, columns: int, arguments: tuple[str, ...]) -> None:
        reader, writer = pty.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        process = subprocess.Popen(
            [str(SCRIPT), *arguments], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, env=environment
        )
        os.close(writer)
        chunks = []
        try:
            while chunk := os.read(reader, 65536):
                chunks.append(chunk)
        except OSError:
            pass  # how a terminal says on Linux that nobody holds its other end
        os.close(reader)
        complaint = process.communicate(timeout=60)[1]
        assert (process.returncode, complaint) == (0, b"")
        printed[name] = b"".join(chunks).decode().replace("\r\n", "\n")

    threads = [threading.Thread(target=run_in_terminal, args=(name, *command)) for name, command in commands.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=90)
    assert printed.keys() == commands.keys()
    return printed


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_the_table_fits_and_says_what_it_left_out():
    table = invert.infer()
    printed: dict[Any, str] = {columns: summary(table, columns) for columns in WIDTHS} | {"wide": summary(table)}
    in_terminal = in_terminals({60: (60, ("infer",)), "wide": (60, ("infer", "--wide"))})
    assert {name: text.rstrip("\n") for name, text in in_terminal.items()} == {name: printed[name] for name in in_terminal}
    assert call("infer").out.rstrip("\n") == printed[100]
    shown = {}
    for columns, text in printed.items():
        heading, rule, *rows = text.split("\n\n")[0].splitlines()
        shown[columns] = re.split(r"\s{2,}", heading.strip())
        assert [column for column in ALL_COLUMNS if column in shown[columns]] == shown[columns], "a heading is split or out of place"
        assert len(rows) == len(table.inferences) and set(rule) == {"─"} and "…" not in text and "\x1b" not in text
        assert columns == "wide" or max(map(len, text.splitlines())) <= max(columns, NARROWEST)
        hidden = len(ALL_COLUMNS) - len(shown[columns])
        assert (f"{hidden} columns left out" in text) == bool(hidden) == ("--wide" in text)
    assert shown["wide"] == shown[400] == list(ALL_COLUMNS)
    assert shown[60] == ["model", "KV calibrated", "flags"]
    counts = [len(shown[columns]) for columns in WIDTHS]
    assert counts == sorted(counts) and len(set(counts)) >= 5, "wider shows more"


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_lists_and_long_forms_fit_the_terminal():
    commands = (("list",), ("list", "--quantities"), ("show", "bands.kv_bytes_from_scale"), (*STEP, *DEPLOYED, "n=16", "B=1", "L=4k"))
    for arguments, text in in_terminals({arguments: (80, arguments) for arguments in commands}).items():
        assert max(map(len, text.splitlines())) <= 80
        assert "".join(text.split()).startswith("".join(call(*arguments).out.split())[:200])


def test_flags_that_do_not_fit_are_letters_and_every_letter_is_explained():
    table = invert.infer(["qwen3-coder-plus", "gemini-3.1-pro-preview", "claude-opus-5"])
    text = summary(table, 100)
    legend = re.search(r"^Flags: (.*?)\.$", text, re.MULTILINE | re.DOTALL)[1].replace("\n", " ")
    means = dict(part.split(" ", 1) for part in legend.split("; "))
    heading, _, *rows = text.split("\n\n")[0].splitlines()
    found = [[means[letter] for letter in row[heading.index("flags") :].split()] for row in rows]
    assert found == [list(one.flags) for one in table.inferences]


LONG_FORMS = (
    GEMINI, ("validate",), ("show", "batching.balance_batch"), ("show", "GLM-4.5"), (*STEP, *DEPLOYED, "chips=16", "batch=1", "L=4k"),
)  # fmt: skip


@pytest.mark.parametrize("arguments", LONG_FORMS, ids=" ".join)
def test_lines_of_a_long_form_have_at_most_100_columns_in_a_pipe(arguments: tuple[str, ...]):
    said = call(*arguments)
    assert said.status == 0 and max(map(len, said.out.splitlines())) <= 100


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
@pytest.mark.parametrize(
    ("columns", "said", "expected"),
    [(60, "", 60), (0, "", 80), (60, "72", 72), (0, "0", 80), (60, "0", 60), (60, "-3", 60), (60, "9" * 5000, 60), (60, "abc", 60)],
)
def test_the_width_is_that_of_the_terminal(monkeypatch, columns: int, said: str, expected: int):
    """COLUMNS goes first where it is a number of columns; a terminal that does not know its width has 80."""
    import fcntl
    import pty
    import termios

    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    monkeypatch.setenv("COLUMNS", said)
    with open(writer, "w") as terminal:
        assert width(terminal) == expected
    os.close(reader)


def test_without_a_terminal_a_line_has_100_columns(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "40")
    with open(tmp_path / "out", "w") as out:
        assert width(out) == width(None) == 100


# -- a fault in the tables that ship ----------------------------------------------------------------------------------


@pytest.fixture
def tables(tmp_path, monkeypatch) -> Path:
    """A copy of the tables in place of those that ship."""
    folder = shutil.copytree(shipped.FOLDER, tmp_path / "tables")
    monkeypatch.setattr(shipped, "FOLDER", folder)
    return folder


def spoil(tables: Path, name: str, old: str, new: str) -> int:
    """Puts a text in place of the first of its kind; the row that it stands on."""
    text = (tables / name).read_text(encoding="utf-8")
    (tables / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


SPOILT = {
    "a price of another sheet": (
        ("prices.csv", "qwen3-coder-plus,,standard,input,0,false,,,,1,", "qwen3-coder-plus,,standard,input,0,false,,,,abc,"),
        "amount",
        (GEMINI, ("infer", "gemini-3.1-pro", "--as", "csv"), ("validate",), ("prices", "list"), ("prices", "check")),
    ),
    "a launch price": (
        ("prices_calibration.csv", "glm-4.5,,standard,output,0,false,,,,14", "glm-4.5,,standard,output,0,false,,,,-14"),
        "amount",
        (GEMINI, ("validate",), ("prices", "check")),
    ),
    "bytes of a value that are no number": (
        ("reference_class.csv", "96000,2,unverified", "96000,nan,unverified"),
        "kv_bytes_per_element",
        (GEMINI, ("infer", "--as", "json"), ("validate",), ("prices", "check")),
    ),
    "a truth that is none": (
        ("reference_class.csv", "DeepSeek-V3,deepseek-v3,true", "DeepSeek-V3,deepseek-v3,yes"),
        "in_class",
        (GEMINI, ("validate",), ("prices", "check")),
    ),
    "a family with what cannot be seen": (
        ("reference_class.csv", "Kimi-K2,deepseek-v3,", "Kimi-K2,deepseek\u2060-v3,"),
        "family",
        (GEMINI, ("prices", "check")),
    ),
    "a topic misspelt": (
        ("disclosures.csv", "deepseek,,,production,nodes", "deepseek,,,prodution,nodes"),
        "topic",
        (GEMINI, ("validate",), ("prices", "check")),
    ),
    "a unit misspelt": (("disclosures.csv", "608000000000,token/day", "608000000000,token/dya"), "unit", (GEMINI, ("prices", "check"))),
    "a value that is none": (("disclosures.csv", "73700,token/s", "true;false,token/s"), "value", (GEMINI, ("validate",))),
    "a drain time of infinity": (
        ("memory_tiers.csv", "hbm,range,drain_time,0.013,0.03,", "hbm,range,drain_time,0.013,inf,"),
        "value",
        (GEMINI, ("validate",), ("prices", "check")),
    ),
    "a quantity misspelt in a tier": (
        ("memory_tiers.csv", "hbm,range,drain_time", "hbm,range,drain_tim"),
        "quantity",
        (GEMINI, ("validate",), ("prices", "check")),
    ),
    "a rate in a currency nobody uses": (("fx.csv", "CNY,2025-06-16", "abc,2025-06-16"), "currency", (GEMINI, ("prices", "check"))),
    "a quantity misspelt in another chip": (
        ("hardware.csv", "A100-SXM-80GB,hbm_bandwidth", "A100-SXM-80GB,hbm_bandwith"),
        "quantity",
        (("solve", "sweep_time", "--hardware", "H100:fp8"), ("show", "H100:fp8"), ("list", "--hardware"), GEMINI, ("prices", "check")),
    ),
    "a cell of another model": (
        ("architectures.csv", "671000000000,37000000000", "671000000000,nan"),
        "active_params",
        (("solve", "sparsity", "--model", "GLM-4.5"), ("show", "GLM-4.5"), ("list", "--models"), ("prices", "check")),
    ),
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_bad_row_of_a_table_is_named_after_the_rest_was_printed(what: str, tables: Path):
    (name, old, new), column, commands = SPOILT[what]
    row = spoil(tables, name, old, new)
    for command in commands:
        said = call(*command)
        assert said.status == 2 and f"backsolve: {name} row {row}, column {column}: " in said.err, command
        assert bool(said.out) == (command != ("prices", "check")), command


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("hardware.csv", ("list", "--hardware")),
        ("hardware.csv", ("show", "H100-SXM:fp8")),
        ("hardware.csv", ("solve", "sweep_time", "--hardware", "H100:fp8")),
        ("architectures.csv", ("list", "--models")),
        ("architectures.csv", ("show", "GLM-4.5")),
        ("architectures.csv", ("solve", "sparsity", "--model", "GLM-4.5")),
        ("efficiencies.csv", ("solve", "step_time", "compute_time=1ms", "memory_time=2ms", "--efficiency", "calibrated")),
    ],
)
def test_an_empty_table_is_named_by_what_looks_there(name: str, command: tuple[str, ...], tables: Path):
    (tables / name).write_text((tables / name).read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    assert call(*command) == Said(2, "", f"backsolve: {name}: has a header and no rows\n")


def test_what_rests_on_a_bad_row_is_refused_by_its_name(tables: Path):
    row = spoil(tables, "hardware.csv", "A100-SXM-80GB,hbm_bandwidth", "A100-SXM-80GB,hbm_bandwith")
    for command in (("show", "A100-SXM-80GB:bf16"), ("solve", "sweep_time", "--hardware", "A100:bf16")):
        said = call(*command)
        assert said.status == 2 and said.out == "" and said.err.startswith(f"backsolve: hardware.csv row {row}, column quantity: ")
    (tables / "architectures.csv").write_text("", encoding="utf-8")
    assert call("show", "H100:fp8").out.startswith("bytes_per_weight")


# -- import walls and public names ----------------------------------------------------------------------------------

HEAVY = {"sympy", "numpy", "scipy", "pandas"}
LIGHT = (
    ("--help",), ("--version",), ("list",), ("list", "--chapter", "bands"), ("list", "--symbol", "batch"), ("list", "--hardware"),
    ("list", "--models"), ("list", "--quantities"), ("prices", "list"), ("prices", "list", "--all"), ("infer", "--help"),
    ("solve", "--help"),
)  # fmt: skip
INFER = (("infer",), ("infer", "--as", "json"), ("infer", "--as", "csv"), ("infer", "--as", "html"), GEMINI)
COMMANDS = """
from backsolve.__main__ import main
for command in {!r}:
    sys.argv = ["backsolve", *command]
    try:
        main()
    except SystemExit as left:
        assert not left.code, (command, left.code)
    seen(command)
"""
WALLS = [  # code, modules that it must not import
    ("import derive, invert; dir(derive); dir(invert)", HEAVY | {"click", "tabulate"}),
    ("import derive; import derive.solving.chain", {"scipy", "pandas"}),
    ("import invert; invert.load()", HEAVY),
    (COMMANDS.format(LIGHT), HEAVY),
    (COMMANDS.format(INFER), {"pandas", "scipy.stats"}),
    (COMMANDS.format([(*STAR, "rho=300", "s=8")]), {"pandas", "scipy"}),
]
PROBE = """
import sys
def seen(what):
    found = [name for name in {walled!r} if name in sys.modules]
    if found:
        sys.exit(f"{{what}} imports {{found}}")
{code}
seen({code!r})
"""


def test_import_walls():
    """Each in a fresh interpreter, all started at once."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROBE.format(walled=sorted(walled), code=code)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for code, walled in WALLS
    ]
    found = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert found == [("", 0)] * len(WALLS)


def test_the_public_names_are_pinned():
    assert dir(derive) == ["cite", "equation", "equations", "solve"]
    assert dir(invert) == ["forward", "infer", "load"]
    assert all(callable(getattr(package, name)) for package in (derive, invert) for name in dir(package))
    with pytest.raises(AttributeError, match="nothing"):
        _ = derive.nothing
    with pytest.raises(AttributeError, match="nothing"):
        _ = invert.nothing


@pytest.mark.parametrize("package", [derive, invert])
def test_a_type_checker_sees_what_is_loaded_when_it_is_asked_for(package):
    """The names that are imported for type checkers alone are the public ones, from where they are."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {(one.asname, f"{node.module}.{one.name}") for node in block.body for one in node.names}
    assert seen == {(name, f"{package.__name__}.{home}.{name}") for name, home in package._HOMES.items()}
    for name, place in seen:
        assert getattr(package, name) is getattr(import_module(place.rpartition(".")[0]), name)
