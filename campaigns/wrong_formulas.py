"""Put each wrong formula of wrong_formulas.csv into a copy of the code, and check that the right tests fail.

    python -m campaigns.wrong_formulas [NAME ...]

The faults were seen in other tools and in notes on the lecture. A published figure must see each fault, or the row says why none can.
Then a figure worked by hand or a derivation must see it. The first row is the control: the same formula in another order, which no
test may see. Tests that notice any change, right or wrong, are not run. Exit status 1 if a fault is not seen as it should be.
"""

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
COPIED = ("backsolve", "derive", "invert", "pricing_data", "tests/tables", "tests/tools", "tests/validation")
BESIDE = ("pyproject.toml", "tests/__init__.py", "tests/conftest.py", "tests/derive/test_derivations.py")
CONTROL = "written_otherwise"
PUBLISHED = "test_production or test_published_figures or (test_a_claim and not recomputed)"
WORKED = f"not ({PUBLISHED}) and not samplers and not upside_down_efficiency and not what_other_tools_got_wrong"
"""Which tests are run. Samplers see no formula, and the last two were written for one fault alone."""

with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _stream:
    ROWS = list(csv.DictReader(_stream))
NAMES = tuple(dict.fromkeys(row["name"] for row in ROWS))


def with_fault(text: str, row: dict[str, str]) -> str:
    """Return the text of a file with the wrong in the place of the right, inside the one entry that the row names."""
    before, entry, rest = text.partition(row["entry"])
    inside, end, after = rest.partition("statement=" if "catalogue" in row["file"] else "\n")
    assert entry and row["old"] in inside, f"{row['name']}: {row['old']!r} is not in {row['entry']}"
    return before + entry + inside.replace(row["old"], row["new"]) + end + after


def tests_that_see(copy: Path, chosen: str, marked: str) -> list[str]:
    """Return the chosen tests that fail in a copy by an assertion. A test that crashes or lacks an input does not show a wrong formula."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rf", "--maxfail=3", "-m", marked, "-k", chosen, "tests"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(copy), "CI": "true"})
    assert done.returncode in (0, 1), done.stdout + done.stderr
    failed = re.findall(r"^FAILED (\S.*?) - (?:assert|AssertionError)(.*)$", done.stdout, re.MULTILINE)
    return [test for test, said in failed if "missing_givens" not in said]


def verdict(name: str) -> str:
    """Return what is wrong with how the tests see a fault; nothing if all is as it should be."""
    rows = [row for row in ROWS if row["name"] == name]
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in COPIED:
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "tests/derive").mkdir()
        for part in BESIDE:
            shutil.copy(ROOT / part, copy / part)
        for row in rows:
            file = copy / row["file"]
            file.write_text(with_fault(file.read_text(encoding="utf-8"), row), encoding="utf-8")
        # The quick tests have half of the published figures.
        published = tests_that_see(copy, PUBLISHED, marked="")
        worked = [] if published else tests_that_see(copy, WORKED, marked="not slow")
    print(f"{name}: {rows[0]['fault']}: {', '.join(published or worked) or 'seen by no test'}", flush=True)
    if name == CONTROL:
        return "a test sees it, and it is no fault" if published or worked else ""
    if bool(published) is bool(rows[0]["unpublished"]):
        return f"a published figure {'sees it' if published else 'does not see it'}, and the row says otherwise"
    return "" if published or worked else "no test sees it"


def main(names: Iterable[str]) -> int:
    """Try the faults with these names, or all; return the exit status."""
    faults = {name: verdict(name) for name in names or NAMES}
    print("\n".join(f"{name}: {fault}" for name, fault in faults.items() if fault) or f"{len(faults)} faults are seen as they should be")
    return int(any(faults.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
