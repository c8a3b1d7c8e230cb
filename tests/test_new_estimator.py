"""The page on adding an estimator is all that it takes: its module, its name and its function, in a copy, are found in every output."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.tools.tables import FROZEN
from tests.tools.together import some

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "add-an-estimator.md"
BLOCK = re.compile(r"^```py\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAME, HEADING = "from_dear_rent", "KV from dear rent"
RULES = some(
    [
        *(f"tests/invert/estimators/test_{name}.py" for name in ("cases", "estimates", "known")),
        "tests/invert/report/test_columns.py",
        "tests/invert/validation/test_scoreboard.py",
        "tests/test_frozen.py::test_nothing_moved_that_is_not_named[infer]",
    ],
    every=2,
)
OUTPUTS = """
import json
from invert import infer
from invert.validation import scoreboard
from invert.report.contract import run_as_csv, run_as_json
from invert.report.layout import laid_out
from invert.report.sheet import full_parts
from invert.report.columns import WIDE_KEYS, column_of
from invert.report.table import document

table, given = infer(["gemini-3.1-pro", "claude-opus-5"]), infer(["gemini-3.1-pro"], anchors={"kv_bytes_per_token": "70kB"})
print(json.dumps({
    "table": document(table, "markdown"), "narrow": str(table), "columns": [column_of(key).heading for key in WIDE_KEYS],
    "reports": [laid_out(full_parts(one, table), 10_000) for one in table], "truth": scoreboard.section_rows("truth"),
    "csv": run_as_csv(table), "json": run_as_json(table), "frame": list(table.to_frame().columns),
}))
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code to which nothing was done but what the page says."""
    copy = tmp_path_factory.mktemp("copy")
    for part in ("derive", "invert", "pricing_data"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(FROZEN, copy / "pricing_data", dirs_exist_ok=True)
    module, named, function = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    folder, imported = copy / "invert" / "estimators", "from invert.estimators import "
    (folder / f"{NAME}.py").write_text(module, encoding="utf-8")
    for file, table, row in (("../estimate_text.py", "KV_NAMES: ", named), ("known.py", "ESTIMATORS: ", function)):
        text = (folder / file).read_text(encoding="utf-8")
        end = text.index("\n}\n", text.index(table)) + 1
        text = f"{text[:end]}{row}{text[end:]}".replace(imported, f"{imported}{NAME}, ", 1)
        (folder / file).write_text(text, encoding="utf-8")
    return copy


def run(copy: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def said(grown: Path) -> dict[str, Any]:
    """Every output of that copy."""
    done = run(grown, "-c", OUTPUTS)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_has_a_column_in_the_table(said: dict[str, Any]):
    columns = said["columns"]
    assert columns[columns.index("typical KV range") + 1] == f"{HEADING} range"
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in said["table"].splitlines() if line.startswith("|")]
    cells = [row[rows[0].index(f"{HEADING} range")] for row in rows]
    assert any("kB (" in cell for cell in cells) and any("lt;" in cell or "<" in cell for cell in cells)
    assert "typical" in said["narrow"] and HEADING not in said["narrow"]


def test_it_has_a_line_in_the_report(said: dict[str, Any]):
    assert f"KV from premium, {HEADING}, memory time share" in said["reports"][0], "what the band means move"
    for report in said["reports"]:
        assert f"\n{HEADING}  " in report


def test_it_is_in_json_and_csv_and_frame_as_it_is_at_rent_but_for_the_rent(said: dict[str, Any]):
    schema = json.loads((ROOT / "docs" / "reference" / "schema" / "infer.schema.json").read_text(encoding="utf-8"))
    document = json.loads(said["json"])
    assert not list(Draft202012Validator(schema).iter_errors(document))
    rows = list(csv.DictReader(io.StringIO(said["csv"])))
    ratios = set()
    for sheet, row, kind in zip(document, rows, ("interval", "upper"), strict=True):
        by_estimator = sheet["estimates"]["kv_bytes_per_token"]
        assert (
            list(by_estimator)
            == ["from_all_prices", "from_premium_at_cost", "from_premium", "typical", NAME]
            == list(sheet["reliability"]["misreadings"])
        )
        mine, at_rent = by_estimator[NAME], by_estimator["from_premium_at_cost"]
        assert mine["kind"] == row[f"kv_bytes_per_token_{NAME}_kind"] == kind
        assert float(row[f"kv_bytes_per_token_{NAME}_high"]) == mine["high"]
        ratios.add(round(at_rent["high"] / mine["high"], 3))
    assert len(ratios) == 1 and 1.2 < ratios.pop() < 3
    assert {f"kv_bytes_per_token_{NAME}{end}" for end in ("", "_low", "_high", "_kind", "_right", "_of")} < set(said["frame"])


def test_it_is_scored(said: dict[str, Any]):
    *models, bias, spread = said["truth"]
    at_rent = "KV from premium at cost"
    assert all(0 < row[HEADING] < row[at_rent] for row in models)
    assert bias[HEADING] < bias[at_rent] and spread[HEADING] == spread[at_rent]


def test_the_rules_for_every_estimator_hold(grown: Path):
    for part in ("tests", "backsolve"):
        shutil.copytree(ROOT / part, grown / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", grown)
    rows = [path.replace("NAME", NAME) for path in re.findall(r"`(/\S*NAME\S*)`", PAGE.read_text(encoding="utf-8"))]
    with (grown / "tests" / "frozen" / "differences.csv").open("a", encoding="utf-8") as differences:
        differences.writelines(f"infer,{path},,what at_dear_rent says is new\n" for path in rows)
    done = run(grown, "-m", "pytest", "-q", "-p", "no:cacheprovider", *RULES)
    assert done.returncode == 0, done.stdout
