"""What several commands share: a fault in the tables that ship is named after the rest was printed."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from derive.tables import shipped
from tests.tools.commands import GEMINI, Said, call
from tests.tools.together import some


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


VALIDATE = ("validate", "--section", "truth", "--section", "production")
"""Two of its sections: all of them name what is wrong with any table, and two take seconds."""

SPOILT = {
    "a price of another sheet": (
        ("prices.csv", "qwen3-coder-plus,,standard,input,0,false,,,,1,", "qwen3-coder-plus,,standard,input,0,false,,,,abc,"),
        "amount",
        (GEMINI, ("infer", "gemini-3.1-pro", "--as", "csv"), VALIDATE, ("prices", "list"), ("prices", "check")),
    ),
    "a launch price": (
        ("prices_calibration.csv", "glm-4.5,,standard,output,0,false,,,,14", "glm-4.5,,standard,output,0,false,,,,-14"),
        "amount",
        (GEMINI, VALIDATE, ("prices", "check")),
    ),
    "a context that is not a number": (
        ("calibration_models.csv", "2025-07-28,96000,", "2025-07-28,nan,"),
        "max_context",
        (GEMINI, ("infer", "--as", "json"), VALIDATE, ("prices", "check")),
    ),
    "a topic misspelt": (
        ("disclosures.csv", "deepseek,,,production,nodes", "deepseek,,,prodution,nodes"),
        "topic",
        (GEMINI, VALIDATE, ("prices", "check")),
    ),
    "a value that is none": (("disclosures.csv", "73700,token/s", "true;false,token/s"), "value", (GEMINI, VALIDATE)),
    "a drain time of infinity": (
        ("memory_tiers.csv", "hbm,range,drain_time,0.013,0.03,", "hbm,range,drain_time,0.013,inf,"),
        "value",
        (GEMINI, VALIDATE, ("prices", "check")),
    ),
    "a rate in a currency nobody uses": (("fx.csv", "CNY,2025-06-16", "abc,2025-06-16"), "currency", (GEMINI, ("prices", "check"))),
    "a quantity misspelt in another chip": (
        ("hardware.csv", "A100-SXM-80GB,hbm_bandwidth", "A100-SXM-80GB,hbm_bandwith"),
        "quantity",
        (("list", "--hardware"), ("prices", "check")),
    ),
    "a rent of the chip that is asked for": (
        ("hardware.csv", "H100-SXM,chip_price,,1.69,USD/h", "H100-SXM,chip_price,,1.69,GB"),
        "unit",
        (("solve", "sweep_time", "--hardware", "H100:fp8"), ("solve", "sweep_time", "--hardware", "H100,A100:bf16"), ("show", "H100:fp8")),
    ),
    "a cell of another model": (
        ("architectures.csv", "671000000000,37000000000", "671000000000,nan"),
        "active_params",
        (("show", "GLM-4.5"), ("list", "--models"), ("prices", "check")),
    ),
}


@pytest.mark.parametrize("what", some(SPOILT, 4))
def test_a_bad_row_of_a_table_is_named(what: str, tables: Path):
    (name, old, new), column, commands = SPOILT[what]
    row = spoil(tables, name, old, new)
    for command in commands:
        said = call(*command)
        assert said.status == 2 and f"backsolve: {name} row {row}, column {column}: " in said.err, command


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("hardware.csv", ("list", "--hardware")),
        ("hardware.csv", ("show", "H100-SXM:fp8")),
        ("hardware.csv", ("solve", "sweep_time", "--hardware", "H100:fp8")),
        ("architectures.csv", ("list", "--models")),
        ("architectures.csv", ("show", "GLM-4.5")),
        ("architectures.csv", ("solve", "sparsity", "--model", "GLM-4.5")),
        ("efficiency_fit.csv", ("solve", "step_time", "compute_time=1ms", "memory_time=2ms", "--efficiency", "calibrated")),
    ],
)
def test_an_empty_table_is_named_by_what_looks_there(name: str, command: tuple[str, ...], tables: Path):
    (tables / name).write_text((tables / name).read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    assert call(*command) == Said(2, "", f"backsolve: {name}: has a header and no rows. Write a row below it\n")


def test_an_answer_that_rests_on_no_bad_row_stands(tables: Path):
    spoil(tables, "hardware.csv", "A100-SXM-80GB,hbm_bandwidth", "A100-SXM-80GB,hbm_bandwith")
    spoil(tables, "architectures.csv", "671000000000,37000000000", "671000000000,nan")
    said = call("solve", "step_time", "--hardware", "8xH100:fp8", "--model", "GLM-4.5", "batch=8", "context_length=8k")
    assert (said.status, said.err) == (0, "") and said.out.startswith("step_time = ")
    assert call("solve", "sparsity", "--model", "DeepSeek-V3").status == 2


def test_what_rests_on_a_bad_row_is_refused_by_its_name(tables: Path):
    row = spoil(tables, "hardware.csv", "A100-SXM-80GB,hbm_bandwidth", "A100-SXM-80GB,hbm_bandwith")
    for command in (("show", "A100-SXM-80GB:bf16"), ("solve", "sweep_time", "--hardware", "A100:bf16")):
        said = call(*command)
        assert said.status == 2 and said.out == "" and f"backsolve: hardware.csv row {row}, column quantity: " in said.err
    (tables / "architectures.csv").write_text("", encoding="utf-8")
    assert call("show", "H100:fp8").out.startswith("bytes_per_weight")


@pytest.mark.parametrize("place", ["-", ""])
@pytest.mark.parametrize(
    "arguments",
    [
        (*GEMINI, "--save"),
        ("validate", "--rerun", "--seeds", "1", "--sheets", "1", "--save"),
        ("prices", "add", "acme/lm", "input=2", "output=10", "--into"),
        ("prices", "pull", "--into"),
    ],
    ids=" ".join,
)
def test_what_no_file_can_be_written_to_is_refused_at_once(arguments: tuple[str, ...], place: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = call(*arguments, place)
    assert (said.status, said.out, [*tmp_path.iterdir()]) == (2, "", [])
    assert said.err.startswith(f"backsolve: {arguments[-1]} needs the name of a file. Given {place!r}")


AT_WORK = """
import time
from backsolve.cli.sharing import SharedWork
with SharedWork(2, "test") as pool:
    found = pool.map(time.sleep, [60, 60])
    print("at work", flush=True)
    next(found)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there a process is ended without being told")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGKILL", "SIGHUP"])
def test_who_ends_a_command_ends_those_that_work_for_it(number: str):
    """They have its pipe too: it closes only when all of them are gone."""
    with subprocess.Popen([sys.executable, "-c", AT_WORK], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "at work\n"
        process.send_signal(getattr(signal, number))
        assert process.communicate(timeout=20) == ("", None)
    assert process.returncode == -getattr(signal, number)


ONE_IS_KILLED = """
import os, signal
from backsolve.cli.sharing import SharedWork
here = os.getpid()
def work(part):
    if part == 3 and os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return part
with SharedWork(2, "test") as pool:
    print([*pool.map(work, range(8))], [*pool.map(work, range(2))])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the work is passed on by a fork")
def test_when_a_worker_is_killed_the_work_goes_on_in_one_process():
    done = subprocess.run([sys.executable, "-c", ONE_IS_KILLED], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"{[*range(8)]} [0, 1]\n")
    assert done.stderr.count("\n") == 1 and "worker process was killed" in done.stderr
