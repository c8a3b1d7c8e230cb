"""Turn the documentation of the repository into pages: Markdown into HTML, links into links of the site, formulas into MathML."""

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from textwrap import shorten

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.anchors import anchors_plugin

from backsolve.site.equations import equation_address
from backsolve.site.writing import HERE, INDEX, Entry, Page, relative_to
from derive.catalogue import CHAPTERS, by_id
from derive.errors import WrongData
from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.show.mathml import latex_in_mathml, math

_PARTS = {"tutorials": "Tutorials", "how-to": "How to", "reference": "Reference", "explanation": "Explanation"}
"""The folders of docs with their titles."""
_BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pricing_data/README.md")
"""Documents of the repository outside of docs."""
START = "docs/README.md"
_CATALOGUE = "docs/reference/catalogue.md"
"""It has no page of its own, because the book and the pages of the equations have all of its content."""
SCHEMAS = "docs/reference/schema"
_HEADINGS_WITH_ANCHOR = 4
_SUMMARY = 200
"""Most characters of a summary."""


@immutable
class Section:
    """A heading of a document with the plain text up to the next heading."""

    level: int
    title: str
    anchor: str
    text: str


@immutable
class Document:
    """The title, the HTML and the sections of a Markdown file."""

    path: str
    title: str
    html: Markup
    sections: tuple[Section, ...]

    @property
    def part(self) -> str:
        """Return the folder of docs that contains the document, or "" for a document outside of them."""
        folders = self.path.split("/")
        return folders[1] if len(folders) > 2 and folders[1] in _PARTS else ""

    @property
    def summary(self) -> str:
        """Return the beginning of the first text."""
        first = next((one.text for one in self.sections if one.text), "")
        return shorten(first, _SUMMARY, placeholder=" …")


def texts_root() -> Path:
    """Return the folder of README.md and docs: the checkout of this package, or else the copy in the wheel."""
    checkout = HERE.parents[1]
    found = next((root for root in (checkout, HERE / "texts") if (root / START).is_file()), None)
    if found is None:
        raise WrongData("the documentation was not installed with backsolve: install the wheel or work in a checkout")
    return found


def document_pages() -> Iterator[Page]:
    """Yield the pages of all documents, the start page first, and the list of JSON Schemas."""
    listed = "".join(f"- [{name}]({name})\n" for name in (path.rpartition("/")[2] for path in files() if path.endswith(".json")))
    schema_list = document_of(f"# JSON Schemas\n\nThe form of every output of `--as json`.\n\n{listed}", f"{SCHEMAS}/README.md")
    documents = {path: read_document(path) for path in document_paths()} | {schema_list.path: schema_list}
    ordered = {part: named_documents(part, documents) for part in _PARTS}
    for document in documents.values():
        yield Page(
            address=document_address(document.path),
            template="document.html",
            title=document.title,
            summary=document.summary,
            context={"document": document, "parts": _PARTS, "ordered": ordered, "address_of": document_address},
            parts=tuple(_entries(document)),
        )


@cache
def files() -> dict[str, bytes]:
    """Return the pictures and the JSON Schemas of the documentation by path. The schemas have no white space."""
    root = texts_root()
    folders = (("docs", "**/*.svg"), ("docs", "**/*.png"), (SCHEMAS, "*.json"))
    found = (file for folder, pattern in folders for file in sorted((root / folder).glob(pattern)))
    return {file.relative_to(root).as_posix(): _compact(file) for file in found}


def _compact(file: Path) -> bytes:
    whole = file.read_bytes()
    return json.dumps(json.loads(whole), separators=(",", ":")).encode() if file.suffix == ".json" else whole


def document_paths() -> list[str]:
    """Return the paths of all documents from the root of the repository."""
    root = texts_root()
    inside = (file.relative_to(root).as_posix() for folder in _PARTS for file in sorted((root / "docs" / folder).glob("*.md")))
    return [START, *(path for path in inside if path != _CATALOGUE), *(path for path in _BESIDE if (root / path).is_file())]


def document_address(path: str) -> str:
    """Return the address of the page of a document.

    >>> document_address("docs/how-to/cite.md"), document_address("docs/README.md"), document_address("CONTRIBUTING.md")
    ('docs/how-to/cite/index.html', 'docs/index.html', 'docs/contributing/index.html')
    """
    name = path.removesuffix(".md")
    return f"{name.removesuffix('/README') if path.startswith('docs/') else f'docs/{name.lower()}'.replace('_', '-')}/{INDEX}"


def named_documents(part: str, documents: Mapping[str, Document]) -> list[Document]:
    """Return the documents of a part in the order of the start page of the documentation, then the documents that it does not name."""
    named = re.findall(r"\]\(([\w/-]+\.md)", (texts_root() / START).read_text(encoding="utf-8"))
    found = [document for document in documents.values() if document.part == part]
    place = {f"docs/{name}": number for number, name in enumerate(named)}
    return sorted(found, key=lambda one: place.get(one.path, len(place)))


@cache
def read_document(path: str) -> Document:
    """Return the document of the repository at a path."""
    return document_of((texts_root() / path).read_text(encoding="utf-8"), path)


