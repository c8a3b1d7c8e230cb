"""The default table: the three readings, the check and the better estimates of each flagship, with how often each was right."""

import io
import re
from dataclasses import replace
from functools import cache

import pytest

from derive.show.layout import width_of
from derive.tables.shipped import read
from invert.data import read_data
from invert.estimators.known import judged
from invert.inference import run_of
from invert.report.columns import SHORT_KEYS, WIDE_KEYS, column_of
from invert.report.sheet import full_parts
from invert.report.table import document, glance, report_document
from invert.result import InferenceTable
from tests.tools.inferred import current, everything
from tests.tools.tables import reading
from tests.tools.together import in_one_test

READINGS = ("threshold", "premium", "bandwidth", "tier", "missed")
"""The second line of the head over the three readings and the check, but for what is in the line above."""


@cache
def flagships() -> InferenceTable:
    """The run of the default table."""
    with reading(read()):
        return run_of((), most_flagships=100)[2]


def of_flagships(width: int = 100) -> str:
    return glance(flagships(), width)


def row_of(text: str, name: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return line.split()


def test_flagships_have_a_row_each_with_all_readings():
    text, chosen = of_flagships(), flagships()
    assert 8 <= len(chosen) <= 15 and f"{len(chosen)} flagships of {len(current())} price sheets" in text.splitlines()[0]
    assert str(current().as_of) in text.splitlines()[0]
    assert all(one.model and one.model.flagship for one in chosen)
    (gemini,) = [one for one in chosen if one.sheet.model == "gemini-3.1-pro-preview"]
    cells = [column_of(key).text(gemini) for key in SHORT_KEYS]
    assert cells == ["gemini-3.1-pro-preview", "2/12", "2x/1.5x", "1.7 kB", "170 kB", "83 %", "HBM/DDR", "3 of 3", "63 B", "49 kB"]
    assert row_of(text, "gemini-3.1-pro-preview") == " ".join(cells).split()
    assert row_of(text, "claude-opus-5-5")[:6] == ["claude-opus-5-5", "4/20", "none", "none", "none", "80"]


def test_each_column_has_the_record_of_its_own_estimator():
    run = current()
    said = row_of(of_flagships(), "right where")
    known = [(one.known.read, one.pairs[0].lecture.values["kv_bytes_per_token"]) for one in run if one.known and one.pairs]
    times = sorted(read / lecture for read, lecture in known)
    middle = (times[2] + times[3]) / 2
    assert len(times) == 6 and f"{middle:.3g}x low" in " ".join(said)
    increments = [(one.member.kv_bytes_per_token, one.kv_bytes["from_premium"]) for one in judged(read_data())]
    held = sum(found.low <= truth <= found.high for truth, found in increments)
    assert f"{held} of {len(increments)}" in " ".join(said)
    for one in (run["openai/gpt-6-sol"].by_price["active_params"], run["openai/gpt-6-sol"].kv_bytes["typical"]):
        assert "{} of {}".format(*one.coverage) in " ".join(said)
    assert " ".join(said[3:]) == f"{middle:.3g}x low {held} of {len(increments)} unknown 2 of 2 - 7 of 7 11 of 14"


@in_one_test("width", [60, 70, 80, 90, 100, 120, 200])
def test_it_fits_any_terminal_and_no_price_is_lost(width: int):
    for text, sheets in ((of_flagships(width), flagships()), (glance(everything(), width), everything())):
        assert max(map(width_of, text.splitlines())) <= width
        assert not [one.name for one in sheets if column_of("price").text(one) not in text]
    if width >= 80:
        assert not [word for word in READINGS if word not in of_flagships(width)]
    assert ("typical" in of_flagships(width).splitlines()[1]) == (width >= 90)


def test_a_sheet_of_ones_own_is_among_the_flagships():
    own = "provider,model,component,amount\nacme,lm,input,1\nacme,lm,output,4\n"
    table = run_of((), prices=io.StringIO(own), most_flagships=100)[2]
    assert [one.name for one in table if one.model is None or not one.model.flagship] == ["acme/lm"]
    assert "flagships" not in glance(table) and "lm " in glance(table)


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
