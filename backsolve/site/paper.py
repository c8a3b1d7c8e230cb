"""The book on paper: the catalogue as one LaTeX document, and as PDF where a TeX engine is installed."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from derive.catalogue import CHAPTERS, chapter_text, equations
from derive.errors import NotCovered
from derive.files import write
from derive.records import Equation
from derive.requirements import in_words_of_names
from derive.show.citation import latex_text
from derive.show.entry import worked
from derive.show.narration import as_latex as derivation_in_latex

ENGINES = ("lualatex", "xelatex", "pdflatex")
RUNS = 2
"""The first one finds the pages that the contents name."""
PREAMBLE = r"""\documentclass[10pt]{report}
\usepackage[a4paper,margin=22mm]{geometry}
\usepackage{amsmath,amssymb}
\usepackage[hidelinks]{hyperref}
\allowdisplaybreaks
\sloppy
\title{The equations of LLM serving}
\author{The backsolve maintainers}
\date{}
\begin{document}
\maketitle
\tableofcontents"""


def write_book(out: str) -> None:
    """Write the book as LaTeX, or as PDF where the name ends so; `NotCovered` where that takes a TeX engine that is not there."""
    text = book_in_latex()
    write(out, _as_pdf(text) if out.endswith(".pdf") else text)


def book_in_latex() -> str:
    """The whole catalogue, a chapter a chapter and an equation a section."""
    return "\n\n".join([PREAMBLE, *(part for chapter in CHAPTERS for part in _chapter(chapter)), r"\end{document}"]) + "\n"


def _chapter(chapter: str) -> Iterator[str]:
    title, about = chapter_text(chapter)
    yield rf"\chapter{{{latex_text(title)}}}"
    yield latex_text(about)
    for row in equations(chapter):
        yield "\n\n".join(section_in_latex(row))


def section_in_latex(row: Equation) -> Iterator[str]:
    """An equation with its derivation, what it takes for granted, its example and its sources."""
    yield rf"\section{{{latex_text(row.title)}}}\label{{{row.id}}}"
    yield rf"\texttt{{{latex_text(row.reference)}}}, {row.described}. {latex_text(row.statement)}"
    yield derivation_in_latex(row)
    for head, texts in {
        "Requires": [*map(in_words_of_names, row.requires)],
        "Takes for granted": [*row.assumptions],
        "Example": [worked(row)] if row.example else [],
        "Sources": [_source(row, place) for place in range(len(row.sources))],
    }.items():
        if texts:
            yield rf"\textit{{{head}:}} {latex_text('; '.join(texts))}."


def _source(row: Equation, place: int) -> str:
    source = row.sources[place]
    where = f", {source.place}" if source.place else ""
    return f"{source.author}, {source.title} ({source.year}){where}: {source.said}"


def _as_pdf(text: str) -> bytes:
    engine = next((found for name in ENGINES if (found := shutil.which(name))), None)
    if engine is None:
        raise NotCovered(f"a PDF takes a TeX engine ({', '.join(ENGINES)}), and none is here; name a file that ends with .tex")
    with TemporaryDirectory() as folder:
        source = Path(folder, "book.tex")
        source.write_text(text, encoding="utf-8")
        for _ in range(RUNS):
            command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", source.name]
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
            if done.returncode:
                said = next((line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("!")), "no reason given")
                raise NotCovered(f"{engine} could not set the book ({said}); name a file that ends with .tex")
        return source.with_suffix(".pdf").read_bytes()
