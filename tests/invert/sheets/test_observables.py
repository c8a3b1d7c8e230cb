"""A sheet as ratios: the cell each number was rounded into, the mean context of each band, what a free item becomes.

The lattice: docs/explanation/inversion.md, "Likelihood". The rule for mean contexts is
that of `band_means`, and has its tests in test_contexts.
"""

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invert.assumptions import USUAL
from invert.estimators.cases import assumptions_of
from invert.sheets.assemble import sheets
from invert.sheets.observables import band_means, observables, rounding_cell
from invert.sheets.read import read_rows
from invert.sheets.rows import FxRate, PriceBook
from invert.sheets.sheet import PriceSheet
from tests.tools.together import in_one_test

TODAY = date(2026, 11, 20)
FX = {"CNY": (FxRate(currency="CNY", date=date(2026, 1, 1), units_per_usd=7.0),)}
HEADER = "component,threshold_tokens,ttl_seconds,amount,currency,provider,model"

# Gemini 3.1 Pro as listed in 2026, with two cache lifetimes of our own making.
TWO_BANDS = (
    "input,0,,2", "output,0,,12", "cache_read,0,,0.2", "cache_write,0,300,2.5", "cache_write,0,3600,4",
    "input,200000,,4", "output,200000,,18", "cache_read,200000,,0.4", "cache_storage,0,,4.5",
)  # fmt: skip


def sheet_of(*rows: str, currency: str = "") -> PriceSheet:
    """A sheet of rows `component,threshold,lifetime,amount`."""
    read, problems = read_rows([HEADER, *(f"{row},{currency},acme,m" for row in rows)], "prices.csv", FX, overlay=True)
    (sheet,) = sheets(PriceBook(rows=tuple(read), fx=FX, newest_retrieved=TODAY))
    assert problems == []
    return sheet


def bands(*thresholds: int) -> PriceSheet:
    """A sheet whose prices double from band to band."""
    rows = [
        f"{component},{at},,{amount * 2**n}" for n, at in enumerate((0, *thresholds)) for component, amount in (("input", 1), ("output", 4))
    ]
    return sheet_of(*rows)


# -- rounding cells -------------------------------------------------------------------------------------------------

CELLS = [  # value, ends of the cell: geometric middles to the nice numbers on either side
    (1.5, 1.369306, 1.732051),  # sqrt(1.25 * 1.5), sqrt(1.5 * 2)
    (1.0, 0.894427, 1.118034),  # sqrt(.8 * 1), sqrt(1 * 1.25)
    (2.0, 1.732051, 2.236068),
    (8.0, 6.928203, 8.944272),
    (10.0, 8.944272, 11.18034),  # the first of its decade
    (10 * (1 - 1e-12), 8.944272, 11.18034),  # the last of the decade below, but for rounding
    (0.1, 0.0894427, 0.1118034),
    (1500.0, 1369.306, 1732.051),
    (0.00015, 0.0001369306, 0.0001732051),
    (4.5, 4.242641, 4.743416),  # between the nice 4 and 5
    (9.0, 8.485281, 9.486833),  # between 8 and the 10 of the next decade
    (1.1, 1.048809, 1.172604),  # between 1 and 1.25
    (0.31, 0.304959, 0.352136),  # between .3 and .4
    (3.98, 3.455431, 3.989987),  # output/input of R1, 2.19/.55
]


@in_one_test(("value", "low", "high"), CELLS)
def test_a_published_number_has_its_cell(value: float, low: float, high: float):
    assert rounding_cell(value) == pytest.approx((low, high), rel=1e-6)


@in_one_test("decade", [10.0**power for power in range(-18, 13)])
def test_cells_of_neighbours_touch_over_decades(decade: float):
    values = [decade * nice for nice in USUAL.nice_numbers] + [decade * 12.5]
    cells = [rounding_cell(value) for value in values]
    for lower, upper in pairwise(cells):
        assert lower[1] == pytest.approx(upper[0], rel=1e-12)
    for value, (low, high) in zip(values, cells, strict=True):
        assert low < value < high


@given(st.floats(1e-15, 1e12))
def test_a_value_lies_inside_its_own_cell(value: float):
    low, high = rounding_cell(value)
    assert low <= value <= high
    assert high / low <= 1.291  # the widest cells are those of 2, 4 and 8: sqrt(5/3)


# -- band means -----------------------------------------------------------------------------------------------------


@in_one_test("thresholds", [(200_000,), (32_000, 128_000), (32_000, 40_000, 256_000)])
@in_one_test("given", [{}, {"short_context": 3e3, "long_context": 36e3}])
def test_each_pair_of_bands_has_the_means_of_the_rule(thresholds: tuple[int, ...], given: dict[str, float]):
    sheet, held = bands(*thresholds), assumptions_of(given)
    found = observables(sheet, 1_000_000, held)
    assert found.contexts == band_means(sheet.bands, 1_000_000, held)
    assert [(pair.short_context, pair.long_context) for pair in found.pairs] == list(pairwise(found.contexts))
    assert [pair.long_context_threshold for pair in found.pairs] == list(thresholds)


# -- ratios ---------------------------------------------------------------------------------------------------------


def test_ratios_are_free_of_the_currency():
    dollars, yuan = (observables(sheet_of(*TWO_BANDS, currency=currency), None) for currency in ("USD", "CNY"))
    assert yuan.pairs == dollars.pairs
    assert (yuan.output_input_ratio, yuan.cache_read_ratio, yuan.cache_write_premiums) == (
        dollars.output_input_ratio, dollars.cache_read_ratio, dollars.cache_write_premiums,
    )  # fmt: skip
    assert yuan.storage_price.value == pytest.approx(dollars.storage_price.value / 7, rel=1e-15)
