"""What everything costs: `python -m benchmarks.commands` prints processor time, ratios to baselines, and how times grow.

First commands, started from nothing, then much at once and what bounds a posterior, then the same at several sizes. Commands
and baselines take turns, and of each the least time counts: what else runs on the machine makes times longer, never shorter.
`--write` puts the tables into benchmarks/commands.md, with the machine and the versions; `--long` goes to a hundred thousand
sheets and a million rows.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks.bounds import bounds_table
from benchmarks.bulk import bulk_table, curve_table

PAGE = Path(__file__).with_name("commands.md")
BASELINES = {"click": "import click, json", "numpy": "import click, numpy", "sympy": "import sympy", "nothing": "pass"}
DEPLOYED = "--hardware 8xH100:bf16 --model Llama-3.1-70B bytes_per_weight=2 bytes_per_element=2"
COMMANDS = (  # what it is, the command, the baseline, the ratio that it is to stay below
    ("one equation", "solve balance_batch --hardware H100:fp8 --model DeepSeek-V3", "click", 2.0),
    ("a chain", f"solve step_time {DEPLOYED} batch=32 ctx=8k", "click", 2.0),
    ("a block", f"solve batch {DEPLOYED} ctx=8k tpot=15ms", "click", 2.0),
    ("show", "show roofline.kv_time", "click", 2.0),
    ("list", "list", "click", 2.0),
    ("cite", "cite roofline.step_time --as bibtex", "click", 2.0),
    ("help", "--help", "click", 2.0),
    ("a range", f"solve step_time {DEPLOYED} batch=16..64 ctx=8k", "numpy", 1.3),
    ("a sweep", f"solve cost_per_token {DEPLOYED} chip_price=2USD/h batch=1..4096:log ctx=4k --as csv", "numpy", 1.3),
    ("infer, all sheets", "infer", "sympy", 2.2),
    ("infer, one model", "infer gemini-3.1-pro", "sympy", 1.6),
)

TAKEN_APART = ("one equation", "a chain", "show", "list", "cite")
PACKAGES = ("backsolve", "derive", "invert", "pricing_data")


def processor_time(command: Sequence[str], bytecode: str) -> float:
    """Seconds of processor that a process takes, user and system, its bytecode kept in a folder; it must succeed."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = getrusage(RUSAGE_CHILDREN)
    kept = environment | {"PYTHONPYCACHEPREFIX": bytecode}
    subprocess.run(command, check=True, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(rounds: int) -> dict[str, float]:
    """The least time of each baseline and command."""
    runs = {name: [sys.executable, "-c", code] for name, code in BASELINES.items()}
    runs |= {name: [sys.executable, "-m", "backsolve", *command.split()] for name, command, *_ in COMMANDS}
    return least_times(runs, rounds)


def least_times(runs: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """The least time of each process over some rounds, in which they take turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    with TemporaryDirectory() as bytecode:
        for _ in range(rounds + 1):
            for name, command in runs.items():
                times[name].append(processor_time(command, bytecode))
    # The first round compiles what was never imported.
    return {name: min(found[1:]) for name, found in times.items()}


def table(least: dict[str, float]) -> str:
    """The times as a table, baselines first."""
    rows = [[f"`python -c {code!r}`", "", f"{1e3 * least[name]:.0f}", "", "", ""] for name, code in BASELINES.items()]
    for name, command, base, goal in COMMANDS:
        ratio = least[name] / least[base]
        met = "yes" if ratio <= goal else "no"
        rows.append([name, f"`{command}`", f"{1e3 * least[name]:.0f}", f"{ratio:.2f} x {base}", f"{goal:g}", met])
    return tabulate(rows, ["what", "command", "ms of processor", "ratio", "goal", "met"], tablefmt="github", disable_numparse=True)


def loaded_by(command: str) -> list[str]:
    """The modules of the program that a command loads, in their order."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "backsolve", *command.split()], check=True, capture_output=True, text=True
    )
    names = (line.rpartition("|")[2].strip() for line in told.stderr.splitlines() if line.startswith("import time:"))
    return [name for name in names if name.partition(".")[0] in PACKAGES and not name.endswith("__main__")]


def parts_table(rounds: int) -> str:
    """Where the time of some commands goes: to Python, to click, to the modules of the program, and to the answer."""
    chosen = {what: command for what, command, *_ in COMMANDS if what in TAKEN_APART}
    runs = {code: [sys.executable, "-c", code] for code in ("pass", BASELINES["click"])}
    for what, command in chosen.items():
        runs[f"load {what}"] = [sys.executable, "-c", f"{BASELINES['click']}\nimport {', '.join(loaded_by(command))}"]
        runs[what] = [sys.executable, "-m", "backsolve", *command.split()]
    least = least_times(runs, rounds)
    rows = []
    for what in chosen:
        reached = [0.0, least["pass"], least[BASELINES["click"]], least[f"load {what}"], least[what]]
        rows.append([what, *(f"{1e3 * (after - before):.0f}" for before, after in pairwise(reached)), f"{1e3 * reached[-1]:.0f}"])
    heads = ["ms of processor", "Python", "click, json", "modules", "answer", "all"]
    return tabulate(rows, heads, tablefmt="github", disable_numparse=True)


def machine() -> str:
    """The machine and the versions that a table was made with."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("click", "numpy", "scipy", "sympy"))
    return f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, {versions}"


def main() -> None:
    """Prints the table, and writes it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    tables = {
        "What each command costs": table(measured(rounds)),
        "Where the time of a question goes": parts_table(rounds),
        "What much at once costs": bulk_table(rounds),
        "What bounds a posterior": bounds_table(rounds),
        "How times grow": curve_table(arguments.long),
    }
    text = "\n\n".join(f"## {title}\n\n{shown}" for title, shown in tables.items())
    print(text)
    if arguments.write:
        PAGE.write_text(f"# Benchmarks\n\n{machine()}; least of {rounds} rounds.\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
