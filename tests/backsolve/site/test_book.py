"""The book: every equation in its chapter, and by time, quantity and claim."""

from functools import cache

import pytest

from backsolve.site.book import BY_CLAIM, BY_QUANTITY, book_pages
from backsolve.site.lookups import claims_found, verdicts
from backsolve.site.writing import Page, write_page
from derive.catalogue import CHAPTERS, by_id, chapter_text, equations
from derive.quantities import QUANTITIES
from tests.tools.html import parts_of


@cache
def pages() -> dict[str, Page]:
    return {page.address: page for page in book_pages()}


def written(address: str) -> str:
    return write_page(pages()[address]).html


@pytest.mark.parametrize("chapter", ["roofline", "energy"])
def test_a_chapter_has_its_equations_in_order_and_says_what_it_is_about(chapter: str):
    html, rows = written(f"book/{chapter}/index.html"), equations(chapter)
    text = parts_of(html).text
    assert [id for id in parts_of(html).ids if id in by_id()] == [row.id for row in rows]
    assert chapter_text(chapter)[1] in text and all(row.statement in text for row in rows)


def test_the_contents_name_every_equation_once():
    links = parts_of(written("book/index.html")).links
    assert [link.split("/")[-2] for link in links if "/eq/" in link] == [*by_id()]
    assert [name for link in links if (name := link.removesuffix("/index.html")) in CHAPTERS] == [*CHAPTERS]


def test_every_quantity_can_be_linked_to():
    assert set(QUANTITIES) <= set(parts_of(written(BY_QUANTITY)).ids)


def test_every_claim_is_there_with_its_verdict_and_what_it_rests_on():
    page = parts_of(written(BY_CLAIM))
    rows, problems = claims_found()
    assert {row["id"] for row in rows} <= set(page.ids)
    assert all(row["claim"] in page.text and row["verdict"] in page.text for row in rows)
    assert sum(count for _, count in verdicts()) == len(rows) and pages()[BY_CLAIM].problems == problems == ()
    assert any("youtu.be" in link for link in page.links) and any("/eq/" in link for link in page.links)


def test_every_chapter_draws_a_picture_live():
    chapters = [page for page in book_pages() if page.template == "chapter.html"]
    live = [{*parts_of(write_page(page).html).ids} & {"board", "solver"} for page in chapters]
    assert all(len(found) == 1 for found in live) and sum("board" in found for found in live) >= 7
