"""The book on paper: every equation with what it takes for granted, in LaTeX that TeX sets."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from backsolve.site import paper
from backsolve.site.lookups import claims_found, said_in_order
from backsolve.site.paper import book_in_latex, write_book
from backsolve.site.writing import templates
from derive.catalogue import CHAPTERS, by_id, equation
from derive.errors import NotCovered, WrongValue
from derive.quantities import QUANTITIES
from derive.show.citation import latex_text


@cache
def two_chapters() -> str:
    """The book with two of its chapters, and with all of its tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(templates().globals, "CHAPTERS", ("batching", "roofline"))
        return book_in_latex()


ENGINE = next((name for name in paper.ENGINES if paper.shutil.which(name)), None)


def test_a_section_has_formula_derivation_example_and_sources():
    row = equation("batching.balance_batch")
    text = next(part for part in two_chapters().split(r"\section{") if r"\label{batching.balance_batch}" in part)
    assert r"\label{batching.balance_batch}" in text and r"\frac{" in text and text.count(r"\item") == len(row.steps)
    assert all(latex_text(said) in text for said in (row.title, row.statement, *row.assumptions, row.sources[0].said, "= 1714"))
    plain = re.sub(r"\\.", "", rf"\section{{{text}")
    assert plain.count("{") == plain.count("}")


@pytest.mark.parametrize("name", ["b.docx", "b", "b.tex.gz"])
def test_other_endings_are_refused_before_anything_is_done(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(paper, "book_in_latex")
    with pytest.raises(WrongValue, match=r"ends in \.tex or \.pdf"):
        write_book(str(tmp_path / name))
    assert not list(tmp_path.iterdir())


def test_times_quantities_and_claims_lead_to_the_sections_of_equations():
    times, quantities, claims = two_chapters().split(r"\chapter{")[-3:]
    assert times.count("\\noindent") == times.count(r"\href{https://youtu.be/") == len(said_in_order())
    assert quantities.count("\\noindent") == len(QUANTITIES) and claims.count("\\noindent") == len(claims_found()[0])
    assert all(f"section*{{{verdict}" in claims for verdict in ("Reproduced", "Loose", "Contradicted by data"))
    for text in (times, quantities, claims):
        assert r"\ref{roofline.latency_floor}" in text and set(re.findall(r"\\ref\{(.+?)\}", text)) <= set(by_id())


def test_without_a_tex_engine_a_pdf_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(paper, "book_in_latex", lambda: "a book")
    monkeypatch.setattr(paper, "ENGINES", ("no-such-engine",))
    with pytest.raises(NotCovered, match=r"no-such-engine.*ends with \.tex"):
        write_book(str(tmp_path / "book.pdf"))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(ENGINE is None, reason="no TeX engine is here")
def test_what_tex_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(paper, "book_in_latex", lambda: r"\documentclass{article}\begin{document}\nothing")
    with pytest.raises(NotCovered, match="Undefined control sequence"):
        write_book(str(tmp_path / "book.pdf"))


@pytest.mark.slow
@pytest.mark.skipif(ENGINE is None, reason="no TeX engine is here")
def test_tex_sets_the_whole_book(tmp_path: Path):
    text = book_in_latex()
    assert re.findall(r"\\label\{(.+?)\}", text) == [*by_id()] and text.count(r"\chapter{") == len(CHAPTERS) + 3
    write_book(str(tmp_path / "book.pdf"))
    assert (tmp_path / "book.pdf").read_bytes().startswith(b"%PDF") and [file.name for file in tmp_path.iterdir()] == ["book.pdf"]
    if reader := paper.shutil.which("pdftotext"):
        done = subprocess.run([reader, "-layout", tmp_path / "book.pdf", "-"], capture_output=True, text=True, check=True)
        sheets = done.stdout.split("\f")
        (said,) = re.findall(r"^C +By claim +(\d+)$", done.stdout, re.MULTILINE)
        (found,) = (sheet.split()[-1] for sheet in sheets if sheet.split()[:4] == ["Appendix", "C", "By", "claim"])
        assert said == found
