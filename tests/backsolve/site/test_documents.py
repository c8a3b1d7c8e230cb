"""The documentation as pages: all of it, with its links and formulas, and nothing of what it holds taken for HTML."""

import tomllib
from pathlib import Path

import pytest

from backsolve.site import documents
from backsolve.site.documents import _BESIDE, Document, anchor_of, document_address, document_pages, document_paths, html_of, texts_root
from derive.errors import WrongData
from tests.tools.html import parts_of

HERE = "docs/how-to/cite.md"
HTML = (
    *("<script>alert(1)</script>", "<img src=x onerror=a>", "`<b>`", "```\n<b>\n```", "```<b>\n```", "# <i>", "| <b> |\n|---|"),
    *("[<b>](https://example.org)", "<https://example.org/<b>>", "![<b>](x.png)", "[a]: <b>\n[a]"),
)


def test_the_wheel_brings_every_document():
    with Path(__file__).parents[3].joinpath("pyproject.toml").open("rb") as file:
        packed = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert packed == {path: f"backsolve/site/texts/{path}" for path in (*_BESIDE, "docs", "notebooks")}


def test_every_document_has_a_page():
    root = texts_root()
    files = {file.relative_to(root).as_posix() for file in (root / "docs").rglob("*.md")}
    assert files - set(document_paths()) == {"docs/reference/catalogue.md"}
    assert {document_address(path) for path in document_paths()} < {page.address for page in document_pages()}


@pytest.mark.parametrize(
    ("link", "href"),
    [
        ("size-a-deployment.md#pictures", "../size-a-deployment/index.html#pictures"),
        ("../reference/catalogue.md#roofline.step_time", "../../../eq/roofline.step_time/index.html"),
        ("../reference/catalogue.md#batch", "../../../book/by-quantity/index.html#batch"),
        ("../reference/catalogue.md#roofline", "../../../book/roofline/index.html"),
        ("../reference/schema/solve.schema.json", "../../reference/schema/solve.schema.json"),
        ("../../README.md", "../../readme/index.html"),
        ("../../pricing_data/README.md#add-a-price", "../../pricing-data/readme/index.html#add-a-price"),
        ("https://example.org/a", "https://example.org/a"),
    ],
)
def test_a_link_leads_to_the_page_of_what_it_names(link: str, href: str):
    assert parts_of(html_of(f"[a]({link})", HERE)).links == [href]


@pytest.mark.parametrize("text", HTML)
def test_html_in_a_document_is_text(text: str):
    assert not {"script", "img", "b", "i"} & set(parts_of(html_of(text, HERE)).tags)


def test_headings_can_be_linked_to_and_are_found():
    text = "# Title\n\nfirst\nline\n\n## What `it` does, twice\n\n- second\n\n## What `it` does, twice\n"
    document = Document(path=HERE, html=html_of(text, HERE))
    assert [(one.title, one.anchor, one.text) for one in document.sections] == [
        ("Title", "title", "first line"),
        ("What it does, twice", anchor_of("What `it` does, twice"), "second"),
        ("What it does, twice", "what-it-does-twice-1", ""),
    ]
    assert document.title == "Title" and Document(path="README.md", html=html_of("a", "README.md")).title == "README.md"


def test_the_parts_are_in_the_order_of_the_start_page():
    found = [path for path in document_paths() if path.startswith("docs/how-to/")]
    assert found[:2] == ["docs/how-to/size-a-deployment.md", "docs/how-to/solve-backwards.md"] and len({*found}) == len(found)


def test_where_the_documentation_is_missing_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(documents, "HERE", tmp_path / "backsolve" / "site")
    with pytest.raises(WrongData, match="documentation was not installed"):
        texts_root()
