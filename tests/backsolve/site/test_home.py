"""The front page: what the README begins with."""

from backsolve.site.home import _SHOWN, home_page
from backsolve.site.writing import Surroundings, written_page
from derive.catalogue import by_id
from tests.tools.html import parts_of


def test_it_says_what_the_readme_begins_with_and_leads_on():
    page = parts_of(written_page(home_page(), Surroundings(parts=(("Desk", "desk/index.html"), ("Prices", "market/index.html")))))
    assert "Solve the equations of LLM serving" in page.text and "pip install -q -e ." in page.text and str(len(by_id())) in page.text
    assert page.text.index("pip install -q -e .") < page.text.index("draws this picture")
    assert {f"eq/{_SHOWN}/index.html", "book/index.html", "docs/index.html", "desk/index.html", "market/index.html"} <= set(page.links)
