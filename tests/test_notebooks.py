"""Every notebook runs, is paired with its script, holds no outputs, and types no figure into its prose."""

import re
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

import derive

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FORMATS = "ipynb,py:percent"
KERNEL = "python3"
CODE = re.compile(r"`([^`]+)`")
NOT_A_FIGURE = re.compile(r"`[^`]+`|[0-9]:[0-9]{2}:[0-9]{2}|^## [0-9]+\.|section [0-9]|DeepSeek-V3|H100s?|Gemini 3\.1 Pro", re.MULTILINE)
"""Ids, times in the video, section numbers and proper names: the digits that prose may hold."""

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def prose(path: Path) -> list[str]:
    return [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]


def test_there_are_notebooks_and_every_script_has_one():
    assert NOTEBOOKS
    assert {path.stem for path in NOTEBOOKS} == {path.stem for path in FOLDER.glob("*.py")}


@every_notebook
@pytest.mark.slow
def test_it_runs_to_the_end_in_a_folder_of_its_own(path: Path, tmp_path: Path):
    notebook = read(path)
    NotebookClient(notebook, timeout=120, kernel_name=KERNEL, resources={"metadata": {"path": str(tmp_path)}}).execute()
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    said = [output.text for cell in notebook.cells for output in cell.get("outputs", ()) if output.get("name") == "stderr"]
    assert not said, said
    assert not list(tmp_path.iterdir())
    assert any("image/svg+xml" in output.get("data", ()) for cell in notebook.cells for output in cell.get("outputs", ())), "no figure"


@every_notebook
def test_it_is_paired_with_its_script_and_equal_to_it(path: Path):
    notebook, script = read(path), jupytext.read(path.with_suffix(".py"), fmt="py:percent")
    for one in (notebook, script):
        assert one.metadata.jupytext.formats == FORMATS
        assert one.metadata.kernelspec.name == KERNEL
    cells, in_script = ([(cell.cell_type, cell.source) for cell in one.cells] for one in (notebook, script))
    assert cells == in_script, "run jupytext --sync on the script"


@every_notebook
def test_it_holds_no_outputs_and_no_counts(path: Path):
    notebook = read(path)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert not cell.metadata, "no trace of the editor"


@every_notebook
def test_its_prose_types_no_figure(path: Path):
    for text in prose(path):
        assert not re.findall(r".*[0-9].*", NOT_A_FIGURE.sub("", text))


@every_notebook
def test_every_section_names_equations_of_the_catalogue(path: Path):
    sections = re.split(r"^## ", "\n".join(prose(path)), flags=re.MULTILINE)[1:]
    ids = {row.id for row in derive.equations()}
    for section in sections:
        named = [name for name in CODE.findall(section) if "." in name]
        assert named and set(named) <= ids, section.splitlines()[0]
