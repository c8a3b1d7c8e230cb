"""The summary of a made-up market, counted by hand, and its page: text, JSON and CSV have the same counts."""

import csv
import io
import json
from dataclasses import replace
from functools import cache

import pytest

from invert.data import read_data
from invert.inference import infer
from invert.report.answer import answer_texts
from invert.report.layout import laid_out
from invert.report.overview import CSV_HEAD, OVERVIEW, OVERVIEW_SCHEMA, Count, overview, overview_parts
from invert.result import InferenceTable, Shown
from invert.sheets.read import book_of
from tests.tools.inferred import current

HEAD = "provider,model,service_tier,component,threshold_tokens,ttl_seconds,amount\n"


def priced(provider: str, model: str, *prices: tuple[str, int | str, float], tier: str = "standard") -> str:
    """Rows of a sheet by component, threshold or lifetime, and amount."""
    lines = []
    for component, at, amount in prices:
        place = f",{at}" if component == "cache_write" else f"{at},"
        lines.append(f"{provider},{model},{tier},{component},{place},{amount}\n")
    return "".join(lines)


BASE = (("input", "", 1), ("output", "", 4))
LONG = (*BASE, ("input", 200_000, 2), ("output", 200_000, 6))
OWN = HEAD + "".join(
    (
        priced("openai", "one", *LONG, ("cache_read", "", 0.1), ("cache_write", 300, 1.25)),
        priced("openai", "one", ("input", "", 0.5), ("output", "", 2), tier="batch"),
        priced("bravo", "openai/one-2026-01-01", *LONG, ("cache_read", "", 0.1), ("cache_write", 300, 1.25)),
        priced("bravo", "two", *BASE, ("input", 272_000, 2), ("output", 272_000, 6), ("cache_read", "", 0.25)),
        priced("carol", "three", ("input", "", 3), ("output", "", 1.5), ("cache_read", "", 0.3)),
    )
)


@cache
def made_up() -> InferenceTable:
    return infer(["openai/one", "bravo/*", "carol/three"], prices=io.StringIO(OWN))


def counts(run: InferenceTable, section: str) -> dict[str, int]:
    return {one.name or one.because: one.offers for one in overview(run).section(section)}


def test_ratios_of_prices_are_counted_by_lifetime_and_tier():
    carried = {(one.name, one.of): one for one in overview(made_up()).section("carried")}
    assert {name: one.offers for name, one in carried.items()} == {
        ("output_input_ratio", ""): 3,
        ("premium_in", ""): 2,
        ("premium_out", ""): 2,
        ("cache_read_ratio", ""): 3,
        ("cache_write_premium", "300"): 1,
        ("input_price_of_service_tier", "batch"): 1,
    }
    reads = carried["cache_read_ratio", ""]
    assert (reads.commonest, reads.at_commonest, reads.providers, reads.low, reads.median, reads.high) == (0.1, 2, 3, 0.1, 0.1, 0.25)
    assert carried["cache_write_premium", "300"].commonest == 0.25
    assert carried["input_price_of_service_tier", "batch"].commonest == 0.5


def test_every_sheet_of_the_data_is_counted():
    run = infer(provider=["meta"])
    whole = replace(run, request=replace(run.request, providers=()))
    found, keys = overview(whole), {row.sheet_key for row in book_of(read_data()).rows}
    left = sum(one.offers for section in ("beside", "of_other_days") for one in found.section(section))
    assert found.sheets + left == len(keys)
    assert counts(run, "beside") == counts(run, "of_other_days") == {}, "of what was asked for"


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_page_fits_and_names_what_it_leaves_out(width: int):
    found = overview(current())
    many = [Count(section="sizes", name=f"p{place}", of="maker", offers=2) for place in range(25)]
    many += [Count(section="no_result", because=f"reason {place}", offers=1) for place in range(4)]
    text = laid_out(overview_parts(replace(found, counts=(*found.counts, *many))), width)
    assert max(map(len, text.splitlines())) <= width
    assert all(f"no result reason {place} 1" in " ".join(text.split()) for place in range(4))
    assert "more rows with --as csv." in text


def answer_text(run: InferenceTable, style: str) -> str:
    (text,) = answer_texts(run, None, Shown(style=style, summary=True), 100)
    return text


def test_json_and_csv_have_every_count():
    found = overview(made_up())
    said = [answer_text(made_up(), style) for style in ("json", "csv")]
    assert said[0] == OVERVIEW.text(found, OVERVIEW_SCHEMA)
    document, rows = json.loads(said[0]), list(csv.DictReader(io.StringIO(said[1])))
    assert tuple(rows[0]) == CSV_HEAD and document["offers"] == 3
    assert [{name: value for name, value in one.items() if value not in (None, "")} for one in document["counts"]] == [
        {name: type(of[name])(value) for name, value in row.items() if value} for row, of in zip(rows, document["counts"], strict=True)
    ]


def test_no_sheets_make_no_market():
    found = overview(replace(made_up(), inferences=()))
    assert found.offers == 0 and not found.section("carried") and "0 offers" in laid_out(overview_parts(found), 80)
