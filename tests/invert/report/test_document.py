"""The table for documents: every sheet and what is said below, and names out of a file that are no marks there."""

import re
from dataclasses import replace

import pytest

from invert.report.columns import WIDE_KEYS
from invert.report.document import document, report_document
from invert.report.sheet import full_parts
from invert.result import InferenceTable
from tests.tools.together import in_one_test


def named(run: InferenceTable, name: str) -> InferenceTable:
    """The run with its first sheet under another name."""
    first, *others = run.inferences
    return replace(run, inferences=(replace(first, sheet=replace(first.sheet, model=name)), *others))


@in_one_test(
    ("name", "shown"),
    [
        ("[x](javascript:alert(1))", r"\[x](javascript:alert(1))"),
        ("a`b`c", r"a\`b\`c"),
        ("*b* _c_ __d__ e_f ~~g~~", r"\*b\* \_c\_ \_\_d\_\_ e_f \~\~g\~\~"),
        ("a&lt;b|$c$", r"a\&lt;b\|\$c\$"),
        ("<b>", "&lt;b>"),
    ],
)
def test_a_name_is_no_mark_in_markdown(run: InferenceTable, name: str, shown: str):
    said = document(named(run, name), "markdown")
    assert f"| {shown} " in said
    assert {line.replace(r"\|", "").count("|") for line in said.splitlines() if line.startswith("|")} == {len(WIDE_KEYS) + 1}


@pytest.mark.parametrize(
    ("style", "raw", "escaped"),
    [
        ("html", ("<script>", "b&_"), "a|b&amp;_%#&lt;script&gt;"),
        ("latex", ("b&_", "_%#"), r"a|b\&\_\%\#"),
        ("markdown", ("a|b", "<script>"), r"a\|b"),
    ],
)
def test_a_name_is_escaped_for_its_document(run: InferenceTable, style: str, raw: tuple[str, ...], escaped: str):
    said = document(named(run, "a|b&_%#<script>"), style)
    assert escaped in said
    assert [text for text in raw if text in said] == []


def test_no_name_of_a_file_is_a_link_or_a_tag_in_a_report(run: InferenceTable):
    """Also where it stands in a line, as of what to cite: of a bare address most readers make a link."""
    odd = named(run, "[a](https://x.example)<img src=x>www.x.example")
    said = report_document(full_parts(odd[0], odd), "markdown")
    assert "x.example" in said and not re.search(r"(?<!\\)://x|www\.x|(?<!\\)\[a|<img", said)


def test_long_cells_are_broken_on_paper(run: InferenceTable):
    widths = re.findall(r"\\begin{tabular}{(.*)}", report_document(full_parts(run["google/gemini-3.1-pro-preview"], run), "latex"))
    shares = [[float(one) for one in re.findall(r"p{([.0-9]+)", found)] for found in widths]
    assert any(shares) and all(sum(of_table) <= 1 for of_table in shares) and "llll" in widths
