"""Commands that write a file, ended by a signal at any moment: the file is the old one or the new one, whole, and nothing else is left.

    python -m campaigns.kills --count 500 --seed 1

Half of the signals come at a random time of the run; half while the file is written, at a step that is held until the signal is
sent. Exit status 1 if a file is neither old nor new, if anything but SIGKILL leaves a file beside it, or if there is a traceback.
Every run is a fork of this process, in which all modules are loaded.
"""

import argparse
import json
import os
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a thread would not come along into a fork

import derive.files
from backsolve.cli.main import main as run_command
from tests.tools.commands import call
from tests.tools.databases import LITELLM

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STEPS = ("open", "write", "fsync", "replace", "replaced")
"""Where a write is held: before the new file is there, half written, written, before it takes its place, and after."""

OLD_LIST = json.dumps(LITELLM)
NEW_LIST = OLD_LIST.replace("e-06", "e-05").replace("e-07", "e-06")
OWN = "provider,model,component,amount,retrieved_date\nacme,m,input,1,2026-11-20\nacme,m,output,4,2026-11-20\n"


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A command line that writes files, and the files that are there before."""

    arguments: tuple[str, ...]
    before: Mapping[str, str]


WRITERS = {
    "infer --save": Writer(arguments=("infer", "gemini-3.1-pro", "--save", "run.json"), before={"run.json": '{"an": "older run"}'}),
    "prices add --into": Writer(
        arguments=("prices", "add", "acme/perm", "input=2", "output=10", "cache_read=0.2", "--into", "mine.csv"), before={"mine.csv": OWN}
    ),
    "prices pull --into": Writer(
        arguments=("prices", "pull", "api.json", "--into", "market.csv", "--on", "2026-12-01"),
        before={"api.json": NEW_LIST, "market.csv": "", "market_rivals.csv": ""},
    ),
    "solve --plot": Writer(
        arguments=("solve", "step_time", "compute_time=8ms", "memory_time=1ms..16ms:log:5", "--plot", "step.svg"),
        before={"step.svg": "<svg/>"},
    ),
}


def started(folder: Path, arguments: tuple[str, ...], child: Callable[[], None] = lambda: None) -> int:
    """The process that runs a command line in a folder, after what it is told to do first."""
    sys.stdout.flush()
    # What comes before the command begins has to wait for it.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return process
    status = 1
    try:
        os.chdir(folder.parent)
        for number in (1, 2):
            os.dup2(os.open(f"{folder.name}.{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
        os.chdir(folder)
        sys.argv = ["backsolve", *arguments]
        child()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        run_command()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 0
    except KeyboardInterrupt:
        status = 130  # before the command had begun; from then on it ends by itself
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


class Half:
    """A file of which the first half is written, then the write is held."""

    def __init__(self, file: Any, hold: Callable[[], None]):
        self.file, self.hold = file, hold

    def __enter__(self) -> "Half":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, content: Any) -> None:
        self.file.write(content[: len(content) // 2])
        self.file.flush()
        self.hold()
        self.file.write(content[len(content) // 2 :])


def held_at(step: str, hold: Callable[[], None]) -> None:
    """Makes the writes of this process stop at a step."""
    really_replace, really_fsync = os.replace, os.fsync

    def opening(*args: Any, **more: Any) -> Any:
        if step == "open":
            hold()
        return Half(open(*args, **more), hold) if step == "write" else open(*args, **more)

    def fsync(number: int) -> None:
        really_fsync(number)
        if step == "fsync":
            hold()

    def replace(*places: str) -> None:
        if step == "replace":
            hold()
        really_replace(*places)
        if step == "replaced":
            hold()

    derive.files.open, os.fsync, os.replace = opening, fsync, replace  # type: ignore[attr-defined,assignment]


def stopped_inside(folder: Path, arguments: tuple[str, ...], number: signal.Signals, step: str, writes: int) -> tuple[int, bool]:
    """Ends a command while it writes: at a step of the first or a later write. The status, and whether it got there."""
    (hears, tells), (waits, goes) = os.pipe(), os.pipe()

    def child() -> None:
        left = iter(range(writes, -1, -1))
        os.close(goes)

        def hold() -> None:
            if next(left, None) == 0:
                os.write(tells, b"!")
                os.read(waits, 1)

        held_at(step, hold)

    process = started(folder, arguments, child)
    os.close(tells)
    os.close(waits)
    met = os.read(hears, 1) != b""
    if met:
        os.kill(process, number)
    os.close(goes)
    os.close(hears)
    return os.waitpid(process, 0)[1], met


def stopped_after(folder: Path, arguments: tuple[str, ...], number: signal.Signals, seconds: float) -> tuple[int, bool]:
    """Ends a command after a time. The status, and whether it was still running."""
    process = started(folder, arguments)
    handle = os.pidfd_open(process)
    over = select.select([handle], [], [], seconds)[0]
    os.close(handle)
    if not over:
        os.kill(process, number)
    return os.waitpid(process, 0)[1], not over


def laid_out(folder: Path, writer: Writer) -> None:
    """The folder with the files that are there before."""
    folder.mkdir()
    for name, content in writer.before.items():
        if content:
            Path(folder, name).write_text(content)


def found_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def verdict(old: Mapping[str, bytes], new: Mapping[str, bytes], found: Mapping[str, bytes], number: int, status: int, said: str) -> str:
    """What is wrong with what a command left; nothing where all is well."""
    for name in {*old, *new}:
        if found.get(name) not in (old.get(name), new.get(name)):
            return f"{name} is neither old nor new"
    beside = [name for name in found if name not in old and name not in new]
    if beside and not (number == signal.SIGKILL and all(name.startswith(".backsolve-") for name in beside)):
        return f"left {beside}"
    if "Traceback" in said:
        return f"says {said.splitlines()[-1]!r}"
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -number, 130 if number == signal.SIGINT else 0):
        return f"ended with {code}"
    if code == 0 and any(found.get(name) != content for name, content in new.items()):
        return "said that all is well, and the file is the old one"
    return ""


def campaign(name: str, count: int, seed: int) -> Counter[str]:
    """So many kills of a command, by what came of them."""
    writer, random, found = WRITERS[name], Random(f"{seed} {name}"), Counter[str]()
    with TemporaryDirectory() as place:
        old, new, spent = _whole(Path(place, "whole"), writer)
        written = len(new.keys() - {"api.json"})
        number = 0
        while found["inside"] + found["at any time"] < count:
            number += 1
            folder, signum = Path(place, str(number)), random.choice(SIGNALS)
            laid_out(folder, writer)
            if inside := number % 2 == 1:
                status, met = stopped_inside(folder, writer.arguments, signum, random.choice(STEPS), random.randrange(written))
            else:
                status, met = stopped_after(folder, writer.arguments, signum, random.uniform(0, spent))
            files, said = found_in(folder), Path(f"{folder}.2")
            found["too late" if not met else "inside" if inside else "at any time"] += 1
            if not met:
                spent *= 0.9  # it was slower when it was timed
            found["new" if all(files.get(one) == content for one, content in new.items()) else "old"] += 1
            found["left beside by SIGKILL"] += any(one.startswith(".backsolve-") for one in files)
            if wrong := verdict(old, new, files, signum, status, said.read_text() if said.exists() else ""):
                found["wrong"] += 1
                print(f"{name} {number} {signum.name}: {wrong}", flush=True)
    return found


def _whole(folder: Path, writer: Writer) -> tuple[dict[str, bytes], dict[str, bytes], float]:
    """The files before a command that nobody ends and after it, and the seconds that it took."""
    laid_out(folder, writer)
    old, start = found_in(folder), time.monotonic()
    status = os.waitpid(started(folder, writer.arguments), 0)[1]
    new = found_in(folder)
    assert status == 0 and new != old, Path(f"{folder}.2").read_text()
    return old, new, time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500, help="kills of every command")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    _load()
    failed = False
    for name in WRITERS:
        found = campaign(name, asked.count, asked.seed)
        failed |= bool(found["wrong"])
        print(f"{name}:", {"seed": asked.seed, "count": asked.count, **dict(sorted(found.items()))}, flush=True)
    sys.exit(failed)


def _load() -> None:
    """Every command once in this process, so that a fork finds loaded and compiled what is always the same."""
    with TemporaryDirectory() as place:
        for writer in WRITERS.values():
            folder = Path(place, str(len(os.listdir(place))))
            laid_out(folder, writer)
            with chdir(folder):
                assert call(*writer.arguments).status == 0


if __name__ == "__main__":
    main()
