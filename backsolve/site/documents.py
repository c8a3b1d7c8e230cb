"""Turn the documentation of the repository into pages: Markdown into HTML, links into links of the site, formulas into MathML."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from html import unescape
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.anchors import anchors_plugin

from backsolve.site.equations import equation_address
from backsolve.site.writing import HERE, INDEX, Page, relative_to
from derive.catalogue import CHAPTERS, by_id
from derive.errors import WrongData
from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.show.mathml import latex_in_mathml, math

_BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pricing_data/README.md")
"""Documents of the repository outside of docs."""
START = "docs/README.md"
_CATALOGUE = "docs/reference/catalogue.md"
"""A document without a page, because the book and the pages of the equations have all of its content."""
_SCHEMAS = "docs/reference/schema"
_HEADINGS_WITH_ANCHOR = 4
_SUMMARY = 200
"""Most characters of a summary."""
_LINK = re.compile(r'<a href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"[^>]*/>')
_FENCED_FORMULA = re.compile(r'<pre><code class="language-math">(.*?)</code></pre>', re.DOTALL)
_FORMULA = re.compile(r"\$<code>(.*?)</code>\$")
_SECTION = re.compile(r'<h(\d) id="(.*?)">(.*?)</h\1>(.*?)(?=<h\d id|\Z)', re.DOTALL)
"""What the HTML of Markdown consists of. Text in it is escaped, so it contains no tags."""


class Section(NamedTuple):
    """A heading of a document with the plain text up to the next heading."""

    level: int
    title: str
    anchor: str
    text: str


@immutable
class Document:
    """A file of the repository as HTML."""

    path: str
    html: Markup

    @cached_property
    def sections(self) -> list[Section]:
        """Return the sections of the document."""
        found = _SECTION.findall(self.html)
        return [Section(int(level), Markup(title).striptags(), anchor, Markup(text).striptags()) for level, anchor, title, text in found]

    @property
    def title(self) -> str:
        """Return the title of the document."""
        return next((one.title for one in self.sections if one.level == 1), self.path)

    @property
    def summary(self) -> str:
        """Return the beginning of the first text."""
        return shorten(next((one.text for one in self.sections if one.text), ""), _SUMMARY, placeholder=" …")


def texts_root() -> Path:
    """Return the folder of README.md and docs: the checkout of this package, or else the copy in the wheel."""
    checkout = HERE.parents[1]
    found = next((root for root in (checkout, HERE / "texts") if (root / START).is_file()), None)
    if found is None:
        raise WrongData("the documentation was not installed with backsolve: install the wheel or work in a checkout")
    return found


def document_pages() -> Iterator[Page]:
    """Yield the pages of all documents in the order of the start page, and the list of JSON Schemas."""
    listed = "".join(f"- [{Path(path).name}]({Path(path).name})\n" for path in files() if path.endswith(".json"))
    texts = {path: (texts_root() / path).read_text(encoding="utf-8") for path in document_paths()}
    texts[f"{_SCHEMAS}/README.md"] = f"# JSON Schemas\n\nThe form of every output of `--as json`.\n\n{listed}"
    documents = {document_address(path): Document(path=path, html=html_of(text, path)) for path, text in texts.items()}
    for address, document in documents.items():
        yield Page(address, "document.html", {"document": document, "documents": documents})


@cache
def files() -> dict[str, bytes]:
    """Return the pictures and the JSON Schemas of the documentation by path."""
    found = (file for pattern in ("*.svg", "*.png", "*.schema.json") for file in sorted((texts_root() / "docs").rglob(pattern)))
    return {file.relative_to(texts_root()).as_posix(): file.read_bytes() for file in found}


@cache
def document_paths() -> list[str]:
    """Return the paths of all documents from the root of the repository: first the documents on the start page, in its order."""
    root = texts_root()
    named = re.findall(r"\]\(([\w/-]+\.md)", (root / START).read_text(encoding="utf-8"))
    inside = (file.relative_to(root).as_posix() for file in sorted((root / "docs").rglob("*.md")))
    every = dict.fromkeys((START, *(f"docs/{name}" for name in named), *inside, *_BESIDE))
    return [path for path in every if path != _CATALOGUE and (root / path).is_file()]


def document_address(path: str) -> str:
    """Return the address of the page of a document.

    >>> document_address("docs/how-to/cite.md"), document_address("docs/README.md"), document_address("CONTRIBUTING.md")
    ('docs/how-to/cite/index.html', 'docs/index.html', 'docs/contributing/index.html')
    """
    name = path.removesuffix(".md")
    return f"{name.removesuffix('/README') if path.startswith('docs/') else f'docs/{name.lower()}'.replace('_', '-')}/{INDEX}"


def html_of(text: str, path: str, address: str = "") -> Markup:
    """Return Markdown at a path of the repository as HTML, for its own page or the page at `address`. HTML in it is plain text.

    Links lead into the site, and formulas are MathML. A link to a file without a page becomes text that names the file.

    >>> print(html_of("# A\\n\\n<b> and $`t_c`$", "docs/README.md"))
    <h1 id="a">A</h1>
    <p>&lt;b&gt; and <math><msub><mi>t</mi><mi>c</mi></msub></math></p>
    <BLANKLINE>
    """
    link = relative_to(address or document_address(path))

    def linked(found: re.Match[str]) -> str:
        target = _target(found[1], path)
        if target is None:
            return f'<span class="file" title="a file of the repository: {found[1]}">{found[2]}</span>'
        return f'<a href="{target if is_outside(target) else link(target)}">{found[2]}</a>'

    def shown(found: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1]))
        return f'<img src="{link(file)}" alt="{found[2]}">' if file in files() else found[2]

    html = _LINK.sub(linked, _IMAGE.sub(shown, _reader().render(text)))
    html = _FENCED_FORMULA.sub(lambda one: f'<div class="formula">{math(latex_in_mathml(unescape(one[1])), display=True)}</div>', html)
    return Markup(_FORMULA.sub(lambda one: math(latex_in_mathml(unescape(one[1]))), html))


@cache
def _reader() -> MarkdownIt:
    # Without html, no text of a document can become an element of the page.
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return reader.use(anchors_plugin, max_level=_HEADINGS_WITH_ANCHOR, slug_func=anchor_of)


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading, as the hosts of repositories build it.

    >>> anchor_of("What `infer` prints, by column")
    'what-infer-prints-by-column'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def is_outside(target: str) -> bool:
    """Return whether a link leads out of the site, or to a part of its own page."""
    return target.startswith(("https://", "http://", "mailto:", "#"))


def _target(href: str, path: str) -> str | None:
    """Return the target of a document's link as an address from the root of the site, or None if the site does not have the page."""
    if is_outside(href):
        return href
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), href))
    file, mark, anchor = place.partition("#")
    page = _addresses().get(file)
    return _addresses().get(place) or (f"{page}{mark}{anchor}" if page else None)


@cache
def _addresses() -> Mapping[str, str]:
    """Return the address of every file and folder of the repository that the site has, by its path. The book has the catalogue."""
    book = {"": f"book/{INDEX}", **{f"#{chapter}": f"book/{chapter}/{INDEX}" for chapter in (*CHAPTERS, "by-quantity")}}
    book |= {f"#{name}": f"book/by-quantity/{INDEX}#{name}" for name in QUANTITIES}
    book |= {f"#{id}": equation_address(id) for id in by_id()}
    catalogue = {f"{_CATALOGUE}{anchor}": address for anchor, address in book.items()}
    folders = {folder: document_address(f"{folder}/README.md") for folder in ("docs", _SCHEMAS)}
    return catalogue | folders | {path: document_address(path) for path in document_paths()} | {path: path for path in files()}
