"""What much at once costs, and how it grows: processor time of computations, and exponents of what grows with its size.

A baseline takes turns with every computation, as machines are of all speeds; of each the least time counts.
"""

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache, partial
from io import BytesIO
from itertools import product
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from tabulate import tabulate

import derive
import invert
from derive.catalogue import equation
from derive.quantities import quantity
from invert.assumptions import USUAL
from invert.data import read_data
from invert.estimators.cases import rental
from invert.posterior.points import PriceData
from invert.posterior.sampler import Summary, posterior, summary_of
from invert.sheets.read import load
from invert.sheets.rules import check

MILLION = 1_000_000
DRAWS = 2048
MOST_EXPONENT = 1.1
SERVED = "--hardware 8xH100:bf16 --model Llama-3.1-70B bytes_per_weight=2 bytes_per_element=2 chip_price=2USD/h ctx=4k"
GIVEN: Mapping[str, Any] = {
    **{"hardware": "8xH100:bf16", "model": "Llama-3.1-70B", "bytes_per_weight": 2, "bytes_per_element": 2},
    **{"chip_price": "2 USD/h", "context_length": 4000},
}
LONGER = ("compute_time", "kv_time", "balance_batch", "memory_time", "step_time", "cost_per_token")
"""Quantities of one deployment, each through more equations than the one before."""


class Bulk(NamedTuple):
    """A computation, how many of what it makes, and the seconds it is to stay below."""

    what: str
    made: int
    run: Callable[[], object]
    goal: float


class Curve(NamedTuple):
    """A computation that grows: what with, its sizes, and the computation of each."""

    what: str
    sizes: Sequence[int]
    of_size: Callable[[int], Callable[[], object]]


def swept(points: int) -> Callable[[], object]:
    """A chained quantity at so many points."""
    return partial(derive.solve, "cost_per_token", **GIVEN, batch=f"1..256:log:{points}")


def posteriors(sheets: int, draws: int = DRAWS) -> Callable[[], object]:
    """The posterior of so many sheets, in this process alone."""
    per_flop = rental(read_data()).values["price_per_flop"]
    return partial(drawn, price_sheets(sheets), per_flop, draws)


def drawn(sheets: Sequence[PriceData], per_flop: float, draws: int = DRAWS) -> list[Summary]:
    """The summaries of sheets at so many draws, whatever their weights."""
    return [summary_of(posterior(one, USUAL, draws), per_flop) for one in sheets]


def price_sheets(count: int) -> list[PriceData]:
    """So many sheets of two bands, with cache and storage, each at a ratio of output to input of its own: none shares its draws."""
    ((low, high),), each = price_data().cells["output_input_ratio"], (1e-6 * np.arange(count)).tolist()
    return [replace(price_data(), cells={**price_data().cells, "output_input_ratio": ((low + more, high + more),)}) for more in each]


@cache
def price_data() -> PriceData:
    """What a sheet of two bands publishes, with cache and storage."""
    return invert.infer(["gemini-3.1-pro"]).inferences[0].price_data


def steps(count: int) -> Callable[[], object]:
    """So many step times from compute and memory time."""
    row, random = equation("roofline.step_time"), np.random.default_rng(20260429)
    values = {name: np.exp(random.uniform(*np.log(_met(name)), count)) for name in row.symbols[1:]}
    return partial(row.right_side, values)


def _met(name: str) -> tuple[float, float]:
    """The values of a quantity that are met; of one that may be nothing a millionth of the most."""
    row = quantity(name)
    return row.low or row.high / MILLION, row.high


def price_rows(sheets: int, validities: int) -> bytes:
    """A file of sheets with an input and an output price, each for so many days and then another."""
    lines = ["provider,model,component,amount,effective_date,valid_to,retrieved_date,source_url"]
    for sheet, day in product(range(sheets), range(validities)):
        begins = date(2000, 1, 1) + timedelta(days=day)
        ends = begins + timedelta(days=1) if day < validities - 1 else ""
        stretch = f"{begins if day else ''},{ends},2026-11-20,https://acme.example/{sheet}"
        lines += (
            f"acme-{sheet % 50},m-{sheet},{component},{amount + day % 7},{stretch}" for component, amount in (("input", 1), ("output", 4))
        )
    return "\n".join(lines).encode()


def market_rows(sheets: int) -> bytes:
    """A file of as many models, at prices from 0.05 to 15 USD/Mtoken that no two share, half of them with a price of cache hits."""
    lines = ["provider,model,component,amount,retrieved_date,source_url"]
    for sheet in range(sheets):
        amount = 0.05 * 300 ** (sheet / sheets)
        asked = {"input": amount, "output": amount * (2, 3, 4, 5, 6, 8)[sheet % 6], **({"cache_read": amount / 10} if sheet % 2 else {})}
        lines += (
            f"acme-{sheet % 50},m-{sheet},{name},{price:.4f},2026-11-20,https://acme.example/{sheet}" for name, price in asked.items()
        )
    return "\n".join(lines).encode()


def banded_rows(bands: int) -> bytes:
    """A file of one sheet whose prices rise with the prompt, so many times."""
    lines = ["provider,model,component,threshold_tokens,amount,effective_date,retrieved_date,source_url"]
    for band, (component, amount) in product(range(bands), (("input", 2), ("output", 12))):
        above = band * 10_000 or ""
        lines.append(f"acme,m,{component},{above},{amount * (1 + band / 100):.4f},2026-01-01,2026-11-20,https://acme.example")
    return "\n".join(lines).encode()


def read(content: bytes) -> object:
    """A file read and checked."""
    return check(load(BytesIO(content)))


