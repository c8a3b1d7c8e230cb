"""The page of a price sheet: it says what the commands print of it, and whatever stands in a row of prices is text."""

from dataclasses import replace

import pytest

from backsolve.site.sheets import pages_of_other_names, pages_of_sheets, sheet_address
from backsolve.site.writing import Page, write_page
from invert.report.layout import Heading, Table
from invert.report.price_pages import sheet_pages
from invert.report.sheet import full_parts, readings_in_lines
from invert.result import InferenceTable
from tests.backsolve.site.test_writing import HOSTILE
from tests.tools.html import parts_of


@pytest.fixture(scope="module")
def pages(some_sheets: InferenceTable) -> list[Page]:
    return list(pages_of_sheets(some_sheets))


def test_a_page_says_what_the_commands_print(pages: list[Page], some_sheets: InferenceTable):
    for page, one in zip(pages, some_sheets, strict=True):
        parts = parts_of(write_page(page).html)
        assert parts.faults == [] and parts.handlers == [] and parts.inline_scripts == [] and parts.tags.count("h1") == 1
        assert all(line in parts.text for line in readings_in_lines(one, some_sheets))
        report = full_parts(one, some_sheets)
        first = next(place for place, part in enumerate(report) if isinstance(part, Heading))
        said = [line.strip() for part in report[first:] if not isinstance(part, Heading | Table) for line in part.split("\n")]
        assert [line for line in said if line not in parts.text] == [] and len(said) > 20
        assert len(set(parts.ids)) == len(parts.ids)


def test_its_address_is_the_one_that_citations_have(pages: list[Page], some_sheets: InferenceTable):
    for page, one in zip(pages, some_sheets, strict=True):
        (cited,) = sheet_pages("https://example.org", one.sheet.provider, one.sheet.model)
        assert f"https://example.org/{page.address}" == f"{cited}index.html"
        assert cited in parts_of(write_page(page, "https://example.org/").html).text


def test_another_name_of_a_model_leads_to_its_sheet(some_sheets: InferenceTable):
    pages = {page.address: page for page in pages_of_other_names(some_sheets)}
    assert [*pages] == [
        "sheet/google/gemini-3.1-pro/index.html",
        "sheet/google/gemini-pro-latest/index.html",
        "sheet/anthropic/claude-opus-5.0/index.html",
    ], "Qwen3-Coder-Plus differs from the name of its sheet in capitals alone"
    html = write_page(pages["sheet/google/gemini-3.1-pro/index.html"]).html
    assert html.count("../gemini-3.1-pro-preview/index.html") == 2 and parts_of(html).faults == []


def test_every_price_stands_there_with_its_grade_and_page(pages: list[Page], some_sheets: InferenceTable):
    for page, one in zip(pages, some_sheets, strict=True):
        rows = [row for row in some_sheets.rows if row.sheet_key[:2] == (one.sheet.provider, one.sheet.model)]
        html = write_page(page).html.partition('id="rows"')[2]
        assert page.context["rows"] == rows and len(rows) > 1
        assert all(f"<td>{row.verification}</td>" in html and f'<a href="{row.source_url}"' in html for row in rows)


def test_figures_are_those_that_there_is_something_to_draw_for(pages: list[Page]):
    titles = [[figure.title for figure in page.context["figures"]] for page in pages]
    assert len(titles[0]) == len({*titles[0]}) == 5
    assert titles[1] == [titles[0][0], titles[0][1], titles[0][4]], "one price for all lengths"


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_row_holds_is_text(text: str, pages: list[Page], some_sheets: InferenceTable):
    row = replace(some_sheets.rows[0], notes=text, source_url=text, verification=text, component=text, currency=text)
    page = pages[0]._replace(context={**pages[0].context, "rows": [row], "said": [text]})
    parts, clean = (parts_of(write_page(one).html) for one in (page, pages[0]))
    assert parts.faults == [] and parts.handlers == [] and parts.inline_scripts == [] and text in parts.text
    assert {*parts.tags} == {*clean.tags} and not any(link.startswith("javascript:") for link in parts.links)


def test_no_name_climbs_out_of_its_folder(some_sheets: InferenceTable):
    one = some_sheets[0]
    odd = replace(one, sheet=replace(one.sheet, provider="..", model="../a b/<c>"))
    assert sheet_address(odd) == "sheet/-/-a-b-c-/index.html"