def document_of(text: str, path: str, address: str = "") -> Document:
    """Return Markdown as a document at a path of the repository, for its own page or the page at `address`. HTML in it is plain text.

    >>> print(document_of("# A\\n\\n<b> and $`t_c`$", "docs/README.md").html)
    <h1 id="a">A</h1>
    <p>&lt;b&gt; and <math><msub><mi>t</mi><mi>c</mi></msub></math></p>
    <BLANKLINE>
    """
    return document_of_tokens(parsed(text), path, address)


def parsed(text: str) -> list[Token]:
    """Return Markdown as tokens."""
    tokens: list[Token] = _reader().parse(text)
    return tokens


def document_of_tokens(tokens: Sequence[Token], path: str, address: str = "") -> Document:
    """Return tokens of Markdown as a document, with links into the site and formulas in MathML."""
    _with_links(tokens, path, relative_to(address or document_address(path)))
    _with_formulas(tokens)
    sections = tuple(_sections(tokens))
    title = next((one.title for one in sections if one.level == 1), path)
    return Document(path=path, title=title, html=Markup(_reader().renderer.render(tokens, _reader().options, {})), sections=sections)


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


def _with_links(tokens: Sequence[Token], path: str, link: Callable[[str], str]) -> None:
    """Turn links to other files into links to their pages. A link to a file without a page becomes text that names the file."""
    for token in tokens:
        opened: list[bool] = []
        for inner in token.children or ():
            if inner.type == "link_open":
                found = _target(str(inner.attrs["href"]), path)
                opened.append(found is not None)
                if found is None:
                    inner.tag, inner.attrs = "span", {"class": "file", "title": f"a file of the repository: {inner.attrs['href']}"}
                elif not is_elsewhere(found):
                    inner.attrs["href"] = found if found.startswith("#") else link(found)
            elif inner.type == "link_close" and not opened.pop():
                inner.tag = "span"
            elif inner.type == "image":
                _with_picture(inner, path, link)


def _with_picture(image: Token, path: str, link: Callable[[str], str]) -> None:
    """Point a picture at its copy in the site. A picture outside of docs becomes its alternative text."""
    file = posixpath.normpath(posixpath.join(posixpath.dirname(path), str(image.attrs["src"])))
    if file in files():
        image.attrs["src"] = link(file)
    else:
        image.type = "text"


def is_elsewhere(target: str) -> bool:
    """Return whether a link leads out of the site."""
    return target.startswith(("https://", "http://", "mailto:"))


def _target(href: str, path: str) -> str | None:
    """Return the target of a link of a document as an address from the root of the site, or None if the site has no such page."""
    if is_elsewhere(href) or href.startswith("#"):
        return href
    file, _, anchor = href.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if file == _CATALOGUE:
        return _book_address(anchor)
    if file in (SCHEMAS, "docs"):
        return document_address(f"{file}/README.md")
    if file.startswith(f"{SCHEMAS}/"):
        return file
    return document_address(file) + (f"#{anchor}" if anchor else "") if file in document_paths() else None


def _book_address(anchor: str) -> str:
    """Return the address in the book for an anchor of the catalogue's document."""
    if anchor in by_id():
        return equation_address(anchor)
    if anchor in QUANTITIES:
        return f"book/by-quantity/{INDEX}#{anchor}"
    return f"book/{anchor}/{INDEX}" if anchor in CHAPTERS else f"book/{INDEX}"


def _with_formulas(tokens: Sequence[Token]) -> None:
    """Turn fenced formulas, and those between $` and `$, into MathML."""
    for token in tokens:
        if token.type == "fence" and token.info.strip() == "math":
            token.type, token.content = "html_block", f'<div class="formula">{math(latex_in_mathml(token.content), display=True)}</div>\n'
        children = token.children or []
        for before, code, after in zip(children, children[1:], children[2:], strict=False):
            if code.type == "code_inline" and before.content.endswith("$") and after.content.startswith("$"):
                before.content, after.content = before.content[:-1], after.content[1:]
                code.type, code.content = "html_inline", math(latex_in_mathml(code.content))


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    starts = [place for place, token in enumerate(tokens) if token.type == "heading_open"]
    for start, end in pairwise([*starts, len(tokens)]):
        yield Section(
            level=int(tokens[start].tag[1:]),
            title=_plain(tokens[start + 1]),
            anchor=str(tokens[start].attrs.get("id", "")),
            text=" ".join(_plain(token) for token in tokens[start + 3 : end] if token.content),
        )


def _plain(token: Token) -> str:
    """Return the text of a token without its markup."""
    if token.type == "html_block":
        return ""
    return "".join(" " if one.type == "softbreak" else one.content for one in token.children or [token] if one.type != "html_inline")


def _entries(document: Document) -> Iterator[Entry]:
    address = document_address(document.path)
    kind = _PARTS.get(document.part, "Repository").lower()
    for one in document.sections:
        title = document.title if one.level == 1 else f"{document.title}: {one.title}"
        yield Entry(
            title=title, kind=kind, address=address if one.level == 1 else f"{address}#{one.anchor}", summary=one.text, words=one.text
        )
