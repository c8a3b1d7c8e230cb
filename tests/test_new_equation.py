"""The script that starts an equation writes a skeleton that loads, and names every place that still lacks something."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.together import in_one_test

ROOT = Path(__file__).parents[1]
ID = "scheduling.planted_latency"
ROW = """    Quantity(
        name="planted_latency",
        symbol="t_planted",
        unit="s",
        meaning="time of eighteen steps",
        low=1e-6,
        high=1e3,
    ),
)
"""
LEFT_OUT = 'assumptions=("what is left out or assumed",),'


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the script reads and writes, in a folder of its own."""
    tests = ("tables", "tools", "validation", "derive/catalogue", "derive/quantities")
    for part in ("backsolve", "derive", "docs", "invert", "pricing_data", *(f"tests/{name}" for name in tests)):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in (
        "pyproject.toml",
        "tests/__init__.py",
        "tests/conftest.py",
        "tests/derive/fingerprints.json",
        "tests/derive/test_catalogue.py",
    ):
        shutil.copy(ROOT / part, tmp_path / part)
    return tmp_path


def run(clone: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    script, environment = clone / "docs" / "new_equation.py", {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, str(script), *arguments], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )


def replaced(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def appended(file: Path, text: str) -> None:
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.slow
def test_from_a_skeleton_to_an_equation_that_lacks_nothing(clone: Path):
    chapter = clone / "derive" / "catalogue" / "scheduling.py"
    first = run(clone, ID)
    assert first.returncode == 1 and "a skeleton is at the end of derive/catalogue/scheduling.py" in first.stdout
    lacking = run(clone, ID)
    assert (lacking.returncode, lacking.stderr) == (1, "")
    lines = lacking.stdout.splitlines()
    for place in ("derive/catalogue/scheduling.py, line", "derive/quantities: planted_latency", "the entry: no `result`"):
        assert any(line.startswith(f"  {place}") for line in lines), place
    assert sum(line.startswith("  derive/catalogue/scheduling.py, line") for line in lines) == chapter.read_text().count("TODO") == 9

    # Filled in, with the row of its quantity, and with a figure.
    kept = [line for line in chapter.read_text().splitlines(keepends=True) if "# TODO" not in line]
    chapter.write_text("".join(kept).replace("TODO: ", ""), encoding="utf-8")
    replaced(
        chapter,
        (
            "relation=lambda planted_latency: (planted_latency, planted_latency)",
            "relation=lambda planted_latency, step_time: (planted_latency, 18 * step_time)",
        ),
        (LEFT_OUT, LEFT_OUT + "\n        given={'step_time': '2 ms'},\n        result='36 ms',"),
    )
    quantities = clone / "derive" / "quantities" / "requests.py"
    quantities.write_text(quantities.read_text(encoding="utf-8").rstrip().removesuffix(")") + ROW, encoding="utf-8")
    figures = clone / "tests" / "validation" / "lecture.csv"
    appended(figures, f"99,planted,{ID}\n")
    (line,) = run(clone, ID).stdout.splitlines()[1:]
    assert line.startswith("  tests/validation/lecture.csv: the line '99' is not a number, a letter and an entry")
    replaced(figures, (f"99,planted,{ID}", f"99a A13,planted,{ID}"))

    # What does not come to its result, or gives other quantities than stand on the right.
    replaced(chapter, ("result='36 ms'", "result='35 ms'"))
    assert run(clone, ID).stdout.splitlines()[1:] == ["  the entry: the example gives 36 ms, and its result is 35 ms"]
    replaced(chapter, ("result='35 ms'", "result='36 ms'"))

    # The rest is made from the entry.
    done = run(clone, ID)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    _, *made = [line.partition(":")[0] for line in done.stdout.splitlines() if ": python " in line]
    assert made == ["tests/derive/fingerprints.json", "docs/reference/catalogue.md"]
    assert f'"{ID}@1"' in (clone / made[0]).read_text(encoding="utf-8") and f'<a id="{ID}">' in (clone / made[1]).read_text(
        encoding="utf-8"
    )
    assert done.stdout.splitlines()[-1].startswith(f"{ID}: nothing is missing. The other tests: pytest")

    # An entry that changed is made anew, or refused where its mathematics did.
    replaced(chapter, ("one plain sentence", "another sentence"))
    assert run(clone, ID).returncode == 0 and "another sentence" in (clone / made[1]).read_text(encoding="utf-8")
    replaced(clone / "tests" / "derive" / "fingerprints.json", (f'"{ID}@1": "', f'"{ID}@1": "0'))
    refused = run(clone, ID)
    assert refused.returncode == 1 and f"the mathematics of {ID} changed and its version is still 1" in refused.stderr


@in_one_test(
    ("arguments", "said"),
    [
        ((), "usage"),
        (("a.b", "c"), "usage"),
        (("nochapter.x",), "'nochapter' is not a chapter"),
        (("roofline.Step",), "'Step' is not a name"),
    ],
)
def test_what_is_no_id_is_refused(arguments: tuple[str, ...], said: str):
    refused = run(ROOT, *arguments)
    assert refused.returncode == 2 and said in refused.stderr


def test_a_skeleton_loads_in_every_chapter():
    script = runpy.run_path(str(ROOT / "docs" / "new_equation.py"))
    for chapter in script["CHAPTERS"]:
        text = (ROOT / "derive" / "catalogue" / f"{chapter}.py").read_text(encoding="utf-8")
        names: dict[str, object] = {"__name__": f"derive.catalogue.{chapter}"}
        exec(compile(script["inserted"](text, f"{chapter}.planted"), chapter, "exec"), names)
        assert names["EQUATIONS"][-1].id == f"{chapter}.planted"


def test_of_the_figures_that_ship_the_script_finds_no_fault():
    script = runpy.run_path(str(ROOT / "docs" / "new_equation.py"))
    assert [fault for row in script["by_id"]().values() for fault in script["in_lecture"](row)] == []
