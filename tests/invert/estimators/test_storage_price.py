"""What the price of storage says: there where storage is priced, and at the reading of the lecture."""

import pytest

from invert.inference import infer
from tests.tools.inferred import everything_with_tiered_sonnet as everything

pytestmark = pytest.mark.usefixtures("tiered_sonnet")


def test_drain_time_and_stored_bytes_are_there_where_storage_is_priced():
    drained, stored = set(), set()
    for found in everything().inferences:
        priced = found.observables.storage_price is not None or any(not tariff.problem for tariff in found.tariffs)
        assert ("by_storage_price" in found.kv_bytes_stored) == priced
        assert ("implied_drain_time" in found.estimates) == (priced and found.sheet.has_premium)
        stored |= {found.sheet.model} if priced else set()
        drained |= {found.sheet.model} if "implied_drain_time" in found.estimates else set()
    assert {"gemini-3.1-pro-preview", "gemini-2.5-pro", "claude-sonnet-4-5"} <= drained < stored
    gemini = infer("gemini-3.1-pro")[0]
    drain, reading = gemini.estimates["implied_drain_time"], gemini.implied_drain_time
    assert drain.low < 0.015 < drain.high  # an earlier calculation: 15 ms [8, 25]
    assert drain.median == pytest.approx(reading.values["implied_drain_time"], rel=1e-12)
