"""Databases put together: who is believed, what is left out, and that what is written can be read."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from derive.errors import WrongData
from invert.data import read_data
from invert.databases import genai, litellm, models_dev, openrouter
from invert.databases import pull as pulling
from invert.databases.pull import COPY, KNOWN, TAKEN, Pulled, listing_of, listings, pull
from invert.databases.records import Database, Offer, WrongField, items_of
from invert.inference import infer
from invert.sheets.append import price_file
from invert.sheets.assemble import models
from invert.sheets.read import book_of, load
from invert.sheets.rows import PriceBook, PriceRow
from invert.sheets.rules import check
from tests.tools.databases import DAY, GENAI, LITELLM, MODELS_DEV, OPENROUTER, installed

IN, OUT, READ = ("input", None), ("output", None), ("cache_read", None)
FIRST, SECOND = Database(name="first", version="1"), Database(name="second", version="2")
NOTHING = PriceBook(rows=(), fx={}, newest_retrieved=date(2026, 11, 20))


def everything() -> list[Any]:
    known = [
        (Database(name="genai-prices", version="9.9"), items_of(genai.FORMAT, GENAI, FIRST)),
        (Database(name="litellm", version="9.9"), None),
    ]
    return [
        known[0],
        (known[1][0], items_of(litellm.FORMAT, LITELLM, known[1][0])),
        (Database(name="models.dev"), items_of(models_dev.FORMAT, MODELS_DEV, SECOND)),
        (Database(name="openrouter"), items_of(openrouter.FORMAT, OPENROUTER, SECOND)),
    ]


def pulled(*listings: Any, book: PriceBook | None = None, day: date = DAY, providers: tuple[str, ...] = ()) -> Pulled:
    data = read_data()
    return pull(listings, book_of(data) if book is None else book, models(data), day, providers)


def offered(provider: str, model: str, rates: dict | None = None, **more: Any) -> Offer:
    return Offer(provider=provider, model=model, bands={0: rates or {IN: 1.0, OUT: 4.0}} | more.pop("bands", {}), **more)


def listed(database: Database, *offers: Any) -> tuple[Database, Iterator[Any]]:
    return database, iter(offers)


def results(found: Pulled) -> list[Offer]:
    return [one for _, offers in found.listings for one in offers]


def asked(found: Pulled) -> dict[tuple[str, str, str, int, int | None], float]:
    return {(row.model, row.service_tier, row.component, row.threshold_tokens, row.ttl_seconds): row.amount for row in found.rows}


def test_every_row_that_is_written_passes_the_check_of_prices():
    found = pulled(*everything())
    book = load(price_file(found.rows).splitlines())
    assert len(book.own) == len(found.rows) > 80 and not check(book) and not found.problems
    assert {row.max_context for row in book.own if row.model == "grok-test"} == {500_000}


def test_traps_of_all_databases_together():
    found = pulled(*everything())
    rows = {(row.provider, row.model, row.service_tier, row.region) for row in found.rows}
    assert ("anthropic", "claude-test-1", "standard", "") in rows and ("mistral", "mistral-test", "standard", "eu") in rows
    assert not {row for row in rows if row[1] in ("claude-test-1-20260101", "anthropic/claude-test-1")}, "names and copies"
    assert ("aws", "us.anthropic.claude-test-1-20260101-v1:0", "standard", "") not in rows
    assert ("openrouter", "google/gemini-test", "standard", "") in rows, "it asks more than the maker"
    assert {row[2] for row in rows if row[1] == "gpt-test"} == {"standard", "fast"}, "priority is the old name of fast"
    assert found.copies == {"anthropic": 1, "openrouter": 1, "aws": 1, "openai": 1}
    prices = asked(found)
    assert prices["claude-test-1", "standard", "cache_write", 0, 43200] == 9.0, "only the second database has it"
    assert prices["gemini-test", "standard", "cache_read", 0, None] == 0.1 and [str(one) for one in found.rivals] == [
        "google/gemini-test (standard) cache_read: 0.1 by genai-prices 9.9; 0.2 by litellm 9.9",
        "google/gemini-test (standard) cache_read above 200,000: 0.1 by genai-prices 9.9; 0.2 by litellm 9.9",
    ]
    left = {one.model: one.became for one in results(found)}
    assert left["gpt-test-free"] == left["hostly/gratis:free"] == "free" and left["gpt-test-embedding"] == "no price of output tokens"


def test_every_offer_that_is_read_is_counted_once_and_those_taken_are_the_sheets_of_the_file():
    found = pulled(*everything())
    for (database, items), (of, became) in zip(everything(), found.results, strict=True):
        read = list(items)
        of_offers = {(one.provider, one.model, one.region, one.service_tier) for one in read if isinstance(one, Offer) and one.bands}
        entries = {(one.provider, one.model) for one in read if isinstance(one, Offer) and one.became} - {offer[:2] for offer in of_offers}
        assert of == database and sum(became.values()) == len(of_offers) + len(entries), database
    counts = sum((Counter(became) for _, became in found.results), Counter())
    assert counts[COPY] == sum(found.copies.values()) == 4 and counts[TAKEN] == len({row.sheet_key for row in found.rows})
    assert counts[KNOWN] == 2, "a sheet that an earlier source has, though a lifetime is added to it"
    twice = pulled(listed(FIRST, offered("acme", "m")), listed(FIRST, offered("acme", "m")), book=NOTHING)
    assert [became for _, became in twice.results] == [{TAKEN: 1}, {KNOWN: 1}]


@pytest.mark.slow
def test_every_model_of_a_pull_is_inferred_or_has_a_reason():
    found = pulled(*everything())
    table = infer(prices=price_file(found.rows).splitlines())
    priced = {(row.provider, row.model) for row in found.rows if row.valid_on(table.as_of) and row.service_tier in ("standard", "off_peak")}
    said = {(one.sheet.provider, one.sheet.model) for one in table.inferences}
    assert len(priced) > 15 and priced <= said | {tuple(one.origin.split("/", 1)) for one in table.problems}


def test_the_curated_price_wins_and_is_not_written_again():
    right = offered("google", "gemini-2.5-pro", {IN: 1.25, OUT: 10.0, READ: 0.99})
    found = pulled(listed(FIRST, right))
    assert not found.rows and found.agreeing == {"first": 2}
    assert [(one.row.component, one.row.amount, one.believed.origin[:10]) for one in found.rivals] == [("cache_read", 0.99, "prices.csv")]


def test_the_first_database_is_believed_and_the_next_adds_what_it_lacks():
    first = offered("acme", "m", {IN: 1.0, OUT: 4.0})
    second = offered("acme", "M", {IN: 1.1, OUT: 4.004, READ: 0.1, ("cache_write", 3600): 2.0}, bands={128_000: {IN: 2.0}})
    found = pulled(listed(FIRST, first), listed(SECOND, second), book=NOTHING)
    assert asked(found) == {
        ("m", "standard", "input", 0, None): 1.0, ("m", "standard", "output", 0, None): 4.0,
        ("m", "standard", "cache_read", 0, None): 0.1, ("m", "standard", "cache_write", 0, 3600): 2.0,
    }  # fmt: skip
    assert {str(one) for one in found.rivals} == {
        "acme/m (standard) input: 1 by first 1; 1.1 by second 2",
        "acme/m (standard) input above 128,000: no price of its own, 1 by first 1; 2 by second 2",
    }, "4.004 for 4 is how databases round"
    assert found.agreeing == {"second": 1}


def test_two_entries_of_one_name_are_one_sheet_and_what_the_second_has_otherwise_is_a_rival():
    dated = [offered("acme", "m", {IN: 2.0, OUT: 8.0}, valid_to=DAY), offered("acme", "m", effective_date=DAY, date_kind="start")]
    again, otherwise = offered("acme", "M", {IN: 1.0, OUT: 4.0}), offered("acme", "m", {IN: 1.5, OUT: 4.0}, region="")
    found = pulled(listed(FIRST, *dated, again), book=NOTHING)
    assert len(found.rows) == 4 and found.copies == {"acme": 1} and not found.rivals
    found = pulled(listed(FIRST, *dated, replace(otherwise, model="M")), book=NOTHING)
    assert len(found.rows) == 4 and found.copies == {} and [one.row.amount for one in found.rivals] == [1.5]


def test_two_entries_of_one_model_are_not_taken_for_one_that_says_everything_twice():
    entry = {"litellm_provider": "acme", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6}
    dearer, lasting = entry | {"output_cost_per_token": 5e-6}, entry | {"cache_creation_input_token_cost_above_1hr": 2e-6}
    for second, rows, rivals in ((entry, 2, 0), (dearer, 2, 1), (lasting, 3, 0)):
        found = pulled((FIRST, items_of(litellm.FORMAT, {"m": entry, "acme/m": second}, FIRST)), book=NOTHING)
        assert (len(found.rows), len(found.rivals)) == (rows, rivals)
        assert sum(found.results[0][1].values()) == 2 and found.results[0][1][TAKEN] == 1, "each entry is counted"


def test_a_price_of_all_hours_does_not_stand_beside_one_by_the_hour():
    peak, off = (offered("acme", "m", {IN: rate, OUT: 4 * rate}, service_tier=tier) for rate, tier in ((2.0, "peak"), (1.0, "off_peak")))
    found = pulled(listed(FIRST, peak, off), listed(SECOND, offered("acme", "m", {IN: 2.0, OUT: 5.0})), book=NOTHING)
    assert {row.service_tier for row in found.rows} == {"peak", "off_peak"} and found.agreeing == {"second": 1}
    assert [str(one) for one in found.rivals] == ["acme/m (standard) output: 8 by first 1; 5 by second 2"]
    other_way = pulled(listed(FIRST, offered("acme", "m")), listed(SECOND, peak, off), book=NOTHING)
    assert {row.service_tier for row in other_way.rows} == {"standard"} and len(other_way.rivals) == 2
    ended = offered("acme", "m", {IN: 3.0, OUT: 9.0}, valid_to=DAY)
    assert len(pulled(listed(FIRST, ended, peak, off), book=NOTHING).rows) == 6, "what has ended is of another time"


def test_a_provider_that_sells_nothing_is_named_with_the_nearest_one():
    found = pulled(listed(FIRST, offered("openai", "m"), offered("gemini", "n")), providers=("Google", "opeani"))
    assert {row.provider for row in found.rows} == {"google"}
    assert [str(one) for one in found.problems] == ["--provider: 'opeani' has no listed price; did you mean 'openai'?"]


def test_a_database_that_breaks_off_or_has_no_price_at_all_is_one_line():
    def broken() -> Iterator[Any]:
        yield offered("acme", "m")
        raise WrongField("models", "is not there in Provider")

    none = [offered("acme", name, {OUT: 1.0}) for name in "ab"]
    found = pulled((FIRST, broken()), listed(SECOND, *none), book=NOTHING)
    assert {row.model for row in found.rows} == {"m"} and [str(one) for one in found.problems] == [
        "first 1: field models is not there in Provider: its version is newer or older than the known ones",
        "second 2: none of its 2 entries has a price: its version is newer or older than the known ones",
    ]


BAD = [  # a sheet that a file of prices could not hold
    offered("acme", "m", {IN: 1e-6, OUT: 4.0}),
    offered("acme", "m", {IN: 1.0, OUT: 4e6}),
    offered("acme", "m\u200bx"),
    offered("acme", "half \ud800"),
    offered("acme", ""),
    offered("acme", "m" * 20_000),
    offered("acme", "=cmd", region="=cmd"),
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_sheet_that_would_not_pass_is_left_out_whole_with_the_reason(bad: Offer):
    found = pulled(listed(FIRST, bad, offered("acme", "good")))
    assert {row.model for row in found.rows} == {"good"}
    assert {one.provider for one in results(found)} == {"acme"} and found.results[0][1][TAKEN] == 1 and len(results(found)) == 2


AMOUNTS = st.floats(1e-5, 1e4).map(lambda amount: float(f"{amount:.4g}"))
RATES = st.dictionaries(st.sampled_from([IN, OUT, READ, ("cache_write", None), ("cache_write", 3600)]), AMOUNTS | st.just(0.0))
OFFERS = st.builds(
    offered,
    st.sampled_from(["acme", "xai", "openrouter", "google"]), st.sampled_from(["m", "M", "claude-m", "x/m-20260101", "gemini-2.5-pro"]),
    RATES, bands=st.dictionaries(st.sampled_from([1_000, 199_999, 200_000, 272_000]), RATES, max_size=3),
    service_tier=st.sampled_from(["standard", "batch", "priority", "fast"]), max_context=st.none() | st.integers(1, 10**6),
    effective_date=st.none() | st.dates(DAY - timedelta(99), DAY + timedelta(9)), date_kind=st.sampled_from(["start", "verified"]),
)  # fmt: skip


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(OFFERS, max_size=6), st.lists(OFFERS, max_size=6))
def test_whatever_databases_say_what_is_written_passes_the_check_and_says_it_once(first: list[Offer], second: list[Offer]):
    found = pulled(listed(FIRST, *first), listed(SECOND, *second))
    if not found.rows:
        return
    book = load(price_file(found.rows).splitlines())
    assert not check(book) and len(book.own) == len(found.rows)
    again = [row.key for row in found.rows if row.valid_on(DAY)]
    assert len(again) == len(set(again))
    assert all((isinstance(row, PriceRow) and not row.valid_on(DAY)) or row.amount > 0 for row in found.rows)


@pytest.mark.parametrize(("content", "name"), [(LITELLM, "litellm"), (MODELS_DEV, "models.dev"), (OPENROUTER, "openrouter")])
def test_a_file_is_known_by_its_shape_and_not_by_its_name(tmp_path, content, name: str):
    place = tmp_path / "download (1).txt"
    place.write_text(json.dumps(content))
    database, items = listing_of(str(place))
    assert database.name == name and len(list(items)) > 2


@pytest.mark.parametrize("content", [{}, [], 3, {"data": []}, {"models": {"m": {"price": 3}}}, {"a": {"models": []}}])
def test_any_other_file_is_refused_in_a_line(tmp_path, content):
    place = tmp_path / "x.json"
    place.write_text(json.dumps(content))
    with pytest.raises(WrongData, match=r"x\.json: is not a known database \(openrouter, models\.dev, litellm\), or has a newer format"):
        listing_of(str(place))


def test_one_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "genai_prices")
    with monkeypatch.context() as absent:
        absent.setattr(pulling, "find_spec", lambda name: None if name == "litellm" else find_spec(name))
        found, problems = listings(["genai-prices", "litellm", str(tmp_path / "none.json")])
    assert [str(database) for database, _ in found] == ["genai-prices 9.9"]
    assert [str(one).removeprefix(str(tmp_path)) for one in problems] == [
        "litellm: is not installed: pip install litellm",
        "/none.json: cannot be read (No such file or directory)",
    ]
    (tmp_path / "litellm").mkdir()
    (tmp_path / "litellm" / "__init__.py").write_text("")
    (problem,) = listings(["litellm"])[1]
    assert "litellm" in problem.origin and problem.message.startswith("has no file model_prices")


def test_without_a_name_every_package_that_is_installed(tmp_path, monkeypatch):
    installed(tmp_path, monkeypatch, "genai_prices", "litellm")
    assert [str(database) for database, _ in listings([])[0]] == ["genai-prices 9.9", "litellm 9.9"]
    monkeypatch.setattr(pulling, "find_spec", lambda _: None)
    assert listings([]) == ([], []) and listing_of("genai-prices") is None
    assert "pip install backsolve[prices]" in str(listings(["genai-prices"])[1][0])
