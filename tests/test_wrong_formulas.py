"""Wrong formulas are seen; the rest of the faults is tried by `.ci/long`."""

import subprocess
import sys

import pytest

from campaigns.wrong_formulas import CONTROL, ROOT, ROWS, with_fault
from tests.tools.together import in_one_test


@pytest.mark.slow
def test_wrong_formulas_are_seen():
    """One that a published figure sees, one that none can, one of a table, and the control."""
    names = (CONTROL, "max_for_sum", "experts_of_one_token", "an_older_bandwidth")
    done = subprocess.run([sys.executable, "-m", "campaigns.wrong_formulas", *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@in_one_test("row", ROWS, ids=lambda row: f"{row['name']} {row['entry']}")
def test_a_fault_is_put_into_the_entry_that_it_names(row: dict[str, str]):
    right = (ROOT / row["file"]).read_text(encoding="utf-8")
    wrong = with_fault(right, row)
    assert wrong != right
    compile(wrong, row["file"], "exec") if row["file"].endswith(".py") else None
