"""The pages of prices that a saved result used can be cited in every style, and the programs that read a style read ours."""

from collections.abc import Sequence
from datetime import date

import pytest
from pybtex.database import parse_string

from derive.show.citation import STYLES, cite_all
from derive.show.references import Reference, cite_with_references
from invert.encoder import WrongShape
from invert.report.contract import CODEC
from invert.report.price_pages import pages_of
from invert.sheets.rows import PriceRow
from tests.invert.report.test_saved import ROW as SAVED_ROW
from tests.tools.together import in_one_test

ID = "roofline.step_time"
ROW = {**SAVED_ROW, "source_url": "https://acme.example/a_b?c=d&e=f%20g#h", "verification": "official"}
HOSTILE = r"100% of {A} & B_c #1 $x$ ~y^2 \input{z} a<b> |d| *e* `f` [g](https://h)"
OWN = {**ROW, "source_url": "", "verification": "user", "origin": "my prices.csv:3", "retrieved_date": None}


def pages(*rows: object) -> list[Reference]:
    return pages_of(CODEC.decode(tuple[PriceRow, ...], list(rows), "run.rows"))


def cite_used(ids: list[str], found: Sequence[Reference], style: str) -> str:
    return cite_with_references(ids, found, style)


def test_a_page_has_all_that_was_read_from_it():
    found = pages(
        ROW, {**ROW, "model": "n", "verification": "db", "retrieved_date": "2026-03-12"}, {**ROW, "source_url": "https://b"}, ROW, OWN
    )
    assert [page.places for page in found] == [(ROW["source_url"],), ("https://b",), ("my prices.csv",)]
    assert (found[0].said, found[0].day) == ("m, n", date(2026, 11, 20))
    assert found[0].which == "grade official (the page was read) and db (a price database), read on 2026-03-12 and 2026-11-20"
    assert (found[2].day, found[2].url, found[2].which) == (None, "", "grade user (a file of one's own)")


@in_one_test(
    "row",
    [
        3, {}, {**ROW, "provider": 3}, {**ROW, "model": "a\x1b[2J"}, {**ROW, "retrieved_date": "today"}, {**ROW, "retrieved_date": 3},
        {**ROW, "amount": "2"}, {**ROW, "per": None},
        {name: cell for name, cell in ROW.items() if name != "origin"},
    ],
)  # fmt: skip
def test_what_is_no_price_row_is_refused(row: object):
    with pytest.raises(WrongShape, match=r"run.rows\[1\]"):
        pages(ROW, row)


@in_one_test("style", STYLES)
def test_every_style_says_where_how_well_and_when(style: str):
    text = cite_used([ID], pages(ROW, OWN), style)
    for said in (ROW["source_url"], "2026-11-20", "official", "the page was read", "my prices.csv", "user", "Prices of acme"):
        assert said in text
    assert cite_used([ID], (), style) == cite_all([ID], style)
    assert style == "csl-json" or text.startswith(cite_all([ID], style))


@in_one_test("style", STYLES)
def test_what_a_file_holds_stays_text(style: str):
    rows = [
        {**OWN, "provider": HOSTILE, "model": HOSTILE, "origin": f"{HOSTILE}:2", "source_url": url} for url in ("", "https://a}\\input{z}")
    ]
    text = cite_used([], pages(*rows), style)
    if style == "bibtex":
        entries = parse_string(text, "bibtex").entries
        assert len(entries) == 2 and not any(r"\url{" in str([*entry.fields.values()]) for entry in entries.values())
    assert (r"\input" in text) == (style in ("csl-json", "plain", "markdown", "myst"))
    if style in ("markdown", "myst"):
        assert "[g](https://" not in text and "<b>" not in text and r"\\input" in text
