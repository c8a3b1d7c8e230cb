"""Cells of claims.csv: what cannot be read is refused by the column it stands in."""

import csv
import io

import pytest

from derive import shipped
from derive.claim_cells import amount, givens, said
from derive.errors import BacksolveError, WrongValue
from derive.shipped import problems, read
from tests.tools.tables import reading
from tests.tools.together import in_one_test

CELLS = list(csv.DictReader(io.StringIO(shipped.content("claims.csv").decode())))


def spoilt(id: str, **cells: str) -> list[tuple[int | None, str | None]]:
    out = io.StringIO()
    writer = csv.DictWriter(out, CELLS[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | cells if row["id"] == id else row for row in CELLS)
    with reading(read().edited(claims=out.getvalue())):
        return [(one.row, one.column) for one in problems("claims")]


@in_one_test(
    ("id", "cells", "column"),
    [
        ("A13a", {"unknown": "balance_bach"}, "unknown"),
        ("A13a", {"unknown": ""}, "unknown"),
        ("A13a", {"stated": "many"}, "stated"),
        ("A13b", {"stated": "3000..2000"}, "stated"),
        ("A16a", {"unit": "km"}, "unit"),
        ("A13a", {"givens": "machine_balance_ratio=300;sparsity"}, "givens"),
        ("A13a", {"givens": "machine_balance_ratio=300;sparsity=-8"}, "givens"),
        ("A12a", {"givens": "hardware="}, "givens"),
        ("A13a", {"equations": "batching.balance_bach"}, "equations"),
        ("A13a", {"tolerance": ""}, "tolerance"),
        ("A13a", {"verdict": "right"}, "verdict"),
        ("A7b", {"reason": ""}, "reason"),
        ("A13a", {"verdict": "not decidable", "reason": "nobody knows"}, "unknown"),
        ("A13a", {"time": "19:16"}, "time"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named(id: str, cells: dict[str, str], column: str):
    place = next(place for place, row in enumerate(CELLS, start=2) if row["id"] == id)
    assert spoilt(id, **cells) == [(place, column)]


def test_what_is_sound_has_no_fault():
    assert problems("claims") == () and len(CELLS) >= 120
    assert said("throughput", "100..1000", "M token/s") == (1e8, 1e9)


@in_one_test("call", [lambda: givens("sheet="), lambda: givens("batch=8;batch=9"), lambda: amount("premium_in/premium_out", "1", "s")])
def test_what_is_refused(call):
    with pytest.raises(BacksolveError):
        call()
    with pytest.raises(WrongValue, match="ascends"):
        said("drain_time", "10..1", "s")
