"""The joint reading over the context: it meets the published prices at the means of the first two bands, and nowhere else it must."""

import numpy as np
import pytest

from invert.context_prices import prices_by_context
from invert.inference import infer


def test_it_meets_both_bands_at_their_means():
    (one,) = infer("gemini-3.1-pro")
    curve, pair = prices_by_context(one), one.pairs[0].pair
    for mean, band in zip((pair.short_context, pair.long_context), one.sheet.bands, strict=True):
        for prices, price in ((curve.inputs, band.input), (curve.outputs, band.output)):
            assert np.interp(mean, curve.contexts, prices) == pytest.approx(price.usd_per_token, rel=1e-3)


def test_it_reaches_to_the_end_of_the_last_band():
    (one,) = infer("gemini-3.1-pro")
    curve = prices_by_context(one)
    assert one.model and (curve.contexts[0], curve.contexts[-1]) == pytest.approx((curve.first, one.model.max_context))


def test_without_a_reading_it_says_why():
    (flat,) = infer("claude-opus-5")
    assert prices_by_context(flat).contexts == () and "one price for all lengths" in prices_by_context(flat).problem
