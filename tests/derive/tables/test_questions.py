"""Cells of claims.csv and problems.csv: what cannot be read is refused by the column it stands in."""

import csv
import io
import shlex

import pytest

from derive.errors import BacksolveError, UnknownName, WrongValue
from derive.tables import shipped
from derive.tables.questions import amount_in_si, command_of, read_givens, stated_range
from derive.tables.shipped import read
from invert.validation.claim_rows import Claim, WorkedProblem
from tests.tools.tables import RECORDS, reading
from tests.tools.together import in_one_test

CELLS, PROBLEMS = (list(csv.DictReader(io.StringIO(shipped.read().content(f"{table}.csv").decode()))) for table in ("claims", "problems"))


def spoilt(id: str, table: str = "claims", **cells: str) -> list[tuple[int | None, str | None]]:
    out, rows = io.StringIO(), CELLS if table == "claims" else PROBLEMS
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | cells if row["id"] == id else row for row in rows)
    with reading(read().edited(**{table: out.getvalue()})):
        return [(one.row, one.column) for one in shipped.read().problems(RECORDS[table])]


@in_one_test(
    ("table", "id", "cells", "column"),
    [
        ("claims", "A13a", {"unknown": "balance_bach"}, "unknown"),
        ("claims", "A13a", {"unknown": ""}, "unknown"),
        ("claims", "A13a", {"stated": "many"}, "stated"),
        ("claims", "A13b", {"stated": "3000..2000"}, "stated"),
        ("claims", "A16a", {"unit": "km"}, "unit"),
        ("claims", "A13a", {"givens": "machine_balance_ratio=300;sparsity"}, "givens"),
        ("claims", "A13a", {"givens": "machine_balance_ratio=300;sparsity=-8"}, "givens"),
        ("claims", "A12a", {"givens": "hardware="}, "givens"),
        ("claims", "A13a", {"equations": "batching.balance_bach"}, "equations"),
        ("claims", "A13a", {"tolerance": ""}, "tolerance"),
        ("claims", "A7b", {"reason": ""}, "reason"),
        ("claims", "A13a", {"verdict": "not decidable", "reason": "nobody knows"}, "unknown"),
        ("claims", "A13a", {"time": "19:16"}, "time"),
        ("problems", "llama-days", {"unknown": "training_time/chip_hours", "unit": ""}, "unknown"),
        ("problems", "llama-days", {"givens": "using=training.nothing"}, "givens"),
        ("problems", "llama-days", {"givens": "--overlaps=sum;batch=8"}, "givens"),
        ("problems", "llama-days", {"verdict": "contradicted by data"}, "verdict"),
        ("problems", "reddit-1m", {"arithmetic": ""}, "arithmetic"),
        ("problems", "llama-days", {"source_url": ""}, "source_url"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named(table: str, id: str, cells: dict[str, str], column: str):
    place = next(place for place, row in enumerate(CELLS if table == "claims" else PROBLEMS, start=2) if row["id"] == id)
    found = spoilt(id, table, **cells)
    assert found == [(place, column)] if table == "claims" else (place, column) in found


def test_what_is_sound_has_no_fault():
    assert shipped.read().problems(Claim, WorkedProblem) == () and len(CELLS) >= 120
    assert stated_range("throughput", "100..1000", "M token/s") == (1e8, 1e9)


@in_one_test(
    "call",
    [lambda: read_givens("sheet="), lambda: read_givens("batch=8;batch=9"), lambda: amount_in_si("premium_in/premium_out", "1", "s")],
)
def test_what_is_refused(call):
    with pytest.raises(BacksolveError):
        call()
    with pytest.raises(WrongValue, match="ascends"):
        stated_range("drain_time", "10..1", "s")


def test_a_command_has_every_given_and_option_and_survives_a_shell():
    given = read_givens("model=DeepSeek-V3;chip_price=2 USD/h;using=a.b, c.d;--overlap=sum;--anyway;batch=8")
    assert shlex.split(command_of("cost_per_token", given)) == [
        *("backsolve", "solve", "cost_per_token", "--model", "DeepSeek-V3", "--using", "a.b", "--using", "c.d"),
        *("--overlap", "sum", "--anyway", "chip_price=2 USD/h", "batch=8"),
    ]
    with pytest.raises(UnknownName, match="--overlap"):
        read_givens("--overlaps=sum")