def inferred(content: bytes) -> object:
    """All that a file of one sheet implies."""
    return invert.infer(["acme/m"], prices=BytesIO(content))


def computations() -> tuple[Bulk, ...]:
    """What is computed much at once, with its goals for a processor."""
    return (
        Bulk("a sweep of a million points", MILLION, swept(MILLION), 0.150),
        Bulk("a million step times", MILLION, steps(MILLION), 1 / 15),
        Bulk("posteriors of 200 sheets, 2,048 draws", 200, posteriors(200), 200 / 1500),
    )


def curves(long: bool) -> tuple[Curve, ...]:
    """What grows, and with what; a long run goes to the ends."""
    sheets = (1, 10, 100, 1000, 10_000, 100_000) if long else (1, 10, 100, 1000)
    rows = (100, 1000, 10_000, 100_000, 1_000_000) if long else (100, 1000, 10_000)
    return (
        Curve("posteriors, by sheets", sheets, posteriors),
        Curve("a posterior, by draws", (1024, 4096, 16_384, 65_536), partial(posteriors, 1)),
        Curve("a sweep, by points", (1000, 10_000, 100_000, MILLION), swept),
        Curve("a price file, by rows", rows, lambda count: partial(read, price_rows(count // 2, 1))),
        Curve("a price sheet, by bands", (1, 8, 64), lambda count: partial(inferred, banded_rows(count))),
    )


def chain_by_equations() -> list[tuple[int, float]]:
    """Warm questions of one deployment: through how many equations each goes, and its seconds."""
    found: dict[int, float] = {}
    for name in LONGER:
        asked = partial(derive.solve, name, **GIVEN, batch=32)
        found[len(asked().equations)] = least(asked)
    return sorted(found.items())


def least(run: Callable[[], object], rounds: int = 3) -> float:
    """The least processor time of some rounds [s]."""
    times = []
    for _ in range(rounds):
        begun = process_time()
        run()
        times.append(process_time() - begun)
    return min(times)


def exponent(measured: Iterable[tuple[int, float]]) -> float:
    """With what power of its size a time grows over the largest three sizes, where what it costs to begin matters least.

    >>> round(exponent([(1, 5.0), (10, 1.0), (100, 10.0), (1000, 100.0)]), 3)
    1.0
    """
    sizes, times = zip(*sorted(measured)[-3:], strict=True)
    return float(np.polyfit([log(size) for size in sizes], [log(max(time, 1e-9)) for time in times], 1)[0])


ALONE = """
import os, subprocess, sys
with subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
sys.exit(process.returncode)
"""
"""Runs a command from a process that holds little: its most memory would be at least that of the process it comes from."""


def alone(*arguments: str) -> tuple[float, float] | None:
    """A command whose output is thrown away: its seconds of processor, and its most memory [MB]; None where it does not succeed."""
    command = [sys.executable, "-m", "backsolve", *arguments]
    ran = subprocess.run([sys.executable, "-c", ALONE, *command], check=False, stdout=subprocess.PIPE, text=True)
    seconds, memory = map(float, ran.stdout.split())
    return None if ran.returncode else (seconds, memory)


def written(form: str) -> tuple[float, float] | None:
    """A sweep of a million points as a command."""
    return alone("solve", "cost_per_token", *SERVED.split(), "batch=1..256:log:1e6", "--as", form)


def site() -> tuple[float, float] | None:
    """The whole site built, in a folder that goes again; None where what it needs is not installed."""
    with TemporaryDirectory() as folder:
        return alone("site", "build", "--out", str(Path(folder, "site")))


def bulk_table(rounds: int) -> str:
    """What much at once costs, each as a ratio to a million exponentials that take turns with it."""
    numbers = np.random.default_rng(1).uniform(size=MILLION)
    rows = []
    for one in computations():
        one.run()
        pairs = [(least(partial(np.exp, numbers), 1), least(one.run, 1)) for _ in range(rounds)]
        base, time = map(min, zip(*pairs, strict=True))
        met = "yes" if time <= one.goal else "no"
        rows.append([one.what, f"{1e3 * time:.3g}", f"{one.made / time:.3g}", f"{time / base:.3g}", f"{1e3 * one.goal:.3g}", met])
    commands = (
        ("a sweep of a million points written as csv", written("csv"), 3.0),
        ("a sweep of a million points written as json", written("json"), 8.0),
        ("the site built", site(), 40.0),
    )
    for what, found, goal in commands:
        if found is not None:
            time, memory = found
            told = [f"{1e3 * goal:.4g}", "yes" if time <= goal else "no"]
            rows.append([f"{what}, {memory:.0f} MB of memory", f"{1e3 * time:.4g}", "", f"{time / base:.3g}", *told])
    heads = ["what", "ms of processor", "a second", "times a million of np.exp", "goal, ms", "met"]
    return tabulate(rows, heads, tablefmt="github", disable_numparse=True)


def curve_table(long: bool) -> str:
    """How times grow."""
    measured = [(one.what, [(size, _of_size(one, size)) for size in one.sizes]) for one in curves(long)]
    measured.append(("a warm question, by equations", chain_by_equations()))
    rows = []
    for what, times in measured:
        power = exponent(times)
        told = ", ".join(f"{size:,}: {1e3 * time:.3g}" for size, time in times)
        rows.append([what, told, f"{power:.2f}", f"{MOST_EXPONENT}", "yes" if power <= MOST_EXPONENT else "no"])
    return tabulate(rows, ["what grows", "ms of processor by size", "exponent", "goal", "met"], tablefmt="github", disable_numparse=True)


def _of_size(curve: Curve, size: int) -> float:
    run = curve.of_size(size)
    return least(run, 1 if size >= 100_000 else 3)
