"""The command line as a stranger uses it: exit statuses, one or two plain lines for every mistake, nothing else.

Exit status 0: answered; 2: the input is wrong; 3: the question has no answer. Errors on stderr, never a traceback;
what was fine is printed first.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click
import pytest

from backsolve.cli.main import backsolve
from derive.version import VERSION
from tests.tools.commands import CONTROL, GEMINI, GOOD, SCRIPT, STAR, STEP, Said, call, plain, price_file, refused, script
from tests.tools.databases import MODELS_DEV
from tests.tools.together import in_one_test, some

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
    ((*STEP, "--as", "jsn"), "did you mean 'json'?"),
    (("infer", "--as", "mardown"), "'csv', 'markdown', 'latex', 'html'; did you mean 'markdown'?"),
    (("infer", "--as", "CSV"), "did you mean 'csv'?"),
    (("prices", "list", "--as", "xlsx"), "'xlsx' is not one of 'table', 'json', 'csv'"),
    ((*STEP, "--asx", "json"), "--as"),
    (("list", "--chapter", "roofine"), "'roofline'"),
    (("list", "--symbol", "batc"), "'batch'"),
    (("list", "--without", "nothing"), "'derivation'"),
    (("show", "roofline.step_tim"), "'roofline.step_time'"),
    (("show", "batc"), "'batch'"),
    (("cite", "roofline.step_tim"), "'roofline.step_time'"),
    (("cite", "roofline.step_time@99"), "roofline.step_time@3"),
    (("cite", "roofline.step_time", "--as", "bib"), "'bibtex'"),
    (("infer", "gemini-3.1-prow"), "google/gemini-3.1-pro-preview"),
    (("infer", "gemini-3.1-prp"), "google/gemini-3.1-pro-preview"),
    (("infer", "gemini-3.1-prp", "--provider", "anthropic"), "google/gemini-3.1-pro-preview"),
    (("cite", "gemini-2.5"), "google/gemini-2.5-pro"),
    (("infer", "nothing-of-the-kind"), "backsolve prices list"),
    (("infer", "--provider", "gogle"), "'google'"),
    (("infer", "--tier", "batsh"), "'batch'"),
    (("infer", "--as", "xml"), "'json'"),
    (("infer", "--anchor", "active_param=60B"), "'active_params'"),
    (("infer", "--anchor", "batch=60"), "active_params"),
    ((*GEMINI, "--set", "outptu=20"), "'output'"),
    ((*GEMINI, "--set", "cache_write@300k=20"), "output@200k"),
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
    (("solve", "step_time", "compute_time=1ms", "memory_time=9ms..1ms"), "Write 1ms..9ms"),
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
    *(((*command, "--as-of", text), "2026-11-20") for command in (("infer",), ("prices", "list"))
      for text in ("20261120", "2026-W47-5", "2026-11-2", "\uff12\uff10\uff12\uff16-11-20", "")),
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


@in_one_test(("arguments", "holds"), WRONG, ids=[" ".join(row[0])[:60] for row in WRONG])
def test_wrong_input_exits_2_with_a_plain_line(arguments: tuple[str, ...], holds: str):
    assert holds in refused(*arguments)


LONG = "a" * 30_000
LONGEST = [
    ("solve", LONG), (*STAR, f"{LONG}=3"), (*STAR, f"sparsity={'9' * 100_000}"), (*STAR, LONG), (*STAR, f"sparsity=1..{LONG}"),
    (*STEP, "--hardware", LONG),
    (*STEP, "--model", LONG),
    (*STEP, "--using", LONG), (*STEP, "--overlap", LONG), ("show", LONG), ("show", f"a.{LONG}"),
    ("show", LONG.replace("aaaaaa", "batch ")), ("list", LONG), ("list", *LONG), ("cite", LONG), ("list", "--symbol", LONG),
    ("list", "--chapter", LONG), ("infer", LONG), ("infer", "--provider", LONG), ("infer", "--tier", LONG), ("infer", "--prices", LONG),
    ("infer", "--anchor", f"{LONG}=1"), (*GEMINI, "--set", f"{LONG}=1"), (*GEMINI, "--set", f"output={LONG}"), (*GEMINI, "--set", LONG),
    (LONG,), (*STEP, "--as", LONG), ("infer", "--as-of", LONG), (*STEP, f"--{LONG}"), ("cite", "--used-by", LONG),
]  # fmt: skip


@in_one_test("arguments", LONGEST, ids=[" ".join(row)[:30] for row in LONGEST])
def test_a_very_long_argument_is_cut_in_the_message(arguments: tuple[str, ...]):
    refused(*arguments)


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


@in_one_test("arguments", HOSTILE, ids=[ascii(" ".join(row))[:50] for row in HOSTILE])
def test_control_characters_never_reach_the_terminal_raw(arguments: tuple[str, ...]):
    refused(*arguments)


FINE = [
    ((*STAR, "machine_balance_ratio=300", "sparsity=8"), "balance_batch = 2400"),
    (("solve", "B_star", "rho=300", "s=8"), "balance_batch (B_star) = 2400"),
    ((*STAR, "rho=300", "s=8", "--as", "csv"), "balance_batch,1,point,2400.0"),
    ((*STAR, "rho=300", "s=8", "--as", "latex"), r"\begin{gather*}"),
    ((*STAR, "rho=300", "s=8", "--as", "markdown"), "| balance_batch | 2400 |"),
    (("solve", "kv_bytes_per_token", "--using", "readings.threshold_is_crossover", "N_a=100B", "b_w=1", "rho=300", "L_thr=200k"),
        "1.667 kB/token"),
    (("solve", "memory_time", "step_time=20ms", "compute_time=20ms"), "20 ms or less"),
    (("solve", "step_time", "--hardware", "H100-SXM:fp8", "--model", "DeepSeek-V3", "B=88", "L=4989", "b_e=1", "n=16"), "step_time = "),
    (("list",), "roofline.step_time"),
    (("list", "--chapter", "bands"), "bands.premium_in"),
    (("list", "--symbol", "batch_multiple"), "batching.practical_batch"),
    (("list", "--hardware"), "H100-SXM"),
    (("list", "--models"), "DeepSeek-V3"),
    (
        ("show", "roofline.step_time"),
        "step_time = drafting_time + overhead_time + Max(memory_time,",
    ),
    (("show", "batch"), "[1]"),
    (("show", "L_star"), "balance_context"),
    (("cite", "roofline.step_time"), "backsolve roofline.step_time, version 3"),
    *((("cite", "roofline.step_time", "batching.balance_batch", "--as", style), mark) for style, mark in (
        ("bibtex", "@misc{backsolve:roofline.step_time:v3"), ("csl-json", '"id": "backsolve:roofline.step_time:v3"'),
        ("latex", r"\begin{equation}"),
        ("myst", "```{math}"), ("markdown", "[^roofline-step-time]"), ("plain", "version 1"),
    )),
    (("infer",), "gemini-3.1-pro-preview"),
    (GEMINI, "--full"), ((*GEMINI, "--full"), "1.667 kB/token"),
    ((*GEMINI, "--as", "json"), '"kv_bytes_per_token": 1666.6'),
    ((*GEMINI, "--as", "csv"), "google,gemini-3.1-pro-preview,,standard,2026-11-20,USD,"),
    ((*GEMINI, "--as", "markdown"), "# google gemini-3.1-pro-preview"), (("infer", "--as", "markdown"), "| google"),
    ((*GEMINI, "--full", "--as", "markdown"), "## Families behind the typical KV"),
    ((*GEMINI, "--as", "latex"), r"\begin{tabular}"),
    ((*GEMINI, "--as", "html"), "<table>"),
    (("infer", "--all"), "(batch)"),
    (("infer", "--tier", "fast"), "(fast)"),
    (("infer", "gemini"), "gemini-2.5-pro"),
    (("infer", "--provider", "google"), "gemini-2.5-pro"),
    (("infer", "--provider", "Google"), "gemini-2.5-pro"),
    (("infer", "claude-opus-4-6", "--as-of", "2026-03-12"), "above 200k"),
    ((*GEMINI, "--anchor", "active_params=60B", "--full"), "= 1 kB/token"),
    ((*GEMINI, "--set", "output=15", "--full"), "output_input_ratio = 7.5"),
    (("prices", "list"), "google/gemini-3.1-pro-preview"),
    (("prices", "list", "--all"), "batch"),
    (("prices", "list", "--as-of", "2026-11-20"), "anthropic/claude-opus-4-6"),
    (("prices", "check"), "no problem found"),
    (("--version",), f"backsolve {VERSION}"),
    (("--help",), "Commands:"),
    (("solve", "--help"), "UNKNOWN"),
    (("infer", "-h"), "--prices"),
]  # fmt: skip


@pytest.mark.slow
@in_one_test(("arguments", "holds"), FINE, ids=[" ".join(row[0])[:60] for row in FINE])
def test_what_works_exits_0_and_says_nothing_on_stderr(arguments: tuple[str, ...], holds: str):
    said = call(*arguments)
    assert (said.status, said.err) == (0, "")
    assert holds in said.out


@pytest.mark.parametrize("group", [(), ("prices",)])
def test_a_command_group_alone_shows_its_help(group: tuple[str, ...]):
    assert call(*group) == Said(2, call(*group, "--help").out, "")


def commands(group: click.Group = backsolve, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command by the words that call it."""
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def examples(command: click.Command) -> list[str]:
    """The lines of its help that call the program."""
    return [line for line in cleandoc(command.help or "").splitlines() if line.startswith("backsolve ")]


