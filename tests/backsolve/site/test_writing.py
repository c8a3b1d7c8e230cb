"""One page written: what a file holds is text in it, and links hold from everywhere."""

import json
from types import SimpleNamespace

import pytest
from jinja2 import UndefinedError

from backsolve.site.writing import Page, relative_to, script_json, write_page
from tests.tools.html import parts_of

HOSTILE = [
    *("<script>alert(1)</script>", '" onload="a', "'><img src=x>", "</title><b>", "&lt;i&gt;"),
    *("\x1b[31mred\x1b]0;t\x07", "{{ 7 * 7 }}", "[a](javascript:b)"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_file_holds_is_text(text: str):
    document = SimpleNamespace(title=text, summary=text, path=text, html="")
    page = Page("a/index.html", "notebook.html", {"document": document})
    html = write_page(page, "https://example.org/").html
    parts = parts_of(html)
    assert parts.faults == [] and parts.handlers == [] and parts.inline_scripts == []
    assert not {"img", "b", "i"} & set(parts.tags)
    assert text in parts.text and "49" not in parts.text
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in html and "unsafe" not in html


def test_a_template_that_lacks_something_is_a_mistake():
    with pytest.raises(UndefinedError):
        write_page(Page("a/index.html", "notebooks.html"))


@pytest.mark.parametrize(
    ("address", "target", "link"),
    [
        ("index.html", "book/index.html", "book/index.html"),
        ("a/b/index.html", "a/index.html#x", "../index.html#x"),
        ("a/index.html", "a/index.html", "index.html"),
    ],
)
def test_links_are_relative(address: str, target: str, link: str):
    assert relative_to(address)(target) == link


def test_data_for_scripts_ends_no_element_and_is_json():
    value = {"a": ["</script><!--<SCRIPT></Script ", "<mi>", "\u2028", 1.5, None]}
    written = script_json(value)
    assert json.loads(written) == value and "<mi>" in written
    assert not any(end in written.lower() for end in ("<script", "</script", "<!--"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))
