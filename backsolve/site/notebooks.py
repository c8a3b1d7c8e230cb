"""Build a page for each notebook: its text, its code, and the outputs and figures that its file has."""

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from markupsafe import Markup

from backsolve.site.documents import Document, html_of, texts_root
from backsolve.site.writing import INDEX, Page

_SVG, _PLAIN = "image/svg+xml", "text/plain"
_TABLE, _LOOK = re.compile(r'<table border="1" class="dataframe">.*</table>', re.DOTALL), re.compile(r' (?:style|border)="[^"]*"')
"""A table of pandas, and its attributes of look."""
_WORDS = re.compile(r"<dc:description>([^<\"]*)</dc:description>")
"""The description of a figure in words."""
_DIGITS = re.compile(r"(\.\d\d)\d+")
"""Digits of coordinates after the second decimal place."""


def notebook_pages() -> Iterator[Page]:
    """Yield the list of the notebooks and their pages."""
    documents: dict[str, Document] = {}
    for file in sorted((texts_root() / "notebooks").glob("*.ipynb")):
        address, path, figures = f"notebooks/{file.stem}/{INDEX}", f"notebooks/{file.name}", dict[str, str]()
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        html = "".join(part for cell in cells for part in _parts(cell, path, address, figures))
        documents[address] = Document(path=path, html=Markup(html))
        yield Page(address, "notebook.html", {"document": documents[address]}, files=figures)
    yield Page(f"notebooks/{INDEX}", "notebooks.html", {"notebooks": documents})


def _parts(cell: dict[str, Any], path: str, address: str, figures: dict[str, str]) -> Iterator[str]:
    """Yield the text of a cell as HTML, or its code and outputs. Its figures are added to `figures`."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield html_of(source, path, address)
        return
    yield f'<pre><code class="language-python">{escape(source, quote=False)}</code></pre>\n'
    for output in cell["outputs"]:
        data = output.get("data", {})
        plain = "".join(data.get(_PLAIN, output.get("text", ())))
        if _SVG in data:
            name = f"figure-{len(figures) + 1}.svg"
            figures[name] = _DIGITS.sub(r"\1", "".join(data[_SVG]))
            words = _WORDS.search(figures[name])
            alt = words[1] if words else "Figure of the cell above"
            yield f'<figure><img src="{name}" alt="{alt}" loading="lazy"></figure>\n'
        elif table := _TABLE.search("".join(data.get("text/html", ()))):
            # pandas escapes every cell. The policy of the pages forbids attributes of style.
            yield f'<div class="scroll" role="region" aria-label="Table of the cell above">{_LOOK.sub("", table[0])}</div>\n'
        elif plain:
            yield f"<pre><code>{escape(plain, quote=False)}</code></pre>\n"