EXAMPLES = {" ".join(path): examples(command) for path, command in commands() if not isinstance(command, click.Group)}
TAKE_LONG = ("infer", "validate", "plot", "site build", "site book")
"""Commands whose examples take seconds."""
EVERY = {"site build": 2}
"""Of examples that each build the whole site one in two, from the second on: .ci/run builds the site as the first says, of the wheel."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name in TAKE_LONG else []) for name in EXAMPLES])
def test_every_command_has_examples_of_itself_that_work(name: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_bytes(price_file(*GOOD))
    Path("result.json").write_text(call(*STAR, "rho=300", "s=8", "--as", "json").out, encoding="utf-8")
    Path("api.json").write_text(json.dumps({"google": MODELS_DEV["hostly"]}), encoding="utf-8")
    assert EXAMPLES[name]
    tried = EVERY.get(name, 1)
    for _, example in some(enumerate(EXAMPLES[name]), tried, tried - 1):
        assert example.startswith(f"backsolve {name}") and len(example) <= 76
        said = call(*shlex.split(example)[1:])
        assert (said.status, said.err) == (0, "") and (said.out or " --out " in example), example


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("li", {"list"}), ("prices ", {"add", "check", "diff", "list", "news", "pull"}), ("solve L --as m", {"markdown"}),
        ("solve balance_batch_", {"balance_batch_with_kv"}), ("solve L --hardware h100-s", {"H100-SXM"}),
        ("solve L --model deepseek-v3.", {"DeepSeek-V3.1", "DeepSeek-V3.2"}), ("show h100-n", {"H100-NVL"}),
        ("cite roofline.step_time_s", {"roofline.step_time_serial"}), ("infer gemini-3.1-pro", {"gemini-3.1-pro-preview"}),
    ],
)  # fmt: skip
def test_a_shell_completes_commands_and_values(typed: str, offered: set[str]):
    typing = {"_BACKSOLVE_COMPLETE": "bash_complete", "COMP_WORDS": f"backsolve {typed}", "COMP_CWORD": str(len(typed.split(" ")))}
    done = script(env={**os.environ, **typing})
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == offered


def test_an_interrupt_is_no_traceback(monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("invert.validation.scoreboard.sections", interrupted)
    assert call("validate") == Said(130, "", "\n")


def test_the_installed_command_maps_mistakes_as_the_function_does():
    for arguments, status in (((*STAR, "rho=300", "s=8"), 0), (("solve", "balance_bach"), 2), ((*STAR, "rho=300"), 3)):
        done = subprocess.run([str(SCRIPT), *arguments], capture_output=True, text=True, check=False, timeout=60)
        said = call(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (status, said.out, said.err)
        module = subprocess.run([sys.executable, "-m", "backsolve", *arguments], capture_output=True, text=True, check=False, timeout=60)
        assert (module.returncode, module.stdout, module.stderr) == (done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
@pytest.mark.parametrize("arguments", [("infer", "--all", "--as", "json"), ("list",), ("--help",)], ids=" ".join)
def test_a_reader_that_leaves_early_hears_no_complaint(arguments: tuple[str, ...]):
    """`backsolve infer | head -1`, with a reader that is gone before the first byte: nothing on stderr."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([str(SCRIPT), *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize("arguments", [("infer",), ("list",)], ids=" ".join)
