"""The index of the search: every word of a page or of a part of a page is in its row, and none twice."""

import pytest

from backsolve.site.book import book_pages
from backsolve.site.documents import document_pages
from backsolve.site.equations import equation_page
from backsolve.site.index import _SUMMARY, search_row, words_in
from backsolve.site.writing import Page, write_page


@pytest.mark.parametrize("words", ["one line, two line", "Step_time STEP_TIME a.b", "x " * 99])
def test_every_word_is_in_the_row(words: str):
    row = search_row("kind", "A title", "a/index.html", "one line " * 30, words)
    assert {*words_in(f"A title {words}")} <= {*words_in(" ".join(row))} and len(row[3]) <= _SUMMARY + 2
    assert len(row[4].split()) == len({*row[4].split()})


def test_every_page_names_what_leads_to_it():
    pages: list[Page] = [equation_page("roofline.step_time"), *book_pages(), *document_pages()]
    for page in pages:
        found = write_page(page).found
        assert found and all(address.partition("#")[0] == page.address and title for title, _, address, _, _ in found)
