"""The table for documents: every sheet and what is said below, and names out of a file that are no marks there."""

import re
from dataclasses import replace

import pytest

from invert.inference import infer
from invert.report.columns import WIDE_KEYS, column_of
from invert.report.document import FORMATS, document, footer, report_document
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


@pytest.mark.parametrize("style", FORMATS)
def test_every_sheet_has_a_row_and_what_is_said_of_all_a_paragraph(run: InferenceTable, style: str):
    said = document(run, style)
    body, _, below = said.partition("\n\n")
    assert [sum(one.sheet.model in line for line in body.splitlines()) for one in run] == [1] * len(run)
    assert len(below.splitlines()) == len(footer(run))
    assert below.count("<p>") == below.count("</p>") == (len(footer(run)) if style == "html" else 0)


def test_a_paragraph_is_escaped_too(run: InferenceTable):
    changed = replace(run, changes={"output_<b>_50%": "2"})
    assert "output_<b>_50% = 2" in footer(changed)[0]
    assert "output_&lt;b&gt;_50% = 2" in document(changed, "html")
    assert r"output\_\textless{}b\textgreater{}\_50\% = 2" in document(changed, "latex")
    assert r"output\_&lt;b>\_50% = 2" in document(changed, "markdown")


def test_no_name_of_a_file_is_a_link_or_a_tag_in_a_report(run: InferenceTable):
    """Also where it stands in a line, as of what to cite: of a bare address most readers make a link."""
    odd = named(run, "[a](https://x.example)<img src=x>www.x.example")
    said = report_document(full_parts(odd[0], odd), "markdown")
    assert "x.example" in said and not re.search(r"(?<!\\)://x|www\.x|(?<!\\)\[a|<img", said)


def test_cells_are_those_of_the_table(run: InferenceTable):
    (line,) = [line for line in document(run, "markdown").splitlines() if "| gemini-3.1-pro-preview " in line]
    one = run["google/gemini-3.1-pro-preview"]
    texts = [column_of(key).text(one).replace("<", "&lt;") for key in WIDE_KEYS]
    assert [cell.strip() for cell in line.strip("|").split("|")] == texts
    assert set(FORMATS) == {"markdown", "latex", "html"}


# -- the report of one ---------------------------------------------------------------------------------------------------


def test_a_report_has_headings_and_no_raw_text(run: InferenceTable):
    odd = named(run, "<b>a_b|c</b>")
    one = odd[0]
    assert report_document(full_parts(one, odd), "markdown").startswith(rf"# {one.sheet.provider} &lt;b>a_b\|c&lt;/b> (")
    assert "<b>" not in report_document(full_parts(one, odd), "html")
    assert r"\subsection*{Prices}" in report_document(full_parts(one, odd), "latex")


def test_long_cells_are_broken_on_paper(run: InferenceTable):
    widths = re.findall(r"\\begin{tabular}{(.*)}", report_document(full_parts(run["google/gemini-3.1-pro-preview"], run), "latex"))
    shares = [[float(one) for one in re.findall(r"p{([.0-9]+)", found)] for found in widths]
    assert any(shares) and all(sum(of_table) <= 1 for of_table in shares) and "llll" in widths


@in_one_test("style", [*FORMATS])
def test_a_few_columns_come_with_their_flags(style: str):
    found = infer(["gpt-6-astra", "glm-5.1", "claude-fable-5-2"])
    said = document(found, style, ["model", "active", "KV from premium", "cache"]).replace("\\", "")
    for flag in ("size extrapolated", "priced in CNY", "release not known"):
        assert said.count(flag) == (2 if flag == "size extrapolated" else 1), flag
