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
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks import samples
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

SAMPLED = 5
"""How often at least a command is run to see where its time goes: a run of a tenth of a second has a hundred samples."""


def kept_in(bytecode: str) -> dict[str, str]:
    """The environment of a process that keeps its bytecode in a folder."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"PYTHONPYCACHEPREFIX": bytecode}


def processor_time(command: Sequence[str], bytecode: str) -> float:
    """Seconds of processor that a process takes, user and system, its bytecode kept in a folder; it must succeed."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=kept_in(bytecode), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(rounds: int) -> dict[str, float]:
    """The least time of each baseline and command over some rounds, in which they take turns."""
    runs = {name: [sys.executable, "-c", code] for name, code in BASELINES.items()}
    runs |= {name: [sys.executable, "-m", "backsolve", *command.split()] for name, command, *_ in COMMANDS}
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


def sampled(command: str, rounds: int) -> Counter[str]:
    """In how many samples a command was in each part, over some runs."""
    run, found = [sys.executable, "-m", "benchmarks.samples", *command.split()], []
    with TemporaryDirectory() as bytecode:
        for _ in range(max(rounds, SAMPLED) + 1):
            told = subprocess.run(run, check=True, env=kept_in(bytecode), cwd=PAGE.parents[1], capture_output=True, text=True).stderr
            found.append(Counter({part: int(count) for part, tab, count in (line.partition("\t") for line in told.splitlines()) if tab}))
    # The first run compiles what was never imported.
    return sum(found[1:], Counter())


def parts_table(least: Mapping[str, float], rounds: int) -> str:
    """Where the time of each command goes: Python itself, what it loads, and what runs, by samples of its stack."""
    rows = []
    for what, command, *_ in COMMANDS:
        found = sampled(command, rounds)
        counted = 1e3 * (least[what] - least["nothing"]) / found.total()
        shares = (f"{found[part] * counted:.0f}" for part in samples.ALL)
        rows.append([what, f"{1e3 * least['nothing']:.0f}", *shares, f"{1e3 * least[what]:.0f}"])
    return tabulate(rows, ["ms of processor", "Python", *samples.ALL, "all"], tablefmt="github", disable_numparse=True)


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
    rounds, (load, *_) = arguments.rounds, os.getloadavg()
    least = measured(rounds)
    tables = {
        "What each command costs": table(least),
        "Where the time of a question goes": parts_table(least, rounds),
        "What much at once costs": bulk_table(rounds),
        "What bounds a posterior": bounds_table(rounds),
        "How times grow": curve_table(arguments.long),
    }
    text = "\n\n".join(f"## {title}\n\n{shown}" for title, shown in tables.items())
    print(text)
    if arguments.write:
        PAGE.write_text(
            f"# Benchmarks\n\n{machine()}; least of {rounds} rounds, at a load of {load:.1f} as it began.\n\n{text}\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
