"""Write the book for paper: the catalogue as one LaTeX document, or as a PDF if a TeX engine is installed."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from backsolve.site.writing import templates
from derive.errors import NotCovered, WrongValue, shorten
from derive.files import write

_ENDINGS = (".tex", ".pdf")
ENGINES = ("lualatex", "xelatex", "pdflatex")
_RUNS = 3
"""The first run finds the headings for the table of contents, and the later ones the page numbers after it."""


def write_book(out: str) -> None:
    """Write the book as LaTeX or as PDF, by the ending of the name. Raise NotCovered for a PDF if no TeX engine is installed."""
    if not out.lower().endswith(_ENDINGS):
        raise WrongValue(f"--out {shorten(out)}: the book is written to a file that ends in {' or '.join(_ENDINGS)}")
    text = book_in_latex()
    write(out, _typeset_pdf(text) if out.lower().endswith(".pdf") else text)


def book_in_latex() -> str:
    """Return the whole catalogue in LaTeX, with a section for each equation, and then the indexes by time, quantity and claim."""
    # The marks of Jinja would be marks of LaTeX.
    pages = templates().overlay(
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>", autoescape=False
    )
    book: str = pages.get_template("book.tex").render()
    return book


def _typeset_pdf(text: str) -> bytes:
    engine = next((found for name in ENGINES if (found := shutil.which(name))), None)
    if engine is None:
        raise NotCovered(f"a PDF needs a TeX engine ({', '.join(ENGINES)}), and none is installed. Name a file that ends with .tex")
    with TemporaryDirectory() as folder:
        source = Path(folder, "book.tex")
        source.write_text(text, encoding="utf-8")
        for _ in range(_RUNS):
            command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", source.name]
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
            if done.returncode:
                said = next((line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("!")), "no reason given")
                raise NotCovered(f"{engine} could not typeset the book ({said}). Name a file that ends with .tex")
        return source.with_suffix(".pdf").read_bytes()
