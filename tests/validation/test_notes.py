"""Every entry of notes.csv, a point that the lecture makes, has an equation; what is a remark or a value has a test, or a claim on record.

Parts: A batch and step, B experts, C pipelining, D training, E price sheets and caches, F ciphers and reversible networks.
"""

import csv
import re
from io import StringIO
from pathlib import Path

import pytest

from derive.catalogue import by_id
from derive.preset_rows import Architecture
from derive.solving.api import solve
from derive.tables.shipped import rows_of
from invert.validation.claim_rows import Claim
from tests.tools.together import in_one_test

HERE = Path(__file__).parent
ROWS = list(csv.DictReader(StringIO((HERE / "notes.csv").read_text(encoding="utf-8"))))
CLAIMS = {row.id[:-1] for row in rows_of(Claim)}
"""Entries that have a claim on record: the id of a claim without its letter."""
LENGTH_OF_A_PART = {"A": 20, "B": 5, "C": 9, "D": 10, "E": 16, "F": 4}
TESTS = set(re.findall(r"^def (test_\w+)", "\n".join(file.read_text(encoding="utf-8") for file in HERE.glob("test_*.py")), re.MULTILINE))


def test_no_entry_is_missing():
    expected = [f"{part}{number}" for part, length in LENGTH_OF_A_PART.items() for number in range(1, length + 1)]
    assert sorted(row["entry"] for row in ROWS) == sorted([*expected, "A5'", "E14b"])


@in_one_test("row", [pytest.param(row, id=row["entry"]) for row in ROWS])
def test_an_entry_is_held_by_equations_or_tests_that_exist(row):
    for name in row["held_by"].split(";"):
        assert name in by_id() or name in TESTS or (name == "claim" and row["entry"] in CLAIMS), name


@pytest.mark.parametrize(("kv_bytes_per_token", "sequences"), [(5000 / 3, 33_900), (35_136, 1_606)])
def test_entry_c7_a_rack_holds_tens_of_thousands_of_the_lectures_sequences(kv_bytes_per_token, sequences):
    """Talk 1:01:44: a rack has memory to spare. With the cache of DeepSeek-V3 it holds fewer than a balance batch of 2,400."""
    rack = {"chips": 64, "hbm_capacity": 192e9, "total_params": 1e12, "bytes_per_weight": 1, "context_length": 2e5}
    (answer,) = solve("sequences_in_flight", **rack, kv_bytes_per_token=kv_bytes_per_token).answers
    assert (answer.kind, answer.high) == ("interval", pytest.approx(sequences, rel=2e-3))
    assert (answer.high > 2400) is (kv_bytes_per_token < 2000)


def test_entry_e10_windows_have_left_the_plateau():
    """Talk 1:53:46 (2026-04-29): contexts stay at 100 to 200 k. Of the open models that ship, most now go beyond."""
    windows = [row.max_context for row in rows_of(Architecture) if row.max_context]
    assert max(windows) >= 1_000_000
    assert sum(window > 200_000 for window in windows) > 5
