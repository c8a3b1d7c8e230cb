"""The file of models.dev, by hand in its shape."""

from datetime import date
from typing import Any

import pytest

from derive.tables.lines import Problem
from invert.databases import models_dev
from invert.databases.records import Database, Offer, items_of, price_rows
from tests.tools.databases import DAY, MODELS_DEV

SOURCE = Database(name="models.dev")
IN, OUT, READ = ("input", None), ("output", None), ("cache_read", None)


def test_prices_are_per_million_as_they_stand_and_the_newer_field_of_bands_goes_before_the_older():
    tiered, old, unpriced = items_of(models_dev.FORMAT, MODELS_DEV, SOURCE)
    assert isinstance(tiered, Offer) and isinstance(old, Offer)
    assert tiered.bands == {0: {IN: 5.0, OUT: 30.0, READ: 0.5}, 272_000: {IN: 10.0, OUT: 45.0, READ: 1.0}}
    assert old.bands == {0: {IN: 3.0, OUT: 15.0}, 200_000: {IN: 6.0, OUT: 22.5}}
    assert (tiered.max_context, old.max_context, tiered.source_url) == (1_050_000, None, "https://hostly.example/models")
    assert (tiered.release_date, old.release_date) == (date(2026, 2, 19), None), "a month is no day"
    assert {row.release_date for row in price_rows(tiered, SOURCE, DAY)} == {date(2026, 2, 19)}
    assert unpriced == Offer(provider="hostly", model="unpriced", became="no price", source_url=unpriced.source_url)


@pytest.mark.parametrize("said", ["soon", 20260219, "2026-02-30", "2026-13", ["2026-02-19"]])
def test_a_release_that_is_no_day_is_a_problem_and_the_prices_stand(said: object):
    entry = {"cost": {"input": 1, "output": 2}, "release_date": said}
    odd, good = items_of(models_dev.FORMAT, {"p": {"models": {"m": entry}}}, SOURCE)
    assert isinstance(odd, Problem) and odd.column == "release_date" and isinstance(good, Offer) and good.release_date is None


ODD = [  # entry, the field that is named
    ({"cost": [1]}, "cost"),
    ({"cost": {"input": "free", "output": 1}}, "input"),
    ({"cost": {"input": 1, "output": 1, "tiers": [{"input": 2, "tier": {"type": "time", "size": 5}}]}}, "tiers"),
    ({"cost": {"input": 1, "output": 1, "tiers": [{"input": 2}]}}, "tiers"),
    ({"cost": {"input": 1, "output": 1, "context_over_200k": 2}}, "context_over_200k"),
    ({"cost": {"input": 1, "output": 1, "context_over_256k": {"input": 2, "output": 2}}}, "context_over_256k"),
    ({"cost": {"input": 1, "output": 1, "input_over_200k": {"input": 2, "output": 2}}}, "input_over_200k"),
]


@pytest.mark.parametrize(("entry", "column"), ODD)
def test_a_field_that_is_another_one_is_a_problem_and_stops_nothing_else(entry: dict[str, Any], column: str):
    left, odd, good = items_of(models_dev.FORMAT, {"p": {"models": {"m": entry, "good": {"cost": {"input": 1, "output": 2}}}}}, SOURCE)
    assert left.became and isinstance(odd, Problem) and odd.column == column and isinstance(good, Offer)


def test_the_models_of_a_provider_are_taken_beside_odd_ones_and_odd_providers():
    content = {"good": {"models": {"m": {"cost": {"input": 1, "output": 2}}, "odd": None}}, "empty": [], "none": {"models": None}}
    assert models_dev.FORMAT.is_shape(content)
    found = list(items_of(models_dev.FORMAT, content, SOURCE))
    assert [one.model for one in found if isinstance(one, Offer) and not one.became] == ["m"]
    assert [one.message.split("'")[1] for one in found if isinstance(one, Problem)] == ["good/odd", "empty", "none"]
