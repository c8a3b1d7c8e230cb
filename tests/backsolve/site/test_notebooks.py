"""The pages of notebooks show their text, their code, and the outputs and figures of a run."""

from backsolve.site.notebooks import notebook_pages
from backsolve.site.writing import write_page
from tests.tools.html import parts_of


def test_a_page_has_the_outputs_of_its_notebook_and_its_figures_as_files():
    *pages, index = notebook_pages()
    assert {*index.context["notebooks"]} == {page.address for page in pages}
    for page in pages:
        parts = parts_of(write_page(page).html)
        assert parts.faults == [] and parts.tags.count("h1") == 1 and parts.text
        assert {one for one in parts.loaded if "figure" in one} == {*page.files} != set()
        assert all(text.lstrip().startswith(("<svg", "<?xml")) for text in page.files.values())
