"""Write the book for paper: the catalogue as one LaTeX document, or as a PDF if a TeX engine is installed."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backsolve.site.lookups import claims_found, quantities_in_order, said_in_order
from backsolve.site.writing import templates
from derive.catalogue import CHAPTERS, by_id
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
    rows, _problems = claims_found()
    verdicts = sorted({row["verdict"] for row in rows}, key=lambda verdict: -sum(row["verdict"] == verdict for row in rows))
    book: str = pages.get_template("book.tex").render(
        chapters=CHAPTERS,
        said=said_in_order(),
        quantities=quantities_in_order(),
        claims=[(verdict, [_claim(row) for row in rows if row["verdict"] == verdict]) for verdict in verdicts],
    )
    return book


def _claim(row: Mapping[str, Any]) -> tuple[Mapping[str, Any], str, list[Any]]:
    """Return a claim, its text with both numbers and the reason, and the equations that bear it."""
    said = [f"said {row['said']} {row['unit']}".strip()] if row["said"] is not None else []
    found = [f"found {row['found']:.4g} {row['unit']}".strip()] if row["found"] is not None else []
    reason = [row["reason"]] if row["reason"] else []
    return row, "; ".join([row["claim"], *said, *found, *reason]), [by_id()[name] for name in row["by"].split("; ") if name in by_id()]


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
