"""What surrounds the program may be broken, hostile or not there: it answers, or ends soon with a line that says why."""

import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from campaigns.hostile import given_up
from tests.tools.commands import GEMINI, SCRIPT, STAR, STEP, call, plain
from tests.tools.databases import LITELLM, MODELS_DEV
from tests.tools.together import in_one_test

pytestmark = pytest.mark.skipif(os.name == "nt", reason="devices, pipes and shells are others there")

SWEEP = (*STEP, "compute_time=8ms", "memory_time=1ms..16ms:log:5")
ADD = ("prices", "add", "acme/perm", "input=2", "output=10")


class Ended(NamedTuple):
    """What became of a process, and the seconds of the processor that it took."""

    status: int
    out: bytes
    err: str
    seconds: float


def ended(asked: str, folder: Path, **environment: str) -> Ended:
    """A line of the shell in which "$0" is the program, with one GiB of memory."""
    out, err = folder / "the.out", folder / "the.err"
    with open(out, "wb") as to, open(err, "wb") as complains:
        told = ["sh", "-c", f"ulimit -v {2**20}; exec {asked}", str(SCRIPT)]
        process = subprocess.Popen(
            told, cwd=folder, stdin=subprocess.DEVNULL, stdout=to, stderr=complains, env=os.environ | environment
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    found = Ended(process.returncode, out.read_bytes(), err.read_text(), used.ru_utime + used.ru_stime)
    out.unlink()
    err.unlink()
    return found


# Files that are none.

FILE_ARGUMENTS = [
    ("infer", "--prices", "{}"),
    ("cite", "--used-by", "{}"),
    ("prices", "list", "--prices", "{}"),
    ("prices", "check", "--prices", "{}"),
    ("prices", "diff", "{}", "shipped"),
    ("prices", "diff", "shipped", "{}"),
    ("prices", "pull", "{}"),
    ("prices", "pull", "api.json", "--into", "{}"),
    (*ADD, "--into", "{}"),
    (*SWEEP, "--plot", "{}"),
]


def refuses_what_is_no_file(arguments: tuple[str, ...]) -> None:
    """In this folder, for a pipe and for a device."""
    Path("api.json").write_text(json.dumps(LITELLM))
    for place in ("pipe.svg", "zero.svg"):
        if not os.path.lexists(place):
            os.mkfifo(place) if place == "pipe.svg" else os.symlink("/dev/zero", place)
        with given_up():
            said = call(*(place if word == "{}" else word for word in arguments))
        assert said.status == 2 and "it is not a file" in said.err
        plain(said.err)
    assert sorted(os.listdir()) == ["api.json", "pipe.svg", "zero.svg"]


@in_one_test("arguments", FILE_ARGUMENTS, ids=" ".join)
def test_a_pipe_or_a_device_is_refused_and_not_waited_for(arguments: tuple[str, ...], tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refuses_what_is_no_file(arguments)


@pytest.mark.slow
@in_one_test("arguments", [(*GEMINI, "--against", "{}"), (*GEMINI, "--save", "{}")], ids=" ".join)
def test_a_pipe_or_a_device_beside_an_inference_is_refused(arguments: tuple[str, ...], tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refuses_what_is_no_file(arguments)


# Streams.

ENDLESS = [
    ('"$0" prices list --prices - < /dev/zero', "larger than 128 MiB"),
    ('"$0" cite --used-by - < /dev/zero', "it is larger than 64 MiB"),
    ('"$0" prices list --prices - < rows', "larger than 128 MiB"),
    ('"$0" prices list --prices - < line', "larger than 128 MiB"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "says"), ENDLESS, ids=[row[0][5:] for row in ENDLESS])
def test_standard_input_without_an_end_is_refused(asked: str, says: str, tmp_path):
    """Of pipes that are written for ever: blank lines, and one line."""
    header = "provider,model,component,amount"
    writers = []
    for name, forever in (("rows", "yes ''"), ("line", "tr '\\0' a < /dev/zero")):
        if asked.endswith(name):
            os.mkfifo(tmp_path / name)
            writers.append(subprocess.Popen(["sh", "-c", f"(echo {header}; {forever}) > {name} 2> /dev/null"], cwd=tmp_path))
    done = ended(asked, tmp_path)
    for process in writers:
        process.wait(timeout=60)
    assert done.status == 2 and done.out == b"" and says in done.err
    plain(done.err)
    # Of short lines the most that are read are read.
    assert done.seconds < (10 if asked.endswith("rows") else 2)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_said(unbuffered: str, tmp_path):
    done = ended('"$0" list > /dev/full', tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert (done.status, done.err) == (1, "backsolve: the output cannot be written (No space left on device)\n")


@pytest.mark.slow
def test_where_nothing_can_be_said_nothing_is_written(tmp_path):
    """Of streams that are closed, the next file that is opened would have the number, and get what is said there."""
    adding = f'"$0" {" ".join(ADD)} --into mine.csv'
    for streams in (">&- 2>&- <&-", "> /dev/full"):
        assert ended(f"{adding} {streams}", tmp_path).status == 1
        assert os.listdir(tmp_path) == []
    assert ended(f"{adding} 2>&- <&-", tmp_path).status == 0
    assert (tmp_path / "mine.csv").read_text().splitlines() == [
        "provider,model,component,amount",
        "acme,perm,input,2",
        "acme,perm,output,10",
    ]


def test_without_a_locale_the_answer_is_ascii(tmp_path):
    bare = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for environment in (bare, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}):
        done = ended('"$0" solve step_time compute_time=20us memory_time=10us', tmp_path, **environment)
        assert (done.status, done.err) == (0, "") and done.out.decode("ascii").startswith("step_time = 20 us or more")
    # Of a file name that is no text of the locale.
    done = ended("\"$0\" prices check --prices $(printf 'm\\351.csv')", tmp_path, **bare)
    assert done.status == 2 and "No such file or directory" in done.err
    plain(done.err)


# Pictures, the clock, the network, others.


@pytest.mark.slow
def test_settings_for_other_programs_and_no_home_do_not_change_a_picture(tmp_path):
    asked = f'"$0" {" ".join(SWEEP)} --plot'
    assert (first := ended(f"{asked} usual.svg", tmp_path)).status == 0 and first.err == ""
    (tmp_path / "matplotlibrc").write_text("nonsense : : x\naxes.grid: maybe\ntext.usetex: True\naxes.facecolor: red\n")
    hostile = {"HOME": "/proc", "XDG_CONFIG_HOME": "/proc", "MPLBACKEND": "nonsense", "SOURCE_DATE_EPOCH": "soon"}
    done = ended(f"{asked} hostile.svg", tmp_path, **hostile)
    assert (done.status, done.err, done.out) == (0, "", first.out)
    assert (tmp_path / "hostile.svg").read_bytes() == (tmp_path / "usual.svg").read_bytes()
    (tmp_path / "matplotlibrc").write_bytes(b"axes.facecolor: \xff\xfe")
    done = ended(f"{asked} bad.svg", tmp_path)
    assert done.status == 2 and "matplotlibrc of this folder or of yours cannot be read" in done.err
    assert not (tmp_path / "bad.svg").exists()
    # Without a home, and without anything else.
    bare = subprocess.run([str(SCRIPT), *SWEEP], capture_output=True, text=True, check=False, timeout=60, env={})
    assert (bare.returncode, bare.stderr) == (0, "") and bare.stdout.encode() == first.out


NO_CLOCK = """
import datetime, time
class Day(datetime.date):
    today = None
class Moment(datetime.datetime):
    today = now = utcnow = None
datetime.date, datetime.datetime = Day, Moment
time.time = lambda: 0.0  # logging asks it when it is loaded
time.time_ns = time.localtime = None
time.gmtime = lambda *_: (1970, 1, 1, 0, 0, 0, 3, 1, 0)  # numpy asks it when SciPy loads it
"""
NO_NETWORK = """
import socket
def refuse(*_, **__):
    raise RuntimeError("the network is asked")
socket.socket = socket.create_connection = socket.getaddrinfo = socket.gethostbyname = refuse
"""


def with_start(code: str, folder: Path) -> dict[str, str]:
    """The environment of a process that runs this code before anything else, and says that it did."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(f"{code}\nopen({str(folder / 'began')!r}, 'w').close()\n")
    return {"PYTHONPATH": str(folder)}


@pytest.mark.slow
@pytest.mark.usefixtures("shipped_tables")
def test_no_command_asks_what_day_it_is_or_the_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result.json").write_text(call(*STAR, "rho=300", "s=8", "--as", "json").out)
    (tmp_path / "api.json").write_text(json.dumps({"google": MODELS_DEV["hostly"]}))
    environment = with_start(NO_CLOCK + NO_NETWORK, tmp_path / "start")
    for arguments in (
        (*STAR, "--hardware", "H100-SXM:fp8", "--model", "DeepSeek-V3"),
        GEMINI,
        ("validate", "--section", "storage"),
        ("cite", "--used-by", "result.json"),
        ("prices", "list"),
        ("prices", "check"),
        ("prices", "pull", "api.json", "--on", "2026-12-01"),
    ):
        done = ended(f'"$0" {" ".join(arguments)}', tmp_path, **environment)
        assert (tmp_path / "start/began").exists()
        assert (done.status, done.out.decode()) == (0, call(*arguments).out)
        (tmp_path / "start/began").unlink()
