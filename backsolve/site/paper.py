"""Write the book for paper: the catalogue as one LaTeX document, or as a PDF if a TeX engine is installed."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backsolve.site.lookups import claims_found, quantities_in_order, said_in_order, video_at, video_of
from derive.catalogue import CHAPTERS, by_id, chapter_text, equations
from derive.errors import NotCovered, WrongValue, shorten
from derive.files import write
from derive.records import Equation, Source
from derive.requirements import in_words_of_names
from derive.show.citation import latex_text
from derive.show.entry import worked_example
from derive.show.narration import derivation_in_latex

_ENDINGS = (".tex", ".pdf")
ENGINES = ("lualatex", "xelatex", "pdflatex")
_RUNS = 3
"""The first run finds the headings for the table of contents, and the later ones the page numbers after it."""
PREAMBLE = r"""\documentclass[10pt]{report}
\usepackage[a4paper,margin=22mm]{geometry}
\usepackage{amsmath,amssymb}
\usepackage[hidelinks]{hyperref}
\hypersetup{pdftitle={The equations of LLM serving},pdfauthor={The backsolve maintainers}}
\makeatletter
\renewcommand*\l@section{\@dottedtocline{1}{1.5em}{3.2em}}
\makeatother
\allowdisplaybreaks
\sloppy
\title{The equations of LLM serving}
\author{The backsolve maintainers}
\date{}
\begin{document}
\maketitle
\tableofcontents"""


def write_book(out: str) -> None:
    """Write the book as LaTeX or as PDF, by the ending of the name. Raise NotCovered for a PDF if no TeX engine is installed."""
    if not out.lower().endswith(_ENDINGS):
        raise WrongValue(f"--out {shorten(out)}: the book is written to a file that ends in {' or '.join(_ENDINGS)}")
    text = book_in_latex()
    write(out, _typeset_pdf(text) if out.lower().endswith(".pdf") else text)


def book_in_latex() -> str:
    """Return the whole catalogue in LaTeX, with a section for each equation, and then the indexes by time, quantity and claim."""
    chapters = (part for chapter in CHAPTERS for part in _chapter(chapter))
    return (
        "\n\n".join([PREAMBLE, *chapters, r"\appendix", *time_chapter(), *quantity_chapter(), *claim_chapter(), r"\end{document}"]) + "\n"
    )


def _chapter(chapter: str) -> Iterator[str]:
    title, about = chapter_text(chapter)
    yield rf"\chapter{{{latex_text(title)}}}"
    yield latex_text(about)
    for row in equations(chapter):
        yield "\n\n".join(section_in_latex(row))


def section_in_latex(row: Equation) -> Iterator[str]:
    """Yield the parts of the section of an equation: its derivation, its assumptions, its example and its sources."""
    yield rf"\section{{{latex_text(row.title)}}}\label{{{row.id}}}"
    yield rf"\texttt{{{latex_text(row.reference)}}}, {row.described}. {latex_text(row.statement)}"
    yield derivation_in_latex(row)
    for head, texts in {
        "Requires": [latex_text(in_words_of_names(one)) for one in row.requires],
        "Takes for granted": [*map(latex_text, row.assumptions)],
        "Example": [latex_text(worked_example(row))] if row.example else [],
        "Sources": [*map(_source, row.sources)],
    }.items():
        if texts:
            yield rf"\textit{{{head}:}} {'; '.join(texts)}."


def _source(source: Source) -> str:
    place = _linked(source.place, video_of(source))
    return f"{latex_text(f'{source.author}, {source.title} ({source.year})')}{f', {place}' if place else ''}: {latex_text(source.said)}"


def _linked(text: str, address: str) -> str:
    return rf"\href{{{latex_text(address)}}}{{{latex_text(text)}}}" if address else latex_text(text)


def time_chapter() -> Iterator[str]:
    """Yield the statements of the lecture in order, each with its second of the video and its equation."""
    yield r"\chapter{By time of the lecture}"
    for source, row in said_in_order():
        yield rf"\noindent {_linked(source.place, video_of(source))}: {latex_text(source.said)}. {_sections([row])}"


def quantity_chapter() -> Iterator[str]:
    """Yield every quantity with its meaning and the sections that define or use it."""
    yield r"\chapter{By quantity}"
    for row, defined, used in quantities_in_order():
        places = [f"{head} {_sections(found)}" for head, found in (("Defined in", defined), ("Also in", used)) if found]
        meaning = latex_text(f"{row.name} [{row.unit}]: {row.meaning}. ")
        yield rf"\noindent ${row.latex}$ {meaning}{' '.join(places)}"


def claim_chapter() -> Iterator[str]:
    """Yield the claims by verdict, each with the stated number and the result."""
    rows, _problems = claims_found()
    yield r"\chapter{By claim}"
    for verdict, count in Counter(row["verdict"] for row in rows).most_common():
        yield rf"\section*{{{latex_text(verdict.capitalize())} ({count})}}"
        yield from (rf"\noindent {_claim(row)}" for row in rows if row["verdict"] == verdict)


def _claim(row: Mapping[str, Any]) -> str:
    said = [f"said {row['said']} {row['unit']}".strip()] if row["said"] is not None else []
    found = [f"found {row['found']:.4g} {row['unit']}".strip()] if row["found"] is not None else []
    reason = [row["reason"]] if row["reason"] else []
    time = f"{_linked(row['time'], video_at(row['time']))} " if row["time"] else ""
    by = [by_id()[name] for name in row["by"].split("; ") if name in by_id()]
    return f"{time}{latex_text('; '.join([row['claim'], *said, *found, *reason]))}. {_sections(by)}".strip()


def _sections(rows: Iterable[Equation]) -> str:
    """Return the section numbers of equations as links."""
    found = ", ".join(rf"\ref{{{row.id}}}" for row in rows)
    return f"{found}." if found else ""


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
