"""How long a storage price says that a cache is held for what one read costs."""

import pytest

from invert.storage.tariffs import implied_drain_time
from tests.tools.bands import pair

DRAIN = [  # threshold, output price [USD/Mtok], premium_out, storage [USD/Mtok/h], ms, source
    (200_000, 12, 1.5, 4.5, 17.143, "5.3 by hand: 6e-6/280k over 1.25e-9; 3.5 prints 8/15/25 for Gemini 3.1 Pro"),
    (200_000, 10, 1.5, 4.5, 14.286, "Gemini 2.5 Pro: 7/13/21"),
    (128_000, 10.5, 2, 4.5, 46.875, "Gemini 1.5 Pro at launch: 15/28/51"),
]


@pytest.mark.parametrize(("threshold", "output", "premium", "storage", "milliseconds", "source"), DRAIN, ids=[row[-1] for row in DRAIN])
def test_implied_drain_time(threshold: int, output: float, premium: float, storage: float, milliseconds: float, source: str):
    found = implied_drain_time(pair(6, 2, premium, 0.1 * threshold, 1.5 * threshold), output * 1e-6, storage * 1e-6 / 3600)
    assert found.values["implied_drain_time"] * 1e3 == pytest.approx(milliseconds, rel=1e-4)


def test_without_an_output_premium_there_is_no_implied_drain_time():
    found = implied_drain_time(pair(6, 2, 1.0), 1.2e-5, 1.25e-9)
    assert found.values == {} and "premium_out > 1" in found.problem
