"""An offer of any database becomes rows in one way."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.tables.lines import Problem
from invert.databases.records import (
    Database,
    Entry,
    Format,
    Offer,
    items_of,
    part,
    per_mtok,
    price_rows,
    threshold_of,
    without_nothing,
)
from tests.tools.databases import DAY

IN, OUT, READ, WRITE = ("input", None), ("output", None), ("cache_read", None), ("cache_write", None)
SOURCE = Database(name="base", version="1.2")
OFFER = Offer(provider="acme", model="m", bands={0: {IN: 1.0, OUT: 4.0}})


def test_a_row_says_where_it_is_from_and_when_it_was_read():
    first, second = price_rows(replace(OFFER, max_context=128_000, source_url="https://acme.example"), SOURCE, DAY)
    assert (first.component, first.amount, second.component, second.amount) == ("input", 1.0, "output", 4.0)
    assert (first.notes, first.retrieved_date, first.verification, first.max_context) == ("base 1.2", DAY, "db_host", 128_000)
    assert (first.effective_date, first.date_kind, first.currency, first.per) == (None, "", "USD", "mtok")
    assert price_rows(replace(OFFER, provider="gemini"), SOURCE, DAY)[0].verification == "db"


def test_a_rate_that_a_band_does_not_state_is_that_of_the_band_below():
    rows = price_rows(
        replace(OFFER, bands={0: {IN: 1.0, OUT: 4.0, READ: 0.1}, 128_000: {IN: 2.0}, 256_000: {OUT: 9.0, WRITE: 5.0}}), SOURCE, DAY
    )
    assert {(row.component, row.threshold_tokens): row.amount for row in rows} == {
        ("input", 0): 1.0, ("output", 0): 4.0, ("cache_read", 0): 0.1,
        ("input", 128_000): 2.0, ("output", 128_000): 4.0, ("cache_read", 128_000): 0.1,
        ("input", 256_000): 2.0, ("output", 256_000): 9.0, ("cache_read", 256_000): 0.1,
    }, "a write without a base price is left out"  # fmt: skip


THRESHOLDS = [  # provider, as the database has it, threshold and whether the price holds from it on
    ("acme", 200_000, (200_000, False)),
    ("acme", 199_999, (200_000, True)),
    ("xai", 199_999, (200_000, True)),
    ("xai", 200_000, (200_000, True)),
    ("acme", 272_000, (272_000, False)),
]


@pytest.mark.parametrize(("provider", "threshold", "meant"), THRESHOLDS)
def test_thresholds_are_written_as_the_makers_say_them(provider: str, threshold: int, meant: tuple[int, bool]):
    rows = price_rows(replace(OFFER, provider=provider, bands={0: {IN: 1.0, OUT: 4.0}, threshold: {IN: 2.0}}), SOURCE, DAY)
    assert {(row.threshold_tokens, row.threshold_inclusive) for row in rows} == {(0, False), meant}
    assert threshold_of(200_001, True) == (200_000, False)


NOTHING = [  # bands, why
    ({0: {IN: 0.0, OUT: 0.0}}, "free"),
    ({0: {}}, "no price of input and output tokens"),
    ({0: {IN: 1.0}}, "no price of output tokens"),
    ({0: {IN: 0.0, OUT: 1.0}}, "no price of input tokens"),
    ({200_000: {IN: 1.0, OUT: 2.0}}, "no price of input and output tokens"),
]


@pytest.mark.parametrize(("bands", "because"), NOTHING)
def test_what_makes_no_sheet_is_said(bands, because: str):
    assert price_rows(replace(OFFER, bands=bands), SOURCE, DAY) == because


def test_a_band_in_which_nothing_changes_is_none():
    assert without_nothing({0: {IN: 1.0}, 100: {IN: 1.0}, 200: {IN: 2.0, OUT: 0.0}}) == {0: {IN: 1.0}, 200: {IN: 2.0}}


@given(st.decimals(min_value=Decimal("1e-9"), max_value=1, places=9))
def test_a_price_per_token_is_one_per_million_to_the_last_digit(amount: Decimal):
    assert per_mtok("f", float(amount), 6) == per_mtok("f", str(amount), 6) == float(amount * 10**6)
    assert per_mtok("f", amount) == float(amount)


def test_a_field_of_another_type_is_a_problem_and_the_next_entry_is_read():
    def read(record: dict):
        yield replace(OFFER, service_tier=part(record, "tier", str) or "standard")

    entries = [Entry(provider="acme", model=name, record={"tier": value}) for name, value in (("a", 3), ("b", "batch"), ("c", None))]
    found = list(items_of(Format(name="base", entries=iter, read=read, facts={}, usual=()), entries, SOURCE))
    assert found[0] == Offer(provider="acme", model="a", became="a field with an unknown form: tier")
    fault = "field tier is int and not str, of 'acme/a': its version is newer or older than the known ones"
    assert found[1] == Problem(origin="base 1.2", column="tier", message=fault)
    assert [(one.model, one.service_tier) for one in found[2:]] == [("b", "batch"), ("c", "standard")]
