"""The front page: the blackboard, and what the README begins with."""

from backsolve.site.home import home_page
from backsolve.site.writing import write_page
from derive.catalogue import by_id
from tests.tools.html import parts_of


def test_it_says_what_the_readme_begins_with_and_leads_on():
    page = parts_of(write_page(home_page()).html)
    assert "Solve the equations of LLM serving" in page.text and "pip install -q -e ." in page.text and str(len(by_id())) in page.text
    assert page.text.index("pip install -q -e .") < page.text.index("draws this picture")
    assert {"eq/batching.balance_batch/index.html", "book/index.html", "docs/index.html"} <= {*page.links}
    assert {"desk/index.html", "market/index.html"} <= {*page.links}


def test_without_a_script_every_picture_of_the_blackboard_stands_there_with_its_claims():
    page = parts_of(write_page(home_page()).html)
    assert page.tags.count("svg") == 6 and page.tags.count("noscript") == 1
    assert "uses 1 in 8 of its weights" in page.text and "2400, reproduced" in page.text
