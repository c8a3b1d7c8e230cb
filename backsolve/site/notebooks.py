"""Build a page for each notebook: its text, its code, and the outputs and figures that its file has."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markdown_it.token import Token

from backsolve.site.documents import document_of_tokens, parsed, texts_root
from backsolve.site.writing import INDEX, Page

NOTEBOOKS = f"notebooks/{INDEX}"
_SVG, _PLAIN = "image/svg+xml", "text/plain"
_TABLE, _LOOK = re.compile(r'<table border="1" class="dataframe">.*</table>', re.DOTALL), re.compile(r' (?:style|border)="[^"]*"')
"""A table of pandas, and its attributes of look."""
_WORDS = re.compile(r"<dc:description>([^<\"]*)</dc:description>")
"""The description of a figure in words."""
_DIGITS = re.compile(r"(\.\d\d)\d+")
"""Digits of coordinates after the second decimal place."""


def notebook_pages() -> Iterator[Page]:
    """Yield the list of the notebooks and their pages."""
    pages = [*map(_page, sorted((texts_root() / "notebooks").glob("*.ipynb")))]
    yield Page(
        address=NOTEBOOKS,
        template="notebooks.html",
        title="Notebooks",
        summary="The lecture and the price sheets as notebooks, with their outputs and figures.",
        kind="notebook",
        context={"notebooks": pages},
    )
    yield from pages


def _page(file: Path) -> Page:
    address = f"notebooks/{file.stem}/{INDEX}"
    files: dict[str, str] = {}
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    found = document_of_tokens([token for cell in cells for token in _tokens(cell, files)], f"notebooks/{file.name}", address)
    return Page(
        address=address,
        template="notebook.html",
        title=found.title,
        summary=found.summary,
        kind="notebook",
        words=file.stem,
        context={"document": found},
        files=files,
    )


def _tokens(cell: dict[str, Any], files: dict[str, str]) -> Iterator[Token]:
    """Yield the text of a cell, or its code and outputs, as parts of one Markdown document. Figures go to `files`."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield from parsed(source)
        return
    yield Token("fence", "code", 0, content=source, info="python")
    for output in cell["outputs"]:
        data = output.get("data", {})
        plain = "".join(data.get(_PLAIN, output.get("text", ())))
        if _SVG in data:
            name = f"figure-{len(files) + 1}.svg"
            files[name] = _DIGITS.sub(r"\1", "".join(data[_SVG]))
            words = _WORDS.search(files[name])
            alt = words[1] if words else "Figure of the cell above"
            yield Token("html_block", "", 0, content=f'<figure><img src="{name}" alt="{alt}" loading="lazy"></figure>\n')
        elif table := _TABLE.search("".join(data.get("text/html", ()))):
            # pandas escapes every cell. The policy of the pages forbids attributes of style.
            named = '<div class="scroll" role="region" aria-label="Table of the cell above">'
            yield Token("html_block", "", 0, content=f"{named}{_LOOK.sub('', table[0])}</div>\n")
        elif plain:
            yield Token("fence", "code", 0, content=plain)
