"""What a user's type checker says of a user's script: every public name has its type, and a slip is found."""

import doctest
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

SCRIPT = """
from collections.abc import Mapping
from io import BytesIO
from typing import assert_type

import backsolve
import derive
import invert
from invert.forward_model import Forward

solution = derive.solve("batch", hardware="H100-SXM:bf16", model="Llama-3.1-70B", chips=8, step_time="20ms", context_length=[4096, 8192])
assert_type(solution, derive.Solution)
assert_type(solution.value, float)
assert_type(solution.answers, tuple[derive.Answer, ...])
assert_type(solution.answers[0].value, float | None)
assert_type(solution.answers[0].point, float)
assert_type(solution.given, Mapping[str, float])
assert_type(solution.why_not, str)
if solution.reason:
    assert_type(solution.reason.code, str)

settings: dict[str, float | str] = {"machine_balance_ratio": 300, "sparsity": "8"}
assert_type(derive.solve("balance_batch", given=settings).value, float)
assert_type(derive.solve("balance_batch", given={"sparsity": derive.symbols.sparsity, "machine_balance_ratio": 300}), derive.Solution)

row = derive.equation("roofline.kv_time")
assert_type(row, derive.Equation)
assert_type(row.symbols, tuple[str, ...])
assert_type([one.id for one in derive.equations(chapter="roofline")], list[str])
assert_type(derive.cite("roofline.kv_time", style="bibtex"), str)
assert_type(backsolve.solve("balance_batch", machine_balance_ratio=300, sparsity=8), derive.Solution)
assert_type(backsolve.__version__, str)

table = invert.infer("gemini-3.1-pro")
assert_type(table, invert.InferenceTable)
assert_type(backsolve.infer(), invert.InferenceTable)
assert_type(table[0], invert.Inference)
assert_type(table[0].full, str)
assert_type([one.full for one in table], list[str])
assert_type(table["google/gemini-3.1-pro-preview"].kv_bytes["typical"], invert.Estimate)
assert_type(table[0].kv_bytes["typical"].median, float | None)
assert_type(invert.infer(assumptions=invert.Assumptions(level=0.5)).assumptions, invert.Assumptions)
invert.infer(["gemini-3.1-pro"], prices=BytesIO(b"provider,model,component,amount"), anchors={"kv_bytes_per_token": "70kB"})
assert_type(invert.load().own[0].amount, float)
assert_type(invert.forward({"active_params": 1e11}, (1e5, 4e5)), Forward)
"""

SLIPS = {
    "no such function": ('derive.slove("batch")', "attr-defined"),
    "no such field": ('derive.solve("batch").answer', "attr-defined"),
    "a value of the wrong kind": ('derive.solve("batch", chips=None)', "arg-type"),
    "a value that may be missing": ('derive.solve("batch").answers[0].value + 1.0', "operator"),
    "no such keyword": ('invert.infer(modle="x")', "call-arg"),
    "text that is not a text": ("derive.cite(5)", "arg-type"),
}


PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "from-python.md"


def taught() -> str:
    """The examples of the page on Python as one script, and the calls that its prose names."""
    page = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`print\((?:one|table)[.\w]*\)`", page)
    assert len(named) == 3
    return "".join(one.source for one in doctest.DocTestParser().get_examples(page)) + "\n".join(one.strip("`") for one in named) + "\n"


WITH_SYMPY = """
[mypy]
[mypy-sympy.*]
follow_untyped_imports = True
"""
"""What the page on Python tells users to put into their settings: SymPy has types, but does not say so."""
FRAME = "pandas.core.frame.DataFrame" if [one for one in metadata.distributions() if one.name == "pandas-stubs"] else "Any"
"""pandas ships its types apart, in the extra `test`."""
REVEALED = {  # what is asked for, its type with these settings, and without
    'derive.solve("batch").answers[0].expr': ("sympy.core.basic.Basic | None", "Any | None"),
    "derive.symbols.batch": ("sympy.core.symbol.Symbol", "Any"),
    'derive.equation("roofline.kv_time").expression': ("sympy.core.relational.Relational", "Any"),
    'derive.equation("roofline.kv_time").subs(batch=3)': ("sympy.core.relational.Relational", "Any"),
    "invert.infer().to_frame()": (FRAME, FRAME),
    'derive.solve("batch").value': ("float", "float"),
}
ASKED = "\n".join(["import derive, invert", *(f"reveal_type({asked})" for asked in REVEALED), ""])


@pytest.mark.slow
def test_what_a_type_checker_reveals_of_other_libraries(tmp_path: Path, errors: dict[str, list[str]]) -> None:
    """No more than these say of themselves: nothing of ours hides it."""
    (tmp_path / "revealed.py").write_text(ASKED)
    (tmp_path / "mypy.ini").write_text(WITH_SYMPY)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "mypy.ini", "--cache-dir", "cache", "revealed.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300)
    for said, place in ((done.stdout.splitlines(), 0), (errors["revealed.py"], 1)):
        found = [one[1] for line in said if (one := re.search(r'Revealed type is "(.*)"', line))]
        assert dict(zip(REVEALED, found, strict=True)) == {asked: types[place] for asked, types in REVEALED.items()}, said


def test_the_page_on_python_has_these_settings() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert WITH_SYMPY.strip().removeprefix("[mypy]\n") in page and "pandas-stubs" in page


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What mypy, as strict as it can be, says of scripts that stand outside the project, in one run."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "script.py").write_text(SCRIPT)
    (folder / "taught.py").write_text(taught())
    (folder / "slips.py").write_text("\n".join(["import backsolve, derive, invert", *(slip for slip, _ in SLIPS.values()), ""]))
    (folder / "revealed.py").write_text(ASKED)
    scripts = ["script.py", "taught.py", "slips.py", "revealed.py"]
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", "cache", *scripts]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)
    assert not done.stderr
    lines = done.stdout.splitlines()
    return {name: [line for line in lines if line.startswith(name)] for name in scripts}


@pytest.mark.slow
def test_every_public_name_has_its_type(errors: dict[str, list[str]]) -> None:
    assert errors["script.py"] == []


@pytest.mark.slow
def test_what_the_page_on_python_teaches_is_of_the_types_it_says(errors: dict[str, list[str]]) -> None:
    assert errors["taught.py"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_found(name: str, errors: dict[str, list[str]]) -> None:
    place = f"slips.py:{2 + [*SLIPS].index(name)}: error:"
    assert [line for line in errors["slips.py"] if line.startswith(place) and f"[{SLIPS[name][1]}]" in line], errors["slips.py"]
