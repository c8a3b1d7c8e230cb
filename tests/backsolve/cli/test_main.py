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
from tests.tools.commands import CONTROL, GEMINI, GOOD, SCRIPT, STAR, STEP, Said, call, plain, price_file, refused, script
from tests.tools.databases import MODELS_DEV
from tests.tools.together import in_one_test, some

LONG = "a" * 30_000
UNREADABLE = [
    words
    for text in (LONG, CONTROL)
    for words in (
        ("solve", text), (*STAR, f"a{text}=3"), (*STAR, f"sparsity=3{text}"), (*STAR, f"sparsity=1..{text}"), (*STAR, text),
        (*STEP, "--hardware", text), (*STEP, "--hardware", f"H100-SXM:{text}"), (*STEP, "--model", text), (*STEP, "--using", text),
        (*STEP, "--overlap", text), (*STEP, "--as", text), (*STEP, f"--{text}"), (text,), ("show", text), ("show", f"a.{text}"),
        ("cite", text), ("cite", "--used-by", text), ("list", "--chapter", text), ("list", "--symbol", text),
        ("infer", text), ("infer", "--provider", text), ("infer", "--tier", text), ("infer", "--as-of", text), ("infer", "--prices", text),
        ("infer", "--anchor", text), ("infer", "--anchor", f"{text}=3"), (*GEMINI, "--set", text), (*GEMINI, "--set", f"{text}=3"),
        (*GEMINI, "--set", f"output={text}"), ("prices", text), ("prices", "list", "--prices", text),
    )
]  # fmt: skip
UNREADABLE += [(*STAR, f"sparsity={'9' * 100_000}"), ("show", LONG.replace("aaaaaa", "batch ")), ("list", LONG), ("list", *LONG)]
UNREADABLE += [("solve", "a\nb\nc\nd"), ("infer", "a\r\nb\u202ec"), ("infer", "--prices", "a\nb\nc\nd"), ("cite", "--used-by", "a\nb\nc")]


@in_one_test("arguments", UNREADABLE, ids=[ascii(" ".join(row))[:50] for row in UNREADABLE])
def test_arguments_of_any_length_and_characters_are_refused_in_a_short_line(arguments: tuple[str, ...]):
    refused(*arguments)


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
TAKE_LONG = ("claims", "infer", "plot", "prices news", "site build", "site book", "validate")
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
        ("prices ", {"add", "check", "diff", "list", "news", "pull"}), ("solve L --as m", {"markdown"}),
        ("solve balance_batch_", {"balance_batch_with_kv"}), ("solve L --model deepseek-v3.", {"DeepSeek-V3.1", "DeepSeek-V3.2"}),
        ("cite roofline.step_time_s", {"roofline.step_time_serial"}), ("infer gemini-3.1-pro", {"gemini-3.1-pro-preview"}),
        ("solve x --hardware H100,B200-S", {"H100,B200-SXM"}), ("plot cost-b", {"cost-batch"}), ("infer --sort mod", {"model"}),
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
    for arguments, status in ((("solve", "balance_bach"), 2), ((*STAR, "rho=300"), 3)):
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


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
def test_a_file_is_written_for_a_reader_that_leaves_early(tmp_path: Path):
    reader, writer = os.pipe()
    os.close(reader)
    into = tmp_path / "mine.csv"
    added = ("prices", "add", "acme/perm", "input=2", "output=10", "--into", into)
    done = subprocess.run([str(SCRIPT), *added], stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "") and into.read_text().count("acme,perm") == 2


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
    ('"$0" prices list --prices - <&-', 2, "standard input, and that is closed"),
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
