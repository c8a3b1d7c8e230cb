"""The table of blocks made by SymPy: `python -m tests.tools.blocks` writes it anew, in a few minutes.

What blocks there are is seen by asking: the questions of the tests, and common ones of models of every kind.
"""

import csv
import shlex
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import derive.solving.refusals as refusals
from backsolve.cli.main import backsolve
from derive.catalogue import equation
from derive.formulas import found, key
from derive.records import Equation
from derive.solving import blocks
from derive.solving.blocks import PATH, block_line, key_of_block, key_of_bound
from derive.solving.defaults import with_defaults
from derive.solving.elimination import definitions_put_in, eliminated, free_of_effect
from derive.solving.matching import Structure

QUESTIONS = Path(__file__).parent.parent / "validation" / "questions.csv"
HEAD = "key\tmade from\tcases"

MODELS = ("Llama-3.1-70B", "Mixtral-8x22B", "DeepSeek-V3", "gpt-oss-120b", "Qwen3-Next-80B-A3B", "Gemma-3-27B")
"""Models whose attention is of different kinds: what is asked of them meets different blocks."""

ASKED = (
    *("step_time", "throughput", "tokens_per_second_per_user", "cost_per_token", "ttft", "request_latency", "balance_batch"),
    *("batch", "chips", "context_length", "energy_per_token", "requests_per_second", "memory_demand", "cost_per_request"),
)
GIVENS = (
    "batch=32 ctx=8k",
    "chips=8 batch=32 ctx=8k",
    "chips=8 batch=32 isl=4k osl=500",
    "chips=8 ctx=8k tpot=30ms",
    "chips=8 ctx=8k 'tpot<=50ms'",
    "chips=8 batch=32 ctx=8k mfu=0.5 mbu=0.7 chip_price=2USD/h",
    "chips=8 isl=4k mfu=0.5",
)

Made = dict[str, Callable[[], str]]


def commands() -> Iterator[str]:
    """What is asked to see what blocks there are."""
    with QUESTIONS.open(encoding="utf-8") as stream:
        yield from (row["command"] for row in csv.DictReader(stream))
    yield "infer --as json"
    for model, unknown, given in product(MODELS, ASKED, GIVENS):
        yield f"solve {unknown} --hardware H100:bf16 --model {model} {given}"


def met() -> Made:
    """The lines of all blocks that answering these meets, by key; nothing is worked out but what the answers need."""
    made: Made = {}
    ordinary, bounded, cancelling = blocks.joint, blocks.with_definitions, refusals.that_cancel

    def of_block(structure: Structure, unknown: str) -> Any:
        made.setdefault(key_of_block(structure, unknown), lambda: line_of_block(structure, unknown))
        return ordinary(structure, unknown)

    def of_cancelling(structure: Structure, unknown: str) -> Any:
        if structure.rows:
            made.setdefault(key_of_block(structure, unknown), lambda: line_of_block(structure, unknown))
        return cancelling(structure, unknown)

    def of_bound(bound: Equation, rows: tuple[Equation, ...], unknown: str) -> Any:
        made.setdefault(key_of_bound(bound, rows, unknown), lambda: line_of_bound(bound, rows, unknown))
        return bounded(bound, rows, unknown)

    blocks.joint, blocks.with_definitions, refusals.that_cancel = of_block, of_bound, of_cancelling
    try:
        for command in commands():
            CliRunner().invoke(backsolve, shlex.split(command))
    finally:
        blocks.joint, blocks.with_definitions, refusals.that_cancel = ordinary, bounded, cancelling
    return made


def line_of_block(structure: Structure, unknown: str) -> str:
    """What SymPy makes of a block."""
    cases, cancel = eliminated(structure, unknown), free_of_effect(structure, unknown)
    return block_line(structure.rows, key_of_block(structure, unknown), unknown, cases, cancel)


def line_of_bound(bound: Equation, rows: tuple[Equation, ...], unknown: str) -> str:
    """What SymPy makes of an inequality into which definitions are put."""
    case = definitions_put_in(bound, rows)
    return block_line((*rows, bound), key_of_bound(bound, rows, unknown), unknown, (case,))


def line_again(key: str) -> str:
    """The line of a key, made anew from what the key says."""
    equations, *rest, unknown = key.split(" | ")
    rows = tuple(map(_row, equations.split("; ")))
    if rest == ["bound"]:
        return line_of_bound(rows[-1], rows[:-1], unknown)
    names, free = (tuple(names.split()) for names in rest)
    return line_of_block(Structure(rows, names, free), unknown)


def _row(written: str) -> Equation:
    """An equation with what its key says is put into it."""
    id, *put_in = written.split()
    values = (one.split("=") for one in put_in)
    return with_defaults(equation(id), tuple(sorted((name, int(value) if value.isdigit() else value) for name, value in values)))


def main() -> None:
    """Writes the table; lines of equations that are not in the table of formulas would never be read, and are left out."""
    lines = [make() for _, make in sorted(met().items())]
    kept = [line for line in lines if all(found(key(row.id, row.put_in)) for row in map(_row, line.split(" | ")[0].split("; ")))]
    PATH.write_text("".join(f"{line}\n" for line in (HEAD, *kept)), encoding="utf-8")
    sys.stdout.write(f"{len(kept)} blocks\n")


if __name__ == "__main__":
    main()