def test_a_full_disk_is_no_traceback(arguments: tuple[str, ...]):
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(SCRIPT), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
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
    done = subprocess.run(["sh", "-c", asked, str(SCRIPT)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == status and said in done.stderr
    assert not done.stderr if not said else plain(done.stderr) is None


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no limit on what a process writes there")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_cut_short_is_an_error(tmp_path, unbuffered: str):
    """A disk that is full after the first kilobyte: Python's own unbuffered streams lose the rest without a word."""
    import resource

    def one_kilobyte() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    with open(tmp_path / "out", "w") as out:
        done = subprocess.run(
            [str(SCRIPT), *GEMINI], stdout=out, stderr=subprocess.PIPE, text=True, check=False, timeout=60, preexec_fn=one_kilobyte,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 1 and "the output cannot be written (File too large)" in done.stderr
    plain(done.stderr)


@pytest.mark.parametrize(("before", "after"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_a_command_works_with_one_thread_unless_told_otherwise(before, after):
    """The matrices are small: threads wait longer than they work, and the last digits of a sum hang on their number."""
    told = "import atexit, os; atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))"
    code = f"{told}\nimport sys; sys.argv = ['backsolve', '--version']\nfrom backsolve.__main__ import main; main()"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], env=environment | before, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == after


def test_what_was_loaded_is_not_looked_through_at_the_end():
    code = "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 10_000))"
    code += "\nimport sys; sys.argv = ['backsolve', 'no-such-command']\nfrom backsolve.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout.splitlines()[-1] == "True"
