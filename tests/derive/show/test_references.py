"""What is cited beside equations reads alike in every style, and survives a bibliography."""

import json

from pybtex.database import parse_string

from derive.show.citation import FOR_ADDRESSES
from derive.show.references import Reference, cite_with_references
from tests.derive.show.test_citation import rendered

PAGE, SITE = "https://acme.example/prices_of?a=b", "https://example.org/sheet/acme/m/"
SHEET = Reference(
    key="sheet:acme:m", title="Price sheet of acme m", author="Acme Labs", places=(PAGE, SITE), which="prices of a day", said="input 2"
)
OWN = Reference(key="sheet:own", title="Own prices", author="me", places=("my_prices.csv",), which="grade user", said="input 3")


def test_all_places_are_named_once():
    entry = parse_string(cite_with_references([], [SHEET], "bibtex"), "bibtex").entries[SHEET.key]
    assert entry.fields["url"] == PAGE and entry.fields["howpublished"] == rf"{{prices of a day, \url{{{SITE}}}}}"
    assert r"\url{" not in cite_with_references([], [OWN], "bibtex").removeprefix(FOR_ADDRESSES)


def test_which_and_place_survive_a_bibliography():
    items = json.loads(cite_with_references([], [SHEET, OWN], "csl-json"))
    sheet, own = rendered(items)
    assert "Acme Labs" in sheet and PAGE in sheet and "prices of a day" in sheet
    assert "my_prices.csv, grade user" in own


def test_equations_come_first_and_the_preamble_once():
    text = cite_with_references(["roofline.kv_time"], [SHEET], "latex")
    assert text.count(FOR_ADDRESSES) == 1 and text.index("roofline.kv") < text.index("Price sheet")
    assert cite_with_references([], [SHEET], "latex").startswith(FOR_ADDRESSES)
