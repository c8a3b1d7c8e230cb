"""The index of the search: every word of an entry is somewhere in its row, and none twice."""

from backsolve.site.documents import document_pages
from backsolve.site.equations import equation_page
from backsolve.site.index import _SUMMARY, search_index, words_in
from backsolve.site.writing import write_page
from derive.catalogue import equations


def test_every_word_is_in_the_row():
    pages = [*(equation_page(row.id) for row in equations("scheduling")), *document_pages()]
    entries = [entry for page in pages for entry in write_page(page).entries]
    for entry, row in zip(entries, search_index(entries), strict=True):
        assert set(words_in(f"{entry.title} {entry.words}")) <= set(words_in(" ".join(row)))
        assert len(row[3]) <= _SUMMARY + 2 and row[2] == entry.address
        words = row[4].split()
        assert len(words) == len(set(words))
