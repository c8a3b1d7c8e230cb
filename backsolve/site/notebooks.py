"""Build a page for each notebook: its text, its code, and the outputs and figures that its file has."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from backsolve.site.documents import document_of, texts_root
from backsolve.site.writing import INDEX, Entry, Page
from derive.immutable import immutable

NOTEBOOKS = f"notebooks/{INDEX}"
_SVG, _PLAIN = "image/svg+xml", "text/plain"
_TABLE, _LOOK = re.compile(r'<table border="1" class="dataframe">.*</table>', re.DOTALL), re.compile(r' (?:style|border)="[^"]*"')
"""A table of pandas, and its attributes of look."""


@immutable
class Part:
    """A part of a notebook: HTML of its text, code, printed text, or a figure with its file and its description."""

    kind: str
    text: str | Markup
    file: str = ""


def notebook_pages() -> Iterator[Page]:
    """Yield the list of the notebooks and their pages."""
    pages = [*map(_page, sorted((texts_root() / "notebooks").glob("*.ipynb")))]
    summary = "The lecture and the price sheets as notebooks, with their outputs and figures."
    yield Page(
        address=NOTEBOOKS,
        template="notebooks.html",
        title="Notebooks",
        summary=summary,
        context={"notebooks": pages},
        entries=(Entry(title="Notebooks", kind="notebook", address=NOTEBOOKS, summary=summary, words=""),),
    )
    yield from pages


def _page(file: Path) -> Page:
    address = f"notebooks/{file.stem}/{INDEX}"
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    files: dict[str, str] = {}
    parts = [part for cell in cells for part in _parts(cell, address, files)]
    first = document_of("".join(cells[0]["source"]), address)
    summary = first.sections[0].text
    return Page(
        address=address,
        template="notebook.html",
        title=first.title,
        summary=summary,
        context={"parts": parts, "name": file.name},
        entries=(Entry(title=first.title, kind="notebook", address=address, summary=summary, words=file.stem),),
        files=files,
    )


def _parts(cell: dict[str, Any], address: str, files: dict[str, str]) -> Iterator[Part]:
    """Yield the text of a cell, or its code and outputs. Figures go to `files`."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield Part(kind="text", text=document_of(source, "notebooks/README.md", address).html)
        return
    yield Part(kind="code", text=source)
    for output in cell["outputs"]:
        data = output.get("data", {})
        plain = "".join(data.get(_PLAIN, output.get("text", ())))
        if _SVG in data:
            name = f"figure-{len(files) + 1}.svg"
            files[name] = "".join(data[_SVG])
            yield Part(kind="figure", text="" if plain.startswith("<") else plain, file=name)
        elif table := _TABLE.search("".join(data.get("text/html", ()))):
            # pandas escapes every cell. The policy of the pages forbids attributes of style.
            yield Part(kind="table", text=Markup(_LOOK.sub("", table[0])))
        elif plain:
            yield Part(kind="output", text=plain)
