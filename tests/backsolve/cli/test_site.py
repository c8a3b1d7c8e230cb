"""`backsolve site`: what it says, what it refuses, and what it needs."""

import sys
from pathlib import Path

import pytest

from backsolve.cli.main import _EXTRAS
from backsolve.site import build
from backsolve.site.home import home_page
from derive.tables.lines import Problem
from tests.tools.commands import call, refused


@pytest.mark.slow
def test_it_says_how_much_it_wrote_and_where_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(build, "STAGES", {"pages": lambda: [home_page()]})
    done = call("site", "build", "--out", str(tmp_path / "site"))
    assert done.status == 0 and "1 pages" in done.out and "site/index.html" in done.out
    assert (tmp_path / "site" / "index.html").is_file()


@pytest.mark.slow
def test_problems_of_the_tables_are_named_and_the_status_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    problem = Problem(origin="prices.csv", row=7, column="notes", message="holds the control character \\x07")
    page = home_page()._replace(problems=(problem, problem))
    monkeypatch.setattr(build, "STAGES", {"pages": lambda: [page]})
    done = call("site", "build", "--out", str(tmp_path / "site"))
    assert done.status == 2 and done.err.count("prices.csv") == 1 and (tmp_path / "site" / "index.html").is_file()


def test_a_folder_of_somebody_else_is_refused_in_a_line(tmp_path: Path):
    (tmp_path / "mine").write_text("mine")
    assert "not made by" in refused("site", "build", "--out", str(tmp_path))


def test_a_blank_name_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert "--out is blank: name a folder" in refused("site", "build", "--out", "") and not any(tmp_path.iterdir())


def test_an_address_that_is_none_is_refused(tmp_path: Path):
    said = refused("site", "build", "--out", str(tmp_path / "site"), "--html-base", "example")
    assert "not the address of a site" in said and not (tmp_path / "site").exists()


@pytest.mark.parametrize("missing", [name for name, extra in _EXTRAS.items() if extra == "site"])
def test_where_the_extra_is_missing_its_name_is_said(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith(("backsolve.site", "backsolve.figures"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in [missing, *(name for name in sys.modules if name.startswith(f"{missing}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install 'backsolve[site]'" in refused("site", "build", "--out", str(tmp_path / "site"))


def test_the_book_is_written_where_it_is_asked_for(tmp_path: Path):
    done = call("site", "book", "--out", str(tmp_path / "book.tex"))
    assert (done.status, done.out, done.err) == (0, "", "") and (tmp_path / "book.tex").read_text().startswith("\\documentclass")
    assert refused("site", "book", "--out", str(tmp_path))
