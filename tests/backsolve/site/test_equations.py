"""A page an equation: what `show` and `cite` print of it, typeset and linked."""

from html import unescape

import pytest

from backsolve.site.equations import equation_page
from backsolve.site.formulas import page_data
from backsolve.site.lookups import video_of
from backsolve.site.writing import write_page
from derive import solve
from derive.catalogue import by_id, equation
from derive.show.citation import STYLES, cite
from derive.show.entry import entry_as_record, worked_example
from tests.tools.html import parts_of
from tests.tools.together import in_one_test, some

SHOWN = [style for style in STYLES if style not in ("csl-json", "myst")]
"""Forms of a citation on a page. MyST has only the command, as it says what Markdown says."""
SOME = some(by_id().values(), every=12)


def written(id: str) -> str:
    return write_page(equation_page(id)).html


@in_one_test("row", [pytest.param(row, id=row.id) for row in SOME])
def test_the_command_below_a_form_solves_this_equation(row):
    values = page_data(row.id)["start"]
    (answer,) = solve(row.symbols[0], using=[row.id], given={name: values[name] for name in row.symbols[1:]}).answers
    made = {"=": answer.value, ">=": answer.low, "<=": answer.high}[row.sense]
    assert made == pytest.approx(row.right_side(values), rel=1e-9)


@in_one_test("row", [pytest.param(row, id=row.id) for row in SOME])
def test_a_page_says_all_that_show_and_cite_say(row):
    html, record = written(row.id), entry_as_record(row)
    text = parts_of(html).text
    said = [record[name] for name in ("title", "kind", "statement", "equation")]
    said += [one for name in ("assumptions", "requires", "changes") for one in record[name]]
    said += [step["operation"][1:] for step in record["derivation"]]
    said += [source[name] for source in record["sources"] for name in ("title", "author", "said", "encoded", "place")]
    said += [one for quantity in record["quantities"] for one in (quantity["name"], quantity["unit"], quantity["meaning"])]
    assert [one for one in said if one not in text] == []
    assert all(cite(row.id, style) in text for style in SHOWN)
    assert row.result in text
    assert html.count('class="copied"') == len(SHOWN) and "--as myst" in text
    assert '<section id="solver"' in html


@in_one_test("row", [pytest.param(row, id=row.id) for row in SOME])
def test_a_page_links_to_what_its_derivation_starts_from_and_what_follows_from_it(row):
    links = {unescape(link).removeprefix("../").partition("#")[0] for link in parts_of(written(row.id)).links}
    record = entry_as_record(row)
    wanted = {f"{id}/index.html" for id in (*record["follows_from"], *record["leads_to"])}
    assert {one for one in wanted if not any(link.endswith(one) for link in links)} == set()


def test_the_second_of_the_video_is_linked():
    row = equation("roofline.compute_time")
    assert video_of(row.sources[0]) == "https://youtu.be/xmkSf5IS-zw?t=208"
    assert "https://youtu.be/xmkSf5IS-zw?t=208" in written(row.id)
    assert any(not video_of(source) for one in by_id().values() for source in one.sources)


def test_the_example_has_its_numbers_in_it():
    assert worked_example(equation("batching.balance_batch")).endswith("= 1714")
    assert "= 300*0.5*8/0.7" in parts_of(written("batching.balance_batch")).text


def test_a_page_is_found_by_names_of_its_quantities():
    ((_, kind, _, _, words),) = write_page(equation_page("roofline.step_time")).found
    assert "tpot" in words and kind == "equation"


def test_citations_have_the_address_under_which_the_site_will_stand():
    html = write_page(equation_page("roofline.step_time"), "https://example.org/b/").html
    cited = html.partition('id="cite"')[2].split("<pre")[1:]
    assert sum("https://example.org/b/eq/roofline.step_time/" in text for text in cited) == len(SHOWN)
    assert "example.org" not in written("roofline.step_time")
