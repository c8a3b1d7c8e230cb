"""Every notebook runs, is equal to its script, has the outputs of a run, and types no figure into its prose.

    python tests/test_notebooks.py [NAME ...]

runs the notebooks and writes their outputs into them.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

import derive

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FORMATS = "ipynb,py:percent"
KERNEL = "python3"
KEPT = ("image/svg+xml", "text/plain", "text/html")
"""Kinds of outputs that a notebook has in the repository."""
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


def run(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of a run in a folder. Figures are SVG, other outputs plain text."""
    notebook = read(path)
    NotebookClient(notebook, timeout=300, kernel_name=KERNEL, record_timing=False, resources={"metadata": {"path": str(folder)}}).execute()
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if "data" in output:
            output["data"] = {kind: text for kind, text in output["data"].items() if kind in KEPT}
    del notebook.metadata["language_info"]
    return notebook


@every_notebook
@pytest.mark.slow
def test_it_runs_to_the_end_and_has_the_same_outputs(path: Path, tmp_path: Path):
    notebook = run(path, tmp_path)
    assert [cell.get("outputs") for cell in notebook.cells] == [cell.get("outputs") for cell in read(path).cells], "run this file"
    assert not [output for cell in notebook.cells for output in cell.get("outputs", ()) if output.get("name") == "stderr"]
    assert not list(tmp_path.iterdir())


@every_notebook
def test_it_is_paired_with_its_script_and_equal_to_it(path: Path):
    notebook, script = read(path), jupytext.read(path.with_suffix(".py"), fmt="py:percent")
    for one in (notebook, script):
        assert one.metadata.jupytext.formats == FORMATS
        assert one.metadata.kernelspec.name == KERNEL
    cells, in_script = ([(cell.cell_type, cell.source) for cell in one.cells] for one in (notebook, script))
    assert cells == in_script, "run jupytext --sync on the script"


@every_notebook
def test_it_has_the_outputs_and_figures_of_a_run(path: Path):
    notebook = read(path)
    nbformat.validate(notebook)
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in codes] == list(range(1, len(codes) + 1))
    assert any("image/svg+xml" in output.get("data", ()) for cell in codes for output in cell.outputs), "no figure"
    assert all(not cell.metadata for cell in notebook.cells), "no trace of the editor"


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


if __name__ == "__main__":
    for path in [path for path in NOTEBOOKS if path.stem in (sys.argv[1:] or path.stem)]:
        with TemporaryDirectory() as folder:
            nbformat.write(run(path, Path(folder)), path)
        print(path.name)
